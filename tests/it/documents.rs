//! Documents that people read: every link leads somewhere, and the commands of the README are those that work.

use std::collections::BTreeSet;

use crate::repo;

/// Targets of Markdown links in a text, code blocks left out.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        for part in line.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// Links of one file to files that are not there.
fn broken(path: &str, text: &str) -> Vec<String> {
    let folder = repo::root().join(path).parent().unwrap().to_owned();
    links(text)
        .into_iter()
        .filter(|t| !t.starts_with("http") && !t.starts_with('#') && !t.starts_with("mailto:"))
        .filter(|t| !folder.join(t.split('#').next().unwrap()).exists())
        .map(|t| format!("{path}: {t}"))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let bad: Vec<String> = repo::files("")
        .into_iter()
        .filter(|p| repo::is(p, "md") && !p.starts_with("tests/"))
        .flat_map(|p| broken(&p, &repo::text(&p)))
        .collect();
    assert!(bad.is_empty(), "\n{}", bad.join("\n"));
    assert_eq!(
        broken("README.md", "[a](nowhere.md) [b](README.md#x)\n```\n[c](no.md)\n```\n"),
        ["README.md: nowhere.md"]
    );
}

#[test]
fn editors_find_the_schemas_that_examples_name() {
    let mut named = BTreeSet::new();
    for path in repo::files("examples").into_iter().filter(|p| repo::is(p, "yaml")) {
        let text = repo::text(&path);
        let first = text.lines().next().unwrap_or_default();
        let Some(schema) = first.strip_prefix("# yaml-language-server: $schema=") else {
            panic!("{path} does not begin with the line that names its schema")
        };
        let file = repo::root().join(&path).parent().unwrap().join(schema);
        assert!(file.is_file(), "{path}: {schema} is not there");
        named.insert(file.file_name().unwrap().to_owned());
    }
    assert!(named.len() >= 2, "{named:?}");
}

#[test]
fn the_first_commands_of_the_readme_are_these_two() {
    let readme = repo::text("README.md");
    let commands: Vec<&str> = readme.lines().filter(|l| l.starts_with("cargo ")).collect();
    assert_eq!(commands[..2], ["cargo run --locked -- apply -C examples/quickstart --yes", "cargo test --locked"]);
}
