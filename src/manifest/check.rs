//! From the findings of schemas and kinds to diagnostics with places.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::document::nearest;
use crate::manifest::explain::{Finding, child};
use crate::manifest::schema::Schema;
use crate::manifest::yaml::{Kind as Yaml, Node, quote};
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
        for f in findings {
            // A kind's own rule says the same of a limit in better words.
            let twice = f.code == &code::WRONG_VALUE && f.key.is_none() && spoken.contains(f.pointer.as_str());
            if twice || self.is_refused(&f.pointer) || !told.insert((f.pointer.clone(), f.key.clone())) {
                continue;
            }
            found.push(self.finding(&f));
        }
        for p in &problems {
            if self.is_refused(&p.pointer) {
                continue;
            }
            let mut d = Diagnostic::new(p.code, p.message.clone());
            d.fix.clone_from(&p.fix);
            found.push(self.at(d, &p.pointer, p.key));
        }
        self.nulls(&self.json, "", &told, found);
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

    /// A `null` that a schema lets pass says nothing all the same. JSON Schemas inside of a spec may hold any.
    fn nulls(&self, at: &Value, pointer: &str, told: &BTreeSet<(String, Option<String>)>, found: &mut Diagnostics) {
        let children: Vec<(String, &Value)> = match at {
            Value::Object(map) => {
                let free = |k: &str| k == "input_schema";
                map.iter().filter(|(k, _)| !free(k)).map(|(k, v)| (child(pointer, k), v)).collect()
            }
            Value::Array(items) => items.iter().enumerate().map(|(i, v)| (format!("{pointer}/{i}"), v)).collect(),
            _ => return,
        };
        for (pointer, value) in children {
            if !value.is_null() {
                self.nulls(value, &pointer, told, found);
                continue;
            }
            let known = told.contains(&(pointer.clone(), None)) || is_unknown(&pointer, told);
            if !known && !self.is_refused(&pointer) {
                let key = pointer.rsplit('/').next().unwrap_or_default();
                let d = Diagnostic::new(&code::NULL, format!("`{key}` is null"));
                found.push(self.at(d.hint("remove the key to get the default"), &pointer, true));
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
