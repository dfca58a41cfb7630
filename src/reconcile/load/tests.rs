//! Tests of whole projects on disk.

use std::fs;

use super::*;

const CONFIG: &str = "apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: acme/support\n";

pub(super) struct Files(tempfile::TempDir);

impl Files {
    pub(super) fn new() -> Self {
        let files = Files(tempfile::tempdir().unwrap());
        files.put(CONFIG_FILE, CONFIG)
    }

    pub(super) fn put(self, path: &str, text: &str) -> Self {
        self.bytes(path, text.as_bytes())
    }

    pub(super) fn bytes(self, path: &str, text: &[u8]) -> Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(super) fn load(&self) -> Loaded {
        load(self.0.path(), &options()).unwrap()
    }

    /// `code file:line:column`
    fn codes(&self) -> Vec<String> {
        lines(&self.load().diagnostics)
    }
}

fn options() -> LoadOptions {
    LoadOptions { profile: None, today: jiff::civil::date(2026, 11, 30) }
}

pub(super) fn lines(found: &Diagnostics) -> Vec<String> {
    found
        .0
        .iter()
        .map(|d| format!("{} {}", d.code.code, d.place().map(ToString::to_string).unwrap_or_default()))
        .collect()
}

const SKILL: &str = "---\nname: faq\ndescription: Answers\n---\nText\n";
const AGENT: &str = "---\nmodel: claude-sonnet-5\ntools: [{type: agent_toolset_20260401}]\nskills: [faq]\nmemory: [{store: answers, at: /mnt/memory/answers}]\n---\nYou answer.\n";
const STORE: &str = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec:\n  contents:\n    - {path: memory/a, at: /a}\n    - {path: memory/s, at: /s, mode: seed}\n";

fn project() -> Files {
    Files::new()
        .put("agents/support.md", AGENT)
        .put("agents/README.md", "# not an agent\n")
        .put("skills/faq/SKILL.md", SKILL)
        .put("stores.yaml", STORE)
        .put("memory/a/x.md", "x\n")
        .put("memory/s/y.md", "y\n")
        .put("other.yaml", "a: [\n")
}

#[test]
fn a_whole_project() {
    let loaded = project().load();
    assert_eq!(lines(&loaded.diagnostics), Vec::<String>::new());
    let desired = loaded.desired.unwrap();
    let addresses: Vec<String> = desired.resources.keys().map(ToString::to_string).collect();
    assert_eq!(addresses, ["Agent/support", "MemoryMount/support.answers", "MemoryStore/answers", "Skill/faq"]);
    let of = |a: &str| &desired.resources[&a.parse().unwrap()];
    let skill = of("Skill/faq");
    let (set, folder) = skill.content.as_ref().unwrap();
    assert_eq!((set.entries.len(), folder.as_str()), (1, "skills/faq"));
    assert_eq!(of("Agent/support").spec["skills"][0]["content"], serde_json::json!(set.digest.to_string()));
    assert_eq!(of("Agent/support").spec["instructions"], "You answer.");
    assert_eq!(of("Agent/support").places.get("instructions").unwrap().line, 7);
    assert_eq!(of("MemoryMount/support.answers").at.line, 5);
    let store = of("MemoryStore/answers");
    assert_eq!(store.memories["/a/x.md"].file, "memory/a/x.md");
    assert_eq!(store.unowned, ["contents./s/y.md"]);
    assert_eq!(store.seeded, store.unowned);
    assert_eq!(store.spec["contents"].as_object().unwrap().len(), 2);
    assert_eq!(loaded.counts[&Kind::Agent], 1);
    assert!(loaded.sources.is_empty());
}

#[test]
fn the_set_does_not_depend_on_order_or_comments() {
    let one = project().load().desired.unwrap().digest();
    let two = project().put("stores.yaml", &STORE.replace("spec:", "# c\nspec:").replace('\n', "\r\n")).load();
    assert_eq!(two.desired.unwrap().digest(), one);
    let three = project().put("memory/a/x.md", "z\n").load().desired.unwrap().digest();
    assert_ne!(three, one);
}

