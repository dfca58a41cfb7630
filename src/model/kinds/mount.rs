//! What both kinds of mounts share: written forms of references and selections, and their three shapes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::rules::{Rules, child};
use crate::model::kinds::{Ids, MissingId, Object, Ref, Refs, Selector, Target, WireRef, shape};

/// A reference to another resource: a name of this project (`my-name`), `owner:Kind/my-name`, or `{id: …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reference {
    /// A name of this project, or `owner:Kind/name` of another authoring owner.
    Name(String),
    /// A resource that no project owns, by its live id.
    Id(IdReference),
}

/// A resource by its live id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdReference {
    /// The live id.
    pub id: String,
}

/// What a session may do there. A session gets the least of this, what it asks for, and what it is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read only. The default.
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// The word `latest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Latest {
    /// The newest version, resolved again at every user turn.
    Latest,
}

/// Pointers into an authored spec start here, and numbers are called so.
pub(super) struct SelectionRule<'a> {
    /// Pointer to the mount.
    pub(super) at: &'a str,
    /// `version` (stores) or `revision` (trees).
    pub(super) number: &'static str,
}

/// Exactly one of `ref`, `content` and the number.
pub(super) fn check_selection(rules: &mut Rules, spec: &Value, rule: &SelectionRule<'_>) {
    let Some(Value::Object(map)) = spec.get("selection") else { return };
    let at = child(rule.at, "selection");
    let selection = &spec["selection"];
    let n = ["ref", "content", rule.number].iter().filter(|k| map.contains_key(**k)).count();
    if n != 1 {
        let message = format!("a selection names exactly one of `ref`, `content` and `{}`", rule.number);
        let fix = format!("write `latest`, `{{ref: NAME}}`, `{{content: \"sha256:…\"}}` or `{{{}: N}}`", rule.number);
        rules.say(&kind::FORM, at.clone(), message, fix);
    }
    rules.length(selection, &at, "ref", 1..=255);
    rules.digest(selection, &at, "content");
    rules.positive(selection, &at, rule.number);
}

/// Where a mount appears: a path that is not the root.
pub(super) fn check_place(rules: &mut Rules, spec: &Value, at: &str, key: &str) {
    rules.absolute(spec, at, key);
    if spec.get(key).and_then(Value::as_str) == Some("/") {
        let message = "a mount at `/` would hide everything else";
        rules.say(&kind::PATH, child(at, key), message, "write a path below it, as `/workspace/docs`");
    }
}

/// Canonical selection; `latest` is the default and absent.
pub(super) fn put_selection(out: &mut Object, from: &Value, number: &str) {
    let Some(Value::Object(map)) = from.get("selection") else { return };
    let kept: Object = ["content", "ref", number]
        .iter()
        .filter_map(|k| Some(((*k).to_owned(), map.get(*k).filter(|v| !v.is_null())?.clone())))
        .take(1)
        .collect();
    if !kept.is_empty() {
        out.insert("selection".to_owned(), Value::Object(kept));
    }
}

/// The selector of a canonical mount.
pub(super) fn selector(spec: &Value, number: &str) -> Selector {
    let Some(selection) = spec.get("selection") else { return Selector::Latest };
    if let Some(digest) = shape::content_of(selection) {
        return Selector::Content(digest);
    }
    if let Some(name) = selection.get("ref").and_then(Value::as_str) {
        return Selector::Named(name.to_owned());
    }
    selection.get(number).and_then(Value::as_u64).map_or(Selector::Latest, Selector::Number)
}

/// Canonical selection → wire. `word` is the wire's name of a choice by number.
pub(super) fn selection_to_wire(
    selection: Option<&Value>,
    target: Option<&Target>,
    ids: &Ids,
    (word, number): (&str, &str),
) -> Result<Value, MissingId> {
    let Some(selection) = selection else { return Ok(json!({ "kind": "latest" })) };
    if let Some(name) = selection.get("ref") {
        return Ok(json!({ "kind": "ref", "ref": name }));
    }
    let n = match (shape::content_of(selection), target) {
        (Some(digest), Some(target)) => {
            let version = ids.version(target, &digest)?;
            let n: u64 = version.parse().map_err(|_| MissingId(format!("{}@{digest}", target.key())))?;
            json!(n)
        }
        _ => selection.get(number).cloned().unwrap_or(Value::Null),
    };
    Ok(json!({ "kind": word, number: n }))
}

/// Wire selection → canonical; `id` is the live id of the store or tree.
pub(super) fn selection_from_wire(body: &Value, id: &str, refs: &Refs, (word, number): (&str, &str)) -> Option<Value> {
    let selection = body.get("selection")?;
    match selection.get("kind")?.as_str()? {
        "ref" => Some(json!({ "ref": selection.get("ref")? })),
        kind if kind == word => {
            let n = selection.get(number)?;
            let content = n.as_u64().and_then(|n| refs.contents.get(&format!("{id}#{n}")));
            Some(content.map_or_else(|| json!({ number: n }), |digest| json!({ "content": digest })))
        }
        _ => None,
    }
}

/// Both references of a canonical mount.
pub(super) fn refs(spec: &Value, target: (&'static str, Kind), number: &str) -> Vec<Ref> {
    let agent = shape::plain_ref("agent", "/agent", Kind::Agent, spec.get("agent"));
    let mut to = shape::plain_ref(target.0, &format!("/{}", target.0), target.1, spec.get(target.0));
    if let Some(r) = &mut to {
        r.selector = selector(spec, number);
    }
    agent.into_iter().chain(to).collect()
}

/// Both references of a wire mount.
pub(super) fn wire_refs(body: &Object, target: (&str, Kind), number: &str) -> Vec<WireRef> {
    let agent = shape::plain_wire_ref(body, "agent_id", Kind::Agent);
    let mut to = shape::plain_wire_ref(body, target.0, target.1);
    if let Some(r) = &mut to {
        let selection = body.get("selection");
        r.version = selection.and_then(|s| s.get(number)).and_then(Value::as_u64).map(|n| n.to_string());
        r.follows = selection.and_then(|s| s.get("kind")).and_then(Value::as_str).is_none_or(|k| k == "latest");
    }
    agent.into_iter().chain(to).collect()
}
