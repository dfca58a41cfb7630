//! Tests of the span tree.

use serde_json::json;

use super::*;
use crate::diag::{Diagnostic, LineIndex};

fn read(text: &str) -> (Vec<Value>, Vec<Diagnostic>) {
    let (nodes, found) = parse(&LineIndex::new("a.yaml", text));
    (nodes.iter().map(Node::to_json).collect(), found.0)
}

/// `code line:column` of each finding, and each fix.
fn findings(text: &str) -> Vec<(String, String)> {
    let (_, found) = read(text);
    found
        .iter()
        .map(|d| {
            let at = d.place().unwrap();
            (format!("{} {}:{}", d.code.code, at.line, at.column), d.fix.clone().unwrap_or_default())
        })
        .collect()
}

fn one(text: &str) -> (String, String) {
    let mut all = findings(text);
    assert_eq!(all.len(), 1, "{text:?}: {all:?}");
    all.remove(0)
}

#[test]
fn core_schema() {
    let text = "[on, yes, 1.0, 0o14, 014, 0b11, 1_000, 1:30, 1e3, .5, 5., +1, 18446744073709551615, ~, null, True, .inf, -, 0x1F, -3, 2026-01-01]";
    let value = json!([
        "on",
        "yes",
        1.0,
        12,
        14,
        "0b11",
        "1_000",
        "1:30",
        1000.0,
        0.5,
        5.0,
        1,
        u64::MAX,
        null,
        null,
        true,
        "inf",
        "-",
        31,
        -3,
        "2026-01-01"
    ]);
    // `-` alone is refused in a flow list by some; here it is a text.
    let (docs, found) = read(&text.replace(" -,", " \"-\","));
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(docs, [value]);
}

#[test]
fn every_node_and_key_has_its_bytes() {
    let text = "\n# c\na: 1\nb:\n  - x: \"é\"\n    y: |\n      line\n      two\n  - [1, 2]\nc:\n\n\nd: z\n";
    let index = LineIndex::new("a.yaml", text);
    let (nodes, _) = parse(&index);
    let at = |pointer: &str| {
        let (key, value) = nodes[0].locate(pointer).unwrap();
        (key.map_or("", |k| &text[k]), &text[value])
    };
    assert_eq!(at("/a"), ("a", "1"));
    assert_eq!(at("/b/0/x"), ("x", "\"é\""));
    assert!(at("/b/0/y").1.starts_with("line"));
    assert_eq!(at("/b/1"), ("", "[1, 2]"));
    assert_eq!(at("/b/1/1"), ("", "2"));
    assert_eq!(at("/d"), ("d", "z"));
    assert!(at("/b").1.ends_with("[1, 2]"), "{:?}", at("/b"));
    assert!(nodes[0].locate("/b/7").is_none() && nodes[0].locate("/a/b").is_none());
}

#[test]
fn all_duplicate_keys_are_told_with_both_places() {
    let (_, found) = read("a: 1\nb: 2\na: 3\na: 4\nc: {x: 1, x: 2}\n\"b\": 5\n");
    let places: Vec<_> = found.iter().map(|d| (d.labels[0].at.line, d.labels[1].at.line)).collect();
    assert_eq!(places, [(3, 1), (4, 1), (5, 5), (6, 2)]);
    assert!(found.iter().all(|d| d.code.code == "manifest.duplicate_key"));
    // Long maps are hashed.
    use std::fmt::Write as _;
    let mut long = String::new();
    (0..40).for_each(|i| writeln!(long, "k{i}: 1").unwrap());
    assert_eq!(one(&format!("{long}k39: 2\n")).0, "manifest.duplicate_key 41:1");
}

#[test]
fn tags_complex_keys_templates() {
    assert_eq!(one("a: !env X\n").0, "manifest.tag 1:4");
    assert_eq!(one("a: !!str 1\n").0, "manifest.tag 1:4");
    assert_eq!(one("a: !t {b: 1}\n").0, "manifest.tag 1:4");
    assert_eq!(one("? [1, 2]\n: 3\n").0, "manifest.complex_key 1:3");
    assert_eq!(one("cell: {{cell}}\n"), ("manifest.template 1:7".into(), "cell: \"{{cell}}\"".into()));
    assert_eq!(one("  cell: {{ x }}-y\n"), ("manifest.template 1:9".into(), "  cell: \"{{ x }}-y\"".into()));
    assert_eq!(one("- {{ x }}\n"), ("manifest.template 1:3".into(), "- \"{{ x }}\"".into()));
}

#[test]
fn unquoted_colon_shows_the_quoted_line() {
    assert_eq!(
        one("name: a\ndescription: Use this: always\n"),
        ("manifest.unquoted_colon 2:22".into(), "description: \"Use this: always\"".into())
    );
    assert_eq!(
        one("a:\n  - b: say \"hi\": now\n"),
        ("manifest.unquoted_colon 2:16".into(), "  - b: 'say \"hi\": now'".into())
    );
    let (place, fix) = one("description: some text\n  Context: more\nmodel: x\n");
    assert_eq!(
        (place.as_str(), fix.as_str()),
        ("manifest.unquoted_colon 2:10", "description: >-\n  some text\n  Context: more")
    );
}

#[test]
fn block_with_a_deeper_first_line() {
    assert_eq!(
        one("system: |\n    deep\n  less\nmodel: x\n"),
        ("manifest.block_indent 1:9".into(), "system: |2".into())
    );
    assert_eq!(
        one("spec:\n  system: |-\n      deep\n\n    less\n"),
        ("manifest.block_indent 2:11".into(), "  system: |2-".into())
    );
}

