//! The kind FileTreeMount: which FileTree an Agent may attach, with which access, which selection, where.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::mount::{self, Access, Latest, Mounted, Reference};
use crate::model::kinds::rules::{Rules, child};
use crate::model::kinds::{Field, KindDef, Object, Problem, Refs, Retire, schema, shape};

const MOUNTED: Mounted =
    Mounted { field: "file_tree", id: "file_tree_id", kind: Kind::FileTree, number: "revision", word: "pinned" };
/// Texts of a writeback, and the most characters of each.
const WRITEBACK_TEXTS: [(&str, usize); 3] =
    [("commit_message", 4096), ("pull_request_title", 256), ("pull_request_body", 65_536)];

/// `spec` of a FileTreeMount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The agent that may attach the tree. A change makes a new mount that takes this one's place.
    pub agent: Reference,
    /// The tree. A change makes a new mount that takes this one's place.
    pub file_tree: Reference,
    /// The most that a session may do. Default `read_only`. Writes go to an overlay that vanishes with the
    /// session, unless `writeback` says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Which revision of the tree. Default `latest`: the newest at the start of each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<TreeSelection>,
    /// Where: an absolute, normalized path, at most 1,024 bytes. Mounts of one agent do not overlap.
    #[schemars(length(min = 1))]
    pub mount_path: String,
    /// Publishes what a run wrote. Needs `access: read_write` and a tree with a Git source. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback: Option<Writeback>,
}

/// Which revision of a tree a session sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TreeSelection {
    /// The newest revision at every user turn.
    Latest(Latest),
    /// One of the three other ways.
    By(TreeRevisionBy),
}

/// Exactly one of `ref`, `content` and `revision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeRevisionBy {
    /// The newest revision already published for this exact Git ref. 1–255 characters.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub ref_: Option<String>,
    /// The newest revision with this content: `sha256:` and 64 hex digits. Equal on every workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    pub content: Option<String>,
    /// A revision number, from 1; it has a meaning on one workspace only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<u64>,
}

/// How what a run wrote is published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Writeback {
    /// One branch and one pull request a session.
    PullRequest {
        /// Message of the commit. At most 4,096 characters. Default: the platform's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 4096))]
        commit_message: Option<String>,
        /// Title of the pull request. At most 256 characters. Default: the platform's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        pull_request_title: Option<String>,
        /// Body of the pull request. At most 65,536 characters. Default: the repository's template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 65536))]
        pull_request_body: Option<String>,
    },
}

/// The row of FileTreeMount.
pub static DEF: KindDef = KindDef {
    kind: Kind::FileTreeMount,
    plural: "file_tree_mounts",
    id_prefix: "fmnt_",
    doc: "Which FileTree an Agent may attach, with at most which access, which selection, and where; it grants nothing by existing.",
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
    to_wire: |spec, ids, only| MOUNTED.to_wire(spec, ids, only, "writeback"),
    from_wire,
    answered: |body, _| mount::answered(body, "writeback"),
    refs: |spec| MOUNTED.refs(spec),
    wire_refs: |body| MOUNTED.wire_refs(body),
};

const FIELDS: &[Field] = &[
    Field { doc: "The agent that may attach the tree.", ..mount::AGENT },
    Field { name: "file_tree", ty: "reference to a FileTree", doc: "The tree.", ..mount::TARGET },
    mount::ACCESS,
    Field {
        ty: "`latest`, `{ref}`, `{content}` or `{revision}`",
        doc: "Which revision of the tree a session sees.",
        ..mount::SELECTION
    },
    Field { doc: "Where the tree appears.", ..mount::MOUNT_PATH },
    Field {
        name: "writeback",
        ty: "`{kind: pull_request, …}`",
        limit: "needs `read_write` and a Git tree; message 4,096, title 256, body 65,536 characters",
        doc: "How what a run wrote is published.",
        ..Field::TEXT
    },
    Field::LABELS,
];

const EXAMPLE: &str = "\
apiVersion: checkfu.com/v1
kind: FileTreeMount
metadata: {name: billing-site}
spec:
  agent: billing
  file_tree: support-site
  access: read_write
  selection: latest
  mount_path: /workspace/site
  writeback: {kind: pull_request, pull_request_title: Support fixes}
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
    let Some(writeback) = spec.get("writeback").filter(|w| w.is_object()) else { return };
    let place = child(at, "writeback");
    for (key, max) in WRITEBACK_TEXTS {
        rules.length(writeback, &place, key, 1..=max);
    }
    rules.one_line(writeback, &place, "pull_request_title");
    if spec.get("access").and_then(Value::as_str).unwrap_or("read_only") == "read_only" {
        rules.say(
            &kind::CONFLICT,
            place,
            "`writeback` publishes what a run wrote, and this mount is `read_only`",
            "add `access: read_write`, or remove `writeback`",
        );
    }
}

fn canonical(_name: &str, mut from: Value, labels: &BTreeMap<String, String>) -> Value {
    let mut out = MOUNTED.canonical(&from);
    if let Some(writeback) = from.get_mut("writeback").filter(|w| w.is_object()) {
        let mut kept = Object::new();
        shape::put_whole(&mut kept, writeback, "kind");
        for (key, _) in WRITEBACK_TEXTS {
            shape::take_text(&mut kept, writeback, key);
        }
        out.insert("writeback".to_owned(), Value::Object(kept));
    }
    shape::put_labels(&mut out, &from, labels);
    Value::Object(out)
}

fn from_wire(body: &Value, refs: &Refs, _applied: Option<&Value>) -> Value {
    canonical("", MOUNTED.read_wire(body, refs, "writeback"), &shape::wire_labels(body))
}
