//! Saved plans, reviewed digests, and what happens when the world moved on.

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{Authoring, Context, Expect, Request, Transfer};
use serde_json::Value;

use crate::sandbox::{Sandbox, agent, config, team};

fn outcomes(receipt: &Value) -> Vec<String> {
    let line = |l: &Value| format!("{} {}", l["action"].as_str().unwrap(), l["outcome"].as_str().unwrap());
    let mut out: Vec<String> = receipt["lines"].as_array().unwrap().iter().map(line).collect();
    out.sort();
    out
}

#[test]
fn a_saved_plan_does_the_rest_when_one_action_is_stale() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    s.edit("agents/billing.md", "about bills", "about bills and refunds");
    s.run(&["plan", "-o", "p.json"]).code(0);
    s.edit("agents/support.md", "Rule 20: be friendly", "Rule 20: be brief");
    s.run(&["apply", "--yes", "Agent/support"]).code(0);
    let ran = s.run(&["apply", "--plan", "p.json", "--json"]).code(4);
    assert_eq!(outcomes(&ran.json()), ["Agent/billing#update done", "Agent/support#update stale"]);
    assert!(s.run(&["get", "Agent/support"]).out.contains("be brief"));
    assert!(s.run(&["get", "Agent/billing"]).out.contains("refunds"));
}

#[test]
fn a_saved_plan_of_which_everything_is_stale_is_recorded_as_one_that_did_nothing() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    s.run(&["plan", "-o", "p.json"]).code(0);
    s.edit("agents/support.md", "Rule 20: be friendly", "Rule 20: be brief");
    s.run(&["apply", "--yes"]).code(0);
    let ran = s.run(&["apply", "--plan", "p.json", "--json"]).code(4).json();
    assert_eq!((outcomes(&ran), &ran["outcome"]), (vec!["Agent/support#update stale".to_owned()], &"failed".into()));
    let history = s.run(&["history", "--json"]).code(0).json();
    assert_eq!(history["applies"][0]["outcome"], "failed", "{history}");
}

#[test]
fn a_skill_that_changed_after_planning_sends_nothing_and_a_prompt_is_in_the_plan() {
    let s = team();
    s.run(&["plan", "-o", "p.json"]).code(0);
    s.edit("skills/triage/SKILL.md", "Ask what", "Ask when");
    let ran = s.run(&["apply", "--plan", "p.json"]).code(4);
    assert!(ran.err.contains("plan.content_missing") && ran.err.contains("skills/triage/SKILL.md"), "{}", ran.err);
    assert!(!s.path(".checkfu/workspace.db").exists(), "nothing was written, a workspace neither");
    s.edit("skills/triage/SKILL.md", "Ask when", "Ask what");
    s.edit("agents/billing.md", "about bills", "about nothing");
    s.run(&["apply", "--plan", "p.json"]).code(0);
    assert!(s.run(&["get", "Agent/billing"]).out.contains("about bills"));
}

#[test]
fn a_plan_file_is_private_shown_in_every_view_and_refused_when_it_was_changed() {
    let s = team();
    s.run(&["plan", "-o", "p.json"]).code(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(s.path("p.json").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(s.run(&["show", "p.json"]).code(0).out.contains("to create"));
    assert!(s.run(&["show", "p.json", "--markdown"]).code(0).out.starts_with("### checkfu: "));
    assert_eq!(s.run(&["show", "p.json", "--json"]).code(0).out, s.read("p.json"));
    let changed = s.read("p.json").replace("Rule 20: be kind", "Rule 20: be evil");
    s.write("q.json", &changed);
    assert!(s.run(&["apply", "--plan", "q.json"]).code(1).err.contains("plan."));
    assert!(s.run(&["apply", "--plan", "none.json"]).code(1).err.contains("cli.read"));
    assert!(!s.path(".checkfu/workspace.db").exists());
}

#[test]
fn a_saved_plan_is_for_its_workspace_alone_and_makes_none() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.run(&["plan", "-o", "nothing.json"]).code(0);
    s.edit("agents/billing.md", "about bills", "about refunds");
    s.run(&["plan", "-o", "p.json"]).code(0);
    s.run(&["apply", "--plan", "nothing.json"]).code(0);
    s.remove(".checkfu");
    for plan in ["nothing.json", "p.json"] {
        let ran = s.run(&["apply", "--plan", plan]).code(4);
        assert!(ran.err.contains("apply.other_workspace"), "{}", ran.err);
        assert!(!s.path(".checkfu/workspace.db").exists(), "{plan}");
    }
}

#[test]
fn a_reviewed_digest_is_the_only_one_that_applies() {
    let s = team();
    let digest = s.run(&["plan", "--json"]).code(0).json()["digest"].as_str().unwrap().to_owned();
    s.edit("agents/billing.md", "about bills", "about refunds");
    let ran = s.run(&["apply", "--plan-digest", &digest]).code(4);
    assert!(ran.err.contains("apply.other_plan"), "{}", ran.err);
    assert!(!s.path(".checkfu/workspace.db").exists());
    s.edit("agents/billing.md", "about refunds", "about bills");
    s.run(&["apply", "--plan-digest", &digest]).code(0);
}

#[test]
fn without_a_terminal_somebody_must_have_said_yes() {
    let s = team();
    let ran = s.run(&["apply"]).code(1);
    assert!(ran.err.contains("cli.confirm") && ran.err.contains("--yes"), "{}", ran.err);
    assert!(ran.out.contains("to create"), "the plan is shown: {}", ran.out);
    assert!(!s.path(".checkfu/workspace.db").exists());
}

/// Two projects on one workspace file beside them.
fn neighbours() -> (Sandbox, impl Fn(&str, &[&str]) -> crate::sandbox::Ran) {
    let target = "targets: {local: {kind: embedded, path: ../shared.db}}\n";
    let s = Sandbox::with(&[
        ("a/checkfu.yaml", &(config("acme/a") + target)),
        ("a/agents/support.md", &agent("", "I am of A.\n")),
        ("b/checkfu.yaml", &(config("acme/b") + target)),
        ("b/agents/support.md", &agent("", "I am of B.\n")),
        ("b/agents/other.md", &agent("", "I am the other of B.\n")),
    ]);
    let dir = s.dir();
    let run = move |project: &str, args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_checkfu"));
        let output = command.env_clear().current_dir(dir.join(project)).args(args).output().unwrap();
        crate::sandbox::ran(&output)
    };
    (s, run)
}

