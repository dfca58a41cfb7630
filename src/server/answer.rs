//! Answers: errors with their status and headers, what every answer carries, and panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use futures_util::FutureExt;
use serde_json::Value;

use crate::control::{ControlError, ErrorKind, http};
use crate::diag::Code;
use crate::diag::codes::server as codes;
use crate::server::body::Rest;
use crate::server::line::Line;
use crate::server::{App, operation};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Refusals whose status only the server knows. The others have theirs from the codec.
const OWN: &[(&Code, u16, &str)] =
    &[(&codes::SLOW, 408, "timeout_error"), (&codes::MEDIA_TYPE, 415, "invalid_request_error")];

/// Answers any request.
pub(super) async fn answer(app: Arc<App>, request: Request) -> Response {
    let mut line = Line::begin(Arc::clone(&app), request.method());
    let head = request.method() == Method::HEAD;
    // Who asks before sending a body has sent none.
    let waits = request.headers().contains_key(header::EXPECT);
    let (request, rest) = Rest::of(request);
    let done = AssertUnwindSafe(operation::respond(&app, request, &mut line)).catch_unwind().await;
    let answered = done.unwrap_or_else(|_| {
        Err(ControlError::new(ErrorKind::Internal, codes::PANIC.code, "the server made a mistake"))
    });
    let mut response = match answered {
        Ok(response) => response,
        Err(error) => {
            if !waits && error.code != codes::SLOW.code {
                rest.drain().await;
            }
            let refused = refusal(&error, line.id());
            line.refused(error);
            refused
        }
    };
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(line.id()) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let bytes = response.body().size_hint().exact();
    if head {
        let length = bytes.unwrap_or_default();
        response.headers_mut().entry(header::CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
        *response.body_mut() = Body::empty();
    }
    line.end(response.status(), bytes.unwrap_or_default());
    response
}

/// An answer of JSON.
pub(super) fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An answer as the codec made it.
pub(super) fn of(body: http::Body) -> Response {
    match body {
        http::Body::Empty => Response::new(Body::empty()),
        http::Body::Json(value) => json(StatusCode::OK, &value),
        http::Body::Bytes(bytes) => bytes_of("application/octet-stream", Body::from(bytes)),
    }
}

/// An answer of bytes.
pub(super) fn bytes_of(media: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

fn refusal(error: &ControlError, id: &str) -> Response {
    let (mut status, mut value) = http::encode_error(error, id);
    if let Some((_, own, kind)) = OWN.iter().find(|(code, ..)| code.code == error.code) {
        status = *own;
        value["error"]["type"] = (*kind).into();
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, &value);
    let headers = response.headers_mut();
    match status.as_u16() {
        401 => drop(headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        429 | 503 | 529 => drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"))),
        _ => {}
    }
    if let Some(again) = http::should_retry(error) {
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(if again { "true" } else { "false" }));
        if again {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
    }
    if let Some(allow) = error.details.get("allow").and_then(Value::as_str)
        && let Ok(allow) = HeaderValue::from_str(allow)
    {
        headers.insert(header::ALLOW, allow);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::codes::{control, http as http_codes};

    #[test]
    fn each_refusal_of_the_server_has_its_status_and_headers() {
        let rows = [
            (&http_codes::UNAUTHENTICATED, ErrorKind::Permission, 401, "www-authenticate"),
            (&http_codes::METHOD, ErrorKind::Invalid, 405, "allow"),
            (&codes::SLOW, ErrorKind::Unavailable, 408, "content-type"),
            (&codes::MEDIA_TYPE, ErrorKind::Invalid, 415, "content-type"),
            (&http_codes::TIMEOUT, ErrorKind::Unavailable, 504, "content-type"),
            (&http_codes::OVERLOADED, ErrorKind::Unavailable, 529, "retry-after"),
            (&control::CONFLICT, ErrorKind::Conflict, 409, "x-should-retry"),
            (&control::STORE_LOCKED, ErrorKind::Unavailable, 503, "retry-after"),
            (&codes::PANIC, ErrorKind::Internal, 500, "content-type"),
        ];
        for (code, kind, status, header) in rows {
            let error = ControlError::new(kind, code.code, "x").details(serde_json::json!({"allow": "GET"}));
            let response = refusal(&error, "req_1");
            assert_eq!(response.status().as_u16(), status, "{}", code.code);
            assert!(response.headers().contains_key(header), "{}: {:?}", code.code, response.headers());
        }
    }
}
