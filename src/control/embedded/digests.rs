//! Canonical forms and the digests that say in one word whether a resource is as applied.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::control::embedded::error::Result;
use crate::model::kinds::{Applied, List, Object, Refs, def, owned_digest};
use crate::model::{Address, Digest, Kind, Owner};
use crate::store::resource::{Resource, State};
use crate::store::{Conn, document, memory, owner, reference, resource, version};

/// The stored wire body of a resource.
pub(super) fn body(conn: &Conn, r: &Resource) -> Result<Object> {
    match document::get(conn, r.body)? {
        Value::Object(map) => Ok(map),
        _ => Ok(Map::new()),
    }
}

/// The wire body with `content` or `contents` put in, as `from_wire` takes it.
pub(super) fn full_body(conn: &Conn, r: &Resource, mut body: Object) -> Result<Object> {
    match r.kind {
        Kind::Skill | Kind::FileTree => {
            if let Some(content) = r.content {
                body.insert("content".to_owned(), json!(content));
            }
        }
        Kind::MemoryStore => {
            let files = memory::contents(conn, &r.id)?;
            let files: Map<_, _> = files.into_iter().map(|(path, sha)| (path, json!(sha))).collect();
            body.insert("contents".to_owned(), Value::Object(files));
        }
        _ => {}
    }
    Ok(body)
}

/// Adds what the ids of a body mean.
pub(super) fn add_refs(conn: &Conn, kind: Kind, body: &Object, refs: &mut Refs) -> Result<()> {
    for r in (def(kind).wire_refs)(body) {
        if !refs.resources.contains_key(&r.id)
            && let Some((owner, address, replaced)) = address_of(conn, &r.id)?
        {
            // What was replaced has no address of its own: who refers to it still has to move.
            let known = if replaced { &mut refs.superseded } else { &mut refs.resources };
            known.insert(r.id.clone(), (owner, address));
        }
        let Some(wanted) = &r.version else { continue };
        if r.kind == Kind::Skill {
            if let Some(v) = version::by_id(conn, wanted)? {
                refs.contents.insert(wanted.clone(), v.digest);
            }
        } else if let Ok(number) = wanted.parse()
            && let Some(v) = version::by_number(conn, &r.id, number)?
        {
            refs.contents.insert(format!("{}#{number}", r.id), v.digest);
        }
    }
    Ok(())
}

/// Owner and address of an id, and whether another resource took its place there. What its owner retired reads as
/// the address that it had: who refers to it did not move, and is told when planning.
fn address_of(conn: &Conn, id: &str) -> Result<Option<(Owner, Address, bool)>> {
    match resource::get(conn, id)? {
        // What is offered reads as what it is to become, unless something else is there.
        Some(Resource { offered: Some(owner), offered_at: Some(address), .. }) => {
            let second = resource::offered_at(conn, &owner, &address)?.first().is_some_and(|first| first != id);
            let replaced = second || resource::at_address(conn, &owner, &address)?.is_some();
            Ok(Some((owner, address, replaced)))
        }
        Some(Resource { owner: Some(owner), address: Some(address), superseded, .. }) => {
            Ok(Some((owner, address, superseded)))
        }
        Some(r) if r.state != State::Live => {
            let Some((owner, address)) = resource::left(conn, id)? else { return Ok(None) };
            let replaced = resource::at_address(conn, &owner, &address)?.is_some();
            Ok(Some((owner, address, replaced)))
        }
        _ => Ok(None),
    }
}

/// The canonical form of what is live, in the view of `me`.
pub(super) fn canonical(
    conn: &Conn,
    r: &Resource,
    body: Object,
    me: Option<&Owner>,
    applied: Option<&Value>,
) -> Result<Value> {
    let body = full_body(conn, r, body)?;
    let mut refs = Refs { me: me.cloned(), ..Refs::default() };
    add_refs(conn, r.kind, &body, &mut refs)?;
    Ok((def(r.kind).from_wire)(&Value::Object(body), &refs, applied))
}

/// What its owner last applied.
pub(super) fn applied(conn: &Conn, r: &Resource) -> Result<Option<Applied>> {
    let Some(spec) = r.applied else { return Ok(None) };
    Ok(Some(Applied { spec: Arc::new(document::get(conn, spec)?), unowned: r.unowned.clone() }))
}

/// Sets what is applied, digest too.
pub(super) fn set_applied(conn: &Conn, r: &mut Resource, applied: &Applied) -> Result<()> {
    r.applied = Some(document::put(conn, &applied.spec)?);
    r.unowned.clone_from(&applied.unowned);
    r.applied_digest = Some(applied.digest(r.kind));
    Ok(())
}

