//! Conflict markers in texts: those that a merge left for a person to decide.

use std::ops::Range;

/// What stands at the marks of a conflict that `pull --drift` writes: the side of the file, what was last applied, what
/// is live.
pub const LABELS: [&str; 3] = ["file", "applied", "live"];

/// The first line that is a mark of a conflict, without its line end.
///
/// Those with the [`LABELS`] count wherever they stand, also indented in a block text. Others count at the start of a
/// line, outside of fenced code, and only from a `<<<<<<<` on: a line of `=======` underlines a heading, `>>>>>>>`
/// quotes, and an example of a conflict stands in a fence.
pub fn conflict(text: &str) -> Option<Range<usize>> {
    let ours = ["<<<<<<< file", "||||||| applied", ">>>>>>> live"];
    let (mut at, mut fenced) = (0, None);
    for line in text.split_inclusive(['\n', '\r']) {
        let row = line.trim_end();
        let own = row.trim_start();
        if ours.contains(&own) || (fenced.is_none() && (row == "<<<<<<<" || row.starts_with("<<<<<<< "))) {
            let start = at + row.len() - own.len();
            return Some(start..at + row.len());
        }
        let fence = ["```", "~~~"].into_iter().find(|f| own.starts_with(f));
        fenced = match (fenced, fence) {
            (None, fence) => fence,
            (Some(open), Some(fence)) if open == fence => None,
            (open, _) => open,
        };
        at += line.len();
    }
    None
}

/// The first line of a conflict that `pull --drift` wrote, whole: its four marks in order, each at the start of a line.
///
/// Any other text may be content of a file that is only passed on, as what Git writes is in a page about Git; and one
/// blank in front of a mark makes it no mark.
pub fn pulled(text: &str) -> Option<Range<usize>> {
    let [ours, base, theirs] = LABELS;
    let marks = [("<<<<<<< ", ours), ("||||||| ", base), ("=======", ""), (">>>>>>> ", theirs)];
    let is = |row: &str, (sign, label): (&str, &str)| row.strip_prefix(sign) == Some(label);
    let (mut at, mut seen, mut first) = (0, 0, None);
    for line in text.split_inclusive(['\n', '\r']) {
        let row = line.trim_end_matches(['\n', '\r']);
        if is(row, marks[0]) {
            (seen, first) = (1, Some(at..at + row.len()));
        } else if seen > 0 && is(row, marks[seen]) {
            seen += 1;
        }
        if seen == marks.len() {
            return first;
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_that_was_pulled_is_found_whole() {
        let whole = "<<<<<<< file\na\n||||||| applied\nb\n=======\nc\n>>>>>>> live";
        for br in ["\n", "\r\n", "\r"] {
            let text = format!("x\n<<<<<<< file\n{whole}\n").replace('\n', br);
            let found = pulled(&text).unwrap();
            assert_eq!(&text[..found.start], format!("x{br}<<<<<<< file{br}"));
            assert_eq!(&text[found], "<<<<<<< file");
        }
        for text in [
            &whole.replace("file", "HEAD"),
            &whole.replace(" file", ""),
            &whole.replace('\n', "\n "),
            &whole.replace("=======\n", ""),
            &whole.replace("|||||||", "======="),
            &format!("a {whole}"),
            ">>>>>>> live\n=======\n||||||| applied\n<<<<<<< file\n",
        ] {
            assert_eq!(pulled(text), None, "{text:?}");
        }
    }

    #[test]
    fn marks_of_a_conflict_are_found_where_they_stand() {
        let found = |text: &'static str| conflict(text).map(|at| (at.start, &text[at]));
        assert_eq!(found("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n"), Some((2, "<<<<<<< HEAD")));
        assert_eq!(found("s: |\n  a\n  <<<<<<< file\n"), Some((11, "<<<<<<< file")));
        assert_eq!(found("a\r\n>>>>>>> live\r\n"), Some((3, ">>>>>>> live")));
        assert_eq!(found("a\r||||||| applied\r"), Some((2, "||||||| applied")));
        assert_eq!(found("```\n<<<<<<< file\n```\n"), Some((4, "<<<<<<< file")));
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in [
            "Heading\n=======\ntext\n",
            ">>>>>>> deep quote\n",
            "```text\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n",
            "~~~\n```\n<<<<<<< HEAD\n~~~\n",
            "<<<<<<<< eight\n",
            "a <<<<<<< file\n",
            "  <<<<<<< HEAD\n",
            "",
        ] {
            assert_eq!(conflict(text), None, "{text:?}");
        }
    }
}
