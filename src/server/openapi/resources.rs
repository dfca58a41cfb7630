//! Bodies of answers that are JSON in the code: resources, versions, memories and files as the wire has them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::Kind;
use crate::model::config::Policy;
use crate::model::kinds::{def, wire};
use crate::server::openapi::schemas::{Schemas, each, opened};

/// What the wire calls an object of this kind.
pub(super) fn type_of(kind: Kind) -> &'static str {
    let plural = def(kind).plural;
    plural.strip_suffix('s').unwrap_or(plural)
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn maybe_time() -> Value {
    maybe(time())
}

fn text() -> Value {
    json!({"type": "string"})
}

fn number() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn digest() -> Value {
    json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
}

fn hex() -> Value {
    json!({"type": "string", "pattern": "^[0-9a-f]{64}$"})
}

/// An object: names that end with `?` need not be there.
fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(n, _)| *n).filter(|n| !n.ends_with('?')).collect();
    let properties: Map<String, Value> =
        fields.into_iter().map(|(n, v)| (n.trim_end_matches('?').to_owned(), v)).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// What says that something is gone.
pub(super) fn gone(ty: &str) -> Value {
    object(vec![("id", text()), ("type", json!({"const": ty}))])
}

fn authoring() -> Value {
    let mut schema = object(vec![
        ("owner", text()),
        ("address", json!({"type": ["string", "null"]})),
        ("protected", json!({"type": "boolean"})),
        ("seq", number()),
        ("superseded?", json!({"type": "boolean"})),
        ("offered?", text()),
        ("offered_at?", text()),
    ]);
    schema["type"] = json!(["object", "null"]);
    schema["description"] = json!("The authoring owner; null: nobody's.");
    schema
}

/// What every resource has.
fn shared(kind: Kind) -> Vec<(&'static str, Value)> {
    vec![
        ("id", json!({"type": "string", "pattern": format!("^{}", def(kind).id_prefix)})),
        ("type", json!({"const": type_of(kind)})),
        ("version", number()),
        ("created_at", time()),
        ("updated_at", time()),
        ("archived_at?", maybe_time()),
        ("authoring?", authoring()),
    ]
}

/// A resource.
pub(super) fn resource(kind: Kind, schemas: &mut Schemas) -> Value {
    schemas.named(kind.as_str(), || {
        let mut schema = object(shared(kind));
        for (name, field) in own(kind) {
            schema["properties"][name] = field;
        }
        if let Some(required) = schema["required"].as_array_mut() {
            required.extend(always(kind));
        }
        schema
    })
}

/// Fields that are there in every answer, whatever was sent: what a request must say, and what is filled in.
fn always(kind: Kind) -> Vec<Value> {
    if kind == Kind::Skill {
        return vec![json!("display_name"), json!("latest_version_id"), json!("source")];
    }
    let mut filled = Map::new();
    (def(kind).answered)(&mut filled, &BTreeMap::new());
    let sent = wire::schema(kind, false)["required"].as_array().cloned().unwrap_or_default();
    let filled = filled.into_iter().map(|(name, _)| Value::from(name)).filter(|name| !sent.contains(name));
    let filled: Vec<Value> = filled.collect();
    sent.into_iter().chain(filled).collect()
}

/// The fields of a kind: those that a request sets, and those that the workspace does.
fn own(kind: Kind) -> Map<String, Value> {
    let mut schema = wire::schema(kind, false);
    opened(&mut schema);
    // What is answered was taken once; limits are the request's.
    each(&mut schema, &mut |map| {
        for limit in ["minLength", "maxLength", "minItems", "maxItems", "pattern", "minimum", "maximum", "format"] {
            map.remove(limit);
        }
    });
    let mut fields = match schema.get_mut("properties").map(Value::take) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    if let Some(metadata) = fields.get_mut("metadata") {
        *metadata = json!({"type": "object", "additionalProperties": {"type": "string"}});
    }
    match kind {
        Kind::Agent => {
            // Resolved: always an object, with what the workspace fills in.
            fields.insert(
                "model".to_owned(),
                object(vec![
                    ("id", text()),
                    ("effort", object(vec![("type", json!({"enum": ["low", "medium", "high", "xhigh", "max"]}))])),
                    ("speed", json!({"enum": ["standard", "fast"]})),
                    ("inference_geo", maybe(text())),
                ]),
            );
        }
        Kind::Skill => {
            fields.insert("source".to_owned(), object(vec![("type", json!({"const": "custom"}))]));
            fields.insert("latest_version_id".to_owned(), json!({"type": ["string", "null"]}));
        }
        Kind::FileTree => drop(fields.insert("latest_revision".to_owned(), number())),
        Kind::MemoryStore => drop(fields.insert("latest_version".to_owned(), number())),
        Kind::Environment | Kind::FileTreeMount | Kind::MemoryMount => {}
    }
    fields
}

