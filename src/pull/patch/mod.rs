//! Edits of files that people wrote: one value changes, every other byte stays. Pure.
//!
//! ```text
//! text ─▶ span tree ─▶ layout ─┐
//!                              ├─▶ edits ─▶ text ─▶ read again: is it that value? else another pass
//! value that it is to have ────┘
//! ```

mod edit;
mod layout;
pub mod lists;
pub mod merge;
mod write;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::{Map, Value};

use crate::diag::LineIndex;
use crate::manifest::yaml::{self, Node, unescape};
use crate::pull::patch::edit::{Edit, Pass};
use crate::pull::patch::layout::{layout, line_break};
use crate::pull::patch::write::Writer;

/// More passes than any document needs: each goes one level up, and one more an alias of an alias.
const MOST_PASSES: usize = 3 * yaml::MAX_DEPTH as usize;

/// Why a text was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// It cannot be read as YAML.
    #[error("line {line}: {message}")]
    Unreadable {
        /// The line, from 1.
        line: u32,
        /// What is wrong with it.
        message: String,
    },
    /// There is nothing that the pointer could lead to.
    #[error("there is nothing at `{0}` to change")]
    NoSuchPlace(String),
    /// No way was found to write the value there. The text should be changed by hand.
    #[error("the value cannot be written without rewriting more than it")]
    NotWritten,
}

/// Sets the value at a JSON pointer of the YAML document in these bytes of a text. What is above it is made as well.
/// The rest of the text stays byte for byte.
pub fn set(text: &str, document: Range<usize>, pointer: &str, value: &Value) -> Result<String, PatchError> {
    let mut target = read(text, &document)?;
    let place = make(&mut target, pointer).ok_or_else(|| PatchError::NoSuchPlace(pointer.to_owned()))?;
    place.clone_from(value);
    rewrite(text, document, &target)
}

/// Takes out the entry at a JSON pointer; one that is not there is none to take out.
pub fn remove(text: &str, document: Range<usize>, pointer: &str) -> Result<String, PatchError> {
    let mut target = read(text, &document)?;
    let none = || PatchError::NoSuchPlace(pointer.to_owned());
    let (parent, key) = pointer.rsplit_once('/').ok_or_else(none)?;
    match target.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(&unescape(key))),
        Some(Value::Array(items)) => {
            let i: usize = key.parse().ok().filter(|i| *i < items.len()).ok_or_else(none)?;
            items.remove(i);
        }
        _ => return Err(none()),
    }
    rewrite(text, document, &target)
}

/// The value of the document in these bytes; an empty map if there is none.
pub fn read(text: &str, document: &Range<usize>) -> Result<Value, PatchError> {
    let root = tree(text, document)?;
    Ok(root.map_or_else(|| Value::Object(Map::new()), |root| root.to_json()))
}

/// Makes the document in these bytes have this value, with as few bytes changed as its style allows.
pub fn rewrite(text: &str, document: Range<usize>, target: &Value) -> Result<String, PatchError> {
    tree(text, &document)?;
    // What the style of the file turns out not to hold is written in the form that holds anything.
    converge(text, document.clone(), target, false)
        .or_else(|| converge(text, document, target, true))
        .ok_or(PatchError::NotWritten)
}

fn converge(text: &str, document: Range<usize>, target: &Value, plainly: bool) -> Option<String> {
    let writer = Writer { plainly, line_break: line_break(text) };
    let (mut text, mut document) = (text.to_owned(), document);
    for _ in 0..MOST_PASSES {
        let edits = match tree(&text, &document).ok()? {
            Some(root) if root.to_json() == *target => return Some(text),
            None if target.as_object().is_some_and(Map::is_empty) => return Some(text),
            None => {
                let lines = writer.block(target, true).join(writer.line_break);
                vec![Edit { at: document.start..document.start, text: format!("{lines}{}", writer.line_break) }]
            }
            Some(root) => {
                let root = layout(&text, &root)?;
                Pass { text: &text, root: &root, writer }.edits(target)
            }
        };
        let before = text.len();
        text = applied(&text, edits)?;
        document.end = (document.end + text.len()).checked_sub(before)?;
    }
    None
}

/// The text with its edits; none if there are none, or if they are about the same bytes.
fn applied(text: &str, edits: Vec<Edit>) -> Option<String> {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    let none = edits.is_empty();
    for Edit { at, text: new } in edits {
        out.push_str(text.get(from..at.start)?);
        out.push_str(&new);
        from = at.end;
    }
    out.push_str(text.get(from..)?);
    (!none).then_some(out)
}

/// The tree of the document; none if it is empty.
fn tree(text: &str, document: &Range<usize>) -> Result<Option<Node>, PatchError> {
    let index = LineIndex::new("", text);
    let Some(doc) = yaml::documents(&index, document.clone()).next() else { return Ok(None) };
    match (doc.root, doc.diagnostics.0.first()) {
        (_, Some(d)) => {
            let line = d.place().map_or(1, |at| at.line);
            Err(PatchError::Unreadable { line, message: d.message.clone() })
        }
        (root, None) => Ok(root.filter(|r| !(r.to_json().is_null() && r.span.is_empty()))),
    }
}

/// Where a pointer leads, with the maps on the way there.
fn make<'a>(root: &'a mut Value, pointer: &str) -> Option<&'a mut Value> {
    let mut at = root;
    for step in pointer.split('/').skip(1) {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = match at {
            Value::Object(map) => map.entry(unescape(step)).or_insert(Value::Null),
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}
