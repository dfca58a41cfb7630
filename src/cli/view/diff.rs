//! Two texts → the lines where they differ, with changed words marked and little around them. No text is ever
//! shown twice in full: a line that changed in part is one line with its old and new words.

use similar::{Algorithm, DiffOp, TextDiff};
use unicode_segmentation::UnicodeSegmentation;

mod prose;

pub use prose::{Place, Prose, Row, prose};

/// Lines of context on each side of a changed place.
const CONTEXT: usize = 1;
/// From this many characters on, a line is compared sentence by sentence.
const LONG_LINE: usize = 160;
/// Unchanged characters that stay beside a changed word.
const AROUND: usize = 48;
/// From this many bytes on between its first and its last change, a changed place is shown as lines that go and lines that come.
const WORDS_LIMIT: usize = 40_000;
/// From more lines (or words) on that may differ, old and new ones together, none are looked for in the place of
/// others: the work grows with the square of their number. What is the same before and after them does not count.
const MOST_DIFFERING: usize = 20_000;
/// Less in common than this share of the bytes: the lines are other lines, not changed ones.
const ALIKE: f64 = 0.4;

/// What a line of a diff says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Unchanged, for context.
    Same,
    /// Gone.
    Removed,
    /// New.
    Added,
    /// Changed in part.
    Changed,
    /// Something unchanged is left out here.
    Gap,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub mark: Mark,
    /// Its number, from 1: in the old text where it is gone, else in the new one.
    pub number: usize,
    /// Its text in pieces.
    pub parts: Vec<Part>,
}

/// A piece of a line: unchanged, gone or new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `Same`, `Removed` or `Added`.
    pub mark: Mark,
    /// Raw text; may hold line feeds where lines were joined.
    pub text: String,
}

/// What is compared: a line, or a sentence of a long one.
#[derive(Debug, Clone, Copy)]
struct Unit<'a> {
    text: &'a str,
    line: usize,
}

/// The lines where two texts differ. Empty: they are equal.
pub fn lines(before: &str, after: &str) -> Vec<Line> {
    let (old, new) = (units(before), units(after));
    let old_texts: Vec<&str> = old.iter().map(|u| u.text).collect();
    let new_texts: Vec<&str> = new.iter().map(|u| u.text).collect();
    let (head, tail) = same_ends(&old_texts, &new_texts);
    if old.len() + new.len() - 2 * (head + tail) > MOST_DIFFERING {
        return replaced(&old, &new, head, tail);
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Histogram).diff_slices(&old_texts, &new_texts);
    let mut out: Vec<Line> = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        if !out.is_empty() {
            out.push(Line { mark: Mark::Gap, number: 0, parts: Vec::new() });
        }
        for op in group {
            place(&op, &old, &new, &mut out);
        }
    }
    out
}

/// How many are the same at the start, and at the end of the rest.
fn same_ends(old: &[&str], new: &[&str]) -> (usize, usize) {
    let head = old.iter().zip(new).take_while(|(x, y)| x == y).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    (head, tail)
}

/// All that lies between what is the same at both ends as lines that go, then lines that come.
fn replaced(old: &[Unit<'_>], new: &[Unit<'_>], head: usize, tail: usize) -> Vec<Line> {
    let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let before = &new[head.saturating_sub(CONTEXT)..head];
    let after = &new[new.len() - tail..(new.len() - tail + CONTEXT).min(new.len())];
    let parts = [(Mark::Same, before), (Mark::Removed, gone), (Mark::Added, come), (Mark::Same, after)];
    parts.into_iter().flat_map(|(mark, units)| units.iter().map(move |u| whole(mark, *u))).collect()
}

fn units(text: &str) -> Vec<Unit<'_>> {
    let mut out = Vec::new();
    for (i, text) in text.split_inclusive('\n').enumerate() {
        let line = i + 1;
        if text.len() > LONG_LINE {
            out.extend(text.split_sentence_bounds().map(|text| Unit { text, line }));
        } else {
            out.push(Unit { text, line });
        }
    }
    out
}

