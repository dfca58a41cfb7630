//! Errors as HTTP says them: status, the wire's type, our dotted code and its details, and back.

use serde_json::{Map, Value, json};

use crate::control::{ControlError, ErrorKind};
use crate::diag::codes;

/// Most of an answer that is no error of ours that is shown, in characters.
const SHOWN: usize = 200;

/// Codes whose status or type is not that of their class.
const SPECIAL: &[(&str, u16, &str)] = &[
    ("http.unauthenticated", 401, "authentication_error"),
    ("http.method_not_allowed", 405, "invalid_request_error"),
    ("http.timeout", 504, "timeout_error"),
    ("http.overloaded", 529, "overloaded_error"),
    ("memory.precondition_failed", 409, "memory_precondition_failed_error"),
    ("memory.path_conflict", 409, "memory_path_conflict_error"),
];

/// Codes for which the wire has a word of its own.
const WORDS: &[(&str, &str)] = &[
    ("environment.archived", "environment_archived"),
    ("environment.not_found", "environment_not_found"),
    ("environment.config_type", "invalid_config_type_change"),
    ("file.expired", "file_expired"),
    ("file.not_downloadable", "file_not_downloadable"),
    ("validation.metadata", "invalid_metadata"),
];

/// Details that the wire has beside `details` too.
const BESIDE: [&str; 2] = ["conflicting_memory_id", "conflicting_path"];

/// The status and the wire's `error.type`.
pub fn error_type(error: &ControlError) -> (u16, &'static str) {
    if let Some((_, status, ty)) = SPECIAL.iter().find(|(code, ..)| *code == error.code) {
        return (*status, ty);
    }
    match error.kind {
        ErrorKind::Invalid => (400, "invalid_request_error"),
        ErrorKind::Permission => (403, "permission_error"),
        ErrorKind::NotFound => (404, "not_found_error"),
        ErrorKind::Conflict => (409, "conflict_error"),
        ErrorKind::TooLarge => (413, "request_too_large"),
        ErrorKind::Unavailable => (503, "api_error"),
        ErrorKind::Internal => (500, "api_error"),
    }
}

/// What `x-should-retry` says; `None`: the header is not sent. A conflict does not go away by asking again, save
/// where the same request is still being carried out.
pub fn should_retry(error: &ControlError) -> Option<bool> {
    (error_type(error).0 == 409).then(|| error.code == "idempotency.in_flight")
}

/// Status and body of an error: `{"type":"error","error":{"type","message","details":{"error_code",…}},"request_id"}`.
pub fn encode_error(error: &ControlError, request_id: &str) -> (u16, Value) {
    let (status, ty) = error_type(error);
    let mut details = match &error.details {
        Value::Object(map) => map.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("detail".to_owned(), other.clone())]),
    };
    let mut inner = Map::from_iter([("type".to_owned(), json!(ty)), ("message".to_owned(), json!(error.message))]);
    for key in BESIDE {
        if let Some(value) = details.get(key) {
            inner.insert(key.to_owned(), value.clone());
        }
    }
    let word = WORDS.iter().find(|(code, _)| *code == error.code).map_or(error.code, |(_, word)| word);
    details.insert("error_code".to_owned(), json!(word));
    inner.insert("details".to_owned(), Value::Object(details));
    (status, json!({"type": "error", "error": inner, "request_id": request_id}))
}

/// Reads an error answer; what is no error of ours keeps its status and the beginning of its text.
pub fn decode_error(status: u16, body: &[u8]) -> ControlError {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let inner = parsed.as_ref().and_then(|v| v.get("error")).and_then(Value::as_object);
    let message = inner.and_then(|e| e.get("message")).and_then(Value::as_str);
    let (Some(inner), Some(message)) = (inner, message) else { return foreign(status, body) };
    let mut details = match inner.get("details") {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    let code_of = |said: &str| codes::find(WORDS.iter().find(|(_, word)| *word == said).map_or(said, |(code, _)| code));
    let known = details.get("error_code").and_then(Value::as_str).and_then(code_of);
    if known.is_some() {
        details.remove("error_code");
    }
    let code = known.map_or(codes::http::REMOTE_ERROR.code, |row| row.code);
    let details = if details.is_empty() { Value::Null } else { Value::Object(details) };
    ControlError::new(kind_of(status), code, message).details(details)
}

/// The class of an error of ours.
fn kind_of(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Permission,
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        413 => ErrorKind::TooLarge,
        408 | 429 | 502..=504 | 529 => ErrorKind::Unavailable,
        400..=499 => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    }
}

/// An answer by something else than a workspace: a proxy, another server, a wrong address. It says nothing about
/// a resource, so it is never "not found" and never a conflict.
fn foreign(status: u16, body: &[u8]) -> ControlError {
    let text: String = String::from_utf8_lossy(body)
        .chars()
        .take(SHOWN)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let kind = match kind_of(status) {
        kind @ (ErrorKind::Permission | ErrorKind::TooLarge | ErrorKind::Unavailable) => kind,
        _ => ErrorKind::Internal,
    };
    let says = if text.is_empty() { "says nothing".to_owned() } else { format!("says: {text}") };
    let message = format!("the answer has status {status}, is no error of a workspace and {says}");
    ControlError::new(kind, codes::http::REMOTE_ANSWER.code, message).details(json!({"status": status}))
}
