//! Canonical form of an Agent, and its way back from the wire.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::kinds::agent::{multiagent, skills, tools};
use crate::model::kinds::{Object, Refs, shape};

pub(super) fn canonical(name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = Object::new();
    shape::put_name(&mut out, &mut from, name);
    if let Some(model) = from.get("model") {
        out.insert("model".to_owned(), canonical_model(model));
    }
    shape::take_text(&mut out, &mut from, "description");
    shape::take_text(&mut out, &mut from, "instructions");
    shape::put_list(&mut out, "tools", tools::canonical(from.get("tools")));
    shape::put_list(&mut out, "mcp_servers", tools::canonical_servers(from.get("mcp_servers")));
    shape::put_list(&mut out, "skills", skills::canonical(from.get("skills")));
    if let Some(form) = from.get("multiagent").filter(|m| m.is_object()) {
        out.insert("multiagent".to_owned(), multiagent::canonical(form));
    }
    for key in ["execution_identity", "compaction_policy"] {
        shape::put_whole(&mut out, &from, key);
    }
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

/// The id alone where nothing else is said.
pub(super) fn canonical_model(model: &Value) -> Value {
    let Some(id) = model.get("id") else { return model.clone() };
    let mut out = Object::new();
    out.insert("id".to_owned(), id.clone());
    if let Some(effort) = model.get("effort").filter(|e| !e.is_null()) {
        out.insert("effort".to_owned(), effort.get("type").unwrap_or(effort).clone());
    }
    shape::put_scalar(&mut out, model, "speed", "standard");
    shape::put_whole(&mut out, model, "inference_geo");
    if out.len() == 1 { id.clone() } else { Value::Object(out) }
}

/// Always the object: the wire replaces it as a whole.
pub(super) fn model_to_wire(model: &Value) -> Value {
    if model.is_object() { model.clone() } else { json!({ "id": model }) }
}

/// Less what the server chose: keys that were not applied.
pub(super) fn model_from_wire(model: &Value, applied: Option<&Value>) -> Value {
    let mut model = model.clone();
    if let (Some(map), Some(applied)) = (model.as_object_mut(), applied) {
        for key in ["effort", "inference_geo"] {
            if applied.get(key).is_none() {
                map.remove(key);
            }
        }
    }
    model
}

pub(super) fn from_wire(body: &Value, refs: &Refs, applied: Option<&Value>) -> Value {
    let before = |key: &str| applied.and_then(|a| a.get(key));
    let mut spec = Object::new();
    for key in ["name", "description", "tools", "mcp_servers", "execution_identity", "compaction_policy"] {
        shape::put_whole(&mut spec, body, key);
    }
    if let Some(system) = body.get("system") {
        spec.insert("instructions".to_owned(), system.clone());
    }
    if let Some(model) = body.get("model") {
        spec.insert("model".to_owned(), model_from_wire(model, before("model")));
    }
    if let Some(list) = body.get("skills").and_then(Value::as_array) {
        spec.insert("skills".to_owned(), skills::from_wire(list, refs, before("skills")));
    }
    if let Some(form) = body.get("multiagent").filter(|m| m.is_object()) {
        spec.insert("multiagent".to_owned(), multiagent::from_wire(form, refs, before("multiagent")));
    }
    canonical("", Value::Object(spec), &shape::wire_labels(body))
}
