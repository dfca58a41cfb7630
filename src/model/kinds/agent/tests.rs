//! What the server fills in is no drift, what a person wrote is; and canonical forms written out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::model::Kind;
use crate::model::kinds::{Applied, Ids, Ref, Refs, Selector, Target, def, owned_digest};

fn canonical(spec: &Value) -> Value {
    (def(Kind::Agent).canonical)("support", spec.clone(), &BTreeMap::new())
}

fn from_wire(body: &Value, applied: Option<&Value>) -> Value {
    (def(Kind::Agent).from_wire)(body, &Refs::default(), applied)
}

#[test]
fn defaults_are_dropped_and_texts_normalized() {
    let written = json!({
        "name": "Support", "model": { "id": "m", "speed": "standard" }, "description": "", "instructions": "\u{feff}a\r\nb\rc\n",
        "tools": [
            { "type": "agent_toolset_20260401", "default_config": { "enabled": true, "permission_policy": { "type": "always_allow" } },
              "configs": [ { "name": "write", "type": "write", "enabled": false }, { "name": "bash", "enabled": true },
                           { "name": "web_fetch", "allowed_domains": ["b", "a"] } ] },
            { "type": "mcp_toolset", "mcp_server_name": "crm", "default_config": { "permission_policy": { "type": "always_ask" } },
              "configs": [{ "name": "find", "permission_policy": { "type": "always_ask" } }] },
        ],
        "mcp_servers": [{ "type": "url", "name": "z", "url": "u" }, { "name": "crm", "url": "u" }],
        "skills": [], "memory": [], "preamble": ["x"],
    });
    let expected = json!({
        "name": "Support", "model": "m", "instructions": "a\nb\nc\n",
        "tools": [
            { "type": "agent_toolset_20260401", "configs": [
                { "name": "web_fetch", "allowed_domains": ["a", "b"] }, { "name": "write", "enabled": false } ] },
            { "type": "mcp_toolset", "mcp_server_name": "crm" },
        ],
        "mcp_servers": [{ "name": "crm", "url": "u" }, { "name": "z", "url": "u" }],
    });
    assert_eq!(canonical(&written), expected);
}

#[test]
fn a_config_differs_from_what_its_toolset_says() {
    let tools = json!([{ "type": "mcp_toolset", "mcp_server_name": "crm", "default_config": { "enabled": false },
        "configs": [{ "name": "find", "enabled": true }, { "name": "get", "enabled": false }] }]);
    let c = canonical(&json!({ "model": "m", "tools": tools }));
    assert_eq!(c["tools"][0]["configs"], json!([{ "name": "find", "enabled": true }]));
    let body = (def(Kind::Agent).to_wire)(&c, &Ids::default(), None).unwrap();
    let ask = json!({ "type": "always_ask" });
    assert_eq!(body["tools"][0]["default_config"], json!({ "enabled": false, "permission_policy": ask }));
    assert_eq!(body["tools"][0]["configs"], json!([{ "name": "find", "enabled": true, "permission_policy": ask }]));
}

#[test]
fn what_the_server_chose_is_no_drift() {
    let wanted = canonical(&json!({ "model": "m", "skills": [{ "anthropic": "xlsx" }],
        "multiagent": { "type": "coordinator", "agents": [{ "id": "agent_1" }, { "type": "advisor", "model": "n" }] } }));
    let body = json!({
        "id": "agent_9", "version": 3, "name": "support", "description": null, "system": null, "metadata": {}, "new_field": 1,
        "model": { "id": "m", "effort": "high", "speed": "standard", "inference_geo": "us" }, "tools": [], "mcp_servers": [],
        "skills": [{ "type": "anthropic", "skill_id": "xlsx", "version": "20260101" }],
        "multiagent": { "type": "coordinator", "agents": [
            { "type": "agent", "id": "agent_1", "version": 7 }, { "type": "advisor", "model": { "id": "n", "effort": "low" } } ] },
        "execution_identity": { "type": "service_account" },
    });
    let applied = Applied { spec: wanted.clone().into(), unowned: Vec::new() };
    let live = from_wire(&body, Some(&wanted));
    assert_eq!(owned_digest(Kind::Agent, &live, &applied), owned_digest(Kind::Agent, &wanted, &applied));
    // A person who wrote one of them sees it move.
    let chose = canonical(
        &json!({ "model": { "id": "m", "effort": "low" }, "skills": [{ "anthropic": "xlsx", "version": "1" }],
        "multiagent": { "type": "coordinator", "agents": [{ "agent": { "id": "agent_1" }, "version": 2 }] } }),
    );
    let live = from_wire(&body, Some(&chose));
    assert_eq!(live["model"], json!({ "id": "m", "effort": "high" }));
    assert_eq!(live["skills"], json!([{ "anthropic": "xlsx", "version": "20260101" }]));
    assert_eq!(live["multiagent"]["agents"][0], json!({ "agent": { "id": "agent_1" }, "version": 7 }));
}

