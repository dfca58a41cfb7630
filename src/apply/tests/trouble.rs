//! What goes wrong around the actions: another workspace, a locked or lost one, lost answers, a person who stops.

use super::*;

#[tokio::test]
async fn another_workspace_or_epoch_is_refused() {
    for change in [(|o: &mut crate::model::op::OwnerState| o.workspace_id = "ws_2".into()) as fn(&mut _), |o| {
        o.epoch = "e2".into();
    }] {
        let fake = Fake::new().owner(change);
        let error = go(&plan(vec![update("a", &[])]), &fake, &Files::default()).await.unwrap_err();
        assert!(matches!(error, ApplyError::OtherWorkspace { .. }), "{error}");
        assert!(fake.writes().is_empty());
    }
}

#[tokio::test]
async fn what_a_plan_refers_to_is_what_it_says() {
    let mut p = plan(vec![update("a", &[])]);
    p.ids.0.insert("Skill/good".into(), "skill_1".into());
    let content = Digest::of(b"tone");
    p.ids.0.insert(format!("acme/legal:Skill/tone@{content}"), "skver_1".into());
    let fake = Fake::new().has("Skill/good", "skill_2");
    let Err(ApplyError::OtherIds { problems }) = go(&p, &fake, &Files::default()).await else { panic!() };
    let gone =
        format!("acme/legal:Skill/tone with the content {} is not there; in the plan it is skver_1", content.short());
    assert_eq!(problems, ["Skill/good is skill_2, and skill_1 in the plan".to_owned(), gone]);
    assert!(fake.writes().is_empty());
    let error = ApplyError::OtherIds { problems };
    assert_eq!(error.code().unwrap().code, "apply.other_ids");
}

fn before(plan_digest: Digest) -> ApplyInfo {
    ApplyInfo {
        id: "apply_0".into(),
        owner: owner(),
        actor: String::new(),
        plan_digest,
        source: Source::default(),
        began_at: String::new(),
        ended_at: None,
        outcome: None,
        done: 0,
        did: vec![],
        addresses: vec![],
        lines: vec![],
        specs: BTreeMap::new(),
    }
}

#[tokio::test]
async fn a_plan_for_a_new_workspace_needs_one_where_the_owner_has_nothing() {
    let mut p = plan(vec![create_store("s")]);
    p.origin.workspace = None;
    p.origin.epoch = None;
    assert!(go(&p, &Fake::new(), &Files::default()).await.is_ok());
    let used = || Fake::new().owner(|o| o.count = 1);
    assert!(matches!(go(&p, &used(), &Files::default()).await, Err(ApplyError::OtherWorkspace { .. })));
    // What is there comes from this very plan, broken off: go on.
    let same = used().applied_before(before(p.digest));
    assert!(go(&p, &same, &Files::default()).await.is_ok());
    // Another one before it, however long ago; or more of them than can be seen.
    let again = |mut fake: Fake, times: u32| {
        for _ in 0..times {
            fake = fake.applied_before(before(p.digest));
        }
        fake
    };
    let other = || used().applied_before(before(Digest::of(b"other")));
    for fake in [again(other(), 1), again(other(), 30), again(other(), 1_000)] {
        assert!(matches!(go(&p, &fake, &Files::default()).await, Err(ApplyError::OtherWorkspace { .. })));
    }
    assert!(go(&p, &again(used(), 30), &Files::default()).await.is_ok());
}

#[tokio::test]
async fn a_refused_or_unsound_plan_sends_nothing() {
    let mut p = plan(vec![retire("x", &[])]);
    p.applyable = false;
    p.findings.push(Finding {
        code: "plan.retire".into(),
        effect: Effect::Refuses,
        address: None,
        message: String::new(),
        fix: None,
        at: None,
    });
    let fake = Fake::new();
    let Err(ApplyError::Refused { codes, input }) = go(&p, &fake, &Files::default()).await else { panic!() };
    assert_eq!((codes, input), (vec!["plan.retire".to_owned()], false));
    for actions in [
        vec![update("a", &["Agent/b#update"]), update("b", &["Agent/a#update"])],
        vec![update("a", &[]), update("a", &[])],
    ] {
        let error = go(&plan(actions), &fake, &Files::default()).await.unwrap_err();
        assert!(matches!(error, ApplyError::Unsound { .. }), "{error}");
    }
    assert!(fake.log().is_empty());
}

