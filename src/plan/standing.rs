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
use crate::plan::compare::Delta;
use crate::plan::{About, Action, Allowed, Effect, Finding, Gathered, Options, Precondition, Step, Verb};

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
    /// It cannot be told (no Git, a shallow clone).
    #[default]
    Unknown,
}

/// The policy in force becomes the one that is written.
pub(super) fn policy_action(desired: &Desired, live: &Live, options: &Options, out: &mut Vec<Draft>) {
    let record = live.record.as_ref();
    let in_force = record.and_then(|r| r.policy.clone()).unwrap_or_default();
    if options.destroy || !options.scope.is_all() || in_force == desired.policy {
        return;
    }
    let action = Action {
        id: format!("owner#{}", Verb::Policy.as_str()),
        address: None,
        verb: Verb::Policy,
        operation: "authoring.policy".to_owned(),
        step: Step::Policy { policy: desired.policy.clone(), undone: None },
        precondition: Precondition::OwnerSeq { seq: record.map_or(0, |r| r.seq) },
        depends_on: Vec::new(),
        digest: Digest::from_bytes([0; 32]),
        about: About { reason: "the policy in checkfu.yaml is another".to_owned(), ..About::default() },
    };
    out.push(Draft { action: Box::new(action), rank: Rank::Policy, needs: BTreeSet::new() });
}

/// Findings about the source and about `accept:`.
pub(super) fn standing_lines(
    desired: &Desired,
    live: &Live,
    options: &Options,
    deltas: &[Delta<'_>],
    acts: bool,
    out: &mut Gathered,
) {
    source(desired, live, options, acts, out);
    if options.destroy {
        return;
    }
    let in_conflict: BTreeSet<&Address> = deltas.iter().filter(|d| d.conflicts()).map(Delta::address).collect();
    for line in &desired.accept {
        if in_conflict.contains(&line.address) {
            unsupported(&line.address, "`accept:`", out);
        } else {
            let message = format!("`accept:` of {} has nothing left to decide", line.address);
            out.find(&codes::NOTHING_LEFT, Effect::Note, Some(&line.address), message).fix(TAKE_OUT);
        }
    }
}

fn unsupported<'a>(address: &Address, what: &str, out: &'a mut Gathered) -> &'a mut Finding {
    let message = format!("{address}: {what} is not supported by this version yet");
    out.find(&codes::UNSUPPORTED, Effect::Error, Some(address), message).fix("take the line out")
}

/// How the source stands to the one last applied, another repository or folder of it included.
pub(super) fn relation(desired: &Desired, live: &Live, options: &Options) -> SourceRelation {
    let Some(last) = live.record.as_ref().and_then(|r| r.source.as_ref()) else { return SourceRelation::Same };
    let now = &desired.source;
    let differs = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    let elsewhere = differs(&now.repository, &last.repository) || differs(&now.path, &last.path);
    if elsewhere { SourceRelation::OtherRepository } else { options.source_relation }
}

fn source(desired: &Desired, live: &Live, options: &Options, acts: bool, out: &mut Gathered) {
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
