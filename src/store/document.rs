//! JSON documents, file sets and blobs, each stored once by digest.

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use crate::model::Digest;
use crate::model::tree::Entry;
use crate::store::sql::Json;
use crate::store::{Conn, Result};

/// Keeps a JSON value; answers the digest of its canonical form.
pub(crate) fn put(conn: &Conn, value: &Value) -> Result<Digest> {
    let canonical = crate::model::digest::canonical_json(value);
    let digest = Digest::of(&canonical);
    let text = String::from_utf8_lossy(&canonical);
    conn.prepare_cached("INSERT INTO document (digest, json) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![digest, text])?;
    Ok(digest)
}

/// A document that is known to be there.
pub(crate) fn get(conn: &Conn, digest: Digest) -> Result<Value> {
    let mut statement = conn.prepare_cached("SELECT json FROM document WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |r| r.get::<_, Json<Value>>(0))?.0)
}

/// A document, if it is held.
pub(crate) fn find(conn: &Conn, digest: Digest) -> Result<Option<Value>> {
    let mut statement = conn.prepare_cached("SELECT json FROM document WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |r| r.get::<_, Json<Value>>(0)).optional()?.map(|j| j.0))
}

/// Keeps the entries of a file set.
pub(crate) fn put_entries(conn: &Conn, digest: Digest, entries: &[Entry]) -> Result<()> {
    conn.prepare_cached("INSERT INTO file_set (digest, entries) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![digest, Json(entries)])?;
    Ok(())
}

/// The entries of a file set; none for an unknown digest.
pub(crate) fn entries(conn: &Conn, digest: Digest) -> Result<Vec<Entry>> {
    let mut statement = conn.prepare_cached("SELECT entries FROM file_set WHERE digest = ?1")?;
    let found = statement.query_row([digest], |r| r.get::<_, Json<Vec<Entry>>>(0)).optional()?;
    Ok(found.map(|j| j.0).unwrap_or_default())
}

/// Keeps bytes whose digest was checked; says whether they are new.
pub(crate) fn put_blob(conn: &Conn, digest: Digest, bytes: &[u8]) -> Result<bool> {
    let done = conn
        .prepare_cached("INSERT INTO blob (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![digest, bytes])?;
    Ok(done > 0)
}

/// Is it held?
pub(crate) fn has_blob(conn: &Conn, digest: Digest) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM blob WHERE digest = ?1")?.exists([digest])?)
}

/// Its size, if it is held.
pub(crate) fn blob_size(conn: &Conn, digest: Digest) -> Result<Option<u64>> {
    let mut statement = conn.prepare_cached("SELECT length(bytes) FROM blob WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |r| r.get(0)).optional()?)
}

/// Its bytes, if it is held.
pub(crate) fn blob(conn: &Conn, digest: Digest) -> Result<Option<Vec<u8>>> {
    let mut statement = conn.prepare_cached("SELECT bytes FROM blob WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |r| r.get(0)).optional()?)
}

/// Lets go of those of these bytes that no memory, file, skill or tree has.
pub(crate) fn release_blobs(conn: &Conn, digests: &[Digest]) -> Result<()> {
    let hex: Vec<String> = digests.iter().map(Digest::hex).collect();
    conn.prepare_cached(
        "DELETE FROM blob WHERE digest IN (SELECT unhex(value) FROM json_each(?1)) \
         AND NOT EXISTS (SELECT 1 FROM memory WHERE sha256 = blob.digest) \
         AND NOT EXISTS (SELECT 1 FROM file WHERE file.digest = blob.digest) \
         AND 'sha256:' || lower(hex(digest)) NOT IN \
         (SELECT json_extract(e.value, '$.sha256') FROM file_set, json_each(file_set.entries) e)",
    )?
    .execute([Json(hex)])?;
    Ok(())
}
