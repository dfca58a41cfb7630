//! What a plan tells beside its actions: what is held, findings, counts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::config;
use crate::model::op::{MemoryInfo, Moved};
use crate::model::{Address, Digest};
use crate::plan::FileChange;

/// Something that moved live and stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// Which resource.
    pub address: Address,
    /// Which field; absent: the whole resource is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What was last applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Value>,
    /// What is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// What the file says, where that differs from what was applied (a conflict), or where the field is owned again or rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Value>,
    /// Files of a skill or a tree, last applied against live, where what was applied is what the files say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// Is it a conflict: both moved, to different values?
    pub conflict: bool,
    /// It was not owned before and is owned again, and live is not as the file says. Nothing was applied there, so
    /// nothing moved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owned_again: bool,
    /// A rollback undid what the file wants here, so it stays as it was applied. Nobody moved it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rolled_back: bool,
    /// Both moved, and a line under `accept:` took what is live: its reason. Live stays as it is until it moves again, is
    /// pulled into the file, or is put back by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
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

impl Held {
    /// A whole resource that is gone, by whoever did that, if it is known.
    pub fn of(address: &Address, by: Option<&Moved>) -> Self {
        Self {
            address: address.clone(),
            field: None,
            applied: None,
            live: None,
            wanted: None,
            files: Vec::new(),
            conflict: false,
            owned_again: false,
            rolled_back: false,
            accepted: None,
            actor: by.map(|m| m.actor.clone()),
            when: by.map(|m| m.at.clone()),
            break_glass: by.and_then(|m| m.break_glass.clone()),
            at: None,
        }
    }

    /// The files that moved, before and after, whose texts a person wants to see: those of at most `longest` bytes.
    pub fn wants(&self, longest: u64) -> impl Iterator<Item = Digest> + '_ {
        let moved = self.files.iter().filter(|f| f.before != f.after);
        let short = moved.filter(move |f| f.size.is_none_or(|size| size <= longest));
        short.flat_map(|f| [f.before, f.after]).flatten()
    }
}

/// A finding of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Code, as in `plan.retire`.
    pub code: String,
    /// Does it refuse the plan, block a part, or only tell?
    pub effect: Effect,
    /// Which resource, if one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// One sentence.
    pub message: String,
    /// What to do, ready to paste where possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// What a finding does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The plan cannot be applied: policy (exit 5).
    Refuses,
    /// A resource and its dependents are left out: conflict (exit 4).
    Blocks,
    /// The plan cannot be applied: an error in the input (exit 1).
    Error,
    /// Told.
    Note,
}

/// A memory that is not as the files say, and stays so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptMemory {
    /// Its path.
    pub path: String,
    /// Who wrote it last; absent: it was applied, and another deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// When (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

impl From<&MemoryInfo> for KeptMemory {
    fn from(m: &MemoryInfo) -> Self {
        Self { path: m.path.clone(), writer: Some(m.updated_by.clone()), when: Some(m.updated_at.clone()) }
    }
}

/// Counts for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// Resources that are as wanted.
    pub unchanged: u32,
    /// Fields that are not owned (ignore, seed).
    pub ignored: u32,
    /// Memories that others wrote, or that the files name no more, and that are kept, by store.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept_memories: BTreeMap<Address, u32>,
    /// Of these the ones that were written last, newest first, at most 10 a store.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<Address, Vec<KeptMemory>>,
    /// Resources that are blocked by a conflict, a hold or an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<Address>,
    /// Pairs of a create and a retirement that look like one resource under another address, as `moved:` lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<config::Moved>,
}
