//! Memory contents by mode.

use serde_json::json;

use super::world::*;
use crate::model::config::{Accept, Take};
use crate::model::op::ActorKind::{Api, Session};
use crate::plan::{Effect, FileVerb, Plan, Precondition, Step, exit_code};

/// What is written, `+path` and `-path`.
fn written(plan: &Plan) -> Vec<String> {
    let mut out = Vec::new();
    for action in &plan.actions {
        if let Step::WriteContents { puts, deletes, .. } = &action.step {
            out.extend(puts.keys().map(|p| format!("+{p}")));
            out.extend(deletes.iter().map(|p| format!("-{p}")));
        }
    }
    out
}

/// A store of one mode at `/p` in which `/p/a` was applied as `1`; then live and file move.
fn one(mode: &str, live: Option<&str>, wanted: Option<&str>) -> Plan {
    let mut desired = project();
    desired.put_store("s", &[("/p", mode)], &[("/p/a", "1"), ("/p/z", "z")]);
    let mut world = World::of(&desired);
    if live != Some("1") {
        world.remember("MemoryStore/s", "/p/a", live, Api);
    }
    let memories: Vec<_> = wanted.map(|w| ("/p/a", w)).into_iter().chain([("/p/z", "z")]).collect();
    desired.put_store("s", &[("/p", mode)], &memories);
    let plan = world.plan(&desired);
    assert!(plan.held.is_empty(), "memories follow their mode");
    world.apply(&plan);
    world.note_beside("MemoryStore/s");
    let again = world.plan(&desired);
    assert_eq!(ids(&again), Vec::<&str>::new(), "{mode} {live:?} {wanted:?}");
    assert_eq!(again.notes.kept_memories, plan.notes.kept_memories);
    plan
}

#[test]
fn modes_by_three_values() {
    // mode, live, wanted → written, kept
    type Row<'a> = (&'a str, Option<&'a str>, Option<&'a str>, &'a [&'a str], u32);
    let rows: &[Row<'_>] = &[
        ("enforce", Some("1"), Some("1"), &[], 0),
        ("enforce", Some("1"), Some("2"), &["+/p/a"], 0),
        ("enforce", Some("9"), Some("1"), &["+/p/a"], 0),
        ("enforce", Some("9"), Some("2"), &["+/p/a"], 0),
        ("enforce", None, Some("1"), &["+/p/a"], 0),
        ("enforce", Some("9"), None, &["-/p/a"], 0),
        ("enforce", Some("1"), None, &["-/p/a"], 0),
        ("enforce", None, None, &[], 0),
        ("upkeep", Some("1"), Some("2"), &["+/p/a"], 0),
        ("upkeep", Some("9"), Some("1"), &[], 1),
        ("upkeep", Some("9"), Some("2"), &[], 1),
        ("upkeep", Some("2"), Some("2"), &[], 0),
        ("upkeep", None, Some("1"), &[], 1),
        ("upkeep", Some("1"), None, &["-/p/a"], 0),
        ("upkeep", Some("9"), None, &[], 1),
        ("upkeep", None, None, &[], 0),
        ("seed", Some("1"), Some("2"), &[], 0),
        ("seed", Some("9"), Some("1"), &[], 1),
        ("seed", None, Some("1"), &[], 0),
        ("seed", Some("1"), None, &[], 1),
    ];
    for (mode, live, wanted, writes, kept) in rows {
        let plan = one(mode, *live, *wanted);
        let row = format!("{mode} {live:?} {wanted:?}");
        assert_eq!(written(&plan), *writes, "{row}");
        assert_eq!(plan.notes.kept_memories.values().sum::<u32>(), *kept, "{row}");
    }
}

