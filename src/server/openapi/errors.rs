//! What an operation may answer but 200.

use serde_json::{Map, Value, json};

use crate::control::http::query::parameters;
use crate::model::op::{Operation, Verb};

/// Status, the wire's types, and what it means.
const ROWS: &[(&str, &[&str], &str)] = &[
    ("400", &["invalid_request_error"], "A field, parameter or header cannot be taken; the message names it."),
    ("401", &["authentication_error"], "No token, or one that is wrong, revoked or over."),
    ("403", &["permission_error"], "The token may not do this, or not as this owner."),
    ("404", &["not_found_error"], "What the path or the body names is not there."),
    ("408", &["timeout_error"], "The body took too long to arrive."),
    (
        "409",
        &["conflict_error", "memory_precondition_failed_error", "memory_path_conflict_error"],
        "What was seen has moved on, is taken, or belongs to another owner. Asking again does not help.",
    ),
    ("413", &["request_too_large"], "The path or the body is too large."),
    ("415", &["invalid_request_error"], "The body is of a type that is not taken here."),
    ("500", &["api_error"], "The workspace cannot be read or written, or the server made a mistake."),
    ("503", &["api_error"], "The workspace is locked, full or closed for now."),
    ("504", &["timeout_error"], "It took too long; a write may be done or not, but never half."),
    ("529", &["overloaded_error"], "The server has too much to do; nothing was done."),
];

fn name(status: &str) -> String {
    format!("Error{status}")
}

/// The answers that components name.
pub(super) fn responses() -> Value {
    let one = |(status, types, about): &(&str, &[&str], &str)| {
        let schema = json!({
            "type": "object",
            "required": ["type", "error", "request_id"],
            "properties": {
                "type": {"const": "error"},
                "error": {
                    "type": "object",
                    "required": ["type", "message", "details"],
                    "properties": {
                        "type": {"enum": types},
                        "message": {"type": "string", "description": "For people."},
                        "details": {
                            "type": "object",
                            "required": ["error_code"],
                            "properties": {
                                "error_code": {
                                    "type": "string",
                                    "pattern": r"^[a-z_]+(\.[a-z_]+)*$",
                                    "description": "For programs; `checkfu explain CODE` tells more.",
                                },
                            },
                        },
                    },
                },
                "request_id": {"type": "string"},
            },
        });
        (name(status), super::answers::about(about, "application/json", &schema))
    };
    ROWS.iter().map(one).collect::<Map<String, Value>>().into()
}

/// Answers with these statuses, and one for success.
pub(super) fn with(statuses: &[&str], success: &Value) -> Value {
    let mut out = refused(statuses);
    out["200"] = success.clone();
    out
}

fn refused(statuses: &[&str]) -> Value {
    let one = |s: &&str| ((*s).to_owned(), json!({"$ref": format!("#/components/responses/{}", name(s))}));
    statuses.iter().map(one).collect::<Map<String, Value>>().into()
}

/// What an operation may be refused with.
pub(super) fn of(operation: &Operation) -> Value {
    let names_something = operation.path.contains('{');
    let mut statuses = vec!["400", "401", "403", "413", "500", "503", "504", "529"];
    if names_something || operation.method == Verb::Post || !parameters(operation).is_empty() {
        statuses.push("404");
    }
    if operation.mutates {
        statuses.push("409");
    }
    if operation.method == Verb::Post {
        statuses.extend(["408", "415"]);
    }
    refused(&statuses)
}
