//! Drift: which fields differ, why, by whom, and how it ends.

use serde_json::{Value, json};

use super::world::*;
use crate::desired::Desired;
use crate::model::op::ActorKind::{Api, Session};
use crate::model::op::{Beside, Source};
use crate::plan::{
    self, Difference, Drift, DriftCause, Options, Scope, SourceRelation, Unmanaged, Verdict, drift_exit_code,
};

fn look_with(world: &World, desired: &Desired, options: &Options) -> Drift {
    let drift = plan::drift(desired, &world.live, None, options);
    assert_eq!(drift.findings, []);
    drift
}

fn look(world: &World, desired: &Desired) -> Drift {
    look_with(world, desired, &options())
}

/// `ADDRESS FIELD CAUSE` of all that differs, with `!` of a conflict and `=` of what the files say too.
fn told(drift: &Drift) -> Vec<String> {
    let sign = |d: &Difference| match (d.conflict, d.in_files) {
        (true, _) => " !",
        (_, true) => " =",
        _ => "",
    };
    let one = |address: &str, d: &Difference| {
        format!("{address} {} {}{}", d.field.as_deref().unwrap_or("-"), d.cause.as_str(), sign(d))
    };
    let all = |r: &plan::Drifted| {
        let address = r.address.to_string();
        r.differences.iter().map(|d| one(&address, d)).collect::<Vec<_>>()
    };
    drift.resources.iter().flat_map(all).collect()
}

fn ends(drift: &Drift) -> (Verdict, u8) {
    (drift.verdict, drift_exit_code(drift))
}

/// An agent whose model is wanted, was applied and is live as said.
fn agent(applied: &str, live: &str, wanted: &str) -> (World, Desired) {
    let mut desired = project();
    let spec = |model: &str| json!({ "model": model, "instructions": "Be kind." });
    desired.put("Agent/a", &spec(applied));
    desired.put("Agent/other", &spec("m"));
    let mut world = World::of(&desired);
    if live != applied {
        world.outside("Agent/a", "model", json!(live));
    }
    desired.put("Agent/a", &spec(wanted));
    (world, desired)
}

#[test]
fn files_that_moved_live_are_held_by_path() {
    let mut desired = project();
    let (one, two) =
        (files(&[("SKILL.md", "1"), ("a.md", "a")]), files(&[("SKILL.md", "2"), ("a.md", "a"), ("b.md", "b")]));
    desired.put_files("Skill/s", one);
    let mut world = World::of(&desired);
    world.body("Skill/s").entries = two.entries;
    world.outside("Skill/s", "content", serde_json::json!(two.digest));
    let plan = world.plan(&desired);
    let held = &plan.held[0];
    let paths: Vec<&str> = held.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "b.md"]);
    assert_eq!(held.wants(1).collect::<Vec<_>>(), [sha("1"), sha("2"), sha("b")]);
    assert_eq!(held.wants(0).count(), 0, "too long to be shown");
    // Where the files say something else, what was applied is not at hand.
    desired.put_files("Skill/s", files(&[("SKILL.md", "3")]));
    assert!(world.plan(&desired).held[0].conflict && world.plan(&desired).held[0].files.is_empty());
}

#[test]
fn a_field_by_its_three_values() {
    type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str], Verdict, u8);
    let rows: &[Row<'_>] = &[
        ("1", "1", "1", &[], Verdict::AsApplied, 0),
        ("1", "1", "2", &["Agent/a model not applied yet"], Verdict::AsApplied, 0),
        ("1", "9", "1", &["Agent/a model changed outside"], Verdict::Moved, 3),
        ("1", "9", "9", &["Agent/a model changed outside ="], Verdict::MovedAndChanged, 2),
        ("1", "9", "2", &["Agent/a model changed outside !"], Verdict::Conflict, 4),
    ];
    for (applied, live, wanted, expected, verdict, exit) in rows {
        let (world, desired) = agent(applied, live, wanted);
        let drift = look(&world, &desired);
        assert_eq!(
            (told(&drift), ends(&drift)),
            (expected.iter().map(ToString::to_string).collect(), (*verdict, *exit))
        );
        assert_eq!(drift.unchanged as usize, 2 - drift.resources.len());
        let Some(d) = drift.resources.first().map(|r| &r.differences[0]) else { continue };
        let values = [&d.wanted, &d.applied, &d.live].map(|v| v.as_ref().and_then(Value::as_str));
        assert_eq!(values, [Some(*wanted), Some(*applied), Some(*live)]);
        assert_eq!(d.actor.as_deref(), (live != applied).then_some("kim"));
        assert_eq!(d.when.is_some(), live != applied);
    }
}

