//! The one word that a plan leaves for scripts.

use crate::plan::{Effect, Plan};

/// The detailed exit code of a plan: the first that holds of 1 (errors), 5 (refused), 4 (conflict),
/// 2 (changes are pending), 3 (live moved and is held, and the files did not), 0.
pub fn exit_code(plan: &Plan) -> u8 {
    let has = |effect: Effect| plan.findings.iter().any(|f| f.effect == effect);
    if has(Effect::Error) {
        1
    } else if has(Effect::Refuses) {
        5
    } else if has(Effect::Blocks) {
        4
    } else if !plan.actions.is_empty() {
        2
    } else if !plan.held.is_empty() {
        3
    } else {
        0
    }
}
