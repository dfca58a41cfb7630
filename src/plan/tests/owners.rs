//! What moves between addresses and owners.

use serde_json::{Value, json};

use super::town::{named, project_of};
use super::world::*;
use crate::desired::Desired;
use crate::model::Kind;
use crate::model::config::{Adopt, Moved, Removed};
use crate::model::op::{Moved as By, Referrer, Resolved};
use crate::plan::{Action, Cause, Effect, Finding, Options, Plan, Step, Verb, exit_code};

const A: &str = "acme/support";
const B: &str = "acme/b";

fn moved(from: &str, to: &str) -> Moved {
    Moved { from: address(from), to: address(to) }
}

fn adopt(name: &str, id: &str, from: Option<&str>) -> Adopt {
    Adopt { address: address(name), target: None, id: id.into(), from: from.map(named) }
}

fn removed(name: &str, to: Option<&str>) -> (Removed, Option<crate::diag::Location>) {
    (Removed { address: name.into(), to: to.map(named), keep: to.is_none() }, None)
}

fn find<'p>(plan: &'p Plan, code: &str) -> &'p Finding {
    plan.findings.iter().find(|f| f.code == code).unwrap_or_else(|| panic!("{:?}", plan.findings))
}

fn action<'p>(plan: &'p Plan, id: &str) -> &'p Action {
    plan.actions.iter().find(|a| a.id == id).unwrap_or_else(|| panic!("{:?}", ids(plan)))
}

fn allow(rule: &str) -> Options {
    Options { allowances: vec![rule.parse().unwrap()], ..options() }
}

fn turn(world: &mut World, from: &str, to: &str) {
    world.seen_by(&named(from), &named(to));
}

/// Applied, and nothing is left.
fn settles(world: &mut World, desired: &Desired) -> Plan {
    let plan = world.plan(desired);
    world.apply(&plan);
    let rest = world.plan(desired);
    assert_eq!((ids(&rest), rest.held.len()), (Vec::new(), 0), "{:?} {:?}", rest.findings, rest.held);
    plan
}

fn mount(agent: &str, store: &str) -> (String, Value) {
    let spec = json!({"agent": agent, "memory_store": store, "mount_path": format!("/mnt/{store}")});
    (format!("MemoryMount/{agent}.{store}"), spec)
}

fn support(agent: &str, store: &str) -> Desired {
    let mut desired = project();
    desired.put_store(store, &[("/p", "upkeep")], &[("/p/a", "1")]);
    desired.put_agent(agent, "i", &[]);
    let (name, spec) = mount(agent, store);
    desired.put(&name, &spec);
    let team = json!({"type": "coordinator", "agents": [{"agent": agent}]});
    desired.put("Agent/lead", &json!({"model": "claude-sonnet-5", "multiagent": team}));
    desired
}

#[test]
fn a_rename_keeps_the_resource_and_takes_its_mounts_along() {
    let mut world = World::of(&support("helpdesk", "notes"));
    let before = world.get("Agent/helpdesk").summary.id.clone();
    let mut desired = support("desk", "facts");
    desired.moved = vec![
        moved("Agent/helpdesk", "Agent/front"),
        moved("Agent/front", "Agent/desk"),
        moved("MemoryStore/notes", "MemoryStore/facts"),
        moved("Agent/nothing", "Agent/desk"),
    ];
    let plan = settles(&mut world, &desired);
    let verbs: Vec<(&str, &str)> = plan.actions.iter().map(|a| a.id.split_once('#').unwrap()).collect();
    // The names shown follow the address; what refers to either is settled and nothing else.
    assert_eq!(
        verbs,
        [
            ("Agent/desk", "rename"),
            ("MemoryMount/desk.facts", "rename"),
            ("MemoryStore/facts", "rename"),
            ("MemoryStore/facts", "update"),
            ("Agent/desk", "update"),
            ("Agent/lead", "record"),
            ("MemoryMount/desk.facts", "update"),
        ]
    );
    assert_eq!(world.get("Agent/desk").summary.id, before);
    assert_eq!(action(&plan, "Agent/desk#rename").about.from.as_deref(), Some("Agent/helpdesk"));
    assert_eq!(action(&plan, "Agent/lead#record").depends_on, ["Agent/desk#rename"]);
    assert_eq!(codes(&plan), ["plan.nothing_left"]);
    assert_eq!(codes(&world.plan(&desired)), ["plan.nothing_left"; 4]);
}

