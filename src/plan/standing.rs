//! What stands beside resources: the owner's policy, the source, and the lines of `checkfu.yaml` that decide.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::desired::Desired;
use crate::diag::codes::plan as codes;
use crate::live::Live;
use crate::model::config::AllowRule;
use crate::model::{Address, Digest};
use crate::plan::actions::{Draft, Rank};
use crate::plan::compare::{Delta, moved_digest};
use crate::plan::undone::Undone;
use crate::plan::{About, Action, Allowed, Effect, Gathered, Options, Precondition, Step, Verb};

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
        about: About { reason: reason.to_owned(), ..About::default() },
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
    for line in desired.accept.iter().filter(|l| in_scope(&l.address)) {
        let delta = deltas.iter().find(|d| *d.address() == line.address);
        let now = delta.and_then(|d| moved_digest(d.item));
        let decided = || delta.is_some_and(Delta::is_decided);
        if now == Some(line.live) && decided() {
            continue;
        }
        let address = &line.address;
        if delta.is_some_and(Delta::conflicts) {
            let now = now.map_or("gone".to_owned(), |now| now.to_string());
            let message =
                format!("`accept:` of {address} is void: what moved live was {} then, and is {now}", line.live);
            out.find(&codes::ACCEPT_VOID, Effect::Note, Some(address), message)
                .fix("look at what is live now, and decide again");
        } else {
            let message = format!("`accept:` of {address} has nothing left to decide");
            out.find(&codes::NOTHING_LEFT, Effect::Note, Some(address), message).fix(TAKE_OUT);
        }
    }
}

/// How the source stands to the one last applied, another repository or folder of it included.
pub(super) fn relation(desired: &Desired, live: &Live, options: &Options) -> SourceRelation {
    let Some(last) = live.record.as_ref().and_then(|r| r.source.as_ref()) else { return SourceRelation::Same };
    let now = &desired.source;
    let differs = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    let elsewhere = differs(&now.repository, &last.repository) || differs(&now.path, &last.path);
    if elsewhere { SourceRelation::OtherRepository } else { options.source_relation }
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
        SourceRelation::Unknown if last.commit.is_none() => {}
        SourceRelation::Unknown => {
            let message = format!("it cannot be told whether this source came after {}", text(&last.commit));
            out.find(&codes::SOURCE_UNKNOWN, Effect::Note, None, message)
                .fix("fetch the history: git fetch --unshallow");
        }
        // A rewritten history looks the same, so it stands against nothing but what would go.
        SourceRelation::Stranger => {
            let effect = if retires { effect } else { Effect::Note };
            let message = format!(
                "commit {} was applied last for {}, and this source does not know it",
                text(&last.commit),
                desired.owner
            );
            out.find(&codes::SOURCE, effect, None, message).fix(
                "give this project an owner of its own; or, if it is the same one (its history was rewritten): --allow source",
            );
        }
        SourceRelation::Older => {
            let message =
                format!("commit {} is older than {}, which was applied last", text(&now.commit), text(&last.commit));
            out.find(&codes::SOURCE, effect, None, message)
                .fix("update the checkout, or, if this is meant: --allow source");
        }
        SourceRelation::OtherRepository => {
            let place = |s: &crate::model::op::Source| format!("{}:{}", text(&s.repository), text(&s.path));
            let message =
                format!("{} was last applied from {}, and this is {}", desired.owner, place(last), place(now));
            out.find(&codes::SOURCE, effect, None, message)
                .fix("give this project an owner of its own, or, if it moved here: --allow source");
        }
    }
}
