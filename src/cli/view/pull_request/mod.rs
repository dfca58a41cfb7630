//! What a pull request shows of a plan: one renderer for the comment, the job summary, the report file and
//! `plan --markdown`, which differ in their budget and in what is known beside the plan.

mod outcome;
mod restate;

pub use outcome::{Outcome, Run, applied, applying, refused, stale};
pub use restate::restate;

use std::collections::BTreeMap;

use crate::ci::marker::{Marker, State};
use crate::ci::{RowCause, approval};
use crate::cli::view::markdown;
use crate::plan::Plan;

/// Most bytes of a comment, in UTF-8. GitHub refuses 65,537 characters; the rest is for what is said of it later.
pub const COMMENT: usize = 60_000;
/// Most bytes of a job summary: GitHub drops all of one that is larger than 1 MiB.
pub const SUMMARY: usize = 1_000_000;
/// No limit: a report file.
pub const WHOLE: usize = usize::MAX;

/// A plan, and what is known beside it.
#[derive(Debug, Clone, Copy)]
pub struct Comment<'a> {
    /// What is shown.
    pub plan: &'a Plan,
    /// Which comment of those that a repository has; `None`: no comment, so there is no marker.
    pub key: Option<&'a str>,
    /// Why each action is there, by its id; empty: not known.
    pub causes: &'a BTreeMap<String, RowCause>,
    /// Where names and places lead.
    pub links: Links<'a>,
    /// The commit that was planned: of a pull request the head that was pushed.
    pub head: Option<&'a str>,
    /// The commit that it was compared with.
    pub base: Option<&'a str>,
    /// What the comment showed after the last push.
    pub previous: Option<&'a Marker>,
    /// Sentences that are told first, one paragraph each, Markdown (user text through `markup`).
    pub notes: &'a [String],
}

/// Where names and places lead. What is absent is not linked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Links<'a> {
    /// Of the repository, as `https://github.com/acme/agents`.
    pub repository: Option<&'a str>,
    /// Of the run, as `https://github.com/acme/agents/actions/runs/1`.
    pub run: Option<&'a str>,
    /// The folder of `checkfu.yaml` from the top of the repository, with `/`; empty: the top.
    pub folder: &'a str,
}

/// What the comment says of itself; `None` where there is no key.
pub fn marker(comment: &Comment<'_>) -> Option<Marker> {
    Some(Marker {
        what: "plan".to_owned(),
        key: comment.key?.to_owned(),
        head: comment.head.map(str::to_owned),
        base: comment.base.map(str::to_owned),
        digest: Some(comment.plan.digest),
        actions: approval::names(comment.plan),
        state: State::Planned,
    })
}

/// The text, in at most `budget` bytes; with a key it begins with the marker.
pub fn body(comment: &Comment<'_>, budget: usize) -> String {
    let _ = budget;
    let mark = marker(comment).map(|m| m.write() + "\n").unwrap_or_default();
    mark + &markdown::plan(comment.plan)
}
