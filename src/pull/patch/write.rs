//! New values as YAML: inside of brackets, as lines of a block, and scalars in the style of the one they replace.

use serde_json::{Map, Value};

use crate::manifest::emit;
use crate::manifest::yaml::Kind;
use crate::manifest::yaml::quote;
use crate::pull::patch::layout::{Place, block_indent, line_end, next_line};

/// Most characters of a map or list that is written in one line by choice.
const SHORT: usize = 100;

/// Keys that come first in a new map, in this order; the others follow by name.
const FIRST: [&str; 17] = [
    "kind", "name", "type", "skill", "store", "tree", "file", "path", "at", "address", "target", "id", "live", "take",
    "reason", "from", "to",
];

/// The entries of a map in the order in which they are written.
pub(super) fn in_order(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let rank = |key: &str| FIRST.iter().position(|f| *f == key).unwrap_or(FIRST.len());
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| rank(key));
    entries
}

/// How new values are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer {
    /// In the one form that holds anything: quotes, brackets, escapes. For what the other forms turn out not to hold.
    pub(super) plainly: bool,
    /// The line end of the file.
    pub(super) line_break: &'static str,
}

/// A scalar: what stands in the line of its key, and the lines below it, with their indentation.
#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) first: String,
    pub(super) below: Vec<String>,
}

impl Scalar {
    fn line(first: String) -> Self {
        Self { first, below: Vec::new() }
    }
}

impl Writer {
    /// The same, in the form that holds anything.
    pub(super) fn plainly(self) -> Self {
        Self { plainly: true, ..self }
    }

    /// A value inside of brackets, or anywhere in one line.
    pub(super) fn flow(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.text(text, true),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|v| self.flow(v)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(map) => {
                let entries: Vec<String> = in_order(map)
                    .into_iter()
                    .map(|(k, v)| format!("{}: {}", self.text(k, true), self.flow(v)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            other => other.to_string(),
        }
    }

    /// A text in one line: without quotes where every reader sees the same text.
    pub(super) fn text(&self, text: &str, flow: bool) -> String {
        if self.plainly {
            return escaped(text);
        }
        if is_plain(text, flow) { text.to_owned() } else { quote(text) }
    }

    /// A value that is no collection, or an empty one; lines below it stand at `indent`.
    fn scalar(&self, value: &Value, indent: usize) -> Scalar {
        match value {
            Value::String(text) if !self.plainly && text.contains('\n') && fits_block(text) => {
                let (signs, lines) = literal(text, 2);
                Scalar { first: format!("|{signs}"), below: indented(lines, indent) }
            }
            Value::String(text) => Scalar::line(self.text(text, false)),
            other => Scalar::line(self.flow(other)),
        }
    }

    /// A value as lines of a block; a list may hold short flat maps in one line each.
    pub(super) fn block(&self, value: &Value, flat: bool) -> Vec<String> {
        match value {
            Value::Array(items) if !items.is_empty() && !self.plainly => {
                items.iter().flat_map(|v| self.item(v, flat)).collect()
            }
            Value::Object(map) if !map.is_empty() && !self.plainly => {
                in_order(map).into_iter().flat_map(|(k, v)| self.entry(k, v, flat)).collect()
            }
            other => {
                let Scalar { first, mut below } = self.scalar(other, 2);
                below.insert(0, first);
                below
            }
        }
    }

    /// `key: value` as lines of a block.
    pub(super) fn entry(&self, key: &str, value: &Value, flat: bool) -> Vec<String> {
        let key = self.text(key, false);
        let mut lines = self.block(value, flat);
        let below = is_collection(value) && !self.plainly;
        if below {
            lines = indented(lines, 2);
            lines.insert(0, format!("{key}:"));
        } else {
            lines[0] = format!("{key}: {}", lines[0]);
        }
        lines
    }

    /// `- value` as lines of a block.
    pub(super) fn item(&self, value: &Value, flat: bool) -> Vec<String> {
        if flat && is_flat(value) {
            let line = self.flow(value);
            if line.chars().count() <= SHORT {
                return vec![format!("- {line}")];
            }
        }
        let mut lines = indented(self.block(value, flat), 2);
        lines[0] = format!("- {}", lines[0].trim_start());
        lines
    }

    /// A scalar in place of what stands there, in the style of that where it holds it.
    pub(super) fn in_style(&self, text: &str, place: &Place<'_>, value: &Value) -> Scalar {
        let Value::String(new) = value else { return Scalar::line(value.to_string()) };
        if self.plainly || place.flow {
            return Scalar::line(self.quoted_as(text, place, new));
        }
        if place.is_block_text(text) && fits_block(new) {
            return restyled(text, place, new);
        }
        let fresh = self.scalar(value, place.column + 2);
        if fresh.below.is_empty() { Scalar::line(self.quoted_as(text, place, new)) } else { fresh }
    }

    /// A text in one line, in the quotes that the old one has.
    fn quoted_as(&self, text: &str, place: &Place<'_>, new: &str) -> String {
        let quotes = if place.is_alias() { None } else { text.as_bytes().get(place.value) };
        match quotes {
            _ if self.plainly => escaped(new),
            Some(b'"') => escaped(new),
            Some(b'\'') if !new.chars().any(needs_escape) => format!("'{}'", new.replace('\'', "''")),
            _ => self.text(new, place.flow),
        }
    }
}

/// Lines, each moved to the right; empty ones stay empty.
pub(super) fn indented(lines: Vec<String>, by: usize) -> Vec<String> {
    let pad = " ".repeat(by);
    lines.into_iter().map(|l| if l.is_empty() { l } else { format!("{pad}{l}") }).collect()
}

fn is_collection(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => false,
    }
}

/// A map of single-line scalars.
fn is_flat(value: &Value) -> bool {
    let plain = |v: &Value| !is_collection(v) && !v.as_str().is_some_and(|s| s.contains('\n'));
    value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(plain))
}

