//! Input that means harm, or came about by accident: a clear error with its place, no panic, no waiting, nothing lost.
#![cfg(unix)]

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::sandbox::{Ran, Sandbox, agent, config, ran, team};

const DATABASE: &str = ".checkfu/workspace.db";
const ENVIRONMENT: &str = "apiVersion: checkfu.com/v1\nkind: Environment\nmetadata: {name: e}\nspec: ";

/// A project with one file.
fn project(path: &str, text: &str) -> Sandbox {
    Sandbox::with(&[("checkfu.yaml", &config("acme/x")), (path, text)])
}

/// The codes that a failing command tells, each once.
fn codes(ran: Ran) -> Vec<String> {
    let document = ran.code(1).json();
    let mut codes: Vec<String> =
        document["diagnostics"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap().to_owned()).collect();
    codes.dedup();
    codes
}

/// What validating a project with one file tells.
fn validated(path: &str, text: &str) -> Vec<String> {
    codes(project(path, text).run(&["validate", "--json"]))
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// An applied project with an agent that is not applied yet.
fn applied() -> Sandbox {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.write("agents/new.md", &agent("", "You are new.\n"));
    s
}

/// Every command that opens the workspace answers with this code, and the file is as it was.
#[track_caller]
fn refuses(s: &Sandbox, code: &str) {
    let before = s.path(DATABASE).is_file().then(|| std::fs::read(s.path(DATABASE)).unwrap());
    for args in [&["plan", "--json"][..], &["apply", "--yes", "--json"], &["get", "--json"], &["history", "--json"]] {
        assert_eq!(codes(s.run(args)), [code], "{args:?}");
    }
    let after = s.path(DATABASE).is_file().then(|| std::fs::read(s.path(DATABASE)).unwrap());
    assert_eq!(before, after);
}

#[test]
fn nesting_and_aliases_are_bounded() {
    let deep = 10_000;
    let flow = format!("{ENVIRONMENT}{}{}", "[".repeat(deep), "]".repeat(deep));
    let block = (1..2_000).map(|i| format!("{}k:\n", " ".repeat(i))).collect::<Vec<_>>().concat();
    let front = format!("---\nmodel: {}\n---\n", "{a: ".repeat(deep));
    assert_eq!(validated("a.yaml", &flow), ["manifest.too_deep"]);
    assert_eq!(validated("a.yaml", &format!("{ENVIRONMENT}\n{block}")), ["manifest.too_deep"]);
    assert_eq!(validated("agents/a.md", &front), ["manifest.too_deep"]);
    let level = |i: usize| format!("  a{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(9));
    let nodes: String = (1..12).map(level).collect();
    assert_eq!(validated("a.yaml", &format!("{ENVIRONMENT}\n  a0: &a0 [x]\n{nodes}")), ["manifest.alias_expansion"]);
    let bytes = format!("{ENVIRONMENT}\n  x: &x {}\n  y:\n{}", "y".repeat(1 << 20), "  - *x\n".repeat(10_000));
    assert_eq!(validated("a.yaml", &bytes), ["manifest.alias_expansion"]);
}

#[test]
fn a_file_of_mistakes_is_told_in_part_and_in_time() {
    let n = 20_000;
    let keys = (0..n).map(|i| format!("  k{i}: 1\n")).collect::<Vec<_>>().concat();
    let told = project("a.yaml", &format!("{ENVIRONMENT}\n{keys}")).run(&["validate", "--json"]).code(1).json();
    let told = told["diagnostics"].as_array().unwrap().clone();
    assert_eq!(told.len(), 1_001, "a thousand, and that there are more");
    assert!(told.iter().any(|d| d["code"] == "manifest.too_many"));
    let nulls = (0..n).map(|i| format!("  k{i}:\n")).collect::<Vec<_>>().concat();
    assert!(
        validated("checkfu.yaml", &format!("{}policy:\n{nulls}", config("acme/x")))
            .contains(&"manifest.too_many".to_owned())
    );
    assert!(
        validated("a.yaml", &format!("{ENVIRONMENT}\n{}", "  a: 1\n".repeat(n)))
            .contains(&"manifest.too_many".to_owned())
    );
    let documents = format!("apiVersion: checkfu.com/v1\n{}", "---\n}checkfu\n".repeat(n));
    assert!(validated("a.yaml", &documents).contains(&"manifest.too_many".to_owned()));
}

#[test]
fn many_mistakes_of_one_document_are_found_without_reading_it_for_each() {
    let n = 3_000;
    let fields = (0..n).map(|i| format!("    spec.k{i}: {{mode: ignore, reason: x}}\n")).collect::<Vec<_>>().concat();
    let fields = ENVIRONMENT.replace("{name: e}", &format!("\n  name: e\n  fields:\n{fields}"));
    assert_eq!(validated("a.yaml", &format!("{fields}{{config: {{type: cloud}}}}\n")), ["desired.field_unknown"]);
    let mounts = (0..n).map(|i| format!("  - {{tree: t{i}, at: /m/{i}}}\n")).collect::<Vec<_>>().concat();
    let told = validated("agents/a.md", &agent(&format!("files:\n{mounts}"), "Hi.\n"));
    assert!(told.contains(&"kind.limit".to_owned()) && told.contains(&"desired.dangling".to_owned()), "{told:?}");
}

#[test]
fn what_is_no_text_is_named_with_its_line() {
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/x"))]);
    for (path, bytes) in [
        ("a.yaml", &b"apiVersion: checkfu.com/v1\nkind: \xe9\n"[..]),
        ("agents/b.md", &b"\xff\xfe-\0-\0-\0"[..]),
        ("skills/c/SKILL.md", &b"\x7fELF\x02\x01\x01\x80"[..]),
    ] {
        std::fs::create_dir_all(s.path(path).parent().unwrap()).unwrap();
        std::fs::write(s.path(path), bytes).unwrap();
    }
    let told = s.run(&["validate", "--json"]).code(1).json();
    let at: Vec<(String, i64)> = told["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|d| d["code"] == "bundle.not_utf8")
        .map(|d| (d["at"]["file"].as_str().unwrap().to_owned(), d["at"]["line"].as_i64().unwrap()))
        .collect();
    let at: Vec<(&str, i64)> = at.iter().map(|(f, l)| (f.as_str(), *l)).collect();
    assert_eq!(at, [("a.yaml", 2), ("agents/b.md", 1), ("skills/c/SKILL.md", 1)]);
    assert_eq!(validated("agents/n.md", &agent("", "a\0b\n")), ["manifest.nul"]);
}

#[test]
fn a_declaration_that_cannot_be_read_is_not_taken_as_removed() {
    let s = applied();
    s.remove("agents/support.md");
    fifo(&s.path("agents/support.md"));
    assert_eq!(codes(s.run(&["plan", "--json"])), ["bundle.special"]);
    s.remove("agents/support.md");
    std::fs::write(s.dir().join(std::ffi::OsStr::from_bytes(b"agents/\xff.md")), agent("", "Hi.\n")).unwrap();
    assert!(codes(s.run(&["plan", "--json"])).contains(&"bundle.bad_path".to_owned()));
}

#[test]
fn a_configuration_that_is_no_file_does_not_lead_to_the_project_above() {
    let s = project("inner/agents/a.md", &agent("", "Hi.\n"));
    fifo(&s.path("inner/checkfu.yaml"));
    assert_eq!(codes(s.run(&["-C", "inner", "validate", "--json"])), ["cli.read"]);
    s.remove("inner/checkfu.yaml");
    std::os::unix::fs::symlink("nowhere", s.path("inner/checkfu.yaml")).unwrap();
    assert_eq!(codes(s.run(&["-C", "inner", "validate", "--json"])), ["cli.read"]);
}

#[test]
fn links_lead_nowhere() {
    let secret = "root:x:0:0";
    let s = project("m.yaml", &format!("{ENVIRONMENT}{{config: {{type: cloud}}}}\n"));
    std::fs::write(s.dir().parent().unwrap().join("secret"), secret).unwrap();
    std::fs::create_dir_all(s.path("agents")).unwrap();
    std::fs::create_dir_all(s.path("skills")).unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, s.path(at)).unwrap();
    link("../../secret", "agents/out.md");
    link("loop.md", "agents/loop.md");
    link("..", "skills/up");
    link("..", "above");
    s.write("p.yaml", "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: p}\nspec: {model: m, instructions: {file: above/secret}}\n");
    let ran = s.run(&["validate"]).code(1);
    assert!(!format!("{ran:?}").contains(secret));
    let told = codes(s.run(&["validate", "--json"]));
    assert_eq!(told, ["bundle.symlink", "bundle.outside", "bundle.symlink"]);
}

#[test]
fn what_is_no_workspace_is_refused_and_left_as_it_is() {
    let s = applied();
    let whole = std::fs::read(s.path(DATABASE)).unwrap();
    for length in [0, 50, 100, 4_096, whole.len() - 1] {
        std::fs::write(s.path(DATABASE), &whole[..length]).unwrap();
        refuses(&s, "store.damaged");
    }
    std::fs::write(s.path(DATABASE), "some text\n".repeat(1_000)).unwrap();
    refuses(&s, "store.not_a_database");
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&999_u32.to_be_bytes());
    std::fs::write(s.path(DATABASE), &newer).unwrap();
    refuses(&s, "store.newer");
    s.remove(DATABASE);
    std::fs::create_dir(s.path(DATABASE)).unwrap();
    refuses(&s, "store.not_a_database");
    s.remove(DATABASE);
    fifo(&s.path(DATABASE));
    refuses(&s, "store.not_a_database");
    s.remove(DATABASE);
    std::fs::write(s.path(DATABASE), &whole).unwrap();
    fifo(&s.path(&format!("{DATABASE}-journal")));
    refuses(&s, "store.cannot_open");
    s.remove(&format!("{DATABASE}-journal"));
    s.run(&["apply", "--yes"]).code(0);
}

#[test]
fn a_workspace_without_its_tables_is_damaged() {
    let s = applied();
    let database = rusqlite::Connection::open(s.path(DATABASE)).unwrap();
    database.execute_batch("DELETE FROM workspace; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    refuses(&s, "store.damaged");
    database.execute_batch("DROP TABLE workspace; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(database);
    refuses(&s, "store.damaged");
}

#[test]
fn a_plan_file_is_read_to_its_limit_and_not_further() {
    let s = applied();
    s.run(&["plan", "-o", "p.json"]).code(0);
    let plan = s.read("p.json");
    for (text, code) in [
        (String::new(), "plan.file_syntax"),
        (plan[..plan.len() / 2].to_owned(), "plan.file_syntax"),
        ("[".repeat(100_000), "plan.file_syntax"),
        (plan.replacen('{', "{\"more\": 1,", 1), "plan.file_syntax"),
        (plan.replace("You are new.", "You are old."), "plan.file_digest"),
        (plan.replacen("checkfu.plan/v1", "checkfu.plan/v9", 1), "plan.file_format"),
    ] {
        s.write("bad.json", &text);
        assert_eq!(codes(s.run(&["apply", "--yes", "--json", "--plan", "bad.json"])), [code]);
        assert_eq!(codes(s.run(&["show", "--json", "bad.json"])), [code]);
    }
    std::fs::File::create(s.path("bad.json")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(codes(s.run(&["show", "--json", "bad.json"])), ["plan.file_too_large"]);
    s.run(&["apply", "--yes", "--plan", "p.json"]).code(0);
}

#[test]
fn a_plan_reads_no_file_outside_the_project() {
    let s = applied();
    s.write("skills/extra/SKILL.md", &crate::sandbox::skill("extra", "More."));
    let secret = s.read("skills/extra/SKILL.md");
    std::fs::write(s.dir().parent().unwrap().join("SKILL.md"), &secret).unwrap();
    s.run(&["plan", "-o", "p.json"]).code(0);
    // The same bytes and digests, elsewhere; the digests of the plan are made to fit.
    for root in ["..", "skills/../..", "/", "link"] {
        let mut plan = checkfu::plan::read(s.read("p.json").as_bytes()).unwrap();
        for action in &mut plan.actions {
            if let checkfu::plan::Step::Create { content: Some(content), .. } = &mut action.step {
                content.root = root.to_owned();
            }
            action.digest = checkfu::plan::action_digest(action);
        }
        plan.digest = checkfu::plan::digest(&plan);
        s.write("evil.json", &checkfu::plan::write(&plan));
        let _ = std::os::unix::fs::symlink("..", s.path("link"));
        let before = s.run(&["get", "--json"]).code(0).out;
        let ran = s.run(&["apply", "--yes", "--plan", "evil.json", "skills/extra"]);
        assert!([1, 4].contains(&ran.code), "{root}: {ran:?}");
        assert!(!s.run(&["get", "--json"]).out.contains("Skill/extra"), "{root}: {ran:?}\n{before}");
    }
}

#[test]
fn a_plan_is_written_over_a_plan_and_nothing_else() {
    let s = applied();
    for path in ["checkfu.yaml", DATABASE, "agents/support.md"] {
        let before = std::fs::read(s.path(path)).unwrap();
        assert_eq!(codes(s.run(&["plan", "--json", "-o", path])), ["cli.write"], "{path}");
        assert!(std::fs::read(s.path(path)).unwrap() == before, "{path} is as it was");
    }
    s.run(&["plan", "-o", "p.json"]).code(0);
    s.run(&["plan", "-o", "p.json"]).code(0);
}

#[test]
fn streams_that_are_closed_or_full_change_no_outcome() {
    let s = applied();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = s.command(&["apply", "--yes"]).stdout(full()).stdin(Stdio::null()).output().unwrap();
    // It was written, so the exit code does not say that nothing was.
    let told = ran(&output).code(6);
    assert!(told.err.contains("cli.output"), "{told:?}");
    let output = s.command(&["apply", "--yes"]).stdout(full()).stdin(Stdio::null()).output().unwrap();
    assert!(ran(&output).code(1).err.contains("cli.output"), "nothing was left to write");
    s.run(&["plan", "--detailed-exitcode"]).code(0);
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.env_clear().current_dir(s.dir()).args(["-c", script, env!("CARGO_BIN_EXE_checkfu")]);
        ran(&command.output().unwrap())
    };
    s.write("agents/other.md", &agent("", "You are another.\n"));
    shell("\"$0\" apply --yes <&- >&- 2>&-").code(0);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
    let whole = s.run(&["doctor", "--json"]).code(0);
    assert!(!whole.out.contains("\"failed\""), "{whole:?}");
}

#[test]
fn a_full_disk_leaves_no_half_file() {
    let s = Sandbox::with(&[(".gitignore", "target/\n")]);
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.env_clear().current_dir(s.dir()).args(["-c", script, env!("CARGO_BIN_EXE_checkfu")]);
        ran(&command.output().unwrap())
    };
    let told = shell("ulimit -f 0; \"$0\" init 2>&1 | cat");
    assert!(told.out.contains("cli.write"), "{told:?}");
    assert_eq!(s.files(), [(".gitignore".to_owned(), b"target/\n".to_vec())]);
}

#[test]
fn names_and_texts_reach_no_terminal_as_commands() {
    let s = project("agents/a.md", &agent("", "Say \u{1b}]0;x\u{7}\u{1b}[2J and \u{202e}this.\n"));
    for name in ["agents/\u{1b}[31m.md", "agents/\u{202e}b.md", "agents/c\nd.md"] {
        s.write(name, &agent("", "Hi.\n"));
    }
    let all = s.run(&["validate"]).code(1);
    for name in ["agents/\u{1b}[31m.md", "agents/\u{202e}b.md", "agents/c\nd.md"] {
        s.remove(name);
    }
    let shown = [all, s.run(&["plan"]), s.run(&["plan", "--markdown"]), s.run(&["apply", "--yes"])];
    for ran in shown {
        let text = format!("{}{}", ran.out, ran.err);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }
}
