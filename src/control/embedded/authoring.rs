//! `authoring.*`: claim, release, hand-over, transfer, protect, record, policy. They change who owns what and what counts
//! as applied; nothing live. Each raises `authoring.seq`, which is its precondition.

use crate::control::ControlError;
use crate::control::embedded::error::{
    Result, archived, conflict, invalid, offered, owned_elsewhere, owner_required, stale,
};
use crate::control::embedded::rights;
use crate::control::embedded::write::{Effect, Stand, Tx};
use crate::control::embedded::{digests, update};
use crate::model::config::Policy;
use crate::model::kinds::{Applied, carried};
use crate::model::op::{Authoring, Claim, HandOver, Protect, Record, Response, SetPolicy, Transfer, Written};
use crate::model::{Address, Digest, Owner};
use crate::store::resource::{self, Resource, State};
use crate::store::{owner, resource as rows};

/// Unowned → the acting owner.
pub(super) fn claim(tx: &Tx<'_>, request: &Claim) -> Result<Effect> {
    let me = rights::acting(tx)?;
    let mut r = at(tx, &request.at)?;
    if r.owner.is_some() {
        return Err(owned_elsewhere(&r));
    }
    if r.state != State::Live {
        return Err(archived(&r));
    }
    free(tx, me, &request.claim.address, &r)?;
    r.owner = Some(me.clone());
    r.address = Some(request.claim.address.clone());
    r.protected = request.claim.protected;
    r.since = tx.fact;
    digests::set_applied(tx.conn, &mut r, &request.claim.applied)?;
    finish(tx, r, true)
}

/// The acting owner gives it up; it stays live.
pub(super) fn release(tx: &Tx<'_>, request: &Authoring) -> Result<Effect> {
    let mut r = mine(tx, request)?;
    let left = r.clone();
    leave(tx, &r)?;
    digests::clear_authoring(&mut r);
    let effect = finish(tx, r, true)?;
    digests::refresh_before(tx.conn, &left)?;
    Ok(effect)
}

/// From a named owner to another; also another address of the same owner.
pub(super) fn transfer(tx: &Tx<'_>, request: &Transfer) -> Result<Effect> {
    let mut r = at(tx, &request.at)?;
    let Transfer { from, to, address, .. } = request;
    if r.owner.as_ref() != Some(from) {
        return Err(if r.owner.is_some() {
            owned_elsewhere(&r)
        } else {
            stale(format!("{} has no owner", r.id), r.seq)
        });
    }
    may_transfer(tx, &r, from, to)?;
    not_superseded(&r)?;
    free(tx, to, address, &r)?;
    let left = r.clone();
    leave(tx, &r)?;
    r.address = Some(address.clone());
    if from != to {
        let applied = as_seen_by(tx, &r, to)?;
        r.owner = Some(to.clone());
        r.since = tx.fact;
        digests::set_applied(tx.conn, &mut r, &applied)?;
    }
    (r.offered, r.offered_at) = (None, None);
    let effect = finish(tx, r, true)?;
    digests::refresh_before(tx.conn, &left)?;
    Ok(effect)
}

/// An owner gives its own another address, or takes back what it offered; another takes what is offered to it; an
/// admin takes from any owner, but not what that one promised to a third.
fn may_transfer(tx: &Tx<'_>, r: &Resource, from: &Owner, to: &Owner) -> Result<()> {
    let acts = |owner: &Owner| tx.context.owner.as_ref() == Some(owner);
    if from == to && (acts(from) || tx.context.admin) {
        return Ok(());
    }
    match &r.offered {
        Some(offered) if offered != to => Err(owned_elsewhere(r)),
        Some(_) if acts(to) => Ok(()),
        _ if tx.context.admin => Ok(()),
        _ if acts(from) => Err(rights::not_admin(&format!(
            "{} is given to {to} by {to} itself, once {from} hands it over, or by an admin",
            r.id
        ))),
        _ => {
            let mut error = owned_elsewhere(r);
            let how = format!("; it is taken with the scope admin, or once {from} hands it over");
            error.message.push_str(&how);
            Err(error)
        }
    }
}

