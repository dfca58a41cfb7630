//! Two projects in one workspace: what each has, gives, takes and loses.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, agent, config, ran, skill};

/// Two project folders, `a` and `b`, and one workspace beside them.
struct Two(Sandbox);

impl Two {
    fn new() -> Self {
        let two = Self(Sandbox::empty());
        two.lines("a", "");
        two.lines("b", "");
        two
    }

    /// The configuration of a folder, which acts as `acme/FOLDER`, with further lines.
    fn lines(&self, folder: &str, lines: &str) {
        self.owner(folder, &format!("acme/{folder}"), lines);
    }

    fn owner(&self, folder: &str, owner: &str, lines: &str) {
        let targets = "targets: {local: {kind: embedded, path: ../shared.db}}\n";
        self.0.write(&format!("{folder}/checkfu.yaml"), &format!("{}{targets}{lines}", config(owner)));
    }

    fn run(&self, folder: &str, args: &[&str]) -> Ran {
        ran(&self.0.command(args).current_dir(self.0.path(folder)).output().unwrap())
    }

    #[track_caller]
    fn apply(&self, folder: &str) -> Ran {
        self.run(folder, &["apply", "--yes"]).code(0)
    }

    /// The plan is empty.
    #[track_caller]
    fn idle(&self, folder: &str) {
        let ran = self.run(folder, &["plan", "--detailed-exitcode"]).code(0);
        assert!(ran.out.contains("Nothing to do"), "{}", ran.out);
    }

    fn get(&self, folder: &str, address: &str) -> Value {
        self.run(folder, &["get", address, "--json"]).code(0).json()["resources"][0].clone()
    }

    fn id(&self, folder: &str, address: &str) -> String {
        self.get(folder, address)["id"].as_str().unwrap().to_owned()
    }

    fn count(&self, folder: &str) -> usize {
        self.run(folder, &["get", "--json"]).code(0).json()["resources"].as_array().unwrap().len()
    }
}

/// `Skill/tone` in `a`, and an agent that uses it.
fn desk() -> Two {
    let two = Two::new();
    two.0.write("a/skills/tone/SKILL.md", &skill("tone", "Be kind."));
    two.0.write("a/agents/desk.md", &agent("skills: [tone]\n", "You answer.\n"));
    two.apply("a");
    two
}

