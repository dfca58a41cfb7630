//! Errors both ways.

use serde_json::{Value, json};

use crate::control::http::{decode_error, encode_error, should_retry};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes;

const KINDS: [(ErrorKind, u16, &str); 7] = [
    (ErrorKind::Invalid, 400, "invalid_request_error"),
    (ErrorKind::Permission, 403, "permission_error"),
    (ErrorKind::NotFound, 404, "not_found_error"),
    (ErrorKind::Conflict, 409, "conflict_error"),
    (ErrorKind::TooLarge, 413, "request_too_large"),
    (ErrorKind::Unavailable, 503, "api_error"),
    (ErrorKind::Internal, 500, "api_error"),
];

fn back(error: &ControlError) -> ControlError {
    let (status, body) = encode_error(error, "req_1");
    decode_error(status, body.to_string().as_bytes())
}

fn parts(e: &ControlError) -> (ErrorKind, &str, &str, &Value) {
    (e.kind, e.code, &e.message, &e.details)
}

#[test]
fn errors_come_back() {
    for (kind, status, ty) in KINDS {
        for code in codes::all() {
            for details in [Value::Null, json!({"reason": "stale", "current": 4})] {
                let error = ControlError::new(kind, code.code, "was in {} ways \"wrong\"").details(details);
                let (found, body) = encode_error(&error, "req_1");
                assert_eq!((&body["type"], &body["request_id"]), (&json!("error"), &json!("req_1")));
                let said = body["error"]["details"]["error_code"].as_str().unwrap();
                let own = ["invalid_config_type_change", "invalid_metadata"].contains(&said);
                assert!(own || said == code.code || said == code.code.replace('.', "_"), "{said}");
                let special = ["http.", "memory."].iter().any(|of| code.code.starts_with(of));
                assert!(special || (found, body["error"]["type"].as_str()) == (status, Some(ty)), "{body}");
                let read = back(&error);
                assert!(special || parts(&read) == parts(&error), "{read:?}");
            }
        }
    }
}

#[test]
fn some_codes_have_a_status_of_their_own() {
    let rows = [
        ("http.unauthenticated", ErrorKind::Permission, 401, "authentication_error", None),
        ("http.no_route", ErrorKind::NotFound, 404, "not_found_error", None),
        ("http.method_not_allowed", ErrorKind::Invalid, 405, "invalid_request_error", None),
        ("http.timeout", ErrorKind::Unavailable, 504, "timeout_error", None),
        ("http.overloaded", ErrorKind::Unavailable, 529, "overloaded_error", None),
        ("memory.path_conflict", ErrorKind::Conflict, 409, "memory_path_conflict_error", Some(false)),
        ("memory.precondition_failed", ErrorKind::Conflict, 409, "memory_precondition_failed_error", Some(false)),
        ("idempotency.in_flight", ErrorKind::Conflict, 409, "conflict_error", Some(true)),
        ("validation.conflict", ErrorKind::Conflict, 409, "conflict_error", Some(false)),
    ];
    for (code, kind, status, ty, retry) in rows {
        let error = ControlError::new(kind, code, "x").details(json!({"conflicting_path": "/a"}));
        let (found, body) = encode_error(&error, "r");
        assert_eq!((found, body["error"]["type"].as_str()), (status, Some(ty)));
        assert_eq!(body["error"]["conflicting_path"], "/a", "the wire has it beside the details");
        assert_eq!((back(&error).kind, should_retry(&error)), (kind, retry), "{code}");
    }
}

#[test]
fn causes_are_not_sent() {
    let mut error = ControlError::new(ErrorKind::Internal, "store.io", "what");
    error.source = Some("SECRET".into());
    assert!(!encode_error(&error, "r").1.to_string().contains("SECRET"));
}

#[test]
fn a_code_of_a_newer_server_is_kept() {
    let body = json!({"type": "error", "error": {"type": "conflict_error", "message": "moved",
        "details": {"error_code": "ship.sunk", "reason": "stale"}}, "request_id": "r"});
    let read = decode_error(409, body.to_string().as_bytes());
    assert_eq!((read.kind, read.code, read.message.as_str()), (ErrorKind::Conflict, "remote.error", "moved"));
    assert_eq!(read.details, json!({"error_code": "ship.sunk", "reason": "stale"}));
    assert!(!read.is_stale());
    let bare = json!({"error": {"message": "too many"}});
    for (status, kind) in [(401, ErrorKind::Permission), (429, ErrorKind::Unavailable), (529, ErrorKind::Unavailable)] {
        let read = decode_error(status, bare.to_string().as_bytes());
        assert_eq!(parts(&read), (kind, "remote.error", "too many", &Value::Null));
    }
}

#[test]
fn what_is_no_error_of_ours_keeps_its_beginning() {
    let page = format!("<html>\r\n\u{1b}[31m  Bad gateway\u{0}{}", "x".repeat(4_000));
    let read = decode_error(502, page.as_bytes());
    assert_eq!((read.kind, read.code), (ErrorKind::Unavailable, "remote.answer"));
    assert!(read.message.starts_with("the answer has status 502") && read.message.len() < 300, "{}", read.message);
    assert!(read.message.contains("<html> [31m Bad gateway xxx"), "{}", read.message);
    assert!(!read.message.contains(char::is_control));
    assert_eq!(read.details, json!({"status": 502}));
    // Nothing of a resource is known from these.
    for status in [404, 409, 418, 302] {
        assert_eq!(decode_error(status, b"").kind, ErrorKind::Internal);
    }
    assert_eq!(decode_error(407, b"\xff").kind, ErrorKind::Internal);
    assert_eq!(decode_error(403, b"{}").kind, ErrorKind::Permission);
}
