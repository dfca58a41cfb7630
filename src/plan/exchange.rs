//! Resources that wait for each other's name or mount destination in a circle. The workspace holds both unique at
//! every moment, so one of a circle has to let go first. A mount is retired and made anew at its new place: nothing
//! refers to a mount. What cannot be made anew is told, with the two steps that do it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::Kind;
use crate::plan::compare::{Delta, State};
use crate::plan::taken::{Place, mount};

/// Marks what is made anew, and what has no way out, with the one that it waits for.
pub(super) fn settle(deltas: &mut [Delta<'_>]) {
    let waits = waits(deltas);
    if waits.iter().all(BTreeSet::is_empty) {
        return;
    }
    let mut left: BTreeSet<usize> = (0..deltas.len()).filter(|i| !waits[*i].is_empty()).collect();
    loop {
        // What waits for nobody that is left can go on.
        let before = left.len();
        let still = left.clone();
        left.retain(|i| waits[*i].iter().any(|on| still.contains(on)));
        if left.len() < before {
            continue;
        }
        let circle: Vec<usize> = left.iter().copied().filter(|i| reaches(&waits, &left, *i)).collect();
        let Some(first) = circle.first().copied() else { return };
        let anew = circle.iter().copied().find(|i| can_be_made_anew(&deltas[*i]));
        match anew {
            Some(i) => deltas[i].anew = true,
            None => {
                let on = waits[first].iter().find(|on| circle.contains(on)).map(|on| deltas[*on].address());
                deltas[first].stuck = on;
            }
        }
        left.remove(&anew.unwrap_or(first));
    }
}

/// For each delta the others that must let go of what it wants.
fn waits(deltas: &[Delta<'_>]) -> Vec<BTreeSet<usize>> {
    let mut names: BTreeMap<(Kind, &str), usize> = BTreeMap::new();
    let mut places: BTreeMap<String, Vec<(usize, Place<'_>)>> = BTreeMap::new();
    for (i, d) in deltas.iter().enumerate().filter(|(_, d)| d.state == State::Compared) {
        let Some(live) = d.item.live_spec.as_deref() else { continue };
        if let Some(name) = unique_name(d, live) {
            names.insert((d.address().kind, name), i);
        }
        if let Some(place) = destination(d, live) {
            places.entry(place.agent.to_string()).or_default().push((i, place));
        }
    }
    let on = |(i, d): (usize, &Delta<'_>)| {
        let named = unique_name(d, &d.item.spec).and_then(|name| names.get(&(d.address().kind, name)).copied());
        let place = destination(d, &d.item.spec);
        let at = place.iter().flat_map(|p| places.get(&p.agent.to_string()).into_iter().flatten().map(move |o| (p, o)));
        let placed = at.filter(|(p, (_, other))| other.overlaps(p)).map(|(_, (other, _))| *other);
        placed.chain(named).filter(|other| *other != i).collect()
    };
    deltas.iter().enumerate().map(on).collect()
}

/// The name that a form has, where it is unique and changes.
fn unique_name<'v>(d: &Delta<'_>, spec: &'v Value) -> Option<&'v str> {
    spec.get("name").and_then(Value::as_str).filter(|_| d.item.def.unique_name && d.sends("name"))
}

/// The destination of a form, where it changes.
fn destination<'v>(d: &Delta<'_>, spec: &'v Value) -> Option<Place<'v>> {
    mount(d.address().kind, spec).filter(|_| d.sends("mount_path"))
}

/// Is it on a circle of what is left?
fn reaches(waits: &[BTreeSet<usize>], left: &BTreeSet<usize>, from: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = waits[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if next == from {
            return true;
        }
        if left.contains(&next) && seen.insert(next) {
            open.extend(&waits[next]);
        }
    }
    false
}

/// Is all of it the file's, and may it go?
fn can_be_made_anew(d: &Delta<'_>) -> bool {
    let is_mount = d.item.def.field("mount_path").is_some();
    let protected = d.item.live.is_some_and(|l| l.summary.protected);
    is_mount && !protected && !d.holds() && d.item.wanted.unowned.is_empty()
}
