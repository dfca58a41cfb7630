//! What holds for every kind: the laws of the three forms, of schemas and of the table.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::model::kinds::arbitrary::{Authored, authored, resolved};
use crate::model::kinds::{
    Applied, Change, Default_, Ids, KINDS, KindDef, List, Object, Ref, Refs, Selector, Target, def, docs, owned_digest,
    schema, wire,
};
use crate::model::{Digest, Kind, Owner};

fn me() -> Owner {
    "acme/me".parse().unwrap()
}

/// Live ids for everything that a canonical form refers to, both ways.
fn world(kind: &KindDef, canonical: &Value) -> (Ids, Refs) {
    let (mut ids, mut refs) = (Ids::default(), Refs { me: Some(me()), ..Refs::default() });
    for r in (kind.refs)(canonical) {
        let key = r.target.key();
        let id = match &r.target {
            Target::Id(_, id) => id.clone(),
            Target::Own(a) | Target::Foreign(_, a) => {
                let id = format!("live-{}", key.replace(['/', ':'], "-"));
                let owner = if let Target::Foreign(o, _) = &r.target { o.clone() } else { me() };
                refs.resources.insert(id.clone(), (owner, a.clone()));
                id
            }
        };
        ids.0.insert(key.clone(), id.clone());
        if let Selector::Content(digest) = r.selector {
            // Numbers from 5000 on, so that none is one that a manifest names.
            let number = 5000 + u64::from(digest.as_bytes()[0]);
            let (version, held) = if r.target.kind() == Kind::Skill {
                let id = format!("skver_{key}_{number}");
                (id.clone(), id)
            } else {
                (number.to_string(), format!("{id}#{number}"))
            };
            ids.0.insert(format!("{key}@{digest}"), version);
            refs.contents.insert(held, digest);
        }
    }
    (ids, refs)
}

fn canonical(kind: &KindDef, a: &Authored) -> Value {
    (kind.canonical)(&a.name, resolved(kind.kind, &a.spec), &a.labels)
}

/// What the control plane adds to a body that it stores.
fn stored(body: Object, canonical: &Value) -> Value {
    let mut body = Value::Object(body);
    for key in ["content", "contents"] {
        if let Some(value) = canonical.get(key) {
            body[key] = value.clone();
        }
    }
    body
}

/// 1,000 cases of a kind, the same ones every time.
fn each(kind: Kind, law: impl Fn(&KindDef, Authored) -> Result<(), TestCaseError>) {
    let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(&authored(kind), |a| law(def(kind), a)) {
        panic!("{kind}: {error}");
    }
}

fn each_kind(law: impl Fn(&KindDef, Authored) -> Result<(), TestCaseError> + Copy) {
    for kind in Kind::ALL {
        each(kind, law);
    }
}

#[test]
fn from_wire_undoes_to_wire() {
    each_kind(|kind, a| {
        let c = canonical(kind, &a);
        let (ids, refs) = world(kind, &c);
        let body = stored((kind.to_wire)(&c, &ids, None).unwrap(), &c);
        // Fields that only the authoring record knows come back with it, and with it alone.
        prop_assert_eq!(&(kind.from_wire)(&body, &refs, Some(&c)), &c);
        let mut bare = c.clone();
        for field in kind.fields.iter().filter(|f| f.change == Change::Record) {
            bare.as_object_mut().unwrap().remove(field.name);
        }
        prop_assert_eq!(&(kind.from_wire)(&body, &refs, None), &bare);
        Ok(())
    });
}

#[test]
fn what_is_answered_is_what_is_stored_to_its_owner() {
    each_kind(|kind, a| {
        let c = canonical(kind, &a);
        let (ids, refs) = world(kind, &c);
        let full = (kind.to_wire)(&c, &ids, None).unwrap();
        // A client need not send what means nothing.
        let mut short = full.clone();
        short.retain(|_, v| !(v.is_null() || v.as_array().is_some_and(Vec::is_empty)));
        let applied = Applied { spec: std::sync::Arc::new(c.clone()), unowned: Vec::new() };
        let agents = (kind.wire_refs)(&full).into_iter().filter(|r| r.kind == Kind::Agent);
        let newest = agents.map(|r| (r.id, 7)).collect();
        for mut body in [full, short] {
            (kind.answered)(&mut body, &newest);
            let answered = body.clone();
            (kind.answered)(&mut body, &newest);
            prop_assert_eq!(&answered, &body, "it is full already");
            let read = (kind.from_wire)(&stored(body, &c), &refs, Some(&c));
            prop_assert_eq!(owned_digest(kind.kind, &read, &applied), applied.digest(kind.kind), "{}", read);
        }
        Ok(())
    });
}

