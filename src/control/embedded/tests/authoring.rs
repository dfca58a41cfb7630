//! One authoring owner a resource: the matrix of who may write what, and how ownership moves.

use serde_json::json;

use super::*;
use crate::control::ErrorKind;

const A: &str = "acme/a";
const B: &str = "acme/b";

fn edit(id: &str, version: u64, text: &str) -> Request {
    update(Kind::Agent, at(id, version), json!({"system": text}))
}

fn authoring(id: &str, version: u64, seq: u64) -> Authoring {
    Authoring { at: at(id, version), seq }
}

fn claim_of(name: &str, body: &Object) -> ClaimOf {
    ClaimOf { address: address(Kind::Agent, name), applied: applied(Kind::Agent, body), protected: false }
}

#[test]
fn who_may_write() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    ws.written(&by(A), edit(&id, 1, "mine"));
    for who in [by(B), anyone(), Context { admin: true, ..anyone() }] {
        let error = ws.refused(&who, edit(&id, 2, "theirs"));
        assert_eq!((error.code, &error.details["owner"]), ("authoring.owned_elsewhere", &json!(A)));
        assert!(error.message.contains(A));
    }
    let broken = Context { break_glass: Some("fire".to_owned()), ..anyone() };
    assert_eq!(ws.refused(&broken, edit(&id, 2, "x")).code, "authoring.not_admin");
    ws.written(&Context { admin: true, ..broken }, edit(&id, 2, "put out"));
    let fact = ws.facts(&id).pop().unwrap();
    assert_eq!((fact.break_glass.as_deref(), fact.fields), (Some("fire"), vec!["instructions".to_owned()]));

    ws.track(A);
    ws.written(&anyone(), edit(&id, 3, "tracked"));
    assert_eq!(ws.refused(&by(B), edit(&id, 4, "no")).code, "authoring.owned_elsewhere");

    let free = ws.agent(None, "free").id;
    ws.written(&by(B), edit(&free, 1, "anyone"));
}

#[test]
fn an_outside_write_is_drift_with_a_name_until_its_owner_writes_that_field() {
    let ws = Ws::new();
    ws.track(A);
    let id = ws.agent(Some(A), "support").id;
    let before = ws.summary(A, &id);
    assert_eq!(before.live_digest, before.applied_digest);
    ws.written(&anyone(), edit(&id, 1, "moved"));
    let after = ws.summary(A, &id);
    assert_eq!(after.applied_digest, before.applied_digest);
    assert_ne!(after.live_digest, before.live_digest);
    let moved = ws.loaded(A, &[&id]).bodies.remove(0).moved;
    assert_eq!((moved[0].actor.as_str(), &moved[0].fields), ("ann", &vec!["instructions".to_owned()]));

    // The owner writes another field: who moved the first one is still told.
    ws.written(&by(A), update(Kind::Agent, at(&id, 2), json!({"description": "d"})));
    assert_eq!(ws.loaded(A, &[&id]).bodies[0].moved.len(), 1);
    ws.written(&by(A), edit(&id, 3, "back"));
    assert_eq!(ws.loaded(A, &[&id]).bodies[0].moved, []);
}

#[test]
fn what_is_applied_is_said_by_the_owner_alone() {
    let ws = Ws::new();
    ws.track(A);
    let id = ws.agent(Some(A), "support").id;
    let applied = applied(Kind::Agent, &agent_body("x"));
    let request = |applied| {
        Request::Update(Update { kind: Kind::Agent, at: at(&id, 1), body: object(json!({"system": "x"})), applied })
    };
    assert_eq!(ws.refused(&anyone(), request(Some(applied.clone()))).code, "authoring.owner_required");
    let free = ws.agent(None, "free").id;
    let record = Record { at: authoring(&free, 1, 0), applied };
    assert_eq!(ws.refused(&by(A), Request::Record(record)).code, "authoring.owner_required");
}

