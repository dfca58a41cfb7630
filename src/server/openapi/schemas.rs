//! JSON Schemas of types, as the document wants them: of requests closed, since an unknown field is refused; of
//! answers open, since a newer server says more.

use schemars::JsonSchema;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schemas that components name.
pub(super) struct Schemas {
    answers: SchemaGenerator,
    more: Map<String, Value>,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let mut settings = SchemaSettings::draft2020_12().for_serialize();
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        Self { answers: settings.into_generator(), more: Map::new() }
    }

    /// A schema of an answer.
    pub(super) fn answer<T: JsonSchema>(&mut self) -> Value {
        self.answers.subschema_for::<T>().to_value()
    }

    /// A schema by a name of its own.
    pub(super) fn named(&mut self, name: &str, schema: impl FnOnce() -> Value) -> Value {
        if !self.more.contains_key(name) {
            self.more.insert(name.to_owned(), schema());
        }
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// All of them.
    pub(super) fn finish(mut self) -> Value {
        let mut all = self.answers.take_definitions(true);
        for (name, schema) in &mut all {
            texts(name, schema);
            each(schema, &mut numbers);
        }
        all.extend(self.more);
        Value::Object(all)
    }
}

/// The schema of a request's body or of a part of it, whole and closed.
pub(super) fn request<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let defs = schema.as_object_mut().and_then(|s| s.remove("$defs")).unwrap_or_default();
    inline(&mut schema, &defs);
    each(&mut schema, &mut numbers);
    each(&mut schema, &mut closed);
    schema
}

/// Puts definitions where they are referred to. None of a request refers to itself.
fn inline(schema: &mut Value, defs: &Value) {
    each(schema, &mut |map| {
        let Some(Value::String(at)) = map.get("$ref") else { return };
        let name = at.rsplit('/').next().unwrap_or_default();
        if let Some(mut found) = defs.get(name).cloned() {
            texts(name, &mut found);
            map.remove("$ref");
            if let Value::Object(found) = found {
                for (key, value) in found {
                    map.entry(key).or_insert(value);
                }
            }
        }
    });
}

/// Texts that are written in one way only.
fn texts(name: &str, schema: &mut Value) {
    let pattern = match name {
        "Digest" => "^sha256:[0-9a-f]{64}$",
        "Owner" => r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,3}$",
        "Address" => {
            r"^(Agent|Environment|FileTree|MemoryStore|Skill)/[a-z0-9]+(-[a-z0-9]+)*$|^(FileTreeMount|MemoryMount)/[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)?$"
        }
        _ => return,
    };
    schema["pattern"] = json!(pattern);
    if name == "Owner" {
        schema["maxLength"] = json!(200);
    }
}

/// The largest number that a workspace can hold in place of formats that only some readers know.
fn numbers(schema: &mut Map<String, Value>) {
    match schema.get("format").and_then(Value::as_str) {
        Some("uint64") => schema.insert("maximum".to_owned(), json!(i64::MAX)),
        Some("uint32") => schema.insert("maximum".to_owned(), json!(u32::MAX)),
        Some("uint8") => schema.insert("maximum".to_owned(), json!(u8::MAX)),
        _ => return,
    };
    schema.remove("format");
}

fn closed(schema: &mut Map<String, Value>) {
    if schema.contains_key("properties") {
        schema.entry("additionalProperties").or_insert(json!(false));
    }
}

/// The other way: takes what closes an object away, everywhere in a schema.
pub(super) fn opened(schema: &mut Value) {
    each(schema, &mut |map| {
        if map.get("additionalProperties") == Some(&json!(false)) {
            map.remove("additionalProperties");
        }
    });
}

/// Visits every schema of a schema, the outer ones first.
pub(super) fn each(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Some(map) = schema.as_object_mut() else { return };
    visit(map);
    for (key, value) in map.iter_mut() {
        match key.as_str() {
            "properties" | "$defs" => {
                value.as_object_mut().into_iter().flatten().for_each(|(_, v)| each(v, &mut *visit));
            }
            "oneOf" | "anyOf" | "allOf" | "prefixItems" => {
                value.as_array_mut().into_iter().flatten().for_each(|v| each(v, &mut *visit));
            }
            "items" | "additionalProperties" | "propertyNames" | "not" => each(value, &mut *visit),
            _ => {}
        }
    }
}
