//! `mode: plan`: what apply would do, with the cause of each action, as comment, summary, plan file and remarks. What a
//! fork proposes is compared with its branch instead, without a token.

mod offline;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::ci::trust::{CheckedOut, Review};
use crate::ci::{Event, Marker, RowCause, Standing, causes};
use crate::cli::args::What;
use crate::cli::base;
use crate::cli::commands::ci::comment::{SHORT, Said, Talk, notice};
use crate::cli::commands::ci::guard::{self, Passage};
use crate::cli::commands::ci::report::annotation;
use crate::cli::commands::ci::{Job, Report, host};
use crate::cli::failure::Failure;
use crate::cli::files::write_plan;
use crate::cli::session::{self, Session, Wish, runtime};
use crate::cli::view::markup;
use crate::cli::view::pull_request::{self, Comment, Links};
use crate::plan::{self, Plan};
use crate::reconcile::{Base, head};

/// Plans and says so.
pub fn run(job: &Job<'_>) -> Result<Report, Failure> {
    let event = host::event(job.around)?;
    let standing = guard::standing(job, event.as_ref())?;
    if let Standing::Offline(review, why) = &standing {
        return offline::report(job, review, Some(*why));
    }
    let commit = head(&job.run.cwd).ok().map(|h| h.commit);
    let runtime = runtime()?;
    let (standing, mut talk) = runtime.block_on(async {
        let standing = of_the_named_pull(job, event.as_ref(), standing).await;
        let talk = Talk::begin(job, event.as_ref(), &standing, commit.as_deref()).await;
        (standing, talk)
    });
    let made = runtime.block_on(make(job, &standing));
    let mut report = match made {
        Ok(Made::Plan(made)) => {
            let shown = Shown::new(job, &made, standing.review().map(|r| r.head.clone()).or(commit));
            let mut report = shown.report(job)?;
            let said = shown.said(job, talk.previous());
            runtime.block_on(talk.show(&said));
            told::on_request(job, &made.plan, &made.session.loaded.diagnostics, &mut report);
            report
        }
        Ok(Made::NoToken(review)) => {
            let mut report = offline::report(job, &review, None)?;
            let message = "the branch has no checkfu.yaml yet: the files are checked and shown, and no workspace is asked. allowed-origins names servers that may be";
            report.annotations.push(notice("plan", "without a workspace", message));
            report
        }
        Err(failure) => {
            let report = Report::of_failure(failure);
            let of = standing.review().map(|r| r.head.clone()).or(commit);
            let (outcome, marker) = told::not_planned(job, &report, of);
            runtime.block_on(talk.fail(&outcome, &marker));
            report
        }
    };
    talk.tell(&mut report);
    Ok(report)
}

/// A run that was started by hand for a pull request is about files under review, where it is these that are checked
/// out.
async fn of_the_named_pull(job: &Job<'_>, event: Option<&Event>, standing: Standing) -> Standing {
    let (Standing::Branch, Some(number), Some(event)) = (&standing, job.inputs.pr_number, event) else {
        return standing;
    };
    let Ok(here) = head(&job.run.cwd) else { return standing };
    let Some(Ok(host)) = host::github(&job.run.printer, job.inputs, job.around, event) else { return standing };
    let Ok(pull) = host.pull(number).await else { return standing };
    let seen = CheckedOut { commit: &here.commit, parents: &here.parents, dirty: false };
    if pull.merged || !seen.is_of(&pull.head_sha) {
        return standing;
    }
    Standing::Review(Review { head: pull.head_sha, base: pull.base_sha })
}

/// What came of planning.
enum Made {
    Plan(Box<Planned>),
    /// There is no server that a token may go to.
    NoToken(Review),
}

/// A plan, and what is known beside it.
struct Planned {
    session: Session,
    plan: Plan,
    causes: BTreeMap<String, RowCause>,
    base: Option<Base>,
    notes: Vec<String>,
}

