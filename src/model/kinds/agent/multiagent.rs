//! `multiagent` of an agent in its three shapes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::Kind;
use crate::model::kinds::agent::forms;
use crate::model::kinds::rules::child;
use crate::model::kinds::{Ids, MissingId, Object, Ref, Refs, Selector, Target, WireRef, shape};

/// The form that the wire merges level by level, so that it is sent in full.
pub(super) const MERGED: &str = "multiagent_20261001";
/// Parts of that form that are enabled by default and hold agents.
pub(super) const PARTS: [&str; 2] = ["subagents", "workflows"];

fn is(value: &Value, key: &str, text: &str) -> bool {
    value.get(key).and_then(Value::as_str) == Some(text)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Less what equals a default.
pub(super) fn canonical(form: &Value) -> Value {
    let mut out = Object::new();
    shape::put_whole(&mut out, form, "type");
    if !is(form, "type", MERGED) {
        shape::put_list(&mut out, "agents", list(form, "agents").iter().map(entry).collect());
        return Value::Object(out);
    }
    if let Some(advisor) = form.get("advisor").filter(|a| is(a, "type", "enabled")) {
        let model = advisor.get("model").map(forms::canonical_model);
        out.insert("advisor".to_owned(), json!({ "type": "enabled", "model": model }));
    }
    for key in PARTS {
        let Some(part) = form.get(key) else { continue };
        let mut kept = Object::new();
        if is(part, "type", "disabled") {
            kept.insert("type".to_owned(), json!("disabled"));
        } else {
            shape::put_list(
                &mut kept,
                "predefined_agents",
                list(part, "predefined_agents").iter().map(entry).collect(),
            );
            let inline = part.get("inline_agents").cloned().unwrap_or(Value::Null);
            shape::put_unless(&mut kept, "inline_agents", inline, &json!({ "type": "enabled" }));
            if !kept.is_empty() {
                kept.insert("type".to_owned(), json!("enabled"));
            }
        }
        if !kept.is_empty() {
            out.insert(key.to_owned(), Value::Object(kept));
        }
    }
    Value::Object(out)
}

/// A roster entry: a reference, `{agent, version}`, or what is no agent of its own.
fn entry(entry: &Value) -> Value {
    if entry.get("type").is_some() {
        let mut out = Object::new();
        shape::put_whole(&mut out, entry, "type");
        if let Some(model) = entry.get("model") {
            out.insert("model".to_owned(), forms::canonical_model(model));
        }
        return Value::Object(out);
    }
    let reference = shape::reference(Kind::Agent, entry.get("agent").unwrap_or(entry));
    match entry.get("version").filter(|v| !v.is_null()) {
        Some(version) => json!({ "agent": reference, "version": version }),
        None => reference,
    }
}

/// The reference in a canonical entry, and where in the entry it is.
fn agent_of(entry: &Value) -> Option<(&Value, &'static str)> {
    if entry.get("type").is_some() {
        return None;
    }
    Some(entry.get("agent").map_or((entry, ""), |agent| (agent, "/agent")))
}

pub(super) fn to_wire(form: &Value, ids: &Ids) -> Result<Value, MissingId> {
    let entries = |value: &Value, key: &str| -> Result<Value, MissingId> {
        list(value, key).iter().map(|e| entry_to_wire(e, ids)).collect()
    };
    if !is(form, "type", MERGED) {
        return Ok(json!({ "type": form.get("type"), "agents": entries(form, "agents")? }));
    }
    let advisor = match form.get("advisor").and_then(|a| a.get("model")) {
        Some(model) => {
            let mut model = forms::model_to_wire(model);
            if let Some(map) = model.as_object_mut() {
                map.entry("speed").or_insert_with(|| json!("standard"));
            }
            json!({ "type": "enabled", "model": model })
        }
        None => json!({ "type": "disabled" }),
    };
    let mut out = json!({ "type": MERGED, "advisor": advisor });
    for key in PARTS {
        let part = form.get(key).unwrap_or(&Value::Null);
        out[key] = if is(part, "type", "disabled") {
            json!({ "type": "disabled" })
        } else {
            let inline = part.get("inline_agents").cloned().unwrap_or_else(|| json!({ "type": "enabled" }));
            json!({ "type": "enabled", "predefined_agents": entries(part, "predefined_agents")?, "inline_agents": inline })
        };
    }
    Ok(out)
}

fn entry_to_wire(entry: &Value, ids: &Ids) -> Result<Value, MissingId> {
    let Some((reference, _)) = agent_of(entry) else {
        let mut out = entry.clone();
        if let Some(model) = entry.get("model") {
            out["model"] = forms::model_to_wire(model);
        }
        return Ok(out);
    };
    let mut out = json!({ "type": "agent", "id": shape::id_of(Kind::Agent, reference, ids)? });
    if let Some(version) = entry.get("version") {
        out["version"] = version.clone();
    }
    Ok(out)
}

/// The server fills in versions; `applied` tells those that a person chose.
pub(super) fn from_wire(form: &Value, refs: &Refs, applied: Option<&Value>) -> Value {
    let map = |wire: &Value, before: Option<&Value>| -> Value {
        let id = match wire {
            Value::String(id) => id.as_str(),
            _ if is(wire, "type", "agent") => wire.get("id").and_then(Value::as_str).unwrap_or_default(),
            _ => return model_entry(wire, before),
        };
        let agent = refs.target(Kind::Agent, id).to_value();
        let chosen = |list: &Value| {
            let entries = list.as_array().into_iter().flatten();
            entries.filter(|e| e.get("version").is_some()).any(|e| e.get("agent") == Some(&agent))
        };
        match wire.get("version").filter(|_| before.is_none_or(chosen)) {
            Some(version) => json!({ "agent": agent, "version": version }),
            None => agent,
        }
    };
    let mut out = form.clone();
    if let Some(roster) = form.get("agents").and_then(Value::as_array) {
        let before = applied.map(|a| a.get("agents").unwrap_or(&Value::Null));
        out["agents"] = roster.iter().map(|e| map(e, before)).collect();
    }
    if let Some(model) = form.get("advisor").and_then(|a| a.get("model")) {
        let before = applied.map(|a| a.get("advisor").and_then(|a| a.get("model")).unwrap_or(&Value::Null));
        out["advisor"]["model"] = forms::model_from_wire(model, before);
    }
    for key in PARTS {
        let Some(roster) = form.get(key).and_then(|p| p.get("predefined_agents")).and_then(Value::as_array) else {
            continue;
        };
        let before = applied.map(|a| a.get(key).and_then(|p| p.get("predefined_agents")).unwrap_or(&Value::Null));
        out[key]["predefined_agents"] = roster.iter().map(|e| map(e, before)).collect();
    }
    out
}

/// A stored wire form with what is absent said as what it means, and with the versions that agents have now where
/// none is named.
pub(super) fn answered(form: &mut Object, newest: &BTreeMap<String, u64>) {
    if form.get("type").and_then(Value::as_str) != Some(MERGED) {
        answered_roster(form.get_mut("agents"), newest);
        return;
    }
    shape::fill(form, "advisor", json!({ "type": "disabled" }));
    if let Some(Value::Object(advisor)) = form.get_mut("advisor") {
        shape::fill(advisor, "type", json!("disabled"));
        answered_advisor(advisor);
    }
    for key in PARTS {
        shape::fill(form, key, json!({}));
        let Some(Value::Object(part)) = form.get_mut(key) else { continue };
        shape::fill(part, "type", json!("enabled"));
        if part["type"] == "enabled" {
            shape::fill(part, "predefined_agents", json!([]));
            shape::fill(part, "inline_agents", json!({ "type": "enabled" }));
            answered_roster(part.get_mut("predefined_agents"), newest);
        }
    }
}

fn answered_roster(roster: Option<&mut Value>, newest: &BTreeMap<String, u64>) {
    for entry in roster.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::String(id) = entry {
            *entry = json!({ "type": "agent", "id": id });
        }
        let Value::Object(entry) = entry else { continue };
        let version = entry.get("id").and_then(Value::as_str).and_then(|id| newest.get(id));
        match version {
            Some(version) => shape::fill(entry, "version", json!(version)),
            None => answered_advisor(entry),
        }
    }
}

