//! One request to the workspace and its answer, with kill points around it. Nothing is repeated here: a workspace
//! that is reached over a network repeats by itself what is safe, and one in process waits by itself.

use crate::apply::Event;
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::diag::codes;
use crate::model::op::{Context, Request, Response};

/// The way to the workspace for one apply.
pub(crate) struct Sender<'a, C> {
    pub(crate) control: &'a C,
    pub(crate) events: &'a (dyn Fn(Event) + Send + Sync),
}

impl<C: ControlPlane> Sender<'_, C> {
    /// Sends a request.
    pub(crate) async fn send(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        #[cfg(feature = "failpoints")]
        crate::control::failpoint::hit("before-send");
        let answer = self.control.call(context, request).await;
        #[cfg(feature = "failpoints")]
        crate::control::failpoint::hit("before-answer");
        answer
    }
}

/// The error for an answer of another kind than the request asks for: a defect of the control plane.
pub(crate) fn unexpected(operation: &str) -> ControlError {
    let message = format!("the workspace answered {operation} with something else than that operation answers");
    ControlError::new(ErrorKind::Internal, codes::apply::UNEXPECTED_ANSWER.code, message)
}
