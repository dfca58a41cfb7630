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
    // Of what uses it the pin stays, and its own text is applied.
    let own = texts("a3", "b2", "2");
    let plan = world.plan(&own);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["owner#policy", "Agent/a#update"], 4));
    let mut there = world.clone();
    there.apply(&plan);
    assert_eq!(there.body("Agent/a").live["instructions"], "a3");
    assert_eq!(ids(&there.plan(&own)), Vec::<&str>::new());
    // Another text of the skill lets all of it go on, and nothing is left of the note.
    let third = texts("a3", "b2", "3");
    let plan = world.plan(&third);
    assert_eq!(ids(&plan), ["owner#policy", "Skill/s#publish", "Agent/a#update"]);
    world.apply(&plan);
    assert!(ids(&world.plan(&third)).is_empty() && world.live.record.as_ref().unwrap().undone.is_empty());
}

#[test]
fn only_the_pin_on_what_was_undone_stays_and_it_says_why() {
    let (first, second) = (texts("a", "b", "1"), texts("a", "b", "2"));
    let (mut world, _) = rolled_back(&first, &second);
    let content = files(&[("SKILL.md", "1")]).digest;
    // The pin alone: nothing to do, and it is held with the reason and the way out.
    let plan = world.plan(&second);
    assert_eq!((ids(&plan), plan.notes.blocked.clone()), (vec![], vec![address("Skill/s")]));
    let held = &plan.held[0];
    assert_eq!(
        (held.address.to_string(), held.field.as_deref(), held.rolled_back),
        ("Agent/a".into(), Some("skills"), true)
    );
    assert_eq!(held.live.as_ref().unwrap()[0]["content"], json!(content));
    let note = plan.findings.iter().find(|f| f.code == "plan.rolled_back" && f.effect == Effect::Note).unwrap();
    assert!(note.message.contains("keeps what it has of Skill/s"), "{note:?}");
    assert!(note.fix.as_ref().unwrap().contains("rollback APPLY Skill/s"), "{note:?}");
    // Another skill beside it is the agent's own change; the pin stays in the same list.
    let mut more = texts("a", "b", "2");
    let two = files(&[("SKILL.md", "2")]).digest;
    let other = more.put_files("Skill/t", files(&[("SKILL.md", "t")]));
    more.put_agent("a", "a", &[("s", Some(two)), ("t", Some(other))]);
    let plan = world.plan(&more);
    assert_eq!(ids(&plan), ["Skill/t#create", "Agent/a#update"]);
    let mut there = world.clone();
    there.apply(&plan);
    let skills = there.body("Agent/a").live["skills"].clone();
    let pin =
        |name: &str| skills.as_array().unwrap().iter().find(|s| s["skill"] == json!(name)).unwrap()["content"].clone();
    assert_eq!((pin("s"), pin("t")), (json!(content), json!(other)));
    // What moved live is put back all the same.
    world.outside("Agent/a", "instructions", json!("theirs"));
    let back = Options { revert: ["Agent/a"].into_iter().collect(), ..options() };
    let plan = world.plan_with(&second, &back);
    assert_eq!(ids(&plan), ["Agent/a#update"]);
    world.apply(&plan);
    assert_eq!(world.body("Agent/a").live["instructions"], "a");
    // To leave the skill out of the plan is no way around it.
    let scope = crate::plan::Scope { exclude: vec!["Skill/s".into()], ..Default::default() };
    let plan = world.plan_with(&second, &Options { scope, ..options() });
    assert_eq!((ids(&plan), plan.held.len()), (vec![], 1));
}

#[test]
fn what_cannot_be_made_without_what_was_undone_is_refused_with_a_way_out() {
    let (first, second) = (texts("a", "b", "1"), texts("a", "b", "2"));
    let (world, _) = rolled_back(&first, &second);
    let mut with_new = texts("a", "b2", "2");
    with_new.put_agent("new", "n", &[("s", Some(files(&[("SKILL.md", "2")]).digest))]);
    let plan = world.plan(&with_new);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/b#update"], 4));
    let refused = plan.findings.iter().find(|f| f.address == Some(address("Agent/new"))).unwrap();
    assert_eq!((refused.code.as_str(), refused.effect), ("plan.rolled_back", Effect::Blocks));
    assert!(
        refused.message.contains("needs Skill/s") && refused.fix.as_ref().unwrap().contains("Skill/s"),
        "{refused:?}"
    );
    // An agent that is there and is to have it for the first time keeps its list, and gets its own text.
    let mut added = texts("a", "b2", "2");
    added.put_agent("b", "b2", &[("s", Some(files(&[("SKILL.md", "2")]).digest))]);
    let mut world = world;
    let plan = world.plan(&added);
    assert_eq!((ids(&plan), plan.held.len()), (vec!["Agent/b#update"], 2));
    world.apply(&plan);
    assert_eq!(world.body("Agent/b").live.get("skills"), None);
    // Each way out: another text, what was there before, and a rollback of the skill alone.
    let only =
        Options { scope: crate::plan::Scope { only: vec!["Skill/s".into()], ..Default::default() }, ..rollback() };
    let mut back = world.clone();
    back.apply(&back.clone().plan_with(&second, &only));
    for (mut world, skill) in [(world.clone(), "3"), (world, "1"), (back, "2")] {
        let mut desired = texts("a", "b2", skill);
        desired.put_agent("new", "n", &[("s", Some(files(&[("SKILL.md", skill)]).digest))]);
        let plan = world.plan(&desired);
        assert!(ids(&plan).contains(&"Agent/new#create") && exit_code(&plan) == 2, "{skill}: {:?}", plan.findings);
        world.apply(&plan);
        assert!(ids(&world.plan(&desired)).is_empty());
    }
}

