//! Tokens of the API, by the hash of their secrets.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::Digest;
use crate::model::op::{Scope, TokenInfo};
use crate::store::sql::Json;
use crate::store::{Conn, Result};

const COLUMNS: &str = "id, name, scope, owners, actor_kind, created_at, expires_at, revoked_at";

fn read(r: &Row<'_>) -> rusqlite::Result<TokenInfo> {
    Ok(TokenInfo {
        id: r.get(0)?,
        name: r.get(1)?,
        scope: r.get::<_, Json<Scope>>(2)?.0,
        owners: r.get::<_, Json<Vec<String>>>(3)?.0,
        actor_kind: r.get(4)?,
        created_at: r.get(5)?,
        expires_at: r.get(6)?,
        revoked_at: r.get(7)?,
    })
}

/// The row of a hash, with the hash as it is stored.
pub(crate) fn by_hash(conn: &Conn, hash: Digest) -> Result<Option<(Digest, TokenInfo)>> {
    let sql = format!("SELECT {COLUMNS}, hash FROM token WHERE hash = ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.query_row([hash], |r| Ok((r.get(8)?, read(r)?))).optional()?)
}

/// A token.
pub(crate) fn get(conn: &Conn, id: &str) -> Result<Option<TokenInfo>> {
    let sql = format!("SELECT {COLUMNS} FROM token WHERE id = ?1");
    Ok(conn.prepare_cached(&sql)?.query_row([id], read).optional()?)
}

/// All, oldest first.
pub(crate) fn all(conn: &Conn) -> Result<Vec<TokenInfo>> {
    let sql = format!("SELECT {COLUMNS} FROM token ORDER BY id");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds one; its name is free among those that are not revoked.
pub(crate) fn add(conn: &Conn, hash: Digest, token: &TokenInfo) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO token (id, hash, name, scope, owners, actor_kind, created_at, expires_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        token.id,
        hash,
        token.name,
        Json(token.scope),
        Json(&token.owners),
        token.actor_kind,
        token.created_at,
        token.expires_at
    ])?;
    Ok(())
}

/// Ends one.
pub(crate) fn revoke(conn: &Conn, id: &str, now: &str) -> Result<()> {
    conn.prepare_cached("UPDATE token SET revoked_at = ?2 WHERE id = ?1")?.execute(params![id, now])?;
    Ok(())
}
