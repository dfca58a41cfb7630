//! A workspace with several owners: the same value seen by one owner after the other, and what moves between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::world::*;
use crate::desired::Desired;
use crate::live::LiveResource;
use crate::model::kinds::{self, Applied, Target};
use crate::model::{Address, Owner};
use crate::plan::{Action, Plan, Step};

/// What the workspace keeps of owners that are not looking.
#[derive(Clone, Default)]
pub(super) struct Town {
    /// What its owner last applied, by live id.
    applied: BTreeMap<String, Applied>,
    retired: BTreeMap<Owner, BTreeMap<Address, String>>,
}

pub(super) fn named(owner: &str) -> Owner {
    owner.parse().unwrap()
}

/// A project of another owner, without resources.
pub(super) fn project_of(owner: &str) -> Desired {
    Desired { owner: named(owner), ..project() }
}

impl World {
    /// The owner `from` looks away and `to` looks.
    pub(super) fn seen_by(&mut self, from: &Owner, to: &Owner) {
        assert!(self.live.superseded.is_empty());
        let mine = std::mem::take(&mut self.live.resources);
        let mut all: Vec<LiveResource> = std::mem::take(&mut self.live.elsewhere).into_values().collect();
        for (address, mut resource) in mine {
            let summary = &mut resource.summary;
            (summary.owner, summary.address) = (Some(from.clone()), Some(address));
            let applied = resource.body.as_ref().unwrap().applied.clone();
            self.town.applied.insert(resource.summary.id.clone(), applied);
            all.push(resource);
        }
        for mut resource in all {
            let theirs = resource.body.as_ref().unwrap().live.clone();
            resource.body.as_mut().unwrap().live = turned(&resource, from, to).into();
            let id = resource.summary.id.clone();
            let is_mine = resource.summary.owner.as_ref() == Some(to);
            if is_mine && resource.summary.offered.is_none() {
                let address = resource.summary.address.clone().unwrap();
                resource.summary.owner = None;
                resource.body.as_mut().unwrap().applied = self.town.applied.remove(&id).unwrap();
                refresh(&mut resource);
                self.live.resources.insert(address, resource);
                continue;
            }
            if resource.summary.owner.is_some() && !is_mine {
                let before = &self.town.applied[&id];
                let body = resource.body.as_mut().unwrap();
                body.applied = kinds::carried(resource.summary.kind, before, &theirs, &body.live);
            }
            self.live.elsewhere.insert(id, resource);
        }
        let theirs = self.town.retired.remove(to).unwrap_or_default();
        let retired = std::mem::replace(&mut self.live.retired, theirs);
        self.town.retired.insert(from.clone(), retired);
        self.live.record = None;
    }

    /// A live resource that nobody owns.
    pub(super) fn unowned(&mut self, wanted: &mut Desired, name: &str, id: &str) {
        let mut resource = new_resource(&address(name), id, &wanted.resources[&address(name)].spec, &[], false);
        resource.summary.address = None;
        resource.summary.seq = 0;
        let entries =
            wanted.resources[&address(name)].content.as_ref().map(|(set, _)| (set.digest, set.entries.clone()));
        if let Some((digest, entries)) = entries {
            self.publish(&mut resource, digest, &entries);
        }
        resource.body.as_mut().unwrap().applied = Applied::default();
        self.live.elsewhere.insert(id.to_owned(), resource);
    }

