//! The one splitter of front matter, for skills and agents alike: from a first line `---` to the next line that
//! is `---`. Trailing blanks are allowed on both, an indented `---` or `...` closes nothing.

use std::ops::Range;

use crate::manifest::text;

/// The parts of a file with front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// Between the two fences.
    pub matter: Range<usize>,
    /// After the closing fence.
    pub body: Range<usize>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoFront {
    /// The first line is not `---`. Where one comes first after blank lines, its bytes.
    Absent {
        /// The `---` after the blank lines.
        later: Option<Range<usize>>,
    },
    /// Opened and never closed. A line that looks like it was meant to close it.
    Open {
        /// An indented `---`, or `...`.
        almost: Option<Range<usize>>,
    },
}

/// Splits a text from an offset on (behind a byte order mark).
pub fn split(content: &str, from: usize) -> Result<Front, NoFront> {
    let mut lines = text::lines(content, from);
    let is_fence = |start: usize, end: usize| content[start..end].trim_end_matches([' ', '\t']) == "---";
    let matter = match lines.next() {
        Some((start, end, next)) if is_fence(start, end) => next,
        first => {
            let blank = first.is_some_and(|(start, end, _)| content[start..end].trim().is_empty());
            let later = lines.find(|(start, end, _)| !content[*start..*end].trim().is_empty());
            let later = later.filter(|(start, end, _)| blank && is_fence(*start, *end));
            return Err(NoFront::Absent { later: later.map(|(start, end, _)| start..end) });
        }
    };
    let mut almost = None;
    for (start, end, next) in lines {
        if is_fence(start, end) {
            return Ok(Front { matter: matter..start, body: next..content.len() });
        }
        let line = content[start..end].trim();
        if almost.is_none() && (line == "---" || content[start..end].trim_end() == "...") {
            almost = Some(start..end);
        }
    }
    Err(NoFront::Open { almost })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(&str, &str)> {
        split(text, 0).ok().map(|f| (&text[f.matter], &text[f.body]))
    }

    #[test]
    fn a_fence_is_a_line_of_its_own() {
        assert_eq!(parts("---\na: 1\n---\nb"), Some(("a: 1\n", "b")));
        assert_eq!(parts("--- \r\na: x --- y\r\n---\t\r\n"), Some(("a: x --- y\r\n", "")));
        assert_eq!(parts("---\ra: 1\r---\rb"), Some(("a: 1\r", "b")));
        assert_eq!(parts("---\n---"), Some(("", "")));
        assert_eq!(parts("---\n# --- x ---\na: 1\n---"), Some(("# --- x ---\na: 1\n", "")));
    }

    #[test]
    fn what_is_no_front_matter_says_why() {
        let absent = |later| Err(NoFront::Absent { later });
        assert_eq!(split("", 0), absent(None));
        assert_eq!(split("# x\n---\n", 0), absent(None));
        assert_eq!(split("----\na: 1\n----\n", 0), absent(None));
        assert_eq!(split("---yaml\na: 1\n---\n", 0), absent(None));
        assert_eq!(split("\n\n---\na: 1\n---\n", 0), absent(Some(2..5)));
        assert_eq!(split("---\na: 1\n", 0), Err(NoFront::Open { almost: None }));
        assert_eq!(split("---\na: 1\n ---\n", 0), Err(NoFront::Open { almost: Some(9..13) }));
        assert_eq!(split("---\na: 1\n...\n", 0), Err(NoFront::Open { almost: Some(9..12) }));
    }
}
