//! Immutable versions of agents, skills, trees and stores.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::Digest;
use crate::store::{Conn, Result};

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    pub(crate) resource: String,
    pub(crate) number: u64,
    /// `skver_…`, or the number as text.
    pub(crate) id: String,
    pub(crate) digest: Digest,
    pub(crate) created_at: String,
    pub(crate) actor: String,
}

const COLUMNS: &str = "resource, number, id, digest, created_at, actor";

fn read(r: &Row<'_>) -> rusqlite::Result<Version> {
    Ok(Version {
        resource: r.get(0)?,
        number: r.get(1)?,
        id: r.get(2)?,
        digest: r.get(3)?,
        created_at: r.get(4)?,
        actor: r.get(5)?,
    })
}

/// Adds a version.
pub(crate) fn add(conn: &Conn, v: &Version) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO version (resource, number, id, digest, created_at, actor) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![v.resource, v.number, v.id, v.digest, v.created_at, v.actor])?;
    Ok(())
}

fn one(conn: &Conn, rest: &str, params: impl rusqlite::Params) -> Result<Option<Version>> {
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM version WHERE {rest}"))?;
    Ok(statement.query_row(params, read).optional()?)
}

/// By number.
pub(crate) fn by_number(conn: &Conn, resource: &str, number: u64) -> Result<Option<Version>> {
    one(conn, "resource = ?1 AND number = ?2", params![resource, number])
}

/// By id, of any resource: for `skver_…` ids, which are unique. A deleted one too.
pub(crate) fn by_id(conn: &Conn, id: &str) -> Result<Option<Version>> {
    one(conn, "id = ?1 LIMIT 1", [id])
}

/// The newest with a content.
pub(crate) fn by_content(conn: &Conn, resource: &str, digest: Digest) -> Result<Option<Version>> {
    let rest = "resource = ?1 AND digest = ?2 AND deleted_at IS NULL ORDER BY number DESC LIMIT 1";
    one(conn, rest, params![resource, digest])
}

/// Is it deleted? It stays for who names it.
pub(crate) fn is_deleted(conn: &Conn, v: &Version) -> Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT 1 FROM version WHERE resource = ?1 AND number = ?2 AND deleted_at IS NOT NULL")?;
    Ok(statement.exists(params![v.resource, v.number])?)
}

/// Deletes one.
pub(crate) fn delete(conn: &Conn, v: &Version, at: &str) -> Result<()> {
    conn.prepare_cached("UPDATE version SET deleted_at = ?3 WHERE resource = ?1 AND number = ?2")?
        .execute(params![v.resource, v.number, at])?;
    Ok(())
}

/// Deletes all of a resource.
pub(crate) fn forget(conn: &Conn, resource: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM version WHERE resource = ?1")?.execute([resource])?;
    Ok(())
}

/// Those of a resource before a number that are not deleted, newest first.
pub(crate) fn before(conn: &Conn, resource: &str, number: u64, limit: u32) -> Result<Vec<Version>> {
    list(conn, "deleted_at IS NULL", resource, number, limit)
}

/// As [`before`], of those that a version of an agent names: all that a deleted resource has left.
pub(crate) fn named_before(conn: &Conn, resource: &str, number: u64, limit: u32) -> Result<Vec<Version>> {
    list(conn, "EXISTS (SELECT 1 FROM named_version n WHERE n.version = version.id)", resource, number, limit)
}

fn list(conn: &Conn, which: &str, resource: &str, number: u64, limit: u32) -> Result<Vec<Version>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM version WHERE resource = ?1 AND number < ?2 AND {which} ORDER BY number DESC LIMIT ?3"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![resource, number, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