#[test]
fn a_moved_skill_with_a_new_name_is_a_replace_and_says_so() {
    let with = |name: &str| {
        let mut desired = project();
        let content = desired.put_files(&format!("Skill/{name}"), files(&[("SKILL.md", name)]));
        desired.put_agent("a", "i", &[(name, Some(content))]);
        desired
    };
    let mut world = World::of(&with("faq"));
    let mut desired = with("answers");
    desired.moved = vec![moved("Skill/faq", "Skill/answers")];
    let plan = settles(&mut world, &desired);
    let want = ["Skill/answers#rename", "Skill/answers#replace", "Agent/a#repoint", "Skill/answers#retire-skill_1"];
    assert_eq!(ids(&plan), want);
    let reason = &action(&plan, "Skill/answers#replace").about.reason;
    assert_eq!(reason, "`name` cannot change in place: what was moved is replaced by a new resource");
}

#[test]
fn a_rename_that_leads_to_what_is_there_is_refused_and_retires_nothing() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    desired.put_agent("b", "i", &[]);
    let world = World::of(&desired);
    desired.drop_("Agent/a");
    desired.moved = vec![moved("Agent/a", "Agent/b")];
    let plan = world.plan(&desired);
    assert_eq!((codes(&plan), ids(&plan)), (vec!["plan.address_taken"], Vec::new()));
    assert_eq!(exit_code(&plan), 4);
    // Out of scope it waits, and what is there under its old name is not taken for undeclared.
    let mut desired = project();
    desired.put_agent("c", "i", &[]);
    desired.put_agent("b", "i", &[]);
    desired.moved = vec![moved("Agent/a", "Agent/c")];
    let mut options = options();
    options.scope.only = vec!["Agent/a".into(), "Agent/b".into()];
    assert_eq!(ids(&world.plan_with(&desired, &options)), Vec::<&str>::new());
}

#[test]
fn adopting_shows_every_difference_and_nothing_is_owned_by_name_alone() {
    let mut live = project();
    live.put(
        "Agent/made",
        &json!({"model": "claude-sonnet-5", "instructions": "theirs", "description": "d", "labels": {"x": "1"}}),
    );
    let mut world = World::new();
    world.unowned(&mut live, "Agent/made", "agent_made");
    let mut desired = project();
    let wanted =
        desired.put("Agent/made", &json!({"model": "claude-sonnet-5", "instructions": "ours", "labels": {"y": "1"}}));
    wanted.unowned = vec!["description".into()];
    wanted.protected = true;
    desired.adopt = vec![adopt("Agent/made", "agent_made", None)];
    let plan = settles(&mut world, &desired);
    assert_eq!(ids(&plan), ["Agent/made#adopt", "Agent/made#update"]);
    let changes: Vec<_> = plan.actions[1].about.changes.iter().map(|c| (c.path.as_str(), c.cause)).collect();
    assert_eq!(changes, [("instructions", Cause::File), ("labels.x", Cause::File), ("labels.y", Cause::File)]);
    let live = world.get("Agent/made");
    assert_eq!((live.summary.id.as_str(), live.summary.protected), ("agent_made", true));
    assert_eq!(live.body.as_ref().unwrap().live["description"], "d");
    assert_eq!(codes(&world.plan(&desired)), ["plan.nothing_left"]);
    // as it is: an adoption and nothing else
    let mut live = project();
    live.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    live.put_store("m", &[], &[("/p/a", "1"), ("/p/b", "theirs")]);
    let mut world = World::new();
    world.unowned(&mut live, "Skill/s", "skill_s");
    world.unowned(&mut live, "MemoryStore/m", "memstore_m");
    let mut desired = project();
    desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_store("m", &[("/p", "upkeep")], &[("/p/a", "1"), ("/p/b", "ours"), ("/p/c", "new")]);
    desired.adopt = vec![adopt("Skill/s", "skill_s", None), adopt("MemoryStore/m", "memstore_m", None)];
    let plan = world.plan(&desired);
    // Nobody of this project wrote what is there: upkeep keeps it, and adds what is not there.
    assert_eq!(ids(&plan), ["MemoryStore/m#adopt", "Skill/s#adopt", "MemoryStore/m#publish"]);
    world.apply(&plan);
    let rest = world.plan(&desired);
    assert_eq!((ids(&rest), rest.notes.kept_memories[&address("MemoryStore/m")]), (Vec::new(), 1));
}

