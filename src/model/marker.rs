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

#[cfg(test)]
mod tests {
    use super::*;

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
