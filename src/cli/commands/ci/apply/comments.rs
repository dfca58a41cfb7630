//! The comments whose plan is applied: they say so while it runs and once it has ended. Whatever happens to them
//! changes nothing of the apply.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use crate::ci::{Annotation, Degraded, Event, FailureReason, Level, Marker, Pull, State, inputs};
use crate::cli::commands::apply::Carried;
use crate::cli::commands::ci::apply::approved::judge;
use crate::cli::commands::ci::apply::by::{By, no_comments};
use crate::cli::commands::ci::apply::{Chosen, Stop, heard, told};
use crate::cli::commands::ci::{Job, Report, host};
use crate::cli::failure::Failure;
use crate::cli::view::Printer;
use crate::cli::view::pull_request::{self, Outcome, restate};
use crate::diag::chain::Chain;
use crate::diag::codes::ci as codes;
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};

/// How long comments may take once the run is to stop. A cancelled job has ten seconds in all, and what was in flight
/// has used some of them.
const GRACE: Duration = Duration::from_secs(2);
/// How long they may take else.
const PATIENCE: Duration = Duration::from_mins(1);

/// A comment that counts: ours, untouched, of what was merged. No other is written to, as then its text would be ours.
pub(super) struct Ours {
    /// For REST.
    pub(super) id: u64,
    /// Its page.
    pub(super) url: String,
    /// As it is.
    pub(super) body: String,
    /// Its mark.
    pub(super) marker: Marker,
}

/// What is said in comments.
pub(super) struct Comments {
    host: Option<GitHub>,
    printer: Arc<Printer>,
    key: String,
    repository: Option<String>,
    run: Option<String>,
    /// Comments are what the apply goes by: then it is told where one cannot be written.
    needed: bool,
    writes: bool,
    /// The pull request that is named, or that the event is about.
    number: Option<u64>,
    pull: Option<Pull>,
    commit: Option<String>,
    found: Option<Vec<Ours>>,
    last: Option<(State, Outcome)>,
    began: bool,
    denied: bool,
}

impl Comments {
    /// Asks for nothing yet.
    pub(super) fn new(job: &Job<'_>, event: Option<&Event>, by: &By) -> Result<Self, Failure> {
        let needed = matches!(by, By::Comments);
        let host = event.and_then(|event| host::github(&job.run.printer, job.inputs, job.around, event)).transpose();
        let host = match host {
            Ok(None) if needed => return Err(no_comments()),
            Err(error) if needed => return Err(Failure::new(&codes::APPROVAL_UNREAD, Chain(&error).to_string())),
            Ok(host) => host,
            Err(error) => {
                job.run.printer.err(&format!("No comment is written: {}", Chain(&error)));
                None
            }
        };
        Ok(Self {
            host,
            printer: Arc::clone(&job.run.printer),
            key: job.inputs.key(),
            repository: host::repository_url(job.around),
            run: host::run_url(job.around),
            needed,
            writes: job.inputs.comment != inputs::Comment::Never,
            number: job.inputs.pr_number,
            pull: event.and_then(|e| e.pull.clone()),
            commit: event.map(|e| e.sha.clone()),
            found: None,
            last: None,
            began: false,
            denied: false,
        })
    }

    /// The commit that is applied, where the check-out tells it.
    pub(super) fn of_commit(&mut self, commit: Option<String>) {
        self.commit = commit.or(self.commit.take());
    }

    /// The client.
    pub(super) fn host(&self) -> Option<&GitHub> {
        self.host.as_ref()
    }

    /// The mark of a comment that is about plans of this key.
    pub(super) fn marker(&self, body: &str) -> Option<Marker> {
        Marker::read(body).filter(|m| m.what == "plan" && m.key == self.key)
    }

    /// These are the comments.
    pub(super) fn found(&mut self, ours: Vec<Ours>) {
        self.found = Some(ours);
    }

