//! Every row of the three-way comparison, for fields, labels, protection, policy and what is gone.

use std::sync::Arc;

use serde_json::{Value, json};

use super::world::*;
use crate::desired::TextPart;
use crate::diag::Location;
use crate::model::config::OnDrift;
use crate::plan::{Cause, Effect, Plan, Precondition, Step, Verb, exit_code};

/// Plans an agent whose `description` was applied as `applied`, is `live` and is wanted as `wanted`.
fn three(path: &str, applied: &str, live: &str, wanted: &str, revert: bool) -> Plan {
    let spec = |text: &str| {
        let mut spec = json!({"model": "claude-sonnet-5", "name": "A", "instructions": "i"});
        if let (false, Some((top, key))) = (text.is_empty(), path.split_once('.')) {
            spec[top] = json!({ key: text });
        } else if !text.is_empty() {
            spec[path] = json!(text);
        }
        spec
    };
    let mut desired = project();
    desired.put("Agent/a", &spec(applied));
    let mut world = World::of(&desired);
    if live != applied {
        let value = if live.is_empty() { Value::Null } else { json!(live) };
        world.outside("Agent/a", path, value);
    }
    desired.put("Agent/a", &spec(wanted));
    let mut options = options();
    if revert {
        options.revert.add("Agent/a");
    }
    let plan = world.plan_with(&desired, &options);
    let lean = crate::plan::plan(&desired, &world.snapshot(&desired), &options);
    assert_eq!(plan.digest, lean.digest, "a snapshot without needless bodies plans the same");
    if plan.applyable {
        world.apply(&plan);
        let again = world.plan(&desired);
        assert_eq!(ids(&again), Vec::<&str>::new(), "{again:?}");
        assert_eq!(again.held.len(), plan.held.len());
    }
    plan
}

#[test]
fn all_rows() {
    use Cause::{File, Live};
    // applied, live, wanted (empty = absent), revert → the action's verb and cause, or what is held
    type Row<'a> = (&'a str, &'a str, &'a str, bool, Option<(Verb, Cause)>, Option<bool>, u8);
    let rows: &[Row<'_>] = &[
        ("x", "x", "x", false, None, None, 0),
        ("x", "x", "y", false, Some((Verb::Update, File)), None, 2),
        ("x", "x", "", false, Some((Verb::Update, File)), None, 2),
        ("", "", "y", false, Some((Verb::Update, File)), None, 2),
        ("x", "y", "x", false, None, Some(false), 3),
        ("x", "", "x", false, None, Some(false), 3),
        ("", "y", "", false, None, Some(false), 3),
        ("x", "y", "x", true, Some((Verb::Update, Live)), None, 2),
        ("x", "", "x", true, Some((Verb::Update, Live)), None, 2),
        ("x", "y", "y", false, Some((Verb::Record, Cause::Both)), None, 2),
        ("x", "", "", false, Some((Verb::Record, Cause::Both)), None, 2),
        ("x", "y", "z", false, None, Some(true), 4),
        ("x", "", "z", false, None, Some(true), 4),
        ("x", "y", "", false, None, Some(true), 4),
        ("", "y", "z", false, None, Some(true), 4),
        // a conflict is never overwritten
        ("x", "y", "z", true, None, Some(true), 4),
    ];
    for path in ["description", "labels.team"] {
        for (applied, live, wanted, revert, action, held, code) in rows {
            let plan = three(path, applied, live, wanted, *revert);
            let row = format!("{path}: {applied:?} {live:?} {wanted:?} {revert}");
            let found = plan.actions.first().map(|a| (a.verb, a.about.changes[0].cause));
            assert_eq!(found, *action, "{row}");
            assert_eq!(plan.held.first().map(|h| h.conflict), *held, "{row}");
            assert_eq!(exit_code(&plan), *code, "{row}: {:?}", plan.findings);
            assert_eq!(plan.complete, *code != 4, "{row}");
            if let Some(Step::Update { fields, .. }) = plan.actions.first().map(|a| &a.step) {
                assert_eq!(fields, &[path], "{row}");
            }
            for h in &plan.held {
                assert_eq!((h.field.as_deref(), h.actor.as_deref()), (Some(path), Some("kim")), "{row}");
            }
        }
    }
}

