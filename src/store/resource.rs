//! The rows of resources, and who holds which address, name and place.

use std::collections::BTreeMap;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, Row, params};

use crate::model::{Address, Digest, Kind, Owner};
use crate::store::sql::Json;
use crate::store::{Conn, Result};

/// Is it there?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Takes changes.
    Live,
    /// Readable, takes no change.
    Archived,
    /// Gone; the row stays for who holds it and for versions that are named.
    Deleted,
}

impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            State::Live => "live",
            State::Archived => "archived",
            State::Deleted => "deleted",
        }))
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "live" => Ok(State::Live),
            "archived" => Ok(State::Archived),
            "deleted" => Ok(State::Deleted),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    /// Live id.
    pub(crate) id: String,
    pub(crate) kind: Kind,
    /// Shown name.
    pub(crate) name: String,
    /// Document: the wire body without what the server adds.
    pub(crate) body: Digest,
    /// Integer version, from 1.
    pub(crate) version: u64,
    pub(crate) state: State,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) archived_at: Option<String>,
    /// Newest content (skills, trees, stores).
    pub(crate) content: Option<Digest>,
    /// The version that has it.
    pub(crate) content_version: Option<String>,
    /// Number of the newest immutable version; 0 = none.
    pub(crate) number: u64,
    /// The name that it holds among live ones, where names are unique.
    pub(crate) unique_name: Option<String>,
    /// The agent of a mount.
    pub(crate) agent: Option<String>,
    /// The destination that a mount holds.
    pub(crate) place: Option<String>,
    pub(crate) owner: Option<Owner>,
    pub(crate) address: Option<Address>,
    pub(crate) protected: bool,
    pub(crate) superseded: bool,
    /// Raised by every authoring operation, never set back; 0 until something was.
    pub(crate) seq: u64,
    /// The audit fact with which its present owner got it.
    pub(crate) since: u64,
    /// Document: the canonical form last applied.
    pub(crate) applied: Option<Digest>,
    pub(crate) unowned: Vec<String>,
    pub(crate) applied_digest: Option<Digest>,
    pub(crate) live_digest: Option<Digest>,
    /// The audit fact with which another archived or deleted it.
    pub(crate) gone: Option<u64>,
    /// Whom its owner offered it to: it counts as the owner's no more, and is nobody else's yet.
    pub(crate) offered: Option<Owner>,
    /// The address there.
    pub(crate) offered_at: Option<Address>,
}

macro_rules! columns {
    () => {
        "id, kind, name, body, version, state, created_at, updated_at, archived_at, content, content_version, number, \
         unique_name, agent, place, owner, address, protected, superseded, seq, since, applied, unowned, \
         applied_digest, live_digest, gone, offered, offered_at"
    };
}

fn read(r: &Row<'_>) -> rusqlite::Result<Resource> {
    Ok(Resource {
        id: r.get(0)?,
        kind: r.get(1)?,
        name: r.get(2)?,
        body: r.get(3)?,
        version: r.get(4)?,
        state: r.get(5)?,
        created_at: r.get(6)?,
        updated_at: r.get(7)?,
        archived_at: r.get(8)?,
        content: r.get(9)?,
        content_version: r.get(10)?,
        number: r.get(11)?,
        unique_name: r.get(12)?,
        agent: r.get(13)?,
        place: r.get(14)?,
        owner: r.get(15)?,
        address: r.get(16)?,
        protected: r.get(17)?,
        superseded: r.get(18)?,
        seq: r.get(19)?,
        since: r.get(20)?,
        applied: r.get(21)?,
        unowned: r.get::<_, Json<Vec<String>>>(22)?.0,
        applied_digest: r.get(23)?,
        live_digest: r.get(24)?,
        gone: r.get(25)?,
        offered: r.get(26)?,
        offered_at: r.get(27)?,
    })
}

/// A row by id, deleted ones too.
pub(crate) fn get(conn: &Conn, id: &str) -> Result<Option<Resource>> {
    let mut statement = conn.prepare_cached(concat!("SELECT ", columns!(), " FROM resource WHERE id = ?1"))?;
    Ok(statement.query_row([id], read).optional()?)
}

