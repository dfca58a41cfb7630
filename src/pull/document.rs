//! The canonical form of one resource as a manifest that a person would have written: the short forms, only what
//! is no default, the name alone where it is the address's.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::manifest::emit_in_order;
use crate::model::kinds::{self, Object};
use crate::model::names::windows_refuses;
use crate::model::{Address, Digest, Kind};

/// Keys that come first where they are: what a thing is, then what it is called, then the rest by name.
const FIRST: [&str; 19] = [
    "apiVersion",
    "kind",
    "metadata",
    "type",
    "id",
    "name",
    "display_name",
    "skill",
    "anthropic",
    "store",
    "tree",
    "agent",
    "memory_store",
    "file_tree",
    "path",
    "at",
    "mount_path",
    "mode",
    "description",
];

/// A resource to be written as a manifest.
#[derive(Debug, Clone)]
pub struct Form<'a> {
    /// The address that the manifest declares.
    pub address: &'a Address,
    /// Its canonical form; references are names where the project declares what they point at.
    pub spec: &'a Value,
    /// Canonical fields that are not owned (`description`, `labels.team`): they are written with mode `seed`.
    pub unowned: &'a [String],
    /// Does the uploaded tree hold symbolic links?
    pub links: bool,
    /// Of an agent, its inline mounts with their canonical forms, written in its `memory` and `files`. A mount has no
    /// labels there.
    pub mounts: Vec<(&'a Address, &'a Value)>,
    /// The content that the project publishes for each of its skills: a reference to that one is the name alone.
    pub skills: &'a BTreeMap<String, Digest>,
}

/// A file of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Relative to the project folder, `/`-separated.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// The manifest of a resource, and where it belongs. `None`: a skill that its folder says everything of.
///
/// A tree names the folder `trees/NAME`, a store one folder in `memory/NAME` for each prefix
/// (see `memory_folder`): their files are the caller's.
pub fn document(form: &Form<'_>) -> Option<Text> {
    let (kind, name) = (form.address.kind, &form.address.name);
    if kind == Kind::Agent && !is_device(name) {
        return Some(Text { path: format!("agents/{name}.md"), text: markdown(form) });
    }
    let labels = form.spec.get("labels");
    if kind == Kind::Skill && form.spec.get("display_name").is_none() && labels.is_none() && form.unowned.is_empty() {
        return None;
    }
    let mut metadata = Object::new();
    metadata.insert("name".to_owned(), json!(name));
    metadata.extend(labels.map(|labels| ("labels".to_owned(), labels.clone())));
    metadata.extend(modes(form).map(|modes| ("fields".to_owned(), modes)));
    let spec: Object = authored(form).into_iter().collect();
    let mut text =
        emit_in_order(&json!({ "apiVersion": "checkfu.com/v1", "kind": kind, "metadata": metadata }), &FIRST);
    text.push_str(&in_order("spec", &spec, &order(kind)));
    Some(Text { path: format!("{}/{}.yaml", folder(kind), stem(form.address)), text })
}

/// The folder of a resource's own files, relative to the folder of its manifest: that of a skill or tree.
pub(super) fn stem(address: &Address) -> String {
    let name = &address.name;
    // Files of these names cannot be checked out everywhere.
    if is_device(name) { format!("{}-{name}", folder(address.kind)) } else { name.clone() }
}

pub(super) fn is_device(name: &str) -> bool {
    windows_refuses(name).is_some()
}

/// Where manifests of a kind go.
pub(super) fn folder(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "agents",
        Kind::Environment => "environments",
        Kind::FileTree => "trees",
        Kind::FileTreeMount => "file-tree-mounts",
        Kind::MemoryMount => "memory-mounts",
        Kind::MemoryStore => "memory",
        Kind::Skill => "skills",
    }
}

/// The folder of the memories below a prefix, relative to `memory/`.
pub(super) fn memory_folder(store: &Address, prefix: &str) -> String {
    format!("{}{}", stem(store), prefix.trim_end_matches('/'))
}

/// Canonical fields in the order in which the kind's table shows them, and the short forms of an agent.
fn order(kind: Kind) -> Vec<&'static str> {
    let mut order: Vec<&'static str> = kinds::def(kind).fields.iter().map(|f| f.name).collect();
    order.extend(["memory", "files"]);
    order
}

/// The fields of an authored spec.
pub(super) fn authored(form: &Form<'_>) -> BTreeMap<String, Value> {
    let address = form.address;
    let mut spec: BTreeMap<String, Value> =
        form.spec.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    spec.remove("labels");
    if spec.get("name").is_some_and(|name| name.as_str() == Some(&address.name)) {
        spec.remove("name");
    }
    match address.kind {
        Kind::Agent => {
            if let Some(Value::Array(skills)) = spec.get_mut("skills") {
                for entry in skills {
                    short_skill(entry, form.skills);
                }
            }
            for (field, short, long, kind) in SHORT {
                let mounts = form.mounts.iter().filter(|(a, _)| a.kind == kind);
                let list: Vec<Value> = mounts.map(|(_, spec)| short_mount(spec, short, long)).collect();
                if !list.is_empty() {
                    spec.insert(field.to_owned(), Value::Array(list));
                }
            }
        }
        Kind::Skill => {
            spec.remove("name");
            spec.remove("content");
            spec.insert("source".to_owned(), json!({ "path": stem(address) }));
        }
        Kind::FileTree => {
            spec.remove("content");
            if let Some(source) = spec.get_mut("source").filter(|s| s["kind"] == "upload") {
                source["path"] = json!(stem(address));
                if form.links {
                    source["symlinks"] = json!("keep");
                }
            }
        }
        Kind::MemoryStore => {
            let modes = contents(address, form.spec);
            spec.remove("modes");
            spec.remove("contents");
            if !modes.is_empty() {
                spec.insert("contents".to_owned(), Value::Array(modes));
            }
        }
        Kind::Environment | Kind::FileTreeMount | Kind::MemoryMount => {}
    }
    spec
}

