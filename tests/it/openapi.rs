//! The OpenAPI document is true: every operation is carried out through the codec on a real workspace, and what is
//! sent and answered is held against the schemas of the document.

use std::collections::{BTreeMap, BTreeSet};

use checkfu::control::ControlPlane as _;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::control::http::{Body, Incoming, decode, decode_context, encode_error, encode_response, route};
use checkfu::model::op::{OPERATIONS, Verb};
use checkfu::model::{Digest, tree::FileSet};
use checkfu::server::openapi;
use serde_json::{Value, json};

/// Rows that are never carried out: uploads cannot be downloaded, and nothing else makes files.
const NEVER: &[&str] = &["files.content"];

struct Api {
    workspace: Embedded,
    document: Value,
    done: BTreeSet<&'static str>,
}

/// Schemas of the document, so that references inside of one are found.
fn holds(document: &Value, schema: &Value, value: &Value, what: &str) {
    let whole = json!({"allOf": [schema], "components": document["components"]});
    let validator = jsonschema::options().should_validate_formats(true).build(&whole).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|e| format!("{} at `{}`", e, e.instance_path())).collect();
    assert!(wrong.is_empty(), "{what}: {value:#}\n{}", wrong.join("\n"));
}

impl Api {
    fn new() -> (tempfile::TempDir, Self) {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Embedded::open(&dir.path().join("workspace.db"), EmbeddedOptions::seeded(1)).unwrap();
        (dir, Self { workspace, document: openapi::document(), done: BTreeSet::new() })
    }

    /// The answer: 200 and its body, or the status and body of a refusal.
    async fn ask(&mut self, method: Verb, target: &str, headers: &[(&str, &str)], body: Body) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (operation, params) = route(method, path).unwrap_or_else(|| panic!("no route: {target}"));
        let pair = |pair: &str| pair.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()));
        let query = query.split('&').filter_map(pair).collect();
        let described = &self.document["paths"][operation.path][format!("{method:?}").to_lowercase()];
        assert_eq!(described["operationId"], operation.name);
        let mut context = decode_context(|name| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)).unwrap();
        "kim".clone_into(&mut context.actor);
        context.admin = true;
        let incoming = Incoming { operation, params, query, body: body.clone() };
        let answer = match decode(&incoming) {
            Ok(request) => {
                if let Body::Json(sent) = &body {
                    let takes = &described["requestBody"]["content"]["application/json"]["schema"];
                    holds(&self.document, takes, sent, &format!("{} takes", operation.name));
                }
                self.workspace.call(&context, request).await
            }
            Err(refused) => Err(refused),
        };
        match answer {
            Ok(response) => {
                self.done.insert(operation.name);
                let content = &described["responses"]["200"]["content"];
                match encode_response(operation, response) {
                    Body::Json(value) => {
                        // The server makes an archive of these.
                        if operation.name != "skills.content" {
                            let says = &content["application/json"]["schema"];
                            holds(&self.document, says, &value, &format!("{} answers", operation.name));
                        }
                        (200, value)
                    }
                    Body::Bytes(bytes) => {
                        assert!(content["application/octet-stream"].is_object(), "{}", operation.name);
                        (200, json!(bytes.len()))
                    }
                    Body::Empty => panic!("{} answers nothing", operation.name),
                }
            }
            Err(error) => {
                let (status, value) = encode_error(&error, "req_1");
                let at = described["responses"][status.to_string()]["$ref"].as_str().unwrap_or_default();
                assert!(!at.is_empty(), "{}: {status} is not described: {value}", operation.name);
                let says = &self.document.pointer(&at[1..]).unwrap()["content"]["application/json"]["schema"];
                holds(&self.document, says, &value, &format!("{} refuses", operation.name));
                (status, value)
            }
        }
    }

    async fn get(&mut self, target: &str) -> Value {
        self.by("", Verb::Get, target, Body::Empty).await
    }

    async fn post(&mut self, target: &str, body: Value) -> Value {
        self.by("", Verb::Post, target, Body::Json(body)).await
    }

    async fn delete(&mut self, target: &str) -> Value {
        self.by("", Verb::Delete, target, Body::Empty).await
    }

    /// As an owner; none: an empty text.
    async fn by(&mut self, owner: &str, method: Verb, target: &str, body: Body) -> Value {
        let owner = [("checkfu-owner", owner)];
        let headers: &[(&str, &str)] = if owner[0].1.is_empty() { &[] } else { &owner };
        let (status, value) = self.ask(method, target, headers, body).await;
        let row = route(method, target.split('?').next().unwrap()).unwrap().0;
        assert!(status == 200 || NEVER.contains(&row.name), "{target}: {value}");
        value
    }

    async fn blob(&mut self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        self.by("", Verb::Post, &format!("/v1/blobs?digest={digest}"), Body::Bytes(bytes.to_vec())).await;
        digest
    }

    /// Content of one file.
    async fn content(&mut self, path: &str, text: &str) -> Value {
        let sha256 = self.blob(text.as_bytes()).await;
        let entry = json!({"path": path, "size": text.len(), "sha256": sha256, "executable": false});
        json!(FileSet::new(vec![serde_json::from_value(entry).unwrap()]))
    }
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

