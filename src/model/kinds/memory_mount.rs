//! The kind MemoryMount: which MemoryStore an Agent may attach, with which access, which selection, where.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Kind;
use crate::model::kinds::mount::{self, Access, Latest, Mounted, Reference};
use crate::model::kinds::rules::Rules;
use crate::model::kinds::{Field, KindDef, Problem, Refs, Retire, schema, shape};

const MOUNTED: Mounted = Mounted {
    field: "memory_store",
    id: "memory_store_id",
    kind: Kind::MemoryStore,
    number: "version",
    word: "version",
};
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
    to_wire: |spec, ids, only| MOUNTED.to_wire(spec, ids, only, "instructions"),
    from_wire,
    answered: |body, _| mount::answered(body, "instructions"),
    refs: |spec| MOUNTED.refs(spec),
    wire_refs: |body| MOUNTED.wire_refs(body),
};

const FIELDS: &[Field] = &[
    Field { doc: "The agent that may attach the store.", ..mount::AGENT },
    Field { name: "memory_store", ty: "reference to a MemoryStore", doc: "The store.", ..mount::TARGET },
    Field { limit: "`read_only` for a shared store", ..mount::ACCESS },
    Field {
        ty: "`latest`, `{ref}`, `{content}` or `{version}`",
        doc: "Which version of the store a session sees.",
        ..mount::SELECTION
    },
    Field { doc: "Where the store appears.", ..mount::MOUNT_PATH },
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
    MOUNTED.check(&mut rules, spec);
    check_at(&mut rules, spec, "", "mount_path");
    rules.finish()
}

/// The rules that the short form in an agent shares; `path` is the key of the mount path.
pub(super) fn check_at(rules: &mut Rules, spec: &Value, at: &str, path: &str) {
    MOUNTED.check_at(rules, spec, at, path);
    rules.length(spec, at, "instructions", 0..=MAX_INSTRUCTIONS);
}

fn canonical(_name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = MOUNTED.canonical(&from);
    shape::take_text(&mut out, &mut from, "instructions");
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

fn from_wire(body: &Value, refs: &Refs, _applied: Option<&Value>) -> Value {
    canonical("", MOUNTED.read_wire(body, refs, "instructions"), &shape::wire_labels(body))
}
