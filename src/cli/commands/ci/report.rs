//! What a mode says: how it ended, why, counts, remarks on lines, and the texts of the log and of the summary.

use std::collections::BTreeMap;

use crate::ci::{Annotation, Degraded, FailureReason, Level};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::view::{comment, diagnostics, words};
use crate::control::ErrorKind;
use crate::diag::{Code, Diagnostic, Severity, codes};
use crate::plan::{Action, Plan, Verb};

/// What a mode says.
#[derive(Debug)]
pub struct Report {
    /// As the command line would end.
    pub exit: Exit,
    /// Why it failed; `None` where it did not.
    pub reason: Option<FailureReason>,
    /// Why less was done than asked for.
    pub degraded: Option<Degraded>,
    /// By name of the table of outputs.
    pub outputs: BTreeMap<&'static str, String>,
    /// Remarks on lines; any number.
    pub annotations: Vec<Annotation>,
    /// For the report file, and for the job summary unless there is one: Markdown, any length.
    pub markdown: String,
    /// For the job summary, where it is not the whole: Markdown.
    pub summary: Option<String>,
    /// For the log: text for people.
    pub log: String,
    /// What is left to do once all of that is written.
    pub closing: Option<Closing>,
}

/// What a mode does after its report is written: that may take time, and be cut off.
pub struct Closing(Box<dyn FnOnce()>);

impl Closing {
    /// Does this then.
    pub fn new(then: impl FnOnce() + 'static) -> Self {
        Self(Box::new(then))
    }

    /// Does it.
    pub fn run(self) {
        (self.0)();
    }
}

impl std::fmt::Debug for Closing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closing(…)")
    }
}

impl Report {
    /// One that has nothing to say yet.
    pub fn new(exit: Exit) -> Self {
        Self {
            exit,
            reason: None,
            degraded: None,
            outputs: BTreeMap::new(),
            annotations: Vec::new(),
            markdown: String::new(),
            summary: None,
            log: String::new(),
            closing: None,
        }
    }

    /// Of a failure, with its reason.
    pub fn failed(failure: Failure, reason: FailureReason) -> Self {
        let Failure { exit, diagnostics: found, sources, .. } = failure;
        let mut report = Self::new(exit);
        report.reason = Some(reason);
        report.markdown = comment::diagnostics(&found);
        report.log = diagnostics::report(&found, &sources, diagnostics::Options { width: None });
        report.annotations = found.shown().0.iter().map(annotation).collect();
        report
    }

    /// Of a failure whose code and exit tell the reason.
    pub fn of_failure(failure: Failure) -> Self {
        let reason = reason(&failure);
        Self::failed(failure, reason)
    }

    /// Tells the numbers of a plan.
    pub fn numbers(&mut self, plan: &Plan) {
        let count = |of: &dyn Fn(&Action) -> bool| plan.actions.iter().filter(|a| of(a)).count();
        let creates = count(&|a| a.verb == Verb::Create);
        let retirements = count(&|a| words::retires(a));
        self.tell("changes", !plan.actions.is_empty());
        self.tell("creates", creates);
        self.tell("retirements", retirements);
        self.tell("updates", plan.actions.len() - creates - retirements);
        self.tell("unchanged", plan.notes.unchanged);
        self.tell("held", plan.held.len());
        self.tell("plan-digest", plan.digest);
    }

    /// Sets an output.
    #[expect(clippy::needless_pass_by_value, reason = "numbers, texts and flags alike, as they come")]
    pub fn tell(&mut self, name: &'static str, value: impl ToString) {
        self.outputs.insert(name, value.to_string());
    }

    /// How the process ends: a run that says what it should is a success, whatever is pending.
    pub fn ends(&self) -> Exit {
        match (self.reason, self.exit) {
            (None, _) => Exit::Ok,
            (Some(_), Exit::Ok) => Exit::Error,
            (Some(_), exit) => exit,
        }
    }
}

/// Codes that say more than how the command line would end.
const REASONS: &[(&Code, FailureReason)] = &[
    (&codes::ci::INPUT, FailureReason::Usage),
    (&codes::ci::SURROUNDINGS, FailureReason::Usage),
    (&codes::cli::READ, FailureReason::Usage),
    (&codes::ci::FORK, FailureReason::NotAllowed),
    (&codes::ci::FOREIGN, FailureReason::NotAllowed),
    (&codes::ci::CHANGED, FailureReason::NotAllowed),
    (&codes::ci::ORIGIN, FailureReason::NotAllowed),
    (&codes::bundle::NO_BASE, FailureReason::NoBase),
    (&codes::ci::APPROVAL_UNREAD, FailureReason::ApprovalMissing),
    (&codes::apply::OTHER_PLAN, FailureReason::PlanChanged),
    (&codes::plan::FILE_DIGEST, FailureReason::PlanChanged),
];

/// A diagnostic as a remark.
pub fn annotation(d: &Diagnostic) -> Annotation {
    let level = match d.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Notice,
    };
    let at = d.place();
    Annotation {
        level,
        file: at.map(|at| at.file.to_string()),
        line: at.map_or(0, |at| at.line),
        column: at.map_or(0, |at| at.column),
        code: d.code.code.to_owned(),
        title: d.code.title.to_owned(),
        message: format!("{}\nfix: {}", d.message, diagnostics::fix(d)),
    }
}

/// Why, by what the failure says.
fn reason(failure: &Failure) -> FailureReason {
    let code = failure.diagnostics.0.first().map(|d| d.code.code);
    if let Some((_, reason)) = REASONS.iter().find(|(of, _)| code == Some(of.code)) {
        return *reason;
    }
    match failure.kind {
        Some(ErrorKind::Permission) => FailureReason::Unauthorized,
        Some(ErrorKind::Unavailable) => FailureReason::Unreachable,
        _ => match failure.exit {
            Exit::Refused => FailureReason::Refused,
            Exit::Conflict => FailureReason::Conflict,
            Exit::Partial => FailureReason::ApplyPartial,
            Exit::Interrupted => FailureReason::Interrupted,
            Exit::Ok | Exit::Error | Exit::Changes | Exit::Drift => FailureReason::Invalid,
        },
    }
}
