//! `checkfu ci plan` as a job runs it, against a GitHub on loopback: what it shows and where, what files under review
//! may not do, and that no token leaves before that is known.

mod comments;
pub(crate) mod events;
mod guard;
mod hostile;
mod reports;
pub(crate) mod sample;

use checkfu::ci::{Marker, State};
use checkfu::plan;

use crate::ci_apply::stage::Stage;
use crate::sandbox::{agent, config, skill};
use events::Run;

/// A project with an embedded workspace beside the check-out.
pub(super) fn project(owner: &str) -> String {
    config(owner) + "targets: {local: {kind: embedded, path: ../w.db}}\n"
}

pub(super) fn a(text: &str) -> String {
    agent("", &format!("{text}\n"))
}

/// Two agents, applied.
pub(super) fn two() -> Stage {
    Stage::applied(&[
        ("checkfu.yaml", &project("acme/support")),
        ("agents/a.md", &a("You are A.")),
        ("agents/b.md", &a("You are B.")),
    ])
}

/// The body of the one comment of a pull request.
#[track_caller]
pub(super) fn body(stage: &Stage, pull: u64) -> String {
    let world = stage.fake.world();
    let comments = world.comments_of(pull);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    comments[0].body.clone()
}

#[test]
fn a_pull_request_is_planned_and_shown_with_the_cause_of_each_action() {
    let stage = two();
    // Merged, and not applied; and one that somebody moves live.
    stage.push("main", &[("agents/b.md", &a("You are a new B."))]);
    let pull = stage.propose(
        "topic",
        &[("agents/a.md", &a("You are a new A.")), ("skills/tone/SKILL.md", &skill("tone", "Be kind."))],
    );
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    let numbers = ["changes", "creates", "updates", "retirements", "unchanged", "held"].map(|n| told[n].to_owned());
    assert_eq!(numbers, ["true", "1", "2", "0", "0", "0"]);
    assert_eq!((&told["degraded"], &told["checkfu-version"]), ("", env!("CARGO_PKG_VERSION")));

    let file = stage.temp("checkfu/default.plan.json");
    assert_eq!(&told["plan-file"], file.to_str().unwrap());
    let plan = plan::read(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(told["plan-digest"], plan.digest.to_string());

    let body = body(&stage, pull);
    let marker = Marker::read(&body).unwrap();
    let head = stage.fake.world().issues[&pull].pull.clone().unwrap().head_sha;
    assert_eq!((marker.head.as_deref(), marker.state), (Some(head.as_str()), State::Planned));
    assert_eq!((marker.digest, marker.actions.len()), (Some(plan.digest), 3));
    assert_eq!(marker.base, stage.fake.world().tip("main"));
    assert!(body.contains("this pull request") && body.contains("merged, not applied"), "{body}");
    assert!(told.summary.contains("Agent/a") && !told.summary.contains("<!-- checkfu:1"), "{}", told.summary);
    assert!(told.ran.out.contains("Agent/a") && told.ran.err.is_empty(), "{:?}", told.ran);
    let remark =
        |of: &str| told.ran.out.lines().find(|l| l.starts_with("::notice") && l.contains(of)).map(str::to_owned);
    assert!(remark("Agent/a#update").unwrap().contains("file=agents/a.md,line=5,"), "{}", told.ran.out);
    assert!(remark("Skill/tone#create").unwrap().contains("file=skills/tone/SKILL.md,line="), "{}", told.ran.out);

    // What was shown is what an apply goes by, once it is merged.
    stage.merge(pull);
    let told = stage.ci(&[("approval", "pull-request")]).is(0, "");
    assert_eq!(&told["applied"], "true");
}

#[cfg(unix)]
#[test]
fn what_moved_live_is_told_apart() {
    let stage = two();
    let mut edit = stage.s.command(&["edit", "Agent/b", "--reason", "in a hurry"]);
    assert!(edit.env("EDITOR", "sed -i s/You.are.B/By.hand/").status().unwrap().success());
    let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A."))]);
    let told = Run::pull(&stage, pull).go(&[("fail-on", "drift")]).is(2, "on-request");
    assert_eq!((&told["held"], &told["updates"]), ("1", "1"));
    // Where the policy puts it back, the plan does so, and says why.
    stage.push("main", &[("checkfu.yaml", &(project("acme/support") + "policy: {on_drift: revert}\n"))]);
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_eq!((&told["held"], &told["updates"]), ("0", "3"));
    let text = body(&stage, pull);
    for cause in ["this pull request", "merged, not applied", "moved live"] {
        assert!(text.contains(cause), "{cause}: {text}");
    }
}

#[test]
fn what_fails_a_run_on_request_and_what_does_not() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/c.md", &a("You are C."))]);
    Run::pull(&stage, pull).go(&[("fail-on", "retirements")]).is(2, "");
    Run::pull(&stage, pull).go(&[("fail-on", "changes")]).is(2, "on-request");
    let nothing = stage.propose("nothing", &[("README.md", "# Agents\n")]);
    let told = Run::pull(&stage, nothing).go(&[("fail-on", "changes")]).is(0, "");
    assert_eq!(&told["changes"], "false");
    // A retirement that nobody meant is refused, whatever is asked.
    let gone = stage.propose("gone", &[("README.md", "x")]);
    stage.fake.world().commit("gone", &[("agents/b.md", None)]);
    let told = Run::pull(&stage, gone).go(&[]).is(5, "refused");
    assert!(told.ran.out.contains("::error title=checkfu plan.irreversible"), "{}", told.ran.out);
    assert!(body(&stage, gone).contains("plan.irreversible"));
    stage
        .fake
        .world()
        .commit("gone", &[("checkfu.yaml", Some(&(project("acme/support") + "removed: [{address: Agent/b}]\n")))]);
    let told = Run::pull(&stage, gone).go(&[("fail-on", "retirements")]).is(2, "on-request");
    assert_eq!(&told["retirements"], "1");
}

#[test]
fn only_a_part_and_another_plan_file() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2")), ("agents/b.md", &a("B 2"))]);
    let inputs =
        [("only", "agents/a.md\n"), ("plan-file", "out/my.json"), ("key", "one"), ("report-file", "report.md")];
    let told = Run::pull(&stage, pull).go(&inputs).is(2, "");
    assert_eq!(&told["updates"], "1");
    let plan = plan::read(&std::fs::read(stage.s.path("out/my.json")).unwrap()).unwrap();
    assert_eq!(plan.scope, ["agents/a.md"]);
    assert!(stage.s.read("report.md").contains("Agent/a"));
    assert_eq!(Marker::read(&body(&stage, pull)).unwrap().key, "one");
}
