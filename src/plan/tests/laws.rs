//! Laws over 1,000 random projects and workspaces, seeds fixed.

use serde_json::{Value, json};

use super::world::*;
use crate::desired::Desired;
use crate::model::kinds;
use crate::model::op::ActorKind;
use crate::plan::{self, Effect, Options, Plan, write};

/// A small generator, so that a case is its number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }

    fn often(&mut self, in_ten: usize) -> bool {
        self.roll(10) < in_ten
    }
}

/// A closed project over few names, so that two of them overlap much.
fn random_project(dice: &mut Dice) -> Desired {
    let mut desired = project();
    let mut contents = Vec::new();
    for name in ["s", "t", "u"] {
        if dice.often(7) {
            let text = dice.one(&["1", "2"]);
            let set = files(&[("SKILL.md", text), (dice.one(&["a.md", "b.md"]), "same")]);
            let content = set.digest;
            let spec = json!({"content": content, "display_name": dice.one(&["", "", "New"]), "labels": {"l": dice.one(&["1", "2"])}});
            let wanted = desired.put(&format!("Skill/{name}"), &spec);
            wanted.content = Some((set, format!("skills/{name}")));
            wanted.protected = dice.often(1);
            contents.push((name, content));
        }
    }
    let mut agents = Vec::new();
    for name in ["a", "b", "c"] {
        if dice.often(7) {
            let mut skills = Vec::new();
            for (skill, content) in &contents {
                if dice.often(6) {
                    skills.push((*skill, Some(*content).filter(|_| dice.often(6))));
                }
            }
            let text = dice.one(&["x", "y", "z"]);
            let wanted = desired.put_agent(name, text, &skills);
            if dice.often(1) {
                wanted.unowned.push("instructions".into());
            }
            agents.push(name);
        }
    }
    for name in ["m", "n"] {
        if !dice.often(7) {
            continue;
        }
        let mode = dice.one(&["enforce", "upkeep", "seed"]);
        let memories: Vec<(&str, &str)> = ["/p/a", "/p/b", "/p/c"]
            .into_iter()
            .map(|p| (p, dice.one(&["1", "2"]), dice.often(6)))
            .filter(|(_, _, there)| *there)
            .map(|(p, text, _)| (p, text))
            .collect();
        desired.put_store(name, &[("/p", mode)], &memories);
        for agent in &agents {
            if dice.often(5) {
                let at = dice.one(&["/mnt/x", "/mnt/y"]);
                let mut taken = desired.resources.values().filter(|w| w.spec.get("agent") == Some(&json!(agent)));
                if taken.all(|w| w.spec["mount_path"] != at) {
                    let spec = json!({"agent": agent, "memory_store": name, "mount_path": at});
                    desired.put(&format!("MemoryMount/{agent}.{name}"), &spec);
                }
            }
        }
    }
    for name in ["e", "f"] {
        if dice.often(6) && !desired.resources.values().any(|w| w.spec.get("name") == Some(&json!("default"))) {
            let ty = dice.one(&["cloud", "cloud", "self_hosted"]);
            let shown = dice.one(&["default", name]);
            desired.put(&format!("Environment/{name}"), &json!({"name": shown, "config": {"type": ty}}));
        }
    }
    desired.policy.max_retire = u32::try_from(20 + dice.roll(2)).unwrap();
    let removed = |a: &str| (crate::model::config::Removed { address: a.into(), to: None, keep: false }, None);
    desired.removed = vec![removed("Agent/*"), removed("MemoryStore/*")];
    desired
}

/// Things that others do.
fn disturb(world: &mut World, dice: &mut Dice) {
    let names: Vec<String> = world.live.resources.keys().map(ToString::to_string).collect();
    for name in names {
        if dice.often(2) && name.starts_with("Agent") {
            world.outside(&name, "instructions", json!(dice.one(&["x", "y", "theirs"])));
        }
        if dice.often(1) && !name.starts_with("Skill") && !name.contains("Mount") {
            world.outside(&name, "labels.l", json!(dice.one(&["1", "theirs"])));
        }
        if dice.often(1) && name.starts_with("Skill") {
            world.archive(&name);
        }
        if dice.often(4) && name.starts_with("MemoryStore") {
            let path = dice.one(&["/p/a", "/p/b", "/p/x", "/q"]);
            let text = dice.one(&[None, Some("1"), Some("theirs")]);
            world.remember(&name, path, text, dice.one(&[ActorKind::Api, ActorKind::Session]));
        }
    }
}