/// A resource in a list with `view=summary`.
pub(super) fn listed(kind: Kind, schemas: &mut Schemas) -> Value {
    schemas.named(&format!("{kind}Summary"), || {
        object(vec![("id", text()), ("version", number()), ("authoring?", authoring())])
    })
}

/// A version: of an agent it is the agent as it was.
pub(super) fn version(kind: Kind, schemas: &mut Schemas) -> Value {
    let entries = || {
        let entry = object(vec![("path", text()), ("size", number()), ("sha256", digest())]);
        json!({"type": "array", "items": entry})
    };
    match kind {
        Kind::Agent => resource(kind, schemas),
        Kind::Skill => schemas.named("SkillVersion", || {
            object(vec![
                ("id", json!({"type": "string", "pattern": "^skver_"})),
                ("type?", json!({"const": "skill_version"})),
                ("skill_id?", text()),
                ("name?", text()),
                ("description?", text()),
                ("number", number()),
                ("digest", digest()),
                ("created_at", time()),
                ("entries?", entries()),
            ])
        }),
        Kind::MemoryStore => schemas.named("MemoryStoreVersion", || {
            object(vec![
                ("id", text()),
                ("type?", json!({"const": "memory_store_version"})),
                ("memory_store_id?", text()),
                ("number", number()),
                ("parent?", json!({"type": ["integer", "null"]})),
                ("digest", digest()),
                ("created_at?", time()),
                ("created_by?", text()),
                ("changes?", json!({"type": "object", "additionalProperties": number()})),
                ("changed?", json!({"type": "array", "items": {"type": "object"}})),
                ("entries?", entries()),
            ])
        }),
        _ => schemas.named(&format!("{kind}Revision"), || {
            object(vec![
                ("id", text()),
                ("number", number()),
                ("digest", digest()),
                ("created_at", time()),
                ("entries?", entries()),
            ])
        }),
    }
}

fn maybe(mut schema: Value) -> Value {
    let ty = schema["type"].take();
    schema["type"] = json!([ty, "null"]);
    schema
}

/// Who wrote.
fn actor() -> Value {
    let mut session = object(vec![("type", json!({"const": "session_actor"})), ("session_id", text())]);
    let mut api = object(vec![("type", json!({"const": "api_actor"})), ("api_key_id", text())]);
    session["title"] = json!("An agent's session.");
    api["title"] = json!("A person or a tool.");
    json!({"oneOf": [session, api]})
}

/// A memory.
pub(super) fn memory(schemas: &mut Schemas) -> Value {
    schemas.named("Memory", || {
        object(vec![
            ("id", json!({"type": "string", "pattern": "^mem_"})),
            ("type", json!({"const": "memory"})),
            ("memory_store_id", text()),
            ("memory_version_id", text()),
            ("path", text()),
            ("content", maybe(text())),
            ("content_sha256", hex()),
            ("content_size_bytes", number()),
            ("created_at", time()),
            ("updated_at", time()),
            ("updated_by", text()),
            ("updated_by_kind", json!({"enum": ["api", "session"]})),
            ("updated_by_owner", maybe(text())),
        ])
    })
}

/// A folder of memories.
pub(super) fn memory_prefix(schemas: &mut Schemas) -> Value {
    schemas.named("MemoryPrefix", || object(vec![("type", json!({"const": "memory_prefix"})), ("path", text())]))
}

/// What was written to a memory.
pub(super) fn memory_version(schemas: &mut Schemas) -> Value {
    schemas.named("MemoryVersion", || {
        object(vec![
            ("id", json!({"type": "string", "pattern": "^memver_"})),
            ("type", json!({"const": "memory_version"})),
            ("memory_store_id", text()),
            ("memory_id", text()),
            ("operation", json!({"enum": ["created", "modified", "deleted"]})),
            ("path", maybe(text())),
            ("content", maybe(text())),
            ("content_sha256", maybe(hex())),
            ("content_size_bytes", maybe(number())),
            ("created_at", time()),
            ("created_by", actor()),
            ("created_by_owner", maybe(text())),
            ("memory_store_version", number()),
            ("redacted_at", maybe_time()),
            ("redacted_by", json!({"anyOf": [actor(), {"type": "null"}]})),
        ])
    })
}

/// A file.
pub(super) fn file(schemas: &mut Schemas) -> Value {
    schemas.named("File", || {
        object(vec![
            ("id", json!({"type": "string", "pattern": "^file_"})),
            ("type", json!({"const": "file"})),
            ("filename", text()),
            ("mime_type", text()),
            ("size_bytes", number()),
            ("downloadable", json!({"type": "boolean"})),
            ("created_at", time()),
            ("expires_at", maybe_time()),
            ("created_by?", text()),
        ])
    })
}

/// An owner's record, after its policy was set.
pub(super) fn owner(schemas: &mut Schemas) -> Value {
    let policy = schemas.answer::<Option<Policy>>();
    schemas.named("OwnerRecord", || {
        object(vec![("type", json!({"const": "owner"})), ("owner", text()), ("policy", policy), ("seq", number())])
    })
}
