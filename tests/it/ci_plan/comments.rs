//! The comment of a plan: when there is one, which, and what becomes of it.

use checkfu::ci::{Marker, State};
use serde_json::json;

use super::events::{Run, payload, try_merge};
use super::{a, body, two};
use crate::ci_apply::stage::{BOT, Stage};
use crate::github::{Actor, Fault, JOB};

fn head(stage: &Stage, pull: u64) -> String {
    stage.fake.world().issues[&pull].pull.clone().unwrap().head_sha
}

#[test]
fn one_comment_of_a_key_is_kept_true_and_is_written_only_where_it_says_something_else() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    // Forgeries, and a long talk around ours.
    let forged = Marker {
        what: "plan".to_owned(),
        key: "default".to_owned(),
        head: None,
        base: None,
        digest: None,
        actions: Vec::new(),
        names: Vec::new(),
        total: 0,
        state: State::Planned,
    };
    for i in 0..130 {
        let text = if i % 40 == 0 { forged.write() + "\nmine" } else { "hello".to_owned() };
        stage.fake.world().comment("eve", pull, &text);
    }
    let first = Run::pull(&stage, pull).go(&[]).is(2, "");
    for _ in 0..20 {
        stage.fake.world().comment("ann", pull, "more");
    }
    let id: u64 = first["comment-id"].parse().unwrap();
    assert!(first["comment-url"].starts_with("http"), "{first:?}");
    stage.fake.requests();
    let again = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_eq!(stage.fake.writes(), Vec::<String>::new(), "it says that already");
    assert_eq!(again["comment-id"], id.to_string());
    stage.push("topic", &[("agents/b.md", &a("B 2"))]);
    Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_eq!(stage.fake.writes(), [format!("PATCH /repos/acme/agents/issues/comments/{id}")]);
    assert_eq!(Marker::read(&stage.fake.world().comments[&id].body).unwrap().actions.len(), 2);
    // Another key has another one.
    let other = Run::pull(&stage, pull).go(&[("key", "prod")]).is(2, "");
    assert_ne!(other["comment-id"], id.to_string());
    // One that is deleted while it is edited is written anew.
    stage.push("topic", &[("agents/b.md", &a("B 3"))]);
    stage.fake.fail("PATCH", 1, Fault::status(404, "Not Found"));
    let anew = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_ne!(anew["comment-id"], id.to_string());
    // One that tells of an apply is closed.
    let last: u64 = anew["comment-id"].parse().unwrap();
    let text = stage.fake.world().comments[&last].body.clone();
    let done = Marker { state: State::Applied, ..Marker::read(&text).unwrap() };
    stage.fake.world().comments.get_mut(&last).unwrap().body = done.write() + "\ndone";
    stage.fake.world().comments.remove(&id);
    let next = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_ne!(next["comment-id"], last.to_string());
    assert_eq!(stage.state(last), State::Applied);
}

#[test]
fn without_changes_and_by_style() {
    let stage = two();
    let pull = stage.propose("topic", &[("README.md", "# Agents\n")]);
    let told = Run::pull(&stage, pull).go(&[("comment", "changes")]).is(0, "");
    assert!(told["comment-id"].is_empty() && stage.fake.world().comments_of(pull).is_empty());
    stage.push("topic", &[("agents/a.md", &a("A 2"))]);
    Run::pull(&stage, pull).go(&[("comment", "never")]).is(2, "");
    assert!(stage.fake.world().comments_of(pull).is_empty());
    Run::pull(&stage, pull).go(&[("comment", "changes")]).is(2, "");
    stage.push("topic", &[("agents/a.md", &a("You are A."))]);
    Run::pull(&stage, pull).go(&[("comment", "changes")]).is(0, "");
    assert_eq!(Marker::read(&body(&stage, pull)).unwrap().actions.len(), 0, "one that is there is kept true");
    stage.push("topic", &[("agents/a.md", &a("A 3"))]);
    Run::pull(&stage, pull).go(&[("comment-style", "new")]).is(2, "");
    let world = stage.fake.world();
    let folded: Vec<bool> = world.comments_of(pull).iter().map(|c| c.minimized).collect();
    assert_eq!(folded, [true, false]);
}