    fn of_run(&self) -> pull_request::Run<'_> {
        pull_request::Run {
            key: &self.key,
            head: self.commit.as_deref(),
            repository: self.repository.as_deref(),
            run: self.run.as_deref(),
        }
    }

    /// Says that the apply runs.
    pub(super) async fn begin(&mut self, stop: &Stop) {
        self.began = true;
        self.last = Some((State::Applying, pull_request::applying(&self.of_run())));
        tokio::select! {
            biased;
            () = heard(stop) => {}
            () = tokio::time::sleep(PATIENCE) => {}
            () = self.write() => {}
        }
    }

    /// Notes how a run ended that carried nothing out. A plan that was never begun stands as it was shown, unless it is
    /// another one by now or may not be applied.
    pub(super) fn failed(&mut self, report: &Report) {
        use FailureReason::{Conflict, PlanChanged, Refused};
        if !self.began && !matches!(report.reason, Some(PlanChanged | Refused | Conflict)) {
            return;
        }
        let why = told::words(report.reason);
        self.last = Some((state(report.reason), pull_request::stale(&self.of_run(), why)));
    }

    /// Notes how an apply ended.
    pub(super) fn ended(&mut self, chosen: &Chosen, carried: &Carried, report: &Report) {
        let run = self.of_run();
        let outcome = if chosen.left.is_empty() {
            pull_request::applied(&run, &carried.receipt)
        } else {
            let rows = told::rows(chosen, &carried.receipt);
            pull_request::refused(&run, &rows, chosen.plan.actions.len() + chosen.left.len())
        };
        self.last = Some((state(report.reason), outcome));
    }

    /// Tells of the comment, and that it cannot be written.
    pub(super) fn tell(&self, report: &mut Report) {
        if let Some(ours) = self.found.iter().flatten().last() {
            report.tell("comment-id", ours.id);
            report.tell("comment-url", &ours.url);
        }
        if self.denied && self.needed {
            report.degraded = report.degraded.or(Some(Degraded::NoToken));
            report.annotations.push(Annotation {
                level: Level::Notice,
                file: None,
                line: 0,
                column: 0,
                code: "comment".to_owned(),
                title: "not written".to_owned(),
                message: "the token may not write comments on pull requests: the job needs `pull-requests: write`"
                    .to_owned(),
            });
        }
    }

    /// Says how it ended, within the time that is left.
    pub(super) async fn end(mut self, stop: &Stop) {
        let printer = Arc::clone(&self.printer);
        tokio::select! {
            biased;
            () = self.write() => {}
            () = async { heard(stop).await; tokio::time::sleep(GRACE).await } => printer.err("No time was left for the comment."),
            () = tokio::time::sleep(PATIENCE) => printer.err("The comment took too long."),
        }
    }

    async fn write(&mut self) {
        if self.host.is_none() || self.last.is_none() || !self.writes || self.denied {
            return;
        }
        if self.found.is_none() {
            let looked = self.look().await;
            let found = looked.unwrap_or_else(|error| {
                self.printer.err(&format!("The comment on the pull request is left as it is: {}", Chain(&error)));
                Vec::new()
            });
            self.found = Some(found);
        }
        let (Some(host), Some((state, outcome)), Some(ours)) = (&self.host, &self.last, &self.found) else { return };
        let edits = ours.iter().filter_map(|ours| {
            let marker = Marker { state: *state, ..ours.marker.clone() };
            Some((ours.id, restate(&ours.body, &marker, outcome)?))
        });
        let edits: Vec<(u64, String)> = edits.collect();
        let written = join_all(edits.iter().map(|(id, body)| host.update_comment(*id, body))).await;
        for error in written.into_iter().filter_map(Result::err) {
            self.printer.err(&format!("A comment is left as it was: {}", Chain(&error)));
            // One that is not there was deleted, and says nothing of the token.
            self.denied |= matches!(error.kind, ForgeErrorKind::Unauthorized | ForgeErrorKind::Forbidden);
        }
    }

    /// The comment of the pull request that is applied, where comments are not what the apply goes by.
    async fn look(&self) -> Result<Vec<Ours>, ForgeError> {
        let Some(host) = &self.host else { return Ok(Vec::new()) };
        let pulls = match (self.number, &self.pull, &self.commit) {
            (Some(number), ..) => vec![host.pull(number).await?],
            (None, Some(pull), _) => vec![pull.clone()],
            (None, None, Some(commit)) => {
                let mut pulls = host.pulls_of(commit).await?;
                pulls.retain(|p| p.merged && p.merge_commit.as_ref() == Some(commit));
                pulls
            }
            (None, None, None) => Vec::new(),
        };
        let mut ours = Vec::new();
        for pull in pulls {
            let me = host.me().await?;
            for comment in host.comments(pull.number).await? {
                let Some(marker) = self.marker(&comment.body) else { continue };
                if judge(host, &comment, &marker, &pull.head_sha, &me).await?.is_ok() {
                    ours.push(Ours { id: comment.id, url: comment.url, body: comment.body, marker });
                }
            }
        }
        Ok(ours)
    }
}

/// How far a comment has come by it.
fn state(reason: Option<FailureReason>) -> State {
    use FailureReason::{ApprovalMissing, Conflict, PlanChanged, PlanStale, Refused};
    match reason {
        None | Some(FailureReason::OnRequest) => State::Applied,
        Some(ApprovalMissing | Conflict | PlanChanged | PlanStale | Refused) => State::Stale,
        Some(_) => State::Failed,
    }
}