#[test]
fn every_combination_of_three_values() {
    let spec = |description: Option<&str>| match description {
        Some(text) => json!({ "model": "m", "description": text }),
        None => json!({ "model": "m" }),
    };
    let (a, b, c) = (Some("A"), Some("B"), Some("C"));
    for applied in [None, a] {
        for live in [None, a, b] {
            for wanted in [None, a, b, c] {
                let mut desired = project();
                desired.put("Agent/x", &spec(applied));
                let mut world = World::of(&desired);
                if live != applied {
                    world.outside("Agent/x", "description", live.map_or(Value::Null, |text| json!(text)));
                }
                desired.put("Agent/x", &spec(wanted));
                let cause = match (live == applied, wanted == live, wanted == applied) {
                    (true, true, _) => None,
                    (true, false, _) => Some("not applied yet"),
                    (false, true, _) => Some("changed outside ="),
                    (false, false, true) => Some("changed outside"),
                    (false, false, false) => Some("changed outside !"),
                };
                let expected: Vec<String> = cause.iter().map(|c| format!("Agent/x description {c}")).collect();
                assert_eq!(told(&look(&world, &desired)), expected, "{applied:?} {live:?} {wanted:?}");
            }
        }
    }
}

#[test]
fn what_is_put_back_by_policy_is_drift_all_the_same() {
    let (world, mut desired) = agent("1", "9", "1");
    desired.policy.on_drift = crate::model::config::OnDrift::Revert;
    assert_eq!(told(&look(&world, &desired)), ["Agent/a model changed outside"]);
}

#[test]
fn break_glass_is_told_with_its_reason() {
    let (mut world, desired) = agent("1", "9", "1");
    world.body("Agent/a").moved[0].break_glass = Some("incident 12".into());
    let drift = look(&world, &desired);
    assert_eq!(told(&drift), ["Agent/a model break-glass"]);
    assert_eq!(drift.resources[0].differences[0].break_glass.as_deref(), Some("incident 12"));
}

#[test]
fn a_change_elsewhere_makes_it_two() {
    let (world, mut desired) = agent("1", "9", "1");
    desired.put("Agent/other", &json!({ "model": "new", "instructions": "Be kind." }));
    desired.put("Agent/new", &json!({ "model": "m" }));
    let drift = look(&world, &desired);
    let expected =
        ["Agent/a model changed outside", "Agent/new - not applied yet", "Agent/other model not applied yet"];
    assert_eq!((told(&drift), ends(&drift)), (expected.map(str::to_owned).to_vec(), (Verdict::MovedAndChanged, 2)));
}

#[test]
fn an_older_checkout_and_another_repository_are_not_changes_of_the_files() {
    let (mut world, desired) = agent("1", "9", "2");
    world.live.record = Some(crate::live::OwnerRecord {
        policy: None,
        source: Some(Source { repository: Some("x/a".into()), path: Some(String::new()), ..Source::default() }),
        undone: std::collections::BTreeMap::new(),
        seq: 1,
    });
    let older = Options { source_relation: SourceRelation::Older, ..options() };
    let drift = look_with(&world, &desired, &older);
    assert_eq!((told(&drift), ends(&drift)), (vec!["Agent/a model changed outside".into()], (Verdict::Moved, 3)));
    world.body("Agent/a").live = world.body("Agent/a").applied.spec.clone();
    let live = world.get("Agent/a").summary.applied_digest;
    world.get("Agent/a").summary.live_digest = live;
    let drift = look_with(&world, &desired, &older);
    assert_eq!((told(&drift), ends(&drift)), (vec!["Agent/a model older checkout".into()], (Verdict::AsApplied, 0)));
    let mut moved = desired.clone();
    moved.source = Source { repository: Some("x/b".into()), path: Some(String::new()), ..Source::default() };
    let drift = look(&world, &moved);
    assert_eq!(
        (told(&drift), drift.relation),
        (vec!["Agent/a model another repository".into()], SourceRelation::OtherRepository)
    );
}

