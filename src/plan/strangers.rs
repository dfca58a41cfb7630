//! What other owners have, as far as it touches what is wanted: resources at the same address, and newer versions of
//! what is pinned.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveBody, LiveResource};
use crate::model::config::AllowRule;
use crate::model::kinds::{self, Change, Default_, Field, Selector, Target};
use crate::model::{Address, Owner};
use crate::plan::item::{self, Item};
use crate::plan::readdress::Placed;
use crate::plan::scope::Selected;
use crate::plan::{Allowed, Effect, Gathered};

/// A create at an address where another owner has a resource is, most likely, one that moves between two repositories:
/// made now, there would be two, and the old one would be retired by its owner. Only a person can say that it is
/// another one, so it waits until one does. A mount is another's only where it is one of the same agent.
pub(super) fn same_address(
    items: &mut [Item<'_>],
    me: &Owner,
    placed: &Placed<'_>,
    allowed: &Allowed,
    out: &mut Gathered,
) {
    let theirs = theirs(items, me, &placed.live);
    if theirs.is_empty() {
        return;
    }
    let mut reads: BTreeMap<String, Target> = theirs
        .iter()
        .filter_map(|(address, r)| {
            Some((format!("{}:{address}", r.summary.owner.as_ref()?), Target::Own((*address).clone())))
        })
        .collect();
    reads.extend(placed.reads.iter().map(|(key, target)| (key.clone(), target.clone())));
    for item in items.iter_mut().filter(|i| i.live.is_none() && !i.broken) {
        let address = &item.wanted.address;
        let Some(there) = theirs.get(address) else { continue };
        let Some(owner) = &there.summary.owner else { continue };
        if item.def.field("mount_path").is_some() && !is_of_same_agent(item, there, &placed.reads) {
            continue;
        }
        let fields = differing(item, there, &reads);
        let answered = allowed.answers(AllowRule::SameName, Some(address));
        let has = match &fields[..] {
            [] => format!("{owner} has an equal {address}"),
            some => format!("{owner} has {address} too, and another {} in it", some.join(", ")),
        };
        let message = format!("{has}: this one would be a second {}", address.kind);
        let effect = if answered { Effect::Note } else { Effect::Blocks };
        let has_its_name = placed.live.taken_names.iter().any(|s| s.id == there.summary.id);
        let another = if has_its_name {
            "if it is another one: give it another name, which is unique in a workspace".to_owned()
        } else {
            format!("if it is another one: --allow same-name={address}")
        };
        let fix = format!(
            "if it moves here, let {owner} hand it over first, with `removed: [{{address: {address}, to: {me}}}]`; or take it over, so that {owner} loses it:\nadopt:\n  - {{address: {address}, id: {id}, from: {owner}}}\n{another}",
            id = there.summary.id,
        );
        out.find(&codes::SAME_ADDRESS, effect, Some(address), message).fix(fix).at(item.wanted);
        item.broken = !answered;
    }
}

/// What other owners have at wanted addresses where nothing is.
fn theirs<'l>(items: &[Item<'_>], me: &Owner, live: &'l Live) -> BTreeMap<&'l Address, &'l LiveResource> {
    if live.elsewhere.is_empty() {
        return BTreeMap::new();
    }
    // What this plan takes, at another address, is another's no more.
    let here: BTreeSet<&str> = items.iter().filter_map(|i| i.live).map(|l| l.summary.id.as_str()).collect();
    let absent: BTreeSet<&Address> = items.iter().filter(|i| i.live.is_none()).map(Item::address).collect();
    live.elsewhere
        .values()
        .filter(|r| r.summary.owner.as_ref().is_some_and(|o| o != me) && r.summary.live_digest.is_some())
        .filter(|r| !here.contains(r.summary.id.as_str()))
        .filter_map(|r| Some((r.summary.address.as_ref()?, r)))
        .filter(|(address, _)| absent.contains(address))
        .collect()
}

/// Are both mounts of one live agent?
fn is_of_same_agent(item: &Item<'_>, there: &LiveResource, reads: &BTreeMap<String, Target>) -> bool {
    let read = |body: &LiveBody| {
        let mut live = Cow::Borrowed(&*body.live);
        item::renamed(item.def, &item.wanted.address.name, &mut live, |key| reads.get(key));
        live.get("agent") == item.spec.get("agent")
    };
    there.body.as_ref().is_some_and(read)
}

/// The fields in which a wanted resource and another owner's differ, once references to what may be one and the same
/// resource read alike. What is not owned, or the server chose, is no difference.
fn differing(item: &Item<'_>, there: &LiveResource, reads: &BTreeMap<String, Target>) -> Vec<&'static str> {
    if there.summary.live_digest == Some(item.digest) {
        return Vec::new();
    }
    let Some(body) = &there.body else { return item.def.fields.iter().map(|f| f.name).collect() };
    let mut live = Cow::Borrowed(&*body.live);
    item::renamed(item.def, &item.wanted.address.name, &mut live, |key| reads.get(key));
    let differs = |field: &&Field| {
        let (mine, theirs) = (item.spec.get(field.name), live.get(field.name));
        let apart = kinds::is_unowned(&item.wanted.unowned, field.name)
            || field.change == Change::Record
            || (field.default == Default_::Server && mine.is_none());
        match (field.name, mine, theirs) {
            _ if apart => false,
            // Of memories it is what the files say that counts.
            ("contents", None, _) => false,
            ("contents", Some(mine), Some(theirs)) => {
                mine.as_object().into_iter().flatten().any(|(path, digest)| theirs.get(path) != Some(digest))
            }
            _ => mine != theirs,
        }
    };
    item.def.fields.iter().filter(differs).map(|f| f.name).collect()
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
