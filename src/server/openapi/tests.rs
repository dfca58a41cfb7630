//! The document is whole: every reference has its target, every row its operation, every schema is one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document;
use crate::model::op::OPERATIONS;

fn references<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            out.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|v| references(v, out));
        }
        Value::Array(items) => items.iter().for_each(|v| references(v, out)),
        _ => {}
    }
}

#[test]
fn every_reference_has_its_target_and_every_component_is_used() {
    let document = document();
    let mut all = Vec::new();
    references(&document, &mut all);
    for at in &all {
        assert!(document.pointer(&at[1..]).is_some(), "{at}");
    }
    let used: BTreeSet<&str> = all.into_iter().collect();
    for part in ["schemas", "parameters", "responses", "headers"] {
        for name in document["components"][part].as_object().unwrap().keys() {
            let at = format!("#/components/{part}/{name}");
            assert!(used.contains(at.as_str()), "nothing uses {at}");
        }
    }
}

#[test]
fn every_row_is_described() {
    let document = document();
    let mut ids = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            assert!(ids.insert(operation["operationId"].as_str().unwrap()));
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{}", operation["operationId"]);
            assert!(operation["responses"]["200"].is_object() && operation["responses"]["500"].is_object());
            let tag = &operation["tags"][0];
            assert!(document["tags"].as_array().unwrap().iter().any(|t| t["name"] == *tag), "{tag}");
        }
    }
    assert!(OPERATIONS.iter().all(|o| ids.contains(o.name)));
    assert_eq!(ids.len(), OPERATIONS.len() + 4);
}

#[test]
fn every_schema_is_one() {
    let document = document();
    let mut schemas = vec![];
    fn walk<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
        match value {
            Value::Object(map) => {
                out.extend(map.get("schema"));
                map.values().for_each(|v| walk(v, out));
            }
            Value::Array(items) => items.iter().for_each(|v| walk(v, out)),
            _ => {}
        }
    }
    walk(&document, &mut schemas);
    schemas.extend(document["components"]["schemas"].as_object().unwrap().values());
    assert!(schemas.len() > 200);
    for schema in schemas {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{schema}");
    }
}