#[test]
fn canonical_is_idempotent_and_holds_only_the_tables_fields() {
    each_kind(|kind, a| {
        let c = canonical(kind, &a);
        prop_assert_eq!(&(kind.canonical)(&a.name, c.clone(), &a.labels), &c);
        prop_assert_eq!(&(kind.canonical)("other", c.clone(), &std::collections::BTreeMap::new()), &c);
        for (key, value) in c.as_object().unwrap() {
            let field = kind.field(key);
            prop_assert!(field.is_some(), "{} is not in the table", key);
            if let Default_::Json(text) = field.unwrap().default {
                prop_assert_ne!(value, &serde_json::from_str::<Value>(text).unwrap());
            }
        }
        for field in kind.fields.iter().filter(|f| f.default == Default_::Required) {
            prop_assert!(c.get(field.name).is_some(), "{} is missing", field.name);
        }
        Ok(())
    });
}

#[test]
fn what_is_valid_passes_schema_types_and_rules() {
    let validators: Vec<_> = KINDS.iter().map(|k| jsonschema::validator_for(&(k.schema)()).unwrap()).collect();
    let any = jsonschema::validator_for(&schema::manifest()).unwrap();
    let documents: Vec<_> = KINDS.iter().map(|k| jsonschema::validator_for(&schema::schema(k)).unwrap()).collect();
    each_kind(|kind, a| {
        let errors: Vec<String> = validators[kind.kind as usize]
            .iter_errors(&a.spec)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        prop_assert!(errors.is_empty(), "{errors:?}");
        let document = json!({
            "apiVersion": "checkfu.com/v1", "kind": kind.kind, "spec": a.spec,
            "metadata": { "name": a.name, "labels": a.labels },
        });
        let errors: Vec<String> = documents[kind.kind as usize].iter_errors(&document).map(|e| e.to_string()).collect();
        prop_assert!(errors.is_empty(), "{errors:?}");
        prop_assert!(any.is_valid(&document));
        let mut broken = document;
        broken["spec"]["no_such_key"] = json!(1);
        prop_assert!(!any.is_valid(&broken));
        let problems: Vec<String> =
            (kind.check)(&a.spec).into_iter().map(|p| format!("{} {}", p.pointer, p.message)).collect();
        prop_assert!(problems.is_empty(), "{problems:?}");
        prop_assert!(deserializes(kind.kind, &a.spec).is_ok(), "{:?}", deserializes(kind.kind, &a.spec));
        Ok(())
    });
}

fn deserializes(kind: Kind, spec: &Value) -> Result<Value, serde_json::Error> {
    fn as_type<T: serde::de::DeserializeOwned + serde::Serialize>(v: &Value) -> Result<Value, serde_json::Error> {
        serde_json::to_value(serde_json::from_value::<T>(v.clone())?)
    }
    use crate::model::kinds::{agent, environment, file_tree, file_tree_mount, memory_mount, memory_store, skill};
    match kind {
        Kind::Agent => as_type::<agent::Spec>(spec),
        Kind::Environment => as_type::<environment::Spec>(spec),
        Kind::FileTree => as_type::<file_tree::Spec>(spec),
        Kind::FileTreeMount => as_type::<file_tree_mount::Spec>(spec),
        Kind::MemoryMount => as_type::<memory_mount::Spec>(spec),
        Kind::MemoryStore => as_type::<memory_store::Spec>(spec),
        Kind::Skill => as_type::<skill::Spec>(spec),
    }
}

