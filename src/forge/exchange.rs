//! One request and its answer, within bounds of time and size; again where that is safe; page after page.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, LINK, LOCATION};
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::forge::error::Refusal;
use crate::forge::{Again, ForgeError, ForgeErrorKind, GitHub};
use crate::net::{self, Base, BodyError};

/// Bytes of a refusal that are read.
const REFUSAL: usize = 64 << 10;
/// Pages that are read of one list: 50,000 items.
const MOST_PAGES: usize = 500;
/// Times that one request is sent elsewhere on the same server.
const MOST_MOVES: usize = 3;
/// The pause that GitHub wants where it asks for one without saying how long.
const UNTOLD_PAUSE: Duration = Duration::from_mins(1);
const VERSION: &str = "2022-11-28";

/// What is left as it is in a part of a path.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text as one part of a path.
pub(super) fn part(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// When a request may be sent a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repeat {
    /// Never.
    Never,
    /// If it may be carried out twice: it is not known whether it was.
    IfSafe,
    /// It surely was not carried out.
    Always,
}

/// A request.
#[derive(Debug)]
pub(super) struct Call {
    /// As `read the comments of #7`.
    did: String,
    method: Method,
    /// Path behind the base, escaped.
    path: String,
    query: Vec<(String, String)>,
    body: Option<Bytes>,
    /// May it be carried out twice?
    safe: bool,
}

impl Call {
    pub(super) fn get(did: impl Into<String>, path: String) -> Self {
        Self { did: did.into(), method: Method::GET, path, query: Vec::new(), body: None, safe: true }
    }

    /// A change that may be made twice.
    pub(super) fn patch(did: impl Into<String>, path: String, body: &Value) -> Self {
        Self { method: Method::PATCH, body: Some(Bytes::from(body.to_string())), ..Self::get(did, path) }
    }

    pub(super) fn delete(did: impl Into<String>, path: String) -> Self {
        Self { method: Method::DELETE, ..Self::get(did, path) }
    }

    /// Makes something: twice makes two, unless it is said to be [`Call::safe`].
    pub(super) fn post(did: impl Into<String>, path: String, body: &Value) -> Self {
        Self { method: Method::POST, safe: false, ..Self::patch(did, path, body) }
    }

    pub(super) fn safe(mut self) -> Self {
        self.safe = true;
        self
    }

    pub(super) fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }
}

/// A request that was not answered as it asked.
#[derive(Debug)]
struct Failed {
    error: ForgeError,
    repeat: Repeat,
    /// Not before this time.
    after: Option<Duration>,
}

/// An answer that says yes.
struct Answer {
    headers: HeaderMap,
    body: Vec<u8>,
}

impl GitHub {
    /// Sends a request and reads the JSON of its answer.
    pub(super) async fn json<T: DeserializeOwned>(&self, call: &Call) -> Result<T, ForgeError> {
        let answer = self.send(call, &self.rest, Self::url(call, &self.rest)?).await?;
        Self::read(call, &answer)
    }

    /// Sends a request whose answer is of no interest.
    pub(super) async fn done(&self, call: &Call) -> Result<(), ForgeError> {
        self.send(call, &self.rest, Self::url(call, &self.rest)?).await.map(|_| ())
    }

    /// A request to the base of GraphQL.
    pub(super) async fn query(&self, call: &Call) -> Result<Value, ForgeError> {
        let answer = self.send(call, &self.graphql, Self::url(call, &self.graphql)?).await?;
        Self::read(call, &answer)
    }

