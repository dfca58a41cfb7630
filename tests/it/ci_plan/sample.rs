//! The comment that the documentation shows: a pull request to `examples/support-team`, by the program itself. It changes
//! a prompt and a skill, lets an agent write to a store, and lets another store go.

use checkfu::ci::Marker;
use checkfu::model::Digest;

use super::body;
use super::events::Run;
use crate::ci_apply::stage::Stage;
use crate::repo;

const FOLDER: &str = "examples/support-team/";

/// Two stores that the pull request is about.
const STORES: &str = "# yaml-language-server: $schema=../../../schemas/Manifest.json
apiVersion: checkfu.com/v1
kind: MemoryStore
metadata: {name: case-notes, labels: {team: support}}
spec:
  name: Notes on open cases
  owner: {principal: prin_support}
";
const OLD: &str = "---
apiVersion: checkfu.com/v1
kind: MemoryStore
metadata: {name: answers-2024, labels: {team: support}}
spec:
  name: Answers of 2024
  owner: workspace
";
const MOUNT: &str = "---
apiVersion: checkfu.com/v1
kind: MemoryMount
metadata: {name: support-case-notes}
spec:
  agent: support
  memory_store: case-notes
  access: read_write
  mount_path: /mnt/memory/cases
  instructions: Write down what the customer has tried, so that nobody asks twice.
";

/// A file of the example, otherwise.
fn edited(files: &[(String, String)], path: &str, edits: &[(&str, &str)]) -> (String, String) {
    let mut text = files.iter().find(|(p, _)| p == path).unwrap().1.clone();
    for (from, to) in edits {
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {path}");
        text = text.replace(from, to);
    }
    (path.to_owned(), text)
}

/// The comment, with what differs from run to run (ids of a new workspace, the port of the host) made steady.
pub(crate) fn comment() -> String {
    let paths = repo::files(FOLDER.trim_end_matches('/')).into_iter();
    let files: Vec<(String, String)> =
        paths.map(|p| (p.strip_prefix(FOLDER).unwrap().to_owned(), repo::text(&p))).collect();
    let mut base = files.clone();
    base.push(("manifests/cases.yaml".to_owned(), format!("{STORES}{OLD}")));
    let stage = Stage::applied(&base.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect::<Vec<_>>());
    let changed = [
        edited(
            &files,
            "agents/support.md",
            &[
                (
                    "when it is about a contract, or when you have answered twice\n",
                    "when it is about a contract or a lawyer, or when you have answered three\n",
                ),
                ("without solving it.", "times without solving it. Say who that person is, and when they will answer."),
                ("model: {id: claude-sonnet-5, effort: medium}", "model: {id: claude-opus-5, effort: medium}"),
            ],
        ),
        edited(
            &files,
            "skills/refund-rules/SKILL.md",
            &[("Under 30 days", "Under 14 days"), ("2. 30 to 90 days", "2. 14 to 90 days")],
        ),
        ("manifests/cases.yaml".to_owned(), format!("{STORES}{MOUNT}")),
        edited(
            &files,
            "checkfu.yaml",
            &[("policy:\n", "removed:\n  - {address: MemoryStore/answers-2024}\npolicy:\n")],
        ),
    ];
    let changed: Vec<(&str, &str)> = changed.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let pull = stage.propose("shorter-refunds", &changed);
    let told = Run::pull(&stage, pull).go(&[("key", "support-team")]).is(2, "");
    let text = body(&stage, pull);
    let marker = Marker::read(&text).unwrap();
    let steady = Marker {
        digest: Some(Digest::of(b"the plan")),
        actions: (1..=marker.actions.len()).map(|i| format!("{i:016x}")).collect(),
        ..marker
    };
    let (_, rest) = text.split_once('\n').unwrap();
    let rest = rest.replace(&told["plan-digest"], &Digest::of(b"the plan").to_string());
    format!("{}\n{}", steady.write(), rest.replace(stage.fake.url(), "https://github.com"))
}

#[test]
fn the_sample_shows_what_it_is_for() {
    let text = comment();
    for what in [
        "read\\_write",
        "**➖ retire**",
        "`MemoryStore/answers-2024`",
        "live at once for",
        "contract or a lawyer",
        "this pull request",
    ] {
        assert!(text.contains(what), "{what}: {text}");
    }
    assert_eq!(text, comment(), "it differs from run to run");
}