const ME: &str = "acme/support";

async fn agents(api: &mut Api) -> String {
    let body = json!({
        "name": "support", "model": "claude-opus-5", "description": null, "system": "Help.",
        "tools": [{"type": "agent_toolset_20260401"}], "metadata": {"team": "a"},
        "authoring": {"address": "Agent/support", "applied": {"spec": {"name": "support"}}},
    });
    let agent = id(&api.by(ME, Verb::Post, "/v1/agents", Body::Json(body)).await);
    let body = json!({"version": 1, "metadata": {"team": null, "tier": "1"}, "tools": null});
    let updated = api.by(ME, Verb::Post, &format!("/v1/agents/{agent}"), Body::Json(body)).await;
    assert_eq!((&updated["version"], &updated["written"]["changed"]), (&json!(2), &json!(true)));
    let minimal = [("prefer", "return=minimal"), ("checkfu-owner", ME)];
    let body = Body::Json(json!({"expected_version": 2, "system": ""}));
    let (_, least) = api.ask(Verb::Post, &format!("/v1/agents/{agent}"), &minimal, body).await;
    assert_eq!(least.as_object().unwrap().len(), 1, "{least}");
    for target in ["/v1/agents?limit=1", "/v1/agents?owner=acme/support&label=tier=1"] {
        assert_eq!(api.get(target).await["data"].as_array().unwrap().len(), 1, "{target}");
    }
    api.get("/v1/agents?view=summary&include_archived=true").await;
    api.get(&format!("/v1/agents/{agent}")).await;
    api.get(&format!("/v1/agents/{agent}?version=1")).await;
    api.get(&format!("/v1/agents/{agent}/versions")).await;
    let other = id(&api.post("/v1/agents", json!({"name": "b", "model": {"id": "claude-opus-5"}})).await);
    api.post(&format!("/v1/agents/{other}/archive"), json!({"expected_version": 1})).await;
    agent
}

async fn environments(api: &mut Api) {
    let body = json!({"name": "cloud", "config": {"type": "cloud", "networking": {"type": "unrestricted"}}});
    let env = id(&api.post("/v1/environments", body).await);
    api.get("/v1/environments").await;
    api.get(&format!("/v1/environments/{env}")).await;
    api.post(&format!("/v1/environments/{env}"), json!({"description": "x"})).await;
    api.post(&format!("/v1/environments/{env}/archive"), json!({})).await;
    let env = id(&api.post("/v1/environments", json!({"name": "other"})).await);
    api.delete(&format!("/v1/environments/{env}?expected_version=1")).await;
}

async fn skills(api: &mut Api) {
    let text = "---\nname: faq\ndescription: Answers.\n---\nBody\n";
    let content = api.content("SKILL.md", text).await;
    let skill = id(&api.post("/v1/skills", json!({"name": "faq", "content": content})).await);
    let content = api.content("SKILL.md", &format!("{text}more\n")).await;
    api.post(&format!("/v1/skills/{skill}/versions"), json!({"content": content})).await;
    api.get("/v1/skills?source=custom").await;
    api.get(&format!("/v1/skills/{skill}")).await;
    let versions = api.get(&format!("/v1/skills/{skill}/versions")).await;
    api.get(&format!("/v1/skills/{skill}/versions/latest")).await;
    api.get(&format!("/v1/skills/{skill}/versions/latest/content")).await;
    let oldest = id(&versions["data"][1]);
    api.delete(&format!("/v1/skills/{skill}/versions/{oldest}")).await;
    api.delete(&format!("/v1/skills/{skill}")).await;
}

