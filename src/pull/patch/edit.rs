//! From a document and the value that it is to have, to the few bytes that differ.
//!
//! One pass changes scalars where they stand; where a list or a map has nothing of that kind to change, entries are
//! added, and where none is missing, entries are taken out. Passes are repeated until the document reads as it should
//! ([`super::rewrite`]), so no pass has to know what another one moves. What an alias brings is written out where it
//! is used, and what is about to go or change is written out first at every alias of it.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::manifest::yaml::Kind;
use crate::pull::patch::layout::{Holder, Place, column, line_end, line_start, next_line, trivia};
use crate::pull::patch::write::{Scalar, Writer, in_order, indented};

/// Bytes that are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

impl Edit {
    fn new(at: Range<usize>, text: impl Into<String>) -> Self {
        Self { at, text: text.into() }
    }
}

/// One pass over a document.
pub(super) struct Pass<'a> {
    pub(super) text: &'a str,
    pub(super) root: &'a Place<'a>,
    pub(super) writer: Writer,
}

impl Pass<'_> {
    /// The edits of this pass; none if the document has the value already.
    pub(super) fn edits(&self, target: &Value) -> Vec<Edit> {
        let mut edits = self.differ(self.root, target);
        edits.sort_by_key(|e| (e.at.start, e.at.end));
        // An alias may be written out for two reasons; the next pass sees to the second one.
        let mut from = 0;
        edits.retain(|e| {
            let apart = e.at.start >= from;
            from = if apart { e.at.end } else { from };
            apart
        });
        edits
    }

    fn differ(&self, place: &Place<'_>, target: &Value) -> Vec<Edit> {
        if place.node.to_json() == *target {
            return Vec::new();
        }
        if !place.is_collection() {
            return self.replace(place, target);
        }
        // `[a: 1]` holds a map without braces, to which nothing can be added.
        let bare = place.flow && !place.is_bracketed(self.text);
        match (place.node.get(), target) {
            (Kind::Map(_), Value::Object(map)) if !map.is_empty() && !bare => self.map(place, map),
            (Kind::Seq(items), Value::Array(list)) if !list.is_empty() && !items.is_empty() => self.list(place, list),
            _ => self.replace(place, target),
        }
    }

    fn map(&self, place: &Place<'_>, target: &Map<String, Value>) -> Vec<Edit> {
        let changed: Vec<Edit> =
            place.below.iter().flat_map(|p| target.get(p.name()).map_or(Vec::new(), |t| self.differ(p, t))).collect();
        if !changed.is_empty() {
            return changed;
        }
        let has = place.node.to_json();
        let missing: Vec<(&String, &Value)> =
            in_order(target).into_iter().filter(|(k, v)| has.get(k.as_str()) != Some(*v)).collect();
        if !missing.is_empty() {
            return self.add_entries(place, &missing);
        }
        let entries = place.node.as_map().unwrap_or_default();
        let mut unwanted = entries.iter().filter(|(k, _)| !target.contains_key(&k.text));
        if let Some(merge) = unwanted.find_map(|(k, _)| k.merged.as_ref()) {
            return self.expand_merge(place, merge, Some(target));
        }
        let gone: Vec<usize> =
            (0..place.below.len()).filter(|i| !target.contains_key(place.below[*i].name())).collect();
        self.remove(place, &gone)
    }

    fn list(&self, place: &Place<'_>, target: &[Value]) -> Vec<Edit> {
        let old: Vec<Value> = place.below.iter().map(|p| p.node.to_json()).collect();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut number = |v: &Value| {
            let next = known.len();
            *known.entry(v.to_string()).or_insert(next)
        };
        let (before, after): (Vec<usize>, Vec<usize>) =
            (old.iter().map(&mut number).collect(), target.iter().map(&mut number).collect());
        let (mut changed, mut added, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            let (_, was, is) = op.as_tag_tuple();
            if let DiffOp::Equal { .. } = op {
                continue;
            }
            let both = was.len().min(is.len());
            for i in 0..both {
                changed.extend(self.differ(&place.below[was.start + i], &target[is.start + i]));
            }
            gone.extend(was.start + both..was.end);
            if is.len() > both {
                added.push((was.start + both, &target[is.start + both..is.end]));
            }
        }
        if !changed.is_empty() {
            return changed;
        }
        if !added.is_empty() {
            return added.into_iter().flat_map(|(i, items)| self.add_items(place, i, items)).collect();
        }
        self.remove(place, &gone)
    }

    /// Another value in place of this one.
    fn replace(&self, place: &Place<'_>, target: &Value) -> Vec<Edit> {
        let first = self.write_out_aliases(&(place.value..place.end));
        if !first.is_empty() {
            return first;
        }
        if place.flow {
            let written = match target {
                Value::Array(_) | Value::Object(_) => self.writer.flow(target),
                scalar => self.writer.in_style(self.text, place, scalar).first,
            };
            let lead = if !place.indicated {
                ": "
            } else if Self::touches(place) {
                " "
            } else {
                ""
            };
            return vec![Edit::new(place.value..place.end, format!("{lead}{written}"))];
        }
        let empty = |v: &Value| v.as_array().is_some_and(Vec::is_empty) || v.as_object().is_some_and(Map::is_empty);
        match target {
            Value::Array(_) | Value::Object(_) if !empty(target) => self.put_collection(place, target),
            _ => self.put_scalar(place, target),
        }
    }

    /// Would a value stand right at its indicator?
    fn touches(place: &Place<'_>) -> bool {
        place.holder != Holder::Document && place.value == place.from() && place.after > place.lead
    }

    /// Lines below the comments that stand between an indicator and its value.
    fn put_below_comments(&self, place: &Place<'_>, lines: Vec<String>) -> Vec<Edit> {
        let br = self.writer.line_break;
        let comments = self.text[place.from()..place.value].trim_end();
        let lines = indented(lines, place.column + 2).join(br);
        vec![Edit::new(place.from()..place.end, format!("{comments}{br}{lines}"))]
    }

    fn put_scalar(&self, place: &Place<'_>, target: &Value) -> Vec<Edit> {
        let block = place.is_collection() && !place.is_bracketed(self.text);
        let between = &self.text[place.from()..place.value];
        if between.contains('#') && place.holder != Holder::Document {
            let line = match target {
                Value::Array(_) | Value::Object(_) => self.writer.flow(target),
                scalar => self.writer.plainly().in_style(self.text, place, scalar).first,
            };
            return self.put_below_comments(place, vec![line]);
        }
        let Scalar { first, below } = match target {
            Value::Array(_) | Value::Object(_) => Scalar { first: self.writer.flow(target), below: Vec::new() },
            scalar if place.holder == Holder::Document => self.writer.plainly().in_style(self.text, place, scalar),
            scalar => self.writer.in_style(self.text, place, scalar),
        };
        let apart = !between.is_empty() && !between.contains(['\n', '\r']);
        let from = if block { place.from() } else { place.value };
        let lead = if from == place.from() && !(apart && from == place.value) { " " } else { "" };
        if below.is_empty() {
            return vec![Edit::new(from..place.end, format!("{lead}{first}"))];
        }
        self.put_block_text(place, from, &format!("{lead}{first}"), &below, target)
    }

    /// A block text: its header where the value stood, its lines below that line.
    fn put_block_text(
        &self,
        place: &Place<'_>,
        from: usize,
        first: &str,
        below: &[String],
        target: &Value,
    ) -> Vec<Edit> {
        let end = line_end(self.text, place.end);
        let tail = self.text[place.end..end].trim_end();
        let mut stop = end;
        let text = target.as_str().unwrap_or_default();
        if text.ends_with("\n\n") {
            // All blank lines behind it would be its own.
            while self.text.get(next_line(self.text, stop)..).is_some_and(|rest| {
                let line = rest.split(['\n', '\r']).next().unwrap_or_default();
                !rest.is_empty() && line.trim_matches([' ', '\t']).is_empty()
            }) {
                stop = line_end(self.text, next_line(self.text, stop));
            }
        }
        let br = self.writer.line_break;
        let last = if stop == self.text.len() && text.ends_with('\n') { br } else { "" };
        vec![Edit::new(from..stop, format!("{first}{tail}{br}{}{last}", below.join(br)))]
    }

    fn put_collection(&self, place: &Place<'_>, target: &Value) -> Vec<Edit> {
        let between = &self.text[place.from()..place.value];
        let flow = self.writer.flow(target);
        let same_kind = matches!(
            (place.node.get(), target),
            (Kind::Map(m), Value::Object(_)) if !m.is_empty()
        ) || matches!((place.node.get(), target), (Kind::Seq(i), Value::Array(_)) if !i.is_empty());
        let bracketed = place.is_collection() && place.is_bracketed(self.text) && same_kind;
        if between.contains('#') && !bracketed && place.holder != Holder::Document {
            let lines = if self.writer.plainly { vec![flow] } else { self.writer.block(target, true) };
            return self.put_below_comments(place, lines);
        }
        if self.writer.plainly || bracketed || place.holder == Holder::Document {
            let lead = if place.value == place.from() { " " } else { "" };
            return vec![Edit::new(place.value..place.end, format!("{lead}{flow}"))];
        }
        let br = self.writer.line_break;
        let lines = indented(self.writer.block(target, true), place.column + 2);
        let end = line_end(self.text, place.end);
        let tail = self.text[place.end..end].trim_end();
        let compact = place.holder == Holder::List && tail.is_empty() && place.anchor.is_none();
        let body = lines.join(br);
        let text = if compact { format!(" {}", body.trim_start()) } else { format!("{tail}{br}{body}") };
        vec![Edit::new(place.from()..end, text)]
    }

    /// Writes out every alias, elsewhere, of what stands in a range.
    fn write_out_aliases(&self, range: &Range<usize>) -> Vec<Edit> {
        let mut out = Vec::new();
        self.aliases(self.root, range, &mut out);
        out
    }

    fn aliases(&self, place: &Place<'_>, range: &Range<usize>, out: &mut Vec<Edit>) {
        // The span of a block text goes on over the blank lines behind it, so only where it begins counts.
        let within = |span: &Range<usize>| range.contains(&span.start);
        if place.is_alias() {
            if within(&place.node.span) && !within(&(place.value..place.end)) {
                let value = place.node.to_json();
                out.extend(match &value {
                    Value::Array(_) | Value::Object(_) if place.flow => {
                        vec![Edit::new(place.value..place.end, self.writer.flow(&value))]
                    }
                    Value::Array(_) | Value::Object(_) => self.put_collection(place, &value),
                    scalar if place.flow => {
                        vec![Edit::new(place.value..place.end, self.writer.in_style(self.text, place, scalar).first)]
                    }
                    scalar => self.put_scalar(place, scalar),
                });
            }
            return;
        }
        for merge in place.merges() {
            let entries = place.node.as_map().unwrap_or_default().iter();
            let mut of = entries.filter(|(k, _)| k.merged.as_ref() == Some(&merge));
            if !within(&merge) && of.any(|(k, _)| within(&k.span)) {
                out.extend(self.expand_merge(place, &merge, None));
            }
        }
        place.below.iter().for_each(|p| self.aliases(p, range, out));
    }

    /// Writes out the entries that a `<<` brings, those of `wanted` alone.
    fn expand_merge(&self, place: &Place<'_>, merge: &Range<usize>, wanted: Option<&Map<String, Value>>) -> Vec<Edit> {
        let entries = place.node.as_map().unwrap_or_default().iter();
        let of = entries.filter(|(k, _)| k.merged.as_ref() == Some(merge));
        let kept: Vec<(&String, Value)> = of
            .filter(|(k, _)| wanted.is_none_or(|w| w.contains_key(&k.text)))
            .map(|(k, v)| (&k.text, v.to_json()))
            .collect();
        let flow = place.is_bracketed(self.text);
        if kept.is_empty() {
            let at = place.below.iter().take_while(|p| p.lead < merge.start).count();
            let mut spans: Vec<Range<usize>> = place.below.iter().map(|p| p.lead..p.end).collect();
            spans.insert(at, merge.clone());
            return self.remove_spans(&spans, &[at], flow);
        }
        let text = if flow {
            let entries: Vec<String> =
                kept.iter().map(|(k, v)| format!("{}: {}", self.writer.text(k, true), self.writer.flow(v))).collect();
            entries.join(", ")
        } else {
            let at = column(self.text, merge.start);
            let lines: Vec<String> = kept.iter().flat_map(|(k, v)| self.writer.entry(k, v, true)).collect();
            let body = indented(lines, at).join(self.writer.line_break);
            // A comment behind `<<: *x` must not land in a block text.
            let rest = &self.text[merge.end..line_end(self.text, merge.end)];
            if rest.trim().is_empty() {
                body.trim_start().to_owned()
            } else {
                let hard = self.writer.plainly();
                let lines: Vec<String> = kept.iter().flat_map(|(k, v)| hard.entry(k, v, true)).collect();
                indented(lines, at).join(self.writer.line_break).trim_start().to_owned()
            }
        };
        vec![Edit::new(merge.clone(), text)]
    }

    fn add_entries(&self, place: &Place<'_>, entries: &[(&String, &Value)]) -> Vec<Edit> {
        if place.is_bracketed(self.text) {
            let text: Vec<String> = entries
                .iter()
                .map(|(k, v)| format!("{}: {}", self.writer.text(k, true), self.writer.flow(v)))
                .collect();
            let written = place.below.iter().map(|p| p.lead..p.end).chain(place.merges()).max_by_key(|r| r.end);
            return match written {
                Some(last) => self.add_in_brackets(&last, &text),
                None => vec![Edit::new(place.value + 1..place.value + 1, text.join(", "))],
            };
        }
        let lines: Vec<String> = entries.iter().flat_map(|(k, v)| self.writer.entry(k, v, true)).collect();
        let column = place.below.first().map_or_else(|| column(self.text, place.value), |p| p.column);
        self.add_lines(place.end, &indented(lines, column))
    }

    /// Items before the one at `index`.
    fn add_items(&self, place: &Place<'_>, index: usize, items: &[Value]) -> Vec<Edit> {
        let before = index.checked_sub(1).and_then(|i| place.below.get(i));
        if place.is_bracketed(self.text) {
            let text: Vec<String> = items.iter().map(|v| self.writer.flow(v)).collect();
            return match (before, place.below.first()) {
                (Some(before), _) => self.add_in_brackets(&(before.lead..before.end), &text),
                (None, Some(first)) => vec![Edit::new(first.lead..first.lead, format!("{}, ", text.join(", ")))],
                (None, None) => Vec::new(),
            };
        }
        let Some(first) = place.below.first() else { return Vec::new() };
        let as_blocks = place.below.iter().any(|p| p.is_collection() && !p.is_bracketed(self.text));
        let lines: Vec<String> = items.iter().flat_map(|v| self.writer.item(v, !as_blocks)).collect();
        let lines = indented(lines, first.column);
        match before {
            Some(before) => self.add_lines(before.end, &lines),
            None => {
                let br = self.writer.line_break;
                let body = lines.join(br);
                let pad = " ".repeat(first.column);
                vec![Edit::new(first.lead..first.lead, format!("{}{br}{pad}", body.trim_start()))]
            }
        }
    }

    /// Lines below the line in which something ends.
    fn add_lines(&self, end: usize, lines: &[String]) -> Vec<Edit> {
        let br = self.writer.line_break;
        let at = line_end(self.text, end);
        vec![Edit::new(at..at, lines.iter().flat_map(|l| [br, l.as_str()]).collect::<String>())]
    }

    /// Entries behind one inside of brackets; on lines of their own, if that one is.
    fn add_in_brackets(&self, last: &Range<usize>, entries: &[String]) -> Vec<Edit> {
        let text = self.text;
        let pad = &text[line_start(text, last.start)..last.start];
        let comma = trivia(text, last.end);
        let has_comma = text.as_bytes().get(comma) == Some(&b',') && comma < line_end(text, last.end);
        let rest_from = if has_comma { comma + 1 } else { last.end };
        let rest = text[rest_from..line_end(text, last.end)].trim();
        let own_line = pad.trim_matches([' ', '\t']).is_empty() && (rest.is_empty() || rest.starts_with('#'));
        if !own_line || pad.is_empty() {
            let all: String = entries.iter().flat_map(|e| [", ", e.as_str()]).collect();
            return vec![Edit::new(last.end..last.end, all)];
        }
        let br = self.writer.line_break;
        let at = line_end(text, last.end);
        let rows: Vec<String> = entries.iter().map(|e| format!("{pad}{e}")).collect();
        let rows = rows.join(&format!(",{br}"));
        if has_comma {
            return vec![Edit::new(at..at, format!("{br}{rows},"))];
        }
        vec![Edit::new(last.end..last.end, ","), Edit::new(at..at, format!("{br}{rows}"))]
    }

    /// Takes entries out of a list or map of which others stay.
    fn remove(&self, place: &Place<'_>, gone: &[usize]) -> Vec<Edit> {
        let aliases: Vec<Edit> =
            gone.iter().flat_map(|i| self.write_out_aliases(&(place.below[*i].lead..place.below[*i].end))).collect();
        if !aliases.is_empty() {
            return aliases;
        }
        let mut spans: Vec<Range<usize>> = place.below.iter().map(|p| p.lead..p.end).collect();
        let mut gone = gone.to_vec();
        for merge in place.merges() {
            let at = spans.iter().take_while(|s| s.start < merge.start).count();
            spans.insert(at, merge);
            gone.iter_mut().filter(|i| **i >= at).for_each(|i| *i += 1);
        }
        self.remove_spans(&spans, &gone, place.is_bracketed(self.text))
    }

    fn remove_spans(&self, spans: &[Range<usize>], gone: &[usize], flow: bool) -> Vec<Edit> {
        let text = self.text;
        let lines: Option<Vec<Edit>> = gone.iter().map(|i| self.own_lines(&spans[*i], flow)).collect();
        if let Some(lines) = lines {
            return lines;
        }
        let mut edits = Vec::new();
        let mut i = 0;
        while i < gone.len() {
            let first = gone[i];
            let mut last = first;
            while gone.get(i + 1) == Some(&(last + 1)) {
                (i, last) = (i + 1, last + 1);
            }
            i += 1;
            let next = spans.get(last + 1).map(|s| s.start);
            let before = first.checked_sub(1).map(|b| spans[b].end);
            edits.push(match (next, before) {
                (Some(next), _) if !flow && text[line_end(text, spans[last].end).min(next)..next].contains('#') => {
                    Edit::new(spans[first].start..spans[last].end, "")
                }
                (Some(next), _) => Edit::new(spans[first].start..next, ""),
                (None, Some(before)) => Edit::new(before..spans[last].end, ""),
                (None, None) => Edit::new(spans[first].start..spans[last].end, ""),
            });
        }
        edits
    }

    /// The whole lines of an entry, if nothing else stands in them.
    fn own_lines(&self, span: &Range<usize>, flow: bool) -> Option<Edit> {
        let text = self.text;
        let start = line_start(text, span.start);
        let lead = text[start..span.start].trim_start_matches('\u{feff}');
        if !lead.trim_matches([' ', '\t']).is_empty() {
            return None;
        }
        let mut end = span.end;
        if flow {
            let comma = trivia(text, end);
            if text.as_bytes().get(comma) == Some(&b',') && comma < line_end(text, end) {
                end = comma + 1;
            }
        }
        let rest = text[end..line_end(text, end)].trim();
        if !(rest.is_empty() || rest.starts_with('#')) {
            return None;
        }
        let start = span.start - lead.len();
        let next = next_line(text, end);
        // The last line of a file without a line end: the one before it is the last now.
        if next == line_end(text, end) && start > 0 && text[..start].ends_with(['\n', '\r']) {
            let cut = if text[..start].ends_with("\r\n") { 2 } else { 1 };
            return Some(Edit::new(start - cut..next, ""));
        }
        Some(Edit::new(start..next, ""))
    }
}
