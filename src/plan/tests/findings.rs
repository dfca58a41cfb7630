//! Every finding, and what answers it.

use serde_json::{Value, json};

use super::world::*;
use crate::desired::Desired;
use crate::live::Live;
use crate::model::Kind;
use crate::model::config::{Adopt, Moved, Removed};
use crate::model::op::{Referrer, Resolved, Summary};
use crate::plan::{self, Effect, Options, Plan, exit_code};

pub(super) fn allow(rules: &[&str]) -> Options {
    let mut options = options();
    options.allowances = rules.iter().map(|r| r.parse().unwrap()).collect();
    options
}

/// Code, effect and address of the only finding.
pub(super) fn only(plan: &Plan) -> (&str, Effect, String) {
    assert_eq!(plan.findings.len(), 1, "{:?}", plan.findings);
    let f = &plan.findings[0];
    (&f.code, f.effect, f.address.as_ref().map(ToString::to_string).unwrap_or_default())
}

pub(super) fn skills(n: usize) -> Desired {
    let mut desired = project();
    for i in 0..n {
        desired.put_files(&format!("Skill/s{i:02}"), files(&[("SKILL.md", &format!("{i}"))]));
    }
    desired
}

#[test]
fn a_share_of_a_kind() {
    let mut desired = skills(20);
    let world = World::of(&desired);
    for i in 0..8 {
        desired.drop_(&format!("Skill/s{i:02}"));
    }
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.retire", Effect::Refuses, String::new()));
    assert_eq!(plan.findings[0].message, "8 of 20 resources of kind Skill would go: 40 %, and the limit is 30 %");
    assert_eq!((exit_code(&plan), plan.actions.len(), plan.applyable), (5, 8, false));
    // allowed for all, for a glob of addresses, or for as many that the rest is within the limit
    for rule in ["retire", "retire=Skill/*", "retire=Skill/s0[0-2]"] {
        assert!(world.plan_with(&desired, &allow(&[rule])).applyable, "{rule}");
    }
    assert!(!world.plan_with(&desired, &allow(&["retire=Skill/s00"])).applyable);
    // six of twenty are within it; and below ten nothing is counted by share
    desired = skills(20);
    (0..6).for_each(|i| desired.drop_(&format!("Skill/s{i:02}")));
    assert!(world.plan(&desired).applyable);
    let few = World::of(&skills(9));
    desired = skills(9);
    (0..8).for_each(|i| desired.drop_(&format!("Skill/s{i:02}")));
    assert!(few.plan(&desired).applyable);
}

#[test]
fn in_all_and_of_one_store_or_tree() {
    let paths: Vec<String> = (0..30).map(|i| format!("/u/{i}")).collect();
    let memories = |n: usize| -> Vec<(&str, &str)> { paths[..n].iter().map(|p| (p.as_str(), p.as_str())).collect() };
    let mut desired = project();
    desired.put_store("m", &[("/u", "upkeep")], &memories(30));
    let world = World::of(&desired);
    desired.put_store("m", &[("/u", "upkeep")], &memories(9));
    let plan = world.plan(&desired);
    assert_eq!(codes(&plan), ["plan.retire", "plan.retire"], "share and count");
    assert!(world.plan_with(&desired, &allow(&["retire=MemoryStore/m"])).applyable);
    // moved with equal content is not gone
    let renamed: Vec<String> = (0..30).map(|i| format!("/u/x{i}")).collect();
    let moved: Vec<_> = renamed.iter().zip(&paths).map(|(p, t)| (p.as_str(), t.as_str())).collect();
    desired.put_store("m", &[("/u", "upkeep")], &moved);
    assert_eq!(codes(&world.plan(&desired)), Vec::<&str>::new());

    let entries: Vec<(&str, &str)> = paths.iter().map(|p| (&p[1..], p.as_str())).collect();
    let mut desired = project();
    desired.put_files("FileTree/t", files(&entries));
    let world = World::of(&desired);
    desired.put_files("FileTree/t", files(&entries[..20]));
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.retire", Effect::Refuses, "FileTree/t".into()));
    assert!(plan.findings[0].message.starts_with("10 of 30 files of FileTree/t would go"));
}

