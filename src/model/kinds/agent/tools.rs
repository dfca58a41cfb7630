//! Tools and MCP servers of an agent in their three shapes.

use serde_json::{Value, json};

use crate::model::kinds::{Object, shape};

/// The toolset of built-in tools.
pub(super) const AGENT_TOOLSET: &str = "agent_toolset_20260401";
/// The toolset of an MCP server.
pub(super) const MCP_TOOLSET: &str = "mcp_toolset";
/// Keys of a built-in tool's config beside `enabled` and `permission_policy`.
const WEB_KEYS: [&str; 3] = ["max_content_tokens", "url_sources", "user_location"];
const DOMAIN_KEYS: [&str; 2] = ["allowed_domains", "blocked_domains"];

/// What a toolset says where it says nothing: enabled, and the permission of its type.
fn base(tool: &Value) -> (Value, Value) {
    let policy =
        if tool.get("type").and_then(Value::as_str) == Some(MCP_TOOLSET) { "always_ask" } else { "always_allow" };
    (Value::Bool(true), json!({ "type": policy }))
}

/// What holds for tools without a config of their own.
fn effective(tool: &Value) -> (Value, Value) {
    let base = base(tool);
    let get = |key: &str| tool.get("default_config").and_then(|d| d.get(key)).filter(|v| !v.is_null()).cloned();
    (get("enabled").unwrap_or(base.0), get("permission_policy").unwrap_or(base.1))
}

/// Tools in their order, less all that equals a default; configs sorted by name, empty ones left out.
pub(super) fn canonical(list: Option<&Value>) -> Vec<Value> {
    list.and_then(Value::as_array).into_iter().flatten().map(one).collect()
}

fn one(tool: &Value) -> Value {
    let mut out = Object::new();
    shape::put_whole(&mut out, tool, "type");
    if tool.get("type").and_then(Value::as_str) == Some("custom") {
        shape::put_whole(&mut out, tool, "name");
        shape::put_text(&mut out, tool, "description");
        shape::put_whole(&mut out, tool, "input_schema");
        return Value::Object(out);
    }
    shape::put_whole(&mut out, tool, "mcp_server_name");
    let (base, now) = (base(tool), effective(tool));
    let mut defaults = Object::new();
    shape::put_unless(&mut defaults, "enabled", now.0.clone(), &base.0);
    shape::put_unless(&mut defaults, "permission_policy", now.1.clone(), &base.1);
    if !defaults.is_empty() {
        out.insert("default_config".to_owned(), Value::Object(defaults));
    }
    let configs = tool.get("configs").and_then(Value::as_array).into_iter().flatten();
    let mut configs: Vec<Value> = configs.filter_map(|c| config(c, &now)).collect();
    configs.sort_by_cached_key(|c| c["name"].as_str().unwrap_or_default().to_owned());
    shape::put_list(&mut out, "configs", configs);
    Value::Object(out)
}

fn config(config: &Value, now: &(Value, Value)) -> Option<Value> {
    let mut out = Object::new();
    shape::put_whole(&mut out, config, "name");
    for (key, default) in [("enabled", &now.0), ("permission_policy", &now.1)] {
        if let Some(value) = config.get(key) {
            shape::put_unless(&mut out, key, value.clone(), default);
        }
    }
    for key in DOMAIN_KEYS {
        shape::put_set(&mut out, config, key);
    }
    for key in WEB_KEYS {
        shape::put_whole(&mut out, config, key);
    }
    (out.len() > 1).then_some(Value::Object(out))
}

/// In full: what is absent is sent as the default that it means.
pub(super) fn to_wire(list: &Value) -> Value {
    list.as_array().into_iter().flatten().map(one_to_wire).collect()
}

fn one_to_wire(tool: &Value) -> Value {
    if tool.get("type").and_then(Value::as_str) == Some("custom") {
        return tool.clone();
    }
    let (enabled, policy) = effective(tool);
    let mut out = tool.as_object().cloned().unwrap_or_default();
    let configs = tool.get("configs").and_then(Value::as_array).into_iter().flatten();
    let configs = configs.map(|config| {
        let mut full = config.as_object().cloned().unwrap_or_default();
        full.entry("enabled").or_insert_with(|| enabled.clone());
        full.entry("permission_policy").or_insert_with(|| policy.clone());
        Value::Object(full)
    });
    out.insert("configs".to_owned(), configs.collect());
    out.insert("default_config".to_owned(), json!({ "enabled": enabled, "permission_policy": policy }));
    Value::Object(out)
}

/// As [`to_wire`], of a list as it was sent: configs keep their order, and those of built-in tools have their type.
pub(super) fn answered(list: &Value) -> Value {
    let mut tools = list.clone();
    for tool in tools.as_array_mut().into_iter().flatten() {
        let typed = tool.get("type").and_then(Value::as_str) == Some(AGENT_TOOLSET);
        let configs = tool.get_mut("configs").and_then(Value::as_array_mut);
        for config in configs.into_iter().flatten().filter_map(Value::as_object_mut) {
            config.retain(|_, value| !value.is_null());
            if let Some(name) = config.get("name").filter(|_| typed).cloned() {
                config.insert("type".to_owned(), name);
            }
        }
    }
    to_wire(&tools)
}

/// Sorted by name, less `type: url`.
pub(super) fn canonical_servers(list: Option<&Value>) -> Vec<Value> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let mut out: Vec<Value> = list
        .map(|server| {
            let mut kept = Object::new();
            shape::put_scalar(&mut kept, server, "type", "url");
            for key in ["name", "url"] {
                shape::put_whole(&mut kept, server, key);
            }
            Value::Object(kept)
        })
        .collect();
    out.sort_by_cached_key(|s| s.get("name").and_then(Value::as_str).unwrap_or_default().to_owned());
    out
}

pub(super) fn servers_to_wire(list: &Value) -> Value {
    let one = |server: &Value| {
        let mut full = server.as_object().cloned().unwrap_or_default();
        full.entry("type").or_insert_with(|| json!("url"));
        Value::Object(full)
    };
    list.as_array().into_iter().flatten().map(one).collect()
}
