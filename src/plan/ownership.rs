//! The actions that change nothing but who owns a resource, and where: adopt, take-over, rename, release, hand-over.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::live::LiveResource;
use crate::model::kinds::Change;
use crate::model::{Address, Digest, Owner};
use crate::plan::actions::{Chain, Draft, Rank, about};
use crate::plan::given::Given;
use crate::plan::readdress::{Comes, Placed};
use crate::plan::record::{recorded, unowned, with_contents};
use crate::plan::{About, Action, Precondition, Step, Verb, item};

/// The first action on a resource that is not yet where it is wanted; all others follow it.
pub(super) fn comes(chain: &mut Chain<'_>, comes: &Comes, me: &Owner) {
    let delta = chain.delta;
    let Some(live) = delta.item.live else { return };
    let id = live.summary.id.clone();
    let (verb, from, reason) = match comes {
        Comes::Renamed(from) => (Verb::Rename, Some(from.to_string()), format!("`moved:`; {id} and its versions stay")),
        Comes::Adopted => (Verb::Adopt, None, format!("nobody owns {id}; this project does from now on")),
        Comes::Taken { from, at, offered } => {
            let reason = match (from == me, offered) {
                (true, _) => format!("{id} was handed over, and nobody took it; it stays here"),
                (false, true) => format!("{from} handed {id} over"),
                (false, false) => format!("{from} loses {id}"),
            };
            (Verb::TakeOver, Some(format!("{from}:{at}")), reason)
        }
    };
    let (operation, step) = match comes {
        Comes::Adopted => ("authoring.claim", claim(chain, live)),
        Comes::Renamed(_) => ("authoring.transfer", Step::Transfer { id, from: me.clone() }),
        Comes::Taken { from, .. } => ("authoring.transfer", Step::Transfer { id, from: from.clone() }),
    };
    let about = About { from, ..about(delta, &reason) };
    chain.push(verb, operation.to_owned(), step, authoring(live), Rank::Ownership, about);
}

/// What is live counts as applied, and what only the record knows is as the file says.
fn claim(chain: &Chain<'_>, live: &LiveResource) -> Step {
    let delta = chain.delta;
    let done = recorded(delta);
    // With the addresses that its references have once this plan is applied.
    let mut spec = delta.item.applied.as_ref().map(|a| Arc::new(a.clone().into_owned())).unwrap_or_default();
    for field in delta.item.def.fields.iter().filter(|f| f.change == Change::Record) {
        if spec.get(field.name) != done.get(field.name) {
            item::set(Arc::make_mut(&mut spec), field.name, None, done.get(field.name).cloned());
        }
    }
    if let Some(memories) = &delta.memories {
        spec = with_contents(spec, memories.settled.clone());
    }
    let protected = delta.item.wanted.protected;
    Step::Claim { id: live.summary.id.clone(), spec, unowned: unowned(delta), protected }
}

fn authoring(live: &LiveResource) -> Precondition {
    Precondition::Authoring { version: live.summary.version, seq: live.summary.seq }
}

/// Releases and hand-overs.
pub(super) fn given(placed: &Placed<'_>, out: &mut Vec<Draft>) {
    out.extend(placed.given.iter().filter_map(|(address, given)| {
        let live = placed.live.resources.get(address)?;
        Some(give(address, given, live))
    }));
}

fn give(address: &Address, given: &Given, live: &LiveResource) -> Draft {
    let id = live.summary.id.clone();
    let (verb, operation, reason, step) = match &given.to {
        None => {
            let reason = format!("`removed:` with `keep`; {id} stays, and nobody owns it");
            (Verb::Release, "authoring.release", reason, Step::Release { id })
        }
        Some(to) => {
            let reason = format!("left for {to}, which takes {id} with its next apply");
            (Verb::HandOver, "authoring.hand_over", reason, Step::HandOver { id, to: to.clone() })
        }
    };
    let about = About { name: live.summary.name.clone(), at: given.at.clone(), reason, ..About::default() };
    let action = Action {
        id: format!("{address}#{}", verb.as_str()),
        address: Some(address.clone()),
        verb,
        operation: operation.to_owned(),
        step,
        precondition: authoring(live),
        depends_on: Vec::new(),
        digest: Digest::from_bytes([0; 32]),
        about,
    };
    Draft { action: Box::new(action), rank: Rank::Ownership, needs: BTreeSet::new() }
}
