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
use crate::model::{Address, Digest, Kind, Owner};

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
    pub canonical: fn(name: &str, resolved: &Value, labels: &BTreeMap<String, String>) -> Value,
    /// Canonical → wire body. `only` names canonical fields: then the body holds just those, with explicit
    /// clears for the ones that are absent from the canonical form; `None` = a whole create body.
    /// Content (`content`, `contents`) and `Record` fields are never in it.
    pub to_wire: ToWire,
    /// Wire body → canonical. `content` of skills and trees and `contents` of stores are put into the body by
    /// the control plane (`content`: digest text; `contents`: path → sha256). `applied` is the last applied
    /// canonical form, for fields that live nowhere else.
    pub from_wire: fn(&Value, &Refs, applied: Option<&Value>) -> Value,
    /// What a canonical form refers to.
    pub refs: fn(&Value) -> Vec<Ref>,
    /// What a wire body refers to, by live id.
    pub wire_refs: fn(&Object) -> Vec<WireRef>,
}

/// [`KindDef::to_wire`].
pub type ToWire = fn(&Value, &Ids, only: Option<&BTreeSet<String>>) -> Result<Object, MissingId>;

/// A reference of a wire body.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WireRef {
    /// The kind that the field takes.
    pub kind: Kind,
    /// Live id.
    pub id: String,
    /// The version: `skver_…` for skills, the decimal number for trees and stores; `None` = none or `latest`.
    pub version: Option<String>,
    /// Does it follow `latest`?
    pub follows: bool,
}

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

/// What a reference points at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A resource of the same owner.
    Own(Address),
    /// A resource of another owner.
    Foreign(Owner, Address),
    /// A live id.
    Id(Kind, String),
}

impl Target {
    /// Reads the text of a reference in a field that takes `kind`: a name, `owner:Kind/name`.
    pub fn parse(kind: Kind, text: &str) -> Option<Self> {
        match text.rsplit_once(':') {
            Some((owner, address)) => {
                let address: Address = address.parse().ok()?;
                (address.kind == kind).then_some(())?;
                Some(Target::Foreign(owner.parse().ok()?, address))
            }
            None => {
                let address: Address = format!("{kind}/{text}").parse().ok()?;
                Some(Target::Own(address))
            }
        }
    }

    /// Reads a canonical reference value: a text as above, or `{"id": …}`.
    pub fn of(kind: Kind, value: &Value) -> Option<Self> {
        match value {
            Value::String(s) => Self::parse(kind, s),
            Value::Object(o) => Some(Target::Id(kind, o.get("id")?.as_str()?.to_owned())),
            _ => None,
        }
    }

    /// The canonical reference value.
    pub fn to_value(&self) -> Value {
        match self {
            Target::Own(a) => Value::String(a.name.clone()),
            Target::Foreign(o, a) => Value::String(format!("{o}:{a}")),
            Target::Id(_, id) => serde_json::json!({ "id": id }),
        }
    }

    /// The key in [`Ids`]: `Agent/support`, `acme/legal:Skill/legal-tone`, or the id itself.
    pub fn key(&self) -> String {
        match self {
            Target::Own(a) => a.to_string(),
            Target::Foreign(o, a) => format!("{o}:{a}"),
            Target::Id(_, id) => id.clone(),
        }
    }

    /// The kind it points at.
    pub fn kind(&self) -> Kind {
        match self {
            Target::Own(a) | Target::Foreign(_, a) => a.kind,
            Target::Id(k, _) => *k,
        }
    }
}

/// How a reference chooses among versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// The target has no versions, or none is chosen.
    None,
    /// Moves by itself.
    Latest,
    /// By content: the newest version with that content.
    Content(Digest),
    /// A number of one workspace; plan turns it into content.
    Number(u64),
    /// A named ref.
    Named(String),
}

/// A reference of a canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ref {
    /// Canonical top-level field that holds it.
    pub field: &'static str,
    /// JSON pointer to the reference, into the canonical form.
    pub pointer: String,
    /// What it points at.
    pub target: Target,
    /// Which version.
    pub selector: Selector,
}

/// Live ids by key: [`Target::key`] → id; `KEY@sha256:…` → the version (a `skver_…` id for skills, the decimal
/// number for trees and stores).
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Ids(pub BTreeMap<String, String>);

/// A key that is not in [`Ids`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no live id is known for {0}")]
pub struct MissingId(pub String);

impl Ids {
    /// The live id of a target; an id stands for itself.
    pub fn resource(&self, target: &Target) -> Result<String, MissingId> {
        if let Target::Id(_, id) = target {
            return Ok(id.clone());
        }
        let key = target.key();
        self.0.get(&key).cloned().ok_or(MissingId(key))
    }

