//! `KIND.create`: a new resource, claimed and filled in the same transaction, at the place of an old one if asked.

use serde_json::Value;

use crate::control::embedded::error::{Result, conflict, invalid, owner_required, refused, stale};
use crate::control::embedded::rights::{self, Right};
use crate::control::embedded::write::{Effect, Tx};
use crate::control::embedded::{digests, mounts, publish, references, skills, wire};
use crate::diag::codes::control as codes;
use crate::model::Kind;
use crate::model::kinds::{Object, def};
use crate::model::op::{ClaimOf, Create, Expect};
use crate::store::document;
use crate::store::resource::{self, Resource, State};
use crate::store::version::{self, Version};

/// Makes a resource.
pub(super) fn create(tx: &Tx<'_>, request: &Create) -> Result<Effect> {
    let kind = request.kind;
    let mut body = request.body.clone();
    if kind == Kind::Skill {
        skills::name_by_files(tx, &mut body, request.content.as_ref())?;
    }
    let body = wire::created(kind, &body)?;
    check_source(kind, &body)?;
    let replaced = match &request.replaces {
        Some(old) => Some(supersede(tx, request, old)?),
        None => None,
    };
    let mut r = row(tx, kind, &body)?;
    match &request.claim {
        Some(claim) => claim_at_birth(tx, &mut r, claim, request, replaced.is_some())?,
        None if request.absent_since.is_some() || request.replaces.is_some() => {
            return Err(invalid("`absent_since` and `replaces` come with a claim"));
        }
        None => {}
    }
    take_unique_name(tx, &mut r)?;
    mounts::place(tx, &mut r, None, &body)?;
    references::set(tx, &r, None, &body)?;
    let made = first_version(tx, &mut r, request)?;
    digests::save_with(tx.conn, &mut r, body, request.claim.as_ref().map(|c| &c.applied))?;
    if let Some(old) = replaced {
        digests::refresh_referrers(tx.conn, &old)?;
    }
    digests::refresh_before(tx.conn, &r)?;
    Ok(Effect::of(&r, made, true, Vec::new()))
}

fn check_source(kind: Kind, body: &Object) -> Result<()> {
    if kind != Kind::FileTree {
        return Ok(());
    }
    match body.get("source").and_then(|s| s.get("kind")).and_then(Value::as_str) {
        Some("upload") => Ok(()),
        Some("git") => Err(refused(&codes::GIT_TREE, "an embedded workspace cannot hold a file tree from Git yet")),
        _ => Err(invalid("`source.kind` of a file tree is upload or git")),
    }
}

fn row(tx: &Tx<'_>, kind: Kind, body: &Object) -> Result<Resource> {
    Ok(Resource {
        id: tx.id(def(kind).id_prefix),
        kind,
        name: wire::name_of(kind, body),
        body: document::put(tx.conn, &Value::Object(body.clone()))?,
        version: 1,
        state: State::Live,
        created_at: tx.now.clone(),
        updated_at: tx.now.clone(),
        archived_at: None,
        content: None,
        content_version: None,
        number: 0,
        unique_name: None,
        agent: None,
        place: None,
        owner: None,
        address: None,
        protected: false,
        superseded: false,
        seq: 0,
        since: 0,
        applied: None,
        unowned: Vec::new(),
        applied_digest: None,
        live_digest: None,
        gone: None,
        offered: None,
        offered_at: None,
    })
}

/// Takes an address for a new resource; what is gone there by another's hand lets go of it.
fn claim_at_birth(tx: &Tx<'_>, r: &mut Resource, claim: &ClaimOf, request: &Create, replaces: bool) -> Result<()> {
    let owner = rights::acting(tx)?;
    if claim.address.kind != r.kind {
        return Err(invalid(format!("{} is no address of a {}", claim.address, r.kind)));
    }
    let mut last = resource::retired_at(tx.conn, owner, &claim.address)?;
    if let Some(mut held) = resource::at_address(tx.conn, owner, &claim.address)? {
        if held.gone.is_none() {
            let message = format!("{} is at {} of {owner} already", held.id, claim.address);
            return Err(stale(message, held.id));
        }
        digests::clear_authoring(&mut held);
        resource::put_retired(tx.conn, owner, &claim.address, &held.id, tx.fact)?;
        resource::put(tx.conn, &held)?;
        digests::refresh_referrers(tx.conn, &held.id)?;
        last = Some(held.id);
    }
    if !replaces && request.absent_since != last {
        let message = match &last {
            Some(id) => format!("{id} left {} of {owner} since", claim.address),
            None => format!("nothing ever left {} of {owner}", claim.address),
        };
        return Err(stale(message, last));
    }
    r.owner = Some(owner.clone());
    r.address = Some(claim.address.clone());
    r.protected = claim.protected;
    r.seq = 1;
    r.since = tx.fact;
    digests::set_applied(tx.conn, r, &claim.applied)
}

/// The old resource gives up address, unique name and mount destination, and waits to be retired.
fn supersede(tx: &Tx<'_>, request: &Create, at: &Expect) -> Result<String> {
    let (mut old, right) = rights::for_change(tx, Some(request.kind), at)?;
    if right != Right::Owner {
        return Err(owner_required(format!("{} is replaced by its owner alone", old.id)));
    }
    if old.superseded || request.claim.as_ref().map(|c| &c.address) != old.address.as_ref() {
        let message = format!("{} is replaced at the address that it has", old.id);
        return Err(conflict("address", message));
    }
    old.superseded = true;
    old.unique_name = None;
    old.place = None;
    old.seq += 1;
    resource::put(tx.conn, &old)?;
    Ok(old.id)
}

/// Takes the shown name where names are unique.
pub(super) fn take_unique_name(tx: &Tx<'_>, r: &mut Resource) -> Result<()> {
    if !def(r.kind).unique_name {
        return Ok(());
    }
    match resource::with_unique_name(tx.conn, r.kind, &r.name)? {
        Some(other) if other != r.id => Err(conflict("name_taken", format!("{other} is named {} already", r.name))),
        _ => {
            r.unique_name = Some(r.name.clone());
            Ok(())
        }
    }
}

/// Version 1 of an agent, the first files of a skill or tree, the empty version of a store.
fn first_version(tx: &Tx<'_>, r: &mut Resource, request: &Create) -> Result<Option<String>> {
    match (r.kind, &request.content) {
        (Kind::Skill | Kind::FileTree, Some(content)) => publish::add_version(tx, r, content).map(Some),
        (Kind::Skill, None) => Err(invalid("a skill is made with its first files")),
        (_, Some(_)) => Err(invalid(format!("{} has no files", wire::type_of(r.kind)))),
        (Kind::Agent, None) => add_agent_version(tx, r).map(Some),
        _ => Ok(None),
    }
}

/// The next immutable version of an agent: its body as it is now.
pub(super) fn add_agent_version(tx: &Tx<'_>, r: &mut Resource) -> Result<String> {
    r.number = r.version;
    let row = Version {
        resource: r.id.clone(),
        number: r.number,
        id: r.number.to_string(),
        digest: r.body,
        created_at: tx.now.clone(),
        actor: tx.context.actor.clone(),
    };
    version::add(tx.conn, &row)?;
    Ok(row.id)
}
