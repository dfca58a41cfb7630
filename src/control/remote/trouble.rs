//! What can go wrong with one request, and whether the same one may do better.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::control::{ControlError, ErrorKind, http};
use crate::diag::codes::http as codes;
use crate::net::{AddressError, of_tls, retry_after};

/// A request that was not answered as it asked.
#[derive(Debug)]
pub(super) struct Failed {
    /// Why.
    pub(super) error: ControlError,
    /// May the same request do better?
    pub(super) again: bool,
    /// Not before this time.
    pub(super) after: Option<Duration>,
}

impl Failed {
    /// Asking again changes nothing.
    pub(super) fn finally(error: ControlError) -> Self {
        Self { error, again: false, after: None }
    }

    fn for_now(error: ControlError) -> Self {
        Self { error, again: true, after: None }
    }

    /// A status that is no success.
    pub(super) fn refused(url: &str, status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        if (300..400).contains(&status) {
            let message = format!("{url} sends elsewhere (status {status}); no token goes there");
            return Self::finally(ControlError::new(ErrorKind::Invalid, codes::REMOTE_ADDRESS.code, message));
        }
        let mut error = http::decode_error(status, body);
        if error.code == codes::REMOTE_ANSWER.code {
            error.message = format!("{url}: {}", error.message);
        }
        if says_version(&error) {
            error.code = codes::REMOTE_VERSION.code;
            error.message = format!("{url}: {}", error.message);
        }
        // What the server says of them is for whoever makes requests by hand.
        if error.code == codes::UNAUTHENTICATED.code {
            error.message = format!("{url} does not know the token: it is wrong, revoked or over");
        }
        if error.code == codes::NO_ROUTE.code {
            error.message = format!("{url} is a checkfu, and has no such path");
        }
        let again = match status {
            409 => error.details.get("error_code").and_then(Value::as_str) == Some("idempotency.in_flight"),
            // Of its own store the server has waited already, and a full disk stays full.
            408 | 429 | 500 | 502..=504 | 529 => !error.code.starts_with("store."),
            _ => false,
        };
        Self { error, again, after: retry_after(headers, jiff::Timestamp::now()) }
    }
}

/// Is it the header of our API version that is refused?
fn says_version(error: &ControlError) -> bool {
    error.kind == ErrorKind::Invalid && error.message.contains(http::VERSION)
}

/// A URL that no token goes to.
pub(super) fn address(error: &AddressError) -> ControlError {
    ControlError::new(ErrorKind::Invalid, codes::REMOTE_ADDRESS.code, error.to_string())
}

/// No connection, or one that ended before the answer did. Whether the request arrived is not known.
pub(super) fn unreachable(url: &str, error: reqwest::Error) -> Failed {
    // A URL may be long, and the message has it already.
    let error = error.without_url();
    if let Some(of_tls) = of_tls(&error) {
        let message = match of_tls {
            // The error tells no more than its name.
            rustls::Error::InvalidCertificate(e) if format!("{e:?}").contains("CaUsedAsEndEntity") => {
                format!(
                    "{url}: no safe connection: the server shows the certificate of an authority, not one of its own"
                )
            }
            _ => format!("{url}: no safe connection"),
        };
        return Failed::finally(tls(&message, error));
    }
    if error.is_timeout() {
        let message = format!("{url} cannot be reached in time");
        let mut out = ControlError::new(ErrorKind::Unavailable, codes::REMOTE_TIMEOUT.code, message);
        out.source = Some(Box::new(error));
        return Failed::for_now(out);
    }
    let message = if error.is_connect() {
        format!("{url} cannot be reached")
    } else {
        format!("{url}: the connection ended before the answer did")
    };
    let mut out = ControlError::new(ErrorKind::Unavailable, codes::REMOTE_UNREACHABLE.code, message);
    let again = !error.is_builder();
    out.source = Some(Box::new(error));
    Failed { error: out, again, after: None }
}

/// The whole answer did not come in time.
pub(super) fn silent(url: &str, time: Duration) -> Failed {
    let message = format!("{url} did not answer in {} ms", time.as_millis());
    Failed::for_now(ControlError::new(ErrorKind::Unavailable, codes::REMOTE_TIMEOUT.code, message))
}

/// A success whose body is broken.
pub(super) fn unreadable(url: &str, what: &str) -> Failed {
    let message = format!("{url}: {what}");
    Failed::for_now(ControlError::new(ErrorKind::Unavailable, codes::REMOTE_ANSWER.code, message))
}

/// TLS or its certificates.
pub(super) fn tls(message: &str, error: reqwest::Error) -> ControlError {
    let mut out = ControlError::new(ErrorKind::Unavailable, codes::REMOTE_TLS.code, message);
    out.source = Some(Box::new(error));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_do_better_is_asked_again() {
        let of = |status: u16, code: &str| {
            let body = serde_json::json!({"type": "error", "error": {
                "type": "x", "message": "m", "details": {"error_code": code}}});
            Failed::refused("https://x", status, &HeaderMap::new(), body.to_string().as_bytes()).again
        };
        for (status, code, again) in [
            (400, "validation.invalid", false),
            (401, "http.unauthenticated", false),
            (403, "authoring.owner_not_allowed", false),
            (404, "resource.not_found", false),
            (408, "request.timeout", true),
            (409, "validation.conflict", false),
            (409, "idempotency.key_reused", false),
            (409, "idempotency.in_flight", true),
            (413, "request.too_large", false),
            (429, "http.rate_limited", true),
            (500, "server.panic", true),
            (500, "store.damaged", false),
            (503, "store.no_space", false),
            (504, "http.timeout", true),
            (529, "http.overloaded", true),
        ] {
            assert_eq!(of(status, code), again, "{status} {code}");
        }
        let foreign = Failed::refused("https://x", 502, &HeaderMap::new(), b"<html>Bad gateway</html>");
        assert!(foreign.again && foreign.error.message.starts_with("https://x: "), "{foreign:?}");
        let of = |status: u16, code: &str| {
            let body = format!(
                r#"{{"type": "error", "error": {{"type": "x", "message": "m", "details": {{"error_code": "{code}"}}}}}}"#
            );
            Failed::refused("https://x", status, &HeaderMap::new(), body.as_bytes()).error.message
        };
        assert_eq!(of(401, "http.unauthenticated"), "https://x does not know the token: it is wrong, revoked or over");
        assert_eq!(of(404, "http.no_route"), "https://x is a checkfu, and has no such path");
        let elsewhere = Failed::refused("https://x", 302, &HeaderMap::new(), b"");
        assert_eq!((elsewhere.error.code, elsewhere.again), ("remote.address", false));
    }
}
