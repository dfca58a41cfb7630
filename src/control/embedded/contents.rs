//! `memory_stores.write_contents`: many puts and deletes as one MemoryVersion, failing only where a path that
//! it names moved. And what single memory writes share with it.

use std::collections::BTreeMap;

use serde_json::json;
use unicode_normalization::is_nfc;

use crate::control::embedded::error::{Result, conflict, invalid, refused, stale};
use crate::control::embedded::rights::{self, Right};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{digests, publish, update};
use crate::diag::codes::control as codes;
use crate::model::kinds::Applied;
use crate::model::op::{Expect, WriteContents};
use crate::model::{Digest, Kind};
use crate::store::document;
use crate::store::memory::{self, Memory, Operation};
use crate::store::resource::Resource;
use crate::store::version::{self, Version};

/// Most bytes of a memory.
pub(super) const MEMORY_BYTES: usize = 102_400;
/// Most memories of a store.
const MEMORIES: u64 = 10_000;

/// Writes many memories.
pub(super) fn write_contents(tx: &Tx<'_>, request: &WriteContents) -> Result<Effect> {
    let at = Expect { id: request.id.clone(), version: None };
    let (mut r, right) = rights::for_change(tx, Some(Kind::MemoryStore), &at)?;
    for path in request.puts.keys().chain(&request.deletes) {
        check_path(path)?;
        let Some(expect) = request.expect.get(path) else {
            return Err(invalid(format!("`expect` says nothing of {path}")));
        };
        expect_content(tx, &r.id, path, *expect)?;
    }
    if let Some(path) = request.deletes.iter().find(|p| request.puts.contains_key(*p)) {
        return Err(invalid(format!("{path} is both put and deleted")));
    }
    let sizes = sizes(tx, &request.puts)?;
    let next = r.number + 1;
    let mut fields = Vec::new();
    for path in &request.deletes {
        if let Some(now) = memory::at(tx.conn, &r.id, path)? {
            remove(tx, &r.id, next, &now)?;
            fields.push(format!("contents.{path}"));
        }
    }
    for (path, digest) in &request.puts {
        let size = sizes.get(path).copied().unwrap_or_default();
        if put(tx, &r.id, next, path, *digest, size)? {
            fields.push(format!("contents.{path}"));
        }
    }
    let changed = !fields.is_empty();
    if changed {
        check_tree(tx, &r.id, request.puts.keys())?;
        add_version(tx, &mut r)?;
    }
    let made = r.content_version.clone();
    finish(tx, r, right, request, fields, made)
}

fn finish(
    tx: &Tx<'_>,
    mut r: Resource,
    right: Right,
    request: &WriteContents,
    mut fields: Vec<String>,
    made: Option<String>,
) -> Result<Effect> {
    let changed = !fields.is_empty();
    let before = digests::applied(tx.conn, &r)?.unwrap_or_default();
    let applied = request.applied.as_ref().map(|sent| with_paths(&before, sent, request));
    let recorded = update::record_applied(tx, &mut r, right, applied.as_ref(), &before, &mut fields)?;
    if recorded {
        // The store's version stays, so it is this that a `record` planned before meets.
        r.seq += 1;
    }
    if changed || recorded {
        let body = digests::body(tx.conn, &r)?;
        digests::save(tx.conn, &mut r, body)?;
    }
    Ok(Effect::of(&r, made, changed || recorded, fields))
}

/// What was applied before, with the paths that this request writes as it says they are now. The comparison
/// was made for those alone: another write may have applied the rest since the plan was made.
fn with_paths(before: &Applied, sent: &Applied, request: &WriteContents) -> Applied {
    let mut applied = before.clone();
    let mut contents = digests::contents_of(&before.spec);
    let says = sent.spec.get("contents");
    for path in request.puts.keys().chain(&request.deletes) {
        match says.and_then(|c| c.get(path)) {
            Some(digest) => drop(contents.insert(path.clone(), digest.clone())),
            None => drop(contents.remove(path)),
        }
    }
    digests::set_contents(&mut applied.spec, contents);
    applied
}

/// Compares what is at a path; says who wrote it when it is another.
pub(super) fn expect_content(tx: &Tx<'_>, store: &str, path: &str, expect: Option<Digest>) -> Result<()> {
    let now = memory::at(tx.conn, store, path)?;
    if now.as_ref().map(|m| m.sha256) == expect {
        return Ok(());
    }
    let (what, writer) = match &now {
        Some(m) => (format!("{path} was written by {} at {}", m.actor, m.at), json!(m.actor)),
        None => (format!("{path} is no longer there"), serde_json::Value::Null),
    };
    let mut error = stale(what, json!(now.map(|m| m.sha256)));
    error.details["path"] = json!(path);
    error.details["writer"] = writer;
    Err(error)
}

/// A new memory, written now.
pub(super) fn made(tx: &Tx<'_>, path: &str, sha256: Digest, size: u64) -> Memory {
    Memory {
        id: tx.id("mem_"),
        version: tx.id("memver_"),
        path: path.to_owned(),
        sha256,
        size,
        actor: tx.context.actor.clone(),
        actor_kind: tx.context.actor_kind,
        owner: tx.context.owner.clone(),
        created_at: tx.now.clone(),
        at: tx.now.clone(),
    }
}

