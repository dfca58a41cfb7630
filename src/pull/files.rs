//! Resources → the files that declare them, unit by unit: an agent with its inline mounts, a skill or tree with its
//! folder, a store with its memories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::diag::codes::bundle::SECRET_NAME;
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::kinds::{self, Refs, Target, is_under};
use crate::model::names::looks_secret;
use crate::model::op::LoadedBody;
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Kind};
use crate::pull::document::{folder, is_device, memory_folder, prefixes, stem};
use crate::pull::{Form, document, paths};

/// A live resource to be declared.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Its canonical form; references are names where the project declares, or is to declare, what they point at.
    pub spec: Arc<Value>,
    /// Canonical fields that are not owned.
    pub unowned: Vec<String>,
    /// Files of the newest version (skills, trees).
    pub entries: Vec<Entry>,
    /// What its owner last applied; `None` = it never did.
    pub applied: Option<Arc<Value>>,
}

/// Git keeps no empty folder. This file is no content of one, and keeps it.
const KEEP: &str = ".checkfuignore";
const KEEP_TEXT: &str = "# No memory is here yet; this file keeps the folder in Git.\n";

impl Resource {
    /// What was read of a live resource. Of a store that nobody owns and that has memories, all of them are to be kept
    /// up with what others write; of an owned one, those below the prefixes that its owner named.
    pub fn of(kind: Kind, loaded: &LoadedBody, refs: &Refs) -> Self {
        let applied = loaded.applied.as_ref();
        let mut spec = (kinds::def(kind).from_wire)(&loaded.body, refs, applied.map(|a| &*a.spec));
        if kind == Kind::MemoryStore
            && spec.get("modes").is_none()
            && let Some(map) = spec.as_object_mut()
            && map.contains_key("contents")
        {
            match applied {
                Some(_) => drop(map.remove("contents")),
                None => drop(map.insert("modes".to_owned(), json!([{ "at": "/", "mode": "upkeep" }]))),
            }
        }
        let unowned = applied.map(|a| a.unowned.clone()).unwrap_or_default();
        let applied = applied.map(|a| Arc::clone(&a.spec));
        Self { spec: Arc::new(spec), unowned, entries: loaded.entries.clone(), applied }
    }
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// This text.
    Text(String),
    /// Bytes that the workspace holds.
    Held(Digest),
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative to the project folder, `/`-separated, checked.
    pub path: String,
    /// What is in it; of a link, its target.
    pub body: Body,
    /// May it be executed?
    pub executable: bool,
    /// For a symbolic link: its path inside of its tree.
    pub link: Option<String>,
}

/// Files that go together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    /// What they declare.
    pub of: Vec<Address>,
    /// The files.
    pub files: Vec<File>,
    /// Folders that hold these files and no others, though maybe none.
    pub folders: Vec<String>,
}

/// The units of these resources, sorted by what they declare. `skills` is what the project publishes for each of its
/// skills; `allowed` are the paths with names like secrets that are meant. Everything that cannot be a file is told at
/// once; then nothing may be written.
pub fn units(
    resources: &BTreeMap<Address, Resource>,
    skills: &BTreeMap<String, Digest>,
    allowed: &BTreeSet<String>,
) -> (Vec<Unit>, Diagnostics) {
    let mut found = Diagnostics::default();
    let mut inline: BTreeMap<&str, Vec<(&Address, &Value)>> = BTreeMap::new();
    for (address, resource) in resources {
        if let Some((agent, _)) = address.name.split_once('.') {
            inline.entry(agent).or_default().push((address, &*resource.spec));
        }
    }
    let mut units = Vec::new();
    for (address, resource) in resources.iter().filter(|(a, _)| !a.name.contains('.')) {
        let mounts = if address.kind == Kind::Agent { inline.remove(address.name.as_str()) } else { None };
        let mounts = mounts.unwrap_or_default();
        let mut unit = Unit { of: vec![address.clone()], ..Unit::default() };
        unit.of.extend(mounts.iter().map(|(a, _)| (*a).clone()));
        let links = resource.entries.iter().any(|e| e.symlink);
        let form = Form { address, spec: &resource.spec, unowned: &resource.unowned, links, mounts, skills };
        unit.files.extend(document(&form).map(|t| text(t.path, t.text)));
        content(address, resource, &mut unit, &mut found);
        secrets(address, &unit, allowed, &mut found);
        units.push(unit);
    }
    (units, found)
}

fn text(path: String, text: String) -> File {
    File { path, body: Body::Text(text), executable: false, link: None }
}

