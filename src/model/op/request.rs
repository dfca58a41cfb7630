//! Requests of the canonical operations, and the context they come in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::kinds::{Applied, Object};
use crate::model::op::{
    Authoring, Claim, FileCreate, FileList, Find, HandOver, MemoryCreate, MemoryDelete, MemoryList, MemoryOf,
    MemoryUpdate, MemoryVersionOf, MemoryVersions, Protect, Record, SetPolicy, TokenCreate, Transfer,
};
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Kind, Owner};

/// What comes with a request beside its body: who acts, as whom, for which apply. (Headers, over HTTP.)
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Who acts. Embedded: `local`, or what the caller says.
    pub actor: String,
    /// What kind of actor: people and tools are `api`, an agent's session is `session`.
    pub actor_kind: ActorKind,
    /// The authoring owner that acts (`Checkfu-Owner`).
    pub owner: Option<Owner>,
    /// The Apply that this write belongs to (`Checkfu-Apply`).
    pub apply: Option<String>,
    /// The action of that Apply, as `Agent/support#update`; names the receipt line.
    pub action: Option<String>,
    /// `Idempotency-Key`.
    pub key: Option<String>,
    /// `Checkfu-Break-Glass`: the reason; needs admin.
    pub break_glass: Option<String>,
    /// May the caller use break-glass, and take from an owner what that one did not offer? Over HTTP the token's scope
    /// says it; who has the file of an embedded workspace may.
    pub admin: bool,
    /// The epoch of the workspace that the caller has seen (`Checkfu-Epoch`); in another one a write is refused.
    pub epoch: Option<String>,
    /// Is a write answered with the wire body of what it wrote, read in the same transaction? Over HTTP it is,
    /// unless `Prefer: return=minimal` is sent. In process the default is no.
    pub represent: bool,
}

/// What kind of actor wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person or a tool through the API.
    #[default]
    Api,
    /// An agent's session.
    Session,
}

/// A request of a canonical operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Makes a resource; may claim it in the same transaction.
    Create(Create),
    /// Lists wire bodies.
    List(ListOf),
    /// One wire body.
    Get(GetOf),
    /// Changes wire fields.
    Update(Update),
    /// Archives (kinds whose retire verb that is).
    Archive(RetireOf),
    /// Deletes.
    Delete(RetireOf),
    /// A new immutable version of a Skill or FileTree from content.
    Publish(Publish),
    /// Immutable versions, newest first, without their files.
    Versions(VersionsOf),
    /// One immutable version, with its files.
    Version(VersionOf),
    /// Deletes one version of a Skill.
    VersionDelete(VersionOf),
    /// The files of a Skill version, to be sent as one archive.
    Content(VersionOf),
    /// The ordered files of a FileTree revision, without bodies.
    Tree(VersionOf),
    /// The bytes of one file of an uploaded FileTree revision.
    TreeFile(TreeFile),
    /// One MemoryVersion from many puts and deletes.
    WriteContents(WriteContents),
    /// Memories of a store, by path.
    MemoryList(MemoryList),
    /// Makes one memory; never overwrites.
    MemoryCreate(MemoryCreate),
    /// One memory.
    MemoryGet(MemoryOf),
    /// Changes or renames one memory.
    MemoryUpdate(MemoryUpdate),
    /// Deletes one memory.
    MemoryDelete(MemoryDelete),
    /// What was written to the memories of a store, newest first.
    MemoryVersions(MemoryVersions),
    /// One of those.
    MemoryVersionGet(MemoryVersionOf),
    /// Takes the content out of one of those, for good.
    MemoryVersionRedact(MemoryVersionOf),
    /// Stores a file.
    FileCreate(FileCreate),
    /// Files, newest first.
    FileList(FileList),
    /// One file's metadata.
    FileGet(GetId),
    /// One file's bytes, where they may be had.
    FileContent(GetId),
    /// Deletes a file.
    FileDelete(GetId),
    /// The owner's record and digest.
    Owner(OwnerOf),
    /// Summaries of an owner's resources (or of unowned ones), paged.
    Summaries(Summaries),
    /// Live resources at these addresses under other owners, offered to the one that asks, or with these ids.
    Find(Find),
    /// Bodies with `refs` and what was last applied.
    Bodies(IdList),
    /// Live ids and version contents of symbolic references.
    Resolve(Resolve),
    /// Who refers to these ids.
    Referrers(IdList),
    /// Unowned → the acting owner.
    Claim(Claim),
    /// The acting owner gives it up.
    Release(Authoring),
    /// Offers one of the acting owner to a named one.
    HandOver(HandOver),
    /// From a named owner to another.
    Transfer(Transfer),
    /// Sets or clears `authoring.protected`.
    Protect(Protect),
    /// Sets `authoring.applied`.
    Record(Record),
    /// Sets the owner's policy in force.
    SetPolicy(SetPolicy),
    /// Begins an Apply.
    ApplyBegin(ApplyBegin),
    /// Ends one.
    ApplyEnd(ApplyEnd),
    /// Applies, newest first.
    ApplyList(ApplyList),
    /// One Apply with its receipt lines.
    ApplyGet(GetId),
    /// What its owner had applied once an Apply had ended.
    ApplyState(StateAt),
    /// Which of these blobs are not held.
    BlobsMissing(Digests),
    /// Stores bytes; the digest is checked.
    BlobPut(BlobPut),
    /// Bytes of a blob.
    BlobGet(BlobGet),
    /// Audit facts, oldest first.
    AuditList(AuditList),
    /// Which workspace this is.
    Workspace,
    /// Makes a token.
    TokenCreate(TokenCreate),
    /// Tokens, without their secrets.
    TokenList,
    /// Ends a token.
    TokenRevoke(GetId),
}

