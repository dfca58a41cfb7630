//! Places in files, commits and runs as links. Nothing that a file is named can leave its link.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::cli::view::markup::{cell, escaped, html_code};
use crate::cli::view::pull_request::{Comment, Links};
use crate::cli::view::text::clip;

/// What of a path needs no escape.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Longest shown place.
const PLACE: usize = 200;
/// Characters of a commit that are shown.
const COMMIT: usize = 8;

/// An address of ours, if it is one that Markdown and HTML take as it is.
fn address(url: &str) -> Option<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?=&%+#".contains(c);
    (url.starts_with("https://") || url.starts_with("http://")).then_some(url).filter(|u| u.chars().all(plain))
}

/// `file:line:column` → path and line; 0: no line.
pub(super) fn split(at: &str) -> (&str, u32) {
    let mut parts = at.rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|t| t.parse::<u32>().ok());
    match (number(column), number(line), file) {
        (Some(_), Some(line), Some(file)) => (file, line),
        _ => (at, 0),
    }
}

/// Where a place leads at the planned commit.
fn target(comment: &Comment<'_>, at: &str) -> Option<String> {
    let Links { repository, folder, .. } = comment.links;
    let (repository, head) = (address(repository?)?, comment.head?);
    if head.is_empty() || !head.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let (file, line) = split(at);
    let folder = folder.trim_matches('/');
    let path = if folder.is_empty() || folder == "." { file.to_owned() } else { format!("{folder}/{file}") };
    let path = utf8_percent_encode(&path, PATH);
    // A page that is laid out has no lines.
    let plain = if file.to_ascii_lowercase().ends_with(".md") { "?plain=1" } else { "" };
    let line = if line == 0 { String::new() } else { format!("#L{line}") };
    Some(format!("{repository}/blob/{head}/{path}{plain}{line}"))
}

/// A place in a table or in a sentence.
pub(super) fn shown(at: &str) -> String {
    let (file, line) = split(at);
    let file = clip(file, PLACE);
    cell(&if line == 0 { file } else { format!("{file}:{line}") })
}

/// A place that leads to its line: `[agents/a.md:4](https://…)`.
pub(super) fn place(comment: &Comment<'_>, at: &str) -> String {
    let shown = shown(at);
    target(comment, at).map_or(shown.clone(), |url| format!("[{shown}]({url})"))
}

/// A commit in HTML.
pub(super) fn commit(repository: Option<&str>, sha: &str) -> String {
    let short = html_code(&clip(sha, COMMIT).replace('…', ""));
    let plain = !sha.is_empty() && sha.chars().all(|c| c.is_ascii_hexdigit());
    match repository.and_then(address).filter(|_| plain) {
        Some(repository) => format!("<a href=\"{}/commit/{sha}\">{short}</a>", escaped(repository)),
        None => short,
    }
}

/// Words that lead to a run, in HTML.
pub(super) fn run(run: Option<&str>, words: &str) -> String {
    match run.and_then(address) {
        Some(url) => format!("<a href=\"{}\">{words}</a>", escaped(url)),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cli::view::sample;

    #[test]
    fn a_place_leads_to_its_line_at_the_head_and_cannot_leave_its_link() {
        let (plan, causes) = (sample::plan(), BTreeMap::new());
        let links = Links { repository: Some("https://github.com/acme/agents"), run: None, folder: "./a b" };
        let head = Some("0123abcd");
        let comment =
            Comment { plan: &plan, key: None, causes: &causes, links, head, base: None, previous: None, notes: &[] };
        let at = |at: &str| place(&comment, at);
        let blob = "https://github.com/acme/agents/blob/0123abcd";
        assert_eq!(at("checkfu.yaml:9:12"), format!("[`checkfu.yaml:9`]({blob}/./a%20b/checkfu.yaml#L9)"));
        assert!(at("agents/a.md:4:1").ends_with("/agents/a.md?plain=1#L4)"));
        assert!(at("x](http://evil) <b>.md:1:1").contains("/x%5D%28http%3A//evil%29%20%3Cb%3E.md?plain=1#L1)"));
        assert_eq!((split("a:b"), split("c.yaml:4:1"), split("a:b:4:1")), (("a:b", 0), ("c.yaml", 4), ("a:b", 4)));
        let bare = Comment { head: None, ..comment };
        assert_eq!(place(&bare, "c.yaml:4:1"), "`c.yaml:4`");
        let evil = Links { repository: Some("https://x/)[y](z"), ..links };
        assert_eq!(place(&Comment { links: evil, ..comment }, "c.yaml:4:1"), "`c.yaml:4`");
        assert_eq!(commit(Some("https://h/o/r"), "abc<"), "<code>abc&lt;</code>");
    }
}
