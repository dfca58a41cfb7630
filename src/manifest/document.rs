//! A document: one declared resource, as it was written, with the way back to its bytes.
//!
//! The tree of spans is not kept: a project has thousands of documents and few errors. A place is found by
//! reading the document's bytes again, once for all places of a document.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::Value;

use crate::diag::{LineIndex, Location};
use crate::manifest::yaml::{self, Node};
use crate::model::Address;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A YAML file of manifests.
    Yaml,
    /// An agent: front matter is its spec, the text its instructions.
    AgentMarkdown,
    /// A `SKILL.md`.
    Skill,
    /// `checkfu.yaml`.
    Config,
}

/// One declared resource.
#[derive(Debug, Clone)]
pub struct Document {
    /// Kind and `metadata.name`.
    pub address: Address,
    /// How it is written.
    pub form: Form,
    /// `spec` as JSON, as authored: `{file: …}` and short forms are still in it.
    pub spec: Value,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.fields`: the modes of fields, by path (`spec.description`).
    pub fields: BTreeMap<String, FieldMode>,
    /// Where it is declared.
    pub at: Location,
    /// The top-level fields of `spec` and `labels.KEY`, and where they are written.
    pub places: BTreeMap<String, Range<usize>>,
    /// Errors were found in it. What of it is well-formed is still checked.
    pub broken: bool,
    /// Its name is none: the address is a guess, made so that the rest can be checked.
    pub unnamed: bool,
    pub(crate) source: Source,
}

/// The way back from a pointer into `spec` to the bytes.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) index: Arc<LineIndex>,
    /// The bytes that hold the YAML.
    pub(crate) range: Range<usize>,
    /// The text below the front matter, if there is one that counts.
    pub(crate) prose: Option<Range<usize>>,
    /// Texts of `preamble` before it.
    pub(crate) preamble: usize,
    /// For an inline mount: the pointer to it in the agent's spec.
    pub(crate) inline: Option<String>,
    /// The tree, once it was read again; an agent shares it with its inline mounts.
    pub(crate) tree: Arc<OnceLock<Option<Node>>>,
}

/// Who decides about a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The file. The default.
    Own,
    /// The file at create, then nobody here.
    Seed,
    /// Nobody here.
    Ignore,
}

/// An entry of `metadata.fields`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FieldMode {
    /// Who decides.
    pub mode: Mode,
    /// Why; needed for `ignore`.
    pub reason: Option<String>,
    /// The day from which the file decides again.
    pub until: Option<String>,
}

impl Document {
    /// The project-relative path of the file it is in.
    pub fn file(&self) -> &Arc<str> {
        self.source.index.file()
    }

    /// Where a JSON pointer into `spec` leads; the nearest thing around it that is written, if it leads nowhere.
    pub fn locate(&self, pointer: &str, key: bool) -> Location {
        match self.prose_at(pointer) {
            Some(prose) => self.source.index.locate(prose),
            None => self.locate_in(self.tree(), &self.written(pointer), key),
        }
    }

    /// Where a pointer into `metadata` leads (`/labels/team`).
    pub fn locate_metadata(&self, pointer: &str, key: bool) -> Location {
        let pointer = if self.form == Form::Yaml { format!("/metadata{pointer}") } else { pointer.to_owned() };
        self.locate_in(self.tree(), &pointer, key)
    }

    /// The place of a canonical field (`instructions`, `labels.team`), if it is written.
    pub fn place(&self, field: &str) -> Option<Location> {
        self.places.get(field).map(|range| self.source.index.locate(range.clone()))
    }

    /// A short mount of this agent as a document of its own; `pointer` leads to it in this one's spec. `tree` is
    /// what [`Document::read_again`] gave.
    pub(crate) fn inline(&self, tree: Option<&Node>, address: Address, pointer: String, spec: Value) -> Document {
        let at = self.locate_in(tree, &self.written(&pointer), false);
        let mut source = self.source.clone();
        source.prose = None;
        source.inline = Some(pointer);
        Document {
            address,
            form: self.form,
            spec,
            labels: BTreeMap::new(),
            fields: BTreeMap::new(),
            at,
            places: BTreeMap::new(),
            broken: self.broken,
            unnamed: self.unnamed,
            source,
        }
    }

    fn prose_at(&self, pointer: &str) -> Option<Range<usize>> {
        let prose = self.source.prose.clone()?;
        let rest = pointer.strip_prefix("/instructions")?;
        let item = rest.strip_prefix('/').map(|n| n.split('/').next().and_then(|n| n.parse::<usize>().ok()));
        match item {
            Some(Some(n)) if n < self.source.preamble => None,
            _ => Some(prose),
        }
    }

    /// A pointer into the spec as a pointer into what is written.
    fn written(&self, pointer: &str) -> String {
        if let Some(inline) = &self.source.inline {
            let mut steps = pointer.splitn(3, '/').skip(1);
            let short = match steps.next() {
                Some("memory_store") => "/store",
                Some("file_tree") => "/tree",
                Some("mount_path") => "/at",
                None | Some("agent") => "",
                Some(other) => return format!("{inline}/{other}{}", rest(steps.next())),
            };
            return format!("{inline}{short}{}", rest(steps.next()));
        }
        match (self.form, pointer.strip_prefix("/instructions/")) {
            (Form::AgentMarkdown, Some(item)) if self.source.preamble > 0 => {
                format!("/preamble/{}", item.split('/').next().unwrap_or_default())
            }
            (Form::Yaml, _) => format!("/spec{pointer}"),
            _ => pointer.to_owned(),
        }
    }

    fn locate_in(&self, tree: Option<&Node>, pointer: &str, key: bool) -> Location {
        let pointer = match (&self.source.inline, self.form) {
            (Some(_), Form::Yaml) => format!("/spec{pointer}"),
            _ => pointer.to_owned(),
        };
        let range = tree.and_then(|root| nearest(root, &pointer, key));
        range.map_or_else(|| self.at.clone(), |range| self.source.index.locate(range))
    }

    fn tree(&self) -> Option<&Node> {
        self.source.tree.get_or_init(|| self.read_again()).as_ref()
    }

    /// The tree, read anew and not kept: for places that are asked for of documents without errors too.
    pub(crate) fn read_again(&self) -> Option<Node> {
        let mut root = yaml::documents(&self.source.index, self.source.range.clone()).next()?.root?;
        crate::manifest::agent::rename_system(&mut root, self.form);
        Some(root)
    }
}

fn rest(steps: Option<&str>) -> String {
    steps.map(|s| format!("/{s}")).unwrap_or_default()
}

/// Where a pointer leads, or the nearest thing above it that is written. A collection is shown by its key.
pub(crate) fn nearest(root: &Node, pointer: &str, key: bool) -> Option<Range<usize>> {
    let mut pointer = pointer;
    let mut missed = false;
    loop {
        if let Some((k, node)) = root.find(pointer) {
            let large = matches!(node.get(), yaml::Kind::Map(_) | yaml::Kind::Seq(_));
            let by_key = key || missed || large;
            return Some(match k {
                Some(k) if by_key => k.span.clone(),
                _ if large => first_line(node.place()),
                _ => node.place(),
            });
        }
        missed = true;
        pointer = &pointer[..pointer.rfind('/')?];
    }
}

/// A collection without a key is shown by its first byte.
fn first_line(range: Range<usize>) -> Range<usize> {
    range.start..(range.start + 1).min(range.end.max(range.start))
}
