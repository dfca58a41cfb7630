//! What an operation takes: parameters of path, query and headers, and bodies.

use serde_json::{Map, Value, json};

use crate::control::http::body::{
    ArchiveBody, AuthoringOf, ContentsBody, EndBody, MemoryCreateBody, MemoryUpdateBody, NoBody, PolicyBody,
    PublishBody,
};
use crate::control::http::query::{Form, Parameter, kind_of, parameters as of_query};
use crate::control::http::{ACTION, API_VERSION, APPLY, BREAK_GLASS, EPOCH, KEY, OWNER, PREFER, VERSION};
use crate::model::Kind;
use crate::model::kinds::{Applied, wire};
use crate::model::op::{
    ApplyBegin, Authoring, Claim, ContentOf, Digests, FileCreate, Find, HandOver, IdList, Operation, Protect, Record,
    Resolve, TokenCreate, Transfer,
};
use crate::server::openapi::schemas::{Schemas, each, request};

const OWNER_PATTERN: &str = r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,3}$";
const DIGEST_PATTERN: &str = "^sha256:[0-9a-f]{64}$";
/// At least one character that is no blank, and only visible ASCII.
const HEADER_PATTERN: &str = r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$";

/// Headers, by name: those that every operation reads, and those of writes.
const ALL: [&str; 1] = [VERSION];
const WRITES: [&str; 7] = [OWNER, KEY, APPLY, ACTION, EPOCH, BREAK_GLASS, PREFER];

/// The headers that components name.
pub(super) fn headers() -> Value {
    let text = json!({"type": "string", "minLength": 1, "maxLength": 1024, "pattern": HEADER_PATTERN});
    let one = |(name, schema, about): (&str, Value, &str)| {
        (name.to_owned(), json!({"name": name, "in": "header", "description": about, "schema": schema}))
    };
    [
        (VERSION, json!({"type": "string", "const": API_VERSION}), "The version of the API. Default: the newest."),
        (
            OWNER,
            json!({"type": "string", "maxLength": 200, "pattern": OWNER_PATTERN}),
            "The authoring owner that acts. The token must allow it.",
        ),
        (KEY, text.clone(), "The same key and the same request: what was answered before, and nothing is done."),
        (APPLY, text.clone(), "The apply that this write belongs to."),
        (ACTION, text.clone(), "The action of that apply, as `Agent/support#update`."),
        (EPOCH, text.clone(), "The epoch of the workspace that was seen; in another one a write is refused."),
        (
            BREAK_GLASS,
            text,
            "Why ownership is passed over. Needs the scope `admin`. What is no ASCII is percent-encoded.",
        ),
        (PREFER, json!({"type": "string"}), "`return=minimal`: answer `written` alone."),
    ]
    .into_iter()
    .map(one)
    .collect::<Map<String, Value>>()
    .into()
}

/// The parameters of an operation.
pub(super) fn parameters(operation: &Operation) -> Vec<Value> {
    let mut out: Vec<Value> = operation
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": path_schema(name)}))
        .collect();
    out.extend(of_query(operation).iter().map(query));
    let headers = ALL.iter().chain(if operation.mutates { &WRITES[..] } else { &[] });
    out.extend(headers.map(|name| json!({"$ref": format!("#/components/parameters/{name}")})));
    out
}

fn path_schema(name: &str) -> Value {
    match name {
        "owner" => json!({"type": "string", "maxLength": 200, "pattern": OWNER_PATTERN}),
        "digest" => json!({"type": "string", "pattern": DIGEST_PATTERN}),
        _ => json!({"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[A-Za-z0-9_]+$"}),
    }
}

fn query(parameter: &Parameter) -> Value {
    let schema = match parameter.form {
        Form::Text => json!({"type": "string", "minLength": 1}),
        Form::Texts if parameter.name == "label" => {
            json!({"type": "array", "items": {"type": "string", "pattern": "^[^=]+="}})
        }
        Form::Texts => json!({"type": "array", "items": {"type": "string", "minLength": 1}}),
        Form::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Form::Flag => json!({"type": "boolean"}),
        Form::OneOf(words) => json!({"type": "string", "enum": words}),
        Form::Time => json!({"type": "string", "format": "date-time"}),
        Form::Hex => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        Form::Digest => json!({"type": "string", "pattern": DIGEST_PATTERN}),
        Form::Owner => json!({"type": "string", "maxLength": 200, "pattern": OWNER_PATTERN}),
        Form::Kind => json!({"type": "string", "enum": Kind::ALL.map(Kind::as_str)}),
    };
    let mut out = json!({"name": parameter.name, "in": "query", "description": parameter.doc, "schema": schema});
    if parameter.required {
        out["required"] = json!(true);
    }
    if parameter.form == Form::Texts {
        out["style"] = json!("form");
        out["explode"] = json!(true);
    }
    out
}

