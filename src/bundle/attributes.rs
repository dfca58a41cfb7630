//! `.gitattributes`, as far as it says something about bytes: `text`, `eol`, `crlf`, and what rewrites
//! files at check-out. Read from the working tree alone: no user, system or `info` file takes part.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::bundle::lines::Rule;
use crate::bundle::paths;

/// The state that a line gives an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Set,
    Unset,
    Value(String),
    Unspecified,
}

type Assignments = Vec<(String, State)>;

/// One `.gitattributes` file.
#[derive(Debug)]
pub(crate) struct Attributes {
    globs: GlobSet,
    lines: Vec<Assignments>,
    macros: Macros,
}

/// The macros that the top-level file defines.
#[derive(Debug, Default)]
pub(crate) struct Macros(BTreeMap<String, Assignments>);

/// The attributes of one path after all files have spoken.
#[derive(Debug, Default)]
pub(crate) struct Of(BTreeMap<String, State>);

/// Git too passes over a longer line.
const LONGEST_LINE: usize = 2_048;

impl Attributes {
    /// Parses a file; `top` allows macros, as only the top level may define them. Lines that cannot be read
    /// are given back as (line from 1, text).
    pub(crate) fn parse(text: &str, top: bool) -> (Self, Vec<(usize, String)>) {
        let mut globs = GlobSetBuilder::new();
        let mut lines = Vec::new();
        let mut macros = Macros::default();
        let mut bad = Vec::new();
        for (n, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.len() > LONGEST_LINE {
                bad.push((n + 1, line.to_owned()));
                continue;
            }
            let Some((pattern, rest)) = split_pattern(line) else {
                bad.push((n + 1, line.to_owned()));
                continue;
            };
            let assignments: Assignments = rest.split_ascii_whitespace().map(assignment).collect();
            if let Some(name) = pattern.strip_prefix("[attr]") {
                if top {
                    macros.0.insert(name.to_owned(), assignments);
                }
                continue;
            }
            // a pattern for folders never matches a file
            if pattern.ends_with('/') {
                continue;
            }
            match glob(&pattern).filter(|_| !pattern.starts_with('!')) {
                Some(glob) => {
                    globs.add(glob);
                    lines.push(assignments);
                }
                None => bad.push((n + 1, line.to_owned())),
            }
        }
        let globs = globs.build().unwrap_or_default();
        (Self { globs, lines, macros }, bad)
    }

    /// The macros of the top-level file.
    pub(crate) fn macros(&self) -> &Macros {
        &self.macros
    }

    /// Lets this file speak about a path that is relative to its folder.
    pub(crate) fn apply(&self, path: &str, macros: Option<&Macros>, of: &mut Of) {
        for line in self.globs.matches(path) {
            for (name, state) in self.lines.get(line).into_iter().flatten() {
                set(of, name, state, macros, 0);
            }
        }
    }
}

fn set(of: &mut Of, name: &str, state: &State, macros: Option<&Macros>, depth: u8) {
    of.0.insert(name.to_owned(), state.clone());
    // macros may name macros; Git's own depth is not documented, a loop must end
    if *state != State::Set || depth > 8 {
        return;
    }
    if let Some(body) = macros.and_then(|m| m.0.get(name)) {
        for (inner, state) in body {
            set(of, inner, state, macros, depth + 1);
        }
    } else if name == "binary" {
        for inner in ["diff", "merge", "text"] {
            of.0.insert(inner.to_owned(), State::Unset);
        }
    }
}

impl Of {
    fn get(&self, name: &str) -> &State {
        self.0.get(name).unwrap_or(&State::Unspecified)
    }

    /// What CRLF becomes; `None` when no attribute says so.
    pub(crate) fn rule(&self) -> Option<Rule> {
        let by = |name: &str| match self.get(name) {
            State::Set => Some(Rule::Convert),
            State::Unset => Some(Rule::Keep),
            State::Value(v) if v == "auto" => Some(Rule::Auto),
            State::Value(v) if v == "input" => Some(Rule::Convert),
            State::Value(_) | State::Unspecified => None,
        };
        // `crlf` is the old name of `text`
        by("text").or_else(|| by("crlf")).or_else(|| match self.get("eol") {
            State::Value(v) if v == "lf" || v == "crlf" => Some(Rule::Convert),
            _ => None,
        })
    }

