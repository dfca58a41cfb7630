//! The laws of manifests that are written from canonical forms.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::diag::{LineIndex, Severity};
use crate::manifest::{self, Form as Written};
use crate::model::kinds::arbitrary::{authored, resolved};
use crate::model::kinds::def;
use crate::model::{Address, Digest, Kind};
use crate::pull::{Form, document};

fn skills() -> BTreeMap<String, Digest> {
    BTreeMap::from([("alpha".to_owned(), Digest::of(b"files"))])
}

fn write(address: &Address, spec: &Value) -> Option<(String, String)> {
    let skills = skills();
    let form = Form { address, spec, unowned: &[], links: false, mounts: Vec::new(), skills: &skills };
    document(&form).map(|t| (t.path, t.text))
}

/// What a manifest means, as far as it can be told without files.
fn read(path: &str, text: &str, canonical: &Value) -> Value {
    let form = if path.ends_with(".md") { Written::AgentMarkdown } else { Written::Yaml };
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
