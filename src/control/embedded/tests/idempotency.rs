//! Same key and same request: the stored answer, nothing done.

use serde_json::json;

use super::*;

const A: &str = "acme/a";

#[test]
fn a_repeated_key_answers_from_the_record() {
    let ws = Ws::new();
    let request = create(Kind::Agent, agent_body("support"), Some("support"));
    let first = ws.written(&keyed(A, "k1"), request.clone());
    let again = ws.written(&keyed(A, "k1"), request.clone());
    assert_eq!(again, Written { replayed: true, ..first.clone() });
    assert_eq!((ws.owner(A).count, ws.facts(&first.id).len()), (1, 1));
    let other = create(Kind::Agent, agent_body("other"), Some("other"));
    assert_eq!(ws.refused(&keyed(A, "k1"), other.clone()).code, "idempotency.key_reused");
    // Another owner has keys of its own.
    ws.written(&keyed("acme/b", "k1"), other);
}

#[test]
fn a_replay_says_that_the_resource_moved_on() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    let request = update(Kind::Agent, at(&id, 1), json!({"system": "two"}));
    ws.written(&keyed(A, "k"), request.clone());
    assert!(!ws.written(&keyed(A, "k"), request.clone()).moved);
    ws.written(&by(A), update(Kind::Agent, at(&id, 2), json!({"system": "three"})));
    let late = ws.written(&keyed(A, "k"), request);
    assert_eq!((late.replayed, late.moved, late.version), (true, true, 3));
}

#[test]
fn only_successes_are_stored() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    let request = update(Kind::Agent, at(&id, 2), json!({"system": "x"}));
    assert!(ws.refused(&keyed(A, "k"), request.clone()).is_stale());
    ws.written(&by(A), update(Kind::Agent, at(&id, 1), json!({"system": "w"})));
    assert!(!ws.written(&keyed(A, "k"), request).replayed);
}

#[test]
fn the_right_to_act_comes_before_a_stored_answer() {
    let ws = Ws::new();
    let request = create(Kind::Agent, agent_body("support"), Some("support"));
    let id = ws.written(&keyed(A, "create"), request.clone()).id;
    let edit = update(Kind::Agent, at(&id, 1), json!({"system": "x"}));
    ws.written(&keyed(A, "edit"), edit.clone());
    let transfer = Transfer {
        at: Authoring { at: at(&id, 2), seq: 1 },
        from: owner(A),
        to: owner("acme/b"),
        address: address(Kind::Agent, "support"),
    };
    ws.written(&Context { admin: true, ..by("acme/b") }, Request::Transfer(transfer));
    for (key, request) in [("create", request), ("edit", edit)] {
        let error = ws.refused(&keyed(A, key), request);
        assert_eq!((error.code, &error.details["owner"]), ("authoring.owned_elsewhere", &json!("acme/b")));
    }
}

#[test]
fn a_memory_written_before_is_no_answer_for_who_lost_the_store() {
    let ws = Ws::new();
    let id = ws.store(Some(A), "notes").id;
    let memory = memory_create(&id, "/a.md", "x");
    ws.written(&keyed(A, "k"), memory.clone());
    let transfer = Transfer {
        at: Authoring { at: at(&id, 1), seq: 1 },
        from: owner(A),
        to: owner("acme/b"),
        address: address(Kind::MemoryStore, "notes"),
    };
    ws.written(&Context { admin: true, ..by("acme/b") }, Request::Transfer(transfer));
    let error = ws.refused(&keyed(A, "k"), memory);
    assert_eq!(error.code, "authoring.owned_elsewhere");
}

