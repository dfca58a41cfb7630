//! The kind MemoryStore: durable knowledge as texts by path, and who may change which of them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::mount::Reference;
use crate::model::kinds::rules::{Rules, child, items};
use crate::model::kinds::{
    Change, Default_, Field, Ids, KindDef, List, MissingId, Object, Problem, Ref, Refs, Retire, overlaps, schema, shape,
};

/// Segments of a memory's path.
pub const MAX_SEGMENTS: usize = 20;

/// `spec` of a MemoryStore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name shown to people, 1–255 characters on one line. Default: `metadata.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub name: Option<String>,
    /// What is in it; agents read this. At most 1,024 characters. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Whose memory it is. Default `workspace`. All but `{principal: ID}` are shared, and shared stores mount
    /// `read_only`. It cannot change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<StoreOwner>,
    /// Which memories come from files, and who may change them. Prefixes do not overlap. At most 10,000 memories
    /// a store, 102,400 bytes a memory. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<Contents>,
}

/// Whose memory a store is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StoreOwner {
    /// The word `workspace`.
    Workspace(Workspace),
    /// An agent, a principal or a collaboration space.
    One(OwnerOf),
}

/// The word `workspace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Workspace {
    /// All of the workspace.
    Workspace,
}

/// Exactly one of `agent`, `principal` and `collaboration_space`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerOf {
    /// An agent, by reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Reference>,
    /// A principal, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub principal: Option<String>,
    /// A collaboration space, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub collaboration_space: Option<String>,
}

/// Some of the memories of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// A folder of UTF-8 texts, relative to this file. Required, but for `observe`, which has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub path: Option<String>,
    /// The prefix in the store: absolute, normalized, at most 1,024 bytes and 20 segments; `/` is all of it.
    #[schemars(length(min = 1))]
    pub at: String,
    /// Who may change these memories. Default `upkeep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// Who may change the memories below a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Exactly these files, by this project: others are removed at the next apply.
    Enforce,
    /// Update what only this project changed; keep and report what others changed. The default.
    Upkeep,
    /// Write each path once: when it is absent and was never applied.
    Seed,
    /// Never written, only reported.
    Observe,
}

/// The row of MemoryStore.
pub static DEF: KindDef = KindDef {
    kind: Kind::MemoryStore,
    plural: "memory_stores",
    id_prefix: "memstore_",
    doc: "Durable knowledge that outlives a session: texts by path, each change a new immutable version of the whole tree.",
    retire: Retire::Archive,
    comes_back: false,
    unique_name: false,
    fields: FIELDS,
    example: EXAMPLE,
    replaces: |_, _| Vec::new(),
    schema: || schema::of_spec::<Spec>(),
    full_schema: || schema::full::<Spec>(),
    check,
    canonical,
    to_wire: |spec, ids, only| {
        let mut body = shape::Body::new(spec, only);
        body.same("name", "name", Value::Null)?;
        body.same("description", "description", json!(""))?;
        body.total("owner", "owner", |v| owner_to_wire(v, ids))?;
        body.labels();
        Ok(body.finish())
    },
    from_wire,
    refs: |spec| {
        let agent = spec.get("owner").and_then(|o| o.get("agent"));
        shape::plain_ref("owner", "/owner/agent", Kind::Agent, agent).into_iter().collect::<Vec<Ref>>()
    },
    wire_refs: |body| {
        let owner = body.get("owner").and_then(Value::as_object);
        owner.and_then(|o| shape::plain_wire_ref(o, "agent_id", Kind::Agent)).into_iter().collect()
    },
};