/// Writes a row, new or not.
pub(crate) fn put(conn: &Conn, r: &Resource) -> Result<()> {
    conn.prepare_cached(concat!(
        "INSERT INTO resource (",
        columns!(),
        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
         ?22, ?23, ?24, ?25, ?26, ?27, ?28) ON CONFLICT (id) DO UPDATE SET name = ?3, body = ?4, version = ?5, state = ?6, \
         updated_at = ?8, archived_at = ?9, content = ?10, content_version = ?11, number = ?12, unique_name = ?13, \
         agent = ?14, place = ?15, owner = ?16, address = ?17, protected = ?18, superseded = ?19, seq = ?20, \
         since = ?21, applied = ?22, unowned = ?23, applied_digest = ?24, live_digest = ?25, gone = ?26, \
         offered = ?27, offered_at = ?28"
    ))?
    .execute(params![
        r.id,
        r.kind,
        r.name,
        r.body,
        r.version,
        r.state,
        r.created_at,
        r.updated_at,
        r.archived_at,
        r.content,
        r.content_version,
        r.number,
        r.unique_name,
        r.agent,
        r.place,
        r.owner,
        r.address,
        r.protected,
        r.superseded,
        r.seq,
        r.since,
        r.applied,
        Json(&r.unowned),
        r.applied_digest,
        r.live_digest,
        r.gone,
        r.offered,
        r.offered_at,
    ])?;
    Ok(())
}

/// Who is at an address, not superseded and not offered to another; one that is gone too.
pub(crate) fn at_address(conn: &Conn, owner: &Owner, address: &Address) -> Result<Option<Resource>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM resource WHERE owner = ?1 AND address = ?2 AND superseded = 0 AND offered IS NULL"
    ))?;
    Ok(statement.query_row(params![owner, address], read).optional()?)
}

/// What is offered to an owner for an address.
pub(crate) fn offered_at(conn: &Conn, owner: &Owner, address: &Address) -> Result<Option<Resource>> {
    let mut statement =
        conn.prepare_cached(concat!("SELECT ", columns!(), " FROM resource WHERE offered = ?1 AND offered_at = ?2"))?;
    Ok(statement.query_row(params![owner, address], read).optional()?)
}

/// Id of the live resource of a kind that holds a unique name.
pub(crate) fn with_unique_name(conn: &Conn, kind: Kind, name: &str) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached("SELECT id FROM resource WHERE kind = ?1 AND unique_name = ?2")?;
    Ok(statement.query_row(params![kind, name], |r| r.get(0)).optional()?)
}

/// (id, destination) of the mounts of an agent.
pub(crate) fn places(conn: &Conn, agent: &str) -> Result<Vec<(String, String)>> {
    let mut statement =
        conn.prepare_cached("SELECT id, place FROM resource WHERE agent = ?1 AND place IS NOT NULL ORDER BY id")?;
    let rows = statement.query_map([agent], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Which rows of a kind a list shows. Moments are as [`crate::model::op::ListOf`] has them, in UTC without `Z`.
#[derive(Debug, Default)]
pub(crate) struct Shown<'a> {
    pub(crate) owner: Option<&'a Owner>,
    /// All of these, as the `metadata` of the body has them.
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) archived: bool,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
}

