//! What changes, as a fenced block of the language `diff`: every line begins with a sign, so that none can end the
//! fence or be a command of a runner. Code hosts colour such a block by line, and none marks words: where sentences
//! differ in a few words, a line of its own says which.

use std::fmt::Write;

use crate::cli::view::diff::{self, Line, Mark, Part, Prose};
use crate::cli::view::markup::fence;
use crate::cli::view::text::{clip, count, line, visible, width};
use crate::cli::view::values::{self, Shown};
use crate::plan::{FieldChange, FileVerb};

/// Columns of a line; a longer one goes on in the next.
const COLUMNS: usize = 100;
/// What stands before what goes on from the line before.
const GOES_ON: &str = "↪ ";
/// Most places where sentences differ in words that are named one by one.
const WORDS: usize = 6;
/// Longest words that are named.
const WORD: usize = 60;

/// A part of a block: a field, or a place in one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// What it is about; empty: no line says so.
    pub head: String,
    /// Its lines.
    pub rows: Vec<Row>,
    /// Where it has to be shortened, its first lines stay, and none of its last ones.
    pub from_top: bool,
}

/// A line, no longer than 100 columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it says; `Gap` for a remark, `Changed` for words.
    pub mark: Mark,
    /// Without its sign.
    pub text: String,
}

/// How much of a block is shown.
#[derive(Debug, Clone, Copy)]
pub struct Extent<'a> {
    /// With unchanged lines around what changes?
    pub context: bool,
    /// Most lines; more are counted.
    pub most: usize,
    /// Where the rest is, as `the plan file`.
    pub elsewhere: &'a str,
}

/// A block, and whether something is left out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// With its fence.
    pub text: String,
    /// Something is left out.
    pub cut: bool,
}

impl Hunk {
    /// Remarks and whatever else belongs to no field.
    pub fn bare(rows: Vec<Row>) -> Self {
        Self { rows, ..Self::default() }
    }

    fn lines(&self, context: bool) -> Vec<&Row> {
        self.rows.iter().filter(|row| context || row.mark != Mark::Same).collect()
    }
}

/// Lines of a text, each with this mark, wrapped.
pub fn rows(mark: Mark, text: &str) -> Vec<Row> {
    wrapped(&visible(text, false)).into_iter().map(|text| Row { mark, text }).collect()
}

/// How many lines a block has at most.
pub fn lines(hunks: &[Hunk]) -> usize {
    hunks.iter().map(|h| h.rows.len()).sum()
}

/// What changes in a field, and how its sentences go and come: `instructions` and `+2 −1`.
pub fn change(change: &FieldChange) -> (Vec<Hunk>, Option<(usize, usize)>) {
    let path = line(values::path(change));
    let text = |value: &Option<serde_json::Value>| value.as_ref().and_then(|v| v.as_str().map(str::to_owned));
    match (values::change(change), text(&change.before), text(&change.after)) {
        (Shown::Long(_), Some(before), Some(after)) => prose(&path, &before, &after),
        (shown, _, _) => (of_shown(&path, &shown), None),
    }
}

/// How a file's line is marked.
pub fn of_file(verb: FileVerb) -> Mark {
    match verb {
        FileVerb::Add => Mark::Added,
        FileVerb::Remove => Mark::Removed,
        FileVerb::Modify | FileVerb::Mode | FileVerb::Rename => Mark::Changed,
    }
}

/// A change that was laid out before, below its head.
pub fn of_shown(head: &str, shown: &Shown) -> Vec<Hunk> {
    let mut hunks = vec![Hunk { head: head.to_owned(), ..Hunk::default() }];
    match shown {
        Shown::Short { before, after } => {
            hunks[0].rows.extend(rows(Mark::Removed, before));
            hunks[0].rows.extend(rows(Mark::Added, after));
        }
        Shown::Long(lines) => {
            for line in lines {
                if line.mark == Mark::Gap {
                    hunks.push(Hunk { head: head.to_owned(), ..Hunk::default() });
                } else if let Some(hunk) = hunks.last_mut() {
                    hunk.rows.extend(of_line(line));
                }
            }
        }
    }
    hunks
}

