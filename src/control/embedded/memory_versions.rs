//! `memory_versions.*`: what was written to the memories of a store, newest first, and taking a content out of it
//! for good.

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, invalid, not_found, refused};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{memories, paging, rights};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::op::{ActorKind, MemoryVersionOf, MemoryVersions, Page, Response, View};
use crate::store::memory_version::{self, MemoryVersion, Wanted};
use crate::store::{Conn, document};

/// `memory_versions.list`.
pub(super) fn list(conn: &Conn, request: &MemoryVersions) -> Result<Page<Value>> {
    memories::store(conn, &request.id)?;
    let view = request.view.unwrap_or(View::Basic);
    let limit = memories::limit(request.limit, view)?;
    if let Some(operation) = &request.operation
        && !matches!(operation.as_str(), "created" | "modified" | "deleted")
    {
        return Err(invalid(format!("`operation` is created, modified or deleted, not {operation:?}")));
    }
    let moment = |what, text: &Option<String>| text.as_ref().map(|t| paging::moment(what, t)).transpose();
    let wanted = Wanted {
        memory: request.memory.as_deref(),
        operation: request.operation.as_deref(),
        session: request.session.as_deref(),
        api_key: request.api_key.as_deref(),
        from: moment("created_at[gte]", &request.created_from)?,
        to: moment("created_at[lte]", &request.created_to)?,
        before: request.page.as_deref().map(before).transpose()?,
    };
    let mut found = match request.service_account {
        Some(_) => Vec::new(),
        None => memory_version::list(conn, &request.id, &wanted, limit + 1)?,
    };
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next_page = found.last().filter(|_| more).map(|v| paging::cursor(&format!("{}.{}", v.number, v.seq)));
    let data = found.iter().map(|v| body(conn, &request.id, v, view)).collect::<Result<_>>()?;
    Ok(Page { data, next_page })
}

/// Number and place of the version before which a page begins.
fn before(cursor: &str) -> Result<(u64, u64)> {
    let key = paging::key(cursor)?;
    let pair = key.split_once('.').and_then(|(n, seq)| Some((n.parse().ok()?, seq.parse().ok()?)));
    pair.filter(|(n, seq)| i64::try_from(*n).is_ok() && i64::try_from(*seq).is_ok()).ok_or_else(paging::no_cursor)
}

/// `memory_versions.get`.
pub(super) fn get(conn: &Conn, request: &MemoryVersionOf, view: View) -> Result<Value> {
    memories::store(conn, &request.id)?;
    body(conn, &request.id, &find(conn, request)?, view)
}

fn find(conn: &Conn, request: &MemoryVersionOf) -> Result<MemoryVersion> {
    let found = memory_version::get(conn, &request.id, &request.version)?;
    found.ok_or_else(|| not_found(format!("memory version {} in {}", request.version, request.id)))
}

fn body(conn: &Conn, store: &str, v: &MemoryVersion, view: View) -> Result<Value> {
    let content = match v.sha256 {
        Some(sha256) if view == View::Full => memories::text(conn, sha256)?,
        _ => Value::Null,
    };
    let redacted = v.redacted.as_ref();
    Ok(json!({
        "id": v.id,
        "type": "memory_version",
        "memory_store_id": store,
        "memory_id": v.memory,
        "operation": v.operation,
        "path": v.path,
        "content": content,
        "content_sha256": v.sha256.map(|d| d.hex()),
        "content_size_bytes": v.size,
        "created_at": v.at,
        "created_by": memories::actor(v.actor_kind, &v.actor),
        "created_by_owner": v.owner,
        "memory_store_version": v.number,
        "redacted_at": redacted.map(|(at, ..)| at),
        "redacted_by": redacted.map(|(_, by, kind)| memories::actor(*kind, by)),
    }))
}

/// `memory_versions.redact`: takes path, content, size and digest out of a version, and the bytes out of the
/// workspace unless something else has them. On an archived store too. A second time changes nothing.
pub(super) fn redact(tx: &Tx<'_>, request: &MemoryVersionOf) -> Result<Effect> {
    let r = rights::find(tx, Some(Kind::MemoryStore), &request.id)?;
    if tx.context.actor_kind == ActorKind::Session {
        let message = "an agent's session cannot redact what was written";
        return Err(ControlError::new(ErrorKind::Permission, codes::MEMORY_REDACT.code, message));
    }
    rights::right(tx, &r)?;
    let v = find(tx.conn, request)?;
    if v.is_head {
        let message = format!("{} is what {} holds now: write or delete the memory first", v.id, v.memory);
        return Err(refused(&codes::MEMORY_REDACT, message));
    }
    let changed = v.redacted.is_none();
    if changed {
        memory_version::redact(tx.conn, &v.id, &tx.now, &tx.context.actor, tx.context.actor_kind)?;
        document::release_blobs(tx.conn, v.sha256.as_slice())?;
    }
    let mut effect = Effect::of(&r, None, changed, vec![format!("memory_versions.{}", v.id)]);
    if let Response::Written(written) = &mut effect.response {
        // It is the version of the memory that is answered.
        written.id = v.id;
    }
    Ok(effect)
}
