//! The OpenAPI document, made of the table of operations and the types, so that it says what the server does. It
//! is the same text in every build; `schemas/openapi.json` is a copy.

mod answers;
mod errors;
mod resources;
mod schemas;
mod takes;
mod words;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::control::http::API_VERSION;
use crate::model::op::{OPERATIONS, Operation, Scope, Verb};
use crate::server::openapi::schemas::Schemas;

static TEXT: LazyLock<String> = LazyLock::new(|| document().to_string());

/// The document as JSON text, made once.
pub fn text() -> &'static str {
    &TEXT
}

/// The document.
pub fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let described = described(operation, &mut schemas);
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        item[method(operation.method)] = described;
    }
    for (path, item) in own_paths() {
        paths.insert(path.to_owned(), item);
    }
    let tags: Vec<Value> =
        words::TAGS.iter().map(|(name, about)| json!({"name": name, "description": about})).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "checkfu",
            "version": API_VERSION,
            "description": words::ABOUT,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"api_key": []}],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A token of `checkfu token create`."},
                "api_key": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same token."},
            },
            "parameters": takes::headers(),
            "headers": {
                "request-id": {"description": "The id of the request, for its log line.", "schema": {"type": "string"}},
            },
            "responses": errors::responses(),
            "schemas": schemas.finish(),
        },
    })
}

fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
        Verb::Delete => "delete",
    }
}

fn described(operation: &Operation, schemas: &mut Schemas) -> Value {
    let scope = match operation.scope {
        Scope::Read => "read",
        Scope::Plan => "plan",
        Scope::Apply => "apply",
        Scope::Admin => "admin",
    };
    let mut out = json!({
        "operationId": operation.name,
        "tags": [operation.name.split('.').next().unwrap_or_default()],
        "summary": words::summary(operation),
        "description": format!("Needs the scope `{scope}`."),
        "x-checkfu-scope": scope,
        "parameters": takes::parameters(operation),
        "responses": errors::of(operation),
    });
    out["responses"]["200"] = answers::success(operation, schemas);
    if let Some(body) = takes::body(operation, schemas) {
        out["requestBody"] = body;
    }
    out
}

/// Paths that are no operations of a workspace.
fn own_paths() -> [(&'static str, Value); 4] {
    let health = |id: &str, summary: &str, status: &str| {
        let schema = json!({"type": "object", "required": ["status"], "properties": {"status": {"const": status}}});
        json!({"get": {
            "operationId": id,
            "tags": ["server"],
            "summary": summary,
            "description": "Needs no token.",
            "security": [],
            "responses": errors::with(&["413", "500", "503", "504"], &answers::json(&schema)),
        }})
    };
    let read = |id: &str, summary: &str, success: &Value| {
        json!({"get": {
            "operationId": id,
            "tags": ["server"],
            "summary": summary,
            "description": "Needs the scope `read`.",
            "x-checkfu-scope": "read",
            "responses": errors::with(&["400", "401", "403", "413", "500", "503", "504", "529"], success),
        }})
    };
    let metrics = answers::content("application/openmetrics-text", &json!({"type": "string"}));
    let document = answers::json(&json!({"type": "object", "required": ["openapi", "info", "paths"]}));
    [
        ("/healthz", health("healthz", "Does the server run?", "ok")),
        ("/readyz", health("readyz", "Can the workspace be read?", "ready")),
        ("/metrics", read("metrics", "Metrics, as OpenMetrics text.", &metrics)),
        ("/openapi.json", read("openapi", "This document.", &document)),
    ]
}