#[test]
fn tabs_signs_and_half_quotes() {
    assert_eq!(one("a:\n\tb: 1\n").0, "manifest.tab 2:1");
    assert_eq!(one("a: @x\n").1, "a: \"@x\"");
    assert_eq!(one("a: \"x\" y\n").1, "a: '\"x\" y'");
    assert_eq!(one("a: *x\n"), ("manifest.alias 1:4".into(), "a: \"*x\"".into()));
    assert_eq!(one("a: *.md\n").1, "a: \"*.md\"");
    assert_eq!(one("a: [x] y\n").1, "a: \"[x] y\"");
    assert_eq!(one("a: [1\n").0, "manifest.yaml_syntax 1:4");
    // A map or list that lacks its end gets that, no quotes, if all of it is in the line.
    assert_eq!(one("spec: {a: {b: c, d: []}\n").1, "spec: {a: {b: c, d: []}}");
    assert_eq!(one("a: [x, {y: \"]\"\n").1, "a: [x, {y: \"]\"}]");
    for open in ["a: [1,\n  2\n", "a: {b: 1 # c\n", "a: [\"x]\n"] {
        assert!(!one(open).1.starts_with("a: \"") && !one(open).1.ends_with(']'), "{}", one(open).1);
    }
}

#[test]
fn anchors_aliases_and_merge_keys() {
    let text = "base: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3\nd: *b\ne:\n  <<: [*b, {z: 1}]\n";
    let index = LineIndex::new("a.yaml", text);
    let (nodes, found) = parse(&index);
    assert!(found.0.is_empty(), "{found:?}");
    let value = nodes[0].to_json();
    assert_eq!(value["c"], json!({"x": 1, "y": 3}));
    assert_eq!((&value["d"]["y"], &value["e"]), (&json!(2), &json!({"x": 1, "y": 2, "z": 1})));
    // Points to where the alias is written.
    assert_eq!(index.locate(nodes[0].locate("/d").unwrap().1).line, 5);
    assert_eq!(index.locate(nodes[0].locate("/c/x").unwrap().1).line, 3);
    assert_eq!(one("a:\n  <<: 3\n").0, "manifest.merge_key 2:7");
    assert_eq!(one("a: &a [1, *a]\n").0, "manifest.alias 1:11");
    assert_eq!(read("\"<<\": 3\n").0, [json!({"<<": 3})]);
}

#[test]
fn bombs_are_counted() {
    let mut bytes = format!("a0: &a0 \"{}\"\n", "x".repeat(1000));
    let mut nodes = "a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n".to_owned();
    use std::fmt::Write as _;
    for i in 1..12 {
        let list = vec![format!("*a{}", i - 1); 10].join(", ");
        writeln!(bytes, "a{i}: &a{i} [{list}]").unwrap();
        writeln!(nodes, "a{i}: &a{i} [{list}]").unwrap();
    }
    assert!(one(&bytes).0.starts_with("manifest.alias_expansion"));
    assert!(one(&nodes).0.starts_with("manifest.alias_expansion"));
    // A chain of aliases nests as deep as brackets do.
    let mut chain = "a0: &a0 {x: 1}\n".to_owned();
    (1..400).for_each(|i| writeln!(chain, "a{i}: &a{i} {{x: *a{}}}", i - 1).unwrap());
    assert!(one(&chain).0.starts_with("manifest.too_deep"));
    assert!(one(&"[".repeat(100_000)).0.starts_with("manifest.too_deep"));
    assert!(one(&"- ".repeat(100_000)).0.starts_with("manifest.too_deep"));
    let ok = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert!(read(&ok).1.is_empty());
}

#[test]
fn other_documents_are_read_after_an_error() {
    let text = "a: [1\n---\nb: !x 1\n---\nc: d: e\n---\nf: 1\n";
    let codes: Vec<_> = findings(text).into_iter().map(|f| f.0).collect();
    assert_eq!(codes, ["manifest.yaml_syntax 1:4", "manifest.tag 3:4", "manifest.unquoted_colon 5:5"]);
    assert_eq!(read(text).0.last(), Some(&json!({"f": 1})));
    let index = LineIndex::new("a.yaml", text);
    let ranges: Vec<_> = documents(&index, 0..text.len()).map(|d| text[d.range].to_owned()).collect();
    assert_eq!(ranges, ["a: [1\n", "---\nb: !x 1\n", "---\nc: d: e\n", "---\nf: 1\n"]);
}

#[test]
fn odd_texts_do_not_panic() {
    for text in [
        "",
        "\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n---\na: 1\n",
        "\u{feff}a: 1",
        "a: 1\r\nb: 2\r\n",
        "\r",
        "a:\rb:\r",
        "- - -",
        "? ",
        ": ",
        "&a",
        "*a",
        "!",
        "'",
        "\"",
        "{",
        "}",
        "]",
        "|",
        ">",
        "a: |\n\t",
        "é: ü: ö",
        "{{",
        "- {{",
        "\t",
        "a: b\n c: d\n  - e",
    ] {
        let _ = read(text);
    }
    let big = "x".repeat(MAX_BYTES + 1);
    assert_eq!(one(&big).0, "manifest.too_large 1:1");
}

#[test]
fn too_many_values() {
    let text = "- a\n".repeat(MAX_NODES + 10);
    assert!(one(&text).0.starts_with("manifest.too_large"));
}