#[tokio::test]
async fn nothing_is_asked_twice() {
    let p = || plan(vec![update("a", &[])]);
    let fake = Fake::new().say("Agent/a#update", unavailable());
    let receipt = go(&p(), &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["failed"]);
    assert_eq!(fake.writes(), ["applies.begin", "Agent/a#update", "applies.end"]);
    let fake = Fake::new().say("applies.begin", unavailable());
    assert!(matches!(go(&p(), &fake, &Files::default()).await, Err(ApplyError::Control { .. })));
    assert_eq!(fake.writes(), ["applies.begin"]);
    let fake = Fake::new().say("authoring.owner", unavailable());
    assert!(go(&p(), &fake, &Files::default()).await.is_err());
    assert_eq!(fake.log().len(), 1);
}

#[tokio::test]
async fn a_workspace_that_is_out_of_reach_is_asked_nothing_more() {
    let no_space = || {
        let text = "no space is left";
        Say::Err(ControlError::new(ErrorKind::Unavailable, codes::control::STORE_NO_SPACE.code, text))
    };
    let fake = Fake::new().say("Agent/b#update", no_space());
    let p = plan(vec![update("a", &[]), update("b", &[]), update("c", &[]), update("d", &["Agent/b#update"])]);
    let o = ApplyOptions { parallelism: 1, ..options() };
    let receipt = apply(&p, &fake, &Files::default(), &o, &|_| ()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["done", "failed", "not_started", "blocked"]);
    assert_eq!(receipt.outcome, Outcome::Partial);
    assert!(receipt.lines[2].error.as_deref().unwrap().contains("Agent/b#update"));
    // Waiting makes no room, so it was asked once; and the Apply is ended all the same.
    let writes = fake.writes();
    assert_eq!(writes, ["applies.begin", "Agent/a#update", "Agent/b#update", "applies.end"]);
}

#[tokio::test]
async fn what_was_deleted_archived_or_given_up_since_is_stale() {
    let said = |kind, code| Say::Err(ControlError::new(kind, code, "no"));
    for (kind, code, outcome) in [
        (ErrorKind::NotFound, codes::control::NOT_FOUND.code, "stale"),
        (ErrorKind::Invalid, codes::control::ARCHIVED.code, "stale"),
        (ErrorKind::Invalid, codes::control::ENVIRONMENT_ARCHIVED.code, "stale"),
        (ErrorKind::Permission, codes::control::OWNER_REQUIRED.code, "stale"),
        (ErrorKind::Conflict, codes::control::CONFLICT.code, "stale"),
        (ErrorKind::Conflict, codes::control::KEY_REUSED.code, "failed"),
        (ErrorKind::Conflict, codes::control::APPLY_CLOSED.code, "failed"),
        (ErrorKind::Invalid, codes::control::INVALID.code, "failed"),
    ] {
        let fake = Fake::new().say("Agent/a#update", said(kind, code));
        let receipt = go(&plan(vec![update("a", &[])]), &fake, &Files::default()).await.unwrap();
        assert_eq!(outcomes(&receipt), [outcome], "{code}");
    }
}

#[tokio::test]
async fn an_answer_from_the_record_that_moved_on_is_stale() {
    let written = Written {
        id: "agent_a".into(),
        version: 9,
        seq: 1,
        made: None,
        changed: true,
        replayed: true,
        moved: true,
        spec: None,
    };
    let fake = Fake::new().say("Agent/a#update", Say::Answer(Response::Written(written.clone())));
    let p = plan(vec![update("a", &[]), update("b", &["Agent/a#update"])]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["stale", "blocked"]);
    let text = receipt.lines[0].error.as_deref().unwrap();
    assert_eq!(text, "this plan did it before, and it moved on since: it has version 9 now (apply.moved_since)");
    let still = Written { moved: false, ..written };
    let fake = Fake::new().say("Agent/a#update", Say::Answer(Response::Written(still)));
    assert_eq!(outcomes(&go(&p, &fake, &Files::default()).await.unwrap()), ["done", "done"]);
}

