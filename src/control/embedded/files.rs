//! `files.*`: what was uploaded, until it expires. Uploads are there to be used and cannot be downloaded.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, invalid, not_found, refused};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{Clock, paging, publish};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{FileCreate, FileList, GetId, Page, Response, Written};
use crate::store::file::{self, File};
use crate::store::{Conn, document};

/// Seconds that an upload may ask to be kept: an hour to ninety days.
const KEPT: std::ops::RangeInclusive<u64> = 3_600..=7_776_000;
/// Most items of a page.
const PAGE: u32 = 1_000;
/// Most ids of one list.
const IDS: usize = 100;
/// How many expired files one write lets go of at most.
const EXPIRED_AT_ONCE: u32 = 64;

/// Stores a file whose bytes are held already.
pub(super) fn create(tx: &Tx<'_>, request: &FileCreate) -> Result<Effect> {
    sweep(tx)?;
    let filename = name(&request.filename, &request.mime_type)?;
    let mime = &request.mime_type;
    if mime.is_empty() || mime.len() > 255 || mime.chars().any(|c| c.is_control() || c.is_whitespace() && c != ' ') {
        return Err(invalid("`mime_type` is a media type of 1 to 255 bytes"));
    }
    match document::blob_size(tx.conn, request.digest)? {
        Some(size) if size == request.size => {}
        Some(size) => return Err(invalid(format!("the file has {size} bytes, not {}", request.size))),
        None => return Err(publish::content_missing(&[request.digest])),
    }
    let stored = File {
        seq: 0,
        id: tx.id("file_"),
        filename,
        mime_type: mime.clone(),
        digest: Some(request.digest),
        size: request.size,
        created_at: tx.now.clone(),
        expires_at: request.expires_in_seconds.map(|s| expiry(&tx.now, s)).transpose()?,
        actor: tx.context.actor.clone(),
    };
    file::add(tx.conn, &stored)?;
    Ok(effect(stored.id))
}

/// Deletes a file, expired or not.
pub(super) fn delete(tx: &Tx<'_>, request: &GetId) -> Result<Effect> {
    sweep(tx)?;
    let stored = file::get(tx.conn, &request.id)?.ok_or_else(|| not_found(&request.id))?;
    file::delete(tx.conn, &stored.id)?;
    document::release_blobs(tx.conn, stored.digest.as_slice())?;
    Ok(effect(stored.id))
}

/// Bytes of files that have expired go with the next write about files.
fn sweep(tx: &Tx<'_>) -> Result<()> {
    let over = file::expire(tx.conn, tx.now.trim_end_matches('Z'), EXPIRED_AT_ONCE)?;
    if over.is_empty() { Ok(()) } else { Ok(document::release_blobs(tx.conn, &over)?) }
}

fn effect(id: String) -> Effect {
    let about = id.clone();
    let (made, spec, replayed, moved) = (None, None, false, false);
    let written = Written { id, version: 1, seq: 0, made, changed: true, replayed, moved, spec };
    Effect::beside(Response::Written(written), about, true)
}

fn expiry(now: &str, seconds: u64) -> Result<String> {
    if !KEPT.contains(&seconds) {
        return Err(invalid(format!("`expires_in_seconds` is 3,600 to 7,776,000, not {seconds}")));
    }
    let after = |now: jiff::Timestamp| now.checked_add(std::time::Duration::from_secs(seconds));
    match now.parse::<jiff::Timestamp>().and_then(after) {
        Ok(at) => Ok(at.to_string()),
        Err(_) => Err(invalid("`expires_in_seconds` ends after time does")),
    }
}

/// The last component of what an upload is called. None: `unnamed`, with the usual extension of its type.
fn name(asked: &str, mime: &str) -> Result<String> {
    let last = asked.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.is_empty() {
        return Ok(format!("unnamed{}", extension(mime)));
    }
    let bad = |c: char| c < '\u{20}' || matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*');
    if last.chars().count() > 255 || last.chars().any(bad) {
        return Err(invalid("`filename` has 1 to 255 characters, none of them a control or one of <>:\"|?*"));
    }
    Ok(last.to_owned())
}

fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "application/json" => ".json",
        "application/pdf" => ".pdf",
        "application/zip" => ".zip",
        "image/gif" => ".gif",
        "image/jpeg" => ".jpg",
        "image/png" => ".png",
        "image/webp" => ".webp",
        "text/csv" => ".csv",
        "text/html" => ".html",
        "text/markdown" => ".md",
        "text/plain" => ".txt",
        _ => "",
    }
}

/// `files.list`: those that have not expired, newest first; or those of some ids, whatever is not there left out.
pub(super) fn list(conn: &Conn, clock: &Clock, request: &FileList) -> Result<Page<Value>> {
    let now = paging::sortable(clock());
    if !request.ids.is_empty() {
        return by_ids(conn, &now, request);
    }
    let limit = paging::limit(request.limit, 20, PAGE)?;
    let before = match request.page.as_deref().map(paging::key).transpose()? {
        None => i64::MAX.unsigned_abs(),
        Some(key) => key.parse().ok().filter(|n| i64::try_from(*n).is_ok()).ok_or_else(paging::no_cursor)?,
    };
    let mut found = if request.scope.is_some() { Vec::new() } else { file::list(conn, before, &now, limit + 1)? };
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next_page = found.last().filter(|_| more).map(|f| paging::cursor(&f.seq.to_string()));
    Ok(Page { data: found.iter().map(body).collect(), next_page })
}

fn by_ids(conn: &Conn, now: &str, request: &FileList) -> Result<Page<Value>> {
    if request.page.is_some() || request.limit.is_some() {
        return Err(invalid("`ids` does not go with `page` and `limit`"));
    }
    let ids: BTreeSet<&String> = request.ids.iter().collect();
    if ids.len() > IDS {
        return Err(invalid(format!("`ids` names at most {IDS} files, not {}", ids.len())));
    }
    let mut found = Vec::new();
    for id in ids.into_iter().filter(|_| request.scope.is_none()) {
        found.extend(file::get(conn, id)?.filter(|f| !has_expired(f, now)));
    }
    found.sort_by_key(|f| std::cmp::Reverse(f.seq));
    Ok(Page { data: found.iter().map(body).collect(), next_page: None })
}

fn has_expired(f: &File, now: &str) -> bool {
    f.expires_at.as_ref().is_some_and(|at| at.trim_end_matches('Z') <= now)
}

/// `files.get`.
pub(super) fn get(conn: &Conn, clock: &Clock, request: &GetId) -> Result<Value> {
    held(conn, clock, &request.id).map(|f| body(&f))
}

/// `files.content`: no upload can be downloaded.
pub(super) fn content(conn: &Conn, clock: &Clock, request: &GetId) -> Result<Vec<u8>> {
    let f = held(conn, clock, &request.id)?;
    Err(refused(&codes::FILE_NOT_DOWNLOADABLE, format!("{} was uploaded, and uploads cannot be downloaded", f.id)))
}

fn held(conn: &Conn, clock: &Clock, id: &str) -> Result<File> {
    let f = file::get(conn, id)?.ok_or_else(|| not_found(id))?;
    if has_expired(&f, &paging::sortable(clock())) {
        let message = format!("{id} has expired");
        return Err(ControlError::new(ErrorKind::NotFound, codes::FILE_EXPIRED.code, message));
    }
    Ok(f)
}

/// The wire body of a file that was just written.
pub(super) fn written(conn: &Conn, id: &str) -> Result<Option<Value>> {
    Ok(file::get(conn, id)?.map(|f| body(&f)))
}

fn body(f: &File) -> Value {
    json!({
        "id": f.id,
        "type": "file",
        "filename": f.filename,
        "mime_type": f.mime_type,
        "size_bytes": f.size,
        "downloadable": false,
        "created_at": f.created_at,
        "expires_at": f.expires_at,
        "created_by": f.actor,
    })
}
