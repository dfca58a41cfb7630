//! The OPERATIONS table: one row an operation.

use crate::model::Kind;
use crate::model::op::Request;

/// What a caller must be allowed to do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read bodies.
    Read,
    /// Read, plus what planning needs.
    Plan,
    /// Plan, plus writes as the owners of the token.
    Apply,
    /// Everything.
    Admin,
}

/// HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// `agents.create`
    pub name: &'static str,
    /// HTTP method.
    pub method: Verb,
    /// HTTP path, with `{id}` parameters.
    pub path: &'static str,
    /// What the caller must be allowed to do.
    pub scope: Scope,
    /// Does it write?
    pub mutates: bool,
}

const fn row(name: &'static str, method: Verb, path: &'static str, scope: Scope, mutates: bool) -> Operation {
    Operation { name, method, path, scope, mutates }
}

/// Every canonical operation.
pub static OPERATIONS: &[Operation] = &[
    row("agents.create", Verb::Post, "/v1/agents", Scope::Apply, true),
    row("agents.list", Verb::Get, "/v1/agents", Scope::Read, false),
    row("agents.get", Verb::Get, "/v1/agents/{id}", Scope::Read, false),
    row("agents.update", Verb::Post, "/v1/agents/{id}", Scope::Apply, true),
    row("agents.archive", Verb::Post, "/v1/agents/{id}/archive", Scope::Apply, true),
    row("agents.versions", Verb::Get, "/v1/agents/{id}/versions", Scope::Read, false),
    row("environments.create", Verb::Post, "/v1/environments", Scope::Apply, true),
    row("environments.list", Verb::Get, "/v1/environments", Scope::Read, false),
    row("environments.get", Verb::Get, "/v1/environments/{id}", Scope::Read, false),
    row("environments.update", Verb::Post, "/v1/environments/{id}", Scope::Apply, true),
    row("environments.archive", Verb::Post, "/v1/environments/{id}/archive", Scope::Apply, true),
    row("environments.delete", Verb::Delete, "/v1/environments/{id}", Scope::Apply, true),
    row("skills.create", Verb::Post, "/v1/skills", Scope::Apply, true),
    row("skills.list", Verb::Get, "/v1/skills", Scope::Read, false),
    row("skills.get", Verb::Get, "/v1/skills/{id}", Scope::Read, false),
    row("skills.delete", Verb::Delete, "/v1/skills/{id}", Scope::Apply, true),
    row("skills.publish", Verb::Post, "/v1/skills/{id}/versions", Scope::Apply, true),
    row("skills.versions", Verb::Get, "/v1/skills/{id}/versions", Scope::Read, false),
    row("skills.version", Verb::Get, "/v1/skills/{id}/versions/{version}", Scope::Read, false),
    row("skills.delete_version", Verb::Delete, "/v1/skills/{id}/versions/{version}", Scope::Apply, true),
    row("skills.content", Verb::Get, "/v1/skills/{id}/versions/{version}/content", Scope::Read, false),
    row("file_trees.create", Verb::Post, "/v1/file_trees", Scope::Apply, true),
    row("file_trees.list", Verb::Get, "/v1/file_trees", Scope::Read, false),
    row("file_trees.get", Verb::Get, "/v1/file_trees/{id}", Scope::Read, false),
    row("file_trees.update", Verb::Post, "/v1/file_trees/{id}", Scope::Apply, true),
    row("file_trees.archive", Verb::Post, "/v1/file_trees/{id}/archive", Scope::Apply, true),
    row("file_trees.publish", Verb::Post, "/v1/file_trees/{id}/revisions", Scope::Apply, true),
    row("file_trees.versions", Verb::Get, "/v1/file_trees/{id}/revisions", Scope::Read, false),
    row("file_trees.version", Verb::Get, "/v1/file_trees/{id}/revisions/{version}", Scope::Read, false),
    row("file_trees.tree", Verb::Get, "/v1/file_trees/{id}/revisions/{version}/tree", Scope::Read, false),
    row("file_trees.file", Verb::Get, "/v1/file_trees/{id}/revisions/{version}/file", Scope::Read, false),
    row("memory_stores.create", Verb::Post, "/v1/memory_stores", Scope::Apply, true),
    row("memory_stores.list", Verb::Get, "/v1/memory_stores", Scope::Read, false),
    row("memory_stores.get", Verb::Get, "/v1/memory_stores/{id}", Scope::Read, false),
    row("memory_stores.update", Verb::Post, "/v1/memory_stores/{id}", Scope::Apply, true),
    row("memory_stores.archive", Verb::Post, "/v1/memory_stores/{id}/archive", Scope::Apply, true),
    row("memory_stores.delete", Verb::Delete, "/v1/memory_stores/{id}", Scope::Apply, true),
    row("memory_stores.versions", Verb::Get, "/v1/memory_stores/{id}/versions", Scope::Read, false),
    row("memory_stores.version", Verb::Get, "/v1/memory_stores/{id}/versions/{version}", Scope::Read, false),
    row("memory_stores.write_contents", Verb::Post, "/v1/memory_stores/{id}/contents", Scope::Apply, true),
    row("memories.create", Verb::Post, "/v1/memory_stores/{id}/memories", Scope::Apply, true),
    row("memories.list", Verb::Get, "/v1/memory_stores/{id}/memories", Scope::Read, false),
    row("memories.get", Verb::Get, "/v1/memory_stores/{id}/memories/{memory}", Scope::Read, false),
    row("memories.update", Verb::Post, "/v1/memory_stores/{id}/memories/{memory}", Scope::Apply, true),
    row("memories.delete", Verb::Delete, "/v1/memory_stores/{id}/memories/{memory}", Scope::Apply, true),
    row("memory_versions.list", Verb::Get, "/v1/memory_stores/{id}/memory_versions", Scope::Read, false),
    row("memory_versions.get", Verb::Get, "/v1/memory_stores/{id}/memory_versions/{version}", Scope::Read, false),
    row(
        "memory_versions.redact",
        Verb::Post,
        "/v1/memory_stores/{id}/memory_versions/{version}/redact",
        Scope::Apply,
        true,
    ),
    row("files.create", Verb::Post, "/v1/files", Scope::Apply, true),
    row("files.list", Verb::Get, "/v1/files", Scope::Read, false),
    row("files.get", Verb::Get, "/v1/files/{id}", Scope::Read, false),
    row("files.content", Verb::Get, "/v1/files/{id}/content", Scope::Read, false),
    row("files.delete", Verb::Delete, "/v1/files/{id}", Scope::Apply, true),
    row("memory_mounts.create", Verb::Post, "/v1/memory_mounts", Scope::Apply, true),
    row("memory_mounts.list", Verb::Get, "/v1/memory_mounts", Scope::Read, false),
    row("memory_mounts.get", Verb::Get, "/v1/memory_mounts/{id}", Scope::Read, false),
    row("memory_mounts.update", Verb::Post, "/v1/memory_mounts/{id}", Scope::Apply, true),
    row("memory_mounts.delete", Verb::Delete, "/v1/memory_mounts/{id}", Scope::Apply, true),
    row("file_tree_mounts.create", Verb::Post, "/v1/file_tree_mounts", Scope::Apply, true),
    row("file_tree_mounts.list", Verb::Get, "/v1/file_tree_mounts", Scope::Read, false),
    row("file_tree_mounts.get", Verb::Get, "/v1/file_tree_mounts/{id}", Scope::Read, false),
    row("file_tree_mounts.update", Verb::Post, "/v1/file_tree_mounts/{id}", Scope::Apply, true),
    row("file_tree_mounts.delete", Verb::Delete, "/v1/file_tree_mounts/{id}", Scope::Apply, true),
    row("authoring.owner", Verb::Get, "/v1/authoring/owners/{owner}", Scope::Plan, false),
    row("authoring.summaries", Verb::Get, "/v1/authoring/summaries", Scope::Plan, false),
    row("authoring.find", Verb::Post, "/v1/authoring/find", Scope::Plan, false),
    row("authoring.bodies", Verb::Post, "/v1/authoring/bodies", Scope::Plan, false),
    row("authoring.resolve", Verb::Post, "/v1/authoring/resolve", Scope::Plan, false),
    row("authoring.referrers", Verb::Get, "/v1/authoring/referrers", Scope::Plan, false),
    row("authoring.claim", Verb::Post, "/v1/authoring/claim", Scope::Apply, true),
    row("authoring.release", Verb::Post, "/v1/authoring/release", Scope::Apply, true),
    row("authoring.hand_over", Verb::Post, "/v1/authoring/hand_over", Scope::Apply, true),
    row("authoring.transfer", Verb::Post, "/v1/authoring/transfer", Scope::Apply, true),
    row("authoring.protect", Verb::Post, "/v1/authoring/protect", Scope::Apply, true),
    row("authoring.record", Verb::Post, "/v1/authoring/record", Scope::Apply, true),
    row("authoring.policy", Verb::Post, "/v1/authoring/owners/{owner}/policy", Scope::Apply, true),
    row("applies.begin", Verb::Post, "/v1/applies", Scope::Apply, true),
    row("applies.end", Verb::Post, "/v1/applies/{id}/end", Scope::Apply, true),
    row("applies.list", Verb::Get, "/v1/applies", Scope::Read, false),
    row("applies.get", Verb::Get, "/v1/applies/{id}", Scope::Read, false),
    row("applies.state", Verb::Get, "/v1/applies/{id}/state", Scope::Read, false),
    row("blobs.missing", Verb::Post, "/v1/blobs/missing", Scope::Plan, false),
    row("blobs.put", Verb::Post, "/v1/blobs", Scope::Apply, true),
    row("blobs.get", Verb::Get, "/v1/blobs/{digest}", Scope::Read, false),
    row("audit.list", Verb::Get, "/v1/audit", Scope::Read, false),
    row("workspace.get", Verb::Get, "/v1/workspace", Scope::Read, false),
    row("tokens.create", Verb::Post, "/v1/tokens", Scope::Admin, true),
    row("tokens.list", Verb::Get, "/v1/tokens", Scope::Admin, false),
    row("tokens.revoke", Verb::Post, "/v1/tokens/{id}/revoke", Scope::Admin, true),
];

