//! The KINDS table: one row a kind. Everything that differs between kinds is reached through a row; nothing
//! else matches on [`Kind`].
//!
//! A resource has three forms. **Authored**: `spec` of a manifest, as JSON, with `{file: …}` and short forms.
//! **Canonical**: total, defaults dropped, sets sorted, texts normalized, references symbolic, file contents by
//! digest; this is what digests are over and what is compared. **Wire**: what operations carry, references by
//! live id. `canonical(from_wire(to_wire(c))) == c` for every canonical `c`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::diag::Code;
use crate::model::Kind;

pub use owned::{Applied, carried, enforce_prefixes, is_under, is_unowned, overlaps, owned_digest, owned_part};
pub use references::{Ids, MissingId, Ref, Refs, Selector, Target, WireRef};

/// A JSON object.
pub type Object = Map<String, Value>;

/// What to do with a resource that is wanted no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retire {
    /// The resource stays readable and takes no change.
    Archive,
    /// The resource is gone.
    Delete,
}

/// What a change of a field needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// An update in place.
    Update,
    /// A new resource that takes the old one's place.
    Replace,
    /// A new immutable version from new bytes (skills, trees, memory contents).
    Publish,
    /// Nothing live: known to the authoring record alone (memory modes).
    Record,
}

/// What an absent field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default_ {
    /// Must be written.
    Required,
    /// This JSON text.
    Json(&'static str),
    /// Nothing.
    Absent,
    /// The server chooses; absent is neither compared nor sent.
    Server,
}

/// How a list compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Not a list.
    No,
    /// Order counts.
    Ordered,
    /// Items are told apart by this key (empty: by their whole value); order does not count.
    SetBy(&'static str),
    /// A map whose keys are compared, sent and held one by one (labels, memory contents).
    PerKey,
}

/// A row of a kind's table: a top-level field of the canonical form.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name in the canonical form (and in `spec`, save for `labels`).
    pub name: &'static str,
    /// Type, in words.
    pub ty: &'static str,
    /// What absent means.
    pub default: Default_,
    /// Limits, in words; empty if none.
    pub limit: &'static str,
    /// What a change needs.
    pub change: Change,
    /// How a list or map compares.
    pub list: List,
    /// How to clear it, in words; empty if it cannot be cleared.
    pub clear: &'static str,
    /// What it is for, one sentence.
    pub doc: &'static str,
}

impl Field {
    /// An optional text that an update changes: what most rows differ from in little.
    const TEXT: Field = Field {
        name: "",
        ty: "text",
        default: Default_::Absent,
        limit: "",
        change: Change::Update,
        list: List::No,
        clear: "remove the key",
        doc: "",
    };

    /// `labels`, which every kind has.
    const LABELS: Field = Field {
        name: "labels",
        ty: "map of texts",
        limit: "16 pairs, key 1\u{2013}64, value 0\u{2013}512 characters",
        list: List::PerKey,
        clear: "remove the label; each label is set and removed by itself",
        doc: "Labels from `metadata.labels`, the wire's `metadata`.",
        ..Field::TEXT
    };
}

/// A row of the KINDS table.
pub struct KindDef {
    /// The kind.
    pub kind: Kind,
    /// The collection on the wire, as in `/v1/agents`.
    pub plural: &'static str,
    /// Prefix of live ids, as in `agent_`.
    pub id_prefix: &'static str,
    /// One sentence for the docs.
    pub doc: &'static str,
    /// The retire verb.
    pub retire: Retire,
    /// Can a retired one be made again with nothing lost? No for Agent and MemoryStore.
    pub comes_back: bool,
    /// Must the shown name be unique among live resources of the workspace?
    pub unique_name: bool,
    /// Canonical fields, in the order in which they are shown.
    pub fields: &'static [Field],
    /// A manifest that uses most of the kind, as YAML, for the docs.
    pub example: &'static str,
    /// Fields that are [`Change::Update`] in the table but whose change between these two canonical forms needs
    /// a replace (`config` when its type changes). [`KindDef::replaced`] asks it.
    pub replaces: fn(before: &Value, after: &Value) -> Vec<&'static str>,
    /// JSON Schema of the authored `spec`: its structure, without limits, which `check` says better.
    pub schema: fn() -> Value,
    /// The same with limits, for editors and docs.
    pub full_schema: fn() -> Value,
    /// Rules on one authored spec that the schema cannot say: limits, forms, combinations. It takes a resolved
    /// spec too, where joined instructions can be counted.
    pub check: fn(&Value) -> Vec<Problem>,
    /// Authored (resolved: no `{file}`, own skills with `content`, `content` of bundles filled in) → canonical.
    /// Idempotent: canonical of a canonical form is itself. `name` is `metadata.name`.
    pub canonical: fn(name: &str, resolved: Value, labels: &BTreeMap<String, String>) -> Value,
    /// Canonical → wire body. `only` names canonical fields: then the body holds just those, with explicit
    /// clears for the ones that are absent from the canonical form; `None` = a whole create body.
    /// Content (`content`, `contents`) and `Record` fields are never in it.
    pub to_wire: ToWire,
    /// Wire body → canonical. `content` of skills and trees and `contents` of stores are put into the body by
    /// the control plane (`content`: digest text; `contents`: path → sha256). `applied` is the last applied
    /// canonical form, for fields that live nowhere else.
    pub from_wire: fn(&Value, &Refs, applied: Option<&Value>) -> Value,
    /// Stored wire body → the one that is answered: what is absent is said as what it means. `newest` has the
    /// version of each agent that the body names. What is owned of it reads the same as of the stored one.
    pub answered: fn(&mut Object, newest: &BTreeMap<String, u64>),
    /// What a canonical form refers to.
    pub refs: fn(&Value) -> Vec<Ref>,
    /// What a wire body refers to, by live id.
    pub wire_refs: fn(&Object) -> Vec<WireRef>,
}