/// The next version of a memory, written now: its id outlives its content and its path.
pub(super) fn rewritten(tx: &Tx<'_>, now: &Memory) -> Memory {
    let next = made(tx, &now.path, now.sha256, now.size);
    Memory { id: now.id.clone(), created_at: now.created_at.clone(), ..next }
}

/// Puts a memory in version `next`; `false` when it is there already, as it is.
fn put(tx: &Tx<'_>, store: &str, next: u64, path: &str, sha256: Digest, size: u64) -> Result<bool> {
    match memory::at(tx.conn, store, path)? {
        Some(now) if now.sha256 == sha256 => return Ok(false),
        Some(now) => {
            memory::end(tx.conn, store, path, next)?;
            let after = Memory { sha256, size, ..rewritten(tx, &now) };
            memory::add(tx.conn, store, next, Operation::Modified, &after)?;
        }
        None => memory::add(tx.conn, store, next, Operation::Created, &made(tx, path, sha256, size))?,
    }
    Ok(true)
}

/// Deletes a memory in version `next`.
pub(super) fn remove(tx: &Tx<'_>, store: &str, next: u64, now: &Memory) -> Result<()> {
    memory::end(tx.conn, store, &now.path, next)?;
    Ok(memory::add(tx.conn, store, next, Operation::Deleted, &rewritten(tx, now))?)
}

/// The path of a memory that is to be made is taken.
pub(super) fn taken(path: &str, now: &Memory) -> crate::control::ControlError {
    path_conflict(now, format!("{path} is taken by {}", now.id))
}

fn path_conflict(with: &Memory, message: String) -> crate::control::ControlError {
    let mut error = conflict("path", message);
    error.code = codes::MEMORY_PATH_CONFLICT.code;
    error.details["conflicting_memory_id"] = json!(with.id);
    error.details["conflicting_path"] = json!(with.path);
    error
}

/// Ends the next MemoryVersion: number and digest of the whole tree. The store's `version` stays.
pub(super) fn add_version(tx: &Tx<'_>, r: &mut Resource) -> Result<()> {
    let files: BTreeMap<_, _> = memory::contents(tx.conn, &r.id)?.into_iter().collect();
    let digest = Digest::of_json(&files);
    r.number += 1;
    let row = Version {
        resource: r.id.clone(),
        number: r.number,
        id: r.number.to_string(),
        digest,
        created_at: tx.now.clone(),
        actor: tx.context.actor.clone(),
    };
    version::add(tx.conn, &row)?;
    r.content = Some(digest);
    r.content_version = Some(row.id);
    Ok(())
}

/// No path is below another memory; not too many.
pub(super) fn check_tree<'p>(tx: &Tx<'_>, store: &str, paths: impl Iterator<Item = &'p String>) -> Result<()> {
    for path in paths {
        let mut above = path.as_str();
        while let Some((parent, _)) = above.rsplit_once('/') {
            if parent.is_empty() {
                break;
            }
            if let Some(over) = memory::at(tx.conn, store, parent)? {
                return Err(path_conflict(&over, format!("{path} would be below the memory {parent}")));
            }
            above = parent;
        }
        if let Some(below) = memory::below(tx.conn, store, path)? {
            return Err(path_conflict(&below, format!("{path} would be above the memory {}", below.path)));
        }
    }
    let count = memory::count(tx.conn, store)?;
    if count > MEMORIES {
        let message = format!("a store holds at most {MEMORIES} memories, this would make {count}");
        return Err(refused(&codes::CONTENT_LIMIT, message));
    }
    Ok(())
}

/// Bytes are held, are text, and not too many.
fn sizes(tx: &Tx<'_>, puts: &BTreeMap<String, Digest>) -> Result<BTreeMap<String, u64>> {
    let mut sizes = BTreeMap::new();
    let mut missing = Vec::new();
    for (path, digest) in puts {
        let Some(bytes) = document::blob(tx.conn, *digest)? else {
            missing.push(*digest);
            continue;
        };
        check_content(path, &bytes)?;
        sizes.insert(path.clone(), bytes.len() as u64);
    }
    if missing.is_empty() { Ok(sizes) } else { Err(publish::content_missing(&missing)) }
}

/// UTF-8, at most 102,400 bytes.
pub(super) fn check_content(path: &str, bytes: &[u8]) -> Result<()> {
    if bytes.len() > MEMORY_BYTES {
        let message = format!("{path} has {} bytes; a memory has at most {MEMORY_BYTES}", bytes.len());
        return Err(refused(&codes::CONTENT_LIMIT, message));
    }
    if std::str::from_utf8(bytes).is_err() {
        return Err(invalid(format!("{path} is not UTF-8")));
    }
    Ok(())
}

/// The rules of a memory's path.
pub(super) fn check_path(path: &str) -> Result<()> {
    let why = match path.strip_prefix('/') {
        None => "it does not begin with `/`",
        Some(_) if path.len() > 1_024 => "it is longer than 1,024 bytes",
        Some(rest) if rest.split('/').any(|p| matches!(p, "" | "." | "..")) => "a part is empty, `.` or `..`",
        Some(rest) if rest.split('/').count() > 20 => "it has more than 20 parts",
        Some(_) if path.chars().any(is_unseen) => "it has a control or format character",
        Some(_) if !is_nfc(path) => "it is not in Unicode NFC",
        Some(_) => return Ok(()),
    };
    Err(refused(&codes::MEMORY_PATH, format!("{path:?} is no path of a memory: {why}")))
}

/// Control characters, format characters (Unicode Cf), line and paragraph separators.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}')
}