#[test]
fn what_cannot_be_adopted_is_said_and_blocks_that_alone() {
    let mut theirs = project_of(B);
    theirs.put_agent("x", "i", &[]);
    let mut world = World::of(&theirs);
    let id = world.get("Agent/x").summary.id.clone();
    turn(&mut world, B, A);
    let mut desired = project();
    desired.put_agent("x", "j", &[]);
    desired.put_agent("y", "j", &[]);
    desired.put("Environment/e", &json!({}));
    desired.put_agent("free", "j", &[]);
    desired.adopt = vec![
        adopt("Agent/x", &id, None),
        adopt("Agent/y", "agent_none", None),
        adopt("Environment/e", &id, Some(B)),
        adopt("Agent/undeclared", "agent_none", None),
    ];
    let plan = world.plan(&desired);
    let told: Vec<_> = plan.findings.iter().map(|f| (f.code.as_str(), f.effect)).collect();
    let want = [
        ("plan.adopt_missing", Effect::Blocks),
        ("plan.adopt_missing", Effect::Blocks),
        ("plan.owned_elsewhere", Effect::Blocks),
        ("plan.adopt_missing", Effect::Error),
    ];
    assert_eq!(told, want);
    let fix = find(&plan, "plan.owned_elsewhere").fix.clone().unwrap();
    assert!(fix.ends_with(&format!("adopt:\n  - {{address: Agent/x, id: {id}, from: acme/b}}")), "{fix}");
    desired.adopt.pop();
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/free#create"], 4));
    // another owner is named than has it
    desired.adopt = vec![adopt("Agent/x", &id, Some("acme/c"))];
    assert_eq!(
        find(&world.plan(&desired), "plan.owned_elsewhere").message,
        format!("{id} belongs to acme/b as Agent/x, not to acme/c")
    );
}

fn skill_and_user(owner: &str, text: &str) -> Desired {
    let mut desired = project_of(owner);
    let content = desired.put_files("Skill/tone", files(&[("SKILL.md", text)]));
    desired.put_agent("a", "i", &[("tone", Some(content))]);
    desired
}

#[test]
fn a_take_over_names_who_loses_it_and_the_loser_is_told() {
    let mut theirs = skill_and_user(B, "1");
    let mut world = World::of(&theirs);
    turn(&mut world, B, A);
    let mut desired = project();
    desired.put_files("Skill/tone", files(&[("SKILL.md", "2")]));
    desired.adopt = vec![adopt("Skill/tone", "skill_1", Some(B))];
    let plan = settles(&mut world, &desired);
    assert_eq!(ids(&plan), ["Skill/tone#take-over", "Skill/tone#publish"]);
    assert_eq!(plan.actions[0].about.reason, "acme/b loses skill_1");
    assert_eq!(plan.actions[0].about.from.as_deref(), Some("acme/b:Skill/tone"));

    turn(&mut world, A, B);
    let lost = world.live.elsewhere.get_mut("skill_1").unwrap();
    let by = By {
        fields: vec![],
        actor: "kim".into(),
        at: "2026-11-30T10:00:00Z".into(),
        operation: "x".into(),
        break_glass: None,
    };
    lost.summary.since = Some(by);
    let plan = world.plan(&theirs);
    assert_eq!((ids(&plan), exit_code(&plan)), (Vec::new(), 4));
    assert_eq!(
        find(&plan, "plan.lost").message,
        "Skill/tone was lost to acme/support: skill_1 is acme/support:Skill/tone now, kim took it at 2026-11-30T10:00:00Z"
    );
    assert_eq!(plan.held.len(), 0, "the agent did not move");
    assert_eq!(plan.notes.blocked, ["Skill/tone"].map(address), "the agent has nothing to do");
    // no longer declared there is nothing to say, and nothing goes
    let mut without = project_of(B);
    without.put("Agent/a", &json!({"model": "claude-sonnet-5", "instructions": "i", "skills": [{"skill": {"id": "skill_1"}, "follow": "latest"}]}));
    world.live.resolved.insert(
        "skill_1".into(),
        Resolved { key: "skill_1".into(), id: Some("skill_1".into()), kind: Some(Kind::Skill), ..Resolved::default() },
    );
    let plan = world.plan(&without);
    assert_eq!((codes(&plan), ids(&plan)), (Vec::new(), vec!["Agent/a#update"]));
    // or it is taken back
    theirs.adopt = vec![adopt("Skill/tone", "skill_1", Some(A))];
    assert_eq!(ids(&settles(&mut world, &theirs)), ["Skill/tone#take-over", "Skill/tone#publish"]);
}

