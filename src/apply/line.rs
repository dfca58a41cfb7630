//! What became of an action, as a line of the receipt; and the receipt.

use crate::apply::content::UploadError;
use crate::apply::schedule::Blocked;
use crate::apply::step::StepError;
use crate::control::{ControlError, ErrorKind};
use crate::diag::chain::Chain;
use crate::diag::{Code, bounded, codes};
use crate::model::op::{ReceiptLine, Written};
use crate::plan::{Action, Plan};
use crate::receipt::{FORMAT, Outcome, Receipt};

/// Outcomes of an action, as in a receipt.
pub(crate) const DONE: &str = "done";
const STALE: &str = "stale";
const BLOCKED: &str = "blocked";
const FAILED: &str = "failed";
const NOT_STARTED: &str = "not_started";

/// How an action ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) outcome: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) written: Option<Written>,
    /// The workspace could not be reached, after all retries: nothing else need be tried.
    pub(crate) lost: bool,
}

impl End {
    fn not(outcome: &'static str, error: String) -> Self {
        Self { outcome, error: Some(error), written: None, lost: false }
    }

    /// It was written, or had been by an earlier run. `None`: the operation answers nothing.
    pub(crate) fn written(written: Option<Written>) -> Self {
        match written {
            Some(w) if w.replayed && w.moved => {
                let text = format!("this plan did it before, and it moved on since: it has version {} now", w.version);
                Self { written: Some(w), ..Self::not(STALE, with_code(&text, codes::apply::MOVED_SINCE.code)) }
            }
            written => Self { outcome: DONE, error: None, written, lost: false },
        }
    }

    /// The workspace said no. The plan saw no conflict, every resource and its owner, so whatever tells of a
    /// conflict, a missing or archived resource, or another owner has moved since.
    pub(crate) fn refused(error: &ControlError) -> Self {
        let mut text = Chain(error).to_string();
        let owner = error.details.get("owner").and_then(serde_json::Value::as_str);
        if let Some(owner) = owner.filter(|o| !text.contains(*o)) {
            text = format!("{text}; it is owned by {owner}");
        }
        if error.is_stale() {
            let current = error.details.get("current").filter(|c| !c.is_null());
            let current = current.map(|c| format!("; there is now: {c}")).unwrap_or_default();
            return Self::not(STALE, with_code(&format!("{text}{current}"), codes::apply::STALE.code));
        }
        let outcome = if has_moved(error) { STALE } else { FAILED };
        Self { lost: error.kind == ErrorKind::Unavailable, ..Self::not(outcome, with_code(&text, error.code)) }
    }

    /// A body did not get there. One that is not as planned any more is a file that moved since.
    pub(crate) fn no_body(error: &UploadError) -> Self {
        let (outcome, code) = match error {
            UploadError::Body(_) => (STALE, codes::apply::CONTENT_MISSING.code),
            UploadError::Sent { source, .. } => (FAILED, source.code),
        };
        let lost = matches!(error, UploadError::Sent { source, .. } if source.kind == ErrorKind::Unavailable);
        Self { lost, ..Self::not(outcome, with_code(&Chain(error).to_string(), code)) }
    }

    /// No request could be made of it.
    pub(crate) fn no_request(error: &StepError) -> Self {
        let code: &Code = match error {
            StepError::Missing(_) => &codes::apply::MISSING_ID,
            StepError::Unfit(_) => &codes::apply::UNSOUND,
        };
        Self::not(FAILED, with_code(&error.to_string(), code.code))
    }

    /// Another action did not end well.
    pub(crate) fn blocked(blocked: &Blocked, cause: &Action, outcome: &str) -> Self {
        let text = if blocked.as_retirement {
            format!("nothing is retired after {} is {outcome}", cause.id)
        } else {
            format!("it waits for {}, which is {outcome}", cause.id)
        };
        Self::not(BLOCKED, with_code(&text, codes::apply::BLOCKED.code))
    }

    /// A person stopped the apply before; or, where `lost` names an action, the workspace went away.
    pub(crate) fn not_started(lost: Option<&Action>) -> Self {
        let error = lost.map(|a| format!("the workspace could not be reached any more, see {}", a.id));
        Self { outcome: NOT_STARTED, error, written: None, lost: false }
    }

    /// The line of the receipt.
    pub(crate) fn line(&self, action: &Action) -> ReceiptLine {
        let written = self.written.as_ref();
        ReceiptLine {
            action: action.id.clone(),
            outcome: self.outcome.to_owned(),
            operation: action.operation.clone(),
            id: written.map(|w| w.id.clone()),
            version: written.map(|w| w.version),
            made: written.and_then(|w| w.made.clone()),
            spec: written.and_then(|w| w.spec),
            error: self.error.clone(),
        }
    }
}

/// Does the error say that the plan's view of the resource is no longer true?
fn has_moved(error: &ControlError) -> bool {
    use crate::diag::codes::control::{ARCHIVED, OWNER_REQUIRED};
    match error.kind {
        // A key that was used for another request, or an Apply that was ended, says nothing about the resource.
        ErrorKind::Conflict => !error.code.starts_with("idempotency.") && !error.code.starts_with("apply."),
        ErrorKind::NotFound => true,
        _ => [ARCHIVED.code, OWNER_REQUIRED.code].contains(&error.code),
    }
}

fn with_code(text: &str, code: &str) -> String {
    format!("{} ({code})", bounded(text))
}

/// The receipt of a plan without actions.
pub(crate) fn nothing(plan: &Plan) -> Receipt {
    Receipt { outcome: Outcome::Nothing, ..receipt(plan, None, Vec::new(), false) }
}

/// The receipt of an apply that was stopped before its first write.
pub(crate) fn interrupted_before(plan: &Plan) -> Receipt {
    let lines = plan.actions.iter().map(|a| End::not_started(None).line(a)).collect();
    receipt(plan, None, lines, true)
}

/// The receipt of an apply.
pub(crate) fn receipt(plan: &Plan, apply: Option<String>, lines: Vec<ReceiptLine>, stopped: bool) -> Receipt {
    let done = lines.iter().filter(|l| l.outcome == DONE).count();
    let outcome = if done == lines.len() {
        Outcome::Done
    } else if stopped && lines.iter().any(|l| l.outcome == NOT_STARTED) {
        Outcome::Interrupted
    } else if done > 0 {
        Outcome::Partial
    } else {
        Outcome::Failed
    };
    Receipt {
        format: FORMAT.to_owned(),
        apply,
        owner: plan.owner.clone(),
        plan_digest: plan.digest,
        outcome,
        lines,
        held: plan.held.clone(),
        findings: plan.findings.clone(),
        not_settled: Vec::new(),
        other_apply: None,
    }
}

/// The word for an outcome in the workspace's record.
pub(crate) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Nothing | Outcome::Done => "done",
        Outcome::Partial => "partial",
        Outcome::Failed => "failed",
        Outcome::Interrupted => "interrupted",
    }
}
