//! A part of a plan that may be applied alone: what was approved of it. What is left takes along whatever is not to
//! be done without it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Address;
use crate::model::kinds::{Ids, Selector};
use crate::plan::check::sent_refs;
use crate::plan::{Action, Plan, Verb, digest};

/// Why an action is no part of what is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// It was not to be kept.
    Asked,
    /// It depends on this action, which is left.
    Needs(String),
    /// This action on the same resource is left: a resource changes whole or not at all.
    Whole(String),
    /// It retires something, and this action, which comes before, is left: as in an apply in which that one fails.
    Retires(String),
}

/// The actions that are left where only those stay for which `keep` says yes, by id.
///
/// Beside what is not kept these are: all that depends on it; all other actions on its resource, as the steps of a
/// change are not meant to be seen apart; and the retirements that come after it, as in an apply in which it fails.
pub fn left(plan: &Plan, keep: impl Fn(&Action) -> bool) -> BTreeMap<String, Left> {
    let mut left: BTreeMap<String, Left> = BTreeMap::new();
    let mut broken: BTreeMap<&Address, &str> = BTreeMap::new();
    loop {
        let before = left.len();
        // Of what is no retirement; a plan is in order, so one look finds what depends on it.
        let mut first: Option<&str> = None;
        for action in &plan.actions {
            let why = left.get(&action.id).cloned().or_else(|| {
                let need = || action.depends_on.iter().find(|on| left.contains_key(*on));
                let whole = || action.address.as_ref().and_then(|a| broken.get(a));
                let after = || first.filter(|_| action.verb == Verb::Retire);
                None.or_else(|| (!keep(action)).then_some(Left::Asked))
                    .or_else(|| need().map(|on| Left::Needs(on.clone())))
                    .or_else(|| whole().map(|by| Left::Whole((*by).to_owned())))
                    .or_else(|| after().map(|by| Left::Retires(by.to_owned())))
            });
            let Some(why) = why else { continue };
            left.entry(action.id.clone()).or_insert(why);
            if let Some(address) = &action.address {
                broken.entry(address).or_insert(&action.id);
            }
            if action.verb != Verb::Retire {
                first = first.or(Some(&action.id));
            }
        }
        // What a later action of a resource leaves may be needed by one that was passed.
        if left.len() == before {
            return left;
        }
    }
}

/// The part of a plan without what [`left`] says, with digest, ids and `complete` of its own. The actions are the
/// same to the last byte, in the same order. What was found and what is held stays told: a plan that is refused is
/// refused in parts too.
#[must_use]
pub fn keep(plan: &Plan, keep: impl Fn(&Action) -> bool) -> Plan {
    let left = left(plan, keep);
    let mut part = plan.clone();
    if left.is_empty() {
        return part;
    }
    part.actions.retain(|a| !left.contains_key(&a.id));
    part.ids = needed(&part);
    part.complete = false;
    digest::seal(&mut part);
    part
}

/// Of the ids those that an action names: others may have moved by now, and are nothing to this plan.
fn needed(plan: &Plan) -> Ids {
    let mut keys = BTreeSet::new();
    for reference in plan.actions.iter().flat_map(sent_refs) {
        let key = reference.target.key();
        if let Selector::Content(content) = &reference.selector {
            keys.insert(format!("{key}@{content}"));
        }
        keys.insert(key);
    }
    Ids(plan.ids.0.iter().filter(|(key, _)| keys.contains(*key)).map(|(k, v)| (k.clone(), v.clone())).collect())
}
