//! Order, edges, and what is said about an action.

use serde_json::{Value, json};

use super::world::*;
use crate::desired::Desired;
use crate::model::Kind;
use crate::model::op::{Referrer, Resolved};
use crate::plan::{Cause, Effect, FileVerb, Precondition, Step, Verb, exit_code};

#[test]
fn a_skill_that_two_pin_and_one_follows() {
    let mut desired = project();
    let old = desired.put_files("Skill/s", files(&[("SKILL.md", "1"), ("a.md", "a")]));
    for (name, content) in [("a", Some(old)), ("b", Some(old)), ("c", None)] {
        desired.put_agent(name, "i", &[("s", content)]);
    }
    let mut world = World::of(&desired);
    world.live.held_blobs.insert(sha("a"));
    let new = desired.put_files("Skill/s", files(&[("SKILL.md", "22"), ("b.md", "a")]));
    for name in ["a", "b"] {
        desired.put_agent(name, "i", &[("s", Some(new))]);
    }
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Skill/s#publish", "Agent/a#repoint", "Agent/b#repoint"]);
    let publish = &plan.actions[0];
    assert_eq!((publish.about.live_at_once, publish.about.followers.len()), (1, 3));
    assert_eq!(publish.about.upload_bytes, Some(2), "what the workspace holds is not sent");
    let seen: Vec<_> = publish.about.files.iter().map(|f| (f.path.as_str(), f.change)).collect();
    assert_eq!(seen, [("SKILL.md", FileVerb::Modify), ("b.md", FileVerb::Rename)]);
    let repoint = &plan.actions[1];
    assert_eq!(
        (repoint.verb, repoint.depends_on.as_slice()),
        (Verb::Repoint, ["Skill/s#publish".to_owned()].as_slice())
    );
    let change = &repoint.about.changes[0];
    assert_eq!((change.path.as_str(), change.cause), ("skills[s].content", Cause::Reference));
    assert_eq!((&change.before, &change.after), (&Some(json!(old)), &Some(json!(new))));
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn what_is_live_at_once_counts_agents_and_not_their_mounts() {
    let mut desired = project();
    desired.put_store("m", &[("/p", "enforce")], &[("/p/a", "1")]);
    desired.put_files("FileTree/t", files(&[("a", "1")]));
    for name in ["a", "b"] {
        desired.put_agent(name, "i", &[]);
    }
    for (agent, mount) in [("a", "a.m"), ("a", "a.n"), ("b", "b.m")] {
        let path = format!("/mnt/{mount}");
        desired.put(&format!("MemoryMount/{mount}"), &json!({"agent": agent, "memory_store": "m", "mount_path": path}));
    }
    desired.put("FileTreeMount/a.t", &json!({"agent": "a", "file_tree": "t", "mount_path": "/mnt/t"}));
    let world = World::of(&desired);
    desired.put_store("m", &[("/p", "enforce")], &[("/p/a", "2")]);
    desired.put_files("FileTree/t", files(&[("a", "2")]));
    let plan = world.plan(&desired);
    let of = |id: &str| {
        let about = &plan.actions.iter().find(|a| a.id == id).unwrap().about;
        (about.live_at_once, about.followers.iter().map(|f| f.address.to_string()).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(of("MemoryStore/m#publish"), (2, "Agent/a Agent/b".to_owned()));
    assert_eq!(of("FileTree/t#publish"), (1, "Agent/a".to_owned()));
}

#[test]
fn ranks_among_ready_actions() {
    let mut desired = project();
    desired.put_files("Skill/pinned", files(&[("SKILL.md", "1")]));
    desired.put_files("Skill/followed", files(&[("SKILL.md", "1")]));
    desired.put_files("Skill/old", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("followed", None)]);
    let mut world = World::of(&desired);
    desired.put_files("Skill/pinned", files(&[("SKILL.md", "2")]));
    desired.put_files("Skill/followed", files(&[("SKILL.md", "2")]));
    desired.put_agent("a", "j", &[("followed", None)]);
    desired.drop_("Skill/old");
    desired.policy.max_retire = 1;
    let plan = world.plan(&desired);
    let order =
        ["owner#policy", "Skill/pinned#publish", "Agent/a#update", "Skill/followed#publish", "Skill/old#retire"];
    assert_eq!(ids(&plan), order);
    world.apply(&plan);
}

#[test]
fn everything_new_in_order_of_need() {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(content))]);
    desired.put_store("m", &[("/u", "upkeep")], &[("/u/a", "1")]);
    desired.put("MemoryMount/a.m", &json!({"agent": "a", "memory_store": "m", "mount_path": "/mnt/m"}));
    desired.put("Environment/default", &json!({}));
    let world = World::new();
    let plan = world.plan(&desired);
    let order = [
        "Environment/default#create",
        "MemoryStore/m#create",
        "MemoryStore/m#publish",
        "Skill/s#create",
        "Agent/a#create",
        "MemoryMount/a.m#create",
    ];
    assert_eq!(ids(&plan), order);
    let mount = &plan.actions[5];
    assert_eq!(mount.depends_on, ["Agent/a#create", "MemoryStore/m#create", "MemoryStore/m#publish"]);
    assert_eq!(mount.about.capabilities, ["a gains read_only access to m"]);
    assert!(plan.ids.0.is_empty(), "what this plan makes has no id yet");
    let mut world = world;
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn users_go_before_what_they_use() {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", Some(content))]);
    desired.put_agent("b", "i", &[("s", Some(content))]);
    desired.put_store("m", &[], &[]);
    desired.put("MemoryMount/a.m", &json!({"agent": "a", "memory_store": "m", "mount_path": "/mnt/m"}));
    let mut world = World::of(&desired);
    let none = project();
    let mut all = options();
    all.destroy = true;
    all.allowances.push("destroy=acme/support".parse().unwrap());
    let order =
        ["MemoryMount/a.m#retire", "Agent/a#retire", "Agent/b#retire", "MemoryStore/m#retire", "Skill/s#retire"];
    let plan = world.plan_with(&desired, &all);
    assert_eq!(ids(&plan), order);
    assert_eq!(plan.actions[4].depends_on, ["Agent/a#retire", "Agent/b#retire"]);
    // memories move without the store's version
    assert_eq!(plan.actions[3].precondition, Precondition::Store { version: 1, memories: 0 });
    // without bodies the layers alone are known
    let lean = crate::plan::plan(&none, &strip(&world), &all);
    assert_eq!(ids(&lean), order);
    assert_eq!(crate::plan::check(&lean), Vec::<String>::new());
    assert_eq!(lean.actions[3].depends_on, ["Agent/a#retire", "Agent/b#retire", "MemoryMount/a.m#retire"]);
    assert_eq!(lean.actions[4].depends_on, ["MemoryStore/m#retire"]);
    // only the skill goes: its users first let it go
    desired.drop_("Skill/s");
    desired.put_agent("a", "i", &[]);
    desired.put_agent("b", "i", &[]);
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["Agent/a#update", "Agent/b#update", "Skill/s#retire"]);
    assert_eq!(plan.actions[2].depends_on, ["Agent/a#update", "Agent/b#update"]);
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

