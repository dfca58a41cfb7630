//! The workspace as planning needs it: one request when nothing differs, else summaries in pages, and bodies
//! only where digests differ. Never one request a resource.

use std::collections::{BTreeMap, BTreeSet};

use crate::control::{ControlError, ControlPlane};
use crate::desired::{Desired, Wanted};
use crate::live::{Live, LiveBody, LiveResource, OwnerRecord, Workspace};
use crate::model::config::Take;
use crate::model::kinds::{self, Ref, Selector, Target};
use crate::model::op::{Context, OwnerState, Resolved, Summary, Want};
use crate::model::{Address, Digest};
use crate::plan;
use crate::reconcile::ask::Ask;
use crate::reconcile::elsewhere::{elsewhere, live_body};
use crate::reconcile::undone;

/// A workspace as it was read.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// What was read.
    pub live: Live,
    /// The owner's digest is that of the desired state: nothing differs, and no resource was read.
    pub same: bool,
}

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Until one comparison tells that nothing differs.
    UntilEqual,
    /// At the resources in any case.
    Resources,
}

/// Reads what planning `desired` needs. `None` for the control plane: there is no workspace yet.
///
/// # Errors
/// Whatever the workspace answers; nothing is written.
pub async fn snapshot<C: ControlPlane>(
    control: Option<&C>,
    desired: &Desired,
    context: &Context,
    depth: Depth,
) -> Result<Snapshot, ControlError> {
    let Some(control) = control else { return Ok(Snapshot::default()) };
    let ask = Ask { control, context, me: &desired.owner };
    let mut owner = ask.owner().await?;
    let owns_some = owner.count > 0;
    // What is seeded, and what an `adopt:` line says, is in no digest.
    let beside = !desired.adopt.is_empty() || desired.resources.values().any(Wanted::has_seeds);
    let equal = depth == Depth::UntilEqual && !beside && owner.digest == plan::owner_digest(desired);
    let (workspace, beside) = (Some(workspace(&owner)), std::mem::take(&mut owner.beside));
    let mut live = Live { workspace, beside, record: record(owner), ..Live::default() };
    let wants = wants(desired);
    live.resolved = resolved(&wants, ask.resolve(&wants).await?);
    if equal && live.resolved.values().all(still_there) {
        return Ok(Snapshot { live, same: true });
    }
    let summaries = if owns_some { ask.summaries(None).await? } else { Vec::new() };
    read(&ask, desired, summaries, &mut live).await?;
    Ok(Snapshot { live, same: false })
}

async fn read<C: ControlPlane>(
    ask: &Ask<'_, C>,
    desired: &Desired,
    summaries: Vec<Summary>,
    live: &mut Live,
) -> Result<(), ControlError> {
    let mut resources = Vec::new();
    for summary in summaries {
        let resource = LiveResource { summary, body: None };
        match &resource.summary.address {
            Some(address) if !resource.summary.superseded => resources.push((address.clone(), resource)),
            _ => live.superseded.push(resource),
        }
    }
    live.resources = resources.into_iter().collect();
    let differing: BTreeMap<&Address, &Wanted> =
        desired.resources.iter().filter(|(a, w)| !is_equal(w, live.resources.get(a))).collect();
    let absent: Vec<&Wanted> =
        differing.values().copied().filter(|w| live.resources.get(&w.address).is_none_or(is_gone)).collect();
    let unwanted: Vec<&LiveResource> =
        live.resources.iter().filter(|(a, _)| !desired.resources.contains_key(a)).map(|(_, r)| r).collect();

    let present = differing.keys().filter_map(|a| live.resources.get(a)).filter(|r| !is_gone(r));
    let along = desired
        .resources
        .iter()
        .filter(|(a, w)| !differing.contains_key(a) && plan::may_be_replaced_along(w, |to| differing.contains_key(to)));
    let along = along.filter_map(|(a, _)| live.resources.get(a));
    let bodies = present.chain(along).chain(unwanted.iter().copied());
    let bodies: Vec<String> = bodies.map(|r| r.summary.id.clone()).collect();
    let replaceable = differing.keys().filter_map(|a| live.resources.get(a)).filter(|r| may_be_replaced(r));
    // Who follows what gets a new version is told too.
    let published = differing.keys().filter_map(|a| live.resources.get(a)).filter(|r| has_versions(r));
    let going = unwanted.iter().copied().chain(&live.superseded).chain(replaceable).chain(published);
    let going: BTreeSet<String> = going.map(|r| r.summary.id.clone()).collect();
    let going: Vec<String> = going.into_iter().collect();
    let to_adopt: Vec<String> = to_adopt(desired, live);
    let mut asked: Vec<Address> = absent.iter().map(|w| w.address.clone()).collect();
    if desired.removed.iter().any(|(line, _)| line.to.is_some()) {
        // Whoever is to get it may have something there.
        asked.extend(unwanted.iter().filter_map(|r| r.summary.address.clone()));
    }
    let named: Vec<&Wanted> = absent.iter().copied().chain(renamed(&differing, live)).collect();
    let wanted = differing.values().flat_map(|w| w.refs.iter().cloned());
    let pinned = pins(wanted, live);
    let blobs: BTreeSet<Digest> = differing.values().flat_map(|w| files(w)).collect();
    let blobs: Vec<Digest> = blobs.into_iter().collect();
    // None of these needs the answer of another: over a network they take the time of one.
    let (same_name, versions, referrers, missing, found, ()) = tokio::try_join!(
        same_name(ask, &named),
        ask.resolve(&pinned),
        ask.referrers(&going),
        ask.missing(&blobs),
        elsewhere(ask, desired, &asked, &to_adopt),
        async { if bodies.is_empty() && absent.is_empty() { Ok(()) } else { put_bodies(ask, &bodies, live).await } },
    )?;
    (live.taken_names, live.same_name) = same_name;
    found.put_into(live);
    let gone_on = gone_on(desired, live);
    elsewhere(ask, desired, &[], &gone_on).await?.put_into(live);
    live.resolved.extend(resolved(&pinned, versions));
    let undid = live.record.as_ref().is_some_and(|r| !r.undone.is_empty());
    if undid || desired.accept.iter().any(|line| line.take == Take::Live) {
        // A pin on what is not made stays as it was applied.
        let stay = pins(differing.keys().filter_map(|a| live.resources.get(a)).flat_map(applied_refs), live);
        live.resolved.extend(resolved(&stay, ask.resolve(&stay).await?));
        if undid {
            live.undid = undone::undid(ask, differing.keys().copied(), live).await?;
        }
    }
    for referrer in referrers {
        live.referrers.entry(referrer.to.clone()).or_default().push(referrer);
    }
    let missing: BTreeSet<Digest> = missing.into_iter().collect();
    live.held_blobs = blobs.into_iter().filter(|b| !missing.contains(b)).collect();
    Ok(())
}

