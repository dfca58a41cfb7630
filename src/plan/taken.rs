//! Unique names and mount destinations that someone has and keeps: what needs them has to wait.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::live::Live;
use crate::model::kinds::{self, is_under};
use crate::model::{Address, Kind};
use crate::plan::compare::Delta;
use crate::plan::item::Item;

/// A mount, as far as its destination is concerned.
pub(super) struct Place<'a> {
    pub(super) kind: Kind,
    pub(super) agent: &'a Value,
    pub(super) path: &'a str,
}

impl Place<'_> {
    /// Is one the other, or inside it?
    pub(super) fn overlaps(&self, other: &Place<'_>) -> bool {
        self.agent == other.agent && (is_under(self.path, other.path) || is_under(other.path, self.path))
    }
}

/// The destination of a mount; `None` for other kinds.
pub(super) fn mount(kind: Kind, spec: &Value) -> Option<Place<'_>> {
    kinds::def(kind).field("mount_path")?;
    Some(Place { kind, agent: spec.get("agent")?, path: spec.get("mount_path")?.as_str()? })
}

/// What is taken, and by whom.
#[derive(Default)]
struct Taken<'a> {
    names: BTreeMap<(Kind, &'a str), &'a Address>,
    places: BTreeMap<String, Vec<(Place<'a>, &'a Address)>>,
}

impl<'a> Taken<'a> {
    fn add(&mut self, address: &'a Address, spec: &'a Value, keeps: impl Fn(&str) -> bool) {
        let name = spec.get("name").and_then(Value::as_str);
        if let Some(name) = name.filter(|_| kinds::def(address.kind).unique_name && keeps("name")) {
            self.names.insert((address.kind, name), address);
        }
        if let Some(place) = mount(address.kind, spec).filter(|_| keeps("mount_path")) {
            self.places.entry(place.agent.to_string()).or_default().push((place, address));
        }
    }

    fn by(&self, delta: &Delta<'_>) -> Option<&'a Address> {
        let (address, spec) = (delta.address(), &*delta.item.spec);
        let name = spec.get("name").and_then(Value::as_str).filter(|_| delta.sends("name"));
        let named = name.and_then(|n| self.names.get(&(address.kind, n))).filter(|by| **by != address);
        let place = mount(address.kind, spec).filter(|_| delta.sends("mount_path"));
        let placed = place.and_then(|p| {
            let others = self.places.get(&p.agent.to_string())?;
            others.iter().find(|(other, by)| *by != address && other.overlaps(&p)).map(|(_, by)| by)
        });
        named.or(placed).copied()
    }
}

/// Which acting resources need what another keeps: since it is blocked, held, or outside the scope.
pub(super) fn waiting<'a>(
    deltas: &'a [Delta<'a>],
    items: &'a [Item<'a>],
    live: &'a Live,
    going: &BTreeSet<&Address>,
    blocked: &BTreeSet<Address>,
) -> Vec<(&'a Address, &'a Address)> {
    let needs = |d: &&Delta<'_>| d.item.def.unique_name || d.item.def.field("mount_path").is_some();
    let acting: Vec<&Delta<'_>> =
        deltas.iter().filter(|d| d.acts() && !blocked.contains(d.address())).filter(needs).collect();
    if acting.is_empty() {
        return Vec::new();
    }
    let moving: BTreeMap<&Address, &Delta<'_>> = acting.iter().map(|d| (d.address(), *d)).collect();
    let mut taken = Taken::default();
    for item in items.iter().filter(|i| i.live.is_some() && !i.is_gone()) {
        let spec = item.live_spec.as_deref().unwrap_or(&item.spec);
        taken.add(item.address(), spec, |field| !moving.get(item.address()).is_some_and(|d| d.sends(field)));
    }
    let declared: BTreeSet<&Address> = items.iter().map(Item::address).collect();
    for (address, resource) in &live.resources {
        let stays = !declared.contains(address) && !going.contains(address);
        if let Some(body) = resource.body.as_ref().filter(|_| stays && resource.summary.live_digest.is_some()) {
            taken.add(address, &body.live, |_| true);
        }
    }
    acting.iter().filter_map(|d| Some((d.address(), taken.by(d)?))).collect()
}
