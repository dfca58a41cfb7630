//! What files change against an earlier state of them, with nothing live: the earlier state stands for a workspace in
//! which it was applied, and nothing moved since. No credential is needed for that.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::desired::{Desired, Wanted};
use crate::live::{Live, LiveBody, LiveResource, OwnerRecord, Workspace};
use crate::model::Address;
use crate::model::config::Adopt;
use crate::model::kinds::{self, Ref, Selector, Target};
use crate::model::op::{ActorKind, MemoryInfo, Resolved, Summary};
use crate::plan::{self, Options, Plan, digest};

/// The format name of what [`since`] gives: no command applies it.
pub const DIFF_FORMAT: &str = "checkfu.diff/v1";

/// The plan that takes a workspace from `base` to `head`. The policy that judges it is that of `base`, beside the one
/// of `head`. `accept:` lines, which are about what moved live, decide nothing here; whatever else needs an answer of a
/// workspace (resources of others, versions by number) is taken to be there.
pub fn since(base: &Desired, head: &Desired, options: &Options) -> Plan {
    let (base, wanted) = (without_numbers(base), without_numbers(head));
    let wanted = Desired {
        moved: new_lines(&base.moved, &wanted.moved),
        adopt: new_lines(&base.adopt, &wanted.adopt),
        accept: Vec::new(),
        removed: wanted
            .removed
            .iter()
            .filter(|line| !base.removed.contains(line) || names_one(&base, line))
            .cloned()
            .collect(),
        ..wanted.into_owned()
    };
    let live = live(&base, &wanted, options);
    let options = Options { limits: Some(base.policy.clone()), ..options.clone() };
    let mut plan = plan::plan(&wanted, &live, &options);
    DIFF_FORMAT.clone_into(&mut plan.format);
    plan.digest = digest(&plan);
    plan
}

/// Which addresses the two declare otherwise; those of one alone among them.
pub fn changed(base: &Desired, head: &Desired) -> BTreeSet<Address> {
    let differs = |address: &&Address| match (base.resources.get(*address), head.resources.get(*address)) {
        (Some(a), Some(b)) => a.digest() != b.digest() || a.protected != b.protected || a.unowned != b.unowned,
        _ => true,
    };
    base.resources.keys().chain(head.resources.keys()).filter(differs).cloned().collect()
}

fn new_lines<T: PartialEq + Clone>(base: &[T], head: &[T]) -> Vec<T> {
    head.iter().filter(|line| !base.contains(line)).cloned().collect()
}

/// Does a `removed:` line name something that the base still has?
fn names_one(base: &Desired, line: &(crate::model::config::Removed, Option<crate::diag::Location>)) -> bool {
    let pattern = plan::scope::Pattern::new(&line.0.address);
    base.resources.keys().any(|address| pattern.matches(&address.to_string()))
}

/// Only a workspace says which content a version number is: here the number itself is compared.
fn without_numbers(desired: &Desired) -> Cow<'_, Desired> {
    let numbered = |r: &Ref| matches!(r.selector, Selector::Number(_));
    if !desired.resources.values().any(|w| w.refs.iter().any(numbered)) {
        return Cow::Borrowed(desired);
    }
    let mut plain = desired.clone();
    for r in plain.resources.values_mut().flat_map(|w| &mut w.refs).filter(|r| numbered(r)) {
        r.selector = Selector::None;
    }
    Cow::Owned(plain)
}

fn live(base: &Desired, head: &Desired, options: &Options) -> Live {
    let workspace = options.origin.workspace.clone().zip(options.origin.epoch.clone());
    Live {
        workspace: workspace.map(|(id, epoch)| Workspace { id, epoch }),
        record: Some(OwnerRecord { policy: Some(base.policy.clone()), source: None, undone: BTreeMap::new(), seq: 1 }),
        resources: base.resources.iter().map(|(a, w)| (a.clone(), resource(w, &head.owner))).collect(),
        resolved: base
            .resources
            .values()
            .chain(head.resources.values())
            .flat_map(|w| &w.refs)
            .flat_map(|r| resolved(r, head))
            .collect(),
        elsewhere: head.adopt.iter().filter_map(|line| Some((line.id.clone(), adopted(line, head)?))).collect(),
        held_blobs: base.resources.values().flat_map(blobs).collect(),
        ..Live::default()
    }
}

