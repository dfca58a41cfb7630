//! Two prose texts, compared sentence by sentence. Where a line ends says nothing in a paragraph: one that was wrapped
//! anew is the same. Items of lists, headings, rows of tables and blocks of code are lines of their own.

use std::ops::Range;

use similar::{Algorithm, DiffOp, TextDiff};
use unicode_segmentation::UnicodeSegmentation;

use crate::cli::view::diff::{ALIKE, MOST_DIFFERING, Mark, Part, Unit, same_ends, words};

/// From so many bytes on, a line that ends a line may go on in the next one: a shorter one was ended by its writer.
const WRAPPED: usize = 48;
/// From so many bytes on, an item of a list is compared by sentence too.
const LONG_ITEM: usize = 160;

/// A line without anything in it.
const EMPTY: &str = "\n";

/// How two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prose {
    /// In blanks, line ends and empty lines alone.
    WhiteSpace,
    /// Under 40 % are alike: one text took the place of another.
    Rewritten {
        /// All sentences of the old one.
        before: Vec<String>,
        /// All sentences of the new one.
        after: Vec<String>,
    },
    /// In some places.
    Changed {
        /// The places, in order.
        places: Vec<Place>,
        /// How many sentences the new text has, empty lines not counted.
        sentences: usize,
    },
}

/// A place where two texts differ, with a sentence around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which sentences of the new text, from 0, empty lines not counted; none where all of it is gone.
    pub range: Range<usize>,
    /// Its sentences.
    pub rows: Vec<Row>,
}

/// A sentence of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `Same`, `Removed` or `Added`; `Changed` for the words in which the sentences before it differ.
    pub mark: Mark,
    /// The sentence in one part; of `Changed` both sentences in one, word by word.
    pub parts: Vec<Part>,
}

impl Row {
    fn whole(mark: Mark, text: &str) -> Self {
        Self { mark, parts: vec![Part { mark, text: text.trim_end_matches('\n').to_owned() }] }
    }

    /// Its text.
    pub fn text(&self) -> String {
        self.parts.iter().map(|p| p.text.as_str()).collect()
    }
}

/// Compares two texts that are not equal.
pub fn prose(before: &str, after: &str) -> Prose {
    let (old, new) = (sentences(before), sentences(after));
    if shown(&old) == shown(&new) {
        return Prose::WhiteSpace;
    }
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let rewritten = || Prose::Rewritten { before: shown(&old), after: shown(&new) };
    let (head, tail) = same_ends(&a, &b);
    if a.len() + b.len() - 2 * (head + tail) > MOST_DIFFERING {
        return rewritten();
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Histogram).diff_slices(&a, &b);
    let mut places = Vec::new();
    let stays = diff.ops().iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    let mut alike: usize = stays.map(|op| ink(&b[op.new_range()])).sum();
    // One sentence on each side; between it and the change there may be an empty line.
    for group in diff.grouped_ops(2) {
        let start = group.first().map_or(0, |op| op.new_range().start);
        let end = group.last().map_or(0, |op| op.new_range().end);
        let mut rows = Vec::new();
        for op in group {
            alike += place(&op, &a, &b, &mut rows);
        }
        let (before, after) = trim(&mut rows);
        let range = told(&b[..start]) + before..told(&b[..end]) - after;
        places.push(Place { range, rows });
    }
    let most = ink(&a).max(ink(&b)).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = alike as f64 / most as f64;
    if share < ALIKE && ink(&a) > 0 && ink(&b) > 0 {
        return rewritten();
    }
    Prose::Changed { places, sentences: told(&b) }
}

/// How many are no empty lines.
fn told(sentences: &[&str]) -> usize {
    sentences.iter().filter(|s| **s != EMPTY).count()
}

/// Leaves one sentence of context at each end and no empty line that stays, and says how many sentences went.
fn trim(rows: &mut Vec<Row>) -> (usize, usize) {
    rows.retain(|row| row.mark != Mark::Same || !row.text().is_empty());
    let same = |row: &&Row| row.mark == Mark::Same;
    let before = rows.iter().take_while(same).count().saturating_sub(1);
    rows.drain(..before);
    let after = rows.iter().rev().take_while(same).count().saturating_sub(1);
    rows.truncate(rows.len() - after);
    (before, after)
}

fn shown(sentences: &[String]) -> Vec<String> {
    sentences.iter().filter(|s| *s != EMPTY).map(|s| s.trim_end_matches('\n').to_owned()).collect()
}

/// Bytes that are seen.
fn ink(texts: &[&str]) -> usize {
    texts.iter().flat_map(|t| t.bytes()).filter(|b| !b.is_ascii_whitespace()).count()
}

