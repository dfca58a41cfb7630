//! A copied `checkfu.yaml` acts as the owner of the original: it lets nothing go, and says why.
#![cfg(unix)]

use std::path::Path;

use crate::cli_serve::serving;
use crate::sandbox::{Ran, Sandbox, config, ran, skill};

/// How Git knows the folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Git {
    None,
    /// A repository each, without a commit.
    Empty,
    /// A repository each, with a commit of its own.
    Committed,
}

fn run(s: &Sandbox, folder: &str, args: &[&str]) -> Ran {
    let token = std::fs::read_to_string(s.path("token")).unwrap_or_default();
    ran(&s.command(args).env("TEAM_TOKEN", token).current_dir(s.path(folder)).output().unwrap())
}

/// Ends with the test, whatever comes.
struct Served(std::process::Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn known_to(git: Git, dir: &Path) {
    if git == Git::None {
        return;
    }
    let repository = git2::Repository::init(dir).unwrap();
    if git == Git::Committed {
        let tree = repository.index().unwrap().write_tree().unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let name = dir.file_name().unwrap().to_str().unwrap();
        let who = git2::Signature::new(name, "t@example.com", &git2::Time::new(0, 0)).unwrap();
        repository.commit(Some("HEAD"), &who, &who, "first", &tree, &[]).unwrap();
    }
}

/// `original` with two skills, applied, and `copy` with one of them and the same owner.
fn copied(s: &Sandbox, git: Git, targets: &str) {
    for folder in ["original", "copy"] {
        s.write(&format!("{folder}/checkfu.yaml"), &format!("{}{targets}", config("acme/a")));
        s.write(&format!("{folder}/skills/tone/SKILL.md"), &skill("tone", "Be kind."));
        known_to(git, &s.path(folder));
    }
    s.write("original/skills/facts/SKILL.md", &skill("facts", "Know much."));
    run(s, "original", &["apply", "--yes"]).code(0);
}

fn lets_nothing_go(s: &Sandbox, git: Git) {
    let count = || run(s, "original", &["get", "--json"]).code(0).json()["resources"].as_array().unwrap().len();
    let refused = run(s, "copy", &["apply", "--yes"]).code(5);
    let said = format!("{}{}", refused.out, refused.err);
    let why = if git == Git::Committed { "this source does not know it" } else { "last applied from another folder" };
    assert!(said.contains("plan.source") && said.contains(why), "{git:?}: {said}");
    assert!(said.contains("give this project an owner of its own"), "{git:?}: {said}");
    assert_eq!(count(), 2, "{git:?}");
    // The file of a plan may be public: it tells folders apart, and holds no path of the machine.
    run(s, "copy", &["plan", "-o", "p.json"]);
    let (plan, home) = (s.read("copy/p.json"), s.dir().to_string_lossy().into_owned());
    assert!(!plan.contains(&home) && plan.contains("\"folder\"") == (git != Git::Committed), "{git:?}: {plan}");
    s.remove("copy/p.json");
    run(s, "original", &["plan", "--detailed-exitcode"]).code(0);
    // What would let nothing go is not refused: the folder that was moved goes on, and is asked once.
    let (from, to) = (s.path("original"), s.path("moved"));
    std::fs::rename(from, to).unwrap();
    run(s, "moved", &["plan", "--detailed-exitcode"]).code(0);
    s.remove("moved/skills/facts");
    if git != Git::Committed {
        run(s, "moved", &["apply", "--yes"]).code(5);
        run(s, "moved", &["apply", "--yes", "--allow", "source"]).code(0);
        s.write("moved/skills/facts/SKILL.md", &skill("facts", "Know more."));
        run(s, "moved", &["apply", "--yes"]).code(0);
        s.remove("moved/skills/facts");
    }
    run(s, "moved", &["apply", "--yes"]).code(0);
}

#[test]
fn a_copy_lets_nothing_go_with_git_and_without() {
    for git in [Git::None, Git::Empty, Git::Committed] {
        let s = Sandbox::empty();
        copied(&s, git, "targets: {local: {kind: embedded, path: ../shared.db}}\n");
        lets_nothing_go(&s, git);
    }
}

#[test]
fn a_copy_lets_nothing_go_over_a_server() {
    for git in [Git::None, Git::Committed] {
        let s = Sandbox::empty();
        let (child, url) = serving(&s);
        let _served = Served(child);
        let made = s.run(&["token", "create", "boss", "--scope", "admin", "--owner", "acme/*", "--db", "w.db"]).code(0);
        s.write("token", made.out.trim_end());
        copied(&s, git, &format!("targets: {{live: {{kind: checkfu, url: '{url}', token: {{env: TEAM_TOKEN}}}}}}\n"));
        lets_nothing_go(&s, git);
    }
}
