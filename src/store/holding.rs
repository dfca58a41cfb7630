//! What an owner had applied at an address, from which audit fact on.

use rusqlite::params;

use crate::model::{Address, Digest, Owner};
use crate::store::sql::Json;
use crate::store::{Conn, Result};

/// What an owner has at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) owner: Owner,
    pub(crate) address: Address,
    /// Live id.
    pub(crate) id: String,
    /// Document: the canonical form that was applied.
    pub(crate) spec: Digest,
    pub(crate) unowned: Vec<String>,
    pub(crate) protected: bool,
}

const INSERT: &str = "INSERT INTO holding (owner, address, fact, id, spec, unowned, protected) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET id = ?4, spec = ?5, unowned = ?6, protected = ?7";

/// Notes that an owner has this, from a fact on.
pub(crate) fn begin(conn: &Conn, h: &Holding, fact: u64) -> Result<()> {
    conn.prepare_cached(INSERT)?.execute(params![
        h.owner,
        h.address,
        fact,
        h.id,
        h.spec,
        Json(&h.unowned),
        h.protected
    ])?;
    Ok(())
}

/// Notes that an owner has this no more at its address, from a fact on.
pub(crate) fn end(conn: &Conn, h: &Holding, fact: u64) -> Result<()> {
    let none = None::<Digest>;
    conn.prepare_cached(INSERT)?.execute(params![h.owner, h.address, fact, h.id, none, Json(&h.unowned), false])?;
    Ok(())
}

/// What an owner had once a fact was written, by address, after an address.
pub(crate) fn at(conn: &Conn, owner: &Owner, fact: u64, after: &str, limit: u32) -> Result<Vec<Holding>> {
    let mut statement = conn.prepare_cached(
        "SELECT owner, address, id, spec, unowned, protected FROM holding h \
         WHERE owner = ?1 AND address > ?3 AND spec IS NOT NULL AND fact = \
         (SELECT max(fact) FROM holding l WHERE l.owner = ?1 AND l.address = h.address AND l.fact <= ?2) \
         ORDER BY address LIMIT ?4",
    )?;
    let rows = statement.query_map(params![owner, fact, after, limit], |r| {
        Ok(Holding {
            owner: r.get(0)?,
            address: r.get(1)?,
            id: r.get(2)?,
            spec: r.get(3)?,
            unowned: r.get::<_, Json<Vec<String>>>(4)?.0,
            protected: r.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