fn workspace(owner: &OwnerState) -> Workspace {
    Workspace { id: owner.workspace_id.clone(), epoch: owner.epoch.clone() }
}

/// The owner's record; one that was never changed is none.
fn record(owner: OwnerState) -> Option<OwnerRecord> {
    let none = owner.seq == 0 && owner.policy.is_none() && owner.source.is_none() && owner.undone.is_empty();
    (!none).then_some(OwnerRecord { policy: owner.policy, source: owner.source, undone: owner.undone, seq: owner.seq })
}

fn is_equal(wanted: &Wanted, live: Option<&LiveResource>) -> bool {
    let digest = Some(wanted.digest());
    let equal = |l: &LiveResource| l.summary.live_digest == digest && l.summary.applied_digest == digest;
    live.is_some_and(equal) && !wanted.has_seeds()
}

fn is_gone(live: &LiveResource) -> bool {
    live.summary.gone.is_some() || live.summary.live_digest.is_none()
}

/// What `adopt:` lines name and is not where they want it.
fn to_adopt(desired: &Desired, live: &Live) -> Vec<String> {
    let done = |line: &&crate::model::config::Adopt| {
        live.resources.get(&line.address).is_some_and(|r| r.summary.id == line.id)
    };
    let ids: BTreeSet<String> = desired.adopt.iter().filter(|l| !done(l)).map(|l| l.id.clone()).collect();
    ids.into_iter().collect()
}

/// What was last at an address where nothing is, is wanted there or was referred to there, and is not known yet: it may
/// be live under another owner.
fn gone_on(desired: &Desired, live: &Live) -> Vec<String> {
    let mine: BTreeSet<&String> = live.resources.values().map(|r| &r.summary.id).collect();
    let absent = |a: &&Address| live.resources.get(*a).is_none_or(is_gone);
    let empty: Vec<&Address> = live.retired.keys().filter(absent).collect();
    if empty.is_empty() {
        return Vec::new();
    }
    let bodies = live.resources.values().filter_map(|r| Some((r, r.body.as_ref()?)));
    let refs = bodies.flat_map(|(r, body)| (kinds::def(r.summary.kind).refs)(&body.applied.spec));
    let referred: BTreeSet<Address> = refs
        .filter_map(|r| match r.target {
            Target::Own(address) => Some(address),
            _ => None,
        })
        .collect();
    let asked = empty.into_iter().filter(|a| desired.resources.contains_key(*a) || referred.contains(*a));
    let last = asked.filter_map(|address| live.retired.get(address));
    last.filter(|id| !mine.contains(id) && !live.elsewhere.contains_key(*id)).cloned().collect()
}

/// Is it of a kind whose content others follow?
fn has_versions(live: &LiveResource) -> bool {
    let def = kinds::def(live.summary.kind);
    !is_gone(live) && (def.field("content").is_some() || def.field("contents").is_some())
}

/// May a change need a new resource in its place, and others refer to the old one?
fn may_be_replaced(live: &LiveResource) -> bool {
    let def = kinds::def(live.summary.kind);
    !is_gone(live) && def.comes_back && def.field("mount_path").is_none()
}

