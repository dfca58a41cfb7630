//! Every folder of `examples/` is a project that runs as it is: it validates, applies, and has nothing to do
//! after that.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::repo;

/// A copy of an example in a folder of its own, with modes kept and no Git above it.
fn copy(name: &str) -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    for path in repo::files(&format!("examples/{name}")) {
        let to = temp.path().join(path.strip_prefix(&format!("examples/{name}/")).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(repo::root().join(&path), to).unwrap();
    }
    temp
}

/// Runs the binary in a folder with an empty environment, and insists on the exit code.
fn run(dir: &Path, args: &[&str], code: i32) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_checkfu"))
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("HOME", dir.join(".checkfu"))
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "checkfu {args:?}\n{out}\n{err}");
    output
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_example_applies_and_then_has_nothing_to_do() {
    let names = repo::children("examples");
    assert!(names.len() >= 2, "{names:?}");
    for name in names {
        let project = copy(&name);
        let dir = project.path();
        run(dir, &["validate"], 0);
        assert!(!dir.join(".checkfu/workspace.db").exists(), "{name}: validate made a database");
        run(dir, &["plan", "--detailed-exitcode"], 2);
        assert!(!dir.join(".checkfu/workspace.db").exists(), "{name}: plan made a database");
        run(dir, &["apply", "--yes"], 0);
        let plan = json(&run(dir, &["plan", "--detailed-exitcode", "--json"], 0));
        assert_eq!(plan["actions"], serde_json::json!([]), "{name}");
        let again = json(&run(dir, &["apply", "--yes", "--json"], 0));
        assert_eq!(again["outcome"], "nothing", "{name}");
    }
}

#[test]
fn the_support_team_has_every_kind() {
    let project = copy("support-team");
    let plan = json(&run(project.path(), &["plan", "--json"], 0));
    let actions = plan["actions"].as_array().unwrap();
    for kind in checkfu::model::Kind::ALL {
        let prefix = format!("{kind}/");
        let made = actions
            .iter()
            .any(|a| a["verb"] == "create" && a["address"].as_str().unwrap_or_default().starts_with(&prefix));
        assert!(made, "no {kind} is created");
    }
}
