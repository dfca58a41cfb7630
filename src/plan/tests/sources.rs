//! How the source stands to the one last applied: what is refused, what is said.

use super::findings::{allow, only, skills};
use super::world::*;
use crate::live::OwnerRecord;
use crate::model::op::Source;
use crate::plan::{Effect, Options, SourceRelation, exit_code};

fn source(repository: &str, commit: &str) -> Source {
    let text = |s: &str| Some(s.to_owned());
    Source {
        repository: text(repository),
        path: text(""),
        commit: text(commit),
        dirty: Some(false),
        ..Source::default()
    }
}

#[test]
fn sources() {
    let mut desired = skills(1);
    desired.source = source("github.com/acme/support", "c2");
    let mut world = World::new();
    let at = |s: Source| {
        Some(OwnerRecord { policy: None, source: Some(s), undone: std::collections::BTreeMap::default(), seq: 1 })
    };
    world.live.record = at(source("github.com/acme/support", "c1"));
    let with = |relation: SourceRelation, rules: &[&str]| Options { source_relation: relation, ..allow(rules) };
    assert!(world.plan_with(&desired, &with(SourceRelation::Newer, &[])).findings.is_empty());
    let unknown = world.plan_with(&desired, &with(SourceRelation::Unknown, &[]));
    assert_eq!(only(&unknown), ("plan.source_unknown", Effect::Note, String::new()));
    let older = world.plan_with(&desired, &with(SourceRelation::Older, &[]));
    assert_eq!(only(&older), ("plan.source", Effect::Refuses, String::new()));
    assert!(world.plan_with(&desired, &with(SourceRelation::Older, &["source"])).applyable);
    world.live.record = at(source("github.com/acme/other", "c1"));
    let other = world.plan_with(&desired, &with(SourceRelation::Same, &[]));
    assert_eq!(only(&other), ("plan.source", Effect::Refuses, String::new()));
    // where nothing would be done, nothing is refused
    world.live.record = None;
    let first = world.plan(&desired);
    world.apply(&first);
    world.live.record = at(source("github.com/acme/support", "c3"));
    let idle = world.plan_with(&desired, &with(SourceRelation::Older, &[]));
    assert_eq!((only(&idle).1, exit_code(&idle)), (Effect::Note, 0));
    // A source that does not know the commit may change what is there, and lets nothing go.
    let mut two = skills(2);
    two.source = source("github.com/acme/support", "x1");
    let stranger = world.plan_with(&two, &with(SourceRelation::Stranger, &[]));
    assert_eq!(only(&stranger), ("plan.source", Effect::Note, String::new()));
    world.apply(&stranger);
    desired.source = source("github.com/acme/support", "x2");
    let goes = world.plan_with(&desired, &with(SourceRelation::Stranger, &[]));
    assert_eq!((only(&goes), exit_code(&goes)), (("plan.source", Effect::Refuses, String::new()), 5));
    assert!(world.plan_with(&desired, &with(SourceRelation::Stranger, &["source"])).applyable);
}

#[test]
fn a_source_without_a_commit_is_told_by_its_folder_or_its_remote() {
    let world = World::of(&skills(2));
    let desired = skills(1);
    let folder = Source { folder: Some(sha("here")), ..Source::default() };
    let remote = Source { commit: None, ..source("github.com/acme/support", "") };
    let plan = |last: &Source, now: &Source, relation: SourceRelation| {
        let mut world = world.clone();
        world.live.record = Some(OwnerRecord {
            policy: None,
            source: Some(last.clone()),
            undone: std::collections::BTreeMap::new(),
            seq: 1,
        });
        let desired = crate::desired::Desired { source: now.clone(), ..desired.clone() };
        world.plan_with(&desired, &Options { source_relation: relation, ..options() })
    };
    let same = plan(&folder, &folder, SourceRelation::Same);
    assert_eq!((codes(&same), exit_code(&same)), (vec![], 2));
    let copied = plan(&folder, &folder, SourceRelation::Stranger);
    assert_eq!((only(&copied), exit_code(&copied)), (("plan.source", Effect::Refuses, String::new()), 5));
    let said = format!("{} {}", copied.findings[0].message, copied.findings[0].fix.as_ref().unwrap());
    assert!(said.contains("another folder") && said.contains("moved") && said.contains("--allow source"), "{said}");
    // A record from before folders were noted: said, not refused.
    let old = plan(&Source::default(), &folder, SourceRelation::Unknown);
    assert_eq!((only(&old), exit_code(&old)), (("plan.source_unknown", Effect::Note, String::new()), 2));
    // Of a repository without a commit the remote tells.
    let unborn = plan(&remote, &remote, SourceRelation::Unknown);
    assert_eq!(codes(&unborn), Vec::<&str>::new());
    let left = plan(&remote, &folder, SourceRelation::Unknown);
    assert_eq!((only(&left).1, exit_code(&left)), (Effect::Refuses, 5));
    let local = Source { path: Some("a".into()), commit: Some("c1".into()), ..Source::default() };
    let other = plan(&local, &Source { path: Some(String::new()), ..local.clone() }, SourceRelation::Same);
    let said = &other.findings[0].message;
    assert!(said.contains("the folder a of a repository without a remote") && !said.contains('?'), "{said}");
}
