//! Requests about memories, memory versions and files: what a workspace holds beside its resources.

use serde::{Deserialize, Serialize};

use crate::model::Digest;

/// How much of a memory is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Without content.
    Basic,
    /// With content.
    Full,
}

/// Lists memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryList {
    /// The store.
    pub id: String,
    /// Only below this path; ends with `/`.
    pub path_prefix: Option<String>,
    /// 0 (default) = all below; 1 = what is right below, with a `memory_prefix` for each deeper folder.
    pub depth: Option<u8>,
    /// Default basic.
    pub view: Option<View>,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20; at most 100, with `view: full` 20.
    pub limit: Option<u32>,
}

/// Makes one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryCreate {
    /// The store.
    pub id: String,
    /// Where; a path that is taken is a conflict.
    pub path: String,
    /// UTF-8 text, at most 102,400 bytes.
    pub content: String,
    /// What the answer shows. Default basic.
    pub view: Option<View>,
}

/// Names one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOf {
    /// The store.
    pub id: String,
    /// `mem_…`
    pub memory: String,
    /// Default full.
    pub view: Option<View>,
}

/// Changes one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUpdate {
    /// The store.
    pub id: String,
    /// `mem_…`
    pub memory: String,
    /// The new content; absent keeps it.
    pub content: Option<String>,
    /// The new path (a rename keeps the id); absent keeps it.
    pub path: Option<String>,
    /// The content must be this one now, unless the memory is already as asked.
    pub expect: Option<Digest>,
    /// What the answer shows. Default basic.
    pub view: Option<View>,
}

/// Deletes one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryDelete {
    /// The store.
    pub id: String,
    /// `mem_…`
    pub memory: String,
    /// Must be this content, if given.
    pub expect: Option<Digest>,
}

/// Lists memory versions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryVersions {
    /// The store.
    pub id: String,
    /// Only of this memory.
    pub memory: Option<String>,
    /// Only `created`, `modified` or `deleted`.
    pub operation: Option<String>,
    /// Only by this actor of kind session.
    pub session: Option<String>,
    /// Only by this actor of kind api.
    pub api_key: Option<String>,
    /// Only by this service account. Nothing in a workspace is written by one.
    pub service_account: Option<String>,
    /// Only at or after this time (RFC 3339).
    pub created_from: Option<String>,
    /// Only at or before this time (RFC 3339).
    pub created_to: Option<String>,
    /// Default basic.
    pub view: Option<View>,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20; at most 100, with `view: full` 20.
    pub limit: Option<u32>,
}

/// Names one memory version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryVersionOf {
    /// The store.
    pub id: String,
    /// `memver_…`
    pub version: String,
}

/// Stores a file whose bytes came by `blobs.put`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileCreate {
    /// Last component of what the upload was called; 1–255 characters.
    pub filename: String,
    /// Media type, as the upload said or as the name suggests.
    pub mime_type: String,
    /// Of the bytes.
    pub digest: Digest,
    /// Bytes.
    pub size: u64,
    /// 3,600 to 7,776,000; absent = it stays.
    pub expires_in_seconds: Option<u64>,
}

/// Lists files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileList {
    /// Only these, at most 100; not together with `page` and `limit`. Unknown ones are left out.
    pub ids: Vec<String>,
    /// Only of this scope. No file of a workspace has one.
    pub scope: Option<String>,
    /// Opaque cursor.
    pub page: Option<String>,
    /// Default 20, at most 1,000.
    pub limit: Option<u32>,
}
