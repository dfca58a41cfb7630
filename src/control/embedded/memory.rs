//! `memories.create`, `update`, `delete`: one memory. By an agent's session it is no authoring, and allowed on
//! stores that have an owner.

use crate::control::embedded::error::{Result, archived, not_found};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{contents, digests, rights};
use crate::model::op::{ActorKind, MemoryCreate, MemoryDelete, MemoryUpdate, Response};
use crate::model::{Digest, Kind};
use crate::store::resource::{Resource, State};
use crate::store::{document, memory};

/// Makes one memory; never overwrites.
pub(super) fn create(tx: &Tx<'_>, request: &MemoryCreate) -> Result<Effect> {
    let mut r = store(tx, &request.id)?;
    contents::check_path(&request.path)?;
    contents::check_content(&request.path, request.content.as_bytes())?;
    if let Some(now) = memory::at(tx.conn, &r.id, &request.path)? {
        return Err(contents::taken(&request.path, &now));
    }
    write(tx, &mut r, &request.path, &request.content)
}

/// Changes one memory, or moves it.
pub(super) fn update(tx: &Tx<'_>, request: &MemoryUpdate) -> Result<Effect> {
    let mut r = store(tx, &request.id)?;
    let now = find(tx, &r.id, &request.memory)?;
    let wanted = request.content.as_ref().map_or(now.sha256, |c| Digest::of(c.as_bytes()));
    let path = request.path.as_ref().unwrap_or(&now.path);
    if wanted == now.sha256 && *path == now.path {
        return Ok(effect(&r, now.id, &now.path, false));
    }
    if let Some(expect) = request.expect {
        contents::expect_content(tx, &r.id, &now.path, Some(expect))?;
    }
    if *path != now.path {
        return contents::rename(tx, &mut r, &now, path, request.content.as_deref()).and_then(|()| {
            settle(tx, &mut r)?;
            Ok(effect(&r, now.id.clone(), path, true))
        });
    }
    write(tx, &mut r, path, request.content.as_deref().unwrap_or_default())
}

fn write(tx: &Tx<'_>, r: &mut Resource, path: &str, content: &str) -> Result<Effect> {
    let bytes = content.as_bytes();
    contents::check_content(path, bytes)?;
    let digest = Digest::of(bytes);
    document::put_blob(tx.conn, digest, bytes)?;
    let changed = contents::put(tx, &r.id, r.number + 1, path, digest, bytes.len() as u64)?;
    if changed {
        contents::check_tree(tx, &r.id, std::iter::once(&path.to_owned()))?;
        settle(tx, r)?;
    }
    let id = memory::at(tx.conn, &r.id, path)?.map(|m| m.id).unwrap_or_default();
    Ok(effect(r, id, path, changed))
}

/// Deletes one memory.
pub(super) fn delete(tx: &Tx<'_>, request: &MemoryDelete) -> Result<Effect> {
    let mut r = store(tx, &request.id)?;
    let now = find(tx, &r.id, &request.memory)?;
    if let Some(expect) = request.expect {
        contents::expect_content(tx, &r.id, &now.path, Some(expect))?;
    }
    memory::end(tx.conn, &r.id, &now.path, r.number + 1)?;
    settle(tx, &mut r)?;
    Ok(effect(&r, now.id, &now.path, true))
}

fn find(tx: &Tx<'_>, store: &str, id: &str) -> Result<memory::Memory> {
    memory::by_id(tx.conn, store, id)?.ok_or_else(|| not_found(format!("memory {id}")))
}

fn store(tx: &Tx<'_>, id: &str) -> Result<Resource> {
    let r = rights::find(tx, Some(Kind::MemoryStore), id)?;
    if tx.context.actor_kind != ActorKind::Session {
        rights::right(tx, &r)?;
    }
    if r.state == State::Live { Ok(r) } else { Err(archived(&r)) }
}

fn settle(tx: &Tx<'_>, r: &mut Resource) -> Result<()> {
    contents::add_version(tx, r)?;
    let body = digests::body(tx.conn, r)?;
    digests::save(tx.conn, r, body)
}

fn effect(r: &Resource, id: String, path: &str, changed: bool) -> Effect {
    let mut effect = Effect::of(r, r.content_version.clone(), changed, vec![format!("contents.{path}")]);
    if let Response::Written(written) = &mut effect.response {
        // It is the memory that is answered.
        written.id = id;
    }
    effect
}
