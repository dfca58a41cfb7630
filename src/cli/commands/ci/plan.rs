//! `mode: plan`: what apply would do, with the cause of each action, as comment, summary, plan file and remarks. What a
//! fork proposes is compared with its branch instead, without a token.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::ci::inputs::FailOn;
use crate::ci::trust::Review;
use crate::ci::{Annotation, Degraded, Event, FailureReason, Level, Marker, RowCause, Standing, State, causes};
use crate::cli::args::What;
use crate::cli::base;
use crate::cli::commands::ci::comment::{SHORT, Said, Talk, notice};
use crate::cli::commands::ci::guard::{self, Passage};
use crate::cli::commands::ci::report::annotation;
use crate::cli::commands::ci::{Job, Report, host};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, place};
use crate::cli::files::write_plan;
use crate::cli::session::{self, Session, Wish, runtime};
use crate::cli::view::pull_request::{self, Comment, Links, Outcome};
use crate::cli::view::{human, markup, words};
use crate::diag::{Diagnostics, Severity};
use crate::plan::{self, Action, Effect, Finding, Plan};
use crate::reconcile::{Base, head};

/// Plans and says so.
pub fn run(job: &Job<'_>) -> Result<Report, Failure> {
    let event = host::event(job.around)?;
    let standing = guard::standing(job, event.as_ref())?;
    if let Standing::Offline(review, why) = &standing {
        return offline(job, review, Some(*why));
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
            on_request(job, &made.plan, &made.session.loaded.diagnostics, &mut report);
            report
        }
        Ok(Made::NoToken(review)) => {
            let mut report = offline(job, &review, None)?;
            let message = "the branch has no checkfu.yaml yet: the files are checked and shown, and no workspace is asked. allowed-origins names servers that may be";
            report.annotations.push(notice("plan", "without a workspace", message));
            report
        }
        Err(failure) => {
            let report = Report::of_failure(failure);
            let of = standing.review().map(|r| r.head.clone()).or(commit);
            let (outcome, marker) = not_planned(job, &report, of);
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
    let seen = crate::ci::trust::CheckedOut { commit: &here.commit, parents: &here.parents, dirty: false };
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
        let mut report = of_plan(job, plan, &self.comment(None, None));
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

/// What every plan tells, one that is only compared with a branch too.
fn of_plan(job: &Job<'_>, plan: &Plan, shown: &Comment<'_>) -> Report {
    let mut report = Report::new(Exit::of_plan(plan, true));
    report.reason = match report.exit {
        Exit::Refused => Some(FailureReason::Refused),
        Exit::Conflict => Some(FailureReason::Conflict),
        Exit::Ok | Exit::Changes | Exit::Drift => None,
        Exit::Error | Exit::Partial | Exit::Interrupted => Some(FailureReason::Invalid),
    };
    report.numbers(plan);
    let options = human::Options { verbose: job.run.printer.verbose, unchanged: "" };
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
    let title = crate::diag::codes::find(&finding.code).map_or("a finding of the plan", |c| c.title);
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
        message += &format!(": {}", crate::diag::bounded(&fields.join(", ")));
    }
    for remark in words::remarks(action) {
        message += &format!("\n{remark}");
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
fn on_request(job: &Job<'_>, plan: &Plan, found: &Diagnostics, report: &mut Report) {
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

/// Checks the files and compares them with their branch; no token is used, and nothing is written but the summary.
fn offline(job: &Job<'_>, review: &Review, why: Option<Degraded>) -> Result<Report, Failure> {
    let (dir, loaded) = session::load_sound(job.run)?;
    let wanted = session::desired(&loaded)?;
    let found = guard::find_base(&dir, review).and_then(|base| {
        let before = base::desired(&base, wanted)?;
        let options = session::options(job.run, &wish(job), &dir, base::origin(&base, "the branch"));
        Ok((base::plan(&base, &before, wanted, &options), base.commit.clone()))
    });
    let mut report = match found {
        Ok((plan, commit)) => {
            let (repository, run) = (host::repository_url(job.around), host::run_url(job.around));
            let folder = job.around.from_top(&dir, "").unwrap_or_default();
            let shown = Comment {
                plan: &plan,
                key: None,
                causes: &BTreeMap::new(),
                links: Links { repository: repository.as_deref(), run: run.as_deref(), folder: &folder },
                head: Some(&review.head),
                base: Some(&commit),
                previous: None,
                notes: &["Compared with the branch; no workspace was asked.".to_owned()],
            };
            let mut report = of_plan(job, &plan, &shown);
            on_request(job, &plan, &loaded.diagnostics, &mut report);
            report
        }
        // The files themselves are sound, and that is what can be said of them.
        Err(failure) => {
            let mut report = Report::new(Exit::Ok);
            let why = failure.diagnostics.0.first().map(annotation);
            report.annotations.extend(why.map(|a| Annotation { level: Level::Notice, ..a }));
            report.log = crate::cli::view::tables::valid(&loaded.counts);
            report.markdown = crate::cli::view::comment::diagnostics(&loaded.diagnostics);
            report
        }
    };
    report.annotations.splice(0..0, loaded.diagnostics.shown().0.iter().map(annotation));
    report.degraded = why;
    if let Some(why) = why {
        let whose = if why == Degraded::Fork { "a fork" } else { "Dependabot" };
        let message = format!(
            "what {whose} proposes gets no token: the files are checked and compared with the branch, and no workspace was asked"
        );
        report.annotations.push(notice("plan", "without a workspace", message));
    }
    Ok(report)
}

/// What a comment says where there is no plan.
fn not_planned(job: &Job<'_>, report: &Report, head: Option<String>) -> (Outcome, Marker) {
    let key = job.inputs.key();
    let rows = report.annotations.iter().filter(|a| a.level == Level::Error);
    let row = |a: &Annotation| {
        let at = a.file.as_ref().map(|file| format!(" {}", markup::code(&format!("{file}:{}", a.line))));
        let text = crate::cli::view::text::clip(a.message.lines().next().unwrap_or_default(), 400);
        format!("- {}{}: {}", markup::code(&a.code), at.unwrap_or_default(), markup::prose(&text))
    };
    let mut status: Vec<String> = rows.clone().take(MOST_ROWS).map(row).collect();
    let rest = rows.count().saturating_sub(MOST_ROWS);
    if rest > 0 {
        status.push(format!("- and {rest} more; the job summary has all of them"));
    }
    let (short, run) = (head.as_ref().map(|h| h.chars().take(12).collect::<String>()), host::run_url(job.around));
    let of = short.map(|h| format!(" of {h}")).unwrap_or_default();
    let by = run.map(|url| format!(", by [this run]({url})")).unwrap_or_default();
    let outcome = Outcome {
        heading: format!("### checkfu plan: {}: there is no plan{of}", markup::code(&key)),
        status: status.join("\n"),
        foot: format!("<sub>No plan could be made{of}{by}.</sub>"),
    };
    let marker = Marker {
        what: "plan".to_owned(),
        key,
        head,
        base: None,
        digest: None,
        actions: Vec::new(),
        state: State::Stale,
    };
    (outcome, marker)
}

/// Errors that a comment lists.
const MOST_ROWS: usize = 5;
