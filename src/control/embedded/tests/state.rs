//! What an owner had once an Apply had ended.

use serde_json::json;

use super::*;

const A: &str = "acme/a";
const B: &str = "acme/b";

/// An Apply of an owner that does what `write` does under its context.
fn apply(ws: &Ws, whose: &str, write: impl FnOnce(&Context)) -> String {
    let begin =
        ApplyBegin { plan_digest: Digest::of(b"p"), owner: owner(whose), source: Source::default(), addresses: vec![] };
    let Response::Began(began) = ws.call(&by(whose), Request::ApplyBegin(begin)).unwrap() else { panic!() };
    write(&Context { apply: Some(began.id.clone()), action: Some("Agent/x#update".to_owned()), ..by(whose) });
    let end = ApplyEnd { id: began.id.clone(), outcome: "done".to_owned(), lines: vec![] };
    ws.call(&by(whose), Request::ApplyEnd(end)).unwrap();
    began.id
}

fn state(ws: &Ws, apply: &str) -> Vec<Recorded> {
    let request = StateAt { apply: apply.to_owned(), page: None, limit: None };
    match ws.call(&anyone(), Request::ApplyState(request)).unwrap() {
        Response::State(Page { data, next_page: None }) => data,
        other => panic!("{other:?}"),
    }
}

/// `ADDRESS=ID` of each.
fn places(ws: &Ws, apply: &str) -> Vec<String> {
    state(ws, apply).iter().map(|r| format!("{}={}", r.address, r.id)).collect()
}

fn edited(ws: &Ws, context: &Context, id: &str, version: u64, text: &str) {
    let body = object(json!({"system": text}));
    let applied = applied(Kind::Agent, &object(json!({"name": "support", "model": "m", "system": text})));
    let update = Update { kind: Kind::Agent, at: at(id, version), body, applied: Some(applied) };
    ws.written(context, Request::Update(update));
}

fn on(id: &str, version: u64, seq: u64) -> Authoring {
    Authoring { at: at(id, version), seq }
}

fn moved(id: &str, (version, seq): (u64, u64), from: &str, to: &str, name: &str) -> Request {
    let address = address(Kind::Agent, name);
    Request::Transfer(Transfer { at: on(id, version, seq), from: owner(from), to: owner(to), address })
}

#[test]
fn every_apply_knows_what_was_applied_when_it_had_ended() {
    let ws = Ws::new();
    let mut id = String::new();
    let first = apply(&ws, A, |c| {
        id = ws.written(c, create(Kind::Agent, agent_body("support"), Some("support"))).id;
    });
    let second = apply(&ws, A, |c| edited(&ws, c, &id, 1, "two"));
    // What is live is not what was applied.
    ws.track(A);
    ws.written(&anyone(), update(Kind::Agent, at(&id, 2), json!({"system": "outside"})));
    let third = apply(&ws, A, |c| {
        ws.written(c, Request::Protect(Protect { at: on(&id, 3, 1), protected: true }));
        let renamed = Context { action: Some("Agent/helpdesk#rename".to_owned()), ..c.clone() };
        ws.written(&renamed, moved(&id, (3, 2), A, A, "helpdesk"));
    });
    let text = |apply: &str| state(&ws, apply).remove(0).applied.spec["instructions"].clone();
    assert_eq!((text(&first), text(&second), text(&third)), (json!("Be kind."), json!("two"), json!("two")));
    assert_eq!(places(&ws, &second), [format!("Agent/support={id}")]);
    assert_eq!(places(&ws, &third), [format!("Agent/helpdesk={id}")]);
    assert_eq!((state(&ws, &second)[0].protected, state(&ws, &third)[0].protected), (false, true));

    // Taken by another, it is the other's from then on, and was this one's before.
    let taken = apply(&ws, B, |c| {
        ws.written(&Context { admin: true, ..c.clone() }, moved(&id, (3, 3), A, B, "support"));
    });
    let last = apply(&ws, A, |_| ());
    assert_eq!(places(&ws, &taken), [format!("Agent/support={id}")]);
    assert!(state(&ws, &last).is_empty());
    assert_eq!(places(&ws, &third), [format!("Agent/helpdesk={id}")]);
    assert_eq!(
        ws.refused(&anyone(), Request::ApplyState(StateAt { apply: "x".into(), page: None, limit: None })).code,
        "resource.not_found"
    );
}

