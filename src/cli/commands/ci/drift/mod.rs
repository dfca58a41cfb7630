//! `mode: drift`: what moved live, told in one issue and, where that is asked for, in one pull request. What could not be
//! read is no drift and no end of it: then nothing is touched.

mod issue;
mod pull;

use crate::ci::drift_issue::Moved;
use crate::ci::inputs::FailOn;
use crate::ci::{Degraded, DriftStatus, Event, FailureReason};
use crate::cli::args::What;
use crate::cli::commands::ci::comment::notice;
use crate::cli::commands::ci::report::annotation;
use crate::cli::commands::ci::{Job, Report, guard, host};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::{self, Session, Wish, context, runtime};
use crate::cli::view::drift_issue::Look;
use crate::cli::view::{drift, drift_markdown, human};
use crate::diag::Diagnostic;
use crate::diag::chain::Chain;
use crate::diag::codes::ci as codes;
use crate::forge::{ForgeError, GitHub};
use crate::model::op::Context;
use crate::plan::{self, Drift, DriftCause, Effect, Unmanaged};
use crate::reconcile;

/// Looks and tells.
pub fn run(job: &Job<'_>) -> Result<Report, Failure> {
    let event = host::event(job.around)?;
    let standing = guard::standing(job, event.as_ref())?;
    let mut session = session::open(job.run)?;
    guard::pass(job, &standing, &mut session)?;
    let what = What { only: job.inputs.only.clone(), exclude: job.inputs.exclude.clone(), ..What::default() };
    let options = session.options(job.run, &Wish { what, destroy: false });
    let context = context(job.run, &session.loaded.config);
    let looking = Looking { job, event: event.as_ref(), session: &session, options, context };
    runtime()?.block_on(looking.whole())
}

/// What one run looks with.
struct Looking<'a> {
    job: &'a Job<'a>,
    event: Option<&'a Event>,
    session: &'a Session,
    options: plan::Options,
    context: Context,
}

/// What was seen.
struct Seen {
    drift: Drift,
    moved: Option<Moved>,
}

impl Seen {
    /// Could everything be looked at?
    fn is_whole(&self) -> bool {
        self.drift.findings.iter().all(|f| f.effect != Effect::Error)
    }
}

impl Looking<'_> {
    async fn whole(&self) -> Result<Report, Failure> {
        let mut seen = self.look().await?;
        let mut trouble = Vec::new();
        let host = self.host(&mut trouble);
        let (issue, pull) = (self.job.inputs.issue, self.job.inputs.pull_request);
        let mut status = if seen.moved.is_some() { DriftStatus::New } else { DriftStatus::None };
        let mut known = issue::Keeper::none();
        if let (true, true, Some(host)) = (seen.is_whole(), issue, &host) {
            match issue::Keeper::find(self, host, seen.moved.is_some()).await {
                Ok(found) => known = found,
                Err(error) => trouble.push(error),
            }
        }
        // What people are told of, they are told of once it was read a second time.
        if seen.is_whole() && (known.tells(seen.moved.as_ref()) || (pull && seen.moved.is_some())) {
            seen = self.look().await?;
        }
        let mut report = self.report(&seen);
        if !seen.is_whole() {
            return Ok(report);
        }
        if let Some(host) = &host {
            if issue && trouble.is_empty() {
                status = known.status(seen.moved.as_ref());
                match known.keep(self, host, &seen, &mut report).await {
                    Ok(number) => number.into_iter().for_each(|n| report.tell("issue-number", n)),
                    Err(error) => trouble.push(error),
                }
            }
            if pull && let Err(error) = pull::keep(self, host, &seen, &mut report).await? {
                trouble.push(error);
            }
        }
        report.tell("drift-status", status.as_str());
        for error in trouble {
            tell(&error, &mut report);
        }
        Ok(report)
    }

    /// Reads the workspace.
    async fn look(&self) -> Result<Seen, Failure> {
        let control = self.session.place.open_to_look(&self.job.run.printer)?;
        let project = Some(&self.session.loaded.project);
        let desired = self.session.desired()?;
        let most = Unmanaged::SHOWN;
        let drift = reconcile::drift(desired, control.as_ref(), &self.context, &self.options, project, most)
            .await
            .map_err(|e| Failure::control("read the workspace", &e))?;
        Ok(Seen { moved: Moved::of(&drift), drift })
    }

    /// The client of GitHub, if something is to be written there.
    fn host(&self, trouble: &mut Vec<ForgeError>) -> Option<GitHub> {
        let inputs = self.job.inputs;
        let event = self.event.filter(|_| inputs.issue || inputs.pull_request)?;
        match host::github(&self.job.run.printer, inputs, self.job.around, event)? {
            Ok(host) => Some(host),
            Err(error) => {
                trouble.push(error);
                None
            }
        }
    }

    fn report(&self, seen: &Seen) -> Report {
        let Seen { drift: found, moved } = seen;
        let exit = Exit::of_drift(found);
        let mut report = Report::new(exit);
        report.markdown = drift_markdown::drift(found);
        let options = human::Options { verbose: self.job.run.printer.verbose, unchanged: "", texts: None };
        report.log = drift::human(found, options);
        if let Some(next) = drift::next(found) {
            report.log.push_str(&next);
            report.log.push('\n');
        }
        if !seen.is_whole() {
            report.reason = Some(FailureReason::Invalid);
            return report;
        }
        report.tell("drift", moved.is_some());
        let pending = || found.resources.iter().flat_map(|r| &r.differences).any(|d| d.cause == DriftCause::NotApplied);
        let wanted = match self.job.inputs.fail_on {
            FailOn::Drift => moved.is_some(),
            FailOn::Changes => pending(),
            FailOn::Error | FailOn::Warnings | FailOn::Retirements => false,
        };
        report.reason = match exit {
            Exit::Conflict => Some(FailureReason::Conflict),
            _ if wanted => Some(FailureReason::OnRequest),
            _ => None,
        };
        if self.event.is_some() && (self.job.inputs.issue || self.job.inputs.pull_request) {
            let no_token = self.job.inputs.github_token.is_none();
            if no_token {
                report.degraded = Some(Degraded::NoToken);
                let message = "there is no github-token to keep an issue with. What moved is in the job summary";
                report.annotations.push(notice("issue", "not written", message));
            }
        }
        report
    }

    /// The look, as an issue tells of it.
    fn told(&self) -> Look {
        let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap_or_default();
        Look {
            key: self.job.inputs.key(),
            at: now.to_string(),
            run: host::run_url(self.job.around),
            commit: self.session.loaded.project.source().commit,
        }
    }
}

/// What GitHub did not take. A right that is missing is told and fails nothing; all else leaves people without the news,
/// so it fails.
fn tell(error: &ForgeError, report: &mut Report) {
    let text = Chain(error).to_string();
    if error.is_denied() {
        report.degraded = report.degraded.or(Some(Degraded::NoToken));
        let message = format!(
            "{text}; an issue needs `issues: write`, a pull request `contents: write` and `pull-requests: write`. What \
             moved is in the job summary"
        );
        report.annotations.push(notice("issue", "not written", message));
        return;
    }
    report.annotations.push(annotation(&Diagnostic::new(&codes::ISSUE, text.clone())));
    report.log.push_str(&text);
    report.log.push('\n');
    report.outputs.remove("drift-status");
    report.exit = report.exit.and(Exit::Error);
    report.reason = report.reason.or(Some(FailureReason::Unreachable));
}
