//! Memory stores: many writes as one MemoryVersion, single ones, and the rules of paths.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

const A: &str = "acme/a";

/// Puts by text, where nothing was; deletes what had this text.
fn contents(ws: &Ws, id: &str, puts: &[(&str, Option<&str>, &str)], deletes: &[(&str, &str)]) -> WriteContents {
    let mut expect = BTreeMap::new();
    let mut by_path = BTreeMap::new();
    for (path, had, text) in puts {
        expect.insert((*path).to_owned(), had.map(|t| Digest::of(t.as_bytes())));
        by_path.insert((*path).to_owned(), ws.blob(text));
    }
    for (path, had) in deletes {
        expect.insert((*path).to_owned(), Some(Digest::of(had.as_bytes())));
    }
    let deletes = deletes.iter().map(|(path, _)| (*path).to_owned()).collect();
    WriteContents { id: id.to_owned(), expect, puts: by_path, deletes, applied: None }
}

fn paths(ws: &Ws, id: &str) -> Vec<String> {
    ws.memories(memory_list(id)).data.iter().map(|m| m["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn many_writes_are_one_version_and_the_stores_own_version_stays() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    let first = contents(&ws, &id, &[("/a.md", None, "a"), ("/b/c.md", None, "c")], &[]);
    let done = ws.written(&by(A), Request::WriteContents(first));
    assert_eq!((done.version, done.made.as_deref(), done.changed), (1, Some("1"), true));
    let second = contents(&ws, &id, &[("/a.md", Some("a"), "a2")], &[("/b/c.md", "c")]);
    let done = ws.written(&by(A), Request::WriteContents(second));
    assert_eq!((done.version, done.made.as_deref()), (1, Some("2")));
    assert_eq!(paths(&ws, &id), ["/a.md"]);
    let none = ws.written(&by(A), Request::WriteContents(contents(&ws, &id, &[("/a.md", Some("a2"), "a2")], &[])));
    assert_eq!((none.changed, none.made.as_deref()), (false, Some("2")));
    let all = ws.versions(Kind::MemoryStore, &id).unwrap();
    assert_eq!(all.iter().map(|v| v["number"].clone()).collect::<Vec<_>>(), [2, 1]);
    let files = |version: &str| {
        let body = ws.version(Kind::MemoryStore, &id, version);
        body["entries"].as_array().unwrap().iter().map(|e| e["path"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((files("2"), files("1")), (vec![json!("/a.md")], vec![json!("/a.md"), json!("/b/c.md")]));
}

#[test]
fn only_a_named_path_that_moved_is_stale_and_its_writer_is_told() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    ws.written(&by(A), Request::WriteContents(contents(&ws, &id, &[("/a.md", None, "a")], &[])));
    ws.write(&session(), &id, "/other.md", "o");
    ws.written(&by(A), Request::WriteContents(contents(&ws, &id, &[("/a.md", Some("a"), "a2")], &[])));
    ws.write(&session(), &id, "/a.md", "theirs");
    let late = contents(&ws, &id, &[("/a.md", Some("a2"), "a3"), ("/new.md", None, "n")], &[]);
    let error = ws.refused(&by(A), Request::WriteContents(late));
    assert!(error.is_stale());
    assert_eq!((&error.details["path"], &error.details["writer"]), (&json!("/a.md"), &json!("sesn_1")));
    assert_eq!(paths(&ws, &id), ["/a.md", "/other.md"], "all or nothing");
}

#[test]
fn a_session_writes_on_owned_stores_and_a_person_does_not() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    ws.write(&session(), &id, "/s.md", "s");
    assert_eq!(ws.refused(&anyone(), memory_create(&id, "/p.md", "p")).code, "authoring.owned_elsewhere");
    ws.write(&by(A), &id, "/o.md", "o");
    let body = ws.loaded(A, &[&id]).bodies.remove(0);
    let who: Vec<_> = body.memories.iter().map(|m| (m.path.as_str(), m.updated_by_kind)).collect();
    assert_eq!(who, [("/o.md", ActorKind::Api), ("/s.md", ActorKind::Session)]);
    assert_eq!(body.body["contents"]["/s.md"], json!(Digest::of(b"s")));
    // What nobody applied is not owned: no drift.
    let summary = ws.summary(A, &id);
    assert_eq!(summary.live_digest, summary.applied_digest);
    let memory = body.memories.iter().find(|m| m.path == "/s.md").unwrap().id.clone();
    let delete = MemoryDelete { id: id.clone(), memory, expect: Some(Digest::of(b"x")) };
    let error = ws.refused(&session(), Request::MemoryDelete(delete.clone()));
    assert_eq!((error.code, &error.details["writer"]), ("memory.precondition_failed", &json!("sesn_1")));
    ws.written(&session(), Request::MemoryDelete(MemoryDelete { expect: None, ..delete }));
    assert_eq!(paths(&ws, &id), ["/o.md"]);
}

#[test]
fn an_applied_memory_that_moved_is_drift() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    let mut request = contents(&ws, &id, &[("/a.md", None, "a")], &[]);
    let mut spec = applied(Kind::MemoryStore, &object(json!({"name": "answers"}))).spec;
    std::sync::Arc::make_mut(&mut spec)["contents"] = json!({"/a.md": Digest::of(b"a")});
    request.applied = Some(Applied { spec, unowned: vec![] });
    ws.written(&by(A), Request::WriteContents(request));
    let settled = ws.summary(A, &id);
    assert_eq!(settled.live_digest, settled.applied_digest);
    ws.write(&session(), &id, "/a.md", "learned");
    let moved = ws.summary(A, &id);
    assert_ne!(moved.live_digest, moved.applied_digest);
    let moves = ws.loaded(A, &[&id]).bodies.remove(0).moved;
    assert_eq!((moves[0].actor.as_str(), moves[0].fields[0].as_str()), ("sesn_1", "contents./a.md"));
}

/// A write of memories that says what is applied with it, as a plan does that was made when `known` was applied.
fn planned(ws: &Ws, id: &str, known: &[(&str, &str)], puts: &[(&str, Option<&str>, &str)]) -> WriteContents {
    let mut request = contents(ws, id, puts, &[]);
    let mut all: BTreeMap<&str, Digest> = known.iter().map(|(p, t)| (*p, Digest::of(t.as_bytes()))).collect();
    all.extend(puts.iter().map(|(path, _, text)| (*path, Digest::of(text.as_bytes()))));
    request.applied = Some(spec_of(&json!({"contents": all})));
    request
}

fn spec_of(more: &serde_json::Value) -> Applied {
    let mut spec = serde_json::Value::clone(&applied(Kind::MemoryStore, &object(json!({"name": "answers"}))).spec);
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    Applied { spec: spec.into(), unowned: vec![] }
}

fn applied_to(ws: &Ws, id: &str) -> std::sync::Arc<serde_json::Value> {
    ws.loaded(A, &[id]).bodies.remove(0).applied.unwrap().spec
}

#[test]
fn two_plans_from_one_base_each_record_the_paths_that_they_wrote() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    let base = [("/a.md", "1"), ("/b.md", "1")];
    ws.written(&by(A), Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", None, "1"), ("/b.md", None, "1")])));
    let first = planned(&ws, &id, &base, &[("/a.md", Some("1"), "2")]);
    let second = planned(&ws, &id, &base, &[("/b.md", Some("1"), "2"), ("/c.md", None, "1")]);
    ws.written(&by(A), Request::WriteContents(second));
    ws.written(&by(A), Request::WriteContents(first));
    let [one, two] = ["1", "2"].map(|t| Digest::of(t.as_bytes()));
    assert_eq!(applied_to(&ws, &id)["contents"], json!({"/a.md": two, "/b.md": two, "/c.md": one}));
    let summary = ws.summary(A, &id);
    assert_eq!(summary.live_digest, summary.applied_digest);

    // A deletion takes its own path from what is applied.
    let mut gone = contents(&ws, &id, &[], &[("/a.md", "2")]);
    gone.applied = Some(spec_of(&json!({"description": "of no concern"})));
    ws.written(&by(A), Request::WriteContents(gone));
    assert_eq!(applied_to(&ws, &id), spec_of(&json!({"contents": {"/b.md": two, "/c.md": one}})).spec);
}

#[test]
fn a_change_of_a_store_and_a_write_of_its_memories_leave_each_others_record() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    ws.written(&by(A), Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", None, "1")])));
    let [one, two] = ["1", "2"].map(|t| Digest::of(t.as_bytes()));
    // Planned when /a.md was `1`; it is written before this gets there.
    let told = json!({"description": "told", "contents": {"/a.md": one}});
    let describe = |version: u64, text: &str| {
        let body = object(json!({"description": text}));
        let applied = Some(spec_of(&told));
        Request::Update(Update { kind: Kind::MemoryStore, at: at(&id, version), body, applied })
    };
    ws.written(&by(A), Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", Some("1"), "2")])));
    ws.written(&by(A), describe(1, "told"));
    assert_eq!(applied_to(&ws, &id), spec_of(&json!({"description": "told", "contents": {"/a.md": two}})).spec);
    // And the other way round: this one knows nothing of the description.
    ws.written(&by(A), Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", Some("2"), "1")])));
    assert_eq!(applied_to(&ws, &id), spec_of(&told).spec);
    let summary = ws.summary(A, &id);
    assert_eq!((summary.version, summary.live_digest), (2, summary.applied_digest));
}

#[test]
fn whatever_changes_what_is_applied_moves_the_version_or_the_sequence() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    let record = |version, seq| {
        let at = Authoring { at: at(&id, version), seq };
        Request::Record(Record { at, applied: spec_of(&json!({})) })
    };
    let wrote = ws.written(&by(A), Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", None, "1")])));
    assert_eq!((wrote.version, wrote.seq), (1, 2));
    assert!(ws.refused(&by(A), record(1, 1)).is_stale(), "it was planned before the memory was applied");
    // What is there already and recorded already moves nothing.
    let again = ws.written(&by(A), Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", Some("1"), "1")])));
    assert_eq!((again.changed, again.seq), (false, 2));

    // An update and a publication that only record.
    let Request::Update(mut only) = update(Kind::MemoryStore, at(&id, 1), json!({})) else { unreachable!() };
    only.applied = Some(spec_of(&json!({"description": "d"})));
    let recorded = ws.written(&by(A), Request::Update(only));
    assert_eq!((recorded.version, recorded.seq, recorded.changed), (1, 3, true));
    let skill = ws.skill(Some(A), "faq", "1");
    let content = ws.skill_files("faq", "1");
    let spec = json!({"content": content.digest, "labels": {"team": "x"}}).into();
    let applied = Some(Applied { spec, unowned: vec![] });
    let equal = Publish { kind: Kind::Skill, at: at(&skill.id, 1), content, applied };
    let recorded = ws.written(&by(A), Request::Publish(equal));
    assert_eq!((recorded.version, recorded.seq, recorded.changed), (1, 2, true));
}

#[test]
fn a_plan_that_is_applied_again_finds_its_store_as_it_left_it() {
    let ws = Ws::new();
    let make = create(Kind::MemoryStore, object(json!({"name": "answers"})), Some("answers"));
    let id = ws.written(&keyed(A, "create"), make.clone()).id;
    let write = Request::WriteContents(planned(&ws, &id, &[], &[("/a.md", None, "1")]));
    let wrote = ws.written(&keyed(A, "write"), write.clone());
    // Its own write raised the sequence: that is not "moved on".
    let again = ws.written(&keyed(A, "create"), make);
    assert_eq!((again.replayed, again.moved, again.seq), (true, false, 1));
    let protect = Request::Protect(Protect { at: Authoring { at: at(&id, 1), seq: wrote.seq }, protected: true });
    ws.written(&keyed(A, "protect"), protect.clone());
    // What follows expects the sequence as this left it, so it is the same request, with the same key.
    let again = ws.written(&keyed(A, "write"), write);
    assert_eq!((again.moved, again.seq), (false, wrote.seq));
    assert!(ws.written(&keyed(A, "protect"), protect).replayed);
}

#[test]
fn a_store_is_retired_with_the_memories_that_were_planned() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "answers").id;
    let retire = |memory_version| {
        Request::Archive(RetireOf { kind: Kind::MemoryStore, at: at(&id, 1), memory_version: Some(memory_version) })
    };
    assert_eq!(ws.summary(A, &id).content_version, None);
    ws.written(&session(), memory_create(&id, "/a.md", "learned"));
    // The store's own version tells of no memory.
    let error = ws.refused(&by(A), retire(0));
    assert!(error.is_stale() && error.details["current"] == json!(1));
    assert_eq!(ws.summary(A, &id).content_version.as_deref(), Some("1"));
    ws.written(&by(A), retire(1));
}

#[test]
fn paths_and_sizes() {
    let ws = Ws::new();
    let id = ws.store(None, "answers").id;
    let long = format!("/{}", "x".repeat(1_024));
    let deep = "/x".repeat(21);
    let bad =
        ["a", "/", "//a", "/a/", "/a/../b", "/./a", "/a\u{0}", "/a\u{200b}", "/a\u{2028}", "/e\u{301}", &long, &deep];
    for path in bad {
        assert_eq!(ws.refused(&anyone(), memory_create(&id, path, "x")).code, "memory.path", "{path:?}");
    }
    ws.write(&anyone(), &id, &"/x".repeat(20), "");
    ws.write(&anyone(), &id, "/a/b", "x");
    for path in ["/a", "/a/b/c"] {
        assert_eq!(ws.refused(&anyone(), memory_create(&id, path, "x")).code, "memory.path_conflict", "{path}");
    }
    ws.write(&anyone(), &id, "/a/b-c", "a neighbour");
    ws.write(&anyone(), &id, "/big", &"x".repeat(102_400));
    assert_eq!(ws.refused(&anyone(), memory_create(&id, "/big", &"x".repeat(102_401))).code, "content.limit");
    let mut request = contents(&ws, &id, &[("/n", None, "n")], &[]);
    let digest = Digest::of(&[0xff]);
    ws.call(&anyone(), Request::BlobPut(BlobPut { digest, bytes: vec![0xff] })).unwrap();
    request.puts.insert("/n".to_owned(), digest);
    assert_eq!(ws.refused(&anyone(), Request::WriteContents(request.clone())).code, "validation.invalid");
    request.puts.insert("/n".to_owned(), Digest::of(b"never"));
    assert_eq!(ws.refused(&anyone(), Request::WriteContents(request.clone())).code, "content.missing");
    request.expect.clear();
    assert_eq!(ws.refused(&anyone(), Request::WriteContents(request)).code, "validation.invalid");
}

#[test]
fn a_store_holds_ten_thousand() {
    let ws = Ws::new();
    let id = ws.store(None, "answers").id;
    let digest = ws.blob("x");
    let names: Vec<String> = (0..10_001).map(|n| format!("/{n}")).collect();
    let mut request = WriteContents {
        id: id.clone(),
        expect: names.iter().map(|n| (n.clone(), None)).collect(),
        puts: names.iter().map(|n| (n.clone(), digest)).collect(),
        deletes: vec![],
        applied: None,
    };
    assert_eq!(ws.refused(&anyone(), Request::WriteContents(request.clone())).code, "content.limit");
    request.puts.remove("/0");
    ws.written(&anyone(), Request::WriteContents(request));
    assert_eq!(ws.refused(&anyone(), memory_create(&id, "/0", "x")).code, "content.limit");
}

#[test]
fn an_archived_store_takes_no_memory() {
    let ws = Ws::new();
    let id = ws.store(None, "answers").id;
    ws.written(&anyone(), retire(Kind::MemoryStore, at(&id, 1)));
    assert_eq!(ws.refused(&session(), memory_create(&id, "/a", "x")).code, "resource.archived");
    let request = contents(&ws, &id, &[("/a", None, "a")], &[]);
    assert_eq!(ws.refused(&anyone(), Request::WriteContents(request)).code, "resource.archived");
}
