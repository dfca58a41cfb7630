//! From parser events to trees, a document at a time. Bounded in depth, values and alias expansion; after an
//! error it goes on with the next document, so that the errors of the others show too.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle, Tag};

use crate::diag::codes;
use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::yaml::{
    Key, Kind, MAX_BYTES, MAX_DEPTH, MAX_EXPANSION, MAX_FINDINGS, MAX_NODES, NODE_COST, Node, hint, scalar,
};

/// One document of a stream.
#[derive(Debug)]
pub struct Doc {
    /// The tree; none if it could not be read to its end.
    pub root: Option<Node>,
    /// The bytes of the document, its `---` line included.
    pub range: Range<usize>,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
    /// How it is written, for readers that take less than all of YAML.
    pub style: Style,
}

/// What of YAML a document uses that some readers of front matter refuse: where it is first used.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// `{…}` or `[…]`.
    pub flow: Option<Range<usize>>,
    /// An anchor, an alias or a merge key.
    pub anchors: Option<Range<usize>>,
}

/// The documents of a text, read one by one.
pub struct Documents<'a> {
    index: &'a LineIndex,
    parser: Parser<'a, StrInput<'a>>,
    base: usize,
    end: usize,
    /// Values so far, over all documents.
    nodes: usize,
    done: bool,
}

/// Reads the documents of a part of a text; spans are those of the whole text.
pub fn documents(index: &LineIndex, range: Range<usize>) -> Documents<'_> {
    let mut options = granit_parser::options! { strict_indentation: false, emit_unresolved_aliases: true };
    options.set_emit_comments(false);
    let text = index.text().get(range.clone()).unwrap_or_default();
    let parser = Parser::new_from_str_with_options(text, options);
    Documents { index, parser, base: range.start, end: range.end, nodes: 0, done: false }
}

/// All documents of a text and everything that is wrong with them.
pub fn parse(index: &LineIndex) -> (Vec<Node>, Diagnostics) {
    let (mut nodes, mut found) = (Vec::new(), Diagnostics::default());
    if index.text().len() > MAX_BYTES {
        found.push(too_large(index));
        return (nodes, found);
    }
    for doc in documents(index, 0..index.text().len()) {
        nodes.extend(doc.root);
        found.extend(doc.diagnostics);
    }
    (nodes, found)
}

/// The diagnostic of a file that is larger than [`MAX_BYTES`].
pub(crate) fn too_large(index: &LineIndex) -> Diagnostic {
    let message = format!("the file has {} bytes, more than {MAX_BYTES}", index.text().len());
    Diagnostic::new(&codes::manifest::TOO_LARGE, message).at(index.locate(0..0), "")
}

/// The diagnostic of a document or file that has more findings than are told.
pub(crate) fn too_many(index: &LineIndex, at: Range<usize>, what: &str) -> Diagnostic {
    Diagnostic::new(&code::TOO_MANY, format!("the findings in {what} from here on are not shown"))
        .at(index.locate(at), "")
}

impl Iterator for Documents<'_> {
    type Item = Doc;

    fn next(&mut self) -> Option<Doc> {
        if self.done {
            return None;
        }
        let mut tree = Tree::new(self.index, self.base);
        let mut range = None;
        loop {
            let (event, span) = match self.parser.next_event() {
                None => {
                    self.done = true;
                    return None;
                }
                Some(Err(error)) => {
                    let d = hint::syntax(self.index, self.base, &error);
                    // What was refused on a line before mostly breaks the grammar of that line too.
                    let line = |d: &Diagnostic| d.place().map(|at| at.line);
                    if !tree.found.0.iter().any(|o| line(o) == line(&d)) {
                        tree.found.push(d);
                    }
                    return Some(self.abandon(tree, range));
                }
                Some(Ok(event)) => event,
            };
            let bytes = tree.bytes(&span);
            match event {
                Event::StreamEnd => {
                    self.done = true;
                    return None;
                }
                Event::DocumentStart(..) => range = Some(bytes.start),
                Event::DocumentEnd => {
                    let range = range.unwrap_or(bytes.start)..bytes.start.max(range.unwrap_or(0));
                    return Some(Doc { root: tree.root, range, diagnostics: tree.found, style: tree.style });
                }
                event => {
                    self.nodes += 1;
                    if self.nodes > MAX_NODES {
                        self.done = true;
                        let message = format!("the file holds more than {MAX_NODES} values");
                        let at = self.index.locate(bytes);
                        tree.found.push(Diagnostic::new(&codes::manifest::TOO_LARGE, message).at(at, ""));
                        return Some(self.abandon(tree, range));
                    }
                    if tree.take(event, &span, bytes).is_err() {
                        return Some(self.abandon(tree, range));
                    }
                }
            }
        }
    }
}

