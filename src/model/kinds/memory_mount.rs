//! The kind MemoryMount: which MemoryStore an Agent may attach, with which access, which selection, where.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::Kind;
use crate::model::kinds::mount::{self, Access, Latest, Reference, SelectionRule};
use crate::model::kinds::rules::Rules;
use crate::model::kinds::{Change, Default_, Field, KindDef, Object, Problem, Refs, Retire, Target, schema, shape};

/// Name of the number in a selection, and the wire's word for choosing by it.
const NUMBER: &str = "version";
const BY_NUMBER: (&str, &str) = ("version", NUMBER);
/// Characters of the instructions of a mount.
const MAX_INSTRUCTIONS: usize = 4096;

/// `spec` of a MemoryMount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The agent that may attach the store. A change makes a new mount that takes this one's place.
    pub agent: Reference,
    /// The store. A change makes a new mount that takes this one's place.
    pub memory_store: Reference,
    /// The most that a session may do. Default `read_only`. A store that is shared (owned by the workspace, an
    /// agent or a collaboration space) mounts `read_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Which version of the store. Default `latest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<MemorySelection>,
    /// Where: an absolute, normalized path, at most 1,024 bytes. Mounts of one agent do not overlap.
    #[schemars(length(min = 1))]
    pub mount_path: String,
    /// What the agent is told about this memory. At most 4,096 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub instructions: Option<String>,
}

/// Which version of a store a session sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MemorySelection {
    /// The newest version at every user turn.
    Latest(Latest),
    /// One of the three other ways.
    By(MemoryVersionBy),
}

/// Exactly one of `ref`, `content` and `version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryVersionBy {
    /// The version that a named ref points at, at every user turn. 1–255 characters.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub ref_: Option<String>,
    /// The newest version with this content: `sha256:` and 64 hex digits. Equal on every workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    pub content: Option<String>,
    /// A version number, from 1; it has a meaning on one workspace only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub version: Option<u64>,
}

/// The row of MemoryMount.
pub static DEF: KindDef = KindDef {
    kind: Kind::MemoryMount,
    plural: "memory_mounts",
    id_prefix: "mmnt_",
    doc: "Which MemoryStore an Agent may attach, with at most which access, which selection, and where; it grants nothing by existing.",
    retire: Retire::Delete,
    comes_back: true,
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
        body.put("agent", "agent_id", Value::Null, |v| Ok(shape::id_of(Kind::Agent, v, ids)?.into()))?;
        body.put("memory_store", "memory_store_id", Value::Null, |v| {
            Ok(shape::id_of(Kind::MemoryStore, v, ids)?.into())
        })?;
        body.total("access", "access", |v| Ok(v.cloned().unwrap_or_else(|| json!("read_only"))))?;
        let store = spec.get("memory_store").and_then(|v| Target::of(Kind::MemoryStore, v));
        body.total("selection", "selection", |v| mount::selection_to_wire(v, store.as_ref(), ids, BY_NUMBER))?;
        body.same("mount_path", "mount_path", Value::Null)?;
        body.same("instructions", "instructions", Value::Null)?;
        body.labels();
        Ok(body.finish())
    },
    from_wire,
    refs: |spec| mount::refs(spec, ("memory_store", Kind::MemoryStore), NUMBER),
    wire_refs: |body| mount::wire_refs(body, ("memory_store_id", Kind::MemoryStore), NUMBER),
};

const FIELDS: &[Field] = &[
    Field {
        name: "agent",
        ty: "reference to an Agent",
        default: Default_::Required,
        change: Change::Replace,
        clear: "",
        doc: "The agent that may attach the store.",
        ..Field::TEXT
    },
    Field {
        name: "memory_store",
        ty: "reference to a MemoryStore",
        default: Default_::Required,
        change: Change::Replace,
        clear: "",
        doc: "The store.",
        ..Field::TEXT
    },
    Field {
        name: "access",
        ty: "`read_only` or `read_write`",
        default: Default_::Json("\"read_only\""),
        limit: "`read_only` for a shared store",
        doc: "The most that a session may do.",
        ..Field::TEXT
    },
    Field {
        name: "selection",
        ty: "`latest`, `{ref}`, `{content}` or `{version}`",
        default: Default_::Json("\"latest\""),
        doc: "Which version of the store a session sees.",
        ..Field::TEXT
    },
    Field {
        name: "mount_path",
        ty: "path",
        default: Default_::Required,
        limit: "absolute, normalized, not `/`, at most 1,024 bytes; mounts of one agent do not overlap",
        clear: "",
        doc: "Where the store appears.",
        ..Field::TEXT
    },
    Field {
        name: "instructions",
        limit: "4,096 characters",
        doc: "What the agent is told about this memory.",
        ..Field::TEXT
    },
    Field::LABELS,
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: MemoryMount
metadata: {name: billing-answers}
spec:
  agent: billing
  memory_store: approved-answers
  access: read_only
  selection: latest
  mount_path: /mnt/memory/answers
  instructions: Look here before answering.
";

fn check(spec: &Value) -> Vec<Problem> {
    let mut rules = Rules::default();
    rules.reference(spec, "", "agent", Kind::Agent);
    rules.reference(spec, "", "memory_store", Kind::MemoryStore);
    check_at(&mut rules, spec, "", "mount_path");
    rules.finish()
}

/// The rules that the short form in an agent shares; `path` is the key of the mount path.
pub(super) fn check_at(rules: &mut Rules, spec: &Value, at: &str, path: &str) {
    mount::check_selection(rules, spec, &SelectionRule { at, number: NUMBER });
    mount::check_place(rules, spec, at, path);
    rules.length(spec, at, "instructions", 0..=MAX_INSTRUCTIONS);
}

fn canonical(_name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = Object::new();
    shape::put_reference(&mut out, &from, "agent", Kind::Agent);
    shape::put_reference(&mut out, &from, "memory_store", Kind::MemoryStore);
    shape::put_scalar(&mut out, &from, "access", "read_only");
    mount::put_selection(&mut out, &from, NUMBER);
    shape::put_whole(&mut out, &from, "mount_path");
    shape::take_text(&mut out, &mut from, "instructions");
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

fn from_wire(body: &Value, refs: &Refs, _applied: Option<&Value>) -> Value {
    let mut spec = Object::new();
    shape::put_from_id(&mut spec, body, "agent_id", "agent", Kind::Agent, refs);
    shape::put_from_id(&mut spec, body, "memory_store_id", "memory_store", Kind::MemoryStore, refs);
    for key in ["access", "mount_path", "instructions"] {
        shape::put_whole(&mut spec, body, key);
    }
    let id = body.get("memory_store_id").and_then(Value::as_str).unwrap_or_default();
    if let Some(selection) = mount::selection_from_wire(body, id, refs, BY_NUMBER) {
        spec.insert("selection".to_owned(), selection);
    }
    canonical("", Value::Object(spec), &shape::wire_labels(body))
}
