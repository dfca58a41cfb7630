//! The one pull request of a key that brings what moved live into the files: commits made through the Git Data API, on top
//! of the commit of the default branch that is checked out. What a person has to decide is told and not committed.

use crate::ci::drift_issue::{LastPull, PULL, PullStep, decide_pull};
use crate::ci::{Marker, State};
use crate::cli::commands::ci::Report;
use crate::cli::commands::ci::comment::notice;
use crate::cli::commands::ci::drift::{Looking, Seen};
use crate::cli::commands::pull::drift::{Unwritten, unwritten};
use crate::cli::failure::Failure;
use crate::cli::view::drift_issue::{self as view, Proposal};
use crate::cli::writer::Planned;
use crate::diag::Severity;
use crate::forge::{BranchPull, Entry, EntryMode, ForgeError, GitHub, NewPull, PullEdit};
use crate::model::Digest;

/// Keeps it.
pub(super) async fn keep(
    looking: &Looking<'_>,
    host: &GitHub,
    seen: &Seen,
    report: &mut Report,
) -> Result<Result<(), ForgeError>, Failure> {
    let mut left = |why: String| report.annotations.push(notice("pull-request", "not written", why));
    let commit = looking.session.loaded.project.source().commit;
    let event = looking.event.filter(|e| e.pull.is_none());
    let branch = event.and_then(|e| e.reference.strip_prefix("refs/heads/"));
    let (Some(event), Some(base), Some(commit)) = (event, branch, commit) else {
        left("a pull request about drift is made from a commit of the default branch".to_owned());
        return Ok(Ok(()));
    };
    if event.default_branch.as_deref().is_some_and(|default| default != base) {
        left(format!("a pull request about drift is made from the default branch, and this is `{base}`"));
        return Ok(Ok(()));
    }
    let found = match &seen.moved {
        None => None,
        Some(_) => match bring(looking).await {
            Ok(found) => Some(found),
            // The issue tells what moved; that it cannot be brought is no reason to fail.
            Err(failure) => {
                failure.diagnostics.0.iter().for_each(|d| left(d.message.clone()));
                return Ok(Ok(()));
            }
        },
    };
    let work = Work { looking, host, base, commit: &commit, key: looking.job.inputs.key() };
    let step = work.step(found.as_ref().filter(|f| !f.files.is_empty() || !f.removed.is_empty())).await;
    Ok(step.map(|(number, why)| {
        if let Some(number) = number {
            report.tell("pull-request-number", number);
        }
        report.annotations.extend(why.map(|why| notice("pull-request", "left", why)));
    }))
}

async fn bring(looking: &Looking<'_>) -> Result<Unwritten, Failure> {
    let control = looking.session.place.open_to_read(&looking.job.run.printer)?;
    let mut found = unwritten(looking.session, &control, &looking.context, &looking.options).await?;
    found.notes.0.retain(|d| d.severity != Severity::Note);
    found.notes.sort();
    Ok(found)
}

/// What a pull request is written with.
struct Work<'a> {
    looking: &'a Looking<'a>,
    host: &'a GitHub,
    /// The default branch, and its commit that is checked out.
    base: &'a str,
    commit: &'a str,
    key: String,
}

/// The pull request that tells of it, and why it was left as it is.
type Step = (Option<u64>, Option<String>);

