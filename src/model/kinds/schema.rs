//! JSON Schemas of manifests. [`of_spec`] is what a spec is validated against: structure alone, shaped so that an
//! error is about one place and says what is wrong there. [`schema`] is the published one, for editors, with
//! limits in it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::model::kinds::rules::{MAX_LABEL_KEY, MAX_LABEL_VALUE, MAX_LABELS};
use crate::model::kinds::{KINDS, KindDef};

/// Keywords that say limits. [`KindDef::check`] says them with a better message, so validation leaves them out.
const LIMITS: [&str; 9] =
    ["minLength", "maxLength", "pattern", "minItems", "maxItems", "minimum", "maximum", "maxProperties", "uniqueItems"];

/// The schema of a spec, with limits.
pub fn full<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    let defs = schema.get("$defs").cloned().unwrap_or(Value::Null);
    reshape(&mut schema, &defs);
    schema
}

/// The schema that a spec is validated against: structure, no limits.
pub fn of_spec<T: JsonSchema>() -> Value {
    let mut schema = full::<T>();
    strip(&mut schema);
    schema
}

fn strip(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    for key in LIMITS {
        map.remove(key);
    }
    each_schema(map, &mut strip);
}

/// Visits the schemas directly below one. Keys of `properties` and `$defs` are names, not keywords.
fn each_schema(map: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (key, value) in map {
        match key.as_str() {
            "properties" | "$defs" => value.as_object_mut().into_iter().flatten().for_each(|(_, v)| visit(v)),
            "oneOf" | "anyOf" | "allOf" => value.as_array_mut().into_iter().flatten().for_each(&mut *visit),
            "items" | "additionalProperties" | "if" | "then" | "else" | "not" => visit(value),
            _ => {}
        }
    }
}

/// From what serde accepts to what a person can be told: no `null` for absent, `enum` for words, and one branch
/// chosen by type or tag in place of "matches none of these".
fn reshape(schema: &mut Value, defs: &Value) {
    let Some(map) = schema.as_object_mut() else { return };
    drop_null(map);
    if map.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint")) {
        map.remove("format");
    }
    for key in ["oneOf", "anyOf"] {
        let Some(branches) = map.get(key).and_then(Value::as_array).cloned() else { continue };
        if let Some(better) = words(&branches).or_else(|| by_type(&branches, defs)).or_else(|| by_tag(&branches)) {
            map.remove(key);
            map.extend(better);
        }
    }
    each_schema(map, &mut |child| reshape(child, defs));
}

/// An optional field is absent, never `null`.
fn drop_null(map: &mut Map<String, Value>) {
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            map.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(words)) = map.get_mut("enum") {
        words.retain(|w| !w.is_null());
    }
    if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
        branches.retain(|b| b.get("type").and_then(Value::as_str) != Some("null"));
        if let [one] = branches.as_slice() {
            let one = one.as_object().cloned().unwrap_or_default();
            map.remove("anyOf");
            for (key, value) in one {
                map.entry(key).or_insert(value);
            }
        }
    }
}

/// Words with descriptions → one `enum`; the descriptions go to `enumDescriptions`, which editors show.
fn words(branches: &[Value]) -> Option<Map<String, Value>> {
    let (mut all, mut about) = (Vec::new(), Vec::new());
    for branch in branches {
        let before = all.len();
        match (branch.get("const"), branch.get("enum")) {
            (Some(word @ Value::String(_)), _) => all.push(word.clone()),
            (None, Some(Value::Array(words))) => all.extend(words.iter().cloned()),
            _ => return None,
        }
        let text = branch.get("description").cloned().unwrap_or_else(|| json!(""));
        about.extend(std::iter::repeat_n(text, all.len() - before));
    }
    let mut out = Map::from_iter([("type".to_owned(), json!("string")), ("enum".to_owned(), Value::Array(all))]);
    if about.iter().any(|t| t != "") {
        out.insert("enumDescriptions".to_owned(), Value::Array(about));
    }
    Some(out)
}

/// The one JSON type of a schema.
fn type_of<'a>(schema: &'a Value, defs: &'a Value) -> Option<&'a str> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/")) {
        return type_of(defs.get(name)?, defs);
    }
    if let Some(ty) = schema.get("type").and_then(Value::as_str) {
        return Some(ty);
    }
    let branches = schema.get("oneOf").and_then(Value::as_array)?;
    let first = branches.first().and_then(|b| type_of(b, defs))?;
    branches.iter().all(|b| type_of(b, defs) == Some(first)).then_some(first)
}

/// Branches of different JSON types: the type chooses.
fn by_type(branches: &[Value], defs: &Value) -> Option<Map<String, Value>> {
    let types: Vec<&str> = branches.iter().map(|b| type_of(b, defs)).collect::<Option<_>>()?;
    let distinct: std::collections::BTreeSet<_> = types.iter().collect();
    if distinct.len() != types.len() || types.len() < 2 {
        return None;
    }
    let rules = types.iter().zip(branches).map(|(ty, branch)| json!({ "if": { "type": ty }, "then": branch }));
    let rules: Vec<Value> = rules.collect();
    Some(Map::from_iter([("type".to_owned(), json!(types)), ("allOf".to_owned(), json!(rules))]))
}

