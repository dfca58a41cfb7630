//! `pull --drift`: what moved live comes to the lines that declare it, and nothing else of the files changes.

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{
    BlobPut, ContentOf, Context, Expect, MemoryCreate, MemoryList, MemoryUpdate, Publish, Request, Response, RetireOf,
    Update,
};
use checkfu::model::tree::{Entry, FileSet};
use checkfu::model::{Digest, Kind};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, agent, config, skill, team};

/// Somebody else, with a reason.
struct Jane {
    control: Embedded,
    runtime: tokio::runtime::Runtime,
}

impl Jane {
    fn at(s: &Sandbox) -> Self {
        let control = Embedded::open(&s.path(".checkfu/workspace.db"), EmbeddedOptions::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { control, runtime }
    }

    fn does(&self, request: Request) -> Response {
        let break_glass = Some("incident 12".into());
        let context = Context { actor: "jane".into(), admin: true, break_glass, ..Context::default() };
        self.runtime.block_on(self.control.call(&context, request)).unwrap()
    }

    fn updates(&self, kind: Kind, id: &str, body: &Value) {
        let at = Expect { id: id.to_owned(), version: None };
        self.does(Request::Update(Update { kind, at, body: body.as_object().unwrap().clone(), applied: None }));
    }

    fn publishes(&self, kind: Kind, id: &str, files: &[(&str, &str)]) {
        let entry = |(path, text): &(&str, &str)| {
            let (sha256, size) = (Digest::of(text.as_bytes()), text.len() as u64);
            self.does(Request::BlobPut(BlobPut { digest: sha256, bytes: text.as_bytes().to_vec() }));
            Entry { path: (*path).to_owned(), executable: false, symlink: false, size, sha256 }
        };
        let set = FileSet::new(files.iter().map(entry).collect());
        let content = ContentOf { entries: set.entries, digest: set.digest };
        let at = Expect { id: id.to_owned(), version: None };
        self.does(Request::Publish(Publish { kind, at, content, applied: None }));
    }

    fn remembers(&self, store: &str, path: &str, content: &str) {
        let (id, content) = (store.to_owned(), content.to_owned());
        let list = MemoryList { id: id.clone(), path_prefix: None, depth: None, view: None, page: None, limit: None };
        let Response::Bodies(found) = self.does(Request::MemoryList(list)) else { panic!() };
        match found.data.iter().find(|m| m["path"] == path) {
            Some(m) => {
                let (memory, content) = (m["id"].as_str().unwrap().to_owned(), Some(content));
                self.does(Request::MemoryUpdate(MemoryUpdate {
                    id,
                    memory,
                    content,
                    path: None,
                    expect: None,
                    view: None,
                }))
            }
            None => self.does(Request::MemoryCreate(MemoryCreate { id, path: path.to_owned(), content, view: None })),
        };
    }
}

fn id(s: &Sandbox, address: &str) -> String {
    s.run(&["get", address, "--json"]).json()["resources"][0]["id"].as_str().unwrap().to_owned()
}

/// `pull --drift`; then the plan settles, and after it nothing is left.
#[track_caller]
fn settles(s: &Sandbox) {
    let plan = s.run(&["plan", "--json"]).code(0).json();
    let verbs: Vec<&Value> = plan["actions"].as_array().unwrap().iter().map(|a| &a["verb"]).collect();
    assert!(!verbs.is_empty() && verbs.iter().all(|v| *v == "record"), "{verbs:?}");
    assert_eq!(plan["held"], json!([]));
    s.run(&["apply", "--yes"]).code(0);
    let plan = s.run(&["plan", "--detailed-exitcode", "--json"]).code(0).json();
    assert_eq!(plan["actions"], json!([]));
}

#[test]
fn an_edited_agent_differs_in_that_line_only() {
    let text = "---\n# who\nmodel: 'claude-sonnet-5' # the one\ntools: [{type: agent_toolset_20260401}]\n\
                description:   \"Answers bills\"   # shown\nlabels: {team: billing, tier: 'one'}\n---\n\n\
                # Bills\n\nYou answer questions about bills.\nBe kind.\n";
    for br in ["\n", "\r\n"] {
        let text = text.replace('\n', br);
        let s = Sandbox::with(&[("checkfu.yaml", &config("acme/support")), ("agents/billing.md", &text)]);
        s.run(&["apply", "--yes"]).code(0);
        let system = "# Bills\n\nYou answer questions about bills quickly.\nBe kind.";
        let end = if s.run(&["get", "Agent/billing"]).out.contains("Be kind.\n\n") { "\n" } else { "" };
        let jane = Jane::at(&s);
        jane.updates(
            Kind::Agent,
            &id(&s, "Agent/billing"),
            &json!({"system": format!("{system}{end}"), "description": "Answers \"bills\"", "metadata": {"tier": "two"}}),
        );
        s.run(&["plan", "--detailed-exitcode"]).code(3);
        // An unrelated merge leaves it.
        s.write("agents/other.md", &agent("", "You are another one.\n"));
        s.run(&["apply", "--yes"]).code(0);
        assert!(s.run(&["get", "Agent/billing"]).out.contains("quickly"));
        let pulled = s.run(&["pull", "--drift"]).code(0);
        assert!(pulled.out.contains("+ You answer questions about bills quickly."), "{}", pulled.out);
        let wanted = text
            .replace("about bills.", "about bills quickly.")
            .replace("\"Answers bills\"", "\"Answers \\\"bills\\\"\"")
            .replace("'one'", "'two'");
        assert_eq!(s.read("agents/billing.md"), wanted);
        settles(&s);
        s.run(&["pull", "--drift"]).code(0);
        assert_eq!(s.read("agents/billing.md"), wanted);
    }
}

#[test]
fn lists_references_and_parts_go_to_where_they_are_written() {
    let yaml = "# all\napiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: billing}\nspec:\n  model: claude-sonnet-5\n  \
                tools:\n    # what it may\n    - type: agent_toolset_20260401 # set\n  skills: [triage] # ours\n  \
                instructions: # three\n    - {file: ../shared/safety.md}\n    - |\n      Answer bills.\n      Be short.\n    - {file: tone.md}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("agents/billing.yaml", yaml),
        ("shared/safety.md", "Never share secrets.\nNever guess.\n"),
        ("agents/tone.md", "Be kind."),
        ("skills/triage/SKILL.md", &skill("triage", "Ask first.")),
        ("README.md", "x"),
    ]);
    s.write("checkfu.yaml", &format!("{}discover: {{agents: []}}\n", config("acme/support")));
    s.run(&["apply", "--yes"]).code(0);
    let jane = Jane::at(&s);
    let live = s.run(&["get", "Agent/billing", "--json"]).json();
    let system =
        live["resources"][0]["body"]["system"].as_str().or(live["resources"][0]["spec"]["instructions"].as_str());
    let old = system.map_or_else(
        || "Never share secrets.\nNever guess.\n\nAnswer bills.\nBe short.\n\n\nBe kind.".to_owned(),
        str::to_owned,
    );
    let new =
        old.replace("guess", "ever guess").replace("Be short.", "Be brief.").replace("Be kind.", "Be kind.\nSmile.");
    let toolset = json!({"type": "agent_toolset_20260401", "configs": [{"name": "bash", "enabled": false}]});
    jane.updates(Kind::Agent, &id(&s, "Agent/billing"), &json!({"system": new, "tools": [toolset]}));
    s.run(&["pull", "--drift", "Agent/billing"]).code(0);
    assert_eq!(s.read("shared/safety.md"), "Never share secrets.\nNever ever guess.\n");
    assert_eq!(s.read("agents/tone.md"), "Be kind.\nSmile.");
    let now = s.read("agents/billing.yaml");
    let (head, rest) = yaml.split_once("  skills:").unwrap();
    assert!(now.starts_with(head.trim_end()), "{now}");
    assert!(now.ends_with(&format!("  skills:{}", rest.replace("Be short.", "Be brief."))), "{now}");
    settles(&s);
}

