//! What planning reads: the owner's digest first, then summaries, then bodies only where digests differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::control::embedded::error::{Result, invalid};
use crate::control::embedded::{digests, memories, paging, wire};
use crate::live;
use crate::model::kinds::{Refs, is_unowned};
use crate::model::op::{
    Beside, Fact, Find, IdList, Loaded, LoadedBody, Moved, OwnerState, Page, Referrer, Resolve, Resolved, Summaries,
    Summary, Want,
};
use crate::model::{Address, Digest, Kind, Owner};
use crate::store::resource::{self, Resource, State};
use crate::store::{Conn, Identity, apply, document, fact, memory, owner as owners, reference, version};

/// Most summaries of a page.
const PAGE: u32 = 1_000;

/// The digest over what an owner has.
pub(super) fn owner_digest(conn: &Conn, owner: &Owner) -> Result<Digest> {
    let rows = resource::digest_rows(conn, owner)?;
    Ok(live::owner_digest(
        rows.iter().map(|(address, live, applied, protected)| (address, *live, *applied, *protected)),
    ))
}

/// `authoring.owner`.
pub(super) fn owner(conn: &Conn, identity: &Identity, owner: &Owner) -> Result<OwnerState> {
    let record = owners::get(conn, owner)?.unwrap_or_default();
    let digest = match record.digest {
        Some(digest) => digest,
        None => owner_digest(conn, owner)?,
    };
    Ok(OwnerState {
        workspace_id: identity.id.clone(),
        epoch: identity.epoch.clone(),
        digest,
        count: resource::count_of(conn, owner)?,
        policy: record.policy,
        source: record.source,
        undone: record.undone,
        seq: record.seq,
        open_apply: apply::open_of(conn, owner)?,
        beside: beside(conn, owner)?,
    })
}

/// Memories of an owner's stores that are not of what it applied. A store whose digests differ is read by whoever
/// plans, so it is left out, and so is what is ignored.
fn beside(conn: &Conn, owner: &Owner) -> Result<BTreeMap<Address, Beside>> {
    let mut out = BTreeMap::new();
    for r in resource::of_owner(conn, owner, Some(Kind::MemoryStore), "", u32::MAX)? {
        let as_applied = r.live_digest.is_some() && r.live_digest == r.applied_digest && !r.superseded;
        let (Some(address), Some(applied), true) = (&r.address, digests::applied(conn, &r)?, as_applied) else {
            continue;
        };
        let files = digests::contents_of(&applied.spec);
        // All that is owned of what was applied is live, so equal numbers are the same paths.
        let all_owned = !r.unowned.iter().any(|path| path.starts_with("contents"));
        if all_owned && memory::count(conn, &r.id)? == files.len() as u64 {
            continue;
        }
        let mut beside = memories::infos(conn, &r.id)?;
        beside.retain(|m| !files.contains_key(&m.path) && !is_unowned(&r.unowned, &format!("contents.{}", m.path)));
        if let Some(beside) = Beside::of(beside) {
            out.insert(address.clone(), beside);
        }
    }
    Ok(out)
}

/// `authoring.summaries`.
pub(super) fn summaries(conn: &Conn, request: &Summaries) -> Result<Page<Summary>> {
    let limit = paging::limit(request.limit, PAGE, PAGE)?;
    let after = request.page.as_deref().map(paging::key).transpose()?.unwrap_or_default();
    let mut rows = match &request.owner {
        Some(owner) => resource::of_owner(conn, owner, request.kind, &after, limit + 1)?,
        None if request.names.is_empty() => resource::all_unowned(conn, request.kind, &after, limit + 1)?,
        None => resource::unowned(conn, request.kind, &request.names, &after, limit + 1)?,
    };
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_page = rows.last().filter(|_| more).map(|r| paging::cursor(&r.id));
    let data = rows.into_iter().map(|r| summary(conn, r)).collect::<Result<_>>()?;
    Ok(Page { data, next_page })
}