#[test]
fn receipt_lines_come_with_the_write_and_with_a_replay() {
    let ws = Ws::new();
    let begin = |plan: &[u8]| {
        Request::ApplyBegin(ApplyBegin {
            plan_digest: Digest::of(plan),
            owner: owner(A),
            source: Source { commit: Some("c0ffee".to_owned()), ..Source::default() },
            addresses: vec![address(Kind::Agent, "support")],
        })
    };
    let Response::Began(first) = ws.call(&by(A), begin(b"1")).unwrap() else { panic!() };
    assert_eq!(first.other, None);
    let within = |apply: &str| Context {
        apply: Some(apply.to_owned()),
        action: Some("Agent/support#create".to_owned()),
        ..keyed(A, "k")
    };
    let request = create(Kind::Agent, agent_body("support"), Some("support"));
    let made = ws.written(&within(&first.id), request.clone());
    ws.written(&within(&first.id), request.clone());
    let get = |id: &str| match ws.call(&anyone(), Request::ApplyGet(GetId { id: id.to_owned() })).unwrap() {
        Response::Apply(info) => *info,
        other => panic!("{other:?}"),
    };
    let info = get(&first.id);
    assert_eq!((info.done, info.lines.len(), info.lines[0].id.as_ref()), (1, 1, Some(&made.id)));
    // The line names the spec by a digest under which it can be read, and so does the answer.
    let spec = info.lines[0].spec.unwrap();
    assert_eq!((made.spec, Digest::of_json(&info.specs[&spec.to_string()])), (Some(spec), spec));
    let applied_now = ws.loaded(A, &[&made.id]).bodies.remove(0).applied.unwrap().spec;
    assert_eq!(info.specs[&spec.to_string()], *applied_now);

    // It was killed here. The next one is told, and its receipt is complete.
    let Response::Began(second) = ws.call(&by(A), begin(b"1")).unwrap() else { panic!() };
    assert_eq!(second.other.as_ref(), Some(&first.id));
    assert_eq!(ws.owner(A).open_apply.as_ref(), Some(&second.id));
    assert!(ws.written(&within(&second.id), request.clone()).replayed);
    let line = ReceiptLine {
        action: "Agent/x#update".to_owned(),
        outcome: "stale".to_owned(),
        operation: "agents.update".to_owned(),
        id: None,
        version: None,
        made: None,
        spec: None,
        error: Some("moved".to_owned()),
    };
    let end = ApplyEnd { id: second.id.clone(), outcome: "partial".to_owned(), lines: vec![line] };
    // What was done is said by the write that did it, and by nobody else.
    for outcome in ["done", "well", ""] {
        let mut forged = end.clone();
        outcome.clone_into(&mut forged.lines[0].outcome);
        assert_eq!(ws.refused(&by(A), Request::ApplyEnd(forged)).code, "validation.invalid", "{outcome}");
    }
    let many = ApplyEnd { lines: vec![end.lines[0].clone(); 100_001], ..end.clone() };
    assert_eq!(ws.refused(&by(A), Request::ApplyEnd(many)).code, "validation.invalid");
    // Bytes belong to an Apply too: an open one, of the owner that acts.
    let bytes = BlobPut { digest: Digest::of(b"x"), bytes: b"x".to_vec() };
    for who in
        [Context { apply: Some(second.id.clone()), ..by("acme/b") }, Context { apply: Some("apply_0".into()), ..by(A) }]
    {
        assert_eq!(ws.refused(&who, Request::BlobPut(bytes.clone())).code, "apply.closed");
    }
    let put = Context { key: None, ..within(&second.id) };
    ws.call(&put, Request::BlobPut(bytes.clone())).unwrap();
    ws.call(&by(A), Request::ApplyEnd(end.clone())).unwrap();
    let info = get(&second.id);
    assert_eq!((info.done, info.lines.len(), info.outcome.as_deref()), (1, 2, Some("partial")));
    assert_eq!(ws.refused(&by(A), Request::ApplyEnd(end)).code, "apply.closed");
    assert_eq!(ws.refused(&within(&second.id), request).code, "apply.closed");
    assert_eq!(ws.refused(&put, Request::BlobPut(bytes)).code, "apply.closed");
    assert_eq!(ws.owner(A).source.unwrap().commit.as_deref(), Some("c0ffee"));
    let list = Request::ApplyList(ApplyList { owner: Some(owner(A)), page: None, limit: None });
    let Response::Applies(all) = ws.call(&anyone(), list).unwrap() else { panic!() };
    assert_eq!(all.data.iter().map(|a| &a.id).collect::<Vec<_>>(), [&second.id, &first.id]);
    // A killed one is not told of for ever.
    let Response::Began(third) = ws.call(&by(A), begin(b"2")).unwrap() else { panic!() };
    assert_eq!(third.other, None);
}

