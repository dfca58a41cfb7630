//! A project of the `ant` tool → resources: its lock says which file is which live resource, its files are bodies of
//! the wire in which paths stand for ids.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::{front, skill_name, yaml};
use crate::model::config::Adopt;
use crate::model::kinds::{self, Refs};
use crate::model::{Address, Digest, Kind, Owner};
use crate::pull::{Resource, Unnamed, names};

/// The one version of the lock.
const VERSION: u64 = 1;

/// An entry of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockEntry {
    /// A path relative to the lock, `/`-separated, without `.` in front; or a URL.
    pub path: String,
    /// `agent`, `environment`, `skill`, `memory_store`, `deployment`, …
    pub kind: String,
    /// The live id.
    pub id: String,
}

impl LockEntry {
    /// The kind of this product, if there is one for it and it is a file or folder.
    pub fn kind(&self) -> Option<Kind> {
        let kind = match self.kind.as_str() {
            "agent" => Kind::Agent,
            "environment" => Kind::Environment,
            "memory_store" => Kind::MemoryStore,
            "skill" => Kind::Skill,
            _ => return None,
        };
        (!self.path.contains("://")).then_some(kind)
    }
}

/// What such a project is here.
#[derive(Debug, Clone, Default)]
pub struct AntProject {
    /// All but skills.
    pub resources: BTreeMap<Address, Resource>,
    /// Folders of skills, relative to the lock.
    pub skills: BTreeMap<Address, String>,
    /// For `resources` to name their own skills alone, as what is published.
    pub published: BTreeMap<String, Digest>,
    /// Which live resource gets which address.
    pub adopt: Vec<Adopt>,
}

/// Reads a lock.
///
/// # Errors
/// In words, why it is none.
pub fn lock(text: &str) -> Result<Vec<LockEntry>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("it is no JSON: {e}"))?;
    let version = value.get("version").and_then(Value::as_u64);
    if version != Some(VERSION) {
        return Err(format!("its `version` is not {VERSION}"));
    }
    let resources = value.get("resources").and_then(Value::as_object).ok_or("it has no `resources`")?;
    let one = |(path, entry): (&String, &Value)| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let (kind, id) = text("kind").zip(text("id")).ok_or_else(|| format!("`{path}` has no `kind` and `id`"))?;
        let path = if path.contains("://") {
            path.clone()
        } else {
            resolved("", path).ok_or_else(|| format!("`{path}` leaves the folder of the lock"))?
        };
        Ok(LockEntry { path, kind, id })
    };
    resources.iter().map(one).collect()
}

