//! What a new or changed body may refer to, and who keeps what from going.

use std::collections::BTreeSet;

use crate::control::embedded::error::{Result, conflict, invalid};
use crate::control::embedded::write::Tx;
use crate::model::kinds::{Object, WireRef, def};
use crate::model::{Kind, Owner};
use crate::store::resource::{Resource, State};
use crate::store::{reference, resource, version};

/// Checks the references that `old` does not have, and notes all of `new`. A reference that was there before
/// may go on pointing at what was archived since; it takes no new one.
pub(super) fn set(tx: &Tx<'_>, r: &Resource, old: Option<&Object>, new: &Object) -> Result<()> {
    let had: BTreeSet<WireRef> = old.map(|o| (def(r.kind).wire_refs)(o).into_iter().collect()).unwrap_or_default();
    let refs = (def(r.kind).wire_refs)(new);
    for wanted in refs.iter().filter(|w| !had.contains(w)) {
        check(tx, wanted)?;
    }
    reference::set(tx.conn, &r.id, &refs)?;
    if r.kind == Kind::Agent {
        for wanted in &refs {
            if let (Kind::Skill, Some(v)) = (wanted.kind, &wanted.version) {
                reference::name_version(tx.conn, v)?;
            }
        }
    }
    Ok(())
}

fn check(tx: &Tx<'_>, wanted: &WireRef) -> Result<()> {
    let (kind, id) = (wanted.kind, &wanted.id);
    let target = match resource::get(tx.conn, id)? {
        Some(t) if t.kind == kind && t.state != State::Deleted => t,
        _ => return Err(invalid(format!("there is no {kind} {id} to refer to"))),
    };
    if target.state == State::Archived {
        return Err(invalid(format!("{kind} {id} is archived and takes no new reference")));
    }
    let Some(name) = &wanted.version else { return Ok(()) };
    let found = match kind {
        Kind::Skill => match version::by_id(tx.conn, name)?.filter(|v| v.resource == *id) {
            Some(v) if version::is_deleted(tx.conn, &v)? => None,
            other => other,
        },
        _ => match name.parse() {
            Ok(number) => version::by_number(tx.conn, id, number)?,
            Err(_) => None,
        },
    };
    found.map(drop).ok_or_else(|| invalid(format!("{kind} {id} has no version {name}")))
}

/// Refuses to let a skill, tree or store go while live resources name it. A mount of an archived agent counts
/// no more. An agent can be archived all the same, as on the wire; but who acts as an owner takes none from under
/// another owner's resources.
pub(super) fn refuse_if_named(tx: &Tx<'_>, r: &Resource) -> Result<()> {
    let acts = tx.context.owner.as_ref().filter(|_| tx.context.break_glass.is_none());
    let any = matches!(r.kind, Kind::Skill | Kind::FileTree | Kind::MemoryStore);
    if !(any || r.kind == Kind::Agent && acts.is_some()) {
        return Ok(());
    }
    let from = reference::to(tx.conn, &r.id)?.into_iter().map(|(from, _)| from).collect();
    let foreign = acts.filter(|_| !any);
    refuse_if_any(tx, &r.id, from, foreign)
}

/// Refuses to let one version of a skill go while the current version of an agent names it.
pub(super) fn refuse_if_version_named(tx: &Tx<'_>, r: &Resource, version: &str) -> Result<()> {
    refuse_if_any(tx, version, reference::to_version(tx.conn, &r.id, version)?, None)
}

/// Refuses what these still use; with `but`, those that nobody or this owner has do not count.
fn refuse_if_any(tx: &Tx<'_>, what: &str, from: Vec<String>, but: Option<&Owner>) -> Result<()> {
    let mut who = Vec::new();
    for from in from {
        let Some(referrer) = resource::get(tx.conn, &from)? else { continue };
        if let Some(agent) = &referrer.agent
            && resource::get(tx.conn, agent)?.is_none_or(|a| a.state != State::Live)
        {
            continue;
        }
        if but.is_some() && (referrer.owner.is_none() || referrer.owner.as_ref() == but) {
            continue;
        }
        who.push(match (&referrer.owner, &referrer.address) {
            (Some(owner), Some(address)) => format!("{owner}:{address}"),
            _ => referrer.id.clone(),
        });
    }
    if who.is_empty() {
        return Ok(());
    }
    let mut error = conflict("referenced", format!("{what} is used by {}", who.join(", ")));
    error.details["by"] = who.into();
    Err(error)
}
