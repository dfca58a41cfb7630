//! Files that were uploaded: what is said of each, and the digest of its bytes.

use rusqlite::{OptionalExtension, Row, params};

use crate::model::Digest;
use crate::store::{Conn, Result};

/// A file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Place in the order of uploads; 0 before it is stored.
    pub(crate) seq: u64,
    /// `file_…`
    pub(crate) id: String,
    pub(crate) filename: String,
    pub(crate) mime_type: String,
    /// `None`: it has expired, and its bytes are gone.
    pub(crate) digest: Option<Digest>,
    pub(crate) size: u64,
    pub(crate) created_at: String,
    pub(crate) expires_at: Option<String>,
    /// Who uploaded it.
    pub(crate) actor: String,
}

const COLUMNS: &str = "seq, id, filename, mime_type, digest, size, created_at, expires_at, actor";

fn read(r: &Row<'_>) -> rusqlite::Result<File> {
    Ok(File {
        seq: r.get(0)?,
        id: r.get(1)?,
        filename: r.get(2)?,
        mime_type: r.get(3)?,
        digest: r.get(4)?,
        size: r.get(5)?,
        created_at: r.get(6)?,
        expires_at: r.get(7)?,
        actor: r.get(8)?,
    })
}

/// Adds a file.
pub(crate) fn add(conn: &Conn, f: &File) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO file (id, filename, mime_type, digest, size, created_at, expires_at, actor) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![f.id, f.filename, f.mime_type, f.digest, f.size, f.created_at, f.expires_at, f.actor])?;
    Ok(())
}

/// One by id, expired or not.
pub(crate) fn get(conn: &Conn, id: &str) -> Result<Option<File>> {
    let sql = format!("SELECT {COLUMNS} FROM file WHERE id = ?1");
    Ok(conn.prepare_cached(&sql)?.query_row([id], read).optional()?)
}

/// Those uploaded before `seq` that have not expired at `now` (RFC 3339 in UTC without its `Z`), newest first.
pub(crate) fn list(conn: &Conn, before: u64, now: &str, limit: u32) -> Result<Vec<File>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM file WHERE seq < ?1 AND (expires_at IS NULL OR rtrim(expires_at, 'Z') > ?2) \
         ORDER BY seq DESC LIMIT ?3"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params![before, now, limit], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Lets go of the digests of files that have expired at `now`, at most so many; answers those digests.
pub(crate) fn expire(conn: &Conn, now: &str, most: u32) -> Result<Vec<Digest>> {
    let mut statement = conn.prepare_cached(
        "SELECT seq, digest FROM file WHERE expires_at IS NOT NULL AND digest IS NOT NULL \
         AND rtrim(expires_at, 'Z') <= ?1 LIMIT ?2",
    )?;
    let rows = statement.query_map(params![now, most], |r| Ok((r.get::<_, u64>(0)?, r.get(1)?)))?;
    let over = rows.collect::<rusqlite::Result<Vec<(u64, Digest)>>>()?;
    let mut clear = conn.prepare_cached("UPDATE file SET digest = NULL WHERE seq = ?1")?;
    for (seq, _) in &over {
        clear.execute([seq])?;
    }
    Ok(over.into_iter().map(|(_, digest)| digest).collect())
}

/// Deletes a file.
pub(crate) fn delete(conn: &Conn, id: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM file WHERE id = ?1")?.execute([id])?;
    Ok(())
}