/// The folders of a resource with what is in them.
fn content(address: &Address, resource: &Resource, unit: &mut Unit, found: &mut Diagnostics) {
    let base = format!("{}/{}", folder(address.kind), stem(address));
    let bad = |why: String| Diagnostic::new(&code::PATH, format!("{address}: {why}"));
    match address.kind {
        Kind::Skill if is_device(&address.name) => {
            found.push(bad(format!("`{}` is a name that not every system can hold", address.name)));
        }
        Kind::Skill | Kind::FileTree if is_upload(&resource.spec, address.kind) => {
            found.extend(Diagnostics(
                paths::problems(resource.entries.iter().map(|e| e.path.as_str())).into_iter().map(bad).collect(),
            ));
            unit.files.extend(resource.entries.iter().map(|e| File {
                path: format!("{base}/{}", e.path),
                body: Body::Held(e.sha256),
                executable: e.executable,
                link: e.symlink.then(|| e.path.clone()),
            }));
            unit.folders.push(base);
        }
        Kind::MemoryStore => {
            for (prefix, mode) in prefixes(&resource.spec) {
                let folder = memory_folder(address, prefix);
                let inside = folder.trim_start_matches(&stem(address)).trim_start_matches('/').to_owned();
                if mode == "observe" {
                    continue;
                }
                if let Some(why) = paths::refused(&inside).filter(|_| !inside.is_empty()) {
                    found.push(bad(format!("the prefix `{prefix}` {why}")));
                }
                let (files, wrong) = memories(&contents(&resource.spec), prefix, &format!("memory/{folder}"));
                found.extend(Diagnostics(wrong.into_iter().map(bad).collect()));
                if files.is_empty() {
                    unit.files.push(text(format!("memory/{folder}/{KEEP}"), KEEP_TEXT.to_owned()));
                }
                unit.files.extend(files);
                unit.folders.push(format!("memory/{folder}"));
            }
        }
        _ => {}
    }
}

fn is_upload(spec: &Value, kind: Kind) -> bool {
    kind == Kind::Skill || spec.get("source").and_then(|s| s.get("kind")).and_then(Value::as_str) == Some("upload")
}

/// The memories of a canonical store.
pub fn contents(spec: &Value) -> BTreeMap<String, Digest> {
    let map = spec.get("contents").and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(path, d)| Some((path.clone(), d.as_str()?.parse().ok()?))).collect()
}

/// The memories below a prefix as files of a folder, and what keeps them from being that.
pub(super) fn memories(all: &BTreeMap<String, Digest>, prefix: &str, folder: &str) -> (Vec<File>, Vec<String>) {
    let below = |path: &String| {
        let rest = path.strip_prefix(prefix.trim_end_matches('/'))?;
        is_under(path, prefix).then(|| rest.trim_start_matches('/').to_owned())
    };
    let named: Vec<(String, Digest)> = all.iter().filter_map(|(path, d)| Some((below(path)?, *d))).collect();
    let wrong = paths::problems(named.iter().map(|(path, _)| path.as_str()));
    let file = |(path, d): (String, Digest)| File {
        path: format!("{folder}/{path}"),
        body: Body::Held(d),
        executable: false,
        link: None,
    };
    (named.into_iter().map(file).collect(), wrong)
}

/// Names that look like those of secrets are refused as `validate` refuses them.
pub(super) fn secrets(address: &Address, unit: &Unit, allowed: &BTreeSet<String>, found: &mut Diagnostics) {
    for file in unit.files.iter().filter(|f| matches!(f.body, Body::Held(_))) {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if looks_secret(name) && !allowed.contains(&file.path) {
            let message = format!("`{}` of {address} has a name that looks like a secret", file.path);
            let fix = format!("allow_secret_names: [\"{}\"] in checkfu.yaml, if it is none", file.path);
            found.push(Diagnostic::new(&SECRET_NAME, message).fix(fix));
        }
    }
}

/// What else of the same owner these resources refer to: without it a project would not be whole.
pub fn needed(resources: &BTreeMap<Address, Resource>, declared: &dyn Fn(&Address) -> bool) -> BTreeSet<Address> {
    let mut out = BTreeSet::new();
    for (address, resource) in resources {
        for r in (kinds::def(address.kind).refs)(&resource.spec) {
            match r.target {
                Target::Own(to) if !resources.contains_key(&to) && !declared(&to) => out.insert(to),
                _ => false,
            };
        }
    }
    out
}
