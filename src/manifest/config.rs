//! `checkfu.yaml`: the configuration of a project, typed, with the places of its lines.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Location};
use crate::manifest::check::{Checked, Scalars};
use crate::manifest::stream::API_VERSION;
use crate::manifest::yaml::{self, Kind as Yaml, Node, escape};
use crate::manifest::{schema, text};
use crate::model::config::Config;

/// The configuration and where its values are written.
#[derive(Debug, Clone)]
pub struct ConfigDocument {
    /// The values, defaults filled in.
    pub config: Config,
    places: BTreeMap<String, Range<usize>>,
    index: LineIndex,
}

impl ConfigDocument {
    /// Where a JSON pointer leads (`/removed/0/address`); the nearest thing around it that is written.
    pub fn locate(&self, pointer: &str) -> Location {
        let mut pointer = pointer;
        loop {
            match (self.places.get(pointer), pointer.rfind('/')) {
                (Some(range), _) => return self.index.locate(range.clone()),
                (None, Some(cut)) => pointer = &pointer[..cut],
                (None, None) => return Location::file(self.index.file().clone()),
            }
        }
    }

    /// As [`ConfigDocument::locate`], for what is written and no default.
    pub fn written(&self, pointer: &str) -> Option<Location> {
        self.places.get(pointer).map(|range| self.index.locate(range.clone()))
    }
}

/// Reads `checkfu.yaml`. Nothing is returned if an error leaves nothing to go on with.
pub fn config(index: &LineIndex) -> (Option<ConfigDocument>, Diagnostics) {
    let mut found = Diagnostics::default();
    let Some(start) = text::check(index, &mut found) else { return (None, found) };
    let mut documents = yaml::documents(index, start..index.text().len());
    for doc in documents.by_ref() {
        let Some(root) = doc.root else {
            // Perhaps the configuration: nothing can be said of the project without it.
            found.extend(doc.diagnostics);
            return (None, found);
        };
        if root.value("kind").and_then(Node::as_str) == Some("Config") {
            found.extend(doc.diagnostics);
            let config = read(index, &root, &mut found);
            only_one(index, &root, documents, &mut found);
            return (config, found);
        }
        if root.value("authoring_owner").is_some() || root.value("apiVersion").is_none() {
            found.extend(doc.diagnostics);
            break;
        }
    }
    let d = Diagnostic::new(&code::CONFIG_MISSING, "no document of kind Config in this file");
    let fix = format!("apiVersion: {API_VERSION}\nkind: Config\nauthoring_owner: …");
    found.push(d.at(index.locate(start..start), "").fix(fix));
    (None, found)
}

fn only_one(index: &LineIndex, first: &Node, rest: impl Iterator<Item = yaml::Doc>, found: &mut Diagnostics) {
    let at = |root: &Node| index.locate(root.value("kind").map_or(root.span.clone(), Node::place));
    for root in rest.filter_map(|doc| doc.root) {
        if root.value("kind").and_then(Node::as_str) == Some("Config") {
            let d = Diagnostic::new(&code::CONFIG_TWICE, "this project has a Config already");
            found.push(d.at(at(&root), "again here").at(at(first), "first here"));
        }
    }
}

/// Lists whose lines are taken out one by one, once they are done. What stays when the last one goes is null, and
/// means none.
const LINES: [&str; 5] = ["moved", "removed", "adopt", "accept", "allow_secret_names"];

fn read(index: &LineIndex, root: &Node, found: &mut Diagnostics) -> Option<ConfigDocument> {
    let mut json = root.to_json();
    if let Some(map) = json.as_object_mut() {
        map.retain(|key, value| !(value.is_null() && LINES.contains(&key.as_str())));
    }
    let mut checked = Checked { index, root, json };
    let mut findings = checked.against(schema::of_config(), Scalars::Quoted);
    if version_is_wrong(root) {
        findings.retain(|f| f.pointer != "/apiVersion");
        let message = match root.value("apiVersion") {
            Some(v) => format!("{} is not a version that checkfu reads", v.to_json()),
            None => "the key `apiVersion` is missing".to_owned(),
        };
        findings.retain(|f| f.fix.as_deref() != Some("apiVersion: …"));
        let d = Diagnostic::new(&code::API_VERSION, message).fix(format!("apiVersion: {API_VERSION}"));
        found.push(checked.at(d, "/apiVersion", false));
    }
    checked.report(findings, Vec::new(), "", found);
    match serde_path_to_error::deserialize::<_, Config>(&checked.json) {
        Ok(config) => {
            let mut places = BTreeMap::new();
            collect(root, "", &mut places);
            Some(ConfigDocument { config, places, index: index.clone() })
        }
        Err(error) => {
            // Addresses, owners and digests are texts to the schema; their form is known to their types alone.
            if !found.has_errors() {
                let pointer = pointer_of(error.path());
                let d = Diagnostic::new(&code::WRONG_VALUE, error.inner().to_string());
                found.push(checked.at(d, &pointer, false));
            }
            None
        }
    }
}

fn version_is_wrong(root: &Node) -> bool {
    root.value("apiVersion").and_then(Node::as_str) != Some(API_VERSION)
}

fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", escape(key)),
            Segment::Enum { .. } | Segment::Unknown => String::new(),
        })
        .collect()
}

fn collect(node: &Node, pointer: &str, places: &mut BTreeMap<String, Range<usize>>) {
    match node.get() {
        Yaml::Map(entries) => {
            for (k, v) in entries {
                let pointer = format!("{pointer}/{}", escape(&k.text));
                let large = matches!(v.get(), Yaml::Map(_) | Yaml::Seq(_));
                places.insert(pointer.clone(), if large { k.span.clone() } else { v.place() });
                collect(v, &pointer, places);
            }
        }
        Yaml::Seq(items) => {
            for (i, v) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{i}");
                places.insert(pointer.clone(), v.place());
                collect(v, &pointer, places);
            }
        }
        _ => {}
    }
}
