//! Reads: bodies, versions, files, memories, the journal. Which function answers which.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, invalid, no_resource, not_found, refused};
use crate::control::embedded::{
    Clock, digests, files, lists, memories, memory_versions, skills, snapshot, store_versions, wire,
};
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::kinds::def;
use crate::model::op::{GetOf, Request, Response, TreeFile, VersionOf, View, WorkspaceInfo};
use crate::model::tree::Entry;
use crate::store::resource::{self, Resource, State};
use crate::store::version::{self, Version};
use crate::store::{self, Conn, Identity, apply, document, reference, token};

/// Answers a read.
pub(super) fn answer(conn: &Conn, identity: &Identity, clock: &Clock, request: &Request) -> Result<Response> {
    match request {
        Request::List(r) => lists::resources(conn, r).map(Response::Bodies),
        Request::Get(r) => get(conn, r).map(Response::Body),
        Request::Versions(r) => lists::versions(conn, r).map(Response::Bodies),
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
        Request::TreeFile(r) => tree_file(conn, r).map(Response::Bytes),
        Request::MemoryList(r) => memories::list(conn, r).map(Response::Bodies),
        Request::MemoryGet(r) => memories::get(conn, r).map(Response::Body),
        Request::MemoryVersions(r) => memory_versions::list(conn, r).map(Response::Bodies),
        Request::MemoryVersionGet(r) => memory_versions::get(conn, r, View::Full).map(Response::Body),
        Request::FileList(r) => files::list(conn, clock, r).map(Response::Bodies),
        Request::FileGet(r) => files::get(conn, clock, r).map(Response::Body),
        Request::FileContent(r) => files::content(conn, clock, r).map(Response::Bytes),
        Request::Owner(r) => snapshot::owner(conn, identity, &r.owner).map(|o| Response::Owner(Box::new(o))),
        Request::Summaries(r) => snapshot::summaries(conn, r).map(Response::Summaries),
        Request::Find(r) => snapshot::found(conn, r).map(Response::Summaries),
        Request::Bodies(r) => snapshot::bodies(conn, r).map(Response::Loaded),
        Request::Resolve(r) => snapshot::resolve(conn, r).map(Response::Resolved),
        Request::Referrers(r) => snapshot::referrers(conn, r).map(Response::Referrers),
        Request::ApplyList(r) => lists::applies(conn, r).map(Response::Applies),
        Request::ApplyGet(r) => apply_of(conn, &r.id),
        Request::ApplyState(r) => lists::state(conn, r).map(Response::State),
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
        Request::AuditList(r) => lists::facts(conn, r).map(Response::Audit),
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

fn get(conn: &Conn, request: &GetOf) -> Result<Value> {
    let r = match resource::get(conn, &request.id)? {
        Some(r) if r.kind == request.kind && wire::is_readable(&r) => r,
        _ => return Err(no_resource(request.kind, &request.id)),
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

/// One version. Deleted ones, and those of a deleted skill, are there for as long as a version of an agent names
/// them.
fn one_version(conn: &Conn, request: &VersionOf) -> Result<(Resource, Version)> {
    let r = match resource::get(conn, &request.id)? {
        Some(r) if r.kind == request.kind => r,
        _ => return Err(no_resource(request.kind, &request.id)),
    };
    let found = match request.version.as_str() {
        "latest" => match &r.content_version {
            Some(id) if r.kind == Kind::Skill => version::by_id(conn, id)?,
            _ => version::by_number(conn, &r.id, r.number)?,
        },
        id if r.kind == Kind::Skill => version::by_id(conn, id)?.filter(|v| v.resource == r.id),
        number => match number.parse().ok().filter(|n| i64::try_from(*n).is_ok()) {
            Some(n) => version::by_number(conn, &r.id, n)?.filter(|v| v.id == number),
            None => None,
        },
    };
    let there = |v: &Version| -> Result<bool> {
        let is_gone = r.state == State::Deleted || version::is_deleted(conn, v)?;
        Ok(!is_gone || reference::is_named(conn, &v.id)?)
    };
    match found {
        Some(v) if there(&v)? => Ok((r, v)),
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
        let (name, description) = skills::described(conn, v.digest)?;
        body["type"] = "skill_version".into();
        body["skill_id"] = r.id.clone().into();
        body["name"] = name.unwrap_or_default().into();
        body["description"] = description.unwrap_or_default().into();
    }
    Ok(body)
}

fn entries_of(conn: &Conn, r: &Resource, v: &Version) -> Result<Vec<Entry>> {
    match r.kind {
        Kind::Skill | Kind::FileTree => Ok(document::entries(conn, v.digest)?),
        _ => Ok(Vec::new()),
    }
}

/// The bytes of one file of an uploaded revision. What is read from Git is never given out here.
fn tree_file(conn: &Conn, request: &TreeFile) -> Result<Vec<u8>> {
    let TreeFile { id, version, path } = request;
    let at = VersionOf { kind: Kind::FileTree, id: id.clone(), version: version.clone() };
    let (r, v) = one_version(conn, &at)?;
    if digests::body(conn, &r)?.get("source").is_none_or(|s| s["kind"] != "upload") {
        return Err(refused(&codes::GIT_TREE, format!("{id} is a tree from Git, whose files are not given out")));
    }
    let entry = entries_of(conn, &r, &v)?.into_iter().find(|e| e.path == *path);
    let bytes = entry.map(|e| document::blob(conn, e.sha256)).transpose()?.flatten();
    bytes.ok_or_else(|| not_found(format!("file {path:?} in revision {} of {id}", v.number)))
}