/// Would every reader see this text, without quotes?
fn is_plain(text: &str, flow: bool) -> bool {
    if text.is_empty() || text.contains('\n') || flow && text.contains([',', '[', ']', '{', '}']) {
        return false;
    }
    emit(&Value::String(text.to_owned())).trim_end_matches('\n') == text
}

fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text in double quotes.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Writing into a string cannot fail.
            c if needs_escape(c) => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Can a block hold this text as it is, for every reader?
fn fits_block(text: &str) -> bool {
    let first = text.lines().find(|l| !l.trim_matches(' ').is_empty());
    first.is_some_and(|l| !l.starts_with('\t')) && !text.chars().any(|c| c != '\n' && c != '\t' && needs_escape(c))
}

/// What stands behind `|` for a text whose lines are `width` deeper than what holds it, and its lines.
fn literal(text: &str, width: usize) -> (String, Vec<String>) {
    let deeper = if opens_deeper(text) { width.to_string() } else { String::new() };
    let body = text.strip_suffix('\n').unwrap_or(text);
    let chomp = if body.len() == text.len() {
        "-"
    } else if body.ends_with('\n') {
        "+"
    } else {
        ""
    };
    (format!("{deeper}{chomp}"), body.split('\n').map(str::to_owned).collect())
}

/// Does a line up to the first one that holds more than blanks begin with a blank? Then the indentation is to be said.
fn opens_deeper(text: &str) -> bool {
    let upto = text.lines().position(|l| !l.trim_matches(' ').is_empty()).map_or(usize::MAX, |i| i + 1);
    text.lines().take(upto).any(|l| l.starts_with(' '))
}

/// A new text for a block text: with its sign, its comment, its indentation, and the lines that stay as they are.
fn restyled(text: &str, place: &Place<'_>, new: &str) -> Scalar {
    let Kind::Str(old) = place.node.get() else { return Scalar::line(escaped(new)) };
    let header = &text[place.value..line_end(text, place.value)];
    let comment = header.find([' ', '\t']).map_or("", |i| header[i..].trim());
    let content = next_line(text, place.value);
    let indent = block_indent(text, content, old).unwrap_or(place.column + 2).max(place.column + 1);
    let raw: Vec<&str> = text.get(content..place.end).unwrap_or_default().lines().collect();
    let (signs, lines) = literal(new, indent - place.column);
    let folded = if header.starts_with('>') { folded(&raw, indent, &lines) } else { None };
    let sign = if folded.is_some() { '>' } else { '|' };
    let below = match folded {
        Some(lines) => indented(lines, indent),
        None if header.starts_with('|') => with_raw(indented(lines.clone(), indent), &lines, &literal(old, 2).1, &raw),
        None => indented(lines, indent),
    };
    let comment = if comment.is_empty() { String::new() } else { format!(" {comment}") };
    Scalar { first: format!("{sign}{signs}{comment}"), below }
}

/// Lines that are as they were, at the start and at the end, keep their bytes: a blank one may hold blanks.
fn with_raw(mut below: Vec<String>, new: &[String], old: &[String], raw: &[&str]) -> Vec<String> {
    if old.len() != raw.len() {
        return below;
    }
    let head = new.iter().zip(old).take_while(|(a, b)| a == b).count();
    let most = new.len().min(old.len()) - head;
    let tail = new.iter().rev().zip(old.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    for i in 0..head {
        raw[i].clone_into(&mut below[i]);
    }
    for i in 0..tail {
        raw[raw.len() - 1 - i].clone_into(&mut below[new.len() - 1 - i]);
    }
    below
}

/// The lines of a text for `>`: paragraphs that were there keep their lines, others are broken at the width of the
/// old ones. `None`: a line begins or ends with a blank, which `>` does not fold.
fn folded(raw: &[&str], indent: usize, lines: &[String]) -> Option<Vec<String>> {
    let blank_edge = |l: &String| l.starts_with([' ', '\t']) || l.ends_with([' ', '\t']);
    if lines.iter().any(blank_edge) {
        return None;
    }
    let source: Vec<&str> = raw.iter().map(|l| l.get(indent..).unwrap_or_default()).collect();
    let known: Vec<(String, &[&str])> =
        source.split(|l| l.is_empty()).filter(|p| !p.is_empty()).map(|p| (p.join(" "), p)).collect();
    let width = source.iter().map(|l| l.chars().count()).max().unwrap_or(0).max(60);
    let mut out: Vec<String> = Vec::new();
    let mut after_text = false;
    for line in lines {
        if line.is_empty() {
            out.push(String::new());
            continue;
        }
        if after_text {
            out.push(String::new());
        }
        after_text = true;
        match known.iter().find(|(text, _)| text == line) {
            Some((_, as_was)) => out.extend(as_was.iter().map(|l| (*l).to_owned())),
            None => wrap(line, width, &mut out),
        }
    }
    Some(out)
}

/// Breaks a line at single blanks, so that no part is wider than it has to be.
fn wrap(line: &str, width: usize, out: &mut Vec<String>) {
    let bytes = line.as_bytes();
    let breaks = |i: usize| bytes[i] == b' ' && bytes.get(i + 1) != Some(&b' ') && i > 0 && bytes[i - 1] != b' ';
    let (mut start, mut last) = (0, None);
    for i in 0..bytes.len() {
        if line[start..].char_indices().nth(width).is_some_and(|(w, _)| start + w < i)
            && let Some(cut) = last.take()
        {
            out.push(line[start..cut].to_owned());
            start = cut + 1;
        }
        if breaks(i) {
            last = Some(i);
        }
    }
    out.push(line[start..].to_owned());
}
