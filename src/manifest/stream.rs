//! YAML files of manifests. Documents without `apiVersion: checkfu.com/…` are somebody else's and left alone,
//! errors and all.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diag::codes;
use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::agent::rename_system;
use crate::manifest::check::{Checked, Scalars};
use crate::manifest::document::{Document, FieldMode, Form, Source};
use crate::manifest::suggest::nearest;
use crate::manifest::yaml::{self, Doc, Node};
use crate::manifest::{Parsed, Unread, schema, text};
use crate::model::address::is_name;
use crate::model::{Address, Kind, kinds};

/// The one version of the format.
pub(super) const API_VERSION: &str = "checkfu.com/v1";

/// What a document says that it is.
enum Said {
    /// Not ours.
    Other,
    /// A `Config`.
    Config,
    /// A resource.
    Resource(Kind),
}

pub(super) fn read(index: &LineIndex, start: usize, form: Form, out: &mut Parsed) {
    let content = &index.text()[start..];
    // Most YAML in a repository is not ours; a file that never says so is not even parsed. One that has lost its
    // `apiVersion` still has what every resource has.
    let looks_ours = content.contains("kind") && content.contains("spec");
    if !content.contains("apiVersion") && !content.contains("checkfu") && !looks_ours {
        return;
    }
    let shared = Arc::new(index.clone());
    let mut checked_text = false;
    let told = out.found.0.len();
    for doc in yaml::documents(index, start..index.text().len()) {
        if out.found.0.len() - told > 10 * yaml::MAX_FINDINGS {
            out.found.push(yaml::too_many(index, doc.range, "this file"));
            out.unread.push(Unread::ANY);
            break;
        }
        let ours = index.text()[doc.range.clone()].contains("checkfu");
        if ours && !checked_text {
            checked_text = true;
            text::check_printable(index, doc.range.clone(), &mut out.found);
            if form != Form::Config {
                text::check_marks(index, start..index.text().len(), &mut out.found);
            }
        }
        let Doc { root, range, diagnostics, .. } = doc;
        let Some(mut root) = root else {
            if ours {
                out.found.extend(diagnostics);
                out.unread.push(Unread::ANY);
            }
            continue;
        };
        let mut said_wrong = Diagnostics::default();
        let said = says(index, &root, form, &mut said_wrong);
        let name = root.find("/metadata/name").and_then(|(_, n)| n.as_str()).map(str::to_owned);
        match said {
            Said::Other if said_wrong.0.is_empty() => {}
            Said::Other => {
                if said_wrong.has_errors() {
                    out.unread.push(Unread { kind: None, name });
                }
                out.found.extend(diagnostics);
                out.found.extend(said_wrong);
            }
            Said::Config => {
                // The configuration itself is read, and its errors told, by `config`.
                if form != Form::Config {
                    out.found.extend(diagnostics);
                    out.found.extend(said_wrong);
                }
            }
            Said::Resource(kind) => {
                let before = diagnostics.has_errors() || said_wrong.has_errors();
                out.found.extend(diagnostics);
                out.found.extend(said_wrong);
                let source = Source {
                    index: shared.clone(),
                    range,
                    prose: None,
                    preamble: 0,
                    inline: None,
                    tree: Arc::default(),
                };
                rename(index, &mut root, kind, &mut out.found);
                out.documents.push(resource(index, &root, kind, source, before, &mut out.found));
                if name.is_none() {
                    out.unread.push(Unread { kind: Some(kind), name });
                }
            }
        }
    }
}

fn rename(index: &LineIndex, root: &mut Node, kind: Kind, found: &mut Diagnostics) {
    if kind == Kind::Agent
        && let Some(key) = rename_system(root, Form::Yaml)
    {
        let d = Diagnostic::new(&code::SYSTEM_NAME, "`system` is the wire's name of `instructions`");
        found.push(d.at(index.locate(key), "").fix("instructions"));
    }
}

/// Reads `apiVersion` and `kind`.
fn says(index: &LineIndex, root: &Node, form: Form, found: &mut Diagnostics) -> Said {
    let version = root.value("apiVersion").and_then(Node::as_str);
    let kind = root.value("kind").and_then(Node::as_str);
    let place = |key: &str| index.locate(root.value(key).map_or(root.span.clone(), Node::place));
    match version {
        Some(API_VERSION) => {}
        Some(other) if is_near(other) => {
            let d = Diagnostic::new(&code::API_VERSION, format!("`{other}` is not a version that checkfu reads"));
            found.push(d.at(place("apiVersion"), "").fix(format!("apiVersion: {API_VERSION}")));
        }
        Some(_) => return Said::Other,
        None => {
            let shape = kind.is_some_and(|k| k.parse::<Kind>().is_ok())
                && root.value("metadata").is_some()
                && root.value("spec").is_some()
                && root.value("apiVersion").is_none();
            if shape {
                let message =
                    format!("a document of kind {} without `apiVersion` is left alone", kind.unwrap_or_default());
                let d = Diagnostic::new(&code::NO_API_VERSION, message);
                found.push(d.at(place("kind"), "").fix(format!("apiVersion: {API_VERSION}")));
            }
            return Said::Other;
        }
    }
    match kind {
        Some("Config") => {
            if form != Form::Config {
                let d = Diagnostic::new(&code::CONFIG_ELSEWHERE, "a Config belongs into checkfu.yaml");
                found.push(d.at(place("kind"), ""));
            }
            Said::Config
        }
        Some(kind) => match kind.parse::<Kind>() {
            Ok(kind) => Said::Resource(kind),
            Err(_) => {
                let known: Vec<&str> = Kind::ALL.iter().map(|k| k.as_str()).collect();
                let near = nearest(kind, known.iter().copied());
                let fix =
                    near.map_or_else(|| format!("one of {}", known.join(", ")), |k| format!("did you mean `{k}`?"));
                let d = Diagnostic::new(&code::UNKNOWN_KIND, format!("`{kind}` is not a kind"));
                found.push(d.at(place("kind"), "").fix(fix));
                Said::Other
            }
        },
        None => {
            let d = Diagnostic::new(&code::MISSING_KEY, "the key `kind` is missing");
            found.push(d.at(place("apiVersion"), "").fix("kind: …"));
            Said::Other
        }
    }
}

