//! Versions of memories and of stores: who wrote what; redaction; the end of a store.

use serde_json::json;

use super::*;

const A: &str = "acme/a";

fn wanted(store: &str) -> MemoryVersions {
    MemoryVersions { id: store.to_owned(), limit: Some(100), ..MemoryVersions::default() }
}

fn list(ws: &Ws, request: MemoryVersions) -> Vec<Value> {
    ws.page(Request::MemoryVersions(request)).data
}

fn shown(versions: &[Value]) -> Vec<String> {
    let text = |v: &Value| v.as_str().unwrap_or("-").to_owned();
    versions.iter().map(|v| format!("{} {}", text(&v["operation"]), text(&v["path"]))).collect()
}

fn of(store: &str, version: &Value) -> MemoryVersionOf {
    MemoryVersionOf { id: store.to_owned(), version: version["id"].as_str().unwrap().to_owned() }
}

/// A store with two memories that were written by two actors, one of them renamed and deleted.
fn history(ws: &Ws) -> (String, String) {
    let store = ws.store(None, "answers").id;
    let id = ws.written(&anyone(), memory_create(&store, "/a", "first secret")).id;
    ws.write(&session(), &store, "/a", "second");
    ws.written(&anyone(), memory_create(&store, "/b", "kept"));
    let rename = MemoryUpdate { path: Some("/c".to_owned()), ..memory_update(&store, &id) };
    ws.written(&anyone(), Request::MemoryUpdate(rename));
    ws.written(&session(), Request::MemoryDelete(MemoryDelete { id: store.clone(), memory: id.clone(), expect: None }));
    (store, id)
}

#[test]
fn every_write_is_a_version_newest_first() {
    let ws = Ws::new();
    let (store, id) = history(&ws);
    let all = list(&ws, wanted(&store));
    assert_eq!(shown(&all), ["deleted /c", "modified /c", "created /b", "modified /a", "created /a"]);
    let session = json!({"type": "session_actor", "session_id": "sesn_1"});
    let api = json!({"type": "api_actor", "api_key_id": "ann"});
    assert_eq!((&all[0]["created_by"], &all[1]["created_by"]), (&session, &api));
    let (created, deleted) = (&all[4], &all[0]);
    assert_eq!(
        (&created["memory_id"], &created["type"], &created["content"]),
        (&json!(id), &json!("memory_version"), &json!(null))
    );
    assert_eq!(created["content_sha256"], json!(Digest::of(b"first secret").hex()));
    assert_eq!((&deleted["content_sha256"], &deleted["content_size_bytes"]), (&json!(null), &json!(null)));
    assert_eq!(ws.body(Request::MemoryVersionGet(of(&store, created)))["content"], "first secret");
    assert_eq!(ws.body(Request::MemoryVersionGet(of(&store, deleted)))["content"], json!(null));
    let none = MemoryVersionOf { id: store.clone(), version: "memver_none".to_owned() };
    assert_eq!(ws.refused(&anyone(), Request::MemoryVersionGet(none)).code, "resource.not_found");
    // The version of the memory that is there.
    let b = ws.memories(memory_list(&store)).data.remove(0);
    assert_eq!(b["memory_version_id"], all[2]["id"]);
}

