//! Memories: rows that are in a range of MemoryVersions, so versions share them.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::op::ActorKind;
use crate::model::{Digest, Owner};
use crate::store::{Conn, Result};

/// A memory.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// `mem_…`
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) sha256: Digest,
    pub(crate) size: u64,
    /// Who wrote it last.
    pub(crate) actor: String,
    pub(crate) actor_kind: ActorKind,
    pub(crate) owner: Option<Owner>,
    pub(crate) at: String,
}

const COLUMNS: &str = "id, path, sha256, size, actor, actor_kind, owner, at";

fn read(r: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory {
        id: r.get(0)?,
        path: r.get(1)?,
        sha256: r.get(2)?,
        size: r.get(3)?,
        actor: r.get(4)?,
        actor_kind: r.get(5)?,
        owner: r.get(6)?,
        at: r.get(7)?,
    })
}

/// The memory at a path now.
pub(crate) fn at(conn: &Conn, store: &str, path: &str) -> Result<Option<Memory>> {
    let sql = format!("SELECT {COLUMNS} FROM memory WHERE store = ?1 AND path = ?2 AND until_version IS NULL");
    Ok(conn.prepare_cached(&sql)?.query_row([store, path], read).optional()?)
}

/// The memory with an id now.
pub(crate) fn by_id(conn: &Conn, store: &str, id: &str) -> Result<Option<Memory>> {
    let sql = format!("SELECT {COLUMNS} FROM memory WHERE store = ?1 AND id = ?2 AND until_version IS NULL");
    Ok(conn.prepare_cached(&sql)?.query_row([store, id], read).optional()?)
}

/// All now, by path; only those whose path starts with `prefix`.
pub(crate) fn now(conn: &Conn, store: &str, prefix: &str) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memory WHERE store = ?1 AND until_version IS NULL \
         AND substr(path, 1, length(?2)) = ?2 ORDER BY path"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([store, prefix], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// (path, content, size) at a MemoryVersion, by path.
pub(crate) fn at_version(conn: &Conn, store: &str, number: u64) -> Result<Vec<(String, Digest, u64)>> {
    let mut statement = conn.prepare_cached(
        "SELECT path, sha256, size FROM memory WHERE store = ?1 AND from_version <= ?2 \
         AND (until_version IS NULL OR until_version > ?2) ORDER BY path",
    )?;
    let rows = statement.query_map(params![store, number], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// (path, content) now, by path.
pub(crate) fn contents(conn: &Conn, store: &str) -> Result<Vec<(String, Digest)>> {
    let mut statement = conn
        .prepare_cached("SELECT path, sha256 FROM memory WHERE store = ?1 AND until_version IS NULL ORDER BY path")?;
    let rows = statement.query_map([store], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many there are now.
pub(crate) fn count(conn: &Conn, store: &str) -> Result<u64> {
    let mut statement =
        conn.prepare_cached("SELECT count(*) FROM memory WHERE store = ?1 AND until_version IS NULL")?;
    Ok(statement.query_row([store], |r| r.get(0))?)
}

/// A path now below `path`, if there is one.
pub(crate) fn below(conn: &Conn, store: &str, path: &str) -> Result<Option<String>> {
    // '0' follows '/': the range holds just what starts with `path` and a slash.
    let mut statement = conn.prepare_cached(
        "SELECT path FROM memory WHERE store = ?1 AND until_version IS NULL AND path > ?2 || '/' AND path < ?2 || '0' \
         ORDER BY path LIMIT 1",
    )?;
    Ok(statement.query_row([store, path], |r| r.get(0)).optional()?)
}

/// Ends what is at a path with version `number` of the store; the new one does not hold it.
pub(crate) fn end(conn: &Conn, store: &str, path: &str, number: u64) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memory SET until_version = ?3 WHERE store = ?1 AND path = ?2 AND until_version IS NULL",
    )?
    .execute(params![store, path, number])?;
    Ok(())
}

/// Adds a memory from version `number` of the store on.
pub(crate) fn add(conn: &Conn, store: &str, number: u64, m: &Memory) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO memory (store, from_version, id, path, sha256, size, actor, actor_kind, owner, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![store, number, m.id, m.path, m.sha256, m.size, m.actor, m.actor_kind, m.owner, m.at])?;
    Ok(())
}
