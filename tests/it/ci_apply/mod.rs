//! `checkfu ci apply` as a job runs it, against a GitHub on loopback: what counts as approved, what is told, and that
//! nothing that happens to a comment changes the apply.

mod interrupt;
pub(crate) mod stage;

use checkfu::ci::State;

use crate::github::{Actor, Fault, JOB};
use crate::sandbox::{agent, config};
use stage::{BOT, Stage};

fn project(owner: &str) -> String {
    config(owner) + "targets: {local: {kind: embedded, path: ../w.db}}\n"
}

fn a(text: &str) -> String {
    agent("", &format!("{text}\n"))
}

/// Two agents, applied.
fn two() -> Stage {
    Stage::applied(&[
        ("checkfu.yaml", &project("acme/support")),
        ("agents/a.md", &a("You are A.")),
        ("agents/b.md", &a("You are B.")),
    ])
}

const MERGED: &[(&str, &str)] = &[("approval", "pull-request")];

#[test]
fn a_plan_that_was_reviewed_is_applied_and_its_comment_says_so() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A."))]);
    let comment = stage.show(pull, BOT);
    stage.merge(pull);
    let file = stage.temp("p.json");
    stage.s.run(&["plan", "-o", file.to_str().unwrap()]).code(0);
    let digest = stage.s.run(&["plan", "--json"]).json()["digest"].as_str().unwrap().to_owned();
    let other = format!("sha256:{}", "0".repeat(64));
    let file = file.to_str().unwrap();

    let wrong = stage.ci(&[("plan-file", file), ("plan-digest", &other)]).is(4, "plan-changed");
    assert!(wrong.summary.contains("apply.other_plan") && wrong["applied"].is_empty(), "{wrong:?}");
    stage.ci(&[("plan-digest", &other)]).is(4, "plan-changed");
    assert_eq!(stage.state(comment), State::Stale, "what would be applied now is another plan");
    stage.ci(&[]).is(1, "usage");
    stage.ci(&[("plan-file", "none.json")]).is(1, "usage");
    stage.ci(&[("plan-file", file), ("approval", "none")]).is(1, "usage");

    let told = stage.ci(&[("plan-file", file), ("plan-digest", &digest)]).is(0, "");
    let numbers = ["applied", "changes", "creates", "updates", "retirements"].map(|name| told[name].to_owned());
    assert_eq!(numbers, ["true", "true", "0", "1", "0"]);
    assert!(told["apply-id"].starts_with("apply_") && told["plan-digest"] == digest, "{told:?}");
    assert!(told.summary.contains("applied: 1 done") && told.summary.contains("Agent/a"), "{}", told.summary);
    assert!(told.ran.out.contains("Applied: 1 done"), "{}", told.ran.out);
    assert_eq!((stage.state(comment), &told["comment-id"]), (State::Applied, comment.to_string().as_str()));
    let body = stage.fake.world().comments[&comment].body.clone();
    assert!(body.contains("what was planned") && body.contains("runs/12"), "{body}");
    // Once more, the same plan answers from the record, and a new one has nothing to do.
    stage.ci(&[("plan-file", file)]).is(0, "");
    let told = stage.ci(&[("approval", "none")]).is(0, "");
    assert_eq!((&told["applied"], &told["changes"]), ("true", "false"));
}

#[test]
fn a_plan_of_the_step_before_needs_no_name() {
    let stage = two();
    stage.check_out(&stage.push("main", &[("agents/a.md", &a("You are a new A."))]));
    std::fs::create_dir(stage.temp("checkfu")).unwrap();
    let file = stage.temp("checkfu/default.plan.json");
    stage.s.run(&["plan", "-o", file.to_str().unwrap()]).code(0);
    stage.ci(&[]).is(0, "");
    // A file that was changed since is no plan that anybody saw.
    let text = std::fs::read_to_string(&file).unwrap().replace("a new A", "another A");
    std::fs::write(&file, text).unwrap();
    stage.ci(&[]).is(1, "plan-changed");
}

