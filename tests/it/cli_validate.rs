//! Every mistake at once, each with its code, its place and a fix, and nothing written.

use std::collections::BTreeSet;

use crate::sandbox::{Sandbox, config, team};

/// Ten mistakes in five files: code, place.
const MISTAKES: [(&str, &str); 10] = [
    ("manifest.duplicate_key", "agents/billing.md:3:1"),
    ("kind.path", "agents/billing.md:5:33"),
    ("manifest.unknown_key", "agents/support.md:3:1"),
    ("manifest.wrong_value", "agents/support.md:4:57"),
    ("manifest.unquoted_colon", "skills/triage/SKILL.md:3:19"),
    ("skill.name_folder", "skills/upper/SKILL.md:2:7"),
    ("skill.description_missing", "skills/upper/SKILL.md:2:1"),
    ("manifest.unknown_kind", "things.yaml:2:7"),
    ("manifest.name", "things.yaml:8:18"),
    ("manifest.needs_quotes", "things.yaml:10:16"),
];

fn mistaken() -> Sandbox {
    Sandbox::with(&[
        ("checkfu.yaml", &config("acme/ten")),
        (
            "agents/billing.md",
            "---\nmodel: claude-sonnet-5\nmodel: claude-haiku-5\ntools: [{type: agent_toolset_20260401}]\n\
             memory: [{store: answers-1, at: mnt/x}]\n---\nYou answer.\n",
        ),
        (
            "agents/support.md",
            "---\nmodel: claude-sonnet-5\nskils: []\n\
             tools: [{type: agent_toolset_20260401, configs: [{name: bsh, enabled: false}]}]\n---\nYou answer.\n",
        ),
        ("skills/triage/SKILL.md", "---\nname: triage\ndescription: Sorts: by need\n---\nText.\n"),
        ("skills/upper/SKILL.md", "---\nname: other\n---\nText.\n"),
        (
            "things.yaml",
            "apiVersion: checkfu.com/v1\nkind: Agnt\nmetadata: {name: x}\nspec: {}\n---\n\
             apiVersion: checkfu.com/v1\nkind: MemoryStore\nmetadata: {name: Answers_1}\nspec:\n  description: 12\n",
        ),
    ])
}

#[test]
fn ten_mistakes_in_five_files_are_all_shown_with_code_place_and_fix() {
    let s = mistaken();
    let before = s.files();
    let json = s.run(&["validate", "--json"]).code(1).json();
    let found: BTreeSet<(String, String)> = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| {
            assert!(!d["fix"].as_str().unwrap().is_empty());
            let at = &d["at"];
            let place = format!("{}:{}:{}", at["file"].as_str().unwrap(), at["line"], at["column"]);
            (d["code"].as_str().unwrap().to_owned(), place)
        })
        .collect();
    let wanted: BTreeSet<_> = MISTAKES.iter().map(|(c, p)| ((*c).to_owned(), (*p).to_owned())).collect();
    assert_eq!(found, wanted);
    let human = s.run(&["validate"]).code(1).out;
    for (code, place) in MISTAKES {
        assert!(human.contains(code) && human.contains(&format!("[{place}]")), "{code} {place}\n{human}");
    }
    assert_eq!(human.matches("help: fix: ").count(), 10, "{human}");
    assert!(human.ends_with("10 errors\n"));
    assert_eq!(s.files(), before, "nothing was written");
}

#[test]
fn errors_stop_plan_and_apply_with_the_same_words() {
    let s = mistaken();
    let wanted = s.run(&["validate"]).code(1).out;
    for args in [&["plan"][..], &["apply", "--yes"], &["destroy", "--yes"]] {
        let ran = s.run(args).code(1);
        assert_eq!(ran.err.trim_end(), wanted.trim_end(), "{args:?}");
        assert_eq!(ran.out, "");
    }
    assert!(!s.path(".checkfu/workspace.db").exists());
}

#[test]
fn a_profile_weighs_a_skill_by_other_rules() {
    let s = team();
    s.write("skills/triage/SKILL.md", "---\nname: triage\ndescription: Sorts.\nextra: 1\n---\nText.\n");
    let of = |profile: &str| s.run(&["validate", "--profile", profile, "--json"]).json();
    let severity = |profile: &str| of(profile)["diagnostics"][0]["severity"].as_str().map(str::to_owned);
    assert_eq!(severity("checkfu").as_deref(), Some("warning"));
    assert_eq!(severity("agentskills").as_deref(), Some("error"));
}

#[test]
fn a_project_without_a_mistake_says_what_it_holds() {
    let s = team();
    assert_eq!(s.run(&["validate"]).code(0).out, "Valid: 3 Agent, 1 Skill\n");
    let json = s.run(&["validate", "--json"]).code(0).json();
    assert_eq!((&json["ok"], &json["resources"]["Agent"]), (&true.into(), &3.into()));
}

#[test]
fn a_misspelt_key_of_the_configuration_hides_nothing_else() {
    let s = mistaken();
    s.write("checkfu.yaml", &format!("{}polcy: {{}}\n", config("acme/ten")));
    let ran = s.run(&["validate"]).code(1);
    let told = ran.out + &ran.err;
    for (code, place) in MISTAKES {
        assert!(told.contains(code) && told.contains(place), "{code} {place}: {told}");
    }
    assert!(told.contains("polcy"), "{told}");
    // A configuration that may mean something else is not acted on.
    assert!(s.run(&["get"]).code(1).err.contains("polcy"));
}
