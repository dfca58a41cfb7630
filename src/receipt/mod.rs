//! What happened: the client's copy of an Apply. Pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::op::ReceiptLine;
use crate::model::{Digest, Owner};
use crate::plan::{Finding, Held};

/// The format name that a receipt carries.
pub const FORMAT: &str = "checkfu.receipt/v1";

/// What one apply did, action by action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// `checkfu.receipt/v1`.
    pub format: String,
    /// The workspace's Apply; absent: the plan had no action and nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<String>,
    /// Who acted.
    pub owner: Owner,
    /// The plan.
    pub plan_digest: Digest,
    /// How it ended.
    pub outcome: Outcome,
    /// One line an action, in plan order.
    pub lines: Vec<ReceiptLine>,
    /// What moved live and stays, as the plan has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Held>,
    /// The findings of the plan: why something was left out, or what else it told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Addresses and fields that are not as wanted after the read-back, though nothing says why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_settled: Vec<String>,
    /// Another Apply of this owner that was not ended when this one began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_apply: Option<String>,
}

/// How an apply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The plan had no action.
    Nothing,
    /// All that the plan says is done.
    Done,
    /// Some are done, some not.
    Partial,
    /// None is done: nothing was written.
    Failed,
    /// Stopped by a person; what was in flight is done.
    Interrupted,
}

impl Receipt {
    /// How many lines have an outcome.
    pub fn count(&self, outcome: &str) -> usize {
        self.lines.iter().filter(|l| l.outcome == outcome).count()
    }
}
