//! The MemoryVersions of a store: number, parent, digest over all contents, what changed and who wrote it. And the
//! end of them all, when the store is deleted.

use serde_json::{Map, Value, json};

use crate::control::embedded::error::Result;
use crate::control::embedded::write::Tx;
use crate::model::Digest;
use crate::store::memory_version::{self, Change};
use crate::store::resource::Resource;
use crate::store::version::{self, Version};
use crate::store::{Conn, document, memory};

/// A MemoryVersion as a list shows it: how many memories it created, modified and deleted.
pub(super) fn summary(conn: &Conn, r: &Resource, v: &Version) -> Result<Value> {
    let counts = memory_version::change_counts(conn, &r.id, v.number)?;
    let mut changes = Map::from_iter(["created", "modified", "deleted"].map(|o| (o.to_owned(), json!(0))));
    changes.extend(counts.into_iter().map(|(operation, count)| (operation, json!(count))));
    let mut body = head(r, v.number, v.digest);
    body["created_at"] = json!(v.created_at);
    body["created_by"] = json!(v.actor);
    body["changes"] = Value::Object(changes);
    Ok(body)
}

/// A MemoryVersion with the changes one by one and all that it holds; what was redacted since is not among that.
pub(super) fn full(conn: &Conn, r: &Resource, v: &Version) -> Result<Value> {
    let mut body = summary(conn, r, v)?;
    let changes = memory_version::changes(conn, &r.id, v.number)?;
    body["changed"] = changes.into_iter().map(change).collect();
    let rows = memory::at_version(conn, &r.id, v.number)?;
    body["entries"] =
        rows.into_iter().map(|(path, sha256, size)| json!({"path": path, "sha256": sha256, "size": size})).collect();
    Ok(body)
}

fn change(c: Change) -> Value {
    let moved = c.was.filter(|was| c.operation == "modified" && c.path.as_ref() != Some(was));
    json!({
        "operation": c.operation,
        "path": c.path,
        "previous_path": moved,
        "memory_id": c.memory,
        "memory_version_id": c.version,
        "content_sha256": c.sha256.map(|d| d.hex()),
    })
}

fn head(r: &Resource, number: u64, digest: Digest) -> Value {
    json!({
        "id": number.to_string(),
        "type": "memory_store_version",
        "memory_store_id": r.id,
        "number": number,
        "parent": number.checked_sub(1).filter(|parent| *parent > 0),
        "digest": digest,
    })
}

/// What a write of contents made or found: the newest MemoryVersion. A store that nobody ever wrote to has the
/// empty version 0.
pub(super) fn newest(conn: &Conn, r: &Resource) -> Result<Value> {
    match version::by_number(conn, &r.id, r.number)? {
        Some(v) => summary(conn, r, &v),
        None => Ok(head(r, 0, Digest::of_json(&Map::new()))),
    }
}

/// Deletes all memories of a store, their versions and the store's; bytes too that nothing else has.
pub(super) fn forget(tx: &Tx<'_>, r: &mut Resource) -> Result<()> {
    let held = memory_version::forget(tx.conn, &r.id)?;
    version::forget(tx.conn, &r.id)?;
    document::release_blobs(tx.conn, &held)?;
    r.content = None;
    r.content_version = None;
    Ok(())
}
