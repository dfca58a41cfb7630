//! What a command changed in files: the lines that went and the lines that came, with a little around them.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::cli::view::style;
use crate::cli::view::text::{line, visible};

/// Lines of context.
const AROUND: usize = 2;

/// A file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Relative to the project folder.
    pub path: String,
    /// Its text; `None` if it was not there.
    pub before: Option<String>,
    /// Its text; `None` if it is gone.
    pub after: Option<String>,
}

/// The changes of files, one after the other.
pub fn files(changed: &[Changed]) -> String {
    changed.iter().map(file).collect()
}

fn file(changed: &Changed) -> String {
    let path = line(&changed.path);
    let head = match (&changed.before, &changed.after) {
        (None, _) => format!("{} {path}\n", style::added("+")),
        (_, None) => format!("{} {path}\n", style::removed("-")),
        _ => format!("{} {path}\n", style::changed("~")),
    };
    let (Some(before), Some(after)) = (&changed.before, &changed.after) else { return head };
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let mut out = head;
    for (i, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if i > 0 {
            out.push_str("      …\n");
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = visible(change.value().trim_end_matches(['\n', '\r']), false);
            let row = match change.tag() {
                ChangeTag::Equal => format!("  {text}"),
                ChangeTag::Delete => style::removed(format!("- {text}")),
                ChangeTag::Insert => style::added(format!("+ {text}")),
            };
            // Writing into a string cannot fail.
            let _ = writeln!(out, "    {row}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let text = |s: &str| Some(s.to_owned());
        let changed = [
            Changed { path: "a.yaml".into(), before: text("1\n2\n3\n4\r\n5\n"), after: text("1\n2\n3\nfour\r\n5\n") },
            Changed { path: "new.md".into(), before: None, after: text("x") },
            Changed { path: "old.md".into(), before: text("x"), after: None },
        ];
        let plain = anstream::adapter::strip_str(&files(&changed)).to_string();
        insta::assert_snapshot!(plain, @r"
        ~ a.yaml
              2
              3
            - 4
            + four
              5
        + new.md
        - old.md
        ");
    }
}
