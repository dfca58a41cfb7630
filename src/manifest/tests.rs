//! Tests of whole files.

use crate::diag::{Diagnostic, LineIndex};
use crate::manifest::{Document, Form, Parsed, config, parse};

fn read(form: Form, file: &str, text: &str) -> (Vec<Document>, Vec<Diagnostic>) {
    let Parsed { documents, mut found, .. } = parse(form, &LineIndex::new(file, text));
    found.sort();
    (documents, found.0)
}

/// `code line:column fix`
fn lines(found: &[Diagnostic]) -> Vec<String> {
    found
        .iter()
        .map(|d| {
            let at = d.place().unwrap();
            let fix = d.fix.as_deref().map(|f| format!(" {f}")).unwrap_or_default();
            format!("{} {}:{}{fix}", d.code.code, at.line, at.column)
        })
        .collect()
}

fn yaml(text: &str) -> Vec<String> {
    lines(&read(Form::Yaml, "a.yaml", text).1)
}

fn store(metadata: &str, spec: &str) -> String {
    format!("apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {metadata}\nspec: {spec}\n")
}

#[test]
fn other_yaml_is_left_alone() {
    for text in [
        "",
        "a: [\n",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {a: !x 1, a: 2}\n",
        "apiVersion: v1\nkind: List\nx: {{ .Values.y }}\n",
        "- apiVersion\n",
        "name: {{ .Values.y }}\napiVersion: apps/v1\n",
    ] {
        let (documents, found) = read(Form::Yaml, "a.yaml", text);
        assert!(documents.is_empty() && found.is_empty(), "{text:?} {found:?}");
    }
}

#[test]
fn a_resource_that_lost_its_version_is_told() {
    let text = "kind: MemoryStore\nmetadata: {name: a}\nspec: {}\n";
    assert_eq!(yaml(text).len(), 1, "{:?}", yaml(text));
    assert!(yaml("kind: Deployment\nspec: {}\n").is_empty());
}

#[test]
fn near_versions_and_kinds_are_errors() {
    let with = |version: &str, kind: &str| {
        yaml(&format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{}}\n"))
    };
    for version in ["checkfu.com/v2", "checkfu/v1", "Checkfu.com/v1", "chekfu.com/v1"] {
        assert_eq!(with(version, "MemoryStore"), ["manifest.api_version 1:13 apiVersion: checkfu.com/v1"], "{version}");
    }
    // the rest of it is read all the same
    assert_eq!(
        with("checkfu.com/v2", "MemoryStor"),
        [
            "manifest.api_version 1:13 apiVersion: checkfu.com/v1",
            "manifest.unknown_kind 2:7 did you mean `MemoryStore`?"
        ]
    );
    assert!(with("checkfu.com/v2", "Agent")[1].starts_with("manifest.missing_key"));
    assert_eq!(with("checkfu.com/v1", "MemoryStor"), ["manifest.unknown_kind 2:7 did you mean `MemoryStore`?"]);
    assert!(with("checkfu.com/v1", "Deployment")[0].contains("one of Agent, Environment"));
    assert_eq!(with("checkfu.com/v1", "Config"), ["manifest.config_elsewhere 2:7"]);
    assert_eq!(yaml("apiVersion: checkfu.com/v1\nname: x\n"), ["manifest.missing_key 1:13 kind: …"]);
    assert_eq!(
        yaml(
            "apiVersion: checkfu.com/v1\nkind: Environment\nmetadata: {name: a}\nspec: {config: {type: cloud}}\n---\nkind: Agent\nmetadata: {name: b}\nspec: {}\n"
        ),
        ["manifest.no_api_version 6:7 apiVersion: checkfu.com/v1"]
    );
}

#[test]
fn metadata_is_checked() {
    let one = |metadata: &str| yaml(&store(metadata, "{}"));
    assert_eq!(one("{name: a, labels: {team: x}}"), Vec::<String>::new());
    assert_eq!(one("{name: My_Store}"), ["manifest.name 3:18 my-store"]);
    assert_eq!(one("{name: 12}"), ["manifest.needs_quotes 3:18 \"12\""]);
    assert_eq!(
        one("{name: a, labels: {v: 1.10, t: yes, u: true}}"),
        ["manifest.needs_quotes 3:33 \"1.10\"", "manifest.needs_quotes 3:50 \"true\""]
    );
    assert_eq!(one("{name: a, labels: ~}"), ["manifest.null 3:21"]);
    assert_eq!(one("{nme: a}"), ["manifest.missing_key 3:1 name: …", "manifest.unknown_key 3:12 did you mean `name`?"]);
    assert_eq!(one("{name: a, label: {}}"), ["manifest.unknown_key 3:21 did you mean `labels`?"]);
    assert_eq!(one("[a]"), ["manifest.wrong_type 3:1"]);
    let fields = |f: &str| one(&format!("{{name: a, fields: {{spec.description: {f}}}}}"));
    assert!(fields("{mode: ignore, reason: x, until: 2027-03-01}").is_empty());
    assert!(fields("{mode: ignor}")[0].ends_with(" did you mean `ignore`?"));
    assert!(fields("{mode: seed, until: soon}")[0].starts_with("manifest.wrong_value"));
    assert!(fields("{}")[0].starts_with("manifest.missing_key"));
}

