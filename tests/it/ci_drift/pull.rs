//! The pull request that brings drift into the files.

use checkfu::ci::Marker;

use super::{drift, edit_live, put_back, two};
use crate::ci_apply::stage::{BOT, Stage};
use crate::github::{Issue, REPOSITORY};
use crate::sandbox::agent;

const ON: &[(&str, &str)] = &[("pull-request", "true"), ("issue", "false")];
const BRANCH: &str = "checkfu/drift-default";

/// The one pull request that is open.
#[track_caller]
fn proposed(stage: &Stage) -> Issue {
    let world = stage.fake.world();
    let open = world.open_pulls();
    assert_eq!(open.len(), 1, "{open:#?}");
    open[0].clone()
}

#[test]
fn what_moved_is_proposed_kept_true_merged_and_closed() {
    let stage = two();
    drift(&stage, ON).is(0, "");
    assert!(stage.fake.writes().is_empty());
    let before = stage.s.files();

    edit_live(&stage, "Agent/a", "You are A.\nBe kind.\nBe very brief.\n");
    let told = drift(&stage, ON).is(3, "");
    let first = proposed(&stage);
    assert_eq!(told["pull-request-number"], first.number.to_string());
    assert_eq!((first.title.as_str(), first.author.as_str()), ("checkfu: what moved live in default (1 file)", BOT));
    let branches = first.pull.clone().unwrap();
    assert_eq!((branches.head_ref.as_str(), branches.base_ref.as_str()), (BRANCH, "main"));
    let file = |path: &str| stage.fake.world().file(BRANCH, path).unwrap();
    assert!(file("agents/a.md").contains("Be very brief.\n"), "{}", file("agents/a.md"));
    assert!(file("agents/b.md").contains("You are B."));
    assert!(first.body.contains("`agents/a.md`"), "{}", first.body);
    assert!(stage.s.files() == before, "nothing of the check-out is written");

    stage.fake.requests();
    let told = drift(&stage, ON).is(3, "");
    assert_eq!(told["pull-request-number"], first.number.to_string());
    let wrote = stage.fake.writes();
    assert!(wrote.iter().all(|line| line.ends_with("/git/blobs") || line.ends_with("/git/trees")), "{wrote:?}");
    assert_eq!(proposed(&stage).pull.unwrap().head_sha, branches.head_sha, "the same is not committed again");

    edit_live(&stage, "Agent/b", "You are a new B.\n");
    drift(&stage, ON).is(3, "");
    let now = proposed(&stage);
    assert_eq!((now.number, now.title.as_str()), (first.number, "checkfu: what moved live in default (2 files)"));
    assert!(file("agents/b.md").contains("You are a new B."));
    // It stands on what is checked out.
    let main = stage.push("main", &[("README.md", "# Agents\n")]);
    stage.check_out(&main);
    drift(&stage, ON).is(3, "");
    let tip = git2::Oid::from_str(&proposed(&stage).pull.unwrap().head_sha).unwrap();
    let below = stage.fake.world().git.find_commit(tip).unwrap().parent_id(0).unwrap().to_string();
    assert_eq!(below, main);

    // Merged, the files say what is live: there is nothing to propose, and the next apply records it.
    stage.merge(first.number);
    let told = drift(&stage, ON).is(2, "");
    assert_eq!((&told["pull-request-number"], stage.fake.world().open_pulls().len()), ("", 0));
    stage.run(&["apply", "--yes"]).code(0);
    let told = drift(&stage, ON).is(0, "");
    assert_eq!(&told["drift-status"], "none");
}

#[test]
fn it_is_closed_when_live_is_put_back_and_opened_again_when_it_moves_again() {
    let stage = two();
    let moves = || edit_live(&stage, "Agent/a", "You are A.\nBe kind.\nBe very brief.\n");
    moves();
    drift(&stage, ON).is(3, "");
    let first = proposed(&stage);
    put_back(&stage, "Agent/a");
    let told = drift(&stage, ON).is(0, "");
    assert_eq!(told["pull-request-number"], first.number.to_string());
    let closed = stage.fake.world().issues[&first.number].clone();
    assert!(!closed.open && closed.body.contains("nothing to bring into the files any more"), "{closed:?}");
    assert_eq!(stage.fake.world().tip(BRANCH), None);
    moves();
    drift(&stage, ON).is(3, "");
    let second = proposed(&stage);
    assert!(second.number > first.number);
    // A person who closes it does not want it; what is another change is proposed again.
    stage.fake.world().issues.get_mut(&second.number).unwrap().open = false;
    let told = drift(&stage, ON).is(3, "");
    assert!(told.ran.out.contains("a person closed the pull request"), "{}", told.ran.out);
    assert_eq!(stage.fake.world().open_pulls().len(), 0);
    edit_live(&stage, "Agent/b", "You are a new B.\n");
    drift(&stage, ON).is(3, "");
    assert!(proposed(&stage).number > second.number);
}