impl Work<'_> {
    fn branch(&self) -> String {
        format!("checkfu/drift-{}", self.key)
    }

    async fn step(&self, found: Option<&Unwritten>) -> Result<Step, ForgeError> {
        let me = self.host.me().await?;
        let last = self.host.last_pull(&self.branch(), self.base).await?;
        let tree = match found {
            Some(found) => Some(self.tree(found).await?),
            None => None,
        };
        let seen = last.as_ref().map(|p| LastPull {
            author: &p.author,
            body: &p.body,
            head: &p.head_sha,
            open: p.open,
            merged: p.merged,
        });
        let due = tree.as_ref().map(|tree| (Digest::of(tree.as_bytes()), self.commit));
        let step = decide_pull(seen, &me, &self.key, due);
        let why = |text: &str| Some(text.to_owned());
        match (step, last, found.zip(tree.as_deref())) {
            (PullStep::Open, _, Some((found, tree))) => Ok((Some(self.open(found, tree).await?), None)),
            (PullStep::Update, Some(last), Some((found, tree))) => {
                self.update(&last, found, tree).await?;
                Ok((Some(last.number), None))
            }
            (PullStep::Text, Some(last), Some((found, tree))) => {
                let commits = Marker::read(&last.body).map(|m| m.actions).unwrap_or_default();
                self.write(&last, found, &self.marker(commits, &last.head_sha, tree)).await?;
                Ok((Some(last.number), None))
            }
            (PullStep::Close, Some(last), _) => {
                self.close(&last).await?;
                Ok((Some(last.number), None))
            }
            (PullStep::Theirs, Some(last), _) => {
                Ok((Some(last.number), why("somebody else opened the pull request, or committed to its branch")))
            }
            (PullStep::Refused, Some(last), _) => {
                Ok((Some(last.number), why("the same was proposed, and a person closed the pull request")))
            }
            _ => Ok((None, None)),
        }
    }

    /// The tree with the files as they are to be.
    async fn tree(&self, found: &Unwritten) -> Result<String, ForgeError> {
        let mut entries = Vec::new();
        for file in &found.files {
            let blob = Some(self.host.create_blob(&file.bytes).await?);
            entries.extend(self.path(&file.path).map(|path| Entry { path, mode: mode(file), blob }));
        }
        let gone = found.removed.iter().filter_map(|path| self.path(path));
        entries.extend(gone.map(|path| Entry { path, mode: EntryMode::File, blob: None }));
        let tree = self.host.tree_of(self.commit).await?;
        self.host.create_tree(&tree, &entries).await
    }

    /// From the top of the repository.
    fn path(&self, path: &str) -> Option<String> {
        self.looking.job.around.from_top(&self.looking.session.dir, path)
    }

    /// The branch may be at any of these commits: where a run is cut off it is at one that was there before.
    fn marker(&self, commits: Vec<String>, head: &str, tree: &str) -> Marker {
        Marker {
            what: PULL.to_owned(),
            key: self.key.clone(),
            head: Some(head.to_owned()),
            base: Some(self.commit.to_owned()),
            digest: Some(Digest::of(tree.as_bytes())),
            actions: commits,
            names: Vec::new(),
            total: 0,
            state: State::Planned,
        }
    }

    fn proposal<'p>(&'p self, found: &'p Unwritten) -> Proposal<'p> {
        let files = found.files.iter().map(|f| &f.path).chain(&found.removed).map(String::as_str).collect();
        Proposal {
            key: &self.key,
            base: self.commit,
            files,
            undecided: found.undecided.iter().collect(),
            gone: found.gone.iter().collect(),
            notes: &found.notes,
        }
    }

    async fn new_commit(&self, tree: &str) -> Result<String, ForgeError> {
        let message = format!("Bring what moved live in {} into the files\n\nMade by checkfu pull --drift.", self.key);
        self.host.create_commit(&message, tree, self.commit).await
    }

    async fn open(&self, found: &Unwritten, tree: &str) -> Result<u64, ForgeError> {
        let commit = self.new_commit(tree).await?;
        self.host.set_branch(&self.branch(), &commit).await?;
        let proposal = self.proposal(found);
        let marker = self.marker(vec![commit.clone()], &commit, tree);
        let (title, body) = (view::pull_title(&proposal), view::pull_body(&marker, &proposal));
        let new = NewPull { title, body, head: self.branch(), base: self.base.to_owned() };
        self.host.create_pull(&new).await.map(|pull| pull.number)
    }

    async fn update(&self, last: &BranchPull, found: &Unwritten, tree: &str) -> Result<(), ForgeError> {
        let commit = self.new_commit(tree).await?;
        let marker = self.marker(vec![last.head_sha.clone(), commit.clone()], &commit, tree);
        self.write(last, found, &marker).await?;
        self.host.set_branch(&self.branch(), &commit).await
    }

    /// Writes the text, if it says something else.
    async fn write(&self, last: &BranchPull, found: &Unwritten, marker: &Marker) -> Result<(), ForgeError> {
        let proposal = self.proposal(found);
        let (title, body) = (view::pull_title(&proposal), view::pull_body(marker, &proposal));
        if title == last.title && body.trim() == last.body.replace("\r\n", "\n").trim() {
            return Ok(());
        }
        let edit = PullEdit { title: Some(title), body: Some(body), close: false };
        self.host.update_pull(last.number, &edit).await.map(|_| ())
    }

    /// Closes it in one step, with a mark that says who did, and takes the branch away.
    async fn close(&self, last: &BranchPull) -> Result<(), ForgeError> {
        let stale = Marker::read(&last.body).map(|m| Marker { state: State::Stale, ..m }.write()).unwrap_or_default();
        let rest = last.body.split_once('\n').map_or("", |(_, rest)| rest);
        let body = format!("{stale}\n{}\n{rest}", view::pull_closed(&self.looking.told()));
        let edit = PullEdit { title: None, body: Some(body), close: true };
        self.host.update_pull(last.number, &edit).await?;
        self.host.delete_branch(&self.branch()).await
    }
}

fn mode(file: &Planned) -> EntryMode {
    match (file.link, file.executable) {
        (true, _) => EntryMode::Link,
        (false, true) => EntryMode::Executable,
        (false, false) => EntryMode::File,
    }
}
