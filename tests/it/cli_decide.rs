//! What people decide: which side of a conflict, and to go back.

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{MemoryVersionOf, MemoryVersions, Request, Response};
use serde_json::Value;

use crate::cli_drift::{edit_live, id, jane};
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
    // Drift names what was applied last, not what the file says, and who moved it.
    let document = s.run(&["drift", "--json"]).code(3).json();
    let moved = &document["resources"][0]["differences"][0];
    let text = |side: &str| moved[side].as_str().unwrap().trim_end();
    assert_eq!(text("applied"), "You answer questions about bills.");
    assert_eq!((text("live"), moved["actor"].as_str()), (QUICK.trim_end(), Some("jane")));
    assert!(moved["when"].as_str().is_some(), "{moved}");
    // The decision was about that. When live moves again it is void, and the conflict is told with both values.
    edit_live(&s, "Agent/billing", "You answer questions about bills slowly.\n");
    let plan = s.run(&["plan"]).code(4).out;
    for wanted in ["plan.accept_void", "plan.conflict", "bills{+ slowly+}", "about refunds"] {
        assert!(plan.contains(wanted), "{wanted}\n{plan}");
    }
    s.run(&["drift"]).code(4);
    s.run(&["apply", "--yes"]).code(4);
    assert!(live(&s).contains("slowly"));
    decide(&s, "live");
    s.run(&["apply", "--yes"]).code(0);
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
    assert_eq!(applies[0]["did"], serde_json::json!([{"verb": "update", "count": 1}]));
    assert_eq!(applies[0]["addresses"], serde_json::json!(["Agent/support"]));
}

/// A project of which everything that has versions changes twice.
fn versioned() -> Sandbox {
    let s = team();
    s.write("docs/a.md", "first\n");
    s.write("memory/a.md", "first\n");
    s.write(
        "more.yaml",
        "apiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {name: docs}\nspec:\n  source: {kind: upload, path: docs}\n---\n\
         apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: notes}\nspec:\n  description: first\n  contents:\n    \
         - {path: memory, at: /n, mode: enforce}\n",
    );
    s
}

/// Writes the text of a generation everywhere, and applies it; answers the apply's id.
fn generation(s: &Sandbox, text: &str) -> String {
    s.write("docs/a.md", &format!("{text}\n"));
    s.write("memory/a.md", &format!("{text}\n"));
    s.write("skills/triage/SKILL.md", &crate::sandbox::skill("triage", text));
    s.write("agents/billing.md", &crate::sandbox::agent("skills: [triage]\n", &format!("You answer {text}.\n")));
    s.run(&["apply", "--yes"]).code(0);
    newest(s)["id"].as_str().unwrap().to_owned()
}

fn newest(s: &Sandbox) -> Value {
    s.run(&["history", "--json"]).code(0).json()["applies"][0].clone()
}

fn resource(s: &Sandbox, address: &str) -> Value {
    s.run(&["get", address, "--json"]).code(0).json()["resources"][0].clone()
}

const ALL: [&str; 4] = ["Agent/billing", "FileTree/docs", "MemoryStore/notes", "Skill/triage"];

#[test]
fn a_rollback_to_two_applies_ago_restores_content_and_pins_as_new_versions() {
    let s = versioned();
    let first = generation(&s, "first");
    let before = ALL.map(|a| resource(&s, a));
    generation(&s, "second");
    generation(&s, "third");
    let third = ALL.map(|a| resource(&s, a));
    // Nobody is asked without a terminal, and nothing was done.
    let asked = s.run(&["rollback", &first]).code(1);
    assert!(asked.out.contains("Agent/billing") && asked.err.contains("cli.confirm"), "{asked:?}");
    assert_eq!(resource(&s, "Agent/billing"), third[0]);
    let done = s.run(&["rollback", &first, "--yes"]).code(0);
    assert!(done.out.contains("Applied") && done.err.contains(&first), "{done:?}");
    assert!(!done.out.contains("to upload") || done.out.contains("0 B to upload"), "{}", done.out);
    for ((address, before), third) in ALL.iter().zip(&before).zip(&third) {
        let now = resource(&s, address);
        assert_eq!(now["id"], before["id"], "{address}");
        let version = |v: &Value| v["version"].as_u64().unwrap();
        if *address != "MemoryStore/notes" {
            assert!(version(&now) > version(third), "{address}: a new version, not an old one");
        }
        assert_eq!((&now["spec"], &now["state"]), (&before["spec"], &before["state"]), "{address}");
    }
    // A new apply, which says what it is.
    let apply = newest(&s);
    assert_eq!(apply["source"]["apply"], first.as_str());
    assert!(s.run(&["history"]).out.lines().nth(1).unwrap().contains(&format!("rollback to {first}")));
    assert_eq!(s.run(&["history", "--json"]).json()["applies"].as_array().unwrap().len(), 4);
    let shown = s.run(&["show", apply["id"].as_str().unwrap()]).code(0).out;
    assert!(shown.contains("a rollback") && shown.contains("third") && shown.contains("first"), "{shown}");
    assert!(s.run(&["rollback", &first, "--yes"]).code(0).out.contains("Nothing to do"));
}

