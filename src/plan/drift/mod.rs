//! Desired and live → how they stand to each other and to what was last applied, field by field, with who moved what.
//! Over the items that planning compares, and beside it: nothing comes of it.

mod differ;
mod types;

pub use types::*;

use std::collections::BTreeMap;

use crate::desired::{Desired, Places, Wanted, WantedFile};
use crate::diag::Location;
use crate::live::{Live, LiveResource};
use crate::model::kinds::{self, Applied};
use crate::model::{Address, Digest};
use crate::plan::scope::{self, Selected};
use crate::plan::standing::{SourceRelation, relation};
use crate::plan::{Effect, Gathered, Options, hold, item, readdress, selectors};

/// Holds live against what was last applied and against the files. Never fails: what cannot be looked at is a finding.
/// Of the options the scope counts, and how the source stands; nothing is put back, whatever the policy says.
pub fn drift(desired: &Desired, live: &Live, unmanaged: Option<Unmanaged>, options: &Options) -> Drift {
    let mut out = Gathered::default();
    selectors::check(&desired.resources, live, options, &mut out);
    let named = scope::named(&desired.resources, live, options, &mut out);
    let placed = readdress::place(&desired.resources, desired, live, &named, options, &mut out);
    // What a line of `checkfu.yaml` has left to do is for a plan to tell.
    out.findings.retain(|f| f.effect != Effect::Note);
    let live: &Live = &placed.live;
    let relation = relation(desired, live, options);
    let mut found = Vec::new();
    let mut unchanged = 0;
    let declared = item::items((&desired.resources, &desired.owner), &placed, &named, &mut out);
    for item in declared.iter().filter(|item| named.holds(item.address())) {
        let drifted = differ::item(item, relation, desired, &mut out);
        // A store that was compared has told what it keeps.
        if let (true, Some(beside)) = (differ::is_equal(item), live.beside.get(item.address())) {
            hold::beside(item.address(), beside, &mut out.notes);
        }
        match drifted {
            Some(drifted) => found.push(drifted),
            // A finding told why.
            None if item.broken => {}
            None => unchanged += 1,
        }
    }
    // What the files declare no more is held against what was applied, as if they still said that.
    let gone: BTreeMap<Address, Wanted> = live
        .resources
        .iter()
        .filter(|(a, _)| !desired.resources.contains_key(*a) && named.may_retire(a))
        .map(|(a, r)| (a.clone(), as_applied(a, r)))
        .collect();
    let undeclared = item::items((&gone, &desired.owner), &placed, &Selected::all(), &mut Gathered::default());
    found.extend(undeclared.iter().map(|item| differ::undeclared(item, relation, desired, &mut out)));
    found.sort_by(|a, b| a.address.cmp(&b.address));
    finish(desired, live, unmanaged, options, Found { resources: found, unchanged, relation }, out)
}

/// The same where one comparison of digests told that nothing differs, so [`Live::resources`] was not read.
pub fn no_drift(desired: &Desired, live: &Live, unmanaged: Option<Unmanaged>, options: &Options) -> Drift {
    let mut out = Gathered::default();
    for (address, found) in live.beside.iter().filter(|(a, _)| desired.resources.contains_key(*a)) {
        hold::beside(address, found, &mut out.notes);
    }
    out.notes.ignored = super::count(desired.resources.values().map(|w| w.unowned.len()).sum());
    let unchanged = desired.resources.len();
    let relation = relation(desired, live, options);
    finish(desired, live, unmanaged, options, Found { resources: Vec::new(), unchanged, relation }, out)
}

struct Found {
    resources: Vec<Drifted>,
    unchanged: usize,
    relation: SourceRelation,
}

fn finish(
    desired: &Desired,
    live: &Live,
    unmanaged: Option<Unmanaged>,
    options: &Options,
    found: Found,
    out: Gathered,
) -> Drift {
    let mut newest = out.notes.kept;
    let kept = out.notes.kept_memories.into_iter();
    let kept =
        kept.map(|(address, count)| KeptStore { newest: newest.remove(&address).unwrap_or_default(), address, count });
    let mut findings = out.findings;
    findings.sort_by(|a, b| (a.effect, &a.code, &a.address).cmp(&(b.effect, &b.code, &b.address)));
    Drift {
        format: DRIFT_FORMAT.to_owned(),
        tool_version: options.tool_version.clone(),
        origin: options.origin.clone(),
        owner: desired.owner.clone(),
        source: desired.source.clone(),
        last_source: live.record.as_ref().and_then(|r| r.source.clone()),
        relation: found.relation,
        scope: options.scope.as_written(),
        verdict: verdict(&found.resources),
        resources: found.resources,
        texts: BTreeMap::new(),
        kept: kept.collect(),
        unmanaged,
        unchanged: super::count(found.unchanged),
        ignored: out.notes.ignored,
        findings,
    }
}

fn verdict(resources: &[Drifted]) -> Verdict {
    let all = || resources.iter().flat_map(|r| &r.differences);
    if all().any(|d| d.conflict) {
        return Verdict::Conflict;
    }
    if !all().any(|d| d.cause.is_move()) {
        return Verdict::AsApplied;
    }
    let changed = all().any(|d| d.in_files || d.cause == DriftCause::NotApplied);
    if changed { Verdict::MovedAndChanged } else { Verdict::Moved }
}

/// What was applied of a resource that the files declare no more, as if they declared it.
fn as_applied(address: &Address, resource: &LiveResource) -> Wanted {
    let applied = resource.body.as_ref().map_or_else(Applied::default, |b| b.applied.clone());
    let contents = applied.spec.get("contents").and_then(serde_json::Value::as_object);
    let file = |(path, digest): (&String, &serde_json::Value)| {
        let sha256: Digest = digest.as_str()?.parse().ok()?;
        Some((path.clone(), WantedFile { file: String::new(), sha256, size: 0 }))
    };
    Wanted {
        address: address.clone(),
        refs: (kinds::def(address.kind).refs)(&applied.spec),
        memories: contents.into_iter().flatten().filter_map(file).collect(),
        spec: applied.spec,
        unowned: applied.unowned,
        seeded: Vec::new(),
        protected: resource.summary.protected,
        at: Location::file(""),
        places: Places::default(),
        instructions: Vec::new(),
        content: None,
        digested: crate::desired::Digested::default(),
    }
}

/// How a command ends that tells drift: the first that holds of 1 (something could not be looked at), 4 (conflict, or
/// lost to another owner), 2 (live moved and the files changed), 3 (live moved), 0.
pub fn drift_exit_code(drift: &Drift) -> u8 {
    let has = |effect: Effect| drift.findings.iter().any(|f| f.effect == effect);
    match drift.verdict {
        _ if has(Effect::Error) => 1,
        _ if has(Effect::Blocks) => 4,
        Verdict::Conflict => 4,
        Verdict::Moved => 3,
        Verdict::MovedAndChanged => 2,
        Verdict::AsApplied => 0,
    }
}
