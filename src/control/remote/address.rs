//! Where a server is: which URLs are taken, and how a request's path and query stand behind one.

use reqwest::Url;

use crate::control::http::Outgoing;
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::http as codes;

/// A base URL that a token may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    url: Url,
    /// Without a slash at its end.
    text: String,
}

impl Base {
    /// Reads a URL.
    pub(super) fn parse(text: &str, insecure: bool) -> Result<Self, ControlError> {
        // What cannot be read is not shown: it may hold a password.
        let url = Url::parse(text.trim()).map_err(|e| wrong(format!("the URL cannot be read: {e}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("the URL holds a user or a password; a token comes from `token`"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("the URL has a query or a fragment"));
        }
        let base = Self { text: url.as_str().trim_end_matches('/').to_owned(), url };
        match base.url.scheme() {
            "https" => Ok(base),
            "http" if insecure || base.is_local() => Ok(base),
            "http" => Err(wrong(format!("{} would get the token over plain HTTP", base.text))),
            scheme => Err(wrong(format!("`{scheme}` is no scheme of a server: https is"))),
        }
    }

    /// Is it this machine?
    pub(super) fn is_local(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|a| a.is_loopback())
    }

    /// Is it spoken to over TLS?
    pub(super) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// As it is shown.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The URL of a request.
    pub(super) fn of(&self, outgoing: &Outgoing) -> Result<Url, ControlError> {
        let whole = format!("{}{}", self.text, outgoing.path);
        let mut url = Url::parse(&whole).map_err(|e| wrong(format!("the URL cannot be read: {e}")))?;
        if !outgoing.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&outgoing.query);
        }
        Ok(url)
    }
}

fn wrong(message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Invalid, codes::REMOTE_ADDRESS.code, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::http::Body;
    use crate::model::op::Verb;

    #[test]
    fn a_token_goes_over_tls_or_stays_on_this_machine() {
        for good in ["https://x.example", "http://127.0.0.1:8600", "http://[::1]:1/", "http://localhost/base/"] {
            assert!(Base::parse(good, false).is_ok(), "{good}");
        }
        for bad in
            ["http://x.example", "http://10.0.0.1", "http://localhost.example", "ftp://x.example", "x.example", ""]
        {
            assert_eq!(Base::parse(bad, false).unwrap_err().code, "remote.address", "{bad}");
        }
        assert!(Base::parse("http://x.example", true).is_ok());
    }

    #[test]
    fn a_url_holds_no_secret_and_none_is_told() {
        for bad in ["https://me:hunter2@x.example", "https://hunter2@x.example", "https://x.example/?k=hunter2"] {
            let error = Base::parse(bad, false).unwrap_err();
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn a_path_stands_behind_the_path_of_the_base() {
        let query = vec![("owner".to_owned(), "acme/a b".to_owned())];
        let outgoing = Outgoing { method: Verb::Get, path: "/v1/agents/a%2Fb".to_owned(), query, body: Body::Empty };
        let of = |base: &str| Base::parse(base, false).unwrap().of(&outgoing).unwrap().to_string();
        assert_eq!(of("https://x.example"), "https://x.example/v1/agents/a%2Fb?owner=acme%2Fa+b");
        assert_eq!(of("https://x.example/team/"), "https://x.example/team/v1/agents/a%2Fb?owner=acme%2Fa+b");
    }
}