#[test]
fn a_changed_mode_is_told_whatever_else_is_written() {
    let mut desired = project();
    desired.put_store("s", &[("/p", "observe")], &[]);
    let world = World::of(&desired);
    desired.put_store("s", &[("/p", "enforce")], &[]);
    let modes = |plan: &crate::plan::Plan| -> Vec<(String, Vec<String>)> {
        let paths = |a: &crate::plan::Action| a.about.changes.iter().map(|c| c.path.clone()).collect();
        plan.actions.iter().map(|a| (a.id.clone(), paths(a))).collect()
    };
    let told = vec!["modes[/p].mode".to_owned()];
    assert_eq!(modes(&world.plan(&desired)), [("MemoryStore/s#record".to_owned(), told.clone())]);
    desired.put_store("s", &[("/p", "enforce")], &[("/p/a", "1")]);
    let both = [("MemoryStore/s#record".to_owned(), told), ("MemoryStore/s#publish".to_owned(), vec![])];
    assert_eq!(modes(&world.plan(&desired)), both);
}

#[test]
fn what_others_add() {
    let mut desired = project();
    let modes = [("/e", "enforce"), ("/o", "observe"), ("/s", "seed"), ("/u", "upkeep")];
    desired.put_store("s", &modes, &[("/e/a", "1"), ("/s/a", "1"), ("/u/a", "1")]);
    let mut world = World::of(&desired);
    for path in ["/e/x", "/o/x", "/s/x", "/u/x", "/free/x"] {
        world.remember("MemoryStore/s", path, Some("theirs"), Session);
    }
    let plan = world.plan(&desired);
    assert_eq!(written(&plan), ["-/e/x"]);
    let change = &plan.actions[0].about.files[0];
    assert_eq!((change.change, change.writer.as_deref()), (FileVerb::Remove, Some("session_1")));
    assert_eq!(plan.notes.kept_memories[&address("MemoryStore/s")], 4);
    let kept: Vec<_> = plan.notes.kept[&address("MemoryStore/s")].iter().map(|k| k.path.as_str()).collect();
    assert_eq!(kept, ["/free/x", "/o/x", "/s/x", "/u/x"]);
    assert_eq!(plan.notes.kept[&address("MemoryStore/s")][0].writer.as_deref(), Some("session_1"));
    assert_eq!(exit_code(&plan), 2);
}

#[test]
fn a_path_taken_by_another_is_kept() {
    let mut desired = project();
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "1")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/u/b", Some("theirs"), Api);
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "1"), ("/u/b", "ours")]);
    let plan = world.plan(&desired);
    assert_eq!((written(&plan).len(), plan.notes.kept_memories.len()), (0, 1));
}

#[test]
fn what_is_ignored_is_never_written_until_it_is_owned_again() {
    let put = |desired: &mut crate::desired::Desired, text: &str, unowned: &[&str]| {
        desired.put_store("s", &[("/p", "upkeep")], &[("/p/a", text)]);
        let wanted = desired.resources.get_mut(&address("MemoryStore/s")).unwrap();
        wanted.unowned = unowned.iter().map(|f| (*f).to_owned()).collect();
    };
    for field in ["contents", "contents./p/a"] {
        let mut desired = project();
        put(&mut desired, "1", &[field]);
        let mut world = World::new();
        let plan = world.plan(&desired);
        assert_eq!(ids(&plan), ["MemoryStore/s#create"], "{field}");
        world.apply(&plan);
        put(&mut desired, "2", &[field]);
        let plan = world.plan(&desired);
        assert_eq!((plan.actions.len(), plan.notes.kept.len(), plan.notes.unchanged), (0, 0, 1), "{field}");
        put(&mut desired, "2", &[]);
        let mut kept = world.clone();
        let plan = world.plan(&desired);
        assert_eq!(written(&plan), ["+/p/a"], "{field}: nobody wrote it");
        world.apply(&plan);
        assert_eq!(world.plan(&desired).notes.unchanged, 1);
        kept.remember("MemoryStore/s", "/p/a", Some("theirs"), Session);
        let plan = kept.plan(&desired);
        assert_eq!((written(&plan), plan.notes.kept.len()), (vec![], 1), "{field}: somebody did");
    }
}

