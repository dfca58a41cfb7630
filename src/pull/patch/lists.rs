//! The lines of decisions in `checkfu.yaml`: `moved`, `removed`, `adopt`, `accept`. Added and taken out one by one, in
//! the style of the file; a key that is missing comes at the end, and one whose last line goes, goes with it.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::diag::LineIndex;
use crate::manifest::yaml::{self, Node};
use crate::model::config::{Accept, Adopt, Moved, Removed};
use crate::pull::patch::write::Writer;
use crate::pull::patch::{PatchError, read, rewrite};

/// A line of one of the lists.
pub trait Line: Serialize + DeserializeOwned + PartialEq {
    /// The list that holds it.
    const KEY: &'static str;
    /// Are both about the same thing, so that one takes the place of the other?
    fn is_about_the_same(&self, other: &Self) -> bool;
}

impl Line for Moved {
    const KEY: &'static str = "moved";
    fn is_about_the_same(&self, other: &Self) -> bool {
        self.from == other.from
    }
}

impl Line for Removed {
    const KEY: &'static str = "removed";
    fn is_about_the_same(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Line for Adopt {
    const KEY: &'static str = "adopt";
    fn is_about_the_same(&self, other: &Self) -> bool {
        (&self.address, &self.target) == (&other.address, &other.target)
    }
}

impl Line for Accept {
    const KEY: &'static str = "accept";
    fn is_about_the_same(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

/// Adds lines to the text of a `checkfu.yaml`. One about the same thing gets the new values where it stands.
pub fn add<L: Line>(text: &str, lines: &[L]) -> Result<String, PatchError> {
    change::<L>(text, |items| {
        for line in lines {
            let value = serde_json::to_value(line).unwrap_or_default();
            let same = |v: &Value| parsed::<L>(v).is_some_and(|old| old.is_about_the_same(line));
            match items.iter_mut().find(|v| same(v)) {
                // Written out otherwise, as with `keep: false`, it says the same.
                Some(old) if parsed::<L>(old).as_ref() == Some(line) => {}
                Some(old) => *old = value,
                None => items.push(value),
            }
        }
    })
}

/// Lines as they stand in a `checkfu.yaml`, with their key.
pub fn block<L: Line>(lines: &[L]) -> String {
    let items: Value = lines.iter().map(|l| serde_json::to_value(l).unwrap_or_default()).collect();
    let writer = Writer { plainly: false, line_break: "\n" };
    writer.entry(L::KEY, &items, true).join("\n") + "\n"
}

/// Takes lines out of the text of a `checkfu.yaml`; those that are not there are none to take out.
pub fn take_out<L: Line>(text: &str, lines: &[L]) -> Result<String, PatchError> {
    change::<L>(text, |items| items.retain(|v| parsed::<L>(v).is_none_or(|old| !lines.contains(&old))))
}

fn parsed<L: Line>(value: &Value) -> Option<L> {
    serde_json::from_value(value.clone()).ok()
}

fn change<L: Line>(text: &str, change: impl FnOnce(&mut Vec<Value>)) -> Result<String, PatchError> {
    let document = config_document(text)?;
    let mut config = read(text, &document)?;
    let Some(map) = config.as_object_mut() else { return Err(PatchError::NoSuchPlace(format!("/{}", L::KEY))) };
    let mut items = match map.get(L::KEY) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(_) => return Err(PatchError::NoSuchPlace(format!("/{}", L::KEY))),
    };
    let before = items.clone();
    change(&mut items);
    if items == before {
        return Ok(text.to_owned());
    }
    if items.is_empty() {
        map.remove(L::KEY);
    } else {
        map.insert(L::KEY.to_owned(), Value::Array(items));
    }
    rewrite(text, document, &config)
}

/// The bytes of the first document of kind `Config`.
fn config_document(text: &str) -> Result<Range<usize>, PatchError> {
    let index = LineIndex::new("checkfu.yaml", text);
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let is_config = |root: &Node| root.value("kind").and_then(Node::as_str) == Some("Config");
    for doc in yaml::documents(&index, start..text.len()) {
        match doc.root {
            Some(root) if is_config(&root) => return Ok(doc.range),
            Some(_) => {}
            None => break,
        }
    }
    Err(PatchError::NoSuchPlace("/kind".to_owned()))
}
