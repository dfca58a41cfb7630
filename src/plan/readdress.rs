//! First, before anything is compared: `moved:`, `adopt:` and what was handed over put live resources at the addresses
//! where they are wanted. From there on a renamed or taken resource is one that was there all along, and what refers to
//! it reads the new address; what was applied stays as it was, so whoever referred to it settles by the usual rule.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::desired::{Desired, Wanted};
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveResource};
use crate::model::config::{Adopt, Moved};
use crate::model::kinds::{self, Applied, Change, Default_, Target};
use crate::model::{Address, Kind, Owner};
use crate::plan::given::Given;
use crate::plan::scope::{Selected, host};
use crate::plan::standing::TAKE_OUT;
use crate::plan::{Effect, Gathered, Options, item};

/// How a live resource comes to the address where it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Comes {
    /// By `moved:`, from another address of this owner.
    Renamed(Address),
    /// Nobody owned it.
    Adopted,
    /// Another owner loses it, or handed it over; or this one had handed it over and nobody took it.
    Taken {
        /// The present owner.
        from: Owner,
        /// Its address there.
        at: Address,
        /// Did the present owner offer it?
        offered: bool,
    },
}

/// The workspace as it is to be compared.
pub(super) struct Placed<'a> {
    pub(super) live: Cow<'a, Live>,
    /// By the address where it is wanted.
    pub(super) comes: BTreeMap<Address, Comes>,
    /// Live resources that are given up, by their address.
    pub(super) given: BTreeMap<Address, Given>,
    /// What a reference of a live form means now, by [`Target::key`].
    pub(super) reads: BTreeMap<String, Target>,
    /// What a reference of an applied form means now, beside `reads`: what was here and went to another owner, or to none,
    /// did not move where it is referred to.
    pub(super) went: BTreeMap<String, Target>,
    /// Wanted addresses about which a finding says why nothing can be done.
    pub(super) barred: BTreeSet<Address>,
    /// Live resources that are not declared at their address and stay: their line is out of scope, or cannot be done.
    pub(super) stays: BTreeSet<Address>,
}

/// Places everything. What cannot be done is a finding.
pub(super) fn place<'a>(
    all: &BTreeMap<Address, Wanted>,
    desired: &Desired,
    live: &'a Live,
    scope: &Selected,
    options: &Options,
    out: &mut Gathered,
) -> Placed<'a> {
    let placed = Placed {
        live: Cow::Borrowed(live),
        comes: BTreeMap::new(),
        given: BTreeMap::new(),
        reads: BTreeMap::new(),
        went: BTreeMap::new(),
        barred: BTreeSet::new(),
        stays: BTreeSet::new(),
    };
    let mut stage = Stage { all, desired, scope, out, placed, taken: BTreeSet::new() };
    if !options.destroy {
        stage.moved();
        let here = |l: &Adopt| l.target.as_ref().is_none_or(|t| *t == options.origin.target);
        for (i, line) in desired.adopt.iter().enumerate().filter(|(_, l)| here(l)) {
            stage.adopt(i, line);
        }
        stage.offered();
        stage.lost();
        stage.went();
    }
    crate::plan::given::give(all, desired, scope, &mut stage.placed, stage.out);
    stage.placed
}

struct Stage<'s, 'a> {
    all: &'s BTreeMap<Address, Wanted>,
    desired: &'s Desired,
    scope: &'s Selected,
    out: &'s mut Gathered,
    placed: Placed<'a>,
    /// Live ids that came from elsewhere.
    taken: BTreeSet<String>,
}

impl Stage<'_, '_> {
    fn me(&self) -> &Owner {
        &self.desired.owner
    }

    fn here(&self, address: &Address) -> Option<&LiveResource> {
        self.placed.live.resources.get(address)
    }