fn strip(world: &World) -> crate::live::Live {
    let mut live = world.live.clone();
    live.resources.values_mut().for_each(|r| r.body = None);
    live
}

#[test]
fn a_retirement_that_makes_room_goes_first() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    desired.put_store("m", &[], &[]);
    desired.put_store("n", &[], &[]);
    let mount = |store: &str, at: &str| json!({"agent": "a", "memory_store": store, "mount_path": at});
    desired.put("MemoryMount/one", &mount("m", "/mnt/m"));
    desired.put("Environment/one", &json!({"name": "default"}));
    let mut world = World::of(&desired);
    desired.drop_("MemoryMount/one");
    desired.put("MemoryMount/two", &mount("n", "/mnt/m/n"));
    desired.drop_("Environment/one");
    desired.put("Environment/two", &json!({"name": "default", "description": "other"}));
    let plan = world.plan(&desired);
    let order =
        ["MemoryMount/one#retire", "MemoryMount/two#create", "Environment/one#retire", "Environment/two#create"];
    assert_eq!(ids(&plan), order);
    world.apply(&plan);
    // eight stores an agent: the ninth waits for one to go
    for i in 0..8 {
        let store = format!("s{i}");
        desired.put_store(&store, &[], &[]);
        if i < 7 {
            desired.put(&format!("MemoryMount/m{i}"), &mount(&store, &format!("/mnt/s{i}")));
        }
    }
    let plan = world.plan(&desired);
    world.apply(&plan);
    desired.drop_("MemoryMount/m0");
    desired.put("MemoryMount/m7", &mount("s7", "/mnt/s7"));
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan), ["MemoryMount/m0#retire", "MemoryMount/m7#create"]);
}