#[test]
fn a_document_knows_its_places() {
    let text = "# c\n---\napiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata:\n  name: a\n  labels: {team: x}\nspec:\n  description: >-\n    long\n  name: \"n\"\n";
    let (documents, found) = read(Form::Yaml, "a.yaml", text);
    assert!(found.is_empty(), "{found:?}");
    let d = &documents[0];
    assert_eq!(d.address.to_string(), "MemoryStore/a");
    let at = |l: crate::diag::Location| (l.line, l.column);
    assert_eq!(at(d.at.clone()), (6, 9));
    assert_eq!(d.place("name").map(at), Some((11, 9)));
    assert_eq!(d.place("labels.team").map(at), Some((7, 18)));
    assert_eq!(at(d.locate("/description", false)), (10, 5));
    assert_eq!(at(d.locate("/description", true)), (9, 3));
    assert_eq!(at(d.locate("/nothing/here", false)), (8, 1));
    assert_eq!(at(d.locate_metadata("/labels/team", true)), (7, 12));
}

#[test]
fn texts_are_checked_before_they_are_read() {
    assert_eq!(yaml("a: 1\0"), ["manifest.nul 1:5"]);
    let bom = format!("\u{feff}{}", store("{name: a}", "{}"));
    assert_eq!(yaml(&bom), ["manifest.bom 1:1"]);
    assert_eq!(yaml(&store("{name: a}", "{}").replace('\n', "\r")), ["manifest.lone_cr 1:27"]);
    assert_eq!(yaml(&store("{name: a}", "{}").replace('\n', "\r\n")), Vec::<String>::new());
    assert_eq!(yaml(&store("{name: a, labels: {x: \"\u{7}\"}}", "{}"))[0], "manifest.control_character 3:34");
}

const AGENT: &str = "---\nmodel: claude-sonnet-5\nlabels: {team: support}\n---\n\nYou answer.\n\nAlways.\n\n";

#[test]
fn an_agent_in_markdown() {
    let (documents, found) = read(Form::AgentMarkdown, "agents/support.md", AGENT);
    assert!(found.is_empty(), "{found:?}");
    let d = &documents[0];
    assert_eq!(d.address.to_string(), "Agent/support");
    assert_eq!(d.spec, serde_json::json!({"model": "claude-sonnet-5", "instructions": "You answer.\n\nAlways."}));
    assert_eq!(d.labels["team"], "support");
    assert_eq!(d.place("instructions").unwrap().line, 6);
    assert_eq!(d.locate("/instructions", false).line, 6);
    assert_eq!(d.locate("/model", false).line, 2);
    assert_eq!(d.locate_metadata("/labels/team", false).line, 3);
}

#[test]
fn preamble_goes_before_the_prose() {
    let text = "---\nmodel: m\npreamble: [../shared/a.md, b.md]\n---\nText\n";
    let (documents, found) = read(Form::AgentMarkdown, "agents/a.md", text);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(
        documents[0].spec["instructions"],
        serde_json::json!([{"file": "../shared/a.md"}, {"file": "b.md"}, "Text"])
    );
    let at = |p: &str| documents[0].locate(p, false);
    assert_eq!((at("/instructions/1/file").line, at("/instructions/1/file").column), (3, 28));
    assert_eq!(at("/instructions/2").line, 5);
}

#[test]
fn markdown_mistakes() {
    let one = |file: &str, text: &str| lines(&read(Form::AgentMarkdown, file, text).1);
    assert_eq!(one("agents/a.md", "# Hi\n"), ["manifest.no_front_matter 1:1 ---\nmodel: …\n---"]);
    assert_eq!(
        one("agents/a.md", "\n---\nmodel: m\n---\n"),
        ["manifest.no_front_matter 1:1 remove the blank lines at the top of the file"]
    );
    assert_eq!(one("agents/a.md", "---\nmodel: m\n ---\nx\n"), ["manifest.not_closed 3:1 ---"]);
    assert_eq!(
        one("agents/My Agent.md", "---\nmodel: m\n---\nx\n"),
        ["manifest.name 1:1 rename the file to my-agent.md"]
    );
    assert_eq!(one("agents/a.md", "---\nmodel: m\ninstructions: x\n---\ny\n"), ["manifest.instructions_twice 3:1"]);
    assert_eq!(one("agents/a.md", "---\nmodel: m\nsystem: x\n---\n"), ["manifest.system_name 3:1 instructions"]);
    assert_eq!(one("agents/a.md", "---\n- a\n---\ny\n"), ["manifest.not_a_map 2:1"]);
    assert_eq!(one("agents/a.md", "---\nmodel: m\n...\nx: y\n---\ny\n"), ["manifest.two_documents 3:1"]);
    assert_eq!(
        one("agents/a.md", "---\nmodel: m\nlabels: {v: 1.10}\npreamble: 3\n---\ny\n"),
        ["manifest.needs_quotes 3:13 \"1.10\"", "manifest.wrong_type 4:11"]
    );
    // a text field is the text as written
    let text = "---\nmodel: m\ndescription: 1.10\n---\ny\n";
    let (documents, found) = read(Form::AgentMarkdown, "agents/a.md", text);
    assert_eq!((documents[0].spec["description"].as_str(), found.len()), (Some("1.10"), 0));
}

