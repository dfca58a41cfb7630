//! Where two values differ, as deep as a person reads: `tools[bash].enabled`, `config.networking.type`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Path, before and after.
pub(super) type Difference<'v> = (String, Option<&'v Value>, Option<&'v Value>);

/// Adds each difference.
pub(super) fn differences<'v>(
    path: &str,
    before: Option<&'v Value>,
    after: Option<&'v Value>,
    found: &mut Vec<Difference<'v>>,
) {
    if before == after {
        return;
    }
    match (before, after) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                match (a.get(key), b.get(key)) {
                    (Some(Value::Array(list)), None) if in_set(path, key) => tools(path, list, true, found),
                    (None, Some(Value::Array(list))) if in_set(path, key) => tools(path, list, false, found),
                    (before, after) => differences(&below(path, key), before, after, found),
                }
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => match (keyed(a), keyed(b)) {
            (Some(x), Some(y)) => items(path, (a, x), (b, y), found),
            _ => found.push((path.to_owned(), before, after)),
        },
        _ => found.push((path.to_owned(), before, after)),
    }
}

/// Is it the list of a toolset's tools?
fn in_set(path: &str, key: &str) -> bool {
    key == "configs" && path.ends_with(']')
}

/// The tools of a toolset that names none on the other side: a tool that is not named has the defaults.
fn tools<'v>(path: &str, list: &'v [Value], gone: bool, found: &mut Vec<Difference<'v>>) {
    for tool in list {
        let Some(name) = key(tool) else { continue };
        for (field, value) in tool.as_object().into_iter().flatten().filter(|(field, _)| *field != "name") {
            let (before, after) = if gone { (Some(value), None) } else { (None, Some(value)) };
            found.push((format!("{}.{field}", entry(path, &name)), before, after));
        }
    }
}

/// `a.b`; the list of a toolset's tools adds nothing to read: `tools[bash]`, `tools[mcp-server/search]`.
fn below(path: &str, key: &str) -> String {
    if in_set(path, key) { path.to_owned() } else { format!("{path}.{key}") }
}

fn items<'v>(
    path: &str,
    (a, x): (&'v [Value], Vec<String>),
    (b, y): (&'v [Value], Vec<String>),
    found: &mut Vec<Difference<'v>>,
) {
    let before: BTreeMap<&String, &Value> = x.iter().zip(a).collect();
    let after: BTreeMap<&String, &Value> = y.iter().zip(b).collect();
    let known = found.len();
    let keys: BTreeSet<&String> = x.iter().chain(&y).collect();
    for key in keys {
        match (before.get(key), after.get(key)) {
            (Some(tool), None) if path.ends_with(']') => {
                tools(path, std::slice::from_ref(*tool), true, found);
                continue;
            }
            (None, Some(tool)) if path.ends_with(']') => {
                tools(path, std::slice::from_ref(*tool), false, found);
                continue;
            }
            _ => {}
        }
        differences(&entry(path, key), before.get(key).copied(), after.get(key).copied(), found);
    }
    if found.len() == known {
        // The same items in another order.
        found.push((path.to_owned(), None, None));
    }
}

fn entry(path: &str, key: &str) -> String {
    // Inside the list of a toolset: `tools[agent_toolset_…]` + `bash` is `tools[bash]`, an MCP server keeps its name.
    if let Some((list, set)) = path.strip_suffix(']').and_then(|p| p.rsplit_once('[')) {
        if set.starts_with("agent_toolset") {
            return format!("{list}[{key}]");
        }
        return format!("{list}[{set}/{key}]");
    }
    format!("{path}[{key}]")
}

/// The key of each item, if each has one and no two are equal.
fn keyed(list: &[Value]) -> Option<Vec<String>> {
    let keys: Vec<String> = list.iter().map(key).collect::<Option<_>>()?;
    let distinct: BTreeSet<&String> = keys.iter().collect();
    (distinct.len() == keys.len()).then_some(keys)
}

fn key(item: &Value) -> Option<String> {
    match item {
        Value::String(s) => Some(s.clone()),
        Value::Object(o) => ["name", "mcp_server_name", "skill", "anthropic", "agent", "at", "id", "type"]
            .iter()
            .find_map(|k| match o.get(*k)? {
                Value::String(s) => Some(s.clone()),
                Value::Object(inner) => inner.get("id")?.as_str().map(str::to_owned),
                _ => None,
            }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(a: &Value, b: &Value) -> Vec<String> {
        let mut out = Vec::new();
        differences("tools", Some(a), Some(b), &mut out);
        out.into_iter().map(|(path, _, _)| path).collect()
    }

    #[test]
    fn items_are_told_apart_by_their_key() {
        let set = |bash: bool| {
            json!([{"type": "agent_toolset_20260401", "configs": [{"name": "bash", "enabled": bash}]},
                   {"type": "mcp_toolset", "mcp_server_name": "crm", "configs": [{"name": "find", "enabled": bash}]}])
        };
        assert_eq!(paths(&set(true), &set(false)), ["tools[bash].enabled", "tools[crm/find].enabled"]);
    }

    #[test]
    fn a_tool_that_is_not_named_has_the_defaults() {
        let set = |tools: Value| json!([{"type": "agent_toolset_20260401", "configs": tools}]);
        let none = json!([{"type": "agent_toolset_20260401"}]);
        let bash = json!([{"name": "bash", "enabled": false}]);
        let two = json!([{"name": "bash", "enabled": false}, {"name": "edit", "enabled": false}]);
        assert_eq!(paths(&none, &set(bash.clone())), ["tools[bash].enabled"]);
        assert_eq!(paths(&set(bash.clone()), &none), ["tools[bash].enabled"]);
        assert_eq!(paths(&set(bash), &set(two)), ["tools[edit].enabled"]);
    }

    #[test]
    fn added_removed_reordered_and_unkeyed() {
        assert_eq!(paths(&json!(["a", "b"]), &json!(["b", "c"])), ["tools[a]", "tools[c]"]);
        assert_eq!(paths(&json!(["a", "b"]), &json!(["b", "a"])), ["tools"]);
        assert_eq!(paths(&json!([1, 2]), &json!([1, 3])), ["tools"]);
        assert_eq!(paths(&json!(["a", "a"]), &json!(["a"])), ["tools"]);
        assert_eq!(paths(&json!({"x": {"y": 1}}), &json!({"x": {"y": 2}})), ["tools.x.y"]);
    }
}
