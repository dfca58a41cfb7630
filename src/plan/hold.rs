//! What is held, and what is in conflict, told with who moved it.

use std::collections::BTreeSet;

use crate::desired::Desired;
use crate::diag::codes::plan as codes;
use crate::live::Live;
use crate::model::Address;
use crate::model::op::{Beside, Moved};
use crate::plan::compare::{Delta, Outcome, State, decision, keeps_protection, moved_digest};
use crate::plan::item::Item;
use crate::plan::{Cause, Effect, Gathered, Held, KeptMemory, Notes, Options, changes, pins, places};

/// Who moved a field, by the audit: the newest write that touched it.
pub(super) fn blame<'m>(moved: &'m [Moved], path: &str) -> Option<&'m Moved> {
    let top = path.split('.').next().unwrap_or(path);
    let touches = |m: &Moved| m.fields.is_empty() || m.fields.iter().any(|f| f == path || f == top);
    moved.iter().rev().find(|m| touches(m)).or(moved.last())
}

/// Tells what is held, and what is in conflict.
pub(super) fn report(
    (deltas, blocked): (&[Delta<'_>], &BTreeSet<Address>),
    desired: &Desired,
    live: &Live,
    options: &Options,
    out: &mut Gathered,
) {
    for delta in deltas {
        let item = delta.item;
        let address = item.address();
        match (&delta.memories, live.beside.get(address)) {
            (Some(memories), _) => {
                memories.tell(item, &mut out.notes);
                both(address, &memories.both, item, out);
            }
            (None, Some(found)) => beside(address, found, &mut out.notes),
            (None, None) => {}
        }
        match delta.state {
            State::Gone => gone(delta, options, out),
            State::Unread => {
                let message = format!("{address} differs from its live resource, which was not read");
                out.find(&codes::NOT_READ, Effect::Error, Some(address), message).at(item.wanted);
            }
            _ => {}
        }
        if !blocked.contains(address) {
            pins::tell(delta, out);
            stays_protected(delta, out);
        }
        let line = decision(item, &desired.accept);
        let mut first: Option<&str> = None;
        // What would be put back stays too where its resource waits.
        let waits = blocked.contains(address);
        let stays = |o: Outcome| o.stays() || (waits && o == Outcome::Send(Cause::Live));
        for f in delta.fields.iter().filter(|f| stays(f.outcome)) {
            let who = item.body().and_then(|b| blame(&b.moved, &f.path)).filter(|_| !f.again);
            let (conflict, accepted) = (f.outcome == Outcome::Conflict, f.outcome == Outcome::Accepted);
            // What the file changed where both did, else what moved live.
            let before = if conflict || accepted { f.applied } else { f.live };
            let at = places::of_change(item.wanted, &f.path, before, f.wanted);
            if conflict {
                let fix = match first {
                    // One line decides about all fields of a resource.
                    Some(first) => format!("it is decided together with `{first}`"),
                    None => way_out(item, options),
                };
                first = first.or(Some(&f.path));
                let by = who.map(|m| format!(" by {} at {}", m.actor, m.at)).unwrap_or_default();
                let message =
                    format!("{address}: `{}` was changed live{by}, and {} to something else", f.path, source(options));
                let finding = out.find(&codes::CONFLICT, Effect::Blocks, Some(address), message);
                finding.fix(fix).at = Some(at.clone());
            }
            out.held.push(Held {
                field: Some(f.path.clone()),
                applied: f.applied.filter(|_| !f.again).cloned(),
                live: f.live.cloned(),
                wanted: f.wanted.filter(|_| conflict || accepted || f.again).cloned(),
                files: item.body().map(|b| changes::moved(item, f, b)).unwrap_or_default(),
                conflict,
                owned_again: f.again,
                rolled_back: false,
                accepted: line.filter(|_| accepted).map(|l| l.reason.clone()),
                at: Some(at),
                ..Held::of(address, who)
            });
        }
    }
}

/// Tells of memories that the files and others changed, so that nobody takes what the files say for sent.
fn both(address: &Address, paths: &[String], item: &Item<'_>, out: &mut Gathered) {
    let Some(first) = paths.first() else { return };
    let more = if paths.len() > 1 { format!(" and {} more", paths.len() - 1) } else { String::new() };
    let message = format!("{address}: {first}{more} was changed in the files and live; what is live stays");
    out.find(&codes::MEMORY_BOTH, Effect::Note, Some(address), message)
        .fix(format!("join them: checkfu pull --drift {address}"))
        .at(item.wanted);
}

/// Tells of what is taken over and stays protected until a later plan.
fn stays_protected(delta: &Delta<'_>, out: &mut Gathered) {
    if keeps_protection(delta.item) {
        let address = delta.address();
        let message =
            format!("{address} is protected, and stays so while it is taken over; the files do not protect it");
        out.find(&codes::PROTECTION_STAYS, Effect::Note, Some(address), message)
            .fix("name it in `policy.protect` to keep it so; else the next plan unprotects it")
            .at(delta.item.wanted);
    }
}

/// What the wanted state comes from.
fn source(options: &Options) -> &'static str {
    if options.rollback { "by the rollback" } else { "in the file" }
}

/// How a conflict is decided.
fn way_out(item: &Item<'_>, options: &Options) -> String {
    let address = item.address();
    if options.rollback {
        return format!("put back first what was applied, then roll back: checkfu apply {address} --revert {address}");
    }
    let live = moved_digest(item).map(|d| d.to_string()).unwrap_or_default();
    format!(
        "write the live value into the file, or decide in checkfu.yaml; `take: live` keeps what is live, until it is pulled into the file:\naccept:\n  - {{address: {address}, live: \"{live}\", take: file, reason: …}}"
    )
}

/// Tells of memories that are not of what was applied, of a store that is as wanted.
pub(super) fn beside(address: &Address, found: &Beside, notes: &mut Notes) {
    notes.kept_memories.insert(address.clone(), u32::try_from(found.count).unwrap_or(u32::MAX));
    notes.kept.insert(address.clone(), found.newest.iter().map(KeptMemory::from).collect());
}

/// What another retired is held as absent; where the file moved too, it has to be decided.
fn gone(delta: &Delta<'_>, options: &Options, out: &mut Gathered) {
    let item = delta.item;
    let address = item.address();
    let by = item.live.and_then(|l| l.summary.gone.as_ref());
    let conflict = delta.conflicts();
    if conflict {
        let who = by.map(|m| format!(" by {} at {}", m.actor, m.at)).unwrap_or_default();
        let message = format!("{address} was retired live{who}, and changed {}", source(options));
        out.find(&codes::CONFLICT, Effect::Blocks, Some(address), message)
            .fix(format!("make it anew with --revert {address}, or let it go in the files too"))
            .at(item.wanted);
    }
    out.held.push(Held { conflict, at: Some(item.wanted.at.to_string()), ..Held::of(address, by) });
}
