//! After an apply: is anything left to do that nothing explains? Pure.

use std::collections::BTreeMap;

use crate::desired::Desired;
use crate::live::Live;
use crate::model::Address;
use crate::model::op::ReceiptLine;
use crate::plan::{Action, Plan, Step, Verb};
use crate::receipt::Receipt;

/// What a plan did at one address.
struct Touched<'a> {
    /// Is every action there done?
    done: bool,
    /// The highest version that a line names.
    version: u64,
    /// The canonical form that the last of them records.
    spec: Option<&'a serde_json::Value>,
    /// Live ids that were retired.
    retired: Vec<&'a str>,
    /// The address got a new resource in the place of an old one, which a later plan retires.
    replaced: bool,
    /// It was taken over, which leaves it protected; a later plan may take that away.
    taken: bool,
}

/// What is left of a plan, `again` being the plan of what was read back as `live`: addresses with their fields,
/// sorted. What failed, was blocked, or was moved by another since is explained and is not in it. Nor is what
/// this plan did not touch: whoever wrote there was another.
pub(crate) fn left(plan: &Plan, receipt: &Receipt, desired: &Desired, live: &Live, again: &Plan) -> Vec<String> {
    let touched = touched(plan, &receipt.lines);
    let policy_done = plan.actions.iter().zip(&receipt.lines).any(|(a, l)| a.address.is_none() && l.outcome == "done");
    let same_files = plan.desired == again.desired;
    let mut left: Vec<String> = again
        .actions
        .iter()
        .filter(|action| match &action.address {
            None => policy_done && plan.policy == again.policy && !moved_policy(plan, action),
            Some(address) => touched.get(address).is_some_and(|t| {
                let same = same_files || has_same_spec(t, address, desired);
                is_left(t, address, action, same, live)
            }),
        })
        .map(describe)
        .collect();
    left.sort();
    left.dedup();
    left
}

fn touched<'a>(plan: &'a Plan, lines: &'a [ReceiptLine]) -> BTreeMap<&'a Address, Touched<'a>> {
    let mut all = BTreeMap::new();
    for (action, line) in plan.actions.iter().zip(lines) {
        let Some(address) = &action.address else { continue };
        let at = all.entry(address).or_insert_with(|| Touched {
            done: true,
            version: 0,
            spec: None,
            retired: Vec::new(),
            replaced: false,
            taken: false,
        });
        at.done &= line.outcome == "done";
        at.version = at.version.max(line.version.unwrap_or(0));
        at.replaced |= action.verb == Verb::Replace;
        at.taken |= action.verb == Verb::TakeOver;
        match &action.step {
            Step::Create { spec, .. }
            | Step::Update { spec, .. }
            | Step::Publish { spec, .. }
            | Step::WriteContents { spec, .. }
            | Step::Record { spec, .. }
            | Step::Claim { spec, .. } => at.spec = Some(spec),
            Step::Retire { id } => at.retired.push(id),
            Step::Protect { .. }
            | Step::Transfer { .. }
            | Step::Release { .. }
            | Step::HandOver { .. }
            | Step::Policy { .. } => {}
        }
    }
    all
}

/// The plan may be a saved one, and the files have moved on since: do they still say this of the resource?
fn has_same_spec(touched: &Touched<'_>, address: &Address, desired: &Desired) -> bool {
    touched.spec.is_none_or(|spec| desired.resources.get(address).is_some_and(|w| *w.spec == *spec))
}

fn is_left(touched: &Touched<'_>, address: &Address, action: &Action, same: bool, live: &Live) -> bool {
    if !touched.done {
        return false;
    }
    if let Step::Retire { id } = &action.step {
        // A plan that brings an address to life says nothing about retiring it, nor about the one replaced.
        return touched.retired.contains(&id.as_str());
    }
    if touched.taken && action.verb == Verb::Unprotect {
        return false;
    }
    if !touched.retired.is_empty() && touched.spec.is_none() {
        // It was retired as planned; that the files (now) want it is another plan.
        return false;
    }
    let moved = live.resources.get(address).is_some_and(|l| l.summary.version > touched.version);
    same && !moved && !only_written_by_others(action)
}

/// Memories that somebody else wrote since are the next plan's.
fn only_written_by_others(action: &Action) -> bool {
    !action.about.files.is_empty() && action.about.files.iter().all(|f| f.writer.is_some())
}

/// Has the owner's record moved on by more than this plan's one step?
fn moved_policy(plan: &Plan, action: &Action) -> bool {
    use crate::plan::Precondition::OwnerSeq;
    let planned = plan.actions.iter().find(|a| a.address.is_none()).map(|a| &a.precondition);
    match (planned, &action.precondition) {
        (Some(OwnerSeq { seq: before }), OwnerSeq { seq: now }) => *now > before + 1,
        _ => false,
    }
}

fn describe(action: &Action) -> String {
    let what = action.address.as_ref().map_or_else(|| "policy".to_owned(), ToString::to_string);
    let mut fields: Vec<&str> = action.about.changes.iter().map(|c| c.path.as_str()).collect();
    fields.extend(action.about.files.iter().map(|f| f.path.as_str()));
    fields.dedup();
    if fields.is_empty() {
        return format!("{what}: {}", action.verb.as_str());
    }
    format!("{what}: {}", fields.join(", "))
}
