//! One line of the log a request, and its counts. Never a body, a token, the value of a query, or the text of a
//! break-glass reason.

use std::sync::Arc;
use std::time::Instant;

use axum::http::{Method, StatusCode};

use crate::control::{ControlError, ErrorKind};
use crate::diag::chain::Chain;
use crate::model::op::{Context, Operation};
use crate::server::App;

/// Of a client that went away before its answer.
const GONE: u16 = 499;

/// What is told of a request when it ends, however it ends.
pub(super) struct Line {
    app: Arc<App>,
    began: Instant,
    id: String,
    method: Method,
    /// The template: `/v1/agents/{id}`.
    route: &'static str,
    operation: &'static str,
    actor: String,
    owner: String,
    break_glass: bool,
    status: u16,
    bytes: u64,
    error: Option<ControlError>,
}

impl Line {
    pub(super) fn begin(app: Arc<App>, method: &Method) -> Self {
        app.metrics.began();
        Self {
            app,
            began: Instant::now(),
            id: format!("req_{}", uuid::Uuid::now_v7().simple()),
            method: method.clone(),
            route: "",
            operation: "",
            actor: String::new(),
            owner: String::new(),
            break_glass: false,
            status: GONE,
            bytes: 0,
            error: None,
        }
    }

    /// `req_…`
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Which path, where it is none of an operation.
    pub(super) fn of_route(&mut self, route: &'static str) {
        self.route = route;
    }

    /// Which operation.
    pub(super) fn of_operation(&mut self, operation: &'static Operation) {
        self.route = operation.path;
        self.operation = operation.name;
    }

    /// Whose token.
    pub(super) fn by(&mut self, actor: &str) {
        actor.clone_into(&mut self.actor);
    }

    /// As whom.
    pub(super) fn within(&mut self, context: &Context) {
        self.owner = context.owner.as_ref().map(ToString::to_string).unwrap_or_default();
        self.break_glass = context.break_glass.is_some();
    }

    /// Why not.
    pub(super) fn refused(&mut self, error: ControlError) {
        self.error = Some(error);
    }

    /// The answer begins.
    pub(super) fn end(mut self, status: StatusCode, bytes: u64) {
        self.status = status.as_u16();
        self.bytes = bytes;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let code = self.error.as_ref().map_or("", |e| e.code);
        let cause = match &self.error {
            // What a client did wrong may quote what it sent; what went wrong here is for the operator.
            Some(e) if matches!(e.kind, ErrorKind::Internal | ErrorKind::Unavailable) => Chain(e).to_string(),
            _ => String::new(),
        };
        tracing::info!(
            target: "checkfu::request",
            id = self.id,
            method = self.method.as_str(),
            route = self.route,
            operation = self.operation,
            actor = self.actor,
            owner = self.owner,
            break_glass = self.break_glass,
            status = self.status,
            error = code,
            cause,
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            bytes = self.bytes,
        );
        self.app.metrics.ended(self.operation, self.status, code, took.as_secs_f64());
    }
}
