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
    text::check_marks(index, start..index.text().len(), &mut found);
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
/// means none; their types say so to the schema.
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
    // Without the keys that nobody knows there is still a configuration, and all else is read and told as well.
    let mut known = checked.json.clone();
    for finding in findings.iter().filter(|f| f.code.code == code::UNKNOWN_KEY.code) {
        let holder = known.pointer_mut(&finding.pointer).and_then(serde_json::Value::as_object_mut);
        holder.zip(finding.key.as_ref()).map(|(map, key)| map.remove(key));
    }
    checked.report(findings, Vec::new(), "", found);
    match serde_path_to_error::deserialize::<_, Config>(&known) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A configuration with every key that may be left out, and no null.
    fn whole() -> Value {
        json!({
            "apiVersion": API_VERSION, "kind": "Config", "authoring_owner": "acme/x", "requires": ">=0.1",
            "root": ".", "default_target": "a",
            "discover": {"manifests": ["*.yaml"], "agents": ["a/*"], "skills": ["s/*"], "exclude": ["x"]},
            "targets": {"a": {"kind": "embedded", "path": "a.db"},
                "b": {"kind": "checkfu", "url": "https://x", "token": {"env": "T"}}},
            "policy": {"max_retire": 1, "max_retire_percent": 1, "on_drift": "hold", "outside_writes": "refuse",
                "protect": ["Agent/*"]},
            "moved": [{"from": "Agent/a", "to": "Agent/b"}],
            "removed": [{"address": "Agent/c", "to": "acme/y", "keep": false}],
            "adopt": [{"address": "Agent/d", "target": "a", "id": "agent_1"}],
            "accept": [{"address": "Agent/e", "live": format!("sha256:{}", "0".repeat(64)), "take": "file",
                "reason": "r"}],
            "allow_secret_names": ["s"],
        })
    }

    /// Where every value is, by JSON pointer.
    fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
        let below: Vec<(String, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(k, v)| (format!("{at}/{k}"), v)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(i, v)| (format!("{at}/{i}"), v)).collect(),
            _ => Vec::new(),
        };
        for (pointer, value) in below {
            out.push(pointer.clone());
            pointers(value, &pointer, out);
        }
    }

    /// Does the parser take it, and does the published schema?
    fn taken(value: &Value) -> (bool, bool) {
        let text = value.to_string();
        let (document, found) = config(&LineIndex::new("checkfu.yaml", text.as_str()));
        let schema = jsonschema::draft202012::new(&schemars::schema_for!(Config).to_value()).unwrap();
        (document.is_some() && !found.has_errors(), schema.is_valid(value))
    }

    #[test]
    fn schema_and_parser_agree_on_what_is_null_or_left_out() {
        let whole = whole();
        assert_eq!(taken(&whole), (true, true));
        let mut at = Vec::new();
        pointers(&whole, "", &mut at);
        let mut nulls = Vec::new();
        for pointer in at {
            let mut null = whole.clone();
            *null.pointer_mut(&pointer).unwrap() = Value::Null;
            let (parser, schema) = taken(&null);
            assert_eq!(parser, schema, "{pointer}: null");
            nulls.extend(parser.then(|| pointer.clone()));
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let mut without = whole.clone();
            if let Some(map) = without.pointer_mut(parent).and_then(Value::as_object_mut) {
                map.remove(key);
                let (parser, schema) = taken(&without);
                assert_eq!(parser, schema, "{pointer}: left out");
            }
        }
        nulls.sort();
        let mut lines = LINES.map(|key| format!("/{key}"));
        lines.sort();
        assert_eq!(nulls, lines);
    }

    #[test]
    fn every_key_of_the_schema_is_in_the_example() {
        let schema = schemars::schema_for!(Config).to_value();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let whole = whole();
        assert!(names.iter().all(|n| whole.get(n.as_str()).is_some()), "{names:?}");
        for of in ["Discover", "Policy", "Removed", "Adopt", "Accept", "Moved"] {
            let keys = schema["$defs"][of]["properties"].as_object().unwrap().keys();
            assert!(keys.clone().all(|k| whole.to_string().contains(&format!("\"{k}\":"))), "{of}");
        }
    }
}
