//! What an apply tells: outputs, the log, the summary, and remarks on the lines of what was not done.

use crate::ci::approval::Void;
use crate::ci::inputs::FailOn;
use crate::ci::{Annotation, FailureReason, Level};
use crate::cli::commands::apply::Carried;
use crate::cli::commands::ci::apply::Chosen;
use crate::cli::commands::ci::report::annotation;
use crate::cli::commands::ci::{Job, Report, host};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, place};
use crate::cli::session::Session;
use crate::cli::view::{comment, diagnostics, pull_request, receipt as view, words};
use crate::diag::codes::ci as codes;
use crate::diag::{Diagnostic, Diagnostics, Severity, bounded};
use crate::model::op::ReceiptLine;
use crate::plan::{Action, Left, Plan};
use crate::receipt::{Outcome, Receipt};

/// Of a plan that may not be applied.
pub(super) fn refused(job: &Job<'_>, session: &Session, plan: &Plan) -> Report {
    let mut report = Report::of_failure(Failure::of_findings(plan));
    let first = std::mem::take(&mut report.markdown);
    texts(job, session, plan, first, &mut report);
    report.numbers(plan);
    report.tell("applied", false);
    report
}

/// Of an apply that ran.
pub(super) fn report(job: &Job<'_>, session: &Session, chosen: &Chosen, carried: &Carried) -> Report {
    let receipt = &carried.receipt;
    let mut exit = carried.exit().and(Exit::of_findings(&chosen.plan));
    if !chosen.left.is_empty() {
        exit = exit.and(Exit::Partial);
    }
    let mut report = Report::new(exit);
    report.reason = reason(chosen, carried, exit);
    report.numbers(&chosen.plan);
    report.tell("applied", report.reason.is_none());
    if let Some(apply) = &receipt.apply {
        report.tell("apply-id", apply);
    }
    on_request(job, session, &mut report, receipt);

    let mut told = carried.diagnostics();
    told.extend(left(chosen));
    let by = approved_by(chosen).map(|by| by + "\n").unwrap_or_default();
    report.log = view::human(receipt, job.run.printer.verbose) + &by;
    report.log += &diagnostics::report(&told, &diagnostics::Sources::new(), diagnostics::Options { width: None });
    report.log += &view::next(receipt).map(|next| next + "\n").unwrap_or_default();
    let mut first = view::markdown(receipt);
    if !by.is_empty() {
        first = format!("{first}\n{by}");
    }
    if !told.0.is_empty() {
        first = format!("{first}\n{}", comment::diagnostics(&told));
    }
    texts(job, session, &chosen.plan, first, &mut report);
    report.annotations = told.0.iter().map(annotation).collect();
    let lines = chosen.plan.actions.iter().zip(&receipt.lines);
    report.annotations.extend(lines.filter_map(|(action, line)| remark(action, line)));
    report
}

/// What is told first, and then the plan, whole in the report file and in the room that is left in the summary.
fn texts(job: &Job<'_>, session: &Session, plan: &Plan, first: String, report: &mut Report) {
    if plan.actions.is_empty() {
        report.markdown = first;
        return;
    }
    let (repository, run) = (host::repository_url(job.around), host::run_url(job.around));
    let folder = job.around.from_top(&session.dir, "").unwrap_or_default();
    let causes = std::collections::BTreeMap::new();
    let shown = pull_request::Comment {
        plan,
        key: None,
        causes: &causes,
        links: pull_request::Links { repository: repository.as_deref(), run: run.as_deref(), folder: &folder },
        head: plan.source.commit.as_deref(),
        base: None,
        previous: None,
        notes: &[],
    };
    let with = |budget: usize| format!("{first}\n{}", pull_request::body(&shown, budget));
    // What else stands in a summary is short.
    report.summary = Some(with(pull_request::SUMMARY.saturating_sub(first.len() + 1_000)));
    report.markdown = with(pull_request::WHOLE);
}

/// Who approved what was applied.
fn approved_by(chosen: &Chosen) -> Option<String> {
    let pulls: Vec<String> = chosen.by.iter().map(|pull| format!("#{pull}")).collect();
    (!pulls.is_empty()).then(|| format!("Approved by merging {}.", pulls.join(", ")))
}

/// Why it is not all done.
fn reason(chosen: &Chosen, carried: &Carried, exit: Exit) -> Option<FailureReason> {
    let receipt = &carried.receipt;
    let (done, failed) = (receipt.count("done") > 0, receipt.count("failed") > 0);
    if receipt.outcome == Outcome::Interrupted {
        Some(FailureReason::Interrupted)
    } else if failed || carried.lost.is_some() {
        Some(if done { FailureReason::ApplyPartial } else { FailureReason::ApplyFailed })
    } else if receipt.count("stale") > 0 {
        Some(FailureReason::PlanStale)
    } else if !chosen.left.is_empty() {
        Some(FailureReason::ApprovalMissing)
    } else if !receipt.not_settled.is_empty() {
        Some(FailureReason::ApplyPartial)
    } else {
        (exit != Exit::Ok).then_some(FailureReason::Conflict)
    }
}

