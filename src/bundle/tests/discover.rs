//! Discovery: what is found, what is passed over, what is told.

use super::*;
use crate::bundle::What;
use crate::diag::Severity;
use crate::model::config::Discover;

fn found(dir: &Dir, d: &Discover) -> (Vec<String>, Diagnostics) {
    let (found, diagnostics) = dir.open().discover(d, &|_, _| None);
    let line = |f: &crate::bundle::Found| {
        let what = match f.what {
            What::Yaml => "yaml",
            What::Agent => "agent",
            What::SkillDir => "skill",
        };
        format!("{what} {}", f.path)
    };
    (found.iter().map(line).collect(), diagnostics)
}

#[test]
fn defaults_find_yaml_agents_and_skills() {
    let dir = Dir::new();
    for file in [
        "checkfu.yaml",
        "a.yaml",
        "x/y/b.yml",
        "agents/one.md",
        "agents/README.md",
        "agents/deep/two.md",
        "skills/s/SKILL.md",
        "skills/s/k8s.yaml",
        "skills/README.md",
        ".claude/skills/t/SKILL.md",
        ".github/ci.yml",
        ".hidden.yaml",
        "nested/checkfu.yaml",
        "nested/agents/three.md",
        "nested/c.yaml",
        "build/d.yaml",
        "old/e.yaml",
    ] {
        dir.write(file, "");
    }
    dir.write(".gitignore", "build/\n").write(".checkfuignore", "/old\n");
    let (list, diagnostics) = found(&dir, &Discover::default());
    assert!(diagnostics.0.is_empty(), "{}", messages(&diagnostics));
    assert_eq!(
        list,
        [
            "yaml .hidden.yaml",
            "yaml a.yaml",
            "agent agents/one.md",
            "skill skills/s",
            "yaml skills/s/k8s.yaml",
            "yaml x/y/b.yml"
        ]
    );
    let exclude = vec!["x".to_owned(), "skills/*/*.yaml".to_owned(), ".*".to_owned()];
    let (list, _) = found(&dir, &Discover { exclude, ..Discover::default() });
    assert_eq!(list, ["yaml a.yaml", "agent agents/one.md", "skill skills/s"]);
}