#[test]
fn limits_that_are_loosened_by_what_needs_them() {
    let mut desired = skills(20);
    let mut world = World::of(&desired);
    (0..8).for_each(|i| desired.drop_(&format!("Skill/s{i:02}")));
    desired.policy.max_retire_percent = 50;
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.loosened", Effect::Refuses, String::new()));
    assert!(world.plan_with(&desired, &allow(&["loosened"])).applyable);
    // in a change of its own it is fine
    let mut policy = skills(20);
    policy.policy = desired.policy.clone();
    let plan = world.plan(&policy);
    assert_eq!(ids(&plan), ["owner#policy"]);
    world.apply(&plan);
    assert!(world.plan(&desired).applyable);
}

#[test]
fn nothing_declared() {
    let desired = skills(2);
    let world = World::of(&desired);
    let plan = world.plan(&project());
    assert_eq!(only(&plan), ("plan.empty", Effect::Refuses, String::new()));
    assert!(world.plan_with(&project(), &allow(&["empty"])).applyable);
    assert!(World::new().plan(&project()).findings.is_empty());
}

#[test]
fn what_does_not_come_back() {
    let mut desired = project();
    desired.put_agent("old", "i", &[]);
    desired.put_agent("a", "i", &[]);
    let world = World::of(&desired);
    desired.drop_("Agent/old");
    let plan = world.plan_with(&desired, &allow(&["retire", "empty"]));
    assert_eq!(only(&plan), ("plan.irreversible", Effect::Refuses, "Agent/old".into()));
    assert_eq!(plan.findings[0].fix.as_deref(), Some("add to checkfu.yaml:\nremoved:\n  - {address: Agent/old}"));
    let removed = |address: &str| (Removed { address: address.into(), to: None, keep: false }, None);
    desired.removed = vec![removed("Agent/ol*")];
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), plan.findings.len()), (vec!["Agent/old#retire"], 0));
    // a line with nothing left to do is a note
    let mut world = world;
    world.apply(&plan);
    assert_eq!(only(&world.plan(&desired)), ("plan.nothing_left", Effect::Note, String::new()));
}

#[test]
fn what_another_retired_is_only_cleared() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    desired.put_agent("b", "i", &[]);
    let mut world = World::of(&desired);
    world.archive("Agent/b");
    desired.drop_("Agent/b");
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), plan.findings.len(), plan.held.len()), (vec!["Agent/b#retire"], 0, 0));
    world.apply(&plan);
    assert_eq!(exit_code(&world.plan(&desired)), 0);
}

#[test]
fn destroy_needs_the_owners_name() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    let mut world = World::of(&desired);
    let mut options = allow(&[]);
    options.destroy = true;
    let plan = world.plan_with(&desired, &options);
    assert_eq!(codes(&plan), ["plan.empty", "plan.irreversible"]);
    for finding in &plan.findings {
        assert_eq!(finding.fix.as_deref(), Some("if this is meant: --allow destroy=acme/support"));
    }
    options.allowances = vec!["destroy=acme/other".parse().unwrap()];
    assert!(!world.plan_with(&desired, &options).applyable);
    options.allowances = vec!["destroy=acme/support".parse().unwrap()];
    let plan = world.plan_with(&desired, &options);
    assert!(plan.applyable);
    world.apply(&plan);
    assert!(world.plan_with(&desired, &options).actions.is_empty());
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/a#create"]);
    world.apply(&plan);
}

#[test]
fn protected_and_referred_are_never_allowed() {
    let mut desired = skills(2);
    desired.resources.get_mut(&address("Skill/s00")).unwrap().protected = true;
    let mut world = World::of(&desired);
    let id = world.get("Skill/s01").summary.id.clone();
    let referrer = |owner: Option<&str>| Referrer {
        to: id.clone(),
        id: "agent_9".into(),
        kind: Kind::Agent,
        owner: owner.map(|o| o.parse().unwrap()),
        address: owner.map(|_| address("Agent/billing")),
        name: "Billing".into(),
        follows: false,
    };
    let all = [referrer(Some("acme/billing")), referrer(None), referrer(Some("acme/support"))];
    world.live.referrers.insert(id.clone(), all.to_vec());
    let mut options = allow(&["destroy=acme/support", "retire", "empty"]);
    options.destroy = true;
    let plan = world.plan_with(&desired, &options);
    let refusing: Vec<_> = plan.findings.iter().filter(|f| f.effect == Effect::Refuses).collect();
    assert_eq!(refusing.iter().map(|f| f.code.as_str()).collect::<Vec<_>>(), ["plan.protected", "plan.referred"]);
    assert_eq!(refusing[1].message, "Skill/s01 is used by Agent agent_9, acme/billing:Agent/billing");
}

