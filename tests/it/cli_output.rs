//! stdout is data and stderr is talk: one JSON document, no colour without a terminal, no crash when nobody reads.

use std::process::Stdio;

use crate::sandbox::{Sandbox, ran, team};

#[test]
fn every_command_with_json_prints_one_document_with_a_format_and_nothing_else() {
    let s = team();
    let good: &[(&[&str], &str)] = &[
        (&["validate", "--json"], "checkfu.diagnostics/v1"),
        (&["plan", "--json"], "checkfu.plan/v1"),
        (&["apply", "--json", "--yes"], "checkfu.receipt/v1"),
        (&["apply", "--json"], "checkfu.receipt/v1"),
        (&["get", "--json"], "checkfu.resources/v1"),
        (&["get", "Agent/faq", "--json"], "checkfu.resources/v1"),
        (&["history", "--json"], "checkfu.applies/v1"),
        (&["doctor", "--json"], "checkfu.checks/v1"),
        (&["explain", "cli.usage", "--json"], "checkfu.explain/v1"),
        (&["new", "agent", "fresh", "--json"], "checkfu.files/v1"),
        (&["-C", "new", "init", "--json"], "checkfu.files/v1"),
    ];
    for (args, format) in good {
        let document = s.run(args).code(0).json();
        assert_eq!(document["format"], *format, "{args:?}");
        assert_eq!(against_its_schema(&document), Vec::<String>::new(), "{args:?}");
    }
    let bad: &[(&[&str], &str)] = &[
        (&["--json", "nothing"], "cli.usage"),
        (&["plan", "--json", "--target", "none"], "cli.target_unknown"),
        (&["plan", "--json", "-C", "none"], "cli.read"),
        (&["plan", "--json", "-C", ".."], "cli.no_project"),
        (&["apply", "--json"], "cli.confirm"),
        (&["apply", "--json", "--plan", "none"], "cli.read"),
        (&["explain", "--json", "nothing.at.all"], "cli.topic"),
        (&["new", "skill", "A B", "--json"], "cli.name"),
        (&["init", "--json"], "cli.exists"),
        (&["get", "Agent/none", "--json"], "cli.not_found"),
        (&["plan", "--json", "-o", "no/such/folder"], "cli.write"),
    ];
    for (args, code) in bad {
        let ran = s.run(args).code(1);
        assert_eq!(ran.json()["diagnostics"][0]["code"], *code, "{args:?}: {}", ran.out);
        assert_eq!(ran.json()["format"], "checkfu.diagnostics/v1");
        assert_eq!(against_its_schema(&ran.json()), Vec::<String>::new(), "{args:?}");
    }
    s.write("agents/faq.md", "---\nmodle: x\n---\nHi\n");
    let broken = s.run(&["validate", "--json"]).code(1).json();
    assert!(broken["diagnostics"][0].get("at").is_some(), "{broken}");
    assert_eq!(against_its_schema(&broken), Vec::<String>::new());
}

/// What the published schema of a document's format has against it.
fn against_its_schema(document: &serde_json::Value) -> Vec<String> {
    let format = document["format"].as_str().unwrap_or_default();
    let name = format.strip_prefix("checkfu.").and_then(|f| f.strip_suffix("/v1")).unwrap_or_default();
    let schema = checkfu::cli::schemas::find(name).unwrap_or_else(|| panic!("{format} has no schema")).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn what_is_shown_of_an_apply_and_of_changes_is_what_its_schema_says() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    for args in [&["plan", "--json"][..], &["apply", "--yes", "--json"], &["destroy", "--json", "--yes"]] {
        assert_eq!(against_its_schema(&s.run(args).json()), Vec::<String>::new(), "{args:?}");
    }
    let applies = s.run(&["history", "--json"]).code(0).json();
    let id = applies["applies"][0]["id"].as_str().unwrap().to_owned();
    for args in [&["show", &id, "--json"][..], &["explain", "Agent", "--json"], &["explain", "Config", "--json"]] {
        assert_eq!(against_its_schema(&s.run(args).code(0).json()), Vec::<String>::new(), "{args:?}");
    }
}

#[test]
fn usage_is_an_error_and_help_is_not() {
    let s = Sandbox::empty();
    for args in [
        &["nothing"][..],
        &["plan", "--nothing"],
        &[],
        &["apply", "--plan", "a", "--revert-all"],
        &["-q", "-v", "plan"],
    ] {
        assert_eq!(s.run(args).code(1).out, "", "{args:?}");
    }
    for args in [&["--help"][..], &["--version"], &["plan", "--help"], &["completions", "bash"], &["schema"]] {
        assert_eq!(s.run(args).code(0).err, "", "{args:?}");
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let s = team();
    assert!(!s.run(&["plan"]).out.contains('\u{1b}'));
    assert!(s.run(&["plan", "--color", "always"]).out.contains('\u{1b}'));
    let ran = ran(&s.command(&["plan", "--color", "always"]).env("NO_COLOR", "1").output().unwrap());
    assert!(ran.out.contains('\u{1b}'), "an option wins over the environment");
    assert!(!s.run(&["plan", "--json", "--color", "always"]).out.contains('\u{1b}'));
}

#[test]
fn a_reader_that_went_away_ends_nothing() {
    let s = team();
    let mut child = s.command(&["schema", "Agent"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(ran(&output).err, "");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let s = team();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = s.command(&["schema", "Agent"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cli.output"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_size_limit_is_an_error_and_leaves_the_old_plan() {
    let s = team();
    s.run(&["plan", "-o", "p.json"]).code(0);
    let old = s.read("p.json");
    let checkfu = env!("CARGO_BIN_EXE_checkfu");
    let script = format!("ulimit -f 1; exec '{checkfu}' plan -o p.json");
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(s.dir()).output().unwrap();
    let ran = ran(&output).code(1);
    assert!(ran.err.contains("cli.write"), "{}", ran.err);
    assert_eq!(s.read("p.json"), old);
    assert!(s.files().iter().all(|(name, _)| !name.starts_with(".checkfu-")));
}

#[test]
fn the_environment_names_a_target_and_an_actor() {
    let s = team();
    let out = s.command(&["plan"]).env("CHECKFU_TARGET", "none").output().unwrap();
    assert!(ran(&out).code(1).err.contains("cli.target_unknown"));
    let out = s.command(&["apply", "--yes"]).env("CHECKFU_ACTOR", "jane").output().unwrap();
    ran(&out).code(0);
    assert_eq!(s.run(&["history", "--json"]).json()["applies"][0]["actor"], "jane");
}

#[test]
fn plans_are_markdown_for_a_pull_request() {
    let s = team();
    let text = s.run(&["plan", "--markdown"]).code(0).out;
    assert!(text.starts_with("### checkfu: 4 to create\n"), "{text}");
    assert!(text.len() <= 60_000);
    let text = s.run(&["apply", "--markdown", "--yes"]).code(0).out;
    assert!(text.starts_with("### checkfu: applied: 4 done"), "{text}");
}