impl Documents<'_> {
    /// Gives up a document and moves to the next one.
    fn abandon(&mut self, tree: Tree<'_>, start: Option<usize>) -> Doc {
        let more = !self.done && matches!(self.parser.proceed_next_document(), Ok(true));
        self.done |= !more;
        let end = match self.parser.peek() {
            Some(Ok((_, span))) if more => span.byte_range().map_or(self.end, |r| r.start + self.base),
            _ => self.end,
        };
        let start = start.unwrap_or(self.base).min(end);
        Doc { root: None, range: start..end, diagnostics: tree.found, style: tree.style }
    }
}

/// An open collection.
struct Frame {
    items: Items,
    anchor: usize,
    span: Range<usize>,
    cost: Cost,
}

enum Items {
    Seq(Vec<Node>),
    Map { entries: Vec<(Key, Node)>, key: Option<Pending>, seen: HashMap<String, Range<usize>> },
}

/// A key whose value is still to come.
enum Pending {
    Key(Key),
    /// Refused: the value is read and dropped.
    Dropped,
}

/// What a node would cost written out in full, and how deep it goes.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    bytes: u64,
    depth: u32,
}

/// Nothing more can be made of this document.
struct Abandon;

struct Tree<'a> {
    index: &'a LineIndex,
    base: usize,
    root: Option<Node>,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Option<(Arc<Node>, Cost)>>,
    expanded: u64,
    found: Diagnostics,
    style: Style,
}

impl<'a> Tree<'a> {
    fn new(index: &'a LineIndex, base: usize) -> Self {
        Tree {
            index,
            base,
            root: None,
            stack: Vec::new(),
            anchors: HashMap::new(),
            expanded: 0,
            found: Diagnostics::default(),
            style: Style::default(),
        }
    }

    fn bytes(&self, span: &Span) -> Range<usize> {
        let range = span.byte_range().unwrap_or(0..0);
        range.start + self.base..range.end + self.base
    }

    fn report(&mut self, code: &'static crate::diag::Code, message: impl Into<String>, at: Range<usize>) {
        self.found.push(Diagnostic::new(code, message).at(self.index.locate(at), ""));
    }

