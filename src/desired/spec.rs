//! One document to its canonical form: texts joined, folders as digests, own skills pinned to their content.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::desired::needs::{Bundle, bundles, file_of, list, parts};
use crate::desired::paths;
use crate::desired::set::{TextPart, WantedFile};
use crate::diag::codes::bundle::CASE_TWIN;
use crate::diag::codes::kind as kind_code;
use crate::diag::{Diagnostic, Diagnostics, Location};
use crate::manifest::Document;
use crate::model::kinds::{self, is_under, memory_store};
use crate::model::tree::{self, FileSet};
use crate::model::{Digest, Kind};

/// Memories of a store.
const MAX_MEMORIES: usize = 10_000;
/// Bytes of a memory's path.
const MAX_PATH: usize = 1_024;

/// What the caller read, and what the project declares.
pub(super) struct Read<'a> {
    pub(super) root: &'a str,
    pub(super) texts: &'a BTreeMap<String, Arc<str>>,
    pub(super) bundles: &'a BTreeMap<Bundle, (FileSet, String)>,
    /// Content of own skills by name.
    pub(super) skills: &'a BTreeMap<String, Digest>,
}

/// A canonical form with what belongs to it.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) spec: Value,
    pub(super) instructions: Vec<TextPart>,
    pub(super) content: Option<(FileSet, String)>,
    pub(super) memories: BTreeMap<String, WantedFile>,
    /// Memories that are written once.
    pub(super) seeds: Vec<String>,
    /// Places that lie in files other than the document's.
    pub(super) places: BTreeMap<String, Location>,
}

