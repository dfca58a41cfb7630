//! `pull`: what is live comes to files that declare it, and nothing but it.

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{
    ActorKind, BlobPut, ContentOf, Context, Create, MemoryCreate, Request, Response, WriteContents, Written,
};
use checkfu::model::tree::{Entry, FileSet};
use checkfu::model::{Digest, Kind};
use serde_json::{Value, json};

use crate::repo;
use crate::sandbox::{Ran, Sandbox, config, team};

/// A workspace that is spoken to past any file.
struct Raw {
    control: Embedded,
    runtime: tokio::runtime::Runtime,
}

impl Raw {
    fn open(s: &Sandbox) -> Self {
        std::fs::create_dir_all(s.path(".checkfu")).unwrap();
        let control = Embedded::open(&s.path(".checkfu/workspace.db"), EmbeddedOptions::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { control, runtime }
    }

    fn send(&self, request: Request) -> Response {
        let context = Context { actor: "jane".into(), admin: true, ..Context::default() };
        self.runtime.block_on(self.control.call(&context, request)).unwrap()
    }

    fn create(&self, kind: Kind, body: Value, files: &[(&str, &str)]) -> Written {
        let entries: Vec<Entry> = files.iter().map(|(path, text)| self.entry(path, text)).collect();
        let set = FileSet::new(entries);
        let content = (!files.is_empty()).then_some(ContentOf { entries: set.entries, digest: set.digest });
        let Value::Object(body) = body else { panic!("no object") };
        let create = Create { kind, body, content, claim: None, absent_since: None, replaces: None };
        let Response::Written(written) = self.send(Request::Create(create)) else { panic!("no write") };
        written
    }

    fn entry(&self, path: &str, text: &str) -> Entry {
        let bytes = text.as_bytes().to_vec();
        let (sha256, size) = (Digest::of(&bytes), bytes.len() as u64);
        self.send(Request::BlobPut(BlobPut { digest: sha256, bytes }));
        Entry { path: path.into(), executable: path.starts_with("bin/"), symlink: path.ends_with("link"), size, sha256 }
    }

    fn memory(&self, store: &str, path: &str, text: &str) {
        let entry = self.entry("x", text);
        self.send(Request::WriteContents(WriteContents {
            id: store.to_owned(),
            expect: [(path.to_owned(), None)].into(),
            puts: [(path.to_owned(), entry.sha256)].into(),
            deletes: Vec::new(),
            applied: None,
        }));
    }
}

/// The files but the workspace.
fn files(s: &Sandbox) -> Vec<(String, Vec<u8>)> {
    s.files().into_iter().filter(|(path, _)| !path.starts_with(".checkfu/")).collect()
}

fn workspace(s: &Sandbox) -> String {
    s.path(".checkfu/workspace.db").display().to_string()
}

/// The law: a pulled project is valid, plans to nothing, and pulls to the same bytes, here and elsewhere.
fn pulled_from(of: &Sandbox, owner: &str) -> Sandbox {
    let s = Sandbox::empty();
    let from = workspace(of);
    s.run(&["pull", "--owner", owner, "--workspace", &from]).code(0);
    let valid = s.run(&["validate"]).code(0);
    assert!(!valid.out.contains("error"), "{}", valid.out);
    let plan = s.run(&["plan", "--detailed-exitcode", "--json"]).code(0).json();
    assert_eq!((&plan["actions"], &plan["held"]), (&json!([]), &json!([])), "{plan:#}");
    let first = files(&s);
    let again = s.run(&["pull", "--json"]).code(0).json();
    assert_eq!(again["written"], json!([]), "{again:#}");
    assert_eq!(files(&s), first);
    let other = Sandbox::empty();
    other.run(&["pull", "--owner", owner, "--workspace", &from]).code(0);
    assert_eq!(files(&other), first);
    s
}

#[test]
fn every_example_comes_back_as_it_was_applied() {
    for name in repo::children("examples") {
        let s = Sandbox::empty();
        for path in repo::files(&format!("examples/{name}")) {
            let to = s.path(path.strip_prefix(&format!("examples/{name}/")).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(repo::root().join(&path), to).unwrap();
        }
        s.run(&["apply", "--yes"]).code(0);
        let owner = s.run(&["get", "--json"]).json()["owner"].as_str().unwrap().to_owned();
        let pulled = pulled_from(&s, &owner);
        assert!(!pulled.run(&["get", "--json"]).json()["resources"].as_array().unwrap().is_empty());
        // Into its own project nothing is written: the files say it already, comments and all.
        let before = files(&s);
        let own = s.run(&["pull", "--json"]).code(0).json();
        assert_eq!(own["written"], json!([]), "{own:#}");
        assert_eq!(files(&s), before);
    }
}

/// Every kind with the least and with the most that the wire takes, made by nobody.
fn strangers() -> Sandbox {
    let s = Sandbox::empty();
    let raw = Raw::open(&s);
    let skill = "---\nname: triage\ndescription: Sorts. Use it first.\n---\n\r\nSort.\r\n";
    let triage = raw.create(Kind::Skill, json!({}), &[("SKILL.md", skill), ("bin/run.sh", "#!/bin/sh\n")]);
    let tone = "---\nname: tone\ndescription: Sets the tone. Use it always.\n---\nBe kind.";
    let tone = raw.create(Kind::Skill, json!({ "display_name": "Tone of voice" }), &[("SKILL.md", tone)]);
    raw.create(Kind::Environment, json!({ "name": "least" }), &[]);
    raw.create(
        Kind::Environment,
        json!({
            "name": "Most: \"all\" of it", "description": "one\ntwo\n", "scope": "account",
            "config": {
                "type": "cloud",
                "networking": {
                    "type": "limited", "allowed_hosts": ["b.example.com", "*.a.example.com"],
                    "allow_mcp_servers": true, "allow_package_managers": true,
                },
                "packages": { "type": "packages", "pip": ["ruff==0.8.0", "black"], "apt": ["jq"] },
            },
            "metadata": { "team": "ops", "n": "1" },
        }),
        &[],
    );
    let tree = [("a.md", "a"), ("d/e.bin", "\u{0}\u{1}\r\n"), ("d/link", "../a.md")];
    let docs = raw.create(Kind::FileTree, json!({ "name": "Docs", "source": { "kind": "upload" } }), &tree);
    raw.create(Kind::MemoryStore, json!({ "name": "Empty" }), &[]);
    let store = raw.create(
        Kind::MemoryStore,
        json!({ "name": "Answers", "description": "Approved", "metadata": { "team": "support" } }),
        &[],
    );
    raw.memory(&store.id, "/policy/a.md", "Never promise.\n");
    raw.memory(&store.id, "/deep/er/b.md", "");
    let least = raw.create(Kind::Agent, json!({ "name": "Least", "model": "claude-haiku-4-5" }), &[]);
    let most = raw.create(
        Kind::Agent,
        json!({
            "name": "Support Bot (EU)",
            "model": { "id": "claude-sonnet-5", "effort": "high", "speed": "fast" },
            "description": "Answers: all of it",
            "system": "  You answer.\n\n---\nEnd with a question.\n",
            "tools": [
                { "type": "agent_toolset_20260401", "configs": [{ "name": "bash", "enabled": false }] },
                { "type": "mcp_toolset", "mcp_server_name": "crm" },
                {
                    "type": "custom", "name": "look_up", "description": "Looks up",
                    "input_schema": { "type": "object", "properties": { "q": { "type": "string", "default": null } } },
                },
            ],
            "mcp_servers": [{ "type": "url", "name": "crm", "url": "https://crm.example.com/mcp" }],
            "skills": [
                { "type": "anthropic", "skill_id": "xlsx", "version": "latest" },
                { "type": "custom", "skill_id": triage.id, "version": triage.made },
                { "type": "custom", "skill_id": tone.id, "version": "latest" },
            ],
            "multiagent": { "type": "coordinator", "agents": [{ "type": "agent", "id": least.id }, { "type": "self" }] },
            "metadata": { "team": "support", "on": "yes" },
        }),
        &[],
    );
    let mount = |agent: &str, path: &str, more: Value| {
        let mut body = json!({ "agent_id": agent, "memory_store_id": store.id, "mount_path": path });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        raw.create(Kind::MemoryMount, body, &[]);
    };
    mount(&least.id, "/mnt/memory/a", json!({}));
    mount(&most.id, "/mnt/memory/a", json!({ "instructions": "Look here first." }));
    mount(&most.id, "/mnt/memory/b", json!({ "metadata": { "team": "x" } }));
    let files = json!({
        "agent_id": most.id, "file_tree_id": docs.id, "mount_path": "/workspace/docs", "access": "read_write",
        "selection": { "kind": "pinned", "revision": 1 },
    });
    raw.create(Kind::FileTreeMount, files, &[]);
    s
}

#[test]
fn what_is_pulled_plans_as_adopts_and_then_as_nothing() {
    let s = strangers();
    let pulled = s.run(&["pull", "--owner", "acme/support", "--unowned", "--json"]).code(0).json();
    assert_eq!(pulled["adopted"].as_array().unwrap().len(), 13, "{pulled:#}");
    assert_eq!(s.read("agents/support-bot-eu.md"), repo::text("tests/cases/pull/support-bot-eu.md"));
    assert_eq!(s.read("agents/least.md"), repo::text("tests/cases/pull/least.md"));
    let valid = s.run(&["validate"]).code(0);
    assert!(!valid.out.contains("warning"), "{}", valid.out);
    let first = files(&s);
    assert_eq!(s.run(&["pull", "--unowned", "--json"]).code(0).json()["written"], json!([]));
    assert_eq!(files(&s), first);
    let plan = s.run(&["plan", "--json"]).code(0).json();
    for action in plan["actions"].as_array().unwrap() {
        let verb = action["verb"].as_str().unwrap();
        assert!(verb == "adopt" || verb == "policy", "{action:#}");
        assert_eq!(action["about"]["changes"].as_array().map_or(0, Vec::len), 0, "{action:#}");
    }
    s.run(&["apply", "--yes"]).code(0);
    let plan = s.run(&["plan", "--json", "--detailed-exitcode"]).code(0).json();
    assert_eq!((&plan["actions"], &plan["held"]), (&json!([]), &json!([])), "{plan:#}");
    assert_eq!(s.run(&["pull", "--json"]).code(0).json()["written"], json!([]));
    assert_eq!(files(&s), first);
    pulled_from(&s, "acme/support");
}

fn told(ran: &Ran, wanted: &[&str]) {
    for text in wanted {
        assert!(ran.err.contains(text), "{text}\n{}", ran.err);
    }
}

#[test]
fn a_file_that_differs_is_kept_unless_it_is_said() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.edit("agents/billing.md", "about bills", "about refunds");
    s.write("skills/triage/more.md", "More.\n");
    let before = files(&s);
    let refused = s.run(&["pull"]).code(1);
    told(&refused, &["pull.differs", "agents/billing.md", "skills/triage/more.md", "--force"]);
    assert_eq!(files(&s), before, "nothing was written");
    let forced = s.run(&["pull", "--force", "--json"]).code(0).json();
    // The agents that pin the skill differ from their files too, as the file of the skill did.
    assert!(forced["written"].as_array().unwrap().contains(&json!("agents/billing.md")), "{forced:#}");
    assert_eq!(forced["removed"], json!(["skills/triage/more.md"]));
    assert!(s.read("agents/billing.md").contains("about bills"));
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

#[test]
fn what_is_declared_elsewhere_is_left_to_its_file() {
    let s = team();
    s.remove("agents/billing.md");
    let yaml = "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: billing}\nspec: {model: claude-sonnet-5}\n";
    s.write("more/agents.yaml", yaml);
    s.run(&["apply", "--yes"]).code(0);
    assert_eq!(s.run(&["pull", "--json"]).code(0).json()["written"], json!([]));
    s.edit("more/agents.yaml", "claude-sonnet-5", "claude-opus-5");
    let refused = s.run(&["pull", "Agent/billing"]).code(1);
    told(&refused, &["pull.elsewhere", "more/agents.yaml", "checkfu pull --drift Agent/billing"]);
}

#[test]
fn one_resource_brings_what_it_needs() {
    let of = team();
    of.run(&["apply", "--yes"]).code(0);
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/support"))]);
    let target = format!("targets: {{local: {{kind: embedded, path: {}}}}}\n", workspace(&of));
    s.write("checkfu.yaml", &(config("acme/support") + &target));
    let pulled = s.run(&["pull", "Agent/support", "--json"]).code(0).json();
    assert_eq!(pulled["written"], json!(["agents/support.md", "skills/triage/SKILL.md"]));
    s.run(&["validate"]).code(0);
    for (what, code) in [("Agent/none", "cli.not_found"), ("Thing", "cli.usage"), ("agent_none", "resource.not_found")]
    {
        told(&s.run(&["pull", what]).code(1), &[code]);
    }
    s.run(&["pull", "agent"]).code(0);
    assert!(s.path("agents/faq.md").exists());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let of = team();
    of.run(&["apply", "--yes"]).code(0);
    let (s, outside) = (Sandbox::empty(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), s.path("agents")).unwrap();
    let refused = s.run(&["pull", "--owner", "acme/support", "--workspace", &workspace(&of), "--force"]).code(1);
    told(&refused, &["pull.in_the_way"]);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(!s.path("checkfu.yaml").exists());
}

#[test]
fn what_agents_learned_comes_to_files_for_review() {
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec:\n  contents:\n    \
                 - {path: kept, at: /answers} # by people\n    - {at: /learned, mode: observe}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("memory/answers.yaml", store),
        ("memory/kept/hours.md", "9 to 17\n"),
        ("memory/kept/price.md", "1 EUR\n"),
    ]);
    s.run(&["apply", "--yes"]).code(0);
    let id = s.run(&["get", "MemoryStore/answers", "--json"]).json()["resources"][0]["id"].as_str().unwrap().to_owned();
    let raw = Raw::open(&s);
    let learn = |path: &str, text: &str| {
        let context = Context { actor: "session_1".into(), actor_kind: ActorKind::Session, ..Context::default() };
        let (id, path, content) = (id.clone(), path.to_owned(), text.to_owned());
        let create = Request::MemoryCreate(MemoryCreate { id, path, content, view: None });
        raw.runtime.block_on(raw.control.call(&context, create)).unwrap();
    };
    learn("/answers/refunds.md", "Ask billing.\n");
    learn("/learned/jane.md", "Likes short answers.\n");
    s.run(&["pull"]).code(0);
    assert!(!s.path("learned").exists(), "kept memories are brought when they are asked for");
    let pulled = s.run(&["pull", "MemoryStore/answers", "--json"]).code(0);
    told(&pulled, &["pull.left", "learned/answers"]);
    assert_eq!(pulled.json()["written"], json!(["learned/answers/learned/jane.md", "memory/kept/refunds.md"]));
    assert_eq!(s.read("memory/kept/refunds.md"), "Ask billing.\n");
    assert_eq!(s.read("memory/answers.yaml"), store);
    // What is as it was applied may be replaced; what somebody wrote may not.
    s.write("memory/kept/price.md", "2 EUR\n");
    let version = s.run(&["pull", "MemoryStore/answers", "--version", "1"]).code(1);
    told(&version, &["pull.differs", "memory/kept/price.md"]);
    s.run(&["pull", "MemoryStore/answers", "--version", "1", "--force"]).code(0);
    assert_eq!(s.read("memory/kept/price.md"), "1 EUR\n");
    for bad in [&["pull", "--version", "1"][..], &["pull", "MemoryStore", "--version", "1"]] {
        told(&s.run(bad).code(1), &["cli.usage"]);
    }
}

