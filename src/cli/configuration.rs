//! The keys of `checkfu.yaml`, read off the schema of its type: for `explain Config` and `docs/config.md`.

use std::fmt::Write;

use schemars::schema_for;
use serde_json::Value;

use crate::model::config::Config;

/// The topic under which `explain` knows it.
pub const NAME: &str = "Config";

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// As in `policy.max_retire`, `targets.NAME{kind: embedded}.path`, `moved[].from`.
    pub path: String,
    /// `text`, `number`, `list`, or the words that may stand there with what they mean.
    pub takes: String,
    /// `required`, or what holds when it is not written; empty where nothing does.
    pub default: String,
    /// What it is for.
    pub doc: String,
}

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: Config
authoring_owner: acme/support
targets:
  local: {kind: embedded, path: .checkfu/workspace.db}
policy:
  max_retire: 5
  protect: ['Agent/support', 'MemoryStore/*']
removed:
  - {address: Agent/old}
";

/// All keys, each below the one that holds it.
pub fn keys() -> Vec<Key> {
    let root = schema_for!(Config).to_value();
    let mut out = Vec::new();
    Walk { root: &root, out: &mut out }.below(&root, "");
    out
}

/// The keys at and below a path; a list or a map may be named without `[]` and `NAME`.
pub fn find(path: &str) -> Vec<Key> {
    let below =
        |key: &str| key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '{']));
    keys().into_iter().filter(|key| path.is_empty() || below(&key.path)).collect()
}

/// The page `docs/config.md`.
pub fn page() -> String {
    let mut out = format!(
        "# checkfu.yaml\n\nMakes a folder a project: who acts, where, under which policy. Only the first three keys are \
         needed.\nMade from the code; `checkfu explain {NAME}` says the same, `checkfu schema config` is the JSON \
         Schema.\n\n## Example\n\n```yaml\n{EXAMPLE}```\n\n## Keys\n\n| key | takes | default | |\n|---|---|---|---|\n"
    );
    for key in keys() {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let (takes, default) = (cell(&key.takes), cell(&key.default));
        let _ = writeln!(out, "| `{}` | {takes} | {default} | {} |", key.path, cell(&key.doc));
    }
    out
}

struct Walk<'a> {
    root: &'a Value,
    out: &'a mut Vec<Key>,
}

impl<'a> Walk<'a> {
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
        name.and_then(|n| self.root.get("$defs")?.get(n)).unwrap_or(schema)
    }

    fn below(&mut self, schema: &'a Value, at: &str) {
        let schema = self.resolve(schema);
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if property.get("const").is_some() {
                // The word that chooses the shape; it stands in the path of what is below.
                continue;
            }
            let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            self.key(&path, property, required.iter().any(|k| k == name));
            self.below(property, &path);
        }
        if let Some(items) = schema.get("items") {
            self.below(items, &format!("{at}[]"));
        }
        if let Some(entries) = schema.get("additionalProperties").filter(|e| e.is_object()) {
            self.below(entries, &format!("{at}.NAME"));
        }
        for shape in schema.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            let Some(word) = shape.pointer("/properties/kind/const").and_then(Value::as_str) else { continue };
            let path = format!("{at}{{kind: {word}}}");
            self.key(&path, shape, false);
            self.below(shape, &path);
        }
    }

    fn key(&mut self, path: &str, property: &'a Value, required: bool) {
        let full = self.resolve(property);
        let doc = property.get("description").or_else(|| full.get("description")).and_then(Value::as_str);
        let default = match property.get("default") {
            _ if required => "required".to_owned(),
            None | Some(Value::Null | Value::Object(_)) => String::new(),
            Some(Value::Array(items)) if items.is_empty() => String::new(),
            Some(value) => format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        };
        let doc = doc.unwrap_or_default().replace('\n', " ");
        self.out.push(Key { path: path.to_owned(), takes: self.takes(property), default, doc });
    }

    fn takes(&self, schema: &'a Value) -> String {
        let schema = self.resolve(schema);
        let shapes = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
        if let Some(shapes) = shapes {
            let word = |shape: &'a Value| {
                let text = |key: &str| shape.get(key).and_then(Value::as_str);
                match (text("const"), text("description")) {
                    (Some(word), Some(doc)) if doc.trim_matches('`') != word => {
                        Some(format!("`{word}` ({})", doc.trim_end_matches('.')))
                    }
                    (Some(word), _) => Some(format!("`{word}`")),
                    (None, _) if text("type") == Some("null") => None,
                    (None, _) => Some(self.takes(shape)),
                }
            };
            let mut words: Vec<String> = shapes.iter().filter_map(word).collect();
            words.dedup();
            return words.join(", ");
        }
        match schema.get("type") {
            Some(Value::String(one)) => name_of(one).to_owned(),
            Some(Value::Array(some)) => {
                let names = some.iter().filter_map(Value::as_str).filter(|t| *t != "null").map(name_of);
                names.collect::<Vec<_>>().join(" or ")
            }
            _ => "any".to_owned(),
        }
    }
}

/// The word of people for a JSON type.
fn name_of(json: &str) -> &str {
    match json {
        "string" => "text",
        "integer" => "number",
        "boolean" => "`true` or `false`",
        "array" => "list",
        "object" => "map",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_defaults_and_words() {
        let of = |path: &str| find(path).into_iter().next().unwrap();
        assert_eq!(of("policy.max_retire_percent").default, "`30`");
        assert_eq!(of("authoring_owner").default, "required");
        assert_eq!(of("root").default, "`.`");
        assert!(of("policy.on_drift").takes.starts_with("`hold` (Keep what moved live"), "{:?}", of("policy.on_drift"));
        assert_eq!(of("targets.NAME{kind: embedded}.path").default, "`.checkfu/workspace.db`");
        let paths: Vec<String> = find("removed").into_iter().map(|k| k.path).collect();
        assert_eq!(paths, ["removed", "removed[].address", "removed[].keep", "removed[].to"]);
        assert!(find("policy").len() > 4 && find("pol").is_empty());
        assert!(keys().iter().all(|k| !k.doc.is_empty() && !k.takes.is_empty()), "{:?}", keys());
    }

    #[test]
    fn the_example_is_a_configuration() {
        let index = crate::diag::LineIndex::new("checkfu.yaml", EXAMPLE);
        let found = crate::manifest::parse(crate::manifest::Form::Config, &index).found;
        assert!(!found.has_errors(), "{found:?}");
    }
}
