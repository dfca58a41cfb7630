//! What other owners have, as far as it touches what is wanted: equal resources at the same address, and newer
//! versions of what is pinned.

use std::collections::{BTreeMap, BTreeSet};

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::Live;
use crate::model::config::AllowRule;
use crate::model::kinds::{Selector, Target};
use crate::model::op::Summary;
use crate::model::{Address, Owner};
use crate::plan::item::Item;
use crate::plan::scope::Selected;
use crate::plan::{Allowed, Effect, Gathered};

/// A create at an address where another owner has an equal resource is, most likely, one that moves between two
/// repositories: made now, there would be two, and the old one would be retired by its owner.
pub(super) fn same_address(items: &mut [Item<'_>], me: &Owner, live: &Live, allowed: &Allowed, out: &mut Gathered) {
    if live.elsewhere.is_empty() {
        return;
    }
    // What this plan takes, at another address, is another's no more.
    let here: BTreeSet<&str> = items.iter().filter_map(|i| i.live).map(|l| l.summary.id.as_str()).collect();
    let theirs: BTreeMap<&Address, &Summary> = live
        .elsewhere
        .values()
        .filter(|r| r.summary.owner.as_ref().is_some_and(|o| o != me) && r.summary.live_digest.is_some())
        .filter(|r| !here.contains(r.summary.id.as_str()))
        .filter_map(|r| Some((r.summary.address.as_ref()?, &r.summary)))
        .collect();
    if theirs.is_empty() {
        return;
    }
    for item in items.iter_mut().filter(|i| i.live.is_none() && !i.broken) {
        let address = &item.wanted.address;
        let Some(there) = theirs.get(address).filter(|s| s.live_digest == Some(item.digest)) else { continue };
        let Some(owner) = &there.owner else { continue };
        let answered = allowed.answers(AllowRule::SameName, Some(address));
        let message = format!("{owner} has an equal {address}: this one would be a second {}", address.kind);
        let effect = if answered { Effect::Note } else { Effect::Blocks };
        let fix = format!(
            "if it moves here, let {owner} hand it over first, with `removed: [{{address: {address}, to: {me}}}]`; or take it over, so that {owner} loses it:\nadopt:\n  - {{address: {address}, id: {id}, from: {owner}}}\nif it is another one: --allow same-name={address}",
            id = there.id,
        );
        out.find(&codes::SAME_ADDRESS, effect, Some(address), message).fix(fix).at(item.wanted);
        item.broken = !answered;
    }
}

/// Tells of pinned resources of others that have a newer version.
pub(super) fn newer(all: &BTreeMap<Address, Wanted>, live: &Live, scope: &Selected, out: &mut Gathered) {
    if live.resolved.is_empty() {
        return;
    }
    for wanted in all.values().filter(|w| scope.holds(&w.address)) {
        let mut told = BTreeSet::new();
        for r in wanted.refs.iter().filter(|r| !matches!(r.target, Target::Own(_))) {
            let key = r.target.key();
            let found = match &r.selector {
                Selector::Content(content) => live.resolved.get(&format!("{key}@{content}")),
                Selector::Number(number) => live.resolved.get(&format!("{key}#{number}")),
                _ => None,
            };
            let behind =
                |f: &&crate::model::op::Resolved| f.content.is_some() && f.newest.is_some_and(|n| f.content != Some(n));
            let Some(newest) = found.filter(behind).and_then(|f| f.newest).filter(|_| told.insert(key.clone())) else {
                continue;
            };
            let address = &wanted.address;
            let message = format!("{address} pins {key} to a version that is not its newest, {}", newest.short());
            out.find(&codes::NEWER_VERSION, Effect::Note, Some(address), message)
                .fix(format!("look at the newer one, and pin it if it is wanted: {newest}"))
                .at = Some(crate::plan::places::of(wanted, r.field));
        }
    }
}