    /// Lines lead, over one another if need be, to something declared. The mounts that are written in an agent, or
    /// named after a store or tree, come along.
    fn moved(&mut self) {
        let next: BTreeMap<&Address, &Address> = self.desired.moved.iter().rev().map(|l| (&l.from, &l.to)).collect();
        if next.is_empty() {
            return;
        }
        // All lines on a way that was gone.
        let mut used: BTreeSet<&Address> = BTreeSet::new();
        let leads = |from: &Address| -> Vec<&Address> {
            let mut way = Vec::new();
            let mut at = next.get_key_value(from).map(|(from, _)| *from);
            while let Some(here) = at.filter(|a| !self.all.contains_key(*a) && way.len() < next.len()) {
                way.push(here);
                at = next.get(here).copied();
            }
            way.extend(at);
            way
        };
        let along: Vec<(Address, Address, Vec<&Address>)> = self
            .placed
            .live
            .resources
            .iter()
            .filter(|(address, r)| !self.all.contains_key(*address) && !item::is_gone(r))
            .filter_map(|(address, _)| {
                let own = leads(address);
                if let Some(end) = own.last() {
                    return Some((address.clone(), (*end).clone(), own));
                }
                let (end, way) = taken_along(address, leads)?;
                Some((address.clone(), end, way))
            })
            .filter(|(from, to, _)| from != to && self.all.contains_key(to))
            .collect();
        for (from, to, way) in along {
            used.extend(way);
            self.rename(from, to);
        }
        for (i, line) in self.desired.moved.iter().enumerate().filter(|(_, l)| !used.contains(&l.from)) {
            let message = format!("`moved:` from {} to {} has nothing left to do", line.from, line.to);
            let found = self.out.find(&codes::NOTHING_LEFT, Effect::Note, Some(&line.to), message);
            found.fix(TAKE_OUT).at = self.desired.line("moved", i);
        }
    }

    fn rename(&mut self, from: Address, to: Address) {
        if self.here(&to).is_some() {
            self.taken(&to, &from.to_string());
            self.placed.stays.insert(from);
        } else if !self.scope.holds(&to) {
            self.placed.stays.insert(from);
        } else if let Some(resource) = self.placed.live.to_mut().resources.remove(&from) {
            self.placed.reads.insert(from.to_string(), Target::Own(to.clone()));
            self.put(to, resource, Comes::Renamed(from));
        }
    }

    fn put(&mut self, to: Address, mut resource: LiveResource, comes: Comes) {
        resource.summary.address = Some(to.clone());
        self.placed.live.to_mut().resources.insert(to.clone(), resource);
        self.placed.comes.insert(to, comes);
    }

    /// Two live resources are to be at one address.
    fn taken(&mut self, address: &Address, what: &str) {
        let id = self.here(address).map(|r| r.summary.id.clone()).unwrap_or_default();
        let message = format!("{what} is to be {address}, and {id} is there already");
        self.block(&codes::ADDRESS_TAKEN, address, message)
            .fix("take the line out, or give one of the two another name and apply that first");
    }

