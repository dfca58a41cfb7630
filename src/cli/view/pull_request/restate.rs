//! A comment that was written says how its plan went on, without planning again.

use crate::ci::marker::Marker;
use crate::cli::view::pull_request::Outcome;

/// The body with another marker, heading, status and last line; what was planned stays. `None`: it is no body of ours.
pub fn restate(old: &str, marker: &Marker, outcome: &Outcome) -> Option<String> {
    Marker::read(old)?;
    let (_, rest) = old.split_once('\n')?;
    Some(format!("{}\n{}\n\n{}\n{rest}\n{}\n", marker.write(), outcome.heading, outcome.status, outcome.foot))
}
