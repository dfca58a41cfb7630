//! Why a command did not do what it was asked: diagnostics and an exit code.

use std::error::Error;

use crate::cli::exit::Exit;
use crate::cli::view::diagnostics::Sources;
use crate::control::{ControlError, ErrorKind};
use crate::diag::chain::Chain;
use crate::diag::{Code, Diagnostic, Diagnostics, Location, Severity, codes};
use crate::plan::{Effect, Plan};
use crate::reconcile::{ApplyError, ReconcileError};

/// Files that are named one by one when they are not as planned.
const MOST_PROBLEMS: usize = 20;

/// Ends a command.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What is said; sorted when shown.
    pub diagnostics: Diagnostics,
    /// Texts for excerpts.
    pub sources: Sources,
    /// What class of error the workspace gave, where it was that.
    pub kind: Option<ErrorKind>,
}

/// What a command gives back.
pub type Ran = Result<Exit, Failure>;

impl Failure {
    /// One diagnostic, exit 1.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Diagnostic::new(code, message).into()
    }

    /// Sets the fix of the last diagnostic.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.0.last_mut() {
            last.fix = Some(fix.into());
        }
        self
    }

    /// Adds a hint to the last diagnostic.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.0.last_mut() {
            last.hints.push(hint.into());
        }
        self
    }

    /// Sets the exit code.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Many diagnostics, exit 1.
    pub fn many(diagnostics: Diagnostics, sources: Sources) -> Self {
        Self { exit: Exit::Error, diagnostics, sources, kind: None }
    }

    /// An error of the workspace, with its causes, under its own code where that has a row.
    pub fn control(doing: &str, error: &ControlError) -> Self {
        let code = codes::find(error.code).unwrap_or(&codes::cli::WORKSPACE);
        let mut failure = Self::new(code, format!("cannot {doing}: {}", Chain(error))).exit(Exit::of_control(error));
        failure.kind = Some(error.kind);
        if code.code == error.code { failure } else { failure.hint(format!("the workspace said {}", error.code)) }
    }

    /// What went wrong with a workspace file that an option or argument of the command names: in general a target
    /// does.
    #[must_use]
    pub fn of_file(self, named_by: &str) -> Self {
        use codes::control::{STORE_CANNOT_OPEN, STORE_NOT_A_DATABASE};
        let about_a_path = |d: &Diagnostic| [STORE_CANNOT_OPEN.code, STORE_NOT_A_DATABASE.code].contains(&d.code.code);
        if self.diagnostics.0.last().is_some_and(about_a_path) {
            return self.fix(format!("give another file as `{named_by}`, or move this one away"));
        }
        self
    }

    /// What went wrong between a plan and its receipt.
    pub fn reconcile(error: &ReconcileError) -> Self {
        let cause = error.source().and_then(|s| s.downcast_ref::<ControlError>());
        match (error.code(), cause) {
            (Some(code), _) => {
                let mut failure = Self::caused(code, error).exit(Exit::of_reconcile(error));
                if let ReconcileError::Apply(ApplyError::ContentMissing { problems }) = error {
                    failure = problems.iter().take(MOST_PROBLEMS).fold(failure, Failure::hint);
                }
                failure
            }
            (None, Some(cause)) => Self::control("apply", cause),
            (None, None) => Self::caused(&codes::cli::WORKSPACE, error),
        }
    }

    /// The findings that keep a plan from being applied, as diagnostics.
    pub fn of_findings(plan: &Plan) -> Self {
        let mut diagnostics = Diagnostics::default();
        for finding in plan.findings.iter().filter(|f| f.effect != Effect::Note) {
            let code = codes::find(&finding.code).unwrap_or(&codes::cli::INTERNAL);
            let mut d = Diagnostic::new(code, &finding.message).severity(Severity::Error);
            d.fix.clone_from(&finding.fix);
            if let Some(at) = finding.at.as_deref().and_then(place) {
                d = d.at(at, "");
            }
            diagnostics.push(d);
        }
        Self { exit: Exit::of_findings(plan), diagnostics, sources: Sources::new(), kind: None }
    }

    /// Any other error with its causes, under a code of ours.
    pub fn caused(code: &'static Code, error: &(dyn Error + 'static)) -> Self {
        Self::new(code, Chain(error).to_string())
    }
}