#[test]
fn what_is_gone_live_and_what_the_files_declare_no_more() {
    let (mut world, mut desired) = agent("1", "1", "1");
    world.archive("Agent/a");
    world.outside("Agent/other", "model", json!("9"));
    desired.drop_("Agent/other");
    let drift = look(&world, &desired);
    let expected = ["Agent/a - deleted outside", "Agent/other - not applied yet", "Agent/other model changed outside"];
    assert_eq!(told(&drift), expected);
    let of = |i: usize| (drift.resources[i].declared, drift.resources[i].live);
    assert_eq!((of(0), of(1)), ((true, false), (false, true)));
    assert_eq!(drift.resources[0].differences[0].actor.as_deref(), Some("kim"));
    assert_eq!(ends(&drift), (Verdict::MovedAndChanged, 2));
    desired.put("Agent/a", &json!({ "model": "new" }));
    assert_eq!(ends(&look(&world, &desired)), (Verdict::Conflict, 4));
}

#[test]
fn deep_values_labels_and_files_are_told_apart() {
    let mut desired = project();
    let digest = desired.put_files("Skill/s", files(&[("SKILL.md", "1"), ("a.md", "a")]));
    let tools = |on: bool| json!([{"type": "agent_toolset_20260401", "configs": [{"name": "bash", "enabled": on}]}]);
    let spec = json!({ "model": "m", "tools": tools(false), "labels": {"team": "x", "tier": "1"} });
    desired.put("Agent/a", &spec);
    let mut world = World::of(&desired);
    world.outside("Agent/a", "labels.team", json!("y"));
    world.outside("Agent/a", "tools", tools(true));
    let other = files(&[("SKILL.md", "2"), ("a.md", "a")]);
    assert_ne!(digest, other.digest);
    world.outside("Skill/s", "content", json!(other.digest));
    world.body("Skill/s").entries.clone_from(&other.entries);
    let drift = look(&world, &desired);
    let expected =
        ["Agent/a tools changed outside", "Agent/a labels.team changed outside", "Skill/s content changed outside"];
    let mut seen = told(&drift);
    seen.sort_by_key(|t| expected.iter().position(|e| e == t));
    assert_eq!(seen, expected);
    let tools = drift.resources[0].differences.iter().find(|d| d.field.as_deref() == Some("tools")).unwrap();
    assert_eq!(tools.changes[0].path, "tools[bash].enabled");
    let files = &drift.resources[1].differences[0].files;
    assert_eq!(files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["SKILL.md"]);
}

#[test]
fn memories_are_drift_in_enforce_alone() {
    for (mode, expected, exit) in [
        (
            "enforce",
            vec!["MemoryStore/s contents./p/a changed outside", "MemoryStore/s contents./p/new changed outside"],
            3,
        ),
        ("upkeep", vec![], 0),
        ("seed", vec![], 0),
        ("observe", vec![], 0),
    ] {
        let mut desired = project();
        desired.put_store("s", &[("/p", mode)], &[("/p/a", "1"), ("/p/b", "b")]);
        let mut world = World::of(&desired);
        world.remember("MemoryStore/s", "/p/a", Some("9"), Session);
        world.remember("MemoryStore/s", "/p/new", Some("n"), Session);
        let drift = look(&world, &desired);
        assert_eq!(
            (told(&drift), drift_exit_code(&drift)),
            (expected.iter().map(ToString::to_string).collect(), exit),
            "{mode}"
        );
        if mode == "enforce" {
            let d = &drift.resources[0].differences[0];
            assert_eq!((d.actor.as_deref(), d.when.is_some()), (Some("session_1"), true));
            assert!(drift.kept.is_empty());
        } else {
            assert_eq!(drift.kept[0].count, 2, "{mode}");
            assert_eq!(drift.kept[0].newest[0].writer.as_deref(), Some("session_1"));
        }
    }
}

#[test]
fn a_memory_that_another_deleted_and_one_that_waits() {
    let mut desired = project();
    desired.put_store("s", &[("/p", "enforce"), ("/q", "upkeep")], &[("/p/a", "1"), ("/q/a", "1")]);
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/p/a", None, Api);
    desired.put_store("s", &[("/p", "enforce"), ("/q", "upkeep")], &[("/p/a", "1"), ("/q/a", "2"), ("/p/c", "3")]);
    let expected = [
        "MemoryStore/s contents./p/a deleted outside",
        "MemoryStore/s contents./p/c not applied yet",
        "MemoryStore/s contents./q/a not applied yet",
    ];
    assert_eq!(told(&look(&world, &desired)), expected);
}