#[test]
fn a_rollback_that_came_half_way_leaves_no_knot() {
    let (first, second) = (texts("a", "b", "1"), texts("a2", "b", "2"));
    let mut world = World::of(&first);
    world.apply(&world.clone().plan(&second));
    world.outside("Agent/a", "instructions", json!("theirs"));
    let plan = world.plan_with(&first, &rollback());
    assert_eq!(ids(&plan), ["owner#policy", "Skill/s#publish"]);
    world.apply(&plan);
    // The way that the conflict named: what was applied is put back, then the rollback does the rest.
    let back = Options { revert: ["Agent/a"].into_iter().collect(), ..options() };
    let plan = world.plan_with(&second, &back);
    assert_eq!(ids(&plan), ["Agent/a#update"]);
    world.apply(&plan);
    let plan = world.plan_with(&first, &rollback());
    assert!(ids(&plan).contains(&"Agent/a#update") && exit_code(&plan) == 2, "{:?}", plan.findings);
    world.apply(&plan);
    assert!(ids(&world.plan_with(&first, &rollback())).is_empty());
}

#[test]
fn what_comes_back_with_a_change_is_named() {
    let spec = |text: &str, description: &str| json!({"model": "m", "instructions": text, "description": description});
    let desired = |text: &str, description: &str, skill: &[(&str, &str)], memory: &[(&str, &str)]| {
        let mut desired = project();
        desired.put("Agent/a", &spec(text, description));
        desired.put_files("Skill/s", files(skill));
        desired.put_store("n", &[("/p", "enforce")], memory);
        desired
    };
    let first = desired("a", "d", &[("SKILL.md", "1"), ("x", "1")], &[("/p/a", "1"), ("/p/b", "1")]);
    let second = desired("a2", "d2", &[("SKILL.md", "2"), ("x", "2")], &[("/p/a", "2"), ("/p/b", "2")]);
    let (mut world, _) = rolled_back(&first, &second);
    for (address, wanted) in &second.resources {
        let applied = crate::model::kinds::Applied { spec: wanted.spec.clone(), unowned: vec![] };
        let entries = wanted.content.as_ref().map(|(set, _)| set.entries.clone()).unwrap_or_default();
        let rollback = "the rollback apply_3 (to apply_1)".to_owned();
        world.live.undid.insert(address.clone(), crate::live::Undid { rollback, applied, entries });
    }
    assert!(told(&world.plan(&second), "plan.undone_returns").is_empty(), "it does not come back");
    let third = desired("a2", "d3", &[("SKILL.md", "3"), ("x", "2")], &[("/p/a", "3"), ("/p/b", "2")]);
    let plan = world.plan(&third);
    let named: Vec<&str> =
        plan.findings.iter().filter(|f| f.code == "plan.undone_returns").map(|f| f.message.as_str()).collect();
    let want = |what: &str, path: &str| {
        format!("{what} changed, and with it comes back what the rollback apply_3 (to apply_1) undid: `{path}`")
    };
    assert_eq!(named, [want("Agent/a", "instructions"), want("MemoryStore/n", "/p/b"), want("Skill/s", "x")]);
    // Where all of it is another, nothing comes back.
    let other = desired("a3", "d3", &[("SKILL.md", "3"), ("x", "3")], &[("/p/a", "3"), ("/p/b", "3")]);
    assert!(told(&world.plan(&other), "plan.undone_returns").is_empty());
}

#[test]
fn a_memory_that_cannot_come_back_is_told_and_the_rest_goes_back() {
    let store = |a: &str, b: &str| {
        let mut desired = project();
        desired.put_store("n", &[("/p", "enforce")], &[("/p/a", a), ("/p/b", b)]);
        desired
    };
    let (first, second) = (store("1", "1b"), store("2", "2b"));
    let mut world = World::of(&first);
    world.apply(&world.clone().plan(&second));
    // Redacted: its bytes are in the workspace no more.
    world.live.held_blobs.remove(&sha("1"));
    let plan = world.plan_with(&first, &rollback());
    let lost = plan.findings.iter().find(|f| f.code == "plan.memory_lost").unwrap();
    assert!(lost.effect == Effect::Note && lost.message.contains("/p/a cannot come back"), "{lost:?}");
    let Step::WriteContents { puts, deletes, .. } = &plan.actions[1].step else { panic!("{plan:?}") };
    assert_eq!((puts.keys().map(String::as_str).collect::<Vec<_>>(), deletes.len()), (vec!["/p/b"], 0));
    world.apply(&plan);
    assert!(ids(&world.plan_with(&first, &rollback())).is_empty());
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
