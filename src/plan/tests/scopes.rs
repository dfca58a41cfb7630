//! Scopes: what they take along, and selectors that name nothing.

use serde_json::json;

use super::world::*;
use crate::desired::Desired;
use crate::diag::Location;
use crate::live::Live;
use crate::model::config::Policy;
use crate::plan::{self, Options, Plan, Scope, exit_code};

fn scoped(only: &[&str], exclude: &[&str], labels: &[(&str, &str)]) -> Options {
    let own = |v: &[&str]| v.iter().map(|s| (*s).to_owned()).collect();
    let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Options { scope: Scope { only: own(only), exclude: own(exclude), labels }, ..options() }
}

/// Code of the only finding.
fn only(plan: &Plan) -> (&str, usize) {
    assert_eq!(plan.findings.len(), 1, "{:?}", plan.findings);
    (&plan.findings[0].code, plan.actions.len())
}

/// An agent with a mount written in it, one of its own, and the store.
fn mounted() -> Desired {
    let mut desired = project();
    let labels = json!({"model": "m", "labels": {"team": "x"}});
    desired.put("Agent/a", &labels).at = Location::file("agents/a.md");
    desired.put_store("m", &[("/p", "upkeep")], &[("/p/x.md", "1")]);
    for (name, path) in [("a.m", "/mnt/m"), ("own", "/mnt/own")] {
        let mount = json!({"agent": "a", "memory_store": "m", "mount_path": path});
        desired.put(&format!("MemoryMount/{name}"), &mount);
    }
    desired
}

#[test]
fn what_is_put_back_may_be_named_by_a_glob() {
    let mut desired = project();
    for name in ["a", "b"] {
        desired.put_agent(name, "i", &[]);
    }
    let mut world = World::of(&desired);
    for name in ["Agent/a", "Agent/b"] {
        world.outside(name, "instructions", serde_json::json!("theirs"));
    }
    let put_back = |text: &str| {
        let mut options = options();
        options.revert.add(text);
        let plan = world.plan_with(&desired, &options);
        (ids(&plan).len(), plan.held.len(), codes(&plan).contains(&"plan.scope_empty"))
    };
    assert_eq!(put_back("Agent/*"), (2, 0, false));
    assert_eq!(put_back("Agent/a"), (1, 1, false));
    assert_eq!(put_back("Agent/{x,y}"), (0, 2, true));
}

#[test]
fn scopes() {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(content))]);
    let spec = json!({"model": "m", "labels": {"team": "x"}});
    desired.put("Agent/b", &spec);
    desired.put_files("Skill/old", files(&[("SKILL.md", "1")]));
    let empty = World::new();
    let run = |o: &Options| ids(&empty.plan_with(&desired, o)).join(" ");
    // what it depends on comes along
    assert_eq!(run(&scoped(&["Agent/a"], &[], &[])), "Skill/s#create Agent/a#create");
    assert_eq!(run(&scoped(&["Agent/*"], &["Agent/a"], &[])), "Agent/b#create");
    assert_eq!(run(&scoped(&[], &[], &[("team", "x")])), "Agent/b#create");
    assert_eq!(run(&scoped(&["Agent/b.yaml"], &[], &[])), "Agent/b#create");
    assert_eq!(run(&scoped(&["files/Skill/s"], &[], &[])), "Skill/s#create");
    let plan = empty.plan_with(&desired, &scoped(&["Agent/b"], &["Skill/*"], &[("team", "x")]));
    assert_eq!((plan.scope.join(" ").as_str(), plan.complete), ("Agent/b --exclude Skill/* -l team=x", false));
    let plan = empty.plan_with(&desired, &scoped(&["Agent/zz"], &[], &[]));
    assert_eq!((only(&plan).0, exit_code(&plan)), ("plan.scope_empty", 1));
    let plan = empty.plan_with(&desired, &scoped(&["Agent/a"], &["Skill/s"], &[]));
    assert_eq!((only(&plan).0, plan.actions.len()), ("plan.excluded", 0));
    // it never retires anything outside, nor changes the policy
    let world = World::of(&desired);
    desired.drop_("Skill/old");
    desired.policy = Policy { max_retire: 1, ..Policy::default() };
    let run = |o: &Options| ids(&world.plan_with(&desired, o)).join(" ");
    assert_eq!(run(&scoped(&["Agent/*"], &[], &[])), "");
    assert_eq!(run(&scoped(&[], &["Skill/old"], &[])), "");
    assert_eq!(run(&scoped(&[], &[], &[("team", "x")])), "");
    assert_eq!(run(&scoped(&["Skill/*"], &[], &[])), "Skill/old#retire");
}

#[test]
fn what_is_used_outside_the_scope_stays() {
    let mut desired = project();
    desired.put_files("Skill/old", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("old", None)]);
    let world = World::of(&desired);
    desired.drop_("Skill/old");
    desired.put_agent("a", "i", &[]);
    let options = Options { scope: Scope { only: vec!["Skill/*".into()], ..Scope::default() }, ..options() };
    let plan = world.plan_with(&desired, &options);
    assert_eq!((only(&plan).0, plan.actions.len()), ("plan.still_used", 0));
}

