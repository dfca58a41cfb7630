//! The JSON documents of the command line that are not a plan or a receipt. Each has a format name and a schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli::view::diagnostics::fix;
use crate::cli::view::words;
use crate::control::embedded::{BackedUp, Restored};
use crate::diag::{Diagnostic, Diagnostics, Label, Location};
use crate::model::config::Adopt;
use crate::model::op::{ApplyInfo, TokenInfo};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan::FieldChange;

/// `checkfu.diagnostics/v1`: what validate found, or why a command failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiagnosticsDoc {
    /// `checkfu.diagnostics/v1`.
    pub format: &'static str,
    /// Is there no error?
    pub ok: bool,
    /// How many resources of each kind were read; absent where none were.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<Kind, usize>,
    /// In file order.
    pub diagnostics: Vec<DiagnosticDoc>,
}

/// One diagnostic.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiagnosticDoc {
    /// Dotted, as in `manifest.unknown_key`; `checkfu explain CODE` tells more.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// One sentence.
    pub message: String,
    /// Where; absent if it is about no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// Further places, and what is to be seen at the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelDoc>,
    /// What to write instead, or what to do.
    pub fix: String,
    /// Further help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The cross-resource rule that spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
}

/// A place in a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Place {
    /// Relative to the project folder.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// First byte; absent with `end` where only the line is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// One past the last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

/// A place with a text about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LabelDoc {
    /// Where.
    pub at: Place,
    /// What is to be seen there; may be empty.
    pub text: String,
}

impl From<&Location> for Place {
    fn from(at: &Location) -> Self {
        // A place that was read back from `file:line:column`, or a whole file, has no range of bytes.
        let known = |byte: usize| (at.end > 0).then_some(byte);
        Self { file: at.file.to_string(), line: at.line, column: at.column, start: known(at.start), end: known(at.end) }
    }
}

impl From<&Diagnostic> for DiagnosticDoc {
    fn from(d: &Diagnostic) -> Self {
        let label = |l: &Label| LabelDoc { at: (&l.at).into(), text: l.text.clone() };
        Self {
            code: d.code.code,
            severity: words::severity(d.severity),
            message: d.message.clone(),
            at: d.place().map(Place::from),
            labels: d.labels.iter().map(label).collect(),
            fix: fix(d).to_owned(),
            hints: d.hints.clone(),
            rule: d.rule,
        }
    }
}

/// Diagnostics as a document, in the order in which they are shown.
pub fn diagnostics(diagnostics: &Diagnostics, resources: BTreeMap<Kind, usize>) -> DiagnosticsDoc {
    let sorted = diagnostics.shown();
    DiagnosticsDoc {
        format: "checkfu.diagnostics/v1",
        ok: !sorted.has_errors(),
        resources,
        diagnostics: sorted.0.iter().map(DiagnosticDoc::from).collect(),
    }
}

/// `checkfu.resources/v1`: the answer of `get`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResourcesDoc {
    /// `checkfu.resources/v1`.
    pub format: &'static str,
    /// Whose resources.
    pub owner: Owner,
    /// By address.
    pub resources: Vec<ResourceDoc>,
}

/// One live resource.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResourceDoc {
    /// Its address.
    pub address: Address,
    /// Its kind.
    pub kind: Kind,
    /// Live id.
    pub id: String,
    /// Shown name.
    pub name: String,
    /// Integer version.
    pub version: u64,
    /// `applied`, `moved`, `gone` or `superseded`.
    pub state: &'static str,
    /// Protected from retirement.
    pub protected: bool,
    /// Newest content (skills, trees).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
    /// The version that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_version: Option<String>,
    /// The canonical form of what is live; only where one resource was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Value>,
}

/// `checkfu.applies/v1`: the answer of `history`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AppliesDoc {
    /// `checkfu.applies/v1`.
    pub format: &'static str,
    /// Newest first.
    pub applies: Vec<ApplyInfo>,
}

/// `checkfu.apply/v1`: the answer of `show APPLY`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ApplyDoc {
    /// `checkfu.apply/v1`.
    pub format: &'static str,
    /// The apply with its receipt lines.
    pub apply: ApplyInfo,
    /// What its actions changed, by the id of the action, where the record has the form before and the one after.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<String, Vec<FieldChange>>,
}

/// `checkfu.token/v1`: the answer of `token create`. It holds the secret, this once.
#[derive(Clone, Serialize, JsonSchema)]
pub struct TokenDoc {
    /// `checkfu.token/v1`.
    pub format: &'static str,
    /// The token.
    pub token: TokenInfo,
    /// `cfu_…`, what is sent as `Authorization: Bearer` or `x-api-key`.
    pub secret: String,
}

