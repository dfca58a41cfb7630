//! What a new resource holds: short fields as they are, long ones by size.

use serde_json::Value;

use crate::cli::view::text::{count, line};
use crate::cli::view::values;

/// Longest text and longest small object that are shown as they are.
const SHORT: usize = 60;

/// All fields in one line; `None`: there are none.
pub fn summary(spec: &Value) -> Option<String> {
    let fields: Vec<String> =
        spec.as_object()?.iter().map(|(name, value)| format!("{}: {}", line(name), words(value))).collect();
    (!fields.is_empty()).then(|| fields.join(" · "))
}

/// The named fields that are set, each as `name: value`: what a reviewer looks for first.
pub fn fields(spec: &Value, names: &[&str]) -> Vec<String> {
    let set = |name: &&str| spec.get(*name).filter(|v| !v.is_null()).map(|value| format!("{name}: {}", words(value)));
    names.iter().filter_map(set).collect()
}

/// A value in words.
fn words(value: &Value) -> String {
    match value {
        Value::String(s) if s.starts_with("sha256:") => line(s.get(..19).unwrap_or(s)),
        Value::String(s) if s.contains('\n') || s.chars().count() > SHORT => count(s.lines().count(), "line"),
        Value::String(s) => line(s),
        Value::Array(items) if !items.iter().all(Value::is_string) || items.len() > 4 => items.len().to_string(),
        Value::Object(map) => small(map).unwrap_or_else(|| map.len().to_string()),
        other => values::one_line(other),
    }
}

/// A small flat object: `claude-sonnet-5 (effort medium)` where it has an id, else `kind git, ref main`.
fn small(map: &serde_json::Map<String, Value>) -> Option<String> {
    let word = |value: &Value| match value {
        Value::String(s) => Some(line(s)),
        Value::Array(_) | Value::Object(_) => None,
        other => Some(values::one_line(other)),
    };
    let id = map.get("id").and_then(Value::as_str).map(line);
    let rest: Vec<String> = map
        .iter()
        .filter(|(key, _)| id.is_none() || *key != "id")
        .map(|(key, value)| Some(format!("{} {}", line(key), word(value)?)))
        .collect::<Option<_>>()?;
    let rest = rest.join(", ");
    let text = match id {
        Some(id) if rest.is_empty() => id,
        Some(id) => format!("{id} ({rest})"),
        None => rest,
    };
    (!text.is_empty() && text.chars().count() <= SHORT).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn small_objects_are_shown_and_large_ones_counted() {
        let spec = json!({
            "model": {"id": "claude-sonnet-5", "effort": "medium"}, "name": "A\u{202e}",
            "labels": {}, "owner": {"kind": "workspace"}, "deep": {"a": {"b": 1}}, "instructions": "a\nb",
        });
        let text = summary(&spec).unwrap();
        assert!(text.contains("model: claude-sonnet-5 (effort medium)"), "{text}");
        assert!(text.contains("owner: kind workspace") && text.contains("labels: 0") && text.contains("deep: 1"));
        assert!(text.contains("instructions: 2 lines") && text.contains(r"name: A\u{202e}"), "{text}");
        assert_eq!(fields(&spec, &["model", "description"]), ["model: claude-sonnet-5 (effort medium)"]);
    }
}
