//! `action.yml`: it parses, puts no input into a script, pins its shells, and its steps work when they are run.

use std::fs;
use std::path::Path;
use std::process::Command;

use checkfu::diag::LineIndex;
use checkfu::manifest::yaml;
use serde_json::Value;

use crate::repo;

fn parsed(path: &str) -> Value {
    let (documents, diagnostics) = yaml::parse(&LineIndex::new(path, repo::text(path)));
    assert!(diagnostics.0.is_empty(), "{path}: {diagnostics:?}");
    assert_eq!(documents.len(), 1, "{path}");
    documents[0].to_json()
}

/// What is wrong with the steps of a composite action.
fn broken(action: &Value) -> Vec<String> {
    let mut bad = Vec::new();
    for step in action["runs"]["steps"].as_array().unwrap() {
        let name = step["id"].as_str().unwrap_or("a step without id");
        let script = step["run"].as_str().unwrap_or_default();
        if script.contains("${{") {
            bad.push(format!("{name}: an expression in a script is a way in; hand it over in env"));
        }
        if step.get("run").is_some() && step["shell"] != "bash --noprofile --norc -euo pipefail {0}" {
            bad.push(format!("{name}: the shell is not the pinned one"));
        }
        if let Some(uses) = step["uses"].as_str() {
            let pin = uses.rsplit_once('@').map_or("", |(_, pin)| pin);
            if pin.len() != 40 || !pin.bytes().all(|b| b.is_ascii_hexdigit()) {
                bad.push(format!("{name}: {uses} is not pinned to a commit"));
            }
        }
    }
    bad
}

#[test]
fn the_action_is_well_formed() {
    let action = parsed("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    assert_eq!(broken(&action), Vec::<String>::new());
    let document = parsed(".github/workflows/ci.yml");
    for job in document["jobs"].as_object().unwrap().values() {
        for step in job["steps"].as_array().unwrap() {
            let uses = step["uses"].as_str().unwrap_or("./");
            assert!(uses == "./" || uses.rsplit_once('@').is_some_and(|(_, pin)| pin.len() == 40), "{uses}");
        }
    }
    let bad: Value = serde_json::json!({"runs": {"steps": [
        {"run": "echo ${{ inputs.x }}", "shell": "bash"}, {"uses": "a/b@v1"}
    ]}});
    assert_eq!(broken(&bad).len(), 3);
}

/// What a run of the action's scripts left behind.
struct Ran {
    code: i32,
    log: String,
    outputs: String,
    summary: String,
}

/// Runs the action's scripts in order, as the runner would.
fn run(project: &Path, inputs: &[(&str, &str)]) -> Ran {
    let temp = tempfile::tempdir().unwrap();
    let file = |name: &str| temp.path().join(name);
    for name in ["output", "summary"] {
        fs::write(file(name), "").unwrap();
    }
    let mut ran = Ran { code: 0, log: String::new(), outputs: String::new(), summary: String::new() };
    for step in parsed("action.yml")["runs"]["steps"].as_array().unwrap() {
        fs::write(file("script"), step["run"].as_str().unwrap()).unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-euo", "pipefail"]).arg(file("script"));
        command.current_dir(project).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", temp.path()).env("RUNNER_TEMP", temp.path()).env("GITHUB_ACTION_PATH", repo::root());
        command.env("GITHUB_OUTPUT", file("output")).env("GITHUB_STEP_SUMMARY", file("summary"));
        for (name, value) in step["env"].as_object().unwrap() {
            let expression = value.as_str().unwrap().trim_start_matches("${{ ").trim_end_matches(" }}");
            let value = match expression.strip_prefix("inputs.") {
                Some(input) => {
                    inputs.iter().find(|(n, _)| *n == input).map_or(default(input), |(_, v)| (*v).to_owned())
                }
                None => ran.outputs.lines().find_map(|l| l.strip_prefix("path=")).unwrap_or_default().to_owned(),
            };
            command.env(name, value);
        }
        let output = command.output().unwrap();
        ran.code = output.status.code().unwrap();
        ran.log += &(String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr));
        ran.outputs = fs::read_to_string(file("output")).unwrap();
        ran.summary = fs::read_to_string(file("summary")).unwrap();
        if ran.code != 0 {
            break;
        }
    }
    ran
}

fn default(input: &str) -> String {
    parsed("action.yml")["inputs"][input]["default"].as_str().unwrap().to_owned()
}

const BINARY: (&str, &str) = ("binary", env!("CARGO_BIN_EXE_checkfu"));

fn project() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("checkfu.yaml"), "apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: a/b\n")
        .unwrap();
    fs::create_dir(temp.path().join("agents")).unwrap();
    fs::write(temp.path().join("agents/support.md"), "---\nmodel: claude-sonnet-5\n---\nAnswer.\n").unwrap();
    temp
}

#[test]
fn plan_writes_summary_and_outputs() {
    let project = project();
    let ran = run(project.path(), &[BINARY, ("command", "plan")]);
    assert_eq!(ran.code, 0, "{}", ran.log);
    assert!(ran.outputs.contains("exit-code=2\n"), "{}", ran.outputs);
    let digest = ran.outputs.lines().find_map(|l| l.strip_prefix("digest=")).unwrap_or_default();
    assert!(ran.summary.contains(digest) && digest.len() == 71, "{digest} is not in\n{}", ran.summary);
    assert!(!project.path().join(".checkfu/workspace.db").exists());
}

#[test]
fn bad_input_fails_and_cannot_command_the_runner() {
    let project = project();
    fs::write(project.path().join("agents/evil.md"), "---\nmodel: x\n\"::error::owned\": 1\n---\n").unwrap();
    let ran = run(project.path(), &[BINARY, ("command", "validate")]);
    assert_eq!(ran.code, 1, "{}", ran.log);
    assert!(ran.outputs.contains("exit-code=1\n"), "{}", ran.outputs);
    let stop = ran.log.find("::stop-commands::").unwrap();
    assert!(ran.log.find("owned").is_none_or(|at| at > stop), "{}", ran.log);
    for wrong in [("command", "apply; true"), ("working-directory", "nowhere"), ("version", "9.9.9")] {
        assert_eq!(run(project.path(), &[BINARY, wrong]).code, 1, "{wrong:?}");
    }
}
