//! Writes that are answered with the wire body of what they wrote, and the epoch that a caller has seen.

use serde_json::json;

use super::*;

const A: &str = "acme/a";

fn representing(context: Context) -> Context {
    Context { represent: true, ..context }
}

fn shown(ws: &Ws, context: Context, request: Request) -> (Written, Value) {
    match ws.call(&representing(context), request).unwrap() {
        Response::Represented(written, body) => (written, body),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_resource_is_shown_as_a_get_would_and_so_is_a_replay() {
    let ws = Ws::new();
    let request = create(Kind::Agent, agent_body("support"), Some("support"));
    let (written, body) = shown(&ws, keyed(A, "k"), request.clone());
    assert_eq!(body, ws.get(Kind::Agent, &written.id));
    let edit = update(Kind::Agent, at(&written.id, 1), json!({"description": "d"}));
    let (_, body) = shown(&ws, by(A), edit);
    assert_eq!((&body["description"], &body["version"]), (&json!("d"), &json!(2)));
    let (again, body) = shown(&ws, keyed(A, "k"), request);
    assert_eq!((again.replayed, &body["version"]), (true, &json!(2)));
    let protect = Request::Protect(Protect { at: Authoring { at: at(&written.id, 2), seq: 1 }, protected: true });
    assert_eq!(shown(&ws, by(A), protect).1["authoring"]["protected"], json!(true));
    let unprotect = Request::Protect(Protect { at: Authoring { at: at(&written.id, 2), seq: 2 }, protected: false });
    assert_eq!(shown(&ws, by(A), unprotect).1["authoring"]["protected"], json!(false));
    let (_, body) = shown(&ws, by(A), retire(Kind::Agent, at(&written.id, 2)));
    assert!(body["archived_at"].is_string());
}

#[test]
fn what_is_not_a_resource_is_shown_as_what_it_is() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let (made, memory) = shown(&ws, anyone(), memory_create(&store, "/a", "one"));
    assert_eq!((&memory["type"], &memory["id"], &memory["content"]), (&json!("memory"), &json!(made.id), &json!(null)));
    let full =
        MemoryUpdate { content: Some("two".to_owned()), view: Some(View::Full), ..memory_update(&store, &made.id) };
    assert_eq!(shown(&ws, anyone(), Request::MemoryUpdate(full)).1["content"], "two");
    let version = memory["memory_version_id"].as_str().unwrap().to_owned();
    let redact = Request::MemoryVersionRedact(MemoryVersionOf { id: store.clone(), version });
    let (_, body) = shown(&ws, anyone(), redact);
    assert_eq!((&body["type"], body["redacted_at"].is_string()), (&json!("memory_version"), true));
    let delete = Request::MemoryDelete(MemoryDelete { id: store.clone(), memory: made.id.clone(), expect: None });
    assert_eq!(shown(&ws, anyone(), delete).1, json!({"id": made.id, "type": "memory_deleted"}));
    let nothing = WriteContents {
        id: store.clone(),
        expect: std::collections::BTreeMap::default(),
        puts: std::collections::BTreeMap::default(),
        deletes: vec![],
        applied: None,
    };
    let (_, body) = shown(&ws, anyone(), Request::WriteContents(nothing.clone()));
    assert_eq!(
        (&body["type"], &body["number"], &body["parent"]),
        (&json!("memory_store_version"), &json!(3), &json!(2))
    );
    let empty = ws.store(None, "empty").id;
    let (_, body) = shown(&ws, anyone(), Request::WriteContents(WriteContents { id: empty, ..nothing }));
    assert_eq!((&body["number"], &body["parent"]), (&json!(0), &json!(null)));
    let upload = FileCreate {
        filename: "a".to_owned(),
        mime_type: "text/plain".to_owned(),
        digest: ws.blob("x"),
        size: 1,
        expires_in_seconds: None,
    };
    let (file, body) = shown(&ws, anyone(), Request::FileCreate(upload));
    assert_eq!(body, ws.body(Request::FileGet(GetId { id: file.id.clone() })));
    let (_, body) = shown(&ws, anyone(), Request::FileDelete(GetId { id: file.id.clone() }));
    assert_eq!(body, json!({"id": file.id, "type": "file_deleted"}));
    let policy = SetPolicy { owner: owner(A), seq: 0, policy: crate::model::config::Policy::default(), undone: None };
    let (_, body) = shown(&ws, by(A), Request::SetPolicy(policy));
    assert_eq!((&body["type"], &body["owner"], &body["seq"]), (&json!("owner"), &json!(A), &json!(1)));
    let delete = Request::Delete(RetireOf { kind: Kind::MemoryStore, at: at(&store, 1), memory_version: None });
    assert_eq!(shown(&ws, anyone(), delete).1, json!({"id": store, "type": "memory_store_deleted"}));
}

#[test]
fn a_replay_of_what_is_gone_says_so() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let key = Context { key: Some("k".to_owned()), ..anyone() };
    let id = ws.written(&key, memory_create(&store, "/a", "one")).id;
    let delete = Request::MemoryDelete(MemoryDelete { id: store.clone(), memory: id.clone(), expect: None });
    ws.written(&anyone(), delete);
    let (written, body) = shown(&ws, key, memory_create(&store, "/a", "one"));
    assert_eq!((written.replayed, body), (true, json!({"id": id, "type": "memory_deleted"})));
}

#[test]
fn what_makes_versions_shows_the_version() {
    let ws = Ws::new();
    let skill = ws.skill(None, "s", "1");
    let content = ws.skill_files("s", "2");
    let publish = Request::Publish(Publish { kind: Kind::Skill, at: at(&skill.id, 1), content, applied: None });
    let (written, body) = shown(&ws, anyone(), publish);
    assert_eq!(Some(body["id"].as_str().unwrap()), written.made.as_deref());
}

#[test]
fn a_write_that_saw_another_epoch_is_refused() {
    let ws = Ws::new();
    let epoch = ws.owner(A).epoch;
    let with = |epoch: &str| Context { epoch: Some(epoch.to_owned()), ..keyed(A, "k") };
    let request = create(Kind::Agent, agent_body("a"), None);
    let error = ws.refused(&with("epoch_old"), request.clone());
    assert_eq!((error.code, error.kind), ("validation.conflict", crate::control::ErrorKind::Conflict));
    assert_eq!(error.details, json!({"reason": "epoch", "current": epoch}));
    assert!(!error.is_stale());
    assert!(!ws.written(&with(&epoch), request.clone()).replayed);
    // Nor is a stored answer given away.
    assert_eq!(ws.refused(&with("epoch_old"), request).details["reason"], "epoch");
}