/// A path that a file names, relative to the lock; `None` if it leaves the folder.
fn resolved(file: &str, path: &str) -> Option<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    if path.starts_with('/') || path.contains(['\\', ':', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The project of a lock. `texts` are the files of its entries, of a skill its `SKILL.md`, by path. What has no form
/// here is told and left.
pub fn ant(
    entries: &[LockEntry],
    texts: &BTreeMap<String, String>,
    me: &Owner,
    taken: &BTreeSet<Address>,
    known: &BTreeMap<String, Address>,
) -> (AntProject, Diagnostics) {
    let (mut out, mut found) = (AntProject::default(), Diagnostics::default());
    let named = addresses(entries, texts, taken, known, &mut found);
    let mut refs = Refs { me: Some(me.clone()), ..Refs::default() };
    for (id, address) in &named {
        refs.resources.insert(id.clone(), (me.clone(), address.clone()));
        if address.kind == Kind::Skill {
            // Only equality counts: it says that the reference is to what this project publishes.
            let content = Digest::of(id.as_bytes());
            refs.contents.insert(pinned(id), content);
            out.published.insert(address.name.clone(), content);
        }
    }
    for entry in entries {
        let Some(kind) = entry.kind() else {
            let message = format!("{} `{}` ({}) has no form in a project", entry.kind, entry.path, entry.id);
            found.push(Diagnostic::new(&code::LEFT, message));
            continue;
        };
        let Some(address) = named.get(&entry.id) else { continue };
        if !known.contains_key(&entry.id) {
            out.adopt.push(Adopt { address: address.clone(), target: None, id: entry.id.clone(), from: None });
        }
        if kind == Kind::Skill {
            out.skills.insert(address.clone(), entry.path.clone());
            continue;
        }
        let text = texts.get(&entry.path).map(String::as_str).unwrap_or_default();
        match body(entry, kind, text) {
            Ok(mut body) => {
                ids(&mut body, entry, entries, &mut found);
                unknown(&body, entry, kind, &mut found);
                let spec = (kinds::def(kind).from_wire)(&Value::Object(body), &refs, None);
                let spec = Arc::new(spec);
                out.resources.insert(
                    address.clone(),
                    Resource { spec, unowned: Vec::new(), entries: Vec::new(), applied: None },
                );
            }
            Err(why) => found.push(Diagnostic::new(&code::LOCK, format!("`{}`: {why}", entry.path))),
        }
    }
    (out, found)
}

/// Addresses, made of the files' names; of a skill its own.
fn addresses(
    entries: &[LockEntry],
    texts: &BTreeMap<String, String>,
    taken: &BTreeSet<Address>,
    known: &BTreeMap<String, Address>,
    found: &mut Diagnostics,
) -> BTreeMap<String, Address> {
    let mut unnamed = Vec::new();
    for entry in entries {
        let Some(kind) = entry.kind() else { continue };
        let last = entry.path.rsplit('/').next().unwrap_or_default();
        let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem).to_owned();
        let name = match kind {
            Kind::Skill => {
                let file = format!("{}/SKILL.md", entry.path);
                texts.get(&file).and_then(|t| skill_name(t)).filter(|name| name == last).unwrap_or_default()
            }
            _ => stem,
        };
        unnamed.push(Unnamed { id: entry.id.clone(), kind, name, mounts: None, inline: false });
    }
    let (named, without) = names(&unnamed, taken, known);
    for one in without {
        let message = format!("{} is a skill whose folder has another name than it, or one that is taken", one.id);
        found.push(Diagnostic::new(&code::NO_NAME, message));
    }
    named
}

/// The version that a reference to a skill of the project stands for.
fn pinned(id: &str) -> String {
    format!("{id}@published")
}

/// The body of the wire that a file is.
fn body(entry: &LockEntry, kind: Kind, text: &str) -> Result<Map<String, Value>, String> {
    let yaml = |text: &str| {
        let (docs, found) = yaml::parse(&LineIndex::new(entry.path.as_str(), text));
        match (docs.first(), found.0.first()) {
            (_, Some(d)) => Err(d.message.clone()),
            (Some(doc), None) => Ok(doc.to_json()),
            (None, None) => Ok(json!({})),
        }
    };
    let value = match entry.path.rsplit('.').next() {
        Some("json") => serde_json::from_str(text).map_err(|e| e.to_string())?,
        Some("md") => {
            let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let front = front::split(text, start).map_err(|_| "it has no front matter".to_owned())?;
            let mut value = yaml(&text[front.matter.clone()])?;
            let prose = text[front.body].trim();
            let field = if kind == Kind::Agent { "system" } else { "description" };
            if let Some(map) = value.as_object_mut().filter(|_| !prose.is_empty()) {
                map.insert(field.to_owned(), json!(prose));
            }
            value
        }
        _ => yaml(text)?,
    };
    let Value::Object(mut map) = value else { return Err("it is no map of fields".to_owned()) };
    map.remove("type");
    Ok(map)
}

/// Puts ids where paths stand.
fn ids(body: &mut Map<String, Value>, entry: &LockEntry, entries: &[LockEntry], found: &mut Diagnostics) {
    let by_path: BTreeMap<&str, &LockEntry> = entries.iter().map(|e| (e.path.as_str(), e)).collect();
    let mut at = |path: &str, prefix: &str| -> Option<String> {
        if path.starts_with(prefix) {
            return Some(path.to_owned());
        }
        let key = if path.contains("://") { Some(path.to_owned()) } else { resolved(&entry.path, path) };
        let to = key.and_then(|key| by_path.get(key.as_str()).copied());
        if to.is_none() {
            let message = format!("`{}` names `{path}`, which the lock does not have", entry.path);
            found.push(Diagnostic::new(&code::LOCK, message));
        }
        to.map(|to| to.id.clone())
    };
    let path_of = |item: &Value| match item {
        Value::String(path) => Some(path.clone()),
        item => item.get("path").and_then(Value::as_str).map(str::to_owned),
    };
    for item in body.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(path) = path_of(item) else { continue };
        let Some(id) = at(&path, "skill_") else { continue };
        let ours = entries.iter().any(|e| e.id == id && e.kind() == Some(Kind::Skill));
        let version = if ours { pinned(&id) } else { "latest".to_owned() };
        *item = json!({ "type": "custom", "skill_id": id, "version": version });
    }
    let roster = body.get_mut("multiagent").and_then(|m| m.get_mut("agents")).and_then(Value::as_array_mut);
    for item in roster.into_iter().flatten() {
        let Some(path) = path_of(item) else { continue };
        if let Some(id) = at(&path, "agent_") {
            *item = json!({ "type": "agent", "id": id });
        }
    }
}

/// Tells what a body has that is no field of its kind.
fn unknown(body: &Map<String, Value>, entry: &LockEntry, kind: Kind, found: &mut Diagnostics) {
    let is_field = |key: &str| match key {
        "system" => kind == Kind::Agent,
        "metadata" => true,
        "instructions" | "labels" | "contents" | "modes" | "content" => false,
        key => kinds::def(kind).field(key).is_some(),
    };
    for key in body.keys().filter(|key| !is_field(key)) {
        let message = format!("`{key}` of `{}` is no field of {kind}", entry.path);
        found.push(Diagnostic::new(&code::LEFT, message));
    }
}