fn is_near(version: &str) -> bool {
    let lower = version.to_lowercase();
    lower.contains("checkfu") || strsim::osa_distance(&lower, API_VERSION) <= 3
}

/// Checks a resource. It is returned with errors too: others may refer to it, and it may refer to others.
fn resource(
    index: &LineIndex,
    root: &Node,
    kind: Kind,
    source: Source,
    broken: bool,
    found: &mut Diagnostics,
) -> Document {
    let before = found.count(crate::diag::Severity::Error);
    let mut checked = Checked { index, root, json: root.to_json() };
    let mut findings = checked.against(schema::of_document(kind), Scalars::Quoted);
    // Told when it was read.
    findings.retain(|f| f.pointer != "/apiVersion");
    let name = root.find("/metadata/name").and_then(|(_, n)| n.as_str()).map(str::to_owned);
    if let Some(name) = name.as_deref().filter(|n| !is_name(n)) {
        findings.retain(|f| f.pointer != "/metadata/name");
        found.push(checked.at(bad_name(name), "/metadata/name", false));
    }
    let empty = Value::Object(Map::new());
    let spec = checked.json.get("spec").unwrap_or(&empty);
    let mut problems = (kinds::def(kind).check)(spec);
    for p in &mut problems {
        p.pointer = format!("/spec{}", p.pointer);
    }
    problems.extend(label_problems(&checked.json, "/metadata/labels"));
    checked.report(findings, problems, "", found);
    let unnamed = !name.as_deref().is_some_and(is_name);
    let name = if unnamed { guessed(name.as_deref()) } else { name.unwrap_or_default() };
    let start = root.span.start;
    let at = index.locate(root.find("/metadata/name").map_or(start..start, |(_, n)| n.place()));
    let metadata = checked.json.get("metadata").cloned().unwrap_or_default();
    let spec = checked.json.get_mut("spec").map(Value::take).unwrap_or(empty);
    let broken = broken || found.count(crate::diag::Severity::Error) > before;
    Document {
        address: Address::new(kind, name),
        form: Form::Yaml,
        spec,
        labels: labels(metadata.get("labels")),
        fields: modes(metadata.get("fields")),
        at,
        places: places(root.value("spec"), root.value("metadata").and_then(|m| m.value("labels"))),
        broken,
        unnamed,
        source,
    }
}

/// A name that is none, with one made of it.
pub(super) fn bad_name(name: &str) -> Diagnostic {
    let message = format!("`{name}` is not a name: lower-case letters, digits and single hyphens, at most 64");
    let d = Diagnostic::new(&codes::manifest::NAME, message);
    match slug(name) {
        Some(slug) => d.fix(slug),
        None => d,
    }
}

/// The name that was most likely meant, to go on with.
pub(super) fn guessed(written: Option<&str>) -> String {
    written.and_then(slug).unwrap_or_else(|| "unnamed".to_owned())
}

/// A name made of any text, if there is a letter or digit to make one of.
pub fn slug(text: &str) -> Option<String> {
    let parts: Vec<String> = text
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|p| !p.is_empty())
        .map(str::to_owned)
        .collect();
    let mut slug = parts.join("-");
    slug.truncate(64);
    let slug = slug.trim_end_matches('-').to_owned();
    is_name(&slug).then_some(slug)
}

/// Rules on labels, with pointers from the root.
pub(super) fn label_problems(json: &Value, pointer: &str) -> Vec<kinds::Problem> {
    let Some(labels) = json.pointer(pointer) else { return Vec::new() };
    let mut problems = kinds::rules::check_labels(labels);
    for p in &mut problems {
        p.pointer = format!("{pointer}{}", p.pointer);
    }
    problems
}

pub(super) fn labels(value: Option<&Value>) -> BTreeMap<String, String> {
    let map = value.and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

/// `metadata.fields`; what is malformed was reported by the schema.
pub(super) fn modes(value: Option<&Value>) -> BTreeMap<String, FieldMode> {
    let map = value.and_then(Value::as_object);
    let read = |v: &Value| serde_json::from_value::<FieldMode>(v.clone()).ok();
    map.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), read(v)?))).collect()
}

/// Where the top-level fields of a spec and the labels are written.
pub(super) fn places(spec: Option<&Node>, labels: Option<&Node>) -> BTreeMap<String, std::ops::Range<usize>> {
    let place = |node: &Node, key: &yaml::Key| match node.get() {
        yaml::Kind::Map(_) | yaml::Kind::Seq(_) => key.span.clone(),
        _ => node.place(),
    };
    let mut out = BTreeMap::new();
    for (k, v) in spec.and_then(Node::as_map).unwrap_or_default() {
        out.insert(k.text.clone(), place(v, k));
    }
    for (k, v) in labels.and_then(Node::as_map).unwrap_or_default() {
        out.insert(format!("labels.{}", k.text), place(v, k));
    }
    out
}
