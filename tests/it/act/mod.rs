//! The workflows of the documentation, run as they are by `act` on this machine, offline: what they leave on GitHub, in
//! their outputs and in the workspace. Prints a table of situations and results.
//!
//! act is not GitHub: it does not keep the limits of a summary, the permissions of a token, environments, concurrency, or
//! the rule that a fork gets no secrets. A fork's run is therefore given none here; the limits are tested elsewhere.

mod runner;

use checkfu::ci::{Marker, State};
use checkfu::model::Kind;
use checkfu::model::op::{Context, Expect, Request, Update};
use serde_json::json;

use crate::ci_plan::events::{payload, try_merge};
use crate::repo;
use runner::{Done, Job, Runner, push};

const PROMPT: &str = "agents/support.md";

/// The example, with the team's server for its target.
fn project() -> Vec<(String, String)> {
    let example = "examples/support-team/";
    let mut files: Vec<(String, String)> =
        repo::files(example).into_iter().map(|p| (p.trim_start_matches(example).to_owned(), repo::text(&p))).collect();
    let config = &mut files.iter_mut().find(|(p, _)| p == "checkfu.yaml").unwrap().1;
    let target = "  team: {kind: checkfu, url: \"{url}\", token: {env: TEAM_TOKEN}}\n";
    *config = config.replace("targets:\n", &format!("targets:\n{target}"));
    assert!(config.contains(target));
    files
}

/// Rows of the table: situation, result.
#[derive(Default)]
struct Table(Vec<(String, String)>);

impl Table {
    fn row(&mut self, situation: &str, done: &Done, result: String) {
        let ended = if done.ok { "success" } else { "failure" };
        self.0.push((situation.to_owned(), format!("{ended}; {result}")));
    }

    fn print(&self) {
        let width = self.0.iter().map(|(s, _)| s.len()).max().unwrap_or(0);
        for (situation, result) in &self.0 {
            println!("{situation:width$}  {result}");
        }
    }
}

/// The outputs of a step, those that have a value.
fn told(done: &Done, job: &str, step: &str, names: &[&str]) -> String {
    let pairs = names.iter().map(|n| format!("{n}={}", done.output(job, step, n))).filter(|p| !p.ends_with('='));
    pairs.collect::<Vec<_>>().join(" ")
}

fn edited(from: &str, to: &str) -> String {
    let text = repo::text(&format!("examples/support-team/{PROMPT}"));
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1)
}

/// Adds a last sentence to the prompt.
fn with(sentence: &str) -> String {
    repo::text(&format!("examples/support-team/{PROMPT}")).trim_end().to_owned() + "\n" + sentence + "\n"
}

impl Runner {
    /// The workflow of pull requests, on one, as GitHub checks it out.
    fn pull(&self, number: u64) -> Done {
        let merge = try_merge(&self.stage, number);
        self.stage.check_out(&merge);
        self.job("pull-request.yml", "pull_request", payload(&self.stage, number)).go()
    }

    /// A workflow on `main` as it is.
    fn on_main(&self, workflow: &'static str, event: &'static str) -> Job<'_> {
        let sha = self.stage.fake.world().tip("main").unwrap();
        self.stage.check_out(&sha);
        self.job(workflow, event, push(&sha))
    }

    fn main(&self, workflow: &'static str, event: &'static str) -> Done {
        self.on_main(workflow, event).go()
    }

    fn comments(&self, number: u64) -> Vec<String> {
        self.stage.fake.world().comments_of(number).iter().map(|c| c.body.clone()).collect()
    }

    /// Pushes once more to a pull request.
    fn again(&self, branch: &str, text: &str) {
        self.stage.push(branch, &[(PROMPT, text)]);
    }

    /// Somebody changes the prompt live.
    fn edit_live(&self, system: &str) {
        let found = self.stage.run(&["get", "Agent/support", "--target", "team", "--json"]).json();
        let id = found["resources"][0]["id"].as_str().unwrap().to_owned();
        let break_glass = Some("incident 12".into());
        let context = Context { actor: "jane".into(), admin: true, break_glass, ..Context::default() };
        let body = json!({ "system": system }).as_object().unwrap().clone();
        let update = Update { kind: Kind::Agent, at: Expect { id, version: None }, body, applied: None };
        self.team.call(&context, Request::Update(update));
    }

    fn issues(&self) -> Vec<(u64, bool, String)> {
        let world = self.stage.fake.world();
        let of = |i: &crate::github::Issue| (i.number, i.open, i.body.clone());
        world.issues.values().filter(|i| i.pull.is_none()).map(of).collect()
    }

    /// Writes on GitHub since the last call of this.
    fn writes(&self) -> Vec<String> {
        self.stage.fake.writes()
    }
}

#[test]
#[ignore = "needs act: .ci/run gives its path"]
fn the_workflows_of_the_documentation_leave_what_they_should() {
    let runner = Runner::start(&project());
    let mut table = Table::default();
    apply_of_main(&runner, &mut table);
    let pull = pull_requests(&runner, &mut table);
    reviewed(&runner, pull, &mut table);
    drift(&runner, &mut table);
    table.print();
    assert!(table.0.len() >= 18, "a situation is missing");
}

