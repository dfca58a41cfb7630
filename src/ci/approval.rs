//! What people approved: the actions that our comments on merged pull requests showed, held against what is planned
//! now. An action is approved by what it does, to what, from which state; not by what stands beside it in its plan.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::ci::marker::{MOST_ACTIONS, Marker, short};
use crate::model::{Address, Digest, Owner};
use crate::plan::{Action, Plan, Precondition, Step};

/// What the name of an action is over. What it waits for is not in it: once that is done, the rest is due with fewer
/// dependencies, and is still what was approved.
#[derive(Serialize)]
struct Row<'a> {
    owner: &'a Owner,
    address: Option<&'a Address>,
    operation: &'a str,
    precondition: &'a Precondition,
    step: Value,
}

fn name(owner: &Owner, action: &Action, precondition: &Precondition) -> String {
    let mut step = serde_json::to_value(&action.step).unwrap_or_default();
    // Absent where the same plan creates the resource, and known once that is done.
    if let (Step::Publish { .. } | Step::WriteContents { .. }, Some(step)) = (&action.step, step.as_object_mut()) {
        step.remove("id");
    }
    let row = Row { owner, address: action.address.as_ref(), operation: &action.operation, precondition, step };
    short(&Digest::of_json(&row))
}

/// The names by which a comment approves the actions of a plan, in its order; none where there are more than
/// [`MOST_ACTIONS`].
pub fn names(plan: &Plan) -> Vec<String> {
    if plan.actions.len() > MOST_ACTIONS {
        return Vec::new();
    }
    plan.actions.iter().map(|a| name(&plan.owner, a, &a.precondition)).collect()
}

/// An action that an apply which was broken off has done, by the workspace's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its id.
    pub action: String,
    /// The version that it left.
    pub version: u64,
}

/// All the names that a comment may have for an action that is planned now: its own, and, where an action on the same
/// resource was done before this one could be, the one that says that it follows that action.
fn all_names(owner: &Owner, action: &Action, done: &[Done]) -> Vec<String> {
    let mut names = vec![name(owner, action, &action.precondition)];
    let (Precondition::Version { version: now } | Precondition::Authoring { version: now, .. }) = action.precondition
    else {
        return names;
    };
    let here = action.address.as_ref().map(ToString::to_string);
    let on_it = |d: &&Done| d.version == now && d.action.rsplit_once('#').map(|(at, _)| at) == here.as_deref();
    let mut before: Vec<&str> = done.iter().filter(on_it).map(|d| d.action.as_str()).collect();
    before.sort_unstable();
    before.dedup();
    names.extend(before.into_iter().map(|d| name(owner, action, &Precondition::After { action: d.to_owned() })));
    names
}

/// Why a comment that has our mark approves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Void {
    /// Anybody can write the mark.
    #[error("it was written by {0}, not by this job's login")]
    Author(String),
    /// Whoever may edit comments could have changed what it approves.
    #[error("it was edited by {0}")]
    Edited(String),
    /// The pull request went on after it, and its last plan was not shown.
    #[error("it shows {shown}, and {merged} was merged")]
    Head {
        /// The commit that it shows; `no commit` where it has none.
        shown: String,
        /// The last commit of the pull request.
        merged: String,
    },
}

/// A comment with our mark on a pull request that was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'a> {
    /// Its mark.
    pub marker: &'a Marker,
    /// Who wrote it.
    pub author: &'a str,
    /// Who edited it last, as logins are written in comments; `None`: nobody did.
    pub editor: Option<&'a str>,
    /// The commit of the pull request that was merged.
    pub merged: &'a str,
}

/// May the comment approve, where `me` is our login?
///
/// # Errors
/// Why not.
pub fn counts(shown: &Shown<'_>, me: &str) -> Result<(), Void> {
    if !is(shown.author, me) {
        return Err(Void::Author(shown.author.to_owned()));
    }
    if shown.marker.head.as_deref() != Some(shown.merged) {
        let said = shown.marker.head.as_deref().map_or_else(|| "no commit".to_owned(), commit);
        return Err(Void::Head { shown: said, merged: commit(shown.merged) });
    }
    match shown.editor.filter(|editor| !is(editor, me)) {
        Some(editor) => Err(Void::Edited(editor.to_owned())),
        None => Ok(()),
    }
}

/// Is it this login?
fn is(login: &str, me: &str) -> bool {
    login.eq_ignore_ascii_case(me)
}

/// The first twelve characters of a commit.
fn commit(sha: &str) -> String {
    sha.chars().take(12).collect()
}

/// What is planned now, and what of it is approved so far.
#[derive(Debug)]
pub struct Approvals<'a> {
    plan: &'a Plan,
    names: BTreeMap<String, usize>,
    by: Vec<Option<u64>>,
}

impl<'a> Approvals<'a> {
    /// Nothing is approved yet. `done` is what applies have done that were broken off since the last whole one.
    pub fn new(plan: &'a Plan, done: &[Done]) -> Self {
        let few = plan.actions.len() <= MOST_ACTIONS;
        let all = plan.actions.iter().enumerate().filter(|_| few);
        let names = all.flat_map(|(i, a)| all_names(&plan.owner, a, done).into_iter().map(move |name| (name, i)));
        Self { plan, names: names.collect(), by: vec![None; plan.actions.len()] }
    }

    /// Counts a comment of a pull request: each action that it names, and all where it showed this very plan.
    pub fn count(&mut self, pull: u64, marker: &Marker) {
        if marker.digest == Some(self.plan.digest) {
            self.by.iter_mut().for_each(|by| *by = by.or(Some(pull)));
        }
        for name in &marker.actions {
            if let Some(i) = self.names.get(name) {
                self.by[*i] = self.by[*i].or(Some(pull));
            }
        }
    }

    /// Is every action approved?
    pub fn is_whole(&self) -> bool {
        self.by.iter().all(Option::is_some)
    }

    /// The pull request that approved each action, by the action's id.
    pub fn by(&self) -> BTreeMap<&'a str, u64> {
        let ids = self.plan.actions.iter().map(|a| a.id.as_str());
        ids.zip(&self.by).filter_map(|(id, by)| Some((id, (*by)?))).collect()
    }
}

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;
