//! Single looks at a project's files, for commands that write some: what a folder holds, where a store's memories are.

use std::path::Path;

use serde_json::Value;

use super::Loaded;
use crate::bundle::{BundleWant, Project, Purpose};
use crate::control::{BlobError, Blobs as _};
use crate::desired::paths;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, codes};
use crate::manifest::{self, Form};
use crate::model::Address;
use crate::model::tree::Entry;
use crate::pull::Prefix;

/// The files of a folder that are content, relative to the project folder. None of a folder that cannot be read.
pub fn content_of(loaded: &Loaded, folder: &str) -> Vec<String> {
    let want = BundleWant { keep_symlinks: true, ..BundleWant::new(folder.to_owned(), Purpose::Tree) };
    let (set, ..) = loaded.project.files(&want);
    set.into_iter().flat_map(|s| s.entries).map(|e| format!("{folder}/{}", e.path)).collect()
}

/// The entries of `contents` of a store that a YAML file of the project declares.
pub fn store_prefixes(loaded: &Loaded, store: &Address, file: &str) -> Vec<Prefix> {
    let Ok(text) = loaded.project.read_text(file) else { return Vec::new() };
    let parsed = manifest::parse(Form::Yaml, &LineIndex::new(file, text));
    let Some(document) = parsed.documents.iter().find(|d| d.address == *store) else { return Vec::new() };
    let entries = document.spec.get("contents").and_then(Value::as_array);
    let one = |entry: &Value| {
        let at = entry.get("at")?.as_str()?.to_owned();
        let path = entry.get("path").and_then(Value::as_str);
        let folder = path.and_then(|p| paths::resolve(file, p, &loaded.config.root).ok());
        Some(Prefix { at, folder })
    };
    entries.into_iter().flatten().filter_map(one).collect()
}

/// The files of a skill's folder anywhere, with their bytes.
///
/// # Errors
/// Everything that keeps the folder from being read as a skill's.
pub fn folder_files(dir: &Path, folder: &str) -> Result<Vec<(Entry, Vec<u8>)>, Diagnostics> {
    let wrong = |message: String| Diagnostics(vec![Diagnostic::new(&codes::cli::READ, message)]);
    let project = Project::open(dir, ".", None).map_err(|e| wrong(crate::diag::chain::Chain(&e).to_string()))?;
    let (set, _, found) = project.files(&BundleWant::new(folder.to_owned(), Purpose::Skill));
    let Some(set) = set else { return Err(found) };
    let open = |entry: Entry| -> Result<(Entry, Vec<u8>), BlobError> {
        let bytes = project.open(&format!("{folder}/{}", entry.path), &entry.sha256)?;
        Ok((entry, bytes))
    };
    let read: Result<Vec<_>, BlobError> = set.entries.into_iter().map(open).collect();
    read.map_err(|e| wrong(e.to_string()))
}
