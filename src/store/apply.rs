//! Applies and their receipt lines.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, params};

use crate::model::op::{ApplyBegin, ApplyInfo, Did, ReceiptLine};
use crate::model::{Digest, Owner};
use crate::store::sql::Json;
use crate::store::{Conn, Result};

const COLUMNS: &str = "id, owner, actor, plan_digest, source, began_at, ended_at, outcome, \
     (SELECT count(*) FROM receipt_line l WHERE l.apply = apply.id AND l.outcome = 'done')";

fn read(r: &Row<'_>) -> rusqlite::Result<ApplyInfo> {
    Ok(ApplyInfo {
        id: r.get(0)?,
        owner: r.get(1)?,
        actor: r.get(2)?,
        plan_digest: r.get(3)?,
        source: r.get::<_, Json<_>>(4)?.0,
        began_at: r.get(5)?,
        ended_at: r.get(6)?,
        outcome: r.get(7)?,
        done: r.get(8)?,
        did: Vec::new(),
        addresses: Vec::new(),
        lines: Vec::new(),
        specs: BTreeMap::new(),
    })
}

/// Begins one.
pub(crate) fn begin(conn: &Conn, id: &str, actor: &str, at: &str, b: &ApplyBegin) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO apply (id, owner, actor, plan_digest, source, addresses, began_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![id, b.owner, actor, b.plan_digest, Json(&b.source), Json(&b.addresses), at])?;
    Ok(())
}

/// Ends one.
pub(crate) fn end(conn: &Conn, id: &str, outcome: &str, at: &str) -> Result<()> {
    conn.prepare_cached("UPDATE apply SET ended_at = ?2, outcome = ?3 WHERE id = ?1")?
        .execute(params![id, at, outcome])?;
    Ok(())
}

/// Ends every one that is open; answers how many.
pub(crate) fn end_all(conn: &Conn, outcome: &str, at: &str) -> Result<usize> {
    let sql = "UPDATE apply SET ended_at = ?2, outcome = ?1 WHERE ended_at IS NULL";
    Ok(conn.execute(sql, [outcome, at])?)
}

/// Owner of an Apply, and whether it has ended.
pub(crate) fn state(conn: &Conn, id: &str) -> Result<Option<(Owner, bool)>> {
    let mut statement = conn.prepare_cached("SELECT owner, ended_at IS NOT NULL FROM apply WHERE id = ?1")?;
    Ok(statement.query_row([id], |r| Ok((r.get(0)?, r.get(1)?))).optional()?)
}

/// Notes that an Apply has written something; `false` when that is known already.
pub(crate) fn note_write(conn: &Conn, id: &str) -> Result<bool> {
    let done = conn.prepare_cached("UPDATE apply SET wrote = 1 WHERE id = ?1 AND wrote = 0")?.execute([id])?;
    Ok(done > 0)
}

/// The newest Apply of an owner that has not ended and began after every one that has.
pub(crate) fn open_of(conn: &Conn, owner: &Owner) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT id FROM apply WHERE owner = ?1 AND ended_at IS NULL AND rowid > \
         (SELECT coalesce(max(rowid), 0) FROM apply WHERE owner = ?1 AND ended_at IS NOT NULL) \
         ORDER BY rowid DESC LIMIT 1",
    )?;
    Ok(statement.query_row([owner], |r| r.get(0)).optional()?)
}

/// Newest first, without lines; those that began before the one with the id `before`.
pub(crate) fn list(conn: &Conn, owner: Option<&Owner>, before: Option<&str>, limit: u32) -> Result<Vec<ApplyInfo>> {
    let owned = if owner.is_some() { "owner = ?1" } else { "?1 IS NULL" };
    let earlier = match before {
        Some(_) => "rowid < (SELECT rowid FROM apply WHERE id = ?2)",
        None => "?2 IS NULL",
    };
    let sql = format!("SELECT {COLUMNS} FROM apply WHERE {owned} AND {earlier} ORDER BY rowid DESC LIMIT ?3");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![owner, before, limit], read)?;
    let mut applies: Vec<ApplyInfo> = rows.collect::<rusqlite::Result<_>>()?;
    applies.iter_mut().try_for_each(|info| say_what_it_did(conn, info))?;
    Ok(applies)
}

/// What the done actions of an Apply are called and where they were: an action is named `ADDRESS#VERB`, the
/// retirement of what was superseded `ADDRESS#retire-ID`.
fn say_what_it_did(conn: &Conn, info: &mut ApplyInfo) -> Result<()> {
    let mut verbs = conn.prepare_cached(
        "SELECT CASE WHEN instr(action, '#retire-') > 0 THEN 'retire' ELSE substr(action, instr(action, '#') + 1) END \
         AS verb, count(*) FROM receipt_line WHERE apply = ?1 AND outcome = 'done' GROUP BY verb ORDER BY verb",
    )?;
    let did = verbs.query_map([&info.id], |r| Ok(Did { verb: r.get(0)?, count: r.get(1)? }))?;
    info.did = did.collect::<rusqlite::Result<_>>()?;
    let mut addresses = conn.prepare_cached(
        "SELECT DISTINCT substr(action, 1, instr(action, '#') - 1) AS address FROM receipt_line \
         WHERE apply = ?1 AND outcome = 'done' AND instr(action, '/') > 0 ORDER BY address LIMIT ?2",
    )?;
    let rows = addresses.query_map(params![info.id, ApplyInfo::SHOWN], |r| r.get(0))?;
    info.addresses = rows.collect::<rusqlite::Result<_>>()?;
    Ok(())
}

/// One with its lines.
pub(crate) fn get(conn: &Conn, id: &str) -> Result<Option<ApplyInfo>> {
    let sql = format!("SELECT {COLUMNS} FROM apply WHERE id = ?1");
    let Some(mut info) = conn.prepare_cached(&sql)?.query_row([id], read).optional()? else { return Ok(None) };
    say_what_it_did(conn, &mut info)?;
    let mut statement = conn.prepare_cached(
        "SELECT action, outcome, operation, id, version, made, spec, error FROM receipt_line \
         WHERE apply = ?1 ORDER BY seq",
    )?;
    let rows = statement.query_map([id], |r| {
        Ok(ReceiptLine {
            action: r.get(0)?,
            outcome: r.get(1)?,
            operation: r.get(2)?,
            id: r.get(3)?,
            version: r.get(4)?,
            made: r.get(5)?,
            spec: r.get::<_, Option<Digest>>(6)?,
            error: r.get(7)?,
        })
    })?;
    info.lines = rows.collect::<rusqlite::Result<_>>()?;
    Ok(Some(info))
}

/// Adds a line; the first one of an action stays.
pub(crate) fn add_line(conn: &Conn, apply: &str, line: &ReceiptLine) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO receipt_line (apply, seq, action, outcome, operation, id, version, made, spec, error) \
         VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM receipt_line WHERE apply = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
         ON CONFLICT DO NOTHING",
    )?
    .execute(params![
        apply,
        line.action,
        line.outcome,
        line.operation,
        line.id,
        line.version,
        line.made,
        line.spec,
        line.error
    ])?;
    Ok(())
}