#[test]
fn a_line_of_what_went_names_the_spec_that_went() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    let applied = ws.loaded(A, &[&id]).bodies.remove(0).applied.unwrap();
    let spec = Digest::of_json(&applied.spec);
    let request = ApplyBegin {
        plan_digest: Digest::of(b"1"),
        owner: owner(A),
        source: Source::default(),
        addresses: vec![address(Kind::Agent, "support")],
    };
    let Response::Began(began) = ws.call(&by(A), Request::ApplyBegin(request)).unwrap() else { panic!() };
    let within = |action: &str, key: &str| Context {
        apply: Some(began.id.clone()),
        action: Some(action.to_owned()),
        ..keyed(A, key)
    };
    // Not in `unowned` alone: the digest of a line is that of the whole document.
    let applied = Applied { unowned: vec!["description".to_owned()], ..applied };
    let record = Record { at: Authoring { at: at(&id, 1), seq: 1 }, applied };
    let done = ws.written(&within("Agent/support#record", "r"), Request::Record(record));
    assert_eq!(done.spec, Some(spec));
    let gone = retire(Kind::Agent, at(&id, 1));
    let done = ws.written(&within("Agent/support#retire", "d"), gone.clone());
    assert_eq!(done.spec, Some(spec));
    assert_eq!(ws.written(&within("Agent/support#retire", "d"), gone).spec, Some(spec), "a replay too");
    let Response::Apply(info) = ws.call(&anyone(), Request::ApplyGet(GetId { id: began.id.clone() })).unwrap() else {
        panic!()
    };
    assert_eq!(info.lines.iter().map(|l| l.spec).collect::<Vec<_>>(), [Some(spec), Some(spec)]);
    assert_eq!(info.specs.keys().collect::<Vec<_>>(), [&spec.to_string()]);
}

#[test]
fn the_source_last_applied_is_that_of_an_apply_that_changed_something() {
    let ws = Ws::new();
    let begin_from = |source: Source| {
        let request = ApplyBegin { plan_digest: Digest::of_json(&source), owner: owner(A), source, addresses: vec![] };
        match ws.call(&by(A), Request::ApplyBegin(request)).unwrap() {
            Response::Began(began) => Context { apply: Some(began.id), ..by(A) },
            other => panic!("{other:?}"),
        }
    };
    let begin = |commit: &str| begin_from(Source { commit: Some(commit.to_owned()), ..Source::default() });
    let source = || ws.owner(A).source.and_then(|s| s.commit);
    let (old, new) = (begin("old"), begin("new"));
    assert_eq!(source(), None);
    let id = ws.written(&new, create(Kind::Agent, agent_body("support"), Some("support"))).id;
    assert_eq!(source().as_deref(), Some("new"));
    // Refused, or nothing to change, or only bytes: it has not applied anything.
    assert!(ws.refused(&old, update(Kind::Agent, at(&id, 7), json!({"system": "old"}))).is_stale());
    assert!(!ws.written(&old, update(Kind::Agent, at(&id, 1), json!({"name": "support"}))).changed);
    let bytes = b"x".to_vec();
    ws.call(&old, Request::BlobPut(BlobPut { digest: Digest::of(&bytes), bytes })).unwrap();
    assert_eq!(source().as_deref(), Some("new"));
    let end = |context: &Context| {
        let id = context.apply.clone().unwrap();
        ws.call(&by(A), Request::ApplyEnd(ApplyEnd { id, outcome: "done".to_owned(), lines: vec![] })).unwrap();
    };
    ws.written(&old, update(Kind::Agent, at(&id, 1), json!({"system": "old"})));
    assert_eq!(source().as_deref(), Some("old"));
    end(&new);
    end(&old);
    end(&begin("last"));
    let state = ws.owner(A);
    assert_eq!((state.source.unwrap().commit.as_deref(), state.seq), (Some("old"), 0));
    // After a rollback what is older than what was undone is as old as before.
    let first = Source { commit: Some("first".to_owned()), apply: new.apply.clone(), ..Source::default() };
    ws.written(&begin_from(first), update(Kind::Agent, at(&id, 2), json!({"system": "first"})));
    assert_eq!(source().as_deref(), Some("old"));
}