#[test]
fn what_was_undone_is_refused_until_its_own_source_changes() {
    let s = versioned();
    let first = generation(&s, "first");
    let second = generation(&s, "second");
    s.run(&["rollback", &first, "--yes"]).code(0);
    let refused = |s: &Sandbox| {
        let plan = s.run(&["apply", "--yes"]).code(4);
        for address in ALL {
            assert!(plan.out.contains(address), "{address}: {}", plan.out);
        }
        assert!(plan.out.contains("plan.rolled_back") && plan.out.contains("before a rollback"), "{}", plan.out);
        assert!(!resource(s, "Agent/billing")["spec"].to_string().contains("second"));
    };
    refused(&s);
    // An unrelated merge is applied, and is none against the rollback.
    s.write("agents/faq.md", &crate::sandbox::agent("", "You answer other questions.\n"));
    refused(&s);
    assert!(resource(&s, "Agent/faq").to_string().contains("other questions"));
    refused(&s);
    // Reverted in the files: nothing is left to do but to forget it; then another text is like any other.
    for file in ["docs/a.md", "memory/a.md"] {
        s.write(file, "first\n");
    }
    s.write("skills/triage/SKILL.md", &crate::sandbox::skill("triage", "first"));
    s.write("agents/billing.md", &crate::sandbox::agent("skills: [triage]\n", "You answer first.\n"));
    let plan = s.run(&["plan", "--json"]).code(0).json();
    let ids: Vec<&str> = plan["actions"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["owner#policy"]);
    s.run(&["apply", "--yes"]).code(0);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
    generation(&s, "fourth");
    // What was undone comes back by another rollback, if it was right after all.
    s.run(&["rollback", &second, "--yes"]).code(0);
    assert!(resource(&s, "Agent/billing")["spec"].to_string().contains("second"));
}

#[test]
fn after_a_rollback_only_the_pin_stays_and_the_agent_goes_on() {
    let s = versioned();
    let first = generation(&s, "first");
    let second = generation(&s, "second");
    s.run(&["rollback", &first, "--yes"]).code(0);
    let pins = || resource(&s, "Agent/billing")["spec"]["skills"].clone();
    let before = pins();
    // Its own change is applied; of the skill that it uses it keeps the version that it has, with the reason.
    s.write("agents/billing.md", &crate::sandbox::agent("skills: [triage]\n", "You answer third.\n"));
    let plan = s.run(&["plan"]).out;
    assert!(plan.contains("rolled-back") && plan.contains("rollback APPLY Skill/triage"), "{plan}");
    assert!(s.run(&["plan", "--markdown"]).out.contains("rolled-back"));
    s.run(&["apply", "--yes"]).code(4);
    assert!(resource(&s, "Agent/billing")["spec"].to_string().contains("third"));
    assert_eq!(pins(), before);
    // What moved live of it is put back.
    edit_live(&s, "Agent/billing", QUICK);
    s.run(&["revert", "Agent/billing", "--yes"]);
    assert!(resource(&s, "Agent/billing")["spec"].to_string().contains("third"));
    // A new one that needs that version is refused, until the way that is printed was gone.
    s.write("agents/new.md", &crate::sandbox::agent("skills: [triage]\n", "You are new.\n"));
    let plan = s.run(&["plan"]).out;
    assert!(plan.contains("Agent/new needs Skill/triage"), "{plan}");
    s.run(&["rollback", &second, "Skill/triage", "--yes"]).code(0);
    s.run(&["apply", "--yes"]);
    assert_eq!(resource(&s, "Agent/new")["spec"]["skills"], pins());
    assert!(pins() != before);
}

#[test]
fn what_comes_back_with_another_change_is_named() {
    let s = versioned();
    let many = |text: &str| s.write("docs/b.md", text);
    many("first");
    let first = generation(&s, "first");
    many("second");
    generation(&s, "second");
    s.run(&["rollback", &first, "--yes"]).code(0);
    let rollback = newest(&s)["id"].as_str().unwrap().to_owned();
    s.write("docs/a.md", "third\n");
    for args in [&["plan"][..], &["plan", "--markdown"], &["plan", "--json"]] {
        // Markdown escapes what would be a mark.
        let plan = s.run(args).out.replace('\\', "");
        for wanted in ["plan.undone_returns", "b.md", &rollback] {
            assert!(plan.contains(wanted), "{wanted}\n{plan}");
        }
    }
}

