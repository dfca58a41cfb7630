//! The workspace's records of authoring owners.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use crate::model::config::Policy;
use crate::model::op::Source;
use crate::model::{Address, Digest, Owner};
use crate::store::sql::Json;
use crate::store::{Conn, Result};

/// A row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// The policy last applied.
    pub(crate) policy: Option<Policy>,
    /// Where the last Apply that changed something came from.
    pub(crate) source: Option<Source>,
    /// What a rollback undid: the desired digest, `None` where nothing was desired.
    pub(crate) undone: BTreeMap<Address, Option<Digest>>,
    /// Raised by every change of the policy.
    pub(crate) seq: u64,
    /// The owner digest, kept until anything of it changes.
    pub(crate) digest: Option<Digest>,
}

/// The record of an owner.
pub(crate) fn get(conn: &Conn, owner: &Owner) -> Result<Option<Record>> {
    let mut statement =
        conn.prepare_cached("SELECT policy, source, undone, seq, digest FROM owner WHERE owner = ?1")?;
    let row = statement.query_row([owner], |r| {
        Ok(Record {
            policy: r.get::<_, Option<Json<Policy>>>(0)?.map(|j| j.0),
            source: r.get::<_, Option<Json<Source>>>(1)?.map(|j| j.0),
            undone: r.get::<_, Json<BTreeMap<Address, Option<Digest>>>>(2)?.0,
            seq: r.get(3)?,
            digest: r.get(4)?,
        })
    });
    Ok(row.optional()?)
}

/// Writes it.
pub(crate) fn put(conn: &Conn, owner: &Owner, record: &Record) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO owner (owner, policy, source, undone, seq, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (owner) DO UPDATE SET policy = ?2, source = ?3, undone = ?4, seq = ?5, digest = ?6",
    )?
    .execute(params![
        owner,
        record.policy.as_ref().map(Json),
        record.source.as_ref().map(Json),
        Json(&record.undone),
        record.seq,
        record.digest
    ])?;
    Ok(())
}

/// Takes over the source of an Apply of this owner; not that of a rollback, after which a checkout that is older
/// than what was undone is as old as before.
pub(crate) fn take_source(conn: &Conn, apply: &str) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO owner (owner, source, undone, seq) SELECT owner, source, '{}', 0 FROM apply \
         WHERE id = ?1 AND json_extract(source, '$.apply') IS NULL \
         ON CONFLICT (owner) DO UPDATE SET source = excluded.source",
    )?
    .execute([apply])?;
    Ok(())
}

/// Something of this owner changes: the kept digest is no more.
pub(crate) fn forget_digest(conn: &Conn, owner: &Owner) -> Result<()> {
    conn.prepare_cached("UPDATE owner SET digest = NULL WHERE owner = ?1 AND digest IS NOT NULL")?.execute([owner])?;
    Ok(())
}
