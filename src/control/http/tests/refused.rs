//! What is no request: each wrong field and parameter is told, all of them at once.

use serde_json::{Value, json};

use crate::control::http::{Body, Incoming, decode, route};
use crate::model::op::{Request, Verb};

fn read(method: Verb, target: &str, body: Body) -> Result<Request, String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (operation, params) = route(method, path).unwrap();
    let pair = |pair: &str| pair.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()));
    let query = query.split('&').filter_map(pair).collect();
    decode(&Incoming { operation, params, query, body }).map_err(|e| {
        assert_eq!(e.code, "validation.invalid");
        assert!(e.details["fields"][0]["field"].is_string());
        e.message
    })
}

fn get(target: &str) -> String {
    read(Verb::Get, target, Body::Empty).unwrap_err()
}

fn post(target: &str, body: Value) -> String {
    read(Verb::Post, target, Body::Json(body)).unwrap_err()
}

#[test]
fn parameters() {
    assert_eq!(
        get("/v1/agents?limit=0&view=tiny&created_at[gte]=now&owner=a b&include_archived=yes&label=x"),
        "`owner`: `a b` is not an owner: letters, digits, `.`, `_`, `-` in up to four parts joined by `/`; \
         `include_archived`: `yes` is neither true nor false; `view`: `tiny` is not one of full, summary; \
         `created_at[gte]`: `now` is not an RFC 3339 time, as 2026-11-30T12:00:00Z; `limit`: `0` is not a whole \
         number from 1 to 100; `label`: it is not `key=value`"
    );
    assert_eq!(get("/v1/agents?limit=101"), "`limit`: `101` is not a whole number from 1 to 100");
    assert!(read(Verb::Get, "/v1/skills?limit=1000&beta=true&source=custom", Body::Empty).is_ok());
    assert_eq!(get("/v1/agents?limit=1&limit=2"), "`limit`: it is there more than once");
    assert_eq!(get("/v1/agents/x?version=-1"), "`version`: `-1` is not a whole number of at least 1");
    assert_eq!(get("/v1/file_trees/x/revisions/1/file"), "`path`: it is missing");
    assert_eq!(get("/v1/agents?page="), "`page`: it is empty");
    assert_eq!(get("/v1/audit?after=x"), "`after`: `x` is not a whole number of at least 0");
    assert!(get("/v1/blobs/x").contains("is not a digest"));
    assert!(get("/v1/authoring/owners/a%20b").contains("is not an owner"));
    assert!(get("/v1/authoring/summaries?kind=Ship").contains("`kind`: `Ship` is not a kind"));
    let hex = read(Verb::Delete, "/v1/memory_stores/s/memories/m?expected_content_sha256=AB", Body::Empty);
    assert_eq!(hex.unwrap_err(), "`expected_content_sha256`: it is not 64 lower-case hex digits");
    assert!(get(&format!("/v1/agents?view={}", "x".repeat(5_000))).len() < 300);
}

#[test]
fn bodies() {
    let path = "/v1/authoring/protect";
    assert_eq!(read(Verb::Post, path, Body::Empty).unwrap_err(), "`body`: it is missing");
    assert_eq!(read(Verb::Post, path, Body::Bytes(vec![1])).unwrap_err(), "`body`: it is not JSON");
    assert_eq!(post(path, json!([])), "`body`: it is not an object");
    let at = json!({"at": {"id": "x", "version": 1, "vrsion": 2}, "seq": 1});
    assert_eq!(
        post(path, json!({"at": at, "protected": true, "wrong": 1})),
        "`at.at.vrsion`: there is no such field; `wrong`: there is no such field"
    );
    assert_eq!(
        post(path, json!({"at": {"at": {"id": "x", "version": "1"}, "seq": 1}, "protected": true})),
        "`at.at.version`: invalid type: string \"1\", expected u64"
    );
    assert!(post("/v1/applies", json!({"plan_digest": "x".repeat(5_000)})).len() < 400);
    assert_eq!(post("/v1/agents/x/archive", json!({"version": 1})), "`version`: there is no such field");
    assert_eq!(post("/v1/tokens/x/revoke", json!({"a": 1})), "`a`: there is no such field");
    let policy = json!({"seq": 1, "policy": {"max_retires": 1}});
    assert!(post("/v1/authoring/owners/a/policy", policy).starts_with("`policy.max_retires`: unknown field"));
}

#[test]
fn our_fields_beside_wire_fields() {
    assert_eq!(
        post("/v1/agents/x", json!({"version": 1, "expected_version": 2})),
        "`version`: it is another than `expected_version`"
    );
    let update = read(Verb::Post, "/v1/agents/x", Body::Json(json!({"version": 3, "system": null}))).unwrap();
    let Request::Update(update) = update else { panic!() };
    assert_eq!((update.at.version, json!(update.body)), (Some(3), json!({"system": null})));
    assert_eq!(post("/v1/environments/x", json!({"version": 3})), "`version`: there is no such field");
    assert_eq!(
        post(
            "/v1/agents",
            json!({"name": "x", "model": "m", "authoring": {"applied": {"spec": {}}}, "content": {"entries": 1}})
        ),
        "`content.entries`: invalid type: integer `1`, expected a sequence; `authoring.address`: a claim needs it"
    );
    assert_eq!(
        post("/v1/agents", json!({"name": "x", "model": "m", "authoring": {"address": "Agent/x", "owner": "a"}})),
        "`authoring.owner`: there is no such field; `authoring.applied`: a claim needs it"
    );
}

#[test]
fn wire_fields() {
    assert_eq!(
        post("/v1/agents", json!({"nme": "x", "model": 1, "tools": "all", "metadata": {"a": 1}})),
        "`name`: it is missing; `metadata.a`: 1 is not of types \"null\", \"string\"; `model`: 1 is not valid under any \
         of the schemas listed in the 'anyOf' keyword; `tools`: \"all\" is not of types \"null\", \"array\"; `nme`: there \
         is no such field"
    );
    assert!(post("/v1/agents/x", json!({"system": "x".repeat(100_001)})).len() < 300);
    assert!(
        read(Verb::Post, "/v1/environments/x", Body::Json(json!({"config": {"packages": {"pip": ["x"]}}}))).is_ok()
    );
    let big = json!({"at": {"at": {"id": "x", "version": u64::MAX}, "seq": 1}, "protected": true});
    assert_eq!(post("/v1/authoring/protect", big), "`at.at.version`: it is more than 9223372036854775807");
    assert_eq!(
        get("/v1/audit?after=9223372036854775808"),
        "`after`: `9223372036854775808` is not a whole number of at least 0"
    );
    let any = json!({"at": {"at": {"id": "x"}, "seq": 1}, "applied": {"spec": {"n": u64::MAX}}});
    assert!(read(Verb::Post, "/v1/authoring/record", Body::Json(any)).is_ok());
}