#[test]
fn what_is_taken_over_stays_protected_until_the_next_plan() {
    let mut theirs = project_of(B);
    theirs.put_agent("a", "i", &[]).protected = true;
    let mut world = World::of(&theirs);
    turn(&mut world, B, A);
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    desired.adopt = vec![adopt("Agent/a", "agent_1", Some(B))];
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), codes(&plan)), (vec!["Agent/a#take-over"], vec!["plan.protection_stays"]));
    world.apply(&plan);
    assert!(world.get("Agent/a").summary.protected);
    assert_eq!(ids(&settles(&mut world, &desired)), ["Agent/a#unprotect"]);
}

#[test]
fn a_held_edit_stays_held_under_a_new_owner() {
    let mut theirs = project_of(B);
    theirs.put_agent("a", "i", &[]);
    let mut world = World::of(&theirs);
    world.outside("Agent/a", "instructions", json!("in an emergency"));
    turn(&mut world, B, A);
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    desired.adopt = vec![adopt("Agent/a", "agent_1", Some(B))];
    let plan = world.plan(&desired);
    assert_eq!((ids(&plan), plan.held.len()), (vec!["Agent/a#take-over"], 1));
    world.apply(&plan);
    let rest = world.plan(&desired);
    assert_eq!((ids(&rest), rest.held.len(), exit_code(&rest)), (Vec::new(), 1, 3));
}

/// The repository of before, and the two that it becomes.
fn split() -> (Desired, Desired, Desired) {
    let before = skill_and_user(A, "1");
    let mut rest = project();
    let spec = json!({"model": "claude-sonnet-5", "instructions": "i", "skills": [
        {"skill": "acme/b:Skill/tone", "content": files(&[("SKILL.md", "1")]).digest},
    ]});
    rest.put("Agent/a", &spec);
    rest.removed = vec![removed("Skill/*", Some(B))];
    let mut moved = project_of(B);
    moved.put_files("Skill/tone", files(&[("SKILL.md", "1")]));
    (before, rest, moved)
}

#[test]
fn a_repository_that_is_split_loses_nothing_whoever_merges_first() {
    // The giver first: the agent is only settled, before and after it is taken.
    let (before, rest, moved) = split();
    let mut world = World::of(&before);
    let plan = settles(&mut world, &rest);
    assert_eq!(ids(&plan), ["Skill/tone#hand-over", "Agent/a#record"]);
    assert_eq!(plan.actions[0].about.reason, "left for acme/b, which takes skill_1 with its next apply");
    assert!(plan.findings.is_empty(), "nothing is retired: {:?}", plan.findings);
    turn(&mut world, A, B);
    let plan = settles(&mut world, &moved);
    assert_eq!(ids(&plan), ["Skill/tone#take-over"]);
    assert_eq!(plan.actions[0].about.reason, "acme/support handed skill_1 over");
    turn(&mut world, B, A);
    assert_eq!(ids(&world.plan(&rest)), Vec::<&str>::new());

    // The taker first: it waits, unless a person says that it is another one.
    let mut world = World::of(&before);
    turn(&mut world, A, B);
    let plan = world.plan(&moved);
    assert_eq!((codes(&plan), ids(&plan), exit_code(&plan)), (vec!["plan.same_address"], Vec::new(), 4));
    let fix = find(&plan, "plan.same_address").fix.clone().unwrap();
    assert!(fix.contains("`removed: [{address: Skill/tone, to: acme/b}]`"), "{fix}");
    let another = world.plan_with(&moved, &allow("same-name=Skill/tone"));
    assert_eq!((ids(&another), exit_code(&another)), (vec!["Skill/tone#create"], 2));
    turn(&mut world, B, A);
    settles(&mut world, &rest);
    turn(&mut world, A, B);
    assert_eq!(ids(&settles(&mut world, &moved)), ["Skill/tone#take-over"]);
    assert_eq!(world.get("Skill/tone").summary.id, "skill_1");
    // An unequal one of the same name may be the same one, changed on the way, and waits as well.
    let mut world = World::of(&before);
    turn(&mut world, A, B);
    let mut other = project_of(B);
    other.put_files("Skill/tone", files(&[("SKILL.md", "another")]));
    let plan = world.plan(&other);
    assert_eq!((ids(&plan), exit_code(&plan)), (Vec::<&str>::new(), 4));
    let said = &find(&plan, "plan.same_address").message;
    assert_eq!(said, "acme/support has Skill/tone too, and another content in it: this one would be a second Skill");
    assert_eq!(ids(&world.plan_with(&other, &allow("same-name=Skill/*"))), ["Skill/tone#create"]);
}

