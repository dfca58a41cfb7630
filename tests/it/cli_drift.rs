//! What moved live: held with who and when, put back when asked, a conflict when the file moved too.

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::Kind;
use checkfu::model::op::{Context, Expect, Request, Update};
use serde_json::json;

use crate::sandbox::{Sandbox, team};

/// Somebody else changes an agent's prompt, with a reason.
pub(crate) fn edit_live(s: &Sandbox, address: &str, system: &str) {
    let live = s.run(&["get", address, "--json"]).json()["resources"][0]["id"].as_str().unwrap().to_owned();
    let control = Embedded::open(&s.path(".checkfu/workspace.db"), EmbeddedOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let context =
        Context { actor: "jane".into(), admin: true, break_glass: Some("incident 12".into()), ..Context::default() };
    let body = json!({ "system": system }).as_object().unwrap().clone();
    let at = Expect { id: live, version: None };
    let request = Request::Update(Update { kind: Kind::Agent, at, body, applied: None });
    runtime.block_on(control.call(&context, request)).unwrap();
}

#[test]
fn what_moved_live_is_held_told_and_put_back_only_when_asked() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    edit_live(&s, "Agent/billing", "You answer questions about bills quickly.\n");
    let plan = s.run(&["plan", "--detailed-exitcode"]).code(3);
    for wanted in ["held", "Agent/billing", "jane", "incident 12", "bills{+ quickly+}"] {
        assert!(plan.out.contains(wanted), "{wanted}\n{}", plan.out);
    }
    let markdown = s.run(&["plan", "--markdown"]).code(0).out;
    assert!(markdown.contains("1 held") && markdown.contains("jane"), "{markdown}");
    assert!(s.run(&["get"]).out.contains("moved"));
    s.run(&["apply", "--yes"]).code(0);
    assert!(s.run(&["get", "Agent/billing"]).out.contains("quickly"));
    let plan = s.run(&["plan", "--revert", "Agent/billing", "--detailed-exitcode"]).code(2);
    assert!(plan.out.contains("bills[- quickly-]") && plan.out.contains("is put back"), "{}", plan.out);
    s.run(&["apply", "--yes", "--revert-all"]).code(0);
    assert!(!s.run(&["get", "Agent/billing"]).out.contains("quickly"));
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

#[test]
fn a_conflict_stops_that_resource_and_no_other() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    edit_live(&s, "Agent/billing", "You answer questions about bills quickly.\n");
    s.edit("agents/billing.md", "about bills", "about refunds");
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    let plan = s.run(&["plan"]).code(4);
    assert!(plan.out.contains("conflict") && plan.out.contains("jane"), "{}", plan.out);
    s.run(&["apply", "--yes"]).code(4);
    assert!(s.run(&["get", "Agent/billing"]).out.contains("quickly"));
    assert!(s.run(&["get", "Agent/support"]).out.contains("be friendly"));
    // Nothing is left to do, and every format says why that is not all.
    let receipt = s.run(&["apply", "--yes", "--json"]).code(4).json();
    assert_eq!((&receipt["outcome"], receipt["held"][0]["conflict"].as_bool()), (&"nothing".into(), Some(true)));
    let markdown = s.run(&["apply", "--yes", "--markdown"]).code(4).out;
    assert!(markdown.contains("nothing to do, 1 held") && markdown.contains("conflict Agent/billing"), "{markdown}");
}