/// Reads `file:line:column`.
pub fn place(text: &str) -> Option<Location> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some(Location { line: line.parse().ok()?, column: column.parse().ok()?, ..Location::file(file) })
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Error, diagnostics: Diagnostics(vec![diagnostic]), sources: Sources::new(), kind: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;
    use crate::model::Digest;

    #[test]
    fn an_error_of_the_workspace_keeps_its_message_its_cause_and_its_class() {
        let mut error = ControlError::new(ErrorKind::Conflict, "nobody.knows", "owned by acme/billing");
        error.source = Some("the cause".into());
        let failure = Failure::control("read it", &error);
        assert_eq!(failure.exit, Exit::Conflict);
        let d = &failure.diagnostics.0[0];
        assert_eq!(d.message, "cannot read it: owned by acme/billing: the cause");
        assert_eq!((d.code.code, &d.hints[..]), ("cli.workspace", &["the workspace said nobody.knows".to_owned()][..]));
    }

    #[test]
    fn every_end_of_an_apply_has_its_code_and_exit() {
        let cause = || ControlError::new(ErrorKind::Unavailable, "nobody.knows", "locked");
        let receipt = || Box::new(sample::receipt());
        let refused = |input| ApplyError::Refused { codes: vec!["plan.retire".into()], input };
        let other = || ApplyError::OtherWorkspace { planned: "a".into(), found: "b".into() };
        let rows: Vec<(ReconcileError, &str, Exit)> = vec![
            (ReconcileError::Apply(refused(false)), "apply.refused", Exit::Refused),
            (ReconcileError::Apply(refused(true)), "apply.refused", Exit::Error),
            (ReconcileError::Apply(other()), "apply.other_workspace", Exit::Conflict),
            (
                ReconcileError::Apply(ApplyError::OtherIds { problems: vec!["Skill/s is skill_1".into()] }),
                "apply.other_ids",
                Exit::Conflict,
            ),
            (
                ReconcileError::Apply(ApplyError::ContentMissing { problems: vec!["a.md".into()] }),
                "plan.content_missing",
                Exit::Conflict,
            ),
            (ReconcileError::Apply(ApplyError::Unsound { problems: vec![] }), "apply.unsound", Exit::Error),
            (
                ReconcileError::Apply(ApplyError::Control { doing: "ask", source: cause() }),
                "cli.workspace",
                Exit::Error,
            ),
            (
                ReconcileError::Apply(ApplyError::NotEnded { receipt: receipt(), source: cause() }),
                "apply.not_ended",
                Exit::Partial,
            ),
            (ReconcileError::ReadBack { receipt: receipt(), source: cause() }, "apply.not_read_back", Exit::Partial),
            (
                ReconcileError::OtherPlan { wanted: Digest::of(b"a"), found: Digest::of(b"b") },
                "apply.other_plan",
                Exit::Conflict,
            ),
        ];
        for (error, code, exit) in rows {
            let failure = Failure::reconcile(&error);
            assert_eq!((failure.diagnostics.0[0].code.code, failure.exit), (code, exit), "{error:?}");
        }
    }

    #[test]
    fn findings_that_refuse_become_diagnostics_with_their_place_and_fix() {
        let mut plan = sample::refused();
        plan.findings[0].at = Some("a:b.yaml:3:14".to_owned());
        let failure = Failure::of_findings(&plan);
        assert_eq!((failure.exit, failure.diagnostics.0.len()), (Exit::Refused, 1));
        let d = &failure.diagnostics.0[0];
        assert_eq!(d.place().unwrap().to_string(), "a:b.yaml:3:14");
        assert_eq!((d.code.code, d.fix.is_some()), ("plan.irreversible", true));
        plan.findings[0].code = "plan.of_a_newer_version".to_owned();
        assert_eq!(Failure::of_findings(&plan).diagnostics.0[0].code.code, "cli.internal");
    }
}
