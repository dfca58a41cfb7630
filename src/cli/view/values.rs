//! A field's change as lines: short values as `before → after`, texts and structures as a diff.

use serde_json::Value;

use crate::cli::view::diff::{self, Line, Mark, Part};
use crate::cli::view::text;
use crate::plan::{Cause, FieldChange, FileChange, FileVerb};

/// How a field's change is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// On one line.
    Short {
        /// Live value, in words.
        before: String,
        /// Wanted value, in words.
        after: String,
    },
    /// As a diff.
    Long(Vec<Line>),
}

/// Characters of a digest that tell two apart.
const DIGEST: usize = 19;
/// Longest value that is shown on one line.
const SHORT: usize = 72;

/// Chooses how to show a change. No value on either side says that a list has another order.
pub fn change(change: &FieldChange) -> Shown {
    if change.before.is_none() && change.after.is_none() {
        return Shown::Short { before: "the same items".to_owned(), after: "in another order".to_owned() };
    }
    if change.cause == Cause::Reference && change.before == change.after {
        // The reference stays as it is written; what it leads to is another resource.
        return Shown::Short { before: "the old resource".to_owned(), after: "the one in its place".to_owned() };
    }
    if let Some((before, after)) = versions(change) {
        let short = |digest: &str| text::line(&digest.chars().take(DIGEST).collect::<String>()) + "…";
        return Shown::Short { before: format!("version of content {}", short(before)), after: short(after) };
    }
    two(change.before.as_ref(), change.after.as_ref())
}

/// The digests of a reference whose version moved.
fn versions(change: &FieldChange) -> Option<(&str, &str)> {
    let before = digest(change.before.as_ref())?;
    Some((before, digest(change.after.as_ref())?))
}

fn digest(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|s| s.starts_with("sha256:"))
}

/// The path of a change as people read it: a version belongs to the reference, not to a field of it.
pub fn path(change: &FieldChange) -> &str {
    match versions(change) {
        Some(_) => change.path.strip_suffix(".content").unwrap_or(&change.path),
        None => &change.path,
    }
}

/// Chooses how to show two values, each of which may be absent.
pub fn two(before: Option<&Value>, after: Option<&Value>) -> Shown {
    if let (Some(b), Some(a)) = (short(before), short(after)) {
        return Shown::Short { before: b, after: a };
    }
    match (before, after) {
        (None, Some(a)) => Shown::Long(one_side(&plain(a), Mark::Added)),
        (Some(b), None) => Shown::Long(one_side(&plain(b), Mark::Removed)),
        (b, a) => Shown::Long(diff::lines(&b.map(plain).unwrap_or_default(), &a.map(plain).unwrap_or_default())),
    }
}

fn one_side(text: &str, mark: Mark) -> Vec<Line> {
    let line =
        |(i, text): (usize, &str)| Line { mark, number: i + 1, parts: vec![Part { mark, text: text.to_owned() }] };
    text.lines().enumerate().map(line).collect()
}

/// A value that fits on one line.
fn short(value: Option<&Value>) -> Option<String> {
    let Some(value) = value else { return Some("(not set)".to_owned()) };
    let words = one_line(value);
    (words.chars().count() <= SHORT && !words.contains("\\n")).then_some(words)
}

/// A value on one line, hidden characters written out.
pub fn one_line(value: &Value) -> String {
    text::line(&serde_json::to_string(value).unwrap_or_default())
}

/// A value as lines: a text as it is, anything else as indented JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// A file's change in words, without its sign: `notes.md  300 B`, `b.md  from a.md`.
pub fn file(change: &FileChange) -> String {
    let mut out = text::line(&change.path);
    if let Some(from) = &change.from {
        out = format!("{out}  from {}", text::line(from));
    }
    if change.change == FileVerb::Mode {
        out.push_str("  mode");
    } else if let Some(size) = change.size {
        out = format!("{out}  {}", text::bytes(size));
    }
    if let Some(writer) = &change.writer {
        out = format!("{out}  last written by {}", text::line(writer));
    }
    out
}

/// The sign of a file's change.
pub fn file_sign(verb: FileVerb) -> &'static str {
    match verb {
        FileVerb::Add => "+",
        FileVerb::Modify | FileVerb::Mode => "~",
        FileVerb::Remove => "-",
        FileVerb::Rename => "»",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_version_that_moved_is_one_line() {
        let digest = |n: &[u8]| Some(json!(crate::model::Digest::of(n)));
        let moved = FieldChange {
            path: "skills[triage].content".into(),
            before: digest(b"1"),
            after: digest(b"2"),
            at: None,
            cause: crate::plan::Cause::Reference,
        };
        assert_eq!(path(&moved), "skills[triage]");
        let Shown::Short { before, after } = change(&moved) else { panic!("one line") };
        assert!(before.starts_with("version of content sha256:") && before.ends_with('…'), "{before}");
        assert!(after.starts_with("sha256:") && !before.ends_with(&after), "{after}");
    }

    #[test]
    fn short_values_stay_on_one_line_and_structures_are_compared_by_line() {
        let short = two(Some(&json!("a\u{200b}")), None);
        assert_eq!(short, Shown::Short { before: r#""a\u{200b}""#.into(), after: "(not set)".into() });
        let tool = |on: bool| json!([{"type": "agent_toolset_20260401", "configs": [{"name": "bash", "enabled": on}]}]);
        let Shown::Long(lines) = two(Some(&tool(true)), Some(&tool(false))) else { panic!("a structure is long") };
        let changed: Vec<_> = lines.iter().filter(|l| l.mark == Mark::Changed).collect();
        assert_eq!(changed.len(), 1);
        assert!(lines.len() <= 3);
    }
}
