//! What drifted as a value without a clock, and what becomes of the issue and the pull request about it. The same drift
//! is told once, however often it is looked at.

use std::collections::{BTreeMap, BTreeSet};

use crate::ci::marker::{Marker, State, short};
use crate::ci::outputs::DriftStatus;
use crate::model::Digest;
use crate::plan::{Drift, Effect};

/// What marks of issues say they are about.
pub const ISSUE: &str = "drift";
/// What marks of pull requests say they are about.
pub const PULL: &str = "drift-pull";
/// Most bytes of a mark that names what drifted one by one; of more it holds the digest alone.
const MOST_BYTES: usize = 16_000;
/// Stands between what drifted and the digest of what is live.
const IS: char = '=';

/// What drifted: who moved it and when is not a part of it, so that it stays the same while nobody moves anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The digest of what is live now, short, by `Agent/a` or `Agent/a instructions`.
    pub rows: BTreeMap<String, String>,
    /// How many resources.
    pub resources: usize,
}

impl Moved {
    /// What moved live, what another owner took among it; `None`: nothing did.
    pub fn of(drift: &Drift) -> Option<Self> {
        let mut rows = BTreeMap::new();
        let mut resources = BTreeSet::new();
        let mut row = |address: String, about: Option<&str>, live: Digest| {
            let name = about.map_or_else(|| address.clone(), |about| format!("{address} {about}"));
            rows.insert(name, short(&live));
            resources.insert(address);
        };
        for resource in &drift.resources {
            for d in resource.differences.iter().filter(|d| d.cause.is_move()) {
                row(resource.address.to_string(), d.field.as_deref(), Digest::of_json(&d.live));
            }
        }
        for finding in drift.findings.iter().filter(|f| f.effect == Effect::Blocks) {
            let address = finding.address.as_ref().map_or_else(|| "owner".to_owned(), ToString::to_string);
            row(address, Some(&finding.code), Digest::of_json(&finding.code));
        }
        let resources = resources.len();
        (resources > 0).then_some(Self { rows, resources })
    }

    /// Of all of it.
    pub fn digest(&self) -> Digest {
        Digest::of_json(&self.rows)
    }

    /// The mark of an issue, or of a comment on it, that tells this.
    pub fn marker(&self, key: &str, commit: Option<String>) -> Marker {
        let mut actions: Vec<String> = self.rows.iter().map(|(row, live)| format!("{row}{IS}{live}")).collect();
        if actions.iter().map(|a| a.len() + 3).sum::<usize>() > MOST_BYTES {
            actions.clear();
        }
        Marker {
            what: ISSUE.to_owned(),
            key: key.to_owned(),
            head: commit,
            base: None,
            digest: Some(self.digest()),
            actions,
            names: Vec::new(),
            total: 0,
            state: State::Planned,
        }
    }
}

/// An issue of ours that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its number.
    pub number: u64,
    /// What it says.
    pub marker: Marker,
}

/// Those of the open issues, as number, author and body, that `me` wrote for a key; the lowest number first. A mark that
/// another wrote is none.
pub fn ours<'a>(issues: impl Iterator<Item = (u64, &'a str, &'a str)>, me: &str, key: &str) -> Vec<Known> {
    let known = |(number, author, body): (u64, &str, &str)| {
        let marker = Marker::read(body).filter(|m| m.what == ISSUE && m.key == key)?;
        author.eq_ignore_ascii_case(me).then_some(Known { number, marker })
    };
    let mut all: Vec<Known> = issues.filter_map(known).collect();
    all.sort_by_key(|known| known.number);
    all
}

/// What is done about an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Open one.
    Open,
    /// Say when it was last seen; nobody is told.
    Seen(u64),
    /// Say what drifted now, and comment on what is new and what is gone.
    Change(u64),
    /// Comment that it is over, and close it.
    Close(u64),
    /// Close one that says the same as another.
    Duplicate {
        /// The one that is closed.
        number: u64,
        /// The one that stays.
        of: u64,
    },
}

impl Step {
    /// Does it tell people something, so that what drifted is to be read a second time first?
    pub fn tells_of_drift(self) -> bool {
        matches!(self, Self::Open | Self::Change(_))
    }
}