/// Rows of a kind after an id, in the order of ids, deleted ones not.
pub(crate) fn of_kind(conn: &Conn, kind: Kind, shown: &Shown<'_>, after: &str, limit: u32) -> Result<Vec<Resource>> {
    // One index each: `resource_kind` and `resource_owned` both give ids in order.
    let owned = if shown.owner.is_some() { "owner = ?3" } else { "?3 IS NULL" };
    let labelled = if shown.labels.is_empty() {
        "?5 IS NOT NULL"
    } else {
        "NOT EXISTS (SELECT 1 FROM json_each(?5) w WHERE NOT EXISTS (SELECT 1 FROM document d, \
         json_each(d.json, '$.metadata') m WHERE d.digest = resource.body AND m.key = w.key AND m.value = w.value))"
    };
    let sql = format!(
        concat!(
            "SELECT ",
            columns!(),
            " FROM resource WHERE {owned} AND kind = ?1 AND id > ?2 AND (state = 'live' OR state = 'archived' AND ?4) \
             AND {labelled} AND (?6 IS NULL OR rtrim(created_at, 'Z') >= ?6) \
             AND (?7 IS NULL OR rtrim(created_at, 'Z') <= ?7) ORDER BY id LIMIT ?8"
        ),
        owned = owned,
        labelled = labelled
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let params = params![kind, after, shown.owner, shown.archived, Json(&shown.labels), shown.from, shown.to, limit];
    let rows = statement.query_map(params, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Rows of an owner after an id, in the order of ids; superseded and gone ones too, offered ones not.
pub(crate) fn of_owner(
    conn: &Conn,
    owner: &Owner,
    kind: Option<Kind>,
    after: &str,
    limit: u32,
) -> Result<Vec<Resource>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM resource WHERE owner = ?1 AND offered IS NULL AND (?2 IS NULL OR kind = ?2) AND id > ?3 \
         ORDER BY id LIMIT ?4"
    ))?;
    let rows = statement.query_map(params![owner, kind, after, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Unowned live rows with one of these shown names, and whoever holds one of them where names are unique, after an id.
pub(crate) fn unowned(
    conn: &Conn,
    kind: Option<Kind>,
    names: &[String],
    after: &str,
    limit: u32,
) -> Result<Vec<Resource>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM resource WHERE state = 'live' AND (?1 IS NULL OR kind = ?1) AND id > ?3 \
         AND (owner IS NULL AND name IN (SELECT value FROM json_each(?2)) \
         OR unique_name IN (SELECT value FROM json_each(?2))) ORDER BY id LIMIT ?4"
    ))?;
    let rows = statement.query_map(params![kind, Json(names), after, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// All unowned live rows, after an id.
pub(crate) fn all_unowned(conn: &Conn, kind: Option<Kind>, after: &str, limit: u32) -> Result<Vec<Resource>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM resource WHERE state = 'live' AND owner IS NULL AND (?1 IS NULL OR kind = ?1) AND id > ?2 \
         ORDER BY id LIMIT ?3"
    ))?;
    let rows = statement.query_map(params![kind, after, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Live rows, in the order of ids: what owners other than `me` have at these addresses, what is offered to `me` there, or
/// by it from there, and what has one of these ids.
pub(crate) fn found(conn: &Conn, me: &Owner, addresses: &[Address], ids: &[String]) -> Result<Vec<Resource>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM resource WHERE state = 'live' AND id IN (\
         SELECT id FROM resource WHERE address IN (SELECT value FROM json_each(?2)) AND superseded = 0 \
         AND (owner <> ?1 OR offered IS NOT NULL) \
         UNION SELECT id FROM resource WHERE offered = ?1 AND offered_at IN (SELECT value FROM json_each(?2)) \
         UNION SELECT value FROM json_each(?3)) ORDER BY id"
    ))?;
    let rows = statement.query_map(params![me, Json(addresses), Json(ids)], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A line of what the owner digest is over.
pub(crate) type DigestRow = (Address, Option<Digest>, Option<Digest>, bool);

/// What the owner digest is over.
pub(crate) fn digest_rows(conn: &Conn, owner: &Owner) -> Result<Vec<DigestRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT address, live_digest, applied_digest, protected FROM resource \
         WHERE owner = ?1 AND offered IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([owner], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many resources an owner has.
pub(crate) fn count_of(conn: &Conn, owner: &Owner) -> Result<u64> {
    let sql = "SELECT count(*) FROM resource WHERE owner = ?1 AND offered IS NULL";
    Ok(conn.prepare_cached(sql)?.query_row([owner], |r| r.get(0))?)
}

/// Writes the digest of what is live.
pub(crate) fn set_live_digest(conn: &Conn, id: &str, digest: Digest) -> Result<()> {
    conn.prepare_cached("UPDATE resource SET live_digest = ?2 WHERE id = ?1")?.execute(params![id, digest])?;
    Ok(())
}

/// Notes the last retired id at an address, and the audit fact that tells of it.
pub(crate) fn put_retired(conn: &Conn, owner: &Owner, address: &Address, id: &str, fact: u64) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO retired (owner, address, id, fact) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (owner, address) DO UPDATE SET id = ?3, fact = ?4",
    )?
    .execute(params![owner, address, id, fact])?;
    Ok(())
}

/// The owner and the address that an id left last; none where another id left that address since.
pub(crate) fn left(conn: &Conn, id: &str) -> Result<Option<(Owner, Address)>> {
    let mut statement =
        conn.prepare_cached("SELECT owner, address FROM retired WHERE id = ?1 ORDER BY fact DESC, address LIMIT 1")?;
    Ok(statement.query_row([id], |r| Ok((r.get(0)?, r.get(1)?))).optional()?)
}

/// The last retired id at an address.
pub(crate) fn retired_at(conn: &Conn, owner: &Owner, address: &Address) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached("SELECT id FROM retired WHERE owner = ?1 AND address = ?2")?;
    Ok(statement.query_row(params![owner, address], |r| r.get(0)).optional()?)
}

/// The last retired ids of an owner; where a resource is gone and still held, that one.
pub(crate) fn retired(conn: &Conn, owner: &Owner) -> Result<Vec<(Address, String)>> {
    let mut statement = conn.prepare_cached(
        "SELECT address, id FROM retired WHERE owner = ?1 \
         UNION ALL SELECT address, id FROM resource \
         WHERE owner = ?1 AND gone IS NOT NULL AND superseded = 0 AND offered IS NULL",
    )?;
    let rows = statement.query_map([owner], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