    fn block<'o>(
        &'o mut self,
        code: &'static crate::diag::Code,
        address: &Address,
        message: String,
    ) -> &'o mut crate::plan::Finding {
        self.placed.barred.insert(address.clone());
        let found = self.out.find(code, Effect::Blocks, Some(address), message);
        found.at = self.all.get(address).map(|w| w.at.to_string());
        found
    }

    fn adopt(&mut self, nth: usize, line: &Adopt) {
        let address = &line.address;
        if let Some(here) = self.here(address).filter(|h| h.summary.id == line.id || !self.stands_elsewhere(line)) {
            // It is done; another resource may have taken its place since.
            let gone = if here.summary.id == line.id { "" } else { ", and another resource took its place since" };
            let message = format!("`adopt:` of {address} has nothing left to do{gone}");
            let found = self.out.find(&codes::NOTHING_LEFT, Effect::Note, Some(address), message);
            found.fix(TAKE_OUT).at = self.desired.line("adopt", nth);
            return;
        }
        let Some(wanted) = self.all.get(address) else {
            let message = format!("{address} is not declared, so {} cannot be adopted as it", line.id);
            self.out
                .find(&codes::ADOPT_MISSING, Effect::Error, Some(address), message)
                .fix("declare it first, or take the line out");
            return;
        };
        if !self.scope.holds(address) || self.placed.barred.contains(address) {
            return;
        }
        let Some(found) = self.placed.live.elsewhere.get(&line.id) else {
            let message = format!("there is no {} in this workspace that {address} could adopt", line.id);
            self.block(&codes::ADOPT_MISSING, address, message)
                .fix("check the id; if it lives in one workspace alone, name its `target:` in the line");
            return;
        };
        if found.summary.kind != address.kind {
            let message = format!("{} is a {}, so it cannot be {address}", line.id, found.summary.kind);
            self.block(&codes::ADOPT_MISSING, address, message).fix("check the id");
            return;
        }
        if self.taken.contains(&line.id) {
            let message = format!("{} is to be {address}, and another address too", line.id);
            self.block(&codes::ADDRESS_TAKEN, address, message).fix("take one of the two lines out");
            return;
        }
        let Some(comes) = comes(found, self.me(), line.from.as_ref()) else { return self.owned_elsewhere(line) };
        if self.here(address).is_some() {
            return self.taken(address, &line.id);
        }
        let resource = if comes == Comes::Adopted { adopted(found, wanted) } else { found.clone() };
        self.take(address.clone(), resource, comes);
    }

    /// Is what a line names somewhere that is not yet where the line wants it?
    fn stands_elsewhere(&self, line: &Adopt) -> bool {
        self.placed.live.elsewhere.contains_key(&line.id)
    }

    fn take(&mut self, to: Address, resource: LiveResource, comes: Comes) {
        let id = resource.summary.id.clone();
        self.taken.insert(id.clone());
        self.placed.reads.insert(id, Target::Own(to.clone()));
        let summary = &resource.summary;
        if let Some((owner, at)) =
            summary.offered.as_ref().zip(summary.offered_at.as_ref().or(summary.address.as_ref()))
        {
            self.placed.reads.insert(format!("{owner}:{at}"), Target::Own(to.clone()));
        }
        if let Comes::Taken { from, at, .. } = &comes {
            self.placed.reads.insert(format!("{from}:{at}"), Target::Own(to.clone()));
        }
        self.put(to, resource, comes);
    }

    fn owned_elsewhere(&mut self, line: &Adopt) {
        let address = &line.address;
        let Some(found) = self.placed.live.elsewhere.get(&line.id) else { return };
        let at = found.summary.address.as_ref().map_or_else(|| line.id.clone(), ToString::to_string);
        let owner = found.summary.owner.clone();
        if owner.as_ref() == Some(self.me()) {
            let message = format!("{} is {at} of this project already", line.id);
            let fix = format!("in place of the line:\nmoved:\n  - {{from: {at}, to: {address}}}");
            self.block(&codes::OWNED_ELSEWHERE, address, message).fix(fix);
            return;
        }
        let Some(owner) = owner else { return };
        let message = match &line.from {
            Some(from) => format!("{} belongs to {owner} as {at}, not to {from}", line.id),
            None => format!("{} belongs to {owner} as {at}", line.id),
        };
        let fix = format!(
            "let {owner} hand it over, with `removed: [{{address: {at}, to: {me}}}]`; or take it over, so that {owner} loses it:\nadopt:\n  - {{address: {address}, id: {id}, from: {owner}}}",
            me = self.me(),
            id = line.id,
        );
        self.block(&codes::OWNED_ELSEWHERE, address, message).fix(fix);
    }

    /// What was handed over to this owner is taken where it is declared; so is what it handed over itself, declares
    /// again, and nobody took.
    fn offered(&mut self) {
        let me = self.me();
        let offers = self.placed.live.elsewhere.iter().filter_map(|(id, r)| {
            r.summary.offered.as_ref()?;
            comes(r, me, None)?;
            let address = offered_at(r, me)?;
            (self.all.contains_key(address) && self.scope.holds(address)).then(|| (address.clone(), id.clone()))
        });
        let offers: BTreeMap<Address, String> = offers.collect();
        for (address, id) in offers {
            let free =
                self.here(&address).is_none() && !self.placed.barred.contains(&address) && !self.taken.contains(&id);
            let found = self.placed.live.elsewhere.get(&id).filter(|_| free);
            if let Some((comes, resource)) = found.and_then(|r| Some((comes(r, self.me(), None)?, r.clone()))) {
                self.take(address, resource, comes);
            }
        }
    }

    /// What was at an address that nothing wants or has any more, and lives on.
    fn went(&mut self) {
        let live = &self.placed.live;
        let gone = |address: &Address| !self.all.contains_key(address) && !live.resources.contains_key(address);
        let rows = live.retired.iter().filter(|(address, _)| !live.elsewhere.is_empty() && gone(address));
        let rows = rows.filter_map(|(address, id)| {
            let summary = &live.elsewhere.get(id)?.summary;
            let target = match (&summary.offered, &summary.owner, &summary.address) {
                (Some(to), _, Some(at)) => {
                    Target::Foreign(to.clone(), summary.offered_at.as_ref().unwrap_or(at).clone())
                }
                (None, Some(owner), Some(at)) => Target::Foreign(owner.clone(), at.clone()),
                _ => Target::Id(address.kind, id.clone()),
            };
            Some((address.to_string(), target))
        });
        self.placed.went = rows.collect();
    }

    /// What was at a wanted address, is live, and belongs to another by now.
    fn lost(&mut self) {
        if self.placed.live.elsewhere.is_empty() {
            return;
        }
        for address in self.all.keys() {
            let absent = self.here(address).is_none() && !self.placed.barred.contains(address);
            if !absent || !self.scope.holds(address) {
                continue;
            }
            let live = &self.placed.live;
            // Taken back as another it leaves room for a new one.
            let last = live.retired.get(address).filter(|id| !self.taken.contains(*id));
            let last = last.and_then(|id| live.elsewhere.get(id));
            let Some((summary, owner)) = last.and_then(|r| Some((&r.summary, r.summary.owner.clone()?))) else {
                continue;
            };
            // What this plan takes back, at another address, is lost no more.
            if live.resources.values().any(|r| r.summary.id == summary.id) {
                continue;
            }
            let at = summary.address.clone().unwrap_or_else(|| address.clone());
            let who = summary.since.as_ref().map(|m| format!(", {} took it at {}", m.actor, m.at)).unwrap_or_default();
            let id = summary.id.clone();
            let message = format!("{address} was lost to {owner}: {id} is {owner}:{at} now{who}");
            let fix = format!(
                "take it out of the files, which retires nothing, and refer to it as {owner}:{at}; or take it back, so that {owner} loses it:\nadopt:\n  - {{address: {address}, id: {id}, from: {owner}}}"
            );
            // Who refers to it did not move: it is this one that went.
            self.placed.reads.insert(format!("{owner}:{at}"), Target::Own(address.clone()));
            self.block(&codes::LOST, address, message).fix(fix);
        }
    }
}