/// The acting owner offers it to a named one, which takes it with a transfer. It leaves its address at once.
pub(super) fn hand_over(tx: &Tx<'_>, request: &HandOver) -> Result<Effect> {
    let HandOver { to, address, .. } = request;
    let mut r = mine(tx, &request.at)?;
    if r.owner.as_ref() == Some(to) {
        return Err(invalid(format!("{to} has {} already; a transfer gives it another address", r.id)));
    }
    if r.state != State::Live {
        return Err(archived(&r));
    }
    not_superseded(&r)?;
    if address.kind != r.kind {
        return Err(invalid(format!("{address} is no address of a {}", r.kind)));
    }
    if let Some(other) = rows::offered_at(tx.conn, to, address)?.filter(|other| other.id != r.id) {
        return Err(taken(&other, format!("{} is offered to {to} as {address} already", other.id)));
    }
    leave(tx, &r)?;
    (r.offered, r.offered_at) = (Some(to.clone()), Some(address.clone()));
    let left = r.clone();
    let effect = finish(tx, r, true)?;
    digests::refresh_before(tx.conn, &left)?;
    Ok(effect)
}

fn not_superseded(r: &Resource) -> Result<()> {
    if r.superseded {
        return Err(conflict("superseded", format!("{} waits to be retired", r.id)));
    }
    Ok(())
}

/// What counts as applied for another owner. What moved live is held as before, so it keeps what was applied; all
/// else is what is live, in the view of that owner, which reads references otherwise. Of a store only what was applied
/// before: what others wrote there is not taken.
fn as_seen_by(tx: &Tx<'_>, r: &Resource, to: &Owner) -> Result<Applied> {
    let before = digests::applied(tx.conn, r)?.unwrap_or_default();
    let view = |owner: Option<&Owner>| {
        let body = digests::body(tx.conn, r)?;
        digests::canonical(tx.conn, r, body, owner, Some(&before.spec))
    };
    let (theirs, mine) = (view(r.owner.as_ref())?, view(Some(to))?);
    // The same function as planning uses, so that a plan knows what it will find applied.
    Ok(carried(r.kind, &before, &theirs, &mine))
}

/// Sets or clears `authoring.protected`.
pub(super) fn protect(tx: &Tx<'_>, request: &Protect) -> Result<Effect> {
    let mut r = mine_and_live(tx, &request.at)?;
    let changed = r.protected != request.protected;
    r.protected = request.protected;
    finish(tx, r, changed)
}

/// Sets what is applied; nothing live changes.
pub(super) fn record(tx: &Tx<'_>, request: &Record) -> Result<Effect> {
    let mut r = mine_and_live(tx, &request.at)?;
    let before = digests::applied(tx.conn, &r)?.unwrap_or_default();
    let mut fields = Vec::new();
    let right = rights::Right::Owner;
    let changed = update::record_applied(tx, &mut r, right, Some(&request.applied), &before, &mut fields)?;
    let mut effect = finish(tx, r, changed)?;
    effect.fields = fields;
    Ok(effect)
}

/// Sets the owner's policy in force.
pub(super) fn set_policy(tx: &Tx<'_>, request: &SetPolicy) -> Result<Effect> {
    let SetPolicy { owner, seq, policy, undone } = request;
    if tx.context.owner.as_ref() != Some(owner) && !tx.context.admin {
        return Err(owner_required(format!("the policy of {owner} is set by {owner}")));
    }
    let mut record = owner::get(tx.conn, owner)?.unwrap_or_default();
    if record.seq != *seq {
        return Err(stale(format!("the record of {owner} is at {}, not {seq}", record.seq), record.seq));
    }
    let stand = |record: &owner::Record| Stand {
        version: Some(record.seq),
        body: record.policy.as_ref().map(Digest::of_json),
        ..Stand::default()
    };
    let before = stand(&record);
    let moved = undone.as_ref().is_some_and(|undone| *undone != record.undone);
    let changed = moved || record.policy.as_ref() != Some(policy);
    if changed {
        record.policy = Some(Policy::clone(policy));
        if let Some(undone) = undone {
            record.undone.clone_from(undone);
        }
        record.seq += 1;
        owner::put(tx.conn, owner, &record)?;
    }
    let written = Written {
        id: owner.to_string(),
        version: record.seq,
        seq: record.seq,
        made: None,
        changed,
        replayed: false,
        moved: false,
        spec: None,
    };
    Ok(Effect {
        response: Response::Written(written),
        resource: None,
        fields: vec!["policy".to_owned()],
        before: Some(before),
        after: stand(&record),
        changed,
    })
}

