//! What a plan says beside its rows: the next command, what stays, what can be pasted.

use crate::sandbox::{Sandbox, agent, config, team};

/// A project with a store and a mount, applied.
fn knowledge() -> Sandbox {
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/support")),
        ("agents/a.md", &agent("", "Be kind.\n")),
        ("agents/b.md", &agent("", "Be short.\n")),
        ("memory/answers/a.md", "one\n"),
        ("memory/start/b.md", "two\n"),
        (
            "k.yaml",
            "apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: know}\nspec:\n  \
             contents:\n    - {path: memory/answers, at: /answers, mode: upkeep}\n    \
             - {path: memory/start, at: /start, mode: seed}\n",
        ),
    ]);
    s.run(&["apply", "--yes"]).code(0);
    s
}

#[test]
fn the_next_command_is_run_as_it_is_printed() {
    let s = team();
    let next = |args: &[&str]| {
        let err = s.run(args).code(0).err;
        let line = err.lines().find_map(|l| l.strip_prefix("Next: checkfu ")).unwrap_or_else(|| panic!("{err}"));
        let words: Vec<String> = line.split(' ').map(|w| w.trim_matches('\'').to_owned()).collect();
        s.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    next(&["plan", "--exclude", "Agent/support", "--allow", "retire"]).code(0);
    next(&["plan", "-C", "agents", "Agent/*"]).code(0);
    assert!(s.run(&["plan"]).code(0).out.contains("Nothing to do"));
}

#[test]
fn a_changed_mode_is_seen_and_verbose_lists_what_stays() {
    let s = knowledge();
    s.edit("k.yaml", "at: /answers, mode: upkeep", "at: /answers, mode: enforce");
    let out = s.run(&["plan"]).code(0).out;
    assert!(out.contains("modes[/answers].mode  \"upkeep\" → \"enforce\"  k.yaml:"), "{out}");
    assert!(!out.contains("To settle") && !out.contains("Unchanged:"), "{out}");
    let out = s.run(&["plan", "-v"]).code(0).out;
    assert!(out.contains("Unchanged:\n  Agent/a\n  Agent/b\n"), "{out}");
    assert!(out.contains("Not owned") && out.contains("contents./start/b.md"), "{out}");
}

#[test]
fn what_is_gone_for_good_has_one_block_that_can_be_pasted() {
    let s = knowledge();
    s.remove("agents/a.md");
    s.remove("agents/b.md");
    let out = s.run(&["plan", "--allow", "retire"]).code(5).out;
    let from = out.find("removed:\n").unwrap();
    let lines: Vec<&str> = out[from..].lines().take(3).map(|l| l.strip_prefix("        ").unwrap_or(l)).collect();
    let block = lines.join("\n") + "\n";
    assert_eq!(block, "removed:\n  - {address: Agent/a}\n  - {address: Agent/b}\n");
    s.write("checkfu.yaml", &(s.read("checkfu.yaml") + &block));
    s.run(&["apply", "--yes", "--allow", "retire"]).code(0);
}

#[test]
fn an_apply_lists_each_action_once_and_get_is_markdown() {
    let s = team();
    let ran = s.run(&["apply", "--yes"]).code(0);
    let receipts = |text: &str| text.matches("Agent/support#create").count();
    assert_eq!((receipts(&ran.out), receipts(&ran.err)), (1, 0), "{}{}", ran.out, ran.err);
    assert!(s.run(&["get", "--markdown"]).code(0).out.starts_with("| address | name |"));
    assert!(s.run(&["get", "Agent/support", "--markdown"]).code(0).out.starts_with("```yaml\n"));
    let history = s.run(&["history"]).code(0).out;
    for limit in ["0", "1001"] {
        assert!(s.run(&["history", "-n", limit]).code(1).err.contains("1..=1000"), "{limit}");
    }
    assert!(!history.contains('.') || !history.lines().any(|l| l.contains("Z.")), "{history}");
}

#[test]
fn every_command_that_shows_something_has_markdown() {
    let s = team();
    let applied = s.run(&["apply", "--yes", "--json"]).code(0).json();
    let apply = applied["apply"].as_str().unwrap();
    for (args, start) in [
        (&["history"][..], "| apply | began |"),
        (&["show", apply], "### checkfu: apply `apply_"),
        (&["doctor"], "### checkfu: "),
        (&["validate"], "### checkfu: no errors"),
        (&["explain", "cli.declined"], "### checkfu: `cli.declined`"),
        (&["explain", "Agent"], "### checkfu: `Agent`"),
        (&["get"], "| address | name |"),
        (&["new", "agent", "x"], "- `agents/x.md`"),
        (&["plan"], "### checkfu: 1 to create"),
    ] {
        let out = s.run(&[args, &["--markdown"]].concat()).code(0).out;
        assert!(out.starts_with(start) && out.len() <= 60_000, "{args:?}: {out}");
    }
}
