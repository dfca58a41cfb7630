//! One request to the workspace and its answer: kill points around it, and the same request again while the
//! workspace cannot answer.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use tokio::sync::watch;

use crate::apply::Event;
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::diag::codes;
use crate::model::op::{Context, Request, Response};

/// How often a request is sent again while the workspace is unavailable (unreachable, too busy).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Times, after the first. Default 6.
    pub times: usize,
    /// The first pause; each next one is twice as long. Default 50 ms.
    pub first: Duration,
    /// The longest pause. Default 2 s.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { times: 6, first: Duration::from_millis(50), longest: Duration::from_secs(2) }
    }
}

/// The way to the workspace for one apply.
pub(crate) struct Sender<'a, C> {
    pub(crate) control: &'a C,
    pub(crate) retry: Retry,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) events: &'a (dyn Fn(Event) + Send + Sync),
}

impl<C: ControlPlane> Sender<'_, C> {
    /// Sends a request. One with an idempotency key is sent again, the same, while the workspace is
    /// unavailable and nobody asked to stop: an answer that was lost makes no second effect.
    pub(crate) async fn send(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        if context.key.is_none() {
            return self.once(context, request).await;
        }
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.retry.first)
            .with_max_delay(self.retry.longest)
            .with_max_times(self.retry.times)
            .with_factor(2.0);
        (|| self.once(context, request.clone()))
            .retry(pauses)
            .when(|error| may_pass(error) && !*self.stop.borrow())
            .notify(|error, after| {
                (self.events)(Event::Retrying { operation: request.name(), error: error.to_string(), after });
            })
            .await
    }

    async fn once(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        #[cfg(feature = "failpoints")]
        crate::control::failpoint::hit("before-send");
        let answer = self.control.call(context, request).await;
        #[cfg(feature = "failpoints")]
        crate::control::failpoint::hit("before-answer");
        answer
    }
}

/// Is this an error that goes away by trying again? A full disk or a file of another program does not, and for a
/// lock the workspace itself has waited.
fn may_pass(error: &ControlError) -> bool {
    error.kind == ErrorKind::Unavailable
        && !error.code.starts_with("store.")
        && error.code != codes::control::CONTROL_STOPPED.code
}

/// The error for an answer of another kind than the request asks for: a defect of the control plane.
pub(crate) fn unexpected(operation: &str) -> ControlError {
    let message = format!("the workspace answered {operation} with something else than that operation answers");
    ControlError::new(ErrorKind::Internal, codes::apply::UNEXPECTED_ANSWER.code, message)
}