#[test]
fn a_prefix_without_memories_keeps_its_folder() {
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec:\n  contents:\n    \
                 - {path: in, at: /in}\n    - {at: /out, mode: observe}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("memory/answers.yaml", store),
        ("memory/in/.checkfuignore", "# kept\n"),
    ]);
    s.run(&["apply", "--yes"]).code(0);
    let pulled = pulled_from(&s, "acme/support");
    assert!(pulled.read("memory/answers/in/.checkfuignore").starts_with("# No memory is here yet"));
}

#[test]
fn adopt_writes_lines_and_nothing_live() {
    let s = strangers();
    s.write("checkfu.yaml", &config("acme/support"));
    let raw = Raw::open(&s);
    let agent = raw.create(Kind::Agent, json!({ "name": "New one", "model": "m" }), &[]);
    let line = format!("Agent/new-one={}", agent.id);
    told(&s.run(&["adopt", &line]).code(0), &["No file declares Agent/new-one", "checkfu pull"]);
    let text = s.read("checkfu.yaml");
    assert!(text.contains("adopt:") && text.contains("Agent/new-one") && text.contains(&agent.id), "{text}");
    s.run(&["adopt", &line]).code(0);
    s.run(&["pull", &agent.id]).code(0);
    assert!(s.path("agents/new-one.md").exists(), "the name that the line says");
    for (args, code) in [
        (vec![format!("Agent/other={}", agent.id)], "pull.adopted"),
        (vec![format!("Environment/e={}", agent.id)], "pull.adopted"),
        (vec!["Agent/x=agent_none".to_owned()], "cli.not_found"),
        (vec![line.clone(), "--take-over".to_owned(), "acme/other".to_owned()], "pull.adopted"),
    ] {
        let args: Vec<&str> = ["adopt"].into_iter().chain(args.iter().map(String::as_str)).collect();
        told(&s.run(&args).code(1), &[code]);
    }
    let all = Sandbox::with(&[("checkfu.yaml", &config("acme/ops"))]);
    let target = format!("targets: {{local: {{kind: embedded, path: {}}}}}\n", workspace(&s));
    all.write("checkfu.yaml", &(config("acme/ops") + &target));
    let adopted = all.run(&["adopt", "--all", "-l", "team=ops", "--json"]).code(0).json();
    let adopted: Vec<&str> =
        adopted["adopted"].as_array().unwrap().iter().filter_map(|a| a["address"].as_str()).collect();
    assert_eq!(adopted, ["Environment/most-all-of-it"]);
}