/// Authoring part of a create or update: claims, or keeps, ownership and says what was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClaimOf {
    /// The address under the acting owner.
    pub address: Address,
    /// What is applied with this write.
    pub applied: Applied,
    /// `authoring.protected` from the start.
    #[serde(default)]
    pub protected: bool,
}

/// Files of a version: metadata here, bytes by `blobs.put` before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContentOf {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// The digest over them, checked.
    pub digest: Digest,
}

/// Makes a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Create {
    /// Which kind.
    pub kind: Kind,
    /// Wire body.
    pub body: Object,
    /// First version's files (Skill, upload FileTree).
    pub content: Option<ContentOf>,
    /// Claim on create. Needs an acting owner.
    pub claim: Option<ClaimOf>,
    /// With a claim: the id of the last retired resource at this address that the plan saw (null = none);
    /// another one is `stale`.
    pub absent_since: Option<String>,
    /// The resource whose place it takes.
    pub replaces: Option<Expect>,
}

/// An id and the version that it must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Expect {
    /// Live id.
    pub id: String,
    /// The resource's integer version; null = any.
    pub version: Option<u64>,
}

/// Lists resources of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListOf {
    /// Which kind.
    pub kind: Kind,
    /// Only this owner's.
    pub owner: Option<Owner>,
    /// Only with these labels.
    pub labels: BTreeMap<String, String>,
    /// Archived ones too. Default false.
    pub include_archived: bool,
    /// Whole bodies, or summaries (id, version, authoring, digests).
    pub view: ListView,
    /// Of skills: only those that come from there. All of a workspace are custom ones.
    pub source: Option<SkillSource>,
    /// Only those made at or after this time (RFC 3339).
    pub created_from: Option<String>,
    /// Only those made at or before this time (RFC 3339).
    pub created_to: Option<String>,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20; at most what the kind allows (100; skills 1,000).
    pub limit: Option<u32>,
}

/// Where skills come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    /// Whoever uses the workspace.
    Custom,
    /// Whoever made the API; a workspace holds none of these.
    Anthropic,
}

/// How much of a resource a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListView {
    /// The wire body.
    #[default]
    Full,
    /// Id, version, authoring without the applied spec, digests.
    Summary,
}

/// Names one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetOf {
    /// Which kind.
    pub kind: Kind,
    /// Live id.
    pub id: String,
    /// An old version's number (agents).
    pub version: Option<u64>,
}

/// Lists the versions of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionsOf {
    /// Which kind.
    pub kind: Kind,
    /// Live id.
    pub id: String,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20; at most 100 (skills 1,000).
    pub limit: Option<u32>,
}

/// Names one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionOf {
    /// Skill, FileTree or MemoryStore.
    pub kind: Kind,
    /// Live id.
    pub id: String,
    /// `skver_…`, a number, or `latest`.
    pub version: String,
}

/// Names one file of a FileTree revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeFile {
    /// The tree.
    pub id: String,
    /// A number, or `latest`.
    pub version: String,
    /// Normalized relative path in the revision.
    pub path: String,
}

/// Changes wire fields. Omitted keeps, null clears; `metadata` is merged key by key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Which kind.
    pub kind: Kind,
    /// Which, and its version.
    pub at: Expect,
    /// Wire fields.
    pub body: Object,
    /// What is applied with it; the `contents` of a store stay as they were applied.
    pub applied: Option<Applied>,
}

/// Archives or deletes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetireOf {
    /// Which kind.
    pub kind: Kind,
    /// Which, and its version.
    pub at: Expect,
    /// Of a store: the number of its newest MemoryVersion (0 = none yet), not told by its version; null = any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_version: Option<u64>,
}

/// Publishes a version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publish {
    /// Skill or FileTree.
    pub kind: Kind,
    /// Which, and its version.
    pub at: Expect,
    /// The files.
    pub content: ContentOf,
    /// What is applied with it.
    pub applied: Option<Applied>,
}

