//! Reads: lists, bodies, versions, memories, the journal.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, invalid, not_found};
use crate::control::embedded::{Clock, digests, files, memories, memory_versions, skills, snapshot, store_versions, wire};
use crate::model::Kind;
use crate::model::kinds::def;
use crate::model::op::{AuditList, GetOf, ListOf, Page, Request, Response, VersionOf, VersionsOf, View, WorkspaceInfo};
use crate::model::tree::Entry;
use crate::store::resource::{self, Resource, State};
use crate::store::version::{self, Version};
use crate::store::{self, Conn, Identity, apply, document, fact, reference, token};

/// Most items of a page.
const PAGE: u32 = 1_000;

/// Answers a read.
pub(super) fn answer(conn: &Conn, identity: &Identity, clock: &Clock, request: &Request) -> Result<Response> {
    match request {
        Request::List(r) => list(conn, r).map(Response::Bodies),
        Request::Get(r) => get(conn, r).map(Response::Body),
        Request::Versions(r) => versions(conn, r).map(Response::Bodies),
        Request::Version(r) => {
            let (r, v) = one_version(conn, r)?;
            if r.kind == Kind::MemoryStore {
                return store_versions::full(conn, &r, &v).map(Response::Body);
            }
            let mut body = version_body(conn, &r, &v)?;
            body["entries"] = json!(entries_of(conn, &r, &v)?);
            Ok(Response::Body(body))
        }
        Request::Content(r) | Request::Tree(r) => {
            let (r, v) = one_version(conn, r)?;
            entries_of(conn, &r, &v).map(Response::Entries)
        }
        Request::MemoryList(r) => memories::list(conn, r).map(Response::Bodies),
        Request::MemoryGet(r) => memories::get(conn, r).map(Response::Body),
        Request::MemoryVersions(r) => memory_versions::list(conn, r).map(Response::Bodies),
        Request::MemoryVersionGet(r) => memory_versions::get(conn, r, View::Full).map(Response::Body),
        Request::FileList(r) => files::list(conn, clock, r).map(Response::Bodies),
        Request::FileGet(r) => files::get(conn, clock, r).map(Response::Body),
        Request::FileContent(r) => files::content(conn, clock, r).map(Response::Bytes),
        Request::Owner(r) => snapshot::owner(conn, identity, &r.owner).map(|o| Response::Owner(Box::new(o))),
        Request::Summaries(r) => snapshot::summaries(conn, r).map(Response::Summaries),
        Request::Bodies(r) => snapshot::bodies(conn, r).map(Response::Loaded),
        Request::Resolve(r) => snapshot::resolve(conn, r).map(Response::Resolved),
        Request::Referrers(r) => snapshot::referrers(conn, r).map(Response::Referrers),
        Request::ApplyList(r) => {
            let limit = r.limit.unwrap_or(20).min(PAGE);
            Ok(Response::Applies(Page { data: apply::list(conn, r.owner.as_ref(), limit)?, next_page: None }))
        }
        Request::ApplyGet(r) => apply_of(conn, &r.id),
        Request::BlobsMissing(r) => {
            let mut missing = Vec::new();
            for digest in &r.digests {
                if !document::has_blob(conn, *digest)? {
                    missing.push(*digest);
                }
            }
            Ok(Response::Missing(missing))
        }
        Request::BlobGet(r) => match document::blob(conn, r.digest)? {
            Some(bytes) => Ok(Response::Bytes(bytes)),
            None => Err(not_found(r.digest)),
        },
        Request::AuditList(r) => audit(conn, r).map(Response::Audit),
        Request::Workspace => {
            let Identity { id, epoch, created_at } = store::identity(conn)?;
            Ok(Response::Workspace(WorkspaceInfo { id, epoch, created_at }))
        }
        Request::TokenList => Ok(Response::Tokens(token::all(conn)?)),
        write => Err(invalid(format!("{} is no read", write.name()))),
    }
}

/// An Apply with its lines, and with the specs that they name.
fn apply_of(conn: &Conn, id: &str) -> Result<Response> {
    let mut info = apply::get(conn, id)?.ok_or_else(|| not_found(id))?;
    for spec in info.lines.iter().filter_map(|l| l.spec) {
        if let Some(document) = document::find(conn, spec)? {
            info.specs.insert(spec.to_string(), document);
        }
    }
    Ok(Response::Apply(Box::new(info)))
}

fn audit(conn: &Conn, r: &AuditList) -> Result<Vec<crate::model::op::Fact>> {
    let limit = r.limit.unwrap_or(PAGE).min(PAGE);
    Ok(fact::list(conn, r.resource.as_deref(), r.owner.as_ref(), r.after.unwrap_or(0), limit)?)
}

/// The wire body of a resource as it is now.
pub(super) fn body_of(conn: &Conn, r: &Resource) -> Result<Value> {
    let body = digests::body(conn, r)?;
    answered(conn, r, Value::Object(body))
}

/// A stored body in full: what planning reads has no need of what is absent, a client of the wire has.
fn answered(conn: &Conn, r: &Resource, mut body: Value) -> Result<Value> {
    if let Value::Object(map) = &mut body {
        let mut newest = BTreeMap::new();
        for named in (def(r.kind).wire_refs)(map).into_iter().filter(|named| named.kind == Kind::Agent) {
            if let Some(agent) = resource::get(conn, &named.id)? {
                newest.insert(named.id, agent.version);
            }
        }
        (def(r.kind).answered)(map, &newest);
    }
    Ok(wire::rendered(r, body))
}

