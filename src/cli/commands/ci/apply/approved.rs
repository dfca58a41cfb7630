//! What people approved by merging: our comments on the pull requests that were merged since the last whole apply.

use std::collections::{BTreeMap, BTreeSet};

use crate::ci::approval::{self, Approvals, Done, Shown, Void};
use crate::ci::{Event, Marker, Pull};
use crate::cli::commands::ci::Job;
use crate::cli::commands::ci::apply::by::no_comments;
use crate::cli::commands::ci::apply::comments::{Comments, Ours};
use crate::cli::failure::Failure;
use crate::cli::session::{Session, context};
use crate::cli::target::Workspace;
use crate::diag::chain::Chain;
use crate::diag::codes::ci as codes;
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};
use crate::model::op::ApplyInfo;
use crate::plan::Plan;
use crate::reconcile::read;

/// Most commits whose pull requests are asked for, the newest ones.
const MOST_COMMITS: usize = 250;
/// Applies that are looked back on for the last whole one.
const APPLIES: u32 = 100;
/// Of those that were broken off since, the ones whose actions are looked at, the newest ones.
const BROKEN: usize = 10;

/// What is approved.
pub(super) struct Approved {
    /// The pull request that approved an action, by the action's id.
    pub(super) by: BTreeMap<String, u64>,
    /// Comments that approve nothing.
    pub(super) refused: Vec<Refused>,
}

/// A comment that has our mark and approves nothing.
pub(super) struct Refused {
    /// The pull request.
    pub(super) pull: u64,
    /// The comment's page.
    pub(super) url: String,
    /// Why not.
    pub(super) why: Void,
}

/// Reads the comments that may approve, the newest pull request first, until every action is approved.
pub(super) async fn read(
    job: &Job<'_>,
    event: &Event,
    session: &Session,
    (plan, control): (&Plan, Option<&Workspace>),
    comments: &mut Comments,
) -> Result<Approved, Failure> {
    let source = session.loaded.project.source();
    let head = source.commit.clone().unwrap_or_else(|| event.sha.clone());
    let branch = event.reference.strip_prefix("refs/heads/").ok_or_else(|| {
        Failure::new(&codes::INPUT, "approval is pull-request, and this run is of no branch")
            .fix("run it on the branch that pull requests are merged into")
    })?;
    let applies = match control {
        Some(control) => {
            let (owner, context) = (&session.loaded.config.authoring_owner, context(job.run, &session.loaded.config));
            let found = read::history(control, &context, Some(owner), APPLIES).await;
            found.map_err(|e| Failure::control("read the applies of the workspace", &e))?
        }
        None => Vec::new(),
    };
    let whole = |a: &ApplyInfo| {
        let here = a.source.repository == source.repository && a.source.path == source.path;
        let other = a.source.commit.as_deref().is_some_and(|c| c != head);
        a.outcome.as_deref() == Some("done") && a.source.apply.is_none() && here && other
    };
    let since = applies.iter().position(whole).unwrap_or(applies.len());
    let broken = applies[..since].iter().filter(|a| a.outcome.as_deref() != Some("done"));
    let done = done(job, session, control, broken.take(BROKEN)).await?;
    let base = applies.get(since).and_then(|a| a.source.commit.as_deref());

    let mut found = Approved { by: BTreeMap::new(), refused: Vec::new() };
    let mut ours = Vec::new();
    let mut approvals = Approvals::new(plan, &done);
    let host = comments.host().ok_or_else(no_comments)?;
    let range = Range { host, base, head: &head, branch };
    let me = host.me().await.map_err(|e| unread(&e))?;
    let commits = range.commits().await?;
    let all: BTreeSet<&str> = commits.iter().map(String::as_str).collect();
    let mut seen = BTreeSet::new();
    for commit in &commits {
        for pull in range.pulls(commit, &all).await? {
            if !seen.insert(pull.number) {
                continue;
            }
            for comment in host.comments(pull.number).await.map_err(|e| unread(&e))? {
                let Some(marker) = comments.marker(&comment.body) else { continue };
                match judge(host, &comment, &marker, &pull.head_sha, &me).await.map_err(|e| unread(&e))? {
                    Ok(()) => {
                        approvals.count(pull.number, &marker);
                        ours.push(Ours { id: comment.id, url: comment.url, body: comment.body, marker });
                    }
                    Err(why) => found.refused.push(Refused { pull: pull.number, url: comment.url, why }),
                }
            }
        }
        if approvals.is_whole() {
            break;
        }
    }
    found.by = approvals.by().into_iter().map(|(id, pull)| (id.to_owned(), pull)).collect();
    comments.found(ours);
    Ok(found)
}

/// Does a comment count? Who edited it is asked only of one that would.
pub(super) async fn judge(
    host: &GitHub,
    comment: &crate::forge::Comment,
    marker: &Marker,
    merged: &str,
    me: &str,
) -> Result<Result<(), Void>, ForgeError> {
    let shown = Shown { marker, author: &comment.author, editor: None, merged };
    if let Err(why) = approval::counts(&shown, me) {
        return Ok(Err(why));
    }
    let editor = host.last_editor(&comment.node_id).await?;
    Ok(approval::counts(&Shown { editor: editor.as_deref(), ..shown }, me))
}

/// What applies have done that did not come to their end.
async fn done(
    job: &Job<'_>,
    session: &Session,
    control: Option<&Workspace>,
    applies: impl Iterator<Item = &ApplyInfo>,
) -> Result<Vec<Done>, Failure> {
    let Some(control) = control else { return Ok(Vec::new()) };
    let context = context(job.run, &session.loaded.config);
    let mut done = Vec::new();
    for apply in applies {
        let whole = read::show(control, &context, &apply.id).await;
        let whole = whole.map_err(|e| Failure::control("read an apply of the workspace", &e))?;
        let lines = whole.lines.into_iter().filter(|l| l.outcome == "done");
        done.extend(lines.filter_map(|l| Some(Done { version: l.version?, action: l.action })));
    }
    Ok(done)
}

/// The commits whose pull requests count.
struct Range<'a> {
    host: &'a GitHub,
    /// What was last applied whole; `None`: nothing that is known.
    base: Option<&'a str>,
    head: &'a str,
    branch: &'a str,
}

impl Range<'_> {
    /// The newest first; the one that is applied is always among them.
    async fn commits(&self) -> Result<Vec<String>, Failure> {
        let mut commits = match self.base {
            Some(base) => match self.host.commits_between(base, self.head).await {
                Ok(commits) => commits,
                // The branch was written anew, and what was applied is no more.
                Err(error) if error.kind == ForgeErrorKind::NotFound => Vec::new(),
                Err(error) => return Err(unread(&error)),
            },
            None => Vec::new(),
        };
        commits.retain(|c| c != self.head);
        commits.push(self.head.to_owned());
        commits.reverse();
        commits.truncate(MOST_COMMITS);
        Ok(commits)
    }

    /// The pull requests of a commit that were merged into the branch by one of `commits`.
    async fn pulls(&self, commit: &str, commits: &BTreeSet<&str>) -> Result<Vec<Pull>, Failure> {
        let mut pulls = self.host.pulls_of(commit).await.map_err(|e| unread(&e))?;
        pulls.retain(|p| {
            let here = p.merge_commit.as_deref().is_some_and(|c| commits.contains(c));
            p.merged && here && p.base_ref == self.branch
        });
        Ok(pulls)
    }
}

/// What was approved is not known: then nothing is.
fn unread(error: &ForgeError) -> Failure {
    Failure::new(&codes::APPROVAL_UNREAD, format!("what was approved cannot be read: {}", Chain(error)))
}