#[test]
fn an_agent_takes_its_inline_mounts_along() {
    let desired = mounted();
    let world = World::new();
    let run = |o: &Options| {
        let plan = world.plan_with(&desired, o);
        assert!(plan.findings.is_empty(), "{:?}", plan.findings);
        let mut ids: Vec<String> = ids(&plan).into_iter().map(str::to_owned).collect();
        ids.retain(|id| !id.ends_with("#publish"));
        ids.sort();
        ids.join(" ")
    };
    let with = "Agent/a#create MemoryMount/a.m#create MemoryStore/m#create";
    assert_eq!(run(&scoped(&["Agent/a"], &[], &[])), with);
    assert_eq!(run(&scoped(&[], &[], &[("team", "x")])), with);
    assert_eq!(run(&scoped(&[], &["Agent/a", "MemoryMount/own"], &[])), "MemoryStore/m#create");
    // and where it was taken out of the agent, it goes with the agent's scope
    let world = World::of(&mounted());
    let mut desired = mounted();
    desired.drop_("MemoryMount/a.m");
    let ids_of = |o: &Options| ids(&world.plan_with(&desired, o)).join(" ");
    assert_eq!(ids_of(&scoped(&["Agent/a"], &[], &[])), "MemoryMount/a.m#retire");
    assert_eq!(ids_of(&scoped(&[], &["Agent/a"], &[])), "");
}

#[test]
fn any_file_of_a_resource_names_it() {
    let mut desired = mounted();
    desired.put_files("Skill/s", files(&[("SKILL.md", "1"), ("a/b.md", "2")]));
    desired.put_files("FileTree/t", files(&[("x.md", "1")]));
    let prompt = Location::file("prompts/a.md");
    desired.resources.get_mut(&address("Agent/a")).unwrap().places.insert("instructions", prompt);
    let world = World::new();
    for (path, first) in [
        ("files/Skill/s/SKILL.md", "Skill/s"),
        ("files/Skill/s/a", "Skill/s"),
        ("./files/FileTree/t/*.md", "FileTree/t"),
        ("memory/p/x.md", "MemoryStore/m"),
        ("prompts/a.md", "Agent/a"),
        ("agents/a.md", "Agent/a"),
    ] {
        let plan = world.plan_with(&desired, &scoped(&[path], &[], &[]));
        assert!(plan.findings.is_empty() && ids(&plan)[0].starts_with(first), "{path}: {:?}", plan.findings);
    }
    let plan = world.plan_with(&desired, &scoped(&["files/Skill/s/c.md"], &[], &[]));
    assert_eq!(only(&plan), ("plan.scope_empty", 0));
}

#[test]
fn the_project_folder_itself_is_all() {
    let desired = mounted();
    let world = World::new();
    let all = world.plan_with(&desired, &options());
    for path in [".", "./"] {
        assert_eq!(ids(&world.plan_with(&desired, &scoped(&[path], &[], &[]))), ids(&all), "{path}");
    }
    let gone = World::of(&desired);
    let nothing = Desired { resources: std::collections::BTreeMap::new(), ..mounted() };
    assert_eq!(ids(&gone.plan_with(&nothing, &scoped(&["."], &[], &[]))).len(), desired.resources.len());
}

#[test]
fn selectors_that_name_nothing() {
    let desired = mounted();
    let world = World::of(&desired);
    let mut revert = options();
    revert.revert.add("Agent/b");
    let mut allow = options();
    allow.allowances = vec!["retire=MemoryStore/n".parse().unwrap()];
    let cases = [
        (scoped(&["Agent/zzzzzz"], &[], &[]), "`Agent/zzzzzz` names no resource", "one of `Agent/a`"),
        (scoped(&["Agent"], &[], &[]), "`Agent` names no resource", "all of a kind: Agent/*"),
        (scoped(&["agents/b.md"], &[], &[]), "`agents/b.md` names no resource", "write an address"),
        (scoped(&[], &["Agent/b"], &[]), "`--exclude Agent/b` names no resource", "did you mean `Agent/a`?"),
        (scoped(&[], &[], &[("team", "y")]), "`-l team=y` names no resource", "labels that there are: `team=x`"),
        (scoped(&[], &[], &[("tem", "x")]), "`-l tem=x` names no resource", "labels that there are: `team`"),
        (scoped(&["MemoryStore/m"], &[], &[("team", "x")]), "`MemoryStore/m -l team=x` together name no", "leave one"),
        (revert, "`--revert Agent/b` names no resource", "did you mean `Agent/a`?"),
        (allow, "`--allow retire=MemoryStore/n` names no resource", "did you mean `MemoryStore/m`?"),
    ];
    let lean = Live { workspace: world.live.workspace.clone(), ..Live::default() };
    for (options, message, fix) in cases {
        // also where one digest told that nothing differs
        for plan in [world.plan_with(&desired, &options), plan::nothing(&desired, &lean, &options)] {
            assert_eq!((only(&plan), exit_code(&plan)), (("plan.scope_empty", 0), 1));
            let finding = &plan.findings[0];
            assert!(finding.message.starts_with(message), "{}", finding.message);
            assert!(finding.fix.as_ref().unwrap().starts_with(fix), "{:?}", finding.fix);
        }
    }
    let mut bare = project();
    bare.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    let plan = World::new().plan_with(&bare, &scoped(&[], &[], &[("a", "b")]));
    assert_eq!(plan.findings[0].fix.as_deref(), Some("no resource has labels"));
}

#[test]
fn a_content_that_the_excluded_skill_would_publish_names_the_skill() {
    let mut desired = project();
    let old = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(old))]);
    let world = World::of(&desired);
    let new = desired.put_files("Skill/s", files(&[("SKILL.md", "2")]));
    desired.put_agent("a", "i", &[("s", Some(new))]);
    let plan = world.plan_with(&desired, &scoped(&[], &["Skill/s"], &[]));
    assert_eq!(only(&plan).0, "plan.excluded");
    assert_eq!(plan.findings[0].fix.as_deref(), Some("plan Skill/s too"));
}
