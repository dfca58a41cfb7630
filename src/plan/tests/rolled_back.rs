//! What a rollback undid, until its source changes; and what a rollback notes.

use serde_json::json;

use super::world::*;
use crate::desired::Desired;
use crate::model::config::Moved;
use crate::model::op::ActorKind::Api;
use crate::plan::{Effect, Options, Plan, Step, exit_code};

fn rollback() -> Options {
    Options { rollback: true, allowances: vec!["empty".parse().unwrap()], ..options() }
}

/// Two agents that use a skill, each of some text.
fn texts(a: &str, b: &str, skill: &str) -> Desired {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", skill)]));
    desired.put_agent("a", a, &[("s", Some(content))]);
    desired.put_agent("b", b, &[]);
    desired
}

/// A workspace in which `first` and then `second` were applied, and that was rolled back to `first`.
fn rolled_back(first: &Desired, second: &Desired) -> (World, Plan) {
    let mut world = World::of(first);
    world.apply(&world.clone().plan(second));
    let plan = world.plan_with(first, &rollback());
    world.apply(&plan);
    (world, plan)
}

fn told(plan: &Plan, code: &str) -> Vec<String> {
    plan.findings.iter().filter(|f| f.code == code).map(|f| f.address.as_ref().unwrap().to_string()).collect()
}

#[test]
fn what_was_undone_is_noted_and_does_not_come_back_by_itself() {
    let (first, second) = (texts("a", "b", "1"), texts("a2", "b", "2"));
    let (mut world, plan) = rolled_back(&first, &second);
    let Step::Policy { undone: Some(undone), .. } = &plan.actions[0].step else { panic!("{plan:?}") };
    let noted: Vec<String> = undone.keys().map(ToString::to_string).collect();
    assert_eq!(noted, ["Agent/a", "Skill/s"]);
    assert_eq!(undone[&address("Skill/s")], Some(second.resources[&address("Skill/s")].digest()));
    assert_eq!(ids(&plan), ["owner#policy", "Skill/s#publish", "Agent/a#update"]);
    // It points to no file, and is done once it is done.
    assert!(plan.actions.iter().all(|a| a.about.at.is_none()), "{plan:?}");
    assert!(ids(&world.plan_with(&first, &rollback())).is_empty());
    // The undone text: refused with the reason; after an unrelated merge too, which is applied.
    let plan = world.plan(&second);
    assert_eq!((told(&plan, "plan.rolled_back"), exit_code(&plan)), (vec!["Agent/a".into(), "Skill/s".into()], 4));
    assert!(ids(&plan).is_empty() && plan.applyable && !plan.complete);
    let merged = texts("a2", "b2", "2");
    let plan = world.plan(&merged);
    assert_eq!((ids(&plan), told(&plan, "plan.rolled_back").len()), (vec!["Agent/b#update"], 2));
    world.apply(&plan);
    assert_eq!(exit_code(&world.plan(&merged)), 4);
    // Another text of the skill that it is pinned to is not its own source.
    let plan = world.plan(&texts("a2", "b2", "3"));
    assert_eq!(
        (ids(&plan), told(&plan, "plan.rolled_back")),
        (vec!["owner#policy", "Skill/s#publish"], vec!["Agent/a".into()])
    );
    // What uses it waits for it, though its own text changed.
    let plan = world.plan(&texts("a3", "b2", "2"));
    assert_eq!(
        (told(&plan, "plan.rolled_back"), told(&plan, "plan.blocked")),
        (vec!["Skill/s".into()], vec!["Agent/a".into()])
    );
    // Another text of the skill lets all of it go on, and nothing is left of the note.
    let third = texts("a3", "b2", "3");
    let plan = world.plan(&third);
    assert_eq!(ids(&plan), ["owner#policy", "Skill/s#publish", "Agent/a#update"]);
    world.apply(&plan);
    assert!(ids(&world.plan(&third)).is_empty() && world.live.record.as_ref().unwrap().undone.is_empty());
}

#[test]
fn reverting_in_the_files_clears_it() {
    let (first, second) = (texts("a", "b", "1"), texts("a2", "b", "1"));
    let (mut world, _) = rolled_back(&first, &second);
    let plan = crate::plan::nothing(&first, &world.live, &options());
    assert_eq!(plan.digest, world.plan(&first).digest, "one comparison of digests tells it too");
    assert_eq!(ids(&plan), ["owner#policy"]);
    world.apply(&plan);
    let plan = world.plan(&second);
    assert_eq!(ids(&plan), ["Agent/a#update"]);
    // A plan of a part, and a destroy, say nothing of it.
    let (world, _) = rolled_back(&first, &second);
    let part = |only: &str| Options {
        scope: crate::plan::Scope { only: vec![only.into()], ..Default::default() },
        ..options()
    };
    assert!(ids(&world.plan_with(&first, &part("Agent/b"))).is_empty());
    assert_eq!(told(&world.plan_with(&second, &part("Agent/a")), "plan.rolled_back"), ["Agent/a"]);
    assert!(told(&world.plan_with(&second, &part("Agent/b")), "plan.rolled_back").is_empty());
    let destroy = Options { destroy: true, ..options() };
    assert!(told(&world.plan_with(&second, &destroy), "plan.rolled_back").is_empty());
}

