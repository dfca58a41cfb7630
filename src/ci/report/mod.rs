//! What was found as files that other programs read: SARIF for code scanning, and GitLab's reports.

mod gitlab;
mod sarif;

pub use gitlab::{codequality, terraform};
pub use sarif::sarif;

use std::collections::BTreeMap;

use crate::ci::Annotation;
use crate::diag::{Code, codes};
use crate::model::Digest;

/// What was found, each with the row of its code: what only tells of an action has none, and is not among them.
fn findings(all: &[Annotation]) -> Vec<(&Annotation, &'static Code)> {
    let rows: BTreeMap<&str, &'static Code> = codes::all().into_iter().map(|c| (c.code, c)).collect();
    all.iter().filter_map(|a| Some((a, *rows.get(a.code.as_str())?))).collect()
}

/// What a finding is known by from run to run: its code, its file, its first line, and which of the equal ones it is. A
/// line that moves changes nothing.
fn fingerprints(found: &[(&Annotation, &'static Code)]) -> Vec<String> {
    let mut known: BTreeMap<(&str, Option<&str>, &str), usize> = BTreeMap::new();
    let mut out = Vec::new();
    for (a, _) in found {
        let key = (a.code.as_str(), a.file.as_deref(), a.message.lines().next().unwrap_or_default());
        let n = known.entry(key).or_default();
        *n += 1;
        out.push(Digest::of_json(&(key, *n)).to_string().trim_start_matches("sha256:").to_owned());
    }
    out
}

/// The place of a finding. Of the whole project it is `checkfu.yaml`, in which case the line is the first.
fn place<'a>(a: &'a Annotation, config: &'a str) -> (&'a str, u32) {
    (a.file.as_deref().unwrap_or(config), a.line.max(1))
}

#[cfg(test)]
mod tests;
