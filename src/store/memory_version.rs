//! The rows of `memory` read as versions: what was written to the memories of a store, newest first.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::op::ActorKind;
use crate::model::{Digest, Owner};
use crate::store::{Conn, Result};

/// A version of one memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryVersion {
    /// Place in the order of all writes.
    pub(crate) seq: u64,
    /// `memver_…`
    pub(crate) id: String,
    /// `mem_…`
    pub(crate) memory: String,
    /// `created`, `modified`, `deleted`
    pub(crate) operation: String,
    pub(crate) path: Option<String>,
    pub(crate) sha256: Option<Digest>,
    pub(crate) size: Option<u64>,
    /// The MemoryVersion of the store that it made.
    pub(crate) number: u64,
    /// Does it hold the memory's content of now?
    pub(crate) is_head: bool,
    pub(crate) actor: String,
    pub(crate) actor_kind: ActorKind,
    pub(crate) owner: Option<Owner>,
    pub(crate) at: String,
    /// When its content was taken out, and by whom.
    pub(crate) redacted: Option<(String, String, ActorKind)>,
}

/// Which versions are wanted; `None` = all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) memory: Option<&'a str>,
    pub(crate) operation: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
    pub(crate) api_key: Option<&'a str>,
    /// RFC 3339 in UTC without its `Z`, which sorts as time does.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Those written before this one: (number, seq).
    pub(crate) before: Option<(u64, u64)>,
}

/// What became of one memory in a MemoryVersion of its store.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) operation: String,
    pub(crate) path: Option<String>,
    /// Where it was before; `None`: nowhere, or that was redacted.
    pub(crate) was: Option<String>,
    pub(crate) memory: String,
    pub(crate) version: String,
    pub(crate) sha256: Option<Digest>,
}

const COLUMNS: &str = "seq, version_id, id, operation, path, sha256, size, from_version, until_version IS NULL, \
                       actor, actor_kind, owner, at, redacted_at, redacted_by, redacted_by_kind";

fn read(r: &Row<'_>) -> rusqlite::Result<MemoryVersion> {
    let redacted = match r.get::<_, Option<String>>(13)? {
        Some(at) => Some((at, r.get(14)?, r.get(15)?)),
        None => None,
    };
    Ok(MemoryVersion {
        seq: r.get(0)?,
        id: r.get(1)?,
        memory: r.get(2)?,
        operation: r.get(3)?,
        path: r.get(4)?,
        sha256: r.get(5)?,
        size: r.get(6)?,
        number: r.get(7)?,
        is_head: r.get(8)?,
        actor: r.get(9)?,
        actor_kind: r.get(10)?,
        owner: r.get(11)?,
        at: r.get(12)?,
        redacted,
    })
}

/// One by id.
pub(crate) fn get(conn: &Conn, store: &str, id: &str) -> Result<Option<MemoryVersion>> {
    let sql = format!("SELECT {COLUMNS} FROM memory WHERE version_id = ?2 AND store = ?1");
    Ok(conn.prepare_cached(&sql)?.query_row([store, id], read).optional()?)
}

/// Those that are wanted, newest first.
pub(crate) fn list(conn: &Conn, store: &str, wanted: &Wanted<'_>, limit: u32) -> Result<Vec<MemoryVersion>> {
    let lineage = if wanted.memory.is_some() { "id = ?2" } else { "?2 IS NULL" };
    let (number, seq) = wanted.before.unwrap_or((i64::MAX.unsigned_abs(), i64::MAX.unsigned_abs()));
    let sql = format!(
        "SELECT {COLUMNS} FROM memory WHERE store = ?1 AND {lineage} AND (?3 IS NULL OR operation = ?3) \
         AND (?4 IS NULL OR (actor_kind = 'session' AND actor = ?4)) \
         AND (?5 IS NULL OR (actor_kind = 'api' AND actor = ?5)) \
         AND (?6 IS NULL OR rtrim(at, 'Z') >= ?6) AND (?7 IS NULL OR rtrim(at, 'Z') <= ?7) \
         AND from_version <= ?8 AND (from_version < ?8 OR seq < ?9) \
         ORDER BY from_version DESC, seq DESC LIMIT ?10"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(
        params![
            store,
            wanted.memory,
            wanted.operation,
            wanted.session,
            wanted.api_key,
            wanted.from,
            wanted.to,
            number,
            seq,
            limit
        ],
        read,
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What MemoryVersion `number` of a store changed, by path.
pub(crate) fn changes(conn: &Conn, store: &str, number: u64) -> Result<Vec<Change>> {
    let mut statement = conn.prepare_cached(
        "SELECT m.operation, m.path, p.path, m.id, m.version_id, m.sha256 FROM memory m \
         LEFT JOIN memory p ON p.store = m.store AND p.id = m.id AND p.until_version = m.from_version \
         AND p.from_version < m.from_version \
         WHERE m.store = ?1 AND m.from_version = ?2 ORDER BY m.path, m.seq",
    )?;
    let rows = statement.query_map(params![store, number], |r| {
        Ok(Change {
            operation: r.get(0)?,
            path: r.get(1)?,
            was: r.get(2)?,
            memory: r.get(3)?,
            version: r.get(4)?,
            sha256: r.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many memories MemoryVersion `number` of a store changed, by operation.
pub(crate) fn change_counts(conn: &Conn, store: &str, number: u64) -> Result<Vec<(String, u64)>> {
    let mut statement = conn.prepare_cached(
        "SELECT operation, count(*) FROM memory WHERE store = ?1 AND from_version = ?2 GROUP BY operation",
    )?;
    let rows = statement.query_map(params![store, number], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Takes path, content and size out of a version; its bytes are another matter.
pub(crate) fn redact(conn: &Conn, id: &str, at: &str, by: &str, by_kind: ActorKind) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memory SET path = NULL, sha256 = NULL, size = NULL, redacted_at = ?2, redacted_by = ?3, \
         redacted_by_kind = ?4 WHERE version_id = ?1",
    )?
    .execute(params![id, at, by, by_kind])?;
    Ok(())
}

/// Deletes all memories of a store with their versions; answers the contents that they had.
pub(crate) fn forget(conn: &Conn, store: &str) -> Result<Vec<Digest>> {
    let mut statement =
        conn.prepare_cached("SELECT DISTINCT sha256 FROM memory WHERE store = ?1 AND sha256 IS NOT NULL")?;
    let held = statement.query_map([store], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    conn.prepare_cached("DELETE FROM memory WHERE store = ?1")?.execute([store])?;
    Ok(held)
}
