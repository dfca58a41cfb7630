//! Texts of which both sides moved on from what was last applied: joined line by line, what overlaps marked for a
//! person to decide.

use std::fmt::Write as _;

use similar::{Algorithm, ConflictStyle, DiffOp, TextMerge, capture_diff_slices};

use crate::model::marker::LABELS;
use crate::pull::patch::layout::line_break;

/// A text joined from two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The text; its line ends are LF.
    pub text: String,
    /// Places where both sides changed the same lines to something else; each stands between marks.
    pub conflicts: usize,
}

/// Joins what a file says and what is live, both made of `applied`. Line ends are LF.
pub fn merge(file: &str, applied: &str, live: &str) -> Merged {
    if file == applied || file == live {
        return Merged { text: live.to_owned(), conflicts: 0 };
    }
    if live == applied {
        return Merged { text: file.to_owned(), conflicts: 0 };
    }
    // Of a text without a last line end the last line is a line like the others, too.
    let [applied, file, live] = [applied, file, live].map(|text| format!("{text}\n"));
    let mut merge = TextMerge::from_lines(&applied, &file, &live);
    let [ours, base, theirs] = LABELS;
    merge.conflict_style(ConflictStyle::Diff3).labels(base, ours, theirs);
    let mut text = String::with_capacity(file.len().max(live.len()));
    // Writing into a string cannot fail.
    let _ = write!(text, "{merge}");
    text.truncate(text.len() - usize::from(text.ends_with('\n')));
    Merged { text, conflicts: merge.conflict_count() }
}

/// A text with other lines: those that stay keep their bytes and line ends, new ones get the line end that the text
/// has. A byte order mark stays.
pub fn relined(raw: &str, new: &str) -> String {
    let (mark, body) = match raw.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", raw),
    };
    let br = line_break(body);
    let old: Vec<(&str, &str)> =
        lines(body).into_iter().map(|l| l.split_at(l.trim_end_matches(['\n', '\r']).len())).collect();
    let bare: Vec<&str> = old.iter().map(|(line, _)| *line).collect();
    let mut fresh: Vec<&str> = new.split('\n').collect();
    let ends = fresh.len() > 1 && fresh.last() == Some(&"");
    fresh.truncate(fresh.len() - usize::from(ends));
    let mut out: Vec<(&str, &str)> = Vec::with_capacity(fresh.len());
    for op in capture_diff_slices(Algorithm::Myers, &bare, &fresh) {
        match op {
            DiffOp::Equal { old_index, len, .. } => out.extend(&old[old_index..old_index + len]),
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                out.extend(fresh[new_index..new_index + new_len].iter().map(|line| (*line, br)));
            }
        }
    }
    let last = out.len().saturating_sub(1);
    for (i, (_, end)) in out.iter_mut().enumerate() {
        if i == last && !ends {
            *end = "";
        } else if end.is_empty() {
            // It was the last line of a text without an end.
            *end = br;
        }
    }
    let mut text = mark.to_owned();
    for (line, end) in out {
        // An empty line behind a lone CR would be its second half.
        let joins = line.is_empty() && end == "\n" && text.ends_with('\r');
        text.push_str(line);
        text.push_str(if joins { "\r" } else { end });
    }
    text
}

/// Lines with their ends: LF, CRLF or a lone CR.
fn lines(text: &str) -> Vec<&str> {
    let (mut out, mut from) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for (i, b) in bytes.iter().enumerate() {
        if *b == b'\n' || (*b == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
            out.push(&text[from..=i]);
            from = i + 1;
        }
    }
    if from < text.len() {
        out.push(&text[from..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::marker::conflict;

    #[test]
    fn both_sides_are_kept_where_they_do_not_touch() {
        let applied = "a\nb\nc\nd\ne\n";
        let merged = merge("A\nb\nc\nd\ne\n", applied, "a\nb\nc\nd\nE\n");
        assert_eq!((merged.text.as_str(), merged.conflicts), ("A\nb\nc\nd\nE\n", 0));
        assert_eq!(merge(applied, applied, "x").text, "x");
        assert_eq!(merge("x", applied, applied).text, "x");
        assert_eq!(merge("x", applied, "x").text, "x");
    }

    #[test]
    fn what_overlaps_is_marked_with_all_three() {
        let merged = merge("a\nfile\nc\n", "a\nb\nc\n", "a\nlive\nc\n");
        let text = "a\n<<<<<<< file\nfile\n||||||| applied\nb\n=======\nlive\n>>>>>>> live\nc\n";
        assert_eq!((merged.text.as_str(), merged.conflicts), (text, 1));
        assert!(conflict(&merged.text).is_some());
        // Without a last line end each mark has a line of its own all the same, and nothing comes behind the last.
        let text = "<<<<<<< file\nfile\n||||||| applied\nb\n=======\nlive\n>>>>>>> live";
        assert_eq!(merge("file", "b", "live").text, text);
        assert_eq!(merge("a\nb\nfile", "a\nb", "live\nb").text, "live\nb\nfile");
    }

    #[test]
    fn lines_that_stay_keep_their_ends() {
        assert_eq!(relined("\u{feff}a\r\nb\nc\r", "a\nB\nc\n"), "\u{feff}a\r\nB\r\nc\r");
        assert_eq!(relined("a\r\nb\r\n", "a\nb\nc\n"), "a\r\nb\r\nc\r\n");
        assert_eq!(relined("a\nb", "a\nb\nc"), "a\nb\nc");
        assert_eq!(relined("a\nb", "a\nb\n"), "a\nb\n");
        assert_eq!(relined("a\nb\n", "a"), "a");
        assert_eq!(relined("a\r\n", ""), "");
        assert_eq!(relined("", "a\n\nb\n"), "a\n\nb\n");
        assert_eq!(relined("a\n", "a\n\n"), "a\n\n");
    }

    proptest::proptest! {
        #[test]
        fn the_lines_are_those_that_were_asked_for(raw in "[ab\r\n]{0,12}", new in "[ab\n]{0,12}") {
            let plain = |s: &str| s.replace("\r\n", "\n").replace('\r', "\n");
            proptest::prop_assert_eq!(plain(&relined(&raw, &new)), new);
        }
    }
}