/// `authoring.find`.
pub(super) fn found(conn: &Conn, request: &Find) -> Result<Page<Summary>> {
    let Find { me, addresses, ids } = request;
    let asked = addresses.len() + ids.len();
    if asked > Find::MOST {
        return Err(invalid(format!("at most {} addresses and ids are looked for at once, not {asked}", Find::MOST)));
    }
    let mut data = Vec::new();
    for r in resource::found(conn, me, addresses, ids)? {
        let since = if r.owner.is_some() { fact::get(conn, r.since)? } else { None };
        let mut summary = summary(conn, r)?;
        summary.since = since.map(|f| moved_of(f, Vec::new()));
        data.push(summary);
    }
    Ok(Page { data, next_page: None })
}

fn summary(conn: &Conn, r: Resource) -> Result<Summary> {
    let gone = match r.gone {
        Some(seq) => fact::get(conn, seq)?.map(|f| moved_of(f, Vec::new())),
        None => None,
    };
    let has_content = matches!(r.kind, Kind::Skill | Kind::FileTree);
    Ok(Summary {
        seq: r.seq,
        id: r.id,
        kind: r.kind,
        owner: r.owner,
        address: r.address,
        name: r.name,
        version: r.version,
        protected: r.protected,
        live_digest: r.live_digest,
        applied_digest: r.applied_digest,
        superseded: r.superseded,
        offered: r.offered,
        offered_at: r.offered_at,
        since: None,
        gone,
        content: r.content.filter(|_| has_content),
        content_version: r.content_version.filter(|_| has_content || r.kind == Kind::MemoryStore),
    })
}

/// `authoring.bodies`.
pub(super) fn bodies(conn: &Conn, request: &IdList) -> Result<Loaded> {
    let mut refs = Refs { me: request.me.clone(), ..Refs::default() };
    let mut bodies = Vec::with_capacity(request.ids.len());
    for id in &request.ids {
        let Some(r) = resource::get(conn, id)? else { continue };
        if r.state == State::Deleted && r.gone.is_none() {
            continue;
        }
        bodies.push(body(conn, &r, &mut refs)?);
    }
    let retired: BTreeMap<Address, String> = match &request.me {
        Some(me) => resource::retired(conn, me)?.into_iter().collect(),
        None => BTreeMap::new(),
    };
    Ok(Loaded { bodies, refs, retired })
}

fn body(conn: &Conn, r: &Resource, refs: &mut Refs) -> Result<LoadedBody> {
    let stored = digests::body(conn, r)?;
    digests::add_refs(conn, r.kind, &stored, refs)?;
    let full = digests::full_body(conn, r, stored)?;
    let entries = match (r.kind, r.content) {
        (Kind::Skill | Kind::FileTree, Some(content)) => document::entries(conn, content)?,
        _ => Vec::new(),
    };
    let memories = match r.kind {
        Kind::MemoryStore => memories::infos(conn, &r.id)?,
        _ => Vec::new(),
    };
    Ok(LoadedBody {
        id: r.id.clone(),
        body: wire::rendered(r, Value::Object(full)),
        applied: digests::applied(conn, r)?,
        moved: moved(conn, r)?,
        entries,
        memories,
    })
}

/// Outside writes whose fields the owner has not written since, newest last.
fn moved(conn: &Conn, r: &Resource) -> Result<Vec<Moved>> {
    let Some(owner) = &r.owner else { return Ok(Vec::new()) };
    if r.live_digest.is_some() && r.live_digest == r.applied_digest {
        return Ok(Vec::new());
    }
    // What moved under a former owner, and is held, came with it: then who wrote what is read from the beginning.
    let given = fact::get(conn, r.since)?.is_some_and(|f| is_given(&f));
    let (from, mut owner) = if given { (0, None) } else { (r.since, Some(owner.clone())) };
    let mut out: Vec<(Fact, BTreeSet<String>)> = Vec::new();
    for f in fact::about(conn, &r.id, from)? {
        if begins(&f) {
            out.clear();
            owner.clone_from(&f.owner);
        } else if f.operation == "authoring.release" {
            owner = None;
        }
        let next = f.to_owner.clone().filter(|_| is_given(&f));
        let fields: BTreeSet<String> = f.fields.iter().cloned().collect();
        if owner.is_some() && f.owner == owner {
            // What the owner wrote after is not moved any more; no fields = it wrote all.
            let before = |had: &String| fields.is_empty() || fields.contains(had);
            out.retain_mut(|(_, left)| {
                let had = left.len();
                left.retain(|field| !before(field));
                if had == 0 { !fields.is_empty() } else { !left.is_empty() }
            });
        } else if fields.is_empty() || !fields.iter().all(|field| is_apart(field)) {
            out.push((f, fields));
        }
        owner = next.or(owner);
    }
    Ok(out.into_iter().map(|(f, fields)| moved_of(f, fields.into_iter().collect())).collect())
}

