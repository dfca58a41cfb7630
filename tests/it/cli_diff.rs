//! `checkfu diff --base`: what files change against a commit, with no workspace and no token.

use crate::sandbox::{Sandbox, agent, config, prompt, skill};

/// Commits all that is there; gives the commit.
fn commit(s: &Sandbox) -> String {
    let repository = git2::Repository::open(s.dir()).or_else(|_| git2::Repository::init(s.dir())).unwrap();
    let mut index = repository.index().unwrap();
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.update_all(["*"], None).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let by = git2::Signature::new("t", "t@example.com", &git2::Time::new(0, 0)).unwrap();
    let parent = repository.head().ok().map(|h| h.peel_to_commit().unwrap());
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &by, &by, "x", &tree, &parents).unwrap().to_string()
}

/// A team behind a server that nobody runs, with no token.
fn team() -> (Sandbox, String) {
    let target = "targets: {team: {kind: checkfu, url: \"http://127.0.0.1:1\", token: {env: NOT_SET}}}\n";
    let s = Sandbox::with(&[
        ("checkfu.yaml", &(config("acme/support") + target)),
        ("agents/support.md", &agent("skills: [triage]\n", &prompt())),
        ("agents/faq.md", &agent("", "You answer simple questions.\n")),
        ("skills/triage/SKILL.md", &skill("triage", "Ask what happened first.")),
    ]);
    let sha = commit(&s);
    (s, sha)
}

#[test]
fn it_tells_what_is_new_what_changes_and_what_goes() {
    let (s, base) = team();
    let none = s.run(&["diff", "--base", &base, "--detailed-exitcode"]).code(0);
    assert!(none.out.contains("Nothing changes: 3 unchanged"), "{}", none.out);
    s.edit("agents/support.md", "Rule 7: be kind", "Rule 7: be very kind");
    s.edit("skills/triage/SKILL.md", "first.", "first, and when.");
    s.write("agents/new.md", &agent("", "You are new.\n"));
    let found = s.run(&["diff", "--base", &base, "--detailed-exitcode"]).code(2);
    assert!(found.out.contains("(commit ") && found.out.contains(&base[..12]), "{}", found.out);
    assert!(found.out.contains("Changes: ") && found.out.contains("very"), "{}", found.out);
    for what in ["+ create", "Agent/new", "Skill/triage", "Agent/support"] {
        assert!(found.out.contains(what), "{what}: {}", found.out);
    }
    s.run(&["diff", "--base", "HEAD"]).code(0);
    // Committed or not, it is the files that count; and only a part may be asked for.
    commit(&s);
    let part = s.run(&["diff", "--base", &base, "agents/new.md", "--json"]).code(0).json();
    assert_eq!((&part["format"], part["actions"].as_array().unwrap().len()), (&"checkfu.diff/v1".into(), 1));
    assert_eq!((&part["origin"]["kind"], &part["origin"]["workspace"]), (&"commit".into(), &base.clone().into()));
    let text = s.run(&["diff", "--base", &base, "--markdown"]).code(0).out;
    assert!(text.contains("checkfu diff") && !text.contains("checkfu plan -o"), "{text}");
    // Nothing applies it.
    s.write("d.json", &s.run(&["diff", "--base", &base, "--json"]).out);
    let refused = s.run(&["apply", "--plan", "d.json", "--yes"]).code(1);
    assert!(refused.err.contains("plan.file_format"), "{}", refused.err);
    assert!(!s.path(".checkfu").exists(), "no workspace was made");
}

#[test]
fn what_would_refuse_the_plan_refuses_here() {
    let (s, base) = team();
    s.remove("agents/faq.md");
    let gone = s.run(&["diff", "--base", &base]).code(5);
    assert!(gone.out.contains("plan.irreversible") && gone.out.contains("could not be applied"), "{}", gone.out);
    let text = s.read("checkfu.yaml");
    s.write("checkfu.yaml", &(text.clone() + "removed: [{address: Agent/faq}]\npolicy: {max_retire: 0}\n"));
    s.run(&["diff", "--base", &base]).code(5);
    s.run(&["diff", "--base", &base, "--allow", "retire"]).code(0);
    s.write("checkfu.yaml", &text.replace("acme/support", "acme/other"));
    let other = s.run(&["diff", "--base", &base, "--exclude", "Agent/faq"]);
    assert!(other.err.contains("authoring_owner changes from acme/support to acme/other"), "{other:?}");
}

#[test]
fn a_base_that_is_not_here_or_has_no_sound_project() {
    let (s, base) = team();
    let none = s.run(&["diff", "--base", "nowhere"]).code(1);
    assert!(none.err.contains("bundle.no_base") && none.err.contains("fetch-depth: 2"), "{}", none.err);
    s.run(&["diff"]).code(1);
    s.write("agents/faq.md", "---\nmodle: x\n---\n");
    let broken = commit(&s);
    s.run(&["diff", "--base", &base]).code(1);
    s.write("agents/faq.md", &agent("", "Sound again.\n"));
    let errors = s.run(&["diff", "--base", &broken]).code(1);
    assert!(errors.err.contains("agents/faq.md:2"), "{}", errors.err);
    // A commit from before the project: everything is new.
    let fresh = Sandbox::with(&[("README.md", "x")]);
    let first = commit(&fresh);
    fresh.write("checkfu.yaml", &config("acme/x"));
    fresh.write("agents/a.md", &agent("", "A\n"));
    let all = fresh.run(&["diff", "--base", &first]).code(0);
    assert!(all.out.contains("1 to create") || all.out.contains("1 create"), "{}", all.out);
    let bare = Sandbox::with(&[("checkfu.yaml", &config("acme/x")), ("agents/a.md", &agent("", "A\n"))]);
    assert!(bare.run(&["diff", "--base", "HEAD"]).code(1).err.contains("bundle.no_base"));
}

/// A project below the top, whose root is above it.
#[test]
fn what_a_project_reads_above_itself_is_of_the_commit_too() {
    let s = Sandbox::with(&[
        ("p/checkfu.yaml", &(config("acme/x") + "root: ..\n")),
        (
            "p/agents/a.yaml",
            "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: a}\nspec: {model: claude-sonnet-5, instructions: {file: ../../shared/a.txt}}\n",
        ),
        ("shared/a.txt", "Be kind.\n"),
    ]);
    let base = commit(&s);
    s.run(&["-C", "p", "validate"]).code(0);
    s.run(&["-C", "p", "diff", "--base", &base, "--detailed-exitcode"]).code(0);
    s.write("shared/a.txt", "Be very kind.\n");
    let found = s.run(&["-C", "p", "diff", "--base", &base, "--detailed-exitcode"]).code(2);
    assert!(found.out.contains("very"), "{}", found.out);
}
