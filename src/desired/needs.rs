//! Which texts and folders the documents name. Reading them is the caller's.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::desired::paths::{self, PathProblem};
use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics, Location};
use crate::manifest::Document;
use crate::model::Kind;

/// What a set of files is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// A skill.
    Skill,
    /// An uploaded tree.
    Tree,
    /// A folder of memories.
    Memory,
}

/// A set of files that a document names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bundle {
    /// Relative to the project folder.
    pub path: String,
    /// Globs, relative to `path`; empty = all.
    pub include: Vec<String>,
    /// Globs, relative to `path`.
    pub exclude: Vec<String>,
    /// Keep symbolic links that stay inside.
    pub keep_symlinks: bool,
    /// What it is for.
    pub purpose: Purpose,
}

/// Where something is named first: the document's number and the pointer into its spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Number of the document.
    pub document: usize,
    /// Pointer into its spec.
    pub pointer: String,
}

impl Use {
    /// The place.
    pub fn locate(&self, documents: &[Document]) -> Option<Location> {
        documents.get(self.document).map(|d| d.locate(&self.pointer, false))
    }
}

/// Everything that must be read.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// Text files by path.
    pub texts: BTreeMap<String, Use>,
    /// Sets of files.
    pub bundles: BTreeMap<Bundle, Use>,
}

/// What the documents name, and the paths that may not be named. `root` is that of the configuration.
pub fn needs(documents: &[Document], root: &str) -> (Needs, Diagnostics) {
    let (mut out, mut found) = (Needs::default(), Diagnostics::default());
    for (i, d) in documents.iter().enumerate() {
        for (pointer, path) in texts(d) {
            if let Some(path) = checked(d, &pointer, path, root, &mut found) {
                out.texts.entry(path).or_insert(Use { document: i, pointer });
            }
        }
        for (pointer, path, bundle) in bundles(d) {
            if let Some(path) = checked(d, &pointer, path, root, &mut found) {
                out.bundles.entry(Bundle { path, ..bundle }).or_insert(Use { document: i, pointer });
            }
        }
    }
    (out, found)
}

fn checked(d: &Document, pointer: &str, path: &str, root: &str, found: &mut Diagnostics) -> Option<String> {
    let (code, message) = match paths::resolve(d.file(), path, root) {
        Ok(path) => return Some(path),
        Err(PathProblem::Absolute) => (&code::PATH_ABSOLUTE, format!("`{path}` is an absolute path")),
        Err(PathProblem::Outside) => (&code::PATH_OUTSIDE, format!("`{path}` leaves the root `{root}`")),
    };
    found.push(Diagnostic::new(code, message).at(d.locate(pointer, false), ""));
    None
}

/// The parts of an agent's instructions, preamble first, with their pointers.
pub(super) fn parts(d: &Document) -> Vec<(String, &Value)> {
    let mut out = Vec::new();
    if d.address.kind != Kind::Agent {
        return out;
    }
    for (i, path) in list(d.spec.get("preamble")).iter().enumerate() {
        out.push((format!("/preamble/{i}"), path));
    }
    match d.spec.get("instructions") {
        Some(Value::Array(items)) => {
            out.extend(items.iter().enumerate().map(|(i, v)| (format!("/instructions/{i}"), v)));
        }
        Some(one) => out.push(("/instructions".to_owned(), one)),
        None => {}
    }
    out
}

/// The file that a part of instructions is in, if it is not written out.
pub(super) fn file_of<'a>(pointer: &str, part: &'a Value) -> Option<&'a str> {
    if pointer.starts_with("/preamble") { part.as_str() } else { part.get("file").and_then(Value::as_str) }
}

fn texts(d: &Document) -> Vec<(String, &str)> {
    parts(d)
        .into_iter()
        .filter_map(|(pointer, part)| {
            let file = file_of(&pointer, part)?;
            let pointer = if part.is_object() { format!("{pointer}/file") } else { pointer };
            Some((pointer, file))
        })
        .collect()
}

/// The folders that a document names: pointer, path as written, and how it is read.
pub(super) fn bundles(d: &Document) -> Vec<(String, &str, Bundle)> {
    let plain = |purpose| Bundle {
        path: String::new(),
        include: Vec::new(),
        exclude: Vec::new(),
        keep_symlinks: false,
        purpose,
    };
    let source = d.spec.get("source");
    let path = source.and_then(|s| s.get("path")).and_then(Value::as_str);
    let at = || "/source/path".to_owned();
    match (d.address.kind, path) {
        (Kind::Skill, Some(path)) => vec![(at(), path, plain(Purpose::Skill))],
        (Kind::FileTree, Some(path)) => {
            let globs = |key: &str| {
                let list = list(source.and_then(|s| s.get(key)));
                list.iter().filter_map(|g| g.as_str().map(str::to_owned)).collect()
            };
            let links = source.and_then(|s| s.get("symlinks")).and_then(Value::as_str) == Some("keep");
            let bundle = Bundle {
                include: globs("include"),
                exclude: globs("exclude"),
                keep_symlinks: links,
                ..plain(Purpose::Tree)
            };
            vec![(at(), path, bundle)]
        }
        (Kind::MemoryStore, _) => list(d.spec.get("contents"))
            .iter()
            .enumerate()
            .filter_map(|(i, c)| {
                let path = c.get("path")?.as_str()?;
                Some((format!("/contents/{i}/path"), path, plain(Purpose::Memory)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
