//! The plan file: round trip, and each way in which one is refused.

use serde_json::{Value, json};

use super::world::*;
use crate::model::Digest;
use crate::plan::{self, Action, Plan, PlanFileError, read, write};

fn text() -> String {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "Be kind.", &[("s", Some(content))]);
    write(&World::new().plan(&desired))
}

fn refused(change: impl Fn(&mut Value)) -> PlanFileError {
    let mut value: Value = serde_json::from_str(&text()).unwrap();
    change(&mut value);
    read(value.to_string().as_bytes()).unwrap_err()
}

#[test]
fn what_is_written_is_read() {
    let text = text();
    let plan = read(text.as_bytes()).unwrap();
    assert_eq!(write(&plan), text);
    assert_eq!(plan.digest, plan::digest(&plan));
    assert!(plan.actions.iter().all(|a| a.digest == plan::action_digest(a)));
}

#[test]
fn what_people_read_is_not_in_the_digest() {
    let mut plan = read(text().as_bytes()).unwrap();
    plan.actions[0].about.reason = "because".into();
    plan.tool_version = "9".into();
    plan.source.commit = Some("abc".into());
    assert_eq!(plan.digest, plan::digest(&plan));
    plan.actions[0].depends_on.push("x".into());
    assert_ne!(plan.digest, plan::digest(&plan));
}

#[test]
fn other_formats_are_refused() {
    let e = refused(|v| v["format"] = json!("checkfu.plan/v2"));
    assert_eq!(
        (e.code().code, e.to_string()),
        (
            "plan.file_format",
            "the plan file has the format `checkfu.plan/v2`; this version reads `checkfu.plan/v1`".into()
        )
    );
}

#[test]
fn unknown_fields_and_broken_json_are_refused() {
    assert_eq!(refused(|v| v["more"] = json!(1)).code().code, "plan.file_syntax");
    assert_eq!(refused(|v| v["actions"][0]["step"]["more"] = json!(1)).code().code, "plan.file_syntax");
    for bad in [&b"{"[..], b"", b"\xff\xfe", b"[]", b"null"] {
        assert_eq!(read(bad).unwrap_err().code().code, "plan.file_syntax");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(read(deep.as_bytes()).unwrap_err().code().code, "plan.file_syntax");
}

#[test]
fn a_changed_plan_is_refused() {
    let instructions = |v: &mut Value| v["actions"][1]["step"]["spec"]["instructions"] = json!("Be rude.");
    let e = refused(instructions);
    assert_eq!((e.code().code, e.to_string().contains("Agent/a#create")), ("plan.file_digest", true));
    for change in [
        (|v: &mut Value| v["owner"] = json!("acme/other")) as fn(&mut Value),
        |v| v["origin"]["workspace"] = json!("ws_2"),
        |v| v["allowances"] = json!([{"rule": "retire"}]),
        |v| v["actions"].as_array_mut().unwrap().truncate(1),
        |v| v["actions"][0]["operation"] = json!("skills.delete"),
    ] {
        assert_eq!(refused(change).code().code, "plan.file_digest");
    }
}

#[test]
fn a_file_is_refused_whatever_was_changed_in_it() {
    for change in [
        (|v: &mut Value| v["ids"]["Skill/s"] = json!("skill_9")) as fn(&mut Value),
        |v| v["findings"] = json!([{"code": "plan.retire", "effect": "note", "message": "m"}]),
        |v| v["actions"][0]["about"]["reason"] = json!("nothing"),
        |v| v["policy"]["max_retire"] = json!(9),
        |v| drop(v.as_object_mut().unwrap().remove("seal")),
    ] {
        assert_eq!(
            refused(change).to_string(),
            "the plan file was changed since it was made: the digest of the file does not fit"
        );
    }
}

#[test]
fn a_plan_that_breaks_the_rules_is_refused_though_its_digests_fit() {
    let mut plan = read(text().as_bytes()).unwrap();
    plan.applyable = false;
    assert_eq!(read(write(&plan).as_bytes()).unwrap_err().code().code, "plan.file_unsound");
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    assert_eq!(PlanFileError::TooLarge.code().code, "plan.file_too_large");
}

#[test]
fn the_digest_of_a_plan_is_over_the_canonical_text_of_its_parts() {
    let mut desired = project();
    let world = World::of(&desired);
    assert_digest(&world.plan(&desired));
    for name in ["b", "a"] {
        desired.put_agent(name, "i", &[]);
    }
    assert_digest(&world.plan(&desired));
}

fn assert_digest(plan: &Plan) {
    let row = |a: &Action| {
        json!({
            "address": a.address, "operation": a.operation, "precondition": a.precondition,
            "payload": Digest::of_json(&a.step), "depends_on": a.depends_on,
        })
    };
    let mut actions: Vec<&Action> = plan.actions.iter().collect();
    actions.sort_by_key(|a| (a.address.clone(), a.operation.clone()));
    let rows: Vec<_> = actions.into_iter().map(row).collect();
    let whole = json!({
        "format": plan.format, "owner": plan.owner, "workspace": plan.origin.workspace,
        "allowances": plan.allowances, "actions": rows,
    });
    assert_eq!(plan.digest, Digest::of_json(&whole));
}