fn blobs(wanted: &Wanted) -> impl Iterator<Item = crate::model::Digest> + '_ {
    let content = wanted.content.iter().flat_map(|(set, _)| set.entries.iter().map(|e| e.sha256));
    content.chain(wanted.memories.values().map(|m| m.sha256))
}

/// An id that is as good as one of a workspace.
fn id_of(address: &Address) -> String {
    format!("{}{}", kinds::def(address.kind).id_prefix, address.name)
}

/// A resource as its apply leaves it.
fn resource(wanted: &Wanted, me: &crate::model::Owner) -> LiveResource {
    let text = |field: &str| wanted.spec.get(field).and_then(serde_json::Value::as_str);
    let name = text("display_name").or_else(|| text("name")).unwrap_or(&wanted.address.name);
    let digest = Some(wanted.digest());
    let summary = Summary {
        id: id_of(&wanted.address),
        kind: wanted.address.kind,
        owner: Some(me.clone()),
        address: Some(wanted.address.clone()),
        name: name.to_owned(),
        version: 1,
        seq: 1,
        protected: wanted.protected,
        live_digest: digest,
        applied_digest: digest,
        superseded: false,
        offered: None,
        offered_at: None,
        since: None,
        gone: None,
        content: wanted.content.as_ref().map(|(set, _)| set.digest),
        content_version: Some("1".to_owned()),
    };
    let memory = |(path, file): (&String, &crate::desired::WantedFile)| MemoryInfo {
        id: path.clone(),
        path: path.clone(),
        content_sha256: file.sha256,
        content_size_bytes: file.size,
        updated_by: me.to_string(),
        updated_by_kind: ActorKind::Api,
        updated_by_owner: Some(me.clone()),
        updated_at: String::new(),
    };
    let body = LiveBody {
        live: wanted.spec.clone(),
        applied: wanted.applied(),
        moved: Vec::new(),
        entries: wanted.content.as_ref().map(|(set, _)| set.entries.clone()).unwrap_or_default(),
        memories: wanted.memories.iter().map(memory).collect(),
    };
    LiveResource { summary, body: Some(body) }
}

/// What a new `adopt:` line takes: as it is declared, since what it is like live is not known.
fn adopted(line: &Adopt, head: &Desired) -> Option<LiveResource> {
    let mut found = resource(head.resources.get(&line.address)?, &head.owner);
    found.summary.id.clone_from(&line.id);
    found.summary.owner.clone_from(&line.from);
    found.summary.address = line.from.is_some().then(|| line.address.clone());
    Some(found)
}

/// What only a workspace could say of a reference; of an own resource only of a version that is not declared.
fn resolved(r: &Ref, head: &Desired) -> Vec<(String, Resolved)> {
    let content = match &r.selector {
        Selector::Content(content) => Some(*content),
        _ => None,
    };
    let (kind, id) = match &r.target {
        Target::Own(address) => {
            let declared = head.resources.get(address).and_then(|w| Some(w.content.as_ref()?.0.digest));
            if content.is_none_or(|c| Some(c) == declared) {
                return Vec::new();
            }
            (address.kind, id_of(address))
        }
        Target::Foreign(_, address) => (address.kind, id_of(address)),
        Target::Id(kind, id) => (*kind, id.clone()),
    };
    let key = r.target.key();
    let found = Resolved {
        key: key.clone(),
        id: Some(id),
        kind: Some(kind),
        archived: false,
        version: content.map(|_| "1".to_owned()),
        content,
        newest: None,
        store_owner: None,
    };
    let by_content = content.map(|content| (format!("{key}@{content}"), found.clone()));
    by_content.into_iter().chain([(key, found)]).collect()
}
