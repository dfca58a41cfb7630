//! Agents in Markdown: front matter is the spec, the file's stem the name, the text the instructions.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::diag::codes;
use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Severity};
use crate::manifest::check::{Checked, Scalars};
use crate::manifest::document::{Document, Form, Source};
use crate::manifest::front::{self, NoFront};
use crate::manifest::yaml::{self, Node};
use crate::manifest::{schema, stream, text};
use crate::model::address::is_name;
use crate::model::{Address, Kind, kinds};

pub(super) fn read(index: &LineIndex, start: usize, found: &mut Diagnostics) -> Option<Document> {
    let before = found.count(Severity::Error);
    let stem = index.file().rsplit('/').next().unwrap_or_default().trim_end_matches(".md").to_owned();
    let named = is_name(&stem);
    if !named {
        let d = stream::bad_name(&stem).at(index.locate(0..0), "the file's name is the agent's");
        let fix = d.fix.as_ref().map(|slug| format!("rename the file to {slug}.md"));
        found.push(Diagnostic { fix, ..d });
    }
    let front = match front::split(index.text(), start) {
        Ok(front) => front,
        Err(why) => {
            found.push(no_front(
                index,
                start,
                &why,
                &codes::manifest::NO_FRONT_MATTER,
                &codes::manifest::NOT_CLOSED,
                "model: …",
            ));
            return None;
        }
    };
    let mut root = matter(index, &front.matter, found)?.0;
    if let Some(key) = rename_system(&mut root, Form::AgentMarkdown) {
        let d = Diagnostic::new(&code::SYSTEM_NAME, "`system` is the wire's name of `instructions`");
        found.push(d.at(index.locate(key), "").fix("instructions"));
    }
    let prose = trimmed(index.text(), front.body);
    let mut checked = Checked { index, root: &root, json: root.to_json() };
    let findings = checked.against(schema::of_front_matter(), Scalars::AsWritten);
    if let (Some(prose), Some((key, _))) = (&prose, root.entry("instructions")) {
        let d = Diagnostic::new(&code::INSTRUCTIONS_TWICE, "instructions as a key and as the text of the file")
            .at(index.locate(key.span.clone()), "the key")
            .at(index.locate(prose.start..prose.start), "the text");
        found.push(d);
    }
    let mut spec = checked.json.as_object().cloned().unwrap_or_default();
    let (labels, fields) = (spec.remove("labels"), spec.remove("fields"));
    let preamble: Vec<Value> = match spec.remove("preamble") {
        Some(Value::Array(paths)) => paths.into_iter().map(|p| json!({ "file": p })).collect(),
        _ => Vec::new(),
    };
    let count = preamble.len();
    instructions(&mut spec, preamble, prose.as_ref().map(|p| &index.text()[p.clone()]));
    let spec = Value::Object(spec);
    let mut problems = (kinds::def(Kind::Agent).check)(&spec);
    problems.extend(stream::label_problems(&checked.json, "/labels"));
    let (in_text, problems): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|p| prose.is_some() && p.pointer.starts_with("/instructions"));
    checked.report(findings, problems, "", found);
    for p in in_text {
        let mut d = Diagnostic::new(p.code, p.message);
        d.fix = p.fix;
        let start = prose.as_ref().map_or(0, |p| p.start);
        found.push(d.at(index.locate(start..start), "the text of the file"));
    }
    let mut places = stream::places(Some(&root), root.value("labels"));
    for key in ["labels", "fields", "preamble"] {
        places.remove(key);
    }
    if let Some(prose) = &prose {
        places.insert("instructions".to_owned(), prose.clone());
    }
    let broken = found.count(Severity::Error) > before;
    Some(Document {
        address: Address::new(Kind::Agent, if named { stem } else { stream::guessed(Some(&stem)) }),
        form: Form::AgentMarkdown,
        spec,
        labels: stream::labels(labels.as_ref()),
        fields: stream::modes(fields.as_ref()),
        at: index.locate(start..start),
        places,
        broken,
        unnamed: !named,
        source: Source {
            index: Arc::new(index.clone()),
            range: front.matter,
            prose,
            preamble: count,
            inline: None,
            tree: Arc::default(),
        },
    })
}

