//! The checker refuses each of a list of broken plans.

use serde_json::json;

use super::world::*;
use crate::plan::{self, Effect, Finding, Held, Plan, Precondition, Reversible, Step, Verb, check};

/// A plan with most verbs in it, sound.
fn sound() -> Plan {
    let mut desired = project();
    let one = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_files("Skill/old", files(&[("SKILL.md", "9")]));
    desired.put_files("Skill/label", files(&[("SKILL.md", "8")]));
    desired.put_agent("a", "i", &[("s", Some(one))]);
    desired.put_agent("b", "i", &[("old", None)]);
    desired.put_store("m", &[("/e", "enforce")], &[("/e/a", "1")]);
    desired.put("Environment/e", &json!({"config": {"type": "cloud"}}));
    desired.put("MemoryMount/b.m", &json!({"agent": "b", "memory_store": "m", "mount_path": "/mnt/m"}));
    desired.put_agent("gone", "i", &[]);
    let world = World::of(&desired);
    let two = desired.put_files("Skill/s", files(&[("SKILL.md", "2")]));
    desired.put_agent("a", "i", &[("s", Some(two))]);
    desired.put_agent("b", "j", &[]);
    desired.put_agent("c", "i", &[("s", Some(two))]);
    desired.drop_("Skill/old");
    desired.drop_("MemoryMount/b.m");
    desired.drop_("Agent/gone");
    desired.put_store("m", &[("/e", "enforce")], &[("/e/b", "2")]);
    desired.put("Environment/e", &json!({"config": {"type": "self_hosted"}}));
    let wanted = desired.resources.get_mut(&address("Skill/label")).unwrap();
    std::sync::Arc::make_mut(&mut wanted.spec)["labels"] = json!({"x": "1"});
    wanted.protected = true;
    desired.policy.max_retire = 30;
    desired.removed =
        vec![(crate::model::config::Removed { address: "Agent/gone".into(), to: None, keep: false }, None)];
    let plan = world.plan(&desired);
    assert!(plan.applyable, "{:?}", plan.findings);
    plan
}

/// Breaks a plan, makes its digests fit, and expects the checker to say `says`.
fn broken(says: &str, break_it: impl Fn(&mut Plan)) {
    let mut plan = sound();
    break_it(&mut plan);
    plan::digest::seal(&mut plan);
    let problems = check(&plan);
    assert!(problems.iter().any(|p| p.contains(says)), "expected `{says}`, found {problems:?}");
}

fn at(plan: &Plan, id: &str) -> usize {
    let found = plan.actions.iter().position(|a| a.id == id);
    found.unwrap_or_else(|| panic!("{id} is not in {:?}", ids(plan)))
}

fn held(name: &str, field: Option<&str>, conflict: bool) -> Held {
    Held { field: field.map(Into::into), conflict, ..Held::of(&address(name), None) }
}

fn finding(code: &str, effect: Effect) -> Finding {
    Finding { code: code.into(), effect, address: None, message: String::new(), fix: None, at: None }
}

#[test]
fn ids_and_edges() {
    assert_eq!(check(&sound()), Vec::<String>::new());
    broken("is not unique", |p| p.actions.push(p.actions[1].clone()));
    broken("which is not in the plan", |p| p.actions[1].depends_on.push("Agent/zz#create".into()));
    broken("comes before", |p| {
        let i = at(p, "Skill/s#publish");
        p.actions[i].depends_on.push("Agent/a#repoint".into());
    });
    broken("comes before", |p| p.actions.reverse());
    broken("does not say address and verb", |p| {
        let i = at(p, "Agent/a#repoint");
        p.actions[i].id = "Agent/b#repoint".into();
    });
    broken("no id is known", |p| p.ids.0.clear());
    broken("no version of", |p| {
        let i = at(p, "Agent/a#repoint");
        p.actions[i].depends_on.clear();
    });
    broken("does not depend on", |p| {
        let i = at(p, "Environment/e#replace");
        let mut create = p.actions[i].clone();
        create.address = Some(address("Skill/s"));
        create.id = "Skill/s#create".into();
        p.actions.insert(0, create);
    });
}

#[test]
fn words_operations_and_conditions() {
    broken("not one that writes", |p| p.actions[1].operation = "agents.list".into());
    broken("operation and step", |p| {
        let i = at(p, "Agent/a#repoint");
        p.actions[i].operation = "agents.archive".into();
    });
    broken("verb and step", |p| {
        let i = at(p, "Agent/a#repoint");
        p.actions[i].verb = Verb::Retire;
    });
    broken("precondition does not fit", |p| {
        let i = at(p, "Agent/c#create");
        p.actions[i].precondition = Precondition::Version { version: 1 };
    });
    broken("precondition does not fit", |p| {
        let i = at(p, "MemoryStore/m#publish");
        p.actions[i].precondition = Precondition::Memories { expect: std::collections::BTreeMap::new() };
    });
    broken("on which it does not depend", |p| {
        let i = at(p, "Skill/label#protect");
        p.actions[i].depends_on.clear();
    });
    broken("follows an action on another resource", |p| {
        let i = at(p, "Skill/label#protect");
        p.actions[i].precondition = Precondition::After { action: "Agent/a#repoint".into() };
        p.actions[i].depends_on = vec!["Agent/a#repoint".into()];
    });
    broken("only the policy has no address", |p| {
        let i = at(p, "Agent/a#repoint");
        p.actions[i].address = None;
    });
    broken("live id is of another kind", |p| {
        let i = at(p, "Agent/a#repoint");
        if let Step::Update { id, .. } = &mut p.actions[i].step {
            *id = "skill_1".into();
        }
    });
    broken("more than one policy", |p| {
        let mut second = p.actions[0].clone();
        second.id = "owner#policy2".into();
        p.actions.push(second);
    });
}