#[test]
fn what_left_its_owner_is_in_no_later_state() {
    let ws = Ws::new();
    let make = |c: &Context, name: &str| ws.written(c, create(Kind::Agent, agent_body(name), Some(name))).id;
    let mut ids = Vec::new();
    let all = apply(&ws, A, |c| {
        ids.extend(
            ["given", "kept", "retired", "released"]
                .map(|name| make(&Context { action: Some(format!("Agent/{name}#create")), ..c.clone() }, name)),
        );
    });
    let none = apply(&ws, A, |c| {
        let (to, address) = (owner(B), address(Kind::Agent, "given"));
        ws.written(c, Request::HandOver(HandOver { at: on(&ids[0], 1, 1), to, address }));
        ws.written(c, retire(Kind::Agent, at(&ids[2], 1)));
        ws.written(c, Request::Release(on(&ids[3], 1, 1)));
    });
    assert_eq!(state(&ws, &all).len(), 4);
    assert_eq!(places(&ws, &none), [format!("Agent/kept={}", ids[1])]);
    // Taken back it is there again.
    let back = apply(&ws, A, |c| drop(ws.written(c, moved(&ids[0], (1, 2), A, A, "given"))));
    assert_eq!(state(&ws, &back).len(), 2);
    // By pages.
    let page = |page: Option<String>| {
        let request = StateAt { apply: all.clone(), page, limit: Some(3) };
        let Response::State(page) = ws.call(&anyone(), Request::ApplyState(request)).unwrap() else { panic!() };
        page
    };
    let first = page(None);
    let second = page(first.next_page.clone());
    let names: Vec<_> = first.data.iter().chain(&second.data).map(|r| r.address.name.as_str()).collect();
    assert_eq!((names, second.next_page), (vec!["given", "kept", "released", "retired"], None));
}

#[test]
fn content_comes_with_its_files_and_what_was_replaced_ends_nothing() {
    let ws = Ws::new();
    let (mut old, mut new) = (String::new(), String::new());
    let first = apply(&ws, A, |c| {
        let content = ws.skill_files("faq", "1");
        let Request::Create(mut made) =
            create(Kind::Skill, object(json!({"name": "faq", "display_name": "faq"})), Some("faq"))
        else {
            unreachable!()
        };
        std::sync::Arc::make_mut(&mut made.claim.as_mut().unwrap().applied.spec)["content"] = json!(content.digest);
        made.content = Some(content);
        old = ws.written(c, Request::Create(made.clone())).id;
    });
    let second = apply(&ws, A, |c| {
        let content = ws.skill_files("faq", "2");
        let Request::Create(mut made) =
            create(Kind::Skill, object(json!({"name": "faq", "display_name": "F"})), Some("faq"))
        else {
            unreachable!()
        };
        std::sync::Arc::make_mut(&mut made.claim.as_mut().unwrap().applied.spec)["content"] = json!(content.digest);
        (made.content, made.replaces) = (Some(content), Some(at(&old, 1)));
        new = ws.written(c, Request::Create(made)).id;
        let retired = Context { action: Some(format!("Skill/faq#retire-{old}")), ..c.clone() };
        ws.written(&retired, retire(Kind::Skill, at(&old, 1)));
    });
    let files = |apply: &str| {
        let one = state(&ws, apply).remove(0);
        (one.id, one.entries[0].path.clone(), one.entries[0].sha256)
    };
    assert_eq!(files(&first), (old, "SKILL.md".to_owned(), ws.blob("---\nname: faq\ndescription: d\n---\n1\n")));
    assert_eq!(files(&second), (new, "SKILL.md".to_owned(), ws.blob("---\nname: faq\ndescription: d\n---\n2\n")));
}
