//! The one comment of a key on a pull request: found by its mark and its author over all pages, written anew where it
//! says something else. Whatever happens to it changes nothing of the plan.

use crate::ci::inputs::{Comment as When, CommentStyle};
use crate::ci::{Annotation, Degraded, Event, Level, Marker, Standing, State};
use crate::cli::commands::ci::{Job, Provider, Report, host};
use crate::cli::view::pull_request::{Outcome, restate};
use crate::diag::chain::Chain;
use crate::forge::{Comment, ForgeError, ForgeErrorKind, GitHub};

/// A comment on a pull request, before it is written.
pub struct Talk<'a> {
    job: &'a Job<'a>,
    host: Option<GitHub>,
    /// Where it is to be; `None`: nowhere.
    number: Option<u64>,
    /// The comment that is there, with its mark.
    found: Option<(Comment, Marker)>,
    /// What is there now.
    now: Option<Comment>,
    /// Why none is written.
    trouble: Option<ForgeError>,
    /// Comments were asked for, and there is no token.
    no_token: bool,
}

/// What a comment says.
pub struct Said {
    /// With its mark.
    pub body: String,
    /// The same in few words, for a server that finds that too long.
    pub short: String,
    /// Is there something to do?
    pub changes: bool,
}

impl<'a> Talk<'a> {
    /// Finds out on which pull request there is something to say, and what was said there before. `commit` is what is
    /// checked out.
    pub async fn begin(job: &'a Job<'a>, event: Option<&Event>, standing: &Standing, commit: Option<&str>) -> Self {
        let mut talk = Self { job, host: None, number: None, found: None, now: None, trouble: None, no_token: false };
        let Some(event) = event.filter(|e| job.inputs.comment != When::Never && e.name != "merge_group") else {
            return talk;
        };
        let due = standing.review().is_some() || job.inputs.pr_number.is_some();
        match host::github(&job.run.printer, job.inputs, job.around, event) {
            Some(Ok(host)) => talk.host = Some(host),
            Some(Err(error)) => talk.trouble = Some(error),
            None => talk.no_token = due && job.around.provider == Provider::GitHub,
        }
        if let Err(error) = talk.look(event, standing, commit).await {
            // Nobody asked for a comment on what was only looked for.
            talk.trouble = Some(error).filter(|_| due);
            talk.number = None;
        }
        talk
    }

    async fn look(&mut self, event: &Event, standing: &Standing, commit: Option<&str>) -> Result<(), ForgeError> {
        let Some(host) = &self.host else { return Ok(()) };
        let of_event = event.pull.as_ref().filter(|_| standing.review().is_some());
        let (number, planned) = match (self.job.inputs.pr_number, of_event, commit) {
            (Some(number), ..) => (number, of_event.filter(|p| p.number == number).map(|p| p.head_sha.as_str())),
            (None, Some(pull), _) => (pull.number, Some(pull.head_sha.as_str())),
            (None, None, Some(commit)) if matches!(event.name.as_str(), "push" | "workflow_dispatch") => {
                let pulls = host.pulls_of(commit).await?;
                // What was merged was approved as it was shown: there is nothing to say any more.
                let open = pulls.iter().find(|p| !p.merged && p.head_sha == commit);
                let Some(pull) = open else { return Ok(()) };
                (pull.number, None)
            }
            _ => return Ok(()),
        };
        let now = host.pull(number).await?;
        if now.merged {
            self.job.run.printer.err(&format!("#{number} is merged: its comment stays as it was approved."));
            return Ok(());
        }
        if planned.is_some_and(|head| head != now.head_sha) {
            self.job.run.printer.err(&format!("#{number} has a newer commit: the comment is left to its run."));
            return Ok(());
        }
        let me = host.me().await?;
        let ours = host.comments(number).await?.into_iter().filter(|c| c.author.eq_ignore_ascii_case(&me));
        let key = self.job.inputs.key();
        let marked = ours.filter_map(|c| Some((Marker::read(&c.body)?, c)));
        // One that tells of an apply is closed.
        let mut open = marked.filter(|(m, _)| m.what == "plan" && m.key == key && m.state != State::Applied);
        self.found = open.next_back().map(|(marker, comment)| (comment, marker));
        self.number = Some(number);
        Ok(())
    }

