//! What stands beside resources: the owner's policy, the source, and the lines of `checkfu.yaml` that decide.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::desired::Desired;
use crate::diag::codes::plan as codes;
use crate::live::Live;
use crate::model::config::AllowRule;
use crate::model::op::Source;
use crate::model::{Address, Digest};
use crate::plan::actions::{Draft, Rank};
use crate::plan::compare::{Delta, moved_digest};
use crate::plan::undone::Undone;
use crate::plan::{About, Action, Allowed, Effect, Gathered, Options, Precondition, Step, Verb};

/// The name of a policy action that leaves the policy as it is, and notes what a rollback undid.
pub const NOTE_OF_UNDONE: &str = "note of what is undone";

/// What to do with a line of `checkfu.yaml` that has done its work. An empty list would be an error of its own.
pub(super) const TAKE_OUT: &str = "take the line out, and its key too where it is the last one";

/// How the source stands to the one last applied. Only the caller can see history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceRelation {
    /// The same commit, or nothing was applied yet.
    Same,
    /// It came after.
    Newer,
    /// The commit last applied came after this one.
    Older,
    /// Another repository, or another folder of it.
    OtherRepository,
    /// The commit last applied is in no history of this source: another repository, no Git, or history was rewritten.
    /// Or it was applied from another folder, of which Git told nothing.
    Stranger,
    /// It cannot be told (a shallow clone, branches apart).
    #[default]
    Unknown,
}

/// The policy in force becomes the one that is written, and the record says what is undone from now on.
pub(super) fn policy_action(
    desired: &Desired,
    live: &Live,
    options: &Options,
    undone: Option<Undone>,
    out: &mut Vec<Draft>,
) {
    let record = live.record.as_ref();
    let in_force = record.and_then(|r| r.policy.clone()).unwrap_or_default();
    let sets = !options.destroy && options.scope.is_all() && in_force != desired.policy;
    if !sets && undone.is_none() {
        return;
    }
    let policy = if sets { desired.policy.clone() } else { in_force };
    let name = if sets { "" } else { NOTE_OF_UNDONE };
    let reason = match (sets, options.rollback) {
        (true, _) => "the policy in checkfu.yaml is another",
        (false, true) => "what is undone is noted, so that it does not come back by itself",
        (false, false) => "what a rollback undid is declared otherwise now",
    };
    let action = Action {
        id: format!("owner#{}", Verb::Policy.as_str()),
        address: None,
        verb: Verb::Policy,
        operation: "authoring.policy".to_owned(),
        step: Step::Policy { policy, undone },
        precondition: Precondition::OwnerSeq { seq: record.map_or(0, |r| r.seq) },
        depends_on: Vec::new(),
        digest: Digest::from_bytes([0; 32]),
        about: About { name: name.to_owned(), reason: reason.to_owned(), ..About::default() },
    };
    out.push(Draft { action: Box::new(action), rank: Rank::Policy, needs: BTreeSet::new() });
}

