//! From documents as found to documents as meant: a skill's folder and its document become one, documents inside
//! of content declare nothing, short mounts become documents of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::desired::needs::{bundles, list};
use crate::desired::paths;
use crate::diag::codes;
use crate::diag::codes::desired as code;
use crate::diag::codes::kind as kind_code;
use crate::diag::{Diagnostic, Diagnostics, Location, Severity};
use crate::manifest::{Document, Form, emit};
use crate::model::kinds::Target;
use crate::model::{Address, Kind};

/// Most short mounts in one list of an agent. Mounts are held against each other, so their number is bounded.
const MAX_SHORT: usize = 1_000;

/// The `SKILL.md` files that Skill documents name and discovery may have missed, and where they are named.
pub fn skill_files(documents: &[Document], root: &str) -> BTreeMap<String, Location> {
    let mut out = BTreeMap::new();
    for d in documents.iter().filter(|d| d.form == Form::Yaml && d.address.kind == Kind::Skill) {
        for folder in named(d, root) {
            let file = if folder == "." { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") };
            out.entry(file).or_insert_with(|| d.locate("/source/path", false));
        }
    }
    out
}

/// The folders that a document names, relative to the project folder.
fn named(d: &Document, root: &str) -> Vec<String> {
    bundles(d).into_iter().filter_map(|(_, path, _)| paths::resolve(d.file(), path, root).ok()).collect()
}

/// Makes documents as meant of documents as found.
pub fn declare(documents: Vec<Document>, root: &str) -> (Vec<Document>, Diagnostics) {
    let mut found = Diagnostics::default();
    let documents = set_content_aside(documents, root, &mut found);
    let documents = join_skills(documents, root, &mut found);
    let mut out = Vec::with_capacity(documents.len());
    for d in documents {
        let mounts = if d.address.kind == Kind::Agent { mounts(&d, &mut found) } else { Vec::new() };
        out.push(d);
        out.extend(mounts);
    }
    (out, found)
}

/// A folder that a manifest names is content: documents in it are none.
fn set_content_aside(documents: Vec<Document>, root: &str, found: &mut Diagnostics) -> Vec<Document> {
    // Folder → the files of the documents that name it. A SKILL.md names its own folder.
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for d in &documents {
        for folder in named(d, root) {
            folders.entry(folder).or_default().insert(d.file().to_string());
        }
    }
    let mut told = BTreeSet::new();
    let mut aside = |d: &Document| -> bool {
        let file = d.file();
        let own = d.form == Form::Skill;
        let mut above: Option<(&str, &BTreeSet<String>)> = None;
        let mut folder = file.as_ref();
        while let Some((parent, _)) = folder.rsplit_once('/') {
            folder = parent;
            if let Some(by) = folders.get(folder) {
                let is_own_folder = own && file.strip_prefix(folder) == Some("/SKILL.md");
                if !is_own_folder {
                    above = Some((folder, by));
                }
            }
        }
        if above.is_none()
            && let Some(by) = folders.get(".")
            && !(own && &**file == "SKILL.md")
        {
            above = Some((".", by));
        }
        let Some((folder, by)) = above else { return false };
        if told.insert(file.clone()) {
            let itself = by.contains(&**file);
            let (code, message) = if itself {
                (&code::MANIFEST_IN_ITS_OWN, format!("this manifest names the folder it is in, `{folder}`"))
            } else {
                (&code::MANIFEST_IN_CONTENT, {
                    let by = by.first().map(String::as_str).unwrap_or_default();
                    format!("`{folder}` is content of `{by}`, so this declares nothing")
                })
            };
            found.push(Diagnostic::new(code, message).at(d.at.clone(), ""));
        }
        true
    };
    documents.into_iter().filter(|d| !aside(d)).collect()
}

/// A Skill document gives options to the folder it names.
fn join_skills(documents: Vec<Document>, root: &str, found: &mut Diagnostics) -> Vec<Document> {
    let mut by_document: BTreeSet<String> = BTreeSet::new();
    // A document without a right name does not take the folder's place: others refer to that by its name.
    let by = |d: &&Document| d.address.kind == Kind::Skill && d.form == Form::Yaml && !d.unnamed;
    for d in documents.iter().filter(by) {
        for folder in named(d, root) {
            let name = folder.rsplit('/').next().unwrap_or_default();
            if name != d.address.name {
                let message = format!("the document says `{}`, the folder `{name}`", d.address.name);
                let fix = format!("metadata: {{name: {name}}}");
                found.push(Diagnostic::new(&code::SKILL_NAME, message).at(d.at.clone(), "").fix(fix));
            }
            by_document.insert(folder);
        }
    }
    let joined = |d: &Document| d.form == Form::Skill && named(d, root).iter().any(|f| by_document.contains(f));
    documents.into_iter().filter(|d| !joined(d)).collect()
}

/// The short mounts of an agent as documents.
fn mounts(agent: &Document, found: &mut Diagnostics) -> Vec<Document> {
    let mut out = Vec::new();
    if !["memory", "files"].iter().any(|field| agent.spec.get(*field).is_some()) {
        return out;
    }
    let tree = agent.read_again();
    for (field, short, long, kind, target) in [
        ("memory", "store", "memory_store", Kind::MemoryMount, Kind::MemoryStore),
        ("files", "tree", "file_tree", Kind::FileTreeMount, Kind::FileTree),
    ] {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let written = list(agent.spec.get(field));
        if written.len() > MAX_SHORT {
            let message = format!("`{field}` has {} mounts; at most {MAX_SHORT} are allowed", written.len());
            found.push(Diagnostic::new(&kind_code::LIMIT, message).at(agent.locate(&format!("/{field}"), true), ""));
        }
        for (i, mount) in written.iter().take(MAX_SHORT).enumerate() {
            let pointer = format!("/{field}/{i}");
            let Some(mount) = mount.as_object() else { continue };
            let Some(reference) = mount.get(short) else { continue };
            let spec = long_form(agent, mount, short, long);
            let name = match Target::of(target, reference) {
                Some(Target::Own(a) | Target::Foreign(_, a)) => a.name,
                Some(Target::Id(..)) => {
                    let message = format!("an id has no name to make the address of a short {short} mount of");
                    let d = Diagnostic::new(&code::MOUNT_FORM, message).fix(document(kind, "NAME", &spec));
                    found.push(d.at(agent.locate(&pointer, false), ""));
                    continue;
                }
                None => continue,
            };
            let address = Address::new(kind, format!("{}.{name}", agent.address.name));
            if let Some(first) = seen.get(&name) {
                let message = format!("`{name}` is mounted twice; give one of the mounts a name of its own");
                let d = Diagnostic::new(&code::MOUNT_TWICE, message)
                    .at(agent.locate(&format!("{pointer}/{short}"), false), "again here")
                    .at(agent.locate(&format!("{first}/{short}"), false), "first here")
                    .fix(document(kind, &format!("{}-{name}-2", agent.address.name), &spec));
                found.push(d);
                continue;
            }
            seen.insert(name, pointer.clone());
            out.push(agent.inline(tree.as_ref(), address, pointer, spec));
        }
    }
    out
}

fn long_form(agent: &Document, mount: &Map<String, Value>, short: &str, long: &str) -> Value {
    let mut spec = Map::new();
    spec.insert("agent".to_owned(), Value::String(agent.address.name.clone()));
    for (key, value) in mount {
        let key = match key.as_str() {
            k if k == short => long,
            "at" => "mount_path",
            k => k,
        };
        spec.insert(key.to_owned(), value.clone());
    }
    Value::Object(spec)
}

/// A document to paste.
fn document(kind: Kind, name: &str, spec: &Value) -> String {
    let head = json!({"apiVersion": "checkfu.com/v1", "kind": kind.as_str(), "metadata": {"name": name}, "spec": spec});
    emit(&head).trim_end().to_owned()
}

/// Two documents of one address: told with both places, the first one kept.
pub(super) fn unique(documents: &[Document], found: &mut Diagnostics) -> BTreeMap<Address, usize> {
    let mut first: BTreeMap<Address, usize> = BTreeMap::new();
    for (i, d) in documents.iter().enumerate() {
        match first.get(&d.address) {
            None => {
                first.insert(d.address.clone(), i);
            }
            // A guessed name clashes with nothing.
            Some(before) if d.unnamed || documents[*before].unnamed => {}
            Some(before) => {
                let message = format!("{} is declared twice", d.address);
                let d = Diagnostic::new(&codes::desired::DUPLICATE, message)
                    .at(d.at.clone(), "again here")
                    .at(documents[*before].at.clone(), "first here")
                    .severity(Severity::Error)
                    .rule("unique-names");
                found.push(d);
            }
        }
    }
    first
}
