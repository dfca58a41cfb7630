//! How the files of a project stand to what is live.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::desired::{Desired, Wanted};
use crate::model::kinds;
use crate::model::{Address, Digest, Kind};
use crate::pull::{Resource, Unit};

/// What a project says of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Its files say what is live.
    Said,
    /// They say something else of this address, in this file, which is none of the unit.
    Elsewhere(Address, String),
    /// They say nothing, or something else where the unit would say it.
    Ours,
}

/// Holds a unit against a project.
pub fn standing(desired: Option<&Desired>, resources: &BTreeMap<Address, Resource>, unit: &Unit) -> Standing {
    let wanted = |a: &Address| desired.and_then(|d| d.resources.get(a));
    let is_said = |a: &Address| wanted(a).zip(resources.get(a)).is_some_and(|(w, live)| says(w, &live.spec));
    if unit.of.iter().all(is_said) {
        return Standing::Said;
    }
    let ours: BTreeSet<&str> = unit.files.iter().map(|f| f.path.as_str()).collect();
    let mut declared = unit.of.iter().filter_map(|a| wanted(a).map(|w| (a, &*w.at.file)));
    declared
        .find(|(_, file)| !ours.contains(file))
        .map_or(Standing::Ours, |(address, file)| Standing::Elsewhere(address.clone(), file.to_owned()))
}

/// Is what is live as it is wanted, as far as it is owned?
pub fn says(wanted: &Wanted, live: &Value) -> bool {
    wanted.digest() == kinds::owned_digest(wanted.address.kind, live, &wanted.applied())
}

/// Resources that the files do not say as they are live, with what differs in words.
pub fn differing(desired: &Desired, resources: &BTreeMap<Address, Resource>) -> Vec<(Address, String)> {
    let mut out = Vec::new();
    for (address, live) in resources {
        match desired.resources.get(address) {
            Some(wanted) if says(wanted, &live.spec) => {}
            Some(wanted) => out.push((address.clone(), format!("{} differ", fields(&wanted.spec, &live.spec)))),
            None => out.push((address.clone(), "no file that is read declares it".to_owned())),
        }
    }
    out
}

fn fields(file: &Value, live: &Value) -> String {
    let keys: BTreeSet<&String> =
        [file, live].into_iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys).collect();
    let differ: Vec<&str> = keys.into_iter().filter(|k| file.get(*k) != live.get(*k)).map(String::as_str).collect();
    differ.join(", ")
}

/// The content that a project publishes for each of its skills, once these resources are in its files.
pub fn published(desired: Option<&Desired>, resources: &BTreeMap<Address, Resource>) -> BTreeMap<String, Digest> {
    let content = |spec: &Value| spec.get("content")?.as_str()?.parse().ok();
    let declared = desired.into_iter().flat_map(|d| &d.resources).map(|(a, w)| (a, &w.spec));
    let all = declared.chain(resources.iter().map(|(a, r)| (a, &r.spec)));
    all.filter(|(a, _)| a.kind == Kind::Skill).filter_map(|(a, spec)| Some((a.name.clone(), content(spec)?))).collect()
}
