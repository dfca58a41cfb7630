//! The snapshot of a workspace as a value: ownership as read. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::model::config::Policy;
use crate::model::kinds::Applied;
use crate::model::op::{Beside, MemoryInfo, Moved, Referrer, Resolved, Source, Summary};
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Owner};

/// What planning needs to know of a workspace, for one owner.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// `None`: there is no workspace yet; it is made by the first apply.
    pub workspace: Option<Workspace>,
    /// The owner's record; `None` before its first apply.
    pub record: Option<OwnerRecord>,
    /// This owner's resources that are not superseded, by address.
    pub resources: BTreeMap<Address, LiveResource>,
    /// This owner's superseded resources, to be retired.
    pub superseded: Vec<LiveResource>,
    /// Superseded ids that resources of this owner refer to, with the address at which something took their place.
    /// This owner's own are in `superseded` too.
    pub successors: BTreeMap<String, (Owner, Address)>,
    /// The last retired id at an address of this owner, if one was.
    pub retired: BTreeMap<Address, String>,
    /// Unowned live resources whose kind and shown name are those of a wanted resource that is not live.
    pub same_name: Vec<Summary>,
    /// Who else has a unique name that a wanted resource takes: another owner's, or unowned.
    pub taken_names: Vec<Summary>,
    /// Memories that are not of what was applied, by store; not of stores whose bodies were read.
    pub beside: BTreeMap<Address, Beside>,
    /// Answers for symbolic references that this project does not declare, and for workspace numbers, by key
    /// (`acme/legal:Skill/tone`, an id) or `KEY#NUMBER`.
    pub resolved: BTreeMap<String, Resolved>,
    /// Resources that are not this owner's and that planning asked about, by live id: named by `adopt:`, offered to
    /// this owner, at a wanted address under another owner, or once at an address of this owner and live on elsewhere.
    pub elsewhere: BTreeMap<String, LiveResource>,
    /// Who of other owners refers to what may be retired, or gets a new version, by live id.
    pub referrers: BTreeMap<String, Vec<Referrer>>,
    /// Which wanted blobs the workspace holds already.
    pub held_blobs: BTreeSet<Digest>,
    /// What rollbacks undid of what is wanted otherwise, by address, as far as history tells.
    pub undid: BTreeMap<Address, Undid>,
}

/// What was applied, until a rollback undid it.
#[derive(Debug, Clone)]
pub struct Undid {
    /// Which rollback, in words.
    pub rollback: String,
    /// What was applied before.
    pub applied: Applied,
    /// The files of its content (skills, trees).
    pub entries: Vec<Entry>,
}

/// Which workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Id.
    pub id: String,
    /// Drawn anew by a restore.
    pub epoch: String,
}

/// The owner's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerRecord {
    /// Policy last applied.
    pub policy: Option<Policy>,
    /// Source of the last Apply.
    pub source: Option<Source>,
    /// What a rollback undid: the desired digest that must not come back, `None` where nothing was desired.
    pub undone: BTreeMap<Address, Option<Digest>>,
    /// Raised by every change.
    pub seq: u64,
}

/// A live resource of this owner.
#[derive(Debug, Clone)]
pub struct LiveResource {
    /// Ids, versions, digests.
    pub summary: Summary,
    /// Bodies; `None` where the digests say that nothing differs.
    pub body: Option<LiveBody>,
}

/// Bodies of a live resource, in canonical form.
#[derive(Debug, Clone)]
pub struct LiveBody {
    /// What is live.
    pub live: Arc<Value>,
    /// What was last applied.
    pub applied: Applied,
    /// Outside writes since.
    pub moved: Vec<Moved>,
    /// Files of the newest version (skills, trees).
    pub entries: Vec<Entry>,
    /// Memories (stores).
    pub memories: Vec<MemoryInfo>,
}

/// The digest that tells in one request that there is nothing to do: over sorted (address, live digest,
/// applied digest, protected). An archived or deleted resource has no live digest.
pub fn owner_digest<'a>(rows: impl IntoIterator<Item = (&'a Address, Option<Digest>, Option<Digest>, bool)>) -> Digest {
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort();
    Digest::of_json(&rows)
}
