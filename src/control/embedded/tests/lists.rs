//! Pages: limits of each kind, cursors that stay where they are while others write, filters, summaries.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

const A: &str = "acme/a";

fn list(kind: Kind) -> ListOf {
    ListOf {
        kind,
        owner: None,
        labels: BTreeMap::new(),
        include_archived: false,
        view: ListView::Full,
        source: None,
        created_from: None,
        created_to: None,
        page: None,
        limit: None,
    }
}

#[test]
fn limits_are_those_of_the_kind_and_refused_not_cut() {
    let ws = Ws::new();
    let id = ws.agent(None, "a").id;
    let skill = ws.skill(None, "s", "1").id;
    for kind in Kind::ALL {
        let most = if matches!(kind, Kind::Agent | Kind::Environment | Kind::MemoryStore) { 100 } else { 1_000 };
        for (limit, good) in [(0, false), (1, true), (most, true), (most + 1, false)] {
            let request = Request::List(ListOf { limit: Some(limit), ..list(kind) });
            assert_eq!(ws.call(&anyone(), request).is_ok(), good, "{kind} {limit}");
        }
    }
    for (kind, id, most) in [(Kind::Agent, &id, 100), (Kind::Skill, &skill, 1_000)] {
        for (limit, good) in [(0, false), (most, true), (most + 1, false)] {
            let request = Request::Versions(VersionsOf { kind, id: id.clone(), page: None, limit: Some(limit) });
            assert_eq!(ws.call(&anyone(), request).is_ok(), good, "{kind} {limit}");
        }
    }
    for (limit, good) in [(0, false), (1_000, true), (1_001, false)] {
        let applies = Request::ApplyList(ApplyList { owner: None, page: None, limit: Some(limit) });
        let facts = Request::AuditList(AuditList { limit: Some(limit), ..AuditList::default() });
        let all = Summaries { owner: Some(owner(A)), kind: None, names: vec![], page: None, limit: Some(limit) };
        for request in [applies, facts, Request::Summaries(all)] {
            assert_eq!(ws.call(&anyone(), request).is_ok(), good, "{limit}");
        }
    }
    let odd = Request::List(ListOf { page: Some("agent_1".to_owned()), ..list(Kind::Agent) });
    assert_eq!(ws.refused(&anyone(), odd).code, "validation.invalid");
}

#[test]
fn a_cursor_stays_where_it_is_while_others_write_and_archive() {
    let ws = Ws::new();
    let made: Vec<String> = (0..4).map(|n| ws.agent(None, &format!("a{n}")).id).collect();
    let first = ws.page(Request::List(ListOf { limit: Some(2), ..list(Kind::Agent) }));
    assert_eq!(ids(&first.data), made[..2]);
    let late = ws.agent(None, "late").id;
    ws.written(&anyone(), retire(Kind::Agent, at(&made[1], 1)));
    ws.written(&anyone(), retire(Kind::Agent, at(&made[2], 1)));
    let rest = ws.page(Request::List(ListOf { page: first.next_page, ..list(Kind::Agent) }));
    assert_eq!(ids(&rest.data), [made[3].as_str(), late.as_str()]);
    assert_eq!(rest.next_page, None);
    // A page that is just full has no next one.
    let full = ws.page(Request::List(ListOf { limit: Some(3), ..list(Kind::Agent) }));
    assert_eq!((full.data.len(), full.next_page), (3, None));
}

#[test]
fn lists_filter_by_time_label_and_owner_and_show_summaries() {
    let ws = Ws::new();
    let mine = ws.agent(Some(A), "mine").id;
    let body = object(json!({"name": "b", "model": "m", "metadata": {"a.b\"c": "1", "team": "x"}}));
    let other = ws.written(&anyone(), create(Kind::Agent, body, None)).id;
    let from = ws.get(Kind::Agent, &other)["created_at"].as_str().unwrap().to_owned();
    let of = |request: ListOf| ws.page(Request::List(request)).data;
    let later = of(ListOf { created_from: Some(from.clone()), ..list(Kind::Agent) });
    let earlier = of(ListOf { created_to: Some(from.replace('Z', "+00:00")), ..list(Kind::Agent) });
    assert_eq!((ids(&later), ids(&earlier)), (vec![other.as_str()], vec![mine.as_str(), other.as_str()]));
    let bad = Request::List(ListOf { created_to: Some("yesterday".to_owned()), ..list(Kind::Agent) });
    assert_eq!(ws.refused(&anyone(), bad).code, "validation.invalid");
    let labels = [("a.b\"c".to_owned(), "1".to_owned()), ("team".to_owned(), "x".to_owned())].into();
    assert_eq!(ids(&of(ListOf { labels, ..list(Kind::Agent) })), [other.as_str()]);
    let labels = [("team".to_owned(), "y".to_owned())].into();
    assert!(of(ListOf { labels, ..list(Kind::Agent) }).is_empty());
    let summary = of(ListOf { owner: Some(owner(A)), view: ListView::Summary, ..list(Kind::Agent) });
    assert_eq!(summary.len(), 1);
    assert_eq!((&summary[0]["id"], &summary[0]["version"]), (&json!(mine), &json!(1)));
    assert_eq!(summary[0]["authoring"]["owner"], A);
    assert_eq!(summary[0]["live_digest"], summary[0]["applied_digest"]);
    assert!(summary[0].get("system").is_none() && summary[0].get("model").is_none());
    let skill = ws.skill(None, "faq", "text").id;
    let from = |source| of(ListOf { source: Some(source), ..list(Kind::Skill) });
    assert_eq!(ids(&from(SkillSource::Custom)), [skill.as_str()]);
    assert!(from(SkillSource::Anthropic).is_empty());
}

