//! The laws of manifests that are written from canonical forms.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::diag::{LineIndex, Severity};
use crate::manifest::{self, Form as Written};
use crate::model::kinds::arbitrary::{authored, resolved};
use crate::model::kinds::def;
use crate::model::tree::Entry;
use crate::model::{Address, Digest, Kind};
use crate::pull::{Form, Resource, document, needed, units};

mod bring;

fn skills() -> BTreeMap<String, Digest> {
    BTreeMap::from([("alpha".to_owned(), Digest::of(b"files"))])
}

pub(super) fn write(address: &Address, spec: &Value) -> Option<(String, String)> {
    let skills = skills();
    let form = Form { address, spec, unowned: &[], links: false, mounts: Vec::new(), skills: &skills };
    document(&form).map(|t| (t.path, t.text))
}

/// What a manifest means, as far as it can be told without files.
pub(super) fn read(path: &str, text: &str, canonical: &Value) -> Value {
    let form = if std::path::Path::new(path).extension().is_some_and(|e| e == "md") {
        Written::AgentMarkdown
    } else {
        Written::Yaml
    };
    let parsed = manifest::parse(form, &LineIndex::new(path, text));
    let errors: Vec<_> = parsed.found.0.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{path}:\n{text}\n{errors:#?}");
    let [d] = parsed.documents.as_slice() else { panic!("{path}: {} documents", parsed.documents.len()) };
    let mut spec = d.spec.clone();
    let map = spec.as_object_mut().unwrap();
    for entry in map.get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(content) = entry.as_str().and_then(|name| skills().get(name).copied()) {
            *entry = json!({ "skill": entry, "content": content });
        }
    }
    // What the folders hold is not in the text.
    if d.address.kind == Kind::MemoryStore {
        let modes = map.remove("contents");
        map.extend(modes.map(|m| ("modes".to_owned(), m)));
        map.extend(canonical.get("contents").map(|c| ("contents".to_owned(), c.clone())));
    } else {
        map.extend(canonical.get("content").map(|c| ("content".to_owned(), c.clone())));
    }
    (def(d.address.kind).canonical)(&d.address.name, spec, &d.labels)
}