#[test]
fn what_moved_since_the_plan_is_left_and_marked_on_its_line() {
    let stage = two();
    stage.check_out(&stage.push("main", &[("agents/a.md", &a("A 1")), ("agents/b.md", &a("B 1"))]));
    let file = stage.temp("p.json");
    let file = file.to_str().unwrap();
    stage.s.run(&["plan", "-o", file]).code(0);
    stage.s.run(&["apply", "--yes", "Agent/a"]).code(0);
    stage.s.edit("agents/a.md", "A 1", "A 2");
    stage.s.run(&["apply", "--yes", "Agent/a"]).code(0);
    stage.s.edit("agents/a.md", "A 2", "A 1");
    let told = stage.ci(&[("plan-file", file)]).is(4, "plan-stale");
    assert_eq!(&told["applied"], "false");
    let remark = told.ran.out.lines().find(|l| l.starts_with("::error file=agents/a.md,line=")).unwrap();
    assert!(remark.contains("title=checkfu Agent/a#update%3A stale::"), "{remark}");
    assert!(stage.s.run(&["get", "Agent/b"]).out.contains("B 1"));
}

#[test]
fn a_plan_of_another_project_target_or_workspace_is_refused() {
    let stage = two();
    let other = two();
    other.check_out(&other.push("main", &[("agents/a.md", &a("A 1"))]));
    let file = stage.temp("p.json");
    let file = file.to_str().unwrap();
    other.s.run(&["plan", "-o", file]).code(0);
    let told = stage.ci(&[("plan-file", file)]).is(4, "conflict");
    assert!(told.summary.contains("apply.other_workspace"), "{}", told.summary);
    for config in [project("acme/others"), project("acme/support").replace("local:", "prod:")] {
        stage.check_out(&stage.push("main", &[("checkfu.yaml", &config)]));
        stage.ci(&[("plan-file", file)]).is(4, "conflict");
    }
}

#[test]
fn what_a_merged_pull_request_showed_is_applied_and_the_rest_is_left() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A."))]);
    let comment = stage.show(pull, BOT);
    stage.merge(pull);
    // Somebody pushes past review.
    stage.check_out(&stage.push("main", &[("agents/b.md", &a("You are a new B."))]));
    let told = stage.ci(MERGED).is(6, "approval-missing");
    assert_eq!((&told["applied"], &told["updates"]), ("false", "1"));
    assert!(stage.run(&["get", "Agent/a"]).out.contains("a new A"));
    assert!(!stage.run(&["get", "Agent/b"]).out.contains("a new B"));
    assert!(told.summary.contains("ci.approval_missing` at `agents/b.md:5:1`"), "{}", told.summary);
    assert!(told.ran.out.contains("::error file=agents/b.md,line="), "{}", told.ran.out);
    assert_eq!(stage.state(comment), State::Stale);
    let body = stage.fake.world().comments[&comment].body.clone();
    assert!(body.contains("Agent/b") && body.contains("nobody approved it"), "{body}");

    // A later pull request shows what is due, and its merge approves it.
    let pull = stage.propose("next", &[("README.md", "# Agents\n")]);
    let comment = stage.show(pull, BOT);
    stage.merge(pull);
    let told = stage.ci(MERGED).is(0, "");
    assert_eq!((&told["applied"], stage.state(comment)), ("true", State::Applied));
    assert!(stage.run(&["get", "Agent/b"]).out.contains("a new B"));
    // A second run has nothing to do, for which nobody has to be asked.
    stage.fake.fail("", usize::MAX, Fault::status(403, "Resource not accessible by integration"));
    stage.ci(MERGED).is(0, "");
}

#[test]
fn what_the_plan_of_a_pull_request_wrote_is_what_its_apply_goes_by() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A.")), ("agents/c.md", &a("You are C."))]);
    let comment = stage.plan(pull);
    assert_eq!(stage.state(comment), State::Planned);
    stage.push("topic", &[("agents/c.md", &a("You are a better C."))]);
    assert_eq!(stage.plan(pull), comment, "the plan of the next push is in the same comment");
    stage.merge(pull);
    let told = stage.ci(MERGED).is(0, "");
    assert_eq!((&told["creates"], &told["updates"], &told["comment-id"]), ("1", "1", comment.to_string().as_str()));
    assert!(stage.run(&["get", "Agent/c"]).out.contains("a better C"));
    assert_eq!(stage.state(comment), State::Applied);
}

