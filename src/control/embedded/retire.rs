//! `KIND.archive` and `KIND.delete`. By its owner it clears what was applied; by another it is held as gone.

use crate::control::embedded::error::{Result, conflict, no_resource, stale};
use crate::control::embedded::rights::{self, Right};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{digests, references, store_versions};
use crate::model::op::{Expect, RetireOf};
use crate::model::{Kind, Owner};
use crate::store::resource::{self, Resource, State};
use crate::store::{owner, reference};

/// Archives; a second time changes nothing.
pub(super) fn archive(tx: &Tx<'_>, request: &RetireOf) -> Result<Effect> {
    retire(tx, request, State::Archived)
}

/// Deletes.
pub(super) fn delete(tx: &Tx<'_>, request: &RetireOf) -> Result<Effect> {
    retire(tx, request, State::Deleted)
}

fn retire(tx: &Tx<'_>, request: &RetireOf, to: State) -> Result<Effect> {
    let (mut r, right) = found(tx, request)?;
    rights::expect_version(&r, &request.at)?;
    if let Some(planned) = request.memory_version.filter(|n| *n != r.number) {
        let message = format!("the memories of {} are at version {}, not {planned}", r.id, r.number);
        return Err(stale(message, r.number));
    }
    let settled = r.state == State::Deleted || r.state == to;
    if settled && right != Right::Owner {
        return Ok(Effect::of(&r, None, false, Vec::new()));
    }
    if !settled {
        if r.protected && !r.superseded && right == Right::Owner {
            let message = format!("{} is protected; it goes once it is unprotected", r.id);
            return Err(conflict("protected", message));
        }
        references::refuse_if_named(tx, &r)?;
        reference::clear(tx.conn, &r.id)?;
        r.state = to;
        // An agent's version is the number of one of its AgentVersions, and archiving makes none. That it is
        // archived is what a write meets which was planned before.
        if r.kind != Kind::Agent {
            r.version += 1;
        }
        r.updated_at.clone_from(&tx.now);
        r.archived_at.get_or_insert_with(|| tx.now.clone());
        r.unique_name = None;
        r.place = None;
        if to == State::Deleted && r.kind == Kind::MemoryStore {
            store_versions::forget(tx, &mut r)?;
        }
    }
    let left = r.clone();
    let owner = r.owner.clone();
    if let Some(owner) = &owner {
        let_go(tx, &mut r, right, owner)?;
    }
    resource::put(tx.conn, &r)?;
    digests::refresh_referrers(tx.conn, &r.id)?;
    digests::refresh_before(tx.conn, &left)?;
    Ok(Effect::of(&r, None, true, Vec::new()))
}

/// One that is gone by another's hand can still be retired by its owner.
fn found(tx: &Tx<'_>, request: &RetireOf) -> Result<(Resource, Right)> {
    let RetireOf { kind, at: Expect { id, .. }, .. } = request;
    let r = match resource::get(tx.conn, id)? {
        Some(r) if r.kind == *kind && (r.state != State::Deleted || r.gone.is_some()) => r,
        _ => return Err(no_resource(*kind, id)),
    };
    let right = rights::right(tx, &r)?;
    Ok((r, right))
}

fn let_go(tx: &Tx<'_>, r: &mut Resource, right: Right, owner: &Owner) -> Result<()> {
    owner::forget_digest(tx.conn, owner)?;
    if right == Right::Owner {
        if let Some(address) = &r.address {
            resource::put_retired(tx.conn, owner, address, &r.id, tx.fact)?;
        }
        digests::clear_authoring(r);
    } else if r.offered.is_some() {
        // Nobody waits to be told of it: it counts as nobody's.
        digests::clear_authoring(r);
    } else {
        r.gone.get_or_insert(tx.fact);
        r.live_digest = None;
    }
    Ok(())
}
