//! Exit codes: the one place where outcomes become numbers.

use std::process::ExitCode;

use crate::control::{ControlError, ErrorKind};
use crate::plan::{self, Drift, Effect, Plan};
use crate::receipt::{Outcome, Receipt};
use crate::reconcile::{ApplyError, ReconcileError};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to do, or all done that the plan says.
    Ok,
    /// Usage, bad input, unreachable, unauthorized; nothing could be planned, nothing done.
    Error,
    /// Changes are pending.
    Changes,
    /// Live moved, files did not.
    Drift,
    /// Conflict, stale, owned by another, another workspace or epoch, content missing.
    Conflict,
    /// Refused by policy or threshold.
    Refused,
    /// At least one operation done and one failed for another reason.
    Partial,
    /// Interrupted, after the receipt.
    Interrupted,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Changes => 2,
            Exit::Drift => 3,
            Exit::Conflict => 4,
            Exit::Refused => 5,
            Exit::Partial => 6,
            Exit::Interrupted => 130,
        }
    }

    /// When two hold, the first of 1, 5, 4, 6, 3, 2, 0. An interruption is told before anything else.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        const ORDER: [Exit; 8] = [
            Exit::Interrupted,
            Exit::Error,
            Exit::Refused,
            Exit::Conflict,
            Exit::Partial,
            Exit::Drift,
            Exit::Changes,
            Exit::Ok,
        ];
        ORDER.into_iter().find(|e| *e == self || *e == other).unwrap_or(self)
    }

    /// Of a plan that is shown. Without `detailed`, 2 and 3 are 0.
    pub fn of_plan(plan: &Plan, detailed: bool) -> Exit {
        match plan::exit_code(plan) {
            0 => Exit::Ok,
            2 if detailed => Exit::Changes,
            3 if detailed => Exit::Drift,
            2 | 3 => Exit::Ok,
            4 => Exit::Conflict,
            5 => Exit::Refused,
            _ => Exit::Error,
        }
    }

    /// What the findings and conflicts of a plan say.
    pub fn of_findings(plan: &Plan) -> Exit {
        let of = |effect: Effect| match effect {
            Effect::Error => Exit::Error,
            Effect::Refuses => Exit::Refused,
            Effect::Blocks => Exit::Conflict,
            Effect::Note => Exit::Ok,
        };
        let conflict = if plan.held.iter().any(|h| h.conflict) { Exit::Conflict } else { Exit::Ok };
        plan.findings.iter().fold(conflict, |exit, f| exit.and(of(f.effect)))
    }

    /// Of an apply that ran.
    pub fn of_receipt(receipt: &Receipt) -> Exit {
        let done = receipt.count("done") > 0;
        let mut exit = match receipt.outcome {
            Outcome::Interrupted => Exit::Interrupted,
            Outcome::Nothing | Outcome::Done | Outcome::Partial | Outcome::Failed => Exit::Ok,
        };
        if receipt.count("stale") > 0 {
            exit = exit.and(Exit::Conflict);
        }
        if receipt.count("failed") > 0 {
            exit = exit.and(if done { Exit::Partial } else { Exit::Error });
        }
        if !receipt.not_settled.is_empty() {
            exit = exit.and(Exit::Partial);
        }
        exit
    }

    /// Of what drift told.
    pub fn of_drift(drift: &Drift) -> Exit {
        match plan::drift_exit_code(drift) {
            1 => Exit::Error,
            2 => Exit::Changes,
            3 => Exit::Drift,
            4 => Exit::Conflict,
            _ => Exit::Ok,
        }
    }

    /// Of an apply that ended with an error.
    pub fn of_reconcile(error: &ReconcileError) -> Exit {
        let ran = error.receipt().map(|r| Exit::of_receipt(r).and(Exit::Partial));
        ran.unwrap_or(match error {
            ReconcileError::OtherPlan { .. } => Exit::Conflict,
            ReconcileError::Apply(ApplyError::Refused { input, .. }) => {
                if *input {
                    Exit::Error
                } else {
                    Exit::Refused
                }
            }
            ReconcileError::Apply(
                ApplyError::OtherWorkspace { .. } | ApplyError::OtherIds { .. } | ApplyError::ContentMissing { .. },
            ) => Exit::Conflict,
            ReconcileError::Apply(ApplyError::Control { source, .. }) => Exit::of_control(source),
            ReconcileError::Apply(ApplyError::Unsound { .. } | ApplyError::NotEnded { .. })
            | ReconcileError::ReadBack { .. } => Exit::Error,
        })
    }

    /// Of an error of the workspace.
    pub fn of_control(error: &ControlError) -> Exit {
        match error.kind {
            ErrorKind::Conflict => Exit::Conflict,
            ErrorKind::Invalid
            | ErrorKind::Permission
            | ErrorKind::NotFound
            | ErrorKind::TooLarge
            | ErrorKind::Unavailable
            | ErrorKind::Internal => Exit::Error,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;

    #[test]
    fn the_first_of_1_5_4_6_3_2_0_wins() {
        let order = [Exit::Error, Exit::Refused, Exit::Conflict, Exit::Partial, Exit::Drift, Exit::Changes, Exit::Ok];
        for (i, a) in order.iter().enumerate() {
            for b in &order[i..] {
                assert_eq!((a.and(*b), b.and(*a)), (*a, *a));
            }
        }
    }

    #[test]
    fn a_plan_tells_pending_changes_only_when_asked() {
        let mut plan = sample::plan();
        // What is held beside what the files changed does not hide that they did.
        assert_eq!((plan.held.is_empty(), Exit::of_plan(&plan, true)), (false, Exit::Changes));
        assert_eq!(Exit::of_plan(&plan, false), Exit::Ok);
        plan.actions.clear();
        assert_eq!(Exit::of_plan(&plan, true), Exit::Drift);
        plan.held.clear();
        assert_eq!(Exit::of_plan(&plan, true), Exit::Ok);
        assert_eq!(Exit::of_plan(&sample::refused(), false), Exit::Refused);
    }

    #[test]
    fn a_receipt_tells_stale_before_failed() {
        let mut receipt = sample::receipt();
        assert_eq!(Exit::of_receipt(&receipt), Exit::Ok);
        receipt.lines[1].outcome = "failed".to_owned();
        assert_eq!(Exit::of_receipt(&receipt), Exit::Partial);
        receipt.lines[0].outcome = "stale".to_owned();
        receipt.lines[2].outcome = "done".to_owned();
        assert_eq!(Exit::of_receipt(&receipt), Exit::Conflict);
        receipt.outcome = Outcome::Interrupted;
        assert_eq!(Exit::of_receipt(&receipt).code(), 130);
    }
}
