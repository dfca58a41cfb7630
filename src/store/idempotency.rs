//! Stored answers by idempotency key. Only successes are stored, with their effect.

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use crate::model::Digest;
use crate::store::sql::Json;
use crate::store::{Conn, Result};

/// A row.
pub(crate) struct Stored {
    /// Digest of the request.
    pub(crate) request: Digest,
    /// The resource that it was about or made.
    pub(crate) resource: Option<String>,
    /// The answer.
    pub(crate) answer: Value,
}

/// The answer stored under a key.
pub(crate) fn get(conn: &Conn, scope: &str, key: &str) -> Result<Option<Stored>> {
    let mut statement =
        conn.prepare_cached("SELECT request, resource, answer FROM idempotency WHERE scope = ?1 AND key = ?2")?;
    let row = statement.query_row([scope, key], |r| {
        Ok(Stored { request: r.get(0)?, resource: r.get(1)?, answer: r.get::<_, Json<Value>>(2)?.0 })
    });
    Ok(row.optional()?)
}

/// Lets go of answers from before a moment (RFC 3339, UTC, without fraction and `Z`), the oldest first, at most so
/// many.
pub(crate) fn forget(conn: &Conn, before: &str, most: u32) -> Result<()> {
    conn.prepare_cached(
        "DELETE FROM idempotency WHERE (scope, key) IN \
         (SELECT scope, key FROM idempotency WHERE at < ?1 ORDER BY at LIMIT ?2)",
    )?
    .execute(params![before, most])?;
    Ok(())
}

/// Lets go of all answers; says how many.
pub(crate) fn forget_all(conn: &Conn) -> Result<usize> {
    Ok(conn.execute("DELETE FROM idempotency", [])?)
}

/// Stores an answer, in place of an older one.
pub(crate) fn put(conn: &Conn, scope: &str, key: &str, stored: &Stored, at: &str) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO idempotency (scope, key, request, resource, answer, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (scope, key) DO UPDATE SET request = ?3, resource = ?4, answer = ?5, at = ?6",
    )?
    .execute(params![scope, key, stored.request, stored.resource, Json(&stored.answer), at])?;
    Ok(())
}
