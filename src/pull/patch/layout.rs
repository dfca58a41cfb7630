//! Where every value of a document stands: its indicator, its anchor, its own bytes, the column of what holds it.
//! Made from the span tree and the text; what an alias or a merge key brings is not part of it.

use std::ops::Range;

use crate::manifest::yaml::{Key, Kind, Node};

/// What a value is an entry of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// Nothing: it is the document.
    Document,
    /// A map.
    Map,
    /// A list.
    List,
}

/// A value where it is written.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) node: &'a Node,
    pub(super) key: Option<&'a Key>,
    pub(super) holder: Holder,
    /// The first byte of the entry: of its key, its dash, or itself.
    pub(super) lead: usize,
    /// Behind the colon or the dash.
    pub(super) after: usize,
    /// Is there a colon or dash at all? `{a}` has none.
    pub(super) indicated: bool,
    /// Its anchor, with the `&`.
    pub(super) anchor: Option<Range<usize>>,
    /// The first byte of the value itself: a quote, a bracket, the `|` of a block text, the first key or dash.
    pub(super) value: usize,
    /// Behind its last byte; of a block text, behind its last line, without the line end.
    pub(super) end: usize,
    /// Inside of brackets or braces.
    pub(super) flow: bool,
    /// The column of the entry.
    pub(super) column: usize,
    /// The entries that are written here, in their order.
    pub(super) below: Vec<Place<'a>>,
}

impl<'a> Place<'a> {
    /// An entry of which only its indicator was read.
    fn new(node: &'a Node, holder: Holder, (lead, after): (usize, usize), flow: bool, column: usize) -> Self {
        Self {
            node,
            key: None,
            holder,
            lead,
            after,
            indicated: true,
            anchor: None,
            value: after,
            end: after,
            flow,
            column,
            below: Vec::new(),
        }
    }

    /// Is it `{…}` or `[…]`?
    pub(super) fn is_bracketed(&self, text: &str) -> bool {
        matches!(self.node.get(), Kind::Map(_) | Kind::Seq(_)) && matches!(at(text, self.value), Some(b'{' | b'['))
    }

    /// Is it a text as a block, `|` or `>`?
    pub(super) fn is_block_text(&self, text: &str) -> bool {
        !self.is_alias()
            && !self.flow
            && matches!(self.node.get(), Kind::Str(_))
            && matches!(at(text, self.value), Some(b'|' | b'>'))
    }

    pub(super) fn is_alias(&self) -> bool {
        self.node.via.is_some()
    }

    /// The key that it is under; empty for what is under none.
    pub(super) fn name(&self) -> &str {
        self.key.map_or("", |k| &k.text)
    }

    /// A list or a map that is written here.
    pub(super) fn is_collection(&self) -> bool {
        !self.is_alias() && matches!(self.node.get(), Kind::Map(_) | Kind::Seq(_))
    }

    /// Behind the anchor, or else behind the indicator.
    pub(super) fn from(&self) -> usize {
        self.anchor.as_ref().map_or(self.after, |a| a.end)
    }

    /// The `<<` entries of a map, in the order of the file.
    pub(super) fn merges(&self) -> Vec<Range<usize>> {
        let entries = if self.is_alias() { &[] } else { self.node.as_map().unwrap_or_default() };
        let mut all: Vec<_> = entries.iter().filter_map(|(k, _)| k.merged.clone()).collect();
        all.dedup();
        all
    }
}

fn at(text: &str, pos: usize) -> Option<u8> {
    text.as_bytes().get(pos).copied()
}

/// The places of a document. `None`: something stands where nothing is known to stand.
pub(super) fn layout<'a>(text: &str, root: &'a Node) -> Option<Place<'a>> {
    let start = root.span.start;
    let place = Place::new(root, Holder::Document, (start, start), false, 0);
    fill(text, Place { end: root.span.end, ..place })
}

/// Finds anchor, value, end and entries of what begins behind [`Place::after`].
fn value<'a>(text: &str, mut place: Place<'a>) -> Option<Place<'a>> {
    let node = place.node;
    if let Some(via) = &node.via {
        (place.value, place.end) = (via.start, via.end);
        return Some(place);
    }
    let absent = matches!(node.get(), Kind::Null) && node.span.is_empty();
    let mut from = if absent { blanks(text, place.after) } else { trivia(text, place.after) };
    if at(text, from) == Some(b'&') {
        let name = text[from..].find([' ', '\t', '\n', '\r', ',', '[', ']', '{', '}']);
        place.anchor = Some(from..name.map_or(text.len(), |n| from + n));
        from = place.from();
        from = if absent { from } else { trivia(text, from) };
    }
    if absent {
        (place.value, place.end) = (place.from(), place.from());
        return Some(place);
    }
    place.value = from;
    place.end = node.span.end.max(from);
    fill(text, place)
}