/// A skill of `n` files, shown under a name.
fn shown(desired: &mut Desired, name: &str, text: &str, n: usize) {
    let texts: Vec<String> = (0..n).map(|i| format!("f{i:02}")).collect();
    let set = files(&texts.iter().map(|t| (t.as_str(), t.as_str())).collect::<Vec<_>>());
    let spec = json!({"content": set.digest, "display_name": text});
    desired.put(name, &spec).content = Some((set, name.to_owned()));
}

#[test]
fn a_replacement_is_held_against_every_rule() {
    let mut desired = project();
    shown(&mut desired, "Skill/s", "Old", 31);
    let mut world = World::of(&desired);
    shown(&mut desired, "Skill/s", "New", 1);
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.retire", Effect::Refuses, "Skill/s".into()));
    assert!(plan.findings[0].message.starts_with("30 of 31 files of Skill/s would go"));
    assert!(world.plan_with(&desired, &allow(&["retire=Skill/s"])).applyable);
    // protected: also where the same plan would unprotect it
    world.get("Skill/s").summary.protected = true;
    for protected in [true, false] {
        shown(&mut desired, "Skill/s", "New", 31);
        desired.resources.get_mut(&address("Skill/s")).unwrap().protected = protected;
        let plan = world.plan_with(&desired, &allow(&["retire"]));
        assert_eq!(only(&plan), ("plan.protected", Effect::Refuses, "Skill/s".into()));
    }
    // and in all: 21 old ones would go
    let (mut old, mut new) = (project(), project());
    for i in 0..21 {
        shown(&mut old, &format!("Skill/s{i}"), "Old", 1);
        shown(&mut new, &format!("Skill/s{i}"), "New", 1);
    }
    let plan = World::of(&old).plan(&new);
    assert_eq!(only(&plan), ("plan.retire", Effect::Refuses, String::new()));
    assert_eq!(plan.findings[0].message, "21 resources and memories would go, and the limit is 20");
}

#[test]
fn a_name_that_nobody_owns() {
    let mut desired = project();
    desired.put("Agent/a", &json!({"name": "Support Bot", "model": "m"}));
    let mut world = World::new();
    world.live.same_name.push(Summary {
        id: "agent_9".into(),
        kind: Kind::Agent,
        owner: None,
        address: None,
        name: "Support Bot".into(),
        version: 1,
        seq: 0,
        protected: false,
        live_digest: None,
        applied_digest: None,
        superseded: false,
        offered: None,
        offered_at: None,
        since: None,
        gone: None,
        content: None,
        content_version: None,
    });
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.same_name", Effect::Refuses, "Agent/a".into()));
    assert_eq!(plan.findings[0].at.as_deref(), Some("Agent/a.yaml:1:1"));
    assert!(world.plan_with(&desired, &allow(&["same-name=Agent/a"])).applyable);
    assert!(!world.plan_with(&desired, &allow(&["same-name=Agent/b"])).applyable);
}

