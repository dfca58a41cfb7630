//! Why the code host did not do what it was asked.

use serde::Deserialize;

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeErrorKind {
    /// 401: the token is wrong or over.
    Unauthorized,
    /// 403: the token may not do this.
    Forbidden,
    /// 404: it is not there, or the token may not see it.
    NotFound,
    /// 410: it was switched off or deleted.
    Gone,
    /// 413, or a 422 that says so: the text is too long.
    TooLong,
    /// Any other 4xx, an address that no token goes to, an answer that makes no sense.
    Invalid,
    /// Too many requests, for longer than is waited.
    Limited,
    /// No answer, a broken one, or 5xx.
    Unavailable,
}

/// An error of a call.
#[derive(Debug, thiserror::Error)]
#[error("cannot {did}: {said}")]
pub struct ForgeError {
    /// Class.
    pub kind: ForgeErrorKind,
    /// What was asked, as `read the comments of #7`.
    pub did: String,
    /// What was said, or what went wrong; bounded, and without the token.
    pub said: String,
    /// May it have been carried out all the same? Then look before it is asked again.
    pub uncertain: bool,
    /// The cause, if there is one.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ForgeError {
    /// An error that has no cause and changed nothing.
    pub(super) fn new(kind: ForgeErrorKind, did: impl Into<String>, said: impl Into<String>) -> Self {
        Self { kind, did: did.into(), said: said.into(), uncertain: false, source: None }
    }

    pub(super) fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Does the token lack a right, or the repository a feature? All else may go on without it.
    pub fn is_denied(&self) -> bool {
        use ForgeErrorKind::{Forbidden, Gone, NotFound, Unauthorized};
        matches!(self.kind, Unauthorized | Forbidden | NotFound | Gone)
    }
}

/// What GitHub says with a status that is no success.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<serde_json::Value>,
}

impl Refusal {
    pub(super) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// Asks for a pause without a header that says how long.
    pub(super) fn is_limit(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        message.contains("secondary rate limit") || message.contains("abuse detection")
    }

    pub(super) fn is_too_long(&self) -> bool {
        let details = serde_json::to_string(&self.errors).unwrap_or_default();
        self.message.contains("too long") || details.contains("too long") || details.contains("too_long")
    }

    /// In words, bounded.
    pub(super) fn words(&self, status: u16) -> String {
        let detail = |value: &serde_json::Value| {
            let of = |key: &str| value.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
            let text = value.as_str().map(str::to_owned);
            text.or_else(|| of("message")).or_else(|| Some(format!("{} {}", of("field")?, of("code")?)))
        };
        let details: Vec<String> = self.errors.iter().filter_map(detail).take(5).collect();
        let mut said = format!("status {status}");
        for text in std::iter::once(&self.message).chain(&details).filter(|t| !t.is_empty()) {
            said = format!("{said}: {text}");
        }
        crate::diag::bounded(&said).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_in_words_and_within_bounds() {
        let body = br#"{"message":"Validation Failed","errors":[{"resource":"Issue","field":"body","code":"custom",
            "message":"body is too long (maximum is 65536 characters)"},"plain",{"field":"title","code":"missing"}]}"#;
        let refusal = Refusal::read(body);
        assert!(refusal.is_too_long() && !refusal.is_limit());
        assert_eq!(
            refusal.words(422),
            "status 422: Validation Failed: body is too long (maximum is 65536 characters): plain: title missing"
        );
        assert_eq!(Refusal::read(b"<html>").words(502), "status 502");
        let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(100_000));
        assert!(Refusal::read(long.as_bytes()).words(400).len() < 10_000);
    }
}
