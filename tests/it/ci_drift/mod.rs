//! `checkfu ci drift` as a job runs it on a schedule, against a GitHub on loopback: the life of the one issue and of the
//! one pull request of a key.

mod pull;

use checkfu::ci::Marker;
use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::Kind;
use checkfu::model::op::{Context, Expect, Request, Update};
use serde_json::json;

use crate::ci_apply::stage::{BOT, Stage, Told};
use crate::github::{Actor, Fault, Issue, JOB};
use crate::sandbox::{agent, config, ran};

const CONFIG: &str = "targets: {local: {kind: embedded, path: ../w.db}}\n";

fn project() -> String {
    config("acme/support") + CONFIG
}

/// Two agents, applied.
fn two() -> Stage {
    Stage::applied(&[
        ("checkfu.yaml", &project()),
        ("agents/a.md", &agent("", "You are A.\nBe kind.\nBe brief.\n")),
        ("agents/b.md", &agent("", "You are B.\n")),
    ])
}

/// The run of a schedule.
fn drift(stage: &Stage, inputs: &[(&str, &str)]) -> Told {
    let mut job = stage.job_of("drift", inputs);
    job.env("GITHUB_EVENT_NAME", "schedule");
    stage.told(ran(&job.output().unwrap()))
}

/// Somebody else changes an agent's prompt.
fn edit_live(stage: &Stage, address: &str, system: &str) {
    let found = stage.run(&["get", address, "--json"]).json();
    let id = found["resources"][0]["id"].as_str().unwrap().to_owned();
    let control = Embedded::open(&stage.s.path("../w.db"), EmbeddedOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let break_glass = Some("incident 12".into());
    let context = Context { actor: "jane".into(), admin: true, break_glass, ..Context::default() };
    let body = json!({ "system": system }).as_object().unwrap().clone();
    let update = Update { kind: Kind::Agent, at: Expect { id, version: None }, body, applied: None };
    runtime.block_on(control.call(&context, Request::Update(update))).unwrap();
}

fn put_back(stage: &Stage, address: &str) {
    stage.run(&["revert", address, "--yes"]).code(0);
}

/// The one issue that is open.
#[track_caller]
fn issue(stage: &Stage) -> Issue {
    let world = stage.fake.world();
    let open = world.open_issues();
    assert_eq!(open.len(), 1, "{open:#?}");
    open[0].clone()
}

/// What was said on an issue, without marks.
fn said(stage: &Stage, number: u64) -> Vec<String> {
    let world = stage.fake.world();
    let bare = |body: &str| body.split_once('\n').unwrap().1.to_owned();
    world.comments_of(number).iter().map(|c| bare(&c.body)).collect()
}

#[test]
fn an_issue_is_opened_kept_true_and_closed_and_the_next_drift_opens_another() {
    let stage = two();
    let told = drift(&stage, &[]).is(0, "");
    assert_eq!((&told["drift"], &told["drift-status"], &told["issue-number"]), ("false", "none", ""));
    assert!(stage.fake.writes().is_empty(), "nothing moved: nothing is written");

    edit_live(&stage, "Agent/a", "You are A.\nBe kind.\nBe very brief.\n");
    let told = drift(&stage, &[("issue-assignees", "ann")]).is(3, "");
    assert_eq!((&told["drift"], &told["drift-status"], &told["degraded"]), ("true", "new", ""));
    let first = issue(&stage);
    assert_eq!(told["issue-number"], first.number.to_string());
    assert_eq!(first.title, "checkfu: drift in default (1 resource)");
    assert_eq!(
        (first.labels.as_slice(), first.assignees.as_slice()),
        (&["checkfu-drift".to_owned()][..], &["ann".to_owned()][..])
    );
    let marker = Marker::read(&first.body).unwrap();
    assert_eq!((marker.what.as_str(), marker.key.as_str(), marker.actions.len()), ("drift", "default", 1));
    for part in [
        "+ Be very brief.",
        "`jane`",
        "incident 12",
        "agents/a.md",
        "runs/12",
        "checkfu pull --drift",
        "checkfu revert",
    ] {
        assert!(first.body.contains(part), "{part}: {}", first.body);
    }
    assert!(first.body.len() <= 60_000 && told.summary.contains("+ Be very brief."), "{}", told.summary);
    let labelled = stage.fake.world().labels["checkfu-drift"].clone();
    assert_eq!(labelled, "d4c5f9");

    stage.fake.requests();
    let told = drift(&stage, &[]).is(3, "");
    assert_eq!((&told["drift-status"], told["issue-number"].to_owned()), ("same", first.number.to_string()));
    let path = format!("PATCH /repos/acme/agents/issues/{}", first.number);
    assert_eq!(stage.fake.writes(), [path], "only when it was last seen: nobody is told");
    assert_eq!(Marker::read(&issue(&stage).body).unwrap().digest, marker.digest);

    edit_live(&stage, "Agent/b", "You are a new B.\n");
    let told = drift(&stage, &[]).is(3, "");
    assert_eq!(&told["drift-status"], "changed");
    let now = issue(&stage);
    assert_eq!((now.number, now.title.as_str()), (first.number, "checkfu: drift in default (2 resources)"));
    assert!(now.body.contains("Agent/b") && said(&stage, now.number)[0].contains("- new: `Agent/b instructions`"));

    // Nothing can be read: neither drift nor the end of it.
    let workspace = stage.s.path("../w.db");
    let kept = stage.s.path("../kept.db");
    std::fs::rename(&workspace, &kept).unwrap();
    std::fs::write(&workspace, "no database at all").unwrap();
    stage.fake.requests();
    let told = drift(&stage, &[]);
    assert!(!told["failure-reason"].is_empty() && told.ran.code == 1, "{told:?}");
    assert_eq!((&told["drift"], &told["drift-status"]), ("", ""));
    assert!(stage.fake.writes().is_empty());
    std::fs::rename(&kept, &workspace).unwrap();

    assert_eq!(&drift(&stage, &[])["drift-status"], "same");
    put_back(&stage, "Agent/a");
    assert_eq!(&drift(&stage, &[])["drift-status"], "changed");
    assert!(said(&stage, now.number)[1].contains("- gone: `Agent/a instructions`"));
    put_back(&stage, "Agent/b");
    let told = drift(&stage, &[]).is(0, "");
    assert_eq!(
        (&told["drift"], &told["drift-status"], told["issue-number"].to_owned()),
        ("false", "resolved", now.number.to_string())
    );
    let closed = stage.fake.world().issues[&now.number].clone();
    assert_eq!((closed.open, closed.reason.as_deref()), (false, Some("completed")));
    let all = said(&stage, now.number);
    assert_eq!((all.len(), all[2].starts_with("No drift any more")), (3, true), "{all:?}");
    assert_eq!(&drift(&stage, &[])["drift-status"], "none");

    edit_live(&stage, "Agent/a", "You are another A.\n");
    assert_eq!(&drift(&stage, &[])["drift-status"], "new");
    assert!(issue(&stage).number > now.number);
}

#[test]
fn the_lowest_number_is_kept_its_doubles_are_closed_and_a_forged_one_is_nobodys() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    drift(&stage, &[("key", "prod")]).is(3, "");
    let ours = issue(&stage);
    let other = Marker { key: "test".to_owned(), ..Marker::read(&ours.body).unwrap() };
    let (double, forged, elsewhere) = {
        let mut world = stage.fake.world();
        let double = world.open_issue(BOT, "again", &ours.body, &["checkfu-drift"]);
        let forged = world.open_issue("eve", "mine", &ours.body, &["checkfu-drift"]);
        let elsewhere = world.open_issue(BOT, "other", &other.write(), &["checkfu-drift"]);
        // Somebody took the label away.
        world.issues.get_mut(&ours.number).unwrap().labels.clear();
        world.issues.get_mut(&double).unwrap().labels.clear();
        (double, forged, elsewhere)
    };
    let told = drift(&stage, &[("key", "prod")]).is(3, "");
    assert_eq!((&told["drift-status"], told["issue-number"].to_owned()), ("same", ours.number.to_string()));
    let open: Vec<u64> = stage.fake.world().open_issues().iter().map(|i| i.number).collect();
    assert_eq!(open, [ours.number, forged, elsewhere]);
    assert!(said(&stage, double)[0].contains(&format!("#{}", ours.number)));
    assert_eq!(stage.fake.world().issues[&forged].body, ours.body, "what another wrote is left alone");
    put_back(&stage, "Agent/a");
    stage.fake.world().labels.remove("checkfu-drift");
    assert_eq!(&drift(&stage, &[("key", "prod")])["drift-status"], "resolved", "found without its label");
    let open: Vec<u64> = stage.fake.world().open_issues().iter().map(|i| i.number).collect();
    assert_eq!(open, [forged, elsewhere]);
}

