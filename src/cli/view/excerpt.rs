//! A few lines of a source file as `miette` wants them: only the lines around the labels, clipped and made safe,
//! with the real line numbers and columns. A 64 MB file costs no more than a small one.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::cli::view::text;
use crate::diag::Location;

/// Lines shown above and below a label.
const CONTEXT: usize = 1;
/// Characters of a line that are shown on each side of a label's start.
const HALF: usize = 60;

/// The lines around some labels of one file.
#[derive(Debug, Clone)]
pub struct Excerpt {
    name: String,
    text: String,
    rows: Vec<Row>,
    marks: Vec<(SourceSpan, Location)>,
}

#[derive(Debug, Clone)]
struct Row {
    number: usize,
    start: usize,
    end: usize,
}

impl Excerpt {
    /// Of one file's text, around places in it.
    pub fn new(source: &str, places: &[&Location]) -> Self {
        let name = places.first().map(|p| text::line(&p.file)).unwrap_or_default();
        let mut excerpt = Self { name, text: String::new(), rows: Vec::new(), marks: Vec::new() };
        let mut places: Vec<&Location> = places.to_vec();
        places.sort();
        let mut wanted: Vec<(usize, usize, usize)> = Vec::new();
        for place in &places {
            for line in around(source, place) {
                if !wanted.iter().any(|w| w.0 == line.0) {
                    wanted.push(line);
                }
            }
        }
        wanted.sort_unstable();
        for (number, start, end) in wanted {
            excerpt.row(source, number, start, end, &places);
        }
        excerpt
    }

    /// Adds a line, clipped around the first label in it, and the marks of all labels that start in it.
    fn row(&mut self, source: &str, number: usize, start: usize, end: usize, places: &[&Location]) {
        let here: Vec<&&Location> = places.iter().filter(|p| p.line as usize == number).collect();
        let focus = here.first().map_or(start, |p| p.start.clamp(start, end));
        let line = &source[start..end];
        let from = back(line, focus - start, HALF);
        let to = forth(line, focus - start, HALF);
        let row_start = self.text.len();
        if from > 0 {
            self.text.push('…');
        }
        // Where each place starts and ends in the shown line, once its characters are made visible.
        let shift = |offset: usize| text::visible(&line[from..floor(line, offset.clamp(from, to))], false).len();
        let base = self.text.len();
        for place in here {
            let (a, b) = (place.start.clamp(start, end) - start, place.end.clamp(start, end) - start);
            let (a, b) = (base + shift(a), base + shift(b));
            self.marks.push(((a, b.saturating_sub(a)).into(), (*place).clone()));
        }
        self.text.push_str(&text::visible(&line[from..to], false));
        if to < line.len() {
            self.text.push('…');
        }
        self.rows.push(Row { number, start: row_start, end: self.text.len() });
        self.text.push('\n');
    }

    /// Where a place is in the excerpt.
    pub fn span(&self, place: &Location) -> SourceSpan {
        self.marks.iter().find(|(_, at)| at == place).map_or((0, 0).into(), |(span, _)| *span)
    }
}

/// The lines around a place: number, first byte, end without the line end.
fn around(source: &str, place: &Location) -> Vec<(usize, usize, usize)> {
    let bytes = source.as_bytes();
    let at = floor(source, place.start.min(source.len()));
    let is_end = |i: usize| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
    let line_start = |from: usize| (0..from).rev().find(|i| is_end(*i)).map_or(0, |i| i + 1);
    let line_end =
        |from: usize| (from..bytes.len()).find(|i| matches!(bytes[*i], b'\n' | b'\r')).unwrap_or(bytes.len());
    let number = place.line as usize;
    let start = line_start(at);
    let mut out = vec![(number, start, line_end(start).max(start))];
    let mut first = start;
    for step in 1..=CONTEXT {
        if first == 0 || number <= step {
            break;
        }
        first = line_start(first - 1);
        out.push((number - step, first, line_end(first)));
    }
    let mut last = line_end(start);
    for step in 1..=CONTEXT {
        let crlf = bytes.get(last) == Some(&b'\r') && bytes.get(last + 1) == Some(&b'\n');
        let next = last + if crlf { 2 } else { 1 };
        if next >= bytes.len() {
            break;
        }
        last = line_end(next);
        out.push((number + step, next, last));
    }
    out
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn back(text: &str, at: usize, chars: usize) -> usize {
    text[..floor(text, at)].char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(i, _)| i)
}

fn forth(text: &str, at: usize, chars: usize) -> usize {
    let at = floor(text, at);
    text[at..].char_indices().nth(chars).map_or(text.len(), |(i, _)| at + i)
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let row_of = |offset: usize| self.rows.iter().rposition(|r| r.start <= offset);
        let end = span.offset() + span.len();
        let (Some(mut first), Some(mut last)) = (row_of(span.offset()), row_of(end.min(self.text.len()))) else {
            return Err(MietteError::OutOfBounds);
        };
        let follows = |i: usize| self.rows[i].number + 1 == self.rows[i + 1].number;
        if !(first..last).all(follows) {
            return Err(MietteError::OutOfBounds);
        }
        let mut column = self.marks.iter().find(|(s, _)| s == span).map_or(0, |(_, at)| at.column.saturating_sub(1));
        if before > 0 && first > 0 && follows(first - 1) {
            first -= 1;
            column = 0;
        }
        if after > 0 && last + 1 < self.rows.len() && follows(last) {
            last += 1;
        }
        let (start, end) = (self.rows[first].start, self.rows[last].end);
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            &self.text.as_bytes()[start..end],
            (start, end - start).into(),
            self.rows[first].number - 1,
            column as usize,
            last - first + 1,
        )))
    }
}
