//! The workflows of `docs/workflows/` as they stand, run to their end by `act` on this machine, without a network: the
//! project is that of `examples/support-team`, the workspace is `checkfu serve`, GitHub is the one of the tests.
//!
//! What stands in for GitHub's own: `actions/checkout` fetches the event's commit from the repository behind the tests'
//! GitHub; the two artifact actions copy to and from a folder; `actions/cache` is never run. The checkfu action is this
//! repository's, in a copy whose `checkfu-path` is by default the program that was built for the tests, so that the
//! workflows need no word more. What act does not do as GitHub does: `permissions`, `environment` (every job sees every
//! secret), `concurrency` and the limits of summaries are not kept, and a run cannot be cancelled from outside; those
//! have tests of their own below `ci_plan`, `ci_apply` and `ci_drift`.
//!
//! `.ci/run` runs these with the path of act in `CHECKFU_ACT`.
#![cfg(unix)]

mod situations;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::ci_apply::stage::Stage;
use crate::ci_plan::events;
use crate::cli_serve::serving;
use crate::github::{JOB, REPOSITORY};
use crate::repo;
use crate::sandbox::{Ran, Sandbox, ran};

/// The actions that something stands in for, as the workflows and `action.yml` name them.
const OTHERS: [&str; 4] = ["checkout", "upload-artifact", "download-artifact", "cache"];

/// A repository on GitHub, its workspace, and act.
struct Act {
    stage: Stage,
    server: Child,
    url: String,
    read: String,
    write: String,
    admin: String,
    /// The situations so far, and how they ended.
    rows: Vec<[String; 3]>,
    _served: Sandbox,
}

/// How a run ended.
#[derive(Debug)]
struct Ended {
    /// Of act.
    code: i32,
    /// What the action told, by step and name.
    outputs: BTreeMap<(String, String), String>,
    /// How each step ended; one that was skipped is not here.
    steps: BTreeMap<String, String>,
    log: String,
    /// `METHOD /path` of what was written on GitHub.
    writes: Vec<String>,
}

impl Ended {
    fn of(&self, step: &str, output: &str) -> &str {
        self.outputs.get(&(step.to_owned(), output.to_owned())).map_or("", String::as_str)
    }

    /// Asserts how a step ended; without a reason the job is a success.
    #[track_caller]
    fn is(self, step: &str, exit: i32, reason: &str) -> Self {
        let told = (self.of(step, "exit-code"), self.of(step, "failure-reason"));
        assert_eq!(told, (exit.to_string().as_str(), reason), "{}", self.log);
        assert_eq!(self.code, i32::from(!reason.is_empty()), "{}", self.log);
        assert_eq!(self.steps[step], if reason.is_empty() { "success" } else { "failure" }, "{}", self.log);
        self
    }
}

impl Act {
    fn new() -> Self {
        let (stage, served) = (Stage::new(), Sandbox::empty());
        let (server, url) = serving(&served);
        let token = |name: &str, more: &[&str]| {
            let made = served.run(&[&["token", "create", name, "--db", "w.db"], more].concat()).code(0);
            made.out.trim_end().to_owned()
        };
        let [read, write] = ["plan", "apply"].map(|scope| token(scope, &["--scope", scope, "--owner", "example/*"]));
        let admin = token("admin", &["--scope", "admin", "--owner", "*"]);
        let act = Self { stage, server, url, read, write, admin, rows: Vec::new(), _served: served };
        act.own_action();
        act
    }

    /// The copy of the action.
    fn own_action(&self) {
        std::fs::create_dir_all(self.stage.temp("own/action")).unwrap();
        let text = repo::text("action.yml");
        let (before, after) = text.split_once("\n  checkfu-path:\n").unwrap();
        let given = format!("default: {:?}", env!("CARGO_BIN_EXE_checkfu"));
        let text = format!("{before}\n  checkfu-path:\n{}", after.replacen("default: \"\"", &given, 1));
        std::fs::write(self.stage.temp("own/action.yml"), text).unwrap();
        let script = repo::root().join("action/install.sh");
        std::fs::copy(script, self.stage.temp("own/action/install.sh")).unwrap();
    }

    /// `checkfu.yaml` of the example, with the server as its target.
    fn config(&self) -> String {
        let text = repo::text("examples/support-team/checkfu.yaml");
        let team = format!("targets:\n  team: {{kind: checkfu, url: \"{}\", token: {{env: TEAM_TOKEN}}}}\n", self.url);
        text.replace("targets:\n", &team).replace("default_target: local", "default_target: team")
    }

    /// The files of the example.
    fn project(&self) -> Vec<(String, String)> {
        let top = "examples/support-team/";
        let text = |path: &str| if path.ends_with("checkfu.yaml") { self.config() } else { repo::text(path) };
        let files = repo::files(top.trim_end_matches('/')).into_iter();
        files.map(|path| (path.strip_prefix(top).unwrap().to_owned(), text(&path))).collect()
    }

