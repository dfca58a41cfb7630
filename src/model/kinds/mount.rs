//! What both kinds of mounts share: written forms of references and selections, their three shapes, and the rows of
//! their fields.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::rules::{Rules, child};
use crate::model::kinds::{
    Change, Default_, Field, Ids, MissingId, Object, Ref, Refs, Selector, Target, WireRef, shape,
};

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

/// What a mount mounts, and how its versions are chosen.
pub(super) struct Mounted {
    /// The canonical field: `memory_store`, `file_tree`.
    pub(super) field: &'static str,
    /// The wire's field with the live id.
    pub(super) id: &'static str,
    pub(super) kind: Kind,
    /// The number in a selection: `version` (stores) or `revision` (trees).
    pub(super) number: &'static str,
    /// The wire's word for a choice by it.
    pub(super) word: &'static str,
}

impl Mounted {
    /// The rules of the long form that both kinds have.
    pub(super) fn check(&self, rules: &mut Rules, spec: &Value) {
        rules.reference(spec, "", "agent", Kind::Agent);
        rules.reference(spec, "", self.field, self.kind);
    }

    /// The rules that the short form in an agent shares: `at` is the pointer to it, `path` the key of the mount path.
    pub(super) fn check_at(&self, rules: &mut Rules, spec: &Value, at: &str, path: &str) {
        self.check_selection(rules, spec, at);
        check_place(rules, spec, at, path);
    }

    /// Exactly one of `ref`, `content` and the number.
    fn check_selection(&self, rules: &mut Rules, spec: &Value, at: &str) {
        let Some(Value::Object(map)) = spec.get("selection") else { return };
        let (at, number) = (child(at, "selection"), self.number);
        let selection = &spec["selection"];
        let n = ["ref", "content", number].iter().filter(|k| map.contains_key(**k)).count();
        if n != 1 {
            let message = format!("a selection names exactly one of `ref`, `content` and `{number}`");
            let fix = format!("write `latest`, `{{ref: NAME}}`, `{{content: \"sha256:…\"}}` or `{{{number}: N}}`");
            rules.say(&kind::FORM, at.clone(), message, fix);
        }
        rules.length(selection, &at, "ref", 1..=255);
        rules.digest(selection, &at, "content");
        rules.positive(selection, &at, number);
    }

    /// The canonical form of the fields that both kinds have.
    pub(super) fn canonical(&self, from: &Value) -> Object {
        let mut out = Object::new();
        shape::put_reference(&mut out, from, "agent", Kind::Agent);
        shape::put_reference(&mut out, from, self.field, self.kind);
        shape::put_scalar(&mut out, from, "access", READ_ONLY);
        self.put_selection(&mut out, from);
        shape::put_whole(&mut out, from, "mount_path");
        out
    }

    /// Canonical selection; `latest` is the default and absent.
    fn put_selection(&self, out: &mut Object, from: &Value) {
        let Some(Value::Object(map)) = from.get("selection") else { return };
        let kept: Object = ["content", "ref", self.number]
            .iter()
            .filter_map(|k| Some(((*k).to_owned(), map.get(*k).filter(|v| !v.is_null())?.clone())))
            .take(1)
            .collect();
        if !kept.is_empty() {
            out.insert("selection".to_owned(), Value::Object(kept));
        }
    }

    /// Puts the fields that both kinds have into a wire body, then one that only this kind has, and the labels.
    pub(super) fn to_wire(
        &self,
        spec: &Value,
        ids: &Ids,
        only: Option<&BTreeSet<String>>,
        own: &str,
    ) -> Result<Object, MissingId> {
        let mut body = shape::Body::new(spec, only);
        body.put("agent", "agent_id", Value::Null, |v| Ok(shape::id_of(Kind::Agent, v, ids)?.into()))?;
        body.put(self.field, self.id, Value::Null, |v| Ok(shape::id_of(self.kind, v, ids)?.into()))?;
        body.total("access", "access", |v| Ok(v.cloned().unwrap_or_else(|| json!(READ_ONLY))))?;
        let target = spec.get(self.field).and_then(|v| Target::of(self.kind, v));
        body.total("selection", "selection", |v| self.selection_to_wire(v, target.as_ref(), ids))?;
        body.same("mount_path", "mount_path", Value::Null)?;
        body.same(own, own, Value::Null)?;
        body.labels();
        Ok(body.finish())
    }