#[test]
fn ignored_fields_are_counted_and_one_that_is_owned_again_is_told() {
    let (mut world, mut desired) = agent("1", "9", "1");
    desired.resources.get_mut(&address("Agent/a")).unwrap().unowned = vec!["model".into()];
    let record = world.plan(&desired);
    world.apply(&record);
    let drift = look(&world, &desired);
    assert_eq!((told(&drift), drift.ignored), (vec![], 1));
    desired.resources.get_mut(&address("Agent/a")).unwrap().unowned.clear();
    let drift = look(&world, &desired);
    assert_eq!((told(&drift), drift.ignored), (vec!["Agent/a model owned again".into()], 0));
}

#[test]
fn a_scope_is_what_it_names_and_nothing_that_that_needs() {
    let mut desired = project();
    let digest = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "Hi.", &[("s", Some(digest))]);
    let mut world = World::of(&desired);
    world.outside("Skill/s", "labels.x", json!("y"));
    world.outside("Agent/a", "model", json!("9"));
    let only = |text: &str| Options { scope: Scope { only: vec![text.into()], ..Scope::default() }, ..options() };
    assert_eq!(told(&look_with(&world, &desired, &only("Agent/*"))), ["Agent/a model changed outside"]);
    let drift = plan::drift(&desired, &world.live, None, &only("Agent/b"));
    assert_eq!((drift.findings[0].code.as_str(), drift_exit_code(&drift)), ("plan.scope_empty", 1));
}

#[test]
fn what_is_renamed_is_held_against_what_it_was() {
    let (mut world, mut desired) = agent("1", "1", "1");
    let renamed = desired.resources[&address("Agent/a")].spec.clone();
    desired.drop_("Agent/a");
    desired.put("Agent/b", &json!({ "name": renamed["name"], "model": "1", "instructions": "Be kind." }));
    desired.moved.push(serde_json::from_value(json!({ "from": "Agent/a", "to": "Agent/b" })).unwrap());
    assert_eq!(told(&look(&world, &desired)), ["Agent/b - not applied yet"]);
    world.outside("Agent/a", "model", json!("9"));
    assert_eq!(told(&look(&world, &desired)), ["Agent/b model changed outside"]);
}

#[test]
fn what_another_owner_has_now_is_told() {
    let (mut world, desired) = agent("1", "1", "1");
    let mut lost = world.live.resources.remove(&address("Agent/a")).unwrap();
    lost.summary.owner = Some("acme/other".parse().unwrap());
    world.live.retired.insert(address("Agent/a"), lost.summary.id.clone());
    world.live.elsewhere.insert(lost.summary.id.clone(), lost);
    let drift = plan::drift(&desired, &world.live, None, &options());
    let codes: Vec<&str> = drift.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!((codes, drift_exit_code(&drift), drift.unchanged), (vec!["plan.lost"], 4, 1));
}

#[test]
fn what_nobody_owns_is_counted_and_the_first_are_named() {
    let (world, desired) = agent("1", "1", "1");
    let summary = &world.live.resources[&address("Agent/a")].summary;
    let many: Vec<_> = (0..30)
        .map(|i| {
            let mut s = summary.clone();
            (s.id, s.name, s.address) = (format!("agent_{i:02}"), format!("n{i:02}"), None);
            s
        })
        .collect();
    let some = Unmanaged::of(many.clone(), Unmanaged::SHOWN);
    assert_eq!((some.count, some.resources.len(), some.resources[19].name.as_str()), (30, 20, "n19"));
    assert_eq!(Unmanaged::of(many, usize::MAX).resources.len(), 30);
    let drift = plan::drift(&desired, &world.live, Some(some), &options());
    assert_eq!(drift_exit_code(&drift), 0, "what nobody owns is no drift");
}

#[test]
fn equal_digests_tell_the_same_as_a_look_at_all() {
    let mut desired = project();
    desired.put_store("s", &[("/p", "observe")], &[]);
    desired.put("Agent/a", &json!({ "model": "m" })).unowned = vec!["description".into()];
    let mut world = World::of(&desired);
    world.remember("MemoryStore/s", "/p/x", Some("9"), Session);
    let infos = world.body("MemoryStore/s").memories.clone();
    world.live.beside.insert(address("MemoryStore/s"), Beside::of(infos).unwrap());
    let full = look(&world, &desired);
    let short = plan::no_drift(&desired, &world.live, None, &options());
    assert_eq!((short.unchanged, full.unchanged, short.ignored), (2, 2, 1));
    assert_eq!(short.kept, full.kept);
    assert_eq!(full, short);
    assert!(DriftCause::DeletedOutside.is_move() && !DriftCause::OtherRepository.is_move());
}
