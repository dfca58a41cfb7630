//! What people decide: which side of a conflict, and to go back.

use serde_json::Value;

use crate::cli_drift::edit_live;
use crate::sandbox::{Sandbox, config, team};

const QUICK: &str = "You answer questions about bills quickly.\n";

/// The same field of an agent was changed live and in its file, another agent in its file alone.
fn conflict() -> Sandbox {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    edit_live(&s, "Agent/billing", QUICK);
    s.edit("agents/billing.md", "about bills", "about refunds");
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    s
}

/// The lines that the plan prints to decide the conflict, with a side and a reason.
fn decide(s: &Sandbox, take: &str) {
    let plan = s.run(&["plan", "--json"]).code(4).json();
    let all = plan["findings"].as_array().unwrap();
    let fix = all.iter().find(|f| f["code"] == "plan.conflict").unwrap()["fix"].as_str().unwrap();
    let (_, lines) = fix.split_once(":\n").unwrap();
    let lines = lines.replace("take: file", &format!("take: {take}")).replace("reason: …", "reason: as agreed");
    s.write("checkfu.yaml", &format!("{}{lines}\n", config("acme/support")));
}

fn live(s: &Sandbox) -> String {
    s.run(&["get", "Agent/billing"]).code(0).out
}

#[test]
fn a_conflict_shows_both_sides_and_the_rest_applies() {
    let s = conflict();
    let plan = s.run(&["plan"]).code(4).out;
    for wanted in ["conflict", "bills{+ quickly+}", "jane", "incident 12", "about refunds.", "accept:", "take: file"] {
        assert!(plan.contains(wanted), "{wanted}\n{plan}");
    }
    s.run(&["apply", "--yes"]).code(4);
    assert!(live(&s).contains("quickly"));
    assert!(s.run(&["get", "Agent/support"]).out.contains("be friendly"));
}

#[test]
fn accept_takes_the_file() {
    let s = conflict();
    decide(&s, "file");
    let plan = s.run(&["plan", "--detailed-exitcode"]).code(2).out;
    assert!(plan.contains("[-bills quickly-]") || plan.contains("refunds"), "{plan}");
    s.run(&["apply", "--yes"]).code(0);
    let text = live(&s);
    assert!(text.contains("about refunds") && !text.contains("quickly"), "{text}");
    let plan = s.run(&["plan", "--detailed-exitcode"]).code(0).out;
    assert!(plan.contains("plan.nothing_left"), "{plan}");
}

#[test]
fn accept_takes_live_which_stays_until_somebody_puts_it_back() {
    let s = conflict();
    decide(&s, "live");
    let plan = s.run(&["plan", "--detailed-exitcode"]).code(2).out;
    assert!(plan.contains("`accept:` took it: as agreed") && !plan.contains("conflict"), "{plan}");
    s.run(&["apply", "--yes"]).code(0);
    assert!(live(&s).contains("quickly"));
    let plan = s.run(&["plan", "--detailed-exitcode"]).code(3).out;
    assert!(plan.contains("held") && !plan.contains("conflict"), "{plan}");
    s.run(&["apply", "--yes", "--revert", "Agent/billing"]).code(0);
    assert!(live(&s).contains("about refunds"));
}

#[test]
fn a_decision_is_void_when_live_moves_again() {
    let s = conflict();
    decide(&s, "file");
    edit_live(&s, "Agent/billing", "You answer questions about bills slowly.\n");
    let plan = s.run(&["plan"]).code(4).out;
    assert!(plan.contains("plan.accept_void") && plan.contains("plan.conflict"), "{plan}");
    s.run(&["apply", "--yes"]).code(4);
    assert!(live(&s).contains("slowly"));
    decide(&s, "file");
    s.run(&["apply", "--yes"]).code(0);
    assert!(live(&s).contains("about refunds"));
}

#[test]
fn history_says_who_did_what_from_where() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    let command = |args: &[&str]| crate::sandbox::ran(&s.command(args).env("CHECKFU_ACTOR", "kim").output().unwrap());
    command(&["apply", "--yes"]).code(0);
    let text = s.run(&["history"]).code(0).out;
    let newest = text.lines().nth(1).unwrap();
    assert!(newest.contains("kim") && newest.contains("sha256:"), "{text}");
    assert!(newest.ends_with("1 update: Agent/support"), "{text}");
    assert!(text.contains("4 create: Agent/billing, Agent/faq, Agent/support, Skill/triage"), "{text}");
    let applies = s.run(&["history", "--json"]).code(0).json()["applies"].clone();
    assert_eq!(
        (&applies[0]["did"]["update"], &applies[0]["addresses"]),
        (&1.into(), &Value::from(vec!["Agent/support"]))
    );
}