#[test]
fn what_somebody_else_works_on_is_theirs() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are A.\nBe kind.\nBe very brief.\n");
    drift(&stage, ON).is(3, "");
    let theirs = stage.push(BRANCH, &[("agents/a.md", &agent("", "You are mine.\n"))]);
    edit_live(&stage, "Agent/b", "You are a new B.\n");
    let told = drift(&stage, ON).is(3, "");
    assert!(told.ran.out.contains("committed to its branch"), "{}", told.ran.out);
    put_back(&stage, "Agent/a");
    put_back(&stage, "Agent/b");
    drift(&stage, ON).is(0, "");
    assert_eq!(proposed(&stage).pull.unwrap().head_sha, theirs);

    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    stage.propose(BRANCH, &[("notes.md", "mine\n")]);
    let told = drift(&stage, ON).is(3, "");
    assert!(told.ran.out.contains("somebody else opened the pull request"), "{}", told.ran.out);
    assert_eq!(proposed(&stage).author, "ann");
}

#[test]
fn what_a_person_has_to_decide_is_told_and_never_committed() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are A.\nBe kind.\nBe very brief.\n");
    edit_live(&stage, "Agent/b", "You are a live B.\n");
    stage.check_out(&stage.push("main", &[("agents/b.md", &agent("", "You are a B of the file.\n"))]));
    drift(&stage, ON).is(4, "conflict");
    let pull = proposed(&stage);
    assert!(
        pull.body.contains("**Not in here: 1 resource.**") && pull.body.contains("both moved: `Agent/b`"),
        "{}",
        pull.body
    );
    let file = |path: &str| stage.fake.world().file(BRANCH, path).unwrap();
    assert!(file("agents/a.md").contains("very brief") && file("agents/b.md").ends_with("You are a B of the file.\n"));
    assert!(!file("checkfu.yaml").contains("accept"), "{}", file("checkfu.yaml"));
    // Of conflicts alone no pull request is made, and one that is there is closed.
    put_back(&stage, "Agent/a");
    drift(&stage, ON).is(4, "conflict");
    assert!(stage.fake.world().open_pulls().is_empty());
}

#[test]
fn both_the_issue_and_the_pull_request_and_only_from_the_default_branch() {
    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    let told = drift(&stage, &[("pull-request", "true")]).is(3, "");
    assert!(!told["issue-number"].is_empty() && !told["pull-request-number"].is_empty(), "{told:?}");
    let marker = Marker::read(&proposed(&stage).body).unwrap();
    assert_eq!(marker.what, "drift-pull");

    let stage = two();
    edit_live(&stage, "Agent/a", "You are another A.\n");
    let event = r#"{"repository":{"default_branch":"trunk"}}"#;
    std::fs::write(stage.temp("event.json"), event).unwrap();
    let told = drift(&stage, ON).is(3, "");
    assert!(told.ran.out.contains("made from the default branch"), "{}", told.ran.out);
    assert!(stage.fake.world().open_pulls().is_empty());
    // A token that may not push, or not open pull requests.
    std::fs::remove_file(stage.temp("event.json")).unwrap();
    for right in ["contents", "pulls"] {
        let mut actor = crate::github::Actor::job();
        if right == "contents" {
            actor.contents = false;
        } else {
            actor.pulls = false;
        }
        stage.fake.world().tokens.insert(crate::github::JOB.into(), actor);
        let told = drift(&stage, ON).is(3, "");
        assert_eq!((&told["degraded"], &told["drift"]), ("no-token", "true"), "{right}");
        assert!(told.ran.out.contains("`pull-requests: write`"), "{}", told.ran.out);
    }
    assert_eq!(stage.fake.world().open_pulls().len(), 0, "{REPOSITORY}");
}