fn place(op: &DiffOp, old: &[Unit<'_>], new: &[Unit<'_>], out: &mut Vec<Line>) {
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    match op {
        DiffOp::Equal { .. } => out.extend(new.iter().map(|u| whole(Mark::Same, *u))),
        DiffOp::Delete { .. } => out.extend(old.iter().map(|u| whole(Mark::Removed, *u))),
        DiffOp::Insert { .. } => out.extend(new.iter().map(|u| whole(Mark::Added, *u))),
        DiffOp::Replace { .. } if line_by_line(old, new, out) => {}
        DiffOp::Replace { .. } => match words(old, new) {
            Some(pieces) => layout(pieces, old[0].line, new[0].line, out),
            None => {
                out.extend(old.iter().map(|u| whole(Mark::Removed, *u)));
                out.extend(new.iter().map(|u| whole(Mark::Added, *u)));
            }
        },
    }
}

/// As many whole lines as before, in each nothing but words in the place of words: each is compared with the one at
/// its place alone, which is much less work than with all. Words that go or come by themselves may have come from
/// another line. Says whether it was so; if not, nothing was laid out.
fn line_by_line(old: &[Unit<'_>], new: &[Unit<'_>], out: &mut Vec<Line>) -> bool {
    let lines = |units: &[Unit<'_>]| units[..units.len() - 1].iter().all(|u| u.text.ends_with('\n'));
    if old.len() != new.len() || old.len() < 2 || !lines(old) || !lines(new) {
        return false;
    }
    let known = out.len();
    for (a, b) in old.iter().zip(new) {
        let pieces = words(std::slice::from_ref(a), std::slice::from_ref(b));
        let Some(pieces) = pieces.filter(|pieces| in_place(pieces)) else {
            out.truncate(known);
            return false;
        };
        layout(pieces, a.line, b.line, out);
    }
    true
}

/// Does something come directly after all that goes, and nothing else come?
fn in_place(pieces: &[Part]) -> bool {
    let gone = |i: usize| pieces[i].mark == Mark::Removed;
    let come = |i: usize| pieces.get(i).is_some_and(|p| p.mark == Mark::Added);
    (0..pieces.len()).all(|i| if gone(i) { come(i + 1) } else { !come(i) || (i > 0 && gone(i - 1)) })
}

fn whole(mark: Mark, unit: Unit<'_>) -> Line {
    let text = unit.text.strip_suffix('\n').unwrap_or(unit.text);
    let text = if mark == Mark::Same { around(text, true, true) } else { text.to_owned() };
    let mark_of_part = if mark == Mark::Same { Mark::Same } else { mark };
    Line { mark, number: unit.line, parts: vec![Part { mark: mark_of_part, text }] }
}

/// The pieces of a changed place, word by word, or nothing where the two sides have too little in common.
fn words(old: &[Unit<'_>], new: &[Unit<'_>]) -> Option<Vec<Part>> {
    let join = |units: &[Unit<'_>]| units.iter().map(|u| u.text).collect::<String>();
    let (before, after) = (join(old), join(new));
    let (start, end) = shared(&before, &after);
    if differing(before.as_bytes(), after.as_bytes()) > WORDS_LIMIT {
        // Of words there would be no fewer bytes: it is told before any word is looked for.
        return None;
    }
    let (a, b) = (tokens(&before[start..before.len() - end]), tokens(&after[start..after.len() - end]));
    let (head, tail) = same_ends(&a, &b);
    let middle = |tokens: &[&str]| tokens[head..tokens.len() - tail].iter().map(|t| t.len()).sum::<usize>();
    let number = a.len() + b.len() - 2 * (head + tail);
    if middle(&a).max(middle(&b)) > WORDS_LIMIT || number > MOST_DIFFERING {
        return None;
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&a, &b);
    let ink = |s: &str| s.chars().filter(|c| !c.is_whitespace()).map(char::len_utf8).sum::<usize>();
    let mut pieces: Vec<Part> = Vec::new();
    let mut same_ink = 0;
    let same = |text: &str, pieces: &mut Vec<Part>, same_ink: &mut usize| {
        *same_ink += ink(text);
        match pieces.last_mut() {
            Some(Part { mark: Mark::Same, text: before }) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => pieces.push(Part { mark: Mark::Same, text: text.to_owned() }),
        }
    };
    same(&after[..start], &mut pieces, &mut same_ink);
    for op in diff.ops() {
        let (old, new) = (a[op.old_range()].concat(), b[op.new_range()].concat());
        if matches!(op, DiffOp::Equal { .. }) {
            same(&new, &mut pieces, &mut same_ink);
            continue;
        }
        for (mark, text) in [(Mark::Removed, old), (Mark::Added, new)] {
            if !text.is_empty() {
                pieces.push(Part { mark, text });
            }
        }
    }
    same(&after[after.len() - end..], &mut pieces, &mut same_ink);
    let most = ink(&before).max(ink(&after)).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a share of at most WORDS_LIMIT bytes")]
    let alike = same_ink as f64 / most as f64;
    (alike >= ALIKE).then(|| merge(pieces))
}

/// How many bytes lie between the first and the last that differ, on the longer side.
fn differing(a: &[u8], b: &[u8]) -> usize {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    a.len().max(b.len()) - head - tail
}

/// How many bytes are the same at the start, and at the end of the rest: whole words between blanks, so that words
/// are only looked for in between.
fn shared(before: &str, after: &str) -> (usize, usize) {
    let (a, b) = (before.as_bytes(), after.as_bytes());
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    // A word begins after a blank and ends before one, unless something joins itself to the blank.
    let word = |text: &[u8], at: usize| text.get(at).is_some_and(u8::is_ascii_graphic);
    let begins = |at: &usize| a[at - 1] == b' ' && word(a, *at) && word(b, *at);
    let start = (1..=head).rev().find(begins).unwrap_or(0);
    let ends = |n: &usize| {
        let (x, y) = (a.len() - n, b.len() - n);
        a[x] == b' ' && x > start && y > start && word(a, x - 1) && word(b, y - 1)
    };
    let end = (1..=tail).rev().find(ends).unwrap_or(0);
    (start, end)
}

/// Words with their line feeds apart, so that a line break can go or come by itself.
fn tokens(text: &str) -> Vec<&str> {
    text.split_word_bounds().collect()
}

/// Joins changes that only blanks keep apart: `[-a-]{+c+} [-b-]{+d+}` reads better as `[-a b-]{+c d+}`.
fn merge(pieces: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    let (mut gone, mut come) = (String::new(), String::new());
    let mut pieces = pieces.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let open = !gone.is_empty() || !come.is_empty();
        let blank = piece.text.chars().all(|c| c == ' ');
        match piece.mark {
            Mark::Removed => gone.push_str(&piece.text),
            Mark::Added => come.push_str(&piece.text),
            _ if open && blank && pieces.peek().is_some() => {
                gone.push_str(&piece.text);
                come.push_str(&piece.text);
            }
            _ => {
                flush(&mut gone, &mut come, &mut out);
                out.push(piece);
            }
        }
    }
    flush(&mut gone, &mut come, &mut out);
    out
}

fn flush(gone: &mut String, come: &mut String, out: &mut Vec<Part>) {
    for (mark, text) in [(Mark::Removed, gone), (Mark::Added, come)] {
        if !text.is_empty() {
            out.push(Part { mark, text: std::mem::take(text) });
        }
    }
}

/// Lays pieces out in the lines of the new text. Whole lines that go or come at a line's start stand alone.
fn layout(pieces: Vec<Part>, old_line: usize, new_line: usize, out: &mut Vec<Line>) {
    let (mut old_line, mut new_line) = (old_line, new_line);
    let mut parts: Vec<Part> = Vec::new();
    for piece in pieces {
        for text in piece.text.split_inclusive('\n') {
            let ends = text.ends_with('\n');
            let body = text.strip_suffix('\n').unwrap_or(text).to_owned();
            match piece.mark {
                Mark::Removed => {
                    if ends && parts.is_empty() {
                        let part = Part { mark: Mark::Removed, text: body };
                        out.push(Line { mark: Mark::Removed, number: old_line, parts: vec![part] });
                    } else {
                        parts.push(Part { mark: Mark::Removed, text: text.to_owned() });
                    }
                    old_line += usize::from(ends);
                }
                mark => {
                    // A line break that comes at the end of something that was there is a change to be seen.
                    let breaks = ends && mark == Mark::Added && !parts.is_empty();
                    let text = if breaks { text.to_owned() } else { body };
                    if !text.is_empty() || !ends {
                        parts.push(Part { mark, text });
                    }
                    if ends {
                        finish(&mut parts, new_line, out);
                        new_line += 1;
                        old_line += usize::from(mark == Mark::Same);
                    }
                }
            }
        }
    }
    finish(&mut parts, new_line, out);
}

fn finish(parts: &mut Vec<Part>, number: usize, out: &mut Vec<Line>) {
    let mut parts = std::mem::take(parts);
    if parts.is_empty() {
        return;
    }
    let all = |mark: Mark| parts.iter().all(|p| p.mark == mark);
    let mark = match () {
        () if all(Mark::Same) => Mark::Same,
        () if all(Mark::Added) => Mark::Added,
        () if all(Mark::Removed) => Mark::Removed,
        () => Mark::Changed,
    };
    let last = parts.len() - 1;
    for (i, part) in parts.iter_mut().enumerate() {
        if part.mark == Mark::Same {
            part.text = around(&part.text, i == 0, i == last);
        }
    }
    out.push(Line { mark, number, parts });
}

/// Shortens unchanged text to what is near a change: its end if it comes first, its start if last, both between.
fn around(text: &str, first: bool, last: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let head = |n: usize| chars[..n].iter().collect::<String>();
    let tail = |n: usize| chars[chars.len() - n..].iter().collect::<String>();
    match (first, last) {
        (true, true) if chars.len() > 2 * AROUND + 24 => format!("{}…", head(2 * AROUND)),
        (true, false) if chars.len() > AROUND + 24 => format!("…{}", tail(AROUND)),
        (false, true) if chars.len() > AROUND + 24 => format!("{}…", head(AROUND)),
        (false, false) if chars.len() > 2 * AROUND + 24 => format!("{}…{}", head(AROUND), tail(AROUND)),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::text::visible;

    fn shown(before: &str, after: &str) -> String {
        let line = |l: &Line| {
            let parts: String = l
                .parts
                .iter()
                .map(|p| match p.mark {
                    Mark::Removed if l.mark == Mark::Changed => format!("[-{}-]", visible(&p.text, false)),
                    Mark::Added if l.mark == Mark::Changed => format!("{{+{}+}}", visible(&p.text, false)),
                    _ => visible(&p.text, false),
                })
                .collect();
            let sign = match l.mark {
                Mark::Same => ' ',
                Mark::Removed => '-',
                Mark::Added => '+',
                Mark::Changed => '~',
                Mark::Gap => '⋯',
            };
            format!("{sign}{:>3} {parts}", l.number)
        };
        lines(before, after).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn prompt() -> String {
        (1..=40).map(|i| format!("Rule {i}: be kind and answer in short sentences.\n")).collect::<Vec<_>>().concat()
    }

    #[test]
    fn one_word_of_forty_lines_is_three_lines() {
        let after = prompt().replace("Rule 20: be kind", "Rule 20: be friendly");
        insta::assert_snapshot!(shown(&prompt(), &after), @r"
          19 Rule 19: be kind and answer in short sentences.
        ~ 20 Rule 20: be [-kind-]{+friendly+} and answer in short sentences.
          21 Rule 21: be kind and answer in short sentences.
        ");
        assert_eq!(shown(&prompt(), &prompt()), "");
    }

    #[test]
    fn one_word_of_one_long_line_is_shown_with_what_is_near() {
        let before = prompt().replace('\n', " ");
        let after = before.replace("Rule 20: be kind", "Rule 20: be friendly");
        insta::assert_snapshot!(shown(&before, &after), @r"
       1 Rule 19: be kind and answer in short sentences. 
    ~  1 Rule 20: be [-kind-]{+friendly+} and answer in short sentences. 
       1 Rule 21: be kind and answer in short sentences.
    ");
        let blob = "x".repeat(50_000);
        assert!(shown(&format!("{blob} a {blob}"), &format!("{blob} b {blob}")).len() < 300);
        let dense = "word ".repeat(4_000);
        assert!(shown(&format!("{dense}a {dense}"), &format!("{dense}b {dense}")).chars().count() < 200);
    }

    #[test]
    fn lines_that_go_and_come_stand_alone() {
        insta::assert_snapshot!(shown("a\nb\nc\nd\n", "a\nc\nnew one\nd\n"), @r"
       1 a
    -  2 b
       2 c
    +  3 new one
       4 d
    ");
        insta::assert_snapshot!(shown("Say hello to the customer.\nThen wait.\nBye.\n", "Buy low, sell high!\nNever mind.\nBye.\n"), @r"
    -  1 Say hello to the customer.
    -  2 Then wait.
    +  1 Buy low, sell high!
    +  2 Never mind.
       3 Bye.
    ");
        insta::assert_snapshot!(shown("one two three four\nfive six seven\n", "one two three\nfour five six seven\n"), @r"
    ~  1 one two three[- four\n-]{+\n+}
    ~  2 {+four +}five six seven
    ");
    }

    #[test]
    fn lines_that_are_alike_are_compared_one_by_one() {
        insta::assert_snapshot!(shown("be kind to all 1\nbe kind to all 2\n", "be good to all 1\nbe mild to all 2\n"), @r"
        ~  1 be [-kind-]{+good+} to all 1
        ~  2 be [-kind-]{+mild+} to all 2
        ");
        // One of them is another line: both are seen as one place.
        let mixed = shown("be kind to all 1\nThen wait.\n", "be good to all 1\nBuy low, sell high, at once!\n");
        assert_eq!(mixed.matches('~').count(), 0, "{mixed}");
    }

    /// `n` lines of one letter each, drawn from a seed.
    fn letters(n: usize, mut seed: u32) -> String {
        let mut letter = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + u8::try_from(seed >> 24).unwrap() % 26)
        };
        (0..n).flat_map(|_| [letter(), '\n']).collect()
    }

    #[test]
    fn of_very_many_lines_all_between_the_first_and_the_last_change_is_replaced() {
        let text = |n: usize, seed: u32| format!("one\ntwo\n<\n{}>\nthree\nfour\n", letters(n, seed));
        let of = |n: usize| {
            let mut after = text(n, 2);
            after = after.replace('<', "[").replace('>', "]");
            lines(&text(n, 1), &after)
        };
        let count = |lines: &[Line], mark: Mark| lines.iter().filter(|l| l.mark == mark).count();
        let many = of(MOST_DIFFERING / 2 - 1);
        let marks = [Mark::Same, Mark::Removed, Mark::Added, Mark::Changed, Mark::Gap].map(|m| count(&many, m));
        assert_eq!(marks, [2, MOST_DIFFERING / 2 + 1, MOST_DIFFERING / 2 + 1, 0, 0]);
        let at = |i: usize| (many[i].mark, many[i].number, many[i].parts[0].text.as_str());
        assert_eq!((at(0), at(1)), ((Mark::Same, 2, "two"), (Mark::Removed, 3, "<")));
        assert_eq!(at(MOST_DIFFERING / 2 + 2), (Mark::Added, 3, "["));
        assert_eq!(at(many.len() - 1), (Mark::Same, MOST_DIFFERING / 2 + 4, "three"));
        // Fewer are held against each other.
        assert!(count(&of(100), Mark::Same) > 2);
    }

    #[test]
    fn of_very_many_words_of_a_line_all_are_replaced() {
        let line = |seed: u32| letters(12_000, seed).replace('\n', "-");
        let marks: Vec<Mark> = lines(&line(1), &line(2)).iter().map(|l| l.mark).collect();
        assert_eq!(marks, [Mark::Removed, Mark::Added]);
    }

    #[test]
    fn what_is_shared_ends_at_blanks_and_never_overlaps() {
        assert_eq!(shared("be kind to all", "be mild to all"), (3, 7));
        assert_eq!(shared("a a", "a a a"), (2, 0));
        assert_eq!(shared("", "x"), (0, 0));
        assert_eq!(shared("same é", "same ü"), (0, 0));
        assert_eq!(shared("x \u{301}a b", "x \u{301}a c"), (6, 0));
    }

    #[test]
    fn an_invisible_change_is_visible() {
        insta::assert_snapshot!(shown("Send it to bob.\n", "Send it to \u{202e}bob\u{200b}.\n"), @r"~  1 Send it to[- -]{+ \u{202e}+}bob{+\u{200b}+}.");
        insta::assert_snapshot!(shown("end", "end\n"), @r"~  1 end{+\n+}");
    }
}
