//! Requests about who authors what: claim, release, hand-over, transfer, protection, what was applied, policy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::config::Policy;
use crate::model::kinds::Applied;
use crate::model::op::{ClaimOf, Expect};
use crate::model::{Address, Digest, Owner};

/// Names a resource and the state of its authoring record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Authoring {
    /// Which, and its version.
    pub at: Expect,
    /// `authoring.seq` that it must have. Of one that nobody owns, 0 will do.
    pub seq: u64,
}

/// Asks for resources that planning has to know of beside those of its owner. Each list and both together have at
/// most 1,000 items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Find {
    /// Who asks.
    pub me: Owner,
    /// Addresses: what other owners have there, what is offered to `me` there, and what `me` offers from there.
    pub addresses: Vec<Address>,
    /// Live ids, whoever owns them.
    pub ids: Vec<String>,
}

impl Find {
    /// Most addresses and ids of one question.
    pub const MOST: usize = 1_000;
}

/// Claims an unowned resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Claim {
    /// Which.
    pub at: Authoring,
    /// As what.
    pub claim: ClaimOf,
}

/// Moves ownership.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Transfer {
    /// Which.
    pub at: Authoring,
    /// The present owner, checked.
    pub from: Owner,
    /// The new one.
    pub to: Owner,
    /// Its address there.
    pub address: Address,
}

/// Offers a resource of the acting owner to another, who takes it with a transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HandOver {
    /// Which.
    pub at: Authoring,
    /// The new owner.
    pub to: Owner,
    /// Its address there.
    pub address: Address,
}

/// Sets protection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Protect {
    /// Which.
    pub at: Authoring,
    /// On or off.
    pub protected: bool,
}

/// Sets what was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Record {
    /// Which.
    pub at: Authoring,
    /// To what.
    pub applied: Applied,
}

/// Sets the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetPolicy {
    /// Whose.
    pub owner: Owner,
    /// `seq` of the owner's record (0 = none yet).
    pub seq: u64,
    /// To what.
    pub policy: Policy,
    /// What a rollback undid, all of it; `None` leaves it as it is.
    pub undone: Option<BTreeMap<Address, Option<Digest>>>,
}