async fn file_trees(api: &mut Api, agent: &str) {
    let content = api.content("a/b.txt", "x").await;
    let body = json!({"name": "docs", "source": {"kind": "upload"}, "content": content});
    let tree = id(&api.post("/v1/projects", body).await);
    let content = api.content("a/b.txt", "y").await;
    api.post(&format!("/v1/file_trees/{tree}/revisions"), json!({"content": content, "expected_version": null})).await;
    api.post(&format!("/v1/file_trees/{tree}"), json!({"name": "docs-2"})).await;
    api.get("/v1/file_trees").await;
    api.get(&format!("/v1/file_trees/{tree}")).await;
    api.get(&format!("/v1/file_trees/{tree}/revisions")).await;
    api.get(&format!("/v1/file_trees/{tree}/revisions/2")).await;
    api.get(&format!("/v1/file_trees/{tree}/revisions/latest/tree")).await;
    api.get(&format!("/v1/file_trees/{tree}/revisions/1/file?path=a/b.txt")).await;
    let body = json!({"agent_id": agent, "file_tree_id": tree, "mount_path": "/workspace/docs"});
    let mount = id(&api.post("/v1/file_tree_mounts", body).await);
    api.get("/v1/file_tree_mounts").await;
    api.get(&format!("/v1/file_tree_mounts/{mount}")).await;
    let body = json!({"selection": {"kind": "pinned", "revision": 1}});
    api.post(&format!("/v1/file_tree_mounts/{mount}"), body).await;
    api.get(&format!("/v1/authoring/referrers?ids={tree}")).await;
    api.delete(&format!("/v1/file_tree_mounts/{mount}")).await;
    api.post(&format!("/v1/file_trees/{tree}/archive"), json!({})).await;
}

async fn memory(api: &mut Api, agent: &str) {
    let store = id(&api.post("/v1/memory_stores", json!({"name": "answers", "description": "d"})).await);
    let at = format!("/v1/memory_stores/{store}");
    api.post(&at, json!({"description": "", "metadata": {"a": "b"}})).await;
    api.get("/v1/memory_stores").await;
    api.get(&at).await;
    let digest = api.blob(b"one").await;
    let puts = json!({"expect": {"/b.md": null}, "puts": {"/b.md": digest}, "deletes": []});
    api.post(&format!("{at}/contents"), puts).await;
    let memory = id(&api.post(&format!("{at}/memories"), json!({"path": "/x/a.md", "content": "text"})).await);
    api.get(&format!("{at}/memories?depth=1&path_prefix=/")).await;
    api.get(&format!("{at}/memories?view=full&limit=20")).await;
    api.get(&format!("{at}/memories/{memory}")).await;
    let precondition = json!({"type": "content_sha256", "content_sha256": Digest::of(b"text").hex()});
    let body = json!({"content": "more", "precondition": precondition});
    api.post(&format!("{at}/memories/{memory}?view=full"), body.clone()).await;
    let other = json!({"content": "else", "precondition": precondition});
    let (status, refused) = api.ask(Verb::Post, &format!("{at}/memories/{memory}"), &[], Body::Json(other)).await;
    assert_eq!((status, &refused["error"]["type"]), (409, &json!("memory_precondition_failed_error")));
    let taken = Body::Json(json!({"path": "/b.md", "content": ""}));
    let (status, refused) = api.ask(Verb::Post, &format!("{at}/memories"), &[], taken).await;
    assert_eq!((status, &refused["error"]["type"]), (409, &json!("memory_path_conflict_error")));
    api.delete(&format!("{at}/memories/{memory}?expected_content_sha256={}", Digest::of(b"more").hex())).await;
    let versions = api.get(&format!("{at}/memory_versions?view=full")).await;
    let oldest = id(versions["data"].as_array().unwrap().iter().find(|v| v["memory_id"] == memory).unwrap());
    api.get(&format!("{at}/memory_versions/{oldest}")).await;
    let created = versions["data"].as_array().unwrap().iter().rfind(|v| v["memory_id"] == memory).unwrap();
    api.post(&format!("{at}/memory_versions/{}/redact", id(created)), json!({})).await;
    api.get(&format!("{at}/memory_versions/{}", id(created))).await;
    api.get(&format!("{at}/versions")).await;
    api.get(&format!("{at}/versions/latest")).await;
    let body = json!({"agent_id": agent, "memory_store_id": store, "mount_path": "/mnt/memory/answers"});
    let mount = id(&api.post("/v1/memory_mounts", body).await);
    api.get("/v1/memory_mounts").await;
    api.get(&format!("/v1/memory_mounts/{mount}")).await;
    api.post(&format!("/v1/memory_mounts/{mount}"), json!({"instructions": "Read it."})).await;
    api.delete(&format!("/v1/memory_mounts/{mount}")).await;
    api.post(&format!("{at}/archive"), json!({})).await;
    api.delete(&at).await;
}