    /// Carries out what changes nothing but owner and address.
    pub(super) fn owns(&mut self, action: &Action, plan: &Plan) {
        let to = action.address.clone().unwrap();
        match &action.step {
            Step::Claim { id, spec, unowned, protected } => {
                let mut resource = self.live.elsewhere.remove(id).unwrap();
                assert_eq!(resource.summary.owner, None);
                resource.summary.protected = *protected;
                self.comes(to, resource, Some((spec, unowned)));
            }
            Step::Transfer { id, from } => {
                let here = self.live.resources.iter().find(|(_, r)| r.summary.id == *id).map(|(a, _)| a.clone());
                let resource = match here {
                    Some(here) => {
                        assert_eq!(*from, plan.owner);
                        self.live.retired.insert(here.clone(), id.clone());
                        self.reads(&here.to_string(), &Target::Own(to.clone()));
                        self.live.resources.remove(&here).unwrap()
                    }
                    None => {
                        let resource = self.live.elsewhere.remove(id).unwrap();
                        let summary = &resource.summary;
                        assert_eq!(summary.owner.as_ref(), Some(from));
                        let at = summary.address.clone().unwrap();
                        for owner in summary.offered.iter().chain([from]).cloned().collect::<Vec<_>>() {
                            self.reads(&format!("{owner}:{at}"), &Target::Own(to.clone()));
                        }
                        resource
                    }
                };
                if *from != plan.owner {
                    let left = self.town.retired.entry(from.clone()).or_default();
                    left.insert(resource.summary.address.clone().unwrap(), id.clone());
                }
                self.comes(to, resource, None);
            }
            Step::Release { id } => self.goes(&to, None, &Target::Id(to.kind, id.clone())),
            Step::HandOver { to: owner, .. } => {
                let target = Target::Foreign(owner.clone(), to.clone());
                self.goes(&to, Some((&plan.owner, owner)), &target);
            }
            _ => unreachable!(),
        }
    }

    fn comes(&mut self, to: Address, mut resource: LiveResource, claim: Option<(&serde_json::Value, &[String])>) {
        let id = resource.summary.id.clone();
        let summary = &mut resource.summary;
        (summary.owner, summary.offered, summary.address) = (None, None, Some(to.clone()));
        summary.seq += 1;
        self.town.applied.remove(&id);
        match claim {
            Some((spec, unowned)) => applied(&mut resource, spec, unowned),
            None => refresh(&mut resource),
        }
        let before = self.live.resources.insert(to.clone(), resource);
        assert!(before.is_none(), "{to} is taken");
        self.reads(&id, &Target::Own(to));
    }

    fn goes(&mut self, address: &Address, offer: Option<(&Owner, &Owner)>, target: &Target) {
        let mut resource = self.live.resources.remove(address).unwrap();
        let id = resource.summary.id.clone();
        self.live.retired.insert(address.clone(), id.clone());
        let body = resource.body.as_mut().unwrap();
        let was = body.applied.clone();
        let summary = &mut resource.summary;
        summary.seq += 1;
        match offer {
            Some((me, to)) => {
                (summary.owner, summary.offered) = (Some(me.clone()), Some(to.clone()));
                summary.address = Some(address.clone());
                self.town.applied.insert(id.clone(), was);
            }
            None => {
                (summary.address, summary.live_digest, summary.applied_digest) = (None, None, None);
                summary.protected = false;
                resource.body.as_mut().unwrap().applied = Applied::default();
            }
        }
        self.live.elsewhere.insert(id, resource);
        self.reads(&address.to_string(), target);
    }

    /// A reference reads otherwise in every live form.
    fn reads(&mut self, key: &str, to: &Target) {
        let all = self.live.resources.values_mut().chain(self.live.elsewhere.values_mut());
        for resource in all {
            let live = Arc::make_mut(&mut resource.body.as_mut().unwrap().live);
            let refs = (kinds::def(resource.summary.kind).refs)(live);
            for r in refs.iter().filter(|r| r.target.key() == key) {
                *live.pointer_mut(&r.pointer).unwrap() = to.to_value();
            }
            if resource.summary.owner.is_none() && resource.summary.live_digest.is_some() {
                refresh(resource);
            }
        }
    }
}

/// A live form as another owner reads it.
fn turned(resource: &LiveResource, from: &Owner, to: &Owner) -> serde_json::Value {
    let mut live = (*resource.body.as_ref().unwrap().live).clone();
    for r in (kinds::def(resource.summary.kind).refs)(&live) {
        let target = match r.target {
            Target::Own(address) => Target::Foreign(from.clone(), address),
            Target::Foreign(owner, address) if owner == *to => Target::Own(address),
            other => other,
        };
        *live.pointer_mut(&r.pointer).unwrap() = target.to_value();
    }
    live
}