#[test]
fn payloads() {
    let update = |change: fn(&mut Vec<String>, &mut Vec<String>)| {
        move |p: &mut Plan| {
            let i = at(p, "Agent/b#update");
            if let Step::Update { fields, unowned, .. } = &mut p.actions[i].step {
                change(fields, unowned);
            }
        }
    };
    broken("payload is not sound", update(|fields, _| fields.clear()));
    broken("payload is not sound", update(|fields, _| fields.push("nonsense".into())));
    broken("payload is not sound", update(|fields, _| fields.push("labels".into())));
    broken("payload is not sound", update(|fields, unowned| unowned.extend(fields.clone())));
    broken("payload is not sound", |p| {
        let i = at(p, "Skill/s#publish");
        if let Step::Publish { content, .. } = &mut p.actions[i].step {
            content.entries[0].size += 1;
        }
    });
    broken("payload is not sound", |p| {
        let i = at(p, "MemoryStore/m#publish");
        if let Step::WriteContents { spec, .. } = &mut p.actions[i].step {
            std::sync::Arc::make_mut(spec).as_object_mut().unwrap().remove("contents");
        }
    });
    broken("does not depend on its creation", |p| {
        let i = at(p, "Skill/s#publish");
        if let Step::Publish { id, .. } = &mut p.actions[i].step {
            *id = None;
        }
    });
    broken("says wrongly whether it can be taken back", |p| {
        let i = at(p, "Agent/gone#retire");
        p.actions[i].about.reversible = Reversible::Yes;
    });
}

#[test]
fn what_is_held_or_goes() {
    broken("writes what is held", |p| p.held.push(held("Agent/b", Some("instructions"), false)));
    broken("writes what is held", |p| p.held.push(held("Skill/s", Some("content"), false)));
    broken("writes what is held", |p| p.held.push(held("Agent/gone", Some("description"), false)));
    broken("writes what is held", |p| p.held.push(held("MemoryStore/m", None, false)));
    broken("writes what is held", |p| p.held.push(held("Skill/label", Some("labels.y"), true)));
    broken("refers to what", |p| {
        let i = at(p, "Skill/old#retire");
        let gone = p.actions[i].clone();
        let j = at(p, "Agent/b#update");
        if let Step::Update { spec, .. } = &mut p.actions[j].step {
            std::sync::Arc::make_mut(spec)["skills"] = json!([{"skill": "old", "follow": "latest"}]);
        }
        p.ids.0.insert("Skill/old".into(), "skill_2".into());
        drop(gone);
    });
    broken("acts on what", |p| {
        let i = at(p, "Skill/s#publish");
        let mut retire = p.actions[at(p, "Skill/old#retire")].clone();
        retire.id = "Skill/s#retire".into();
        retire.address = Some(address("Skill/s"));
        if let (Step::Publish { id, .. }, Step::Retire { id: gone }) = (&p.actions[i].step, &mut retire.step) {
            *gone = id.clone().unwrap();
        }
        p.actions.push(retire);
    });
    broken("goes after", |p| {
        let i = at(p, "Agent/gone#retire");
        p.actions[i].id = "Agent/b#retire".into();
        p.actions[i].address = Some(address("Agent/b"));
        let gone = p.actions.remove(i);
        p.actions.retain(|a| a.id != "Agent/b#update");
        p.actions.iter_mut().for_each(|a| a.depends_on.retain(|d| d != "Agent/b#update"));
        p.actions.insert(0, gone);
    });
    broken("acts on what", |p| {
        // the old one goes before the new one has taken its place
        let i = p.actions.iter().position(|a| a.id.starts_with("Environment/e#retire-")).unwrap();
        let mut gone = p.actions.remove(i);
        gone.depends_on.clear();
        p.actions.insert(0, gone);
    });
}

#[test]
fn the_whole() {
    broken("the format is another", |p| p.format = "checkfu.plan/v0".into());
    broken("`applyable` does not agree", |p| p.applyable = false);
    broken("`applyable` does not agree", |p| p.findings.push(finding("plan.retire", Effect::Refuses)));
    broken("`complete`", |p| p.scope.push("Agent/*".into()));
    broken("`complete`", |p| p.notes.blocked.push(address("Agent/a")));
    broken("nothing answers", |p| p.findings.push(finding("plan.irreversible", Effect::Note)));
    let mut plan = sound();
    plan.digest = sha("x");
    assert_eq!(check(&plan), ["the digest of the plan does not fit"]);
    let mut plan = sound();
    plan.actions[1].digest = sha("x");
    assert!(check(&plan)[0].starts_with("the digest of "));
}