async fn files(api: &mut Api) {
    let digest = api.blob(b"hello").await;
    let body = json!({"filename": "a.txt", "mime_type": "text/plain", "digest": digest, "size": 5});
    let file = id(&api.post("/v1/files", body).await);
    api.get("/v1/files").await;
    api.get(&format!("/v1/files?ids[]={file}&ids[]=file_none")).await;
    api.get(&format!("/v1/files/{file}")).await;
    let (status, refused) = api.ask(Verb::Get, &format!("/v1/files/{file}/content"), &[], Body::Empty).await;
    assert_eq!((status, &refused["error"]["details"]["error_code"]), (400, &json!("file_not_downloadable")));
    api.delete(&format!("/v1/files/{file}")).await;
    let body = json!({"digests": [digest, Digest::of(b"nowhere")]});
    api.post("/v1/blobs/missing", body).await;
    let held = api.blob(b"kept").await;
    api.get(&format!("/v1/blobs/{held}")).await;
}

async fn authoring(api: &mut Api, agent: &str) {
    let owner = "/v1/authoring/owners/acme%2Fsupport";
    let body = json!({"seq": api.get(owner).await["seq"], "policy": {"max_retire": 3}});
    api.by(ME, Verb::Post, &format!("{owner}/policy"), Body::Json(body)).await;
    api.get(owner).await;
    api.get("/v1/authoring/summaries?owner=acme/support&kind=Agent&limit=10").await;
    api.get("/v1/authoring/summaries?name=support").await;
    let find = json!({"me": "acme/b", "addresses": ["Agent/support"], "ids": [agent]});
    assert_eq!(api.post("/v1/authoring/find", find).await["data"].as_array().map(Vec::len), Some(1));
    api.post("/v1/authoring/bodies", json!({"ids": [agent], "me": ME})).await;
    let wants = json!([{"key": "Agent/support"}, {"key": "acme/other:Skill/none"}]);
    api.post("/v1/authoring/resolve", json!({"me": ME, "wants": wants})).await;
    let seq = |api: &Value| api["authoring"]["seq"].as_u64().unwrap_or(0);
    let at = |body: &Value| json!({"at": {"id": body["id"], "version": body["version"]}, "seq": seq(body)});
    let path = format!("/v1/agents/{agent}");
    let by = |verb: &str, body: Value| (format!("/v1/authoring/{verb}"), Body::Json(body));
    let now = api.get(&path).await;
    let (target, body) = by("protect", json!({"at": at(&now), "protected": true}));
    api.by(ME, Verb::Post, &target, body).await;
    let now = api.get(&path).await;
    let (target, body) = by("record", json!({"at": at(&now), "applied": {"spec": {"name": "support"}, "unowned": []}}));
    api.by(ME, Verb::Post, &target, body).await;
    let now = api.get(&path).await;
    let (target, body) = by("hand_over", json!({"at": at(&now), "to": "acme/b", "address": "Agent/support"}));
    api.by(ME, Verb::Post, &target, body).await;
    let now = api.get(&path).await;
    let transfer = json!({"at": at(&now), "from": now["authoring"]["owner"], "to": ME, "address": "Agent/support"});
    let (target, body) = by("transfer", transfer);
    api.by(ME, Verb::Post, &target, body).await;
    let now = api.get(&path).await;
    let (target, body) = by("release", at(&now));
    api.by(ME, Verb::Post, &target, body).await;
    let now = api.get(&path).await;
    let claim = json!({"address": "Agent/support", "applied": {"spec": {"name": "support"}}});
    let (target, body) = by("claim", json!({"at": at(&now), "claim": claim}));
    api.by(ME, Verb::Post, &target, body).await;
}