#[test]
fn what_is_the_same_but_for_who_has_what_it_uses_waits_too() {
    // The agent moves and the skill stays: merged first, the new file names the skill as another's.
    let content = files(&[("SKILL.md", "1")]).digest;
    let uses = |skill: &str| {
        let skills = json!([{"skill": skill, "content": content}]);
        json!({"model": "claude-sonnet-5", "instructions": "i", "skills": skills})
    };
    let mut before = skill_and_user(A, "1");
    before.put("Agent/a", &uses("tone"));
    let mut world = World::of(&before);
    let mut takes = project_of(B);
    takes.put("Agent/a", &uses("acme/support:Skill/tone"));
    takes.put_agent("user", "i", &[]);
    let found = Resolved {
        key: "acme/support:Skill/tone".into(),
        id: Some("skill_1".into()),
        kind: Some(Kind::Skill),
        content: Some(content),
        newest: Some(content),
        ..Resolved::default()
    };
    turn(&mut world, A, B);
    for key in [found.key.clone(), format!("{}@{content}", found.key)] {
        world.live.resolved.insert(key, found.clone());
    }
    let plan = world.plan(&takes);
    assert_eq!((ids(&plan), exit_code(&plan)), (vec!["Agent/user#create"], 4));
    let equal = "acme/support has an equal Agent/a: this one would be a second Agent";
    assert_eq!(find(&plan, "plan.same_address").message, equal);
    // Both move, and the agent names the skill as its own: neither is there, and they are the same two.
    let mut both = project_of(B);
    both.put_files("Skill/tone", files(&[("SKILL.md", "1")]));
    both.put("Agent/a", &uses("tone"));
    let plan = world.plan(&both);
    assert_eq!((codes(&plan), ids(&plan)), (vec!["plan.same_address"; 2], Vec::new()));
    assert!(plan.findings.iter().all(|f| f.message.contains("has an equal")), "{:?}", plan.findings);
}

#[test]
fn a_mount_of_another_agent_is_another_mount_whatever_its_name() {
    let mut world = World::of(&support("helpdesk", "notes"));
    turn(&mut world, A, B);
    let same = support("helpdesk", "notes");
    let desired = Desired { owner: named(B), ..same };
    let plan = world.plan(&desired);
    assert_eq!(plan.findings.iter().filter(|f| f.code == "plan.same_address").count(), 3, "{:?}", plan.findings);
    assert_eq!(ids(&plan), Vec::<&str>::new(), "the mount waits for its agent");
    let mut options = options();
    options.allowances = ["Agent/*", "MemoryStore/notes"].map(|a| format!("same-name={a}").parse().unwrap()).to_vec();
    let plan = world.plan_with(&desired, &options);
    assert!(ids(&plan).contains(&"MemoryMount/helpdesk.notes#create"), "{:?} {:?}", ids(&plan), plan.findings);
}

#[test]
fn what_the_receiver_has_already_is_not_handed_over() {
    let (before, rest, moved) = split();
    let mut world = World::of(&before);
    turn(&mut world, A, B);
    let plan = world.plan_with(&moved, &allow("same-name"));
    world.apply(&plan);
    turn(&mut world, B, A);
    let plan = world.plan(&rest);
    assert_eq!(
        find(&plan, "plan.address_taken").message,
        "Skill/tone cannot be handed over: acme/b has skill_3 there already"
    );
    assert!(!ids(&plan).iter().any(|id| id.starts_with("Skill/")), "{:?}", ids(&plan));
}