#[test]
fn an_address_is_held_by_one_and_a_create_knows_what_was_there() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    assert!(ws.refused(&by(A), create(Kind::Agent, agent_body("x"), Some("support"))).is_stale());
    // Another owner has the same address for another resource.
    ws.agent(Some(B), "support");
    ws.written(&by(A), retire(Kind::Agent, at(&id, 1)));
    let again = |since: Option<&str>| {
        let Request::Create(mut c) = create(Kind::Agent, agent_body("x"), Some("support")) else { unreachable!() };
        c.absent_since = since.map(str::to_owned);
        Request::Create(c)
    };
    let error = ws.refused(&by(A), again(None));
    assert!(error.is_stale() && error.details["current"] == json!(id));
    assert_eq!(ws.loaded(A, &[]).retired, [(address(Kind::Agent, "support"), id.clone())].into());
    ws.written(&by(A), again(Some(&id)));
    assert_eq!(ws.refused(&anyone(), again(None)).code, "authoring.owner_required");
}

#[test]
fn archived_by_another_is_held_as_gone_and_can_be_made_anew_or_retired() {
    let ws = Ws::new();
    ws.track(A);
    let id = ws.agent(Some(A), "support").id;
    ws.written(&anyone(), retire(Kind::Agent, at(&id, 1)));
    let gone = ws.summary(A, &id);
    assert_eq!((gone.live_digest, gone.gone.unwrap().actor.as_str()), (None, "ann"));
    assert!(gone.applied_digest.is_some());
    // What was planned before it was archived meets that, not a version.
    let protect = Protect { at: authoring(&id, 1, 1), protected: true };
    assert_eq!(ws.refused(&by(A), Request::Protect(protect)).code, "resource.archived");
    let record = Record { at: authoring(&id, 1, 1), applied: applied(Kind::Agent, &agent_body("x")) };
    assert_eq!(ws.refused(&by(A), Request::Record(record)).code, "resource.archived");
    assert_eq!(ws.refused(&by(A), edit(&id, 1, "late")).code, "resource.archived");
    let Request::Create(mut c) = create(Kind::Agent, agent_body("x"), Some("support")) else { unreachable!() };
    assert!(ws.refused(&by(A), Request::Create(c.clone())).is_stale());
    c.absent_since = ws.loaded(A, &[]).retired.get(&address(Kind::Agent, "support")).cloned();
    assert_eq!(c.absent_since.as_deref(), Some(id.as_str()));
    let new = ws.written(&by(A), Request::Create(c));
    assert_eq!(ws.owner(A).count, 1);

    ws.written(&anyone(), retire(Kind::Agent, at(&new.id, 1)));
    ws.written(&by(A), retire(Kind::Agent, at(&new.id, 1)));
    assert_eq!(ws.owner(A).count, 0);
}

#[test]
fn claim_release_and_their_preconditions() {
    let ws = Ws::new();
    let id = ws.agent(None, "free").id;
    let claim =
        |seq| Request::Claim(Claim { at: authoring(&id, 1, seq), claim: claim_of("free", &agent_body("free")) });
    assert_eq!(ws.refused(&anyone(), claim(0)).code, "authoring.owner_required");
    assert!(ws.refused(&by(A), claim(3)).is_stale());
    let mine = ws.written(&by(A), claim(0));
    assert_eq!((mine.version, mine.seq), (1, 1));
    assert_eq!(ws.refused(&by(B), claim(0)).code, "authoring.owned_elsewhere");
    assert_eq!(ws.refused(&by(B), Request::Release(authoring(&id, 1, 1))).code, "authoring.owned_elsewhere");
    let free = ws.written(&by(A), Request::Release(authoring(&id, 1, 1)));
    assert_eq!((free.version, free.seq), (1, 2));
    assert!(ws.get(Kind::Agent, &id)["authoring"].is_null());
    // A sequence is never used twice.
    assert!(ws.refused(&by(A), claim(1)).is_stale());
    assert_eq!(ws.written(&by(A), claim(2)).seq, 3);
    // Who reads a body alone sees no sequence of what nobody owns.
    ws.written(&by(A), Request::Release(authoring(&id, 1, 3)));
    assert_eq!(ws.written(&by(A), claim(0)).seq, 5);
    let taken = ws.agent(None, "other").id;
    let request = Claim { at: authoring(&taken, 1, 0), claim: claim_of("free", &agent_body("x")) };
    assert_eq!(ws.refused(&by(A), Request::Claim(request)).details["reason"], "address_taken");
}