/// Lays out what an operation does, and says how many bytes that are seen stayed in it.
fn place(op: &DiffOp, a: &[&str], b: &[&str], rows: &mut Vec<Row>) -> usize {
    let (old, new) = (&a[op.old_range()], &b[op.new_range()]);
    let all = |mark: Mark, texts: &[&str]| texts.iter().map(|t| Row::whole(mark, t)).collect::<Vec<_>>();
    match op {
        DiffOp::Equal { .. } => {
            rows.extend(all(Mark::Same, new));
            0
        }
        DiffOp::Replace { .. } => replaced(old, new, rows),
        DiffOp::Delete { .. } | DiffOp::Insert { .. } => {
            rows.extend(all(Mark::Removed, old));
            rows.extend(all(Mark::Added, new));
            0
        }
    }
}

/// Sentences in the place of others: each against the one at its place where there are as many, else all against all.
fn replaced(old: &[&str], new: &[&str], rows: &mut Vec<Row>) -> usize {
    let each: Option<Vec<Pair>> = (old.len() == new.len())
        .then(|| old.iter().zip(new).map(|(x, y)| pair(&[*x], &[*y])).collect::<Option<_>>())
        .flatten();
    let pairs = each.or_else(|| pair(old, new).map(|pair| vec![pair]));
    let Some(pairs) = pairs else {
        rows.extend(old.iter().map(|t| Row::whole(Mark::Removed, t)));
        rows.extend(new.iter().map(|t| Row::whole(Mark::Added, t)));
        return 0;
    };
    let alike = pairs.iter().map(|p| p.alike).sum();
    rows.extend(pairs.into_iter().flat_map(|p| p.rows));
    alike
}

/// Sentences that belong together.
struct Pair {
    rows: Vec<Row>,
    alike: usize,
}

/// Sentences that go, those that come, and the words in which they differ. `None`: too little is alike to name words.
fn pair(old: &[&str], new: &[&str]) -> Option<Pair> {
    let pieces = words(&units(old), &units(new))?;
    let alike = pieces.iter().filter(|p| p.mark == Mark::Same).map(|p| ink(&[&p.text])).sum();
    let mut rows: Vec<Row> = old.iter().map(|t| Row::whole(Mark::Removed, t)).collect();
    rows.extend(new.iter().map(|t| Row::whole(Mark::Added, t)));
    rows.push(Row { mark: Mark::Changed, parts: pieces });
    Some(Pair { rows, alike })
}

fn units<'a>(texts: &[&'a str]) -> Vec<Unit<'a>> {
    texts.iter().map(|text| Unit { text, line: 0 }).collect()
}

/// The sentences of a text, each with a line feed at its end; an empty one is an empty line. Blanks in a row are one.
fn sentences(text: &str) -> Vec<String> {
    let mut split = Split::default();
    for line in text.lines() {
        split.line(line);
    }
    split.end_paragraph();
    let mut out = split.out;
    while out.last().is_some_and(|s| s == EMPTY) {
        out.pop();
    }
    out
}

/// What was read of a text.
#[derive(Default)]
struct Split {
    out: Vec<String>,
    /// Lines that belong together, joined by blanks.
    paragraph: String,
    /// Of an item of a list: short ones stay whole.
    item: bool,
    /// May the next line go on where the last one ended?
    open: bool,
    /// What ends the block of code that was begun.
    fence: Option<String>,
}

impl Split {
    fn line(&mut self, line: &str) {
        let inner = line.trim_start_matches([' ', '\t']);
        if let Some(fence) = &self.fence {
            let ends = inner.starts_with(fence.as_str());
            self.alone(line);
            if ends {
                self.fence = None;
            }
        } else if let Some(fence) = fence_of(inner) {
            self.fence = Some(fence);
            self.alone(line);
        } else if inner.is_empty() {
            self.end_paragraph();
            if self.out.last().is_some_and(|s| s != EMPTY) {
                self.out.push(EMPTY.to_owned());
            }
        } else if inner.starts_with(['#', '|', '<', '>']) || (!self.open && line.len() - inner.len() >= 4) {
            self.alone(line);
        } else {
            let item = is_item(inner);
            if item || !self.open {
                self.end_paragraph();
                self.item = item;
                self.paragraph.push_str(&line[..line.len() - inner.len()]);
            } else {
                self.paragraph.push(' ');
            }
            let words: Vec<&str> = inner.split([' ', '\t']).filter(|w| !w.is_empty()).collect();
            self.paragraph.push_str(&words.join(" "));
            self.open = line.len() >= WRAPPED;
        }
    }

    fn alone(&mut self, line: &str) {
        self.end_paragraph();
        self.out.push(format!("{line}\n"));
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        self.open = false;
        if self.item && text.len() <= LONG_ITEM {
            self.out.push(format!("{text}\n"));
        } else {
            let sentences = text.split_sentence_bounds().map(|s| s.trim_end_matches(' ')).filter(|s| !s.is_empty());
            self.out.extend(sentences.map(|s| format!("{s}\n")));
        }
        self.item = false;
    }
}

/// What a block of code ends with, where a line begins one.
fn fence_of(line: &str) -> Option<String> {
    let sign = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let run: String = line.chars().take_while(|c| *c == sign).collect();
    (run.len() >= 3).then_some(run)
}

fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") "));
    numbered || ["- ", "* ", "+ "].iter().any(|sign| line.starts_with(sign))
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
