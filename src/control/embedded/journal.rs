//! The journal of writes: stored answers by idempotency key, audit facts, receipt lines.

use serde_json::{Value, json};

use crate::control::embedded::error::Result;
use crate::control::embedded::rights;
use crate::control::embedded::write::{Effect, Stand, Tx};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{Context, Create, Fact, ReceiptLine, Request, Response, WriteContents};
use crate::model::{Address, Digest, Owner};
use crate::store::holding::Holding;
use crate::store::idempotency::{self, Stored};
use crate::store::resource::{self, State};
use crate::store::{apply, fact, holding, memory as memories, owner};

/// How long stored answers are kept at least, in seconds: 24 h.
const KEPT: i64 = 24 * 60 * 60;
/// How many stored answers one write lets go of at most. It stores one, so they become fewer.
const FORGOTTEN_AT_ONCE: u32 = 8;

/// The digest under which a key's request is compared: operation, who acts as whom, body.
pub(super) fn request_digest(context: &Context, request: &Request) -> Digest {
    let body = match request {
        Request::Create(r) => json!(r),
        Request::Update(r) => json!(r),
        Request::Archive(r) | Request::Delete(r) => json!(r),
        Request::Publish(r) => json!(r),
        Request::WriteContents(r) => json!(r),
        Request::VersionDelete(r) => json!(r),
        Request::MemoryCreate(r) => json!(r),
        Request::MemoryUpdate(r) => json!(r),
        Request::MemoryVersionRedact(r) => json!(r),
        Request::FileCreate(r) => json!(r),
        Request::FileDelete(r) | Request::TokenRevoke(r) => json!(r),
        Request::TokenCreate(r) => json!(r),
        Request::HandOver(r) => json!(r),
        Request::MemoryDelete(r) => json!(r),
        Request::Claim(r) => json!(r),
        Request::Release(r) => json!(r),
        Request::Transfer(r) => json!(r),
        Request::Protect(r) => json!(r),
        Request::Record(r) => json!(r),
        Request::SetPolicy(r) => json!(r),
        Request::ApplyBegin(r) => json!(r),
        Request::ApplyEnd(r) => json!(r),
        Request::BlobPut(r) => json!(r.digest),
        // Reads come with no key that counts.
        _ => Value::Null,
    };
    Digest::of_json(&json!([request.name(), context.owner, body]))
}

/// The answer that was stored for this request's key; `None` where there is none, or where the request is due again.
pub(super) fn answered(
    tx: &Tx<'_>,
    request: &Request,
    digest: Option<Digest>,
    counts: bool,
) -> Result<Option<Response>> {
    let (Some(key), Some(digest)) = (&tx.context.key, digest) else { return Ok(None) };
    match idempotency::get(tx.conn, &scope(tx.context), key)? {
        Some(stored) => replay(tx, request, &stored, digest, counts),
        None => Ok(None),
    }
}

/// Stores the answer of a request that came with a key, and lets go of old ones.
pub(super) fn keep_answer(tx: &Tx<'_>, request: Option<Digest>, effect: &Effect) -> Result<()> {
    let (Some(key), Some(request)) = (&tx.context.key, request) else { return Ok(()) };
    let stored = Stored { request, resource: effect.resource.clone(), answer: to_stored(&effect.response) };
    idempotency::put(tx.conn, &scope(tx.context), key, &stored, &tx.now)?;
    idempotency::forget(tx.conn, &kept_from(tx.at), FORGOTTEN_AT_ONCE)?;
    Ok(())
}

/// Stored answers from before this moment are of no more use; without fraction and `Z`, so that it sorts before
/// every time of its second.
fn kept_from(now: jiff::Timestamp) -> String {
    let from = jiff::Timestamp::from_second(now.as_second().saturating_sub(KEPT)).unwrap_or_default();
    from.to_string().trim_end_matches('Z').to_owned()
}

/// Workspace (the file itself) and owner, or the actor where no owner acts.
fn scope(context: &Context) -> String {
    match &context.owner {
        Some(owner) => format!("owner:{owner}"),
        None => format!("actor:{}", context.actor),
    }
}