#[test]
fn folders_without_skill_file_are_told() {
    let dir = Dir::new();
    dir.write("skills/a/Skill.md", "").write("skills/b/notes.md", "").write("skills/c/inner/deep/SKILL.md", "");
    dir.write("skills/d/SKILL.md", "").write("skills/d/sub/SKILL.md", "");
    let (list, diagnostics) = found(&dir, &Discover::default());
    assert_eq!(list, ["skill skills/d"]);
    assert_eq!(codes(&diagnostics), ["bundle.skill_file_name", "bundle.not_a_skill", "bundle.not_a_skill"]);
    let [a, b, c] = &diagnostics.0[..] else { panic!() };
    assert_eq!(
        (a.severity, a.message.as_str()),
        (Severity::Error, "`skills/a/Skill.md` must be called exactly SKILL.md")
    );
    assert_eq!((b.severity, c.severity), (Severity::Note, Severity::Warning));
    assert_eq!(c.hints, ["`skills/c/inner/deep` does: add `skills/*/*/*` to `discover.skills`"]);
    let skills = vec!["skills/*".to_owned(), "skills/*/*/*".to_owned()];
    let (list, diagnostics) = found(&dir, &Discover { skills, ..Discover::default() });
    assert_eq!(list, ["skill skills/c/inner/deep", "skill skills/d"]);
    assert_eq!(codes(&diagnostics), ["bundle.skill_file_name", "bundle.not_a_skill"], "c is on the way to a skill");
}

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    let dir = Dir::new();
    dir.write("real/SKILL.md", "").write("x.md", "").write("x.yaml", "").link("..", "up");
    dir.link("../real", "skills/l").link("gone", "skills/gone").link("../x.md", "skills/README.md");
    dir.link("../x.md", "agents/a.md").link("x.yaml", "l.yaml").link("../../x.md", "skills/m/SKILL.md");
    let (list, diagnostics) = found(&dir, &Discover::default());
    assert_eq!(list, ["skill skills/m", "yaml x.yaml"], "a linked SKILL.md gets its verdict from the bundle");
    let lines: Vec<_> = diagnostics.0.iter().map(|d| format!("{:?} {}", d.severity, d.message)).collect();
    assert_eq!(
        lines,
        [
            "Error `agents/a.md` is a symbolic link to `../x.md`",
            "Note `l.yaml` is a symbolic link to `x.yaml`",
            "Error `skills/gone` is a symbolic link to `gone`",
            "Error `skills/l` is a symbolic link to `../real`",
            "Error `up` is a symbolic link to `..`",
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_link_past_which_something_may_be_declared_is_an_error_unless_that_is_found_by_itself() {
    let outside = Dir::new();
    outside.write("envs/e.yaml", "").write("e.yaml", "").write("agents/a.md", "");
    let out = |path: &str| outside.at(path).to_str().unwrap().to_owned();
    let dir = Dir::new();
    dir.write("real/x.yaml", "").write("real/b.md", "").write("hidden/y.yaml", "");
    dir.link(&out("envs"), "envs").link(&out("e.yaml"), "e.yaml").link(&out("agents"), "agents");
    dir.link("real", "same").link("hidden", "left-out").link("gone", "gone").link("host.1", ".#lock");
    dir.link(&out("envs"), "excluded").link("real/b.md", "b.md").link("gone", "gone.yaml");
    let exclude = vec!["excluded".to_owned(), "hidden".to_owned()];
    let say = |d: &Discover| {
        let (_, diagnostics) = found(&dir, d);
        let line = |d: &crate::diag::Diagnostic| format!("{:?} {}", d.severity, d.place().unwrap().file);
        diagnostics.0.iter().map(line).collect::<Vec<_>>()
    };
    let all =
        ["Error agents", "Error e.yaml", "Error envs", "Error gone", "Error gone.yaml", "Error left-out", "Note same"];
    assert_eq!(say(&Discover { exclude: exclude.clone(), ..Discover::default() }), all);
    // Where globs name folders, a link elsewhere hides nothing, and one there does, whatever it leads to.
    let manifests = vec!["envs/*.yaml".to_owned(), "s?me/**".to_owned(), "gone.*".to_owned()];
    let narrow = Discover { manifests, agents: Vec::new(), exclude, ..Discover::default() };
    assert_eq!(say(&narrow), ["Error envs", "Error gone.yaml", "Error same"]);
}

#[test]
fn bad_globs_and_rule_lines_are_told() {
    let dir = Dir::new();
    dir.write(".gitignore", "[z-a]\n");
    let manifests = vec!["{".to_owned(), "*.yaml".to_owned()];
    let (_, diagnostics) = found(&dir, &Discover { manifests, ..Discover::default() });
    assert_eq!(codes(&diagnostics), ["bundle.bad_glob", "bundle.bad_ignore"]);
    let at = |option: &'static str, i: usize| Some(crate::diag::Location::file(format!("{option}/{i}")));
    let skills = vec!["ok".to_owned(), "{".to_owned()];
    let (_, diagnostics) = dir.open().discover(&Discover { skills, ..Discover::default() }, &at);
    let bad = diagnostics.0.iter().find(|d| d.code.code == "bundle.bad_glob").unwrap();
    assert_eq!(bad.place().unwrap().file.as_ref(), "discover.skills/1");
}

#[test]
fn every_code_has_a_test_that_names_it() {
    let tests = [
        include_str!("cache.rs"),
        include_str!("discover.rs"),
        include_str!("git.rs"),
        include_str!("lines.rs"),
        include_str!("links.rs"),
        include_str!("open.rs"),
        include_str!("sets.rs"),
        include_str!("../../../tests/it/cli_diff.rs"),
    ]
    .concat();
    for code in crate::diag::codes::bundle::ALL {
        assert!(tests.contains(&format!("\"{}\"", code.code)), "{}", code.code);
    }
}

#[test]
fn a_pattern_that_is_too_large_is_told_and_the_others_hold() {
    let huge = format!("{}*", "x".repeat(2_000_000));
    let mut told = Diagnostics::default();
    let globs = crate::bundle::walk::Globs::new(&[huge, "*.md".to_owned()], "exclude", &|_, _| None, &mut told);
    assert_eq!(told.0.iter().map(|d| d.code.code).collect::<Vec<_>>(), ["bundle.bad_glob"]);
    assert_eq!(globs.matches("a.md"), Some("*.md"));
}
