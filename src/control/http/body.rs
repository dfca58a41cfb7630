//! Bodies of requests that differ from the request's own struct: what the path carries is not in them, and our
//! fields stand beside wire fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::config::Policy;
use crate::model::kinds::Applied;
use crate::model::op::{ContentOf, Expect, ReceiptLine};
use crate::model::{Address, Digest};

/// `authoring` of a create: claims what is made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuthoringOf {
    /// The address under the acting owner; with `applied`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// What is applied with this write; with `address`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// `authoring.protected` from the start. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// The id of the last retired resource at this address that was seen; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent_since: Option<String>,
    /// The resource whose place it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Expect>,
}

/// Body of an archive. May be absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArchiveBody {
    /// The version that the resource must have; another one is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Of a memory store: the number of the newest MemoryVersion that it must have; another one is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_version: Option<u64>,
}

/// Body of a publish.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishBody {
    /// The version that the resource must have; another one is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// The files; their bytes are held before.
    pub content: ContentOf,
    /// What is applied with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
}

/// Body of `memory_stores.write_contents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContentsBody {
    /// Path → what must be there (null = nothing), for each path in `puts` and `deletes`.
    #[serde(default)]
    pub expect: BTreeMap<String, Option<Digest>>,
    /// Path → digest of bytes that are held.
    #[serde(default)]
    pub puts: BTreeMap<String, Digest>,
    /// Paths.
    #[serde(default)]
    pub deletes: Vec<String>,
    /// What is applied with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
}

/// Body of `memories.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCreateBody {
    /// Where: begins with `/`. A path that is taken is a conflict.
    pub path: String,
    /// Text, at most 102,400 bytes.
    pub content: String,
}

/// Body of `memories.update`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUpdateBody {
    /// The new content; absent keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The new path; absent keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What must be so now, unless the memory is already as asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
}

/// What a memory must be before it is changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precondition {
    /// What is looked at.
    #[serde(rename = "type")]
    pub ty: PreconditionType,
    /// Of the present content.
    pub content_sha256: Hex,
}

/// What a precondition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreconditionType {
    /// The content.
    ContentSha256,
}

/// A digest as bare lower-case hex, as the wire of memories has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hex(pub Digest);

impl std::str::FromStr for Hex {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        format!("sha256:{text}").parse().map(Hex).map_err(|_| "it is not 64 lower-case hex digits")
    }
}

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0.hex())
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Hex {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hex".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[0-9a-f]{64}$"})
    }
}

/// Body of `authoring.policy`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyBody {
    /// `seq` of the owner's record (0 = none yet).
    pub seq: u64,
    /// The policy in force from now on.
    pub policy: Policy,
    /// What a rollback undid, all of it; `null` where the address was not declared. Absent: it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<BTreeMap<Address, Option<Digest>>>,
}

/// Body of `applies.end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndBody {
    /// `done`, `partial`, `interrupted`.
    pub outcome: String,
    /// Lines of actions that did not write.
    #[serde(default)]
    pub lines: Vec<ReceiptLine>,
}

/// A body without fields. May be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoBody {}