/// Agents with mounts, each `(mount, agent)`, all of one store.
fn mounted(mounts: &[(String, &str)]) -> crate::desired::Desired {
    let mut desired = project();
    for agent in ["a", "b", "c"] {
        desired.put_agent(agent, "i", &[]);
    }
    desired.put_store("s", &[], &[]);
    for (mount, agent) in mounts {
        let spec = json!({"agent": agent, "memory_store": "s", "mount_path": format!("/{mount}")});
        desired.put(&format!("MemoryMount/{mount}"), &spec);
    }
    desired
}

/// `x0`, `x1` …, `n` of them on one agent.
fn full<'a>(letter: &str, agent: &'a str, n: usize) -> Vec<(String, &'a str)> {
    (0..n).map(|i| (format!("{letter}{i}"), agent)).collect()
}

#[test]
fn a_mount_that_comes_from_another_agent_waits_for_room() {
    // one goes for good, and one comes from `a`
    let mounts = [full("n", "b", 8), vec![("m".into(), "a")]].concat();
    let mut world = World::of(&mounted(&mounts));
    let mut next = mounts.clone();
    next.remove(2);
    next.last_mut().unwrap().1 = "b";
    let desired = mounted(&next);
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan)[..2], ["MemoryMount/n2#retire", "MemoryMount/m#replace"]);
    assert_eq!(plan.actions[1].depends_on, ["MemoryMount/n2#retire"]);
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
    // one leaves for `a`, and a new one comes, and one from `c`
    let mounts = [full("n", "b", 8), vec![("m".into(), "c")]].concat();
    let mut world = World::of(&mounted(&mounts));
    let mut next = mounts.clone();
    (next[0].1, next[1].1, next[8].1) = ("a", "a", "b");
    next.push(("k".into(), "b"));
    let desired = mounted(&next);
    let plan = world.plan(&desired);
    world.apply(&plan);
    let needs = |id: &str| plan.actions.iter().find(|a| a.id == id).unwrap().depends_on.clone();
    let mut handed = [needs("MemoryMount/m#replace"), needs("MemoryMount/k#create")].concat();
    handed.sort();
    assert_eq!(handed, ["MemoryMount/n0#replace", "MemoryMount/n1#replace"]);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn full_agents_exchange_mounts_only_where_one_has_room() {
    for (of_a, effect) in [(8, Some(Effect::Blocks)), (7, None)] {
        let mounts = [full("m", "a", of_a), full("n", "b", 8)].concat();
        let mut world = World::of(&mounted(&mounts));
        let mut next = mounts.clone();
        next[0].1 = "b";
        next.last_mut().unwrap().1 = "a";
        let desired = mounted(&next);
        let plan = world.plan(&desired);
        assert_eq!(plan.findings.iter().map(|f| f.effect).next(), effect, "{of_a}");
        assert_eq!(exit_code(&plan), if effect.is_some() { 4 } else { 2 });
        world.apply(&plan);
        assert!(world.plan(&desired).actions.is_empty());
        if effect.is_none() {
            let of = |id: &str| plan.actions.iter().find(|a| a.id == id).unwrap().depends_on.clone();
            assert_eq!(of("MemoryMount/m0#replace"), ["MemoryMount/n7#replace"], "`a` has room and takes first");
        }
    }
}