#[test]
fn a_text_that_both_sides_changed_is_joined_or_marked() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let jane = Jane::at(&s);
    let (billing, support) = (id(&s, "Agent/billing"), id(&s, "Agent/support"));
    let body = |address: &str| s.run(&["get", address, "--json"]).json().to_string();
    assert!(body("Agent/billing").contains("bills"));
    let prompt = crate::sandbox::prompt();
    jane.updates(Kind::Agent, &support, &json!({"system": prompt.trim_end().replace("Rule 3:", "Rule three:")}));
    jane.updates(Kind::Agent, &billing, &json!({"system": "You answer questions about bills quickly."}));
    s.edit("agents/support.md", "Rule 30: be kind", "Rule 30: be friendly");
    s.edit("agents/billing.md", "about bills", "about refunds");
    let pulled = s.run(&["pull", "--drift"]).code(4);
    assert!(
        pulled.err.contains("manifest.conflict_marker") && pulled.err.contains("agents/billing.md"),
        "{}",
        pulled.err
    );
    let text = s.read("agents/support.md");
    assert!(text.contains("Rule three:") && text.contains("Rule 30: be friendly"));
    let marked = "<<<<<<< file\nYou answer questions about refunds.\n||||||| applied\nYou answer questions about bills.\n\
                  =======\nYou answer questions about bills quickly.\n>>>>>>> live\n";
    assert!(s.read("agents/billing.md").ends_with(marked), "{}", s.read("agents/billing.md"));
    assert!(s.run(&["validate"]).code(1).out.contains("manifest.conflict_marker"));
    // A person decides; what was joined is accepted in review.
    s.edit("agents/billing.md", marked, "You answer questions about refunds quickly.\n");
    assert!(s.read("checkfu.yaml").contains("accept:\n  - address: Agent/billing\n"));
    s.run(&["apply", "--yes"]).code(0);
    let live = body("Agent/billing");
    assert!(live.contains("about refunds quickly."), "{live}");
    let plan = s.run(&["plan", "--json", "--detailed-exitcode"]).code(0).json();
    assert_eq!(plan["actions"], json!([]));
}