#[test]
fn an_update_clears_what_is_absent_and_sends_nothing_else() {
    each_kind(|kind, a| {
        let c = canonical(kind, &a);
        let (ids, _) = world(kind, &c);
        let whole = (kind.to_wire)(&c, &ids, None).unwrap();
        prop_assert!(!whole.contains_key("content") && !whole.contains_key("contents") && !whole.contains_key("modes"));
        prop_assert!(whole.values().all(|v| !v.is_null()), "a create says no null: {:?}", whole);
        for field in kind.fields {
            let only = BTreeSet::from([field.name.to_owned()]);
            let body = (kind.to_wire)(&c, &ids, Some(&only)).unwrap();
            let silent = matches!(field.change, Change::Record) || field.name.starts_with("content");
            prop_assert_eq!(body.len(), usize::from(!silent), "{}: {:?}", field.name, body);
            if c.get(field.name).is_some() {
                for (key, value) in &body {
                    prop_assert_eq!(whole.get(key), Some(value));
                }
            }
        }
        prop_assert!((kind.to_wire)(&c, &ids, Some(&BTreeSet::new())).unwrap().is_empty());
        Ok(())
    });
}

#[test]
fn wire_bodies_are_what_the_wire_schemas_say() {
    let schema = |update| move |kind: &&KindDef| jsonschema::validator_for(&wire::schema(kind.kind, update)).unwrap();
    let creates: Vec<_> = KINDS.iter().map(schema(false)).collect();
    let updates: Vec<_> = KINDS.iter().map(schema(true)).collect();
    each_kind(|kind, a| {
        let c = canonical(kind, &a);
        let (ids, _) = world(kind, &c);
        let body = Value::Object((kind.to_wire)(&c, &ids, None).unwrap());
        let errors: Vec<String> =
            creates[kind.kind as usize].iter_errors(&body).map(|e| format!("{} {e}", e.instance_path())).collect();
        prop_assert!(errors.is_empty(), "{errors:?}");
        for field in kind.fields {
            let only = BTreeSet::from([field.name.to_owned()]);
            let body = Value::Object((kind.to_wire)(&c, &ids, Some(&only)).unwrap());
            prop_assert!(updates[kind.kind as usize].is_valid(&body), "{body}");
        }
        Ok(())
    });
}

#[test]
fn the_order_of_sets_changes_nothing() {
    each_kind(|kind, a| {
        let straight = resolved(kind.kind, &a.spec);
        let mut turned = straight.clone();
        for field in kind.fields.iter().filter(|f| matches!(f.list, List::SetBy(_))) {
            if let Some(list) = turned.get_mut(field.name).and_then(Value::as_array_mut) {
                list.reverse();
            }
        }
        for path in ["/config/networking/allowed_hosts", "/config/packages/pip", "/tools/0/configs"] {
            if let Some(list) = turned.pointer_mut(path).and_then(Value::as_array_mut) {
                list.reverse();
            }
        }
        let canonical = |v: &Value| (kind.canonical)(&a.name, v.clone(), &a.labels);
        prop_assert_eq!(canonical(&straight), canonical(&turned));
        Ok(())
    });
}

#[test]
fn references_are_found_in_both_forms() {
    each_kind(|kind, a| {
        let c = canonical(kind, &a);
        let (ids, _) = world(kind, &c);
        let body = (kind.to_wire)(&c, &ids, None).unwrap();
        let refs = (kind.refs)(&c);
        for r in &refs {
            let value = c.pointer(&r.pointer);
            prop_assert_eq!(
                value.and_then(|v| Target::of(r.target.kind(), v)),
                Some(r.target.clone()),
                "{}",
                r.pointer
            );
        }
        let version = |r: &Ref| match &r.selector {
            Selector::Content(digest) => Some(ids.version(&r.target, digest).unwrap()),
            Selector::Number(n) => Some(n.to_string()),
            _ => None,
        };
        let follows = |r: &Ref| r.selector == Selector::Latest;
        let mut wanted: Vec<_> =
            refs.iter().map(|r| (r.target.kind(), ids.resource(&r.target).unwrap(), version(r), follows(r))).collect();
        let found = (kind.wire_refs)(&body).into_iter();
        let mut found: Vec<_> = found.map(|r| (r.kind, r.id, r.version, r.follows)).collect();
        wanted.sort();
        found.sort();
        prop_assert_eq!(found, wanted);
        if refs.iter().any(|r| !matches!(r.target, Target::Id(..))) {
            prop_assert!((kind.to_wire)(&c, &Ids::default(), None).is_err());
        }
        Ok(())
    });
}

#[test]
fn one_digest_a_kind_is_pinned() {
    let mut found = Object::new();
    for kind in KINDS {
        let spec = golden(kind.kind);
        let labels = [("team".to_owned(), "support".to_owned())].into();
        let canonical = (kind.canonical)("golden", resolved(kind.kind, &spec), &labels);
        found.insert(kind.kind.to_string(), json!(Digest::of_json(&canonical)));
    }
    let pinned: Value = serde_json::from_str(include_str!("../../../tests/golden/kind-digests.json")).unwrap();
    assert_eq!(Value::Object(found.clone()), pinned, "a canonical form changed: digests of old plans would be void");
}

