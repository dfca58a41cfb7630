//! What an operation answers when it is carried out.

use serde_json::{Value, json};

use crate::control::http::query::kind_of;
use crate::model::Kind;
use crate::model::op::{
    ApplyInfo, Began, Digests, Fact, Loaded, NewToken, Operation, OwnerState, Recorded, Referrer, Resolved, Summary,
    TokenInfo, WorkspaceInfo, Written,
};
use crate::model::tree::Entry;
use crate::server::openapi::resources;
use crate::server::openapi::schemas::Schemas;

/// An answer of JSON.
pub(super) fn json(schema: &Value) -> Value {
    content("application/json", schema)
}

/// An answer of a media type.
pub(super) fn content(media: &str, schema: &Value) -> Value {
    about("Done.", media, schema)
}

/// An answer, and what it means.
pub(super) fn about(description: &str, media: &str, schema: &Value) -> Value {
    json!({
        "description": description,
        "headers": {"request-id": {"$ref": "#/components/headers/request-id"}},
        "content": {media: {"schema": schema}},
    })
}

/// The answer to an operation that is carried out.
pub(super) fn success(operation: &Operation, schemas: &mut Schemas) -> Value {
    if operation.name == "skills.content" {
        return content("application/zip", &json!({}));
    }
    if matches!(operation.name, "file_trees.file" | "files.content" | "blobs.get") {
        return content("application/octet-stream", &json!({}));
    }
    let schema = match kind_of(operation) {
        Some((def, verb)) => of_kind(def.kind, verb, schemas),
        None => other(operation.name, schemas),
    };
    json(&schema)
}

fn of_kind(kind: Kind, verb: &str, schemas: &mut Schemas) -> Value {
    let resource = resources::resource(kind, schemas);
    match verb {
        "list" => {
            let summary = resources::listed(kind, schemas);
            page(&json!({"anyOf": [resource, summary]}))
        }
        "get" => resource,
        "create" | "update" | "archive" => written(&resource, schemas),
        "delete" => deleted(kind, schemas),
        "publish" => written(&resources::version(kind, schemas), schemas),
        "versions" => page(&resources::version(kind, schemas)),
        "version" => resources::version(kind, schemas),
        "delete_version" => written(&resources::gone("skill_version_deleted"), schemas),
        "write_contents" => written(&resources::version(kind, schemas), schemas),
        _ => page(&schemas.answer::<Entry>()),
    }
}

fn deleted(kind: Kind, schemas: &mut Schemas) -> Value {
    written(&resources::gone(&format!("{}_deleted", resources::type_of(kind))), schemas)
}

fn other(name: &str, schemas: &mut Schemas) -> Value {
    match name {
        "memories.list" => {
            let (memory, prefix) = (resources::memory(schemas), resources::memory_prefix(schemas));
            page(&json!({"anyOf": [memory, prefix]}))
        }
        "memories.get" => resources::memory(schemas),
        "memories.create" | "memories.update" => written(&resources::memory(schemas), schemas),
        "memories.delete" => written(&resources::gone("memory_deleted"), schemas),
        "memory_versions.list" => page(&resources::memory_version(schemas)),
        "memory_versions.get" => resources::memory_version(schemas),
        "memory_versions.redact" => written(&resources::memory_version(schemas), schemas),
        "files.list" => page(&resources::file(schemas)),
        "files.get" => resources::file(schemas),
        "files.create" => written(&resources::file(schemas), schemas),
        "files.delete" => written(&resources::gone("file_deleted"), schemas),
        "authoring.owner" => schemas.answer::<OwnerState>(),
        "authoring.summaries" | "authoring.find" => page(&schemas.answer::<Summary>()),
        "authoring.bodies" => schemas.answer::<Loaded>(),
        "authoring.resolve" => page(&schemas.answer::<Resolved>()),
        "authoring.referrers" => page(&schemas.answer::<Referrer>()),
        "applies.begin" => schemas.answer::<Began>(),
        "applies.list" => page(&schemas.answer::<ApplyInfo>()),
        "applies.get" => schemas.answer::<ApplyInfo>(),
        "applies.state" => page(&schemas.answer::<Recorded>()),
        "blobs.missing" => schemas.answer::<Digests>(),
        "audit.list" => {
            let fact = schemas.answer::<Fact>();
            json!({"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": fact}}})
        }
        "workspace.get" => schemas.answer::<WorkspaceInfo>(),
        "tokens.create" => schemas.answer::<NewToken>(),
        "tokens.list" => page(&schemas.answer::<TokenInfo>()),
        "authoring.policy" => written(&resources::owner(schemas), schemas),
        "applies.end" | "blobs.put" | "tokens.revoke" => json!({"type": "object"}),
        _ => {
            let any = schemas.named("Resource", || {
                json!({"type": "object", "required": ["id", "type"], "properties": {
                    "id": {"type": "string"}, "type": {"type": "string"},
                }})
            });
            written(&any, schemas)
        }
    }
}

/// A page of a list.
fn page(item: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["data", "next_page"],
        "properties": {
            "data": {"type": "array", "items": item},
            "next_page": {"type": ["string", "null"], "description": "The cursor of the next page; null: there is none."},
        },
    })
}

/// What a write answers: what it wrote, and `written`; or, where little is wanted, `written` alone.
fn written(body: &Value, schemas: &mut Schemas) -> Value {
    let written = schemas.answer::<Written>();
    let of = |closed: bool| {
        let mut schema = json!({"type": "object", "required": ["written"], "properties": {"written": written}});
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    };
    let minimal = schemas.named("Minimal", || of(true));
    json!({"anyOf": [{"allOf": [body, of(false)]}, minimal]})
}
