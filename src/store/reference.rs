//! Who refers to whom, and which versions are named by agents.

use rusqlite::params;

use crate::model::kinds::WireRef;
use crate::store::{Conn, Result};

/// Sets what a resource refers to.
pub(crate) fn set(conn: &Conn, from: &str, refs: &[WireRef]) -> Result<()> {
    clear(conn, from)?;
    let mut statement = conn.prepare_cached(
        "INSERT INTO reference (from_id, to_id, version, follows) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    )?;
    for r in refs {
        statement.execute(params![from, r.id, r.version.as_deref().unwrap_or_default(), r.follows])?;
    }
    Ok(())
}

/// A resource refers to nothing more.
pub(crate) fn clear(conn: &Conn, from: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM reference WHERE from_id = ?1")?.execute([from])?;
    Ok(())
}

/// (referrer, does it follow `latest`) of an id, in the order of ids.
pub(crate) fn to(conn: &Conn, id: &str) -> Result<Vec<(String, bool)>> {
    let mut statement = conn.prepare_cached(
        "SELECT from_id, max(follows) FROM reference WHERE to_id = ?1 GROUP BY from_id ORDER BY from_id",
    )?;
    let rows = statement.query_map([id], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Referrers that name one version of an id, in the order of ids.
pub(crate) fn to_version(conn: &Conn, id: &str, version: &str) -> Result<Vec<String>> {
    let mut statement =
        conn.prepare_cached("SELECT from_id FROM reference WHERE to_id = ?1 AND version = ?2 ORDER BY from_id")?;
    let rows = statement.query_map([id, version], |r| r.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Notes that a version of an agent names this version of a skill.
pub(crate) fn name_version(conn: &Conn, version: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO named_version (version) VALUES (?1) ON CONFLICT DO NOTHING")?
        .execute([version])?;
    Ok(())
}

/// Does any version of any agent name it?
pub(crate) fn is_named(conn: &Conn, version: &str) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM named_version WHERE version = ?1")?.exists([version])?)
}