#[test]
fn every_mistake_of_every_file_is_told_at_once() {
    let files = project()
        .put("agents/support.md", &AGENT.replace("[faq]", "[fqa]").replace("model: claude", "modl: claude"))
        .put("agents/broken.md", "---\nmodel: a: b\n---\nx\n")
        .put("skills/faq/SKILL.md", "---\nname: other\n---\n")
        .put("stores.yaml", &STORE.replace("memory/a", "memory/none").replace("mode: seed", "mode: sed"));
    assert_eq!(
        files.codes(),
        [
            "manifest.unquoted_colon agents/broken.md:2:9",
            "manifest.missing_key agents/support.md:2:1",
            "manifest.unknown_key agents/support.md:2:1",
            "desired.dangling agents/support.md:4:10",
            "skill.description_missing skills/faq/SKILL.md:2:1",
            "skill.name_folder skills/faq/SKILL.md:2:7",
            "skill.body_empty skills/faq/SKILL.md:3:4",
            "bundle.missing stores.yaml:6:14",
            "manifest.wrong_value stores.yaml:7:38",
        ]
    );
    let loaded = files.load();
    assert!(loaded.desired.is_none());
    assert_eq!(loaded.sources.len(), 4, "a text for every file that is pointed into");
}

#[test]
fn nested_projects_and_content_are_left_out() {
    let files = project().put("inner/checkfu.yaml", "kind: broken\n").put("inner/agents/x.md", "nothing").put(
        "skills/faq/agent.yaml",
        "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: x}\nspec: {model: m}\n",
    );
    assert_eq!(files.codes(), ["desired.manifest_in_content skills/faq/agent.yaml:3:18"]);
    assert_eq!(files.load().counts[&Kind::Agent], 1);
}

#[test]
fn a_skill_document_gives_options_to_its_folder() {
    let document = |name: &str, path: &str| {
        format!(
            "apiVersion: checkfu.com/v1\nkind: Skill\nmetadata: {{name: {name}}}\nspec: {{source: {{path: {path}}}, display_name: FAQ}}\n"
        )
    };
    let files = project().put("skill.yaml", &document("faq", "skills/faq"));
    assert_eq!(files.codes(), Vec::<String>::new());
    assert_eq!(files.load().desired.unwrap().resources[&"Skill/faq".parse().unwrap()].spec["display_name"], "FAQ");
    let files = project().put("skill.yaml", &document("fax", "skills/faq"));
    assert_eq!(files.codes(), ["desired.dangling agents/support.md:4:10", "desired.skill_name skill.yaml:3:18"]);
    // A folder elsewhere is read and checked too.
    let files = project()
        .put("skill.yaml", &document("far", "else/far"))
        .put("else/far/SKILL.md", "---\nname: near\ndescription: d\n---\nx\n");
    assert_eq!(files.codes(), ["skill.name_folder else/far/SKILL.md:2:7"]);
    let files = project().put("skill.yaml", &document("far", "else/far"));
    assert_eq!(files.codes(), ["bundle.missing skill.yaml:4:23"]);
    let files = files.put("else/far/x.md", "x");
    assert_eq!(files.codes(), ["bundle.missing skill.yaml:4:23"]);
}

#[test]
fn texts_of_instructions() {
    let agent = |instructions: &str| {
        format!(
            "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {{name: b}}\nspec: {{model: m, instructions: {instructions}}}\n"
        )
    };
    let files = Files::new().put("shared/a.md", "\u{feff}A\r\nB\n\n").put("p/b.md", "C\n");
    let files = files.put("m/agent.yaml", &agent("[{file: ../shared/a.md}, Inline, {file: ../p/b.md}]"));
    let loaded = files.load();
    let desired = loaded.desired.unwrap();
    let b = &desired.resources[&"Agent/b".parse().unwrap()];
    assert_eq!(b.spec["instructions"], "A\nB\n\nInline\n\nC");
    let files = files.put("m/agent.yaml", &agent("{file: ../p/b.md}"));
    let b = files.load().desired.unwrap().resources.remove(&"Agent/b".parse().unwrap()).unwrap();
    assert_eq!((b.spec["instructions"].as_str(), &*b.places.get("instructions").unwrap().file), (Some("C"), "p/b.md"));
    for (path, code) in
        [("../../x.md", "desired.path_outside"), ("/x.md", "desired.path_absolute"), ("no.md", "bundle.missing")]
    {
        let files = Files::new().put("m/agent.yaml", &agent(&format!("{{file: {path}}}")));
        assert_eq!(files.codes(), [format!("{code} m/agent.yaml:4:39")]);
    }
    let files = Files::new().put("long.md", &"x".repeat(100_001)).put("agent.yaml", &agent("{file: long.md}"));
    assert_eq!(files.codes(), ["kind.limit agent.yaml:4:18"]);
}