#[test]
fn files_of_skills_and_memories_come_too() {
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec:\n  contents:\n    \
                 - {path: ../memory/answers, at: /answers}\n    - {path: ../memory/rules, at: /rules, mode: enforce}\n    \
                 - {at: /learned, mode: observe}\n";
    let s = team();
    s.write("stores/answers.yaml", store);
    s.write("memory/answers/a.md", "one\r\ntwo\r\n");
    s.write("memory/answers/b.md", "b\n");
    s.write("memory/rules/r.md", "rule\n");
    s.run(&["apply", "--yes"]).code(0);
    let jane = Jane::at(&s);
    let memory = id(&s, "MemoryStore/answers");
    jane.remembers(&memory, "/answers/a.md", "one\r\ntwo\r\nthree\r\n");
    jane.remembers(&memory, "/answers/new.md", "learned\n");
    jane.remembers(&memory, "/rules/r.md", "another rule\n");
    jane.remembers(&memory, "/learned/x.md", "left\n");
    let (old, extra) = (s.read("skills/triage/SKILL.md"), "More.\n");
    let new = old.replace("Ask what happened first.", "Ask what happened, then when.");
    jane.publishes(Kind::Skill, &id(&s, "Skill/triage"), &[("SKILL.md", &new), ("notes.md", extra)]);
    let pulled = s.run(&["pull", "--drift", "--json"]).code(0).json();
    let written = [
        "memory/answers/a.md",
        "memory/answers/new.md",
        "memory/rules/r.md",
        "skills/triage/SKILL.md",
        "skills/triage/notes.md",
    ];
    assert_eq!(pulled["written"], json!(written));
    assert_eq!(s.read("skills/triage/SKILL.md"), new);
    assert_eq!(s.read("skills/triage/notes.md"), extra);
    assert_eq!(s.read("memory/answers/a.md"), "one\r\ntwo\r\nthree\r\n");
    assert_eq!(s.read("memory/answers/new.md"), "learned\n");
    assert_eq!(s.read("memory/rules/r.md"), "another rule\n");
    assert!(!s.path("memory/learned").exists() && !s.path("learned").exists());
}

#[test]
fn a_mark_in_a_memory_or_a_text_is_refused() {
    let mark = "a\n<<<<<<< file\nb\n=======\nc\n>>>>>>> live\n";
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec: {contents: [{path: memory, at: /a}]}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("store.yaml", store),
        ("memory/a.md", mark),
        ("agents/a.md", &agent("preamble: [../shared/text.md]\n", "Heading\n=======\n")),
        ("shared/text.md", mark),
    ]);
    for _ in 0..2 {
        // The second time from the stat cache.
        let found = s.run(&["validate", "--json"]).code(1).json();
        let at: Vec<String> = found["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|d| d["code"] == "manifest.conflict_marker")
            .map(|d| format!("{}:{}", d["at"]["file"].as_str().unwrap(), d["at"]["line"]))
            .collect();
        assert_eq!(at, ["memory/a.md:2", "shared/text.md:2"]);
    }
}

