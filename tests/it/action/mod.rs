//! `action.yml`: what it takes and gives is what the program takes and gives; it puts no input into a script and pins what
//! it uses. Its script is tried in [`install`].

pub(crate) mod install;

use checkfu::ci::inputs::{INPUTS, Reader, TOKEN_VARIABLE};
use checkfu::ci::outputs::OUTPUTS;
use checkfu::diag::LineIndex;
use checkfu::manifest::yaml;
use serde_json::{Map, Value};

use crate::repo;

fn parsed(path: &str) -> Value {
    let (documents, diagnostics) = yaml::parse(&LineIndex::new(path, repo::text(path)));
    assert!(diagnostics.0.is_empty(), "{path}: {diagnostics:?}");
    assert_eq!(documents.len(), 1, "{path}");
    documents[0].to_json()
}

/// Every workflow of the project, and those of the documentation.
pub(crate) fn workflows() -> Vec<String> {
    let folders = [".github/workflows", "docs/workflows"];
    let all = folders.iter().flat_map(|f| repo::children(f).into_iter().map(move |n| format!("{f}/{n}")));
    all.filter(|p| !p.ends_with("gitlab-ci.yml")).collect()
}

/// What is wrong with the steps of an action or of a job.
fn broken(steps: &Value) -> Vec<String> {
    let mut bad = Vec::new();
    for step in steps.as_array().unwrap() {
        let name = step["id"].as_str().or(step["name"].as_str()).unwrap_or("a step without a name");
        if step["run"].as_str().is_some_and(|script| script.contains("${{")) {
            bad.push(format!("{name}: an expression in a script is a way in; hand it over in env"));
        }
        let uses = step["uses"].as_str().unwrap_or("./");
        let pin = uses.rsplit_once('@').map_or("", |(_, pin)| pin);
        if uses != "./" && (pin.len() != 40 || !pin.bytes().all(|b| b.is_ascii_hexdigit())) {
            bad.push(format!("{name}: {uses} is not pinned to a commit"));
        }
        if uses.starts_with("actions/checkout@") && step["with"]["persist-credentials"] != false {
            bad.push(format!("{name}: the check-out leaves its token on the disk"));
        }
    }
    bad
}

/// Steps of the action by their id.
fn step<'a>(action: &'a Value, id: &str) -> &'a Value {
    action["runs"]["steps"].as_array().unwrap().iter().find(|s| s["id"] == id).unwrap()
}