async fn put_bodies<C: ControlPlane>(ask: &Ask<'_, C>, ids: &[String], live: &mut Live) -> Result<(), ControlError> {
    let mut by_id: BTreeMap<String, Address> =
        live.resources.iter().map(|(address, r)| (r.summary.id.clone(), address.clone())).collect();
    ask.bodies(ids, |loaded| {
        live.retired.extend(loaded.retired);
        live.successors.extend(loaded.refs.superseded.clone());
        for body in loaded.bodies {
            let Some(address) = by_id.remove(&body.id) else { continue };
            let body = live_body(address.kind, body, &loaded.refs);
            if let Some(resource) = live.resources.get_mut(&address) {
                resource.body = Some(body);
            }
        }
    })
    .await
}

/// What is live under another name, of kinds whose names are unique.
fn renamed<'w>(differing: &BTreeMap<&Address, &'w Wanted>, live: &Live) -> Vec<&'w Wanted> {
    let unique = differing.values().copied().filter(|w| kinds::def(w.address.kind).unique_name);
    unique
        .filter(|w| {
            let now = live.resources.get(&w.address).filter(|r| !is_gone(r));
            now.is_some_and(|r| shown_name(w).is_some_and(|name| name != r.summary.name))
        })
        .collect()
}

/// Others' resources of the kind and shown name of one that takes that name: first where names are unique, whoever
/// has it, then what nobody owns.
async fn same_name<C: ControlPlane>(
    ask: &Ask<'_, C>,
    absent: &[&Wanted],
) -> Result<(Vec<Summary>, Vec<Summary>), ControlError> {
    let names: BTreeSet<(crate::model::Kind, String)> =
        absent.iter().filter_map(|w| Some((w.address.kind, shown_name(w)?))).collect();
    let texts: BTreeSet<String> = names.iter().map(|(_, name)| name.clone()).collect();
    let texts: Vec<String> = texts.into_iter().collect();
    let mut found = ask.unowned(&texts).await?;
    found.retain(|s| names.contains(&(s.kind, s.name.clone())) && s.owner.as_ref() != Some(ask.me));
    Ok(found.into_iter().partition(|s| kinds::def(s.kind).unique_name))
}

/// The name that people see, for kinds that have one.
fn shown_name(wanted: &Wanted) -> Option<String> {
    let text = |field: &str| wanted.spec.get(field).and_then(serde_json::Value::as_str);
    text("display_name").or_else(|| text("name")).map(str::to_owned)
}

fn files(wanted: &Wanted) -> impl Iterator<Item = Digest> + '_ {
    let content = wanted.content.iter().flat_map(|(set, _)| set.entries.iter().map(|e| e.sha256));
    content.chain(wanted.memories.values().map(|f| f.sha256))
}

/// What only the workspace can say: resources that this project does not declare, and its version numbers.
fn wants(desired: &Desired) -> Vec<Want> {
    let mut wants = BTreeMap::new();
    for r in desired.resources.values().flat_map(|w| &w.refs) {
        let (content, number) = match r.selector {
            Selector::Content(content) => (Some(content), None),
            Selector::Number(number) => (None, Some(number)),
            _ => (None, None),
        };
        if number.is_none() && matches!(r.target, Target::Own(_)) {
            continue;
        }
        let key = r.target.key();
        wants.insert((key.clone(), content, number), Want { key, content, number });
    }
    wants.into_values().collect()
}

/// Pins on an own version that is not the newest one: an older one, or one that the plan is to publish.
fn pins(refs: impl Iterator<Item = Ref>, live: &Live) -> Vec<Want> {
    let mut wants = BTreeMap::new();
    for r in refs {
        let (Target::Own(address), Selector::Content(content)) = (&r.target, &r.selector) else { continue };
        if live.resources.get(address).is_some_and(|l| l.summary.content != Some(*content)) {
            let key = r.target.key();
            wants.insert((key.clone(), *content), Want { key, content: Some(*content), number: None });
        }
    }
    wants.into_values().collect()
}

/// What a resource refers to as it was applied.
fn applied_refs(live: &LiveResource) -> Vec<Ref> {
    let applied = |body: &LiveBody| (kinds::def(live.summary.kind).refs)(&body.applied.spec);
    live.body.as_ref().map(applied).unwrap_or_default()
}

/// By key, by `KEY#NUMBER` and by `KEY@DIGEST`. One key may be wanted with several contents; the plain key has
/// the first, or the one that is wanted without.
fn resolved(wants: &[Want], answers: Vec<Resolved>) -> BTreeMap<String, Resolved> {
    let mut out = BTreeMap::new();
    for (want, answer) in wants.iter().zip(answers) {
        let key = match (want.number, want.content) {
            (Some(number), _) => format!("{}#{number}", want.key),
            (None, Some(content)) => {
                out.entry(want.key.clone()).or_insert_with(|| answer.clone());
                format!("{}@{content}", want.key)
            }
            (None, None) => want.key.clone(),
        };
        out.insert(key, answer);
    }
    out
}

/// Is a reference that holds today still one that can be made?
fn still_there(found: &Resolved) -> bool {
    found.id.is_some() && !found.archived
}