impl std::fmt::Debug for TokenDoc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenDoc({:?})", self.token)
    }
}

/// `checkfu.tokens/v1`: the answer of `token list`, and of `token revoke` with the one that was ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TokensDoc {
    /// `checkfu.tokens/v1`.
    pub format: &'static str,
    /// Oldest first.
    pub tokens: Vec<TokenInfo>,
}

/// `checkfu.backup/v1`: the answer of `backup`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BackupDoc {
    /// `checkfu.backup/v1`.
    pub format: &'static str,
    /// The file that was written.
    pub file: String,
    /// What is in it.
    #[serde(flatten)]
    pub made: BackedUp,
}

/// `checkfu.restore/v1`: the answer of `restore`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RestoreDoc {
    /// `checkfu.restore/v1`.
    pub format: &'static str,
    /// The database that was written.
    pub file: String,
    /// What is in it now.
    #[serde(flatten)]
    pub done: Restored,
}

/// `checkfu.edit/v1`: the answer of `edit`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EditDoc {
    /// `checkfu.edit/v1`.
    pub format: &'static str,
    /// What was opened.
    pub address: Address,
    /// Its live id.
    pub id: String,
    /// Canonical fields that were written, or `SKILL.md`; empty: nothing was.
    pub fields: Vec<String>,
    /// Its version now.
    pub version: u64,
}

/// `checkfu.files/v1`: the answer of `init` and `new`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilesDoc {
    /// `checkfu.files/v1`.
    pub format: &'static str,
    /// The files that were written, as paths from the current directory.
    pub written: Vec<String>,
}

/// `checkfu.pulled/v1`: the answer of `pull` and `adopt`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PulledDoc {
    /// `checkfu.pulled/v1`.
    pub format: &'static str,
    /// The project's authoring owner.
    pub owner: Owner,
    /// The files that were written, relative to the project folder.
    pub written: Vec<String>,
    /// The files that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// How many resources the files said already as they are live.
    pub unchanged: usize,
    /// The `adopt:` lines that were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopted: Vec<Adopt>,
}

/// `checkfu.checks/v1`: the answer of `doctor`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChecksDoc {
    /// `checkfu.checks/v1`.
    pub format: &'static str,
    /// Is none of them bad?
    pub ok: bool,
    /// In the order in which they were made.
    pub checks: Vec<CheckDoc>,
}

/// One check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckDoc {
    /// What was looked at.
    pub name: &'static str,
    /// `ok`, `warning` or `bad`.
    pub result: &'static str,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// `checkfu.explain/v1`: the answer of `explain`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplainDoc {
    /// `checkfu.explain/v1`.
    pub format: &'static str,
    /// What was asked for.
    pub topic: String,
    /// The row or rows, as text values by name.
    pub rows: Vec<BTreeMap<&'static str, String>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::LineIndex;
    use crate::diag::codes::cli::{READ, USAGE};

    #[test]
    fn bytes_that_are_not_known_are_left_out() {
        let line = Location { line: 3, column: 7, ..Location::file("a.yaml") };
        let place = serde_json::to_value(Place::from(&line)).unwrap();
        assert_eq!(place, serde_json::json!({"file": "a.yaml", "line": 3, "column": 7}));
    }

    #[test]
    fn diagnostics_have_all_that_people_see() {
        let index = LineIndex::new("a.yaml", "a: é\nb: 2\n");
        let mut all = Diagnostics::default();
        all.push(Diagnostic::new(&READ, "second").at(index.locate(6..7), "here").fix("b: 3").hint("or not").rule("r"));
        all.push(Diagnostic::new(&USAGE, "first"));
        let text = serde_json::to_value(diagnostics(&all, BTreeMap::from([(Kind::Agent, 2)]))).unwrap();
        assert_eq!(
            text,
            serde_json::json!({
                "format": "checkfu.diagnostics/v1", "ok": false, "resources": {"Agent": 2},
                "diagnostics": [
                    {"code": "cli.usage", "severity": "error", "message": "first", "fix": USAGE.fix},
                    {"code": "cli.read", "severity": "error", "message": "second",
                     "at": {"file": "a.yaml", "line": 2, "column": 1, "start": 6, "end": 7},
                     "labels": [{"at": {"file": "a.yaml", "line": 2, "column": 1, "start": 6, "end": 7}, "text": "here"}],
                     "fix": "b: 3", "hints": ["or not"], "rule": "r"},
                ],
            })
        );
        // The first has neither place nor hints: the schema must not ask for what is left out.
        let schema = crate::cli::schemas::find("Diagnostics").unwrap().json();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&text));
        let empty = serde_json::to_value(super::diagnostics(&all, BTreeMap::new())).unwrap();
        assert!(validator.is_valid(&empty));
    }
}
