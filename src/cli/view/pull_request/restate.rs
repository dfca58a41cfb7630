//! A comment that was written says how its plan went on, without planning again.

use crate::ci::marker::Marker;
use crate::cli::view::markup::shorten;
use crate::cli::view::pull_request::{COMMENT, Outcome};

/// Between what is told anew and the plan. No text of users can hold it: it is on a line of its own, and theirs never
/// begin one.
pub(super) const PLAN: &str = "<!-- checkfu: plan -->\n";
/// Between the plan and its last line.
pub(super) const FOOT: &str = "<!-- checkfu: foot -->\n";

/// Most bytes of what is told anew: with the plan it stays below what a code host takes.
const MOST: usize = 4_000;

/// The body with another marker, heading, status and last line; what was planned stays. `None`: it is no body of ours.
pub fn restate(old: &str, marker: &Marker, outcome: &Outcome) -> Option<String> {
    Marker::read(old)?;
    let (_, rest) = old.split_once('\n')?;
    let plan = rest.find(PLAN).filter(|at| rest[..*at].ends_with('\n'))?;
    let plan = &rest[plan + PLAN.len()..];
    let foot = plan.rfind(FOOT).filter(|at| plan[..*at].ends_with('\n'))?;
    let (plan, foot) = (&plan[..foot], &plan[foot + FOOT.len()..]);
    // The line of the plan stays, the one that was told after it goes.
    let planned = foot.lines().next()?;
    let mut said = outcome.clone();
    if said.status.len() > MOST {
        said.status = shorten(&said.status, MOST);
    }
    let Outcome { heading, status, foot: last } = said;
    let write = |plan: &str| {
        let status = if status.is_empty() { String::new() } else { format!("\n{}\n", status.trim_end()) };
        let last = if last.is_empty() { String::new() } else { format!("<br><sub>{last}</sub>\n") };
        format!("{}\n{heading}\n{status}{PLAN}{plan}{FOOT}{planned}\n{last}", marker.write())
    };
    let whole = write(plan);
    if whole.len() <= COMMENT + MOST { Some(whole) } else { Some(write("\nThe plan is left out here.\n\n")) }
}
