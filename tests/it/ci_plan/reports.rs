//! Files that other programs read: SARIF, and what GitLab shows beside a merge request.

use serde_json::{Value, json};

use super::events::Run;
use super::{a, two};
use crate::ci_apply::stage::Stage;
use crate::sandbox::{Ran, ran};

fn read(stage: &Stage, path: &str) -> Value {
    serde_json::from_str(&stage.s.read(path)).unwrap()
}

/// A run outside of GitHub.
fn outside(stage: &Stage, provider: &str, mode: &str, inputs: &[&str]) -> Ran {
    let mut args = vec!["ci", mode, "--provider", provider];
    args.extend(inputs.iter().flat_map(|input| ["--input", *input]));
    ran(&stage.s.command(&args).env("CI_PROJECT_DIR", stage.s.dir()).output().unwrap())
}

#[test]
fn what_a_plan_finds_is_sarif_with_its_place_in_the_repository() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    stage.fake.world().commit("topic", &[("agents/b.md", None)]);
    let told = Run::pull(&stage, pull).go(&[("sarif-file", "out.sarif"), ("annotations", "false")]).is(5, "refused");
    assert_eq!(told["sarif-file"], *stage.s.path("out.sarif").to_str().unwrap());
    let log = read(&stage, "out.sarif");
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&log["version"], &result["ruleId"]), (&json!("2.1.0"), &json!("plan.irreversible")));
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "checkfu.yaml", "what is gone has no file of its own");
    // Actions are no findings.
    assert!(!stage.s.read("out.sarif").contains("Agent/a#update"));
}

#[test]
fn a_file_that_is_wrong_is_told_below_its_folder() {
    let stage = Stage::new();
    let sha = stage.push(
        "main",
        &[("team/checkfu.yaml", &super::project("acme/x")), ("team/agents/a.md", "---\nnme: A\n---\nx\n")],
    );
    stage.check_out(&sha);
    let inputs = ["working-directory=team", "sarif-file=out.sarif"];
    assert_eq!(outside(&stage, "gitlab", "validate", &inputs).code, 1);
    let issues = read(&stage, "checkfu-codequality.json");
    let issue = issues.as_array().unwrap().iter().find(|i| i["check_name"] == "manifest.unknown_key").unwrap();
    assert_eq!(issue["location"], json!({"path": "team/agents/a.md", "lines": {"begin": 2}}));
    let at = &read(&stage, "out.sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(at["artifactLocation"]["uri"], "team/agents/a.md");
    assert!(at["region"]["startLine"].as_u64().unwrap() >= 1);
    assert!(!stage.s.path("checkfu-plan.gitlab.json").exists(), "nothing was planned");
}

#[test]
fn outside_of_github_a_plan_is_files() {
    let stage = two();
    let sha = stage.push("main", &[("agents/a.md", &a("A 2")), ("agents/c.md", &a("C"))]);
    stage.check_out(&sha);
    assert_eq!(outside(&stage, "gitlab", "plan", &[]).code, 0);
    assert_eq!(read(&stage, "checkfu-plan.gitlab.json"), json!({"create": 1, "update": 1, "delete": 0}));
    assert!(stage.s.read("checkfu-plan.md").contains("`Agent/c`"));
    for file in ["checkfu-plan.md", "checkfu-plan.gitlab.json", "checkfu-codequality.json"] {
        stage.s.remove(file);
    }
    assert_eq!(outside(&stage, "plain", "plan", &["report-file=my.md"]).code, 0);
    assert!(stage.s.path("my.md").exists() && !stage.s.path("checkfu-plan.md").exists());
    assert!(!stage.s.path("checkfu-codequality.json").exists());
}