#[test]
fn transfer_rename_and_who_may() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    let to = |seq, from: &str, to: &str, name: &str| {
        Request::Transfer(Transfer {
            at: authoring(&id, 1, seq),
            from: owner(from),
            to: owner(to),
            address: address(Kind::Agent, name),
        })
    };
    assert_eq!(ws.refused(&by(B), to(1, A, B, "support")).code, "authoring.owned_elsewhere");
    assert!(ws.refused(&by(A), to(7, A, B, "support")).is_stale());
    let renamed = ws.written(&by(A), to(1, A, A, "helpdesk"));
    assert_eq!((renamed.seq, renamed.version), (2, 1));
    assert_eq!(ws.summary(A, &id).address, Some(address(Kind::Agent, "helpdesk")));
    let pushed = ws.refused(&by(A), to(2, A, B, "support"));
    assert_eq!((pushed.code, pushed.kind), ("authoring.not_admin", ErrorKind::Permission));
    assert!(pushed.message.contains(B), "{pushed}");
    ws.written(&Context { admin: true, ..by(B) }, to(2, A, B, "support"));
    let theirs = ws.summary(B, &id);
    assert_eq!(theirs.live_digest, theirs.applied_digest);
    assert_eq!(ws.owner(A).count, 0);
    // A plan of the former owner meets the new one by name.
    let error = ws.refused(&by(A), edit(&id, 1, "late"));
    assert_eq!((error.code, &error.details["owner"]), ("authoring.owned_elsewhere", &json!(B)));
    // What left an address is remembered there, so that a create that comes after it is a new one.
    let left = ws.loaded(A, &[]).retired;
    for name in ["support", "helpdesk"] {
        assert_eq!(left.get(&address(Kind::Agent, name)), Some(&id), "{name}");
    }
}

#[test]
fn protect_and_record_change_nothing_live() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    let protect = |seq| Request::Protect(Protect { at: authoring(&id, 1, seq), protected: true });
    assert_eq!(ws.written(&by(A), protect(1)).seq, 2);
    assert!(ws.summary(A, &id).protected);
    assert!(!ws.written(&by(A), protect(2)).changed);
    let applied = applied(Kind::Agent, &agent_body("other"));
    let record = Record { at: authoring(&id, 1, 2), applied: applied.clone() };
    let done = ws.written(&by(A), Request::Record(record));
    assert_eq!((done.version, done.seq), (1, 3));
    let summary = ws.summary(A, &id);
    assert_eq!(summary.applied_digest, Some(applied.digest(Kind::Agent)));
    assert_ne!(summary.live_digest, summary.applied_digest);
}

#[test]
fn what_is_protected_is_retired_by_its_owner_only_after_it_is_unprotected() {
    let ws = Ws::new();
    let protect = |id: &str, version, seq, on| {
        ws.written(&by(A), Request::Protect(Protect { at: authoring(id, version, seq), protected: on }));
    };
    let env = |name: &str| {
        let body = object(json!({"name": name, "config": {"type": "cloud"}}));
        ws.written(&by(A), create(Kind::Environment, body, Some(name))).id
    };
    let (agent, environment) = (ws.agent(Some(A), "support").id, env("base"));
    for (kind, id) in [(Kind::Agent, &agent), (Kind::Environment, &environment)] {
        // Planned before it was protected: the version is as it was.
        protect(id, 1, 1, true);
        let error = ws.refused(&by(A), retire(kind, at(id, 1)));
        assert_eq!((error.kind, error.details["reason"].as_str()), (ErrorKind::Conflict, Some("protected")), "{kind}");
        protect(id, 1, 2, false);
        ws.written(&by(A), retire(kind, at(id, 1)));
    }
    // Who breaks the glass is told of in the audit; then its owner may clear the record.
    let agent = ws.agent(Some(A), "other").id;
    protect(&agent, 1, 1, true);
    let broken = Context { break_glass: Some("fire".to_owned()), admin: true, ..anyone() };
    let gone = ws.written(&broken, retire(Kind::Agent, at(&agent, 1)));
    ws.written(&by(A), retire(Kind::Agent, at(&agent, gone.version)));
    assert_eq!(ws.owner(A).count, 0);
}