#[test]
fn a_unique_name_that_another_owner_has() {
    let mut desired = project();
    let config = json!({"type": "cloud", "networking": {"type": "unrestricted"}});
    desired.put("Environment/prod", &json!({"name": "prod", "config": config}));
    let theirs = |owner: Option<&str>| Summary {
        id: "env_9".into(),
        kind: Kind::Environment,
        owner: owner.map(|o| o.parse().unwrap()),
        address: owner.map(|_| address("Environment/live")),
        name: "prod".into(),
        version: 1,
        seq: 0,
        protected: false,
        live_digest: None,
        applied_digest: None,
        superseded: false,
        offered: None,
        offered_at: None,
        since: None,
        gone: None,
        content: None,
        content_version: None,
    };
    for (owner, says) in [(Some("acme/other"), "acme/other:Environment/live"), (None, "env_9, which nobody owns")] {
        let mut world = World::new();
        world.live.taken_names.push(theirs(owner));
        let plan = world.plan(&desired);
        assert_eq!(only(&plan), ("plan.name_taken", Effect::Error, "Environment/prod".into()));
        assert!(plan.findings[0].message.contains(says), "{}", plan.findings[0].message);
        // one that was it all along, or takes another name
        let mut world = World::of(&desired);
        world.live.taken_names.push(theirs(owner));
        assert!(world.plan(&desired).findings.is_empty());
    }
}

#[test]
fn a_shared_store_of_another_owner_mounts_read_only() {
    let key = "acme/other:MemoryStore/team";
    let mount = |access: &str| {
        let mut desired = project();
        desired.put("Agent/a", &json!({"model": "m"}));
        let spec = json!({"agent": "a", "memory_store": key, "mount_path": "/mnt/memory/team", "access": access});
        desired.put("MemoryMount/a.team", &spec);
        desired
    };
    let of = |owner: &str| {
        let mut world = World::new();
        let (id, kind) = (Some("memstore_9".into()), Some(Kind::MemoryStore));
        let found = Resolved { key: key.into(), id, kind, store_owner: Some(owner.into()), ..Resolved::default() };
        world.live.resolved.insert(key.into(), found);
        world
    };
    let plan = of("workspace").plan(&mount("read_write"));
    assert_eq!(only(&plan), ("plan.shared_write", Effect::Error, "MemoryMount/a.team".into()));
    assert!(of("workspace").plan(&mount("read_only")).findings.is_empty());
    assert!(of("principal").plan(&mount("read_write")).findings.is_empty());
}

#[test]
fn references_of_other_owners() {
    let mut desired = project();
    let content = sha("tone");
    let skill = json!({"skill": "acme/legal:Skill/tone", "content": content});
    desired.put("Agent/a", &json!({"model": "m", "skills": [skill, {"skill": {"id": "skill_7"}, "follow": "latest"}]}));
    let mut world = World::new();
    assert_eq!(codes(&world.plan(&desired)), ["plan.reference_missing", "plan.reference_missing"]);
    let found = |key: &str, archived: bool, content: Option<crate::model::Digest>| {
        let version = content.map(|_| "skver_1".to_owned());
        let kind = Some(Kind::Skill);
        Resolved {
            key: key.into(),
            id: Some("skill_7".into()),
            kind,
            archived,
            version,
            content,
            ..Resolved::default()
        }
    };
    let resolved = &mut world.live.resolved;
    resolved.insert("skill_7".into(), found("skill_7", true, None));
    resolved.insert("acme/legal:Skill/tone".into(), found("acme/legal:Skill/tone", false, Some(sha("other"))));
    assert_eq!(codes(&world.plan(&desired)), ["plan.reference_archived", "plan.version_missing"]);
    let resolved = &mut world.live.resolved;
    resolved.insert("skill_7".into(), found("skill_7", false, None));
    resolved.insert("acme/legal:Skill/tone".into(), found("acme/legal:Skill/tone", false, Some(content)));
    let plan = world.plan(&desired);
    assert!(plan.findings.is_empty());
    assert_eq!(plan.ids.0["acme/legal:Skill/tone"], "skill_7");
    assert_eq!(plan.ids.0[&format!("acme/legal:Skill/tone@{content}")], "skver_1");
    // another kind has that id
    world.live.resolved.get_mut("skill_7").unwrap().kind = Some(Kind::Agent);
    assert_eq!(codes(&world.plan(&desired)), ["plan.reference_missing"]);
    // one that is in use and is archived later is told of, and nothing else
    world.apply(&plan);
    let used = world.live.resolved.get_mut("skill_7").unwrap();
    (used.kind, used.archived) = (Some(Kind::Skill), true);
    let told = world.plan(&desired);
    assert_eq!(only(&told), ("plan.reference_archived", Effect::Note, "Agent/a".into()));
    assert_eq!((told.actions.len(), told.applyable, exit_code(&told)), (0, true, 0));
}