fn verbs(ran: &Ran) -> Vec<String> {
    ran.json()["actions"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn another_project_can_neither_change_nor_retire_what_is_not_its_own() {
    let two = desk();
    let before = two.get("a", "Skill/tone");
    two.0.write("b/skills/tone/SKILL.md", &skill("tone", "Be brief."));
    // An address counts for its owner alone, and still a second skill is not made without a word.
    let waits = two.run("b", &["plan"]).code(4);
    assert!(waits.out.contains("acme/a has Skill/tone too, and another content in it"), "{}", waits.out);
    let another = ["--allow", "same-name=Skill/tone"];
    let made = two.run("b", &[&["plan", "--json"][..], &another].concat()).code(0);
    assert_eq!(verbs(&made), ["Skill/tone#create"]);
    two.run("b", &[&["apply", "--yes"][..], &another].concat()).code(0);
    two.0.remove("b/skills/tone");
    two.run("b", &["apply", "--yes", "--allow", "empty"]).code(0);
    two.lines("b", "removed: [{address: 'Skill/*'}, {address: 'Agent/*', to: acme/b2}]\n");
    assert_eq!(verbs(&two.run("b", &["plan", "--json"]).code(0)), Vec::<String>::new());
    two.run("b", &["destroy", "--yes", "--allow", "destroy=acme/b"]).code(0);
    assert_eq!((two.get("a", "Skill/tone"), two.count("a")), (before, 2));
    two.idle("a");
}

#[test]
fn a_take_over_names_the_loser_and_the_loser_is_told_by_whom() {
    let two = desk();
    let id = two.id("a", "Skill/tone");
    two.0.write("b/skills/tone/SKILL.md", &skill("tone", "Be brief."));
    two.lines("b", &format!("adopt: [{{address: Skill/tone, id: {id}}}]\n"));
    let plan = two.run("b", &["plan"]).code(4);
    assert!(plan.out.contains(&format!("{id} belongs to acme/a as Skill/tone")), "{}", plan.out);
    two.lines("b", &format!("adopt: [{{address: Skill/tone, id: {id}, from: acme/a}}]\n"));
    let plan = two.run("b", &["plan", "-o", "p.json"]).code(0);
    assert!(
        plan.out.contains("◁ take-over  Skill/tone") && plan.out.contains(&format!("acme/a loses {id}")),
        "{}",
        plan.out
    );
    assert!(two.run("b", &["plan", "--markdown"]).code(0).out.contains("| 🔀 take-over"));

    // A plan is void when the owner that loses it changed it meanwhile.
    two.0.write("a/skills/tone/SKILL.md", &skill("tone", "Be very kind."));
    two.apply("a");
    let late = two.run("b", &["apply", "--plan", "p.json"]).code(4);
    assert!(late.out.contains("stale") && late.out.contains("Skill/tone#take-over"), "{}", late.out);
    two.idle("a");

    two.apply("b");
    assert_eq!(two.id("b", "Skill/tone"), id);
    two.lines("b", "");
    two.idle("b");
    let lost = two.run("a", &["plan"]).code(4);
    assert!(
        lost.out.contains(&format!("Skill/tone was lost to acme/b: {id} is acme/b:Skill/tone now, local took it at")),
        "{}",
        lost.out
    );
    assert!(!lost.out.contains("held"), "{}", lost.out);
    // What it lost it may go on to use, by its new name: nothing live changes.
    two.0.remove("a/skills/tone");
    two.0
        .write("a/agents/desk.md", &agent("skills: [{skill: 'acme/b:Skill/tone', follow: latest}]\n", "You answer.\n"));
    assert_eq!(verbs(&two.run("a", &["plan", "--json"]).code(0)), ["Agent/desk#update"]);
    two.apply("a");
    two.idle("a");
    two.idle("b");
}

#[test]
fn a_copied_configuration_in_another_folder_retires_nothing_and_says_why() {
    let two = desk();
    git2::Repository::init(two.0.dir()).unwrap();
    two.0.write("a/agents/more.md", &agent("", "You help.\n"));
    two.apply("a");
    two.owner("copy", "acme/a", "");
    two.0.write("copy/agents/desk.md", &agent("", "You answer otherwise.\n"));
    let ran = two.run("copy", &["apply", "--yes"]).code(5);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("plan.source") && said.contains("acme/a was last applied from"), "{said}");
    assert!(said.contains("give this project an owner of its own"), "{said}");
    assert_eq!(two.count("a"), 3);
    two.idle("a");
}

#[test]
fn a_protected_store_stays_when_its_manifest_is_deleted_and_the_way_is_said() {
    let two = Two::new();
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: know}\nspec: {}\n";
    two.0.write("a/know.yaml", store);
    two.lines("a", "policy: {protect: ['MemoryStore/*']}\n");
    two.apply("a");
    two.0.remove("a/know.yaml");
    two.lines("a", "removed: [{address: MemoryStore/know}]\n");
    let ran = two.run("a", &["apply", "--yes", "--allow", "empty"]).code(5);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("MemoryStore/know is protected"), "{said}");
    assert!(said.contains("declare it, take it out of `policy.protect`, and apply that first"), "{said}");
    assert_eq!(two.get("a", "MemoryStore/know")["protected"], true);
    // That way leads there.
    two.lines("a", "");
    two.0.write("a/know.yaml", store);
    two.apply("a");
    two.0.remove("a/know.yaml");
    two.lines("a", "removed: [{address: MemoryStore/know}]\n");
    two.run("a", &["apply", "--yes", "--allow", "empty"]).code(0);
    assert_eq!(two.count("a"), 0);
}