#[test]
fn a_replacement_takes_the_place_and_the_old_one_waits() {
    let ws = Ws::new();
    let skill = ws.skill(Some(A), "faq", "1");
    let agent = ws.agent(Some(A), "support").id;
    let skills = json!({"skills": [{"type": "custom", "skill_id": skill.id, "version": skill.made}]});
    ws.written(&by(A), update(Kind::Agent, at(&agent, 1), skills));
    let pinned = ws.summary(A, &agent).live_digest;

    let content = ws.skill_files("faq", "1");
    let body = object(json!({"name": "faq", "display_name": "F.A.Q."}));
    let Request::Create(mut c) = create(Kind::Skill, body, Some("faq")) else { unreachable!() };
    c.content = Some(content);
    c.replaces = Some(at(&skill.id, 9));
    assert!(ws.refused(&by(A), Request::Create(c.clone())).is_stale());
    c.replaces = Some(at(&skill.id, 1));
    let new = ws.written(&by(A), Request::Create(c));
    let old = ws.summary(A, &skill.id);
    assert!(old.superseded && old.version == 1 && old.address == Some(address(Kind::Skill, "faq")));
    // Who refers to the old one reads otherwise now, so that a plan moves it.
    assert_ne!(ws.summary(A, &agent).live_digest, pinned);
    assert_eq!(ws.refused(&by(A), retire(Kind::Skill, at(&skill.id, 1))).details["reason"], "referenced");
    let skills = json!({"skills": [{"type": "custom", "skill_id": new.id, "version": new.made}]});
    ws.written(&by(A), update(Kind::Agent, at(&agent, 2), skills));
    assert_eq!(ws.summary(A, &agent).live_digest, pinned);
    ws.written(&by(A), retire(Kind::Skill, at(&skill.id, 1)));
    assert_eq!(ws.owner(A).count, 2);
}

#[test]
fn an_owner_takes_no_agent_from_under_another_and_who_refers_to_one_that_went_has_not_moved() {
    let ws = Ws::new();
    let agent = ws.agent(Some(A), "support").id;
    let store = ws.store(Some(B), "notes").id;
    let body = object(json!({"agent_id": agent, "memory_store_id": store, "mount_path": "/mnt/notes"}));
    let at_a = (owner(A), address(Kind::Agent, "support"));
    let refs = Refs {
        resources: [(agent.clone(), at_a.clone()), (store.clone(), (owner(B), address(Kind::MemoryStore, "notes")))]
            .into(),
        me: Some(owner(B)),
        ..Refs::default()
    };
    let Request::Create(mut c) = create(Kind::MemoryMount, body.clone(), Some("notes")) else { unreachable!() };
    c.claim.as_mut().unwrap().applied.spec =
        (def(Kind::MemoryMount).from_wire)(&serde_json::Value::Object(body), &refs, None).into();
    let mount = ws.written(&by(B), Request::Create(c)).id;
    let settled = || {
        let summary = ws.summary(B, &mount);
        summary.live_digest == summary.applied_digest
    };
    assert!(settled());

    let error = ws.refused(&by(A), retire(Kind::Agent, at(&agent, 1)));
    let by_whom = json!(["acme/b:MemoryMount/notes"]);
    assert_eq!((error.kind, &error.details["reason"]), (ErrorKind::Conflict, &json!("referenced")));
    assert_eq!(error.details["by"], by_whom);
    let broken = Context { break_glass: Some("fire".to_owned()), admin: true, ..by(A) };
    ws.written(&broken, retire(Kind::Agent, at(&agent, 1)));

    // B moved nothing, and learns what became of it.
    assert!(settled());
    assert_eq!(ws.loaded(B, &[&mount]).refs.resources.get(&agent), Some(&at_a));
    let want = || Want { key: "acme/a:Agent/support".to_owned(), content: None, number: None };
    let resolve = || match ws.call(&anyone(), Request::Resolve(Resolve { me: owner(B), wants: vec![want()] })) {
        Ok(Response::Resolved(mut all)) => all.remove(0),
        other => panic!("{other:?}"),
    };
    let found = resolve();
    assert_eq!((found.id.as_ref(), found.archived), (Some(&agent), true));

    // Another one at that address: now the reference has somewhere to go.
    let Request::Create(mut c) = create(Kind::Agent, agent_body("support"), Some("support")) else { unreachable!() };
    c.absent_since = Some(agent.clone());
    let new = ws.written(&by(A), Request::Create(c)).id;
    assert!(!settled());
    assert_eq!(ws.loaded(B, &[&mount]).refs.superseded.get(&agent), Some(&at_a));
    let found = resolve();
    assert_eq!((found.id, found.archived), (Some(new), false));
}

