//! What a write is answered with over HTTP: the wire body of what it wrote, read in the same transaction. A replay
//! shows what is there now.

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, not_found};
use crate::control::embedded::write::Tx;
use crate::control::embedded::{files, memories, memory_versions, read, store_versions, wire};
use crate::model::Kind;
use crate::model::op::{MemoryVersionOf, Request, Response, View, Written};
use crate::store::resource::{self, Resource};
use crate::store::{memory, owner, version};

/// Adds the wire body, for a caller that asks for it.
pub(super) fn represent(tx: &Tx<'_>, request: &Request, response: Response) -> Result<Response> {
    match response {
        Response::Written(written) if tx.context.represent => {
            let body = body(tx, request, &written)?;
            Ok(Response::Represented(written, body))
        }
        other => Ok(other),
    }
}

fn body(tx: &Tx<'_>, request: &Request, written: &Written) -> Result<Value> {
    let conn = tx.conn;
    let found = match request {
        Request::Delete(r) => return Ok(deleted(&written.id, wire::type_of(r.kind))),
        Request::VersionDelete(r) => return Ok(deleted(&r.version, "skill_version")),
        Request::MemoryDelete(_) => return Ok(deleted(&written.id, "memory")),
        Request::FileDelete(_) => return Ok(deleted(&written.id, "file")),
        Request::FileCreate(_) => files::written(conn, &written.id)?,
        Request::MemoryCreate(r) => memory_now(tx, &r.id, written, r.view)?,
        Request::MemoryUpdate(r) => memory_now(tx, &r.id, written, r.view)?,
        Request::MemoryVersionRedact(r) => {
            let of = MemoryVersionOf { id: r.id.clone(), version: r.version.clone() };
            Some(memory_versions::get(conn, &of, View::Basic)?)
        }
        Request::WriteContents(r) => Some(store_versions::newest(conn, &find(tx, &r.id)?)?),
        Request::Publish(r) => made(tx, &find(tx, &r.at.id)?, written)?,
        Request::SetPolicy(r) => {
            let record = owner::get(conn, &r.owner)?.unwrap_or_default();
            Some(json!({"type": "owner", "owner": r.owner, "policy": record.policy, "seq": record.seq}))
        }
        // All others are about one resource.
        _ => Some(read::body_of(conn, &find(tx, &written.id)?)?),
    };
    // A replay of what was made and is gone since.
    Ok(found.unwrap_or_else(|| deleted(&written.id, kind_of(request))))
}

/// The immutable version that a publish made or found equal.
fn made(tx: &Tx<'_>, r: &Resource, written: &Written) -> Result<Option<Value>> {
    let found = match (r.kind, &written.made) {
        (_, None) => None,
        (Kind::Skill, Some(id)) => version::by_id(tx.conn, id)?,
        (_, Some(number)) => version::by_number(tx.conn, &r.id, number.parse().unwrap_or_default())?,
    };
    found.map(|v| read::version_body(tx.conn, r, &v)).transpose()
}

fn memory_now(tx: &Tx<'_>, store: &str, written: &Written, view: Option<View>) -> Result<Option<Value>> {
    let found = memory::by_id(tx.conn, store, &written.id)?;
    found.map(|m| memories::body(tx.conn, store, &m, view.unwrap_or(View::Basic))).transpose()
}

fn find(tx: &Tx<'_>, id: &str) -> Result<Resource> {
    resource::get(tx.conn, id)?.ok_or_else(|| not_found(id))
}

fn kind_of(request: &Request) -> &'static str {
    match request {
        Request::FileCreate(_) => "file",
        Request::MemoryCreate(_) | Request::MemoryUpdate(_) => "memory",
        _ => "version",
    }
}

fn deleted(id: &str, kind: &str) -> Value {
    json!({"id": id, "type": format!("{kind}_deleted")})
}