fn list(conn: &Conn, request: &ListOf) -> Result<Page<Value>> {
    let limit = request.limit.unwrap_or(20).clamp(1, PAGE) as usize;
    let mut after = request.page.clone().unwrap_or_default();
    let mut data = Vec::new();
    loop {
        let rows = resource::of_kind(conn, request.kind, &after, PAGE)?;
        let more = rows.len() == PAGE as usize;
        for r in rows {
            if data.len() == limit {
                return Ok(Page { data, next_page: Some(after) });
            }
            after.clone_from(&r.id);
            let shown = request.include_archived || r.state == State::Live;
            if !shown || request.owner.as_ref().is_some_and(|o| r.owner.as_ref() != Some(o)) {
                continue;
            }
            let body = body_of(conn, &r)?;
            let has = |(k, v): (&String, &String)| body["metadata"][k.as_str()] == v.as_str();
            if request.labels.iter().all(has) {
                data.push(body);
            }
        }
        if !more {
            return Ok(Page { data, next_page: None });
        }
    }
}

fn get(conn: &Conn, request: &GetOf) -> Result<Value> {
    let r = match resource::get(conn, &request.id)? {
        Some(r) if r.kind == request.kind && wire::is_readable(&r) => r,
        _ => return Err(not_found(&request.id)),
    };
    let Some(number) = request.version else { return body_of(conn, &r) };
    if r.kind != Kind::Agent {
        return Err(invalid(format!("{} has no body for each version", wire::type_of(r.kind))));
    }
    let Some(old) = version::by_number(conn, &r.id, number)? else {
        return Err(not_found(format!("version {number} of {}", r.id)));
    };
    let mut body = answered(conn, &r, document::get(conn, old.digest)?)?;
    body["version"] = number.into();
    body["updated_at"] = old.created_at.into();
    Ok(body)
}

/// Versions, newest first. Of a deleted skill those that a version of an agent names.
fn versions(conn: &Conn, request: &VersionsOf) -> Result<Page<Value>> {
    let limit = request.limit.unwrap_or(20).clamp(1, PAGE) as usize;
    let r = match resource::get(conn, &request.id)? {
        Some(r) if r.kind == request.kind => r,
        _ => return Err(not_found(&request.id)),
    };
    let before = match request.page.as_deref().map(str::parse::<u64>) {
        None => u64::MAX,
        Some(Ok(number)) => number,
        Some(Err(_)) => return Err(invalid("`page` is no cursor of this list")),
    };
    let mut data = Vec::new();
    let mut last = 0;
    for v in version::all(conn, &r.id)? {
        if v.number >= before || (r.state == State::Deleted && !reference::is_named(conn, &v.id)?) {
            continue;
        }
        if data.len() == limit {
            return Ok(Page { data, next_page: Some(last.to_string()) });
        }
        last = v.number;
        data.push(version_body(conn, &r, &v)?);
    }
    if data.is_empty() && r.state == State::Deleted {
        return Err(not_found(format!("version of {}", request.id)));
    }
    Ok(Page { data, next_page: None })
}

/// One version, with its files.
fn one_version(conn: &Conn, request: &VersionOf) -> Result<(Resource, Version)> {
    let r = match resource::get(conn, &request.id)? {
        Some(r) if r.kind == request.kind => r,
        _ => return Err(not_found(&request.id)),
    };
    let found = match request.version.as_str() {
        "latest" => version::by_number(conn, &r.id, r.number)?,
        id => version::all(conn, &r.id)?.into_iter().find(|v| v.id == id),
    };
    match found {
        Some(v) if r.state != State::Deleted || reference::is_named(conn, &v.id)? => Ok((r, v)),
        _ => Err(not_found(format!("version {} of {}", request.version, request.id))),
    }
}

/// The wire body of a version, without its files.
pub(super) fn version_body(conn: &Conn, r: &Resource, v: &Version) -> Result<Value> {
    if r.kind == Kind::MemoryStore {
        return store_versions::summary(conn, r, v);
    }
    if r.kind == Kind::Agent {
        let mut body = answered(conn, r, document::get(conn, v.digest)?)?;
        body["version"] = v.number.into();
        body["updated_at"] = v.created_at.clone().into();
        return Ok(body);
    }
    let mut body = json!({
        "id": v.id, "number": v.number, "digest": v.digest, "created_at": v.created_at, "actor": v.actor,
    });
    if r.kind == Kind::Skill {
        body["type"] = json!("skill_version");
        body["skill_id"] = json!(r.id);
        body["name"] = digests::body(conn, r)?.get("name").cloned().unwrap_or_default();
        body["description"] = json!(skills::description(conn, v)?);
    }
    Ok(body)
}

fn entries_of(conn: &Conn, r: &Resource, v: &Version) -> Result<Vec<Entry>> {
    match r.kind {
        Kind::Skill | Kind::FileTree => Ok(document::entries(conn, v.digest)?),
        _ => Ok(Vec::new()),
    }
}
