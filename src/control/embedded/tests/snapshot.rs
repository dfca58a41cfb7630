//! What planning reads.

use serde_json::json;

use super::*;
use crate::live::owner_digest;

const A: &str = "acme/a";

#[test]
fn the_owner_digest_is_over_what_the_summaries_say_and_is_kept_after_an_apply() {
    let ws = Ws::new();
    for name in ["a", "b", "c"] {
        ws.agent(Some(A), name);
    }
    ws.agent(Some("acme/b"), "a");
    let wanted = || {
        let request = Summaries { owner: Some(owner(A)), kind: None, names: vec![], page: None, limit: None };
        let Response::Summaries(page) = ws.call(&anyone(), Request::Summaries(request)).unwrap() else { panic!() };
        let rows =
            page.data.iter().map(|s| (s.address.as_ref().unwrap(), s.live_digest, s.applied_digest, s.protected));
        owner_digest(rows)
    };
    let state = ws.owner(A);
    assert_eq!((state.digest, state.count), (wanted(), 3));
    let begin =
        ApplyBegin { plan_digest: Digest::of(b"p"), owner: owner(A), source: Source::default(), addresses: vec![] };
    let Response::Began(began) = ws.call(&by(A), Request::ApplyBegin(begin)).unwrap() else { panic!() };
    let end = ApplyEnd { id: began.id, outcome: "done".to_owned(), lines: vec![] };
    ws.call(&by(A), Request::ApplyEnd(end)).unwrap();
    assert_eq!(ws.owner(A).digest, wanted());
    // The kept digest goes with the first write of any kind.
    let id = ws.agent(Some(A), "d").id;
    assert_eq!(ws.owner(A).digest, wanted());
    let protect = Protect { at: Authoring { at: at(&id, 1), seq: 1 }, protected: true };
    ws.written(&by(A), Request::Protect(protect));
    assert_eq!(ws.owner(A).digest, wanted());
}

#[test]
fn summaries_page_and_find_the_unowned_by_name() {
    let ws = Ws::new();
    for n in 0..5 {
        ws.agent(Some(A), &format!("a{n}"));
        ws.agent(None, &format!("u{n}"));
    }
    let page = |owner: Option<&str>, names: &[&str], page| {
        let request = Summaries {
            owner: owner.map(super::owner),
            kind: Some(Kind::Agent),
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            page,
            limit: Some(2),
        };
        match ws.call(&anyone(), Request::Summaries(request)).unwrap() {
            Response::Summaries(page) => page,
            other => panic!("{other:?}"),
        }
    };
    let mut seen = Vec::new();
    let mut next = None;
    loop {
        let got = page(Some(A), &[], next);
        seen.extend(got.data.into_iter().map(|s| s.name));
        next = got.next_page;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["a0", "a1", "a2", "a3", "a4"]);
    let unowned = page(None, &["u3", "a1", "zz"], None);
    assert_eq!(unowned.data.iter().map(|s| (s.name.as_str(), s.address.as_ref())).collect::<Vec<_>>(), [("u3", None)]);
    let nobodys = page(None, &[], None);
    assert!(nobodys.data.iter().all(|s| s.owner.is_none()) && nobodys.data.len() > 1, "{nobodys:?}");
    let rest = page(None, &[], nobodys.next_page);
    assert!(rest.data.iter().all(|s| nobodys.data.iter().all(|n| n.id < s.id)), "{rest:?}");
}