fn replay(tx: &Tx<'_>, request: &Request, stored: &Stored, digest: Digest, counts: bool) -> Result<Option<Response>> {
    if stored.request != digest {
        let message = "this idempotency key was used for another request";
        return Err(ControlError::new(ErrorKind::Conflict, codes::KEY_REUSED.code, message));
    }
    let present = match &stored.resource {
        Some(id) => resource::get(tx.conn, id)?,
        None => None,
    };
    if let Some(r) = &present
        && matches!(request, Request::Create(_))
        && !is_due_again(tx, request)?
    {
        rights::right(tx, r)?;
    }
    let mut response = from_stored(&stored.answer)?;
    if let Response::Written(written) = &mut response {
        written.replayed = true;
        if let Some(r) = &present {
            written.moved = match request {
                Request::WriteContents(w) => contents_moved(tx, w)?,
                Request::MemoryCreate(_) | Request::MemoryUpdate(_) | Request::MemoryDelete(_) => false,
                Request::MemoryVersionRedact(_) => false,
                Request::Archive(_) | Request::Delete(_) => r.state == State::Live,
                Request::Update(_) | Request::Publish(_) => r.version != written.version,
                // What is written after it, by the same plan too, may raise the sequence.
                Request::Create(c) => r.version != written.version || r.address.as_ref() != address_of(c),
                _ => r.version != written.version || r.seq != written.seq,
            };
            written.version = r.version;
            // The next action of the same plan expects the sequence as this one left it.
            if written.moved {
                written.seq = r.seq;
            }
            // An answer that was stored before answers named their spec.
            written.spec = written.spec.or(r.applied);
        }
        if let Request::SetPolicy(p) = request {
            written.seq = owner::get(tx.conn, &p.owner)?.unwrap_or_default().seq;
            written.moved = written.seq != written.version;
            written.version = written.seq;
        }
        if written.moved {
            return Ok(if is_due_again(tx, request)? { None } else { Some(response) });
        }
    }
    if counts {
        append_line(tx, &response)?;
    }
    Ok(Some(response))
}

/// Is a request that was done, and undone since, to be done once more? Its key is made of what it was planned against;
/// where that is contents, or what left an address, things may be once more as they were, and then the same plan is
/// made again. All other preconditions are numbers that never come back.
fn is_due_again(tx: &Tx<'_>, request: &Request) -> Result<bool> {
    match request {
        Request::WriteContents(w) => {
            for (path, expected) in &w.expect {
                if memories::at(tx.conn, &w.id, path)?.map(|m| m.sha256) != *expected {
                    return Ok(false);
                }
            }
            Ok(!w.expect.is_empty())
        }
        Request::Create(Create { claim: Some(claim), replaces: None, absent_since, .. }) => {
            let owner = rights::acting(tx)?;
            let free = resource::at_address(tx.conn, owner, &claim.address)?.is_none();
            Ok(free && resource::retired_at(tx.conn, owner, &claim.address)? == *absent_since)
        }
        _ => Ok(false),
    }
}

fn address_of(request: &Create) -> Option<&Address> {
    request.claim.as_ref().map(|c| &c.address)
}