#[test]
fn a_replacement_and_who_refers_to_it() {
    let mut desired = project();
    let set = files(&[("SKILL.md", "1")]);
    let content = desired.put_files("Skill/s", set.clone());
    desired.put_agent("a", "i", &[("s", Some(content))]);
    desired.put_agent("b", "i", &[("s", None)]);
    let mut world = World::of(&desired);
    desired.put("Skill/s", &json!({"display_name": "Better", "content": content})).content =
        Some((set, "skills/s".into()));
    let plan = world.plan(&desired);
    let order = ["Skill/s#replace", "Agent/a#repoint", "Agent/b#repoint", "Skill/s#retire-skill_1"];
    assert_eq!(ids(&plan), order);
    let Step::Create { replaces, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(
        (replaces.as_deref(), &plan.actions[0].precondition),
        (Some("skill_1"), &Precondition::Version { version: 1 })
    );
    let lean = crate::plan::plan(&desired, &world.snapshot(&desired), &options());
    assert_eq!(ids(&lean), order);
    // it stopped half-way: the old one waits, and one agent still has its id
    let mut half = plan.clone();
    half.actions.truncate(2);
    world.apply(&half);
    let rest = world.plan(&desired);
    assert_eq!(ids(&rest), ["Agent/b#repoint", "Skill/s#retire-skill_1"]);
    assert!(rest.held.is_empty());
    world.apply(&rest);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn a_superseded_one_that_the_workspace_says_is_used_is_left_by_its_user_first() {
    let mut desired = project();
    desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    desired.put_agent("a", "i", &[("s", None)]);
    let mut world = World::of(&desired);
    let mut old = world.get("Skill/s").clone();
    old.summary.id = "skill_0".into();
    old.summary.superseded = true;
    world.live.superseded.push(old);
    let referrer = Referrer {
        to: "skill_0".into(),
        id: world.get("Agent/a").summary.id.clone(),
        kind: crate::model::Kind::Agent,
        owner: Some(owner()),
        address: Some(address("Agent/a")),
        name: "a".into(),
        follows: true,
    };
    world.live.referrers.insert("skill_0".into(), vec![referrer]);
    assert_eq!(ids(&world.plan(&desired)), ["Agent/a#repoint", "Skill/s#retire-skill_0"]);
}

#[test]
fn what_took_the_place_of_another_owners_resource_is_pointed_to() {
    let mut desired = project();
    let foreign = |kind: &str| format!("acme/legal:{kind}/x");
    let skills = json!([{"skill": foreign("Skill"), "follow": "latest"}]);
    desired.put("Agent/a", &json!({"model": "m", "skills": skills}));
    let mount = |tree: Value| json!({"agent": "a", "file_tree": tree, "mount_path": "/x", "access": "read_only"});
    desired.put("FileTreeMount/m", &mount(json!(foreign("FileTree"))));
    let mut world = World::new();
    for key in [foreign("Skill"), foreign("FileTree")] {
        let kind = Some(if key.contains("Skill") { Kind::Skill } else { Kind::FileTree });
        let found = Resolved { key: key.clone(), id: Some("new_1".into()), kind, ..Resolved::default() };
        world.live.resolved.insert(key, found);
    }
    let first = world.plan(&desired);
    world.apply(&first);
    // Both were replaced by their owner: what is live names the old ids.
    world.outside("Agent/a", "skills", json!([{"skill": {"id": "skill_0"}, "follow": "latest"}]));
    world.outside("FileTreeMount/m", "file_tree", json!({"id": "ftree_0"}));
    for (id, kind) in [("skill_0", "Skill"), ("ftree_0", "FileTree")] {
        let at = ("acme/legal".parse().unwrap(), address(&format!("{kind}/x")));
        world.live.successors.insert(id.into(), at);
    }
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan)[..2], ["Agent/a#repoint", "FileTreeMount/m#replace"]);
    assert!(plan.held.is_empty(), "{:?}", plan.held);
    // Where somebody moved the list besides, it stays as any other field that moved live.
    world.outside(
        "Agent/a",
        "skills",
        json!([{"skill": {"id": "skill_0"}, "follow": "latest"}, {"anthropic": "xlsx"}]),
    );
    let plan = world.plan(&desired);
    assert_eq!(ids(&plan)[..1], ["FileTreeMount/m#replace"]);
    assert_eq!(plan.held[0].field.as_deref(), Some("skills"));
}

#[test]
fn numbers_of_the_workspace_become_content() {
    let mut desired = project();
    let content = desired.put_files("Skill/s", files(&[("SKILL.md", "1")]));
    let spec = json!({"model": "m", "skills": [{"skill": "s", "version": 1}]});
    desired.put("Agent/a", &spec);
    let mut world = World::new();
    let mut skill = desired.clone();
    skill.drop_("Agent/a");
    let plan = world.plan(&skill);
    world.apply(&plan);
    assert_eq!(codes(&world.plan(&desired)), ["plan.version_missing"]);
    let found = Resolved {
        key: "Skill/s".into(),
        id: Some("skill_1".into()),
        version: Some("skill_1.v1".into()),
        content: Some(content),
        ..Resolved::default()
    };
    world.live.resolved.insert("Skill/s#1".into(), found);
    let plan = world.plan(&desired);
    let Step::Create { spec, .. } = &plan.actions[0].step else { panic!() };
    assert_eq!(spec["skills"], json!([{"skill": "s", "content": content}]));
    assert_eq!(plan.ids.0[&format!("Skill/s@{content}")], "skill_1.v1");
    world.apply(&plan);
    assert!(world.plan(&desired).actions.is_empty());
}

