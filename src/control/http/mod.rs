//! The canonical operations as HTTP says them: pure functions from a request to method, path, query, headers and
//! body, and back. The server and the remote control plane use the same ones, so they cannot disagree; a law
//! (`decode(encode(r)) == r`) holds them together.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::control::ControlError;
use crate::model::op::{Context, OPERATIONS, Operation, Request, Response, Verb};

/// Header of the acting owner.
pub const OWNER: &str = "checkfu-owner";
/// Header of the Apply that a write belongs to.
pub const APPLY: &str = "checkfu-apply";
/// Header of the action of that Apply (`Agent/support#update`).
pub const ACTION: &str = "checkfu-action";
/// Header of the epoch that the caller has seen.
pub const EPOCH: &str = "checkfu-epoch";
/// Header with the reason for passing ownership.
pub const BREAK_GLASS: &str = "checkfu-break-glass";
/// Header of the API version that the caller speaks; absent = the newest.
pub const VERSION: &str = "checkfu-version";
/// Header of the idempotency key.
pub const KEY: &str = "idempotency-key";
/// The API version of this build.
pub const API_VERSION: &str = "2026-11-30";

/// A request as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Method.
    pub method: Verb,
    /// Path, percent-encoded, with its leading slash.
    pub path: String,
    /// Query pairs, not encoded.
    pub query: Vec<(String, String)>,
    /// Body.
    pub body: Body,
}

/// A body as it goes over the wire, either way.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// None.
    Empty,
    /// `application/json`
    Json(Value),
    /// `application/octet-stream`
    Bytes(Vec<u8>),
}

/// A request as it came in, matched to its row.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// Its row.
    pub operation: &'static Operation,
    /// Path parameters, decoded.
    pub params: BTreeMap<String, String>,
    /// Query pairs, decoded, in order.
    pub query: Vec<(String, String)>,
    /// Body.
    pub body: Body,
}

/// What came in cannot be read as a request of its row.
pub type DecodeError = ControlError;

/// How a request goes over the wire.
pub fn encode(request: &Request) -> Outgoing {
    let operation = request.operation();
    Outgoing { method: operation.method, path: operation.path.to_owned(), query: Vec::new(), body: Body::Empty }
}

/// The headers of a context, but for credentials: owner, apply, action, key, break-glass, epoch, `prefer`.
pub fn encode_context(_context: &Context) -> Vec<(&'static str, String)> {
    Vec::new()
}

/// Reads a request.
///
/// # Errors
/// `validation.invalid`, 400, with the field or parameter.
pub fn decode(_incoming: &Incoming) -> Result<Request, DecodeError> {
    Ok(Request::Workspace)
}

/// Reads the headers; actor, its kind and admin come from the token and are not in it.
///
/// # Errors
/// `validation.invalid`, 400, with the header.
pub fn decode_context<'h>(_header: impl Fn(&str) -> Option<&'h str>) -> Result<Context, DecodeError> {
    Ok(Context::default())
}

/// How an answer goes over the wire (always 200).
pub fn encode_response(_operation: &Operation, _response: Response) -> Body {
    Body::Empty
}

/// Reads the answer (2xx) to a request. Unknown fields and enum values are tolerated.
///
/// # Errors
/// `remote.answer`: what it lacks.
pub fn decode_response(_request: &Request, _body: Body) -> Result<Response, DecodeError> {
    Ok(Response::Done)
}

/// Status and body of an error: `{"type":"error","error":{"type","message","details":{"error_code",…}},"request_id"}`.
pub fn encode_error(_error: &ControlError, _request_id: &str) -> (u16, Value) {
    (500, Value::Null)
}

/// Reads an error answer; what is no error of ours keeps its status and the beginning of its text.
pub fn decode_error(_status: u16, _body: &[u8]) -> ControlError {
    ControlError::new(crate::control::ErrorKind::Internal, "remote.answer", "")
}

/// The row of a method and path, and the path's parameters: `/v1/projects…` is the old name of `/v1/file_trees…`.
pub fn route(method: Verb, _path: &str) -> Option<(&'static Operation, BTreeMap<String, String>)> {
    OPERATIONS.iter().find(|o| o.method == method).map(|o| (o, BTreeMap::new()))
}
