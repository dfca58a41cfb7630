//! `memories.write`, `memories.delete`: one memory. By an agent's session it is no authoring, and allowed on
//! stores that have an owner.

use crate::control::embedded::error::{Result, archived, not_found};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{contents, digests, rights};
use crate::model::op::{ActorKind, MemoryDelete, MemoryWrite, Response};
use crate::model::{Digest, Kind};
use crate::store::resource::{Resource, State};
use crate::store::{document, memory};

/// Creates or changes one memory.
pub(super) fn write(tx: &Tx<'_>, request: &MemoryWrite) -> Result<Effect> {
    let mut r = store(tx, &request.id)?;
    contents::check_path(&request.path)?;
    let bytes = request.content.as_bytes();
    contents::check_content(&request.path, bytes)?;
    if let Some(expect) = request.expect {
        contents::expect_content(tx, &r.id, &request.path, expect)?;
    }
    let digest = Digest::of(bytes);
    document::put_blob(tx.conn, digest, bytes)?;
    let changed = contents::put(tx, &r.id, r.number + 1, &request.path, digest, bytes.len() as u64)?;
    if changed {
        contents::check_tree(tx, &r.id, std::iter::once(&request.path))?;
        settle(tx, &mut r)?;
    }
    let id = memory::at(tx.conn, &r.id, &request.path)?.map(|m| m.id).unwrap_or_default();
    Ok(effect(&r, id, &request.path, changed))
}

/// Deletes one memory.
pub(super) fn delete(tx: &Tx<'_>, request: &MemoryDelete) -> Result<Effect> {
    let mut r = store(tx, &request.id)?;
    if let Some(expect) = request.expect {
        contents::expect_content(tx, &r.id, &request.path, Some(expect))?;
    }
    let Some(now) = memory::at(tx.conn, &r.id, &request.path)? else {
        return Err(not_found(format!("memory {}", request.path)));
    };
    memory::end(tx.conn, &r.id, &request.path, r.number + 1)?;
    settle(tx, &mut r)?;
    Ok(effect(&r, now.id, &request.path, true))
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
