//! Responses of the canonical operations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::config::Policy;
use crate::model::kinds::{Applied, Refs};
use crate::model::op::{ActorKind, NewToken, ReceiptLine, Source, TokenInfo};
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Kind, Owner};

/// The answer to a [`crate::model::op::Request`].
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// A write to a resource.
    Written(Written),
    /// The same, with the wire body of what it wrote ([`crate::model::op::Context::represent`]).
    Represented(Written, Value),
    /// A wire body.
    Body(Value),
    /// Wire bodies.
    Bodies(Page<Value>),
    /// Files of a version, by path.
    Entries(Vec<Entry>),
    /// An owner.
    Owner(Box<OwnerState>),
    /// Summaries.
    Summaries(Page<Summary>),
    /// Bodies with refs.
    Loaded(Loaded),
    /// Resolved references, in the order of the wants.
    Resolved(Vec<Resolved>),
    /// Referrers.
    Referrers(Vec<Referrer>),
    /// An Apply began.
    Began(Began),
    /// Applies.
    Applies(Page<ApplyInfo>),
    /// One Apply.
    Apply(Box<ApplyInfo>),
    /// What an owner had.
    State(Page<Recorded>),
    /// Digests that are not held.
    Missing(Vec<Digest>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Audit facts.
    Audit(Vec<Fact>),
    /// A workspace.
    Workspace(WorkspaceInfo),
    /// A new token.
    Token(NewToken),
    /// Tokens.
    Tokens(Vec<TokenInfo>),
    /// Nothing to say.
    Done,
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Written {
    /// Live id.
    pub id: String,
    /// The resource's version after.
    pub version: u64,
    /// `authoring.seq` after (0 = nobody ever owned it).
    pub seq: u64,
    /// The immutable version that it made or found equal: `skver_…` for skills, a number for agents, trees,
    /// stores.
    pub made: Option<String>,
    /// Did it change anything?
    pub changed: bool,
    /// Was this answered from the idempotency record? Then `version` is the *present* one, and `moved` says
    /// whether the resource moved on since.
    #[serde(default)]
    pub replayed: bool,
    /// See `replayed`.
    #[serde(default)]
    pub moved: bool,
    /// Digest of the document that is applied now, or, of a retirement or release, of the one that went:
    /// `applies.get` answers it. null where nobody owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Digest>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Page<T> {
    /// Items.
    pub data: Vec<T>,
    /// Opaque cursor of the next page.
    pub next_page: Option<String>,
}

/// Which workspace this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorkspaceInfo {
    /// `ws_…`
    pub id: String,
    /// `epoch_…`; a restore draws a new one.
    pub epoch: String,
    /// When it was made (RFC 3339, UTC).
    pub created_at: String,
}

/// A memory without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MemoryInfo {
    /// `mem_…`
    pub id: String,
    /// Path.
    pub path: String,
    /// Of the raw bytes.
    pub content_sha256: Digest,
    /// Bytes.
    pub content_size_bytes: u64,
    /// Who wrote it last.
    pub updated_by: String,
    /// What kind of actor that was.
    pub updated_by_kind: ActorKind,
    /// The owner that acted, if one did.
    pub updated_by_owner: Option<Owner>,
    /// When (RFC 3339, UTC).
    pub updated_at: String,
}

/// The workspace's record of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OwnerState {
    /// Id of the workspace.
    pub workspace_id: String,
    /// Drawn anew by a restore.
    pub epoch: String,
    /// Over sorted (address, live digest, applied digest, protected) of its resources.
    pub digest: Digest,
    /// How many resources.
    pub count: u64,
    /// The policy last applied; null before the first.
    pub policy: Option<Policy>,
    /// Where its last Apply came from.
    pub source: Option<Source>,
    /// What a rollback undid, by address: the digest of the desired state that it took back, or `null` where the
    /// address was not declared.
    #[serde(default)]
    pub undone: BTreeMap<Address, Option<Digest>>,
    /// Raised by every change of the record (0 = none yet).
    pub seq: u64,
    /// An Apply of this owner that has begun and not ended, if any.
    pub open_apply: Option<String>,
    /// Memories of its stores that are not of what it applied, where there are any. No digest is over them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<Address, Beside>,
}

/// Memories of a store that are not of what its owner applied: others wrote them, or the files name them no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Beside {
    /// How many.
    pub count: u64,
    /// The ones that were written last, newest first, at most 10.
    pub newest: Vec<MemoryInfo>,
}

impl Beside {
    /// Most memories that are named.
    pub const SHOWN: usize = 10;

    /// Of these; null where there are none.
    pub fn of(mut all: Vec<MemoryInfo>) -> Option<Self> {
        let count = all.len() as u64;
        all.sort_by(|a, b| (&b.updated_at, &a.path).cmp(&(&a.updated_at, &b.path)));
        all.truncate(Self::SHOWN);
        (count > 0).then_some(Self { count, newest: all })
    }
}

/// A resource without bodies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// Live id.
    pub id: String,
    /// Kind.
    pub kind: Kind,
    /// Its owner; null = unowned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Address under its owner; null = unowned.
    pub address: Option<Address>,
    /// Shown name.
    pub name: String,
    /// Integer version.
    pub version: u64,
    /// `authoring.seq`; it goes on when it is released.
    pub seq: u64,
    /// `authoring.protected`.
    pub protected: bool,
    /// Of the owned part of what is live; null: archived or deleted by another.
    pub live_digest: Option<Digest>,
    /// Of what was applied.
    pub applied_digest: Option<Digest>,
    /// Waiting to be retired since another resource took its place.
    pub superseded: bool,
    /// Its owner handed it over to this one, which has not taken it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Owner>,
    /// At which address of that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_at: Option<Address>,
    /// Who gave it its present owner, and when. Only in the answer to `authoring.find`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Moved>,
    /// Archived or deleted outside: who, when.
    pub gone: Option<Moved>,
    /// Newest content (skills, trees).
    pub content: Option<Digest>,
    /// The version that has it; of a store the number of its newest MemoryVersion.
    pub content_version: Option<String>,
}