fn names(map: &Value) -> Vec<&str> {
    sorted(map.as_object().map(Map::keys).into_iter().flatten().map(String::as_str))
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

#[test]
fn the_action_and_all_workflows_are_well_formed() {
    let action = parsed("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    let mut bad = broken(&action["runs"]["steps"]);
    for path in workflows() {
        let document = parsed(&path);
        let open = |job: &Value| job.get("permissions").is_none() && document.get("permissions").is_none();
        for (name, job) in document["jobs"].as_object().unwrap() {
            bad.extend(broken(&job["steps"]).into_iter().map(|b| format!("{path}: {name}: {b}")));
            if open(job) || job.get("timeout-minutes").is_none() {
                bad.push(format!("{path}: {name}: says neither what it may do nor how long"));
            }
        }
        // A fork's code beside a token that may write.
        assert!(document["on"].get("pull_request_target").is_none(), "{path}");
    }
    assert!(bad.is_empty(), "{bad:#?}");
    let three = serde_json::json!([{"run": "echo ${{ inputs.x }}"}, {"uses": "a/b@v1"}, {"uses": format!("actions/checkout@{:040}", 0)}]);
    assert_eq!(broken(&three).len(), 3);
}

#[test]
fn inputs_are_those_of_the_program() {
    let action = parsed("action.yml");
    assert_eq!(names(&action["inputs"]), sorted(INPUTS.iter().map(|i| i.name)));
    for input in INPUTS {
        let row = &action["inputs"][input.name];
        assert_eq!(row["description"], input.doc, "{}", input.name);
        assert_eq!(row["default"].as_str().unwrap_or_default(), input.default, "{}", input.name);
        assert_eq!(row["required"] == true, input.name == "mode", "{}", input.name);
    }
}

#[test]
fn every_input_reaches_who_reads_it_and_nobody_else() {
    let action = parsed("action.yml");
    let script = repo::text("action/install.sh");
    let value = |name: &str| format!("${{{{ inputs.{name} }}}}");
    for input in INPUTS {
        let variable = if input.name == "github-token" { TOKEN_VARIABLE.to_owned() } else { input.variable() };
        let handed = |id: &str| step(&action, id)["env"][&variable] == value(input.name);
        let expected = match input.reader {
            Reader::Program => [false, input.name == "mode" || input.name == "github-token", true],
            Reader::Script => [true, true, false],
        };
        assert_eq!(["resolve", "get", "run"].map(handed), expected, "{}", input.name);
        assert_eq!(script.contains(&variable), expected[1], "{variable} in the script");
    }
    let count: usize = ["resolve", "get", "run"]
        .iter()
        .flat_map(|id| names(&step(&action, id)["env"]).into_iter().filter(|n| n.starts_with("CHECKFU_CI_")))
        .count();
    let scripts = INPUTS.iter().filter(|i| i.reader == Reader::Script).count();
    // The mode is handed over twice; the token goes by a name of its own, to nobody but the two last steps.
    assert_eq!(count, scripts * 2 + (INPUTS.len() - scripts - 1) + 1);
}

#[test]
fn outputs_are_those_of_the_program() {
    let action = parsed("action.yml");
    assert_eq!(names(&action["outputs"]), sorted(OUTPUTS.iter().map(|o| o.name)));
    for output in OUTPUTS {
        let row = &action["outputs"][output.name];
        assert_eq!(row["description"], output.doc, "{}", output.name);
        // Of `mode: setup` no step `run` is there to tell.
        let from = match output.name {
            "checkfu-path" => "get.outputs.path".to_owned(),
            "checkfu-version" => "get.outputs.version".to_owned(),
            name => format!("run.outputs.{name}"),
        };
        assert_eq!(row["value"], format!("${{{{ steps.{from} }}}}"), "{}", output.name);
    }
}

/// A signal must reach the program, and a prompt may be longer than what a command line or a variable can hold.
#[test]
fn the_program_takes_the_place_of_the_shell_and_no_text_goes_through_arguments() {
    let action = parsed("action.yml");
    assert_eq!(step(&action, "run")["run"], "exec \"$CHECKFU_BIN\" ci");
    for output in OUTPUTS {
        let passed = repo::text("action.yml").matches(&format!("steps.run.outputs.{} ", output.name)).count();
        assert!(passed <= 1, "{} is used as an input of a later step", output.name);
    }
}

/// Nobody notices a mistyped input or output of an action: GitHub warns of one, and the other is empty.
#[test]
fn workflows_name_inputs_and_outputs_that_there_are() {
    let known = |name: &str| OUTPUTS.iter().any(|o| o.name == name);
    let mut seen = 0;
    for path in workflows() {
        let text = repo::text(&path);
        for job in parsed(&path)["jobs"].as_object().unwrap().values() {
            let ours = |s: &&Value| s["uses"].as_str().is_some_and(|u| u == "./" || u.starts_with("OWNER/checkfu@"));
            for step in job["steps"].as_array().unwrap().iter().filter(ours) {
                seen += 1;
                for name in names(&step["with"]) {
                    assert!(INPUTS.iter().any(|i| i.name == name), "{path}: there is no input {name}");
                }
                let Some(id) = step["id"].as_str() else { continue };
                for part in text.split(&format!("steps.{id}.outputs.")).skip(1) {
                    let name = part.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap();
                    assert!(known(name), "{path}: there is no output {name}");
                }
            }
        }
    }
    assert!(seen >= 7, "{seen} uses of the action");
}