#[test]
fn places_and_deep_paths() {
    let mut desired = project();
    let tools =
        |bash: bool| json!([{"type": "agent_toolset_20260401", "configs": [{"name": "bash", "enabled": bash}]}]);
    desired.put("Agent/a", &json!({"model": "m", "tools": tools(true), "instructions": "one\ntwo"}));
    let world = World::of(&desired);
    let wanted = desired.put("Agent/a", &json!({"model": "m", "tools": tools(false), "instructions": "one\n2"}));
    let mut at = crate::diag::Location::file("agents/a.md");
    (at.line, at.column) = (7, 3);
    wanted.places.insert("tools", at);
    let plan = world.plan(&desired);
    let about = &plan.actions[0].about;
    let seen: Vec<_> = about.changes.iter().map(|c| (c.path.as_str(), c.at.as_deref().unwrap())).collect();
    assert_eq!(seen, [("instructions", "Agent/a.yaml:1:1"), ("tools[bash].enabled", "agents/a.md:7:3")]);
    assert_eq!(about.capabilities, ["may no longer use bash"]);
}

#[test]
fn capabilities() {
    let mut desired = project();
    let agent = |policy: &str, skills: serde_json::Value, path: &str| {
        let url = format!("https://crm.example.com{path}");
        json!({"model": "m", "skills": skills, "mcp_servers": [{"name": "crm", "url": url}], "tools": [
            {"type": "mcp_toolset", "mcp_server_name": "crm", "configs": [{"name": "find", "permission_policy": {"type": policy}}]}]})
    };
    let env = |net: serde_json::Value| json!({"config": {"type": "cloud", "networking": net}});
    desired.put("Agent/a", &agent("always_ask", json!([{"anthropic": "xlsx"}]), "?token=abc"));
    desired.put("Environment/e", &env(json!({"type": "limited", "allowed_hosts": ["a.example.com"]})));
    let world = World::of(&desired);
    desired.put("Agent/a", &agent("always_allow", json!([{"anthropic": "pdf"}]), "/mcp?token=abc"));
    desired.put("Environment/e", &env(json!({"type": "unrestricted"})));
    let plan = world.plan(&desired);
    assert_eq!(plan.actions[0].about.capabilities, ["network loosened: limited → unrestricted"]);
    let lines = &plan.actions[1].about.capabilities;
    let want = [
        "no longer asks before crm/find (always_ask → always_allow)",
        "has the skill pdf",
        "no longer has the skill xlsx",
        "reaches https://crm.example.com/mcp",
        "no longer reaches https://crm.example.com",
    ];
    assert_eq!(lines, &want);
}

#[test]
fn a_name_that_another_keeps_blocks_and_what_waits_for_it_is_a_note() {
    let mut desired = project();
    let name = |name: &str| json!({ "name": name });
    for (of, shown) in [("a", "x"), ("b", "y"), ("c", "z")] {
        desired.put(&format!("Environment/{of}"), &name(shown));
    }
    let world = World::of(&desired);
    desired.put("Environment/b", &name("x"));
    desired.put("Environment/c", &name("y"));
    let plan = world.plan(&desired);
    let seen: Vec<_> = plan.findings.iter().map(|f| (f.effect, f.message.as_str())).collect();
    let want = [
        (Effect::Blocks, "Environment/b waits for Environment/a, which has its name or its place"),
        (Effect::Note, "Environment/c waits for Environment/b, which has its name or its place"),
    ];
    assert_eq!(seen, want);
    assert_eq!((plan.actions.len(), exit_code(&plan)), (0, 4));
}

/// Mounts of agent `a`: name and path, each of a store of its own.
fn mounts(desired: &mut Desired, all: &[(&str, &str)]) {
    for (name, path) in all {
        let store = format!("{name}s");
        desired.put(&format!("MemoryStore/{store}"), &json!({}));
        let spec = json!({"agent": "a", "memory_store": store, "mount_path": path});
        desired.put(&format!("MemoryMount/{name}"), &spec);
    }
}