#[test]
fn what_was_made_goes_and_what_went_comes_back_as_another() {
    let (mut first, mut second) = (project(), project());
    first.put_files("Skill/old", files(&[("SKILL.md", "1")]));
    second.put_files("Skill/new", files(&[("SKILL.md", "2")]));
    let mut world = World::of(&first);
    let allowed = Options { allowances: vec!["retire".parse().unwrap()], ..options() };
    let plan = world.plan_with(&second, &allowed);
    world.apply(&plan);
    let plan = world.plan_with(&first, &rollback());
    assert_eq!(ids(&plan), ["owner#policy", "Skill/old#create", "Skill/new#retire"]);
    let told_new = plan.findings.iter().find(|f| f.code == "plan.new_id").unwrap();
    assert_eq!((told_new.effect, told_new.address.clone()), (Effect::Note, Some(address("Skill/old"))));
    world.apply(&plan);
    // Neither the one is made, nor the other retired.
    let plan = world.plan(&second);
    assert_eq!((ids(&plan), told(&plan, "plan.rolled_back")), (vec![], vec!["Skill/new".into(), "Skill/old".into()]));
    let mut both = second.clone();
    both.put_files("Skill/new", files(&[("SKILL.md", "3")]));
    both.put_files("Skill/old", files(&[("SKILL.md", "1")]));
    let plan = world.plan(&both);
    assert_eq!(ids(&plan), ["owner#policy", "Skill/new#create"]);
    world.apply(&plan);
    assert!(world.live.record.as_ref().unwrap().undone.is_empty());
}

#[test]
fn a_rollback_of_a_rollback_brings_it_back() {
    let (first, second) = (texts("a", "b", "1"), texts("a2", "b", "2"));
    let (mut world, _) = rolled_back(&first, &second);
    let plan = world.plan_with(&second, &rollback());
    assert_eq!(ids(&plan), ["owner#policy", "Skill/s#publish", "Agent/a#update"]);
    world.apply(&plan);
    assert_eq!(told(&world.plan(&first), "plan.rolled_back"), ["Agent/a", "Skill/s"]);
    // Whoever kept the files as they were decides for them by that.
    let plan = world.plan(&second);
    assert_eq!(ids(&plan), ["owner#policy"]);
    world.apply(&plan);
    assert_eq!(ids(&world.plan(&first)), ["Skill/s#publish", "Agent/a#update"]);
    // One that goes further back keeps what an earlier one noted.
    let (mut world, _) = rolled_back(&first, &second);
    world.apply(&world.clone().plan_with(&texts("a", "b0", "1"), &rollback()));
    assert_eq!(told(&world.plan(&second), "plan.rolled_back"), ["Agent/a", "Agent/b", "Skill/s"]);
}

#[test]
fn memories_that_others_wrote_do_not_hide_what_was_undone() {
    let store = |text: &str, memory: &str| {
        let mut desired = project();
        desired.put_store("s", &[("/p", "upkeep")], &[("/p/a", memory)]);
        let spec = std::sync::Arc::make_mut(&mut desired.resources.get_mut(&address("MemoryStore/s")).unwrap().spec);
        spec["description"] = json!(text);
        desired
    };
    let mut world = World::of(&store("one", "1"));
    world.remember("MemoryStore/s", "/p/a", Some("9"), Api);
    let second = store("two", "2");
    world.apply(&world.clone().plan(&second));
    world.apply(&world.clone().plan_with(&store("one", "1"), &rollback()));
    assert_eq!(told(&world.plan(&second), "plan.rolled_back"), ["MemoryStore/s"]);
    assert_eq!(ids(&world.plan(&store("three", "2"))), ["owner#policy", "MemoryStore/s#update"]);
}

#[test]
fn what_moved_live_stands_against_a_rollback_too() {
    let (first, second) = (texts("a", "b", "1"), texts("a2", "b2", "1"));
    let mut world = World::of(&first);
    world.apply(&world.clone().plan(&second));
    world.outside("Agent/a", "instructions", json!("theirs"));
    let plan = world.plan_with(&first, &rollback());
    assert_eq!(ids(&plan), ["owner#policy", "Agent/b#update"]);
    let conflict = plan.findings.iter().find(|f| f.code == "plan.conflict").unwrap();
    assert!(conflict.message.contains("by the rollback"), "{conflict:?}");
    assert!(conflict.fix.as_ref().unwrap().contains("--revert Agent/a"), "{conflict:?}");
    // What it did not undo is not noted.
    world.apply(&plan);
    assert_eq!(told(&world.plan(&second), "plan.rolled_back"), ["Agent/b"]);
}

#[test]
fn an_address_that_was_given_back_is_not_left_again() {
    let (mut first, mut second) = (project(), project());
    let spec = |text: &str| json!({"model": "m", "name": "A", "instructions": text});
    first.put("Agent/old", &spec("i"));
    second.put("Agent/new", &spec("i"));
    second.moved = vec![Moved { from: address("Agent/old"), to: address("Agent/new") }];
    let mut world = World::of(&first);
    world.apply(&world.clone().plan(&second));
    first.moved = vec![Moved { from: address("Agent/new"), to: address("Agent/old") }];
    let plan = world.plan_with(&first, &rollback());
    assert_eq!(ids(&plan), ["owner#policy", "Agent/old#rename"]);
    world.apply(&plan);
    let plan = world.plan(&second);
    assert_eq!((ids(&plan), told(&plan, "plan.rolled_back")), (vec![], vec!["Agent/new".into()]));
    second.put("Agent/new", &spec("j"));
    assert_eq!(ids(&world.plan(&second)), ["owner#policy", "Agent/new#rename", "Agent/new#update"]);
}
