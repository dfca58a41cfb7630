//! Many mistakes at once: none hides another, and none is told twice.

use super::tests::{Files, lines};

#[test]
fn ten_mistakes_in_five_files() {
    let files = Files::new()
        .put(
            "agents/support.md",
            "---\nskills: [refund-rule]\nmemory: [{store: answer, at: /mnt/a}]\n---\nYou answer.\n",
        )
        .put(
            "agent.yaml",
            "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: b}\nspec:\n  model: x\n  modle: y\n  tools: [{type: agent_toolset_20260401}]\n  skills: [no-such-skill]\n  files: [{tree: no-such-tree, at: /w}]\n",
        )
        .put(
            "mount.yaml",
            "apiVersion: checkfu.com/v1\nkind: MemoryMount\nmetadata: {name: m}\nspec:\n  agent: nobody\n  memory_store: answer\n  mount_path: /x\n  acess: z\n",
        )
        .put(
            "tree.yaml",
            "apiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {name: Bad_Name}\nspec:\n  source: {kind: upload, path: nowhere}\n",
        )
        .put(
            "store.yaml",
            "apiVersion: checkfu.com/v2\nkind: MemoryStore\nmetadata: {name: answers}\nspec:\n  contents: [{path: gone, at: /a, mode: upkep}]\n",
        );
    let found = files.load();
    let said = lines(&found.diagnostics);
    let at = |code: &str, place: &str| {
        let n = said.iter().filter(|line| line.starts_with(&format!("{code} {place}"))).count();
        assert_eq!(n, 1, "{code} at {place}: {said:#?}");
    };
    at("manifest.missing_key", "agents/support.md");
    at("desired.dangling", "agents/support.md:2:");
    at("desired.dangling", "agents/support.md:3:");
    at("desired.read_tool", "agents/support.md:2:");
    at("manifest.unknown_key", "agent.yaml:6:");
    at("desired.dangling", "agent.yaml:8:");
    at("desired.dangling", "agent.yaml:9:");
    at("desired.dangling", "mount.yaml:5:");
    at("desired.dangling", "mount.yaml:6:");
    at("manifest.unknown_key", "mount.yaml:8:");
    at("manifest.name", "tree.yaml:3:");
    at("bundle.missing", "tree.yaml:5:");
    at("manifest.api_version", "store.yaml:1:");
    at("bundle.missing", "store.yaml:5:");
    at("manifest.wrong_value", "store.yaml:5:");
    assert_eq!((said.len(), found.desired.is_none()), (15, true), "{said:#?}");
}

#[test]
fn what_follows_from_a_mistake_is_not_told() {
    let yaml = |kind: &str, name: &str, spec: &str| {
        format!("apiVersion: checkfu.com/v1\nkind: {kind}\nmetadata: {name}\nspec: {spec}\n---\n")
    };
    let all = [
        yaml("Agent", "{name: a}", "{model: m, skills: [faq], tool: [{type: agent_toolset_20260401}]}"),
        yaml("Skill", "{name: The_Faq}", "{source: {path: skills/faq}}"),
        yaml("MemoryStore", "{name: s}", "{owner: {pricipal: p}}"),
        yaml("MemoryMount", "{name: m}", "{agent: a, memory_store: s, mount_path: /m, access: read_write}"),
        yaml("FileTree", "{name: t}", "{source: {knd: git, provider: github, repository: a/b, ref: main}}"),
        yaml("FileTreeMount", "{name: t}", "{agent: Not_One, file_tree: t, mount_path: /t}"),
        yaml("Agent", "{name: Not_One}", "{model: m}"),
        yaml("FileTreeMount", "{name: u}", "{agent: unread, file_tree: t, mount_path: /u}"),
        yaml("Agent", "{}", "{model: m}"),
        yaml("Agent", "{}", "{model: m}"),
    ];
    let files = Files::new()
        .put("all.yaml", &all.concat())
        .put("agents/unread.md", "---\nmodel: [\n---\nx\n")
        .put("agents/Not One.md", "---\nmodel: m\n---\nx\n")
        .put("skills/faq/SKILL.md", "---\nname: faq\ndescription: Answers\n---\nText\n");
    let said = lines(&files.load().diagnostics);
    let none = |code: &str| assert!(!said.iter().any(|line| line.starts_with(code)), "{code}: {said:#?}");
    none("desired.");
    assert_eq!(said.iter().filter(|l| l.starts_with("manifest.name ")).count(), 3, "{said:#?}");
    assert_eq!(said.iter().filter(|l| l.starts_with("manifest.missing_key all.yaml")).count(), 3, "{said:#?}");
}