/// Bodies for planning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Loaded {
    /// One for each id that exists.
    pub bodies: Vec<LoadedBody>,
    /// What the ids in the bodies mean.
    pub refs: Refs,
    /// The last retired id at an address, for the owner `me`.
    pub retired: BTreeMap<Address, String>,
}

/// A body for planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadedBody {
    /// Live id.
    pub id: String,
    /// Wire body, with `content` or `contents` for kinds that have them.
    pub body: Value,
    /// What its owner last applied.
    pub applied: Option<Applied>,
    /// Outside writes since, newest last.
    pub moved: Vec<Moved>,
    /// Files of the newest version (skills, trees).
    pub entries: Vec<Entry>,
    /// Memories (stores).
    pub memories: Vec<MemoryInfo>,
}

/// An outside write, from the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Moved {
    /// Canonical fields that it changed (`instructions`, `labels.team`, `contents./a.md`); empty = all.
    pub fields: Vec<String>,
    /// Who.
    pub actor: String,
    /// When (RFC 3339, UTC).
    pub at: String,
    /// Operation name.
    pub operation: String,
    /// The reason, if it was break-glass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_glass: Option<String>,
}

/// A resolved reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Resolved {
    /// The key asked for.
    pub key: String,
    /// Live id; null = there is no such resource.
    pub id: Option<String>,
    /// Its kind.
    pub kind: Option<Kind>,
    /// Is it archived (or deleted: then it takes no new reference)?
    pub archived: bool,
    /// The version asked for: `skver_…` or number.
    pub version: Option<String>,
    /// Its content.
    pub content: Option<Digest>,
    /// The newest content.
    pub newest: Option<Digest>,
    /// Of a memory store: the kind of who it belongs to (`principal`, `agent`, …; `workspace` where nothing is said).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_owner: Option<String>,
}

/// A resource that refers to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Referrer {
    /// What is referred to.
    pub to: String,
    /// The referrer.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its owner.
    pub owner: Option<Owner>,
    /// Its address.
    pub address: Option<Address>,
    /// Its shown name.
    pub name: String,
    /// Does it follow `latest`?
    pub follows: bool,
}

impl Referrer {
    /// Where it is, for people: `OWNER:ADDRESS`, or kind and id of one that nobody owns.
    pub fn shown(&self) -> String {
        match (&self.owner, &self.address) {
            (Some(owner), Some(address)) => format!("{owner}:{address}"),
            _ => format!("{} {}", self.kind, self.id),
        }
    }
}

/// An Apply began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Began {
    /// `apply_…`
    pub id: String,
    /// Another Apply of this owner that is not ended.
    pub other: Option<String>,
}

/// An Apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ApplyInfo {
    /// `apply_…`
    pub id: String,
    /// Who applied.
    pub owner: Owner,
    /// Who acted.
    pub actor: String,
    /// The plan.
    pub plan_digest: Digest,
    /// Where from.
    pub source: Source,
    /// When it began (RFC 3339, UTC).
    pub began_at: String,
    /// When it ended; null = it runs, or was killed.
    pub ended_at: Option<String>,
    /// `done`, `partial`, `failed` (nothing was done), `interrupted`; null while it runs.
    pub outcome: Option<String>,
    /// How many actions were done.
    pub done: u64,
    /// How many of these were of each verb, by verb.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub did: Vec<Did>,
    /// The addresses of these, sorted, each once, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Lines, in the order in which they were written. Empty in lists.
    pub lines: Vec<ReceiptLine>,
    /// The specs that its lines name, by digest. Empty in lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub specs: BTreeMap<String, Value>,
}

/// How many actions of a verb an Apply did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Did {
    /// As in the names of actions: `update`, `publish`, `retire`.
    pub verb: String,
    /// How many.
    pub count: u64,
}

impl ApplyInfo {
    /// Most addresses that are named.
    pub const SHOWN: usize = 10;
}

/// What an owner had applied at an address at some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Recorded {
    /// Where.
    pub address: Address,
    /// Live id of what was there.
    pub id: String,
    /// What was applied.
    pub applied: Applied,
    /// Was it protected?
    #[serde(default)]
    pub protected: bool,
    /// The files of the content that it names (skills, trees); of a store the memories whose bytes are held still.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
}

/// An audit fact. Never a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fact {
    /// Sequence number.
    pub seq: u64,
    /// When (RFC 3339, UTC).
    pub at: String,
    /// Operation name.
    pub operation: String,
    /// Who acted.
    pub actor: String,
    /// What kind of actor.
    pub actor_kind: ActorKind,
    /// As which owner.
    pub owner: Option<Owner>,
    /// For which Apply.
    pub apply: Option<String>,
    /// About which resource.
    pub resource: Option<String>,
    /// Break-glass reason.
    pub break_glass: Option<String>,
    /// Canonical fields that changed.
    pub fields: Vec<String>,
    /// Version after.
    pub version: Option<u64>,
    /// Version before; of an owner's policy the sequence before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_version: Option<u64>,
    /// Its address under its owner, before where that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// Id or number of the immutable version that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Digest before of what the operation is about: the body; of a version or of memories the content; of
    /// authoring the applied spec; the policy. null = there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// The same after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
    /// Who owned it before, where it is theirs no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_owner: Option<Owner>,
    /// Who owns it now, where that or its address changed; of a hand-over whom it is offered to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_owner: Option<Owner>,
    /// Its address there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_address: Option<Address>,
}