#[test]
fn two_owners_have_the_same_address_once_somebody_says_that_it_is_another() {
    let (_s, run) = neighbours();
    run("a", &["apply", "--yes"]).code(0);
    let plan = run("b", &["plan"]).code(4).out;
    assert!(plan.contains("1 to create") && plan.contains("acme/a has Agent/support too"), "{plan}");
    assert!(plan.contains("--allow same-name=Agent/support") && plan.contains("to: acme/b"), "{plan}");
    run("b", &["apply", "--yes", "--allow", "same-name=Agent/support"]).code(0);
    assert!(run("a", &["get", "Agent/support"]).out.contains("I am of A."));
    assert!(run("b", &["get", "Agent/support"]).out.contains("I am of B."));
    for project in ["a", "b"] {
        run(project, &["plan", "--detailed-exitcode"]).code(0);
    }
    assert_eq!(run("a", &["get", "--json"]).json()["resources"].as_array().unwrap().len(), 1);
}

#[test]
fn a_resource_that_another_owner_got_meanwhile_is_named_and_the_rest_is_done() {
    let (s, run) = neighbours();
    run("a", &["apply", "--yes"]).code(0);
    run("b", &["apply", "--yes", "--allow", "same-name"]).code(0);
    s.edit("b/agents/support.md", "of B", "still of B");
    s.edit("b/agents/other.md", "the other", "the second");
    run("b", &["plan", "-o", "p.json"]).code(0);
    let live = run("b", &["get", "Agent/support", "--json"]).json()["resources"][0].clone();
    transfer(&s, live["id"].as_str().unwrap());
    let ran = run("b", &["apply", "--plan", "p.json", "--json"]).code(4);
    let receipt = ran.json();
    let line = |action: &str| {
        let lines = receipt["lines"].as_array().unwrap();
        lines.iter().find(|l| l["action"] == action).unwrap().clone()
    };
    assert_eq!(line("Agent/other#update")["outcome"], "done");
    assert_ne!(line("Agent/support#update")["outcome"], "done");
    assert!(line("Agent/support#update")["error"].as_str().unwrap().contains("acme/a"), "{receipt:#}");
    // What B still declares is not made anew beside it: B is told who has it.
    let lost = run("b", &["apply", "--yes"]).code(4);
    assert!(lost.out.contains("plan.lost") && lost.out.contains("acme/a:Agent/taken"), "{lost:?}");
    assert_eq!(run("a", &["get", "Agent/taken", "--json"]).json()["resources"][0]["id"], live["id"]);
}

/// From acme/b to acme/a, through the library.
fn transfer(s: &Sandbox, id: &str) {
    let control = Embedded::open(&s.path("shared.db"), EmbeddedOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let context =
        Context { actor: "test".into(), owner: Some("acme/a".parse().unwrap()), admin: true, ..Context::default() };
    let expect = Expect { id: id.to_owned(), version: None };
    let request = Request::Transfer(Transfer {
        at: Authoring { at: expect, seq: 1 },
        from: "acme/b".parse().unwrap(),
        to: "acme/a".parse().unwrap(),
        address: "Agent/taken".parse().unwrap(),
    });
    runtime.block_on(control.call(&context, request)).unwrap();
}