impl Read<'_> {
    /// The set of files of a document's bundle, once it was read.
    fn set(&self, d: &Document, path: &str, bundle: Bundle) -> Option<&(FileSet, String)> {
        let path = paths::resolve(d.file(), path, self.root).ok()?;
        self.bundles.get(&Bundle { path, ..bundle })
    }

    /// Makes the canonical form. A prompt that is one text moves into it; all else of the document stays.
    pub(super) fn build(&self, d: &mut Document, found: &mut Diagnostics) -> Built {
        let mut built = Built::default();
        let prompt = prompt(d);
        let d = &*d;
        let mut spec = d.spec.as_object().cloned().unwrap_or_default();
        if let Some(prompt) = prompt {
            let part = [(written_at(d), prompt)];
            built.instructions = places_of(&part);
            let [(_, prompt)] = part;
            spec.insert("instructions".to_owned(), Value::String(prompt));
        }
        match d.address.kind {
            Kind::Agent => self.agent(d, &mut spec, &mut built, found),
            Kind::Skill | Kind::FileTree => self.content(d, &mut spec, &mut built),
            Kind::MemoryStore => self.store(d, &mut spec, &mut built, found),
            Kind::Environment | Kind::MemoryMount | Kind::FileTreeMount => {}
        }
        built.spec = (kinds::def(d.address.kind).canonical)(&d.address.name, Value::Object(spec), &d.labels);
        built
    }

    fn agent(&self, d: &Document, spec: &mut Map<String, Value>, built: &mut Built, found: &mut Diagnostics) {
        for short in ["memory", "files", "preamble"] {
            spec.remove(short);
        }
        let parts = parts(d);
        if parts.iter().any(|(_, part)| !part.is_null()) {
            let files: Vec<&str> = parts.iter().filter_map(|(p, v)| file_of(p, v)).collect();
            if let [only] = files.as_slice()
                && parts.len() == 1
                && let Ok(path) = paths::resolve(d.file(), only, self.root)
            {
                built.places.insert("instructions".to_owned(), Location::file(path));
            }
            let texts: Vec<(Location, String)> = parts.iter().filter_map(|(p, v)| self.text(d, p, v)).collect();
            built.instructions = places_of(&texts);
            let text = texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(BETWEEN);
            if !files.is_empty() {
                too_long(d, &text, found);
            }
            spec.insert("instructions".to_owned(), Value::String(text));
        }
        if let Some(Value::Array(skills)) = spec.get_mut("skills") {
            for entry in skills {
                self.pin(entry);
            }
        }
    }

    /// A part of instructions as text. What is written out stays as it is; a file is without the line ends at its
    /// end, so that joining leaves one blank line.
    fn text(&self, d: &Document, pointer: &str, part: &Value) -> Option<(Location, String)> {
        match file_of(pointer, part) {
            None => {
                let text = part.as_str()?.to_owned();
                let at = if pointer == "/instructions" { written_at(d) } else { d.locate(pointer, false) };
                Some((at, text))
            }
            Some(file) => {
                let path = paths::resolve(d.file(), file, self.root).ok()?;
                let text = self.texts.get(&path)?.trim_start_matches('\u{feff}');
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                Some((Location::file(path), text))
            }
        }
    }

    /// An own skill without a choice of version is pinned to the content that this project publishes.
    fn pin(&self, entry: &mut Value) {
        let name = match &*entry {
            Value::String(name) => name,
            Value::Object(map) if map.len() == 1 => match map.get("skill") {
                Some(Value::String(name)) => name,
                _ => return,
            },
            _ => return,
        };
        if let Some(content) = self.skills.get(name) {
            *entry = json!({"skill": name, "content": content.to_string()});
        }
    }

    fn content(&self, d: &Document, spec: &mut Map<String, Value>, built: &mut Built) {
        let Some((_, path, bundle)) = bundles(d).into_iter().next() else { return };
        let Some((set, folder)) = self.set(d, path, bundle) else { return };
        spec.insert("content".to_owned(), Value::String(set.digest.to_string()));
        let shown = match d.address.kind {
            Kind::Skill => inside(folder, "SKILL.md"),
            _ => set.entries.first().map_or_else(|| folder.clone(), |e| inside(folder, &e.path)),
        };
        built.places.insert("content".to_owned(), Location::file(shown));
        built.content = Some((set.clone(), folder.clone()));
    }

    fn store(&self, d: &Document, spec: &mut Map<String, Value>, built: &mut Built, found: &mut Diagnostics) {
        let Some(Value::Array(entries)) = spec.remove("contents") else { return };
        let mut modes = Vec::new();
        built.places.insert("modes".to_owned(), d.locate("/contents", true));
        for (i, entry) in entries.iter().enumerate() {
            let at = entry.get("at").cloned().unwrap_or_default();
            let place = format!("modes[{}].mode", at.as_str().unwrap_or_default());
            built.places.insert(place, d.locate(&format!("/contents/{i}/mode"), false));
            let mode = entry.get("mode").cloned().unwrap_or_else(|| json!("upkeep"));
            modes.push(json!({"at": at, "mode": mode}));
        }
        for ((pointer, path, bundle), i) in bundles(d).into_iter().map(|b| (b.0.clone(), b)).map(|(p, b)| {
            let i = p.split('/').nth(2).and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
            (b, i)
        }) {
            let Some((set, folder)) = self.set(d, path, bundle) else { continue };
            let (Some(at), mode) = (modes[i]["at"].as_str(), modes[i]["mode"].as_str()) else { continue };
            for e in &set.entries {
                let memory = format!("{}/{}", at.trim_end_matches('/'), e.path);
                let file = WantedFile { file: inside(folder, &e.path), sha256: e.sha256, size: e.size };
                if let Some(why) = bad_memory(&memory) {
                    let message = format!("the memory `{memory}` of `{}` {why}", file.file);
                    found.push(Diagnostic::new(&kind_code::LIMIT, message).at(d.locate(&pointer, false), ""));
                }
                if mode == Some("seed") {
                    built.seeds.push(format!("contents.{memory}"));
                }
                built.memories.insert(memory, file);
            }
        }
        // What is within one folder was told when that was read.
        let paths: Vec<&str> = built.memories.keys().map(String::as_str).collect();
        for twins in tree::twins(paths.iter().copied()) {
            let at = |entry: &Value| entry["at"].as_str().is_some_and(|at| is_under(paths[twins.number], at));
            let pointer = modes.iter().position(at).map_or("/contents".to_owned(), |i| format!("/contents/{i}/at"));
            found.push(Diagnostic::new(&CASE_TWIN, twins.to_string()).at(d.locate(&pointer, false), ""));
        }
        if built.memories.len() > MAX_MEMORIES {
            let message = format!("the store has {} memories, more than {MAX_MEMORIES}", built.memories.len());
            found.push(Diagnostic::new(&kind_code::LIMIT, message).at(d.locate("/contents", true), ""));
        }
        let contents: Map<String, Value> =
            built.memories.iter().map(|(path, f)| (path.clone(), Value::String(f.sha256.to_string()))).collect();
        spec.insert("contents".to_owned(), Value::Object(contents));
        spec.insert("modes".to_owned(), Value::Array(modes));
    }
}

