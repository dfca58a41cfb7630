//! `accept:` lines: what they decide, when they are void, and that the conflict prints the one to write.

use serde_json::{Value, json};

use super::world::*;
use crate::desired::Desired;
use crate::model::config::{Accept, Take};
use crate::plan::{Effect, Plan, Step, Verb, check, exit_code};

/// An agent of which two fields were changed in the file and live, and one in the file alone.
fn conflict() -> (Desired, World) {
    let spec = |text: &str, description: &str, team: &str| json!({"model": "m", "instructions": text, "description": description, "labels": {"team": team}});
    let mut desired = project();
    desired.put("Agent/a", &spec("i", "d", "1"));
    desired.put_agent("b", "i", &[]);
    let mut world = World::of(&desired);
    world.outside("Agent/a", "instructions", json!("theirs"));
    world.outside("Agent/a", "labels.team", json!("theirs"));
    desired.put("Agent/a", &spec("ours", "new", "ours"));
    desired.put_agent("b", "j", &[]);
    (desired, world)
}

fn decide(desired: &mut Desired, world: &mut World, take: Take) {
    let live = world.moved_live("Agent/a");
    desired.accept = vec![Accept { address: address("Agent/a"), live, take, reason: "as agreed".into() }];
}

fn fixes<'p>(plan: &'p Plan, code: &str) -> Vec<&'p str> {
    plan.findings.iter().filter(|f| f.code == code).map(|f| f.fix.as_deref().unwrap_or_default()).collect()
}

#[test]
fn a_conflict_prints_the_line_that_decides_it() {
    let (desired, mut world) = conflict();
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/b#update"], 4));
    let fixes = fixes(&plan, "plan.conflict");
    let live = world.moved_live("Agent/a");
    let line = format!("accept:\n  - {{address: Agent/a, live: \"{live}\", take: file, reason: …}}");
    assert!(fixes[0].ends_with(&line), "{fixes:?}");
    assert_eq!(fixes[1..], ["it is decided together with `instructions`"]);
    // Both are shown.
    let held = &plan.held[0];
    let values = [&held.applied, &held.live, &held.wanted].map(|v| v.clone().unwrap());
    assert_eq!(values, [json!("i"), json!("theirs"), json!("ours")]);
}

