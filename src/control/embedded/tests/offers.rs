//! What planning finds beside what its owner has, and ownership that is offered before it moves.

use serde_json::json;

use super::*;
use crate::control::ErrorKind;

const A: &str = "acme/a";
const B: &str = "acme/b";

fn on(id: &str, version: u64, seq: u64) -> Authoring {
    Authoring { at: at(id, version), seq }
}

fn find(ws: &Ws, me: &str, names: &[&str], ids: &[&str]) -> Vec<Summary> {
    let addresses = names.iter().map(|name| address(Kind::Agent, name)).collect();
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    match ws.call(&anyone(), Request::Find(Find { me: owner(me), addresses, ids })).unwrap() {
        Response::Summaries(Page { data, next_page: None }) => data,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_others_have_at_an_address_and_whatever_has_an_id_is_found() {
    let ws = Ws::new();
    let mine = ws.agent(Some(A), "support").id;
    let theirs = ws.agent(Some(B), "support").id;
    let free = ws.agent(None, "free").id;
    let gone = ws.agent(Some(B), "gone").id;
    ws.written(&by(B), retire(Kind::Agent, at(&gone, 1)));

    let found = find(&ws, A, &["support", "gone", "none"], &[]);
    assert_eq!(found.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), [theirs.as_str()]);
    let since = found[0].since.clone().unwrap();
    assert_eq!((since.actor.as_str(), since.operation.as_str()), ("ci", "agents.create"));
    assert_eq!((found[0].owner.clone(), found[0].live_digest), (Some(owner(B)), found[0].applied_digest));

    let found = find(&ws, A, &[], &[&mine, &free, &gone, "agent_none"]);
    assert_eq!(found.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), [mine.as_str(), free.as_str()]);
    assert_eq!((&found[1].owner, &found[1].address, &found[1].since), (&None, &None, &None));
    // Each once, however often it is asked for.
    assert_eq!(find(&ws, A, &["support", "support"], &[&theirs, &theirs]).len(), 1);

    let ids = (0..=Find::MOST).map(|n| n.to_string()).collect();
    let error = ws.refused(&anyone(), Request::Find(Find { me: owner(A), addresses: vec![], ids }));
    assert!(error.kind == ErrorKind::Invalid && error.message.contains("1000"), "{error:?}");
}

fn offer(id: &str, version: u64, seq: u64, to: &str, name: &str) -> Request {
    let kind = if id.starts_with("skill") { Kind::Skill } else { Kind::Agent };
    Request::HandOver(HandOver { at: on(id, version, seq), to: owner(to), address: address(kind, name) })
}

fn transfer(id: &str, (version, seq): (u64, u64), from: &str, to: &str, name: &str) -> Request {
    let kind = if id.starts_with("skill") { Kind::Skill } else { Kind::Agent };
    let (at, address) = (on(id, version, seq), address(kind, name));
    Request::Transfer(Transfer { at, from: owner(from), to: owner(to), address })
}

fn admin(owner: &str) -> Context {
    Context { admin: true, ..by(owner) }
}