/// What `fail-on` makes of an apply that did all it should.
fn on_request(job: &Job<'_>, session: &Session, report: &mut Report, receipt: &Receipt) {
    let exit = match job.inputs.fail_on {
        FailOn::Warnings if session.loaded.diagnostics.count(Severity::Warning) > 0 => Exit::Error,
        FailOn::Drift if !receipt.held.is_empty() => Exit::Drift,
        _ => return,
    };
    if report.reason.is_none() {
        report.reason = Some(FailureReason::OnRequest);
        report.exit = exit;
    }
}

/// The reason in the words of a comment.
pub(super) fn words(reason: Option<FailureReason>) -> &'static str {
    match reason {
        None | Some(FailureReason::OnRequest) => "applied",
        Some(FailureReason::PlanChanged) => "not applied: what is planned now is another plan",
        Some(FailureReason::PlanStale) => "not applied: live moved since",
        Some(FailureReason::ApprovalMissing) => "not applied: not approved",
        Some(FailureReason::Refused) => "not applied: refused by policy",
        Some(FailureReason::Conflict) => {
            "not applied: it was made for another workspace, or conflicts with what is live"
        }
        Some(FailureReason::Interrupted) => "interrupted before anything was done",
        Some(_) => "not applied: see the run",
    }
}

/// Actions that are not done, and why, for a comment.
pub(super) fn rows(chosen: &Chosen, receipt: &Receipt) -> Vec<(String, String)> {
    let left = chosen.left.iter().map(|(action, why)| (words::subject(action), because(why)));
    let open = chosen.plan.actions.iter().zip(&receipt.lines).filter(|(_, line)| line.outcome != "done");
    let open = open.map(|(action, line)| (words::subject(action), outcome(line)));
    left.chain(open).collect()
}

fn outcome(line: &ReceiptLine) -> String {
    let word = line.outcome.replace('_', " ");
    line.error.as_deref().map_or_else(|| word.clone(), |error| format!("{word}: {}", bounded(error)))
}

fn because(why: &Left) -> String {
    match why {
        Left::Asked => "nobody approved it".to_owned(),
        Left::Needs(id) => format!("it waits for {id}, which is left"),
        Left::Whole(id) => format!("{id}, on the same resource, is left"),
        Left::Retires(id) => format!("nothing is retired while {id}, which comes before, is left"),
    }
}

/// What was left, and which comments approve nothing.
fn left(chosen: &Chosen) -> Diagnostics {
    let left = chosen.left.iter().map(|(action, why)| {
        let d = Diagnostic::new(&codes::APPROVAL_MISSING, format!("{} is left: {}", action.id, because(why)));
        let at = action.about.at.as_deref().and_then(place);
        at.map_or_else(|| d.clone(), |at| d.clone().at(at, ""))
    });
    // Of comments that count for nothing where nothing is missing nobody needs to know.
    let void = chosen.refused.iter().filter(|_| !chosen.left.is_empty()).map(|of| {
        let message = format!("a comment on #{} approves nothing: {} ({})", of.pull, of.why, of.url);
        let fix = match of.why {
            Void::Head { .. } => "let the plan of the last commit be shown before merging",
            Void::Author(_) | Void::Edited(_) => {
                "let the plan be shown anew in another pull request, and leave its comment as it is"
            }
        };
        Diagnostic::new(&codes::APPROVAL_VOID, message).fix(fix)
    });
    Diagnostics(left.chain(void).collect())
}

/// A remark on the line of an action that did not end well.
fn remark(action: &Action, line: &ReceiptLine) -> Option<Annotation> {
    let (level, title) = match line.outcome.as_str() {
        "failed" => (Level::Error, "failed"),
        "stale" => (Level::Error, "stale"),
        "blocked" => (Level::Warning, "blocked"),
        _ => return None,
    };
    let at = action.about.at.as_deref().and_then(place);
    Some(Annotation {
        level,
        file: at.as_ref().map(|at| at.file.to_string()),
        line: at.as_ref().map_or(0, |at| at.line),
        column: at.as_ref().map_or(0, |at| at.column),
        code: action.id.clone(),
        title: title.to_owned(),
        message: line.error.clone().unwrap_or_else(|| "it was not done".to_owned()),
    })
}
