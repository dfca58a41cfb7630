//! JSON Schemas of whole documents, and what their errors mean to a person.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

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
    let all = ALL.get_or_init(|| {
        Kind::ALL.into_iter().map(|k| (k, Schema::new(kinds::schema::of_document(kinds::def(k))))).collect()
    });
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

/// The JSON Schema of the front matter of an agent's Markdown file: the spec, with labels and fields beside it.
fn front_matter() -> Value {
    let agent = kinds::def(Kind::Agent);
    let mut spec = (agent.schema)();
    let document = kinds::schema::of_document(agent);
    for name in ["labels", "fields"] {
        spec["properties"][name] = document["properties"]["metadata"]["properties"][name].clone();
    }
    spec
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