/// Writes many memories as one MemoryVersion. Fails only if a path that it names moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteContents {
    /// The store.
    pub id: String,
    /// Path → what must be there (null = absent), for each path in `puts` and `deletes`.
    pub expect: BTreeMap<String, Option<Digest>>,
    /// Path → blob.
    pub puts: BTreeMap<String, Digest>,
    /// Paths.
    pub deletes: Vec<String>,
    /// What is applied with it: of its `contents` the paths in `puts` and `deletes` are recorded, and nothing else.
    pub applied: Option<Applied>,
}

/// Names an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerOf {
    /// Who.
    pub owner: Owner,
}

/// Lists summaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summaries {
    /// An owner's, or (null) the unowned ones: all of them, or those with one of `names` and, of kinds whose names
    /// are unique in the workspace, whoever has one of them.
    pub owner: Option<Owner>,
    /// Which kind; null = all.
    pub kind: Option<Kind>,
    /// Of unowned ones: only these shown names; empty = all.
    pub names: Vec<String>,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default and most 1,000.
    pub limit: Option<u32>,
}

/// Names live resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IdList {
    /// Live ids.
    pub ids: Vec<String>,
    /// Whose view the `refs` take. (Bodies.)
    pub me: Option<Owner>,
}

/// Symbolic references to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Resolve {
    /// Whose names.
    pub me: Owner,
    /// What to find.
    pub wants: Vec<Want>,
}

/// One reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Want {
    /// `Agent/support`, `acme/legal:Skill/legal-tone`, or a live id.
    pub key: String,
    /// The newest version with this content.
    pub content: Option<Digest>,
    /// The version with this number.
    pub number: Option<u64>,
}

/// Begins an Apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ApplyBegin {
    /// The plan's digest.
    pub plan_digest: Digest,
    /// Who applies.
    pub owner: Owner,
    /// Where from.
    pub source: Source,
    /// Addresses that the plan touches.
    pub addresses: Vec<Address>,
}

/// Where a desired state comes from. Host and path of the remote only: no scheme, user, password or query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Source {
    /// `github.com/acme/support`; absent without Git or remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Path of the project folder in the repository (`` = its top); absent without Git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Commit id; absent without Git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Uncommitted changes in the project folder; absent without Git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Tells the project folder from any other on its machine, where Git tells nothing: neither a remote nor a commit. A
    /// digest, which holds no path that could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Digest>,
    /// A rollback: the Apply whose state this is, of which all else is the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
}

/// Ends an Apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApplyEnd {
    /// Which.
    pub id: String,
    /// `done`, `partial`, `failed` (nothing was done), `interrupted`.
    pub outcome: String,
    /// Lines of actions that did not write: stale, blocked, failed, not started.
    pub lines: Vec<ReceiptLine>,
}

/// What became of one action. Lines of done actions are written by the operation's own transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReceiptLine {
    /// `Agent/support#update`
    pub action: String,
    /// `done`, `stale`, `blocked`, `failed`, `not_started`.
    pub outcome: String,
    /// Operation name (`agents.update`).
    pub operation: String,
    /// Live id, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Version after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Id or number of the immutable version that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Digest of the spec that is applied now; of a retirement or release, of the one that went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Digest>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Lists applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyList {
    /// Only this owner's.
    pub owner: Option<Owner>,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20, at most 1,000.
    pub limit: Option<u32>,
}

/// Asks what the owner of an Apply had at its addresses once that Apply had ended; of one that has not ended, or was
/// killed, once its last write was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateAt {
    /// Which Apply.
    pub apply: String,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20, at most 1,000.
    pub limit: Option<u32>,
}

/// An id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetId {
    /// The id.
    pub id: String,
}

/// Digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Digests {
    /// The digests.
    pub digests: Vec<Digest>,
}

/// Bytes to store.
#[derive(Clone, PartialEq, Eq)]
pub struct BlobPut {
    /// Of the bytes, checked.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for BlobPut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlobPut({}, {} bytes)", self.digest, self.bytes.len())
    }
}

/// Bytes to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobGet {
    /// Which.
    pub digest: Digest,
}

/// Lists audit facts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AuditList {
    /// Only about this resource.
    pub resource: Option<String>,
    /// Only by this owner.
    pub owner: Option<Owner>,
    /// Only for this Apply.
    pub apply: Option<String>,
    /// Only by this actor.
    pub actor: Option<String>,
    /// Only of this operation (`agents.update`).
    pub operation: Option<String>,
    /// Only at or after this time (RFC 3339).
    pub from: Option<String>,
    /// Only at or before this time (RFC 3339).
    pub to: Option<String>,
    /// After this sequence number.
    pub after: Option<u64>,
    /// Default and most 1,000.
    pub limit: Option<u32>,
}