/// The wire names the model of an advisor by its id alone; one that says more is shown as it is.
fn answered_advisor(advisor: &mut Object) {
    if let Some(model) = advisor.get_mut("model") {
        let short = forms::canonical_model(model);
        if short.is_string() {
            *model = short;
        }
    }
}

/// `self` and advisors: the same on both sides, less what the server chose for the model.
fn model_entry(wire: &Value, before: Option<&Value>) -> Value {
    let mut out = wire.clone();
    if let Some(model) = wire.get("model") {
        let mut entries = before.and_then(Value::as_array).into_iter().flatten();
        let chosen = entries.find(|e| e.get("type") == wire.get("type")).and_then(|e| e.get("model"));
        out["model"] = forms::model_from_wire(model, before.map(|_| chosen.unwrap_or(&Value::Null)));
    }
    out
}

pub(super) fn refs(spec: &Value) -> Vec<Ref> {
    let Some(form) = spec.get("multiagent") else { return Vec::new() };
    let mut out = Vec::new();
    let mut walk = |roster: &[Value], at: &str| {
        for (i, entry) in roster.iter().enumerate() {
            let Some((reference, rest)) = agent_of(entry) else { continue };
            let Some(target) = Target::of(Kind::Agent, reference) else { continue };
            let pointer = format!("{}{rest}", child(at, i));
            out.push(Ref { field: "multiagent", pointer, target, selector: Selector::None });
        }
    };
    walk(list(form, "agents"), "/multiagent/agents");
    for key in PARTS {
        if let Some(part) = form.get(key) {
            walk(list(part, "predefined_agents"), &format!("/multiagent/{key}/predefined_agents"));
        }
    }
    out
}

pub(super) fn wire_refs(body: &Object) -> Vec<WireRef> {
    let Some(form) = body.get("multiagent") else { return Vec::new() };
    let parts = PARTS.iter().filter_map(|key| form.get(*key)).flat_map(|p| list(p, "predefined_agents"));
    let all = list(form, "agents").iter().chain(parts);
    let id = |entry: &Value| match entry {
        Value::String(id) => Some(id.clone()),
        _ if is(entry, "type", "agent") => Some(entry.get("id")?.as_str()?.to_owned()),
        _ => None,
    };
    all.filter_map(id).map(|id| WireRef { kind: Kind::Agent, id, version: None, follows: false }).collect()
}