#[test]
fn bodies_come_with_what_their_ids_mean() {
    let ws = Ws::new();
    let mine = ws.skill(Some(A), "faq", "1");
    let theirs = ws.skill(Some("acme/b"), "tone", "1");
    let nobodys = ws.skill(None, "free", "1");
    let agent = ws.agent(Some(A), "support").id;
    let skill = |s: &Written| json!({"type": "custom", "skill_id": s.id, "version": s.made});
    let body = json!({"skills": [skill(&mine), skill(&theirs), skill(&nobodys)]});
    ws.written(&by(A), update(Kind::Agent, at(&agent, 1), body));
    let loaded = ws.loaded(A, &[&agent, "agent_none"]);
    assert_eq!(loaded.bodies.len(), 1);
    let resources = &loaded.refs.resources;
    assert_eq!(resources.get(&mine.id), Some(&(owner(A), address(Kind::Skill, "faq"))));
    assert_eq!(resources.get(&theirs.id), Some(&(owner("acme/b"), address(Kind::Skill, "tone"))));
    assert_eq!(resources.get(&nobodys.id), None);
    assert_eq!(loaded.refs.contents.len(), 3);
    let spec = (def(Kind::Agent).from_wire)(&loaded.bodies[0].body, &loaded.refs, None);
    let digest = crate::model::kinds::owned_digest(Kind::Agent, &spec, loaded.bodies[0].applied.as_ref().unwrap());
    assert_eq!(ws.summary(A, &agent).live_digest, Some(digest), "client and workspace compute the same");

    let Response::Referrers(who) =
        ws.call(&anyone(), Request::Referrers(IdList { ids: vec![theirs.id, nobodys.id], me: None })).unwrap()
    else {
        panic!()
    };
    assert_eq!(who.iter().map(|r| (r.name.as_str(), r.follows)).collect::<Vec<_>>(), [("support", false); 2]);
    let body = ws.loaded(A, &[&mine.id]).bodies.remove(0);
    assert_eq!(
        (body.entries[0].path.as_str(), &body.body["content"]),
        ("SKILL.md", &json!(ws.summary(A, &mine.id).content))
    );
}

#[test]
fn references_resolve_by_name_owner_id_content_and_number() {
    let ws = Ws::new();
    let skill = ws.skill(Some(A), "faq", "1");
    let one = ws.skill_files("faq", "1");
    let two = ws.skill_files("faq", "2");
    let publish = |version, content| {
        Request::Publish(Publish { kind: Kind::Skill, at: at(&skill.id, version), content, applied: None })
    };
    ws.written(&by(A), publish(1, two.clone()));
    let third = ws.written(&by(A), publish(2, one.clone()));
    let ask = |key: &str, content, number| {
        let wants = vec![Want { key: key.to_owned(), content, number }];
        match ws.call(&anyone(), Request::Resolve(Resolve { me: owner(A), wants })).unwrap() {
            Response::Resolved(mut all) => all.remove(0),
            other => panic!("{other:?}"),
        }
    };
    for key in ["Skill/faq", "acme/a:Skill/faq", &skill.id] {
        let found = ask(key, None, None);
        assert_eq!((found.id.as_ref(), found.newest, found.version), (Some(&skill.id), Some(one.digest), None));
    }
    // The newest version with a content, and the one with a number.
    assert_eq!(ask("Skill/faq", Some(one.digest), None).version, third.made);
    assert_eq!(ask("Skill/faq", None, Some(2)).content, Some(two.digest));
    assert_eq!(ask("Skill/faq", Some(Digest::of(b"none")), None).version, None);
    for key in ["Skill/none", "acme/b:Skill/faq", "skill_none", "nonsense"] {
        assert_eq!(ask(key, None, None).id, None, "{key}");
    }
}

#[test]
fn the_audit_filters_and_holds_no_body() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "support").id;
    ws.written(&by(A), update(Kind::Agent, at(&id, 1), json!({"system": "a secret word", "metadata": {"team": "x"}})));
    ws.agent(None, "free");
    let list = |request| match ws.call(&anyone(), Request::AuditList(request)).unwrap() {
        Response::Audit(facts) => facts,
        other => panic!("{other:?}"),
    };
    let all = list(AuditList::default());
    assert_eq!(
        all.iter().map(|f| f.operation.as_str()).collect::<Vec<_>>(),
        ["agents.create", "agents.update", "agents.create"]
    );
    assert_eq!(all[1].fields, ["instructions", "labels.team"]);
    assert!(!format!("{all:?}").contains("secret"));
    assert_eq!(list(AuditList { owner: Some(owner(A)), ..AuditList::default() }).len(), 2);
    assert_eq!(list(AuditList { after: Some(all[1].seq), ..AuditList::default() }).len(), 1);
    assert_eq!(list(AuditList { limit: Some(1), resource: Some(id), ..AuditList::default() }).len(), 1);
}
