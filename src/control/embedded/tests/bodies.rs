//! Bodies that a kind does not take are refused, in process too, and never stored.

use serde_json::json;

use super::*;

#[test]
fn a_bad_body_is_refused_with_its_field_and_leaves_nothing() {
    let ws = Ws::new();
    let agent = |more: Value| {
        let mut body = agent_body("a");
        body.extend(object(more));
        (Kind::Agent, body)
    };
    let env = |config: Value| (Kind::Environment, object(json!({"name": "e", "config": config})));
    let rows = [
        (agent(json!({"system": "x".repeat(100_001)})), "system"),
        (agent(json!({"description": 7})), "description"),
        (agent(json!({"tools": "all"})), "tools"),
        (agent(json!({"tools": [{"type": "custom", "name": "no spaces here"}]})), "tools.0"),
        (agent(json!({"tools": [{"type": "mcp_toolset", "mcp_server_name": "none"}]})), "tools.0.mcp_server_name"),
        (agent(json!({"skills": vec![json!({"type": "custom", "skill_id": "skill_1"}); 21]})), "skills"),
        (agent(json!({"multiagent": {"type": "coordinator", "agents": []}})), "multiagent"),
        (env(json!({"type": "cloud", "networking": {"type": "some"}})), "config"),
        (env(json!({"type": "cloud", "networking": {"type": "limited"}, "packages": {"pip": ["x"]}})), "config"),
        ((Kind::MemoryStore, object(json!({"name": "s", "description": "x".repeat(1_025)}))), "description"),
    ];
    for ((kind, body), field) in rows {
        let refused = ws.refused(&anyone(), create(kind, body, None));
        assert_eq!(refused.code, "validation.invalid", "{refused:?}");
        let named = refused.details["fields"][0]["field"].as_str().unwrap_or_default();
        assert!(named.starts_with(field), "{field}: {refused:?}");
    }
    let Response::Audit(facts) = ws.call(&anyone(), Request::AuditList(AuditList::default())).unwrap() else {
        panic!()
    };
    assert!(facts.is_empty());
}

#[test]
fn what_an_update_makes_of_a_body_is_held_to_the_same() {
    let ws = Ws::new();
    let id = ws.agent(None, "a").id;
    let change = |body| ws.refused(&anyone(), update(Kind::Agent, at(&id, 1), body));
    assert_eq!(change(json!({"tools": [{"type": "nothing"}]})).code, "validation.invalid");
    assert_eq!(change(json!({"model": null})).code, "validation.invalid");
    let many: Object = (0..17).map(|n| (format!("k{n}"), json!("v"))).collect();
    assert_eq!(change(json!({"metadata": many})).code, "validation.metadata");
    assert_eq!(change(json!({"metadata": {"k": "v".repeat(513)}})).code, "validation.metadata");
    assert_eq!(change(json!({"metadata": {"k": 1}})).code, "validation.metadata");
    assert_eq!(ws.get(Kind::Agent, &id)["version"], 1);
}

#[test]
fn an_environment_keeps_its_type_and_takes_nothing_once_archived() {
    let ws = Ws::new();
    // What says no config runs in the cloud.
    let id = ws.written(&anyone(), create(Kind::Environment, object(json!({"name": "e"})), None)).id;
    let own = json!({"config": {"type": "self_hosted"}});
    assert_eq!(ws.refused(&anyone(), update(Kind::Environment, at(&id, 1), own)).code, "environment.config_type");
    let part = json!({"config": {"packages": {"pip": ["x"]}}});
    ws.written(&anyone(), update(Kind::Environment, at(&id, 1), part));
    assert_eq!(ws.get(Kind::Environment, &id)["config"]["type"], "cloud");
    ws.written(&anyone(), retire(Kind::Environment, at(&id, 2)));
    let any = Expect { id: id.clone(), version: None };
    let late = update(Kind::Environment, any, json!({"description": "x"}));
    assert_eq!(ws.refused(&anyone(), late).code, "environment.archived");
    let none = || Expect { id: "env_none".to_owned(), version: None };
    let get = Request::Get(GetOf { kind: Kind::Environment, id: "env_none".to_owned(), version: None });
    let update = update(Kind::Environment, none(), json!({"description": "x"}));
    for request in [get, update, retire(Kind::Environment, none())] {
        assert_eq!(ws.refused(&anyone(), request).code, "environment.not_found");
    }
}
