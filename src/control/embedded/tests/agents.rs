//! Versions of agents, and how an update merges.

use serde_json::json;

use super::*;

fn change(ws: &Ws, id: &str, version: u64, body: Value) -> Written {
    ws.written(&anyone(), update(Kind::Agent, at(id, version), body))
}

#[test]
fn every_change_makes_the_next_version_and_no_change_makes_none() {
    let ws = Ws::new();
    let made = ws.agent(None, "support");
    assert_eq!((made.version, made.made.as_deref(), made.changed, made.seq), (1, Some("1"), true, 0));
    let same = change(&ws, &made.id, 1, json!({"system": "Be kind.", "model": {"id": "claude-sonnet-5"}}));
    assert_eq!((same.version, same.changed, same.made.as_deref()), (1, false, Some("1")));
    let next = change(&ws, &made.id, 1, json!({"system": "Be brief."}));
    assert_eq!((next.version, next.changed, next.made.as_deref()), (2, true, Some("2")));
    let get = |version| match ws
        .call(&anyone(), Request::Get(GetOf { kind: Kind::Agent, id: made.id.clone(), version }))
        .unwrap()
    {
        Response::Body(body) => body["system"].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((get(Some(1)), get(Some(2)), get(None)), (json!("Be kind."), json!("Be brief."), json!("Be brief.")));
    let versions = ws.versions(Kind::Agent, &made.id).unwrap();
    assert_eq!(versions.iter().map(|v| v["version"].clone()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn omitted_keeps_null_clears_metadata_merges() {
    let ws = Ws::new();
    let id = ws.agent(None, "support").id;
    change(
        &ws,
        &id,
        1,
        json!({"metadata": {"a": "1", "b": "2"}, "description": "d", "tools": [{"type": "agent_toolset_20260401"}]}),
    );
    change(&ws, &id, 2, json!({"metadata": {"a": null, "c": ""}, "description": null, "tools": []}));
    let body = ws.get(Kind::Agent, &id);
    assert_eq!(body["metadata"], json!({"b": "2", "c": ""}));
    assert_eq!((&body["description"], &body["tools"]), (&json!(null), &json!([])));
    assert_eq!(body["system"], "Be kind.");
    for bad in [json!({"name": null}), json!({"model": null}), json!({"nope": 1})] {
        assert_eq!(ws.refused(&anyone(), update(Kind::Agent, at(&id, 3), bad)).code, "validation.invalid");
    }
}

#[test]
fn effort_stays_while_the_model_stays_and_newer_multiagent_merges() {
    let ws = Ws::new();
    let id = ws.agent(None, "support").id;
    change(&ws, &id, 1, json!({"model": {"id": "claude-sonnet-5", "effort": "low", "inference_geo": "eu"}}));
    change(&ws, &id, 2, json!({"model": "claude-sonnet-5"}));
    let model = |id: &str, effort: &str| json!({"id": id, "effort": {"type": effort}, "speed": "standard", "inference_geo": null});
    assert_eq!(ws.get(Kind::Agent, &id)["model"], model("claude-sonnet-5", "low"));
    change(&ws, &id, 3, json!({"model": "claude-opus-5"}));
    assert_eq!(ws.get(Kind::Agent, &id)["model"], model("claude-opus-5", "high"));
    let ty = "multiagent_20261001";
    change(
        &ws,
        &id,
        4,
        json!({"multiagent": {"type": ty, "workflows": {"type": "disabled"}, "advisor": {"type": "enabled", "model": "m"}}}),
    );
    change(&ws, &id, 5, json!({"multiagent": {"type": ty, "workflows": null}}));
    let body = ws.get(Kind::Agent, &id);
    let on = json!({"type": "enabled", "predefined_agents": [], "inline_agents": {"type": "enabled"}});
    let advisor = json!({"type": "enabled", "model": "m"});
    assert_eq!(body["multiagent"], json!({"type": ty, "advisor": advisor, "subagents": on, "workflows": on}));
}

#[test]
fn a_stale_version_is_refused_even_when_the_fields_match_already() {
    let ws = Ws::new();
    let id = ws.agent(None, "support").id;
    change(&ws, &id, 1, json!({"system": "2"}));
    let error = ws.refused(&anyone(), update(Kind::Agent, at(&id, 1), json!({"system": "2"})));
    assert!(error.is_stale());
    assert_eq!(error.details["current"], 2);
}

#[test]
fn archived_takes_no_change_and_can_be_read() {
    let ws = Ws::new();
    let id = ws.agent(None, "support").id;
    ws.written(&anyone(), retire(Kind::Agent, at(&id, 1)));
    assert_eq!(
        ws.refused(&anyone(), update(Kind::Agent, at(&id, 1), json!({"system": "x"}))).code,
        "resource.archived"
    );
    assert!(ws.get(Kind::Agent, &id)["archived_at"].is_string());
    // Archiving makes no version, so every version that is named is there.
    let of = |number| Request::Get(GetOf { kind: Kind::Agent, id: id.clone(), version: Some(number) });
    assert_eq!(ws.get(Kind::Agent, &id)["version"], 1);
    assert!(ws.call(&anyone(), of(1)).is_ok());
    assert_eq!(ws.refused(&anyone(), of(2)).code, "resource.not_found");
    let again = ws.written(&anyone(), retire(Kind::Agent, at(&id, 1)));
    assert!(!again.changed);
    let list = |include_archived| {
        let request = ListOf {
            kind: Kind::Agent,
            owner: None,
            labels: std::collections::BTreeMap::new(),
            include_archived,
            view: ListView::Full,
            source: None,
            created_from: None,
            created_to: None,
            page: None,
            limit: None,
        };
        match ws.call(&anyone(), Request::List(request)).unwrap() {
            Response::Bodies(page) => page.data.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((list(false), list(true)), (0, 1));
}

#[test]
fn lists_page_and_filter_by_label_and_owner() {
    let ws = Ws::new();
    for n in 0..5 {
        let name = format!("a{n}");
        let made = ws.agent(Some(if n == 0 { "acme/b" } else { "acme/a" }), &name);
        let team = if n % 2 == 0 { "x" } else { "y" };
        let of = if n == 0 { "acme/b" } else { "acme/a" };
        ws.written(&by(of), update(Kind::Agent, at(&made.id, 1), json!({"metadata": {"team": team}})));
    }
    let list = |page: Option<String>, label: Option<&str>, of: Option<&str>| {
        let request = ListOf {
            kind: Kind::Agent,
            owner: of.map(owner),
            labels: label.map(|l| ("team".to_owned(), l.to_owned())).into_iter().collect(),
            include_archived: false,
            view: ListView::Full,
            source: None,
            created_from: None,
            created_to: None,
            page,
            limit: Some(2),
        };
        match ws.call(&anyone(), Request::List(request)).unwrap() {
            Response::Bodies(page) => page,
            other => panic!("{other:?}"),
        }
    };
    let first = list(None, None, None);
    let second = list(first.next_page.clone(), None, None);
    let third = list(second.next_page.clone(), None, None);
    assert_eq!((first.data.len(), second.data.len(), third.data.len()), (2, 2, 1));
    assert_eq!(third.next_page, None);
    assert_eq!(list(None, Some("x"), Some("acme/a")).data.len(), 2);
    assert_eq!(list(None, Some("y"), Some("acme/b")).data.len(), 0);
}

#[test]
fn environments_hold_their_names_and_merge_config() {
    let ws = Ws::new();
    let body = |name: &str| {
        object(
            json!({"name": name, "config": {"type": "cloud", "packages": {"type": "packages", "pip": ["a"], "apt": ["b"]}}}),
        )
    };
    let made = ws.written(&anyone(), create(Kind::Environment, body("e"), None));
    let taken = ws.refused(&anyone(), create(Kind::Environment, body("e"), None));
    assert_eq!((taken.code, &taken.details["reason"]), ("validation.conflict", &json!("name_taken")));
    let change = |version, body| ws.call(&anyone(), update(Kind::Environment, at(&made.id, version), body));
    change(1, json!({"config": {"packages": {"apt": []}}, "description": ""})).unwrap();
    let now = ws.get(Kind::Environment, &made.id);
    let none = json!([]);
    let packages =
        json!({"type": "packages", "pip": ["a"], "apt": none, "cargo": none, "gem": none, "go": none, "npm": none});
    assert_eq!(now["config"]["packages"], packages);
    assert_eq!((&now["config"]["type"], &now["description"]), (&json!("cloud"), &json!("")));
    let fixed = change(2, json!({"config": {"type": "self_hosted"}})).unwrap_err();
    assert_eq!(fixed.code, "environment.config_type");
    ws.written(&anyone(), retire(Kind::Environment, at(&made.id, 2)));
    ws.written(&anyone(), create(Kind::Environment, body("e"), None));
}
