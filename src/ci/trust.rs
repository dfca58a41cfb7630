//! What a run may do with files that nobody merged: by its event, by what is checked out, and by what these files say of
//! themselves. A token goes where the branch says that they want to get into, or the workflow; never where they say.

use crate::ci::{Degraded, Event, Mode};
use crate::model::config::Config;

/// Events by which somebody from outside starts a run that has the repository's secrets.
const FROM_OUTSIDE: [&str; 8] = [
    "pull_request_target",
    "workflow_run",
    "issue_comment",
    "issues",
    "discussion",
    "discussion_comment",
    "fork",
    "watch",
];

/// What is checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedOut<'a> {
    /// The commit, in full.
    pub commit: &'a str,
    /// Its parents.
    pub parents: &'a [String],
    /// Are there files that are not of the commit?
    pub dirty: bool,
}

impl CheckedOut<'_> {
    /// Is it this commit, or the merge with it that a code host makes to try it?
    pub fn is_of(&self, head: &str) -> bool {
        let merged = matches!(self.parents, [_, second] if second.eq_ignore_ascii_case(head));
        merged || self.commit.eq_ignore_ascii_case(head)
    }
}

/// Files under review: the commit that was pushed and the branch that it wants to get into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The commit, in full.
    pub head: String,
    /// The tip of the branch, in full.
    pub base: String,
}

/// What a run may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The files are of a branch, as somebody with the right to push left it.
    Branch,
    /// The files are under review: they are held against the branch first.
    Review(Review),
    /// The files are under review, and nothing is asked with a token.
    Offline(Review, Degraded),
}

impl Standing {
    /// The files under review, if they are that.
    pub fn review(&self) -> Option<&Review> {
        match self {
            Self::Branch => None,
            Self::Review(review) | Self::Offline(review, _) => Some(review),
        }
    }
}

/// Why a run may not be at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// What a fork or Dependabot proposes is checked and compared, nothing else.
    #[error("`mode: {mode}` does not run on what {whose} proposes")]
    Proposed {
        /// The mode.
        mode: &'static str,
        /// `a fork` or `Dependabot`.
        whose: &'static str,
    },
    /// Secrets, and the files of somebody who may not have them.
    #[error("`{event}` has the secrets of the repository, and what is checked out is {what}")]
    Foreign {
        /// The event.
        event: String,
        /// What is there.
        what: &'static str,
    },
}

/// Does it count what is checked out?
pub fn looks_at_files(event: &Event) -> bool {
    FROM_OUTSIDE.contains(&event.name.as_str())
}

/// What a run may do, by its event and by what is checked out; `None`: that cannot be told.
///
/// # Errors
/// [`Denied`]; nothing may be sent then.
pub fn standing(event: &Event, mode: Mode, here: Option<CheckedOut<'_>>) -> Result<Standing, Denied> {
    if mode == Mode::Validate || mode == Mode::Setup {
        return Ok(Standing::Branch);
    }
    if looks_at_files(event) {
        return from_outside(event, mode, here);
    }
    let Some(pull) = &event.pull else {
        return Ok(Standing::Branch);
    };
    let review = Review { head: pull.head_sha.clone(), base: pull.base_sha.clone() };
    let (why, whose) = match (event.from_fork(), event.by_dependabot()) {
        (true, _) => (Degraded::Fork, "a fork"),
        (false, true) => (Degraded::Dependabot, "Dependabot"),
        (false, false) => return Ok(Standing::Review(review)),
    };
    if mode == Mode::Plan {
        return Ok(Standing::Offline(review, why));
    }
    Err(Denied::Proposed { mode: mode.as_str(), whose })
}

/// Such an event is about the default branch: that may be checked out, or a branch of this very repository.
fn from_outside(event: &Event, mode: Mode, here: Option<CheckedOut<'_>>) -> Result<Standing, Denied> {
    let denied = |what| Denied::Foreign { event: event.name.clone(), what };
    let here = here.ok_or_else(|| denied("of no commit that could be looked up"))?;
    if here.dirty {
        return Err(denied("changed beside its commit"));
    }
    if here.commit.eq_ignore_ascii_case(&event.sha) {
        return Ok(Standing::Branch);
    }
    let pull = event.pull.as_ref().map(|p| (&p.head_sha, p.head_repo.as_deref(), &p.base_sha));
    let followed = event.followed.as_ref().map(|f| (&f.head_sha, f.head_repo.as_deref(), &event.sha));
    match pull.or(followed) {
        Some((head, repository, base)) if event.is_own(repository) && here.is_of(head) => {
            // Of its own accord nobody merged it, so nobody applies it.
            if mode == Mode::Plan {
                return Ok(Standing::Review(Review { head: head.clone(), base: base.clone() }));
            }
            Err(denied("not what was merged"))
        }
        _ => Err(denied("not the commit that the event is about")),
    }
}

/// What files under review may not say otherwise than the branch, if a token is to be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Changed {
    /// Who acts.
    #[error("authoring_owner is changed from {from} to {to}")]
    Owner {
        /// On the branch.
        from: String,
        /// Under review.
        to: String,
    },
    /// Which workspace.
    #[error("the target is `{to}` by the files under review, and `{from}` by the branch")]
    Choice {
        /// On the branch.
        from: String,
        /// Under review.
        to: String,
    },
    /// Where it is, or which variable holds its token.
    #[error("target `{name}` is changed: {what}")]
    Target {
        /// Which.
        name: String,
        /// What of it.
        what: &'static str,
    },
}

/// Holds a configuration under review against the branch's. `from` and `to` are the targets that each of the two
/// chooses for this run. Other targets may change, since nothing is sent there.
///
/// # Errors
/// All that is changed and must not be.
pub fn compare(base: &Config, head: &Config, from: &str, to: &str) -> Result<(), Vec<Changed>> {
    let mut changed = Vec::new();
    if base.authoring_owner != head.authoring_owner {
        let (from, to) = (base.authoring_owner.to_string(), head.authoring_owner.to_string());
        changed.push(Changed::Owner { from, to });
    }
    if from != to {
        changed.push(Changed::Choice { from: from.to_owned(), to: to.to_owned() });
    } else if base.targets.get(from) != head.targets.get(to) {
        let what = what_differs(base.targets.get(from), head.targets.get(to));
        changed.push(Changed::Target { name: to.to_owned(), what });
    }
    if changed.is_empty() { Ok(()) } else { Err(changed) }
}

fn what_differs(
    base: Option<&crate::model::config::Target>,
    head: Option<&crate::model::config::Target>,
) -> &'static str {
    use crate::model::config::Target::{Checkfu, Embedded};
    match (base, head) {
        (Some(Checkfu { url: a, .. }), Some(Checkfu { url: b, .. })) if a != b => "its url",
        (Some(Checkfu { token: a, .. }), Some(Checkfu { token: b, .. })) if a != b => {
            "the variable that its token is read from"
        }
        (Some(Checkfu { ca: a, .. }), Some(Checkfu { ca: b, .. })) if a != b => "the certificates that it trusts",
        (Some(Checkfu { .. }), Some(Checkfu { .. })) => "whether it may be spoken to without TLS",
        (Some(Embedded { .. }), Some(Embedded { .. })) => "its path",
        _ => "its kind",
    }
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