/// Lists of short mounts: field, its reference, that of the long form, the kind.
const SHORT: [(&str, &str, &str, Kind); 2] =
    [("memory", "store", "memory_store", Kind::MemoryMount), ("files", "tree", "file_tree", Kind::FileTreeMount)];

/// An entry of `memory` or `files`.
fn short_mount(spec: &Value, short: &str, long: &str) -> Value {
    let mut out = Object::new();
    for (key, value) in spec.as_object().into_iter().flatten() {
        let key = match key.as_str() {
            "agent" | "labels" => continue,
            "mount_path" => "at",
            key if key == long => short,
            key => key,
        };
        out.insert(key.to_owned(), value.clone());
    }
    Value::Object(out)
}

/// An entry of `skills`: the name alone for the version that the project publishes, `pin` for another one.
fn short_skill(entry: &mut Value, published: &BTreeMap<String, Digest>) {
    let Value::Object(map) = entry else { return };
    let Some(content) = map.remove("content") else { return };
    let name = map.get("skill").and_then(Value::as_str);
    let now = name.and_then(|name| published.get(name)).map(ToString::to_string);
    match (name, now) {
        (Some(name), Some(now)) if content.as_str() == Some(&now) => *entry = json!(name),
        _ => {
            map.insert("pin".to_owned(), content);
        }
    }
}

/// The entries of `contents`: a folder for each prefix.
fn contents(address: &Address, spec: &Value) -> Vec<Value> {
    let entry = |at: &str, mode: &str| {
        let mut out = Map::new();
        out.insert("at".to_owned(), json!(at));
        if mode != "observe" {
            out.insert("path".to_owned(), json!(memory_folder(address, at)));
        }
        out.insert("mode".to_owned(), json!(mode));
        Value::Object(out)
    };
    prefixes(spec).into_iter().map(|(at, mode)| entry(at, mode)).collect()
}

/// The prefixes of a canonical store with their modes.
pub(super) fn prefixes(spec: &Value) -> Vec<(&str, &str)> {
    let modes = spec.get("modes").and_then(Value::as_array);
    modes.into_iter().flatten().filter_map(|m| Some((m.get("at")?.as_str()?, m.get("mode")?.as_str()?))).collect()
}

/// `metadata.fields` for what is not owned; which memories are not is said by their mode.
fn modes(form: &Form<'_>) -> Option<Value> {
    let path = |field: &String| match field.split('.').next() {
        Some("contents") => None,
        Some("labels") => Some(format!("metadata.{field}")),
        _ => Some(format!("spec.{field}")),
    };
    let modes: Object = form.unowned.iter().filter_map(path).map(|p| (p, json!({ "mode": "seed" }))).collect();
    (!modes.is_empty()).then_some(Value::Object(modes))
}

/// An agent in Markdown. Instructions that the text of a file cannot hold as they are stay a field.
fn markdown(form: &Form<'_>) -> String {
    let mut spec: Object = authored(form).into_iter().collect();
    let prose = match spec.get("instructions") {
        Some(Value::String(text)) if is_prose(text) => Some(text.clone()),
        _ => None,
    };
    if prose.is_some() {
        spec.remove("instructions");
    }
    for (key, value) in [("labels", form.spec.get("labels").cloned()), ("fields", modes(form))] {
        spec.extend(value.map(|value| (key.to_owned(), value)));
    }
    let mut order = order(Kind::Agent);
    order.retain(|key| *key != "labels");
    order.extend(["labels", "fields"]);
    let matter: String = order
        .into_iter()
        .filter_map(|key| Some((key, spec.get(key)?)))
        .map(|(key, value)| emit_in_order(&json!({ key: value }), &FIRST))
        .collect();
    let prose = prose.map(|text| text + "\n").unwrap_or_default();
    format!("---\n{matter}---\n{prose}")
}

/// Blank lines in front and line ends behind are no part of a prose; a file is refused for NUL and lone CR.
pub(super) fn is_prose(text: &str) -> bool {
    let first = text.split('\n').next().unwrap_or_default();
    !first.trim().is_empty() && !text.ends_with('\n') && !text.contains(['\r', '\0'])
}

/// A map below a key, its own keys in the order given.
fn in_order(key: &str, map: &Object, order: &[&'static str]) -> String {
    let mut keys: Vec<&str> = order.to_vec();
    keys.retain(|k| map.contains_key(*k));
    if map.is_empty() {
        return format!("{key}: {{}}\n");
    }
    let rest = map.keys().map(String::as_str).filter(|k| !order.contains(k));
    let keys: Vec<&str> = keys.into_iter().chain(rest).collect();
    let mut out = format!("{key}:\n");
    for inner in keys {
        // One level deeper, block texts too: their indent is the first thing on each of their lines.
        let text = emit_in_order(&json!({ key: { inner: map[inner] } }), &FIRST);
        out.push_str(text.strip_prefix(&format!("{key}:\n")).unwrap_or(&text));
    }
    out
}