#[test]
fn a_seed_is_written_once() {
    let mut desired = project();
    desired.put_store("s", &[("/s", "seed")], &[("/s/a", "1")]);
    let mut world = World::of(&desired);
    desired.put_store("s", &[("/s", "seed")], &[("/s/a", "1"), ("/s/b", "1")]);
    let plan = world.plan(&desired);
    assert_eq!(written(&plan), ["+/s/b"]);
    world.apply(&plan);
    world.remember("MemoryStore/s", "/s/b", None, Api);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn a_prefix_that_is_dropped_takes_what_is_ours_and_leaves_the_rest() {
    let mut desired = project();
    let modes = [("/e", "enforce"), ("/s", "seed"), ("/u", "upkeep")];
    desired.put_store("s", &modes, &[("/e/a", "1"), ("/s/a", "1"), ("/u/a", "1"), ("/u/b", "1")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/u/b", Some("theirs"), Api);
    desired.put_store("s", &[], &[]);
    let plan = world.plan(&desired);
    assert_eq!(written(&plan), ["-/e/a", "-/u/a"]);
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn what_is_only_settled_is_recorded_before_the_write_that_names_its_own_paths() {
    let mut desired = project();
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "1"), ("/u/b", "1")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/u/a", Some("2"), Api);
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "2"), ("/u/b", "2")]);
    desired.resources.get_mut(&address("MemoryStore/s")).unwrap().protected = true;
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["MemoryStore/s#record", "MemoryStore/s#publish", "MemoryStore/s#protect"]);
    let Step::Record { spec, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(spec["contents"], json!({"/u/a": sha("2"), "/u/b": sha("1")}));
    assert!(matches!(plan.actions[0].precondition, Precondition::Authoring { .. }));
    assert_eq!(written(&plan), ["+/u/b"]);
    assert_eq!(plan.actions[1].depends_on, ["MemoryStore/s#record"]);
    // The write raises the sequence, so what comes after it goes by what it left.
    assert_eq!(plan.actions[2].precondition, Precondition::After { action: "MemoryStore/s#publish".into() });
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn an_update_of_a_store_leaves_what_is_applied_of_its_memories() {
    let mut desired = project();
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "1"), ("/u/b", "1")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/u/a", Some("2"), Api);
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "2"), ("/u/b", "2")]);
    let spec = std::sync::Arc::make_mut(&mut desired.resources.get_mut(&address("MemoryStore/s")).unwrap().spec);
    spec["description"] = json!("told");
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["MemoryStore/s#update", "MemoryStore/s#record", "MemoryStore/s#publish"]);
    let Step::Update { spec, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(spec["contents"], json!({"/u/a": sha("1"), "/u/b": sha("1")}));
    assert_eq!(plan.actions[1].precondition, Precondition::After { action: "MemoryStore/s#update".into() });
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn a_new_store_is_made_then_written() {
    let mut desired = project();
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "12"), ("/u/b", "12")]);
    let world = World::new();
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["MemoryStore/s#create", "MemoryStore/s#publish"]);
    let write = &plan.actions[1];
    assert_eq!(write.depends_on, ["MemoryStore/s#create"]);
    let Precondition::Memories { expect } = &write.precondition else { panic!() };
    assert!(expect.len() == 2 && expect.values().all(Option::is_none));
    assert_eq!(write.about.upload_bytes, Some(2), "equal contents are sent once");
    let Step::Create { spec, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(spec.get("contents"), None);
}

#[test]
fn a_change_of_mode_is_recorded_and_a_move_is_a_rename() {
    let mut desired = project();
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "1")]);
    let mut world = World::of(&desired);
    desired.put_store("s", &[("/u", "enforce")], &[("/u/a", "1")]);
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["MemoryStore/s#record"]);
    world.apply(&plan);
    desired.put_store("s", &[("/u", "enforce")], &[("/u/b", "1")]);
    let plan = world.plan(&desired);
    let files = &plan.actions[0].about.files;
    assert_eq!((files.len(), files[0].change, files[0].from.as_deref()), (1, FileVerb::Rename, Some("/u/a")));
}

#[test]
fn what_a_session_wrote_goes_only_when_allowed() {
    let mut desired = project();
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/a", "1"), ("/u/b", "1")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/u/a", Some("1"), Session);
    desired.put_store("s", &[("/u", "upkeep")], &[("/u/b", "1")]);
    let plan = world.plan(&desired);
    assert_eq!((codes(&plan), exit_code(&plan)), (vec!["plan.session_memory"], 5));
    let mut options = options();
    options.allowances.push("session-memory=MemoryStore/*".parse().unwrap());
    let plan = world.plan_with(&desired, &options);
    assert_eq!((plan.findings[0].effect, plan.applyable), (Effect::Note, true));
}

