//! The canonical operations as HTTP says them: pure functions from a request to method, path, query, headers and
//! body, and back. The server and the remote control plane use the same ones, so they cannot disagree; a law
//! (`decode(encode(r)) == r`) holds them together.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::control::ControlError;
use crate::model::op::{Operation, Verb};

pub mod body;
mod decode;
mod encode;
mod error;
mod headers;
pub mod input;
pub mod query;
mod response;
mod route;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;
pub use error::{decode_error, encode_error, error_type, should_retry};
pub use headers::{decode_context, encode_context};
pub use response::{decode_response, encode_response};
pub use route::{allowed, route};

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
/// Header that says how much of an answer is wanted (RFC 7240).
pub const PREFER: &str = "prefer";
/// Header of features that the caller knows; accepted, and ignored but for one pair that excludes itself.
pub const BETA: &str = "anthropic-beta";
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