#[test]
fn another_owners_is_named_and_taken_only_when_said() {
    let a = team();
    a.run(&["apply", "--yes"]).code(0);
    let id = a.run(&["get", "Agent/billing", "--json"]).json()["resources"][0]["id"].as_str().unwrap().to_owned();
    let b = Sandbox::empty();
    let target = format!("targets: {{local: {{kind: embedded, path: {}}}}}\n", workspace(&a));
    b.write("checkfu.yaml", &(config("acme/billing") + &target));
    told(&b.run(&["pull", &id]).code(1), &["pull.owned_elsewhere", "acme/support", "--take-over acme/support"]);
    let line = format!("Agent/billing={id}");
    told(&b.run(&["adopt", &line]).code(1), &["pull.owned_elsewhere"]);
    b.run(&["adopt", &line, "--take-over", "acme/support"]).code(0);
    assert!(b.read("checkfu.yaml").contains("from: acme/support"));
    b.run(&["pull", &id]).code(0);
    assert!(
        b.read("agents/billing.md").contains("skill: acme/support:Skill/triage"),
        "{}",
        b.read("agents/billing.md")
    );
    told(&a.run(&["adopt", &line]).code(1), &["pull.adopted", "of this project already"]);
}

#[test]
fn what_the_files_cannot_say_is_told() {
    let of = team();
    of.run(&["apply", "--yes"]).code(0);
    let s = Sandbox::empty();
    let target = format!("targets: {{local: {{kind: embedded, path: {}}}}}\n", workspace(&of));
    s.write("checkfu.yaml", &(config("acme/support") + &target + "discover: {agents: []}\n"));
    told(&s.run(&["pull"]).code(0), &["pull.not_as_live", "Agent/faq: no file that is read declares it"]);
    let s = Sandbox::empty();
    let raw = Raw::open(&s);
    let text = "---\nname: tone\ndescription: Sets the tone. Use it always.\n---\nBe kind.";
    let twins = [(); 2].map(|()| raw.create(Kind::Skill, json!({}), &[("SKILL.md", text)]).id);
    told(&s.run(&["pull", "--owner", "acme/x", "--unowned"]).code(0), &["pull.no_name", "`tone`"]);
    let errors = twins.iter().filter(|id| s.run(&["pull", id]).code == 1).count();
    assert_eq!(errors, 1, "one of them has the name");
}

