//! What a person most likely meant where YAML is refused: the place, and the line as it should be.

use std::ops::Range;

use granit_parser::{ErrorKind, ScanError};

use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, LineIndex};
use crate::manifest::yaml::scalar::quote;

/// The diagnostic of a syntax error.
pub(super) fn syntax(index: &LineIndex, base: usize, error: &ScanError) -> Diagnostic {
    let text: &str = index.text();
    let at = (error.marker().byte_offset().unwrap_or(0) + base).min(text.len());
    let here = |code, message: String, range: Range<usize>| Diagnostic::new(code, message).at(index.locate(range), "");
    let line = line_of(text, at);
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return here(&code::TOO_DEEP, "nested too deep".to_owned(), at..at);
    }
    if let Some(d) = template(index, &line) {
        return d;
    }
    if let Some(tab) = indenting_tab(&text[line.clone()]).filter(|_| is_tab(error.kind())) {
        let tab = line.start + tab;
        let message = "a tab in the indentation, where YAML takes spaces alone";
        let fixed = text[line.clone()].replace('\t', "  ");
        return here(&code::TAB, message.to_owned(), tab..tab + 1).fix(fixed.trim_end());
    }
    for range in [line.clone(), line_before(text, line.start)] {
        if let Some((colon, fixed)) = unquoted_colon(&text[range.clone()]) {
            let colon = range.start + colon;
            let message = "`: ` in a text without quotes begins another value";
            return here(&code::UNQUOTED_COLON, message.to_owned(), colon..colon + 1).fix(fixed);
        }
    }
    if let Some(d) = deeper_first_line(index, &line) {
        return d;
    }
    let mut message = error.info();
    if message.is_empty() {
        "cannot be read".clone_into(&mut message);
    }
    let d = here(&code::YAML_SYNTAX, message, at..(at + 1).min(text.len()));
    if let Some(d) = continued(index, &line, at) {
        return d;
    }
    quoting(index, &(at..at), d)
}

/// The diagnostic of a key that is a list or a map.
pub(super) fn complex_key(index: &LineIndex, key: &Range<usize>) -> Diagnostic {
    let line = line_of(index.text(), key.start);
    template(index, &line).unwrap_or_else(|| {
        Diagnostic::new(&code::COMPLEX_KEY, "a key must be a text, this one is a list or a map")
            .at(index.locate(key.clone()), "")
    })
}

/// Adds the line with its value in quotes, where quotes are what is missing.
pub(super) fn quoting(index: &LineIndex, at: &Range<usize>, d: Diagnostic) -> Diagnostic {
    let line = line_of(index.text(), at.start);
    let Some((prefix, value)) = split(&index.text()[line.clone()]) else { return d };
    // Quotes would make a text of a map or list that only lacks its end.
    if let Some(end) = lacking(value) {
        let ends_here = index.text()[line.end..].lines().find(|l| !l.trim().is_empty());
        let deeper = ends_here.is_some_and(|l| indent(l) > indent(&index.text()[line.clone()]));
        return if deeper || end.is_empty() { d } else { d.fix(format!("{prefix}{value}{end}")) };
    }
    let half_quoted = value.starts_with(['"', '\'']) && !value.ends_with(['"', '\'']) && value.len() > 1;
    if value.starts_with(['@', '`', '%', '*', '!', '[', '{']) || half_quoted {
        return d.fix(format!("{prefix}{}", quote(value)));
    }
    d
}

/// The brackets that a map or list in one line lacks at its end; empty if they cannot be added to it (quotes are open
/// too, or a comment follows). `None`: it is no such
/// thing, or it is closed.
fn lacking(value: &str) -> Option<String> {
    if !value.starts_with(['[', '{']) {
        return None;
    }
    if value.contains(" #") {
        return Some(String::new());
    }
    let (mut open, mut quote) = (Vec::new(), None);
    for c in value.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ']' | '}') if open.pop() != Some(c) => return None,
            _ => {}
        }
    }
    match (quote, open.is_empty()) {
        (Some(_), _) => Some(String::new()),
        (None, true) => None,
        (None, false) => Some(open.into_iter().rev().collect()),
    }
}

/// `{{x}}` that is not in quotes.
fn template(index: &LineIndex, line: &Range<usize>) -> Option<Diagnostic> {
    let text = &index.text()[line.clone()];
    let (prefix, value) = split(text)?;
    let at = value.find("{{").filter(|_| !value.starts_with(['"', '\'']))?;
    let start = line.start + prefix.len() + at;
    let message = "a template without quotes is a map in YAML";
    Some(
        Diagnostic::new(&code::TEMPLATE, message)
            .at(index.locate(start..start + 2), "")
            .fix(format!("{prefix}{}", quote(value))),
    )
}