/// The `contents` of a canonical memory store; empty for any other form.
pub(super) fn contents_of(spec: &Value) -> Object {
    spec.get("contents").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Sets the `contents` of a canonical form; none where they are empty, as canonical forms have it.
pub(super) fn set_contents(spec: &mut Arc<Value>, contents: Object) {
    match Arc::make_mut(spec) {
        Value::Object(map) if contents.is_empty() => drop(map.remove("contents")),
        Value::Object(map) => drop(map.insert("contents".to_owned(), Value::Object(contents))),
        _ => {}
    }
}

/// Forgets owner, address and what was applied.
pub(super) fn clear_authoring(r: &mut Resource) {
    r.owner = None;
    r.address = None;
    r.protected = false;
    r.superseded = false;
    r.applied = None;
    r.unowned.clear();
    r.applied_digest = None;
    r.live_digest = None;
    r.gone = None;
    r.offered = None;
    r.offered_at = None;
}

/// Writes a resource with the digest of what is live now, and lets go of the kept owner digest.
pub(super) fn save(conn: &Conn, r: &mut Resource, body: Object) -> Result<()> {
    let applied = applied(conn, r)?;
    save_with(conn, r, body, applied.as_ref())
}

/// As [`save`], where what is applied is at hand.
pub(super) fn save_with(conn: &Conn, r: &mut Resource, body: Object, applied: Option<&Applied>) -> Result<()> {
    r.live_digest = live_digest(conn, r, body, applied)?;
    resource::put(conn, r)?;
    if let Some(owner) = &r.owner {
        owner::forget_digest(conn, owner)?;
    }
    Ok(())
}

fn live_digest(conn: &Conn, r: &Resource, body: Object, applied: Option<&Applied>) -> Result<Option<Digest>> {
    if r.owner.is_none() || r.state != State::Live {
        return Ok(None);
    }
    let none = Applied::default();
    let applied = applied.unwrap_or(&none);
    let canonical = canonical(conn, r, body, r.owner.as_ref(), Some(&applied.spec))?;
    if canonical == *applied.spec {
        return Ok(r.applied_digest);
    }
    Ok(Some(owned_digest(r.kind, &canonical, applied)))
}

/// Owner or address of a resource changed, so what refers to it reads otherwise now.
pub(super) fn refresh_referrers(conn: &Conn, id: &str) -> Result<()> {
    for (from, _) in reference::to(conn, id)? {
        let Some(r) = resource::get(conn, &from)? else { continue };
        let Some(owner) = &r.owner else { continue };
        let body = body(conn, &r)?;
        if let Some(digest) = live_digest(conn, &r, body, applied(conn, &r)?.as_ref())?
            && r.live_digest != Some(digest)
        {
            resource::set_live_digest(conn, &from, digest)?;
            owner::forget_digest(conn, owner)?;
        }
    }
    Ok(())
}

/// A resource got its address, or one that it is offered for, or left it: what refers to the one that left it before, or
/// is offered for it too, reads otherwise now.
pub(super) fn refresh_before(conn: &Conn, r: &Resource) -> Result<()> {
    for (owner, address) in [(&r.owner, &r.address), (&r.offered, &r.offered_at)] {
        let (Some(owner), Some(address)) = (owner, address) else { continue };
        let offered = resource::offered_at(conn, owner, address)?;
        for other in resource::retired_at(conn, owner, address)?.into_iter().chain(offered) {
            if other != r.id {
                refresh_referrers(conn, &other)?;
            }
        }
    }
    Ok(())
}

/// Canonical fields in which two canonical forms differ: `instructions`, `labels.team`, `contents./a.md`.
pub(super) fn changed_fields(kind: Kind, before: &Value, after: &Value) -> Vec<String> {
    let empty = Map::new();
    let (before, after) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let mut out = Vec::new();
    for name in keys(before, after) {
        let (old, new) = (before.get(name), after.get(name));
        if old == new {
            continue;
        }
        if def(kind).field(name).is_some_and(|f| f.list == List::PerKey) {
            let (old, new) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
            let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
            out.extend(keys(old, new).filter(|k| old.get(*k) != new.get(*k)).map(|k| format!("{name}.{k}")));
        } else {
            out.push(name.clone());
        }
    }
    out.sort();
    out
}

fn keys<'a>(a: &'a Object, b: &'a Object) -> impl Iterator<Item = &'a String> {
    a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)))
}