#[test]
fn what_was_handed_over_and_not_taken_can_be_kept_after_all() {
    let (before, rest, _) = split();
    let mut world = World::of(&before);
    settles(&mut world, &rest);
    let plan = settles(&mut world, &before);
    assert_eq!(ids(&plan), ["Skill/tone#take-over", "Agent/a#record"]);
    assert_eq!(plan.actions[0].about.reason, "skill_1 was handed over, and nobody took it; it stays here");
}

#[test]
fn a_release_leaves_the_resource_as_it_is_and_takes_mounts_along() {
    let mut world = World::of(&support("helpdesk", "notes"));
    let mut desired = project();
    desired.put("Agent/lead", &json!({"model": "claude-sonnet-5", "multiagent": {"type": "coordinator", "agents": [{"agent": {"id": "agent_1"}}]}}));
    let id = world.get("Agent/helpdesk").summary.id.clone();
    desired.put(
        "Agent/lead",
        &json!({"model": "claude-sonnet-5", "multiagent": {"type": "coordinator", "agents": [{"agent": {"id": id}}]}}),
    );
    desired.removed = vec![removed("Agent/helpdesk", None), removed("MemoryStore/notes", None)];
    let plan = settles(&mut world, &desired);
    let want = [
        "Agent/helpdesk#release",
        "MemoryMount/helpdesk.notes#release",
        "MemoryStore/notes#release",
        "Agent/lead#record",
    ];
    assert_eq!(ids(&plan), want);
    assert!(plan.actions.iter().take(3).all(|a| a.verb == Verb::Release && matches!(a.step, Step::Release { .. })));
    assert_eq!(codes(&plan), Vec::<&str>::new(), "what stays is not retired");
    assert_eq!(codes(&world.plan(&desired)), ["plan.nothing_left"; 2]);
}

#[test]
fn followers_of_others_and_newer_versions_of_others_are_told() {
    let mut desired = skill_and_user(A, "1");
    let mut world = World::of(&desired);
    let by = |id: &str, owner: Option<&str>, follows| Referrer {
        to: "skill_1".into(),
        id: id.into(),
        kind: Kind::Agent,
        owner: owner.map(named),
        address: owner.map(|_| address("Agent/desk")),
        name: id.into(),
        follows,
    };
    let all = vec![by("agent_7", Some(B), true), by("agent_8", None, false), by("agent_9", Some(A), false)];
    world.live.referrers.insert("skill_1".into(), all);
    let two = desired.put_files("Skill/tone", files(&[("SKILL.md", "2")]));
    desired.put_agent("a", "i", &[("tone", Some(two))]);
    let plan = world.plan(&desired);
    let publish = action(&plan, "Skill/tone#publish");
    let told: Vec<_> =
        publish.about.followers.iter().map(|f| (f.owner.clone(), f.address.to_string(), f.unowned, f.latest)).collect();
    let want = [
        (None, "Agent/a".to_owned(), false, false),
        (Some(named(B)), "Agent/desk".to_owned(), false, true),
        (None, "Agent/agent_8".to_owned(), true, false),
    ];
    assert_eq!((told.as_slice(), publish.about.live_at_once), (want.as_slice(), 1));

    let (old, new) = (files(&[("SKILL.md", "1")]).digest, files(&[("SKILL.md", "2")]).digest);
    let mut desired = project();
    desired.put(
        "Agent/a",
        &json!({"model": "claude-sonnet-5", "skills": [{"skill": "acme/b:Skill/tone", "content": old}]}),
    );
    let key = "acme/b:Skill/tone".to_owned();
    let found = Resolved {
        key: key.clone(),
        id: Some("skill_1".into()),
        version: Some("skver_1".into()),
        content: Some(old),
        newest: Some(new),
        ..Resolved::default()
    };
    let mut world = World::new();
    world.live.resolved.insert(format!("{key}@{old}"), found.clone());
    world.live.resolved.insert(key, found);
    let plan = world.plan(&desired);
    let note = find(&plan, "plan.newer_version");
    assert_eq!((note.effect, plan.applyable), (Effect::Note, true));
    assert!(note.fix.as_ref().unwrap().ends_with(&new.to_string()));
}