#[test]
fn versions_are_filtered_and_paged() {
    let ws = Ws::new();
    let (store, id) = history(&ws);
    let all = list(&ws, wanted(&store));
    let with = |change: &dyn Fn(&mut MemoryVersions)| {
        let mut request = wanted(&store);
        change(&mut request);
        shown(&list(&ws, request))
    };
    assert_eq!(with(&|r| r.memory = Some(id.clone())), ["deleted /c", "modified /c", "modified /a", "created /a"]);
    assert_eq!(with(&|r| r.operation = Some("created".to_owned())), ["created /b", "created /a"]);
    assert_eq!(with(&|r| r.session = Some("sesn_1".to_owned())), ["deleted /c", "modified /a"]);
    assert_eq!(with(&|r| r.api_key = Some("sesn_1".to_owned())), Vec::<String>::new());
    let moment = all[2]["created_at"].as_str().unwrap().to_owned();
    assert_eq!(with(&|r| r.created_from = Some(moment.clone())).len(), 3);
    assert_eq!(with(&|r| r.created_to = Some(moment.replace('Z', "+00:00"))).len(), 3);
    let (mut paged, mut page) = (Vec::new(), None);
    loop {
        let found = ws.page(Request::MemoryVersions(MemoryVersions { page, limit: Some(2), ..wanted(&store) }));
        paged.extend(found.data);
        page = found.next_page;
        if page.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    let full = list(&ws, MemoryVersions { view: Some(View::Full), ..wanted(&store) });
    assert_eq!(full[2]["content"], "kept");
    // Nothing is written by a service account here.
    assert!(list(&ws, MemoryVersions { service_account: Some("svac_1".to_owned()), ..wanted(&store) }).is_empty());
    for bad in [
        MemoryVersions { operation: Some("redacted".to_owned()), ..wanted(&store) },
        MemoryVersions { created_from: Some("monday".to_owned()), ..wanted(&store) },
        MemoryVersions { page: Some("page_41".to_owned()), ..wanted(&store) },
        MemoryVersions { limit: Some(0), ..wanted(&store) },
    ] {
        assert_eq!(ws.refused(&anyone(), Request::MemoryVersions(bad)).code, "validation.invalid");
    }
}

#[test]
fn many_writes_at_once_are_a_version_of_each_memory() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    ws.written(&anyone(), memory_create(&store, "/old", "o"));
    ws.written(&anyone(), memory_create(&store, "/gone", "g"));
    let request = WriteContents {
        id: store.clone(),
        expect: [("/new", None), ("/old", Some("o")), ("/gone", Some("g"))]
            .map(|(path, text)| (path.to_owned(), text.map(|t: &str| Digest::of(t.as_bytes()))))
            .into(),
        puts: [("/new".to_owned(), ws.blob("n")), ("/old".to_owned(), ws.blob("o2"))].into(),
        deletes: vec!["/gone".to_owned()],
        applied: None,
    };
    ws.written(&by(A), Request::WriteContents(request));
    let all = list(&ws, wanted(&store));
    let mut newest = shown(&all[..3]);
    newest.sort();
    assert_eq!(newest, ["created /new", "deleted /gone", "modified /old"]);
    assert!(all[..3].iter().all(|v| v["memory_store_version"] == 3 && v["created_by_owner"] == A));
    let body = ws.version(Kind::MemoryStore, &store, "3");
    assert_eq!(
        (&body["type"], &body["parent"], &body["created_by"]),
        (&json!("memory_store_version"), &json!(2), &json!("ci"))
    );
    assert_eq!(body["changes"], json!({"created": 1, "modified": 1, "deleted": 1}));
    let changed: Vec<_> = body["changed"].as_array().unwrap().iter().map(|c| (&c["operation"], &c["path"])).collect();
    let wanted = [("deleted", "/gone"), ("created", "/new"), ("modified", "/old")].map(|(o, p)| (json!(o), json!(p)));
    assert_eq!(changed, wanted.iter().map(|(o, p)| (o, p)).collect::<Vec<_>>());
    let listed = ws.versions(Kind::MemoryStore, &store).unwrap();
    assert_eq!(listed.iter().map(|v| v["parent"].clone()).collect::<Vec<_>>(), [json!(2), json!(1), json!(null)]);
    assert_eq!(ws.version(Kind::MemoryStore, &store, "latest")["digest"], listed[0]["digest"]);
}

#[test]
fn a_rename_says_where_the_memory_was() {
    let ws = Ws::new();
    let (store, _) = history(&ws);
    let changed = ws.version(Kind::MemoryStore, &store, "4")["changed"].clone();
    assert_eq!((changed[0]["path"].clone(), changed[0]["previous_path"].clone()), (json!("/c"), json!("/a")));
    let changed = ws.version(Kind::MemoryStore, &store, "2")["changed"].clone();
    assert_eq!((changed[0]["path"].clone(), changed[0]["previous_path"].clone()), (json!("/a"), json!(null)));
}

/// Are these bytes anywhere in the files of a workspace?
fn is_on_disk(ws: &Ws, text: &str) -> bool {
    std::fs::read_dir(ws.folder.path()).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|w| w == text.as_bytes())
    })
}

#[test]
fn a_redacted_content_is_gone_from_the_disk_and_told_of() {
    let ws = Ws::new();
    let (store, _) = history(&ws);
    assert!(is_on_disk(&ws, "first secret"));
    let all = list(&ws, wanted(&store));
    let first = of(&store, &all[4]);
    assert!(ws.written(&anyone(), Request::MemoryVersionRedact(first.clone())).changed);
    let body = ws.body(Request::MemoryVersionGet(first.clone()));
    for field in ["content", "path", "content_sha256", "content_size_bytes"] {
        assert_eq!(body[field], json!(null), "{field}");
    }
    assert_eq!((&body["redacted_by"]["api_key_id"], body["redacted_at"].is_string()), (&json!("ann"), true));
    assert_eq!(body["created_by"], all[4]["created_by"]);
    assert!(!is_on_disk(&ws, "first secret"));
    let fact = ws.facts(&store).pop().unwrap();
    assert_eq!(fact.operation, "memory_versions.redact");
    assert_eq!(fact.fields, [format!("memory_versions.{}", first.version)]);
    assert!(!ws.written(&anyone(), Request::MemoryVersionRedact(first)).changed);
    // The store's version keeps its digest and no longer tells what that one held.
    let body = ws.version(Kind::MemoryStore, &store, "1");
    assert_eq!((&body["entries"], &body["changed"][0]["path"]), (&json!([]), &json!(null)));
    // So can the last trace of a memory that is deleted.
    ws.written(&anyone(), Request::MemoryVersionRedact(of(&store, &all[0])));
}

