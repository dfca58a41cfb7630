//! Why an action stands in the plan of a pull request: this pull request, an earlier one, or live.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Address;
use crate::plan::{Action, Cause, Plan};

/// Why an action stands in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowCause {
    /// The head declares it otherwise than the base.
    ThisPullRequest,
    /// The base declares it so already; nobody applied it yet.
    MergedNotApplied,
    /// The files did not change since the last apply; live did.
    MovedLive,
}

impl RowCause {
    /// The words of a comment.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ThisPullRequest => "this pull request",
            Self::MergedNotApplied => "merged, not applied",
            Self::MovedLive => "moved live",
        }
    }
}

/// The cause of every action, by its id. `changed` are the addresses that head and base declare otherwise (those of
/// one alone among them), and of a changed policy no address: `policy` says that.
pub fn causes(plan: &Plan, changed: &BTreeSet<Address>, policy: bool) -> BTreeMap<String, RowCause> {
    let of = |action: &Action| {
        let here = action.address.as_ref().map_or(policy, |address| changed.contains(address));
        let changes = &action.about.changes;
        let live = !changes.is_empty() && changes.iter().all(|c| c.cause == Cause::Live);
        match (here, live) {
            (true, _) => RowCause::ThisPullRequest,
            (false, true) => RowCause::MovedLive,
            (false, false) => RowCause::MergedNotApplied,
        }
    };
    plan.actions.iter().map(|a| (a.id.clone(), of(a))).collect()
}
