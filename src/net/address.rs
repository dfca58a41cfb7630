//! Where a server is: which URLs are taken, and how a request's path and query stand behind one.

use reqwest::Url;

/// A base URL that a token may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    url: Url,
    /// Without a slash at its end.
    text: String,
}

/// Why a URL is not taken. What cannot be read is not shown: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no URL.
    #[error("the URL cannot be read: {0}")]
    Unreadable(String),
    /// It holds a user or a password.
    #[error("the URL holds a user or a password; a token comes from `token`")]
    Secret,
    /// It holds a query or a fragment.
    #[error("the URL has a query or a fragment")]
    Query,
    /// HTTP to another machine.
    #[error("{0} would get the token over plain HTTP")]
    Plain(String),
    /// Neither `https` nor `http`.
    #[error("`{0}` is no scheme of a server: https is")]
    Scheme(String),
}

impl Base {
    /// Reads a URL. `insecure`: may the token go over plain HTTP to another machine?
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn parse(text: &str, insecure: bool) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(|e| AddressError::Unreadable(e.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Secret);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::Query);
        }
        let base = Self { text: url.as_str().trim_end_matches('/').to_owned(), url };
        match base.url.scheme() {
            "https" => Ok(base),
            "http" if insecure || base.is_local() => Ok(base),
            "http" => Err(AddressError::Plain(base.text)),
            scheme => Err(AddressError::Scheme(scheme.to_owned())),
        }
    }

    /// Is it this machine?
    pub fn is_local(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|a| a.is_loopback())
    }

    /// Is it spoken to over TLS?
    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// As it is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Has `other` the same scheme, host and port?
    pub fn is_origin_of(&self, other: &Url) -> bool {
        self.url.origin() == other.origin() && other.username().is_empty() && other.password().is_none()
    }

    /// The URL of a request: `path`, which begins with `/` and is escaped, behind the base.
    ///
    /// # Errors
    /// [`AddressError::Unreadable`].
    pub fn join(&self, path: &str, query: &[(String, String)]) -> Result<Url, AddressError> {
        let whole = format!("{}{path}", self.text);
        let mut url = Url::parse(&whole).map_err(|e| AddressError::Unreadable(e.to_string()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_tls_or_stays_on_this_machine() {
        for good in ["https://x.example", "http://127.0.0.1:8600", "http://[::1]:1/", "http://localhost/base/"] {
            assert!(Base::parse(good, false).is_ok(), "{good}");
        }
        for bad in
            ["http://x.example", "http://10.0.0.1", "http://localhost.example", "ftp://x.example", "x.example", ""]
        {
            assert!(Base::parse(bad, false).is_err(), "{bad}");
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
        let query = [("owner".to_owned(), "acme/a b".to_owned())];
        let of = |base: &str| Base::parse(base, false).unwrap().join("/v1/agents/a%2Fb", &query).unwrap().to_string();
        assert_eq!(of("https://x.example"), "https://x.example/v1/agents/a%2Fb?owner=acme%2Fa+b");
        assert_eq!(of("https://x.example/team/"), "https://x.example/team/v1/agents/a%2Fb?owner=acme%2Fa+b");
    }

    #[test]
    fn an_origin_is_scheme_host_and_port_without_a_user() {
        let base = Base::parse("https://x.example/api/v3", false).unwrap();
        let of = |text: &str| base.is_origin_of(&Url::parse(text).unwrap());
        assert!(of("https://x.example/elsewhere") && of("https://x.example:443/"));
        for other in ["http://x.example/", "https://x.example:444/", "https://y.example/", "https://me@x.example/"] {
            assert!(!of(other), "{other}");
        }
    }
}