    /// All pages of a list; `items` takes them out of a page.
    pub(super) async fn pages<P: DeserializeOwned, T>(
        &self,
        call: Call,
        items: impl Fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, ForgeError> {
        let call = call.query("per_page", "100");
        let wrong = |said: &str| ForgeError::new(ForgeErrorKind::Invalid, &call.did, said);
        let mut url = Self::url(&call, &self.rest)?;
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        loop {
            if !seen.insert(url.to_string()) || seen.len() > MOST_PAGES {
                return Err(wrong("the list has no end"));
            }
            let answer = self.send(&call, &self.rest, url.clone()).await?;
            all.extend(items(Self::read(&call, &answer)?));
            let Some(next) = next(&answer.headers) else { return Ok(all) };
            url = url.join(&next).map_err(|_| wrong("the address of the next page cannot be read"))?;
            if !self.rest.is_origin_of(&url) {
                return Err(wrong("the next page is on another server; no token goes there"));
            }
        }
    }

    fn url(call: &Call, base: &Base) -> Result<Url, ForgeError> {
        base.join(&call.path, &call.query)
            .map_err(|e| ForgeError::new(ForgeErrorKind::Invalid, &call.did, e.to_string()))
    }

    fn read<T: DeserializeOwned>(call: &Call, answer: &Answer) -> Result<T, ForgeError> {
        serde_json::from_slice(&answer.body).map_err(|e| {
            let mut error =
                ForgeError::new(ForgeErrorKind::Unavailable, &call.did, "the answer is not what GitHub says");
            error.uncertain = !call.safe;
            error.caused_by(e)
        })
    }

    /// Sends a request, and again while that is safe and there is time left.
    async fn send(&self, call: &Call, base: &Base, url: Url) -> Result<Answer, ForgeError> {
        let patience = self.options.patience;
        let pauses = ExponentialBuilder::new()
            .with_factor(2.0)
            .with_min_delay(patience.first)
            .with_max_delay(patience.longest)
            .with_max_times(patience.times);
        (|| self.attempt(call, base, url.clone()))
            .retry(pauses)
            .when(|failed: &Failed| match failed.repeat {
                Repeat::Never => false,
                Repeat::IfSafe => call.safe,
                Repeat::Always => true,
            })
            .adjust(|failed, pause| {
                let pause = pause?.max(failed.after.unwrap_or_default());
                self.may_wait(pause).then_some(pause)
            })
            .notify(|failed, after| (self.options.on_retry)(&Again { error: &failed.error, after }))
            .await
            .map_err(|failed| {
                let mut error = failed.error;
                error.uncertain = !call.safe && failed.repeat == Repeat::IfSafe;
                error
            })
    }

    /// Takes a pause out of the time that there is for all of them.
    fn may_wait(&self, pause: Duration) -> bool {
        let pause = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let total = u64::try_from(self.options.patience.total.as_millis()).unwrap_or(u64::MAX);
        let more = |waited: u64| waited.checked_add(pause).filter(|all| *all <= total);
        self.waited.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Sends a request once.
    async fn attempt(&self, call: &Call, base: &Base, url: Url) -> Result<Answer, Failed> {
        let time = self.options.patience.call;
        // One clock over all of it: a server that sends a byte now and then is silent too.
        match tokio::time::timeout(time, self.moves(call, base, url)).await {
            Ok(answer) => answer,
            Err(_) => {
                let said = format!("{} did not answer in {} ms", base.text(), time.as_millis());
                Err(unavailable(call, said))
            }
        }
    }

    /// Follows what was moved on the same server. A method other than GET goes on only where the server says that it
    /// stays the same.
    async fn moves(&self, call: &Call, base: &Base, mut url: Url) -> Result<Answer, Failed> {
        let elsewhere = |said: &str| finally(ForgeError::new(ForgeErrorKind::Invalid, &call.did, said));
        for _ in 0..=MOST_MOVES {
            let answer = self.once(call, base, url.clone()).await?;
            let status = answer.status();
            if status.is_success() {
                let headers = answer.headers().clone();
                let body = self.body(call, base, answer, self.options.answer_bytes).await?;
                return Ok(Answer { headers, body });
            }
            if !status.is_redirection() {
                return Err(self.refused(call, base, answer).await);
            }
            let stays = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            let to = answer.headers().get(LOCATION).and_then(|v| v.to_str().ok()).and_then(|to| url.join(to).ok());
            match to {
                Some(to) if base.is_origin_of(&to) && (stays || call.method == Method::GET) => url = to,
                _ => return Err(elsewhere("the server sends elsewhere; no token goes there")),
            }
        }
        Err(elsewhere("the server sends from one place to the next"))
    }

    async fn once(&self, call: &Call, base: &Base, url: Url) -> Result<reqwest::Response, Failed> {
        let mut request = self
            .client
            .request(call.method.clone(), url)
            .header(AUTHORIZATION, self.bearer.clone())
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", VERSION);
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        request.send().await.map_err(|e| unreachable(call, base, e))
    }

    async fn body(&self, call: &Call, base: &Base, answer: reqwest::Response, most: usize) -> Result<Vec<u8>, Failed> {
        net::body(answer, most).await.map_err(|error| match error {
            BodyError::Cut(error) => unreachable(call, base, error),
            BodyError::TooLong(_) => finally(ForgeError::new(ForgeErrorKind::Invalid, &call.did, error.to_string())),
        })
    }

    /// A status that is no success.
    async fn refused(&self, call: &Call, base: &Base, answer: reqwest::Response) -> Failed {
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        // What is cut off or too long is still a refusal: the status says it.
        let refusal = Refusal::read(&self.body(call, base, answer, REFUSAL).await.unwrap_or_default());
        let after = pause(&headers, jiff::Timestamp::now());
        let limited = status == 429 || (status == 403 && (after.is_some() || refusal.is_limit()));
        let (kind, repeat) = match status {
            _ if limited => (ForgeErrorKind::Limited, Repeat::Always),
            401 => (ForgeErrorKind::Unauthorized, Repeat::Never),
            403 => (ForgeErrorKind::Forbidden, Repeat::Never),
            404 => (ForgeErrorKind::NotFound, Repeat::Never),
            410 => (ForgeErrorKind::Gone, Repeat::Never),
            413 => (ForgeErrorKind::TooLong, Repeat::Never),
            422 if refusal.is_too_long() => (ForgeErrorKind::TooLong, Repeat::Never),
            408 | 500 | 502..=504 => (ForgeErrorKind::Unavailable, Repeat::IfSafe),
            500.. => (ForgeErrorKind::Unavailable, Repeat::Never),
            _ => (ForgeErrorKind::Invalid, Repeat::Never),
        };
        // A server may say back what it was sent.
        let said = refusal.words(status).replace(self.options.token.reveal(), "…");
        let after = if limited { after.or(Some(UNTOLD_PAUSE)) } else { after };
        Failed { error: ForgeError::new(kind, &call.did, said), repeat, after }
    }
}

fn finally(error: ForgeError) -> Failed {
    Failed { error, repeat: Repeat::Never, after: None }
}

/// Whether it was carried out is not known.
fn unavailable(call: &Call, said: String) -> Failed {
    let error = ForgeError::new(ForgeErrorKind::Unavailable, &call.did, said);
    Failed { error, repeat: Repeat::IfSafe, after: None }
}

/// No connection, or one that ended before the answer did.
fn unreachable(call: &Call, base: &Base, error: reqwest::Error) -> Failed {
    let error = error.without_url();
    let url = base.text();
    let (said, repeat) = match () {
        () if net::of_tls(&error).is_some() => (format!("{url}: no safe connection"), Repeat::Never),
        () if error.is_builder() => (format!("{url}: the request cannot be made"), Repeat::Never),
        // Nothing was sent.
        () if error.is_connect() => (format!("{url} cannot be reached"), Repeat::Always),
        () => (format!("{url}: the connection ended before the answer did"), Repeat::IfSafe),
    };
    Failed { repeat, error: unavailable(call, said).error.caused_by(error), after: None }
}

/// The pause that the server asks for: `retry-after`, or until the time when it counts anew.
fn pause(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    net::retry_after(headers, now).or_else(|| {
        if text("x-ratelimit-remaining") != Some("0") {
            return None;
        }
        let reset: i64 = text("x-ratelimit-reset").and_then(|t| t.parse().ok())?;
        Some(Duration::from_secs(u64::try_from(reset.saturating_sub(now.as_second())).unwrap_or_default()))
    })
}

/// The address of the next page: `Link: <URL>; rel="next", …`.
fn next(headers: &HeaderMap) -> Option<String> {
    let of = |link: &str| {
        let (url, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let next = parameters.split(';').any(|p| {
            let (name, value) = p.split_once('=').unwrap_or_default();
            let rels = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel") && rels.split(' ').any(|rel| rel.eq_ignore_ascii_case("next"))
        });
        next.then(|| url.to_owned())
    };
    // A comma may stand in an address: what ends a link is a comma before the next `<`.
    let texts = headers.get_all(LINK).iter().filter_map(|v| v.to_str().ok());
    texts
        .flat_map(|text| {
            text.split(", <")
                .enumerate()
                .map(|(i, t)| if i == 0 { t.to_owned() } else { format!("<{t}") })
                .collect::<Vec<_>>()
        })
        .find_map(|link| of(&link))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_next_page_is_the_one_that_is_called_so() {
        let of = |text: &str| next(&headers(&[("link", text)]));
        assert_eq!(
            of(r#"<https://x/1?a=1,2>; rel="prev", <https://x/3?a=1,2>; rel="next", <https://x/9>; rel="last""#)
                .as_deref(),
            Some("https://x/3?a=1,2")
        );
        assert_eq!(of("<https://x/3>; REL=next").as_deref(), Some("https://x/3"));
        assert_eq!(of(r#"<https://x/9>; rel="last""#), None);
        assert_eq!(of("https://x/3; rel=next"), None);
        assert_eq!(next(&HeaderMap::new()), None);
    }

    #[test]
    fn a_pause_is_asked_for_in_either_way() {
        let now: jiff::Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let of = |pairs: &[(&'static str, &str)]| pause(&headers(pairs), now);
        let reset = (now.as_second() + 9).to_string();
        assert_eq!(of(&[("retry-after", "3")]), Some(Duration::from_secs(3)));
        assert_eq!(of(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)]), Some(Duration::from_secs(9)));
        assert_eq!(of(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")]), Some(Duration::ZERO));
        assert_eq!(of(&[("x-ratelimit-remaining", "12"), ("x-ratelimit-reset", &reset)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_text_is_one_part_of_a_path() {
        assert_eq!(part("checkfu drift/ä"), "checkfu%20drift%2F%C3%A4");
    }
}
