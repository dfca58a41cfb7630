//! Rules of memory mounts and file tree mounts: destinations of one agent do not overlap, access fits.

use serde_json::Value;

use crate::control::embedded::error::{Result, conflict, invalid, refused};
use crate::control::embedded::write::Tx;
use crate::control::embedded::{digests, snapshot};
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::kinds::{Object, def, is_under};
use crate::store::resource::{self, Resource};

/// Most memory stores that one agent may have mounted.
const STORES: usize = 8;

fn text<'a>(body: &'a Object, key: &str) -> Option<&'a str> {
    body.get(key).and_then(Value::as_str)
}

/// Checks a mount and notes its agent and destination in its row.
pub(super) fn place(tx: &Tx<'_>, r: &mut Resource, old: Option<&Object>, body: &Object) -> Result<()> {
    let target = match r.kind {
        Kind::MemoryMount => "memory_store_id",
        Kind::FileTreeMount => "file_tree_id",
        _ => return Ok(()),
    };
    if let Some(old) = old {
        for key in ["agent_id", target] {
            if old.get(key) != body.get(key) {
                return Err(refused(&codes::IMMUTABLE, format!("`{key}` of a mount cannot change")));
            }
        }
    }
    let access = text(body, "access").unwrap_or("read_only");
    if !matches!(access, "read_only" | "read_write") {
        return Err(invalid(format!("`access` is read_only or read_write, not {access}")));
    }
    let Some(mounted) = resource::get(tx.conn, text(body, target).unwrap_or_default())? else {
        return Err(invalid(format!("`{target}` names nothing in this workspace")));
    };
    if r.kind == Kind::MemoryMount && access == "read_write" && is_shared(tx, &mounted)? {
        return Err(invalid(format!("{} is a shared store and mounts read_only", mounted.id)));
    }
    if body.contains_key("writeback") && !is_git(tx, &mounted)? {
        return Err(invalid("`writeback` needs a file tree from Git"));
    }
    let place = text(body, "mount_path").map_or_else(|| default_place(&mounted), str::to_owned);
    check_path(&place)?;
    let agent = text(body, "agent_id").unwrap_or_default();
    let taken = resource::places(tx.conn, agent)?;
    let is_memory = |id: &str| id.starts_with(def(Kind::MemoryMount).id_prefix);
    let stores = taken.iter().filter(|(id, _)| *id != r.id && is_memory(id)).count();
    if r.kind == Kind::MemoryMount && stores >= STORES {
        return Err(conflict("mount_count", format!("{agent} has {STORES} memory mounts, which is all it may have")));
    }
    for (other, at) in taken {
        if other != r.id && (is_under(&place, &at) || is_under(&at, &place)) {
            return Err(conflict("mount_overlap", format!("{place} overlaps {at}, where {other} mounts for {agent}")));
        }
    }
    r.agent = Some(agent.to_owned());
    r.place = Some(place);
    Ok(())
}

fn is_git(tx: &Tx<'_>, tree: &Resource) -> Result<bool> {
    let body = digests::body(tx.conn, tree)?;
    Ok(body.get("source").and_then(|s| s.get("kind")).and_then(Value::as_str) == Some("git"))
}

/// A store of anyone but one principal is shared.
fn is_shared(tx: &Tx<'_>, store: &Resource) -> Result<bool> {
    Ok(snapshot::store_owner(tx.conn, store)? != "principal")
}

/// Where it mounts when nothing is said: by the shown name of what is mounted.
fn default_place(mounted: &Resource) -> String {
    let mut slug = String::new();
    for c in mounted.name.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let root = if mounted.kind == Kind::MemoryStore { "/mnt/memory" } else { "/workspace" };
    format!("{root}/{}", slug.trim_end_matches('-'))
}

fn check_path(path: &str) -> Result<()> {
    let ok = path.starts_with('/')
        && path.len() <= 1_024
        && path.len() > 1
        && path[1..].split('/').all(|p| !p.is_empty() && p != "." && p != "..")
        && !path.chars().any(char::is_control);
    if ok { Ok(()) } else { Err(invalid(format!("`{path}` is no mount path: write /a/b, without `.` or `..`"))) }
}