/// `key: text: more`: the place of the second colon, and the line with the text in quotes.
fn unquoted_colon(line: &str) -> Option<(usize, String)> {
    let (prefix, value) = split(line)?;
    if value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#']) || value.is_empty() {
        return None;
    }
    let colon = value.find(": ").or_else(|| value.find(":\t")).or_else(|| value.strip_suffix(':').map(str::len))?;
    Some((prefix.len() + colon, format!("{prefix}{}", quote(value))))
}

/// A plain text over several lines, one of which holds `: `.
fn continued(index: &LineIndex, line: &Range<usize>, at: usize) -> Option<Diagnostic> {
    let text: &str = index.text();
    let (this, before) = (&text[line.clone()], line_before(text, line.start));
    let (prefix, value) = split(&text[before.clone()])?;
    let deeper = this.len() - this.trim_start().len() > indent(&text[before]);
    let plain = !value.is_empty() && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!']);
    let colon = this.find(": ").or_else(|| this.trim_end().strip_suffix(':').map(str::len))?;
    if !(deeper && plain) || at < line.start {
        return None;
    }
    let colon = line.start + colon;
    Some(
        Diagnostic::new(&code::UNQUOTED_COLON, "`: ` in a text without quotes begins another value")
            .at(index.locate(colon..colon + 1), "")
            .fix(format!("{prefix}>-\n{}{value}\n{}", " ".repeat(indent(this)), this.trim_end()))
            .hint("a text over several lines is safest as a block: `>-` joins its lines, `|` keeps them"),
    )
}

/// A block text (`|`) whose first line is indented deeper than a later one.
fn deeper_first_line(index: &LineIndex, line: &Range<usize>) -> Option<Diagnostic> {
    let text: &str = index.text();
    let width = indent(&text[line.clone()]);
    let (mut at, mut first) = (line.clone(), None);
    for _ in 0..200 {
        at = (at.start > 0).then(|| line_before(text, at.start))?;
        let row = &text[at.clone()];
        let header = row.trim_end();
        let parent = indent(header) + dashes(header);
        let is_block = [": |", ": >", ": |-", ": >-", ": |+", ": >+"].iter().any(|h| header.ends_with(h));
        if is_block {
            let first: usize = first?;
            if !(first > width && width > parent) {
                return None;
            }
            let sign = header.rfind(['|', '>'])?;
            let (head, tail) = header.split_at(sign + 1);
            let start = at.start + sign;
            return Some(
                Diagnostic::new(
                    &code::BLOCK_INDENT,
                    "the first line of this block is indented deeper than a later one",
                )
                .at(index.locate(start..start + 1), "the block begins here")
                .at(index.locate(line.start + width..line.end), "this line ends it")
                .fix(format!("{head}{}{tail}", width - parent)),
            );
        }
        if !header.is_empty() {
            first = Some(indent(header));
        }
    }
    None
}

/// Key, dashes and blanks of a line, and the value without trailing blanks.
fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let start = indent(line) + dashes(line);
    let colon = line[start..].find(": ").map(|i| start + i + 1);
    let from = colon.unwrap_or(start);
    let value = line[from..].trim_start();
    (colon.is_some() || dashes(line) > 0).then(|| (&line[..line.len() - value.len()], value))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Bytes of the `- ` after the indentation.
fn dashes(line: &str) -> usize {
    let mut rest = &line[indent(line)..];
    let all = rest.len();
    while let Some(after) = rest.strip_prefix("- ") {
        rest = after.trim_start_matches(' ');
    }
    all - rest.len()
}

fn indenting_tab(line: &str) -> Option<usize> {
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    line[..blanks].find('\t')
}

fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::InvalidIndentation
            | ErrorKind::UnexpectedCharacter { character: '\t' }
    )
}

/// The bytes of the line around an offset, without its end.
fn line_of(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_end = |b: &u8| matches!(b, b'\n' | b'\r');
    let start = bytes[..at].iter().rposition(is_end).map_or(0, |i| i + 1);
    let end = bytes[at..].iter().position(is_end).map_or(bytes.len(), |i| at + i);
    start..end
}

/// The nearest line above that is not blank; an empty range if there is none.
fn line_before(text: &str, start: usize) -> Range<usize> {
    let mut start = start;
    while start > 0 {
        let line = line_of(text, start - 1);
        if !text[line.clone()].trim().is_empty() {
            return line;
        }
        start = line.start.min(start - 1);
    }
    0..0
}