/// One that changed in part is what goes, what comes, and the words.
fn of_line(line: &Line) -> Vec<Row> {
    let side =
        |gone: Mark| -> String { line.parts.iter().filter(|p| p.mark != gone).map(|p| p.text.as_str()).collect() };
    if line.mark != Mark::Changed {
        return rows(line.mark, side(Mark::Gap).trim_end_matches('\n'));
    }
    let mut out = rows(Mark::Removed, side(Mark::Added).trim_end_matches('\n'));
    out.extend(rows(Mark::Added, side(Mark::Removed).trim_end_matches('\n')));
    out.extend(words(&line.parts));
    out
}

fn prose(path: &str, before: &str, after: &str) -> (Vec<Hunk>, Option<(usize, usize)>) {
    match diff::prose(before, after) {
        Prose::WhiteSpace => {
            let says = "only blanks, line ends and empty lines differ";
            (vec![Hunk { head: path.to_owned(), rows: rows(Mark::Gap, says), from_top: false }], Some((0, 0)))
        }
        Prose::Rewritten { before, after } => {
            let side = |mark: Mark, word: &str, all: &[String]| Hunk {
                head: format!("{path}, rewritten: {word} {}", count(all.len(), "sentence")),
                rows: all.iter().flat_map(|s| rows(mark, s)).collect(),
                from_top: true,
            };
            let hunks = vec![side(Mark::Removed, "the old", &before), side(Mark::Added, "the new", &after)];
            (hunks, Some((after.len(), before.len())))
        }
        Prose::Changed { places, sentences } => {
            let of = |mark: Mark| places.iter().flat_map(|p| &p.rows).filter(|r| r.mark == mark).count();
            let counts = (of(Mark::Added), of(Mark::Removed));
            (places.iter().map(|place| of_place(path, place, sentences)).collect(), Some(counts))
        }
    }
}

fn of_place(path: &str, place: &diff::Place, sentences: usize) -> Hunk {
    let (first, last) = (place.range.start + 1, place.range.end);
    let which = match last.saturating_sub(place.range.start) {
        0 if sentences == 0 => "all sentences".to_owned(),
        0 => format!("before sentence {first} of {sentences}"),
        1 => format!("sentence {first} of {sentences}"),
        _ => format!("sentences {first}-{last} of {sentences}"),
    };
    let mut rows = Vec::new();
    for row in &place.rows {
        rows.extend(if row.mark == Mark::Changed { words(&row.parts) } else { self::rows(row.mark, &row.text()) });
    }
    Hunk { head: format!("{path}, {which}"), rows, from_top: false }
}

/// The words in which two texts differ, where they are few enough to be of use.
fn words(parts: &[Part]) -> Vec<Row> {
    let mut named: Vec<String> = Vec::new();
    // What ends a line is a whole sentence, which its own line shows.
    let mut parts = parts.iter().filter(|p| !p.text.is_empty() && !p.text.ends_with('\n')).peekable();
    while let Some(part) = parts.next() {
        let next = parts.next_if(|next| part.mark == Mark::Removed && next.mark == Mark::Added);
        match (part.mark, next) {
            (Mark::Removed, Some(new)) => named.push(format!("{} → {}", word(&part.text), word(&new.text))),
            (Mark::Removed, None) => named.push(format!("− {}", word(&part.text))),
            (Mark::Added, _) => named.push(format!("+ {}", word(&part.text))),
            _ => {}
        }
    }
    if named.is_empty() || named.len() > WORDS { Vec::new() } else { rows(Mark::Changed, &named.join(" · ")) }
}

/// Words as they are; in quotes where there are only signs and blanks, which could be overlooked.
fn word(text: &str) -> String {
    let short = clip(text.trim_matches(' '), WORD);
    if short.chars().any(char::is_alphanumeric) { short } else { format!("“{}”", clip(text, WORD)) }
}

