//! Pages of resources, of their versions, of applies and of facts: each is read from an index, and no more than it.

use serde_json::Value;

use crate::control::embedded::error::{Result, invalid, no_resource, not_found};
use crate::control::embedded::{paging, read, wire};
use crate::model::Kind;
use crate::model::kinds::Applied;
use crate::model::op::{
    ApplyInfo, ApplyList, AuditList, Fact, ListOf, ListView, Page, Recorded, SkillSource, StateAt, VersionsOf,
};
use crate::model::tree::Entry;
use crate::store::resource::{self, Resource, Shown, State};
use crate::store::{Conn, apply, document, fact, holding, version};

/// Most items of a page of our own lists, and of skills and their versions.
const OURS: u32 = 1_000;
/// Most items of a page of the other lists.
const WIRE: u32 = 100;
/// What an item of a list with `view: summary` has.
const SUMMARY: [&str; 7] = ["id", "type", "version", "created_at", "updated_at", "archived_at", "authoring"];

/// `KIND.list`: in the order in which they were made.
pub(super) fn resources(conn: &Conn, request: &ListOf) -> Result<Page<Value>> {
    let most = match request.kind {
        Kind::Agent | Kind::Environment | Kind::MemoryStore => WIRE,
        Kind::FileTree | Kind::FileTreeMount | Kind::MemoryMount | Kind::Skill => OURS,
    };
    let limit = paging::limit(request.limit, 20, most)?;
    let after = request.page.as_deref().map(paging::key).transpose()?.unwrap_or_default();
    let shown = Shown {
        owner: request.owner.as_ref(),
        labels: request.labels.clone(),
        archived: request.include_archived,
        from: request.created_from.as_deref().map(|at| paging::moment("created_at[gte]", at)).transpose()?,
        to: request.created_to.as_deref().map(|at| paging::moment("created_at[lte]", at)).transpose()?,
    };
    let found = match request.source {
        Some(SkillSource::Anthropic) => Vec::new(),
        Some(SkillSource::Custom) | None => resource::of_kind(conn, request.kind, &shown, &after, limit + 1)?,
    };
    page(
        found,
        limit,
        |r| r.id.clone(),
        |r| match request.view {
            ListView::Full => read::body_of(conn, &r),
            ListView::Summary => Ok(summary(&r)),
        },
    )
}

/// A resource without its body: what the workspace says of it, and digests.
fn summary(r: &Resource) -> Value {
    let mut out = wire::rendered(r, Value::Null);
    if let Value::Object(map) = &mut out {
        map.retain(|key, _| SUMMARY.contains(&key.as_str()));
    }
    out["name"] = r.name.clone().into();
    out["body_digest"] = serde_json::json!(r.body);
    out["live_digest"] = serde_json::json!(r.live_digest);
    out["applied_digest"] = serde_json::json!(r.applied_digest);
    out["content"] = serde_json::json!(r.content);
    out
}

/// Versions, newest first. Of a deleted skill those that a version of an agent names.
pub(super) fn versions(conn: &Conn, request: &VersionsOf) -> Result<Page<Value>> {
    let limit = paging::limit(request.limit, 20, if request.kind == Kind::Skill { OURS } else { WIRE })?;
    let r = match resource::get(conn, &request.id)? {
        Some(r) if r.kind == request.kind => r,
        _ => return Err(no_resource(request.kind, &request.id)),
    };
    let before = match request.page.as_deref().map(paging::key).transpose()? {
        None => i64::MAX.unsigned_abs(),
        Some(key) => key.parse().ok().filter(|n| i64::try_from(*n).is_ok()).ok_or_else(paging::no_cursor)?,
    };
    let found = if r.state == State::Deleted {
        version::named_before(conn, &r.id, before, limit + 1)?
    } else {
        version::before(conn, &r.id, before, limit + 1)?
    };
    if found.is_empty() && r.state == State::Deleted {
        return Err(not_found(format!("version of {}", request.id)));
    }
    page(found, limit, |v| v.number.to_string(), |v| read::version_body(conn, &r, &v))
}

/// `applies.list`: newest first.
pub(super) fn applies(conn: &Conn, request: &ApplyList) -> Result<Page<ApplyInfo>> {
    let limit = paging::limit(request.limit, 20, OURS)?;
    let before = request.page.as_deref().map(paging::key).transpose()?;
    if let Some(id) = &before
        && apply::state(conn, id)?.is_none()
    {
        return Err(paging::no_cursor());
    }
    let found = apply::list(conn, request.owner.as_ref(), before.as_deref(), limit + 1)?;
    page(found, limit, |a| a.id.clone(), Ok)
}

/// `applies.state`: by address.
pub(super) fn state(conn: &Conn, request: &StateAt) -> Result<Page<Recorded>> {
    let limit = paging::limit(request.limit, 20, OURS)?;
    let after = request.page.as_deref().map(paging::key).transpose()?.unwrap_or_default();
    let Some((owner, _)) = apply::state(conn, &request.apply)? else { return Err(not_found(&request.apply)) };
    let last = fact::last_of_apply(conn, &request.apply)?;
    let found = holding::at(conn, &owner, last, &after, limit + 1)?;
    page(
        found,
        limit,
        |h| h.address.to_string(),
        |h| {
            let spec = document::get(conn, h.spec)?;
            let content = spec.get("content").and_then(Value::as_str).and_then(|c| c.parse().ok());
            let entries = match (h.address.kind, content) {
                (Kind::Skill | Kind::FileTree, Some(content)) => document::entries(conn, content)?,
                _ => memories(conn, &spec)?,
            };
            let applied = Applied { spec: spec.into(), unowned: h.unowned };
            Ok(Recorded { address: h.address, id: h.id, applied, protected: h.protected, entries })
        },
    )
}

/// The memories that a form names, as far as their bytes are held still.
fn memories(conn: &Conn, spec: &Value) -> Result<Vec<Entry>> {
    let contents = spec.get("contents").and_then(Value::as_object);
    let mut out = Vec::new();
    for (path, digest) in contents.into_iter().flatten() {
        let Some(sha256) = digest.as_str().and_then(|d| d.parse().ok()) else { continue };
        if let Some(size) = document::blob_size(conn, sha256)? {
            out.push(Entry { path: path.clone(), executable: false, symlink: false, size, sha256 });
        }
    }
    Ok(out)
}

/// `audit.list`: oldest first.
pub(super) fn facts(conn: &Conn, request: &AuditList) -> Result<Vec<Fact>> {
    let limit = paging::limit(request.limit, OURS, OURS)?;
    let which = fact::Which {
        resource: request.resource.as_deref(),
        owner: request.owner.as_ref(),
        apply: request.apply.as_deref(),
        actor: request.actor.as_deref(),
        operation: request.operation.as_deref(),
        from: request.from.as_deref().map(|at| paging::moment("at[gte]", at)).transpose()?,
        to: request.to.as_deref().map(|at| paging::moment("at[lte]", at)).transpose()?,
    };
    let after = request.after.unwrap_or(0);
    if i64::try_from(after).is_err() {
        return Err(invalid("`after` is beyond any sequence number"));
    }
    Ok(fact::list(conn, &which, after, limit)?)
}

/// The first `limit` of what was found, and a cursor after the last of them if more was.
fn page<R, T>(
    mut found: Vec<R>,
    limit: u32,
    key: impl Fn(&R) -> String,
    shown: impl Fn(R) -> Result<T>,
) -> Result<Page<T>> {
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next_page = found.last().filter(|_| more).map(|last| paging::cursor(&key(last)));
    Ok(Page { data: found.into_iter().map(shown).collect::<Result<_>>()?, next_page })
}
