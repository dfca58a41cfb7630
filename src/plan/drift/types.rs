//! What drift is told as: the document `checkfu.drift/v1`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::op::{Source, Summary};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan::standing::SourceRelation;
use crate::plan::{FileChange, Finding, KeptMemory, Origin};

/// The format name that the document carries.
pub const DRIFT_FORMAT: &str = "checkfu.drift/v1";

/// How live stands to what was last applied, and to the files. Nothing is done about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// `checkfu.drift/v1`.
    pub format: String,
    /// Version of the tool that looked.
    pub tool_version: String,
    /// Which workspace.
    pub origin: Origin,
    /// Whose resources.
    pub owner: Owner,
    /// The files that live was held against.
    pub source: Source,
    /// Where the last Apply came from, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_source: Option<Source>,
    /// How `source` stands to `last_source`.
    pub relation: SourceRelation,
    /// Only a part was asked for: the scope, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// All of it in one word.
    pub verdict: Verdict,
    /// Resources that are not three times the same, by address.
    pub resources: Vec<Drifted>,
    /// Texts of files and memories that moved, by their digest, as far as they are short.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<Digest, String>,
    /// Memories that others wrote, or that the files name no more, and that are no drift, by store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptStore>,
    /// Live resources that nobody owns; absent where only a part was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmanaged: Option<Unmanaged>,
    /// Resources that are as applied and as wanted.
    pub unchanged: u32,
    /// Fields that are not owned (ignore, seed): what moved there is not looked at.
    pub ignored: u32,
    /// What kept a resource from being looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl Drift {
    /// The files and memories that moved, before and after, whose texts a person wants to see; of equal bytes one.
    pub fn wants(&self) -> BTreeSet<Digest> {
        let moved = self.resources.iter().flat_map(|r| &r.differences).filter(|d| d.cause.is_move());
        let of = |d: &Difference| -> Vec<Digest> {
            let files = d.files.iter().filter(|f| f.before != f.after).flat_map(|f| [f.before, f.after]);
            let memory = d.memory().into_iter().flatten();
            files.chain(memory).flatten().collect()
        };
        moved.flat_map(of).collect()
    }
}

/// All of it in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Live is as applied.
    AsApplied,
    /// Live moved, the files did not.
    Moved,
    /// Live moved, and the files changed elsewhere or to the same.
    MovedAndChanged,
    /// Live and files changed the same field, to different values.
    Conflict,
}

/// A resource that is not three times the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drifted {
    /// Which.
    pub address: Address,
    /// Live id, where something is live or was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Do the files declare it?
    pub declared: bool,
    /// Is it live?
    pub live: bool,
    /// What differs, by field.
    pub differences: Vec<Difference>,
}

/// Something that differs: a field, a memory, or the whole resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// `instructions`, `labels.team`, `contents./faq.md`; absent: the whole resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Why it differs.
    pub cause: DriftCause,
    /// Did live and the files change it to different values?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflict: bool,
    /// Do the files say what is live? Then the next apply records it, and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_files: bool,
    /// What the files say; absent = not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Value>,
    /// What was last applied; absent = not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Value>,
    /// What is live; absent = not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// Last applied against live, deeper than what is written, for display.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Move>,
    /// Files of a skill or a tree, last applied against live, where what was applied is what the files say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// Who moved it, if the audit knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// When (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Break-glass reason, if it was that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_glass: Option<String>,
    /// `file:line:column` of what is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Difference {
    /// Of a memory: what was applied, and what is live.
    pub fn memory(&self) -> Option<[Option<Digest>; 2]> {
        let is_memory = self.field.as_ref().is_some_and(|f| f.starts_with("contents."));
        let digest = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).and_then(|d| d.parse().ok());
        is_memory.then(|| [digest(&self.applied), digest(&self.live)])
    }
}

/// A value that moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// `instructions`, `tools[bash].enabled`.
    pub path: String,
    /// What was last applied; absent = not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What is live; absent = not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// Why something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftCause {
    /// Another wrote it live.
    ChangedOutside,
    /// An administrator wrote it live, with a reason.
    BreakGlass,
    /// Another archived or deleted it live.
    DeletedOutside,
    /// It was not owned before and is owned again, and live is not as the files say. Nobody moved it.
    OwnedAgain,
    /// The files changed, and no apply was made since.
    NotApplied,
    /// The files are those of a commit before the one that was last applied.
    OlderCheckout,
    /// The files are of another repository, or another folder, with the same owner.
    OtherRepository,
}

impl DriftCause {
    /// Does live differ from what was last applied?
    pub fn is_move(self) -> bool {
        match self {
            Self::ChangedOutside | Self::BreakGlass | Self::DeletedOutside | Self::OwnedAgain => true,
            Self::NotApplied | Self::OlderCheckout | Self::OtherRepository => false,
        }
    }

    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChangedOutside => "changed outside",
            Self::BreakGlass => "break-glass",
            Self::DeletedOutside => "deleted outside",
            Self::OwnedAgain => "owned again",
            Self::NotApplied => "not applied yet",
            Self::OlderCheckout => "older checkout",
            Self::OtherRepository => "another repository",
        }
    }
}

/// Memories of a store that are no drift.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptStore {
    /// The store.
    pub address: Address,
    /// How many.
    pub count: u32,
    /// The ones that were written last, newest first, at most 10.
    pub newest: Vec<KeptMemory>,
}

/// Live resources that nobody owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unmanaged {
    /// How many.
    pub count: u32,
    /// By kind and name; all of them, or the first.
    pub resources: Vec<UnmanagedResource>,
}

impl Unmanaged {
    /// Most that are named unless all are asked for.
    pub const SHOWN: usize = 20;

    /// Of these, at most `most` named.
    pub fn of(summaries: Vec<Summary>, most: usize) -> Self {
        let one = |s: Summary| UnmanagedResource { kind: s.kind, name: s.name, id: s.id };
        let mut resources: Vec<_> = summaries.into_iter().map(one).collect();
        resources.sort_by(|a, b| (a.kind, &a.name, &a.id).cmp(&(b.kind, &b.name, &b.id)));
        let count = crate::plan::count(resources.len());
        resources.truncate(most);
        Self { count, resources }
    }
}

/// A live resource that nobody owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnmanagedResource {
    /// Its kind.
    pub kind: Kind,
    /// Shown name.
    pub name: String,
    /// Live id, as `adopt:` takes it.
    pub id: String,
}
