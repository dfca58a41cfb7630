//! What files change against an earlier state of them.

use serde_json::json;

use super::world::*;
use crate::desired::Desired;
use crate::model::config::{Adopt, Removed};
use crate::plan::{self, Cause, DIFF_FORMAT, Options, Plan, Verb, changed, check, since};

fn diff_with(base: &Desired, head: &Desired, options: &Options) -> Plan {
    let plan = since(base, head, options);
    assert_eq!(check(&plan), ["the format is another"], "and nothing else is wrong with it");
    plan
}

fn diff(base: &Desired, head: &Desired) -> Plan {
    diff_with(base, head, &options())
}

fn rich() -> Desired {
    let mut desired = project();
    let tone = desired.put_files("Skill/tone", files(&[("SKILL.md", "kind")]));
    desired.put_agent("support", "be kind", &[("tone", Some(tone))]);
    desired.put_store("notes", &[("/kb", "enforce"), ("/seen", "seed")], &[("/kb/a", "1"), ("/kb/b", "2")]);
    desired
}

#[test]
fn nothing_differs_from_itself_and_no_command_applies_what_differs() {
    let plan = diff(&rich(), &rich());
    assert_eq!((ids(&plan), codes(&plan)), (vec![], vec![]));
    assert_eq!(plan.notes.unchanged, 3);
    assert_eq!(plan.format, DIFF_FORMAT);
    let refused = plan::read(plan::write(&plan).as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("checkfu.diff/v1"), "{refused}");
}

#[test]
fn what_is_new_what_changes_and_what_goes() {
    let base = rich();
    let mut head = rich();
    let tone = head.put_files("Skill/tone", files(&[("SKILL.md", "kinder")]));
    head.put_agent("support", "be kind\nalways", &[("tone", Some(tone))]);
    head.put_agent("second", "new", &[]);
    head.put_store("notes", &[("/kb", "enforce"), ("/seen", "seed")], &[("/kb/a", "1"), ("/kb/b", "3")]);
    let plan = diff(&base, &head);
    let mut all = ids(&plan);
    all.sort_unstable();
    assert_eq!(all, ["Agent/second#create", "Agent/support#update", "MemoryStore/notes#publish", "Skill/tone#publish"]);
    let support = plan.actions.iter().find(|a| a.id == "Agent/support#update").unwrap();
    let prompt = support.about.changes.iter().find(|c| c.path == "instructions").unwrap();
    assert_eq!((prompt.before.clone(), prompt.cause), (Some(json!("be kind")), Cause::File));
    head.drop_("MemoryStore/notes");
    let plan = diff(&base, &head);
    assert!(ids(&plan).contains(&"MemoryStore/notes#retire"), "{:?}", ids(&plan));
    // A store does not come back, and no line says that it is meant.
    assert!(codes(&plan).contains(&"plan.irreversible") && !plan.applyable);
    let names: Vec<String> = changed(&base, &head).iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Agent/second", "Agent/support", "MemoryStore/notes", "Skill/tone"]);
}

#[test]
fn the_policy_of_before_judges() {
    let mut base = project();
    for i in 0..4 {
        base.put(&format!("Environment/e{i}"), &json!({}));
    }
    base.policy.max_retire = 2;
    base.policy.protect = vec!["Environment/e0".to_owned()];
    let mut head = base.clone();
    head.policy.max_retire = 100;
    head.policy.protect.clear();
    for i in 0..3 {
        head.drop_(&format!("Environment/e{i}"));
    }
    let plan = diff(&base, &head);
    assert!(!plan.applyable);
    assert!(codes(&plan).contains(&"plan.loosened") && codes(&plan).contains(&"plan.protected"), "{:?}", codes(&plan));
    assert!(plan.actions.iter().any(|a| a.verb == Verb::Policy));
    // The limits of the branch hold beside those that were last applied, in a workspace too.
    let mut world = World::of(&base);
    world.live.record.as_mut().unwrap().policy.as_mut().unwrap().max_retire = 100;
    world.body("Environment/e0");
    world.get("Environment/e0").summary.protected = false;
    let limits = Options { limits: Some(base.policy.clone()), ..options() };
    let judged = world.plan_with(&head, &limits);
    assert!(codes(&judged).contains(&"plan.loosened") && codes(&judged).contains(&"plan.protected"));
    let free = world.plan_with(&head, &options());
    assert!(!codes(&free).contains(&"plan.loosened") && !codes(&free).contains(&"plan.protected"));
}

#[test]
fn what_only_a_workspace_knows_is_taken_to_be_there() {
    let numbered = |version: u64| {
        let mut desired = project();
        let skills =
            json!([{ "skill": "tone", "version": version }, { "skill": { "id": "skill_7" }, "follow": "latest" }]);
        desired.put_files("Skill/tone", files(&[("SKILL.md", "kind")]));
        desired.put("Agent/a", &json!({ "model": "claude-sonnet-5", "instructions": "x", "skills": skills }));
        desired
    };
    assert_eq!(ids(&diff(&numbered(1), &numbered(1))), Vec::<&str>::new());
    let plan = diff(&numbered(1), &numbered(2));
    assert_eq!((ids(&plan), codes(&plan)), (vec!["Agent/a#update"], vec![]));
    // A pin on an older version of an own skill.
    let mut head = numbered(1);
    head.put_agent("a", "x", &[("tone", Some(sha("older")))]);
    assert_eq!(codes(&diff(&numbered(1), &head)), Vec::<&str>::new());
}

#[test]
fn only_new_lines_are_about_this_change() {
    let mut base = project();
    base.put("Environment/e", &json!({}));
    base.moved.push(crate::model::config::Moved { from: address("Environment/d"), to: address("Environment/e") });
    let line = Removed { address: "Environment/*".to_owned(), to: None, keep: true };
    base.removed.push((line, None));
    let mut head = base.clone();
    assert_eq!(codes(&diff(&base, &head)), ["plan.nothing_left"], "the line still names something");
    head.drop_("Environment/e");
    let plan = diff(&base, &head);
    assert_eq!(ids(&plan), ["Environment/e#release"]);
    let mut head = base.clone();
    head.put("Environment/new", &json!({}));
    let (address, id) = (address("Environment/new"), "env_9".to_owned());
    head.adopt.push(Adopt { address, target: None, id, from: None });
    let plan = diff(&base, &head);
    assert_eq!(ids(&plan), ["Environment/new#adopt"]);
}