#[test]
fn what_was_merged_while_no_run_applied_it_is_applied_by_the_next() {
    let stage = two();
    let first = stage.propose("first", &[("agents/a.md", &a("You are a new A."))]);
    let second = stage.propose("second", &[("agents/b.md", &a("You are a new B."))]);
    let (one, two) = (stage.show(first, BOT), stage.show(second, BOT));
    stage.merge(first);
    stage.merge(second);
    let told = stage.ci(MERGED).is(0, "");
    assert_eq!(&told["updates"], "2");
    assert_eq!((stage.state(one), stage.state(two)), (State::Applied, State::Applied));
    // Before the last whole apply nothing is looked at.
    let third = stage.propose("third", &[("agents/a.md", &a("You are A again."))]);
    stage.show(third, BOT);
    stage.merge(third);
    stage.fake.requests();
    stage.ci(&[("approval", "pull-request"), ("comment", "never")]).is(0, "");
    let asked: Vec<crate::github::Asked> = stage.fake.requests();
    assert!(!asked.iter().any(crate::github::Asked::writes), "{asked:#?}");
    let asked: Vec<String> = asked.iter().map(crate::github::Asked::line).collect();
    let of = |pull: u64| asked.iter().any(|l| l.contains(&format!("/issues/{pull}/comments")));
    assert!(of(third) && !of(first) && !of(second), "{asked:#?}");
}

#[test]
fn a_comment_that_is_not_ours_was_edited_or_shows_another_commit_approves_nothing() {
    type Spoil = fn(&Stage, u64, u64);
    let table: [(&str, &str, Spoil); 3] = [
        ("eve", "it was written by eve", |_, _, _| {}),
        (BOT, "it was edited by eve", |stage, _, comment| {
            let body = stage.fake.world().comments[&comment].body.clone();
            stage.fake.world().edit("eve", comment, &body);
        }),
        (BOT, "was merged", |stage, _, _| {
            stage.push("topic", &[("agents/b.md", &a("You are a new B."))]);
        }),
    ];
    for (author, says, spoil) in table {
        let stage = two();
        let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A."))]);
        let comment = stage.show(pull, author);
        spoil(&stage, pull, comment);
        let before = stage.fake.world().comments[&comment].body.clone();
        stage.merge(pull);
        let told = stage.ci(MERGED).is(6, "approval-missing");
        assert!(told.summary.contains(says) && told.summary.contains("ci.approval_void"), "{}", told.summary);
        assert!(!stage.run(&["get", "Agent/a"]).out.contains("a new A"));
        // Written by us it would be ours the next time.
        assert_eq!(stage.fake.world().comments[&comment].body, before);
        // Nor does the run of a plan put our name under it.
        stage.ci(&[("approval", "none")]).is(0, "");
        assert_eq!(stage.fake.world().comments[&comment].body, before);
    }
}

#[test]
fn a_pull_request_into_another_branch_approves_nothing_here() {
    let stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A."))]);
    stage.show(pull, BOT);
    stage.merge(pull);
    stage.fake.world().issues.get_mut(&pull).unwrap().pull.as_mut().unwrap().base_ref = "next".to_owned();
    stage.ci(MERGED).is(6, "approval-missing");
}

