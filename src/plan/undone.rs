//! What a rollback undid does not come back by itself: only when the source of that resource changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::desired::Desired;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveResource};
use crate::model::kinds::{self, Applied, Ref, Selector, Target, owned_digest};
use crate::model::{Address, Digest};
use crate::plan::compare::{Delta, State};
use crate::plan::item::Item;
use crate::plan::readdress::Comes;
use crate::plan::retire::Retired;
use crate::plan::scope::Pattern;
use crate::plan::{Action, Effect, Gathered, Options, record};

/// The desired digest that was undone, by address; `None` where nothing was wanted there.
pub(super) type Undone = BTreeMap<Address, Option<Digest>>;

/// Is this what was undone, as an owner's record notes it?
pub fn was_undone(address: &Address, applied: &Applied, noted: Digest) -> bool {
    source(address, applied) == noted
}

/// What of the record stands against this plan: a rollback and a destroy are asked for by a person.
pub(super) fn standing<'l>(live: &'l Live, options: &Options) -> Option<&'l Undone> {
    let asked = options.rollback || options.destroy;
    live.record.as_ref().map(|r| &r.undone).filter(|undone| !asked && !undone.is_empty())
}

/// Is it what was undone that is wanted: as it is written, or as it would be recorded once it were applied? The two
/// differ where somebody else's memories stay.
fn is_wanted(entry: &Digest, delta: &Delta<'_>) -> bool {
    let recorded = || {
        let applied = Applied { spec: record::recorded(delta), unowned: record::unowned(delta) };
        source(delta.address(), &applied)
    };
    *entry == written(delta) || *entry == recorded()
}

/// What is written for a resource.
fn written(delta: &Delta<'_>) -> Digest {
    let spec = Arc::clone(delta.item.declared());
    source(delta.address(), &Applied { spec, unowned: delta.item.wanted.unowned.clone() })
}

/// The digest of a resource's own source: what is owned of its form, without the versions of own resources that it is
/// pinned to. Those move with the source of another, whatever a merge changes there.
fn source(address: &Address, applied: &Applied) -> Digest {
    let def = kinds::def(address.kind);
    let own = |r: &Ref| matches!(r.target, Target::Own(_)) && matches!(r.selector, Selector::Content(_));
    let pins: Vec<Ref> = (def.refs)(&applied.spec).into_iter().filter(own).collect();
    if pins.is_empty() {
        return owned_digest(address.kind, &applied.spec, applied);
    }
    let mut spec = Value::clone(&applied.spec);
    for pin in &pins {
        if let Some(holder) = holder(&mut spec, pin) {
            holder.remove("content");
        }
    }
    // Lists that are sets may sort otherwise now.
    let spec = Arc::new((def.canonical)(&address.name, spec, &BTreeMap::new()));
    owned_digest(address.kind, &spec, &Applied { spec: Arc::clone(&spec), unowned: applied.unowned.clone() })
}

/// What holds the content that a reference is pinned to: the reference, what is around it, or the resource's selection.
pub(super) fn holder<'s>(spec: &'s mut Value, pin: &Ref) -> Option<&'s mut Map<String, Value>> {
    let parent = pin.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    let pointers = [pin.pointer.as_str(), parent, "/selection"];
    let holds =
        |pointer: &&str| !pointer.is_empty() && spec.pointer(pointer).is_some_and(|h| h.get("content").is_some());
    let pointer = pointers.into_iter().find(holds)?;
    spec.pointer_mut(pointer)?.as_object_mut()
}

/// What was applied last of a live resource, as far as it was read.
fn applied(address: &Address, live: &LiveResource) -> Option<Digest> {
    live.body.as_ref().map_or(live.summary.applied_digest, |body| Some(source(address, &body.applied)))
}

/// Would its action bring back what was undone?
pub(super) fn returns(undone: &Undone, delta: &Delta<'_>) -> bool {
    let Some(Some(entry)) = undone.get(delta.address()) else { return false };
    // The rollback did not get that far, or somebody wrote it live: it is there.
    let there = delta.item.body().is_some_and(|body| {
        let unowned = body.applied.unowned.clone();
        let live = Applied { spec: Arc::clone(&body.live), unowned };
        source(delta.address(), &body.applied) == *entry || source(delta.address(), &live) == *entry
    });
    let there = there && delta.item.comes.is_none();
    !there && delta.acts() && is_wanted(entry, delta)
}

/// Would its action bring back what was undone? Tells it, if so.
pub(super) fn refuses(undone: &Undone, delta: &Delta<'_>, out: &mut Gathered) -> bool {
    if !returns(undone, delta) {
        return false;
    }
    let address = delta.address();
    let message =
        format!("{address} would come back as it was before a rollback: what is declared has not changed since");
    out.find(&codes::ROLLED_BACK, Effect::Blocks, Some(address), message).fix(way_out(address)).at(delta.item.wanted);
    true
}

/// Takes out of the retirements what a rollback brought back, and tells it.
pub(super) fn keep_what_came_back(undone: &Undone, retired: &mut Vec<Retired<'_>>, out: &mut Gathered) {
    retired.retain(|r| {
        let back = !r.superseded && !r.gone && undone.get(r.address) == Some(&None);
        if back {
            let message =
                format!("{} would go again, and a rollback brought it back: it is not declared, as before", r.address);
            out.find(&codes::ROLLED_BACK, Effect::Blocks, Some(r.address), message).fix(way_out(r.address));
        }
        !back
    });
}

/// How what was undone is had, or given up, in each case: of the resource alone, whatever else was undone.
pub(super) fn way_out(address: &Address) -> String {
    format!(
        "change {address} in the files, or revert the change that was undone; to have it back as it was: `checkfu history`, then `checkfu rollback APPLY {address}`"
    )
}