/// [`KindDef::to_wire`].
pub type ToWire = fn(&Value, &Ids, only: Option<&BTreeSet<String>>) -> Result<Object, MissingId>;

impl KindDef {
    /// The row of a canonical field.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// The fields that differ between two canonical forms and need a replace; empty if an update will do.
    pub fn replaced(&self, before: &Value, after: &Value) -> Vec<&'static str> {
        let mut out: Vec<&'static str> = self
            .fields
            .iter()
            .filter(|f| f.change == Change::Replace && before.get(f.name) != after.get(f.name))
            .map(|f| f.name)
            .collect();
        out.extend((self.replaces)(before, after));
        out
    }
}

/// A broken rule of one spec.
#[derive(Debug, Clone)]
pub struct Problem {
    /// JSON pointer into the authored spec (`/tools/0/name`).
    pub pointer: String,
    /// Label the key, not the value.
    pub key: bool,
    /// The code.
    pub code: &'static Code,
    /// One sentence.
    pub message: String,
    /// What to write instead.
    pub fix: Option<String>,
}

impl Problem {
    /// A problem with a value.
    pub fn new(code: &'static Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), key: false, code, message: message.into(), fix: None }
    }

    /// Sets the fix.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

pub mod agent;
#[cfg(test)]
pub(crate) mod arbitrary;
pub mod docs;
pub mod environment;
pub mod file_tree;
pub mod file_tree_mount;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod limits;
pub mod memory_mount;
pub mod memory_store;
pub mod mount;
mod owned;
mod references;
pub mod rules;
pub mod schema;
mod shape;
pub mod skill;
pub mod wire;

/// Every kind, sorted by name.
pub static KINDS: [&KindDef; 7] = [
    &agent::DEF,
    &environment::DEF,
    &file_tree::DEF,
    &file_tree_mount::DEF,
    &memory_mount::DEF,
    &memory_store::DEF,
    &skill::DEF,
];

/// The row of a kind.
pub fn def(kind: Kind) -> &'static KindDef {
    KINDS[kind as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for kind in Kind::ALL {
            assert_eq!(def(kind).kind, kind);
        }
    }

    #[test]
    fn some_changes_need_a_replace() {
        let replaced = |kind, before: Value, after: Value| def(kind).replaced(&before, &after);
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let cloud = json(r#"{"name":"a","config":{"type":"cloud","packages":{"pip":["x"]}}}"#);
        let own = json(r#"{"name":"b","config":{"type":"self_hosted"}}"#);
        assert!(replaced(Kind::Environment, json(r#"{"name":"a"}"#), cloud.clone()).is_empty());
        assert_eq!(replaced(Kind::Environment, cloud, own), ["config"]);
        let git = |name: &str| json(&format!(r#"{{"source":{{"kind":"git","ref":"{name}"}}}}"#));
        assert!(replaced(Kind::FileTree, git("a"), git("b")).is_empty());
        assert_eq!(replaced(Kind::FileTree, git("a"), json(r#"{"source":{"kind":"upload"}}"#)), ["source"]);
        let mount = |agent: &str, path: &str| json(&format!(r#"{{"agent":"{agent}","mount_path":"{path}"}}"#));
        assert!(replaced(Kind::MemoryMount, mount("a", "/x"), mount("a", "/y")).is_empty());
        assert_eq!(replaced(Kind::MemoryMount, mount("a", "/x"), mount("b", "/y")), ["agent"]);
        let owned = json(r#"{"owner":{"principal":"p"}}"#);
        assert_eq!(replaced(Kind::MemoryStore, json("{}"), owned), ["owner"]);
    }

    #[test]
    fn an_empty_label_is_none_for_environments_alone() {
        let labels: BTreeMap<String, String> = [("a".to_owned(), String::new())].into();
        let labelled = |kind| (def(kind).canonical)("x", Value::Object(Map::new()), &labels).get("labels").is_some();
        assert!(!labelled(Kind::Environment));
        assert!(Kind::ALL.into_iter().filter(|k| *k != Kind::Environment).all(labelled));
    }
}
