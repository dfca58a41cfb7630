//! What is held, and what is in conflict, told with who moved it.

use crate::diag::codes::plan as codes;
use crate::live::Live;
use crate::model::Address;
use crate::model::op::{Beside, Moved};
use crate::plan::compare::{Delta, Outcome, State};
use crate::plan::item::Item;
use crate::plan::{Effect, Gathered, Held, KeptMemory, Notes, places};

/// Who moved a field, by the audit: the newest write that touched it.
pub(super) fn blame<'m>(moved: &'m [Moved], path: &str) -> Option<&'m Moved> {
    let top = path.split('.').next().unwrap_or(path);
    let touches = |m: &Moved| m.fields.is_empty() || m.fields.iter().any(|f| f == path || f == top);
    moved.iter().rev().find(|m| touches(m)).or(moved.last())
}

/// Tells what is held, and what is in conflict.
pub(super) fn report(deltas: &[Delta<'_>], live: &Live, out: &mut Gathered) {
    for delta in deltas {
        let item = delta.item;
        let address = item.address();
        match (&delta.memories, live.beside.get(address)) {
            (Some(memories), _) => memories.tell(item, &mut out.notes),
            (None, Some(found)) => beside(address, found, &mut out.notes),
            (None, None) => {}
        }
        match delta.state {
            State::Gone => out.held.push(gone(item)),
            State::Unread => {
                let message = format!("{address} differs from its live resource, which was not read");
                out.find(&codes::NOT_READ, Effect::Error, Some(address), message).at(item.wanted);
            }
            _ => {}
        }
        for f in delta.fields.iter().filter(|f| matches!(f.outcome, Outcome::Held | Outcome::Conflict)) {
            let who = item.body().and_then(|b| blame(&b.moved, &f.path)).filter(|_| !f.again);
            let conflict = f.outcome == Outcome::Conflict;
            // What the file changed where both did, else what moved live.
            let before = if conflict { f.applied } else { f.live };
            let at = places::of_change(item.wanted, &f.path, before, f.wanted);
            if conflict {
                let by = who.map(|m| format!(" by {} at {}", m.actor, m.at)).unwrap_or_default();
                let message =
                    format!("{address}: `{}` was changed live{by}, and in the file to something else", f.path);
                let finding = out.find(&codes::CONFLICT, Effect::Blocks, Some(address), message);
                finding.fix(format!(
                    "write the live value into the file, or put the file back to what was applied and plan with --revert {address}"
                ));
                finding.at = Some(at.clone());
            }
            out.held.push(Held {
                address: address.clone(),
                field: Some(f.path.clone()),
                applied: f.applied.filter(|_| !f.again).cloned(),
                live: f.live.cloned(),
                wanted: f.wanted.filter(|_| conflict || f.again).cloned(),
                conflict,
                owned_again: f.again,
                actor: who.map(|m| m.actor.clone()),
                when: who.map(|m| m.at.clone()),
                break_glass: who.and_then(|m| m.break_glass.clone()),
                at: Some(at),
            });
        }
    }
}

/// Tells of memories that are not of what was applied, of a store that is as wanted.
pub(super) fn beside(address: &Address, found: &Beside, notes: &mut Notes) {
    notes.kept_memories.insert(address.clone(), u32::try_from(found.count).unwrap_or(u32::MAX));
    notes.kept.insert(address.clone(), found.newest.iter().map(KeptMemory::from).collect());
}

fn gone(item: &Item<'_>) -> Held {
    let by = item.live.and_then(|l| l.summary.gone.as_ref());
    Held {
        address: item.address().clone(),
        field: None,
        applied: None,
        live: None,
        wanted: None,
        conflict: false,
        owned_again: false,
        actor: by.map(|m| m.actor.clone()),
        when: by.map(|m| m.at.clone()),
        break_glass: by.and_then(|m| m.break_glass.clone()),
        at: Some(item.wanted.at.to_string()),
    }
}
