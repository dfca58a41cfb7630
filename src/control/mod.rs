//! The one port to a workspace: canonical operations in, answers out. And the port to file bodies.

use std::future::Future;

use crate::model::Digest;
use crate::model::op::{Context, Request, Response};

pub mod embedded;
#[cfg(feature = "failpoints")]
pub mod failpoint;
mod fields;
pub mod http;
pub mod remote;

/// A workspace. The only way to change it.
pub trait ControlPlane: Send + Sync {
    /// Carries out one canonical operation. A write is one transaction: effect, idempotency record, audit
    /// fact and receipt line, or none of them.
    fn call(&self, context: &Context, request: Request) -> impl Future<Output = Result<Response, ControlError>> + Send;
}

/// File bodies for apply, made from the working tree.
pub trait Blobs: Send + Sync {
    /// The bytes of a project file, line ends normalized as they were when it was digested.
    /// `path` is relative to the project folder.
    fn open(&self, path: &str, digest: &Digest) -> Result<Vec<u8>, BlobError>;
}

/// Why a file body cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The bytes are others than when the plan was made.
    #[error("{path} has changed since the plan was made: it was {wanted} and is {found}")]
    Changed {
        /// Project path.
        path: String,
        /// In the plan.
        wanted: Digest,
        /// On disk.
        found: Digest,
    },
    /// It cannot be read.
    #[error("{path} cannot be read")]
    Io {
        /// Project path.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// The class of an error; one place maps it to HTTP status, one to exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// 400
    Invalid,
    /// 403
    Permission,
    /// 404
    NotFound,
    /// 409: moved on, taken, owned elsewhere.
    Conflict,
    /// 413
    TooLarge,
    /// 503: locked, no space, unreachable; nothing was done, or it is not known.
    Unavailable,
    /// 500
    Internal,
}

/// An error of a canonical operation.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// Class.
    pub kind: ErrorKind,
    /// Dotted `error_code`: `validation.conflict`, `authoring.owned_elsewhere`, …
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// Machine-readable: `{reason: stale, current}`, `{owner}`, …
    pub details: serde_json::Value,
    /// The cause, if there is one.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ControlError {
    /// An error without details.
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), details: serde_json::Value::Null, source: None }
    }

    /// Adds details.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = details;
        self
    }

    /// Is this "what you saw has moved on": the action ends as `stale`?
    pub fn is_stale(&self) -> bool {
        self.code == "validation.conflict" && self.details.get("reason").and_then(|r| r.as_str()) == Some("stale")
    }
}
