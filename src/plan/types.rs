//! The plan as a value, and as the file `checkfu.plan/v1`.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::config::{Allowance, Policy};
use crate::model::kinds::Ids;
use crate::model::op::Source;
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Owner};

pub use crate::plan::told::*;

/// The format name that a plan file carries.
pub const FORMAT: &str = "checkfu.plan/v1";

/// What apply will do. No clock, no run id, no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `checkfu.plan/v1`.
    pub format: String,
    /// Version of the tool that made it; not part of the digest.
    pub tool_version: String,
    /// Which workspace.
    pub origin: Origin,
    /// Who acts.
    pub owner: Owner,
    /// Where the desired state comes from; not part of the digest.
    pub source: Source,
    /// Digest of the desired state.
    pub desired: Digest,
    /// Policy in force.
    pub policy: Policy,
    /// What a person allowed.
    pub allowances: Vec<Allowance>,
    /// Only a part was asked for: the scope, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// Live ids by address, and version ids by `ADDRESS@sha256:…`.
    pub ids: Ids,
    /// In the order in which apply starts them when nothing is parallel.
    pub actions: Vec<Action>,
    /// What moved live and stays.
    pub held: Vec<Held>,
    /// Findings, all of them.
    pub findings: Vec<Finding>,
    /// Counts of what is not owned, ignored, reported: for people.
    pub notes: Notes,
    /// May it be applied? No finding refuses it.
    pub applyable: bool,
    /// Does it cover all of the desired state (no scope, no conflict, nothing blocked)?
    pub complete: bool,
    /// Over format, owner, workspace, allowances, and the actions sorted by address.
    pub digest: Digest,
    /// Only in a file: the digest of everything else in it, also of what no approval depends on. It is
    /// set when the file is written, and taken off when it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Digest>,
}

/// Which workspace a plan was made for. Another one refuses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Name of the target in `checkfu.yaml`.
    pub target: String,
    /// `embedded` or `checkfu`.
    pub kind: String,
    /// Where: for an embedded target its path relative to the project.
    pub at: String,
    /// Workspace id; absent: a workspace that is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Its epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
}

/// What an action is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// A new resource.
    Create,
    /// Fields change.
    Update,
    /// A new immutable version from new bytes.
    Publish,
    /// Nothing of its own changed, a referenced version moved.
    Repoint,
    /// A new resource takes the place of an old one.
    Replace,
    /// The address changes (`moved:`).
    Rename,
    /// An unowned live resource gets this owner.
    Adopt,
    /// A resource of another owner gets this one.
    TakeOver,
    /// Ownership is given up, the resource stays.
    Release,
    /// Left for a named owner to take.
    HandOver,
    /// `authoring.protected` is set.
    Protect,
    /// `authoring.protected` is cleared.
    Unprotect,
    /// Archive or delete.
    Retire,
    /// File and live agree, last-applied is set to them.
    Record,
    /// The owner's policy in force changes.
    Policy,
}

impl Verb {
    /// The word in output and in action ids.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Publish => "publish",
            Verb::Repoint => "repoint",
            Verb::Replace => "replace",
            Verb::Rename => "rename",
            Verb::Adopt => "adopt",
            Verb::TakeOver => "take-over",
            Verb::Release => "release",
            Verb::HandOver => "hand-over",
            Verb::Protect => "protect",
            Verb::Unprotect => "unprotect",
            Verb::Retire => "retire",
            Verb::Record => "record",
            Verb::Policy => "policy",
        }
    }
}

/// One operation that apply will make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// `Agent/support#update`; `owner#policy` for the policy. Unique in the plan.
    pub id: String,
    /// Which resource; absent for the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// What it is called.
    pub verb: Verb,
    /// Canonical operation that it sends, as `agents.update`.
    pub operation: String,
    /// What it sends.
    pub step: Step,
    /// Under which condition.
    pub precondition: Precondition,
    /// Ids of actions that must be done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Digest of (address, operation, precondition, payload digest, depends_on).
    pub digest: Digest,
    /// For people; not part of the digest.
    pub about: About,
}

