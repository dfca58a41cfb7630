//! From the findings of schemas and kinds to diagnostics with places.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::document::nearest;
use crate::manifest::explain::{Finding, child};
use crate::manifest::schema::Schema;
use crate::manifest::yaml::{Key, Kind as Yaml, MAX_FINDINGS, Node, quote};
use crate::model::kinds::Problem;

/// How scalars of another type are taken where a text is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalars {
    /// Refused, with the quoted text as the fix.
    Quoted,
    /// Taken as written, but in labels, which are the same in both forms of a manifest.
    AsWritten,
}

/// A tree with its JSON and the file that both come from.
pub(super) struct Checked<'a> {
    pub(super) index: &'a LineIndex,
    pub(super) root: &'a Node,
    pub(super) json: Value,
}

impl Checked<'_> {
    /// Holds the JSON against a schema. With [`Scalars::AsWritten`] scalars become texts where texts are due.
    pub(super) fn against(&mut self, schema: &Schema, scalars: Scalars) -> Vec<Finding> {
        let mut findings = schema.check(&self.json);
        if scalars == Scalars::AsWritten {
            // Each round settles what the one before brought to light inside a choice.
            for _ in 0..8 {
                let pointers: Vec<String> = findings
                    .iter()
                    .filter(|f| f.wants_text && !is_label(&f.pointer))
                    .take(MAX_FINDINGS)
                    .map(|f| f.pointer.clone())
                    .collect();
                let changed = pointers.iter().filter(|p| self.as_written(p)).count();
                if changed == 0 {
                    break;
                }
                findings = schema.check(&self.json);
            }
        }
        findings
    }

    fn as_written(&mut self, pointer: &str) -> bool {
        let Some(text) = self.root.find(pointer).and_then(|(_, node)| written(self.index, node)) else { return false };
        match self.json.pointer_mut(pointer) {
            Some(slot) if !slot.is_string() => {
                *slot = Value::String(text);
                true
            }
            _ => false,
        }
    }

    /// Reports findings of the schema, problems of the kind (pointers below `spec`), and nulls, each place once.
    pub(super) fn report(&self, findings: Vec<Finding>, problems: Vec<Problem>, spec: &str, found: &mut Diagnostics) {
        let problems: Vec<Problem> =
            problems.into_iter().map(|p| Problem { pointer: format!("{spec}{}", p.pointer), ..p }).collect();
        let spoken: BTreeSet<&str> = problems.iter().map(|p| p.pointer.as_str()).collect();
        let mut told: BTreeSet<(String, Option<String>)> = BTreeSet::new();
        // Each finding is looked up in the tree, so their number must not grow with the tree.
        let mut cut = findings.len() > MAX_FINDINGS || problems.len() > MAX_FINDINGS;
        for f in findings.into_iter().take(MAX_FINDINGS) {
            // A kind's own rule says the same of a limit in better words.
            let twice = f.code == &code::WRONG_VALUE && f.key.is_none() && spoken.contains(f.pointer.as_str());
            if twice || self.is_refused(&f.pointer) || !told.insert((f.pointer.clone(), f.key.clone())) {
                continue;
            }
            found.push(self.finding(&f));
        }
        for p in problems.iter().take(MAX_FINDINGS) {
            if self.is_refused(&p.pointer) {
                continue;
            }
            let mut d = Diagnostic::new(p.code, p.message.clone());
            d.fix.clone_from(&p.fix);
            found.push(self.at(d, &p.pointer, p.key));
        }
        let most = found.0.len() + MAX_FINDINGS;
        self.nulls(self.root, "", &told, most, found);
        cut |= found.0.len() >= most;
        if cut {
            let start = self.root.span.start;
            let d = Diagnostic::new(&code::TOO_MANY, "this document has more findings than are shown");
            found.push(d.at(self.index.locate(start..start), ""));
        }
    }

    fn finding(&self, f: &Finding) -> Diagnostic {
        let mut d = Diagnostic::new(f.code, f.message.clone());
        d.fix.clone_from(&f.fix);
        if f.code == &code::NEEDS_QUOTES {
            d.fix = self.root.find(&f.pointer).and_then(|(_, node)| written(self.index, node)).map(|t| quote(&t));
        }
        if f.code == &code::NULL {
            d = d.hint("remove the key to get the default");
        }
        match &f.key {
            Some(key) => self.at(d, &child(&f.pointer, key), true),
            None => self.at(d, &f.pointer, f.code == &code::MISSING_KEY || f.code == &code::NULL),
        }
    }

    /// A `null` that a schema lets pass says nothing all the same. JSON Schemas inside of a spec may hold any, and
    /// one that was taken out of the value before (an empty list of the configuration) is meant.
    fn nulls(
        &self,
        at: &Node,
        pointer: &str,
        told: &BTreeSet<(String, Option<String>)>,
        most: usize,
        found: &mut Diagnostics,
    ) {
        let children: Vec<(String, Option<&Key>, &Node)> = match at.get() {
            Yaml::Map(map) => {
                let free = |k: &Key| k.text == "input_schema";
                map.iter().filter(|(k, _)| !free(k)).map(|(k, v)| (child(pointer, &k.text), Some(k), v)).collect()
            }
            Yaml::Seq(items) => items.iter().enumerate().map(|(i, v)| (format!("{pointer}/{i}"), None, v)).collect(),
            _ => return,
        };
        for (pointer, key, value) in children {
            if found.0.len() >= most {
                return;
            }
            if !matches!(value.get(), Yaml::Null) {
                self.nulls(value, &pointer, told, most, found);
            } else if self.json.pointer(&pointer).is_some()
                && !told.contains(&(pointer.clone(), None))
                && !is_unknown(&pointer, told)
            {
                let name = pointer.rsplit('/').next().unwrap_or_default();
                let place = key.map_or_else(|| value.place(), |k| k.span.clone());
                let d = Diagnostic::new(&code::NULL, format!("`{name}` is null"));
                found.push(d.hint("remove the key to get the default").at(self.index.locate(place), ""));
            }
        }
    }

    fn is_refused(&self, pointer: &str) -> bool {
        self.root.find(pointer).is_some_and(|(_, node)| matches!(node.get(), Yaml::Refused))
    }

    /// Adds the place of a pointer; of an alias, also what it stands for.
    pub(super) fn at(&self, d: Diagnostic, pointer: &str, key: bool) -> Diagnostic {
        let range = nearest(self.root, pointer, key).unwrap_or(self.root.span.start..self.root.span.start);
        let d = d.at(self.index.locate(range), "");
        match self.root.find(pointer) {
            Some((_, node)) if !key && node.via.is_some() => {
                d.at(self.index.locate(node.span.clone()), "written here, used through an alias")
            }
            _ => d,
        }
    }
}

fn is_label(pointer: &str) -> bool {
    pointer.starts_with("/labels/")
}

/// Was the key that a pointer ends in told to be unknown?
fn is_unknown(pointer: &str, told: &BTreeSet<(String, Option<String>)>) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    told.contains(&(parent.to_owned(), Some(key.to_owned())))
}

/// A scalar as it is written, without quotes. `null` and nothing are no text.
pub(super) fn written(index: &LineIndex, node: &Node) -> Option<String> {
    match node.get() {
        Yaml::Str(s) => Some(s.clone()),
        Yaml::Bool(_) | Yaml::Int(_) | Yaml::UInt(_) | Yaml::Float(_) | Yaml::Null if !node.span.is_empty() => {
            index.text().get(node.span.clone()).map(str::to_owned)
        }
        _ => None,
    }
}