    /// What the comment showed until now.
    pub fn previous(&self) -> Option<&Marker> {
        self.found.as_ref().map(|(_, marker)| marker)
    }

    /// Shows a plan.
    pub async fn show(&mut self, said: &Said) {
        let only_if_there = self.job.inputs.comment == When::Changes && !said.changes;
        if only_if_there && self.found.is_none() {
            return;
        }
        let written = match self.write(&said.body).await {
            Err(error) if error.kind == ForgeErrorKind::TooLong => self.write(&said.short).await,
            written => written,
        };
        self.note(written);
    }

    /// Says that there is no plan of what was pushed: what was shown is not what would be done.
    pub async fn fail(&mut self, outcome: &Outcome, marker: &Marker) {
        let fresh =
            || format!("{}\n{}\n\n{}\n<sub>{}</sub>\n", marker.write(), outcome.heading, outcome.status, outcome.foot);
        let body = match &self.found {
            // Its old mark is not written again: whoever edited it may have put more into it than was ever planned.
            Some((comment, _)) => Some(restate(&comment.body, marker, outcome).unwrap_or_else(fresh)),
            None if self.job.inputs.comment == When::Changes => None,
            None => Some(fresh()),
        };
        if let Some(body) = body {
            let written = self.write(&body).await;
            self.note(written);
        }
    }

    fn note(&mut self, written: Result<Option<Comment>, ForgeError>) {
        match written {
            Ok(comment) => self.now = comment,
            Err(error) => self.trouble = Some(error),
        }
    }

    async fn write(&self, body: &str) -> Result<Option<Comment>, ForgeError> {
        let (Some(host), Some(number)) = (&self.host, self.number) else { return Ok(None) };
        let Some((comment, _)) = &self.found else { return host.create_comment(number, body).await.map(Some) };
        // A server may write line ends anew.
        if comment.body.replace("\r\n", "\n").trim() == body.trim() {
            return Ok(Some(comment.clone()));
        }
        if self.job.inputs.comment_style == CommentStyle::New {
            let new = host.create_comment(number, body).await?;
            if let Err(error) = host.minimize(&comment.node_id).await {
                self.job.run.printer.err(&format!("The older comment stays as it is: {}", Chain(&error)));
            }
            return Ok(Some(new));
        }
        match host.update_comment(comment.id, body).await {
            // Somebody deleted it in between.
            Err(error) if error.kind == ForgeErrorKind::NotFound => host.create_comment(number, body).await.map(Some),
            written => written.map(Some),
        }
    }

    /// Tells of the comment in the report, or why there is none.
    pub fn tell(self, report: &mut Report) {
        if let Some(comment) = &self.now {
            report.tell("comment-id", comment.id);
            report.tell("comment-url", &comment.url);
        }
        let message = match &self.trouble {
            Some(error) if error.is_denied() => {
                report.degraded = report.degraded.or(Some(Degraded::NoToken));
                format!("{}; the job needs `pull-requests: write`. The plan is in the job summary", Chain(error))
            }
            Some(error) => format!("{}. The plan is in the job summary", Chain(error)),
            None if self.no_token => {
                report.degraded = report.degraded.or(Some(Degraded::NoToken));
                "there is no github-token to comment with. The plan is in the job summary".to_owned()
            }
            None => return,
        };
        report.annotations.push(notice("comment", "not written", message));
    }
}

/// A remark on the whole run.
pub fn notice(code: &str, title: &str, message: impl Into<String>) -> Annotation {
    Annotation {
        level: Level::Notice,
        file: None,
        line: 0,
        column: 0,
        code: code.to_owned(),
        title: title.to_owned(),
        message: message.into(),
    }
}

/// Most bytes of a comment whose full text a server found too long.
pub const SHORT: usize = 20_000;
