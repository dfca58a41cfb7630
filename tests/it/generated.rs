//! Files that are made from the code: compared here, written anew with `UPDATE=1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use checkfu::ci::inputs::INPUTS;
use checkfu::ci::outputs::OUTPUTS;
use checkfu::cli::args::Cli;
use checkfu::cli::configuration;
use checkfu::cli::schemas;
use checkfu::diag::{Code, Severity, codes};
use checkfu::manifest::{self, Form};
use checkfu::model::kinds::{self, KINDS};
use clap::CommandFactory as _;
use serde_json::Value;

use crate::cli_reference::reference;
use crate::repo;

/// Folders in which every file is generated.
const WHOLE_FOLDERS: &[&str] = &["schemas", "docs/kinds"];

/// Path → text of all generated files.
fn wanted() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for row in schemas::all() {
        files.insert(format!("schemas/{}.json", row.name), json(&row.json()));
    }
    for def in KINDS {
        files.insert(format!("docs/kinds/{}.md", def.kind), kinds::docs::docs(def));
    }
    files.insert("schemas/openapi.json".to_owned(), json(&checkfu::server::openapi::document()));
    files.insert("schemas/Manifest.json".to_owned(), json(&kinds::schema::manifest()));
    files.insert("docs/kinds/README.md".to_owned(), index());
    files.insert("docs/config.md".to_owned(), configuration::page());
    files.insert("docs/cli.md".to_owned(), reference(&Cli::command()));
    files.insert("docs/errors.md".to_owned(), errors(&codes::all()));
    files.insert("docs/ci.md".to_owned(), with_tables(&repo::text("docs/ci.md")));
    files.insert("docs/ci/sample.md".to_owned(), crate::ci_plan::sample::comment());
    files
}

fn json(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

/// The list of kinds.
fn index() -> String {
    let mut out =
        "# Kinds\n\nMade from the code; `checkfu explain KIND` says the same.\n\n| kind | |\n|---|---|\n".to_owned();
    for def in KINDS {
        let _ = writeln!(out, "| [{0}]({0}.md) | {1} |", def.kind, def.doc);
    }
    out
}

/// A page with its tables of inputs and outputs as the code has them; the rest is written by people.
fn with_tables(page: &str) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut inputs = "| input | default | modes | |\n|---|---|---|---|\n".to_owned();
    for input in INPUTS {
        let modes: Vec<&str> = input.modes.iter().map(|m| m.as_str()).collect();
        let modes = if modes.is_empty() { "all".to_owned() } else { modes.join(", ") };
        let default = if input.default.is_empty() { String::new() } else { format!("`{}`", input.default) };
        let _ = writeln!(inputs, "| `{}` | {default} | {modes} | {} |", input.name, cell(input.doc));
    }
    let mut outputs = "| output | |\n|---|---|\n".to_owned();
    for output in OUTPUTS {
        let _ = writeln!(outputs, "| `{}` | {} |", output.name, cell(output.doc));
    }
    let mut page = page.to_owned();
    for (name, table) in [("inputs", inputs), ("outputs", outputs)] {
        let head = format!("<!-- {name} -->\n");
        let (before, rest) = page.split_once(&head).unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        page = format!("{before}{head}{table}<!-- end -->{after}");
    }
    page
}

/// The page of all codes.
fn errors(codes: &[&Code]) -> String {
    let mut out =
        "# Codes\n\nEvery code that checkfu can show, as `checkfu explain CODE` tells it. Made from the code.\n"
            .to_owned();
    for code in codes {
        let severity = match code.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let _ = write!(
            out,
            "\n## {}\n\n{}. ({severity})\n\n{}\n\n**Fix:** {}\n",
            code.code, code.title, code.why, code.fix
        );
    }
    out
}

/// What differs between the files and the texts.
fn differences(wanted: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let mut bad = Vec::new();
    for (path, text) in wanted {
        match found.get(path) {
            None => bad.push(format!("{path} is missing")),
            Some(old) if old != text => {
                let line = old.lines().zip(text.lines()).position(|(a, b)| a != b);
                let line = line.unwrap_or_else(|| old.lines().count().min(text.lines().count())) + 1;
                bad.push(format!("{path} differs from line {line} on"));
            }
            Some(_) => {}
        }
    }
    bad.extend(found.keys().filter(|p| !wanted.contains_key(*p)).map(|p| format!("{p}: nothing makes this file")));
    bad
}

fn found(wanted: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let in_folders = WHOLE_FOLDERS.iter().flat_map(|f| repo::files(f));
    let read = |p: String| fs::read_to_string(repo::root().join(&p)).ok().map(|text| (p, text));
    wanted.keys().cloned().chain(in_folders).filter_map(read).collect()
}

#[test]
fn generated_files_are_up_to_date() {
    let wanted = wanted();
    let bad = differences(&wanted, &found(&wanted));
    if std::env::var_os("UPDATE").is_some_and(|v| v == "1") {
        for path in found(&wanted).keys().filter(|p| !wanted.contains_key(*p)) {
            fs::remove_file(repo::root().join(path)).unwrap();
        }
        for (path, text) in &wanted {
            let path = repo::root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        return;
    }
    assert!(bad.is_empty(), "UPDATE=1 cargo test --test it generated writes these anew:\n{}", bad.join("\n"));
}

/// A reader of a schema knows JSON, not the code that it is made from.
#[test]
fn no_schema_speaks_of_the_code() {
    let mut bad = Vec::new();
    for (path, text) in wanted().iter().filter(|(path, _)| path.starts_with("schemas/")) {
        for (number, line) in text.lines().enumerate() {
            if ["::", "`None`", "`Some", "[`"].iter().any(|word| line.contains(word)) {
                bad.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn examples_in_the_pages_of_kinds_are_valid() {
    for kind in KINDS {
        let index = checkfu::diag::LineIndex::new("example.yaml", kind.example);
        let manifest::Parsed { documents, found, .. } = manifest::parse(Form::Yaml, &index);
        let found: Vec<_> = found.0.iter().map(|d| format!("{} {}", d.code.code, d.message)).collect();
        assert!(found.is_empty(), "{}: {found:?}", kind.kind);
        assert!(!documents.is_empty() && documents.iter().all(|d| d.address.kind == kind.kind));
    }
}

#[test]
fn a_difference_is_found() {
    let map = |rows: &[(&str, &str)]| rows.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let wanted = map(&[("a", "1\n2\n"), ("b", "1\n")]);
    assert_eq!(differences(&wanted, &wanted), Vec::<String>::new());
    let bad = differences(&wanted, &map(&[("a", "1\n3\n"), ("c", "")]));
    assert_eq!(bad, ["a differs from line 2 on", "b is missing", "c: nothing makes this file"]);
}