/// Finds the entries, and with them the end of a block.
fn fill<'a>(text: &str, mut place: Place<'a>) -> Option<Place<'a>> {
    let bracketed = place.is_bracketed(text);
    match place.node.get() {
        Kind::Map(entries) => {
            for (key, node) in entries.iter().filter(|(k, _)| k.merged.is_none()) {
                place.below.push(entry(text, key, node, place.flow || bracketed)?);
            }
        }
        Kind::Seq(items) => {
            let mut from = if bracketed { place.value + 1 } else { place.value };
            for node in items {
                let item = item(text, from, node, place.flow || bracketed)?;
                from = item.end;
                place.below.push(item);
            }
        }
        _ if place.is_block_text(text) => place.end = block_end(text, &place)?,
        _ => {}
    }
    if !bracketed && matches!(place.node.get(), Kind::Map(_) | Kind::Seq(_)) {
        let merged = place.merges().into_iter().map(|m| m.end).max();
        place.end = place.below.last().map(|b| b.end).max(merged).unwrap_or(place.end);
    }
    Some(place)
}

fn entry<'a>(text: &str, key: &'a Key, node: &'a Node, flow: bool) -> Option<Place<'a>> {
    let lead = before_key(text, key.span.start);
    let colon = trivia(text, key.span.end);
    let indicated = at(text, colon) == Some(b':');
    let after = if indicated { colon + 1 } else { key.span.end };
    let place = Place::new(node, Holder::Map, (lead, after), flow, column(text, lead));
    let place = Place { key: Some(key), indicated, ..place };
    if !indicated {
        return (flow && matches!(node.get(), Kind::Null)).then_some(place);
    }
    value(text, place)
}

fn item<'a>(text: &str, from: usize, node: &'a Node, flow: bool) -> Option<Place<'a>> {
    let mut lead = trivia(text, from);
    if flow && at(text, lead) == Some(b',') {
        lead = trivia(text, lead + 1);
    }
    let dash = at(text, lead) == Some(b'-');
    let after = if flow { lead } else { lead + 1 };
    let place = Place::new(node, Holder::List, (lead, after), flow, column(text, lead));
    if flow || dash { value(text, place) } else { None }
}

/// A key may have `? ` and an anchor before it.
fn before_key(text: &str, start: usize) -> usize {
    let line = line_start(text, start);
    let mut lead = start;
    loop {
        let before = text[line..lead].trim_end_matches([' ', '\t']);
        let word = before.rfind([' ', '\t', ',', '{', '[']).map_or(0, |i| i + 1);
        let word_at = line + word;
        if before.len() == text[line..lead].len() || !(before[word..].starts_with('&') || &before[word..] == "?") {
            return lead;
        }
        lead = word_at;
    }
}

/// Behind the last line of a block text that counts: blank lines at its end only do with `+`.
fn block_end(text: &str, place: &Place<'_>) -> Option<usize> {
    let Kind::Str(value) = place.node.get() else { return None };
    let header = &text[place.value..line_end(text, place.value)];
    let keeps = header.split('#').next().is_some_and(|h| h.contains('+'));
    let mut end = place.value + header.trim_end().len();
    let mut pos = next_line(text, place.value);
    let indent = block_indent(text, pos, value);
    while pos < text.len() {
        let stop = line_end(text, pos);
        let line = &text[pos..stop];
        let blank = line.trim_matches(' ').is_empty();
        let inside = indent.is_some_and(|n| line.len() >= n && line.bytes().take(n).all(|b| b == b' '));
        if !(blank || inside) {
            break;
        }
        if inside && indent.is_some_and(|n| line.len() > n) || blank && keeps {
            end = stop;
        }
        pos = next_line(text, stop);
    }
    Some(end)
}

/// How far the lines of a block text are indented: its first line that holds more than blanks tells, less the blanks
/// that are its own.
pub(super) fn block_indent(text: &str, content: usize, value: &str) -> Option<usize> {
    let width = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = value.lines().find(|l| !l.trim_matches(' ').is_empty()).map(width)?;
    let line = text[content..].split(['\n', '\r']).find(|l| !l.trim_matches(' ').is_empty())?;
    width(line).checked_sub(own)
}

/// Skips blanks, line ends and comments.
pub(super) fn trivia(text: &str, mut pos: usize) -> usize {
    loop {
        let rest = &text[pos..];
        let skipped = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        pos += skipped;
        let opens = at(text, pos) == Some(b'#');
        let apart = pos == 0 || matches!(at(text, pos - 1), Some(b' ' | b'\t' | b'\n' | b'\r' | b','));
        if !(opens && apart) {
            return pos;
        }
        pos = line_end(text, pos);
    }
}

/// Skips blanks.
pub(super) fn blanks(text: &str, pos: usize) -> usize {
    let rest = &text[pos..];
    pos + rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

/// Where the line of a byte begins.
pub(super) fn line_start(text: &str, pos: usize) -> usize {
    text[..pos].rfind(['\n', '\r']).map_or(0, |i| i + 1)
}

/// The line end at or behind a byte, or the end of the text.
pub(super) fn line_end(text: &str, pos: usize) -> usize {
    text[pos..].find(['\n', '\r']).map_or(text.len(), |i| pos + i)
}

/// Where the next line begins.
pub(super) fn next_line(text: &str, pos: usize) -> usize {
    let end = line_end(text, pos);
    let rest = &text[end..];
    end + if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) }
}

/// Characters before a byte in its line.
pub(super) fn column(text: &str, pos: usize) -> usize {
    text[line_start(text, pos)..pos].trim_start_matches('\u{feff}').chars().count()
}

/// The line end that the text has.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find(['\n', '\r']) {
        Some(i) if text[i..].starts_with("\r\n") => "\r\n",
        Some(i) if text[i..].starts_with('\r') => "\r",
        _ => "\n",
    }
}
