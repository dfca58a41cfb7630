//! User text in Markdown: shown as it is, never markup.

use crate::cli::view::text::{line, visible};

/// Most bytes of a document.
pub const BUDGET: usize = 60_000;
/// Kept free for what is said of the rows that are left out.
const TAIL: usize = 400;

/// Readers of Markdown know code spans between at most 80 backticks.
const MOST_TICKS: usize = 79;

/// User text as a code span: nothing in it is markup, a mention or a link.
pub fn code(text: &str) -> String {
    let text = line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    if longest > MOST_TICKS {
        return prose(&text);
    }
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

/// User text in a sentence: markup, HTML, formulas and emoji names are shown as they are, mentions and links broken.
pub fn prose(text: &str) -> String {
    const BREAK: &str = "<!-- -->";
    let text = line(text);
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match c {
            '@' | '#' => out.extend([c.encode_utf8(&mut [0; 4]), BREAK]),
            // `https://`, `:tada:`, `www.` and `GH-12` are nothing when they are apart.
            ':' if next.is_some_and(|n| n.is_alphanumeric() || "/+-_:".contains(n)) => out.extend([":", BREAK]),
            '.' if out.ends_with(['w', 'W']) => out.extend([".", BREAK]),
            '-' if out.ends_with(['h', 'H']) && next.is_some_and(|n| n.is_ascii_digit()) => out.extend(["-", BREAK]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '$' => out.push_str("<span>&#36;</span>"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// User text in HTML, as in a summary, where Markdown is not read: code, in which nothing is a mention or a link.
pub fn html_code(text: &str) -> String {
    format!("<code>{}</code>", escaped(&line(text)))
}

/// Text and attributes of HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
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

/// Markdown of ours, cut at the end of a line where it is longer than `most` bytes; fences and folds that are open there
/// are closed, and a last line says that something is left out.
pub fn shorten(markdown: &str, most: usize) -> String {
    const REST: &str = "\n**The rest is left out here.**\n";
    if markdown.len() <= most {
        return markdown.to_owned();
    }
    let (mut fence, mut folds) = (String::new(), 0_usize);
    let (mut end, mut closing) = (0, String::new());
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        at += line.len();
        let text = line.trim();
        let ticks: String = text.chars().take_while(|c| *c == '`').collect();
        if fence.is_empty() {
            folds += text.matches("<details").count();
            folds -= text.matches("</details>").count().min(folds);
            if ticks.len() >= 3 {
                fence = ticks;
            }
        } else if text == fence {
            fence.clear();
        }
        let indent = if line.starts_with("  ") { "  " } else { "" };
        let close = if fence.is_empty() { String::new() } else { format!("{indent}{fence}\n") };
        let close = close + &"\n</details>\n".repeat(folds);
        if at + close.len() + REST.len() > most || !line.ends_with('\n') {
            break;
        }
        (end, closing) = (at, close);
    }
    if end == 0 {
        return if REST.len() <= most { REST.to_owned() } else { String::new() };
    }
    format!("{}{closing}{REST}", &markdown[..end])
}