/// The files of `a` are split: the skill goes to `b`, and `a` names it there.
fn give(two: &Two) {
    two.0.remove("a/skills/tone");
    two.0
        .write("a/agents/desk.md", &agent("skills: [{skill: 'acme/b:Skill/tone', follow: latest}]\n", "You answer.\n"));
    two.lines("a", "removed: [{address: 'Skill/*', to: acme/b}]\n");
}

fn take(two: &Two) {
    two.0.write("b/skills/tone/SKILL.md", &skill("tone", "Be kind."));
}

#[test]
fn a_repository_is_split_in_either_order_and_nothing_is_lost() {
    for giver_first in [true, false] {
        let two = desk();
        // It follows the newest from the beginning, so that the split changes nothing of the agent.
        two.0.write("a/agents/desk.md", &agent("skills: [{skill: tone, follow: latest}]\n", "You answer.\n"));
        two.apply("a");
        let (id, version) = (two.id("a", "Skill/tone"), two.get("a", "Agent/desk")["version"].clone());
        if !giver_first {
            take(&two);
            let waits = two.run("b", &["apply", "--yes"]).code(4);
            let said = format!("{}{}", waits.out, waits.err);
            assert!(said.contains("acme/a has an equal Skill/tone"), "{said}");
            assert_eq!(two.count("b"), 0);
        }
        give(&two);
        let plan = two.run("a", &["plan"]).code(0);
        assert!(plan.out.contains("▶ hand-over  Skill/tone") && plan.out.contains("left for acme/b"), "{}", plan.out);
        assert_eq!(verbs(&two.run("a", &["plan", "--json"])), ["Skill/tone#hand-over", "Agent/desk#record"]);
        two.apply("a");
        assert!(two.run("a", &["plan", "--detailed-exitcode"]).code(0).out.contains("Nothing to do"));
        take(&two);
        let plan = two.run("b", &["plan"]).code(0);
        assert!(plan.out.contains(&format!("acme/a handed {id} over")), "{}", plan.out);
        assert_eq!(verbs(&two.run("b", &["plan", "--json"])), ["Skill/tone#take-over"]);
        two.apply("b");
        assert_eq!(two.id("b", "Skill/tone"), id);
        assert_eq!(two.get("a", "Agent/desk")["version"], version, "the agent is as it was");
        two.idle("b");
        two.lines("a", "");
        two.idle("a");
    }
}

#[test]
fn a_rename_keeps_id_versions_and_referrers() {
    let two = Two::new();
    two.0.write("a/know.yaml", "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: know}\nspec: {}\n");
    let helpdesk = agent("name: Desk\nmemory: [{store: know, at: /mnt/know}]\n", "You answer.\n");
    two.0.write("a/agents/helpdesk.md", &helpdesk);
    let lead = |name: &str| agent(&format!("multiagent: {{type: coordinator, agents: [{name}]}}\n"), "You lead.\n");
    two.0.write("a/agents/lead.md", &lead("helpdesk"));
    two.apply("a");
    let (id, lead_id) = (two.id("a", "Agent/helpdesk"), two.get("a", "Agent/lead"));
    let mount = two.id("a", "MemoryMount/helpdesk.know");
    two.0.remove("a/agents/helpdesk.md");
    two.0.write("a/agents/desk.md", &helpdesk);
    two.0.write("a/agents/lead.md", &lead("desk"));
    let offered = two.run("a", &["plan"]).code(5);
    assert!(offered.out.contains("- {from: Agent/helpdesk, to: Agent/desk}"), "{}", offered.out);
    // The offer is written into checkfu.yaml, and planned.
    let plan = two.run("a", &["plan", "--write-moved"]).code(0);
    assert!(two.0.read("a/checkfu.yaml").contains("- {from: Agent/helpdesk, to: Agent/desk}"));
    assert!(plan.out.contains("» rename  Agent/helpdesk → Agent/desk"), "{}", plan.out);
    let want =
        ["Agent/desk#rename", "MemoryMount/desk.know#rename", "Agent/lead#record", "MemoryMount/desk.know#record"];
    assert_eq!(verbs(&two.run("a", &["plan", "--json"])), want);
    two.apply("a");
    assert_eq!((two.id("a", "Agent/desk"), two.id("a", "MemoryMount/desk.know")), (id, mount));
    assert_eq!(two.get("a", "Agent/lead")["version"], lead_id["version"]);
    two.idle("a");
}