#[test]
fn what_this_version_cannot_do_is_said() {
    let mut desired = project();
    let git = json!({"kind": "git", "provider": "github", "repository": "acme/site", "ref": "main"});
    desired.put("FileTree/site", &json!({"source": git}));
    desired.put_agent("a", "i", &[]);
    desired.put("FileTreeMount/a.site", &json!({"agent": "a", "file_tree": "site", "mount_path": "/w"}));
    let plan = World::new().plan(&desired);
    assert_eq!(codes(&plan), ["plan.unsupported", "plan.blocked"]);
    assert_eq!((exit_code(&plan), ids(&plan)), (1, vec!["Agent/a#create"]));

    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    desired.put_agent("old", "i", &[]);
    let mut world = World::of(&desired);
    world.outside("Agent/a", "instructions", json!("theirs"));
    desired.put_agent("a", "ours", &[]);
    desired.drop_("Agent/old");
    desired.moved = vec![
        Moved { from: address("Agent/old"), to: address("Agent/a") },
        Moved { from: address("Agent/older"), to: address("Agent/a") },
    ];
    desired.removed = vec![(Removed { address: "Agent/old".into(), to: None, keep: true }, None)];
    let adopt = |name: &str, target: Option<&str>, id: &str| Adopt {
        address: address(name),
        target: target.map(Into::into),
        id: id.into(),
        from: None,
    };
    let id = world.get("Agent/a").summary.id.clone();
    desired.adopt = vec![
        adopt("Agent/x", None, "agent_9"),
        adopt("Agent/x", Some("staging"), "agent_9"),
        adopt("Agent/a", None, &id),
    ];
    let plan = world.plan(&desired);
    let mut count = std::collections::BTreeMap::new();
    for code in codes(&plan) {
        *count.entry(code).or_insert(0) += 1;
    }
    let want = [("plan.address_taken", 1), ("plan.adopt_missing", 1), ("plan.nothing_left", 2)];
    assert_eq!(count.into_iter().collect::<Vec<_>>(), want);
    assert_eq!(exit_code(&plan), 1);
}

#[test]
fn replacements_that_cannot_be() {
    let mut desired = project();
    desired.put_store("m", &[], &[]);
    desired.put_agent("a", "i", &[]);
    let world = World::of(&desired);
    desired.put("MemoryStore/m", &json!({"owner": {"agent": "a"}}));
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.replace_refused", Effect::Error, "MemoryStore/m".into()));
    assert!(plan.findings[0].fix.as_ref().unwrap().contains("removed: [{address: MemoryStore/m}]"));

    let mut desired = project();
    desired.put("Environment/e", &json!({"config": {"type": "cloud"}}));
    let mut world = World::of(&desired);
    world.outside("Environment/e", "description", json!("theirs"));
    desired.put("Environment/e", &json!({"config": {"type": "self_hosted"}}));
    let plan = world.plan(&desired);
    assert_eq!(only(&plan), ("plan.replace_held", Effect::Blocks, "Environment/e".into()));
    assert_eq!((plan.actions.len(), exit_code(&plan)), (0, 4));
    let mut options = options();
    options.revert_all = true;
    let plan = world.plan_with(&desired, &options);
    assert_eq!(ids(&plan), ["Environment/e#replace", "Environment/e#retire-env_1"]);
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn a_conflict_blocks_what_depends_on_it_and_nothing_else() {
    let mut desired = project();
    let one = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_files("Skill/old", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(one)), ("old", None)]);
    desired.put_agent("b", "i", &[]);
    desired.put_store("m", &[], &[]);
    desired.put("MemoryMount/a.m", &json!({"agent": "a", "memory_store": "m", "mount_path": "/mnt/m"}));
    let mut world = World::of(&desired);
    world.outside("Skill/s", "content", json!(sha("theirs")));
    let two = desired.put_files("Skill/s", files(&[("SKILL.md", "2")]));
    desired.put_agent("a", "i", &[("s", Some(two))]);
    desired.put_agent("b", "j", &[]);
    desired.put("MemoryMount/a.m", &json!({"agent": "a", "memory_store": "m", "mount_path": "/mnt/n"}));
    desired.drop_("Skill/old");
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/b#update"]);
    assert_eq!(codes(&plan), ["plan.conflict", "plan.blocked", "plan.blocked", "plan.still_used"]);
    assert_eq!(plan.notes.blocked, ["Agent/a", "MemoryMount/a.m", "Skill/s"].map(address));
    assert_eq!((exit_code(&plan), plan.applyable, plan.complete), (4, true, false));
    world.apply(&plan);
}

