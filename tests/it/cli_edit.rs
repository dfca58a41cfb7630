//! `edit`: break-glass by hand, for each kind; nothing is written that is wrong, and no text is lost.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::sandbox::{Ran, Sandbox, agent, config, ran, skill, team};

/// Edits with a command that gets the file as its last argument.
fn edit(s: &Sandbox, address: &str, editor: &str) -> Ran {
    let mut command = s.command(&["edit", address, "--reason", "incident 12"]);
    ran(&command.env("EDITOR", editor).env("CHECKFU_ACTOR", "jane").output().unwrap())
}

/// The file that is kept, which the test takes away.
fn kept(ran: &Ran) -> String {
    let at = ran.err.find("what you wrote is in ").unwrap_or_else(|| panic!("{ran:?}"));
    let path = ran.err[at..].split_whitespace().nth(5).unwrap();
    let path = PathBuf::from(path);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    text
}

#[test]
fn an_agent_is_edited_and_stays_so_until_it_is_put_back() {
    let s = team();
    assert!(edit(&s, "Agent/billing", "true").code(1).err.contains("cli.no_workspace"));
    s.run(&["apply", "--yes"]).code(0);
    let done = edit(&s, "Agent/billing", "sed -i s/bills/refunds/").code(0);
    assert!(done.out.contains("Agent/billing is changed live, version 2: instructions"), "{done:?}");
    assert!(done.err.contains("checkfu pull --drift Agent/billing") && done.err.contains("checkfu revert"), "{done:?}");
    let seen = s.run(&["drift"]).code(3).out;
    assert!(seen.contains("break-glass  instructions by jane at 20") && seen.contains("incident 12"), "{seen}");
    assert!(seen.contains("about refunds."), "{seen}");
    // Another change is merged and applied; the edit stays.
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    s.run(&["apply", "--yes"]).code(0);
    assert!(s.run(&["get", "Agent/billing"]).out.contains("refunds"));
    assert_eq!(s.run(&["drift", "--json"]).code(3).json()["resources"].as_array().unwrap().len(), 1);
    s.run(&["revert", "Agent/billing", "--yes"]).code(0);
    assert!(!s.run(&["get", "Agent/billing"]).out.contains("refunds"));
    s.run(&["drift"]).code(0);
}

#[test]
fn an_edit_comes_into_the_files_and_is_then_settled() {
    let s = team();
    let lines = "# Who answers for bills.\nskills: [triage] # one is enough\n";
    s.write("agents/billing.md", &agent(lines, "You answer questions about bills.\n\nYou are kind.\n"));
    s.run(&["apply", "--yes"]).code(0);
    edit(&s, "Agent/billing", "sed -i s/kind/mild/").code(0);
    let seen = s.run(&["drift"]).code(3).out;
    for wanted in ["instructions by jane at 20", "incident 12", "You are [-kind-]{+mild+}."] {
        assert!(seen.contains(wanted), "{wanted}\n{seen}");
    }
    s.edit("agents/support.md", "Rule 20: be kind", "Rule 20: be friendly");
    s.run(&["apply", "--yes"]).code(0);
    let before = s.read("agents/billing.md");
    s.run(&["pull", "--drift"]).code(0);
    assert_eq!(s.read("agents/billing.md"), before.replace("kind", "mild"));
    assert!(s.run(&["drift"]).code(2).out.contains("the files say so too"));
    let plan = s.run(&["plan", "--json", "--detailed-exitcode"]).code(2).json();
    let verbs: Vec<&str> = plan["actions"].as_array().unwrap().iter().map(|a| a["verb"].as_str().unwrap()).collect();
    assert_eq!(verbs, ["record"]);
    s.run(&["apply", "--yes"]).code(0);
    s.run(&["plan", "--detailed-exitcode"]).code(0);
    s.run(&["drift"]).code(0);
}

