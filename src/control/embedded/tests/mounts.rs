//! Mounts: destinations, access, what they name.

use serde_json::json;

use super::*;

fn mount(agent: &str, store: &str, path: &str) -> Object {
    object(json!({"agent_id": agent, "memory_store_id": store, "mount_path": path, "selection": {"kind": "latest"}}))
}

#[test]
fn destinations_of_one_agent_do_not_overlap_over_both_kinds() {
    let ws = Ws::new();
    let (one, two) = (ws.agent(None, "one").id, ws.agent(None, "two").id);
    let store = ws.store(None, "answers").id;
    let tree = object(json!({"name": "docs", "source": {"kind": "upload"}}));
    let tree = ws.written(&anyone(), create(Kind::FileTree, tree, None)).id;
    let first = ws.written(&anyone(), create(Kind::MemoryMount, mount(&one, &store, "/mnt/a"), None));
    for path in ["/mnt/a", "/mnt/a/b", "/mnt"] {
        let error = ws.refused(&anyone(), create(Kind::MemoryMount, mount(&one, &store, path), None));
        assert_eq!(error.details["reason"], "mount_overlap", "{path}");
        let files = object(json!({"agent_id": one, "file_tree_id": tree, "mount_path": path}));
        let error = ws.refused(&anyone(), create(Kind::FileTreeMount, files, None));
        assert_eq!(error.details["reason"], "mount_overlap", "{path}");
    }
    ws.written(&anyone(), create(Kind::MemoryMount, mount(&two, &store, "/mnt/a"), None));
    ws.written(&anyone(), create(Kind::MemoryMount, mount(&one, &store, "/mnt/ab"), None));
    // Gone, its place is free.
    ws.written(&anyone(), retire(Kind::MemoryMount, at(&first.id, 1)));
    ws.written(&anyone(), create(Kind::MemoryMount, mount(&one, &store, "/mnt/a"), None));
    let moved = ws.refused(&anyone(), create(Kind::MemoryMount, mount(&one, &store, "/mnt/../etc"), None));
    assert_eq!(moved.code, "validation.invalid");
}

#[test]
fn what_a_mount_names_must_be_live_and_stays_while_it_is_named() {
    let ws = Ws::new();
    let agent = ws.agent(None, "one").id;
    let store = ws.store(None, "answers").id;
    let refuse = |body| ws.refused(&anyone(), create(Kind::MemoryMount, body, None)).code;
    assert_eq!(refuse(mount("agent_none", &store, "/a")), "validation.invalid");
    assert_eq!(refuse(mount(&agent, "memstore_none", "/a")), "validation.invalid");
    let mut writing = mount(&agent, &store, "/a");
    writing.insert("access".to_owned(), json!("read_write"));
    assert_eq!(refuse(writing), "validation.invalid");
    let mut version = mount(&agent, &store, "/a");
    version.insert("selection".to_owned(), json!({"kind": "version", "version": 3}));
    assert_eq!(refuse(version), "validation.invalid");
    let made = ws.written(&anyone(), create(Kind::MemoryMount, mount(&agent, &store, "/a"), None));
    assert_eq!(ws.refused(&anyone(), retire(Kind::MemoryStore, at(&store, 1))).details["reason"], "referenced");
    let other = ws.store(None, "other").id;
    let fixed = update(Kind::MemoryMount, at(&made.id, 1), json!({"memory_store_id": other}));
    assert_eq!(ws.refused(&anyone(), fixed).code, "validation.immutable");
    // A mount of an archived agent offers nothing any more.
    ws.written(&anyone(), retire(Kind::Agent, at(&agent, 1)));
    ws.written(&anyone(), retire(Kind::MemoryStore, at(&store, 1)));
    assert_eq!(refuse(mount(&agent, &other, "/b")), "validation.invalid");
}

#[test]
fn an_agent_has_at_most_eight_memory_mounts_and_writes_back_to_git_alone() {
    let ws = Ws::new();
    let agent = ws.agent(None, "one").id;
    let store = ws.store(None, "answers").id;
    for n in 0..8 {
        ws.written(&anyone(), create(Kind::MemoryMount, mount(&agent, &store, &format!("/m/{n}")), None));
    }
    let error = ws.refused(&anyone(), create(Kind::MemoryMount, mount(&agent, &store, "/m/8"), None));
    assert_eq!(error.details["reason"], "mount_count");
    let tree = object(json!({"name": "docs", "source": {"kind": "upload"}}));
    let tree = ws.written(&anyone(), create(Kind::FileTree, tree, None)).id;
    let files = |more: Value| {
        let mut body = object(json!({"agent_id": agent, "file_tree_id": tree, "mount_path": "/f"}));
        body.extend(object(more));
        create(Kind::FileTreeMount, body, None)
    };
    let writeback = json!({"access": "read_write", "writeback": {"kind": "pull_request"}});
    assert_eq!(ws.refused(&anyone(), files(writeback)).code, "validation.invalid");
    ws.written(&anyone(), files(json!({"access": "read_write"})));
}