/// Where instructions that are one text are: the place of the field; no document is read again for that.
fn written_at(d: &Document) -> Location {
    d.place("instructions").unwrap_or_else(|| d.locate("/instructions", false))
}

/// What stands between two parts of instructions: a blank line.
const BETWEEN: &str = "\n\n";

/// Where the parts of a joined text are in it, and where they are written.
fn places_of(texts: &[(Location, String)]) -> Vec<TextPart> {
    let mut line = 0;
    texts
        .iter()
        .map(|(at, text)| {
            let lines = 1 + text.bytes().enumerate().filter(|(i, b)| ends_line(text.as_bytes(), *i, *b)).count();
            // A whole file has no range. Of another place the text is as it stands there if it is as long: quotes
            // and indents would make a difference.
            let verbatim = at.end == 0 || at.end - at.start == text.len();
            let part = TextPart { line, lines, at: at.clone(), verbatim };
            line += lines + BETWEEN.len() - 1;
            part
        })
        .collect()
}

/// Does a line end at this byte? CRLF is one line end, a lone CR one too.
fn ends_line(text: &[u8], at: usize, byte: u8) -> bool {
    byte == b'\n' || (byte == b'\r' && text.get(at + 1) != Some(&b'\n'))
}

fn bad_memory(path: &str) -> Option<&'static str> {
    if path.len() > MAX_PATH {
        Some("has a path of more than 1,024 bytes")
    } else if path.split('/').filter(|s| !s.is_empty()).count() > memory_store::MAX_SEGMENTS {
        Some("has a path of more than 20 segments")
    } else {
        None
    }
}

/// The length of instructions is known once their files are read.
fn too_long(d: &Document, text: &str, found: &mut Diagnostics) {
    let joined = json!({ "instructions": text });
    for p in (kinds::def(Kind::Agent).check)(&joined) {
        if p.pointer == "/instructions" {
            let mut out = Diagnostic::new(p.code, p.message).at(d.locate("/instructions", true), "");
            out.fix = p.fix;
            found.push(out);
        }
    }
}

/// Takes the instructions of an agent that are one text, written out.
fn prompt(d: &mut Document) -> Option<String> {
    if d.address.kind != Kind::Agent || is_given(d.spec.get("preamble")) {
        return None;
    }
    match d.spec.get_mut("instructions").filter(|v| v.is_string()).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// A path inside of a project folder.
pub(super) fn inside(folder: &str, path: &str) -> String {
    if folder == "." { path.to_owned() } else { format!("{folder}/{path}") }
}

/// The skills a document names as this project publishes them.
pub(super) fn own_content(read: &Read<'_>, documents: &[Document]) -> BTreeMap<String, Digest> {
    let skills = documents.iter().filter(|d| d.address.kind == Kind::Skill);
    skills
        .filter_map(|d| {
            let (_, path, bundle) = bundles(d).into_iter().next()?;
            Some((d.address.name.clone(), read.set(d, path, bundle)?.0.digest))
        })
        .collect()
}

/// Is anything of a list given?
pub(super) fn is_given(value: Option<&Value>) -> bool {
    !list(value).is_empty()
}
