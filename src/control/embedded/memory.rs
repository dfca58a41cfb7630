//! `memories.create`, `update`, `delete`: one memory. By an agent's session it is no authoring, and allowed on
//! stores that have an owner.

use serde_json::json;

use crate::control::ControlError;
use crate::control::embedded::error::{Result, archived, conflict, not_found};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{contents, digests, rights};
use crate::diag::codes::control as codes;
use crate::model::op::{ActorKind, MemoryCreate, MemoryDelete, MemoryUpdate, Response};
use crate::model::{Digest, Kind};
use crate::store::memory::{Memory, Operation};
use crate::store::resource::{Resource, State};
use crate::store::{document, memory};

/// Makes one memory; never overwrites.
pub(super) fn create(tx: &Tx<'_>, request: &MemoryCreate) -> Result<Effect> {
    contents::check_path(&request.path)?;
    contents::check_content(&request.path, request.content.as_bytes())?;
    let mut r = store(tx, &request.id)?;
    live(&r)?;
    if let Some(now) = memory::at(tx.conn, &r.id, &request.path)? {
        return Err(contents::taken(&request.path, &now));
    }
    let (sha256, size) = keep(tx, &request.content)?;
    let made = contents::made(tx, &request.path, sha256, size);
    memory::add(tx.conn, &r.id, r.number + 1, Operation::Created, &made)?;
    contents::check_tree(tx, &r.id, std::iter::once(&request.path))?;
    settle(tx, &mut r)?;
    Ok(effect(&r, made.id, &[&request.path], true))
}

/// Changes one memory, or moves it, or both. Already as asked, it is left as it is, whatever was expected.
pub(super) fn update(tx: &Tx<'_>, request: &MemoryUpdate) -> Result<Effect> {
    if let Some(path) = &request.path {
        contents::check_path(path)?;
    }
    let mut r = store(tx, &request.id)?;
    live(&r)?;
    let now = find(tx, &r.id, &request.memory)?;
    let path = request.path.as_ref().unwrap_or(&now.path);
    if let Some(content) = &request.content {
        contents::check_content(path, content.as_bytes())?;
    }
    let wanted = request.content.as_ref().map_or(now.sha256, |c| Digest::of(c.as_bytes()));
    if wanted == now.sha256 && *path == now.path {
        return Ok(effect(&r, now.id, &[&now.path], false));
    }
    expect(&now, request.expect)?;
    let moves = *path != now.path;
    if moves && let Some(there) = memory::at(tx.conn, &r.id, path)? {
        return Err(contents::taken(path, &there));
    }
    let mut next = contents::rewritten(tx, &now);
    next.path.clone_from(path);
    if let Some(content) = &request.content {
        (next.sha256, next.size) = keep(tx, content)?;
    }
    memory::end(tx.conn, &r.id, &now.path, r.number + 1)?;
    memory::add(tx.conn, &r.id, r.number + 1, Operation::Modified, &next)?;
    if moves {
        contents::check_tree(tx, &r.id, std::iter::once(path))?;
    }
    settle(tx, &mut r)?;
    let fields: &[&str] = if moves { &[&now.path, path] } else { &[path] };
    Ok(effect(&r, next.id, fields, true))
}

/// Deletes one memory; on an archived store too.
pub(super) fn delete(tx: &Tx<'_>, request: &MemoryDelete) -> Result<Effect> {
    let mut r = store(tx, &request.id)?;
    let now = find(tx, &r.id, &request.memory)?;
    expect(&now, request.expect)?;
    contents::remove(tx, &r.id, r.number + 1, &now)?;
    settle(tx, &mut r)?;
    Ok(effect(&r, now.id, &[&now.path], true))
}

fn keep(tx: &Tx<'_>, content: &str) -> Result<(Digest, u64)> {
    let digest = Digest::of(content.as_bytes());
    document::put_blob(tx.conn, digest, content.as_bytes())?;
    Ok((digest, content.len() as u64))
}

fn find(tx: &Tx<'_>, store: &str, id: &str) -> Result<Memory> {
    memory::by_id(tx.conn, store, id)?.ok_or_else(|| not_found(format!("memory {id} in {store}")))
}

fn store(tx: &Tx<'_>, id: &str) -> Result<Resource> {
    let r = rights::find(tx, Some(Kind::MemoryStore), id)?;
    if tx.context.actor_kind != ActorKind::Session {
        rights::right(tx, &r)?;
    }
    Ok(r)
}

fn live(r: &Resource) -> Result<()> {
    if r.state == State::Live { Ok(()) } else { Err(archived(r)) }
}

/// `memory.precondition_failed`, with who wrote what is there.
fn expect(now: &Memory, expect: Option<Digest>) -> Result<()> {
    match expect {
        Some(expect) if expect != now.sha256 => Err(precondition_failed(now)),
        _ => Ok(()),
    }
}

fn precondition_failed(now: &Memory) -> ControlError {
    let message = format!("{} was written by {} at {}", now.path, now.actor, now.at);
    let mut error = conflict("stale", message);
    error.code = codes::MEMORY_PRECONDITION.code;
    error.details["current"] = json!(now.sha256);
    error.details["path"] = json!(now.path);
    error.details["writer"] = json!(now.actor);
    error
}

fn settle(tx: &Tx<'_>, r: &mut Resource) -> Result<()> {
    contents::add_version(tx, r)?;
    let body = digests::body(tx.conn, r)?;
    digests::save(tx.conn, r, body)
}

fn effect(r: &Resource, id: String, paths: &[&str], changed: bool) -> Effect {
    let fields = paths.iter().map(|path| format!("contents.{path}")).collect();
    let mut effect = Effect::of(r, r.content_version.clone(), changed, fields);
    if let Response::Written(written) = &mut effect.response {
        // It is the memory that is answered.
        written.id = id;
    }
    effect
}
