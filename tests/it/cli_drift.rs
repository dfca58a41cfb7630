//! What moved live: held with who and when, put back when asked, a conflict when the file moved too.

use checkfu::cli::schemas;
use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::Kind;
use checkfu::model::op::{ActorKind, Context, Create, Expect, MemoryCreate, Request, RetireOf, Update};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, config, prompt, team};

/// The live id at an address.
pub(crate) fn id(s: &Sandbox, address: &str) -> String {
    s.run(&["get", address, "--json"]).json()["resources"][0]["id"].as_str().unwrap().to_owned()
}

/// Somebody else acts on the workspace.
pub(crate) fn call(s: &Sandbox, context: &Context, request: Request) {
    let control = Embedded::open(&s.path(".checkfu/workspace.db"), EmbeddedOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(control.call(context, request)).unwrap();
}

/// With a reason, and the right to.
pub(crate) fn jane() -> Context {
    Context { actor: "jane".into(), admin: true, break_glass: Some("incident 12".into()), ..Context::default() }
}

/// Somebody else changes an agent's prompt.
pub(crate) fn edit_live(s: &Sandbox, address: &str, system: &str) {
    let body = json!({ "system": system }).as_object().unwrap().clone();
    let at = Expect { id: id(s, address), version: None };
    call(s, &jane(), Request::Update(Update { kind: Kind::Agent, at, body, applied: None }));
}

/// The files of the workspace, but for the cache of file digests.
fn workspace(s: &Sandbox) -> Vec<(String, Vec<u8>)> {
    s.files().into_iter().filter(|(name, _)| name.starts_with(".checkfu/workspace")).collect()
}

/// Looks for drift; nothing is written.
fn drift(s: &Sandbox, args: &[&str]) -> Ran {
    let before = workspace(s);
    let ran = s.run(&[&["drift"], args].concat());
    assert!(workspace(s) == before, "drift writes nothing");
    ran
}

/// The document, which is as its schema says.
fn report(s: &Sandbox, args: &[&str], code: i32) -> Value {
    let document = drift(s, &[&["--json"], args].concat()).code(code).json();
    let schema = schemas::find("drift").unwrap().json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{document:#}");
    document
}

#[test]
fn drift_names_field_values_actor_and_time_and_an_unrelated_merge_leaves_it() {
    let s = team();
    assert!(drift(&s, &[]).code(0).out.contains("there is no workspace yet"));
    assert!(!s.path(".checkfu/workspace.db").exists());
    s.run(&["apply", "--yes"]).code(0);
    assert!(drift(&s, &[]).code(0).out.contains("nothing moved live, 4 as applied"));
    edit_live(&s, "Agent/billing", "You answer questions about bills quickly.");
    let seen = drift(&s, &[]).code(3);
    for wanted in [
        "Agent/billing",
        "break-glass  instructions by jane at 20",
        "incident 12",
        "about bills quickly.\"",
        "billing.md:6:1",
    ] {
        assert!(seen.out.contains(wanted), "{wanted}\n{}", seen.out);
    }
    assert!(seen.err.contains("checkfu revert Agent/billing"), "{}", seen.err);
    let document = report(&s, &[], 3);
    let d = &document["resources"][0]["differences"][0];
    assert_eq!(
        (&d["cause"], &d["field"], &d["actor"]),
        (&json!("break_glass"), &json!("instructions"), &json!("jane"))
    );
    assert_eq!((&d["applied"], &d["wanted"]), (&json!("You answer questions about bills."), &d["applied"]));
    assert_eq!(d["live"], "You answer questions about bills quickly.");
    let markdown = drift(&s, &["--markdown"]).code(3).out;
    assert!(markdown.starts_with("### checkfu: live moved\n") && markdown.contains("`incident 12`"), "{markdown}");
    // Only what is asked for.
    drift(&s, &["Agent/support"]).code(0);
    drift(&s, &["--exclude", "agents/billing.md"]).code(0);
    drift(&s, &["agents"]).code(3);
    assert!(drift(&s, &["Agent/biling"]).code(1).out.contains("did you mean `Agent/billing`?"));
    // Another change is merged.
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    let seen = drift(&s, &[]).code(2);
    assert!(
        seen.out.contains("Not applied yet:") && seen.out.contains("~ Agent/support  instructions"),
        "{}",
        seen.out
    );
    s.run(&["apply", "--yes"]).code(0);
    assert!(drift(&s, &[]).code(3).out.contains("about bills quickly.\""));
    // The same field, to something else, and to the same.
    s.edit("agents/billing.md", "about bills", "about refunds");
    let seen = drift(&s, &[]).code(4);
    assert!(seen.out.contains("conflict") && seen.out.contains("about refunds.\""), "{}", seen.out);
    s.edit("agents/billing.md", "about refunds", "about bills quickly");
    assert!(drift(&s, &[]).code(2).out.contains("the files say so too"));
    s.run(&["apply", "--yes"]).code(0);
    drift(&s, &[]).code(0);
    // A long text is never shown in full.
    let long = prompt().trim_end().replace("Rule 20: be kind", "Rule 20: be friendly");
    edit_live(&s, "Agent/support", &long.replace("Rule 30: be kind", "Rule 30: be mild"));
    let seen = drift(&s, &[]).code(3);
    assert!(seen.out.contains("Rule 30: be [-kind-]{+mild+}") && !seen.out.contains("Rule 28:"), "{}", seen.out);
}

#[test]
fn revert_puts_back_what_it_names_and_nothing_else() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    edit_live(&s, "Agent/billing", "You answer questions about bills quickly.\n");
    edit_live(&s, "Agent/faq", "You answer no questions.\n");
    assert!(s.run(&["revert", "Agent/billing"]).code(1).err.contains("cli.confirm"));
    let done = s.run(&["revert", "Agent/billing", "--yes"]).code(0);
    assert!(done.out.contains("bills[- quickly-]") && done.out.contains("is put back"), "{}", done.out);
    assert!(!s.run(&["get", "Agent/billing"]).out.contains("quickly"));
    assert_eq!(report(&s, &[], 3)["resources"].as_array().unwrap().len(), 1);
    assert!(s.run(&["revert", "Agent/nobody", "--yes"]).code(1).out.contains("names no resource"));
    // Archived by another: an agent does not come back, so it is made anew.
    let old = id(&s, "Agent/faq");
    let at = Expect { id: old.clone(), version: None };
    call(&s, &jane(), Request::Archive(RetireOf { kind: Kind::Agent, at, memory_version: None }));
    let seen = drift(&s, &[]).code(3);
    assert!(seen.out.contains("deleted outside by jane at 20"), "{}", seen.out);
    s.run(&["revert", "Agent/faq", "--yes"]).code(0);
    assert_ne!(id(&s, "Agent/faq"), old);
    drift(&s, &[]).code(0);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

#[test]
fn what_nobody_owns_is_counted_and_named() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let someone = Context { actor: "ann".into(), ..Context::default() };
    for i in 0..22 {
        let body = json!({ "name": format!("Made by hand {i:02}"), "model": "claude-sonnet-5" });
        let body = body.as_object().unwrap().clone();
        let create = Create { kind: Kind::Agent, body, content: None, claim: None, absent_since: None, replaces: None };
        call(&s, &someone, Request::Create(create));
    }
    let seen = drift(&s, &[]).code(0).out;
    assert!(seen.contains("Nobody owns: 22 resources") && seen.contains("… 2 resources more"), "{seen}");
    assert!(seen.contains("Made by hand 19  agent_") && !seen.contains("Made by hand 20"), "{seen}");
    assert!(drift(&s, &["--all"]).code(0).out.contains("Made by hand 21"));
    assert_eq!(report(&s, &["--all"], 0)["unmanaged"]["resources"].as_array().unwrap().len(), 22);
    assert!(report(&s, &["Agent/faq"], 0)["unmanaged"].is_null(), "only a part was asked for");
}

#[test]
fn what_agents_write_is_drift_where_it_is_not_theirs_to_write() {
    let store = |mode: &str| {
        let head = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: notes}\n";
        format!("{head}spec:\n  description: Notes.\n  contents:\n    - {{path: notes, at: /notes, mode: {mode}}}\n")
    };
    for (mode, code) in [("enforce", 3), ("upkeep", 0), ("seed", 0)] {
        let s = Sandbox::with(&[
            ("checkfu.yaml", &config("acme/notes")),
            ("memory/notes.yaml", &store(mode)),
            ("memory/notes/rules.md", "Be kind.\n"),
        ]);
        s.run(&["apply", "--yes"]).code(0);
        let session = Context { actor: "sesn_1".into(), actor_kind: ActorKind::Session, ..Context::default() };
        let id = id(&s, "MemoryStore/notes");
        let content = "It rained.\n".to_owned();
        call(
            &s,
            &session,
            Request::MemoryCreate(MemoryCreate { id, path: "/notes/day.md".into(), content, view: None }),
        );
        let seen = drift(&s, &[]).code(code).out;
        assert!(seen.contains("/notes/day.md") && seen.contains("by sesn_1 at 20"), "{mode}\n{seen}");
        assert_eq!(seen.contains("changed outside  contents./notes/day.md"), mode == "enforce", "{seen}");
        assert_eq!(seen.contains("(no drift)"), mode != "enforce", "{seen}");
        assert_eq!(seen.contains("It rained."), mode == "enforce", "{seen}");
    }
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