#[test]
fn what_is_not_changed_is_not_written() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let same = edit(&s, "Agent/billing", "true").code(0);
    assert!(same.out.contains("Nothing changed in Agent/billing"), "{same:?}");
    // Words that mean the same.
    edit(&s, "Agent/billing", "sed -i 's/^model:/# said again\\nmodel:/'").code(0);
    assert!(s.run(&["get", "Agent/billing", "--json"]).json()["resources"][0]["version"] == 1);
    s.run(&["drift"]).code(0);
    let none = s.run(&["edit", "Agent/billing", "--reason", "x"]).code(1);
    assert!(none.err.contains("edit.no_editor"), "{none:?}");
    let failed = edit(&s, "Agent/billing", "false").code(1);
    assert!(failed.err.contains("edit.editor") && failed.err.contains("nothing was written"), "{failed:?}");
    assert!(edit(&s, "Agent/nobody", "true").code(1).err.contains("cli.not_found"));
    assert!(s.run(&["edit", "Agent/billing", "--reason", ""]).code(1).err.contains("--reason"));
}

#[test]
fn everything_that_is_wrong_is_told_at_once_and_the_text_is_kept() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    let wrong = edit(&s, "Agent/billing", "sed -i 's/^model: .*/modle: x\\nnmae: y/'").code(1);
    for said in ["modle", "nmae", "checkfu-edit-", ".md:2:", ".md:3:"] {
        assert!(wrong.err.contains(said), "{said}\n{}", wrong.err);
    }
    assert!(kept(&wrong).contains("nmae: y"));
    let dangling = edit(&s, "Agent/billing", "sed -i 's/triage/nothing/'").code(1);
    assert!(dangling.err.contains("edit.reference") && dangling.err.contains("Skill/nothing"), "{dangling:?}");
    assert!(kept(&dangling).contains("nothing"));
    let mount = "sed -i 's/^model:/memory: [{store: notes, at: \\/n}]\\nmodel:/'";
    let mount = edit(&s, "Agent/billing", mount).code(1);
    assert!(mount.err.contains("edit.not_here") && mount.err.contains("a mount"), "{mount:?}");
    kept(&mount);
    let empty = edit(&s, "Agent/billing", "sed -i d").code(1);
    kept(&empty);
    s.run(&["drift"]).code(0);
}

#[test]
fn what_another_wrote_meanwhile_is_not_overwritten() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    // While the first is open, a second one writes.
    let binary = env!("CARGO_BIN_EXE_checkfu");
    let inner = format!("EDITOR='sed -i s/questions/calls/' {binary} edit Agent/billing --reason other");
    s.write("editor.sh", &format!("{inner} && sed -i s/bills/refunds/ \"$1\"\n"));
    let late = edit(&s, "Agent/billing", "sh editor.sh").code(4);
    assert!(late.err.contains("edit.moved") && late.err.contains("nothing was written"), "{late:?}");
    assert!(kept(&late).contains("refunds"));
    let live = s.run(&["get", "Agent/billing"]).out;
    assert!(live.contains("calls") && !live.contains("refunds"), "{live}");
}

