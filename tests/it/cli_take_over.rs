//! Who has the file of an embedded workspace is its admin: what another owner has is taken over by the line that names
//! it, and by nothing less.

use crate::sandbox::{Ran, Sandbox, agent, config, ran};

/// A project in a folder, on the workspace file beside it.
fn project(s: &Sandbox, name: &str, more: &str) {
    let target = "targets: {local: {kind: embedded, path: ../shared.db}}\n";
    s.write(&format!("{name}/checkfu.yaml"), &format!("{}{target}{more}", config(&format!("acme/{name}"))));
}

fn run(s: &Sandbox, name: &str, args: &[&str]) -> Ran {
    ran(&s.command(args).current_dir(s.path(name)).output().unwrap())
}

#[test]
fn a_take_over_on_a_file_names_who_loses_and_a_later_plan_of_that_one_who_took() {
    let s = Sandbox::empty();
    project(&s, "a", "");
    s.write("a/agents/x.md", &agent("", "Answer.\n"));
    s.write("a/agents/y.md", &agent("", "Else.\n"));
    run(&s, "a", &["apply", "--yes"]).code(0);
    let id = |name: &str| {
        let live = run(&s, name, &["get", "Agent/x", "--json"]).code(0).json();
        live["resources"][0]["id"].as_str().unwrap().to_owned()
    };
    let taken = id("a");
    project(&s, "b", &format!("adopt: [{{address: Agent/x, id: {taken}, from: acme/a}}]\n"));
    s.write("b/agents/x.md", &agent("", "Answer.\n"));
    assert!(run(&s, "b", &["plan"]).code(0).out.contains("acme/a"));
    run(&s, "b", &["apply", "--yes"]).code(0);
    assert_eq!(id("b"), taken);
    let lost = run(&s, "a", &["plan"]);
    assert!(lost.code != 0 && lost.out.contains("acme/b"), "{lost:?}");
}

#[test]
fn what_is_taken_over_stays_protected_until_a_later_plan() {
    let s = Sandbox::empty();
    project(&s, "a", "policy: {protect: ['Agent/*']}\n");
    s.write("a/agents/x.md", &agent("", "Answer.\n"));
    s.write("a/agents/y.md", &agent("", "Else.\n"));
    run(&s, "a", &["apply", "--yes"]).code(0);
    let live = |name: &str| run(&s, name, &["get", "Agent/x", "--json"]).code(0).json()["resources"][0].clone();
    let taken = live("a")["id"].as_str().unwrap().to_owned();
    project(&s, "b", &format!("adopt: [{{address: Agent/x, id: {taken}, from: acme/a}}]\n"));
    s.write("b/agents/x.md", &agent("", "Answer.\n"));
    let plan = run(&s, "b", &["plan"]).code(0).out;
    assert!(plan.contains("plan.protection_stays") && !plan.contains("unprotect "), "{plan}");
    run(&s, "b", &["apply", "--yes"]).code(0);
    assert_eq!(live("b")["protected"], true);
    // The plan after it shows it, and does it.
    let plan = run(&s, "b", &["plan", "--json", "--detailed-exitcode"]).code(2).json();
    assert_eq!(plan["actions"][0]["id"], "Agent/x#unprotect");
    run(&s, "b", &["apply", "--yes"]).code(0);
    assert_eq!(live("b")["protected"], false);
}
