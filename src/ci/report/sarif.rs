//! SARIF 2.1.0, as code scanning takes it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::ci::report::{findings, fingerprints, place};
use crate::ci::{Annotation, Level};
use crate::diag::{Code, Severity};

/// Most results: code hosts take no more of one run.
const MOST: usize = 5_000;
/// Where a code is described.
const PAGE: &str = "docs/errors.md";

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Found>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: String,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text,
    full_description: Text,
    help: Help,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    partial_fingerprints: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "note",
    }
}

fn rule(code: &'static Code) -> Rule {
    let usual = match code.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Notice,
    };
    let text = format!(
        "{}\n\nFix: {}\n\n`checkfu explain {}` says the same; all codes are in {PAGE}.",
        code.why, code.fix, code.code
    );
    Rule {
        id: code.code,
        short_description: Text { text: code.title.to_owned() },
        full_description: Text { text: code.why.to_owned() },
        help: Help { text: text.replace('`', ""), markdown: text.replacen("Fix:", "**Fix:**", 1) },
        default_configuration: Configuration { level: level(usual) },
    }
}

/// A path as a URI reference: what is not plain is escaped, and nothing in it is a scheme.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The gravest 5,000 of what was found. Paths are from the top of the repository; `config` is that of `checkfu.yaml`,
/// for what is of no file; `version` is the program's.
pub fn sarif(all: &[Annotation], config: &str, version: &str) -> String {
    let mut found = findings(all);
    found.sort_by_key(|(a, _)| a.level);
    found.truncate(MOST);
    let mut rules: Vec<&'static Code> = found.iter().map(|(_, code)| *code).collect();
    rules.sort_by_key(|code| code.code);
    rules.dedup();
    let results = found.iter().zip(fingerprints(&found)).map(|((a, code), fingerprint)| {
        let (file, line) = place(a, config);
        let region = Region { start_line: line, start_column: (a.column > 0).then_some(a.column) };
        let artifact_location = Artifact { uri: uri(file), uri_base_id: "%SRCROOT%" };
        Found {
            rule_id: code.code,
            rule_index: rules.iter().position(|r| r == code).unwrap_or_default(),
            level: level(a.level),
            message: Text { text: a.message.clone() },
            locations: [Location { physical_location: Physical { artifact_location, region } }],
            partial_fingerprints: BTreeMap::from([("checkfu/v1", fingerprint)]),
        }
    });
    let results = results.collect();
    let driver = Driver {
        name: "checkfu",
        semantic_version: version.to_owned(),
        rules: rules.iter().map(|code| rule(code)).collect(),
    };
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    let log = Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}