#[test]
fn stored_answers_are_kept_for_a_day_and_then_let_go_of_a_few_a_write() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    const START: i64 = 1_767_225_600;
    const DAY: i64 = 24 * 60 * 60;
    let milliseconds = Arc::new(AtomicI64::new(START * 1_000));
    let time = Arc::clone(&milliseconds);
    let clock = move || jiff::Timestamp::from_millisecond(time.load(Ordering::Relaxed)).unwrap();
    let options = EmbeddedOptions { clock: Arc::new(clock), ..EmbeddedOptions::seeded(1) };
    let ws = Ws::with(options);
    let path = ws.path();
    let at = |second: i64, fraction: i64| milliseconds.store((START + second) * 1_000 + fraction, Ordering::Relaxed);
    let send = |key: &str| {
        let context = keyed(A, key);
        ws.written(&context, create(Kind::Environment, object(json!({"name": key, "config": {"type": "cloud"}})), None))
    };
    let stored = || {
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.query_row("SELECT count(*) FROM idempotency", [], |r| r.get::<_, u32>(0)).unwrap()
    };
    at(0, 700);
    for i in 0..20 {
        send(&format!("k{i}"));
    }
    at(DAY, 600);
    assert!(send("k0").replayed, "it is not a day old yet");
    send("late");
    assert_eq!(stored(), 21);
    at(DAY + 1, 800);
    // A replay writes nothing, so it lets go of nothing.
    assert!(send("k1").replayed);
    assert_eq!(stored(), 21);
    send("later");
    assert_eq!(stored(), 21 + 1 - 8);
    send("last");
    send("very-last");
    assert_eq!(stored(), 4, "late and what came after");
}

#[test]
fn what_was_done_and_undone_is_done_again_where_things_are_as_they_were() {
    let ws = Ws::new();
    let store = ws.store(Some(A), "notes").id;
    let (one, two) = (ws.blob("one"), ws.blob("two"));
    let put = |before: Option<Digest>, after: Digest| {
        Request::WriteContents(WriteContents {
            id: store.clone(),
            expect: [("/a.md".to_owned(), before)].into(),
            puts: [("/a.md".to_owned(), after)].into(),
            deletes: vec![],
            applied: None,
        })
    };
    ws.written(&keyed(A, "first"), put(None, one));
    for _ in 0..2 {
        let forth = ws.written(&keyed(A, "forth"), put(Some(one), two));
        assert!(forth.changed && !forth.replayed, "{forth:?}");
        assert!(ws.written(&keyed(A, "forth"), put(Some(one), two)).replayed, "nothing was undone");
        assert!(!ws.written(&keyed(A, "back"), put(Some(two), one)).replayed);
    }

    // Renamed away, and another made in its place and retired; back, and away again.
    let first = ws.agent(Some(A), "a").id;
    let rename = |seq, to: &str| {
        let at = Authoring { at: at(&first, 1), seq };
        Request::Transfer(Transfer { at, from: owner(A), to: owner(A), address: address(Kind::Agent, to) })
    };
    let Request::Create(mut next) = create(Kind::Agent, agent_body("a"), Some("a")) else { unreachable!() };
    next.absent_since = Some(first.clone());
    let next = Request::Create(next);
    ws.written(&by(A), rename(1, "b"));
    let made = ws.written(&keyed(A, "next"), next.clone());
    assert_eq!(ws.written(&keyed(A, "next"), next.clone()).id, made.id);
    ws.written(&by(A), retire(Kind::Agent, at(&made.id, 1)));
    assert!(ws.written(&keyed(A, "next"), next.clone()).moved, "it was made, and went");
    ws.written(&by(A), rename(2, "a"));
    ws.written(&by(A), rename(3, "b"));
    let again = ws.written(&keyed(A, "next"), next);
    assert!(again.id != made.id && !again.replayed, "{again:?}");
    assert_eq!(ws.owner(A).count, 3);
}

#[test]
fn what_is_claimed_released_and_claimed_again_has_a_sequence_for_each() {
    let ws = Ws::new();
    let id = ws.agent(None, "free").id;
    for _ in 0..2 {
        let found = Find { me: owner(A), addresses: vec![], ids: vec![id.clone()] };
        let Response::Summaries(found) = ws.call(&by(A), Request::Find(found)).unwrap() else { panic!() };
        let seq = found.data[0].seq;
        let claim = ClaimOf {
            address: address(Kind::Agent, "free"),
            applied: applied(Kind::Agent, &agent_body("free")),
            protected: false,
        };
        let claim = Request::Claim(Claim { at: Authoring { at: at(&id, 1), seq }, claim });
        let claimed = ws.written(&keyed(A, &format!("claim {seq}")), claim);
        assert!(!claimed.replayed && ws.owner(A).count == 1);
        let at = Authoring { at: at(&id, 1), seq: claimed.seq };
        ws.written(&keyed(A, &format!("release {}", claimed.seq)), Request::Release(at));
    }
}