#[test]
fn versions_and_applies_page_newest_first() {
    let ws = Ws::new();
    let id = ws.agent(None, "a").id;
    for n in 1..5 {
        ws.written(&anyone(), update(Kind::Agent, at(&id, n), json!({"description": format!("{n}")})));
    }
    let mut page = None;
    let mut seen = Vec::new();
    loop {
        let request = VersionsOf { kind: Kind::Agent, id: id.clone(), page, limit: Some(2) };
        let found = ws.page(Request::Versions(request));
        seen.extend(found.data.iter().map(|v| v["version"].as_u64().unwrap()));
        if seen.len() == 2 {
            ws.written(&anyone(), update(Kind::Agent, at(&id, 5), json!({"description": "new"})));
        }
        page = found.next_page;
        if page.is_none() {
            break;
        }
    }
    assert_eq!(seen, [5, 4, 3, 2, 1]);
    let begin = |of: &str| {
        let begin = ApplyBegin {
            plan_digest: Digest::of(b"p"),
            owner: owner(of),
            source: Source::default(),
            addresses: vec![],
        };
        match ws.call(&by(of), Request::ApplyBegin(begin)).unwrap() {
            Response::Began(began) => began.id,
            other => panic!("{other:?}"),
        }
    };
    let began: Vec<String> = [A, "acme/b", A, A].map(begin).into();
    let applies = |page: Option<String>| {
        let request = ApplyList { owner: Some(owner(A)), page, limit: Some(2) };
        match ws.call(&anyone(), Request::ApplyList(request)).unwrap() {
            Response::Applies(page) => (page.data.into_iter().map(|a| a.id).collect::<Vec<_>>(), page.next_page),
            other => panic!("{other:?}"),
        }
    };
    let (first, next) = applies(None);
    begin(A);
    let (second, end) = applies(next);
    assert_eq!((first, second), (vec![began[3].clone(), began[2].clone()], vec![began[0].clone()]));
    assert_eq!(end, None);
    let odd = ApplyList { owner: None, page: Some("page_6162".to_owned()), limit: None };
    assert_eq!(ws.refused(&anyone(), Request::ApplyList(odd)).code, "validation.invalid");
}

#[test]
fn the_audit_is_filtered_by_each_of_its_columns() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "a").id;
    ws.written(&by(A), update(Kind::Agent, at(&id, 1), json!({"description": "d"})));
    ws.agent(None, "b");
    let facts = |which: AuditList| match ws.call(&anyone(), Request::AuditList(which)).unwrap() {
        Response::Audit(facts) => facts,
        other => panic!("{other:?}"),
    };
    let all = facts(AuditList::default());
    let none = AuditList::default;
    let rows = [
        (AuditList { actor: Some("ann".to_owned()), ..none() }, vec![3]),
        (AuditList { operation: Some("agents.update".to_owned()), ..none() }, vec![2]),
        (AuditList { owner: Some(owner(A)), operation: Some("agents.create".to_owned()), ..none() }, vec![1]),
        (AuditList { apply: Some("apply_none".to_owned()), ..none() }, vec![]),
        (AuditList { from: Some(all[1].at.clone()), ..none() }, vec![2, 3]),
        (AuditList { to: Some(all[1].at.clone()), resource: Some(id), ..none() }, vec![1, 2]),
        (AuditList { after: Some(1), limit: Some(1), ..none() }, vec![2]),
    ];
    for (which, seqs) in rows {
        let found: Vec<u64> = facts(which.clone()).iter().map(|f| f.seq).collect();
        assert_eq!(found, seqs, "{which:?}");
    }
}

#[test]
fn who_acts_and_why_are_bounded_and_a_reason_is_one() {
    let ws = Ws::new();
    let id = ws.agent(Some(A), "a").id;
    let edit = || update(Kind::Agent, at(&id, 1), json!({"description": "d"}));
    let admin = |reason: &str| Context { admin: true, break_glass: Some(reason.to_owned()), ..anyone() };
    for reason in ["", " \t", &"x".repeat(1_025)] {
        assert_eq!(ws.refused(&admin(reason), edit()).code, "validation.invalid");
    }
    let long = Context { actor: "x".repeat(257), ..by(A) };
    assert_eq!(ws.refused(&long, edit()).code, "validation.invalid");
    ws.written(&admin("the pager rang"), edit());
}
