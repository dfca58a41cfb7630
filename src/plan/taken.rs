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
        let address = delta.address();
        let name = name_wanted(delta);
        let named = name.and_then(|n| self.names.get(&(address.kind, n))).filter(|by| **by != address);
        let placed = place_wanted(delta).and_then(|p| {
            let others = self.places.get(&p.agent.to_string())?;
            others.iter().find(|(other, by)| *by != address && other.overlaps(&p)).map(|(_, by)| by)
        });
        named.or(placed).copied()
    }
}

/// The unique name that an action sends.
fn name_wanted<'d>(delta: &'d Delta<'_>) -> Option<&'d str> {
    let sends = delta.item.def.unique_name && delta.sends("name");
    delta.item.spec.get("name").and_then(Value::as_str).filter(|_| sends)
}

/// The destination that an action sends.
fn place_wanted<'d>(delta: &'d Delta<'_>) -> Option<Place<'d>> {
    mount(delta.address().kind, &delta.item.spec).filter(|_| delta.sends("mount_path"))
}

/// What is live of a resource.
fn live_spec<'i>(item: &'i Item<'_>) -> Option<&'i Value> {
    (item.live.is_some() && !item.is_gone()).then(|| item.live_spec.as_deref().unwrap_or(&item.spec))
}

/// Acting resources that need what another keeps: since it is blocked, held, or outside the scope. What is blocked
/// keeps what it has, so more may wait for it; each is looked at again only where that is what it needs.
pub(super) struct Waits<'a> {
    taken: Taken<'a>,
    acting: BTreeMap<&'a Address, &'a Delta<'a>>,
    by_name: BTreeMap<(Kind, &'a str), Vec<&'a Delta<'a>>>,
    by_agent: BTreeMap<String, Vec<&'a Delta<'a>>>,
    /// Still to be looked at.
    open: Vec<&'a Delta<'a>>,
}

impl<'a> Waits<'a> {
    /// With nothing blocked.
    pub(super) fn of(
        deltas: &'a [Delta<'a>],
        items: &'a [Item<'a>],
        live: &'a Live,
        going: &BTreeSet<&Address>,
    ) -> Self {
        let needs = |d: &&Delta<'_>| d.item.def.unique_name || d.item.def.field("mount_path").is_some();
        let open: Vec<&Delta<'_>> = deltas.iter().filter(|d| d.acts()).filter(needs).collect();
        let acting: BTreeMap<&Address, &Delta<'_>> = open.iter().map(|d| (d.address(), *d)).collect();
        let (mut by_name, mut by_agent) = (BTreeMap::new(), BTreeMap::new());
        for delta in &open {
            if let Some(name) = name_wanted(delta) {
                by_name.entry((delta.address().kind, name)).or_insert_with(Vec::new).push(*delta);
            }
            if let Some(place) = place_wanted(delta) {
                by_agent.entry(place.agent.to_string()).or_insert_with(Vec::new).push(*delta);
            }
        }
        let mut taken = Taken::default();
        if !open.is_empty() {
            for (item, spec) in items.iter().filter_map(|i| Some((i, live_spec(i)?))) {
                taken.add(item.address(), spec, |field| !acting.get(item.address()).is_some_and(|d| d.sends(field)));
            }
            let declared: BTreeSet<&Address> = items.iter().map(Item::address).collect();
            for (address, resource) in &live.resources {
                let stays = !declared.contains(address) && !going.contains(address);
                if let Some(body) = resource.body.as_ref().filter(|_| stays && resource.summary.live_digest.is_some()) {
                    taken.add(address, &body.live, |_| true);
                }
            }
        }
        Self { taken, acting, by_name, by_agent, open }
    }

    /// Who waits, and for whom, now that these are blocked too. `blocked` is all that is.
    pub(super) fn after(
        &mut self,
        more: &BTreeSet<Address>,
        blocked: &BTreeSet<Address>,
    ) -> Vec<(&'a Address, &'a Address)> {
        for delta in more.iter().filter_map(|address| self.acting.get(address)) {
            let Some(spec) = live_spec(delta.item) else { continue };
            self.taken.add(delta.address(), spec, |_| true);
            let kind = delta.address().kind;
            let name = spec.get("name").and_then(Value::as_str).and_then(|n| self.by_name.get(&(kind, n)));
            let place = mount(kind, spec).and_then(|p| self.by_agent.get(&p.agent.to_string()));
            self.open.extend(name.into_iter().chain(place).flatten().copied());
        }
        let open = std::mem::take(&mut self.open).into_iter().filter(|d| !blocked.contains(d.address()));
        open.filter_map(|d| Some((d.address(), self.taken.by(d)?))).collect()
    }
}