fn apply_of_main(runner: &Runner, table: &mut Table) {
    let done = runner.main("apply.yml", "push");
    assert!(done.ok && done.output("plan", "plan", "changes") == "true", "{}", done.log);
    let digest = done.output("plan", "plan", "plan-digest");
    assert!(digest.starts_with("sha256:") && done.summary.contains("Agent/support"), "{}", done.log);
    assert_eq!(
        (done.output("apply", "2", "applied"), done.output("apply", "2", "exit-code")),
        ("true", "0"),
        "{}",
        done.log
    );
    table.row("apply A: first", &done, told(&done, "plan", "plan", &["exit-code", "creates"]) + " then applied");
    let done = runner.main("apply.yml", "push");
    assert!(done.ok && done.output("plan", "plan", "changes") == "false", "{}", done.log);
    assert_eq!(done.output("apply", "2", "applied"), "", "there is nothing to approve");
    table.row("apply A: nothing to do", &done, told(&done, "plan", "plan", &["exit-code", "changes"]));
}

fn pull_requests(runner: &Runner, table: &mut Table) -> u64 {
    let stage = &runner.stage;
    runner.writes();
    let wrong = stage.propose("wrong", &[(PROMPT, &edited("model:", "modell:"))]);
    let done = runner.pull(wrong);
    assert!(!done.ok && done.output("plan", "1", "failure-reason") == "invalid", "{}", done.log);
    assert!(done.remarks.iter().any(|r| r.starts_with("error agents/support.md:")), "{:?}", done.remarks);
    assert_eq!((done.output("plan", "plan", "exit-code"), runner.comments(wrong).len()), ("", 0));
    table.row("validate: a wrong key", &done, told(&done, "plan", "1", &["exit-code", "failure-reason"]));

    let pull = stage.propose("topic", &[(PROMPT, &with("Ask for the version first."))]);
    let done = runner.pull(pull);
    assert!(done.ok && done.output("plan", "plan", "updates") == "1", "{}", done.log);
    let first = runner.comments(pull);
    assert_eq!(first.len(), 1);
    let marker = Marker::read(&first[0]).unwrap();
    assert_eq!((marker.key.as_str(), marker.state), ("team", State::Planned));
    assert!(first[0].contains("Ask for the version first."), "{}", first[0]);
    assert_eq!(runner.writes().len(), 1);
    table.row("plan: first", &done, told(&done, "plan", "plan", &["exit-code", "updates"]) + " comment written");

    let done = runner.pull(pull);
    assert!(done.ok && runner.writes().is_empty() && runner.comments(pull) == first, "{}", done.log);
    table.row("plan: the same again", &done, "comment left as it is".to_owned());

    runner.again("topic", &with("Ask for the version of the product first."));
    let done = runner.pull(pull);
    let second = runner.comments(pull);
    assert!(done.ok && second.len() == 1 && second != first, "{}", done.log);
    assert!(second[0].contains("version of the product first"), "{}", second[0]);
    assert_eq!(runner.writes().len(), 1);
    table.row("plan: update", &done, told(&done, "plan", "plan", &["exit-code", "updates"]) + " comment edited");

    runner.again("topic", &repo::text(&format!("examples/support-team/{PROMPT}")));
    let done = runner.pull(pull);
    assert!(done.ok && done.output("plan", "plan", "changes") == "false", "{}", done.log);
    assert_eq!(runner.comments(pull).len(), 1);
    assert!(runner.comments(pull) != second, "an outdated plan stays");
    table.row(
        "plan: no change any more",
        &done,
        told(&done, "plan", "plan", &["exit-code", "changes"]) + " comment kept true",
    );
    runner.writes();
    let quiet = stage.propose("quiet", &[("notes.txt", "Nothing of the project.\n")]);
    let done = runner.pull(quiet);
    assert!(done.ok && runner.comments(quiet).is_empty() && runner.writes().is_empty(), "{}", done.log);
    table.row("plan: no change", &done, told(&done, "plan", "plan", &["exit-code", "changes"]) + " no comment");

    let long: String =
        (0..4_000).map(|n| format!("Rule {n}: answer question {n} in one sentence, and say so.\n")).collect();
    let big = stage.propose("big", &[(PROMPT, &with(&long))]);
    let done = runner.pull(big);
    let comment = runner.comments(big).pop().unwrap_or_default();
    assert!(done.ok && comment.len() <= 60_000 && comment.contains("Agent/support"), "{} {}", comment.len(), done.log);
    assert!(done.summary.len() > comment.len(), "{} is all that the summary has", done.summary.len());
    table.row("plan: too big", &done, format!("comment of {} bytes, summary of {}", comment.len(), done.summary.len()));
    forks(runner, table);

    runner.again("topic", &with("Ask for the version first."));
    assert!(runner.pull(pull).ok);
    pull
}