#[test]
fn what_is_gone_when_it_is_read_again_is_told_to_nobody() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    let told = drift(&stage, &[("issue", "false")]).is(3, "");
    assert_eq!((&told["drift-status"], stage.fake.requests().len()), ("new", 0), "without an issue nobody is asked");
    let mut back = stage.s.command(&["revert", "Agent/a", "--yes"]);
    stage.fake.meanwhile("GET /repos/acme/agents/issues", move || assert!(back.output().unwrap().status.success()));
    let told = drift(&stage, &[]).is(0, "");
    assert_eq!((&told["drift"], &told["drift-status"]), ("false", "none"));
    assert!(stage.fake.writes().is_empty());
}

#[test]
fn a_part_that_cannot_be_looked_at_touches_nothing() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    drift(&stage, &[]).is(3, "");
    let before = issue(&stage).body;
    stage.fake.requests();
    let told = drift(&stage, &[("only", "Agent/none")]).is(1, "invalid");
    assert_eq!((&told["drift-status"], stage.fake.writes().len()), ("", 0));
    assert_eq!(issue(&stage).body, before);
    let told = drift(&stage, &[("only", "Agent/b"), ("key", "b")]).is(0, "");
    assert_eq!(&told["drift-status"], "none");
}

#[test]
fn a_token_that_may_not_and_a_repository_without_issues_leave_it_to_the_summary() {
    type Spoil = fn(&Stage);
    let table: [Spoil; 3] = [
        |stage| drop(stage.fake.world().tokens.insert(JOB.into(), Actor::job().reading())),
        |stage| stage.fake.world().has_issues = false,
        |stage| stage.fake.world().tokens.clear(),
    ];
    for spoil in table {
        let stage = two();
        edit_live(&stage, "Agent/a", "You are another A.\n");
        spoil(&stage);
        let told = drift(&stage, &[]).is(3, "");
        assert_eq!((&told["degraded"], &told["drift"], &told["drift-status"]), ("no-token", "true", "new"));
        assert!(told.summary.contains("Agent/a"), "{}", told.summary);
        let notices = told.ran.out.lines().filter(|l| l.starts_with("::notice")).count();
        assert_eq!(notices, 1, "{}", told.ran.out);
        assert!(!told.ran.out.contains(JOB) && !told.ran.err.contains(JOB));
    }
    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    let told = drift(&stage, &[("github-token", "")]);
    let mut job = stage.job_of("drift", &[]);
    job.env("GITHUB_EVENT_NAME", "schedule").env_remove("CHECKFU_GITHUB_TOKEN");
    assert_eq!(&told["drift-status"], "new");
    let told = stage.told(ran(&job.output().unwrap())).is(3, "");
    assert_eq!(&told["degraded"], "no-token");
}