#[test]
fn errors_are_shown_and_the_plan_of_before_is_stale() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    let id: u64 = told["comment-id"].parse().unwrap();
    stage.push("topic", &[("agents/a.md", "---\nmodle: x\n---\nA\n")]);
    let told = Run::pull(&stage, pull).go(&[]).is(1, "invalid");
    assert!(told.ran.out.contains("::error file=agents/a.md,line=2,"), "{}", told.ran.out);
    let text = body(&stage, pull);
    let marker = Marker::read(&text).unwrap();
    assert_eq!((marker.state, marker.head), (State::Stale, Some(head(&stage, pull))));
    assert!(marker.digest.is_none() && marker.actions.is_empty(), "it approves nothing");
    assert!(text.contains("there is no plan") && text.contains("agents/a.md:2") && text.contains("A 2"), "{text}");
    assert_eq!(told["comment-id"], id.to_string());
    stage.push("topic", &[("agents/a.md", &a("A 3"))]);
    Run::pull(&stage, pull).go(&[]).is(2, "");
    let marker = Marker::read(&body(&stage, pull)).unwrap();
    assert_eq!((marker.state, marker.head), (State::Planned, Some(head(&stage, pull))));
    // The first thing that is said may be that there is none.
    let broken = stage.propose("broken", &[("agents/a.md", "---\nmodle: x\n---\nA\n")]);
    Run::pull(&stage, broken).go(&[]).is(1, "invalid");
    let marker = Marker::read(&body(&stage, broken)).unwrap();
    assert_eq!((marker.state, marker.digest), (State::Stale, None));
}

#[test]
fn a_token_that_may_not_write_changes_no_plan() {
    let mut stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    stage.fake.world().tokens.insert(JOB.to_owned(), Actor::job().reading());
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_eq!(&told["degraded"], "no-token");
    assert!(told.summary.contains("Agent/a"));
    assert_eq!(told.ran.out.lines().filter(|l| l.starts_with("::notice title=checkfu comment")).count(), 1);
    stage.fake.requests();
    stage.more.push(("CHECKFU_GITHUB_TOKEN".to_owned(), String::new()));
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_eq!((&told["degraded"], stage.fake.requests().len()), ("no-token", 0));
    stage.more.clear();
    // A server that finds it too long gets it in few words; one that is down gets none, and nobody lacks a right.
    stage.fake.world().tokens.insert(JOB.to_owned(), Actor::job());
    stage.fake.fail(
        "POST /repos/acme/agents/issues",
        1,
        Fault::status(422, "body is too long (maximum is 65536 characters)"),
    );
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert!(!told["comment-id"].is_empty());
    assert_eq!(Marker::read(&body(&stage, pull)).unwrap().actions.len(), 1);
}

#[test]
fn a_newer_push_keeps_its_comment() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let old = Run::pull(&stage, pull);
    stage.push("topic", &[("agents/a.md", &a("A 3"))]);
    let told = old.go(&[]).is(2, "");
    assert!(told.ran.out.contains("newer commit") && told["comment-id"].is_empty(), "{}", told.ran.out);
    assert_eq!(stage.fake.writes(), Vec::<String>::new());
}

#[test]
fn what_is_no_pull_request_is_planned_without_a_comment_unless_it_has_one() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let tip = head(&stage, pull);
    stage.check_out(&tip);
    for name in ["schedule", "merge_group"] {
        let told = Run::of(&stage, name).go(&[("pr-number", "")]).is(2, "");
        assert!(told["comment-id"].is_empty() && stage.fake.writes().is_empty(), "{name}");
        assert!(told.summary.contains("Agent/a"));
    }
    assert!(Run::of(&stage, "merge_group").go(&[("pr-number", &pull.to_string())])["comment-id"].is_empty());
    // The open pull request of the commit, and one that is named.
    let told = Run::of(&stage, "push").go(&[]).is(2, "");
    let id = told["comment-id"].to_owned();
    assert_eq!(Marker::read(&body(&stage, pull)).unwrap().head, Some(tip));
    stage.check_out(&try_merge(&stage, pull));
    let told = Run::of(&stage, "workflow_dispatch").go(&[("pr-number", &pull.to_string())]).is(2, "");
    assert_eq!(told["comment-id"], id);
    assert!(body(&stage, pull).contains("this pull request"), "by hand it is held against its branch too");
    // What was merged stays as it was approved.
    let before = body(&stage, pull);
    stage.merge(pull);
    for inputs in [vec![], vec![("pr-number", pull.to_string())]] {
        let inputs: Vec<(&str, &str)> = inputs.iter().map(|(k, v)| (*k, v.as_str())).collect();
        stage.fake.requests();
        Run::of(&stage, "push").go(&inputs).is(2, "");
        assert_eq!(stage.fake.writes(), Vec::<String>::new());
    }
    assert_eq!(body(&stage, pull), before);
    assert_eq!(stage.fake.world().comments_of(pull)[0].author, BOT);
}

#[test]
fn an_event_that_cannot_be_read_and_one_of_another_form() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let mut run = Run::pull(&stage, pull);
    run.payload = json!([1]);
    let told = run.go(&[]).is(1, "usage");
    assert!(told.summary.contains("ci.surroundings"), "{}", told.summary);
    run.payload = payload(&stage, pull);
    run.payload["pull_request"]["head"]["repo"] = json!(null);
    let told = run.go(&[]).is(2, "");
    assert_eq!(&told["degraded"], "fork", "a head repository that is gone is not ours");
}
