//! What people see of a diagnostic.

use super::*;
use crate::cli::view::style;
use crate::diag::codes::cli::USAGE;
use crate::diag::{Diagnostic, LineIndex};

fn sources(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(file, text)| ((*file).to_owned(), Arc::from(*text))).collect()
}

fn at(sources: &Sources, file: &str, needle: &str) -> Location {
    let index = LineIndex::new(file, sources[file].clone());
    let start = index.text().find(needle).unwrap();
    index.locate(start..start + needle.len())
}

fn shown(diagnostics: Vec<Diagnostic>, sources: &Sources) -> String {
    style::plain(&report(&Diagnostics(diagnostics), sources, Options { width: Some(80) }))
}

#[test]
fn code_place_excerpt_fix_and_hints() {
    let sources = sources(&[("a.yaml", "kind: Agent\nspec:\n  modl: x\n  tools: []\n")]);
    let d = Diagnostic::new(&USAGE, "unknown key `modl`")
        .at(at(&sources, "a.yaml", "modl"), "no field of Agent")
        .fix("model: x")
        .hint("Agent has a field `model`")
        .rule("agent-fields");
    insta::assert_snapshot!(shown(vec![d], &sources), @r"
    cli.usage (agent-fields)

      × unknown key `modl`
       ╭─[a.yaml:3:3]
     2 │ spec:
     3 │   modl: x
       ·   ──┬─
       ·     ╰── no field of Agent
     4 │   tools: []
       ╰────
      help: fix: model: x
            Agent has a field `model`

    1 error
    ");
}

#[test]
fn labels_in_two_files_and_far_apart() {
    let long = format!("a: 1\n{}z: 2\n", "b: 0\n".repeat(90));
    let sources = sources(&[("a.yaml", &long), ("b.yaml", "name: x\n")]);
    let d = Diagnostic::new(&USAGE, "declared twice")
        .at(at(&sources, "a.yaml", "a: 1"), "first")
        .at(at(&sources, "a.yaml", "z: 2"), "second")
        .at(at(&sources, "b.yaml", "name"), "and here");
    insta::assert_snapshot!(shown(vec![d], &sources), @r"
    cli.usage

      × declared twice
       ╭─[a.yaml:1:1]
     1 │ a: 1
       · ──┬─
       ·   ╰── first
     2 │ b: 0
       ╰────
        ╭─[a.yaml:92:1]
     91 │ b: 0
     92 │ z: 2
        · ──┬─
        ·   ╰── second
        ╰────
      help: fix: Run the command with --help to see what it takes

    Advice: 
      ☞ see also b.yaml
       ╭─[b.yaml:1:1]
     1 │ name: x
       · ──┬─
       ·   ╰── and here
       ╰────

    1 error
    ");
}

#[test]
fn columns_count_characters_and_lone_carriage_returns_end_lines() {
    let sources = sources(&[("a.yaml", "é: 1\rü: bad\r\nc: 3")]);
    let text = shown(vec![Diagnostic::new(&USAGE, "no").at(at(&sources, "a.yaml", "bad"), "")], &sources);
    assert!(text.contains("[a.yaml:2:4]"), "{text}");
    assert!(text.contains(" 2 │ ü: bad\n"), "{text}");
}

#[test]
fn a_source_cannot_write_to_the_terminal_and_a_long_line_is_clipped() {
    let evil = format!("{}\u{1b}[2J\u{202e}: bad{}\n", "x".repeat(500_000), "y".repeat(500_000));
    let sources = sources(&[("a.yaml", &evil)]);
    let text = report(
        &Diagnostics(vec![Diagnostic::new(&USAGE, "no\u{7}").at(at(&sources, "a.yaml", "bad"), "\u{1b}]0;x")]),
        &sources,
        Options { width: Some(80) },
    );
    assert!(text.len() < 2_000 && !text.contains("\u{1b}[2J") && !text.contains('\u{202e}') && !text.contains('\u{7}'));
    assert!(!text.contains("\u{1b}]0;"));
}

#[test]
fn a_place_without_a_text_is_still_named() {
    let d = Diagnostic::new(&USAGE, "cannot be read").at(Location::file("a.yaml"), "");
    let text = shown(vec![d], &Sources::new());
    assert!(text.contains("a.yaml:1:1: cannot be read"), "{text}");
    assert!(text.ends_with("1 error\n"));
}

#[test]
fn a_place_at_the_end_of_a_file_is_shown() {
    for text in ["a: 1\n", "a: 1", "\n", "a"] {
        let sources = sources(&[("a.yaml", text)]);
        let index = LineIndex::new("a.yaml", sources["a.yaml"].clone());
        for end in 0..=text.len() {
            let d = Diagnostic::new(&USAGE, "no").at(index.locate(end..end), "here");
            assert!(shown(vec![d], &sources).contains("a.yaml:"), "{text:?} {end}");
        }
    }
}

#[test]
fn without_a_terminal_no_line_is_broken() {
    let command = format!("checkfu plan --allow {}", "retire=Agent/a ".repeat(20).trim_end());
    let block = format!("accept:\n  - {{address: Agent/a, live: \"{}\", take: file}}", "a".repeat(100));
    for fix in [command, block] {
        let d = Diagnostic::new(&USAGE, "long ".repeat(40).trim_end()).fix(fix.clone());
        let shown = style::plain(&report(&Diagnostics(vec![d]), &Sources::new(), Options { width: None }));
        assert!(fix.lines().all(|line| shown.contains(line)), "{shown}");
        assert!(shown.contains("long ".repeat(40).trim_end()), "{shown}");
    }
}
