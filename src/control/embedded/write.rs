//! The frame of every write: right to act, idempotency record, effect, audit fact, receipt line; one savepoint.

use serde_json::{Value, json};

use crate::control::embedded::error::{Result, conflict, invalid, not_found};
use crate::control::embedded::{
    EmbeddedOptions, applies, authoring, blobs, contents, create, files, memory, memory_versions, publish, represent,
    retire, rights, skills, tokens, update, wire,
};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{ActorKind, Context, Create, Fact, ReceiptLine, Request, Response, Written};
use crate::model::{Address, Digest, Owner};
use crate::store::holding::Holding;
use crate::store::idempotency::{self, Stored};
use crate::store::resource::{self, Resource, State};
use crate::store::{self, Conn, apply, fact, holding, memory as memories, owner};

/// How long stored answers are kept at least, in seconds: 24 h.
const KEPT: i64 = 24 * 60 * 60;
/// Most characters of an actor's name.
const ACTOR: usize = 256;
/// Most characters of a reason for break-glass.
const REASON: usize = 1_024;
/// How many stored answers one write lets go of at most. It stores one, so they become fewer.
const FORGOTTEN_AT_ONCE: u32 = 8;

/// What an operation works in.
pub(super) struct Tx<'a> {
    pub(super) conn: &'a Conn,
    pub(super) context: &'a Context,
    /// Name of the operation.
    pub(super) operation: String,
    /// RFC 3339, UTC.
    pub(super) now: String,
    /// Stored answers from before this moment are of no more use; without fraction and `Z`, so that it sorts
    /// before every time of its second.
    kept_from: String,
    /// Number of the audit fact that this write will append.
    pub(super) fact: u64,
    options: &'a EmbeddedOptions,
}

impl<'a> Tx<'a> {
    pub(super) fn new(
        conn: &'a Conn,
        context: &'a Context,
        operation: String,
        options: &'a EmbeddedOptions,
    ) -> Result<Self> {
        let now = (options.clock)();
        let kept_from = jiff::Timestamp::from_second(now.as_second().saturating_sub(KEPT)).unwrap_or_default();
        let kept_from = kept_from.to_string().trim_end_matches('Z').to_owned();
        Ok(Self { conn, context, operation, now: now.to_string(), kept_from, fact: fact::next(conn)?, options })
    }

    /// A new id.
    pub(super) fn id(&self, prefix: &str) -> String {
        wire::id_text(prefix, (self.options.ids)())
    }
}

/// What an operation did, for the journal.
pub(super) struct Effect {
    /// The answer.
    pub(super) response: Response,
    /// What it was about.
    pub(super) resource: Option<String>,
    /// Canonical fields that it changed; empty = all.
    pub(super) fields: Vec<String>,
    /// How things stood before, where that is not the row of the resource that the request names.
    pub(super) before: Option<Stand>,
    /// How they stand now.
    pub(super) after: Stand,
    /// Did anything change? Else no fact is appended.
    pub(super) changed: bool,
}

impl Effect {
    /// Of a write to a resource.
    pub(super) fn of(r: &Resource, made: Option<String>, changed: bool, fields: Vec<String>) -> Self {
        let written = Written {
            id: r.id.clone(),
            version: r.version,
            seq: r.seq,
            made,
            changed,
            replayed: false,
            moved: false,
            spec: r.applied,
        };
        Self {
            response: Response::Written(written),
            resource: Some(r.id.clone()),
            fields,
            before: None,
            after: Stand::of(r),
            changed,
        }
    }

    /// Of an operation that is about no resource.
    pub(super) fn beside(response: Response, about: String, changed: bool) -> Self {
        let after = Stand::default();
        Self { response, resource: Some(about), fields: Vec::new(), before: None, after, changed }
    }
}

/// Coordinates and digests before or after a write, for its audit fact.
#[derive(Debug, Clone, Default)]
pub(super) struct Stand {
    /// Version, or the sequence of an owner's record.
    pub(super) version: Option<u64>,
    pub(super) owner: Option<Owner>,
    pub(super) address: Option<Address>,
    /// Whom it is offered to, and for which address.
    pub(super) offered: Option<(Owner, Address)>,
    /// Of the body, while it is live; or of an owner's policy.
    pub(super) body: Option<Digest>,
    pub(super) content: Option<Digest>,
    pub(super) applied: Option<Digest>,
    /// What its owner has with it at an address: not where it was replaced, or is offered to another.
    pub(super) held: Option<Holding>,
}

impl Stand {
    /// Of a resource.
    pub(super) fn of(r: &Resource) -> Self {
        Self {
            version: Some(r.version),
            owner: r.owner.clone(),
            address: r.address.clone(),
            offered: r.offered.clone().zip(r.offered_at.clone()),
            body: (r.state == State::Live).then_some(r.body),
            content: r.content,
            applied: r.applied,
            held: held(r),
        }
    }

