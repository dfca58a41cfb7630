//! The one issue of a key: found by mark and author, opened, written anew, closed. What is said on it is said once, however
//! often a run was cut off.

use crate::ci::drift_issue::{ISSUE, Known, Moved, Step, decide, ours, since};
use crate::ci::{DriftStatus, Marker, State};
use crate::cli::commands::ci::Report;
use crate::cli::commands::ci::comment::notice;
use crate::cli::commands::ci::drift::{Looking, Seen};
use crate::cli::view::drift_issue::{self as view, Look};
use crate::forge::{ForgeError, ForgeErrorKind, GitHub, IssueEdit, NewIssue};

/// Of a label that is made here.
const COLOR: &str = "d4c5f9";
const ABOUT: &str = "Live is not as it was applied; kept by checkfu";

/// The issues of a key that are open.
pub(super) struct Keeper {
    known: Vec<Known>,
    /// Nothing is kept: nothing was looked for.
    idle: bool,
}

impl Keeper {
    /// Keeps no issue.
    pub(super) fn none() -> Self {
        Self { known: Vec::new(), idle: true }
    }

    /// Finds them: by the label, and everywhere where the label may say nothing, or one is about to be opened.
    pub(super) async fn find(looking: &Looking<'_>, host: &GitHub, drifted: bool) -> Result<Self, ForgeError> {
        let me = host.me().await?;
        let key = looking.job.inputs.key();
        let among = async |label: Option<&str>| -> Result<Vec<Known>, ForgeError> {
            let issues = host.open_issues(label).await?;
            Ok(ours(issues.iter().map(|i| (i.number, i.author.as_str(), i.body.as_str())), &me, &key))
        };
        let label = looking.job.inputs.issue_labels.first().map(String::as_str);
        let mut known = among(label).await?;
        if let Some(label) = label
            && known.is_empty()
            && (drifted || !host.has_label(label).await?)
        {
            known = among(None).await?;
        }
        Ok(Self { known, idle: false })
    }

    /// How drift stands to what was told.
    pub(super) fn status(&self, moved: Option<&Moved>) -> DriftStatus {
        decide(&self.known, moved).0
    }

    /// Are people about to be told of drift?
    pub(super) fn tells(&self, moved: Option<&Moved>) -> bool {
        !self.idle && decide(&self.known, moved).1.into_iter().any(Step::tells_of_drift)
    }

    /// Does what is due; gives the issue that tells of it, or told.
    pub(super) async fn keep(
        &self,
        looking: &Looking<'_>,
        host: &GitHub,
        seen: &Seen,
        report: &mut Report,
    ) -> Result<Option<u64>, ForgeError> {
        let look = looking.told();
        let hands = Hands { looking, host, seen, look };
        let mut number = self.known.first().map(|known| known.number);
        for step in decide(&self.known, seen.moved.as_ref()).1 {
            match step {
                Step::Open => number = hands.open(report).await?,
                Step::Seen(number) => hands.write(number).await?,
                Step::Change(number) => hands.change(number, &self.known).await?,
                Step::Close(number) => {
                    let marker = hands.over();
                    hands.say(number, &marker, view::resolved(&marker, &hands.look)).await?;
                    hands.close(number, "completed").await?;
                }
                Step::Duplicate { number, of } => {
                    let marker = Marker { state: State::Stale, ..hands.over() };
                    hands.say(number, &marker, view::duplicate(&marker, of)).await?;
                    hands.close(number, "not_planned").await?;
                }
            }
        }
        Ok(number)
    }
}

/// What an issue is written with.
struct Hands<'a> {
    looking: &'a Looking<'a>,
    host: &'a GitHub,
    seen: &'a Seen,
    look: Look,
}

impl Hands<'_> {
    /// The mark of what is said when there is no drift any more.
    fn over(&self) -> Marker {
        Marker {
            what: ISSUE.to_owned(),
            key: self.look.key.clone(),
            head: None,
            base: None,
            digest: None,
            actions: Vec::new(),
            names: Vec::new(),
            total: 0,
            state: State::Applied,
        }
    }

    /// Title and text of an issue, and its mark.
    fn text(&self) -> Option<(String, String, Marker)> {
        let moved = self.seen.moved.as_ref()?;
        let marker = moved.marker(&self.look.key, self.look.commit.clone());
        let body = view::body(&marker, &self.seen.drift, &self.look);
        Some((view::title(&self.look.key, moved), body, marker))
    }

    async fn open(&self, report: &mut Report) -> Result<Option<u64>, ForgeError> {
        let Some((title, body, _)) = self.text() else { return Ok(None) };
        let inputs = self.looking.job.inputs;
        for label in &inputs.issue_labels {
            self.host.create_label(label, COLOR, ABOUT).await?;
        }
        let (labels, assignees) = (inputs.issue_labels.clone(), inputs.issue_assignees.clone());
        let new = NewIssue { title, body, labels, assignees };
        match self.host.create_issue(&new).await {
            // Of somebody who cannot be assigned nothing is opened; without assignees the news gets out.
            Err(error) if error.kind == ForgeErrorKind::Invalid && !new.assignees.is_empty() => {
                let issue = self.host.create_issue(&NewIssue { assignees: Vec::new(), ..new }).await?;
                let message = format!("the issue is assigned to nobody: {error}");
                report.annotations.push(notice("issue", "not assigned", message));
                Ok(Some(issue.number))
            }
            made => made.map(|issue| Some(issue.number)),
        }
    }

    /// Writes the issue anew; nobody is told.
    async fn write(&self, number: u64) -> Result<(), ForgeError> {
        let Some((title, body, _)) = self.text() else { return Ok(()) };
        let edit = IssueEdit { title: Some(title), body: Some(body), close: None };
        self.host.update_issue(number, &edit).await.map(|_| ())
    }

    /// Says first what changed: a run that is cut off in between says it no second time, and finds the issue as it was.
    async fn change(&self, number: u64, known: &[Known]) -> Result<(), ForgeError> {
        let before = known.iter().find(|k| k.number == number);
        if let (Some(moved), Some((_, _, marker)), Some(before)) = (&self.seen.moved, self.text(), before) {
            // The commit is no part of what is said.
            let marker = Marker { head: None, ..marker };
            let text = view::changed(&marker, moved, since(&before.marker, moved).as_ref(), &self.look);
            self.say(number, &marker, text).await?;
        }
        self.write(number).await
    }

    async fn close(&self, number: u64, reason: &'static str) -> Result<(), ForgeError> {
        let edit = IssueEdit { close: Some(reason), ..IssueEdit::default() };
        self.host.update_issue(number, &edit).await.map(|_| ())
    }

    /// Comments, unless that was the last thing that was said.
    async fn say(&self, number: u64, marker: &Marker, text: String) -> Result<(), ForgeError> {
        let me = self.host.me().await?;
        let all = self.host.comments(number).await?;
        let mut ours = all.iter().filter(|c| c.author.eq_ignore_ascii_case(&me)).filter_map(|c| Marker::read(&c.body));
        if ours.next_back().as_ref() == Some(marker) {
            return Ok(());
        }
        self.host.create_comment(number, &text).await.map(|_| ())
    }
}