#[test]
fn what_could_not_be_read_may_be_what_is_referred_to() {
    let agent = "---\nmodel: m\ntools: [{type: agent_toolset_20260401}]\nskills: [faq, other]\nmemory: [{store: answers, at: /mnt/a}]\n---\nYou answer.\n";
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec: {}\n";
    let with = |path: &str, text: &str| {
        let files = Files::new().put("agents/a.md", agent).put("s.yaml", store).put(path, text);
        let said = lines(&files.load().diagnostics);
        said.into_iter().filter(|line| line.starts_with("desired.")).collect::<Vec<_>>()
    };
    let faq = "desired.dangling agents/a.md:4:10";
    let other = "desired.dangling agents/a.md:4:15";
    let answers = "desired.dangling agents/a.md:5:18";
    // Nothing is unread: each is told.
    assert_eq!(with("s.yaml", "a: 1\n"), [faq, other, answers]);
    // A skill may be what its folder is named, however little of it can be read.
    for text in ["no front matter\n", "---\nname: [\n---\nx\n", "---\nname: faq\n", "\0", ""] {
        assert_eq!(with("skills/faq/SKILL.md", text), [other], "{text}");
    }
    assert_eq!(with("skills/faq/skill.md", "---\nname: faq\n---\n"), [other], "the file's name");
    assert_eq!(with("skills/faq/SKILL.md/x", ""), [other], "a folder for a file");
    assert_eq!(with("skills/faq/note.md", ""), [faq, other], "no skill at all");
    // YAML that cannot be read may be anything that is ours.
    let broken = "apiVersion: checkfu.com/v1\nkind: Skill\nmetadata: {name: faq\n";
    assert_eq!(with("more.yaml", broken), [""; 0]);
    assert_eq!(with("more.yaml", "apiVersion: v1\nkind: Skill\nmetadata: {name: faq\n"), [faq, other], "not ours");
    // What is known of a document counts.
    let odd = "apiVersion: checkfu.com/v1\nkind: Skil\nmetadata: {name: faq}\nspec: {source: {path: x}}\n";
    assert_eq!(with("more.yaml", odd), [other], "a kind that is none");
    let nameless = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {}\nspec: {}\n";
    assert_eq!(with("s.yaml", nameless), [faq, other], "a store without a name");
}

#[test]
fn a_file_that_is_no_text_may_be_what_is_referred_to() {
    let files = Files::new().put(
        "mounts.yaml",
        "apiVersion: checkfu.com/v1\nkind: MemoryMount\nmetadata: {name: m}\nspec: {agent: a, memory_store: s, mount_path: /m}\n",
    );
    let files = files.put("agents/a.md", "x").bytes("agents/a.md", b"\xff\xfe");
    let found = files.load();
    let said = lines(&found.diagnostics);
    assert_eq!(said, ["bundle.not_utf8 agents/a.md:1:1", "desired.dangling mounts.yaml:4:32"]);
    assert!(found.desired.is_none());
}

#[test]
fn a_move_to_what_could_not_be_read_leads_somewhere() {
    let lines_of = |moved: &str, text: &str| {
        let config = format!("apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: a\nmoved: [{moved}]\n");
        let files = Files::new().put("checkfu.yaml", &config).put("agents/a.md", text);
        let said = lines(&files.load().diagnostics);
        said.into_iter().filter(|line| line.starts_with("desired.")).count()
    };
    assert_eq!(lines_of("{from: Agent/b, to: Agent/a}", "no front matter\n"), 0);
    assert_eq!(lines_of("{from: MemoryMount/b.s, to: MemoryMount/a.s}", "no front matter\n"), 0);
    assert_eq!(lines_of("{from: Agent/b, to: Agent/c}", "no front matter\n"), 1);
}

#[test]
fn names_that_are_to_change_places_are_refused_with_the_steps() {
    let moved = "moved: [{from: Agent/a, to: Agent/b}, {from: Agent/b, to: Agent/a}]\n";
    let config = format!("apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: a\n{moved}");
    let agent = "---\nmodel: claude-sonnet-5\n---\nAnswer.\n";
    let found = Files::new().put("checkfu.yaml", &config).put("agents/a.md", agent).put("agents/b.md", agent).load();
    let told: Vec<String> =
        found.diagnostics.0.iter().map(|d| format!("{} {}", d.message, d.fix.clone().unwrap_or_default())).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("gives Agent/a the address of Agent/b, and leads back to Agent/a"), "{told:?}");
    assert!(told[0].contains("a third name"), "{told:?}");
}