    fn selection_to_wire(
        &self,
        selection: Option<&Value>,
        target: Option<&Target>,
        ids: &Ids,
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
            _ => selection.get(self.number).cloned().unwrap_or(Value::Null),
        };
        Ok(json!({ "kind": self.word, self.number: n }))
    }

    /// The authored form of the fields that both kinds have, and of one that only this kind has.
    pub(super) fn read_wire(&self, body: &Value, refs: &Refs, own: &str) -> Value {
        let mut spec = Object::new();
        shape::put_from_id(&mut spec, body, "agent_id", "agent", Kind::Agent, refs);
        shape::put_from_id(&mut spec, body, self.id, self.field, self.kind, refs);
        for key in ["access", "mount_path", own] {
            shape::put_whole(&mut spec, body, key);
        }
        let id = body.get(self.id).and_then(Value::as_str).unwrap_or_default();
        if let Some(selection) = self.selection_from_wire(body, id, refs) {
            spec.insert("selection".to_owned(), selection);
        }
        Value::Object(spec)
    }

    /// Wire selection → canonical; `id` is the live id of the store or tree.
    fn selection_from_wire(&self, body: &Value, id: &str, refs: &Refs) -> Option<Value> {
        let selection = body.get("selection")?;
        match selection.get("kind")?.as_str()? {
            "ref" => Some(json!({ "ref": selection.get("ref")? })),
            kind if kind == self.word => {
                let n = selection.get(self.number)?;
                let content = n.as_u64().and_then(|n| refs.contents.get(&format!("{id}#{n}")));
                Some(content.map_or_else(|| json!({ self.number: n }), |digest| json!({ "content": digest })))
            }
            _ => None,
        }
    }

    /// Both references of a canonical mount.
    pub(super) fn refs(&self, spec: &Value) -> Vec<Ref> {
        let agent = shape::plain_ref("agent", "/agent", Kind::Agent, spec.get("agent"));
        let mut to = shape::plain_ref(self.field, &format!("/{}", self.field), self.kind, spec.get(self.field));
        if let Some(r) = &mut to {
            r.selector = self.selector(spec);
        }
        agent.into_iter().chain(to).collect()
    }

    /// The selector of a canonical mount.
    fn selector(&self, spec: &Value) -> Selector {
        let Some(selection) = spec.get("selection") else { return Selector::Latest };
        if let Some(digest) = shape::content_of(selection) {
            return Selector::Content(digest);
        }
        if let Some(name) = selection.get("ref").and_then(Value::as_str) {
            return Selector::Named(name.to_owned());
        }
        selection.get(self.number).and_then(Value::as_u64).map_or(Selector::Latest, Selector::Number)
    }

    /// Both references of a wire mount.
    pub(super) fn wire_refs(&self, body: &Object) -> Vec<WireRef> {
        let agent = shape::plain_wire_ref(body, "agent_id", Kind::Agent);
        let mut to = shape::plain_wire_ref(body, self.id, self.kind);
        if let Some(r) = &mut to {
            let selection = body.get("selection");
            r.version = selection.and_then(|s| s.get(self.number)).and_then(Value::as_u64).map(|n| n.to_string());
            r.follows = selection.and_then(|s| s.get("kind")).and_then(Value::as_str).is_none_or(|k| k == "latest");
        }
        agent.into_iter().chain(to).collect()
    }
}

const READ_ONLY: &str = "read_only";

/// A stored wire body with what is absent said as what it means; `own` is the field that only this kind has.
pub(super) fn answered(body: &mut Object, own: &str) {
    shape::fill(body, "access", json!(READ_ONLY));
    shape::fill(body, "selection", json!({ "kind": "latest" }));
    shape::fill(body, own, Value::Null);
    shape::fill(body, "metadata", json!({}));
}

/// The row of the agent.
pub(super) const AGENT: Field = Field {
    name: "agent",
    ty: "reference to an Agent",
    default: Default_::Required,
    change: Change::Replace,
    clear: "",
    ..Field::TEXT
};

/// The row of what is mounted, but for its name, type and text.
pub(super) const TARGET: Field =
    Field { default: Default_::Required, change: Change::Replace, clear: "", ..Field::TEXT };

/// The row of the access.
pub(super) const ACCESS: Field = Field {
    name: "access",
    ty: "`read_only` or `read_write`",
    default: Default_::Json("\"read_only\""),
    doc: "The most that a session may do.",
    ..Field::TEXT
};

/// The row of the selection, but for its type and text.
pub(super) const SELECTION: Field = Field { name: "selection", default: Default_::Json("\"latest\""), ..Field::TEXT };

/// The row of the destination, but for its text.
pub(super) const MOUNT_PATH: Field = Field {
    name: "mount_path",
    ty: "path",
    default: Default_::Required,
    limit: "absolute, normalized, not `/`, at most 1,024 bytes; mounts of one agent do not overlap",
    clear: "",
    ..Field::TEXT
};

/// Where a mount appears: a path that is not the root.
fn check_place(rules: &mut Rules, spec: &Value, at: &str, key: &str) {
    rules.absolute(spec, at, key);
    if spec.get(key).and_then(Value::as_str) == Some("/") {
        let message = "a mount at `/` would hide everything else";
        rules.say(&kind::PATH, child(at, key), message, "write a path below it, as `/workspace/docs`");
    }
}
