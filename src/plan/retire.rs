//! What is wanted no more: candidates, and which of them must wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveResource};
use crate::model::kinds::{self, Ref, Target};
use crate::model::op::Referrer;
use crate::model::{Address, Owner};
use crate::plan::compare::Delta;
use crate::plan::item::{self, Item};
use crate::plan::readdress::Placed;
use crate::plan::scope::Selected;
use crate::plan::{Effect, Gathered};

/// A live resource that is to go.
pub(super) struct Retired<'a> {
    pub(super) address: &'a Address,
    pub(super) live: &'a LiveResource,
    /// Another resource has, or gets in this plan, its address.
    pub(super) superseded: bool,
    /// Another retired it already: only what was applied is cleared.
    pub(super) gone: bool,
    /// The action of this plan that takes its place.
    pub(super) after: Option<String>,
    /// What it refers to; `None`: it was not read.
    pub(super) refs: Option<Vec<Ref>>,
}

impl<'a> Retired<'a> {
    pub(super) fn new(address: &'a Address, live: &'a LiveResource, superseded: bool, after: Option<String>) -> Self {
        let refs = live.body.as_ref().map(|b| (kinds::def(live.summary.kind).refs)(&b.live));
        let gone = item::is_gone(live);
        Self { address, live, superseded, gone, after, refs }
    }

    /// 0 mounts, 1 agents, 2 what holds no reference.
    pub(super) fn layer(&self) -> u8 {
        let def = kinds::def(self.live.summary.kind);
        match (def.field("mount_path"), def.field("skills")) {
            (Some(_), _) => 0,
            (None, Some(_)) => 1,
            (None, None) => 2,
        }
    }

    /// Id of its action.
    pub(super) fn action(&self) -> String {
        if self.superseded {
            format!("{}#retire-{}", self.address, self.live.summary.id)
        } else {
            format!("{}#retire", self.address)
        }
    }
}

/// Ours, not wanted, not given up, in scope.
pub(super) fn candidates<'a>(
    all: &BTreeMap<Address, Wanted>,
    placed: &'a Placed<'_>,
    scope: &Selected,
) -> Vec<Retired<'a>> {
    let live: &Live = &placed.live;
    let stays = |address: &Address| placed.stays.contains(address) || placed.given.contains_key(address);
    let unwanted = live
        .resources
        .iter()
        .filter(|(address, _)| !all.contains_key(*address) && scope.may_retire(address) && !stays(address))
        .map(|(address, r)| Retired::new(address, r, false, None));
    let old = live.superseded.iter().filter_map(|r| {
        let address = r.summary.address.as_ref()?;
        let in_scope = if all.contains_key(address) { scope.holds(address) } else { scope.may_retire(address) };
        in_scope.then(|| Retired::new(address, r, true, None))
    });
    unwanted.chain(old).collect()
}

/// Adds what this plan replaces, and takes out what a resource goes on to use since its own change is held,
/// blocked or out of scope.
pub(super) fn keep_what_is_used<'a>(
    retired: &mut Vec<Retired<'a>>,
    items: &'a [Item<'a>],
    deltas: &[Delta<'a>],
    blocked: &BTreeSet<Address>,
    (placed, me): (&'a Placed<'_>, &Owner),
    out: &mut Gathered,
) {
    let replaced = deltas.iter().filter(|d| d.replace && !blocked.contains(d.address()));
    retired.extend(replaced.filter_map(|d| {
        let action = format!("{}#replace", d.address());
        Some(Retired::new(d.address(), d.item.live?, true, Some(action)))
    }));
    if retired.is_empty() {
        return;
    }
    let acting: BTreeMap<&Address, &Delta<'_>> =
        deltas.iter().filter(|d| !blocked.contains(d.address())).map(|d| (d.address(), d)).collect();
    let live: &Live = &placed.live;
    let mut used = used(retired, items, &acting);
    used_by_given(retired, placed, &mut used);
    retired.retain(|r| {
        let id = r.live.summary.id.as_str();
        let user = used.get(id).map(ToString::to_string).or_else(|| used_by_another(r, live, me));
        if let Some(user) = &user {
            let message = format!("{} stays for now: {user} still uses it", r.address);
            out.find(&codes::STILL_USED, Effect::Note, Some(r.address), message);
        }
        user.is_none()
    });
}

/// Whoever else refers to what was superseded. Its place is taken, so it may wait as long as they like.
fn used_by_another(r: &Retired<'_>, live: &Live, me: &Owner) -> Option<String> {
    let referrers = live.referrers.get(&r.live.summary.id).filter(|_| r.superseded)?;
    referrers.iter().filter(|o| o.owner.as_ref() != Some(me)).map(Referrer::shown).min()
}

/// What is given up goes on to use what it refers to.
fn used_by_given<'a>(retired: &[Retired<'a>], placed: &'a Placed<'_>, used: &mut BTreeMap<&'a str, &'a Address>) {
    let by_address: BTreeMap<&Address, &'a str> =
        retired.iter().filter(|r| !r.superseded).map(|r| (r.address, r.live.summary.id.as_str())).collect();
    for address in placed.given.keys().chain(&placed.stays) {
        let Some(body) = placed.live.resources.get(address).and_then(|r| r.body.as_ref()) else { continue };
        for r in (kinds::def(address.kind).refs)(&body.live) {
            if let Target::Own(to) = &r.target
                && let Some(id) = by_address.get(to)
            {
                used.entry(id).or_insert(address);
            }
        }
    }
}

/// Live ids that a resource goes on to use.
fn used<'a>(
    retired: &[Retired<'a>],
    items: &'a [Item<'a>],
    acting: &BTreeMap<&Address, &Delta<'_>>,
) -> BTreeMap<&'a str, &'a Address> {
    // What was superseded before is used by its id; the address is another's now.
    let by_address: BTreeMap<&Address, &'a str> = retired
        .iter()
        .filter(|r| !r.superseded || r.after.is_some())
        .map(|r| (r.address, r.live.summary.id.as_str()))
        .collect();
    let by_id: BTreeSet<&'a str> = retired.iter().map(|r| r.live.summary.id.as_str()).collect();
    let mut used = BTreeMap::new();
    for item in items.iter().filter(|i| i.live.is_some() && !i.is_gone()) {
        let delta = acting.get(item.address());
        for r in item.live_refs().iter() {
            let Target::Own(to) = &r.target else { continue };
            let moves_on = delta.is_some_and(|d| d.carries(r));
            if let Some(id) = by_address.get(to).filter(|_| !moves_on) {
                used.insert(*id, item.address());
            }
        }
        for (field, id) in &item.stale {
            let moves_on = delta.is_some_and(|d| d.sends(field));
            if let Some(id) = by_id.get(id.as_str()).filter(|_| !moves_on) {
                used.insert(*id, item.address());
            }
        }
    }
    used
}