const FIELDS: &[Field] = &[
    Field {
        name: "name",
        limit: "1\u{2013}255 characters, one line; default: `metadata.name`",
        default: Default_::Required,
        clear: "remove the key: the default comes back",
        doc: "The name shown to people.",
        ..Field::TEXT
    },
    Field { name: "description", limit: "1,024 characters", doc: "What is in it; agents read this.", ..Field::TEXT },
    Field {
        name: "owner",
        ty: "`workspace`, `{agent}`, `{principal}` or `{collaboration_space}`",
        default: Default_::Json("\"workspace\""),
        change: Change::Replace,
        doc: "Whose memory it is. A store cannot be replaced, since its versions would be lost: a changed owner is an error that prints the two steps.",
        ..Field::TEXT
    },
    Field {
        name: "contents",
        ty: "map of path to digest",
        limit: "10,000 memories; 102,400 bytes each; paths of at most 1,024 bytes and 20 segments",
        change: Change::Publish,
        list: List::PerKey,
        clear: "remove the file: what happens to the memory is said by the mode",
        doc: "The memories that come from files; authored as a list of `{path, at, mode}`.",
        ..Field::TEXT
    },
    Field {
        name: "modes",
        ty: "list of `{at, mode}`",
        limit: "prefixes do not overlap",
        change: Change::Record,
        list: List::SetBy("at"),
        clear: "remove the entry of `contents`",
        doc: "Who may change the memories below a prefix; authored in `contents`, known to the authoring record alone.",
        ..Field::TEXT
    },
    Field::LABELS,
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: MemoryStore
metadata: {name: approved-answers}
spec:
  description: Answers that a human approved
  owner: workspace
  contents:
    - {path: memory/policy, at: /policy, mode: enforce}
    - {path: memory/answers, at: /answers, mode: upkeep}
    - {at: /learned, mode: observe}
";

fn check(spec: &Value) -> Vec<Problem> {
    let mut rules = Rules::default();
    rules.length(spec, "", "name", 1..=255);
    rules.one_line(spec, "", "name");
    rules.length(spec, "", "description", 0..=1024);
    if let Some(owner @ Value::Object(map)) = spec.get("owner") {
        if map.len() != 1 {
            rules.say(
                &kind::FORM,
                "/owner",
                "an owner is one of `agent`, `principal` and `collaboration_space`",
                "write `workspace`, `{agent: NAME}`, `{principal: ID}` or `{collaboration_space: ID}`",
            );
        }
        rules.reference(owner, "/owner", "agent", Kind::Agent);
        for key in ["principal", "collaboration_space"] {
            rules.length(owner, "/owner", key, 1..=255);
        }
    }
    check_contents(&mut rules, spec);
    rules.finish()
}

fn check_contents(rules: &mut Rules, spec: &Value) {
    let entries = items(spec, "", "contents");
    // An entry without a prefix stands for none: `\0` is in no prefix.
    let prefixes: Vec<&str> =
        entries.iter().map(|(_, e)| e.get("at").and_then(Value::as_str).unwrap_or("\0")).collect();
    let overlapping = overlaps(prefixes.iter().copied());
    for (i, (at, entry)) in entries.iter().enumerate() {
        rules.absolute(entry, at, "at");
        rules.length(entry, at, "path", 1..=4096);
        let observes = entry.get("mode").and_then(Value::as_str) == Some("observe");
        let has_path = entry.get("path").is_some();
        if observes && has_path {
            rules.say(
                &kind::CONFLICT,
                child(at, "path"),
                "`observe` never writes, so it takes no files",
                "remove `path`, or use another mode",
            );
        } else if !observes && !has_path && entry.is_object() {
            rules.say(
                &kind::MISSING,
                at.clone(),
                "this entry has no `path`, so there are no files to write",
                "add `path: FOLDER`, or write `mode: observe`",
            );
        }
        let Some(prefix) = entry.get("at").and_then(Value::as_str) else { continue };
        if prefix.split('/').filter(|s| !s.is_empty()).count() > MAX_SEGMENTS {
            let message = format!("a memory path has at most {MAX_SEGMENTS} segments");
            rules.say(&kind::LIMIT, child(at, "at"), message, "use a shorter prefix");
        }
        if let Some(other) = overlapping[i].map(|j| prefixes[j]) {
            rules.say(
                &kind::OVERLAP,
                child(at, "at"),
                format!("the prefix `{prefix}` overlaps `{other}`"),
                "use prefixes that do not contain each other",
            );
        }
    }
}

/// `contents` is the list that is authored, or already the map path → digest; then `modes` says the rest.
fn canonical(name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = Object::new();
    shape::put_name(&mut out, &mut from, name);
    shape::take_text(&mut out, &mut from, "description");
    if let Some(owner) = from.get("owner") {
        let owner = match owner.get("agent") {
            Some(agent) => json!({ "agent": shape::reference(Kind::Agent, agent) }),
            None => owner.clone(),
        };
        shape::put_unless(&mut out, "owner", owner, &json!("workspace"));
    }
    let listed = from.get("contents").and_then(Value::as_array);
    if let Some(files) = from.get("contents").filter(|c| c.as_object().is_some_and(|o| !o.is_empty())) {
        out.insert("contents".to_owned(), files.clone());
    }
    let modes = listed.or_else(|| from.get("modes").and_then(Value::as_array));
    let modes: BTreeSet<(String, &str)> = modes.into_iter().flatten().filter_map(mode_of).collect();
    let modes = modes.into_iter().map(|(at, mode)| json!({ "at": at, "mode": mode })).collect();
    shape::put_list(&mut out, "modes", modes);
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

fn mode_of(entry: &Value) -> Option<(String, &str)> {
    let at = entry.get("at")?.as_str()?.to_owned();
    Some((at, entry.get("mode").and_then(Value::as_str).unwrap_or("upkeep")))
}

fn owner_to_wire(owner: Option<&Value>, ids: &Ids) -> Result<Value, MissingId> {
    let get = |key: &str| owner.and_then(|o| o.get(key));
    if let Some(agent) = get("agent") {
        return Ok(json!({ "kind": "agent", "agent_id": shape::id_of(Kind::Agent, agent, ids)? }));
    }
    if let Some(id) = get("principal") {
        return Ok(json!({ "kind": "principal", "principal_id": id }));
    }
    if let Some(id) = get("collaboration_space") {
        return Ok(json!({ "kind": "collaboration_space", "collaboration_space_id": id }));
    }
    Ok(json!({ "kind": "workspace" }))
}

fn owner_from_wire(owner: &Value, refs: &Refs) -> Option<Value> {
    let id = |key: &str| owner.get(key).and_then(Value::as_str);
    match owner.get("kind")?.as_str()? {
        "agent" => Some(json!({ "agent": refs.target(Kind::Agent, id("agent_id")?).to_value() })),
        "principal" => Some(json!({ "principal": id("principal_id")? })),
        "collaboration_space" => Some(json!({ "collaboration_space": id("collaboration_space_id")? })),
        _ => None,
    }
}

fn from_wire(body: &Value, refs: &Refs, applied: Option<&Value>) -> Value {
    let mut spec = Object::new();
    for key in ["name", "description", "contents"] {
        shape::put_whole(&mut spec, body, key);
    }
    if let Some(owner) = body.get("owner").and_then(|o| owner_from_wire(o, refs)) {
        spec.insert("owner".to_owned(), owner);
    }
    if let Some(modes) = applied.and_then(|a| a.get("modes")) {
        spec.insert("modes".to_owned(), modes.clone());
    }
    canonical("", Value::Object(spec), &shape::wire_labels(body))
}
