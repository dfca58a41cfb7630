//! What a plan leaves as it is, for `--verbose`: resources that are as wanted, and fields that are not owned.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::cli::view::style;
use crate::cli::view::text::line;
use crate::model::Address;
use crate::plan::Plan;
use crate::reconcile::Desired;

/// As text, each resource on its own line. Of a plan of a part it is known for all only if nothing is left out.
pub fn human(plan: &Plan, desired: &Desired) -> String {
    let mut out = String::new();
    let same = unchanged(plan, desired);
    if same.len() == plan.notes.unchanged as usize && !same.is_empty() {
        let _ = writeln!(out, "{}", style::strong("Unchanged:"));
        for address in same {
            let _ = writeln!(out, "  {address}");
        }
        out.push('\n');
    }
    let unowned: Vec<_> = desired.resources.values().filter(|w| !w.unowned.is_empty()).collect();
    if plan.scope.is_empty() && !unowned.is_empty() {
        let _ = writeln!(out, "{}", style::strong("Not owned, left as they are live:"));
        for wanted in unowned {
            let of = |seeded: bool| {
                let some = wanted.unowned.iter().filter(|f| wanted.seeded.contains(f) == seeded);
                some.map(|f| line(f)).collect::<Vec<_>>()
            };
            let (seeded, ignored) = (of(true), of(false));
            let mut parts = Vec::new();
            if !ignored.is_empty() {
                parts.push(ignored.join(", "));
            }
            if !seeded.is_empty() {
                let seeded = seeded.join(", ");
                parts.push(format!("{seeded} (seed: written once, a later change of the file is not sent)"));
            }
            let _ = writeln!(out, "  {}  {}", wanted.address, style::faint(parts.join("; ")));
        }
        out.push('\n');
    }
    out
}

/// What has no action, is not held and waits for nothing.
fn unchanged<'d>(plan: &Plan, desired: &'d Desired) -> Vec<&'d Address> {
    let acted = plan.actions.iter().filter_map(|a| a.address.as_ref());
    let held = plan.held.iter().map(|h| &h.address);
    let found =
        plan.findings.iter().filter(|f| f.effect != crate::plan::Effect::Note).filter_map(|f| f.address.as_ref());
    let moved: BTreeSet<&Address> = acted.chain(held).chain(found).chain(&plan.notes.blocked).collect();
    desired.resources.keys().filter(|address| !moved.contains(address)).collect()
}
