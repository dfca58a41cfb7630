//! JSON Schemas of whole documents, and what their errors mean to a person.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::manifest::explain::{self, Finding};
use crate::manifest::yaml::MAX_FINDINGS;
use crate::model::Kind;
use crate::model::config::Config;
use crate::model::kinds;

/// A schema with its compiled form.
pub(super) struct Schema {
    value: Value,
    /// `None` only if a schema of ours were no schema, which a test rules out.
    validator: Option<Validator>,
}

impl Schema {
    fn new(value: Value) -> Self {
        let validator = jsonschema::draft202012::new(&value).ok();
        Self { value, validator }
    }

    /// Everything that is wrong with a value.
    pub(super) fn check(&self, value: &Value) -> Vec<Finding> {
        let Some(validator) = &self.validator else { return Vec::new() };
        if validator.is_valid(value) {
            return Vec::new();
        }
        let findings = validator.iter_errors(value).flat_map(|e| explain::findings(&self.value, &e));
        findings.take(MAX_FINDINGS + 1).collect()
    }
}

/// The schema of a YAML document of a kind.
pub(super) fn of_document(kind: Kind) -> &'static Schema {
    static ALL: OnceLock<BTreeMap<Kind, Schema>> = OnceLock::new();
    let all = ALL.get_or_init(|| Kind::ALL.into_iter().map(|k| (k, Schema::new(document(k)))).collect());
    &all[&kind]
}

/// The schema of the front matter of an agent.
pub(super) fn of_front_matter() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| Schema::new(front_matter()))
}

/// The schema of `checkfu.yaml`.
pub(super) fn of_config() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| Schema::new(schemars::schema_for!(Config).to_value()))
}

/// The JSON Schema of a YAML document of a kind, with its metadata.
pub fn document(kind: Kind) -> Value {
    let mut spec = (kinds::def(kind).schema)();
    let defs = take_defs(&mut spec);
    let spec_required = spec.get("required").and_then(Value::as_array).is_some_and(|r| !r.is_empty());
    let mut required = vec!["apiVersion", "kind", "metadata"];
    if spec_required {
        required.push("spec");
    }
    let name = json!({
        "description": "Unique per kind.",
        "type": "string",
        "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
        "maxLength": 64,
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.as_str(),
        "description": kinds::def(kind).doc,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": {
            "apiVersion": {"const": "checkfu.com/v1"},
            "kind": {"const": kind.as_str()},
            "metadata": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": false,
                "properties": {"name": name, "labels": labels(), "fields": fields()},
            },
            "spec": spec,
        },
        "$defs": defs,
    })
}

/// The JSON Schema of the front matter of an agent's Markdown file.
pub fn front_matter() -> Value {
    let mut spec = (kinds::def(Kind::Agent).schema)();
    if let Some(map) = spec.as_object_mut() {
        let properties = map.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("labels".to_owned(), labels());
            properties.insert("fields".to_owned(), fields());
        }
    }
    spec
}

fn labels() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

fn fields() -> Value {
    json!({
        "description": "Who decides about a field: `own` (the file), `seed` (the file at create), `ignore` (nobody here).",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["mode"],
            "additionalProperties": false,
            "properties": {
                "mode": {"type": "string", "enum": ["own", "seed", "ignore"]},
                "reason": {"type": "string", "minLength": 1},
                "until": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            },
        },
    })
}

/// References of a schema lead from its root, so its definitions move there with it.
fn take_defs(schema: &mut Value) -> Value {
    let Some(map) = schema.as_object_mut() else { return Value::Object(Map::new()) };
    map.remove("$schema");
    map.remove("$defs").unwrap_or_else(|| Value::Object(Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_compiles() {
        for kind in Kind::ALL {
            assert!(of_document(kind).validator.is_some(), "{kind}");
        }
        assert!(of_front_matter().validator.is_some() && of_config().validator.is_some());
    }
}