async fn make(job: &Job<'_>, standing: &Standing) -> Result<Made, Failure> {
    let mut session = session::open(job.run)?;
    let review = standing.review();
    let base = review.map(|review| guard::find_base(&session.dir, review)).transpose()?;
    if let (Passage::NoToken, Some(review)) = (guard::passage(job, &session, base.as_ref())?, review) {
        return Ok(Made::NoToken(review.clone()));
    }
    session.limits = base.as_ref().and_then(Base::config).map(|c| c.policy.clone());
    let control = session.place.open_existing(&job.run.printer)?;
    let plan = session.plan(job.run, &wish(job), control.as_ref()).await?;
    let mut notes = Vec::new();
    let causes = match &base {
        Some(base) => why(&plan, &session, base, &mut notes),
        None => BTreeMap::new(),
    };
    Ok(Made::Plan(Box::new(Planned { session, plan, causes, base, notes })))
}

fn wish(job: &Job<'_>) -> Wish {
    let inputs = job.inputs;
    let what = What {
        only: inputs.only.clone(),
        exclude: inputs.exclude.clone(),
        allow: inputs.allow.clone(),
        ..What::default()
    };
    Wish { what, destroy: false }
}

/// Why each action is there; nothing, where what the branch declares cannot be told.
fn why(plan: &Plan, session: &Session, base: &Base, notes: &mut Vec<String>) -> BTreeMap<String, RowCause> {
    let Ok(wanted) = session.desired() else { return BTreeMap::new() };
    match base::desired(base, wanted) {
        Ok(before) => {
            let changed: BTreeSet<_> = plan::changed(&before, wanted);
            causes(plan, &changed, before.policy != wanted.policy)
        }
        Err(failure) => {
            let why = failure.diagnostics.0.first().map(|d| markup::prose(&d.message)).unwrap_or_default();
            notes.push(format!("What of this comes from this pull request cannot be told: {why}."));
            BTreeMap::new()
        }
    }
}

/// What a plan is shown with.
struct Shown<'a> {
    made: &'a Planned,
    head: Option<String>,
    repository: Option<String>,
    run: Option<String>,
    folder: String,
}

impl<'a> Shown<'a> {
    fn new(job: &Job<'_>, made: &'a Planned, head: Option<String>) -> Self {
        let folder = job.around.from_top(&made.session.dir, "").unwrap_or_default();
        Self { made, head, repository: host::repository_url(job.around), run: host::run_url(job.around), folder }
    }

    fn comment<'s>(&'s self, key: Option<&'s str>, previous: Option<&'s Marker>) -> Comment<'s> {
        Comment {
            plan: &self.made.plan,
            key,
            causes: &self.made.causes,
            links: Links { repository: self.repository.as_deref(), run: self.run.as_deref(), folder: &self.folder },
            head: self.head.as_deref(),
            base: self.made.base.as_ref().map(|b| b.commit.as_str()),
            previous,
            notes: &self.made.notes,
        }
    }

    fn said(&self, job: &Job<'_>, previous: Option<&Marker>) -> Said {
        let key = job.inputs.key();
        let of = self.comment(Some(&key), previous);
        Said {
            body: pull_request::body(&of, pull_request::COMMENT),
            short: pull_request::body(&of, SHORT),
            changes: !self.made.plan.actions.is_empty(),
        }
    }

    /// Everything but the comment, the plan file among it.
    fn report(&self, job: &Job<'_>) -> Result<Report, Failure> {
        let plan = &self.made.plan;
        let mut report = told::of_plan(job, plan, &self.comment(None, None));
        report.annotations.splice(0..0, self.made.session.loaded.diagnostics.shown().0.iter().map(annotation));
        let path = job.around.plan_file(job.inputs);
        save(&path, plan)?;
        report.tell("plan-file", path.display());
        Ok(report)
    }
}

fn save(path: &Path, plan: &Plan) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        // What is wrong with it is told by the writing.
        let _ = std::fs::create_dir_all(folder);
    }
    write_plan(path, &plan::write(plan))
}