/// A line that was made visible, in as many as it takes, at blanks where there are some.
fn wrapped(text: &str) -> Vec<String> {
    let room = COLUMNS - 2;
    if text.len() <= room {
        return vec![text.to_owned()];
    }
    let mut out: Vec<String> = Vec::new();
    let (mut start, mut blank, mut columns) = (0, None, 0);
    let mut buffer = [0; 4];
    for (i, c) in text.char_indices() {
        let wide = if c.is_ascii() { 1 } else { width(c.encode_utf8(&mut buffer)) };
        let most = if out.is_empty() { room } else { room - 2 };
        if columns + wide > most && i > start {
            let end = blank.filter(|b| *b > start).unwrap_or(i);
            out.push(text[start..end].to_owned());
            start = end;
            columns = width(&text[start..i]);
            blank = None;
        }
        columns += wide;
        if c == ' ' {
            blank = Some(i + 1);
        }
    }
    out.push(text[start..].to_owned());
    let last = out.len() - 1;
    let shown = |(i, text): (usize, String)| {
        let text = if i < last { text.trim_end_matches(' ') } else { &text };
        if i == 0 { text.to_owned() } else { format!("{GOES_ON}{text}") }
    };
    out.into_iter().enumerate().map(shown).collect()
}

/// The block: each hunk has its share of the lines, and says how many are left out. Empty where there is nothing.
pub fn block(hunks: &[Hunk], extent: Extent<'_>) -> Block {
    let shown: Vec<Vec<&Row>> = hunks.iter().map(|h| h.lines(extent.context)).collect();
    let sizes: Vec<usize> = shown.iter().map(Vec::len).collect();
    let fits = sizes.iter().sum::<usize>() <= extent.most;
    let places = if fits { hunks.len() } else { hunks.len().min((extent.most / 4).max(1)) };
    let share = share(&sizes[..places], extent.most);
    let mut body = String::new();
    let (mut before, mut cut): (Option<&str>, bool) = (None, false);
    for (hunk, rows) in hunks.iter().zip(&shown).take(places) {
        if before == Some(hunk.head.as_str()) && !hunk.head.is_empty() {
            body.push_str("  ⋯\n");
        } else if !hunk.head.is_empty() {
            let _ = writeln!(body, "@@ {} @@", clip(&hunk.head, 3 * COLUMNS));
        }
        before = Some(&hunk.head);
        // A line that says so in the place of one line would gain nothing.
        let keep = if rows.len() <= share.saturating_add(1) { rows.len() } else { share };
        let head = if hunk.from_top { keep } else { keep - keep / 3 };
        let (first, rest) = rows.split_at(head);
        let (between, last) = rest.split_at(rest.len() - (keep - head));
        for row in first {
            push(row, &mut body);
        }
        cut |= left_out(between, "", extent.elsewhere, &mut body);
        for row in last {
            push(row, &mut body);
        }
    }
    let others: Vec<&Row> = shown[places..].iter().flatten().copied().collect();
    let place = format!(" in {}", count(hunks.len() - places, "other place"));
    cut |= left_out(&others, &place, extent.elsewhere, &mut body);
    Block { text: if body.is_empty() { body } else { fence("diff", &body) }, cut }
}

/// Counts lines that are left out, if there are some.
fn left_out(rows: &[&Row], place: &str, elsewhere: &str, body: &mut String) -> bool {
    if rows.is_empty() {
        return false;
    }
    let of = |mark: Mark| rows.iter().filter(|r| r.mark == mark).count();
    let (come, gone, left) = (of(Mark::Added), of(Mark::Removed), count(rows.len(), "line"));
    let _ = writeln!(body, "# … {left}{place} left out here (+{come} −{gone}), see {elsewhere} …");
    true
}

fn push(row: &Row, body: &mut String) {
    let sign = match row.mark {
        Mark::Same => ' ',
        Mark::Removed => '-',
        Mark::Added => '+',
        Mark::Changed => '!',
        Mark::Gap => '#',
    };
    body.push(sign);
    body.push(' ');
    body.push_str(&row.text);
    body.push('\n');
}

/// Most lines of a hunk, so that all together have no more than `most`: what small ones do not need, large ones get.
fn share(sizes: &[usize], most: usize) -> usize {
    if sizes.iter().sum::<usize>() <= most {
        return usize::MAX;
    }
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut room = most;
    for (i, size) in sorted.iter().enumerate() {
        let each = room / (sorted.len() - i);
        if *size > each {
            return each.max(3);
        }
        room -= size;
    }
    usize::MAX
}