    /// The attribute, as written, that makes the bytes on disk differ from those in Git.
    pub(crate) fn rewritten_by(&self) -> Option<String> {
        ["filter", "ident", "working-tree-encoding"].into_iter().find_map(|name| match self.get(name) {
            State::Set => Some(name.to_owned()),
            State::Value(v) if name == "working-tree-encoding" && v.eq_ignore_ascii_case("utf-8") => None,
            State::Value(v) => Some(format!("{name}={v}")),
            State::Unset | State::Unspecified => None,
        })
    }
}

fn assignment(word: &str) -> (String, State) {
    if let Some(name) = word.strip_prefix('-') {
        (name.to_owned(), State::Unset)
    } else if let Some(name) = word.strip_prefix('!') {
        (name.to_owned(), State::Unspecified)
    } else if let Some((name, value)) = word.split_once('=') {
        (name.to_owned(), State::Value(value.to_owned()))
    } else {
        (word.to_owned(), State::Set)
    }
}

/// The pattern (plain, or quoted as in C) and the rest of a line.
fn split_pattern(line: &str) -> Option<(String, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let end = line.find([' ', '\t']).unwrap_or(line.len());
        return Some((line[..end].to_owned(), &line[end..]));
    };
    let mut pattern = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((pattern, &quoted[at + 1..])),
            '\\' => match chars.next()?.1 {
                't' => pattern.push('\t'),
                'n' => pattern.push('\n'),
                c @ ('"' | '\\') => pattern.push(c),
                _ => return None,
            },
            c => pattern.push(c),
        }
    }
    None
}

/// A pattern without a slash matches a name in every folder; one with a slash is anchored here.
fn glob(pattern: &str) -> Option<globset::Glob> {
    let anchored = match pattern.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    GlobBuilder::new(&paths::literal_braces(&anchored)).literal_separator(true).backslash_escape(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, path: &str) -> Of {
        let (attributes, bad) = Attributes::parse(text, true);
        assert!(bad.is_empty(), "{bad:?}");
        let mut of = Of::default();
        attributes.apply(path, Some(attributes.macros()), &mut of);
        of
    }

    #[test]
    fn later_lines_win_and_the_old_name_counts() {
        let rule = |text: &str, path: &str| of(text, path).rule();
        assert_eq!(rule("* text=auto\n*.png -text\n", "a/b.png"), Some(Rule::Keep));
        assert_eq!(rule("* text=auto\n*.png -text\n", "a/b.txt"), Some(Rule::Auto));
        assert_eq!(rule("*.md eol=crlf", "x.md"), Some(Rule::Convert));
        assert_eq!(rule("*.md eol=lf -text", "x.md"), Some(Rule::Keep));
        assert_eq!(rule("*.md crlf", "x.md"), Some(Rule::Convert));
        assert_eq!(rule("* text\n*.md !text", "x.md"), None);
        assert_eq!(rule("* binary", "x.md"), Some(Rule::Keep));
        assert_eq!(rule("[attr]doc text\n*.md doc", "x.md"), Some(Rule::Convert));
        assert_eq!(rule("[attr]a b\n[attr]b a\n*.md a", "x.md"), None);
    }

    #[test]
    fn patterns_are_anchored_by_a_slash() {
        let hit = |text: &str, path: &str| of(text, path).rule().is_some();
        assert!(hit("/a.md text", "a.md") && !hit("/a.md text", "d/a.md"));
        assert!(
            hit("a.md text", "d/e/a.md") && hit("docs/** text", "docs/x/y") && !hit("docs/*.md text", "docs/x/y.md")
        );
        assert!(!hit("docs/ text", "docs/x"));
        assert!(hit("\"a b.md\" text", "a b.md") && hit("# x\n\n*.md\ttext", "q.md"));
    }

    #[test]
    fn what_rewrites_files_is_named() {
        let by = |text: &str| of(text, "a.bin").rewritten_by();
        assert_eq!(by("*.bin filter=lfs diff=lfs -text").as_deref(), Some("filter=lfs"));
        assert_eq!(by("* ident").as_deref(), Some("ident"));
        assert_eq!(by("* working-tree-encoding=UTF-16").as_deref(), Some("working-tree-encoding=UTF-16"));
        assert_eq!(by("* filter=lfs\n*.bin -filter"), None);
        assert_eq!(by("*.txt filter=lfs"), None);
    }

    #[test]
    fn bad_lines_are_given_back() {
        let (_, bad) = Attributes::parse("*.a text\n\"open text\n!x text\n[z text\n", true);
        assert_eq!(bad.iter().map(|b| b.0).collect::<Vec<_>>(), [2, 3, 4]);
    }
}