#[test]
fn a_text_that_may_be_a_secret_is_not_read() {
    let agent =
        "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: b}\nspec: {model: m, instructions: {file: .env}}\n";
    let files = Files::new().put(".env", "API_KEY=hunter2\n").put("agent.yaml", agent);
    let loaded = files.load();
    let [secret] = &loaded.diagnostics.0[..] else { panic!("{:?}", lines(&loaded.diagnostics)) };
    assert_eq!((secret.code.code, &*secret.labels[1].at.file), ("bundle.secret_name", "agent.yaml"));
    assert!(!format!("{:?}", loaded.sources).contains("hunter2"), "nor quoted");
    let files = files.put(CONFIG_FILE, &format!("{CONFIG}allow_secret_names: [.env]\n"));
    assert_eq!(files.load().desired.unwrap().resources.len(), 1);
}

#[test]
fn a_bad_glob_is_told_where_it_is_written() {
    let tree = "apiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {name: t}\nspec:\n  source: {kind: upload, path: docs, include: [a.md, \"{\"]}\n";
    let files = Files::new().put("docs/a.md", "a").put("t.yaml", tree);
    assert_eq!(files.codes(), ["bundle.bad_glob t.yaml:5:54"]);
    let config = format!("{CONFIG}discover: {{skills: [\"s/*\", \"{{\"]}}\n");
    assert_eq!(Files::new().put(CONFIG_FILE, &config).codes(), ["bundle.bad_glob checkfu.yaml:4:28"]);
}

#[test]
fn a_tree_of_one_file_and_an_upload() {
    let tree = |name: &str, source: &str| {
        format!("apiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {{name: {name}}}\nspec: {{source: {source}}}\n")
    };
    let files = Files::new().put("docs/a.md", "a\n").put("docs/drafts/b.md", "b\n").put(
        "t.yaml",
        &format!(
            "{}---\n{}",
            tree("one", "{kind: upload, path: docs/a.md}"),
            tree("all", "{kind: upload, path: docs, exclude: [\"drafts/**\"]}")
        ),
    );
    let desired = files.load().desired.unwrap();
    let content = |a: &str| desired.resources[&a.parse().unwrap()].content.clone().unwrap();
    let (one, all) = (content("FileTree/one"), content("FileTree/all"));
    assert_eq!((one.1.as_str(), one.0.entries[0].path.as_str()), ("docs", "a.md"));
    assert_eq!((all.1.as_str(), all.0.entries.len()), ("docs", 1));
}

#[test]
fn a_configuration_that_cannot_be_used() {
    let failed = |text: &str| {
        let files = Files::new().put(CONFIG_FILE, text);
        lines(&load(files.0.path(), &options()).unwrap_err().diagnostics)
    };
    assert_eq!(failed("a: [\n"), ["manifest.yaml_syntax checkfu.yaml:1:4"]);
    assert_eq!(failed(&CONFIG.replace("acme/support", "a b")), ["manifest.wrong_value checkfu.yaml:3:18"]);
    assert_eq!(failed(&format!("{CONFIG}root: ../..\n")), ["bundle.root checkfu.yaml:4:7"]);
    assert_eq!(lines(&load(Path::new("/nowhere/at/all"), &options()).unwrap_err().diagnostics), ["bundle.folder "]);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(load(empty.path(), &options()).unwrap_err().diagnostics.0.len(), 1);
}

#[test]
fn lines_of_the_configuration_are_checked() {
    let with = |rest: &str| project().put(CONFIG_FILE, &format!("{CONFIG}{rest}")).codes();
    assert_eq!(with("requires: \">=0.1\"\n"), Vec::<String>::new());
    assert_eq!(with("requires: \">=99\"\n"), ["desired.requires checkfu.yaml:4:11"]);
    assert_eq!(with("requires: soon\n"), ["desired.requires_form checkfu.yaml:4:11"]);
    assert_eq!(with("default_target: staging\n"), ["desired.default_target checkfu.yaml:4:17"]);
    assert_eq!(with("targets: {}\n"), ["desired.default_target checkfu.yaml:4:1"]);
}