#[test]
fn what_no_file_can_say_is_told_and_nothing_is_written() {
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec: {}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("store.yaml", store),
        ("agents/a.md", &agent("memory: [{store: answers, at: /mnt/memory/a}] # m\n", "Be kind.\n")),
    ]);
    s.run(&["apply", "--yes"]).code(0);
    let jane = Jane::at(&s);
    let mount = id(&s, "MemoryMount/a.answers");
    jane.updates(Kind::MemoryMount, &mount, &json!({"instructions": "Look first."}));
    jane.updates(Kind::Agent, &id(&s, "Agent/a"), &json!({"description": "x"}));
    s.run(&["pull", "--drift", "MemoryMount/a.answers"]).code(0);
    let text = s.read("agents/a.md");
    assert!(text.contains("memory: [{store: answers, at: /mnt/memory/a, instructions: Look first.}] # m\n"), "{text}");
    assert!(!text.contains("description"));
    // Labels of a mount have no place in the short form.
    jane.updates(Kind::MemoryMount, &mount, &json!({"metadata": {"team": "x"}}));
    let pulled = s.run(&["pull", "--drift"]).code(1);
    assert!(pulled.err.contains("pull.not_patched") && pulled.err.contains("labels.team"), "{}", pulled.err);
    assert_eq!(s.read("agents/a.md"), text);
}

#[test]
fn what_is_gone_live_is_told_with_the_lines_that_take_it_out() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let faq = id(&s, "Agent/faq");
    Jane::at(&s).does(Request::Archive(RetireOf {
        kind: Kind::Agent,
        at: Expect { id: faq, version: None },
        memory_version: None,
    }));
    let before = s.read("agents/faq.md");
    let pulled = s.run(&["pull", "--drift"]).code(0);
    assert!(pulled.err.contains("removed:\n  - {address: Agent/faq}"), "{}", pulled.err);
    assert_eq!(s.read("agents/faq.md"), before);
    let none = s.run(&["pull", "--drift", "Agent/nobody"]).code(1);
    assert!(none.err.contains("plan.scope_empty"), "{}", none.err);
}

#[test]
fn a_rename_that_is_offered_is_written() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let was = id(&s, "Agent/billing");
    let text = s.read("agents/billing.md");
    s.remove("agents/billing.md");
    s.write("agents/bills.md", &text);
    let plan = s.run(&["plan", "--write-moved"]).code(0);
    assert!(plan.err.contains("+ moved:") && plan.out.contains("rename"), "{}\n{}", plan.err, plan.out);
    assert_eq!(
        s.read("checkfu.yaml"),
        format!("{}moved:\n  - {{from: Agent/billing, to: Agent/bills}}\n", config("acme/support"))
    );
    s.run(&["apply", "--yes"]).code(0);
    assert_eq!(id(&s, "Agent/bills"), was);
    let again = s.run(&["plan", "--write-moved"]).code(0);
    assert!(again.err.contains("No rename is offered"), "{}", again.err);
}

#[test]
fn what_the_file_changed_is_never_overwritten() {
    let s = team();
    let lines = "# who\ndescription: was # shown\nlabels: {team: was, tier: one}\n";
    s.write("agents/billing.md", &agent(lines, "You answer questions about bills.\n"));
    s.run(&["apply", "--yes"]).code(0);
    let billing = id(&s, "Agent/billing");
    let theirs = json!({"description": "theirs", "metadata": {"team": "theirs", "tier": "two"}});
    Jane::at(&s).updates(Kind::Agent, &billing, &theirs);
    s.edit("agents/billing.md", "description: was", "description: ours");
    s.edit("agents/billing.md", "team: was", "team: ours");
    let before = (s.read("agents/billing.md"), s.read("checkfu.yaml"));
    for _ in 0..2 {
        let told = s.run(&["pull", "--drift"]).code(4);
        for wanted in [
            "pull.conflict",
            "`description` is \"ours\" in the file and \"theirs\" live by jane at 20",
            "last applied was \"was\"",
            "`labels.team` is \"ours\" in the file and \"theirs\" live",
            "accept:\n",
            "- {address: Agent/billing, live: \"sha256:",
            "agents/billing.md",
        ] {
            assert!(told.err.contains(wanted), "{wanted}\n{}", told.err);
        }
        // What live alone moved comes; nothing else does, and nothing is decided.
        assert_eq!(s.read("agents/billing.md"), before.0.replace("tier: one", "tier: two"));
        assert_eq!(s.read("checkfu.yaml"), before.1);
    }
    s.run(&["plan", "--detailed-exitcode"]).code(4);
    // `take: live`, and the next pull brings it.
    let told = s.run(&["pull", "--drift"]).err;
    let at = told.find("- {address: Agent/billing").unwrap();
    let line = told[at..].split('}').next().unwrap().replace("take: file", "take: live").replace('…', "as agreed");
    s.write("checkfu.yaml", &format!("{}accept:\n  {line}}}\n", before.1));
    s.run(&["pull", "--drift"]).code(0);
    let theirs = before.0.replace("tier: one", "tier: two").replace("ours", "theirs");
    assert_eq!(s.read("agents/billing.md"), theirs);
    settles(&s);
}

