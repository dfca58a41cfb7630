//! What people do to a project and a workspace, as lists of steps.

use checkfu::model::config::Allowance;
use serde_json::{Value, json};

use crate::repo;
use crate::sandbox::{agent, config, skill};

/// One thing that somebody does. The project is the folder that `In` named last.
pub(super) enum Step {
    /// Works in this folder from here on.
    In(&'static str),
    /// Takes a folder of `examples/` over.
    Example(&'static str),
    /// Writes a file.
    Write(&'static str, String),
    /// Replaces a text that is in a file once.
    Edit(&'static str, &'static str, &'static str),
    /// Removes a file.
    Remove(&'static str),
    /// Plans.
    Plan(Ask),
    /// Plans and applies.
    Apply(Ask),
    /// Changes wire fields of a resource, as nobody's owner.
    Outside(&'static str, Value),
    /// Archives or deletes a resource, as nobody's owner.
    Retired(&'static str),
    /// Writes a memory, as nobody's owner.
    Memory(&'static str, &'static str, &'static str),
    /// Makes a resource that nobody owns.
    Made(&'static str, Value),
}

/// What is asked of a plan beside the files.
#[derive(Default)]
pub(super) struct Ask {
    pub(super) allow: Vec<&'static str>,
    pub(super) revert: bool,
    pub(super) only: Vec<&'static str>,
    pub(super) destroy: bool,
}

use Step::{Apply, Edit, Example, In, Made, Memory, Outside, Plan, Remove, Retired, Write};

fn plain() -> Ask {
    Ask::default()
}

fn allow(rules: &[&'static str]) -> Ask {
    Ask { allow: rules.to_vec(), ..Ask::default() }
}

fn revert() -> Ask {
    Ask { revert: true, ..Ask::default() }
}

fn policy(owner: &str, lines: &str) -> String {
    format!("{}{lines}", config(owner))
}

const SUPPORT: &str = "Agent/support";

/// Every scenario by name. Each begins with a workspace that is new.
pub(super) fn all() -> Vec<(&'static str, Vec<Step>)> {
    let mut all = vec![
        ("an example is applied and then is the same", vec![Example("support-team"), Apply(plain()), Plan(plain())]),
        ("the first example", vec![Example("quickstart"), Plan(plain()), Apply(plain()), Apply(plain())]),
    ];
    all.extend(files());
    all.extend(outside());
    all.extend(owners());
    all
}

/// What changes in files.
fn files() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "one prompt changes",
            vec![
                Example("support-team"),
                Apply(plain()),
                Edit("prompts/billing.md", "\n", "\nBe brief.\n"),
                Apply(plain()),
                Plan(plain()),
            ],
        ),
        (
            "a skill changes, and those who pin it",
            vec![
                Example("support-team"),
                Apply(plain()),
                Write("skills/upgrade-triage/references/more.md", "More.\n".into()),
                Remove("skills/upgrade-triage/references/renamed.md"),
                Apply(plain()),
                Plan(plain()),
            ],
        ),
        (
            "memories and trees change",
            vec![
                Example("support-team"),
                Apply(plain()),
                Write("memory/policy/new.md", "A new policy.\n".into()),
                Remove("memory/policy/privacy.md"),
                Write("memory/answers/downtime.md", "None is planned.\n".into()),
                Write("docs/new.md", "# New\n".into()),
                Plan(plain()),
                Apply(allow(&["retire"])),
                Plan(plain()),
            ],
        ),
        (
            "a file is gone and nothing says that it is meant",
            vec![Example("support-team"), Apply(plain()), Remove("manifests/environments.yaml"), Apply(plain())],
        ),
        (
            "a resource is retired on purpose",
            vec![
                Example("support-team"),
                Apply(plain()),
                Remove("agents/escalation.md"),
                Apply(allow(&["retire"])),
                Plan(plain()),
            ],
        ),
        (
            "only a part is applied",
            vec![
                Example("support-team"),
                Apply(Ask { only: vec!["Agent/escalation"], ..Ask::default() }),
                Apply(plain()),
            ],
        ),
        (
            "an address changes",
            vec![
                Write("checkfu.yaml", config("acme/a")),
                Write("agents/old.md", agent("name: Bot\n", "Answer.\n")),
                Apply(plain()),
                Remove("agents/old.md"),
                Write("agents/new.md", agent("name: Bot\n", "Answer.\n")),
                Write("checkfu.yaml", policy("acme/a", "moved: [{from: Agent/old, to: Agent/new}]\n")),
                Apply(plain()),
                Plan(plain()),
            ],
        ),
        (
            "everything is taken back",
            vec![
                Example("quickstart"),
                Apply(plain()),
                Apply(Ask { destroy: true, ..allow(&["destroy=example/quickstart"]) }),
                Apply(plain()),
            ],
        ),
    ]
}

/// What others do to resources of an owner.
fn outside() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "somebody edits, and it is held",
            vec![
                Example("support-team"),
                Apply(plain()),
                Outside(SUPPORT, json!({"description": "Edited"})),
                Plan(plain()),
                Apply(plain()),
                Apply(revert()),
                Plan(plain()),
            ],
        ),
        (
            "both sides edit one field",
            vec![
                Example("support-team"),
                Apply(plain()),
                Outside(SUPPORT, json!({"description": "Edited"})),
                Edit("agents/support.md", "First answer to every customer in the EU", "First answer"),
                Apply(plain()),
                Apply(revert()),
            ],
        ),
        (
            "somebody retires",
            vec![Example("support-team"), Apply(plain()), Retired("Agent/escalation"), Apply(plain()), Plan(plain())],
        ),
        (
            "somebody writes memories",
            vec![
                Example("support-team"),
                Apply(plain()),
                Memory("MemoryStore/approved-answers", "/policy/own.md", "By hand.\n"),
                Memory("MemoryStore/approved-answers", "/learned/a.md", "Learned.\n"),
                Plan(plain()),
                Apply(allow(&["retire"])),
                Apply(Ask { revert: true, ..allow(&["retire"]) }),
            ],
        ),
        (
            "what others write is tracked",
            vec![
                Write("checkfu.yaml", policy("acme/a", "policy: {outside_writes: track, on_drift: revert}\n")),
                Write("agents/bot.md", agent("", "Answer.\n")),
                Apply(plain()),
                Outside("Agent/bot", json!({"system": "Answer twice.\n"})),
                Apply(plain()),
                Plan(plain()),
            ],
        ),
    ]
}

/// Several owners, and none.
fn owners() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "another owner uses a skill of this one",
            vec![
                Write("checkfu.yaml", config("acme/a")),
                Write("skills/triage/SKILL.md", skill("triage", "Ask.")),
                Apply(plain()),
                In("other"),
                Write("checkfu.yaml", config("acme/b")),
                Write(
                    "agents/bot.md",
                    agent("skills: [{skill: 'acme/a:Skill/triage', follow: latest}]\n", "Answer.\n"),
                ),
                Apply(plain()),
                Plan(plain()),
                In("project"),
                Write("agents/bot.md", agent("", "Answer.\n")),
                Remove("skills/triage/SKILL.md"),
                Apply(allow(&["retire"])),
            ],
        ),
        (
            "one that nobody owns has the name",
            vec![
                Made("agents", json!({"name": "bot", "model": "claude-sonnet-5"})),
                Write("checkfu.yaml", config("acme/a")),
                Write("agents/bot.md", agent("name: bot\n", "Answer.\n")),
                Apply(plain()),
                Apply(allow(&["same-name"])),
            ],
        ),
        (
            "a file tree with modes",
            vec![
                Write("checkfu.yaml", config("acme/a")),
                Write(
                    "m.yaml",
                    "apiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {name: t}\nspec:\n  source: {kind: upload, \
                     path: t}\n"
                        .into(),
                ),
                Write("t/a.md", "A\n".into()),
                Write("t/b/c.md", "C\n".into()),
                Apply(plain()),
                Write("t/b/c.md", "D\n".into()),
                Apply(plain()),
                Plan(plain()),
            ],
        ),
    ]
}

/// A file of an example.
pub(super) fn example(name: &str) -> Vec<(String, String)> {
    let prefix = format!("examples/{name}/");
    let files = repo::files(prefix.trim_end_matches('/'));
    files.into_iter().map(|f| (f.strip_prefix(&prefix).unwrap().to_owned(), repo::text(&f))).collect()
}

/// The rules of `--allow`.
pub(super) fn allowances(ask: &Ask) -> Vec<Allowance> {
    ask.allow.iter().map(|a| a.parse().unwrap()).collect()
}
