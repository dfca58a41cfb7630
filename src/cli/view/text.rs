//! Text from files and workspaces, made safe and visible: nothing in it can move the cursor, hide or turn round
//! what is shown.

use std::fmt::Write;

/// Is this a character that one would not see, or that changes how others are seen?
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n'))
}

/// Shows controls and hidden characters as escapes (`\u{202e}`, `\r`). A line feed stays where `lines` says so,
/// else it is `\n`; a tab is `\t`, which no one can take for blanks.
pub fn visible(text: &str, lines: bool) -> String {
    // Almost all text is plain: nothing in it needs a second look.
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' if lines => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// One line of user text.
pub fn line(text: &str) -> String {
    visible(text, false)
}

/// At most `limit` characters, with an ellipsis where something was left out.
pub fn clip(text: &str, limit: usize) -> String {
    let mut chars = text.char_indices();
    match chars.nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(limit.saturating_sub(1)).map_or(0, |(i, _)| i);
            format!("{}…", &text[..end])
        }
    }
}

/// How many, with the right form of the noun: `1 file`, `2 files`, `2 memories`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {noun}s"),
    }
}

/// A number of bytes for people: `812 B`, `1.2 KB`, `3.4 MB` (decimal).
pub fn bytes(n: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
    for (unit, name) in UNITS {
        if n >= unit {
            return format!("{}.{} {name}", n / unit, n % unit / (unit / 10));
        }
    }
    format!("{n} B")
}

/// How wide a text is on a terminal, styles not counted.
pub fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Fills with blanks up to a width, styles not counted.
pub fn pad(text: &str, to: usize) -> String {
    let blanks = to.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(
            visible("a\u{202e}b\u{200b}c\u{1b}[2Jd\r\u{feff}\u{e0041}", true),
            r"a\u{202e}b\u{200b}c\u{1b}[2Jd\r\u{feff}\u{e0041}"
        );
        assert_eq!(visible("a\tb\nc", true), "a\\tb\nc");
        assert_eq!(line("a\nb"), "a\\nb");
        assert_eq!(line("Grüße, 日本"), "Grüße, 日本");
        assert_eq!(line("a\u{a0}b\u{85}"), r"a\u{a0}b\u{85}");
    }

    #[test]
    fn counts_and_sizes() {
        assert_eq!(
            (count(1, "memory"), count(3, "memory"), count(0, "file")),
            ("1 memory".into(), "3 memories".into(), "0 files".into())
        );
        assert_eq!((bytes(999), bytes(1_250), bytes(3_400_000)), ("999 B".into(), "1.2 KB".into(), "3.4 MB".into()));
        assert_eq!((clip("abc", 3), clip("abcd", 3)), ("abc".into(), "ab…".into()));
    }
}
