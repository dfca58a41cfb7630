//! What every client over HTTP of this program shares: where a token may go, the client that takes it nowhere else,
//! bodies within a bound, the pauses that servers ask for, and which failures are failures of TLS.

mod address;

pub use address::{AddressError, Base};

use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};

/// Bytes that a body is given room for before the first of them came.
const ROOM: usize = 256 << 10;

/// The value of an `authorization` header; logs of headers show that it is one, not which. `None`: the text is empty, or
/// has characters that no token has.
pub fn bearer(token: &str) -> Option<HeaderValue> {
    let sound = !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    let mut value = sound.then(|| HeaderValue::try_from(format!("Bearer {token}")).ok()).flatten()?;
    value.set_sensitive(true);
    Some(value)
}

/// A client for one server: it follows no redirect and sends nothing again by itself.
pub fn client(base: &Base, connect_time: Duration) -> ClientBuilder {
    // Whoever links this crate may have chosen another one, which then stays.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder()
        .connect_timeout(connect_time)
        .tcp_nodelay(true)
        // A token goes to the address that a person wrote, and nowhere else.
        .redirect(Policy::none())
        .referer(false)
        // What may be repeated is known to the caller alone.
        .retry(reqwest::retry::never());
    let builder = if base.is_local() { builder.no_proxy() } else { builder };
    // Without TLS the certificates of the system are of no use, and a system may have none.
    if base.is_tls() { builder } else { builder.tls_certs_only([]) }
}

/// Why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It has more bytes than this.
    #[error("the answer has more than {0} bytes")]
    TooLong(usize),
    /// The connection ended first.
    #[error("the connection ended before the answer did")]
    Cut(#[source] reqwest::Error),
}

/// The body of an answer, to its end; at most `most` bytes of it.
///
/// # Errors
/// [`BodyError`].
pub async fn body(mut answer: Response, most: usize) -> Result<Vec<u8>, BodyError> {
    let said = answer.content_length().map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX));
    if said > most {
        return Err(BodyError::TooLong(most));
    }
    let mut bytes = Vec::with_capacity(said.min(ROOM));
    while let Some(chunk) = answer.chunk().await.map_err(BodyError::Cut)? {
        if bytes.len() + chunk.len() > most {
            return Err(BodyError::TooLong(most));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The pause that `retry-after` asks for: seconds, or a date.
pub fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

/// The one of the causes that is an error of TLS. Streams wrap it in errors of input and output, whose `source` leaves out
/// what they wrap.
pub fn of_tls<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: jiff::Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(of("7"), Some(Duration::from_secs(7)));
        assert_eq!(of("Mon, 30 Nov 2026 12:00:09 GMT"), Some(Duration::from_secs(9)));
        assert_eq!(of("Mon, 30 Nov 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(of("soon"), None);
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn a_header_says_that_it_holds_a_token_and_not_which() {
        let value = bearer("hunter2").unwrap();
        assert_eq!((value.as_bytes(), format!("{value:?}").contains("hunter2")), (&b"Bearer hunter2"[..], false));
        for none in ["", "a b", "hunter2\r\nx: y", "hunter\u{e9}"] {
            assert!(bearer(none).is_none(), "{none}");
        }
    }
}
