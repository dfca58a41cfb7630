//! The page of a kind in `docs/kinds/`, made from its row and its schema.

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
    let mut stack = Vec::new();
    keys(&mut out, &schema, &schema, "", &mut stack);
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

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> (&'a Value, Option<&'a str>) {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
    match name.and_then(|n| root.get("$defs")?.get(n)) {
        Some(found) => (found, name),
        None => (schema, None),
    }
}

/// One row a key, depth first; a shape within itself is shown once.
fn keys<'a>(out: &mut String, schema: &'a Value, root: &'a Value, at: &str, stack: &mut Vec<&'a str>) {
    let (schema, name) = resolve(schema, root);
    if let Some(name) = name {
        if stack.contains(&name) {
            return;
        }
        stack.push(name);
    }
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (key, property) in properties.filter(|(_, p)| p.get("description").is_some() || p.get("const").is_none()) {
        if property.get("enum").is_some() && property.get("description").is_none() && schema.get("allOf").is_some() {
            continue;
        }
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        let (full, _) = resolve(property, root);
        let doc = property.get("description").or_else(|| full.get("description")).and_then(Value::as_str);
        let required = schema.get("required").and_then(Value::as_array).is_some_and(|r| r.iter().any(|k| k == key));
        let needed = if required { " Required." } else { "" };
        let _ = writeln!(out, "| `{path}` | {} | {}{needed} |", type_of(full), cell(doc.unwrap_or_default()));
        keys(out, property, root, &path, stack);
    }
    if let Some(items) = schema.get("items") {
        keys(out, items, root, &format!("{at}[]"), stack);
    }
    for branch in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        let Some(then) = branch.get("then") else { continue };
        let tag = branch.get("if").and_then(|i| i.get("properties")).and_then(Value::as_object);
        let word = tag.and_then(|t| t.iter().next()).and_then(|(k, v)| Some((k, v.get("const")?.as_str()?)));
        match word {
            Some((tag, word)) => {
                let path = format!("{at}{{{tag}: {word}}}");
                let doc = then.get("description").and_then(Value::as_str).unwrap_or_default();
                let _ = writeln!(out, "| `{path}` | object | {} |", cell(doc));
                keys(out, then, root, &path, stack);
            }
            None => keys(out, then, root, at, stack),
        }
    }
    if name.is_some() {
        stack.pop();
    }
}

fn type_of(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(|w| format!("`{w}`")).collect();
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