async fn journal(api: &mut Api) {
    let begin = json!({"plan_digest": Digest::of(b"plan"), "owner": ME, "source": {"path": ""}, "addresses": []});
    let apply = id(&api.by(ME, Verb::Post, "/v1/applies", Body::Json(begin)).await);
    let line = json!({"action": "Agent/x#update", "outcome": "stale", "operation": "agents.update"});
    let end = json!({"outcome": "partial", "lines": [line]});
    api.by(ME, Verb::Post, &format!("/v1/applies/{apply}/end"), Body::Json(end)).await;
    api.get("/v1/applies?owner=acme/support").await;
    api.get(&format!("/v1/applies/{apply}")).await;
    let state = api.get(&format!("/v1/applies/{apply}/state?limit=1")).await;
    assert_eq!(state["data"][0]["address"], "Agent/support");
    api.get("/v1/audit?after=0&limit=5").await;
    let facts = api.get("/v1/audit?operation=authoring.hand_over&actor=kim&at[gte]=2026-01-01T00:00:00Z").await;
    assert_eq!(facts["data"][0]["to_owner"], "acme/b");
    let version = api.get("/v1/agents?view=summary&limit=100").await["data"][0]["version"].clone();
    assert!(version.is_u64(), "{version}");
    api.get("/v1/workspace").await;
    let token = json!({"name": "ci", "scope": "apply", "owners": ["acme/*"], "actor_kind": "api"});
    let token = api.post("/v1/tokens", token).await;
    api.get("/v1/tokens").await;
    api.post(&format!("/v1/tokens/{}/revoke", id(&token["token"])), json!({})).await;
}

#[tokio::test]
async fn every_operation_is_as_it_is_described() {
    let (_dir, mut api) = Api::new();
    let agent = agents(&mut api).await;
    environments(&mut api).await;
    skills(&mut api).await;
    file_trees(&mut api, &agent).await;
    memory(&mut api, &agent).await;
    files(&mut api).await;
    authoring(&mut api, &agent).await;
    journal(&mut api).await;
    let all: BTreeSet<&str> = OPERATIONS.iter().map(|o| o.name).collect();
    let missed: Vec<&str> = all.difference(&api.done).copied().collect();
    assert_eq!(missed, NEVER, "never carried out");
}

#[tokio::test]
async fn refusals_are_as_they_are_described() {
    let (_dir, mut api) = Api::new();
    let agent = agents(&mut api).await;
    let path = format!("/v1/agents/{agent}");
    let stale = json!({"expected_version": 1, "name": "x"});
    let rows: Vec<(Verb, String, &str, Body, u16, &str)> = vec![
        (Verb::Get, "/v1/agents/agent_none".into(), "", Body::Empty, 404, "resource.not_found"),
        (Verb::Get, "/v1/agents?limit=0".into(), "", Body::Empty, 400, "validation.invalid"),
        (Verb::Post, "/v1/agents".into(), "", Body::Json(json!({"nme": "x"})), 400, "validation.invalid"),
        (Verb::Post, path.clone(), "", Body::Json(json!({"name": "x"})), 409, "authoring.owned_elsewhere"),
        (Verb::Post, path.clone(), ME, Body::Json(stale), 409, "validation.conflict"),
        (Verb::Get, format!("{path}?version=9"), "", Body::Empty, 404, "resource.not_found"),
    ];
    for (method, target, owner, body, status, code) in rows {
        let headers = [("checkfu-owner", owner)];
        let headers: &[(&str, &str)] = if owner.is_empty() { &[] } else { &headers };
        let (found, refused) = api.ask(method, &target, headers, body).await;
        assert_eq!((found, refused["error"]["details"]["error_code"].as_str()), (status, Some(code)), "{target}");
    }
}

#[test]
fn no_number_in_the_document_is_beyond_what_a_workspace_holds() {
    let mut seen = BTreeMap::new();
    fn walk(value: &Value, seen: &mut BTreeMap<String, u64>) {
        match value {
            Value::Object(map) => {
                if let Some(n) = map.get("maximum").and_then(Value::as_u64) {
                    seen.insert(n.to_string(), n);
                }
                map.values().for_each(|v| walk(v, seen));
            }
            Value::Array(items) => items.iter().for_each(|v| walk(v, seen)),
            _ => {}
        }
    }
    walk(&openapi::document(), &mut seen);
    assert!(seen.values().all(|n| i64::try_from(*n).is_ok()), "{seen:?}");
}