    fn take(&mut self, event: Event<'_>, span: &Span, bytes: Range<usize>) -> Result<(), Abandon> {
        if self.found.0.len() >= MAX_FINDINGS {
            self.found.push(too_many(self.index, bytes, "this document"));
            return Err(Abandon);
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let refused = self.tag(tag.as_deref(), span);
                let kind = match style {
                    _ if refused => Kind::Refused,
                    // An absent value comes as `~` with an empty span.
                    ScalarStyle::Plain if bytes.is_empty() => Kind::Null,
                    ScalarStyle::Plain => scalar::core(&text),
                    _ => Kind::Str(text.into_owned()),
                };
                let cost = Cost { bytes: bytes.len() as u64 + NODE_COST, depth: 1 };
                self.mark_anchor(anchor, &bytes);
                self.finish(Node { kind, span: bytes, via: None }, anchor, cost);
                Ok(())
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(Items::Seq(Vec::new()), style, anchor, tag.as_deref(), span, bytes)
            }
            Event::MappingStart(style, anchor, tag) => {
                let items = Items::Map { entries: Vec::new(), key: None, seen: HashMap::new() };
                self.open(items, style, anchor, tag.as_deref(), span, bytes)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.close(&bytes);
                Ok(())
            }
            Event::Alias(id) => self.alias(id, bytes),
            Event::UnresolvedAlias(name) => {
                let d = Diagnostic::new(&code::ALIAS, format!("no anchor `&{name}` is defined before this alias"));
                let d = d.at(self.index.locate(bytes.clone()), "");
                self.found.push(hint::quoting(self.index, &bytes, d));
                self.finish(Node { kind: Kind::Refused, span: bytes, via: None }, 0, Cost::default());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refuses a tag; says whether there was one.
    fn tag(&mut self, tag: Option<&Tag>, span: &Span) -> bool {
        let Some(tag) = tag else { return false };
        let start = span.tag_start.and_then(|m| m.byte_offset()).unwrap_or(0) + self.base;
        let written = tag.original();
        self.report(&code::TAG, format!("the tag `{written}` is not allowed"), start..start + written.len());
        true
    }

    fn mark_anchor(&mut self, anchor: usize, bytes: &Range<usize>) {
        if anchor != 0 {
            self.style.anchors.get_or_insert_with(|| bytes.clone());
        }
    }

    fn open(
        &mut self,
        items: Items,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &Span,
        bytes: Range<usize>,
    ) -> Result<(), Abandon> {
        self.tag(tag, span);
        self.mark_anchor(anchor, &bytes);
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        if style == StructureStyle::Flow {
            self.style.flow.get_or_insert_with(|| bytes.clone());
        }
        if self.stack.len() >= MAX_DEPTH as usize {
            self.report(&code::TOO_DEEP, format!("nested deeper than {MAX_DEPTH} levels"), bytes);
            return Err(Abandon);
        }
        self.stack.push(Frame { items, anchor, span: bytes, cost: Cost { bytes: NODE_COST, depth: 1 } });
        Ok(())
    }

    fn close(&mut self, bytes: &Range<usize>) {
        let Some(frame) = self.stack.pop() else { return };
        let flow = self.index.text().as_bytes().get(frame.span.start).is_some_and(|b| matches!(b, b'{' | b'['));
        let (kind, last) = match frame.items {
            Items::Seq(items) => {
                let last = items.last().map(|n| n.place().end);
                (Kind::Seq(items), last)
            }
            Items::Map { mut entries, .. } => {
                let last = entries.iter().map(|(k, v)| k.span.end.max(v.place().end)).max();
                self.merge(&mut entries);
                (Kind::Map(entries), last)
            }
        };
        // The end of a block collection is the start of the next token, which may be lines away.
        let end = if flow { bytes.end } else { last.unwrap_or(frame.span.end) };
        let span = frame.span.start..end.max(frame.span.start);
        self.finish(Node { kind, span, via: None }, frame.anchor, frame.cost);
    }

    fn alias(&mut self, id: usize, bytes: Range<usize>) -> Result<(), Abandon> {
        self.style.anchors.get_or_insert_with(|| bytes.clone());
        let (node, cost) = match self.anchors.get(&id) {
            Some(Some((node, cost))) => (node.clone(), *cost),
            _ => {
                self.report(&code::ALIAS, "an alias inside of what it stands for", bytes.clone());
                self.finish(Node { kind: Kind::Refused, span: bytes, via: None }, 0, Cost::default());
                return Ok(());
            }
        };
        if self.stack.len() + cost.depth as usize > MAX_DEPTH as usize {
            self.report(&code::TOO_DEEP, format!("nested deeper than {MAX_DEPTH} levels through this alias"), bytes);
            return Err(Abandon);
        }
        self.expanded = self.expanded.saturating_add(cost.bytes);
        if self.expanded > MAX_EXPANSION {
            let message = format!("aliases expand to more than {MAX_EXPANSION} bytes");
            self.report(&code::ALIAS_EXPANSION, message, bytes);
            return Err(Abandon);
        }
        let span = node.span.clone();
        self.finish(Node { kind: Kind::Shared(node), span, via: Some(bytes) }, 0, cost);
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, mut node: Node, anchor: usize, cost: Cost) {
        if anchor != 0 {
            let span = node.span.clone();
            let shared = Arc::new(node);
            self.anchors.insert(anchor, Some((shared.clone(), cost)));
            node = Node { kind: Kind::Shared(shared), span, via: None };
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return;
        };
        frame.cost.bytes = frame.cost.bytes.saturating_add(cost.bytes);
        frame.cost.depth = frame.cost.depth.max(cost.depth + 1);
        match &mut frame.items {
            Items::Seq(items) => items.push(node),
            Items::Map { entries, key, .. } => match key.take() {
                Some(Pending::Key(k)) => entries.push((k, node)),
                Some(Pending::Dropped) => {}
                None => {
                    let pending = self.key(&node);
                    if let Some(Frame { items: Items::Map { key, .. }, .. }) = self.stack.last_mut() {
                        *key = Some(pending);
                    }
                }
            },
        }
    }

    /// Checks a key: a scalar, and not there yet.
    fn key(&mut self, node: &Node) -> Pending {
        let span = node.place();
        let text = match node.get() {
            Kind::Str(s) => s.clone(),
            Kind::Refused => return Pending::Dropped,
            Kind::Seq(_) | Kind::Map(_) | Kind::Shared(_) => {
                self.found.push(hint::complex_key(self.index, &span));
                return Pending::Dropped;
            }
            _ => self.index.text().get(node.span.clone()).unwrap_or_default().to_owned(),
        };
        let Some(Frame { items: Items::Map { entries, seen, .. }, .. }) = self.stack.last_mut() else {
            return Pending::Dropped;
        };
        // Short maps are searched, long ones hashed: most maps are short.
        let first = if entries.len() < 16 {
            entries.iter().find(|(k, _)| k.text == text).map(|(k, _)| k.span.clone())
        } else {
            if seen.is_empty() {
                seen.extend(entries.iter().map(|(k, _)| (k.text.clone(), k.span.clone())));
            }
            let first = seen.get(&text).cloned();
            if first.is_none() {
                seen.insert(text.clone(), span.clone());
            }
            first
        };
        let Some(first) = first else { return Pending::Key(Key { text, span, merged: None }) };
        let d = Diagnostic::new(&code::DUPLICATE_KEY, format!("the key `{text}` is written twice"))
            .at(self.index.locate(span), "again here")
            .at(self.index.locate(first), "first here");
        self.found.push(d);
        Pending::Dropped
    }

    /// Puts the entries of `<<` where it stands; a key that is written wins.
    fn merge(&mut self, entries: &mut Vec<(Key, Node)>) {
        let is_merge = |(k, _): &(Key, Node)| k.text == "<<" && k.span.len() == 2;
        let Some(position) = entries.iter().position(is_merge) else { return };
        let (key, value) = entries.remove(position);
        self.style.anchors.get_or_insert_with(|| key.span.clone());
        let sources: &[Node] = match value.get() {
            Kind::Map(_) => std::slice::from_ref(&value),
            Kind::Seq(items) => items,
            _ => &[],
        };
        if sources.is_empty() || sources.iter().any(|s| s.as_map().is_none()) {
            self.report(&code::MERGE_KEY, "`<<` takes a map or a list of maps", value.place());
            return;
        }
        let merged = Some(key.span.start..key.span.end.max(value.place().end));
        let mut known: std::collections::HashSet<String> = entries.iter().map(|(k, _)| k.text.clone()).collect();
        for source in sources {
            for (k, v) in source.as_map().unwrap_or_default() {
                if known.insert(k.text.clone()) {
                    let via = source.via.clone().or_else(|| value.via.clone()).or_else(|| v.via.clone());
                    entries.push((Key { merged: merged.clone(), ..k.clone() }, Node { via, ..v.clone() }));
                }
            }
        }
    }
}
