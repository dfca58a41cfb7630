//! One memory: made, read, changed, moved, deleted; and lists by path.

use serde_json::json;

use super::*;

const A: &str = "acme/a";

fn get(ws: &Ws, store: &str, memory: &str) -> Value {
    ws.body(Request::MemoryGet(MemoryOf { id: store.to_owned(), memory: memory.to_owned(), view: None }))
}

fn change(store: &str, memory: &str, content: Option<&str>, path: Option<&str>, expect: Option<&str>) -> Request {
    Request::MemoryUpdate(MemoryUpdate {
        content: content.map(str::to_owned),
        path: path.map(str::to_owned),
        expect: expect.map(|text| Digest::of(text.as_bytes())),
        ..memory_update(store, memory)
    })
}

#[test]
fn a_memory_is_shown_as_the_wire_says() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let id = ws.written(&session(), memory_create(&store, "/a.md", "grüße")).id;
    let body = get(&ws, &store, &id);
    let version = body["memory_version_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("mem_") && version.starts_with("memver_"));
    let wanted = json!({
        "id": id, "type": "memory", "memory_store_id": store, "memory_version_id": version, "path": "/a.md",
        "content": "grüße", "content_sha256": Digest::of("grüße".as_bytes()).hex(), "content_size_bytes": 7,
        "created_at": body["created_at"], "updated_at": body["created_at"],
        "updated_by": "sesn_1", "updated_by_kind": "session", "updated_by_owner": null,
    });
    assert_eq!(body, wanted);
    let basic = MemoryOf { id: store.clone(), memory: id.clone(), view: Some(View::Basic) };
    assert_eq!(ws.body(Request::MemoryGet(basic))["content"], json!(null));
    let none = Request::MemoryGet(MemoryOf { id: store, memory: "mem_none".to_owned(), view: None });
    assert_eq!(ws.refused(&anyone(), none).code, "resource.not_found");
    let none = Request::MemoryGet(MemoryOf { id: "memstore_none".to_owned(), memory: id, view: None });
    assert_eq!(ws.refused(&anyone(), none).code, "resource.not_found");
}

#[test]
fn making_one_never_overwrites() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let id = ws.written(&anyone(), memory_create(&store, "/a", "x")).id;
    for (path, text) in [("/a", "x"), ("/a", "y"), ("/a/b", "y")] {
        let error = ws.refused(&anyone(), memory_create(&store, path, text));
        assert_eq!((error.code, error.kind), ("memory.path_conflict", crate::control::ErrorKind::Conflict));
        let conflict = (&error.details["conflicting_memory_id"], &error.details["conflicting_path"]);
        assert_eq!(conflict, (&json!(id), &json!("/a")));
    }
    assert_eq!(get(&ws, &store, &id)["content"], "x");
    assert_eq!(ws.versions(Kind::MemoryStore, &store).unwrap().len(), 1);
}

#[test]
fn an_update_writes_renames_or_both_and_what_is_as_asked_stays() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let id = ws.written(&anyone(), memory_create(&store, "/a", "one")).id;
    let first = get(&ws, &store, &id);
    // Already as asked, whatever is expected.
    for same in [change(&store, &id, Some("one"), None, Some("other")), change(&store, &id, None, Some("/a"), None)] {
        let done = ws.written(&anyone(), same);
        assert_eq!((done.changed, done.id.as_str(), done.made.as_deref()), (false, id.as_str(), Some("1")));
    }
    assert_eq!(get(&ws, &store, &id), first);
    let error = ws.refused(&anyone(), change(&store, &id, Some("two"), None, Some("other")));
    assert_eq!((error.code, &error.details["writer"]), ("memory.precondition_failed", &json!("ann")));
    ws.written(&session(), change(&store, &id, Some("two"), Some("/b/c"), Some("one")));
    let second = get(&ws, &store, &id);
    assert_eq!(
        (&second["content"], &second["path"], &second["updated_by"]),
        (&json!("two"), &json!("/b/c"), &json!("sesn_1"))
    );
    assert_eq!(second["created_at"], first["created_at"]);
    assert_ne!(
        (&second["updated_at"], &second["memory_version_id"]),
        (&first["updated_at"], &first["memory_version_id"])
    );
    // A memory may move below its own old path.
    ws.written(&anyone(), change(&store, &id, None, Some("/b/c/d"), Some("two")));
    let other = ws.written(&anyone(), memory_create(&store, "/x", "x")).id;
    for path in ["/b/c/d", "/b/c", "/b/c/d/e"] {
        assert_eq!(ws.refused(&anyone(), change(&store, &other, None, Some(path), None)).code, "memory.path_conflict");
    }
    assert_eq!(ws.refused(&anyone(), change(&store, &other, None, Some("x"), None)).code, "memory.path");
    let long = "x".repeat(102_401);
    assert_eq!(ws.refused(&anyone(), change(&store, &other, Some(&long), None, None)).code, "content.limit");
    assert_eq!(ws.versions(Kind::MemoryStore, &store).unwrap().len(), 4);
}