#[test]
fn the_rest_of_a_resource_is_applied_and_a_held_field_keeps_its_old_entry() {
    let mut desired = project();
    desired.put("Agent/a", &json!({"model": "m", "description": "d", "labels": {"a": "1", "b": "1"}}));
    let mut world = World::of(&desired);
    world.outside("Agent/a", "description", json!("theirs"));
    world.outside("Agent/a", "labels.a", json!("theirs"));
    desired.put("Agent/a", &json!({"model": "n", "description": "d", "labels": {"a": "1", "b": "2"}}));
    let plan = world.plan(&desired);
    let Step::Update { fields, spec, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(fields, &["labels.b", "model"]);
    assert_eq!((&spec["description"], &spec["labels"]), (&json!("d"), &json!({"a": "1", "b": "2"})));
    world.apply(&plan);
    let body = world.body("Agent/a");
    assert_eq!(body.live["description"], "theirs");
    assert_eq!(body.live["labels"], json!({"a": "theirs", "b": "2"}));
    let again = world.plan(&desired);
    assert_eq!((again.actions.len(), again.held.len(), exit_code(&again)), (0, 2, 3));
}

#[test]
fn drift_is_put_back_by_policy_and_by_revert_all() {
    let mut desired = project();
    desired.put("Agent/a", &json!({"model": "m", "description": "d"}));
    let mut world = World::of(&desired);
    world.outside("Agent/a", "description", json!("theirs"));
    let mut all = options();
    all.revert_all = true;
    assert_eq!(ids(&world.plan_with(&desired, &all)), ["Agent/a#update"]);
    desired.policy.on_drift = OnDrift::Revert;
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["owner#policy", "Agent/a#update"]);
    let change = &plan.actions[1].about.changes[0];
    assert_eq!((change.cause, change.before.as_ref()), (Cause::Live, Some(&json!("theirs"))));
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn what_another_archived_is_held_as_absent_and_made_anew_by_revert_alone() {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(content))]);
    desired.put_agent("b", "i", &[]);
    let mut world = World::of(&desired);
    world.archive("Skill/s");
    // nothing else changed: held, and nobody waits
    let plan = world.plan(&desired);
    assert_eq!((plan.actions.len(), plan.held.len(), exit_code(&plan), plan.complete), (0, 1, 3, false));
    assert_eq!(plan.held[0].field, None);
    // a dependent that changes waits, another one does not
    desired.put_agent("a", "j", &[("s", Some(content))]);
    desired.put_agent("b", "j", &[]);
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/b#update"]);
    assert_eq!(plan.notes.blocked, [address("Agent/a"), address("Skill/s")]);
    assert_eq!((codes(&plan), plan.findings[0].effect), (vec!["plan.blocked"], Effect::Note));
    let mut options = options();
    options.revert.add("Skill/s");
    let plan = world.plan_with(&desired, &options);
    let gone = world.get("Skill/s").summary.id.clone();
    assert_eq!(plan.actions[0].precondition, Precondition::Absent { since: Some(gone) });
    assert_eq!(ids(&plan), ["Skill/s#create", "Agent/a#update", "Agent/b#update"]);
    // it has a new id, so what refers to it is sent again
    let Step::Update { fields, .. } = &plan.actions[1].step else { panic!() };
    assert_eq!(fields, &["instructions", "skills"]);
}