#[test]
fn a_rename_is_offered_as_a_ready_block() {
    let mut desired = project();
    desired.put_files("Skill/one", files(&[("SKILL.md", "1")]));
    desired.put_agent("helpdesk", "i", &[]);
    let mut world = World::of(&desired);
    let mut renamed = project();
    renamed.put_files("Skill/two", files(&[("SKILL.md", "1")]));
    renamed.put_agent("support", "i", &[]);
    let plan = world.plan(&renamed);
    let offers: Vec<_> = plan.findings.iter().filter(|f| f.code == "plan.moved_offer").collect();
    let fixes: Vec<_> = offers.iter().map(|f| f.fix.as_deref().unwrap()).collect();
    let want = [
        "to keep the resource, add to checkfu.yaml:\nmoved:\n  - {from: Agent/helpdesk, to: Agent/support}",
        "to keep the skill with its id and versions, call the folder one again",
    ];
    assert_eq!(fixes, want);
    renamed.moved.clone_from(&plan.notes.moved);
    assert_eq!(renamed.moved, [moved("Agent/helpdesk", "Agent/support")]);
    let plan = world.plan(&renamed);
    assert!(ids(&plan).contains(&"Agent/support#rename") && plan.notes.moved.is_empty());
    // with digests alone, files still tell
    world.live.resources.values_mut().for_each(|r| r.body = None);
    assert!(codes(&world.plan(&renamed)).contains(&"plan.moved_offer"));
}

#[test]
fn what_was_renamed_and_changed_at_once_is_told_as_a_possibility() {
    let text = |last: &str| format!("You answer questions of customers. Be kind and brief. {last}");
    let mut desired = project();
    desired.put_agent("helpdesk", &text("Say hello."), &[]);
    desired.put_agent("other", "Count the days until the end of the year, and nothing else whatsoever.", &[]);
    let world = World::of(&desired);
    let mut renamed = project();
    renamed.put_agent("support", &text("Say goodbye."), &[]);
    let plan = world.plan(&renamed);
    let offers: Vec<_> = plan.findings.iter().filter(|f| f.code == "plan.moved_offer").collect();
    assert_eq!(offers.len(), 1, "{offers:?}");
    assert!(offers[0].message.starts_with("Agent/support may be Agent/helpdesk, renamed and changed"), "{offers:?}");
    let fix = offers[0].fix.as_deref().unwrap();
    assert!(fix.ends_with("moved:\n  - {from: Agent/helpdesk, to: Agent/support}"), "{fix}");
    assert!(plan.notes.moved.is_empty(), "it is not written by `--write-moved`");
}

#[test]
fn what_is_given_up_keeps_what_it_uses_and_makes_room_for_what_is_taken() {
    // The agent goes to another owner; the skill that it uses is declared no more, and stays for it.
    let mut world = World::of(&skill_and_user(A, "1"));
    let mut desired = project();
    desired.put("Environment/e", &json!({}));
    desired.removed = vec![removed("Agent/a", Some(B))];
    let plan = world.plan(&desired);
    assert_eq!(
        (ids(&plan), codes(&plan)),
        (vec!["Agent/a#hand-over", "Environment/e#create"], vec!["plan.still_used"])
    );
    world.apply(&plan);

    // What the receiver has at the address is taken from it by the same plan, under another address.
    let mut theirs = project_of(B);
    theirs.put_agent("x", "theirs", &[]);
    let mut world = World::of(&theirs);
    turn(&mut world, B, A);
    let mut mine = project();
    mine.put_agent("x", "mine", &[]);
    world.apply(&world.clone().plan_with(&mine, &allow("same-name")));
    let mut desired = project();
    desired.put_agent("y", "theirs", &[]);
    desired.removed = vec![removed("Agent/x", Some(B))];
    desired.adopt = vec![adopt("Agent/y", "agent_1", Some(B))];
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/y#take-over", "Agent/x#hand-over", "Agent/y#update"]);
    assert_eq!(plan.actions[1].depends_on, ["Agent/y#take-over"]);
    // One resource is not to be two.
    desired.put_agent("z", "theirs", &[]);
    desired.adopt.push(adopt("Agent/z", "agent_1", Some(B)));
    let plan = world.plan(&desired);
    assert_eq!(find(&plan, "plan.address_taken").message, "agent_1 is to be Agent/z, and another address too");
    assert!(!ids(&plan).iter().any(|id| id.starts_with("Agent/z")));
}