    /// Runs a workflow on an event, of a commit. `secrets`: none for a fork.
    fn run(&self, event: &str, workflow: &str, sha: &str, payload: &Value, secrets: &[(&str, &str)]) -> Ended {
        self.stage.check_out(sha);
        self.stage.fake.requests();
        let file = self.stage.temp("act-event.json");
        std::fs::write(&file, payload.to_string()).unwrap();
        let act = std::env::var_os("CHECKFU_ACT").expect("CHECKFU_ACT is the path of act: see .ci/run");
        let act = std::env::current_dir().unwrap().join(act);
        let mut command = Command::new(act);
        let temp = |name: &str| self.stage.temp(name).to_str().unwrap().to_owned();
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", temp("home"));
        command.args([event, "--json", "-P", "ubuntu-24.04=-self-hosted", "--no-cache-server", "--pull=false"]);
        command.args(["--action-offline-mode", "--no-skip-checkout", "--actor", "ann"]);
        command.arg("-C").arg(self.stage.s.dir()).arg("-e").arg(file).arg("--action-cache-path").arg(temp("act"));
        command.arg("-W").arg(repo::root().join("docs/workflows").join(workflow));
        let origin = self.stage.fake.world().git.path().to_str().unwrap().to_owned();
        for (name, value) in [
            ("GITHUB_API_URL", self.stage.fake.url()),
            ("GITHUB_GRAPHQL_URL", &format!("{}/graphql", self.stage.fake.url())),
            ("GITHUB_REPOSITORY", REPOSITORY),
            ("ACT_ORIGIN", &origin),
            ("ACT_SHA", sha),
            ("ACT_ARTIFACTS", &temp("artifacts")),
        ] {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        for (name, value) in [&[("GITHUB_TOKEN", JOB)], secrets].concat() {
            command.arg("-s").arg(format!("{name}={value}"));
        }
        let text = repo::text(&format!("docs/workflows/{workflow}")) + &repo::text("action.yml");
        for (name, local) in stand_ins(&text, &temp("own")) {
            command.arg("--local-repository").arg(format!("{name}={local}"));
        }
        self.ended(ran(&command.output().unwrap()))
    }

    /// Reads the lines of act's log.
    fn ended(&self, ran: Ran) -> Ended {
        let (mut outputs, mut steps) = (BTreeMap::new(), BTreeMap::new());
        let mut log = ran.err;
        for line in ran.out.lines() {
            let Ok(said) = serde_json::from_str::<Value>(line) else {
                writeln!(log, "{line}").unwrap();
                continue;
            };
            let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
            let id = said["stepID"].as_array().cloned().unwrap_or_default();
            if text("command") == "set-output" && id.len() == 2 && id[1] == "run" {
                outputs.insert((text("step"), text("name")), text("arg"));
            }
            if text("stage") == "Main" && id.len() == 1 && said["stepResult"].is_string() {
                steps.insert(text("step"), text("stepResult"));
            }
            writeln!(log, "{} {}", text("step"), text("msg").trim_end()).unwrap();
        }
        for secret in [&self.read, &self.write] {
            assert!(!log.contains(secret.as_str()), "a secret is in the log");
        }
        Ended { code: ran.code, outputs, steps, log, writes: self.stage.fake.writes() }
    }

    /// `pull-request.yml` on a pull request, as GitHub runs it: on the merge that it tried.
    fn pull(&mut self, situation: &str, number: u64, secrets: &[(&str, &str)]) -> Ended {
        let merge = events::try_merge(&self.stage, number);
        let payload = events::payload(&self.stage, number);
        let ended = self.run("pull_request", "pull-request.yml", &merge, &payload, secrets);
        let step = if ended.steps.contains_key("Plan") { "Plan" } else { "Validate" };
        self.note(situation, step, ended)
    }

    /// A workflow on the newest commit of `main`.
    fn main(&mut self, situation: &str, event: &str, workflow: &str, step: &str, secrets: &[(&str, &str)]) -> Ended {
        let tip = self.stage.fake.world().tip("main").unwrap();
        let repository = json!({"default_branch": "main", "full_name": REPOSITORY});
        let payload = json!({"ref": "refs/heads/main", "after": tip, "repository": repository});
        let ended = self.run(event, workflow, &tip, &payload, secrets);
        self.note(situation, step, ended)
    }

    fn note(&mut self, situation: &str, step: &str, ended: Ended) -> Ended {
        let names = ["exit-code", "failure-reason", "degraded", "creates", "updates", "applied", "drift-status"];
        let told = names.iter().map(|name| (name, ended.of(step, name))).filter(|(_, value)| !value.is_empty());
        let told: Vec<String> = told.map(|(name, value)| format!("{name}={value}")).collect();
        let writes = if ended.writes.is_empty() { "nothing".to_owned() } else { ended.writes.join(", ") };
        self.rows.push([situation.to_owned(), format!("{step}: {}", told.join(" ")), writes]);
        ended
    }

    /// A command of a person in the check-out, with all rights.
    fn person(&self, args: &[&str]) -> Command {
        let mut command = self.stage.s.command(args);
        command.env("TEAM_TOKEN", &self.admin);
        command
    }
}

impl Drop for Act {
    fn drop(&mut self) {
        println!("| situation | what it told | written on GitHub |\n|---|---|---|");
        for [situation, told, writes] in &self.rows {
            println!("| {situation} | {told} | {writes} |");
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Every action that is named in these texts, and the folder that stands in for it.
fn stand_ins(texts: &str, own: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for line in texts.lines() {
        let Some(uses) = line.trim().trim_start_matches("- ").strip_prefix("uses: ") else { continue };
        let (name, pin) = uses.split(' ').next().unwrap().split_once('@').unwrap();
        let parts: Vec<&str> = name.split('/').collect();
        let local = match (parts[0], parts[1]) {
            ("OWNER", "checkfu") => own.to_owned(),
            ("actions", other) if OTHERS.contains(&other) => {
                repo::root().join("tests/it/act/actions").join(other).to_str().unwrap().to_owned()
            }
            _ => panic!("nothing stands in for {uses}"),
        };
        all.insert(format!("{}/{}@{pin}", parts[0], parts[1]), local);
    }
    all
}
