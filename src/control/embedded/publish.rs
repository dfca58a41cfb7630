//! `skills.publish` and `file_trees.publish`: a new immutable version from files whose bytes are held already.

use crate::control::embedded::error::{Result, invalid, refused};
use crate::control::embedded::rights::{self, Right};
use crate::control::embedded::skills::{self, SKILL_FILE};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{digests, update};
use crate::diag::codes::control as codes;
use crate::model::op::{ContentOf, Publish};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Digest, Kind};
use crate::store::document;
use crate::store::resource::Resource;
use crate::store::version::{self, Version};

/// Most files of a tree revision.
const TREE_FILES: usize = 1_024;

/// Publishes a version. Equal to the newest one, with an owner or a key, it answers that one.
pub(super) fn publish(tx: &Tx<'_>, request: &Publish) -> Result<Effect> {
    let (mut r, right) = rights::for_change(tx, Some(request.kind), &request.at)?;
    let repeated = right == Right::Owner || tx.context.owner.is_some() || tx.context.key.is_some();
    let equal = repeated && r.content == Some(request.content.digest);
    let before = digests::applied(tx.conn, &r)?.unwrap_or_default();
    let mut fields = Vec::new();
    let made = if equal {
        r.content_version.clone()
    } else {
        fields.push("content".to_owned());
        r.version += 1;
        r.updated_at.clone_from(&tx.now);
        Some(add_version(tx, &mut r, &request.content)?)
    };
    let recorded = update::record_applied(tx, &mut r, right, request.applied.as_ref(), &before, &mut fields)?;
    if equal && recorded {
        r.seq += 1;
    }
    if !equal || recorded {
        let body = digests::body(tx.conn, &r)?;
        digests::save(tx.conn, &mut r, body)?;
    }
    Ok(Effect::of(&r, made, !equal || recorded, fields))
}

/// Adds the next version to a skill or tree; answers its id.
pub(super) fn add_version(tx: &Tx<'_>, r: &mut Resource, content: &ContentOf) -> Result<String> {
    check(tx, r, content)?;
    document::put_entries(tx.conn, content.digest, &content.entries)?;
    r.number += 1;
    let id = if r.kind == Kind::Skill { tx.id("skver_") } else { r.number.to_string() };
    let row = Version {
        resource: r.id.clone(),
        number: r.number,
        id: id.clone(),
        digest: content.digest,
        created_at: tx.now.clone(),
        actor: tx.context.actor.clone(),
    };
    version::add(tx.conn, &row)?;
    r.content = Some(content.digest);
    r.content_version = Some(id.clone());
    Ok(id)
}

fn check(tx: &Tx<'_>, r: &Resource, content: &ContentOf) -> Result<()> {
    let kind = r.kind;
    let entries = &content.entries;
    if entries.is_empty() || (kind == Kind::FileTree && entries.len() > TREE_FILES) {
        let message = format!("a version holds 1 to {TREE_FILES} files, not {}", entries.len());
        return Err(refused(&codes::CONTENT_LIMIT, message));
    }
    if !entries.windows(2).all(|pair| pair[0].path < pair[1].path) {
        return Err(invalid("entries are sorted by path, no path twice"));
    }
    if let Some(bad) = entries.iter().find(|e| !is_relative(&e.path)) {
        return Err(invalid(format!("`{}` is no normalized relative path", bad.path)));
    }
    if kind == Kind::Skill && !entries.iter().any(|e| e.path == SKILL_FILE) {
        return Err(invalid("a skill has a SKILL.md at its top"));
    }
    if FileSet::digest_of(entries) != content.digest {
        return Err(refused(
            &codes::CONTENT_MISMATCH,
            format!("{} is not the digest of these entries", content.digest),
        ));
    }
    held(tx, entries)?;
    if kind == Kind::Skill { skills::check_name(tx, r, content) } else { Ok(()) }
}

/// Every body is there, and has the size that is said.
fn held(tx: &Tx<'_>, entries: &[Entry]) -> Result<()> {
    let mut missing: Vec<Digest> = Vec::new();
    for e in entries {
        match document::blob_size(tx.conn, e.sha256)? {
            Some(size) if size == e.size => {}
            Some(size) => {
                return Err(invalid(format!("`{}` has {size} bytes, not {}", e.path, e.size)));
            }
            None => missing.push(e.sha256),
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(content_missing(&missing)) }
}

/// `content.missing`, with the digests.
pub(super) fn content_missing(missing: &[Digest]) -> crate::control::ControlError {
    let first: Vec<_> = missing.iter().take(3).map(Digest::short).collect();
    let message = format!("{} bodies are not held, among them {}", missing.len(), first.join(", "));
    let mut error = crate::control::embedded::error::conflict("content_missing", message);
    error.code = codes::CONTENT_MISSING.code;
    error.details["missing"] = serde_json::json!(missing);
    error
}

fn is_relative(path: &str) -> bool {
    path.len() <= 1_024 && !path.contains('\0') && path.split('/').all(|p| !p.is_empty() && p != "." && p != "..")
}