#[test]
fn a_rename_by_another_is_drift_at_both_paths() {
    let ws = Ws::new();
    let store = ws.store(Some(A), "answers").id;
    let id = ws.written(&by(A), memory_create(&store, "/a", "one")).id;
    let mut spec = applied(Kind::MemoryStore, &object(json!({"name": "answers"}))).spec;
    std::sync::Arc::make_mut(&mut spec)["contents"] = json!({"/a": Digest::of(b"one")});
    let record = Record { at: Authoring { at: at(&store, 1), seq: 1 }, applied: Applied { spec, unowned: vec![] } };
    ws.written(&by(A), Request::Record(record));
    ws.written(&session(), change(&store, &id, None, Some("/b"), None));
    let moves = ws.loaded(A, &[&store]).bodies.remove(0).moved;
    assert_eq!(moves[0].fields, ["contents./a", "contents./b"]);
}

#[test]
fn lists_go_by_path_below_a_prefix_and_roll_up_what_is_deeper() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let paths = ["/a.md", "/n/1", "/n/sub/1", "/n/sub/2", "/n-o", "/n.md", "/z/y/x"];
    for path in paths {
        ws.written(&anyone(), memory_create(&store, path, path));
    }
    let walk = |prefix: Option<&str>, depth: Option<u8>, limit: u32| {
        let (mut all, mut page) = (Vec::new(), None);
        loop {
            let path_prefix = prefix.map(str::to_owned);
            let request = MemoryList { path_prefix, depth, page, limit: Some(limit), ..memory_list(&store) };
            let found = ws.memories(request);
            assert!(found.data.len() <= limit as usize);
            all.extend(
                found.data.iter().map(|m| format!("{} {}", m["type"].as_str().unwrap(), m["path"].as_str().unwrap())),
            );
            page = found.next_page;
            if page.is_none() {
                return all.iter().map(|a| a.trim_start_matches("memory ").to_owned()).collect::<Vec<_>>();
            }
        }
    };
    for limit in [1, 2, 3, 100] {
        assert_eq!(walk(None, None, limit), ["/a.md", "/n-o", "/n.md", "/n/1", "/n/sub/1", "/n/sub/2", "/z/y/x"]);
        assert_eq!(walk(Some("/n/"), Some(0), limit), ["/n/1", "/n/sub/1", "/n/sub/2"]);
        let rolled = ["/a.md", "/n-o", "/n.md", "memory_prefix /n/", "memory_prefix /z/"];
        assert_eq!(walk(Some("/"), Some(1), limit), rolled);
        assert_eq!(walk(Some("/n/"), Some(1), limit), ["/n/1", "memory_prefix /n/sub/"]);
        assert_eq!(walk(Some("/no/"), Some(1), limit), Vec::<String>::new());
    }
    // A page that is just full says that there is no more.
    assert_eq!(ws.memories(MemoryList { limit: Some(7), ..memory_list(&store) }).next_page, None);
    let full = MemoryList { view: Some(View::Full), ..memory_list(&store) };
    assert_eq!(ws.memories(full).data[0]["content"], "/a.md");
}

#[test]
fn what_a_list_does_not_take() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    for n in 0..25 {
        ws.written(&anyone(), memory_create(&store, &format!("/{n:02}"), "x"));
    }
    let list = memory_list(&store);
    let bad = [
        MemoryList { path_prefix: Some("/a".to_owned()), ..list.clone() },
        MemoryList { path_prefix: Some("a/".to_owned()), ..list.clone() },
        MemoryList { path_prefix: Some("//".to_owned()), ..list.clone() },
        MemoryList { path_prefix: Some(String::new()), ..list.clone() },
        MemoryList { depth: Some(2), ..list.clone() },
        MemoryList { limit: Some(0), ..list.clone() },
        MemoryList { limit: Some(101), ..list.clone() },
        MemoryList { page: Some("nonsense".to_owned()), ..list.clone() },
    ];
    for request in bad {
        let error = ws.refused(&anyone(), Request::MemoryList(request.clone()));
        assert_eq!(error.code, "validation.invalid", "{request:?}");
    }
    // A cursor of another prefix.
    let page = ws.memories(MemoryList { limit: Some(1), ..list.clone() }).next_page;
    let elsewhere = MemoryList { path_prefix: Some("/x/".to_owned()), page, ..list.clone() };
    assert_eq!(ws.refused(&anyone(), Request::MemoryList(elsewhere)).code, "validation.invalid");
    let sizes = |view, limit| ws.memories(MemoryList { view, limit, ..list.clone() }).data.len();
    assert_eq!((sizes(None, None), sizes(None, Some(100)), sizes(Some(View::Full), Some(100))), (20, 25, 20));
}

#[test]
fn an_archived_store_lets_memories_be_read_and_deleted_and_nothing_else() {
    let ws = Ws::new();
    let store = ws.store(None, "answers").id;
    let id = ws.written(&anyone(), memory_create(&store, "/a", "x")).id;
    ws.written(&anyone(), retire(Kind::MemoryStore, at(&store, 1)));
    assert_eq!(get(&ws, &store, &id)["content"], "x");
    assert_eq!(ws.refused(&anyone(), change(&store, &id, Some("y"), None, None)).code, "resource.archived");
    let delete = MemoryDelete { id: store.clone(), memory: id.clone(), expect: Some(Digest::of(b"x")) };
    ws.written(&anyone(), Request::MemoryDelete(delete.clone()));
    assert_eq!(ws.refused(&anyone(), Request::MemoryDelete(delete)).code, "resource.not_found");
    assert_eq!(ws.memories(memory_list(&store)).data, Vec::<Value>::new());
}