#[test]
fn a_create_after_a_retirement_says_so() {
    let mut desired = project();
    desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    let mut world = World::of(&desired);
    let mut none = desired.clone();
    none.drop_("Skill/s");
    let mut options = options();
    options.allowances.push("empty".parse().unwrap());
    let plan = world.plan_with(&none, &options);
    let id = world.get("Skill/s").summary.id.clone();
    world.apply(&plan);
    let plan = world.plan(&desired);
    assert_eq!(plan.actions[0].precondition, Precondition::Absent { since: Some(id) });
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn field_modes() {
    let mut desired = project();
    let wanted = desired.put("Agent/a", &json!({"model": "m", "description": "d", "labels": {"x": "1"}}));
    wanted.unowned = vec!["description".into(), "labels.x".into()];
    wanted.seeded = vec!["labels.x".into()];
    let mut world = World::of(&desired);
    world.outside("Agent/a", "description", json!("theirs"));
    world.outside("Agent/a", "labels.x", json!("theirs"));
    let plan = world.plan(&desired);
    assert_eq!((plan.actions.len(), plan.held.len(), plan.notes.ignored, plan.notes.unchanged), (0, 0, 2, 1));
    // the mode ended: owned again, held where live differs, even where the file changed meanwhile
    let wanted = desired.put("Agent/a", &json!({"model": "m", "description": "e", "labels": {"x": "1"}}));
    wanted.unowned = vec!["labels.x".into()];
    let plan = world.plan(&desired);
    assert_eq!((plan.held.len(), plan.held[0].conflict, exit_code(&plan)), (1, false, 3));
    assert!(plan.actions.is_empty());
    let held = &plan.held[0];
    assert_eq!((held.owned_again, &held.applied, &held.actor), (true, &None, &None), "nobody moved it");
    assert_eq!((held.wanted.clone(), held.live.clone()), (Some(json!("e")), Some(json!("theirs"))));
    // a change beside it leaves it so, until the two agree
    let wanted = desired.put("Agent/a", &json!({"model": "n", "description": "e", "labels": {"x": "1"}}));
    wanted.unowned = vec!["labels.x".into()];
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/a#update"]);
    world.apply(&plan);
    let plan = world.plan(&desired);
    assert_eq!((plan.actions.len(), plan.held.len(), plan.held[0].owned_again), (0, 1, true));
    let wanted = desired.put("Agent/a", &json!({"model": "n", "description": "theirs", "labels": {"x": "1"}}));
    wanted.unowned = vec!["labels.x".into()];
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), plan.held.len()), (vec!["Agent/a#record"], 0));
    world.apply(&plan);
    assert_eq!(world.plan(&desired).notes.unchanged, 1);
}

#[test]
fn a_whole_map_that_is_owned_again_is_held_key_by_key() {
    let mut desired = project();
    desired.put("Agent/a", &json!({"model": "m", "labels": {"x": "1", "y": "1"}})).unowned = vec!["labels".into()];
    let mut world = World::of(&desired);
    world.outside("Agent/a", "labels.x", json!("theirs"));
    desired.put("Agent/a", &json!({"model": "m", "labels": {"x": "1", "y": "1"}}));
    let plan = world.plan(&desired);
    let held: Vec<_> = plan.held.iter().map(|h| (h.field.as_deref(), h.owned_again)).collect();
    assert_eq!((ids(&plan), held), (vec!["Agent/a#record"], vec![(Some("labels.x"), true)]));
    world.apply(&plan);
    let again = world.plan(&desired);
    assert_eq!((again.actions.len(), again.held), (0, plan.held));
    let back = crate::plan::Options { revert_all: true, ..options() };
    let plan = world.plan_with(&desired, &back);
    assert_eq!(ids(&plan), ["Agent/a#update"]);
    world.apply(&plan);
    assert_eq!(world.plan(&desired).notes.unchanged, 1);
}