/// What an action sends. References in a `spec` are symbolic; apply fills in live ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Makes the resource, claimed at once (also `replace`).
    Create {
        /// Canonical form.
        spec: Arc<Value>,
        /// Fields not owned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unowned: Vec<String>,
        /// Protected from the start.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        protected: bool,
        /// Files of the first version (skills, trees).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
        /// The live id whose place it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
    },
    /// Sends the named fields, with the values that `spec` has.
    Update {
        /// Live id.
        id: String,
        /// The canonical form that is recorded as applied.
        spec: Arc<Value>,
        /// Fields not owned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unowned: Vec<String>,
        /// Canonical fields that are sent; `labels.KEY` for single labels.
        fields: Vec<String>,
    },
    /// Publishes a version.
    Publish {
        /// Live id; absent: of the resource that this plan creates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The canonical form that is recorded as applied.
        spec: Arc<Value>,
        /// Fields not owned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unowned: Vec<String>,
        /// The files.
        content: Content,
    },
    /// Writes memories.
    WriteContents {
        /// Live id; absent: of the store that this plan creates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The canonical form that is applied once this is done; of it the paths that are put or deleted are
        /// recorded, nothing else.
        spec: Arc<Value>,
        /// Fields not owned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unowned: Vec<String>,
        /// Memory path → file.
        puts: BTreeMap<String, Body>,
        /// Memory paths.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deletes: Vec<String>,
    },
    /// Sets `authoring.protected`.
    Protect {
        /// Live id.
        id: String,
        /// On or off.
        on: bool,
    },
    /// Archives or deletes, as the kind's table says.
    Retire {
        /// Live id.
        id: String,
    },
    /// Sets last-applied.
    Record {
        /// Live id.
        id: String,
        /// The canonical form.
        spec: Arc<Value>,
        /// Fields not owned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unowned: Vec<String>,
    },
    /// Takes an unowned resource.
    Claim {
        /// Live id.
        id: String,
        /// The canonical form that is recorded as applied: what is live, so that what differs is another action.
        spec: Arc<Value>,
        /// Fields not owned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unowned: Vec<String>,
        /// Protected from the start.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        protected: bool,
    },
    /// Gives a resource this owner and the action's address: from another owner, or, for a rename, from this one.
    Transfer {
        /// Live id.
        id: String,
        /// The present owner, checked.
        from: Owner,
    },
    /// Gives ownership up; the resource stays.
    Release {
        /// Live id.
        id: String,
    },
    /// Offers it to another owner, at the same address.
    HandOver {
        /// Live id.
        id: String,
        /// Who may take it.
        to: Owner,
    },
    /// Sets the policy in force, and what a rollback undid.
    Policy {
        /// To what.
        policy: Policy,
        /// All that was undone and must not come back by itself; absent: it stays as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undone: Option<BTreeMap<Address, Option<Digest>>>,
    },
}

/// Files of a version. Bytes stay in the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Digest over the entries.
    pub digest: Digest,
    /// The folder they are in, relative to the project folder.
    pub root: String,
    /// Sorted by path.
    pub entries: Vec<Entry>,
}

/// One file body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Relative to the project folder.
    pub file: String,
    /// Of the bytes after line ends are normalized.
    pub sha256: Digest,
    /// Bytes.
    pub size: u64,
}

/// What an action was planned against. Sent as a compare-and-swap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Precondition {
    /// No live resource is at the address, and the last retired one there is this (absent = none).
    Absent {
        /// Live id of the last retired resource.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
    },
    /// The resource has this version.
    Version {
        /// Integer version.
        version: u64,
    },
    /// The store has this version, and its memories are at this MemoryVersion (0 = none yet): memories move without
    /// the store's version.
    Store {
        /// Integer version.
        version: u64,
        /// Number of the MemoryVersion.
        memories: u64,
    },
    /// It is the version that the named action of this plan leaves.
    After {
        /// An action id, also in `depends_on`.
        action: String,
    },
    /// These memories are these contents (null = absent).
    Memories {
        /// Path → SHA-256.
        expect: BTreeMap<String, Option<Digest>>,
    },
    /// Version and authoring sequence are these.
    Authoring {
        /// Integer version.
        version: u64,
        /// `authoring.seq`.
        seq: u64,
    },
    /// The owner's record has this sequence (0 = none yet).
    OwnerSeq {
        /// Sequence.
        seq: u64,
    },
}

/// For people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Shown name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `file:line:column` that causes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Why, one sentence.
    pub reason: String,
    /// Where it was: of a rename the old address, of a take-over owner and address, as `acme/legal:Skill/tone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Field changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// File changes (trees, skills, memories).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// Bytes to upload after those that the workspace holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_bytes: Option<u64>,
    /// Can it be taken back?
    pub reversible: Reversible,
    /// What an agent may newly do or may no more, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Resources that use what this publishes, those of other owners and of nobody too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followers: Vec<FollowerOf>,
    /// Of these, how many follow `latest`: it is live at once for them.
    #[serde(default)]
    pub live_at_once: u32,
}

/// A user of what is published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowerOf {
    /// The user; of another owner its address there. Of a resource that nobody owns kind and live id.
    pub address: Address,
    /// Its owner, where that is not the plan's; see `unowned` too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Nobody owns it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unowned: bool,
    /// By `latest`.
    pub latest: bool,
}

/// Can it be taken back?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reversible {
    /// By another apply.
    #[default]
    Yes,
    /// No: an archived agent or store does not come back.
    No,
}

/// A field that changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// Deeper than what is sent, for display: `instructions`, `tools[bash].enabled`, `labels.team`.
    pub path: String,
    /// Live value; absent = not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Wanted value; absent = cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// `file:line:column` of what is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What moved: the file, or live (put back).
    pub cause: Cause,
}

/// What moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The file changed.
    File,
    /// Live moved.
    Live,
    /// Both, to different values.
    Both,
    /// A referenced version moved.
    Reference,
}

/// A file that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// Path in the tree or store.
    pub path: String,
    /// What happens to it.
    pub change: FileVerb,
    /// For a rename: the old path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Bytes after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Content before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// Content after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
    /// Who wrote what is replaced or removed, if that was not this owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileVerb {
    /// New.
    Add,
    /// New bytes.
    Modify,
    /// Gone.
    Remove,
    /// Same bytes, other path.
    Rename,
    /// Executable or not.
    Mode,
}
