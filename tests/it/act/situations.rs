//! What happens to a repository, one thing after another.

use checkfu::ci::{Marker, State};

use super::{Act, Ended};

const READ: &str = "CHECKFU_READ_TOKEN";
const WRITE: &str = "CHECKFU_WRITE_TOKEN";

/// The bodies of the comments of a pull request.
fn comments(act: &Act, pull: u64) -> Vec<String> {
    let world = act.stage.fake.world();
    world.comments_of(pull).iter().map(|c| c.body.clone()).collect()
}

/// Commits the whole example to a branch.
fn fill(act: &Act, branch: &str) {
    let files = act.project();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    act.stage.push(branch, &files);
}

/// `apply.yml` on `main` with the right tokens.
fn applied(act: &mut Act, situation: &str) -> Ended {
    let (read, write) = (act.read.clone(), act.write.clone());
    act.main(situation, "push", "apply.yml", "Apply", &[(READ, &read), (WRITE, &write)])
}

#[test]
#[ignore = "needs act: .ci/run gives its path"]
fn act_plans_what_a_pull_request_proposes() {
    let mut act = Act::new();
    let read = act.read.clone();
    let secrets = [(READ, read.as_str())];
    let config = act.config();
    act.stage.push("main", &[("checkfu.yaml", &config)]);

    let first = act.stage.propose("first", &[("NOTES.md", "first\n")]);
    fill(&act, "first");
    let ended = act.pull("the first files", first, &secrets).is("Plan", 2, "");
    assert_eq!((ended.of("Validate", "exit-code"), ended.of("Plan", "retirements")), ("0", "0"));
    let creates: u32 = ended.of("Plan", "creates").parse().unwrap();
    assert!(creates > 5, "{creates}");
    let body = comments(&act, first).concat();
    assert!(body.contains("Agent/support") && body.contains("this pull request"), "{body}");
    assert_eq!(Marker::read(&body).unwrap().state, State::Planned);

    let ended = act.pull("the same again", first, &secrets).is("Plan", 2, "");
    assert_eq!((ended.writes, comments(&act, first)), (Vec::<String>::new(), vec![body]));

    let broken = act.stage.propose("broken", &[("agents/broken.md", "---\nmodel: [1\n---\nHello.\n")]);
    let ended = act.pull("a file that is wrong", broken, &secrets).is("Validate", 1, "invalid");
    assert!(!ended.steps.contains_key("Plan") && ended.writes.is_empty(), "{}", ended.log);

    let evil = config.replace(&act.url, "http://127.0.0.1:9");
    let elsewhere = act.stage.propose("elsewhere", &[("checkfu.yaml", &evil)]);
    act.pull("the token to another server", elsewhere, &secrets).is("Plan", 5, "not-allowed");

    act.stage.merge(first);
    let write = act.write.clone();
    let done = act.stage.s.command(&["apply", "--yes"]).env("TEAM_TOKEN", write).output().unwrap();
    assert!(done.status.success(), "{done:?}");

    let update = act.stage.propose("update", &[("prompts/billing.md", "You answer questions about bills.\n")]);
    let ended = act.pull("an update", update, &secrets).is("Plan", 2, "");
    assert_eq!((ended.of("Plan", "creates"), ended.of("Plan", "updates")), ("0", "1"), "{}", ended.log);
    assert_eq!(comments(&act, update).len(), 1);

    let nothing = act.stage.propose("nothing", &[("NOTES.md", "Read this.\n")]);
    let ended = act.pull("no change", nothing, &secrets).is("Plan", 0, "");
    assert_eq!((ended.of("Plan", "changes"), comments(&act, nothing).len()), ("false", 0));

    let prompt = "Be kind, and answer in short sentences that a customer understands.\n".repeat(40);
    let big: Vec<(String, String)> = (0..80)
        .map(|n| (format!("agents/extra-{n}.md"), format!("---\nmodel: claude-sonnet-5\n---\nNumber {n}.\n{prompt}")))
        .collect();
    let big: Vec<(&str, &str)> = big.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let big = act.stage.propose("big", &big);
    let ended = act.pull("more than a comment holds", big, &secrets).is("Plan", 2, "");
    assert_eq!(ended.of("Plan", "creates"), "80");
    let body = comments(&act, big).concat();
    assert!((10_000..=65_536).contains(&body.len()), "{}", body.len());

    let fork = act.stage.propose("fork", &[("prompts/billing.md", "You are ours now.\n")]);
    let elsewhere = Some("eve/agents".to_owned());
    act.stage.fake.world().issues.get_mut(&fork).unwrap().pull.as_mut().unwrap().head_repo = elsewhere;
    let ended = act.pull("a fork", fork, &[]).is("Plan", 2, "");
    let told = ["degraded", "updates"].map(|name| ended.of("Plan", name));
    assert_eq!((told, ended.writes.len(), comments(&act, fork).len()), (["fork", "1"], 0, 0));
}

