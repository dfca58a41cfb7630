//! What a plan tells beside its comment: outputs, the log, the summary, and remarks on the lines that cause its findings
//! and actions.

use crate::ci::inputs::FailOn;
use crate::ci::{Annotation, FailureReason, Level, Marker, State};
use crate::cli::commands::ci::{Job, Report, host};
use crate::cli::exit::Exit;
use crate::cli::failure::place;
use crate::cli::view::pull_request::{self, Comment, Outcome};
use crate::cli::view::{human, words};
use crate::diag::{Diagnostics, Severity, bounded, codes};
use crate::plan::{Action, Effect, Finding, Plan};

/// Errors that a comment lists.
const MOST_ROWS: usize = 5;

/// What every plan tells, one that is only compared with a branch too.
pub(super) fn of_plan(job: &Job<'_>, plan: &Plan, shown: &Comment<'_>) -> Report {
    let mut report = Report::new(Exit::of_plan(plan, true));
    report.reason = match report.exit {
        Exit::Refused => Some(FailureReason::Refused),
        Exit::Conflict => Some(FailureReason::Conflict),
        Exit::Ok | Exit::Changes | Exit::Drift => None,
        Exit::Error | Exit::Partial | Exit::Interrupted => Some(FailureReason::Invalid),
    };
    report.numbers(plan);
    let options = human::Options { verbose: job.run.printer.verbose, unchanged: "", texts: None };
    human::write(plan, options, &mut |text| report.log.push_str(text));
    report.markdown = pull_request::body(shown, pull_request::WHOLE);
    if report.markdown.len() > pull_request::SUMMARY {
        report.summary = Some(pull_request::body(shown, pull_request::SUMMARY));
    }
    report.annotations = plan.findings.iter().map(of_finding).chain(plan.actions.iter().map(of_action)).collect();
    report
}

fn of_finding(finding: &Finding) -> Annotation {
    let at = finding.at.as_deref().and_then(place);
    let level = if finding.effect == Effect::Note { Level::Notice } else { Level::Error };
    let title = codes::find(&finding.code).map_or("a finding of the plan", |c| c.title);
    let fix = finding.fix.as_ref().map(|fix| format!("\nfix: {fix}")).unwrap_or_default();
    Annotation {
        level,
        file: at.as_ref().map(|at| at.file.to_string()),
        line: at.as_ref().map_or(0, |at| at.line),
        column: at.as_ref().map_or(0, |at| at.column),
        code: finding.code.clone(),
        title: title.to_owned(),
        message: format!("{}{fix}", finding.message),
    }
}

/// On the line that causes it; of a retirement there is none.
fn of_action(action: &Action) -> Annotation {
    let changes = &action.about.changes;
    let at = changes.iter().find_map(|c| c.at.as_deref()).or(action.about.at.as_deref()).and_then(place);
    let fields: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
    let mut message = format!("{} {}", action.verb.as_str(), words::subject(action));
    if !fields.is_empty() {
        message = format!("{message}: {}", bounded(&fields.join(", ")));
    }
    for remark in words::remarks(action) {
        message = format!("{message}\n{remark}");
    }
    Annotation {
        level: if words::irreversible(action) { Level::Warning } else { Level::Notice },
        file: at.as_ref().map(|at| at.file.to_string()),
        line: at.as_ref().map_or(0, |at| at.line),
        column: at.as_ref().map_or(0, |at| at.column),
        code: action.id.clone(),
        title: "planned".to_owned(),
        message,
    }
}

/// What `fail-on` asks for, where nothing else failed.
pub(super) fn on_request(job: &Job<'_>, plan: &Plan, found: &Diagnostics, report: &mut Report) {
    let fails = match job.inputs.fail_on {
        FailOn::Error => false,
        FailOn::Warnings => {
            found.count(Severity::Warning) > 0 || plan.findings.iter().any(|f| f.effect == Effect::Note)
        }
        FailOn::Changes => !plan.actions.is_empty(),
        FailOn::Retirements => plan.actions.iter().any(words::retires),
        FailOn::Drift => !plan.held.is_empty(),
    };
    if fails && report.reason.is_none() {
        report.reason = Some(FailureReason::OnRequest);
    }
}

/// What a comment says where there is no plan.
pub(super) fn not_planned(job: &Job<'_>, report: &Report, head: Option<String>) -> (Outcome, Marker) {
    let key = job.inputs.key();
    let errors = || report.annotations.iter().filter(|a| a.level == Level::Error);
    let row = |a: &Annotation| {
        let place = a.file.as_ref().map_or_else(|| a.code.clone(), |file| format!("{file}:{}", a.line));
        (place, a.message.lines().next().unwrap_or_default().to_owned())
    };
    let rows: Vec<(String, String)> = errors().take(MOST_ROWS).map(row).collect();
    let (repository, run) = (host::repository_url(job.around), host::run_url(job.around));
    let of =
        pull_request::Run { key: &key, head: head.as_deref(), repository: repository.as_deref(), run: run.as_deref() };
    let outcome = pull_request::unplanned(&of, &rows, errors().count());
    let marker = Marker {
        what: "plan".to_owned(),
        key,
        head,
        base: None,
        digest: None,
        actions: Vec::new(),
        names: Vec::new(),
        total: 0,
        state: State::Stale,
    };
    (outcome, marker)
}