impl Request {
    /// The row of this request. Every request has one (`tests/it/operations.rs` walks the table both ways).
    pub fn operation(&self) -> &'static Operation {
        let name = self.name();
        OPERATIONS.iter().find(|o| o.name == name).unwrap_or(&OPERATIONS[0])
    }

    /// The name of the operation.
    pub fn name(&self) -> String {
        let of = |kind: Kind, verb: &str| format!("{}.{verb}", crate::model::kinds::def(kind).plural);
        match self {
            Request::Create(r) => of(r.kind, "create"),
            Request::List(r) => of(r.kind, "list"),
            Request::Get(r) => of(r.kind, "get"),
            Request::Update(r) => of(r.kind, "update"),
            Request::Archive(r) => of(r.kind, "archive"),
            Request::Delete(r) => of(r.kind, "delete"),
            Request::Publish(r) => of(r.kind, "publish"),
            Request::Versions(r) => of(r.kind, "versions"),
            Request::WriteContents(_) => "memory_stores.write_contents".to_owned(),
            Request::Version(r) => of(r.kind, "version"),
            Request::VersionDelete(r) => of(r.kind, "delete_version"),
            Request::Content(r) => of(r.kind, "content"),
            Request::Tree(r) => of(r.kind, "tree"),
            Request::TreeFile(_) => "file_trees.file".to_owned(),
            Request::MemoryList(_) => "memories.list".to_owned(),
            Request::MemoryCreate(_) => "memories.create".to_owned(),
            Request::MemoryGet(_) => "memories.get".to_owned(),
            Request::MemoryUpdate(_) => "memories.update".to_owned(),
            Request::MemoryDelete(_) => "memories.delete".to_owned(),
            Request::MemoryVersions(_) => "memory_versions.list".to_owned(),
            Request::MemoryVersionGet(_) => "memory_versions.get".to_owned(),
            Request::MemoryVersionRedact(_) => "memory_versions.redact".to_owned(),
            Request::FileCreate(_) => "files.create".to_owned(),
            Request::FileList(_) => "files.list".to_owned(),
            Request::FileGet(_) => "files.get".to_owned(),
            Request::FileContent(_) => "files.content".to_owned(),
            Request::FileDelete(_) => "files.delete".to_owned(),
            Request::HandOver(_) => "authoring.hand_over".to_owned(),
            Request::Owner(_) => "authoring.owner".to_owned(),
            Request::Summaries(_) => "authoring.summaries".to_owned(),
            Request::Find(_) => "authoring.find".to_owned(),
            Request::Bodies(_) => "authoring.bodies".to_owned(),
            Request::Resolve(_) => "authoring.resolve".to_owned(),
            Request::Referrers(_) => "authoring.referrers".to_owned(),
            Request::Claim(_) => "authoring.claim".to_owned(),
            Request::Release(_) => "authoring.release".to_owned(),
            Request::Transfer(_) => "authoring.transfer".to_owned(),
            Request::Protect(_) => "authoring.protect".to_owned(),
            Request::Record(_) => "authoring.record".to_owned(),
            Request::SetPolicy(_) => "authoring.policy".to_owned(),
            Request::ApplyBegin(_) => "applies.begin".to_owned(),
            Request::ApplyEnd(_) => "applies.end".to_owned(),
            Request::ApplyList(_) => "applies.list".to_owned(),
            Request::ApplyGet(_) => "applies.get".to_owned(),
            Request::ApplyState(_) => "applies.state".to_owned(),
            Request::BlobsMissing(_) => "blobs.missing".to_owned(),
            Request::BlobPut(_) => "blobs.put".to_owned(),
            Request::BlobGet(_) => "blobs.get".to_owned(),
            Request::AuditList(_) => "audit.list".to_owned(),
            Request::Workspace => "workspace.get".to_owned(),
            Request::TokenCreate(_) => "tokens.create".to_owned(),
            Request::TokenList => "tokens.list".to_owned(),
            Request::TokenRevoke(_) => "tokens.revoke".to_owned(),
        }
    }
}
