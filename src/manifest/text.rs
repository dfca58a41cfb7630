//! What must hold of a text before anything is read from it: no NUL, no control characters, one byte order
//! mark at most, line ends that everyone sees.

use std::ops::Range;

use crate::diag::codes::manifest as code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::yaml;
use crate::model::marker;

/// A byte order mark in UTF-8.
pub(crate) const BOM: char = '\u{feff}';

/// Checks a whole text. Returns where its content starts (after a byte order mark), or nothing if it cannot be
/// read at all.
pub(super) fn check(index: &LineIndex, found: &mut Diagnostics) -> Option<usize> {
    let text = index.text();
    if text.len() > yaml::MAX_BYTES {
        found.push(yaml::too_large(index));
        return None;
    }
    if let Some(at) = text.bytes().position(|b| b == 0) {
        let message = format!("a NUL byte at byte {at}");
        found.push(Diagnostic::new(&code::NUL, message).at(index.locate(at..at + 1), ""));
        return None;
    }
    if let Some(at) = lone_cr(text.as_bytes()) {
        let d = Diagnostic::new(&code::LONE_CR, "a line ends with a lone CR");
        found.push(d.at(index.locate(at..at + 1), ""));
    }
    if text.starts_with(BOM) {
        let d = Diagnostic::new(&code::BOM, "the file starts with a byte order mark");
        found.push(d.at(index.locate(0..BOM.len_utf8()), ""));
        return Some(BOM.len_utf8());
    }
    Some(0)
}

/// Refuses control characters in a part that is YAML. Returns whether there were none.
pub(super) fn check_printable(index: &LineIndex, range: Range<usize>, found: &mut Diagnostics) -> bool {
    let bad = |c: &char| {
        matches!(*c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}')
            || matches!(*c, '\u{fffe}' | '\u{ffff}')
    };
    let text = index.text().get(range.clone()).unwrap_or_default();
    let Some((at, c)) = text.char_indices().find(|(_, c)| bad(c)) else { return true };
    let at = range.start + at;
    let message = format!("the control character U+{:04X}", u32::from(c));
    found.push(Diagnostic::new(&code::CONTROL_CHARACTER, message).at(index.locate(at..at + c.len_utf8()), ""));
    false
}

/// Refuses the marks of a conflict in a part of a text: at the first one, the others belong to it.
pub(super) fn check_marks(index: &LineIndex, range: Range<usize>, found: &mut Diagnostics) {
    let text = index.text().get(range.clone()).unwrap_or_default();
    let Some(at) = marker::conflict(text) else { return };
    let message = format!("`{}` is the mark of a conflict", &text[at.clone()]);
    let at = index.locate(range.start + at.start..range.start + at.end);
    found.push(Diagnostic::new(&code::CONFLICT_MARKER, message).at(at, ""));
}

fn lone_cr(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|b| *b == b'\r').map(|i| from + i) {
        if bytes.get(at + 1) != Some(&b'\n') {
            return Some(at);
        }
        from = at + 2;
    }
    None
}

/// The lines of a part of a text as (start, end without line end, start of the next), for LF, CRLF and lone CR.
pub(super) fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let bytes = text.as_bytes();
    let mut start = from;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let end = bytes[start..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |i| start + i);
        let next = match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => end + 2,
            (Some(_), _) => end + 1,
            _ => end,
        };
        let row = (start, end, next);
        start = next;
        Some(row)
    })
}