#[test]
fn configuration() {
    let read = |text: &str| {
        let (document, mut found) = config(&LineIndex::new("checkfu.yaml", text));
        found.sort();
        (document, lines(&found.0))
    };
    let head = "apiVersion: checkfu.com/v1\nkind: Config\n";
    let (c, found) = read(&format!("{head}authoring_owner: acme/support\nremoved:\n  - {{address: Agent/old}}\n"));
    assert!(found.is_empty(), "{found:?}");
    let c = c.unwrap();
    assert_eq!((c.config.policy.max_retire, c.locate("/removed/0/address").line), (20, 5));
    assert_eq!((c.locate("/targets/x").line, c.written("/targets").is_none()), (1, true));
    let bad = |rest: &str| read(&format!("{head}{rest}")).1;
    assert_eq!(bad(""), ["manifest.missing_key 1:1 authoring_owner: …"]);
    assert_eq!(bad("authoring_owner: a b\n"), ["manifest.wrong_value 3:18"]);
    assert_eq!(
        bad("authoring_owner: a\npolicy: {max_retir: 3, on_drift: revrt}\n"),
        ["manifest.unknown_key 4:10 did you mean `max_retire`?", "manifest.wrong_value 4:34 did you mean `revert`?"]
    );
    assert_eq!(bad("authoring_owner: a\nmoved: [{from: Agent/x, to: Agnt/y}]\n"), ["manifest.wrong_value 4:29"]);
    assert_eq!(
        bad("authoring_owner: a\ntargets: {x: {kind: embeded}}\n"),
        ["manifest.wrong_value 4:21 did you mean `embedded`?"]
    );
    assert_eq!(
        bad("authoring_owner: a\nremoved:\nmoved: ~\nadopt:\naccept:\nallow_secret_names:\n"),
        Vec::<String>::new()
    );
    assert_eq!(bad("authoring_owner: a\nroot:\n"), ["manifest.null 4:1"]);
    let (misspelt, found) = read(&format!("{head}authoring_owner: a\npolcy: {{}}\npolicy: {{max_retir: 3}}\n"));
    assert_eq!((found.len(), misspelt.is_some()), (2, true), "{found:?}");
    assert_eq!(bad(&format!("authoring_owner: a\n---\n{head}authoring_owner: b\n")), ["manifest.config_twice 6:7"]);
    assert_eq!(
        read("").1,
        ["manifest.config_missing 1:1 apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: …"]
    );
    assert_eq!(
        read("apiVersion: checkfu.com/v2\nkind: Config\nauthoring_owner: a\n").1,
        ["manifest.api_version 1:13 apiVersion: checkfu.com/v1"]
    );
}

#[test]
fn a_configuration_may_have_documents_beside_it() {
    let text =
        format!("apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: a\n---\n{}", store("{name: a}", "{}"));
    let (documents, found) = read(Form::Config, "checkfu.yaml", &text);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(documents.len(), 1);
    assert!(config(&LineIndex::new("checkfu.yaml", text)).0.is_some());
}

#[test]
fn a_skill_says_its_places_and_fixes() {
    let one = |text: &str| lines(&read(Form::Skill, "skills/faq/SKILL.md", text).1);
    let head = "---\nname: faq\n";
    assert_eq!(
        one(&format!("{head}description: Use this: always\n---\nx\n")),
        ["manifest.unquoted_colon 3:22 description: \"Use this: always\""]
    );
    assert_eq!(
        one(&format!("{head}description: fix #1 # now\n---\nx\n")),
        ["skill.description_cut 3:18 description: \"fix #1 # now\""]
    );
    assert_eq!(
        one(&format!("{head}descripton: d\n---\nx\n")),
        [
            "skill.description_missing 2:1 description: what it does, and when to use it",
            "skill.unknown_field 3:1 did you mean `description`?"
        ]
    );
    assert_eq!(one(&format!("{head}description: d\n---\n{}", "x\n".repeat(501))), ["skill.body_long 5:1"]);
    assert_eq!(
        one("---\nname: Faq\ndescription: d\n---\nx\n"),
        ["skill.name_folder 2:7 name: faq", "skill.name_form 2:7 faq"]
    );
}
