//! Memories: rows that are in a range of MemoryVersions, so versions share them. Each row is also one version of
//! its memory (`store::memory_version`).

use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{OptionalExtension, Row, params};

use crate::model::op::ActorKind;
use crate::model::{Digest, Owner};
use crate::store::{Conn, Result};

/// A memory.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// `mem_…`
    pub(crate) id: String,
    /// `memver_…` of what it is now.
    pub(crate) version: String,
    pub(crate) path: String,
    pub(crate) sha256: Digest,
    pub(crate) size: u64,
    /// Who wrote it last.
    pub(crate) actor: String,
    pub(crate) actor_kind: ActorKind,
    pub(crate) owner: Option<Owner>,
    /// When it was made.
    pub(crate) created_at: String,
    /// When it was written last.
    pub(crate) at: String,
}

/// What a write did to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Made it.
    Created,
    /// Gave it other content or another path.
    Modified,
    /// Deleted it.
    Deleted,
}

impl Operation {
    /// As the wire says it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Operation::Created => "created",
            Operation::Modified => "modified",
            Operation::Deleted => "deleted",
        }
    }
}

impl ToSql for Operation {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_str()))
    }
}

const COLUMNS: &str = "id, version_id, path, sha256, size, actor, actor_kind, owner, created_at, at";

fn read(r: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory {
        id: r.get(0)?,
        version: r.get(1)?,
        path: r.get(2)?,
        sha256: r.get(3)?,
        size: r.get(4)?,
        actor: r.get(5)?,
        actor_kind: r.get(6)?,
        owner: r.get(7)?,
        created_at: r.get(8)?,
        at: r.get(9)?,
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

/// Those now from path `from` on and before path `before`, by path.
pub(crate) fn between(conn: &Conn, store: &str, from: &str, before: &str, limit: u32) -> Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memory WHERE store = ?1 AND until_version IS NULL AND path >= ?2 AND path < ?3 \
         ORDER BY path LIMIT ?4"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![store, from, before, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// (path, content, size) at a MemoryVersion, by path; those that were redacted are left out.
pub(crate) fn at_version(conn: &Conn, store: &str, number: u64) -> Result<Vec<(String, Digest, u64)>> {
    let mut statement = conn.prepare_cached(
        "SELECT path, sha256, size FROM memory WHERE store = ?1 AND from_version <= ?2 \
         AND (until_version IS NULL OR until_version > ?2) AND redacted_at IS NULL ORDER BY path",
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
    // By path, so that it walks what is there now and not what ever was.
    let mut statement =
        conn.prepare_cached("SELECT count(*) FROM memory WHERE store = ?1 AND path >= '' AND until_version IS NULL")?;
    Ok(statement.query_row([store], |r| r.get(0))?)
}

/// A memory now below `path`, if there is one.
pub(crate) fn below(conn: &Conn, store: &str, path: &str) -> Result<Option<Memory>> {
    let (from, before) = (format!("{path}/"), after_folder(path));
    Ok(between(conn, store, &from, &before, 1)?.pop())
}

/// The least text after all that starts with `folder` and a slash.
pub(crate) fn after_folder(folder: &str) -> String {
    // '0' follows '/'.
    format!("{folder}0")
}

/// Ends what is at a path with version `number` of the store; the new one does not hold it.
pub(crate) fn end(conn: &Conn, store: &str, path: &str, number: u64) -> Result<()> {
    conn.prepare_cached(
        "UPDATE memory SET until_version = ?3 WHERE store = ?1 AND path = ?2 AND until_version IS NULL",
    )?
    .execute(params![store, path, number])?;
    Ok(())
}

/// Adds a version of a memory, from version `number` of the store on; one that says that it was deleted is in
/// no version, and has no content.
pub(crate) fn add(conn: &Conn, store: &str, number: u64, operation: Operation, m: &Memory) -> Result<()> {
    let deleted = operation == Operation::Deleted;
    let (sha256, size) = if deleted { (None, None) } else { (Some(m.sha256), Some(m.size)) };
    conn.prepare_cached(
        "INSERT INTO memory (version_id, store, id, operation, path, sha256, size, from_version, until_version, \
         created_at, actor, actor_kind, owner, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        m.version,
        store,
        m.id,
        operation,
        m.path,
        sha256,
        size,
        number,
        deleted.then_some(number),
        m.created_at,
        m.actor,
        m.actor_kind,
        m.owner,
        m.at
    ])?;
    Ok(())
}
