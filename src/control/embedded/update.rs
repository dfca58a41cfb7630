//! `KIND.update`: wire fields change; an agent gets its next version; what changes nothing makes nothing.

use serde_json::Value;

use crate::control::embedded::error::{Result, owner_required, refused};
use crate::control::embedded::rights::{self, Right};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{create, digests, mounts, references, wire};
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::kinds::{Applied, Change, def};
use crate::model::op::Update;
use crate::store::document;
use crate::store::resource::Resource;

/// Changes a resource.
pub(super) fn update(tx: &Tx<'_>, request: &Update) -> Result<Effect> {
    let (mut r, right) = rights::for_change(tx, Some(request.kind), &request.at)?;
    let old = digests::body(tx.conn, &r)?;
    let new = wire::merged(r.kind, &old, &request.body)?;
    let body = document::put(tx.conn, &Value::Object(new.clone()))?;
    let before_applied = digests::applied(tx.conn, &r)?.unwrap_or_default();
    let changed = body != r.body;
    let mut fields = Vec::new();
    let mut made = (r.kind == Kind::Agent).then(|| r.number.to_string());
    if changed {
        let owner = r.owner.clone();
        let canonical = |body| digests::canonical(tx.conn, &r, body, owner.as_ref(), Some(&before_applied.spec));
        let (before, after) = (canonical(old.clone())?, canonical(new.clone())?);
        fields = digests::changed_fields(r.kind, &before, &after);
        refuse_immutable(r.kind, &before, &after, &fields)?;
        r.body = body;
        r.name = wire::name_of(r.kind, &new);
        r.version += 1;
        r.updated_at.clone_from(&tx.now);
        if !r.superseded {
            create::take_unique_name(tx, &mut r)?;
            mounts::place(tx, &mut r, Some(&old), &new)?;
        }
        references::set(tx, &r, Some(&old), &new)?;
        if r.kind == Kind::Agent {
            made = Some(create::add_agent_version(tx, &mut r)?);
        }
    }
    let applied = request.applied.as_ref().map(|sent| but_contents(r.kind, sent, &before_applied));
    let recorded = record_applied(tx, &mut r, right, applied.as_ref(), &before_applied, &mut fields)?;
    if recorded && !changed {
        r.seq += 1;
    }
    if changed || recorded {
        digests::save(tx.conn, &mut r, new)?;
    }
    Ok(Effect::of(&r, made, changed || recorded, fields))
}

/// Memories move without the store's version, which is all that an update compares: what is applied of them is
/// not an update's to say.
fn but_contents(kind: Kind, sent: &Applied, before: &Applied) -> Applied {
    let mut applied = sent.clone();
    if kind == Kind::MemoryStore {
        digests::set_contents(&mut applied.spec, digests::contents_of(&before.spec));
    }
    applied
}

/// Sets what its owner applied with a write; adds the fields in which that differs from before. A caller that
/// raises no version raises `authoring.seq`, so that every change of what is applied moves one of the two.
pub(super) fn record_applied(
    tx: &Tx<'_>,
    r: &mut Resource,
    right: Right,
    applied: Option<&Applied>,
    before: &Applied,
    fields: &mut Vec<String>,
) -> Result<bool> {
    let Some(applied) = applied else { return Ok(false) };
    if right != Right::Owner {
        return Err(owner_required(format!("what is applied to {} is said by its owner alone", r.id)));
    }
    if applied == before && r.applied.is_some() {
        return Ok(false);
    }
    fields.extend(digests::changed_fields(r.kind, &before.spec, &applied.spec));
    fields.sort();
    fields.dedup();
    digests::set_applied(tx.conn, r, applied)?;
    Ok(true)
}

fn refuse_immutable(kind: Kind, before: &Value, after: &Value, fields: &[String]) -> Result<()> {
    let fixed = |name: &&str| def(kind).field(name).is_some_and(|f| f.change == Change::Replace);
    let named = fields.iter().map(String::as_str).find(fixed);
    match named.or_else(|| (def(kind).replaces)(before, after).into_iter().next()) {
        Some(_) if kind == Kind::Environment => {
            Err(refused(&codes::CONFIG_TYPE, "`config.type` of an environment cannot change"))
        }
        Some(name) => Err(refused(&codes::IMMUTABLE, format!("`{name}` of a {kind} cannot change"))),
        None => Ok(()),
    }
}