fn generous() -> Options {
    let mut options = options();
    let rules = ["retire", "empty", "loosened", "session-memory"];
    options.allowances = rules.iter().map(|r| r.parse().unwrap()).collect();
    options
}

/// The same project, built in another order of everything that has none.
fn shuffled(desired: &Desired) -> Desired {
    let mut out = desired.clone();
    for wanted in out.resources.values_mut() {
        wanted.spec = reversed(&wanted.spec).into();
        wanted.refs.reverse();
        wanted.unowned.reverse();
    }
    out
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(o) => o.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect(),
        Value::Array(a) => a.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

fn refusals(plan: &Plan) -> Vec<&str> {
    plan.findings
        .iter()
        .filter(|f| matches!(f.effect, Effect::Refuses | Effect::Error))
        .map(|f| f.code.as_str())
        .collect()
}

#[test]
fn a_thousand_worlds() {
    let (mut applied, mut refused, mut with_held, mut actions) = (0, 0, 0, 0);
    for case in 0..1000 {
        let mut dice = Dice(case);
        let first = random_project(&mut dice);
        let mut world = World::of(&first);
        let idle = world.plan(&first);
        assert_eq!((ids(&idle), plan::exit_code(&idle)), (Vec::new(), 0), "case {case}");
        disturb(&mut world, &mut dice);
        let second = random_project(&mut dice);
        let mut options = generous();
        options.revert_all = dice.often(3);
        // the checker looks at every plan
        let plan = world.plan_with(&second, &options);
        let lean = plan::plan(&second, &world.snapshot(&second), &options);
        assert_eq!(plan::check(&lean), Vec::<String>::new(), "case {case}");
        assert_eq!(lean.digest, plan.digest, "case {case}: bodies that are not needed change nothing");
        assert_eq!(write(&plan), write(&world.plan_with(&shuffled(&second), &options)), "case {case}");
        if case % 10 == 0 {
            assert_eq!(write(&plan::read(write(&plan).as_bytes()).unwrap()), write(&plan), "case {case}");
        }
        actions += plan.actions.len();
        with_held += usize::from(!plan.held.is_empty());
        if !plan.applyable {
            let codes = refusals(&plan);
            // a blocked store is not retired, and so on: but nothing is refused by mistake
            let known = ["plan.protected", "plan.version_missing", "plan.excluded"];
            assert!(codes.iter().all(|c| known.contains(c)), "case {case}: {codes:?}");
            refused += 1;
            continue;
        }
        applied += 1;
        world.apply(&plan);
        let mut again = generous();
        again.revert_all = options.revert_all;
        let rest = world.plan_with(&second, &again);
        assert_eq!(ids(&rest), Vec::<&str>::new(), "case {case}: {}", write(&plan));
        settled(&world, &second, &rest);
    }
    assert!(
        applied > 500 && refused > 10 && with_held > 100 && actions > 2000,
        "{applied} {refused} {with_held} {actions}"
    );
}

/// What is owned and not held or blocked is as wanted.
fn settled(world: &World, desired: &Desired, rest: &Plan) {
    for (address, wanted) in &desired.resources {
        let excused = rest.held.iter().any(|h| h.address == *address) || rest.notes.blocked.contains(address);
        let kept = rest.notes.kept_memories.contains_key(address) || wanted.spec["modes"][0]["mode"] == "seed";
        if excused || kept {
            continue;
        }
        let body = world.live.resources[address].body.as_ref().unwrap();
        let part = |v: &Value| kinds::owned_part(address.kind, v, &body.applied);
        assert_eq!(part(&body.live), part(&wanted.spec), "{address}");
    }
}

#[test]
fn plans_of_many_are_quick_and_hold_each_text_but_thrice() {
    let mut desired = project();
    let text = "word ".repeat(240);
    for i in 0..2_000 {
        desired.put_agent(&format!("a{i}"), &text, &[]);
    }
    let world = World::of(&desired);
    for i in 0..2_000 {
        desired.put_agent(&format!("a{i}"), &format!("{text}{i}"), &[]);
    }
    let plan = world.plan(&desired);
    assert_eq!(plan.actions.len(), 2_000);
    // spec, before, after
    assert!(write(&plan).len() < 2_000 * (3 * text.len() + 2_000));
}
