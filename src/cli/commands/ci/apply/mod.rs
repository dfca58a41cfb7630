//! `mode: apply`: what was approved is carried out, what was not is left and named. A cancelled run lets what is in
//! flight finish and says what was done: first in outputs and summary, then in the comment.

mod approved;
mod by;
mod comments;
mod told;

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

use crate::ci::{Event, Standing};
use crate::cli::args::What;
use crate::cli::commands::apply::{carry_out, of_this_project};
use crate::cli::commands::ci::report::Closing;
use crate::cli::commands::ci::{Job, Report, guard, host};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::{self, Session, Wish, runtime};
use crate::cli::signals::{Second, stop_on_interrupt};
use crate::cli::target::Workspace;
use crate::cli::view::human;
use crate::control::remote::Remote;
use crate::diag::codes::ci as codes;
use crate::plan::{self, Action, Left, Plan};
use crate::reconcile;

use approved::{Approved, Refused};
use by::By;
use comments::Comments;

/// True once the run is to stop.
type Stop = watch::Receiver<bool>;

/// Applies.
pub fn run(job: &Job<'_>) -> Result<Report, Failure> {
    let runtime = runtime()?;
    let stop = {
        // Heard from the first moment on, so that a run that was stopped always says so.
        let _within = runtime.enter();
        stop_on_interrupt(Arc::clone(&job.run.printer), Second::Waits)
    };
    let event = host::event(job.around)?;
    let standing = guard::standing(job, event.as_ref())?;
    let by = by::read(job)?;
    let mut comments = Comments::new(job, event.as_ref(), &by)?;
    let ended = runtime.block_on(whole(job, (event.as_ref(), &standing), by, &stop, &mut comments));
    let mut report = ended.unwrap_or_else(|failure| {
        let report = Report::of_failure(failure);
        comments.failed(&report);
        report
    });
    comments.tell(&mut report);
    report.closing = Some(Closing::new(move || runtime.block_on(comments.end(&stop))));
    Ok(report)
}

/// What is applied.
struct Chosen {
    /// The part of the plan that is approved, or all of it.
    plan: Plan,
    /// The connections that it was made over.
    planned: Option<Remote>,
    /// What of it is left, with why.
    left: Vec<(Action, Left)>,
    /// The pull requests that approved it.
    by: BTreeSet<u64>,
    /// Comments that approve nothing.
    refused: Vec<Refused>,
}

impl Chosen {
    fn all_of(plan: Plan, planned: Option<Remote>) -> Self {
        Self { plan, planned, left: Vec::new(), by: BTreeSet::new(), refused: Vec::new() }
    }

    fn part_of(plan: &Plan, planned: Option<Remote>, approved: Approved) -> Self {
        let keep = |a: &Action| approved.by.contains_key(&a.id);
        let mut why = plan::left(plan, keep);
        let left = plan.actions.iter().filter_map(|a| Some((a.clone(), why.remove(&a.id)?))).collect();
        let part = plan::keep(plan, keep);
        let by = part.actions.iter().filter_map(|a| approved.by.get(&a.id).copied()).collect();
        Self { plan: part, planned, left, by, refused: approved.refused }
    }
}

async fn whole(
    job: &Job<'_>,
    (event, standing): (Option<&Event>, &Standing),
    by: By,
    stop: &Stop,
    comments: &mut Comments,
) -> Result<Report, Failure> {
    let mut session = session::open(job.run)?;
    guard::pass(job, standing, &mut session)?;
    comments.of_commit(session.loaded.project.source().commit);
    let what = What {
        only: job.inputs.only.clone(),
        exclude: job.inputs.exclude.clone(),
        allow: job.inputs.allow.clone(),
        ..What::default()
    };
    let wish = Wish { what, destroy: false };
    let mut chosen = unless_stopped(stop, choose(job, event, (&session, &wish), by, comments)).await?;
    show(job, &chosen.plan);
    if !chosen.plan.applyable {
        let report = told::refused(job, &session, &chosen.plan);
        comments.failed(&report);
        return Ok(report);
    }
    if !chosen.plan.actions.is_empty() {
        session.place.may_write(&job.run.printer)?;
        comments.begin(stop).await;
    }
    let planned = chosen.planned.take();
    let carried = carry_out(job.run, &session, &wish, (&chosen.plan, planned), stop.clone()).await?;
    let report = told::report(job, &session, &chosen, &carried);
    comments.ended(&chosen, &carried, &report);
    Ok(report)
}

/// Plans, or reads the plan, and finds out what of it is approved.
async fn choose(
    job: &Job<'_>,
    event: Option<&Event>,
    (session, wish): (&Session, &Wish),
    by: By,
    comments: &mut Comments,
) -> Result<Chosen, Failure> {
    if let By::File(plan) = by {
        return Ok(Chosen::all_of(of_this_project(*plan, session)?, None));
    }
    let control = session.place.open_existing(&job.run.printer)?;
    let plan = session.plan(job.run, wish, control.as_ref()).await?;
    let approved = match by {
        By::Digest(digest) => {
            reconcile::is_reviewed(&plan, &digest).map_err(|e| Failure::reconcile(&e))?;
            None
        }
        // Where there is nothing to do, nobody has to have approved anything.
        By::Comments if plan.applyable && !plan.actions.is_empty() => {
            let event = event.ok_or_else(by::no_comments)?;
            Some(approved::read(job, event, session, (&plan, control.as_ref()), comments).await?)
        }
        By::Comments | By::Now | By::File(_) => None,
    };
    let planned = control.and_then(Workspace::connections);
    Ok(match approved {
        Some(approved) => Chosen::part_of(&plan, planned, approved),
        None => Chosen::all_of(plan, planned),
    })
}

/// The plan in the log, before any of it is done.
fn show(job: &Job<'_>, plan: &Plan) {
    let mut text = String::new();
    let options = human::Options { verbose: job.run.printer.verbose, unchanged: "", texts: None };
    human::write(plan, options, &mut |part| text.push_str(part));
    job.run.printer.err(&text);
}

/// Does what changes nothing, unless the run is to stop.
async fn unless_stopped<T>(stop: &Stop, doing: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = heard(stop) => {
            let failure = Failure::new(&codes::INTERRUPTED, "stopped before anything was done");
            Err(failure.exit(Exit::Interrupted))
        }
        done = doing => done,
    }
}

/// Waits until the run is to stop.
async fn heard(stop: &Stop) {
    // Without a sender no signal can be heard.
    if stop.clone().wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
