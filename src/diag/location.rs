//! A place in a file: byte range, and the line and column a person reads.

use std::sync::Arc;

use serde::Serialize;

/// A byte range in a file, with the line and column of its start. Lines and columns count from 1;
/// a column counts characters (Unicode scalar values), a tab is one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// Path relative to the project folder, `/`-separated.
    pub file: Arc<str>,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of `start`, from 1.
    pub line: u32,
    /// Column of `start` in characters, from 1.
    pub column: u32,
}

impl Location {
    /// A whole file, shown as its first line.
    pub fn file(file: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), start: 0, end: 0, line: 1, column: 1 }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Turns byte offsets of one file into [`Location`]s in logarithmic time.
#[derive(Debug, Clone)]
pub struct LineIndex {
    file: Arc<str>,
    text: Arc<str>,
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes a text. A line ends with LF, CRLF or a lone CR.
    pub fn new(file: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, b) in bytes.iter().enumerate() {
            let ends_line = *b == b'\n' || (*b == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
            if ends_line {
                starts.push(i + 1);
            }
        }
        Self { file: file.into(), text, starts }
    }

    /// The name of the file.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The text of the file.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The location of a byte range; out-of-range offsets are clamped to the text, and a range that cuts a
    /// character takes all of it.
    pub fn locate(&self, range: std::ops::Range<usize>) -> Location {
        let mut start = range.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = range.end.clamp(start, self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        let line = self.starts.partition_point(|s| *s <= start) - 1;
        let column = self.text[self.starts[line]..start].chars().count() + 1;
        Location {
            file: self.file.clone(),
            start,
            end,
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let index = LineIndex::new("a.yaml", "é: 1\r\nb: 2\rc: 3\n");
        let at = |needle: &str| {
            let start = index.text().find(needle).unwrap();
            let l = index.locate(start..start + 1);
            (l.line, l.column)
        };
        assert_eq!((at("1"), at("b"), at("c"), at("3")), ((1, 4), (2, 1), (3, 1), (3, 4)));
        assert_eq!(index.locate(900..901).line, 4);
    }

    #[test]
    fn a_range_never_cuts_a_character() {
        let index = LineIndex::new("a.yaml", "aé日");
        for start in 0..8 {
            for end in 0..8 {
                let at = index.locate(start..end);
                assert!(index.text().get(at.start..at.end).is_some(), "{start}..{end} gave {at:?}");
            }
        }
        assert_eq!((index.locate(2..4).start, index.locate(2..4).end), (1, 6));
    }
}