#[test]
fn the_file_is_taken() {
    let (mut desired, mut world) = conflict();
    decide(&mut desired, &mut world, Take::File);
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/a#update", "Agent/b#update"], 2));
    let Step::Update { fields, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(fields, &["description", "instructions", "labels.team"]);
    let change = plan.actions[0].about.changes.iter().find(|c| c.path == "instructions").unwrap();
    assert_eq!((change.before.clone(), change.after.clone()), (Some(json!("theirs")), Some(json!("ours"))));
    assert!(plan.actions[0].about.reason.contains("`accept:`") && fixes(&plan, "plan.nothing_left").is_empty());
    world.apply(&plan);
    let plan = world.plan(&desired);
    assert_eq!((exit_code(&plan), plan.held.len()), (0, 0));
    assert_eq!(fixes(&plan, "plan.nothing_left").len(), 1, "the line may go");
}

#[test]
fn live_is_taken_and_stays_though_the_rest_is_applied() {
    let (mut desired, mut world) = conflict();
    decide(&mut desired, &mut world, Take::Live);
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/a#update", "Agent/b#update"], 2));
    let Step::Update { fields, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(fields, &["description"]);
    assert!(plan.held.iter().all(|h| h.accepted.as_deref() == Some("as agreed") && !h.conflict), "{:?}", plan.held);
    world.apply(&plan);
    assert_eq!(world.body("Agent/a").live["instructions"], "theirs");
    // The line is the decision: nothing is recorded of it, and the rest of the resource was applied beside it.
    assert_eq!(world.body("Agent/a").applied.spec["instructions"], "i");
    let plan = world.plan(&desired);
    assert_eq!((exit_code(&plan), plan.held.len(), ids(&plan)), (3, 2, vec![]));
    assert_eq!(
        (&plan.held[0].accepted, &plan.held[0].applied),
        (&Some("as agreed".to_owned()), &Some(json!("i"))),
        "{:?}",
        plan.held
    );
    assert!(plan.findings.is_empty(), "{:?}", plan.findings);
    let back = crate::plan::Options { revert_all: true, ..options() };
    assert_eq!(world.plan_with(&desired, &back).actions[0].verb, Verb::Update);
    // When live moves again, nobody has decided about that.
    world.outside("Agent/a", "instructions", json!("theirs again"));
    let plan = world.plan(&desired);
    assert_eq!((exit_code(&plan), fixes(&plan, "plan.accept_void").len()), (4, 1));
    let values = [&plan.held[0].applied, &plan.held[0].live, &plan.held[0].wanted].map(|v| v.clone().unwrap());
    assert_eq!(values, [json!("i"), json!("theirs again"), json!("ours")]);
    // Without the line nothing is decided either.
    desired.accept.clear();
    assert_eq!(exit_code(&world.plan(&desired)), 4);
}

#[test]
fn a_line_is_void_when_live_moves_again() {
    for take in [Take::File, Take::Live] {
        let (mut desired, mut world) = conflict();
        decide(&mut desired, &mut world, take);
        world.outside("Agent/a", "description", Value::Null);
        let plan = world.plan(&desired);
        assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/b#update"], 4));
        let void = plan.findings.iter().find(|f| f.code == "plan.accept_void").unwrap();
        let now = world.moved_live("Agent/a").to_string();
        assert!(void.effect == Effect::Note && void.message.contains(&now), "{void:?}");
        assert!(fixes(&plan, "plan.conflict")[0].contains(&now));
        // It says nothing where it is out of scope.
        let scope = crate::plan::Scope { only: vec!["Agent/b".into()], ..Default::default() };
        let part = world.plan_with(&desired, &crate::plan::Options { scope, ..options() });
        assert_eq!((part.findings.len(), ids(&part)), (0, vec!["Agent/b#update"]));
    }
}

#[test]
fn what_was_retired_live_and_changed_in_the_file_is_to_be_decided() {
    let mut desired = project();
    desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    let mut world = World::of(&desired);
    world.archive("Skill/s");
    desired.put_files("Skill/s", files(&[("SKILL.md", "2")]));
    let plan = world.plan(&desired);
    assert_eq!((exit_code(&plan), fixes(&plan, "plan.conflict").len(), plan.held[0].conflict), (4, 1, true));
    assert!(plan.findings[0].message.contains("retired live by kim"), "{:?}", plan.findings);
}

#[test]
fn a_pin_on_a_skill_of_which_live_was_taken_stays_and_the_rest_goes_on() {
    let mut desired = project();
    let set = |text: &str| files(&[("SKILL.md", text)]);
    let first = desired.put_files("Skill/s", set("1"));
    desired.put_agent("a", "i", &[("s", Some(first))]);
    let mut world = World::of(&desired);
    let theirs = set("live");
    world.outside("Skill/s", "content", json!(theirs.digest));
    world.get("Skill/s").summary.content = Some(theirs.digest);
    world.body("Skill/s").entries = theirs.entries;
    let second = desired.put_files("Skill/s", set("2"));
    desired.put_agent("a", "j", &[("s", Some(second))]);
    desired.put_agent("new", "n", &[("s", Some(second))]);
    let live = world.moved_live("Skill/s");
    desired.accept = vec![Accept { address: address("Skill/s"), live, take: Take::Live, reason: "as agreed".into() }];
    let plan = world.plan(&desired);
    // What is new cannot be made without the version of the files.
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/a#update"], 4));
    assert_eq!(codes(&plan), ["plan.pin_stays", "plan.pin_stays"]);
    let Step::Update { fields, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(fields, &["instructions"]);
    assert!(check(&plan).is_empty(), "{:?}", check(&plan));
    world.apply(&plan);
    assert_eq!(ids(&world.plan(&desired)), Vec::<&str>::new());
}
