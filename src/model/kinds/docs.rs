//! The page of a kind in `docs/kinds/`, made from its row and its schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::model::kinds::{Change, Default_, Field, KindDef, List, Retire};

/// Markdown: what the kind is, its fields, every key that can be written, an example.
pub fn docs(kind: &KindDef) -> String {
    let name = kind.kind;
    let retire = match kind.retire {
        Retire::Archive => "archive: it stays readable and takes no change",
        Retire::Delete => "delete: it is gone",
    };
    let back = if kind.comes_back {
        "can be made again with nothing lost"
    } else {
        "cannot be brought back, so retiring it needs a line under `removed:` in `checkfu.yaml`"
    };
    let unique = if kind.unique_name { "unique in the workspace" } else { "need not be unique" };
    let mut out = format!(
        "# {name}\n\n{}\n\n- on the wire: `/v1/{}`, ids `{}…`\n- retired by: {retire}\n- once retired: {back}\n- shown names: {unique}\n\n",
        kind.doc, kind.plural, kind.id_prefix
    );
    out += "## Fields\n\nAs they are compared: one row is what an update sends as a whole.\n\n";
    out += "| field | type | default | limit | change | list | how to clear | |\n|---|---|---|---|---|---|---|---|\n";
    for field in kind.fields {
        row(&mut out, field);
    }
    out += "\n## Keys of `spec`\n\nAs they are written.\n\n| key | type | |\n|---|---|---|\n";
    let schema = (kind.full_schema)();
    Keys { out: &mut out, root: &schema, shown: BTreeMap::new() }.below(&schema, "");
    let _ = write!(out, "\n## Example\n\n```yaml\n{}```\n", kind.example);
    out
}

fn row(out: &mut String, field: &Field) {
    let default = match field.default {
        Default_::Required => "required".to_owned(),
        Default_::Json(text) => format!("`{text}`"),
        Default_::Absent => "none".to_owned(),
        Default_::Server => "`server`".to_owned(),
    };
    let change = match field.change {
        Change::Update => "update",
        Change::Replace => "replace",
        Change::Publish => "publish",
        Change::Record => "record only",
    };
    let list = match field.list {
        List::No => String::new(),
        List::Ordered => "ordered".to_owned(),
        List::SetBy("") => "set".to_owned(),
        List::SetBy(key) => format!("set by `{key}`"),
        List::PerKey => "key by key".to_owned(),
    };
    let clear = if field.clear.is_empty() { "cannot be cleared" } else { field.clear };
    let (name, ty, limit, doc) = (field.name, cell(field.ty), cell(field.limit), cell(field.doc));
    let _ = writeln!(out, "| `{name}` | {ty} | {default} | {limit} | {change} | {list} | {clear} | {doc} |");
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Writes one row a key, depth first. A shape that many keys have is shown where it comes first.
struct Keys<'a> {
    out: &'a mut String,
    root: &'a Value,
    shown: BTreeMap<&'a str, String>,
}

impl<'a> Keys<'a> {
    /// The name of a shared shape, and the schema itself.
    fn resolve(&self, schema: &'a Value) -> (Option<&'a str>, &'a Value) {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
        match name.and_then(|n| self.root.get("$defs")?.get(n)) {
            Some(found) => (name, found),
            None => (None, schema),
        }
    }

    /// Where the shape was shown before.
    fn before(&self, schema: &'a Value) -> Option<&str> {
        let items = self.resolve(schema).1.get("items");
        let name = self.resolve(items.unwrap_or(schema)).0?;
        self.shown.get(name).map(String::as_str)
    }

    fn below(&mut self, schema: &'a Value, at: &str) {
        let (name, schema) = self.resolve(schema);
        if let Some(name) = name {
            if self.shown.contains_key(name) {
                return;
            }
            let before = self.out.lines().count();
            self.shape(schema, at);
            // One row is sooner said again than looked up.
            if !at.is_empty() && self.out.lines().count() > before + 1 {
                self.shown.insert(name, at.to_owned());
            }
        } else {
            self.shape(schema, at);
        }
    }

    fn shape(&mut self, schema: &'a Value, at: &str) {
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // A tag has no description of its own: its words are rows below.
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (key, property) in properties.filter(|(_, p)| p.get("description").is_some() || p.get("$ref").is_some()) {
            let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            self.row(&path, property, required.iter().any(|k| k == key));
            self.below(property, &path);
        }
        if let Some(items) = schema.get("items") {
            self.below(items, &format!("{at}[]"));
        }
        for branch in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.branch(branch, at);
        }
    }

    fn row(&mut self, path: &str, property: &'a Value, required: bool) {
        let full = self.resolve(property).1;
        let doc = property.get("description").or_else(|| full.get("description")).and_then(Value::as_str);
        let needed = if required { " Required." } else { "" };
        let same = self.before(property).map(|first| format!(", as `{first}`")).unwrap_or_default();
        let doc = cell(doc.unwrap_or_default());
        let _ = writeln!(self.out, "| `{path}` | {}{same} | {doc}{needed} |", type_of(full));
    }

    fn branch(&mut self, branch: &'a Value, at: &str) {
        let Some(then) = branch.get("then") else { return };
        let tag = branch.get("if").and_then(|i| i.get("properties")).and_then(Value::as_object);
        let word = tag.and_then(|t| t.iter().next()).and_then(|(k, v)| Some((k, v.get("const")?.as_str()?)));
        let Some((tag, word)) = word else { return self.below(then, at) };
        let path = format!("{at}{{{tag}: {word}}}");
        let doc = then.get("description").and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(self.out, "| `{path}` | object | {} |", cell(doc));
        self.below(then, &path);
    }
}

fn type_of(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let about = schema.get("enumDescriptions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let word = |(i, word): (usize, &str)| match about.get(i).and_then(Value::as_str).filter(|t| !t.is_empty()) {
            Some(text) => format!("`{word}` ({})", cell(text.trim_end_matches('.'))),
            None => format!("`{word}`"),
        };
        let words: Vec<String> = words.iter().filter_map(Value::as_str).enumerate().map(word).collect();
        return words.join(", ");
    }
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        return format!("`{word}`");
    }
    match schema.get("type") {
        Some(Value::String(ty)) if ty == "array" => "list".to_owned(),
        Some(Value::String(ty)) => ty.clone(),
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}
