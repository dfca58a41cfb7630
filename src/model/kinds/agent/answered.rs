//! The stored wire body of an agent as it is answered: all that is absent said as what it means.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::kinds::agent::{multiagent, tools};
use crate::model::kinds::{Object, shape};

/// What a model does that nobody told how hard to think.
const EFFORT: &str = "high";

/// `newest` is the version that each agent has now, for rosters that name none.
pub(super) fn answered(body: &mut Object, newest: &BTreeMap<String, u64>) {
    for key in ["description", "system", "multiagent"] {
        shape::fill(body, key, Value::Null);
    }
    for key in ["tools", "mcp_servers", "skills"] {
        shape::fill(body, key, json!([]));
    }
    shape::fill(body, "metadata", json!({}));
    shape::fill(body, "execution_identity", json!({"type": "service_account"}));
    if let Some(value) = body.get_mut("model") {
        *value = model(value);
    }
    if let Some(list) = body.get_mut("tools") {
        *list = tools::answered(list);
    }
    if let Some(list) = body.get_mut("mcp_servers") {
        *list = tools::servers_to_wire(list);
    }
    for skill in body.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(skill) = skill {
            shape::fill(skill, "version", json!("latest"));
        }
    }
    if let Some(Value::Object(form)) = body.get_mut("multiagent") {
        multiagent::answered(form, newest);
    }
}

fn model(stored: &Value) -> Value {
    let mut out = match stored {
        Value::Object(map) => map.clone(),
        id => Object::from_iter([("id".to_owned(), id.clone())]),
    };
    shape::fill(&mut out, "effort", json!(EFFORT));
    if let Some(word @ Value::String(_)) = out.get("effort").cloned() {
        out.insert("effort".to_owned(), json!({"type": word}));
    }
    shape::fill(&mut out, "speed", json!("standard"));
    shape::fill(&mut out, "inference_geo", Value::Null);
    Value::Object(out)
}