/// What a plan knows when it says what is undone from now on.
pub(super) struct Seen<'a> {
    pub(super) desired: &'a Desired,
    pub(super) live: &'a Live,
    pub(super) options: &'a Options,
    /// Of what is compared; empty: all is as wanted.
    pub(super) deltas: &'a [Delta<'a>],
    /// What gets no action.
    pub(super) blocked: &'a BTreeSet<Address>,
    pub(super) retired: &'a [Retired<'a>],
}

/// What is undone from now on, if that is not what the record says.
pub(super) fn after(seen: &Seen<'_>) -> Option<Undone> {
    let empty = Undone::new();
    let before = seen.live.record.as_ref().map_or(&empty, |r| &r.undone);
    let after = if seen.options.rollback {
        seen.rolled_back(before)
    } else if seen.options.destroy || !seen.options.scope.is_all() || before.is_empty() {
        return None;
    } else {
        seen.still_wanted(before)
    };
    (after != *before).then_some(after)
}

impl Seen<'_> {
    /// What was undone, as far as its source did not change since.
    fn still_wanted(&self, before: &Undone) -> Undone {
        let deltas: BTreeMap<&Address, &Delta<'_>> = self.deltas.iter().map(|d| (d.address(), d)).collect();
        let is_live = |r: &LiveResource| r.summary.live_digest.is_some();
        // A line that gives it up is a decision about what the rollback brought back.
        let lines = self.desired.removed.iter().filter(|(line, _)| line.keep || line.to.is_some());
        let given: Vec<Pattern> = lines.map(|(line, _)| Pattern::new(&line.address)).collect();
        let is_given = |address: &Address| given.iter().any(|line| line.matches(&address.to_string()));
        let stands = |address: &Address, entry: Option<&Digest>| match (self.desired.resources.get(address), entry) {
            (Some(wanted), Some(entry)) => match deltas.get(address) {
                Some(delta) => is_wanted(entry, delta),
                None => *entry == source(address, &wanted.applied()),
            },
            (None, None) => self.live.resources.get(address).is_some_and(is_live) && !is_given(address),
            _ => false,
        };
        let rows = before.iter().filter(|(address, entry)| stands(address, entry.as_ref()));
        rows.map(|(address, entry)| (address.clone(), *entry)).collect()
    }

    /// What this rollback undoes, and what an earlier one undid and this one does not bring back.
    fn rolled_back(&self, before: &Undone) -> Undone {
        let mut after = before.clone();
        for delta in self.deltas {
            let (address, wanted) = (delta.address(), Some(written(delta)));
            let applied = delta.item.live.and_then(|l| applied(address, l));
            if after.get(address) == Some(&wanted) {
                after.remove(address);
            }
            if !delta.acts() || self.blocked.contains(address) {
                continue;
            }
            match delta.item.comes {
                // It was there, as it is now.
                Some(Comes::Renamed(from)) => drop(after.insert(from.clone(), applied)),
                _ if applied != wanted => drop(after.insert(address.clone(), applied)),
                _ => {}
            }
        }
        for r in self.retired.iter().filter(|r| !r.superseded) {
            after.insert(r.address.clone(), applied(r.address, r.live));
        }
        after
    }
}

/// Tells what a rollback makes anew since what was there does not come back.
pub(super) fn tell_new_ids(seen: &Seen<'_>, out: &mut Gathered) {
    let made = seen.deltas.iter().filter(|d| seen.options.rollback && !seen.blocked.contains(d.address()));
    for delta in made {
        let State::New { since: Some(old), .. } = &delta.state else { continue };
        let address = delta.address();
        let message =
            format!("{address} was retired since and is made anew with another id; what else {old} held stays there");
        out.find(&codes::NEW_ID, Effect::Note, Some(address), message);
    }
}

/// A rollback leaves what is live where the contents that were recorded are held no more, as a redacted memory's are,
/// and tells it.
pub(super) fn leave_lost(items: &mut [Item<'_>], live: &Live, options: &Options, out: &mut Gathered) {
    for item in items.iter_mut().filter(|_| options.rollback) {
        let now: BTreeMap<&str, Digest> =
            item.body().map_or(&[][..], |b| &b.memories).iter().map(|m| (m.path.as_str(), m.content_sha256)).collect();
        let is_read = item.body().is_some() || item.live.is_none_or(|_| item.is_gone());
        let lost: BTreeSet<String> = item
            .wanted
            .memories
            .iter()
            .filter(|(path, file)| {
                is_read && now.get(path.as_str()) != Some(&file.sha256) && !live.held_blobs.contains(&file.sha256)
            })
            .map(|(path, _)| path.clone())
            .collect();
        if !lost.is_empty() {
            let address = item.address();
            let paths: Vec<&str> = lost.iter().map(String::as_str).collect();
            let message = format!(
                "{address}: {} cannot come back: what it was is redacted, or not held any more; what is live there stays",
                paths.join(", ")
            );
            out.find(&codes::MEMORY_LOST, Effect::Note, Some(address), message)
                .fix("write it into the files, and apply them");
        }
        item.lost = lost;
    }
}

/// What is recorded stands in no file: a rollback points nowhere.
pub(super) fn without_places(actions: &mut [Action], out: &mut Gathered) {
    for action in actions {
        action.about.at = None;
        action.about.changes.iter_mut().for_each(|change| change.at = None);
    }
    out.findings.iter_mut().for_each(|finding| finding.at = None);
    out.held.iter_mut().for_each(|held| held.at = None);
}
