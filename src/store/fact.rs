//! The audit: one fact a write.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::Owner;
use crate::model::op::Fact;
use crate::store::sql::Json;
use crate::store::{Conn, Result};

const COLUMNS: &str = "seq, at, operation, actor, actor_kind, owner, apply, resource, break_glass, fields, version, \
     from_version, address, made, before, after, from_owner, to_owner, to_address";

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
        from_owner: r.get(16)?,
        to_owner: r.get(17)?,
        to_address: r.get(18)?,
    })
}

/// The number that the next fact gets.
pub(crate) fn next(conn: &Conn) -> Result<u64> {
    Ok(conn.prepare_cached("SELECT coalesce(max(seq), 0) + 1 FROM fact")?.query_row([], |r| r.get(0))?)
}

/// Adds a fact under its number.
pub(crate) fn add(conn: &Conn, f: &Fact) -> Result<()> {
    let marks = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19";
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
        f.from_owner,
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

/// The number of the last fact for an Apply, or about it: of its last write, or of its end.
pub(crate) fn last_of_apply(conn: &Conn, apply: &str) -> Result<u64> {
    let sql = "SELECT max(coalesce((SELECT max(seq) FROM fact WHERE apply = ?1), 0), \
               coalesce((SELECT max(seq) FROM fact WHERE resource = ?1), 0))";
    Ok(conn.prepare_cached(sql)?.query_row([apply], |r| r.get(0))?)
}

/// Facts about a resource from a number on, oldest first.
pub(crate) fn about(conn: &Conn, resource: &str, from: u64) -> Result<Vec<Fact>> {
    let sql = format!("SELECT {COLUMNS} FROM fact WHERE resource = ?1 AND seq >= ?2 ORDER BY seq");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![resource, from], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Which facts. Moments are in UTC without `Z`.
#[derive(Debug, Default)]
pub(crate) struct Which<'a> {
    pub(crate) resource: Option<&'a str>,
    pub(crate) owner: Option<&'a Owner>,
    pub(crate) apply: Option<&'a str>,
    pub(crate) actor: Option<&'a str>,
    pub(crate) operation: Option<&'a str>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
}

/// Facts after a number, oldest first.
pub(crate) fn list(conn: &Conn, which: &Which<'_>, after: u64, limit: u32) -> Result<Vec<Fact>> {
    let Which { resource, owner, apply, actor, operation, from, to } = which;
    // Only what is asked for is in the text, so that an index is found for it.
    let rows = [
        (resource.is_some(), " AND resource = ?3"),
        (owner.is_some(), " AND owner = ?4"),
        (apply.is_some(), " AND apply = ?5"),
        (actor.is_some(), " AND actor = ?6"),
        (operation.is_some(), " AND operation = ?7"),
        (from.is_some(), " AND rtrim(at, 'Z') >= ?8"),
        (to.is_some(), " AND rtrim(at, 'Z') <= ?9"),
    ];
    let asked: String = rows.iter().filter(|(asked, _)| *asked).map(|(_, text)| *text).collect();
    let sql = format!("SELECT {COLUMNS} FROM fact WHERE seq > ?1{asked} AND ?10 ORDER BY seq LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows =
        statement.query_map(params![after, limit, resource, owner, apply, actor, operation, from, to, true], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