#[test]
fn what_is_released_stays_and_is_adopted_in_bulk_with_every_difference_shown() {
    let two = Two::new();
    let name = |i: usize| format!("helper-{i:02}");
    for i in 0..25 {
        two.0.write(&format!("a/agents/{}.md", name(i)), &agent("", &format!("You are helper {i}.\n")));
    }
    two.apply("a");
    let ids: Vec<String> = (0..25).map(|i| two.id("a", &format!("Agent/{}", name(i)))).collect();
    two.0.remove("a/agents");
    two.lines("a", "removed: [{address: 'Agent/*', keep: true}]\n");
    let plan = two.run("a", &["plan"]).code(0);
    assert!(plan.out.contains("25 to release") && plan.out.contains("nobody owns it"), "{}", plan.out);
    two.apply("a");
    two.idle("a");

    let lines: Vec<String> =
        ids.iter().enumerate().map(|(i, id)| format!("  - {{address: Agent/{}, id: {id}}}\n", name(i))).collect();
    two.lines("b", &format!("adopt:\n{}", lines.concat()));
    for i in 0..25 {
        let text = if i == 7 { "You are the seventh helper.\n".to_owned() } else { format!("You are helper {i}.\n") };
        two.0.write(&format!("b/agents/{}.md", name(i)), &agent("", &text));
    }
    let plan = two.run("b", &["plan"]).code(0);
    assert!(plan.out.contains("25 to adopt") && plan.out.contains("1 to update"), "{}", plan.out);
    assert!(plan.out.contains("[-helper 7.-]{+the seventh helper.+}") || plan.out.contains("seventh"), "{}", plan.out);
    two.apply("b");
    two.idle("b");
    let now: Vec<String> = (0..25).map(|i| two.id("b", &format!("Agent/{}", name(i)))).collect();
    assert_eq!(now, ids);
}

#[test]
fn whoever_follows_what_is_published_is_named_and_a_pin_that_is_behind_is_told() {
    let two = desk();
    let content = two.get("a", "Skill/tone")["content"].as_str().unwrap().to_owned();
    let uses = |how: &str| agent(&format!("skills: [{{skill: 'acme/a:Skill/tone', {how}}}]\n"), "You help.\n");
    two.0.write("b/agents/pins.md", &uses(&format!("pin: '{content}'")));
    two.0.write("b/agents/follows.md", &uses("follow: latest"));
    two.apply("b");
    two.0.write("a/skills/tone/SKILL.md", &skill("tone", "Be very kind."));
    let plan = two.run("a", &["plan"]).code(0);
    assert!(plan.out.contains("live at once for 1 agent: acme/b:Agent/follows"), "{}", plan.out);
    assert!(plan.out.contains("used by Agent/desk, acme/b:Agent/pins"), "{}", plan.out);
    two.apply("a");
    let plan = two.run("b", &["plan", "--detailed-exitcode", "--json"]).code(0).json();
    let told: Vec<&Value> = plan["findings"].as_array().unwrap().iter().collect();
    assert_eq!((told.len(), &told[0]["code"], &told[0]["effect"]), (1, &"plan.newer_version".into(), &"note".into()));
    assert_eq!(told[0]["address"], "Agent/pins");
    // What another owner uses does not go.
    two.0.remove("a/skills/tone");
    two.0.write("a/agents/desk.md", &agent("", "You answer.\n"));
    let plan = two.run("a", &["plan"]).code(5);
    assert!(plan.out.contains("plan.referred") && plan.out.contains("acme/b:Agent/follows"), "{}", plan.out);
}
