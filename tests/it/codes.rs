//! The table of codes: well formed, every row raised by the code, and every row reached by a test.

use std::collections::BTreeMap;

use checkfu::diag::codes;

use crate::repo;

/// One row as its file has it.
#[derive(Debug, Clone)]
struct Row {
    /// `manifest`
    file: String,
    /// `UNKNOWN_KEY`
    name: String,
    /// `manifest.unknown_key`
    code: String,
}

/// The rows of a file of codes.
fn rows(file: &str, source: &str) -> Vec<Row> {
    let row = |line: &str| {
        let (name, rest) = line.trim().split_once(" = \"")?;
        let (code, rest) = rest.split_once('"')?;
        let upper = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        (upper && rest.trim_start().starts_with(',')).then(|| Row {
            file: file.to_owned(),
            name: name.to_owned(),
            code: code.to_owned(),
        })
    };
    source.lines().filter_map(row).collect()
}

fn all_rows() -> Vec<Row> {
    let mut all = Vec::new();
    for (rel, source) in repo::sources() {
        if let Some(file) = rel.strip_prefix("diag/codes/").and_then(|f| f.strip_suffix(".rs")) {
            all.extend(rows(file, &source));
        }
    }
    all
}

/// Does `text` hold `word` with nothing of a word on either side?
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(part) && !text[at + word.len()..].chars().next().is_some_and(part)
    })
}

/// Is a row named in one file: by its dotted code, or by its static name? Where two files of codes have that
/// name, the file must also say from which it comes, as in `codes::plan::EMPTY` or `use codes::plan as codes`.
fn named(text: &str, row: &Row, shared: bool) -> bool {
    let origin = format!("codes::{}", row.file);
    has_word(text, &row.code)
        || (has_word(text, &row.name)
            && (!shared || has_word(text, &origin) || has_word(text, &format!("{}::{}", row.file, row.name))))
}

#[test]
fn the_table_is_well_formed() {
    let all = codes::all();
    let listed: Vec<&str> = all.iter().map(|c| c.code).collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(listed, sorted, "codes are sorted, and none is there twice");
    for code in all {
        let parts: Vec<&str> = code.code.split('.').collect();
        let word =
            |p: &&str| !p.is_empty() && p.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(parts.len() >= 2 && parts.iter().all(word), "{} is not dotted", code.code);
        for (what, text) in [("title", code.title), ("why", code.why), ("fix", code.fix)] {
            assert!(!text.trim().is_empty(), "{}: no {what}", code.code);
        }
        assert!(!code.title.ends_with('.'), "{}: a title has no full stop", code.code);
        assert_eq!(codes::find(code.code), Some(code));
    }
}

#[test]
fn the_files_hold_the_whole_table() {
    let mut in_files: Vec<String> = all_rows().into_iter().map(|r| r.code).collect();
    in_files.sort();
    let table: Vec<&str> = codes::all().iter().map(|c| c.code).collect();
    assert_eq!(in_files, table, "a row is written `NAME = \"dotted.code\", Severity,` on one line");
}

/// All rows that none of the files names.
fn unnamed(rows: &[Row], files: &[String]) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *count.entry(&row.name).or_default() += 1;
    }
    let files: Vec<String> = files.iter().map(|f| without_comments(f)).collect();
    rows.iter()
        .filter(|r| !files.iter().any(|f| named(f, r, count[r.name.as_str()] > 1)))
        .map(|r| format!("{} ({}::{})", r.code, r.file, r.name))
        .collect()
}

#[test]
fn every_code_is_raised() {
    let files: Vec<String> = repo::sources()
        .iter()
        .filter(|(rel, _)| !rel.starts_with("diag/codes/"))
        .map(|(rel, source)| repo::split(rel, source).0)
        .collect();
    let bad = unnamed(&all_rows(), &files);
    assert!(bad.is_empty(), "no code raises:\n{}", bad.join("\n"));
}

#[test]
fn every_code_is_reached_by_a_test() {
    // The head of a file is part of its tests: that is where they import from.
    let with_head = |(rel, source): (&String, &String)| {
        let head: String =
            source.lines().take_while(|l| !l.starts_with("fn ")).filter(|l| l.contains("use ")).collect();
        head + "\n" + &repo::split(rel, source).1
    };
    let mut files: Vec<String> = repo::sources().iter().map(with_head).collect();
    for path in repo::files("tests").into_iter().chain(repo::files("src").into_iter().filter(|p| repo::is(p, "snap"))) {
        files.extend(std::fs::read_to_string(repo::root().join(&path)));
    }
    let bad = unnamed(&all_rows(), &files);
    assert!(bad.is_empty(), "no test names:\n{}", bad.join("\n"));
}

fn without_comments(code: &str) -> String {
    code.lines().filter(|l| !l.trim_start().starts_with("//")).flat_map(|l| [l, "\n"]).collect()
}

#[test]
fn a_row_that_nothing_names_is_found() {
    let found = rows(
        "manifest",
        "codes! {\n    UNKNOWN_KEY = \"manifest.unknown_key\", Error,\n        \"a\", \"b\", \"c\";\n}",
    );
    assert_eq!((found.len(), found[0].name.as_str()), (1, "UNKNOWN_KEY"));
    let one = |text: &str| vec![text.to_owned()];
    assert!(unnamed(&found, &one("x(&codes::manifest::UNKNOWN_KEY)")).is_empty());
    assert!(unnamed(&found, &one("error[manifest.unknown_key]")).is_empty());
    assert_eq!(unnamed(&found, &one("x(&UNKNOWN_KEY_TWO) manifest.unknown_keys")).len(), 1);
    assert_eq!(unnamed(&found, &one("// UNKNOWN_KEY")).len(), 1);
    let twice = [rows("a", "X = \"a.x\", Error,"), rows("b", "X = \"b.x\", Error,")].concat();
    assert_eq!(unnamed(&twice, &one("b::X")), ["a.x (a::X)"], "a name that two files have needs the file's name");
    assert_eq!(unnamed(&twice, &one("use crate::diag::codes::a as codes; codes::X")), ["b.x (b::X)"]);
    assert_eq!(unnamed(&twice, &one("X")).len(), 2);
}