#[test]
fn a_snapshot_without_a_body_that_is_needed() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    let mut world = World::of(&desired);
    desired.put_agent("a", "j", &[]);
    world.get("Agent/a").body = None;
    assert_eq!(only(&world.plan(&desired)).0, "plan.not_read");
}

#[test]
fn nothing_is_known_from_one_digest() {
    let mut desired = skills(3);
    desired.put_agent("a", "i", &[]).unowned = vec!["description".into()];
    let world = World::of(&desired);
    let rows = world.live.resources.iter();
    let live = crate::live::owner_digest(
        rows.map(|(a, r)| (a, r.summary.live_digest, r.summary.applied_digest, r.summary.protected)),
    );
    assert_eq!(plan::owner_digest(&desired), live);
    let lean = Live { workspace: world.live.workspace.clone(), ..Live::default() };
    let short = plan::nothing(&desired, &lean, &options());
    let long = world.plan(&desired);
    assert_eq!(plan::check(&short), Vec::<String>::new());
    assert_eq!((&short.digest, short.desired, &short.notes), (&long.digest, long.desired, &long.notes));
    assert_eq!(short.desired, desired.digest());
    assert_eq!(exit_code(&short), 0);
    desired.policy.max_retire = 3;
    assert_eq!(ids(&plan::nothing(&desired, &lean, &options())), ["owner#policy"]);
}

#[test]
fn all_codes_are_reached() {
    // Every code of the file is named by a test of this folder, which the assertions above reach.
    let tests = [
        include_str!("findings.rs"),
        include_str!("scopes.rs"),
        include_str!("files.rs"),
        include_str!("matrix.rs"),
        include_str!("memory.rs"),
        include_str!("order.rs"),
        include_str!("owners.rs"),
        include_str!("accept.rs"),
        include_str!("rolled_back.rs"),
        include_str!("sources.rs"),
    ];
    for code in crate::diag::codes::plan::ALL {
        let named = format!("\"{}\"", code.code);
        assert!(tests.iter().any(|t| t.contains(&named)), "{} is in no test", code.code);
    }
    let _: Value = json!(null);
}

#[test]
fn a_pin_on_what_a_replacement_loses_is_told_with_the_steps() {
    let mut desired = project();
    let old = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(old))]);
    let world = World::of(&desired);
    shown(&mut desired, "Skill/s", "New", 2);
    let plan = world.plan(&desired);
    let finding = plan.findings.iter().find(|f| f.code == "plan.version_missing").unwrap();
    assert!(finding.message.contains("has no old version"), "{}", finding.message);
    assert!(finding.fix.as_ref().unwrap().starts_with("in two steps: "));
}

#[test]
fn a_store_goes_with_its_memories() {
    let paths: Vec<String> = (0..25).map(|i| format!("/u/{i}")).collect();
    let mut desired = project();
    let all: Vec<_> = paths.iter().map(|p| (p.as_str(), "1")).collect();
    desired.put_store("m", &[("/u", "upkeep")], &all);
    desired.put_agent("a", "i", &[]);
    let world = World::of(&desired);
    desired.drop_("MemoryStore/m");
    let plan = world.plan(&desired);
    assert_eq!(codes(&plan), ["plan.irreversible", "plan.retire"]);
    assert!(plan.findings[0].message.contains("with its 25 memories"), "{}", plan.findings[0].message);
    assert_eq!(plan.findings[1].message, "26 resources and memories would go, and the limit is 20");
}