/// Findings about the source and about `accept:`.
pub(super) fn standing_lines(
    desired: &Desired,
    live: &Live,
    options: &Options,
    deltas: &[Delta<'_>],
    actions: &[Action],
    out: &mut Gathered,
) {
    // Whoever goes back means an older source.
    if options.rollback {
        return;
    }
    source(desired, live, options, actions, out);
    if options.destroy {
        return;
    }
    accepted(desired, options, deltas, out);
}

/// `accept:` lines that decide nothing: live moved since, or there is no conflict.
fn accepted(desired: &Desired, options: &Options, deltas: &[Delta<'_>], out: &mut Gathered) {
    let compared: BTreeSet<&Address> = deltas.iter().map(Delta::address).collect();
    // What is out of scope is for another plan.
    let in_scope = |address: &Address| options.scope.is_all() || compared.contains(address);
    for (i, line) in desired.accept.iter().enumerate().filter(|(_, l)| in_scope(&l.address)) {
        let delta = deltas.iter().find(|d| *d.address() == line.address);
        let now = delta.and_then(|d| moved_digest(d.item));
        let decided = || delta.is_some_and(Delta::is_decided);
        if now == Some(line.live) && decided() {
            continue;
        }
        let address = &line.address;
        let both = |d: &Delta<'_>| d.memories.as_ref().is_some_and(|m| !m.both.is_empty());
        let open = now != Some(line.live) && delta.is_some_and(both);
        if open || delta.is_some_and(Delta::conflicts) {
            let now = now.map_or("gone".to_owned(), |now| now.to_string());
            let message =
                format!("`accept:` of {address} is void: what moved live was {} then, and is {now}", line.live);
            let found = out.find(&codes::ACCEPT_VOID, Effect::Note, Some(address), message);
            found.fix("look at what is live now, and decide again").at = desired.line("accept", i);
        } else {
            let message = format!("`accept:` of {address} has nothing left to decide");
            let found = out.find(&codes::NOTHING_LEFT, Effect::Note, Some(address), message);
            found.fix(TAKE_OUT).at = desired.line("accept", i);
        }
    }
}

/// How the source stands to the one last applied, another repository or folder of it included.
pub(super) fn relation(desired: &Desired, live: &Live, options: &Options) -> SourceRelation {
    let Some(last) = live.record.as_ref().and_then(|r| r.source.as_ref()) else { return SourceRelation::Same };
    let now = &desired.source;
    let differs = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    let elsewhere = differs(&now.repository, &last.repository) || differs(&now.path, &last.path);
    if elsewhere {
        return SourceRelation::OtherRepository;
    }
    if options.source_relation != SourceRelation::Unknown || last.commit.is_some() {
        return options.source_relation;
    }
    // Where no commit was known the remote tells, or else the folder.
    let same = |same: bool| if same { SourceRelation::Same } else { SourceRelation::Stranger };
    match (&last.repository, &last.folder, &now.folder) {
        (Some(_), _, _) => same(now.repository.is_some()),
        (None, Some(last), Some(now)) => same(last == now),
        _ => SourceRelation::Unknown,
    }
}

/// A source in words.
pub fn place_of(source: &Source) -> String {
    let path = source.path.as_deref().filter(|path| !path.is_empty());
    match (&source.repository, path) {
        (Some(repository), Some(path)) => format!("{repository}:{path}"),
        (Some(repository), None) => repository.clone(),
        (None, Some(path)) => format!("the folder {path} of a repository without a remote"),
        (None, None) if source.path.is_some() => "the top of a repository without a remote".to_owned(),
        (None, None) => "a folder without Git".to_owned(),
    }
}

fn source(desired: &Desired, live: &Live, options: &Options, actions: &[Action], out: &mut Gathered) {
    let acts = !actions.is_empty();
    let retires = actions.iter().any(|a| a.verb == Verb::Retire);
    let Some(last) = live.record.as_ref().and_then(|r| r.source.as_ref()) else { return };
    let now = &desired.source;
    let relation = relation(desired, live, options);
    let answered = !acts || Allowed::new(options).answers(AllowRule::Source, None);
    let effect = if answered { Effect::Note } else { Effect::Refuses };
    let text = |s: &Option<String>| s.clone().unwrap_or_else(|| "?".to_owned());
    match relation {
        SourceRelation::Same | SourceRelation::Newer => {}
        // It was written before folders were: the next apply notes where it comes from.
        SourceRelation::Unknown if last.commit.is_none() => {
            if acts && *now != Source::default() {
                let message = format!("it cannot be told whether {} was last applied from this folder", desired.owner);
                out.find(&codes::SOURCE_UNKNOWN, Effect::Note, None, message)
                    .fix("look at what would go; this apply notes its folder, and the next plan can tell");
            }
        }
        SourceRelation::Unknown => {
            let message = format!("it cannot be told whether this source came after {}", text(&last.commit));
            out.find(&codes::SOURCE_UNKNOWN, Effect::Note, None, message)
                .fix("fetch the history: git fetch --unshallow");
        }
        // A rewritten history looks the same, so it stands against nothing but what would go.
        SourceRelation::Stranger => {
            let effect = if retires { effect } else { Effect::Note };
            let owner = &desired.owner;
            let (message, why) = match &last.commit {
                Some(commit) => (
                    format!("commit {commit} was applied last for {owner}, and this source does not know it"),
                    "its history was rewritten",
                ),
                None if last.folder.is_some() => (
                    format!("{owner} was last applied from another folder, of which Git tells nothing"),
                    "its folder was moved, or it came to Git",
                ),
                None => (
                    format!("{owner} was last applied from {}, and this is {}", place_of(last), place_of(now)),
                    "it left its repository",
                ),
            };
            let fix = format!(
                "give this project an owner of its own; or, if it is the same one ({why}), once: --allow source"
            );
            out.find(&codes::SOURCE, effect, None, message).fix(fix);
        }
        SourceRelation::Older => {
            let message =
                format!("commit {} is older than {}, which was applied last", text(&now.commit), text(&last.commit));
            out.find(&codes::SOURCE, effect, None, message)
                .fix("update the checkout, or, if this is meant: --allow source");
        }
        SourceRelation::OtherRepository => {
            let message =
                format!("{} was last applied from {}, and this is {}", desired.owner, place_of(last), place_of(now));
            out.find(&codes::SOURCE, effect, None, message)
                .fix("give this project an owner of its own, or, if it moved here: --allow source");
        }
    }
}
