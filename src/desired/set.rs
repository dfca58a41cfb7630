//! The desired state as a value.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::desired::places::Places;
use crate::diag::Location;
use crate::model::config::{Accept, Adopt, Moved, Policy, Removed};
use crate::model::kinds::{self, Applied, Ref};
use crate::model::op::Source;
use crate::model::tree::FileSet;
use crate::model::{Address, Digest, Owner};

/// Everything that a project wants of a workspace.
#[derive(Debug, Clone)]
pub struct Desired {
    /// Who wants it.
    pub owner: Owner,
    /// By address; references between them are closed.
    pub resources: BTreeMap<Address, Wanted>,
    /// The policy in force.
    pub policy: Policy,
    /// `moved:` lines.
    pub moved: Vec<Moved>,
    /// `removed:` lines with their places.
    pub removed: Vec<(Removed, Option<Location>)>,
    /// `adopt:` lines.
    pub adopt: Vec<Adopt>,
    /// `accept:` lines.
    pub accept: Vec<Accept>,
    /// Where lines of `checkfu.yaml` are written, by JSON pointer, as in `/moved/0`; none in what was recorded.
    pub lines: BTreeMap<String, Location>,
    /// Where it comes from.
    pub source: Source,
}

/// One wanted resource.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Kind and name.
    pub address: Address,
    /// Canonical form. Workspace numbers (`version: N`) are still in it; plan turns them into content.
    pub spec: Arc<Value>,
    /// Canonical fields that are not owned (mode `ignore`, or `seed`), as in [`Applied::unowned`].
    pub unowned: Vec<String>,
    /// Of `unowned`, those that are `seed`: set at create, then left.
    pub seeded: Vec<String>,
    /// `policy.protect` names it.
    pub protected: bool,
    /// References of `spec`.
    pub refs: Vec<Ref>,
    /// Where it is declared.
    pub at: Location,
    /// Where canonical fields are written (`instructions`, `labels.team`, `content` → the folder's files).
    pub places: Places,
    /// The texts that an agent's instructions are made of, in order.
    pub instructions: Vec<TextPart>,
    /// Files of a Skill or an uploaded FileTree: what, and the project folder they are in.
    pub content: Option<(FileSet, String)>,
    /// Memories by path, for a MemoryStore: those of all modes that have files.
    pub memories: BTreeMap<String, WantedFile>,
    /// What [`Wanted::digest`] knows; the default is nothing.
    pub digested: Digested,
}

/// A part of a text that is joined from several, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPart {
    /// Its first line in the joined text, from 0.
    pub line: usize,
    /// How many lines it has, at least 1.
    pub lines: usize,
    /// Where it starts.
    pub at: Location,
    /// Do its lines stand there one by one as they are?
    pub verbatim: bool,
}

/// The digest of a form, once it was taken.
#[derive(Debug, Clone, Default)]
pub struct Digested(OnceLock<(Applied, Digest)>);

/// A wanted memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedFile {
    /// The file, relative to the project folder.
    pub file: String,
    /// Of its bytes after line ends are normalized.
    pub sha256: Digest,
    /// Bytes.
    pub size: u64,
}

impl Wanted {
    /// What is recorded as applied once all of this is applied.
    pub fn applied(&self) -> Applied {
        Applied { spec: self.spec.clone(), unowned: self.unowned.clone() }
    }

    /// Are there memories that are written once, when they are absent and never were applied? They are not owned,
    /// so no digest tells whether they were: the store has to be read.
    pub fn has_seeds(&self) -> bool {
        self.seeded.iter().any(|path| path == "contents" || path.starts_with("contents."))
    }

    /// The digest of what is owned of it: equal to the live digest when there is nothing to do. Taken once.
    pub fn digest(&self) -> Digest {
        let (of, digest) = self.digested.0.get_or_init(|| (self.applied(), self.digest_of(&self.spec)));
        // Whoever changes the form after that has another one.
        let same = Arc::ptr_eq(&of.spec, &self.spec) && of.unowned == self.unowned;
        if same { *digest } else { self.digest_of(&self.spec) }
    }

    /// As [`Wanted::digest`], were this its canonical form.
    pub fn digest_of(&self, spec: &Arc<Value>) -> Digest {
        // All of a form is owned by itself, save what is named as not owned and an empty map of memories.
        let no_memory = spec.get("contents").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
        if self.unowned.is_empty() && !no_memory {
            return Digest::of_json(&**spec);
        }
        let applied = Applied { spec: Arc::clone(spec), unowned: self.unowned.clone() };
        kinds::owned_digest(self.address.kind, spec, &applied)
    }
}

impl Desired {
    /// `file:line:column` of a line of `checkfu.yaml`, as of `moved` the first.
    pub fn line(&self, key: &str, nth: usize) -> Option<String> {
        self.lines.get(&format!("/{key}/{nth}")).map(ToString::to_string)
    }

    /// Over (address, digest, protected) of all resources: changes with nothing but what is wanted.
    pub fn digest(&self) -> Digest {
        let rows: Vec<_> = self.resources.values().map(|w| (&w.address, w.digest(), w.protected)).collect();
        Digest::of_json(&rows)
    }
}
