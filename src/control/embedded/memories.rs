//! Reads of memories: their wire bodies, one by one and in pages by path.

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, invalid, not_found};
use crate::control::embedded::{contents, paging, wire};
use crate::model::op::{ActorKind, MemoryInfo, MemoryList, MemoryOf, Page, View};
use crate::model::{Digest, Kind};
use crate::store::memory::{self, Memory};
use crate::store::resource::{self, Resource};
use crate::store::{Conn, document};

/// Most items of a page that shows content.
pub(super) const FULL: u32 = 20;
/// Most items of a page.
pub(super) const PAGE: u32 = 100;

/// A store that can be read.
pub(super) fn store(conn: &Conn, id: &str) -> Result<Resource> {
    match resource::get(conn, id)? {
        Some(r) if r.kind == Kind::MemoryStore && wire::is_readable(&r) => Ok(r),
        _ => Err(not_found(id)),
    }
}

/// How many items a page of memories or of their versions holds.
pub(super) fn limit(asked: Option<u32>, view: View) -> Result<u32> {
    let limit = paging::limit(asked, FULL, PAGE)?;
    Ok(if view == View::Full { limit.min(FULL) } else { limit })
}

/// `memories.get`.
pub(super) fn get(conn: &Conn, request: &MemoryOf) -> Result<Value> {
    store(conn, &request.id)?;
    match memory::by_id(conn, &request.id, &request.memory)? {
        Some(m) => body(conn, &request.id, &m, request.view.unwrap_or(View::Full)),
        None => Err(not_found(format!("memory {} in {}", request.memory, request.id))),
    }
}

/// `memories.list`: in the order of paths.
pub(super) fn list(conn: &Conn, request: &MemoryList) -> Result<Page<Value>> {
    store(conn, &request.id)?;
    let view = request.view.unwrap_or(View::Basic);
    let limit = limit(request.limit, view)?;
    let rolled = match request.depth.unwrap_or(0) {
        0 => false,
        1 => true,
        depth => return Err(invalid(format!("`depth` is 0 or 1, not {depth}"))),
    };
    let prefix = request.path_prefix.as_deref().unwrap_or("/");
    let folder = match prefix.strip_suffix('/') {
        Some(folder) if folder.is_empty() || contents::check_path(folder).is_ok() => folder,
        _ => return Err(invalid(format!("`path_prefix` is a path that ends with `/`, not {prefix:?}"))),
    };
    let end = memory::after_folder(folder);
    let mut from = match &request.page {
        None => prefix.to_owned(),
        Some(cursor) => after(prefix, &end, &paging::key(cursor)?)?,
    };
    let mut data = Vec::new();
    let mut last = String::new();
    let mut left = limit;
    loop {
        let batch = if rolled { 1 } else { left + 1 };
        let found = memory::between(conn, &request.id, &from, &end, batch)?;
        if found.is_empty() {
            return Ok(Page { data, next_page: None });
        }
        for m in found {
            if left == 0 {
                return Ok(Page { data, next_page: Some(paging::cursor(&last)) });
            }
            let deeper = rolled.then(|| m.path[prefix.len()..].find('/')).flatten();
            last = match deeper {
                Some(at) => m.path[..=prefix.len() + at].to_owned(),
                None => m.path.clone(),
            };
            data.push(match deeper {
                Some(_) => json!({"type": "memory_prefix", "path": last}),
                None => body(conn, &request.id, &m, view)?,
            });
            from = after(prefix, &end, &last)?;
            left -= 1;
        }
    }
}

/// Where the search goes on after an item: after all that is below a `memory_prefix`, right after a memory.
fn after(prefix: &str, end: &str, key: &str) -> Result<String> {
    if !key.starts_with(prefix) || key >= end {
        return Err(paging::no_cursor());
    }
    Ok(match key.strip_suffix('/') {
        Some(folder) => memory::after_folder(folder),
        None => format!("{key}\0"),
    })
}

/// The wire body of a memory.
pub(super) fn body(conn: &Conn, store: &str, m: &Memory, view: View) -> Result<Value> {
    let content = if view == View::Full { text(conn, m.sha256)? } else { Value::Null };
    Ok(json!({
        "id": m.id,
        "type": "memory",
        "memory_store_id": store,
        "memory_version_id": m.version,
        "path": m.path,
        "content": content,
        "content_sha256": m.sha256.hex(),
        "content_size_bytes": m.size,
        "created_at": m.created_at,
        "updated_at": m.at,
        "updated_by": m.actor,
        "updated_by_kind": m.actor_kind,
        "updated_by_owner": m.owner,
    }))
}

/// The text of a memory. Only text was ever let in.
pub(super) fn text(conn: &Conn, digest: Digest) -> Result<Value> {
    let bytes = document::blob(conn, digest)?;
    Ok(bytes.map_or(Value::Null, |b| Value::String(String::from_utf8_lossy(&b).into_owned())))
}

/// An actor as the wire says it.
pub(super) fn actor(kind: ActorKind, name: &str) -> Value {
    match kind {
        ActorKind::Session => json!({"type": "session_actor", "session_id": name}),
        ActorKind::Api => json!({"type": "api_actor", "api_key_id": name}),
    }
}

/// All memories of a store, by path, for planning.
pub(super) fn infos(conn: &Conn, store: &str) -> Result<Vec<MemoryInfo>> {
    let info = |m: Memory| MemoryInfo {
        id: m.id,
        path: m.path,
        content_sha256: m.sha256,
        content_size_bytes: m.size,
        updated_by: m.actor,
        updated_by_kind: m.actor_kind,
        updated_by_owner: m.owner,
        updated_at: m.at,
    };
    Ok(memory::between(conn, store, "/", "0", u32::MAX)?.into_iter().map(info).collect())
}