/// A resource at its version and authoring sequence.
fn at(tx: &Tx<'_>, at: &Authoring) -> Result<Resource> {
    let r = rights::find(tx, None, &at.at.id)?;
    rights::expect_version(&r, &at.at)?;
    if r.seq == at.seq || r.owner.is_none() && at.seq == 0 {
        return Ok(r);
    }
    let acts = tx.context.owner.as_ref();
    let concerns = r.owner.is_none() || acts.is_some() && (acts == r.owner.as_ref() || acts == r.offered.as_ref());
    // Owned by someone else is told by name before anything about sequences.
    Err(if concerns {
        stale(format!("authoring of {} is at {}, not {}", r.id, r.seq, at.seq), r.seq)
    } else {
        owned_elsewhere(&r)
    })
}

/// One of the acting owner.
fn mine(tx: &Tx<'_>, request: &Authoring) -> Result<Resource> {
    let me = rights::acting(tx)?;
    let r = at(tx, request)?;
    match &r.owner {
        Some(owner) if owner == me => Ok(r),
        Some(_) => Err(owned_elsewhere(&r)),
        None => Err(owner_required(format!("{} has no owner", r.id))),
    }
}

/// One that another archived meanwhile has no desired state to protect or record; neither version nor sequence
/// of an agent tells of that.
fn mine_and_live(tx: &Tx<'_>, request: &Authoring) -> Result<Resource> {
    let r = mine(tx, request)?;
    match (r.state, &r.offered) {
        (State::Live, None) => Ok(r),
        (State::Live, Some(_)) => Err(offered(&r)),
        _ => Err(archived(&r)),
    }
}

/// A resource leaves its address. It is noted there as the last one that did, as a retired one is: a later
/// create at the address is another one than the create that made this, and must not be answered from its record.
/// What is offered has left it before.
fn leave(tx: &Tx<'_>, r: &Resource) -> Result<()> {
    let (Some(owner), Some(address), None) = (&r.owner, &r.address, &r.offered) else { return Ok(()) };
    rows::put_retired(tx.conn, owner, address, &r.id, tx.fact)?;
    Ok(owner::forget_digest(tx.conn, owner)?)
}

/// Is an address free for this resource?
fn free(tx: &Tx<'_>, owner: &Owner, address: &Address, r: &Resource) -> Result<()> {
    if address.kind != r.kind {
        return Err(invalid(format!("{address} is no address of a {}", r.kind)));
    }
    match rows::at_address(tx.conn, owner, address)? {
        Some(held) if held.id != r.id => Err(taken(&held, format!("{} is at {address} of {owner} already", held.id))),
        _ => Ok(()),
    }
}

/// `validation.conflict {reason: address_taken, id}`.
fn taken(by: &Resource, message: String) -> ControlError {
    let mut error = conflict("address_taken", message);
    error.details["id"] = by.id.clone().into();
    error
}

fn finish(tx: &Tx<'_>, mut r: Resource, changed: bool) -> Result<Effect> {
    if changed {
        r.seq += 1;
        if r.state == State::Live {
            let body = digests::body(tx.conn, &r)?;
            digests::save(tx.conn, &mut r, body)?;
        } else {
            resource::put(tx.conn, &r)?;
            if let Some(owner) = &r.owner {
                owner::forget_digest(tx.conn, owner)?;
            }
        }
        digests::refresh_referrers(tx.conn, &r.id)?;
        digests::refresh_before(tx.conn, &r)?;
    }
    Ok(Effect::of(&r, None, changed, vec!["authoring".to_owned()]))
}