    /// The digest of what a request is about.
    fn digest(&self, request: &Request) -> Option<Digest> {
        match request {
            Request::Claim(_)
            | Request::Release(_)
            | Request::HandOver(_)
            | Request::Transfer(_)
            | Request::Protect(_)
            | Request::Record(_) => self.applied,
            Request::Publish(_)
            | Request::VersionDelete(_)
            | Request::WriteContents(_)
            | Request::MemoryCreate(_)
            | Request::MemoryUpdate(_)
            | Request::MemoryDelete(_) => self.content,
            _ => self.body,
        }
    }
}

fn held(r: &Resource) -> Option<Holding> {
    if r.superseded || r.offered.is_some() {
        return None;
    }
    Some(Holding {
        owner: r.owner.clone()?,
        address: r.address.clone()?,
        id: r.id.clone(),
        spec: r.applied?,
        unowned: r.unowned.clone(),
        protected: r.protected,
    })
}

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

/// Carries out a write.
pub(super) fn perform(tx: &Tx<'_>, request: &Request, digest: Option<Digest>) -> Result<Response> {
    check_context(tx.context)?;
    check_epoch(tx)?;
    let response = recorded(tx, request, digest)?;
    represent::represent(tx, request, response)
}

/// Who acts is noted with every write, and why a rule was passed over; both are of bounded length.
fn check_context(context: &Context) -> Result<()> {
    if context.actor.chars().count() > ACTOR {
        return Err(invalid(format!("an actor has at most {ACTOR} characters")));
    }
    match &context.break_glass {
        Some(reason) if reason.trim().is_empty() => Err(invalid("break-glass needs a reason, and it is empty")),
        Some(reason) if reason.chars().count() > REASON => {
            Err(invalid(format!("a reason for break-glass has at most {REASON} characters")))
        }
        _ => Ok(()),
    }
}

/// A caller that has seen another epoch of the workspace knows nothing of this one.
fn check_epoch(tx: &Tx<'_>) -> Result<()> {
    let Some(seen) = &tx.context.epoch else { return Ok(()) };
    let now = store::identity(tx.conn)?.epoch;
    if *seen == now {
        return Ok(());
    }
    let mut error = conflict("epoch", format!("the workspace was restored since: its epoch is {now}, not {seen}"));
    error.details["current"] = json!(now);
    Err(error)
}

fn recorded(tx: &Tx<'_>, request: &Request, digest: Option<Digest>) -> Result<Response> {
    let counts = !matches!(request, Request::BlobPut(_) | Request::ApplyBegin(_) | Request::ApplyEnd(_));
    // An end says itself which Apply it is about, and may be sent again after it was done.
    if !matches!(request, Request::ApplyBegin(_) | Request::ApplyEnd(_)) {
        applies::check_open(tx)?;
    }
    let before = present(tx, request)?;
    may_act(tx, request, before.as_ref())?;
    let scope = scope(tx.context);
    if let (Some(key), Some(digest)) = (&tx.context.key, digest)
        && let Some(stored) = idempotency::get(tx.conn, &scope, key)?
    {
        return replay(tx, request, &stored, digest, counts);
    }
    let mut effect = carry_out(tx, request)?;
    let before = effect.before.take().or_else(|| before.as_ref().map(Stand::of)).unwrap_or_default();
    if let Response::Written(written) = &mut effect.response {
        // Of what went, the spec that went.
        written.spec = written.spec.or(before.applied.filter(|_| effect.changed));
    }
    if effect.changed {
        append_fact(tx, request, &before, &effect)?;
        note_held(tx, before.held.as_ref(), effect.after.held.as_ref())?;
        if counts {
            applies::note_write(tx)?;
        }
    }
    if counts {
        append_line(tx, &effect.response)?;
    }
    if let (Some(key), Some(request)) = (&tx.context.key, digest) {
        let stored = Stored { request, resource: effect.resource, answer: to_stored(&effect.response) };
        idempotency::put(tx.conn, &scope, key, &stored, &tx.now)?;
        idempotency::forget(tx.conn, &tx.kept_from, FORGOTTEN_AT_ONCE)?;
    }
    Ok(effect.response)
}