#[test]
fn a_fact_tells_coordinates_and_digests_before_and_after() {
    let ws = Ws::new();
    let support = Some(address(Kind::Agent, "support"));
    let id = ws.agent(Some(A), "support").id;
    ws.written(&by(A), edit(&id, 1, "two"));
    let request =
        Transfer { at: authoring(&id, 2, 1), from: owner(A), to: owner(B), address: address(Kind::Agent, "helpdesk") };
    ws.written(&Context { admin: true, ..by(B) }, Request::Transfer(request));
    ws.written(&by(B), retire(Kind::Agent, at(&id, 2)));
    let facts = ws.facts(&id);
    let [made, edited, moved, gone] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!((&made.address, made.from_version, made.version, made.before), (&support, None, Some(1), None));
    assert_eq!(
        (edited.address.clone(), edited.from_version, edited.made.as_deref()),
        (support.clone(), Some(1), Some("2"))
    );
    assert!(edited.before == made.after && edited.after != edited.before && edited.after.is_some());
    assert_eq!((&moved.address, &moved.from_owner, &moved.to_owner), (&support, &Some(owner(A)), &Some(owner(B))));
    assert_eq!(moved.to_address, Some(address(Kind::Agent, "helpdesk")));
    assert!(moved.before.is_some() && moved.after.is_some());
    assert_eq!((gone.address.clone(), gone.before, gone.after), (moved.to_address.clone(), edited.after, None));
    assert_eq!(gone.to_owner, None);

    let skill = ws.skill(Some(A), "faq", "1");
    let content = ws.skill_files("faq", "2");
    let wanted = content.digest;
    let next = Request::Publish(Publish { kind: Kind::Skill, at: at(&skill.id, 1), content, applied: None });
    let next = ws.written(&by(A), next);
    let fact = ws.facts(&skill.id).pop().unwrap();
    assert_eq!((fact.made, fact.after), (next.made, Some(wanted)));
    assert!(fact.before.is_some() && fact.before != fact.after);

    ws.track(A);
    let list = AuditList { owner: Some(owner(A)), ..AuditList::default() };
    let Response::Audit(all) = ws.call(&anyone(), Request::AuditList(list)).unwrap() else { panic!() };
    let policy = all.last().unwrap();
    assert_eq!(
        (policy.operation.as_str(), policy.from_version, policy.version),
        ("authoring.policy", Some(0), Some(1))
    );
    assert!(policy.before.is_none() && policy.after.is_some());
}

#[test]
fn the_policy_has_its_own_sequence() {
    let ws = Ws::new();
    ws.track(A);
    assert_eq!(ws.owner(A).seq, 1);
    let policy = crate::model::config::Policy::default();
    let set = |seq| Request::SetPolicy(SetPolicy { owner: owner(A), seq, policy: policy.clone(), undone: None });
    assert!(ws.refused(&by(A), set(0)).is_stale());
    assert_eq!(ws.refused(&by(B), set(1)).code, "authoring.owner_required");
    assert_eq!(ws.written(&by(A), set(1)).seq, 2);
    assert!(!ws.written(&by(A), set(2)).changed);
}

#[test]
fn an_actor_has_a_name_of_bounded_length() {
    let ws = Ws::new();
    let named = |bytes: usize| Context { actor: "x".repeat(bytes), ..by("acme/a") };
    ws.written(&named(256), create(Kind::Agent, agent_body("one"), Some("one")));
    let refused = ws.refused(&named(257), create(Kind::Agent, agent_body("two"), Some("two")));
    assert!(refused.kind == crate::control::ErrorKind::Invalid && refused.message.len() < 200, "{refused:?}");
}