/// 1,000 forms of every kind: what is written reads back as the same form, and writes the same text again.
#[test]
fn what_is_written_reads_back() {
    for kind in Kind::ALL {
        let config = Config { cases: 1000, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
        let law = |a: crate::model::kinds::arbitrary::Authored| {
            let mut canonical = (def(kind).canonical)(&a.name, resolved(kind, &a.spec), &a.labels);
            if kind == Kind::MemoryStore && canonical.get("modes").is_none() {
                canonical.as_object_mut().unwrap().remove("contents");
            }
            // A file has no null.
            canonical.as_object_mut().unwrap().remove("compaction_policy");
            let address = Address::new(kind, a.name);
            let Some((path, text)) = write(&address, &canonical) else {
                prop_assert_eq!(kind, Kind::Skill);
                return Ok(());
            };
            let again = read(&path, &text, &canonical);
            prop_assert_eq!(&again, &canonical, "{}\n{}", path, text);
            prop_assert_eq!(write(&address, &again).unwrap().1, text);
            Ok(())
        };
        if let Err(error) = TestRunner::new_with_rng(config, rng).run(&authored(kind), law) {
            panic!("{kind}: {error}");
        }
    }
}

#[test]
fn an_agent_is_as_a_person_would_write_it() {
    let address = Address::new(Kind::Agent, "support");
    let spec = json!({
        "name": "Support Bot (EU)",
        "model": { "id": "claude-sonnet-5", "effort": "high" },
        "instructions": "You answer questions.\n\nShort: 100%.",
        "tools": [{ "type": "agent_toolset_20260401", "configs": [{ "name": "bash", "enabled": false }] }],
        "skills": [
            { "anthropic": "xlsx" },
            { "skill": "alpha", "content": Digest::of(b"files") },
            { "skill": "beta", "content": Digest::of(b"older") },
            { "skill": "faq", "follow": "latest" },
        ],
        "labels": { "team": "support" },
    });
    let memory = json!({ "agent": "support", "memory_store": "answers", "mount_path": "/mnt/memory/answers" });
    let files = json!({
        "agent": "support", "file_tree": "site", "mount_path": "/workspace/site", "access": "read_write",
        "writeback": { "kind": "pull_request", "pull_request_title": "Fixes" },
    });
    let (m, f) =
        (Address::new(Kind::MemoryMount, "support.answers"), Address::new(Kind::FileTreeMount, "support.site"));
    let skills = skills();
    let unowned = ["description".to_owned(), "labels.team".to_owned()];
    let form = Form {
        address: &address,
        spec: &spec,
        unowned: &unowned,
        links: false,
        mounts: vec![(&m, &memory), (&f, &files)],
        skills: &skills,
    };
    let written = document(&form).unwrap();
    assert_eq!(written.path, "agents/support.md");
    assert_eq!(written.text, include_str!("tests/support.md").replace("OLDER", &Digest::of(b"older").to_string()));
}

#[test]
fn a_text_that_a_file_cannot_hold_stays_a_field() {
    let address = Address::new(Kind::Agent, "x");
    for text in ["a\n", "\na", " \n", "a\u{0}b", "\u{7}\n", "  a", "---", "a\n---\nb", "\u{feff}"] {
        let spec = json!({ "name": "x", "model": "m", "instructions": text });
        let (path, written) = write(&address, &spec).unwrap();
        let want = (def(Kind::Agent).canonical)("x", spec, &BTreeMap::new());
        assert_eq!(read(&path, &written, &want), want, "{written}");
    }
    let (_, prose) = write(&address, &json!({ "name": "x", "model": "m", "instructions": "  a\n\n---" })).unwrap();
    assert_eq!(prose, "---\nmodel: m\n---\n  a\n\n---\n");
}

#[test]
fn names_of_devices_are_no_files() {
    let path = |kind, spec| write(&Address::new(kind, "con"), &spec).unwrap();
    assert_eq!(path(Kind::Agent, json!({ "name": "con", "model": "m" })).0, "agents/agents-con.yaml");
    let tree = path(Kind::FileTree, json!({ "name": "con", "source": { "kind": "upload" } }));
    assert_eq!(tree.0, "trees/trees-con.yaml");
    assert!(tree.1.contains("path: trees-con\n"), "{}", tree.1);
}

fn entry(path: &str) -> Entry {
    Entry { path: path.to_owned(), executable: false, symlink: false, size: 1, sha256: Digest::of(b"x") }
}

fn resource(spec: Value, paths: &[&str]) -> Resource {
    let entries = paths.iter().map(|p| entry(p)).collect();
    Resource { spec: spec.into(), unowned: Vec::new(), entries, applied: None }
}

/// Codes of what is told of one resource.
fn told(address: &str, spec: Value, paths: &[&str], allowed: &[&str]) -> Vec<String> {
    let resources = BTreeMap::from([(address.parse().unwrap(), resource(spec, paths))]);
    let allowed = allowed.iter().map(|p| (*p).to_owned()).collect();
    let (_, found) = units(&resources, &BTreeMap::new(), &allowed);
    found.0.iter().map(|d| format!("{}: {}", d.code.code, d.message)).collect()
}

#[test]
fn live_paths_are_no_way_out_and_no_way_in() {
    let tree = || json!({ "name": "docs", "source": { "kind": "upload" } });
    for bad in ["../../x", "/etc/passwd", "a/../../b", "aux", "a\\b", ".git/hooks/post-checkout", ".GIT/config", "a\nb"]
    {
        let found = told("FileTree/docs", tree(), &["ok", bad], &[]);
        assert!(found.len() == 1 && found[0].starts_with("pull.path: FileTree/docs"), "{bad:?}: {found:?}");
    }
    assert_eq!(told("FileTree/docs", tree(), &["README.md", "readme.md"], &[]).len(), 1);
    assert_eq!(told("FileTree/docs", tree(), &["a", "a/b"], &[]).len(), 1);
    assert!(told("Skill/nul", json!({ "name": "nul", "content": "sha256:" }), &["SKILL.md"], &[])[0].contains("`nul`"));
    let store = |prefix: &str, memory: &str| {
        let modes = json!([{ "at": prefix, "mode": "upkeep" }]);
        json!({ "name": "s", "modes": modes, "contents": { memory: Digest::of(b"x") } })
    };
    assert!(told("MemoryStore/s", store("/", "/a/b.md"), &[], &[]).is_empty());
    for (prefix, memory) in
        [("/", "/../x"), ("/", "/a/./b"), ("/..", "/../x"), ("/.git", "/.git/config"), ("/con", "/con/x")]
    {
        let found = told("MemoryStore/s", store(prefix, memory), &[], &[]);
        assert!(!found.is_empty() && found.iter().all(|f| f.starts_with("pull.path")), "{prefix} {memory}: {found:?}");
    }
}

#[test]
fn names_like_those_of_secrets_are_refused_as_validate_does() {
    let tree = || json!({ "name": "docs", "source": { "kind": "upload" } });
    let found = told("FileTree/docs", tree(), &["a/.env", "b/id_rsa", "c.md"], &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|f| f.starts_with("bundle.secret_name")), "{found:?}");
    assert!(told("FileTree/docs", tree(), &["a/.env"], &["trees/docs/a/.env"]).is_empty());
}

#[test]
fn a_unit_is_an_agent_with_its_mounts_or_a_folder_with_its_document() {
    let agent = json!({ "name": "a", "model": "m" });
    let mount = json!({ "agent": "a", "memory_store": "s", "mount_path": "/m" });
    let observed = json!({
        "name": "s", "modes": [{ "at": "/in", "mode": "enforce" }, { "at": "/out", "mode": "observe" }],
        "contents": { "/in/x.md": Digest::of(b"x"), "/out/y.md": Digest::of(b"x"), "/z.md": Digest::of(b"x") },
    });
    let skill = json!({ "name": "k", "content": Digest::of(b"files") });
    let resources: BTreeMap<Address, Resource> = [
        ("Agent/a", resource(agent, &[])),
        ("MemoryMount/a.s", resource(mount, &[])),
        ("MemoryStore/s", resource(observed, &[])),
        ("Skill/k", resource(skill, &["SKILL.md", "b/c"])),
    ]
    .map(|(a, r)| (a.parse().unwrap(), r))
    .into();
    let (units, found) = units(&resources, &skills(), &std::collections::BTreeSet::default());
    assert!(found.0.is_empty());
    let paths = |u: &crate::pull::Unit| u.files.iter().map(|f| f.path.clone()).collect::<Vec<_>>();
    assert_eq!(units[0].of.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Agent/a", "MemoryMount/a.s"]);
    assert_eq!(paths(&units[0]), ["agents/a.md"]);
    assert_eq!(paths(&units[1]), ["memory/s.yaml", "memory/s/in/x.md"]);
    assert_eq!(units[1].folders, ["memory/s/in"]);
    assert_eq!(paths(&units[2]), ["skills/k/SKILL.md", "skills/k/b/c"]);
    let only = BTreeMap::from([("Agent/a".parse().unwrap(), resource(json!({ "skills": [{ "skill": "k" }] }), &[]))]);
    assert_eq!(needed(&only, &|_| false).iter().map(ToString::to_string).collect::<Vec<_>>(), ["Skill/k"]);
    assert!(needed(&only, &|_| true).is_empty());
}