/// Did it give a resource to another owner, or offer it?
fn is_given(fact: &Fact) -> bool {
    matches!(fact.operation.as_str(), "authoring.transfer" | "authoring.hand_over")
}

/// Was it made, or claimed?
fn begins(fact: &Fact) -> bool {
    fact.operation == "authoring.claim" || fact.operation.ends_with(".create")
}

/// Is it no canonical field: ownership, or an old version of a memory?
fn is_apart(field: &str) -> bool {
    field == "authoring" || field.starts_with("memory_versions.")
}

fn moved_of(f: Fact, fields: Vec<String>) -> Moved {
    Moved { fields, actor: f.actor, at: f.at, operation: f.operation, break_glass: f.break_glass }
}

/// `authoring.resolve`.
pub(super) fn resolve(conn: &Conn, request: &Resolve) -> Result<Vec<Resolved>> {
    request.wants.iter().map(|want| resolve_one(conn, &request.me, want)).collect()
}

fn resolve_one(conn: &Conn, me: &Owner, want: &Want) -> Result<Resolved> {
    let mut out = Resolved { key: want.key.clone(), ..Resolved::default() };
    let Some(r) = find(conn, me, &want.key)? else { return Ok(out) };
    out.id = Some(r.id.clone());
    out.kind = Some(r.kind);
    out.archived = r.state != State::Live;
    out.newest = r.content;
    let found = match (want.content, want.number) {
        (Some(content), _) => version::by_content(conn, &r.id, content)?,
        (None, Some(number)) => version::by_number(conn, &r.id, number)?,
        (None, None) => None,
    };
    if r.kind == Kind::MemoryStore {
        out.store_owner = Some(store_owner(conn, &r)?);
    }
    if let Some(v) = found {
        out.version = Some(v.id);
        out.content = Some(v.digest);
    }
    Ok(out)
}

/// What kind of holder a store belongs to.
pub(super) fn store_owner(conn: &Conn, store: &Resource) -> Result<String> {
    let body = digests::body(conn, store)?;
    let kind = body.get("owner").and_then(|o| o.get("kind")).and_then(Value::as_str);
    Ok(kind.unwrap_or("workspace").to_owned())
}

/// By `Kind/name` (of `me`), `owner:Kind/name`, or id.
fn find(conn: &Conn, me: &Owner, key: &str) -> Result<Option<Resource>> {
    let (owner, address) = match key.rsplit_once(':') {
        Some((owner, address)) => (owner.parse().ok(), address.parse().ok()),
        None => (Some(me.clone()), key.parse().ok()),
    };
    match (owner, address) {
        (Some(owner), Some(address)) => at(conn, &owner, &address),
        _ => Ok(resource::get(conn, key)?.filter(|r| r.state != State::Deleted)),
    }
}

/// What an address of an owner means: what is there, or is offered to be there; else what its owner retired there,
/// which tells why nothing is.
fn at(conn: &Conn, owner: &Owner, address: &Address) -> Result<Option<Resource>> {
    if let Some(r) = resource::at_address(conn, owner, address)? {
        return Ok(Some(r));
    }
    if let Some(first) = resource::offered_at(conn, owner, address)?.first() {
        return Ok(resource::get(conn, first)?);
    }
    match resource::retired_at(conn, owner, address)? {
        Some(id) => Ok(resource::get(conn, &id)?.filter(|r| r.state != State::Live)),
        None => Ok(None),
    }
}

/// `authoring.referrers`.
pub(super) fn referrers(conn: &Conn, request: &IdList) -> Result<Vec<Referrer>> {
    let mut out = Vec::new();
    for to in &request.ids {
        for (from, follows) in reference::to(conn, to)? {
            let Some(r) = resource::get(conn, &from)? else { continue };
            out.push(Referrer {
                to: to.clone(),
                id: r.id,
                kind: r.kind,
                // What is offered reads as its new owner's at once.
                owner: r.offered.or(r.owner),
                address: r.offered_at.or(r.address),
                name: r.name,
                follows,
            });
        }
    }
    Ok(out)
}
