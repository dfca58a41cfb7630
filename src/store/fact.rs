//! The audit: one fact a write.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::Owner;
use crate::model::op::Fact;
use crate::store::sql::Json;
use crate::store::{Conn, Result};

const COLUMNS: &str = "seq, at, operation, actor, actor_kind, owner, apply, resource, break_glass, fields, version, \
     from_version, address, made, before, after, to_owner, to_address";

fn read(r: &Row<'_>) -> rusqlite::Result<Fact> {
    Ok(Fact {
        seq: r.get(0)?,
        at: r.get(1)?,
        operation: r.get(2)?,
        actor: r.get(3)?,
        actor_kind: r.get(4)?,
        owner: r.get(5)?,
        apply: r.get(6)?,
        resource: r.get(7)?,
        break_glass: r.get(8)?,
        fields: r.get::<_, Json<Vec<String>>>(9)?.0,
        version: r.get(10)?,
        from_version: r.get(11)?,
        address: r.get(12)?,
        made: r.get(13)?,
        before: r.get(14)?,
        after: r.get(15)?,
        to_owner: r.get(16)?,
        to_address: r.get(17)?,
    })
}

/// The number that the next fact gets.
pub(crate) fn next(conn: &Conn) -> Result<u64> {
    Ok(conn.prepare_cached("SELECT coalesce(max(seq), 0) + 1 FROM fact")?.query_row([], |r| r.get(0))?)
}

/// Adds a fact under its number.
pub(crate) fn add(conn: &Conn, f: &Fact) -> Result<()> {
    let marks = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18";
    conn.prepare_cached(&format!("INSERT INTO fact ({COLUMNS}) VALUES ({marks})"))?.execute(params![
        f.seq,
        f.at,
        f.operation,
        f.actor,
        f.actor_kind,
        f.owner,
        f.apply,
        f.resource,
        f.break_glass,
        Json(&f.fields),
        f.version,
        f.from_version,
        f.address,
        f.made,
        f.before,
        f.after,
        f.to_owner,
        f.to_address
    ])?;
    Ok(())
}

/// By number.
pub(crate) fn get(conn: &Conn, seq: u64) -> Result<Option<Fact>> {
    let sql = format!("SELECT {COLUMNS} FROM fact WHERE seq = ?1");
    Ok(conn.prepare_cached(&sql)?.query_row([seq], read).optional()?)
}

/// Facts about a resource from a number on, oldest first.
pub(crate) fn about(conn: &Conn, resource: &str, from: u64) -> Result<Vec<Fact>> {
    let sql = format!("SELECT {COLUMNS} FROM fact WHERE resource = ?1 AND seq >= ?2 ORDER BY seq");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![resource, from], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Facts after a number, oldest first, by resource and by owner.
pub(crate) fn list(
    conn: &Conn,
    resource: Option<&str>,
    owner: Option<&Owner>,
    after: u64,
    limit: u32,
) -> Result<Vec<Fact>> {
    let by = match resource {
        Some(_) => "resource = ?1",
        None => "?1 IS NULL",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM fact WHERE {by} AND (?2 IS NULL OR owner = ?2) AND seq > ?3 ORDER BY seq LIMIT ?4"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![resource, owner, after, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