    /// The version with a content.
    pub fn version(&self, target: &Target, content: &Digest) -> Result<String, MissingId> {
        let key = format!("{}@{content}", target.key());
        self.0.get(&key).cloned().ok_or(MissingId(key))
    }
}

/// The other way: what live ids mean. Comes with bodies.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refs {
    /// Owner and address of live ids that have one; an id that is absent stays an id.
    pub resources: BTreeMap<String, (Owner, Address)>,
    /// Content of versions: `skver_…` → digest; `ID#NUMBER` → digest for trees and stores.
    pub contents: BTreeMap<String, Digest>,
    /// Whose view: references to this owner's resources become plain names.
    pub me: Option<Owner>,
}

impl Refs {
    /// The canonical target of a live id.
    pub fn target(&self, kind: Kind, id: &str) -> Target {
        match self.resources.get(id) {
            Some((owner, address)) if self.me.as_ref() == Some(owner) => Target::Own(address.clone()),
            Some((owner, address)) => Target::Foreign(owner.clone(), address.clone()),
            None => Target::Id(kind, id.to_owned()),
        }
    }
}

/// What its owner last applied to a resource.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Applied {
    /// The canonical form.
    pub spec: Value,
    /// Canonical fields that the owner does not own (modes `ignore` and `seed`): `description`,
    /// `labels.team`, `contents./policy/a.md`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unowned: Vec<String>,
}

impl Applied {
    /// The digest of what is owned of it: [`owned_digest`] of the spec itself.
    pub fn digest(&self, kind: Kind) -> Digest {
        owned_digest(kind, &self.spec, self)
    }
}

/// The digest of the part of a canonical form that its owner owns: less the `unowned` fields, `server` fields
/// that `applied` does not hold, and memories that are neither in `applied` nor under an `enforce` prefix.
/// Live = applied = wanted exactly when there is nothing to do and nothing to report.
pub fn owned_digest(kind: Kind, canonical: &Value, applied: &Applied) -> Digest {
    let part = owned_part(kind, canonical, applied);
    if applied.unowned.is_empty() {
        return Digest::of_json(&part);
    }
    // A field that the file never had may be owned again: then the list alone says that there is a difference.
    let unowned: BTreeSet<&String> = applied.unowned.iter().collect();
    Digest::of_json(&(part, unowned))
}

/// The value that [`owned_digest`] is over.
pub fn owned_part(kind: Kind, canonical: &Value, applied: &Applied) -> Value {
    let mut out = canonical.as_object().cloned().unwrap_or_default();
    for field in def(kind).fields {
        let known = applied.spec.get(field.name);
        if field.default == Default_::Server && known.is_none() {
            out.remove(field.name);
        }
        if field.name == "contents" {
            let prefixes = enforce_prefixes(&applied.spec);
            if let Some(Value::Object(files)) = out.get_mut("contents") {
                files.retain(|path, _| {
                    known.and_then(|k| k.get(path)).is_some() || prefixes.iter().any(|p| is_under(path, p))
                });
            }
            if out.get("contents").and_then(Value::as_object).is_some_and(Map::is_empty) {
                out.remove("contents");
            }
        }
    }
    for path in &applied.unowned {
        match path.split_once('.') {
            None => {
                out.remove(path);
            }
            Some((field, key)) => {
                if let Some(Value::Object(map)) = out.get_mut(field) {
                    map.remove(key);
                    if map.is_empty() {
                        out.remove(field);
                    }
                }
            }
        }
    }
    Value::Object(out)
}

/// The prefixes of a canonical memory store whose mode is `enforce`.
pub fn enforce_prefixes(store: &Value) -> Vec<String> {
    let modes = store.get("modes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    modes
        .iter()
        .filter(|m| m.get("mode").and_then(Value::as_str) == Some("enforce"))
        .filter_map(|m| m.get("at").and_then(Value::as_str).map(str::to_owned))
        .collect()
}

/// Is a memory path the prefix itself or below it? `/` is above all.
pub fn is_under(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
pub mod rules;
pub mod schema;
mod shape;
pub mod skill;

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
        let labelled = |kind| (def(kind).canonical)("x", &Value::Object(Map::new()), &labels).get("labels").is_some();
        assert!(!labelled(Kind::Environment));
        assert!(Kind::ALL.into_iter().filter(|k| *k != Kind::Environment).all(labelled));
    }

    #[test]
    fn references_read_and_write() {
        for (text, key) in [("faq", "Skill/faq"), ("acme/legal:Skill/tone", "acme/legal:Skill/tone")] {
            let t = Target::parse(Kind::Skill, text).unwrap();
            assert_eq!((t.key().as_str(), t.to_value()), (key, Value::String(text.into())));
        }
        assert!(Target::parse(Kind::Skill, "acme:Agent/x").is_none());
    }
}
