//! Digests of a plan and of its actions: what is approved, and what an idempotency key is made from.

use serde::Serialize;

use crate::model::config::Allowance;
use crate::model::{Address, Digest, Owner};
use crate::plan::{Action, Plan, Precondition};

/// What an action's digest is over: no word for people, no id of ours.
#[derive(Serialize)]
struct ActionRow<'a> {
    address: Option<&'a Address>,
    operation: &'a str,
    precondition: &'a Precondition,
    payload: Digest,
    depends_on: &'a [String],
}

#[derive(Serialize)]
struct PlanRow<'a> {
    format: &'a str,
    owner: &'a Owner,
    workspace: Option<&'a str>,
    allowances: Vec<&'a Allowance>,
    actions: Vec<&'a ActionRow<'a>>,
}

impl<'a> ActionRow<'a> {
    fn new(a: &'a Action) -> Self {
        Self {
            address: a.address.as_ref(),
            operation: &a.operation,
            precondition: &a.precondition,
            payload: Digest::of_json(&a.step),
            depends_on: &a.depends_on,
        }
    }
}

/// Digest of one action, over (address, operation, precondition, payload digest, depends_on).
pub fn action_digest(action: &Action) -> Digest {
    Digest::of_json(&ActionRow::new(action))
}

/// Digest of a plan, over {format, owner, workspace id, allowances, actions sorted by address}.
pub fn digest(plan: &Plan) -> Digest {
    let rows: Vec<ActionRow<'_>> = plan.actions.iter().map(ActionRow::new).collect();
    over(plan, &rows)
}

fn over(plan: &Plan, rows: &[ActionRow<'_>]) -> Digest {
    let mut actions: Vec<&ActionRow<'_>> = rows.iter().collect();
    actions.sort_by(|a, b| (a.address, a.operation, a.payload).cmp(&(b.address, b.operation, b.payload)));
    let mut allowances: Vec<&Allowance> = plan.allowances.iter().collect();
    allowances.sort();
    allowances.dedup();
    Digest::of_json(&PlanRow {
        format: &plan.format,
        owner: &plan.owner,
        workspace: plan.origin.workspace.as_deref(),
        allowances,
        actions,
    })
}

/// Writes the digests into a plan that is otherwise whole. Each payload is hashed once.
pub(super) fn seal(plan: &mut Plan) {
    let rows: Vec<ActionRow<'_>> = plan.actions.iter().map(ActionRow::new).collect();
    let whole = over(plan, &rows);
    let each: Vec<Digest> = rows.iter().map(Digest::of_json).collect();
    drop(rows);
    for (action, digest) in plan.actions.iter_mut().zip(each) {
        action.digest = digest;
    }
    plan.digest = whole;
}

/// The first thing that is not as the digests say.
pub(super) fn mismatch(plan: &Plan) -> Option<String> {
    let rows: Vec<ActionRow<'_>> = plan.actions.iter().map(ActionRow::new).collect();
    let wrong = plan.actions.iter().zip(&rows).find(|(a, row)| Digest::of_json(row) != a.digest);
    if let Some((action, _)) = wrong {
        return Some(action.id.clone());
    }
    (over(plan, &rows) != plan.digest).then(|| "the plan".to_owned())
}