#[test]
fn news_that_github_does_not_take_fail_and_are_told_once_by_the_next_run() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    stage.fake.fail("POST /repos/acme/agents/issues", 1, Fault::status(422, "Validation Failed"));
    let told = drift(&stage, &[]).is(1, "unreachable");
    assert_eq!((&told["drift"], &told["drift-status"]), ("true", ""));
    assert!(told.ran.out.contains("ci.issue") && told.summary.contains("Agent/a"), "{}", told.ran.out);
    // Made, and not told: it is found, not made twice.
    stage.fake.fail("POST /repos/acme/agents/issues", 1, Fault::CutAfter);
    assert_eq!(&drift(&stage, &[])["drift-status"], "new");
    let number = issue(&stage).number;
    // Cut off between the comment and the text.
    edit_live(&stage, "Agent/b", "You are another B.\n");
    stage.fake.fail("PATCH /repos/acme/agents/issues/", 1, Fault::status(422, "Validation Failed"));
    drift(&stage, &[]).is(1, "unreachable");
    let told = drift(&stage, &[]).is(3, "");
    assert_eq!((&told["drift-status"], said(&stage, number).len()), ("changed", 1));
    // Nobody who can be assigned: the news gets out all the same.
    put_back(&stage, "Agent/a");
    put_back(&stage, "Agent/b");
    drift(&stage, &[]).is(0, "");
    edit_live(&stage, "Agent/a", "You are yet another A.\n");
    let told = drift(&stage, &[("issue-assignees", "nobody-here")]).is(3, "");
    assert_eq!((&told["drift-status"], issue(&stage).assignees.len()), ("new", 0));
    assert!(told.ran.out.contains("assigned to nobody"), "{}", told.ran.out);
}

#[test]
fn drift_fails_where_it_is_asked_to_and_where_files_moved_too() {
    let stage = two();
    drift(&stage, &[("fail-on", "drift")]).is(0, "");
    edit_live(&stage, "Agent/a", "You are another A.\n");
    drift(&stage, &[("fail-on", "drift")]).is(3, "on-request");
    // Told apart from what is only not applied yet.
    stage.check_out(&stage.push("main", &[("agents/b.md", &agent("", "You are a new B.\n"))]));
    let told = drift(&stage, &[]).is(2, "");
    assert_eq!(&told["drift-status"], "same", "what is not applied yet is no drift");
    assert!(issue(&stage).body.contains("not applied yet `Agent/b`"), "{}", issue(&stage).body);
    drift(&stage, &[("fail-on", "changes")]).is(2, "on-request");
    stage.check_out(&stage.push("main", &[("agents/a.md", &agent("", "You are a newer A.\n"))]));
    let told = drift(&stage, &[]).is(4, "conflict");
    assert_eq!(&told["drift-status"], "same", "the issue is kept all the same");
    assert!(issue(&stage).body.contains("**conflict**"), "{}", issue(&stage).body);
}

#[test]
fn what_a_fork_proposes_is_not_looked_at_with_a_token() {
    let stage = two();
    let event = r#"{"repository":{"default_branch":"main"},"pull_request":{"number":9,"merged":false,"user":{"login":"eve"},
        "head":{"sha":"h","ref":"topic","repo":{"full_name":"eve/agents"}},
        "base":{"sha":"b","ref":"main","repo":{"full_name":"acme/agents"}}}}"#;
    std::fs::write(stage.temp("event.json"), event).unwrap();
    let mut job = stage.job_of("drift", &[]);
    job.env("GITHUB_EVENT_NAME", "pull_request");
    stage.told(ran(&job.output().unwrap())).is(5, "not-allowed");
    assert!(stage.fake.requests().is_empty());
}