/// Where what was handed over is to be: at the address that was named, or, taken back, where it was.
fn offered_at<'r>(found: &'r LiveResource, me: &Owner) -> Option<&'r Address> {
    let summary = &found.summary;
    let named = summary.offered_at.as_ref().filter(|_| summary.offered.as_ref() == Some(me));
    named.or(summary.address.as_ref())
}

/// How a resource that is not at an address of this owner may come to one; `None`: its owner has to be named.
fn comes(found: &LiveResource, me: &Owner, named: Option<&Owner>) -> Option<Comes> {
    let summary = &found.summary;
    let Some(from) = &summary.owner else { return Some(Comes::Adopted) };
    let back = from == me && summary.offered.is_some();
    let offered = summary.offered.as_ref() == Some(me) || back;
    (offered || (named == Some(from) && from != me)).then_some(())?;
    Some(Comes::Taken { from: from.clone(), at: summary.address.clone()?, offered })
}

/// What nobody owned, with what counts as applied once it is claimed: what is live, as far as the file owns it. So
/// every difference is one that the file makes. Of memories nothing was applied: they follow their modes.
fn adopted(found: &LiveResource, wanted: &Wanted) -> LiveResource {
    let mut resource = found.clone();
    // What nobody owns has no digest of what is owned; and this one is compared in any case.
    resource.summary.live_digest = Some(wanted.digest());
    let Some(body) = &mut resource.body else { return resource };
    let mut spec = Arc::clone(&body.live);
    for field in kinds::def(wanted.address.kind).fields {
        let chosen = field.default == Default_::Server && wanted.spec.get(field.name).is_none();
        if (chosen || field.name == "contents") && spec.get(field.name).is_some() {
            item::set(Arc::make_mut(&mut spec), field.name, None, None);
        }
        // What only the authoring record knows comes into being with the claim.
        if field.change == Change::Record
            && let Some(value) = wanted.spec.get(field.name)
        {
            for form in [&mut spec, &mut body.live] {
                item::set(Arc::make_mut(form), field.name, None, Some(value.clone()));
            }
        }
    }
    body.applied = Applied { spec, unowned: wanted.unowned.clone() };
    body.moved.clear();
    resource.summary.live_digest = Some(kinds::owned_digest(wanted.address.kind, &body.live, &body.applied));
    resource
}

/// Where a mount that is written in an agent goes along with that agent, or with what it mounts.
fn taken_along<'l>(
    address: &Address,
    leads: impl Fn(&Address) -> Vec<&'l Address>,
) -> Option<(Address, Vec<&'l Address>)> {
    let agent = host(address)?;
    let mounted = match address.kind {
        Kind::MemoryMount => Kind::MemoryStore,
        _ => Kind::FileTree,
    };
    let mounted = Address::new(mounted, address.name.split_once('.')?.1);
    let (of_agent, of_mounted) = (leads(&agent), leads(&mounted));
    let name = |way: &[&Address], own: &Address| way.last().map_or_else(|| own.name.clone(), |a| a.name.clone());
    let to = Address::new(address.kind, format!("{}.{}", name(&of_agent, &agent), name(&of_mounted, &mounted)));
    Some((to, of_agent.into_iter().chain(of_mounted).collect()))
}

/// A ready block for `checkfu.yaml`.
pub(super) fn block(lines: &[Moved]) -> String {
    let lines: Vec<String> = lines.iter().map(|l| format!("\n  - {{from: {}, to: {}}}", l.from, l.to)).collect();
    format!("moved:{}", lines.concat())
}