/// Objects told apart by a key with one word each: the word chooses.
fn by_tag(branches: &[Value]) -> Option<Map<String, Value>> {
    let word = |branch: &Value, tag: &str| branch.get("properties")?.get(tag)?.get("const").cloned();
    let first = branches.first()?.get("properties")?.as_object()?;
    let tag = first.keys().find(|k| branches.iter().all(|b| word(b, k).is_some()))?;
    let words: Vec<Value> = branches.iter().filter_map(|b| word(b, tag)).collect();
    let rules = branches.iter().zip(&words).map(|(branch, word)| {
        let test = json!({ "properties": { tag: { "const": word } }, "required": [tag] });
        json!({ "if": test, "then": branch })
    });
    let rules: Vec<Value> = rules.collect();
    Some(Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("required".to_owned(), json!([tag])),
        ("properties".to_owned(), json!({ tag: { "enum": words } })),
        ("allOf".to_owned(), json!(rules)),
    ]))
}

/// Where a schema is published: `Agent`, `Manifest`.
pub fn id(name: &str) -> String {
    format!("https://checkfu.com/schemas/v1/{name}.json")
}

/// The schema of a manifest document of any kind: `kind` chooses. Whole in itself, so that editors need no network.
pub fn manifest() -> Value {
    let mut defs = Map::new();
    let mut rules = Vec::new();
    for kind in KINDS {
        let name = kind.kind.as_str();
        let mut document = schema(kind);
        if let Some(map) = document.as_object_mut() {
            map.remove("$schema");
            map.remove("$id");
            if let Some(Value::Object(own)) = map.remove("$defs") {
                defs.extend(own.into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
            }
        }
        defs.insert(name.to_owned(), document);
        let test = json!({ "properties": { "kind": { "const": name } }, "required": ["kind"] });
        rules.push(json!({ "if": test, "then": { "$ref": format!("#/$defs/{name}") } }));
    }
    for (key, def) in &mut defs {
        let name = key.split('.').next().unwrap_or_default().to_owned();
        rename(def, &name);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": id("Manifest"),
        "title": "Manifest",
        "description": "One document that declares one resource.",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": { "const": "checkfu.com/v1", "description": "The format of manifests." },
            "kind": { "description": "What is declared.", "enum": KINDS.map(|k| k.kind.as_str()) },
        },
        "allOf": rules,
        "$defs": defs,
    })
}

/// Shared shapes of a kind are called `KIND.NAME` beside those of the others.
fn rename(schema: &mut Value, kind: &str) {
    let Some(map) = schema.as_object_mut() else { return };
    if let Some(Value::String(to)) = map.get_mut("$ref")
        && let Some(name) = to.strip_prefix("#/$defs/")
    {
        *to = format!("#/$defs/{kind}.{name}");
    }
    each_schema(map, &mut |child| rename(child, kind));
}

/// The schema of a whole manifest document of a kind, for editors.
pub fn schema(kind: &KindDef) -> Value {
    document(kind, (kind.full_schema)())
}

/// The schema that a whole manifest document of a kind is validated against. Of labels too it says the
/// structure alone; of a name, a path and a day it says all.
pub fn of_document(kind: &KindDef) -> Value {
    let mut out = document(kind, (kind.schema)());
    if let Some(labels) = out.pointer_mut("/properties/metadata/properties/labels") {
        strip(labels);
        labels.as_object_mut().map(|l| l.remove("propertyNames"));
    }
    out
}

fn document(kind: &KindDef, mut spec: Value) -> Value {
    let defs = spec.as_object_mut().and_then(|s| s.remove("$defs"));
    if let Some(map) = spec.as_object_mut() {
        map.remove("$schema");
        map.remove("title");
    }
    let mut required = vec!["apiVersion", "kind", "metadata"];
    if spec.get("required").and_then(Value::as_array).is_some_and(|r| !r.is_empty()) {
        required.push("spec");
    }
    let mut out = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": id(kind.kind.as_str()),
        "title": format!("{} manifest", kind.kind),
        "description": kind.doc,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": {
            "apiVersion": { "const": "checkfu.com/v1", "description": "The format of manifests." },
            "kind": { "const": kind.kind.as_str(), "description": kind.doc },
            "metadata": metadata(),
            "spec": spec,
        },
    });
    if let Some(defs) = defs {
        out["$defs"] = defs;
    }
    out
}

fn metadata() -> Value {
    json!({
        "description": "Who the resource is.",
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": {
                "description": "Its stable name: unique in the kind, lower-case letters, digits and single hyphens, at most 64.",
                "type": "string",
                "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
                "maxLength": 64,
            },
            "labels": {
                "description": "The wire's `metadata`: at most 16 pairs, keys of 1–64 characters, values of at most 512.",
                "type": "object",
                "maxProperties": MAX_LABELS,
                "propertyNames": { "minLength": 1, "maxLength": MAX_LABEL_KEY },
                "additionalProperties": { "type": "string", "maxLength": MAX_LABEL_VALUE },
            },
            "fields": {
                "description": "Who owns single fields, by path as in `spec.description` or `labels.team`. Default: this project owns all.",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["mode"],
                    "additionalProperties": false,
                    "properties": {
                        "mode": {
                            "description": "`own`: this project; `seed`: set at create, then left; `ignore`: neither compared nor written.",
                            "enum": ["own", "seed", "ignore"],
                        },
                        "reason": { "description": "Why. Needed with `ignore`.", "type": "string", "minLength": 1 },
                        "until": {
                            "description": "The day from which the field is owned again, as 2027-03-01. Default: never.",
                            "type": "string",
                            "format": "date",
                            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                        },
                    },
                },
            },
        },
    })
}
