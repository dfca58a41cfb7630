//! User text in Markdown: shown as it is, never markup.

use crate::cli::view::text::{line, visible};

/// Most bytes of a document.
pub const BUDGET: usize = 60_000;
/// Kept free for what is said of the rows that are left out.
const TAIL: usize = 400;

/// User text as a code span: nothing in it is markup, a mention or a link.
pub fn code(text: &str) -> String {
    let text = line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// User text as a cell of a table: a bar in a code span would still end the cell.
pub fn cell(text: &str) -> String {
    if text.contains('|') { prose(text) } else { code(text) }
}

/// The head of a table.
pub fn head(titles: &[&str]) -> String {
    format!("| {} |\n|{}\n", titles.join(" | "), "---|".repeat(titles.len()))
}

/// What stands first, then as many rows as fit, none of them cut; `rest` says what so many others are and where to
/// find them.
pub fn fit(first: String, rows: impl Iterator<Item = String>, rest: impl FnOnce(usize) -> String) -> String {
    let mut out = first;
    let mut left = 0;
    for row in rows {
        if out.len() + row.len() + TAIL > BUDGET {
            left += 1;
        } else {
            out.push_str(&row);
        }
    }
    if left > 0 {
        out = format!("{out}\n**Not shown here:** {}\n", rest(left));
    }
    out
}

/// User text in a sentence: markup and HTML are shown, mentions and links are broken.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in line(text).chars() {
        match c {
            '@' | '#' | ':' => {
                out.push(c);
                if c != ':' || text.contains("://") {
                    out.push_str("<!-- -->");
                }
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A fenced block whose fence is longer than any run of backticks in it.
pub fn fence(language: &str, body: &str) -> String {
    let body = visible(body.trim_end(), true);
    let longest = body.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat((longest + 1).max(3));
    format!("{ticks}{language}\n{body}\n{ticks}\n")
}

/// Two blanks in front of each line, so that a block belongs to the list item above it.
pub fn indent(text: &str) -> String {
    text.lines().map(|l| format!("  {l}\n")).collect::<Vec<_>>().concat()
}