#[test]
fn every_kind_can_be_edited() {
    let head =
        |kind: &str, name: &str| format!("apiVersion: checkfu.com/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n");
    let store = format!(
        "{}spec:\n  description: Old words.\n  contents:\n    - {{path: notes, at: /notes, mode: upkeep}}\n",
        head("MemoryStore", "notes")
    );
    let tree = format!("{}spec: {{name: Old words, source: {{kind: upload, path: kit}}}}\n", head("FileTree", "kit"));
    let environment = format!("{}spec: {{description: Old words.}}\n", head("Environment", "box"));
    let s = Sandbox::with(&[
        ("checkfu.yaml", &config("acme/all")),
        (
            "agents/a.md",
            &agent("memory: [{store: notes, at: /mnt/memory/notes, instructions: Old words.}]\n", "Answer.\n"),
        ),
        ("skills/triage/SKILL.md", &skill("triage", "Old words.")),
        ("memory/notes.yaml", &store),
        ("memory/notes/a.md", "A.\n"),
        ("trees/kit.yaml", &tree),
        ("trees/kit/b.md", "B.\n"),
        ("box.yaml", &environment),
    ]);
    s.run(&["apply", "--yes"]).code(0);
    let resources = s.run(&["get", "--json"]).json()["resources"].clone();
    let addresses: Vec<&str> = resources.as_array().unwrap().iter().map(|r| r["address"].as_str().unwrap()).collect();
    assert_eq!(addresses.len(), 6, "{addresses:?}");
    for address in &addresses {
        let (from, field) = match *address {
            "Agent/a" => ("Answer", "instructions"),
            "Skill/triage" => ("Old words", "SKILL.md"),
            mount if mount.starts_with("MemoryMount/") => ("Old words", "instructions"),
            "FileTree/kit" => ("Old words", "name"),
            _ => ("Old words", "description"),
        };
        let done = edit(&s, address, &format!("sed -i 's/{from}/New words/'")).code(0);
        assert!(done.out.contains(&format!(": {field}\n")), "{address}\n{done:?}");
    }
    let drift = s.run(&["drift", "--json"]).code(3).json();
    let causes: Vec<&str> = drift["resources"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|r| r["differences"].as_array().unwrap())
        .map(|d| d["cause"].as_str().unwrap())
        .collect();
    assert_eq!(causes, ["break_glass"; 6], "{drift:#}");
    let seen = s.run(&["drift"]).code(3).out;
    assert!(seen.contains("~ SKILL.md") && seen.contains("[-Old-]{+New+} words"), "{seen}");
    // A plan shows them file by file too, and nobody has to compare digests.
    let seen = s.run(&["plan"]).code(0).out;
    assert!(
        seen.contains("~ SKILL.md") && seen.contains("[-Old-]{+New+} words") && !seen.contains("sha256:…"),
        "{seen}"
    );
    let held = s.run(&["plan", "--json"]).json()["held"].clone();
    let files = held.as_array().unwrap().iter().find(|h| h["address"] == "Skill/triage").unwrap()["files"].clone();
    assert_eq!((&files[0]["path"], files.as_array().unwrap().len()), (&serde_json::json!("SKILL.md"), 1));
    let refused = edit(&s, "FileTree/kit", "sed -i 's/kind: upload/kind: git/'").code(1);
    assert!(refused.err.contains("edit.not_here") && refused.err.contains("manifest.missing_key"), "{refused:?}");
    kept(&refused);
    let all: Vec<&str> = ["revert", "--yes"].into_iter().chain(addresses.iter().copied()).collect();
    s.run(&all).code(0);
    s.run(&["drift"]).code(0);
}

#[test]
fn a_text_that_is_wrong_comes_back_with_what_is_wrong_on_top() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    // First a wrong key; the second time what is told is looked at, and it is corrected.
    s.write(
        "editor.sh",
        "if grep -q '^# checkfu: line .*modle' \"$1\"; then cp \"$1\" seen; sed -i 's/^modle:/model:/; s/bills/refunds/' \"$1\"
         else sed -i 's/^model:/modle:/' \"$1\"; fi\n",
    );
    let done = edit(&s, "Agent/billing", "sh editor.sh").code(0);
    assert!(done.out.contains("version 2: instructions"), "{done:?}");
    assert!(!s.run(&["get", "Agent/billing"]).out.contains("# checkfu"));
    let seen = s.read("seen");
    let row = seen.lines().find(|l| l.contains("modle")).unwrap();
    let line: usize = row.split("line ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    assert!(seen.lines().nth(line - 1).unwrap().starts_with("modle:"), "{seen}");
    // One that is never right is stopped.
    let stopped = edit(&s, "Agent/billing", "sed -i '1a x: y'").code(1);
    assert!(stopped.err.contains("it was wrong 20 times"), "{stopped:?}");
    assert_eq!(kept(&stopped).matches("x: y").count(), 20);
    // One that ends badly after a change loses nothing.
    s.write("editor.sh", "echo more >> \"$1\"; exit 1\n");
    let bad = edit(&s, "Agent/billing", "sh editor.sh").code(1);
    assert!(bad.err.contains("edit.editor"), "{bad:?}");
    assert!(kept(&bad).ends_with("more\n"));
}

#[test]
fn what_is_put_back_is_named_by_a_glob_too() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    edit(&s, "Agent/billing", "sed -i s/questions/calls/").code(0);
    edit(&s, "Agent/faq", "sed -i s/questions/calls/").code(0);
    let none = s.run(&["revert", "Agnet/*", "--yes"]).code(1);
    assert!(none.out.contains("`Agnet/*` names no resource"), "{none:?}");
    assert!(s.run(&["revert", "billing", "--yes"]).code(1).err.contains("ADDRESS"));
    s.run(&["plan", "--revert", "Agent/{faq,billing}", "--detailed-exitcode"]).code(2);
    s.run(&["revert", "Agent/*", "--yes"]).code(0);
    s.run(&["drift"]).code(0);
}