#[test]
fn an_update_says_what_is_cleared() {
    let c = canonical(&json!({ "model": "m" }));
    let only = |fields: &[&str]| fields.iter().map(|f| (*f).to_owned()).collect::<BTreeSet<_>>();
    let fields = only(&["description", "instructions", "tools", "skills", "execution_identity", "labels.team"]);
    let body = (def(Kind::Agent).to_wire)(&c, &Ids::default(), Some(&fields)).unwrap();
    let expected = json!({ "description": null, "system": null, "tools": [], "skills": [], "execution_identity": null,
        "metadata": { "team": null } });
    assert_eq!(Value::Object(body), expected);
    let labelled = json!({ "name": "a", "model": "m", "labels": { "a.b": "1", "c": "2" } });
    let body =
        (def(Kind::Agent).to_wire)(&labelled, &Ids::default(), Some(&only(&["labels.a.b", "labels.gone"]))).unwrap();
    assert_eq!(Value::Object(body), json!({ "metadata": { "a.b": "1", "gone": null } }));
}

#[test]
fn the_merged_multiagent_form_is_sent_in_full() {
    let c = canonical(
        &json!({ "model": "m", "multiagent": { "type": "multiagent_20261001", "workflows": { "type": "disabled" },
        "subagents": { "type": "enabled", "inline_agents": { "type": "enabled" } }, "advisor": { "type": "disabled" } } }),
    );
    assert_eq!(c["multiagent"], json!({ "type": "multiagent_20261001", "workflows": { "type": "disabled" } }));
    let body = (def(Kind::Agent).to_wire)(&c, &Ids::default(), None).unwrap();
    let expected = json!({ "type": "multiagent_20261001", "advisor": { "type": "disabled" }, "workflows": { "type": "disabled" },
        "subagents": { "type": "enabled", "predefined_agents": [], "inline_agents": { "type": "enabled" } } });
    assert_eq!(body["multiagent"], expected);
}

#[test]
fn skills_choose_versions() {
    let digest = crate::model::Digest::of(b"x");
    let c = canonical(&json!({ "model": "m", "skills": [
        { "skill": "faq", "version": 3 }, { "skill": { "id": "skill_7" } }, { "skill": "triage", "content": digest } ] }));
    let refs: Vec<Ref> = (def(Kind::Agent).refs)(&c);
    let found: Vec<_> = refs.iter().map(|r| (r.target.key(), r.selector.clone())).collect();
    assert_eq!(
        found,
        [
            ("Skill/triage".to_owned(), Selector::Content(digest)),
            ("skill_7".to_owned(), Selector::Latest),
            ("Skill/faq".to_owned(), Selector::Number(3)),
        ]
    );
    assert!(matches!(refs[1].target, Target::Id(Kind::Skill, _)));
    // A number has no id of a version to send; plan turns it into content first.
    let ids =
        Ids([("Skill/faq", "skill_1"), ("Skill/triage", "skill_2")].map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    assert_eq!((def(Kind::Agent).to_wire)(&c, &ids, None).unwrap_err().0, format!("Skill/triage@{digest}"));
}

#[test]
fn an_advisor_is_sent_in_full_since_the_wire_merges_it() {
    let with = |model: Value| {
        canonical(&json!({ "model": "m", "multiagent": {
            "type": "multiagent_20261001", "advisor": { "type": "enabled", "model": model } } }))
    };
    let sent = |c: &Value| (def(Kind::Agent).to_wire)(c, &Ids::default(), None).unwrap();
    let slow = with(json!({ "id": "n", "speed": "standard" }));
    assert_eq!(slow["multiagent"]["advisor"]["model"], json!("n"));
    let model = json!({ "id": "n", "speed": "standard" });
    assert_eq!(sent(&slow)["multiagent"]["advisor"]["model"], model);
    // What the server chose for it is no drift.
    let mut body = Value::Object(sent(&slow));
    body["multiagent"]["advisor"]["model"]["effort"] = json!("high");
    assert_eq!(from_wire(&body, Some(&slow)), slow);
    assert_ne!(from_wire(&body, None), slow);
}

#[test]
fn a_config_is_sent_in_full() {
    let tools = json!([{ "type": "agent_toolset_20260401", "default_config": { "enabled": false },
        "configs": [{ "name": "bash", "permission_policy": { "type": "auto" } }] }]);
    let c = canonical(&json!({ "model": "m", "tools": tools }));
    let body = (def(Kind::Agent).to_wire)(&c, &Ids::default(), None).unwrap();
    let full = json!([{ "name": "bash", "enabled": false, "permission_policy": { "type": "auto" } }]);
    assert_eq!(body["tools"][0]["configs"], full);
}

#[test]
fn an_address_of_a_server_holds_no_credentials() {
    let said = |url: &str| {
        let spec = json!({"model": "m", "tools": [{"type": "mcp_toolset", "mcp_server_name": "crm"}],
            "mcp_servers": [{"name": "crm", "url": url}]});
        (def(Kind::Agent).check)(&spec).into_iter().map(|p| (p.code.code, p.pointer, p.message)).collect::<Vec<_>>()
    };
    for url in ["https://crm.example.com/mcp?a=b", "http://localhost:8080", "https://h/users/@me"] {
        assert!(said(url).is_empty(), "{:?}", said(url));
    }
    for url in ["https://jane:hunter2@h/mcp", "https://token@h", "http://:hunter2@h?x#y"] {
        let [(code, pointer, message)] = &said(url)[..] else { panic!("{url}") };
        assert_eq!((*code, pointer.as_str()), ("kind.form", "/mcp_servers/0/url"));
        assert!(!message.contains("hunter2"), "{message}");
    }
}