/// Ids of what an owner has.
fn has(ws: &Ws, whose: &str) -> Vec<String> {
    let all = Summaries { owner: Some(owner(whose)), kind: None, names: vec![], page: None, limit: None };
    match ws.call(&anyone(), Request::Summaries(all)).unwrap() {
        Response::Summaries(page) => page.data.into_iter().map(|s| s.id).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_handed_over_counts_as_its_owners_no_more_and_is_taken_without_a_flag() {
    let ws = Ws::new();
    let empty = ws.owner(A).digest;
    let id = ws.agent(Some(A), "support").id;
    let done = ws.written(&by(A), offer(&id, 1, 1, B, "helpdesk"));
    assert_eq!((done.version, done.seq, done.changed), (1, 2, true));

    assert!(has(&ws, A).is_empty() && has(&ws, B).is_empty());
    assert_eq!((ws.owner(A).count, ws.owner(A).digest), (0, empty));
    let authoring = &ws.get(Kind::Agent, &id)["authoring"];
    assert_eq!((&authoring["owner"], &authoring["offered"]), (&json!(A), &json!(B)));
    assert_eq!((&authoring["address"], &authoring["offered_at"]), (&json!("Agent/support"), &json!("Agent/helpdesk")));
    let found = find(&ws, B, &["helpdesk"], &[]).remove(0);
    assert_eq!((&found.id, found.owner, found.offered), (&id, Some(owner(A)), Some(owner(B))));
    assert_eq!(found.offered_at, Some(address(Kind::Agent, "helpdesk")));
    assert_eq!(find(&ws, A, &["support", "helpdesk"], &[])[0].id, id);
    assert!(find(&ws, A, &["helpdesk"], &[]).is_empty());
    assert_eq!(found.live_digest, found.applied_digest);

    // Until it is taken nobody writes it, its giver neither.
    let edit = || update(Kind::Agent, at(&id, 1), json!({"system": "x"}));
    for who in [by(B), anyone()] {
        let error = ws.refused(&who, edit());
        assert_eq!((error.code, &error.details["owner"]), ("authoring.owned_elsewhere", &json!(A)));
        assert!(error.message.contains(A) && error.message.contains(B), "{error}");
    }
    for request in
        [edit(), retire(Kind::Agent, at(&id, 1)), Request::Protect(Protect { at: on(&id, 1, 2), protected: true })]
    {
        let error = ws.refused(&by(A), request);
        assert_eq!((error.kind, &error.details["reason"]), (ErrorKind::Conflict, &json!("offered")), "{error}");
        assert!(error.message.contains(B), "{error}");
    }

    // The address is free for another one, which knows what left it.
    let Request::Create(mut anew) = create(Kind::Agent, agent_body("anew"), Some("support")) else { unreachable!() };
    assert!(ws.refused(&by(A), Request::Create(anew.clone())).is_stale());
    anew.absent_since = Some(id.clone());
    let anew = ws.written(&by(A), Request::Create(anew)).id;

    let taken = ws.written(&by(B), transfer(&id, (1, 2), A, B, "helpdesk"));
    assert_eq!((taken.version, taken.seq), (1, 3));
    assert_eq!((has(&ws, A), has(&ws, B)), (vec![anew], vec![id.clone()]));
    let summary = ws.summary(B, &id);
    assert_eq!((summary.offered, summary.offered_at), (None, None));
    assert_eq!(summary.live_digest, summary.applied_digest);
    assert_eq!(ws.loaded(A, &[]).retired.get(&address(Kind::Agent, "support")), Some(&id));
    assert!(ws.get(Kind::Agent, &id)["authoring"].get("offered").is_none());

    let facts = ws.facts(&id);
    let [_, offered, took] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!((offered.operation.as_str(), &offered.from_owner), ("authoring.hand_over", &None));
    assert_eq!((&offered.owner, &offered.to_owner), (&Some(owner(A)), &Some(owner(B))));
    assert_eq!(offered.to_address, Some(address(Kind::Agent, "helpdesk")));
    assert_eq!((took.operation.as_str(), &took.owner), ("authoring.transfer", &Some(owner(B))));
    assert_eq!((&took.from_owner, &took.to_owner), (&Some(owner(A)), &Some(owner(B))));
}

#[test]
fn a_third_owner_takes_nothing_that_is_promised_to_another() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    ws.written(&by(A), offer(&id, 1, 1, B, "support"));
    let claim = ClaimOf {
        address: address(Kind::Agent, "support"),
        applied: applied(Kind::Agent, &agent_body("support")),
        protected: false,
    };
    let claim = Request::Claim(Claim { at: on(&id, 1, 2), claim });
    for (who, request) in [
        (by("acme/c"), claim),
        (by("acme/c"), transfer(&id, (1, 2), A, "acme/c", "support")),
        (admin("acme/c"), transfer(&id, (1, 2), A, "acme/c", "support")),
        (by("acme/c"), transfer(&id, (1, 9), A, "acme/c", "support")),
    ] {
        let error = ws.refused(&who, request);
        assert_eq!((error.code, &error.details["owner"]), ("authoring.owned_elsewhere", &json!(A)));
        assert_eq!(error.details["offered"], json!(B));
        assert!(error.message.contains(A) && error.message.contains(B), "{error}");
    }
    // Whom it concerns is told that something moved.
    assert!(ws.refused(&by(B), transfer(&id, (1, 1), A, B, "support")).is_stale());
    assert!(ws.refused(&by(B), transfer(&id, (2, 2), A, B, "support")).is_stale());
    ws.written(&by(B), transfer(&id, (1, 2), A, B, "support"));
}

#[test]
fn what_is_offered_is_taken_back_released_or_offered_to_another() {
    let ws = Ws::new();
    let (before, id) = {
        let id = ws.agent(Some(A), "support").id;
        (ws.owner(A).digest, id)
    };
    ws.written(&by(A), offer(&id, 1, 1, B, "support"));
    ws.written(&by(A), offer(&id, 1, 2, "acme/c", "support"));
    assert_eq!(find(&ws, B, &[], &[&id])[0].offered, Some(owner("acme/c")));
    ws.written(&by(A), transfer(&id, (1, 3), A, A, "support"));
    assert_eq!((ws.owner(A).digest, ws.summary(A, &id).offered), (before, None));
    assert_eq!(ws.facts(&id).last().unwrap().to_owner, Some(owner(A)));
    let error = ws.refused(&by("acme/c"), transfer(&id, (1, 4), A, "acme/c", "support"));
    assert_eq!(error.code, "authoring.owned_elsewhere");
    assert!(error.message.contains("admin"), "{error}");

    ws.written(&by(A), offer(&id, 1, 4, B, "support"));
    // Two offers for one address would be a race of givers.
    let other = ws.agent(Some("acme/c"), "support").id;
    let error = ws.refused(&by("acme/c"), offer(&other, 1, 1, B, "support"));
    assert_eq!((&error.details["reason"], &error.details["id"]), (&json!("address_taken"), &json!(id)));
    ws.written(&by(A), Request::Release(on(&id, 1, 5)));
    assert!(ws.get(Kind::Agent, &id)["authoring"].is_null());
    assert!(find(&ws, B, &["support"], &[&id])[0].offered.is_none());
    ws.written(&by("acme/c"), offer(&other, 1, 1, B, "support"));

    // Gone by another hand it counts as nobody's.
    let broken = Context { break_glass: Some("fire".to_owned()), ..admin("acme/d") };
    ws.written(&broken, retire(Kind::Agent, at(&other, 1)));
    assert_eq!((has(&ws, "acme/c").len(), find(&ws, B, &["support"], &[]).len()), (0, 0));
    ws.agent(Some(B), "support");
}

#[test]
fn a_reference_to_what_is_offered_reads_as_what_it_is_to_become() {
    let ws = Ws::new();
    let skill = ws.skill(Some(A), "faq", "1");
    let agent = ws.agent(Some(A), "support").id;
    let skills = json!({"skills": [{"type": "custom", "skill_id": skill.id, "version": skill.made}]});
    ws.written(&by(A), update(Kind::Agent, at(&agent, 1), skills));
    let (settled, at_a) = (ws.summary(A, &agent).live_digest, ws.owner(A).digest);
    ws.written(&by(A), offer(&skill.id, 1, 1, B, "faq"));
    assert_ne!(ws.summary(A, &agent).live_digest, settled);
    assert_ne!(ws.owner(A).digest, at_a);
    let in_b = (owner(B), address(Kind::Skill, "faq"));
    assert_eq!(ws.loaded(A, &[&agent]).refs.resources.get(&skill.id), Some(&in_b));
    let want = Want { key: "acme/b:Skill/faq".to_owned(), content: None, number: None };
    let resolve = Request::Resolve(Resolve { me: owner(A), wants: vec![want] });
    let Response::Resolved(found) = ws.call(&anyone(), resolve).unwrap() else { panic!() };
    assert_eq!((found[0].id.as_ref(), found[0].archived), (Some(&skill.id), false));
    // Taken, it reads the same.
    let offered = ws.summary(A, &agent).live_digest;
    ws.written(&by(B), transfer(&skill.id, (1, 2), A, B, "faq"));
    assert_eq!(ws.summary(A, &agent).live_digest, offered);
    assert_eq!(ws.loaded(A, &[&agent]).refs.resources.get(&skill.id), Some(&in_b));

    // Another one at the promised address: who refers to the offered one points at no address any more.
    ws.written(&by(B), offer(&skill.id, 1, 3, A, "faq"));
    assert_eq!(ws.summary(A, &agent).live_digest, settled);
    ws.written(&by(A), transfer(&skill.id, (1, 4), B, A, "faq"));
    assert_eq!((ws.summary(A, &agent).live_digest, ws.owner(A).digest), (settled, at_a));
}

#[test]
fn what_moved_stays_moved_under_a_new_owner_and_who_did_it_is_still_told() {
    let ws = Ws::new();
    let skill = ws.skill(Some(A), "faq", "1");
    let id = ws.agent(Some(A), "support").id;
    let skills = json!({"skills": [{"type": "custom", "skill_id": skill.id, "version": skill.made}]});
    ws.written(&by(A), update(Kind::Agent, at(&id, 1), skills));
    let broken = Context { break_glass: Some("fire".to_owned()), admin: true, ..anyone() };
    ws.written(&broken, update(Kind::Agent, at(&id, 2), json!({"system": "Be quick."})));
    let held = |whose: &str| {
        let body = ws.loaded(whose, &[&id]).bodies.remove(0);
        (body.applied.unwrap().spec["instructions"].clone(), body.moved)
    };
    let (before, moved) = held(A);
    assert_eq!(
        (&before, moved.len(), moved[0].fields.clone()),
        (&json!("Be kind."), 1, vec!["instructions".to_owned()])
    );

    ws.written(&by(A), offer(&id, 3, 1, B, "support"));
    ws.written(&by(B), transfer(&id, (3, 2), A, B, "support"));
    let summary = ws.summary(B, &id);
    assert_ne!(summary.live_digest, summary.applied_digest);
    assert_eq!(held(B), (before, moved.clone()));
    // What refers is what is live, as its owner sees it.
    let applied = ws.loaded(B, &[&id]).bodies.remove(0).applied.unwrap();
    assert_eq!(applied.spec["skills"][0]["skill"], json!("acme/a:Skill/faq"));
    // A take-over carries it on; a write of that field ends it.
    ws.written(&admin("acme/c"), transfer(&id, (3, 3), B, "acme/c", "support"));
    assert_eq!(held("acme/c").1, moved);
    ws.written(&by("acme/c"), update(Kind::Agent, at(&id, 3), json!({"system": "Be kind."})));
    let summary = ws.summary("acme/c", &id);
    assert_eq!(summary.live_digest, summary.applied_digest);
    assert_eq!(held("acme/c").1, []);
}

#[test]
fn who_may_offer_what_and_where() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    assert_eq!(ws.refused(&by(B), offer(&id, 1, 1, B, "support")).code, "authoring.owned_elsewhere");
    assert_eq!(ws.refused(&anyone(), offer(&id, 1, 1, B, "support")).code, "authoring.owner_required");
    assert_eq!(ws.refused(&by(A), offer(&id, 1, 1, A, "other")).code, "validation.invalid");
    assert!(ws.refused(&by(A), offer(&id, 1, 2, B, "support")).is_stale());
    // Who has something there already may take it elsewhere.
    ws.agent(Some(B), "taken");
    let seq = ws.written(&by(A), offer(&id, 1, 1, B, "taken")).seq;
    ws.written(&by(A), Request::Release(Authoring { at: at(&id, 1), seq }));
    let id = ws.agent(Some(A), "support").id;
    ws.track(A);
    ws.written(&anyone(), retire(Kind::Agent, at(&id, 1)));
    assert_eq!(ws.refused(&by(A), offer(&id, 1, 1, B, "support")).code, "resource.archived");
}