fn forks(runner: &Runner, table: &mut Table) {
    let stage = &runner.stage;
    runner.writes();
    stage.propose("theirs", &[(PROMPT, &with("Answer as the fork wishes."))]);
    let fork = stage.fake.world().open_pull("eve", "theirs", "main", Some("eve/agents"));
    let merge = try_merge(stage, fork);
    stage.check_out(&merge);
    let job = |pull| runner.job("pull-request.yml", "pull_request", payload(stage, pull)).without_secrets();
    let done = job(fork).by("eve").go();
    assert!(done.ok && done.output("plan", "plan", "degraded") == "fork", "{}", done.log);
    assert!(runner.writes().is_empty() && runner.comments(fork).is_empty());
    assert!(done.summary.contains("Agent/support"), "{}", done.summary);
    table.row("plan: fork", &done, told(&done, "plan", "plan", &["exit-code", "degraded"]) + " nothing written");
    let own = stage.propose("bump", &[(PROMPT, &with("A newer library."))]);
    let merge = try_merge(stage, own);
    stage.check_out(&merge);
    let done = job(own).by("dependabot[bot]").go();
    assert!(done.ok && done.output("plan", "plan", "degraded") == "dependabot", "{}", done.log);
    assert!(runner.writes().is_empty());
    table.row("plan: Dependabot", &done, told(&done, "plan", "plan", &["exit-code", "degraded"]) + " nothing written");
}

fn reviewed(runner: &Runner, pull: u64, table: &mut Table) {
    let stage = &runner.stage;
    stage.merge(pull);
    let done = runner.main("apply-reviewed.yml", "push");
    assert!(done.ok && done.output("apply", "1", "applied") == "true", "{}", done.log);
    let comment = runner.comments(pull).pop().unwrap();
    assert_eq!(Marker::read(&comment).unwrap().state, State::Applied, "{comment}");
    table.row(
        "apply B: as reviewed",
        &done,
        told(&done, "apply", "1", &["exit-code", "applied"]) + " comment says applied",
    );

    stage.push("main", &[(PROMPT, &with("Nobody has seen this."))]);
    let done = runner.main("apply-reviewed.yml", "push");
    assert!(!done.ok && done.output("apply", "1", "exit-code") == "6", "{}", done.log);
    assert_eq!(done.output("apply", "1", "failure-reason"), "approval-missing", "{}", done.log);
    table.row("apply B: pushed past review", &done, told(&done, "apply", "1", &["exit-code", "failure-reason"]));
    // By the other way, with its reviewers.
    let done = runner.main("apply.yml", "push");
    assert!(done.ok && done.output("apply", "2", "applied") == "true", "{}", done.log);
    table.row("apply A: the same", &done, told(&done, "apply", "2", &["exit-code", "applied"]));
}

fn drift(runner: &Runner, table: &mut Table) {
    let status = |done: &Done| done.output("drift", "drift", "drift-status").to_owned();
    let done = runner.main("drift.yml", "schedule");
    assert!(done.ok && status(&done) == "none" && runner.issues().is_empty(), "{}", done.log);
    table.row("drift: none", &done, told(&done, "drift", "drift", &["exit-code", "drift", "drift-status"]));

    runner.edit_live("Answer in verse.\n");
    let done = runner.main("drift.yml", "schedule");
    let issues = runner.issues();
    assert!(done.ok && status(&done) == "new" && issues.len() == 1 && issues[0].1, "{}", done.log);
    assert!(issues[0].2.contains("Agent/support") && done.log.contains("drift is new: issue"), "{}", issues[0].2);
    table.row("drift: new", &done, told(&done, "drift", "drift", &["exit-code", "drift-status"]) + " issue opened");

    let done = runner.main("drift.yml", "schedule");
    assert!(done.ok && status(&done) == "same" && runner.issues().len() == 1, "{}", done.log);
    assert!(runner.comments(issues[0].0).is_empty() && !done.log.contains("drift is same: issue"));
    table.row("drift: same", &done, told(&done, "drift", "drift", &["exit-code", "drift-status"]) + " nobody is told");

    runner.edit_live("Answer in prose.\n");
    let done = runner.main("drift.yml", "schedule");
    assert!(done.ok && status(&done) == "changed" && runner.comments(issues[0].0).len() == 1, "{}", done.log);
    table.row("drift: changed", &done, told(&done, "drift", "drift", &["exit-code", "drift-status"]) + " one comment");

    let before = runner.issues();
    runner.writes();
    let done = runner.on_main("drift.yml", "schedule").secret("TEAM_PLAN_TOKEN", "cfu_wrong").go();
    assert!(!done.ok && done.output("drift", "drift", "failure-reason") == "unauthorized", "{}", done.log);
    assert!(runner.issues() == before && runner.writes().is_empty(), "an error touches no issue");
    table.row(
        "drift: error",
        &done,
        told(&done, "drift", "drift", &["exit-code", "failure-reason"]) + " issue untouched",
    );

    runner.stage.run(&["revert", "Agent/support", "--target", "team", "--yes"]).code(0);
    let done = runner.main("drift.yml", "schedule");
    assert!(done.ok && status(&done) == "resolved" && !runner.issues()[0].1, "{}", done.log);
    table.row(
        "drift: resolved",
        &done,
        told(&done, "drift", "drift", &["exit-code", "drift-status"]) + " issue closed",
    );
}