/// A spec that uses most of a kind.
fn golden(kind: Kind) -> Value {
    match kind {
        Kind::Agent => json!({
            "name": "Support Bot", "model": { "id": "claude-sonnet-5", "effort": "high", "speed": "standard" },
            "description": "Line one\r\nline two", "instructions": "\u{feff}Answer.\r\nBriefly.",
            "tools": [
                { "type": "agent_toolset_20260401", "configs": [
                    { "name": "read", "enabled": true }, { "name": "bash", "enabled": false } ] },
                { "type": "mcp_toolset", "mcp_server_name": "crm", "default_config": { "permission_policy": { "type": "auto" } } },
                { "type": "custom", "name": "look_up", "description": "Looks up", "input_schema": { "type": "object" } },
            ],
            "mcp_servers": [{ "name": "crm", "url": "https://crm.example/mcp" }],
            "skills": ["faq", { "skill": "acme/legal:Skill/tone", "follow": "latest" }, { "anthropic": "xlsx" }],
            "multiagent": { "type": "coordinator", "agents": ["billing", { "type": "self" }] },
            "execution_identity": { "type": "service_account" }, "compaction_policy": { "type": "auto" },
        }),
        Kind::Environment => json!({
            "description": "d", "scope": "organization",
            "config": { "type": "cloud", "packages": { "pip": ["b", "a"] },
                "networking": { "type": "limited", "allowed_hosts": ["b.example", "a.example"], "allow_package_managers": true } },
        }),
        Kind::FileTree => json!({
            "source": { "kind": "git", "provider": "github", "repository": "acme/site", "ref": "main",
                "connection": { "id": "conn_1" }, "refresh": "manual" },
            "acted_as": "prin_1",
        }),
        Kind::FileTreeMount => json!({
            "agent": "a", "file_tree": "t", "access": "read_write", "selection": { "revision": 3 }, "mount_path": "/w",
            "writeback": { "kind": "pull_request", "pull_request_title": "T" },
        }),
        Kind::MemoryMount => json!({
            "agent": "a", "memory_store": { "id": "memstore_1" }, "access": "read_only", "selection": "latest",
            "mount_path": "/mnt/memory/a", "instructions": "Look here.",
        }),
        Kind::MemoryStore => json!({
            "description": "d", "owner": { "agent": "a" },
            "contents": [{ "path": "m", "at": "/b", "mode": "enforce" }, { "path": "m", "at": "/a" }],
        }),
        Kind::Skill => json!({ "source": { "path": "skills/golden" }, "display_name": "Golden" }),
    }
}

#[test]
fn pages_and_schemas_say_everything() {
    for kind in KINDS {
        let page = docs::docs(kind);
        for field in kind.fields {
            assert!(page.contains(&format!("| `{}` |", field.name)), "{}: {}", kind.kind, field.name);
            assert!(!field.doc.is_empty() && !field.ty.is_empty());
        }
        assert!(page.contains(kind.example) && kind.example.contains(&format!("kind: {}\n", kind.kind)));
        let document = schema::schema(kind);
        assert_eq!(document["$id"], json!(format!("https://checkfu.com/schemas/v1/{}.json", kind.kind)));
        described(&document, "");
        let text = (kind.schema)().to_string();
        assert!(!text.contains("\"null\""), "{}: null is no value", kind.kind);
        for word in ["maxLength", "minItems", "\"pattern\""] {
            assert!(!text.contains(word), "{}: {word} is said by check", kind.kind);
        }
    }
}

/// Every key that a person can write has a description (tags have it in their branches).
fn described(schema: &Value, at: &str) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (key, property) in properties {
            let tag = property.get("const").is_some() || property.get("enum").is_some();
            assert!(tag || property.get("description").is_some() || property.get("$ref").is_some(), "{at}.{key}");
            described(property, &format!("{at}.{key}"));
        }
    }
    for key in ["items", "then"] {
        if let Some(next) = schema.get(key) {
            described(next, at);
        }
    }
    for next in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        described(next, at);
    }
    for (name, next) in schema.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        described(next, name);
    }
}
