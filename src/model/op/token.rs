//! Tokens: who may do what over HTTP.

use serde::{Deserialize, Serialize};

use crate::model::op::{ActorKind, Scope};

/// Makes a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TokenCreate {
    /// What the audit calls its holder; 1–64 characters, unique among tokens that are not revoked.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Owners that it may act as: `acme/*`, `acme/support`; `*` alone is every owner. Empty = none.
    pub owners: Vec<String>,
    /// Whether its holder is a person or tool, or an agent's session.
    pub actor_kind: ActorKind,
    /// When it ends (RFC 3339, UTC); absent = when it is revoked.
    pub expires_at: Option<String>,
}

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TokenInfo {
    /// `tok_…`
    pub id: String,
    /// What the audit calls its holder.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Owners that it may act as.
    pub owners: Vec<String>,
    /// What kind of actor its holder is.
    pub actor_kind: ActorKind,
    /// When it was made (RFC 3339, UTC).
    pub created_at: String,
    /// When it ends; null = when it is revoked.
    pub expires_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A new token, with its secret. The secret is shown this once: the workspace keeps its hash alone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NewToken {
    /// The token.
    pub token: TokenInfo,
    /// `cfu_…`, what is sent as `Authorization: Bearer` or `x-api-key`.
    pub secret: String,
}

impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NewToken({:?})", self.token)
    }
}