#[test]
fn what_is_there_now_and_what_others_hold_is_not_taken() {
    let ws = Ws::new();
    let store = ws.store(Some(A), "answers").id;
    let tree = object(json!({"name": "t", "source": {"kind": "upload"}}));
    let Request::Create(mut tree) = create(Kind::FileTree, tree, None) else { unreachable!() };
    tree.content = Some(ws.content(&[("a.md", "shared words")]));
    ws.written(&anyone(), Request::Create(tree));
    ws.write(&by(A), &store, "/a", "shared words");
    ws.write(&by(A), &store, "/a", "next");
    let all = list(&ws, wanted(&store));
    let head = Request::MemoryVersionRedact(of(&store, &all[0]));
    assert_eq!(ws.refused(&by(A), head).code, "memory.redact_refused");
    let old = Request::MemoryVersionRedact(of(&store, &all[1]));
    assert_eq!(ws.refused(&anyone(), old.clone()).code, "authoring.owned_elsewhere");
    let error = ws.refused(&session(), old.clone());
    assert_eq!((error.code, error.kind), ("authoring.owned_elsewhere", crate::control::ErrorKind::Conflict));
    let sessions = Context { owner: Some(owner(A)), ..session() };
    assert_eq!(ws.refused(&sessions, old.clone()).code, "memory.redact_refused");
    ws.written(&by(A), old);
    let held = Request::BlobGet(BlobGet { digest: Digest::of(b"shared words") });
    assert_eq!(ws.call(&anyone(), held).unwrap(), Response::Bytes(b"shared words".to_vec()));
}

#[test]
fn redaction_by_another_is_no_drift() {
    let ws = Ws::new();
    let store = ws.store(Some(A), "answers").id;
    ws.track(A);
    ws.write(&by(A), &store, "/a", "one");
    ws.write(&by(A), &store, "/a", "two");
    let all = list(&ws, wanted(&store));
    ws.written(&anyone(), Request::MemoryVersionRedact(of(&store, &all[1])));
    ws.written(&anyone(), update(Kind::MemoryStore, at(&store, 1), json!({"description": "d"})));
    let moved = ws.loaded(A, &[&store]).bodies.remove(0).moved;
    assert_eq!(moved.iter().map(|m| m.operation.as_str()).collect::<Vec<_>>(), ["memory_stores.update"]);
}

#[test]
fn a_deleted_store_takes_everything_with_it() {
    let ws = Ws::new();
    let (store, id) = history(&ws);
    let other = ws.store(None, "other").id;
    ws.written(&anyone(), memory_create(&other, "/b", "kept"));
    let agent = ws.agent(None, "a").id;
    let mount = json!({"agent_id": agent, "memory_store_id": store, "mount_path": "/m"});
    let mount = ws.written(&anyone(), create(Kind::MemoryMount, object(mount), None)).id;
    let delete =
        |version| Request::Delete(RetireOf { kind: Kind::MemoryStore, at: at(&store, version), memory_version: None });
    assert_eq!(ws.refused(&anyone(), delete(1)).details["by"], json!([mount]));
    ws.written(&anyone(), retire(Kind::MemoryMount, at(&mount, 1)));
    ws.written(&anyone(), retire(Kind::MemoryStore, at(&store, 1)));
    ws.written(&anyone(), delete(2));
    for request in [
        Request::MemoryList(memory_list(&store)),
        Request::MemoryVersions(wanted(&store)),
        Request::MemoryGet(MemoryOf { id: store.clone(), memory: id, view: None }),
        Request::Versions(VersionsOf { kind: Kind::MemoryStore, id: store.clone(), page: None, limit: None }),
        delete(3),
    ] {
        assert_eq!(ws.refused(&anyone(), request).code, "resource.not_found");
    }
    assert!(!is_on_disk(&ws, "first secret"));
    assert_eq!(ws.memories(memory_list(&other)).data.len(), 1);
    let held = Request::BlobGet(BlobGet { digest: Digest::of(b"kept") });
    assert_eq!(ws.call(&anyone(), held).unwrap(), Response::Bytes(b"kept".to_vec()));
}

#[test]
fn a_store_that_another_deletes_is_held_as_gone() {
    let ws = Ws::new();
    let store = ws.store(Some(A), "answers").id;
    ws.write(&by(A), &store, "/a", "x");
    let delete = |v| Request::Delete(RetireOf { kind: Kind::MemoryStore, at: at(&store, v), memory_version: None });
    assert_eq!(ws.refused(&anyone(), delete(1)).code, "authoring.owned_elsewhere");
    ws.track(A);
    ws.written(&anyone(), delete(1));
    assert_eq!(ws.summary(A, &store).gone.unwrap().operation, "memory_stores.delete");
    assert_eq!(ws.loaded(A, &[&store]).bodies.remove(0).memories, vec![]);
}
