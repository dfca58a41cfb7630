//! One request and its answer, within bounds of time and size.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use crate::control::http::{self, Body, Outgoing};
use crate::control::remote::Remote;
use crate::control::remote::trouble::{Failed, address, silent, unreachable, unreadable};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::http as codes;
use crate::model::op::{Context, Request, Response, Verb};
use crate::net::{self, Base, BodyError};

/// Bytes of a refusal that are read.
const REFUSAL: usize = 64 << 10;

/// Answers that are larger are read by another thread, so that several are at once.
const LARGE: usize = 256 << 10;

/// Bytes of a body that are given one second more.
const A_SECOND: usize = 64 << 10;

/// A request, ready to be sent any number of times.
pub(super) struct Message {
    request: Arc<Request>,
    operation: String,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Message {
    /// Encodes a request.
    pub(super) fn new(base: &Base, context: &Context, mut request: Request) -> Result<Self, ControlError> {
        let outgoing = http::encode(&request);
        let url = base.join(&outgoing.path, &outgoing.query).map_err(|e| address(&e))?;
        let mut headers = HeaderMap::new();
        headers.insert(http::VERSION, HeaderValue::from_static(http::API_VERSION));
        for (name, value) in http::encode_context(context) {
            let value = HeaderValue::try_from(value).map_err(|_| {
                let message = format!("the header {name} cannot hold this value");
                ControlError::new(ErrorKind::Invalid, crate::diag::codes::control::INVALID.code, message)
            })?;
            headers.insert(HeaderName::from_static(name), value);
        }
        let Outgoing { method, body, .. } = outgoing;
        let (media, body) = match body {
            Body::Empty => (None, None),
            Body::Json(value) => (Some("application/json"), Some(Bytes::from(value.to_string()))),
            Body::Bytes(bytes) => (Some("application/octet-stream"), Some(Bytes::from(bytes))),
        };
        if let Some(media) = media {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        }
        let operation = request.name();
        if let Request::BlobPut(put) = &mut request {
            // They are in the body now, and an answer is read without them.
            put.bytes = Vec::new();
        }
        let method = match method {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Delete => Method::DELETE,
        };
        Ok(Self { request: Arc::new(request), operation, method, url, headers, body })
    }

    /// Name of its operation.
    pub(super) fn operation(&self) -> &str {
        &self.operation
    }
}

impl Remote {
    /// Sends a request once, when there is a slot for it.
    pub(super) async fn attempt(&self, message: &Message) -> Result<Response, Failed> {
        // Never closed; without a permit there would be one request too many, no wrong answer.
        let _slot = self.slots.acquire().await.ok();
        let sent = message.body.as_ref().map_or(0, Bytes::len);
        let time = self.options.call_time + Duration::from_secs((sent / A_SECOND) as u64);
        // One clock over all of it: a server that sends a byte now and then is silent too.
        match tokio::time::timeout(time, self.exchange(message)).await {
            Ok(answer) => answer,
            Err(_) => Err(silent(self.url(), time)),
        }
    }

    async fn exchange(&self, message: &Message) -> Result<Response, Failed> {
        let mut request = self
            .client
            .request(message.method.clone(), message.url.clone())
            .headers(message.headers.clone())
            .header(AUTHORIZATION, self.token.clone());
        if let Some(body) = &message.body {
            request = request.body(body.clone());
        }
        let answer = request.send().await.map_err(|e| unreachable(self.url(), e))?;
        self.heard.store(true, Ordering::Relaxed);
        let status = answer.status();
        let headers = answer.headers().clone();
        if !status.is_success() {
            // What is cut off or too long is still a refusal: the status says it.
            let bytes = self.body(answer, REFUSAL).await.unwrap_or_default();
            return Err(Failed::refused(self.url(), status.as_u16(), &headers, &bytes));
        }
        let json = is_json(&headers);
        let bytes = self.body(answer, self.options.answer_bytes).await?;
        let request = Arc::clone(&message.request);
        let url = self.url().to_owned();
        let large = bytes.len() > LARGE;
        let read = move || read(&url, &request, json, bytes);
        if large {
            return match tokio::task::spawn_blocking(read).await {
                Ok(read) => read,
                Err(e) => Err(unreadable(self.url(), &format!("reading the answer ended: {e}"))),
            };
        }
        read()
    }

    /// The body of an answer, to its end.
    async fn body(&self, answer: reqwest::Response, most: usize) -> Result<Vec<u8>, Failed> {
        net::body(answer, most).await.map_err(|error| match error {
            BodyError::Cut(error) => unreachable(self.url(), error),
            BodyError::TooLong(_) => {
                let message = format!("{}: {error}", self.url());
                Failed::finally(ControlError::new(ErrorKind::Internal, codes::REMOTE_ANSWER.code, message))
            }
        })
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|m| m.trim().eq_ignore_ascii_case("application/json"))
}

/// Reads the answer of a success. What is said to be JSON and is none was cut off on its way.
fn read(url: &str, request: &Request, json: bool, bytes: Vec<u8>) -> Result<Response, Failed> {
    let body = match () {
        () if bytes.is_empty() => Body::Empty,
        () if json => match serde_json::from_slice(&bytes) {
            Ok(value) => Body::Json(value),
            Err(e) => return Err(unreadable(url, &format!("the answer is no whole JSON: {e}"))),
        },
        () => Body::Bytes(bytes),
    };
    http::decode_response(request, body).map_err(|error| {
        let message = format!("{url}: {}", error.message);
        Failed::finally(ControlError { message, ..error })
    })
}