/// Did anyone write, since, a path that this request wrote?
fn contents_moved(tx: &Tx<'_>, w: &WriteContents) -> Result<bool> {
    for (path, digest) in &w.puts {
        if memories::at(tx.conn, &w.id, path)?.map(|m| m.sha256) != Some(*digest) {
            return Ok(true);
        }
    }
    for path in &w.deletes {
        if memories::at(tx.conn, &w.id, path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The digest of what a request is about.
fn digest_of(stand: &Stand, request: &Request) -> Option<Digest> {
    match request {
        Request::Claim(_)
        | Request::Release(_)
        | Request::HandOver(_)
        | Request::Transfer(_)
        | Request::Protect(_)
        | Request::Record(_) => stand.applied,
        Request::Publish(_)
        | Request::VersionDelete(_)
        | Request::WriteContents(_)
        | Request::MemoryCreate(_)
        | Request::MemoryUpdate(_)
        | Request::MemoryDelete(_) => stand.content,
        _ => stand.body,
    }
}

/// Appends the audit fact of a write.
pub(super) fn append_fact(tx: &Tx<'_>, request: &Request, before: &Stand, effect: &Effect) -> Result<()> {
    let written = match &effect.response {
        Response::Written(w) => Some(w),
        _ => None,
    };
    let after = &effect.after;
    let (to_owner, to_address) = moved_to(request, before, after).unzip();
    let fact = Fact {
        seq: tx.fact,
        at: tx.now.clone(),
        operation: tx.operation.clone(),
        actor: tx.context.actor.clone(),
        actor_kind: tx.context.actor_kind,
        owner: tx.context.owner.clone(),
        apply: tx.context.apply.clone(),
        resource: effect.resource.clone(),
        break_glass: tx.context.break_glass.clone(),
        fields: effect.fields.clone(),
        version: written.map(|w| w.version),
        from_version: before.version,
        address: before.address.clone().or_else(|| after.address.clone()),
        made: written.and_then(|w| w.made.clone()),
        before: digest_of(before, request),
        after: digest_of(after, request),
        from_owner: before.owner.clone().filter(|had| after.owner.as_ref() != Some(had)),
        to_owner,
        to_address,
    };
    Ok(fact::add(tx.conn, &fact)?)
}

/// What an owner has applied from now on, and where; so that what it had at any time can be told.
pub(super) fn note_held(tx: &Tx<'_>, before: Option<&Holding>, after: Option<&Holding>) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let place = |h: &Holding| (h.owner.clone(), h.address.clone());
    if let Some(had) = before.filter(|had| after.map(place) != Some(place(had))) {
        holding::end(tx.conn, had, tx.fact)?;
    }
    if let Some(has) = after {
        holding::begin(tx.conn, has, tx.fact)?;
    }
    Ok(())
}

/// Where a resource went, or was offered to. A transfer says so even where it went back to whom it was offered by.
fn moved_to(request: &Request, before: &Stand, after: &Stand) -> Option<(Owner, Address)> {
    before.owner.as_ref()?;
    if after.offered.is_some() && after.offered != before.offered {
        return after.offered.clone();
    }
    let moved = (&before.owner, &before.address) != (&after.owner, &after.address);
    let moved = moved || matches!(request, Request::Transfer(_));
    after.owner.clone().zip(after.address.clone()).filter(|_| moved)
}

/// Appends the receipt line of an action.
pub(super) fn append_line(tx: &Tx<'_>, response: &Response) -> Result<()> {
    let (Some(id), Some(action)) = (&tx.context.apply, &tx.context.action) else { return Ok(()) };
    let written = match response {
        Response::Written(w) => Some(w),
        _ => None,
    };
    let line = ReceiptLine {
        action: action.clone(),
        outcome: "done".to_owned(),
        operation: tx.operation.clone(),
        id: written.map(|w| w.id.clone()),
        version: written.map(|w| w.version),
        made: written.and_then(|w| w.made.clone()),
        spec: written.and_then(|w| w.spec),
        error: None,
    };
    Ok(apply::add_line(tx.conn, id, &line)?)
}

fn to_stored(response: &Response) -> Value {
    match response {
        Response::Written(w) => json!({"written": w}),
        Response::Began(b) => json!({"began": b}),
        _ => json!({"done": null}),
    }
}

fn from_stored(answer: &Value) -> Result<Response> {
    let read = |e: serde_json::Error| {
        let mut error = ControlError::new(ErrorKind::Internal, codes::STORE_DAMAGED.code, "a stored answer is damaged");
        error.source = Some(Box::new(e));
        error
    };
    if let Some(w) = answer.get("written") {
        return serde_json::from_value(w.clone()).map(Response::Written).map_err(read);
    }
    if let Some(b) = answer.get("began") {
        return serde_json::from_value(b.clone()).map(Response::Began).map_err(read);
    }
    Ok(Response::Done)
}