/// One function an operation.
fn carry_out(tx: &Tx<'_>, request: &Request) -> Result<Effect> {
    match request {
        Request::Create(r) => create::create(tx, r),
        Request::Update(r) => update::update(tx, r),
        Request::Archive(r) => retire::archive(tx, r),
        Request::Delete(r) => retire::delete(tx, r),
        Request::Publish(r) => publish::publish(tx, r),
        Request::VersionDelete(r) => skills::delete_version(tx, r),
        Request::WriteContents(r) => contents::write_contents(tx, r),
        Request::MemoryCreate(r) => memory::create(tx, r),
        Request::MemoryUpdate(r) => memory::update(tx, r),
        Request::MemoryDelete(r) => memory::delete(tx, r),
        Request::MemoryVersionRedact(r) => memory_versions::redact(tx, r),
        Request::FileCreate(r) => files::create(tx, r),
        Request::FileDelete(r) => files::delete(tx, r),
        Request::Claim(r) => authoring::claim(tx, r),
        Request::Release(r) => authoring::release(tx, r),
        Request::HandOver(r) => authoring::hand_over(tx, r),
        Request::Transfer(r) => authoring::transfer(tx, r),
        Request::Protect(r) => authoring::protect(tx, r),
        Request::Record(r) => authoring::record(tx, r),
        Request::SetPolicy(r) => authoring::set_policy(tx, r),
        Request::ApplyBegin(r) => applies::begin(tx, r),
        Request::ApplyEnd(r) => applies::end(tx, r),
        Request::BlobPut(r) => blobs::put(tx, r),
        Request::TokenCreate(r) => tokens::create(tx, r),
        Request::TokenRevoke(r) => tokens::revoke(tx, r),
        read => Err(ControlError::new(
            ErrorKind::Internal,
            codes::UNKNOWN_OPERATION.code,
            format!("{} is no write", read.name()),
        )),
    }
}

/// Workspace (the file itself) and owner, or the actor where no owner acts.
fn scope(context: &Context) -> String {
    match &context.owner {
        Some(owner) => format!("owner:{owner}"),
        None => format!("actor:{}", context.actor),
    }
}

/// The resource that a request names, as it is before.
fn present(tx: &Tx<'_>, request: &Request) -> Result<Option<Resource>> {
    let id = match request {
        Request::Update(r) => &r.at.id,
        Request::Archive(r) | Request::Delete(r) => &r.at.id,
        Request::Publish(r) => &r.at.id,
        Request::WriteContents(r) => &r.id,
        Request::VersionDelete(r) => &r.id,
        Request::MemoryVersionRedact(r) => &r.id,
        Request::MemoryCreate(r) => &r.id,
        Request::MemoryUpdate(r) => &r.id,
        Request::MemoryDelete(r) => &r.id,
        Request::Claim(r) => &r.at.at.id,
        Request::Release(r) => &r.at.id,
        Request::HandOver(r) => &r.at.at.id,
        Request::Transfer(r) => &r.at.at.id,
        Request::Protect(r) => &r.at.at.id,
        Request::Record(r) => &r.at.at.id,
        _ => return Ok(None),
    };
    match resource::get(tx.conn, id)? {
        Some(r) => Ok(Some(r)),
        None => Err(not_found(id)),
    }
}

/// The right to act, before a stored answer is given away.
fn may_act(tx: &Tx<'_>, request: &Request, present: Option<&Resource>) -> Result<()> {
    let Some(r) = present else { return Ok(()) };
    match request {
        // What a session writes is no authoring.
        Request::MemoryCreate(_) | Request::MemoryUpdate(_) | Request::MemoryDelete(_)
            if tx.context.actor_kind == ActorKind::Session =>
        {
            Ok(())
        }
        // These compare the owner themselves.
        Request::Claim(_)
        | Request::Release(_)
        | Request::HandOver(_)
        | Request::Transfer(_)
        | Request::Protect(_)
        | Request::Record(_) => Ok(()),
        _ => rights::right(tx, r).map(drop),
    }
}

fn replay(tx: &Tx<'_>, request: &Request, stored: &Stored, digest: Digest, counts: bool) -> Result<Response> {
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
            return Ok(response);
        }
    }
    if counts {
        append_line(tx, &response)?;
    }
    Ok(response)
}

fn address_of(request: &Create) -> Option<&Address> {
    request.claim.as_ref().map(|c| &c.address)
}

/// Did anyone write, since, a path that this request wrote?
fn contents_moved(tx: &Tx<'_>, w: &crate::model::op::WriteContents) -> Result<bool> {
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

fn append_fact(tx: &Tx<'_>, request: &Request, before: &Stand, effect: &Effect) -> Result<()> {
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
        before: before.digest(request),
        after: after.digest(request),
        from_owner: before.owner.clone().filter(|had| after.owner.as_ref() != Some(had)),
        to_owner,
        to_address,
    };
    Ok(fact::add(tx.conn, &fact)?)
}

/// What an owner has applied from now on, and where; so that what it had at any time can be told.
fn note_held(tx: &Tx<'_>, before: Option<&Holding>, after: Option<&Holding>) -> Result<()> {
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
    if before.owner.is_none() {
        return None;
    }
    if after.offered.is_some() && after.offered != before.offered {
        return after.offered.clone();
    }
    let moved = (&before.owner, &before.address) != (&after.owner, &after.address);
    let moved = moved || matches!(request, Request::Transfer(_));
    after.owner.clone().zip(after.address.clone()).filter(|_| moved)
}

fn append_line(tx: &Tx<'_>, response: &Response) -> Result<()> {
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
