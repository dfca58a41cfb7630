//! What a pull request shows of a plan: one renderer for the comment, the job summary, the report file and
//! `plan --markdown`, which differ in their budget and in what is known beside the plan.

mod fold;
mod foot;
mod head;
mod link;
mod lists;
mod outcome;
mod resource;
mod restate;
mod since;
mod table;

pub use outcome::{Outcome, Run, applied, applying, failed, refused, stale, unplanned};
pub use restate::restate;

use std::collections::BTreeMap;

use crate::ci::marker::{Marker, NAMES, State};
use crate::ci::{RowCause, approval};
use crate::cli::view::text::count;
use crate::cli::view::words;
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
    let actions = approval::names(comment.plan);
    let mut names: Vec<String> = comment.plan.actions.iter().take(actions.len()).map(|a| a.id.clone()).collect();
    // As they are written: `-` takes six bytes there.
    if names.iter().map(|n| n.len() + 5 * n.matches('-').count() + 3).sum::<usize>() > NAMES {
        names.clear();
    }
    Some(Marker {
        what: "plan".to_owned(),
        key: comment.key?.to_owned(),
        head: comment.head.map(str::to_owned),
        base: comment.base.map(str::to_owned),
        digest: Some(comment.plan.digest),
        actions,
        names,
        total: comment.plan.actions.len(),
        state: State::Planned,
    })
}

/// The text, in at most `budget` bytes; with a key it begins with the marker.
pub fn body(comment: &Comment<'_>, budget: usize) -> String {
    View::new(comment, budget).compose()
}

/// A plan alone: `plan --markdown`.
pub fn alone(plan: &Plan, budget: usize) -> String {
    let causes = BTreeMap::new();
    let links = Links::default();
    body(
        &Comment { plan, key: None, causes: &causes, links, head: None, base: None, previous: None, notes: &[] },
        budget,
    )
}

/// A text that is being laid out.
struct View<'a> {
    comment: &'a Comment<'a>,
    budget: usize,
    /// Where all of it is.
    elsewhere: String,
}

/// What is left out, for the last line.
#[derive(Debug, Default)]
struct Left {
    /// How many, and of what.
    lists: Vec<String>,
    shortened: usize,
    dropped: usize,
    new: usize,
}

impl<'a> View<'a> {
    fn new(comment: &'a Comment<'a>, budget: usize) -> Self {
        let elsewhere = match (comment.key, words::is_diff(comment.plan)) {
            (None, true) => "`checkfu diff`",
            (None, false) => "the plan file",
            (Some(_), _) if budget <= COMMENT && comment.links.run.is_some() => "the job summary",
            (Some(_), true) => "the report file",
            (Some(_), false) => "the plan file",
        };
        Self { comment, budget, elsewhere: elsewhere.to_owned() }
    }

    fn is_whole(&self) -> bool {
        self.budget == WHOLE
    }

    /// What is never cut comes first; lists have their shares of the rest, then the table, then what changes in each
    /// resource.
    fn compose(&self) -> String {
        let (comment, plan) = (self.comment, self.comment.plan);
        let mut left = Left::default();
        let mut out = marker(comment).map(|m| m.write() + "\n").unwrap_or_default();
        out.push_str(&head::heading(comment));
        if comment.key.is_some() {
            out.push_str(restate::PLAN);
        }
        head::identity(comment, &mut out);
        head::alert(plan, &mut out);
        let since = since::since(comment);
        let room = self.budget.saturating_sub(out.len() + since.len() + foot::MOST);
        let mut list = |share: usize, noun: &str, write: &dyn Fn(usize, &mut String) -> usize| {
            let mut text = String::new();
            let lost = write(room / share, &mut text);
            left.lists.extend((lost > 0).then(|| count(lost, noun)));
            text
        };
        let capabilities =
            list(8, "change of what an agent may do", &|most, out| head::capabilities(comment, most, out));
        let errors = list(3, "finding", &|most, out| lists::errors(self, most, out));
        let notes = list(16, "note", &|most, out| lists::notes(self, most, out));
        let held = list(8, "field that is held", &|most, out| lists::held(self, most, out));
        let kept = list(16, "memory", &|most, out| lists::kept(plan, most, out));
        let after = [held, kept, errors, notes, lists::counts(plan), since].concat();
        out.push_str(&capabilities);
        let room = self.budget.saturating_sub(out.len() + after.len() + foot::MOST);
        out.push_str(&self.resources(room, &mut left));
        out.push_str(&after);
        out.push_str(&foot::foot(self, &left));
        out
    }

    /// The table, and what changes in each resource.
    fn resources(&self, room: usize, left: &mut Left) -> String {
        let resources = resource::resources(self.comment.plan);
        let bare: Vec<String> = resources.iter().map(|r| table::bare(self, r)).collect();
        if table::length(self, &bare) > room {
            return self.limited(&resources, &bare, room, left);
        }
        let details = fold::details(&resources);
        let mut rows: Vec<String> = resources.iter().zip(&details).map(|(r, d)| table::row(self, r, d, "")).collect();
        let length = table::length(self, &rows);
        if length > room {
            return self.limited(&resources, &bare, room, left);
        }
        let tail = format!("diff in {}", self.elsewhere);
        let folds = fold::folds(self, &resources, &details, room - length, tail.len() + 2);
        for (i, fold) in folds.iter().enumerate() {
            match fold.cut {
                fold::Cut::Nothing => {}
                fold::Cut::Shortened => left.shortened += 1,
                fold::Cut::New => left.new += 1,
                fold::Cut::Dropped => {
                    left.dropped += 1;
                    rows[i] = table::row(self, &resources[i], &details[i], &tail);
                }
            }
        }
        if table::length(self, &rows) > room {
            return self.limited(&resources, &bare, room, left);
        }
        let table = table::whole(self, &rows).text;
        table + &folds.iter().map(|f| f.text.as_str()).collect::<String>()
    }

    fn limited(&self, resources: &[resource::Resource<'_>], rows: &[String], room: usize, left: &mut Left) -> String {
        let all = table::length(self, rows) <= room;
        let table = if all { table::whole(self, rows) } else { table::limited(self, resources, rows, room) };
        (left.shortened, left.new, left.dropped) = (0, 0, resources.len());
        left.lists.extend((table.left > 0).then(|| count(table.left, "row")));
        table.text
    }
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