#[test]
fn of_many_actions_the_very_plan_is_approved_or_nothing() {
    let stage = two();
    let files: Vec<(String, String)> = (0..801).map(|i| (format!("agents/m{i}.md"), a("You answer."))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let pull = stage.propose("many", &files);
    stage.show(pull, BOT);
    stage.merge(pull);
    let head = stage.fake.world().tip("main").unwrap();
    stage.check_out(&stage.push("main", &[("agents/b.md", &a("You are a new B."))]));
    let told = stage.ci(MERGED).is(6, "approval-missing");
    assert_eq!((&told["creates"], told["apply-id"].is_empty()), ("0", true));
    stage.check_out(&head);
    let told = stage.ci(MERGED).is(0, "");
    assert_eq!(&told["creates"], "801");
}

#[test]
fn a_token_that_may_not_write_or_read_comments_changes_no_apply() {
    let mut stage = two();
    let pull = stage.propose("topic", &[("agents/a.md", &a("You are a new A."))]);
    let comment = stage.show(pull, BOT);
    stage.merge(pull);
    // What cannot be read approves nothing.
    stage.fake.fail("GET /repos/acme/agents/issues", 1, Fault::status(403, "Resource not accessible by integration"));
    let told = stage.ci(MERGED).is(1, "approval-missing");
    assert!(told.summary.contains("ci.approval_unread"), "{}", told.summary);
    assert!(!stage.run(&["get", "Agent/a"]).out.contains("a new A"));
    // A token that reads is enough to apply.
    stage.fake.world().tokens.insert(JOB.to_owned(), Actor::job().reading());
    let told = stage.ci(MERGED).is(0, "");
    assert_eq!((&told["applied"], &told["degraded"]), ("true", "no-token"));
    assert_eq!(told.ran.out.lines().filter(|l| l.starts_with("::notice ")).count(), 1, "{}", told.ran.out);
    assert_eq!(stage.state(comment), State::Planned);

    // Without one that is taken nothing is known to be approved.
    stage.fake.world().tokens.remove(JOB);
    stage.check_out(&stage.push("main", &[("agents/a.md", &a("A 2"))]));
    let told = stage.ci(MERGED).is(1, "approval-missing");
    assert!(told["degraded"].is_empty());
    stage.more = vec![("CHECKFU_GITHUB_TOKEN".to_owned(), String::new())];
    stage.ci(MERGED).is(1, "usage");
    stage.more.clear();
    // With a plan nobody needs the comment, and nobody is told.
    let told = stage.ci(&[("approval", "none")]).is(0, "");
    assert_eq!((&told["applied"], &told["degraded"]), ("true", ""));
    assert!(!told.ran.out.contains("::notice "), "{}", told.ran.out);
}

#[test]
fn a_fork_and_a_server_that_is_not_allowed_are_refused_before_anything_is_asked() {
    let mut stage = two();
    stage.check_out(&stage.push("main", &[("agents/a.md", &a("A 1"))]));
    let side = |repository: &str| {
        format!(r#"{{"sha":"{}","ref":"topic","repo":{{"full_name":"{repository}"}}}}"#, "0".repeat(40))
    };
    let (head, base) = (side("eve/agents"), side("acme/agents"));
    let event = format!(r#"{{"pull_request":{{"number":7,"head":{head},"base":{base}}}}}"#);
    std::fs::write(stage.temp("event.json"), event).unwrap();
    stage.more = vec![("GITHUB_EVENT_NAME".to_owned(), "pull_request".to_owned())];
    let told = stage.ci(&[("approval", "none")]).is(5, "not-allowed");
    assert!(told.summary.contains("ci.fork"), "{}", told.summary);
    std::fs::write(stage.temp("event.json"), "[]").unwrap();
    let told = stage.ci(&[("approval", "none")]).is(1, "usage");
    assert!(told.summary.contains("ci.surroundings"), "{}", told.summary);
    std::fs::remove_file(stage.temp("event.json")).unwrap();
    stage.more.clear();

    let target = "targets: {there: {kind: checkfu, url: https://checkfu.example.com, token: {env: T}}}\n";
    stage.check_out(&stage.push("main", &[("checkfu.yaml", &(config("acme/support") + target))]));
    let told = stage.ci(&[("approval", "none"), ("allowed-origins", "https://other.example.com")]);
    assert!(told.is(5, "not-allowed").summary.contains("ci.origin"));
    assert!(stage.fake.requests().is_empty());
}

#[test]
fn what_policy_refuses_is_refused_and_told() {
    let stage = two();
    let pull = stage
        .propose("topic", &[("checkfu.yaml", &(project("acme/support") + "discover: {exclude: [agents/a.md]}\n"))]);
    stage.merge(pull);
    for approval in ["none", "pull-request"] {
        let told = stage.ci(&[("approval", approval)]).is(5, "refused");
        assert!(told.summary.contains("plan.irreversible") && &told["applied"] == "false", "{}", told.summary);
    }
}