/// Preamble, key and text together.
fn instructions(spec: &mut serde_json::Map<String, Value>, preamble: Vec<Value>, prose: Option<&str>) {
    let own = match (prose, spec.remove("instructions")) {
        (Some(prose), _) => vec![Value::String(prose.to_owned())],
        (None, Some(Value::Array(items))) => items,
        (None, Some(one)) => vec![one],
        (None, None) => Vec::new(),
    };
    let mut parts = preamble;
    parts.extend(own);
    match parts.len() {
        0 => {}
        1 => {
            let only = parts.remove(0);
            spec.insert("instructions".to_owned(), only);
        }
        _ => {
            spec.insert("instructions".to_owned(), Value::Array(parts));
        }
    }
}

/// The tree of a front matter: a map, or nothing at all, which is an empty one.
pub(super) fn matter(index: &LineIndex, range: &Range<usize>, found: &mut Diagnostics) -> Option<(Node, yaml::Style)> {
    if !text::check_printable(index, range.clone(), found) {
        return None;
    }
    // `...` ends a YAML document wherever it stands alone on a line.
    let mut rows = text::lines(index.text(), range.start).take_while(|(start, ..)| *start < range.end);
    if let Some((start, end, _)) = rows.find(|(start, end, _)| index.text()[*start..*end].trim_end() == "...") {
        let d = Diagnostic::new(&code::TWO_DOCUMENTS, "`...` ends the document inside of the front matter");
        found.push(d.at(index.locate(start..end), ""));
        return None;
    }
    let mut documents = yaml::documents(index, range.clone());
    let empty = || Node { kind: yaml::Kind::Map(Vec::new()), span: range.start..range.start, via: None };
    let Some(first) = documents.next() else { return Some((empty(), yaml::Style::default())) };
    found.extend(first.diagnostics);
    let (root, style) = (first.root?, first.style);
    if let Some(second) = documents.next() {
        let at = second.range.start.max(root.span.end);
        let d = Diagnostic::new(&code::TWO_DOCUMENTS, "the front matter holds a second document");
        found.push(d.at(index.locate(at..at), "it begins after this"));
        return None;
    }
    match root.get() {
        yaml::Kind::Map(_) => Some((root, style)),
        yaml::Kind::Null => Some((empty(), style)),
        _ => {
            let d = Diagnostic::new(&code::NOT_A_MAP, "the front matter is not a map of fields");
            found.push(d.at(index.locate(root.place()), ""));
            None
        }
    }
}

/// Says why there is no front matter, with what is most likely meant. `least` is what one must hold.
pub(super) fn no_front(
    index: &LineIndex,
    start: usize,
    why: &NoFront,
    absent: &'static crate::diag::Code,
    open: &'static crate::diag::Code,
    least: &str,
) -> Diagnostic {
    match why {
        NoFront::Absent { later } => {
            let d = Diagnostic::new(absent, "the first line is not `---`").at(index.locate(start..start), "");
            let first = index.text()[start..].lines().next().unwrap_or_default();
            match later {
                Some(fence) => d
                    .at(index.locate(fence.clone()), "this would open it")
                    .fix("remove the blank lines at the top of the file"),
                None if first.starts_with("---") => d.fix("---").hint("three hyphens and nothing else on the line"),
                None => d.fix(format!("---\n{least}\n---")),
            }
        }
        NoFront::Open { almost } => {
            let d = Diagnostic::new(open, "no line `---` closes the front matter");
            match almost {
                Some(line) => d.at(index.locate(line.clone()), "this line does not close it").fix("---"),
                None => d.at(index.locate(start..start + 3), "opened here").fix("---"),
            }
        }
    }
}

/// Instructions without blank lines in front and line ends behind; nothing if they are blank.
fn trimmed(content: &str, body: Range<usize>) -> Option<Range<usize>> {
    let mut start = body.start;
    for (from, end, next) in text::lines(content, body.start) {
        if !content[from..end].trim().is_empty() {
            break;
        }
        start = next;
    }
    let end = start + content.get(start..body.end)?.trim_end_matches(['\n', '\r']).len();
    (start < end).then_some(start..end)
}

/// Renames the key `system` of an agent to `instructions`, unless that is there too. Returns where it is written.
pub(crate) fn rename_system(root: &mut Node, form: Form) -> Option<Range<usize>> {
    let map = match form {
        Form::Yaml => {
            let (_, spec) = root.as_map_mut()?.iter_mut().find(|(k, _)| k.text == "spec")?;
            spec.as_map_mut()?
        }
        Form::AgentMarkdown => root.as_map_mut()?,
        _ => return None,
    };
    if map.iter().any(|(k, _)| k.text == "instructions") {
        return None;
    }
    let (key, _) = map.iter_mut().find(|(k, _)| k.text == "system")?;
    "instructions".clone_into(&mut key.text);
    Some(key.span.clone())
}
