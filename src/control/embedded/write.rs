//! The frame of every write: right to act, stored answer, effect, and the journal of it; one savepoint.

use serde_json::json;

use crate::control::embedded::error::{Result, conflict, invalid, no_resource, not_found};
use crate::control::embedded::{
    EmbeddedOptions, applies, authoring, blobs, contents, create, files, journal, memory, memory_versions, publish,
    represent, retire, rights, skills, tokens, update, wire,
};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{ActorKind, Context, Request, Response, Written};
use crate::model::{Address, Digest, Owner};
use crate::store::holding::Holding;
use crate::store::resource::{self, Resource, State};
use crate::store::{self, Conn, fact};

/// Most characters of an actor's name.
const ACTOR: usize = 256;
/// Most characters of a reason for break-glass.
const REASON: usize = 1_024;

/// What an operation works in.
pub(super) struct Tx<'a> {
    pub(super) conn: &'a Conn,
    pub(super) context: &'a Context,
    /// Name of the operation.
    pub(super) operation: String,
    /// RFC 3339, UTC.
    pub(super) now: String,
    /// The same moment.
    pub(super) at: jiff::Timestamp,
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
        let at = (options.clock)();
        Ok(Self { conn, context, operation, now: at.to_string(), at, fact: fact::next(conn)?, options })
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
    if let Some(answer) = journal::answered(tx, request, digest, counts)? {
        return Ok(answer);
    }
    let mut effect = carry_out(tx, request)?;
    let before = effect.before.take().or_else(|| before.as_ref().map(Stand::of)).unwrap_or_default();
    if let Response::Written(written) = &mut effect.response {
        // Of what went, the spec that went.
        written.spec = written.spec.or(before.applied.filter(|_| effect.changed));
    }
    if effect.changed {
        journal::append_fact(tx, request, &before, &effect)?;
        journal::note_held(tx, before.held.as_ref(), effect.after.held.as_ref())?;
        if counts {
            applies::note_write(tx)?;
        }
    }
    if counts {
        journal::append_line(tx, &effect.response)?;
    }
    journal::keep_answer(tx, digest, &effect)?;
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

/// The resource that a request names, as it is before.
fn present(tx: &Tx<'_>, request: &Request) -> Result<Option<Resource>> {
    let (kind, id) = match request {
        Request::Update(r) => (Some(r.kind), &r.at.id),
        Request::Archive(r) | Request::Delete(r) => (Some(r.kind), &r.at.id),
        Request::Publish(r) => (Some(r.kind), &r.at.id),
        Request::WriteContents(r) => (None, &r.id),
        Request::VersionDelete(r) => (None, &r.id),
        Request::MemoryVersionRedact(r) => (None, &r.id),
        Request::MemoryCreate(r) => (None, &r.id),
        Request::MemoryUpdate(r) => (None, &r.id),
        Request::MemoryDelete(r) => (None, &r.id),
        Request::Claim(r) => (None, &r.at.at.id),
        Request::Release(r) => (None, &r.at.id),
        Request::HandOver(r) => (None, &r.at.at.id),
        Request::Transfer(r) => (None, &r.at.at.id),
        Request::Protect(r) => (None, &r.at.at.id),
        Request::Record(r) => (None, &r.at.at.id),
        _ => return Ok(None),
    };
    match (resource::get(tx.conn, id)?, kind) {
        (Some(r), _) => Ok(Some(r)),
        (None, Some(kind)) => Err(no_resource(kind, id)),
        (None, None) => Err(not_found(id)),
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