/// The body that an operation takes, if it takes one.
pub(super) fn body(operation: &Operation, schemas: &mut Schemas) -> Option<Value> {
    let needed = |schema: Value| json!({"required": true, "content": {"application/json": {"schema": schema}}});
    let optional = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
    if let Some((def, verb)) = kind_of(operation) {
        return Some(match verb {
            "create" => with_upload(operation, needed(create(def.kind, schemas))),
            "update" => needed(update(def.kind, schemas)),
            "archive" => optional(request::<ArchiveBody>()),
            "publish" => with_upload(operation, needed(request::<PublishBody>())),
            "write_contents" => needed(request::<ContentsBody>()),
            _ => return None,
        });
    }
    Some(match operation.name {
        "memories.create" => needed(request::<MemoryCreateBody>()),
        "memories.update" => needed(request::<MemoryUpdateBody>()),
        "memory_versions.redact" | "tokens.revoke" => optional(request::<NoBody>()),
        "files.create" => with_upload(operation, needed(request::<FileCreate>())),
        "authoring.find" => needed(request::<Find>()),
        "authoring.bodies" => needed(request::<IdList>()),
        "authoring.resolve" => needed(request::<Resolve>()),
        "authoring.claim" => needed(request::<Claim>()),
        "authoring.release" => needed(request::<Authoring>()),
        "authoring.hand_over" => needed(request::<HandOver>()),
        "authoring.transfer" => needed(request::<Transfer>()),
        "authoring.protect" => needed(request::<Protect>()),
        "authoring.record" => needed(request::<Record>()),
        "authoring.policy" => needed(request::<PolicyBody>()),
        "applies.begin" => needed(request::<ApplyBegin>()),
        "applies.end" => needed(request::<EndBody>()),
        "blobs.missing" => needed(request::<Digests>()),
        "blobs.put" => json!({"required": true, "content": {"application/octet-stream": {"schema": {}}}}),
        "tokens.create" => needed(request::<TokenCreate>()),
        _ => return None,
    })
}

fn wire_fields(kind: Kind, update: bool) -> Value {
    let mut schema = wire::schema(kind, update);
    each(&mut schema, &mut |map| {
        if map.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint")) {
            map.remove("format");
            map.entry("maximum").or_insert(json!(u32::MAX));
        }
    });
    schema
}

fn create(kind: Kind, schemas: &mut Schemas) -> Value {
    schemas.named(&format!("{kind}Create"), || {
        let mut schema = wire_fields(kind, false);
        schema["properties"]["authoring"] = request::<Option<AuthoringOf>>();
        if matches!(kind, Kind::Skill | Kind::FileTree) {
            schema["properties"]["content"] = request::<Option<ContentOf>>();
        }
        schema
    })
}

fn update(kind: Kind, schemas: &mut Schemas) -> Value {
    schemas.named(&format!("{kind}Update"), || {
        let mut schema = wire_fields(kind, true);
        let version = json!({"type": ["integer", "null"], "minimum": 0, "maximum": i64::MAX,
            "description": "The version that the resource must have; another one is a conflict."});
        if kind == Kind::Agent {
            schema["properties"]["version"] = version.clone();
        }
        schema["properties"]["expected_version"] = version;
        schema["properties"]["applied"] = request::<Option<Applied>>();
        schema
    })
}

/// The parts of an upload beside the JSON form.
fn with_upload(operation: &Operation, mut body: Value) -> Value {
    let binary = json!({"type": "string", "contentMediaType": "application/octet-stream"});
    let files = json!({
        "type": "array", "minItems": 1, "items": binary,
        "description": "The files of the skill, each with its path below one shared folder as file name; or one zip.",
    });
    let schema = match operation.name {
        "skills.create" => {
            json!({"type": "object", "required": ["files[]"], "properties": {
                "files[]": files,
                "display_name": {"type": "string", "minLength": 1, "maxLength": 255},
            }})
        }
        "skills.publish" => json!({"type": "object", "required": ["files[]"], "properties": {"files[]": files}}),
        "files.create" => {
            json!({"type": "object", "required": ["file"], "properties": {
                "file": binary,
                "expires_in_seconds": {"type": "integer", "minimum": 3_600, "maximum": 7_776_000},
            }})
        }
        _ => return body,
    };
    body["content"]["multipart/form-data"] = json!({"schema": schema});
    body
}