#[tokio::test]
async fn memories_that_came_back_to_what_they_were_are_written_again() {
    let moved = Written {
        id: "memstore_9".into(),
        version: 1,
        seq: 1,
        made: None,
        changed: true,
        replayed: true,
        moved: true,
        spec: None,
    };
    let answer = || Say::Answer(Response::Written(moved.clone()));
    let mut p = plan(vec![write_store(
        "s",
        &[("/a.md", "m/a.md", "A")],
        Precondition::Memories { expect: BTreeMap::from([("/a.md".into(), Some(Digest::of(b"old")))]) },
        &[],
    )]);
    p.ids.0.insert("MemoryStore/s".into(), "memstore_9".into());
    let files = Files::default().with("m/a.md", "A");
    let with = || Fake::new().has("MemoryStore/s", "memstore_9").say("MemoryStore/s#publish", answer());
    let fake = with();
    assert_eq!(outcomes(&go(&p, &fake, &files).await.unwrap()), ["done"]);
    let keys: Vec<_> = fake.log().into_iter().filter(|(c, _)| c.action.is_some()).map(|(c, _)| c.key).collect();
    assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
    // What is there now is neither: the comparison by path says so.
    let fake = with().say("MemoryStore/s#publish", stale());
    assert_eq!(outcomes(&go(&p, &fake, &files).await.unwrap()), ["stale"]);
}

#[tokio::test]
async fn stop_lets_what_is_in_flight_finish_and_ends_the_apply() {
    let (sender, stop) = watch::channel(false);
    let fake = Fake::new().say("Agent/a0#update", Say::Stop(sender));
    let p = plan((0..6).map(|i| update(&format!("a{i}"), &[])).collect());
    let o = ApplyOptions { parallelism: 2, stop, ..options() };
    let told = Mutex::new(Vec::new());
    let receipt = apply(&p, &fake, &Files::default(), &o, &|e| told.lock().unwrap().push(e)).await.unwrap();
    assert_eq!(receipt.outcome, Outcome::Interrupted);
    assert_eq!(receipt.lines.len(), 6);
    let (done, not_started) = (receipt.count("done"), receipt.count("not_started"));
    assert!((2..=3).contains(&done) && done + not_started == 6, "what was in flight finished, no more: {done}");
    let Request::ApplyEnd(end) = fake.log().pop().unwrap().1 else { panic!("not ended") };
    assert_eq!(end.outcome, "interrupted");
    assert!(told.lock().unwrap().iter().any(|e| matches!(e, Event::Stopping { .. })));
}

#[tokio::test]
async fn stop_before_the_first_write_writes_nothing() {
    let (sender, stop) = watch::channel(true);
    let fake = Fake::new();
    let o = ApplyOptions { stop, ..options() };
    let receipt = apply(&plan(vec![update("a", &[])]), &fake, &Files::default(), &o, &|_| ()).await.unwrap();
    drop(sender);
    assert_eq!((receipt.outcome, receipt.apply), (Outcome::Interrupted, None));
    assert!(fake.writes().is_empty());
}

#[tokio::test]
async fn an_apply_that_cannot_be_ended_still_gives_its_receipt() {
    let fake = Fake::new().say("applies.end", invalid());
    let error = go(&plan(vec![update("a", &[])]), &fake, &Files::default()).await.unwrap_err();
    let ApplyError::NotEnded { receipt, .. } = error else { panic!() };
    assert_eq!(outcomes(&receipt), ["done"]);
}

#[tokio::test]
async fn keys_are_the_same_in_another_run_and_differ_by_epoch_precondition_and_payload() {
    let key = |p: Plan, epoch: &'static str| async move {
        let fake = Fake::new().owner(|o| o.epoch = epoch.into());
        let p = Plan { origin: Origin { epoch: Some(epoch.into()), ..p.origin.clone() }, ..p };
        go(&p, &fake, &Files::default()).await.unwrap();
        fake.sent("Agent/a#update").0.key.unwrap()
    };
    let one = key(plan(vec![update("a", &[])]), "e1").await;
    assert_eq!(one, key(plan(vec![update("a", &[]), update("z", &[])]), "e1").await);
    assert_ne!(one, key(plan(vec![update("a", &[])]), "e2").await);
    let mut later = update("a", &[]);
    later.precondition = Precondition::Version { version: 4 };
    assert_ne!(one, key(plan(vec![later]), "e1").await);
    let mut other = update("a", &[]);
    let Step::Update { spec, .. } = &mut other.step else { panic!() };
    *spec = json!({"name": "b", "model": "m"}).into();
    assert_ne!(one, key(plan(vec![other]), "e1").await);
}