#[test]
fn a_mode_on_all_contents_is_that_of_each() {
    for seeded in [false, true] {
        let mut desired = project();
        let modes = |d: &mut crate::desired::Desired, text: &str, files: &[(&str, &str)]| {
            let wanted = d.put_store("s", &[("/p", "enforce")], files);
            std::sync::Arc::make_mut(&mut wanted.spec)["description"] = serde_json::json!(text);
            wanted.unowned = vec!["contents".into()];
            wanted.seeded = if seeded { wanted.unowned.clone() } else { Vec::new() };
            assert_eq!(wanted.has_seeds(), seeded);
        };
        modes(&mut desired, "one", &[("/p/a", "1"), ("/p/b", "1")]);
        let mut world = World::of(&desired);
        world.remember("MemoryStore/s", "/p/a", Some("theirs"), Session);
        world.remember("MemoryStore/s", "/p/x", Some("theirs"), Session);
        modes(&mut desired, "two", &[("/p/a", "2")]);
        let plan = world.plan(&desired);
        assert_eq!((ids(&plan)[0], written(&plan)), ("MemoryStore/s#update", Vec::new()), "seeded: {seeded}");
        world.apply(&plan);
        assert_eq!(ids(&world.plan(&desired)), Vec::<&str>::new());
    }
}

/// A store in which `/p/a` was applied as `1`, then moved live and in the file, with a line that takes the file.
fn decided(live: Option<&str>, wanted: Option<&str>, take: Take) -> (Plan, Plan) {
    let mut desired = project();
    desired.put_store("s", &[("/p", "upkeep")], &[("/p/a", "1"), ("/p/z", "z")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/p/a", live, Api);
    // Only live moved there, so there is nothing to decide.
    world.remember("MemoryStore/s", "/p/z", Some("theirs"), Api);
    let memories: Vec<_> = wanted.map(|w| ("/p/a", w)).into_iter().chain([("/p/z", "z")]).collect();
    desired.put_store("s", &[("/p", "upkeep")], &memories);
    let digest = world.moved_live("MemoryStore/s");
    let line = Accept { address: address("MemoryStore/s"), live: digest, take, reason: "joined".into() };
    desired.accept = vec![line];
    let before = world.clone();
    let plan = world.plan(&desired);
    world.apply(&plan);
    let again = world.plan(&desired);
    assert_eq!(ids(&again), Vec::<&str>::new(), "{live:?} {wanted:?}");
    // It is void once live moves again, also before it was applied; the file is not sent, and that is told.
    world.remember("MemoryStore/s", "/p/a", Some("later"), Api);
    let void = world.plan(&desired);
    assert_eq!(written(&void), Vec::<String>::new());
    let mut early = before;
    early.remember("MemoryStore/s", "/p/a", Some("later"), Api);
    let early = early.plan(&desired);
    assert_eq!((written(&early), codes(&early)), (Vec::new(), vec!["plan.accept_void", "plan.memory_both"]));
    (plan, again)
}

#[test]
fn a_line_that_takes_the_file_settles_a_memory_that_both_sides_changed() {
    let kept = |plan: &Plan| plan.notes.kept_memories.values().sum::<u32>();
    for (live, wanted, writes) in
        [(Some("9"), Some("2"), "+/p/a"), (None, Some("2"), "+/p/a"), (Some("9"), None, "-/p/a")]
    {
        let (plan, again) = decided(live, wanted, Take::File);
        assert_eq!((written(&plan), kept(&plan), kept(&again)), (vec![writes.to_owned()], 1, 1), "{live:?} {wanted:?}");
        assert!(!codes(&plan).contains(&"plan.nothing_left") && codes(&again).contains(&"plan.nothing_left"));
    }
    let (plan, _) = decided(Some("9"), Some("2"), Take::Live);
    assert_eq!((written(&plan), kept(&plan)), (Vec::new(), 2));
}