#[test]
fn a_memory_that_was_redacted_is_said_before_a_rollback() {
    let s = versioned();
    // Bytes that nothing else has: those go with the version.
    s.write("memory/b.md", "only here\n");
    let first = generation(&s, "first");
    s.write("memory/b.md", "another\n");
    generation(&s, "second");
    let control = Embedded::open(&s.path(".checkfu/workspace.db"), EmbeddedOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = id(&s, "MemoryStore/notes");
    let admin = jane();
    let of = MemoryVersions { id: store.clone(), limit: Some(100), ..MemoryVersions::default() };
    let Response::Bodies(page) = runtime.block_on(control.call(&admin, Request::MemoryVersions(of))).unwrap() else {
        panic!()
    };
    let made = page.data.iter().find(|v| v["operation"] == "created" && v["path"] == "/n/b.md").unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let redact = Request::MemoryVersionRedact(MemoryVersionOf { id: store, version: made });
    runtime.block_on(control.call(&admin, redact)).unwrap();
    drop(control);
    let asked = s.run(&["rollback", &first]).code(1);
    assert!(asked.out.contains("plan.memory_lost") && asked.out.contains("/n/b.md cannot come back"), "{asked:?}");
    // The rest goes back.
    s.run(&["rollback", &first, "--yes"]).code(0);
    assert!(resource(&s, "Agent/billing")["spec"].to_string().contains("first"));
    assert!(s.run(&["rollback", &first, "--yes"]).code(0).out.contains("Nothing to do"));
}

#[test]
fn a_rollback_is_held_against_the_same_rules() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let first = newest(&s)["id"].as_str().unwrap().to_owned();
    s.write("agents/new.md", &crate::sandbox::agent("", "You are new.\n"));
    s.run(&["apply", "--yes"]).code(0);
    // What would be gone for good is said, and goes with a line alone.
    let plan = s.run(&["rollback", &first, "--yes"]).code(5);
    assert!(plan.out.contains("plan.irreversible") && plan.out.contains("Agent/new"), "{}", plan.out);
    s.write("checkfu.yaml", &format!("{}removed:\n  - {{address: Agent/new}}\n", config("acme/support")));
    s.run(&["rollback", &first, "--yes"]).code(0);
    s.run(&["get", "Agent/new"]).code(1);
    // To go forward again it is made anew, under another id, which is said before.
    s.write("checkfu.yaml", &config("acme/support"));
    let second = s.run(&["history", "--json"]).json()["applies"][1]["id"].as_str().unwrap().to_owned();
    let plan = s.run(&["rollback", &second]).code(1).out;
    assert!(plan.contains("plan.new_id"), "{plan}");
    // An apply of nobody, of another owner, and what is no apply.
    for id in ["apply_none", "Agent/new"] {
        assert!(s.run(&["rollback", id]).code(1).err.contains("cli.not_found"));
    }
    s.write("checkfu.yaml", &config("acme/other"));
    assert!(s.run(&["rollback", &first]).code(1).err.contains("an apply of acme/support"));
}

#[test]
fn a_rollback_gives_back_an_address_and_keeps_the_resource() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let first = newest(&s)["id"].as_str().unwrap().to_owned();
    let id = resource(&s, "Agent/faq")["id"].clone();
    std::fs::rename(s.path("agents/faq.md"), s.path("agents/answers.md")).unwrap();
    let moved = "moved:\n  - {from: Agent/faq, to: Agent/answers}\n";
    s.write("checkfu.yaml", &format!("{}{moved}", config("acme/support")));
    s.run(&["apply", "--yes"]).code(0);
    assert_eq!(resource(&s, "Agent/answers")["id"], id);
    s.run(&["rollback", &first, "--yes"]).code(0);
    assert_eq!(resource(&s, "Agent/faq")["id"], id, "an agent does not come back once it was retired");
    assert!(s.run(&["plan"]).code(4).out.contains("plan.rolled_back"));
}

#[test]
fn an_apply_is_shown_with_what_it_changed() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    s.run(&["apply", "--yes"]).code(0);
    let id = newest(&s)["id"].as_str().unwrap().to_owned();
    let human = s.run(&["show", &id]).code(0).out;
    assert!(human.contains("Agent/support#update") && human.contains("[-kind-]{+friendly+}"), "{human}");
    let markdown = s.run(&["show", &id, "--markdown"]).code(0).out;
    assert!(markdown.contains("! kind → friendly") && markdown.contains("@@ instructions, "), "{markdown}");
    let json = s.run(&["show", &id, "--json"]).code(0).json();
    let change = &json["changes"]["Agent/support#update"][0];
    assert_eq!(change["path"], "instructions");
    assert!(change["before"].as_str().unwrap().contains("Rule 20: be kind"), "{change}");
}