#[test]
fn a_tree_comes_too_and_a_conflict_in_it_is_refused_until_it_is_decided() {
    let tree = "apiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {name: kit}\nspec: {source: {kind: upload, path: kit}}\n";
    let about_git = "How a conflict looks:\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("trees/kit.yaml", tree),
        ("trees/kit/a.txt", "one\ntwo\n"),
        ("trees/kit/b.txt", "b\n"),
        ("trees/kit/git.md", about_git),
        ("trees/kit/bin", "\0one"),
    ]);
    s.run(&["validate"]).code(0);
    s.run(&["apply", "--yes"]).code(0);
    let (jane, kit) = (Jane::at(&s), id(&s, "FileTree/kit"));
    // Live alone moved: a file changes, one is new, one is gone.
    jane.publishes(
        Kind::FileTree,
        &kit,
        &[("a.txt", "one\nTWO\n"), ("c.txt", "c\n"), ("git.md", about_git), ("bin", "\0one")],
    );
    s.run(&["pull", "--drift"]).code(0);
    assert_eq!((s.read("trees/kit/a.txt"), s.read("trees/kit/c.txt")), ("one\nTWO\n".into(), "c\n".into()));
    assert!(!s.path("trees/kit/b.txt").exists());
    settles(&s);
    // Both moved the same line of a text, and what is no text.
    jane.publishes(
        Kind::FileTree,
        &kit,
        &[("a.txt", "one\nlive\n"), ("c.txt", "c\n"), ("git.md", about_git), ("bin", "\0live")],
    );
    s.write("trees/kit/a.txt", "one\nfile\n");
    s.write("trees/kit/bin", "\0file");
    let told = s.run(&["pull", "--drift"]).code(4);
    assert!(
        told.err.contains("pull.conflict") && told.err.contains("trees/kit/bin was changed here and live"),
        "{told:?}"
    );
    assert!(told.err.contains("trees/kit/a.txt:2") && told.err.contains("manifest.conflict_marker"), "{told:?}");
    assert_eq!(s.read("trees/kit/bin"), "\0file");
    let marked = "one\n<<<<<<< file\nfile\n||||||| applied\nTWO\n=======\nlive\n>>>>>>> live\n";
    assert_eq!(s.read("trees/kit/a.txt"), marked);
    assert!(!s.read("checkfu.yaml").contains("accept"), "somebody has to decide about the other file");
    for _ in 0..2 {
        let found = s.run(&["validate", "--json"]).code(1).json();
        let at = &found["diagnostics"][0]["at"];
        assert_eq!((&at["file"], &at["line"]), (&json!("trees/kit/a.txt"), &json!(2)), "{found:#}");
    }
    // A page about our own marks has a blank in front of them.
    s.write("trees/kit/a.txt", &marked.replace('\n', "\n "));
    s.run(&["validate"]).code(0);
}

#[test]
fn a_memory_that_both_sides_changed_is_settled_by_pull_and_apply() {
    let store = "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: answers}\nspec: {contents: [{path: memory, at: /a}]}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("store.yaml", store),
        ("memory/a.md", "one\ntwo\nthree\n"),
    ]);
    s.run(&["apply", "--yes"]).code(0);
    Jane::at(&s).remembers(&id(&s, "MemoryStore/answers"), "/a/a.md", "one\ntwo\nTHREE\n");
    s.write("memory/a.md", "ONE\ntwo\nthree\n");
    s.run(&["pull", "--drift"]).code(0);
    assert_eq!(s.read("memory/a.md"), "ONE\ntwo\nTHREE\n");
    assert!(
        s.read("checkfu.yaml").contains("accept:\n  - address: MemoryStore/answers\n"),
        "{}",
        s.read("checkfu.yaml")
    );
    s.run(&["apply", "--yes"]).code(0);
    let plan = s.run(&["plan", "--json", "--detailed-exitcode"]).code(0).json();
    assert_eq!((&plan["actions"], &plan["notes"]["kept_memories"]), (&json!([]), &Value::Null));
    s.run(&["drift"]).code(0);
}
