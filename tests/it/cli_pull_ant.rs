//! `pull --from claude-lock.json`: a project of the `ant` tool becomes one of ours, ids and all.

use serde_json::json;

use crate::repo;
use crate::sandbox::Sandbox;

const LOCK: &str = r#"{
  "version": 1,
  "origin": { "base_url": "https://api.anthropic.com", "organization_id": "o", "workspace_id": "w" },
  "resources": {
    "./agents/reviewer.md": { "kind": "agent", "id": "agent_1", "version": "1", "hash": "a", "remote_hash": "b" },
    "./agents/lead.yaml": { "kind": "agent", "id": "agent_2", "version": "1", "hash": "a", "remote_hash": "b" },
    "./skills/pr-summary": { "kind": "skill", "id": "skill_1", "version": "skver_1", "hash": "a", "remote_hash": "b" },
    "https://github.com/x/y/tree/main/pdf": { "kind": "skill", "id": "skill_2", "version": "skver_2" },
    "./environments/cloud.json": { "kind": "environment", "id": "env_1", "version": "1" },
    "./memory_stores/notes.md": { "kind": "memory_store", "id": "memstore_1", "version": "1" },
    "./deployments/nightly.md": { "kind": "deployment", "id": "depl_1", "version": "1" }
  }
}"#;

fn ant() -> Sandbox {
    Sandbox::with(&[
        ("claude-lock.json", LOCK),
        (
            "agents/reviewer.md",
            "---\nname: Code reviewer\nmodel: claude-opus-5\ntools:\n  - type: agent_toolset_20260401\nskills:\n  \
             - ../skills/pr-summary\n  - https://github.com/x/y/tree/main/pdf\n  - {type: anthropic, skill_id: xlsx}\n\
             metadata: {team: core}\nbudget: 3\n---\n\nYou review.\n\nKindly.\n",
        ),
        (
            "agents/lead.yaml",
            "name: Engineering lead\nmodel: {id: claude-opus-5}\nmultiagent:\n  type: coordinator\n  agents:\n    \
             - ./reviewer.md\n",
        ),
        ("skills/pr-summary/SKILL.md", "---\nname: pr-summary\ndescription: Sums up. Use it often.\n---\n\n# PR\n"),
        ("environments/cloud.json", r#"{"name": "review-env", "config": {"type": "cloud"}}"#),
        ("memory_stores/notes.md", "---\nname: Review notes\n---\nWhat was decided.\n"),
        ("deployments/nightly.md", "---\nname: Nightly\n---\nGo.\n"),
    ])
}

#[test]
fn a_project_of_another_tool_becomes_one_of_ours() {
    let from = ant();
    let s = Sandbox::empty();
    let lock = from.path("claude-lock.json").display().to_string();
    let ran = s.run(&["pull", "--owner", "acme/review", "--from", &lock, "--json"]).code(0);
    for told in ["deployment `deployments/nightly.md`", "`budget`", "skill_2 comes from https://github.com"] {
        assert!(ran.err.contains(told), "{told}\n{}", ran.err);
    }
    let pulled = ran.json();
    let line = |address: &str, id: &str| json!({ "address": address, "id": id });
    assert_eq!(
        pulled["adopted"],
        json!([
            line("Agent/lead", "agent_2"),
            line("Agent/reviewer", "agent_1"),
            line("Environment/cloud", "env_1"),
            line("MemoryStore/notes", "memstore_1"),
            line("Skill/pr-summary", "skill_1"),
        ])
    );
    assert_eq!(s.read("agents/reviewer.md"), repo::text("tests/cases/pull/reviewer.md"));
    assert!(s.read("agents/lead.md").contains("agents:\n    - reviewer\n"), "{}", s.read("agents/lead.md"));
    assert!(s.read("memory/notes.yaml").contains("description: What was decided."));
    assert_eq!(s.read("skills/pr-summary/SKILL.md"), from.read("skills/pr-summary/SKILL.md"));
    let valid = s.run(&["validate"]).code(0);
    assert!(!valid.out.contains("warning"), "{}", valid.out);
    // In place, files of the other tool are replaced when that is said, and the skill stays where it is.
    let refused = from.run(&["pull", "--owner", "acme/review", "--from", "claude-lock.json"]).code(1);
    assert!(refused.err.contains("pull.differs") && !from.path("checkfu.yaml").exists(), "{}", refused.err);
    from.run(&["pull", "--owner", "acme/review", "--from", "claude-lock.json", "--force"]).code(0);
    assert_eq!(from.read("agents/reviewer.md"), s.read("agents/reviewer.md"));
}

#[test]
fn a_lock_that_is_none_or_lies_is_refused() {
    for (lock, why) in [
        ("no JSON", "it is no JSON"),
        (r#"{"version": 2, "resources": {}}"#, "its `version` is not 1"),
        (r#"{"version": 1}"#, "it has no `resources`"),
        (r#"{"version": 1, "resources": {"./a": {"kind": "agent"}}}"#, "has no `kind` and `id`"),
        (r#"{"version": 1, "resources": {"../a.md": {"kind": "agent", "id": "x"}}}"#, "leaves the folder of the lock"),
        (r#"{"version": 1, "resources": {"/etc/x": {"kind": "agent", "id": "x"}}}"#, "leaves the folder of the lock"),
        (r#"{"version": 1, "resources": {"./none.md": {"kind": "agent", "id": "x"}}}"#, "cannot be read"),
        (r#"{"version": 1, "resources": {"./a.md": {"kind": "agent", "id": "x"}}}"#, "no front matter"),
        (r#"{"version": 1, "resources": {"./b.md": {"kind": "agent", "id": "x"}}}"#, "which the lock does not have"),
        (r#"{"version": 1, "resources": {"./skills/s": {"kind": "skill", "id": "x"}}}"#, "another name than it"),
    ] {
        let s = Sandbox::with(&[
            ("claude-lock.json", lock),
            ("a.md", "prose"),
            ("b.md", "---\nname: b\nmodel: m\nskills: [../x, ./y]\n---\n"),
            ("skills/s/SKILL.md", "---\nname: t\ndescription: d\n---\n"),
        ]);
        let ran = s.run(&["pull", "--owner", "acme/x", "--from", "claude-lock.json", "--json"]).code(1);
        assert!(ran.out.contains(why), "{lock}: {}", ran.out);
        assert!(!s.path("checkfu.yaml").exists(), "{lock}");
    }
}