#[test]
fn a_new_project_needs_a_place_and_an_owner() {
    let s = Sandbox::empty();
    told(&s.run(&["pull"]).code(1), &["cli.no_project", "checkfu pull --owner OWNER"]);
    told(&s.run(&["pull", "--owner", "a b"]).code(1), &["cli.name"]);
    told(&s.run(&["pull", "--owner", "acme/x"]).code(1), &["cli.no_workspace"]);
    s.write("checkfu.yaml", &config("acme/x"));
    told(&s.run(&["pull", "--owner", "acme/x"]).code(1), &["cli.exists"]);
    s.write("agents/bad.md", "no front matter");
    told(&s.run(&["pull"]).code(1), &["manifest.no_front_matter"]);
}

#[test]
fn a_part_in_a_new_folder_says_what_a_plan_would_retire() {
    let of = team();
    of.run(&["apply", "--yes"]).code(0);
    let s = Sandbox::empty();
    let part = ["pull", "Agent/billing", "--owner", "acme/support", "--workspace"];
    let told = s.run(&[&part[..], &[&workspace(&of)]].concat()).code(0);
    for wanted in
        ["pull.partial", "2 more resources live (Agent/faq, Agent/support)", "checkfu plan Agent/billing Skill/triage"]
    {
        assert!(told.err.contains(wanted), "{wanted}\n{}", told.err);
    }
    let plan = s.run(&["plan", "--json"]).json();
    assert!(plan["actions"].to_string().contains("retire"), "{plan:#}");
    let plan = s.run(&["plan", "Agent/billing", "Skill/triage", "--json"]).code(0).json();
    assert!(!plan["actions"].to_string().contains("retire"), "{plan:#}");
    assert!(!s.run(&["pull"]).code(0).err.contains("pull.partial"));
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}

#[test]
fn a_file_of_a_store_that_live_no_longer_has_is_told_and_goes_with_force() {
    let s = team();
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec: {contents: [{path: ../memory, at: /a}]}\n";
    s.write("stores/answers.yaml", store);
    s.write("memory/a.md", "a\n");
    s.run(&["apply", "--yes"]).code(0);
    s.write("memory/new.md", "new\n");
    let told = s.run(&["pull", "MemoryStore/answers"]).code(0);
    assert!(told.err.contains("memory/new.md of MemoryStore/answers is not live, and stays"), "{}", told.err);
    assert!(s.path("memory/new.md").exists());
    let forced = s.run(&["pull", "MemoryStore/answers", "--force", "--json"]).code(0).json();
    assert_eq!(forced["removed"], json!(["memory/new.md"]));
    assert!(!s.path("memory/new.md").exists() && s.path("memory/a.md").exists());
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}
