//! The loop of a day: apply, edit, plan, apply, nothing to do.

use serde_json::Value;

use crate::sandbox::{Sandbox, team};

fn verbs(plan: &Value) -> Vec<String> {
    plan["actions"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_init_writes_applies_and_the_second_apply_has_nothing_to_do() {
    let s = Sandbox::empty();
    s.run(&["init"]).code(0);
    assert!(s.read(".gitignore").contains(".checkfu/"));
    assert!(!s.path(".checkfu").exists());
    s.run(&["validate"]).code(0);
    let plan = s.run(&["plan"]).code(0);
    assert!(plan.out.contains("to create"), "{}", plan.out);
    assert!(!s.path(".checkfu/workspace.db").exists(), "plan makes no workspace");
    let first = s.run(&["apply", "--yes"]).code(0);
    assert!(first.out.contains("Applied"), "{}", first.out);
    let again = s.run(&["apply", "--yes"]).code(0);
    assert!(again.out.contains("Nothing to do"), "{}", again.out);
    s.run(&["apply"]).code(0);
    let before = s.files();
    let twice = s.run(&["init"]).code(1);
    assert_eq!(twice.err.matches("is there already").count(), 5, "{}", twice.err);
    assert_eq!(s.files(), before);
}

#[test]
fn one_word_of_a_long_prompt_is_one_mark_and_one_version() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    let human = s.run(&["plan", "--detailed-exitcode"]).code(2);
    assert!(human.out.contains("[-kind-]{+friendly+}"), "{}", human.out);
    assert_eq!(human.out.lines().filter(|l| l.contains("Rule ")).count(), 3, "{}", human.out);
    assert!(!human.out.contains("billing") && !human.out.contains("faq"), "{}", human.out);
    let plan = s.run(&["plan", "--json"]).code(0).json();
    assert_eq!(verbs(&plan), ["Agent/support#update"]);
    let change = &plan["actions"][0]["about"]["changes"][0];
    let at = change["at"].as_str().unwrap();
    assert!(at.starts_with("agents/support.md:"), "{at}");
    let before = s.run(&["get", "Agent/support", "--json"]).code(0).json();
    s.run(&["apply", "--yes"]).code(0);
    let after = s.run(&["get", "Agent/support", "--json"]).code(0).json();
    let version = |v: &Value| v["resources"][0]["version"].as_u64().unwrap();
    assert_eq!(version(&after), version(&before) + 1);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

#[test]
fn a_skill_is_published_once_repointed_twice_and_live_at_once_for_the_third() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("skills/triage/SKILL.md", "Ask what happened first.", "Ask when it happened first.");
    let plan = s.run(&["plan", "--json"]).code(0).json();
    let mut ids = verbs(&plan);
    ids.sort();
    assert_eq!(ids, ["Agent/billing#repoint", "Agent/support#repoint", "Skill/triage#publish"]);
    assert_eq!(verbs(&plan)[0], "Skill/triage#publish", "the version comes before those that point at it");
    let human = s.run(&["plan"]).code(0).out;
    assert!(human.contains("live at once for 1 agent: Agent/faq"), "{human}");
    assert!(human.contains("SKILL.md"), "{human}");
    let receipt = s.run(&["apply", "--yes", "--json"]).code(0).json();
    let lines = receipt["lines"].as_array().unwrap();
    assert!(lines.iter().all(|l| l["outcome"] == "done"), "{receipt:#}");
    assert_eq!(lines.len(), 3);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

#[test]
fn what_was_applied_can_be_listed_and_shown() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let applies = s.run(&["history", "--json"]).code(0).json();
    let id = applies["applies"][0]["id"].as_str().unwrap().to_owned();
    assert!(s.run(&["history"]).code(0).out.contains(&id));
    let shown = s.run(&["show", &id]).code(0).out;
    assert!(shown.contains("Agent/support#create") && shown.contains("acme/support"), "{shown}");
    assert_eq!(s.run(&["show", &id, "--json"]).code(0).json()["apply"]["id"], id.as_str());
    assert!(s.run(&["show", "apply_none"]).code(1).err.contains("cli.not_found"));
    assert!(s.run(&["show", "nothing"]).code(1).err.contains("cli.not_found"));
    let list = s.run(&["get"]).code(0).out;
    assert!(list.contains("Agent/billing") && list.contains("Skill/triage"), "{list}");
    assert!(!s.run(&["get", "Skill"]).code(0).out.contains("Agent/"));
    let one = s.run(&["get", "Agent/billing"]).code(0).out;
    assert!(one.contains("You answer questions about bills."), "{one}");
    assert!(s.run(&["get", "Agent/none"]).code(1).err.contains("cli.not_found"));
    let doctor = s.run(&["doctor"]).code(0).out;
    assert!(doctor.contains("the database is whole"), "{doctor}");
}

#[test]
fn questions_about_a_workspace_that_is_not_there_make_none() {
    let s = team();
    for args in [&["get"][..], &["history"], &["show", "apply_x"]] {
        assert!(s.run(args).code(1).err.contains("cli.no_workspace"));
    }
    s.run(&["plan"]).code(0);
    s.run(&["doctor"]).code(0);
    assert!(!s.path(".checkfu/workspace.db").exists());
}
