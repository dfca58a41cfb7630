//! Digests of a plan and of its actions: what is approved, and what an idempotency key is made from.

use serde::Serialize;

use crate::model::config::Allowance;
use crate::model::digest::{Hasher, canonical_json};
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

/// What a plan's digest is over beside `actions`, which sorts before all of these.
#[derive(Serialize)]
struct PlanRow<'a> {
    format: &'a str,
    owner: &'a Owner,
    workspace: Option<&'a str>,
    allowances: Vec<&'a Allowance>,
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
    digests(plan, &rows).0
}

/// The digests of the plan and of each action. The canonical text of a row is made once, for both, and one at a
/// time: together they are as long as a plan file.
fn digests(plan: &Plan, rows: &[ActionRow<'_>]) -> (Digest, Vec<Digest>) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|i| (rows[*i].address, rows[*i].operation, rows[*i].payload));
    let mut allowances: Vec<&Allowance> = plan.allowances.iter().collect();
    allowances.sort();
    allowances.dedup();
    let workspace = plan.origin.workspace.as_deref();
    let rest = canonical_json(&PlanRow { format: &plan.format, owner: &plan.owner, workspace, allowances });

    let mut each = vec![Digest::from_bytes([0; 32]); rows.len()];
    let mut whole = Hasher::default();
    whole.update(b"{\"actions\":[");
    for (n, i) in order.into_iter().enumerate() {
        let text = canonical_json(&rows[i]);
        each[i] = Digest::of(&text);
        whole.update(if n == 0 { b"" } else { b"," });
        whole.update(&text);
    }
    whole.update(b"],");
    whole.update(rest.strip_prefix(b"{").unwrap_or(&rest));
    (whole.finish(), each)
}

/// Writes the digests into a plan that is otherwise whole. Each payload is hashed once.
pub(super) fn seal(plan: &mut Plan) {
    let rows: Vec<ActionRow<'_>> = plan.actions.iter().map(ActionRow::new).collect();
    let (whole, each) = digests(plan, &rows);
    drop(rows);
    for (action, digest) in plan.actions.iter_mut().zip(each) {
        action.digest = digest;
    }
    plan.digest = whole;
}

/// The first thing that is not as the digests say.
pub(super) fn mismatch(plan: &Plan) -> Option<String> {
    let rows: Vec<ActionRow<'_>> = plan.actions.iter().map(ActionRow::new).collect();
    let (whole, each) = digests(plan, &rows);
    let wrong = plan.actions.iter().zip(each).find(|(action, digest)| action.digest != *digest);
    match wrong {
        Some((action, _)) => Some(action.id.clone()),
        None => (whole != plan.digest).then(|| "the plan".to_owned()),
    }
}
