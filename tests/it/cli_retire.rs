//! What goes: limits, what cannot come back, destroy, and apply again.

use crate::sandbox::{Sandbox, config, skill, team};

fn twenty() -> Sandbox {
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/skills"))]);
    for i in 0..20 {
        s.write(&format!("skills/s{i}/SKILL.md"), &skill(&format!("s{i}"), "Text."));
    }
    s.run(&["apply", "--yes"]).code(0);
    s
}

#[test]
fn many_retirements_are_refused_with_every_reason_and_allowed_by_name() {
    let s = twenty();
    for i in 0..8 {
        s.remove(&format!("skills/s{i}"));
    }
    let plan = s.run(&["plan"]).code(5);
    assert_eq!(plan.out.lines().filter(|l| l.trim_start().starts_with("- retire")).count(), 8, "{}", plan.out);
    assert!(plan.out.contains("plan.retire") && plan.out.contains("--allow retire"), "{}", plan.out);
    s.run(&["apply", "--yes"]).code(5);
    let json = s.run(&["apply", "--yes", "--json"]).code(5).json();
    assert_eq!(json["diagnostics"][0]["code"], "plan.retire");
    assert_eq!(s.run(&["get", "--json"]).json()["resources"].as_array().unwrap().len(), 20);
    s.run(&["apply", "--yes", "--allow", "retire"]).code(0);
    assert_eq!(s.run(&["get", "--json"]).json()["resources"].as_array().unwrap().len(), 12);
}

#[test]
fn an_agent_goes_only_when_it_is_written_down_and_the_lines_are_printed() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.remove("agents/billing.md");
    let ran = s.run(&["plan"]).code(5);
    assert!(ran.out.contains("plan.irreversible"), "{}", ran.out);
    assert!(ran.out.contains("removed:") && ran.out.contains("address: Agent/billing"), "{}", ran.out);
    s.write("checkfu.yaml", &(config("acme/support") + "removed:\n  - address: Agent/billing\n"));
    let ran = s.run(&["plan", "--detailed-exitcode"]).code(2);
    assert!(ran.out.contains("cannot be undone"), "{}", ran.out);
    s.run(&["apply", "--yes"]).code(0);
    s.run(&["get", "Agent/billing"]).code(1);
}

#[test]
fn destroy_needs_the_owners_name_and_apply_makes_everything_again() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.run(&["destroy", "--yes"]).code(5);
    assert!(s.run(&["destroy", "--yes", "--allow", "destroy=acme/other"]).code(1).err.contains("cli.usage"));
    assert!(s.run(&["destroy", "--allow", "destroy=acme/support"]).code(1).err.contains("cli.confirm"));
    assert_eq!(s.run(&["get", "--json"]).json()["resources"].as_array().unwrap().len(), 4);
    s.run(&["destroy", "--yes", "--allow", "destroy=acme/support"]).code(0);
    assert_eq!(s.run(&["get", "--json"]).json()["resources"].as_array().unwrap().len(), 0);
    s.run(&["apply", "--yes"]).code(0);
    assert_eq!(s.run(&["get", "--json"]).json()["resources"].as_array().unwrap().len(), 4);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}
