//! What a plan tells people beside its actions: counts, memories that stay, renames that it suggests.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Address;
use crate::model::config::Moved;
use crate::model::op::MemoryInfo;

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
    pub moved: Vec<Moved>,
}
