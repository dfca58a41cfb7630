//! What GitLab shows beside a merge request: findings on their lines, and how many resources come, change and go.

use serde::Serialize;

use crate::ci::report::{findings, fingerprints, place};
use crate::ci::{Annotation, Level};

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

#[derive(Serialize)]
struct Counts {
    create: u64,
    update: u64,
    delete: u64,
}

/// A report for `artifacts: reports: codequality`. Paths are from the top of the repository; `config` is that of
/// `checkfu.yaml`, for what is of no file.
pub fn codequality(all: &[Annotation], config: &str) -> String {
    let found = findings(all);
    let issues: Vec<Issue<'_>> = found
        .iter()
        .zip(fingerprints(&found))
        .map(|((a, code), fingerprint)| {
            let (path, begin) = place(a, config);
            Issue {
                description: a.message.clone(),
                check_name: code.code,
                fingerprint,
                severity: match a.level {
                    Level::Error => "critical",
                    Level::Warning => "minor",
                    Level::Notice => "info",
                },
                location: Location { path, lines: Lines { begin } },
            }
        })
        .collect();
    serde_json::to_string_pretty(&issues).unwrap_or_default() + "\n"
}

/// A report for `artifacts: reports: terraform`, which is the one that GitLab has for plans of any tool.
pub fn terraform(create: u64, update: u64, delete: u64) -> String {
    serde_json::to_string(&Counts { create, update, delete }).unwrap_or_default() + "\n"
}