#[test]
fn of_mounts_that_exchange_places_one_is_made_anew() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    mounts(&mut desired, &[("m", "/a"), ("n", "/b"), ("o", "/c"), ("p", "/d")]);
    let mut world = World::of(&desired);
    let id = world.get("MemoryMount/m").summary.id.clone();
    // m and n exchange places by way of o; p takes the place of none.
    mounts(&mut desired, &[("m", "/b/deep"), ("n", "/c"), ("o", "/a"), ("p", "/e")]);
    let plan = world.plan(&desired);
    let order = ["MemoryMount/p#update", "MemoryMount/m#retire", "MemoryMount/o#update", "MemoryMount/n#update"];
    assert_eq!(ids(&plan), [&order[..], &["MemoryMount/m#create"]].concat());
    let Precondition::Absent { since } = &plan.actions[4].precondition else { panic!("{plan:?}") };
    assert_eq!(since.as_ref(), Some(&id));
    assert_eq!(plan.actions[4].about.changes[0].path, "mount_path");
    assert!(plan.findings.is_empty(), "{:?}", plan.findings);
    world.apply(&plan);
    let again = world.plan(&desired);
    assert!(again.actions.is_empty() && again.held.is_empty(), "{again:?}");
}

#[test]
fn what_cannot_let_go_first_is_told_before_anything_is_done() {
    let mut desired = project();
    desired.put_agent("a", "i", &[]);
    mounts(&mut desired, &[("m", "/a"), ("n", "/b")]);
    for name in ["MemoryMount/m", "MemoryMount/n"] {
        desired.resources.get_mut(&address(name)).unwrap().protected = true;
    }
    for name in ["e", "f"] {
        desired.put(&format!("Environment/{name}"), &json!({"name": name, "config": {"type": "cloud"}}));
    }
    let world = World::of(&desired);
    let mut other = desired.clone();
    mounts(&mut other, &[("m", "/b"), ("n", "/a")]);
    for name in ["MemoryMount/m", "MemoryMount/n"] {
        other.resources.get_mut(&address(name)).unwrap().protected = true;
    }
    let plan = world.plan(&other);
    assert_eq!((codes(&plan), plan.applyable), (vec!["plan.exchange", "plan.blocked"], false));
    assert!(plan.findings[0].fix.as_ref().unwrap().contains("two steps"));
    // Names of environments, which are known by their ids.
    for (name, shown) in [("e", "f"), ("f", "e")] {
        desired.put(&format!("Environment/{name}"), &json!({"name": shown, "config": {"type": "cloud"}}));
    }
    assert_eq!(codes(&world.plan(&desired)), ["plan.exchange", "plan.blocked"]);
}

#[test]
fn a_replaced_mount_tells_what_is_lost_and_gained() {
    let mut desired = project();
    for agent in ["a", "b"] {
        desired.put_agent(agent, "i", &[]);
    }
    for store in ["public", "payroll"] {
        desired.put_store(store, &[], &[]);
    }
    let mount = |agent: &str, store: &str| json!({"agent": agent, "memory_store": store, "mount_path": "/m"});
    desired.put("MemoryMount/m", &mount("a", "public"));
    let world = World::of(&desired);
    for (agent, store) in [("a", "payroll"), ("b", "public")] {
        desired.put("MemoryMount/m", &mount(agent, store));
        let plan = world.plan(&desired);
        let want =
            ["a loses read_only access to public".to_owned(), format!("{agent} gains read_only access to {store}")];
        assert_eq!(plan.actions[0].about.capabilities, want);
    }
}

#[test]
fn a_network_of_another_kind_is_changed_and_an_identity_is_told() {
    let mut desired = project();
    let limited = json!({"config": {"type": "cloud", "networking": {"type": "limited"}}});
    desired.put("Environment/e", &limited);
    desired.put("Agent/a", &json!({"model": "m"}));
    let world = World::of(&desired);
    desired.put("Environment/e", &json!({"config": {"type": "self_hosted"}}));
    let identity = json!({"type": "aws_role", "role_arn": "arn:1"});
    desired.put("Agent/a", &json!({"model": "m", "execution_identity": identity}));
    let plan = world.plan(&desired);
    let mut lines: Vec<&String> = plan.actions.iter().flat_map(|a| &a.about.capabilities).collect();
    lines.sort();
    assert_eq!(lines, ["acts as arn:1 aws_role", "network changed: limited → self_hosted"]);
}