#[test]
#[ignore = "needs act: .ci/run gives its path"]
fn act_applies_the_plan_that_was_released() {
    let mut act = Act::new();
    fill(&act, "main");
    let ended = applied(&mut act, "A: the first apply").is("Apply", 0, "");
    assert_eq!((ended.of("Plan", "changes"), ended.of("Apply", "applied")), ("true", "true"));
    assert_eq!((ended.steps["Keep the plan"].as_str(), ended.steps["Take the plan"].as_str()), ("success", "success"));

    let ended = applied(&mut act, "A: nothing to do");
    assert_eq!((ended.code, ended.of("Plan", "changes")), (0, "false"), "{}", ended.log);
    assert!(!ended.steps.contains_key("Apply"), "{}", ended.log);

    act.stage.push("main", &[("prompts/billing.md", "You answer questions about bills.\n")]);
    let read = act.read.clone();
    // Whoever may only plan cannot apply.
    act.main("A: a token that may not write", "push", "apply.yml", "Apply", &[(READ, &read), (WRITE, &read)]).is(
        "Apply",
        1,
        "unauthorized",
    );
    let ended = applied(&mut act, "A: an update").is("Apply", 0, "");
    assert_eq!((ended.of("Plan", "updates"), ended.of("Apply", "applied")), ("1", "true"));
}

#[test]
#[ignore = "needs act: .ci/run gives its path"]
fn act_applies_what_was_reviewed() {
    let mut act = Act::new();
    fill(&act, "main");
    applied(&mut act, "B: what is there before").is("Apply", 0, "");
    let (read, write) = (act.read.clone(), act.write.clone());
    let pull = act.stage.propose("topic", &[("prompts/billing.md", "You answer questions about bills.\n")]);
    act.pull("B: the pull request", pull, &[(READ, &read)]).is("Plan", 2, "");
    act.stage.merge(pull);
    let reviewed = [(WRITE, write.as_str())];
    let ended = act.main("B: it is merged", "push", "apply-reviewed.yml", "Apply", &reviewed).is("Apply", 0, "");
    assert_eq!(ended.of("Apply", "applied"), "true");
    assert_eq!(Marker::read(&comments(&act, pull).concat()).unwrap().state, State::Applied);

    act.stage.push("main", &[("prompts/billing.md", "Nobody has seen this.\n")]);
    let ended = act.main("B: a push past review", "push", "apply-reviewed.yml", "Apply", &reviewed);
    let ended = ended.is("Apply", 6, "approval-missing");
    assert_eq!(ended.of("Apply", "applied"), "false");
}

#[test]
#[ignore = "needs act: .ci/run gives its path"]
fn act_keeps_one_issue_about_drift() {
    let mut act = Act::new();
    fill(&act, "main");
    applied(&mut act, "drift: what is there before").is("Apply", 0, "");
    let read = act.read.clone();
    let look = |act: &mut Act, situation: &str, token: &str| {
        act.main(situation, "schedule", "drift.yml", "Look for drift", &[(READ, token)])
    };
    let step = "Look for drift";
    let edit = |act: &Act, script: &str| {
        let mut command = act.person(&["edit", "Agent/support", "--reason", "in a hurry"]);
        let output = command.env("EDITOR", format!("sed -i {script}")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let open = |act: &Act| act.stage.fake.world().open_issues().len();

    let ended = look(&mut act, "drift: none", &read).is(step, 0, "");
    assert_eq!((ended.of(step, "drift-status"), open(&act)), ("none", 0));
    edit(&act, "s/quote.the.page/name.the.page/");
    let ended = look(&mut act, "drift: new", &read).is(step, 3, "");
    assert_eq!((ended.of(step, "drift-status"), open(&act)), ("new", 1));
    let number = ended.of(step, "issue-number").to_owned();
    let ended = look(&mut act, "drift: the same", &read).is(step, 3, "");
    assert_eq!((ended.of(step, "drift-status"), ended.of(step, "issue-number")), ("same", number.as_str()));
    edit(&act, "s/answered.twice/answered.thrice/");
    let ended = look(&mut act, "drift: another", &read).is(step, 3, "");
    assert_eq!((ended.of(step, "drift-status"), open(&act)), ("changed", 1));
    let ended = look(&mut act, "drift: an error", "cfu_wrong").is(step, 1, "unauthorized");
    assert_eq!((ended.writes.len(), open(&act)), (0, 1));
    let output = act.person(&["revert", "Agent/support", "--yes"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let ended = look(&mut act, "drift: put back", &read).is(step, 0, "");
    assert_eq!((ended.of(step, "drift-status"), open(&act)), ("resolved", 0));
}
