//! Every JSON Schema that is published: kinds, configuration, plan, receipt, and the documents of `--json`.

use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::cli::view::json;
use crate::model::Kind;
use crate::model::config::Config;
use crate::model::kinds;
use crate::plan::{Drift, Plan};
use crate::receipt::Receipt;

/// A published schema.
pub struct Row {
    /// As `checkfu schema NAME` takes it; the file in `schemas/` is `NAME.json`.
    pub name: String,
    /// What it describes.
    pub about: String,
    of: Of,
}

/// Where a schema comes from.
enum Of {
    Kind(Kind),
    Manifest,
    Document(fn() -> Schema),
}

impl Row {
    /// The schema as JSON.
    pub fn json(&self) -> Value {
        match self.of {
            Of::Kind(kind) => kinds::schema::schema(kinds::def(kind)),
            Of::Manifest => kinds::schema::manifest(),
            Of::Document(schema) => schema().to_value(),
        }
    }
}

type Document = (&'static str, &'static str, fn() -> Schema);

/// All of them, kinds first.
pub fn all() -> Vec<Row> {
    let row = |name: &str, about: String, of: Of| Row { name: name.to_owned(), about, of };
    let kind = |kind: &Kind| row(kind.as_str(), format!("a manifest of kind {kind}"), Of::Kind(*kind));
    let manifest = row("Manifest", "a manifest of any kind".to_owned(), Of::Manifest);
    let document = |(name, about, schema): Document| row(name, about.to_owned(), Of::Document(schema));
    let documents: [Document; 17] = [
        ("Config", "checkfu.yaml", || schema_for!(Config)),
        ("Plan", "plan --json, plan -o FILE", || schema_for!(Plan)),
        ("Drift", "drift --json", || schema_for!(Drift)),
        ("Receipt", "apply --json, destroy --json", || schema_for!(Receipt)),
        ("Diagnostics", "validate --json, and any command that fails", || schema_for!(json::DiagnosticsDoc)),
        ("Resources", "get --json", || schema_for!(json::ResourcesDoc)),
        ("Applies", "history --json", || schema_for!(json::AppliesDoc)),
        ("Apply", "show APPLY --json", || schema_for!(json::ApplyDoc)),
        ("Token", "token create --json", || schema_for!(json::TokenDoc)),
        ("Tokens", "token list --json, token revoke --json", || schema_for!(json::TokensDoc)),
        ("Backup", "backup --json", || schema_for!(json::BackupDoc)),
        ("Restore", "restore --json", || schema_for!(json::RestoreDoc)),
        ("Edit", "edit --json", || schema_for!(json::EditDoc)),
        ("Files", "init --json, new --json", || schema_for!(json::FilesDoc)),
        ("Pulled", "pull --json, adopt --json", || schema_for!(json::PulledDoc)),
        ("Checks", "doctor --json", || schema_for!(json::ChecksDoc)),
        ("Explain", "explain --json", || schema_for!(json::ExplainDoc)),
    ];
    Kind::ALL.iter().map(kind).chain([manifest]).chain(documents.into_iter().map(document)).collect()
}

/// By name; upper and lower case are the same.
pub fn find(name: &str) -> Option<Row> {
    all().into_iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_an_object_and_found_by_any_case() {
        for row in all() {
            assert!(row.json().is_object(), "{}", row.name);
            assert!(find(&row.name.to_lowercase()).is_some());
        }
        assert!(find("nothing").is_none());
    }
}
