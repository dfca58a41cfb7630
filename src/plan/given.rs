//! What is given up and stays live: `removed:` lines with `keep` or `to`.

use std::collections::BTreeMap;

use crate::desired::{Desired, Wanted};
use crate::diag::codes::plan as codes;
use crate::live::LiveResource;
use crate::model::kinds::Target;
use crate::model::op::Resolved;
use crate::model::{Address, Owner};
use crate::plan::readdress::Placed;
use crate::plan::scope::{Pattern, Selected, host};
use crate::plan::standing::TAKE_OUT;
use crate::plan::{Effect, Gathered, item};

/// How a resource is given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    /// Whom it is left for; `None`: nobody.
    pub(super) to: Option<Owner>,
    /// `file:line:column` of the line.
    pub(super) at: Option<String>,
}

/// Finds what is given up. A mount that is written in an agent goes as its agent does.
pub(super) fn give(
    all: &BTreeMap<Address, Wanted>,
    desired: &Desired,
    scope: &Selected,
    placed: &mut Placed<'_>,
    out: &mut Gathered,
) {
    if desired.removed.is_empty() {
        return;
    }
    let patterns: Vec<Pattern> = desired.removed.iter().map(|(line, _)| Pattern::new(&line.address)).collect();
    let mut hit = vec![false; patterns.len()];
    let mut found: Vec<(Address, usize)> = Vec::new();
    for (address, _) in placed.live.resources.iter().filter(|(a, r)| !all.contains_key(*a) && !item::is_gone(r)) {
        let names = |address: &Address| {
            let text = address.to_string();
            patterns.iter().enumerate().filter(move |(_, p)| p.matches(&text)).map(|(i, _)| i)
        };
        let own: Vec<usize> = names(address).collect();
        for i in &own {
            hit[*i] = true;
        }
        let stays = |i: &usize| desired.removed[*i].0.keep || desired.removed[*i].0.to.is_some();
        let line = own.iter().copied().find(stays);
        let with_agent = || host(address).filter(|_| own.is_empty()).and_then(|agent| names(&agent).find(stays));
        if let Some(i) = line.or_else(with_agent).filter(|_| scope.may_retire(address)) {
            found.push((address.clone(), i));
        }
    }
    let taken = taken(placed);
    for (address, i) in found {
        let (line, at) = &desired.removed[i];
        if let Some(to) = &line.to
            && let Some(there) = taken.get(&(to.clone(), address.clone()))
        {
            let message = format!("{address} cannot be handed over: {to} has {there} there already");
            let id = placed.live.resources.get(&address).map_or("", |r| r.summary.id.as_str());
            let me = &desired.owner;
            let fix = format!(
                "let {to} take it over at another address, with `adopt: [{{address: …, id: {id}, from: {me}}}]`, or release it with `keep: true`"
            );
            let finding = out.find(&codes::ADDRESS_TAKEN, Effect::Blocks, Some(&address), message);
            finding.fix(fix).at = at.as_ref().map(ToString::to_string);
            placed.stays.insert(address);
            continue;
        }
        let given = Given { to: line.to.clone(), at: at.as_ref().map(ToString::to_string) };
        read_as_given(&address, &given, placed);
        placed.given.insert(address, given);
    }
    for ((line, at), _) in desired.removed.iter().zip(hit).filter(|(_, hit)| !hit) {
        let message = format!("`removed:` of {} has nothing left to do", line.address);
        let finding = out.find(&codes::NOTHING_LEFT, Effect::Note, None, message);
        finding.fix(TAKE_OUT).at = at.as_ref().map(ToString::to_string);
    }
}

/// What other owners have where they are.
fn taken(placed: &Placed<'_>) -> BTreeMap<(Owner, Address), String> {
    let theirs = placed.live.elsewhere.values().map(|r| &r.summary).filter(|s| s.offered.is_none());
    theirs.filter_map(|s| Some(((s.owner.clone()?, s.address.clone()?), s.id.clone()))).collect()
}

/// What refers to it reads as it will once it is given up, and may be written so by now.
fn read_as_given(address: &Address, given: &Given, placed: &mut Placed<'_>) {
    let Some(resource) = placed.live.resources.get(address) else { return };
    let target = match &given.to {
        Some(to) => Target::Foreign(to.clone(), address.clone()),
        None => Target::Id(address.kind, resource.summary.id.clone()),
    };
    if given.to.is_some() {
        let key = target.key();
        let found = answer(&key, resource);
        let resolved = &mut placed.live.to_mut().resolved;
        if let Some(content) = found.content {
            resolved.insert(format!("{key}@{content}"), found.clone());
        }
        resolved.insert(key, found);
    }
    placed.reads.insert(address.to_string(), target);
}

/// What the workspace will answer about it.
fn answer(key: &str, resource: &LiveResource) -> Resolved {
    let summary = &resource.summary;
    Resolved {
        key: key.to_owned(),
        id: Some(summary.id.clone()),
        kind: Some(summary.kind),
        archived: false,
        version: summary.content_version.clone(),
        content: summary.content,
        newest: summary.content,
        store_owner: None,
    }
}