#[test]
fn a_server_field_is_neither_compared_nor_sent_where_absent() {
    let mut desired = project();
    let identity = json!({"type": "aws_role", "role_arn": "arn:1"});
    desired.put("Agent/a", &json!({"model": "m"}));
    let mut world = World::of(&desired);
    world.outside("Agent/a", "execution_identity", identity.clone());
    assert_eq!((world.plan(&desired).actions.len(), world.plan(&desired).held.len()), (0, 0));
    desired.put("Agent/a", &json!({"model": "m", "execution_identity": identity}));
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/a#record"]);
    world.apply(&plan);
    desired.put("Agent/a", &json!({"model": "m"}));
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/a#record"]);
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn labels_of_skills_are_recorded_and_protection_is_set() {
    let mut desired = project();
    let set = files(&[("SKILL.md", "1")]);
    desired.put_files("Skill/s", set.clone());
    let mut world = World::of(&desired);
    let spec = json!({"content": set.digest, "labels": {"team": "x"}});
    let wanted = desired.put("Skill/s", &spec);
    wanted.content = Some((set, "skills/s".into()));
    wanted.protected = true;
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Skill/s#record", "Skill/s#protect"]);
    assert_eq!(plan.actions[1].precondition, Precondition::After { action: "Skill/s#record".into() });
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
    desired.resources.get_mut(&address("Skill/s")).unwrap().protected = false;
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Skill/s#unprotect"]);
    assert!(matches!(plan.actions[0].precondition, Precondition::Authoring { seq: 3, .. }));
    world.apply(&plan);
}

#[test]
fn an_update_before_a_publish_records_only_what_it_did() {
    let mut desired = project();
    let set = files(&[("a.md", "1")]);
    desired.put_files("FileTree/t", set.clone());
    let mut world = World::of(&desired);
    let more = files(&[("a.md", "2")]);
    let spec = json!({"name": "Docs", "source": {"kind": "upload"}, "content": more.digest});
    desired.put("FileTree/t", &spec).content = Some((more.clone(), "docs".into()));
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["FileTree/t#update", "FileTree/t#publish"]);
    let (Step::Update { spec: first, .. }, Step::Publish { spec: then, .. }) =
        (&plan.actions[0].step, &plan.actions[1].step)
    else {
        panic!()
    };
    assert_eq!((&first["content"], &then["content"]), (&json!(set.digest), &json!(more.digest)));
    assert_eq!(plan.actions[1].precondition, Precondition::After { action: "FileTree/t#update".into() });
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn a_field_that_the_file_never_named_is_held_once_it_is_owned_again() {
    let mut desired = project();
    desired.put("MemoryStore/s", &json!({})).unowned = vec!["description".into()];
    let mut world = World::of(&desired);
    world.outside("MemoryStore/s", "description", json!("theirs"));
    let plan = world.plan(&desired);
    assert!(plan.actions.is_empty() && plan.held.is_empty(), "what is not owned is no drift");
    desired.put("MemoryStore/s", &json!({}));
    let lean = world.snapshot(&desired);
    assert!(lean.resources[&address("MemoryStore/s")].body.is_some(), "its digests say that something differs");
    let plan = crate::plan::plan(&desired, &lean, &options());
    assert_eq!(plan.held[0].field.as_deref(), Some("description"));
    assert!(plan.actions.is_empty() && plan.held[0].owned_again, "{plan:?}");
}

#[test]
fn a_changed_prompt_points_to_its_first_changed_line() {
    let mut desired = project();
    desired.put_agent("a", "one\ntwo\nthree", &[]);
    let world = World::of(&desired);
    let part = |line, lines, file: &str, verbatim| TextPart {
        line,
        lines,
        at: Location { file: file.into(), start: 40, end: 49, line: 6, column: 3 },
        verbatim,
    };
    let mut at = |text: &str, parts: &[TextPart]| {
        let agent = desired.put_agent("a", text, &[]);
        agent.places.insert("instructions", Location::file("x.md"));
        agent.instructions = parts.to_vec();
        let plan = world.plan(&desired);
        plan.actions[0].about.changes[0].at.clone().unwrap()
    };
    let one = [part(0, 3, "a.md", true)];
    assert_eq!(at("one\ntwo\n3", &one), "a.md:8:1");
    assert_eq!(at("1\ntwo\nthree", &one), "a.md:6:3");
    assert_eq!(at("one\ntwo", &one), "a.md:7:1");
    // a text that is not what stands there; and none of which anything is known
    assert_eq!(at("one\n2\nthree", &[part(0, 3, "a.md", false)]), "a.md:6:3");
    assert_eq!(at("one\n2\nthree", &[]), "x.md:1:1");
    // two texts with a blank line between them
    let two = [part(0, 1, "pre.md", true), part(2, 1, "a.md", true)];
    assert_eq!(at("one\n\nthree", &two), "pre.md:6:3");
    assert_eq!(at("one\ntwo\n3", &two), "a.md:6:3");
    desired.put_agent("a", "one\n\nthree\nfour", &[]);
    let world = World::of(&desired);
    let agent = desired.put_agent("a", "one\n\nthree\n4", &[]);
    agent.instructions = vec![part(0, 1, "pre.md", true), part(2, 2, "a.md", true)];
    let plan = world.plan(&desired);
    assert_eq!(plan.actions[0].about.at.as_deref(), Some("a.md:7:1"));
}

#[test]
fn a_replacement_leaves_what_is_not_owned_as_it_is_live() {
    let environment = |text: &str, config: &str| json!({"name": "e", "description": text, "config": {"type": config}});
    for (ours, theirs) in [("one", json!("theirs")), ("two", json!("theirs")), ("two", Value::Null)] {
        let mut desired = project();
        let wanted = desired.put("Environment/e", &environment("one", "cloud"));
        Arc::make_mut(&mut wanted.spec)["labels"] = json!({"a": "1", "b": "1"});
        wanted.unowned = vec!["description".into(), "labels.b".into()];
        let mut world = World::of(&desired);
        world.outside("Environment/e", "description", theirs.clone());
        world.outside("Environment/e", "labels.b", json!("9"));
        let wanted = desired.put("Environment/e", &environment(ours, "self_hosted"));
        Arc::make_mut(&mut wanted.spec)["labels"] = json!({"a": "2", "b": "2"});
        wanted.unowned = vec!["description".into(), "labels.b".into()];
        let plan = world.plan(&desired);
        assert_eq!(ids(&plan)[0], "Environment/e#replace");
        world.apply(&plan);
        let live = world.body("Environment/e").live.clone();
        assert_eq!(live.get("description").cloned().unwrap_or_default(), theirs);
        assert_eq!(live["labels"], json!({"a": "2", "b": "9"}));
        assert!(world.plan(&desired).actions.is_empty());
    }
}

#[test]
fn a_mount_made_anew_for_its_tree_keeps_what_is_not_owned() {
    let mut desired = project();
    desired.put_files("FileTree/t", files(&[("a", "1")]));
    desired.put_agent("a", "i", &[]);
    let mount =
        |text: &str| json!({"agent": "a", "file_tree": "t", "mount_path": "/workspace/t", "instructions": text});
    desired.put("FileTreeMount/m", &mount("ours")).unowned = vec!["instructions".into()];
    let mut world = World::of(&desired);
    world.outside("FileTreeMount/m", "instructions", json!("theirs"));
    let git = json!({"kind": "git", "ref": "main"});
    Arc::make_mut(&mut world.body("FileTree/t").applied.spec)["source"] = git.clone();
    world.outside("FileTree/t", "source", git);
    // Nothing of the mount differs, so a snapshot would not read it.
    let lean = crate::plan::plan(&desired, &world.snapshot(&desired), &options());
    assert_eq!(ids(&lean)[..2], ["FileTree/t#replace", "FileTreeMount/m#replace"]);
    let Step::Create { spec, .. } = &lean.actions[1].step else { panic!() };
    assert_eq!(spec["instructions"], "theirs");
    // And what was not read is not overwritten.
    world.get("FileTreeMount/m").body = None;
    let plan = world.plan(&desired);
    assert!(codes(&plan).contains(&"plan.not_read"), "{:?}", plan.findings);
    assert!(!plan.applyable);
}