/// What is done, in this order, and how drift stands to what was told.
pub fn decide(known: &[Known], moved: Option<&Moved>) -> (DriftStatus, Vec<Step>) {
    let mut steps = Vec::new();
    let first = known.first();
    let status = match (first, moved) {
        (None, None) => DriftStatus::None,
        (None, Some(_)) => {
            steps.push(Step::Open);
            DriftStatus::New
        }
        (Some(known), None) => {
            steps.push(Step::Close(known.number));
            DriftStatus::Resolved
        }
        (Some(known), Some(moved)) if known.marker.digest == Some(moved.digest()) => {
            steps.push(Step::Seen(known.number));
            DriftStatus::Same
        }
        (Some(known), Some(_)) => {
            steps.push(Step::Change(known.number));
            DriftStatus::Changed
        }
    };
    let of = first.map_or(0, |known| known.number);
    steps.extend(known.iter().skip(1).map(|known| Step::Duplicate { number: known.number, of }));
    (status, steps)
}

/// What is new, moved again and gone since an issue was written; `None`: it named too much to name it one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since<'a> {
    /// Not there before.
    pub new: Vec<&'a str>,
    /// There before, and moved again.
    pub again: Vec<&'a str>,
    /// There before, and no drift any more.
    pub gone: Vec<&'a str>,
}

/// Holds what drifted now against what an issue says.
pub fn since<'a>(marker: &'a Marker, moved: &'a Moved) -> Option<Since<'a>> {
    let before: BTreeMap<&str, &str> = marker.actions.iter().filter_map(|row| row.rsplit_once(IS)).collect();
    if before.is_empty() {
        return None;
    }
    let now = &moved.rows;
    Some(Since {
        new: now.keys().map(String::as_str).filter(|row| !before.contains_key(row)).collect(),
        again: now.iter().filter(|(r, d)| before.get(r.as_str()).is_some_and(|b| b != d)).map(|(r, _)| &**r).collect(),
        gone: before.keys().copied().filter(|row| !now.contains_key(*row)).collect(),
    })
}

/// The last pull request from the branch, if there was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastPull<'a> {
    /// Who opened it.
    pub author: &'a str,
    /// Its text.
    pub body: &'a str,
    /// The tip of its branch.
    pub head: &'a str,
    /// Is it open?
    pub open: bool,
    /// Was it merged?
    pub merged: bool,
}

/// What becomes of the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullStep {
    /// There is none, and none is due.
    Nothing,
    /// Commit, and open one.
    Open,
    /// Commit, and write its text anew.
    Update,
    /// The commit is as it should be: only its text may change.
    Text,
    /// Close it: there is nothing to bring any more.
    Close,
    /// Somebody else opened it, or committed to its branch: it is theirs.
    Theirs,
    /// A person closed it, and it would be the same again.
    Refused,
}

/// Decides about the pull request. `due` is the digest of the tree that is to be proposed, on top of `base`.
pub fn decide_pull(last: Option<LastPull<'_>>, me: &str, key: &str, due: Option<(Digest, &str)>) -> PullStep {
    let Some(last) = last else { return if due.is_some() { PullStep::Open } else { PullStep::Nothing } };
    let marker = Marker::read(last.body).filter(|m| m.what == PULL && m.key == key);
    let marker = marker.filter(|_| last.author.eq_ignore_ascii_case(me));
    let wrote = |m: &Marker| m.actions.iter().any(|commit| commit == last.head);
    match (last.open, marker, due) {
        (true, None, Some(_)) => PullStep::Theirs,
        (true, Some(m), _) if !wrote(&m) => PullStep::Theirs,
        (true, Some(_), None) => PullStep::Close,
        (true, Some(m), Some((tree, base))) => {
            let same =
                m.digest == Some(tree) && m.base.as_deref() == Some(base) && m.head.as_deref() == Some(last.head);
            if same { PullStep::Text } else { PullStep::Update }
        }
        (_, _, None) => PullStep::Nothing,
        // One that was closed here, because there was nothing to bring any more, says so.
        (false, Some(m), Some((tree, _))) if !last.merged && m.state != State::Stale && m.digest == Some(tree) => {
            PullStep::Refused
        }
        (false, ..) => PullStep::Open,
    }
}

#[cfg(test)]
#[path = "drift_issue_tests.rs"]
mod tests;
