//! The laws of bringing what moved live into the files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::desired::{Places, TextPart, Wanted};
use crate::diag::{LineIndex, Location};
use crate::model::kinds::arbitrary::{authored, resolved};
use crate::model::kinds::def;
use crate::model::{Address, Kind};
use crate::pull::tests::{read, write};
use crate::pull::{Brought, Move, Texts, bring};

fn wanted(address: &Address, spec: &Value, file: &str) -> Wanted {
    Wanted {
        address: address.clone(),
        spec: Arc::new(spec.clone()),
        unowned: Vec::new(),
        seeded: Vec::new(),
        protected: false,
        refs: Vec::new(),
        at: Location::file(file),
        places: Places::default(),
        instructions: Vec::new(),
        content: None,
        memories: BTreeMap::new(),
        digested: crate::desired::Digested::default(),
    }
}

/// The one part of instructions that are written in the manifest itself.
fn one_part(spec: &Value, file: &str, text: &str) -> Vec<TextPart> {
    let Some(said) = spec.get("instructions").and_then(Value::as_str) else { return Vec::new() };
    let start =
        text.rfind(said).filter(|_| std::path::Path::new(file).extension().is_some_and(|e| e == "md")).unwrap_or(4);
    let at = LineIndex::new(file, text).locate(start..start + 1);
    vec![TextPart { line: 0, lines: said.split('\n').count(), at, verbatim: true }]
}

/// What differs, field by field, of all that a manifest says itself.
fn moves(from: &Value, to: &Value) -> Vec<Move> {
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let all: BTreeSet<String> = keys(from).union(&keys(to)).cloned().collect();
    let mut out = Vec::new();
    let mut push = |field: String, was: Option<&Value>, is: Option<&Value>| {
        if was != is {
            out.push(Move { field, applied: was.cloned(), file: was.cloned(), live: is.cloned() });
        }
    };
    for key in all.iter().filter(|k| !matches!(k.as_str(), "content" | "contents" | "modes")) {
        if key == "labels" {
            let (empty, of) = (json!({}), |v: &Value| v.get("labels").cloned());
            let (was, is) = (of(from).unwrap_or(empty.clone()), of(to).unwrap_or(empty));
            for label in keys(&was).union(&keys(&is)) {
                push(format!("labels.{label}"), was.get(label), is.get(label));
            }
        } else {
            push(key.clone(), from.get(key), to.get(key));
        }
    }
    out
}

/// 300 pairs of forms of every kind: the manifest of one, with what differs brought, reads as the other.
#[test]
fn what_is_brought_reads_back_as_live() {
    for kind in Kind::ALL {
        let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[12; 32]);
        let law = |(a, b): (crate::model::kinds::arbitrary::Authored, crate::model::kinds::arbitrary::Authored)| {
            let form = |of: &crate::model::kinds::arbitrary::Authored| {
                let mut spec = (def(kind).canonical)(&a.name, resolved(kind, &of.spec), &of.labels);
                let map = spec.as_object_mut().unwrap();
                map.remove("compaction_policy");
                for key in ["content", "contents", "modes"] {
                    map.remove(key);
                }
                spec
            };
            let (mine, live) = (form(&a), form(&b));
            let address = Address::new(kind, a.name.clone());
            let Some((path, text)) = write(&address, &mine) else { return Ok(()) };
            let mut wanted = wanted(&address, &mine, &path);
            wanted.instructions = one_part(&mine, &path, &text);
            let mut texts = Texts::from([(path.clone(), text.clone())]);
            let brought = bring(&wanted, &live, &moves(&mine, &live), &mut texts);
            prop_assert_eq!(&brought, &Ok(Brought::default()), "{}", text);
            let again = read(&path, &texts[&path], &live);
            prop_assert_eq!(&again, &live, "{}\n=>\n{}", text, texts[&path]);
            Ok(())
        };
        if let Err(error) = TestRunner::new_with_rng(config, rng).run(&(authored(kind), authored(kind)), law) {
            panic!("{kind}: {error}");
        }
    }
}

const AGENT: &str = "---\n# who\nmodel: m\npreamble: [../s.md] # safety\nmemory:\n  - {store: answers, at: /mnt/memory/a} # m\n---\n\n  Prose.\nMore.\n\n";

#[test]
fn a_mount_that_is_written_in_an_agent_changes_there() {
    let address = Address::new(Kind::MemoryMount, "support.answers");
    let mine = json!({"agent": "support", "memory_store": "answers", "mount_path": "/mnt/memory/a"});
    let live = json!({"agent": "support", "memory_store": "answers", "mount_path": "/mnt/memory/b", "instructions": "Look first."});
    let file = "agents/support.md";
    let mut texts = Texts::from([(file.to_owned(), AGENT.to_owned())]);
    bring(&wanted(&address, &mine, file), &live, &moves(&mine, &live), &mut texts).unwrap();
    let now = AGENT.replace("at: /mnt/memory/a}", "at: /mnt/memory/b, instructions: Look first.}");
    assert_eq!(texts[file], now);
    let none = wanted(&Address::new(Kind::MemoryMount, "support.others"), &mine, file);
    assert!(bring(&none, &live, &moves(&mine, &live), &mut texts).is_err());
    assert_eq!(texts[file], now);
}

#[test]
fn instructions_go_to_the_part_that_holds_the_lines() {
    let (file, shared) = ("agents/support.md", "s.md");
    let said = "Safe.\nCalm.\n\n  Prose.\nMore.";
    let mut agent = wanted(&Address::new(Kind::Agent, "support"), &json!({"instructions": said}), file);
    let prose = LineIndex::new(file, AGENT).locate(AGENT.find("  Prose").unwrap()..AGENT.len() - 2);
    agent.instructions = vec![
        TextPart { line: 0, lines: 2, at: Location::file(shared), verbatim: true },
        TextPart { line: 3, lines: 2, at: prose, verbatim: true },
    ];
    let brought = |live: Option<&str>, was: &str| {
        let mut texts = Texts::from(
            [(file, AGENT), (shared, "\u{feff}Safe.\r\nCalm.\r\n")].map(|(p, t)| (p.to_owned(), t.to_owned())),
        );
        let [applied, file_now] = [was, said].map(|t| Some(json!(t)));
        let moved = Move { field: "instructions".into(), applied, file: file_now, live: live.map(|t| json!(t)) };
        let live = live.map_or(json!({}), |t| json!({"instructions": t}));
        let told = bring(&agent, &live, &[moved], &mut texts).unwrap();
        (texts[file].clone(), texts[shared].clone(), told)
    };
    let (agent_file, shared_file, _) = brought(Some("Safe.\nVery calm.\n\n  Prose.\nMore.\nStill more."), said);
    assert_eq!(agent_file, AGENT.replace("More.\n", "More.\nStill more.\n"));
    assert_eq!(shared_file, "\u{feff}Safe.\r\nVery calm.\r\n");
    // No parts any more: the text of the file says it all.
    let (agent_file, shared_file, _) = brought(Some("Other."), said);
    assert_eq!(agent_file, AGENT.replace("preamble: [../s.md] # safety\n", "").replace("  Prose.\nMore.", "Other."));
    assert_eq!(shared_file, "\u{feff}Safe.\r\nCalm.\r\n");
    // What the text of a file cannot hold becomes a field.
    let (agent_file, ..) = brought(Some("Other.\n"), said);
    assert!(agent_file.contains("instructions: |\n  Other.\n---\n") && !agent_file.contains("Prose"), "{agent_file}");
    let (agent_file, ..) = brought(None, said);
    assert!(!agent_file.contains("preamble") && !agent_file.contains("Prose"), "{agent_file}");
    // The file changed too, elsewhere; and in the same line.
    let (agent_file, _, told) = brought(Some("Unsafe.\nCalm.\n\n  Prose.\nLess."), "Unsafe.\nCalm.\n\n  Prose.\nMore.");
    assert_eq!(agent_file, AGENT.replace("More.", "Less."));
    assert_eq!(told, Brought { merged: true, ..Brought::default() });
    let (agent_file, _, told) = brought(Some("Safe.\nCalm.\n\n  Prose.\nLess."), "Safe.\nCalm.\n\n  Prose.\nNone.");
    let marked = "<<<<<<< file\nMore.\n||||||| applied\nNone.\n=======\nLess.\n>>>>>>> live\n";
    assert_eq!(agent_file, AGENT.replace("More.\n", marked));
    assert_eq!(told.conflicts, ["instructions"]);
}

/// What the file changed is not overwritten: of what has no lines the file keeps its own value, whatever its form.
#[test]
fn a_conflict_without_lines_stays_as_the_file_says_it() {
    let text = "---\n# who\nmodel: m # the model\ndescription: ours\nskills: [b] # ours\nlabels: {team: ours, tier: one}\n---\n\nText.\n";
    let file = "agents/a.md";
    let spec = |d: Option<&str>, team: Option<&str>, tier: &str, skills: &Value| {
        let mut v = json!({"model": {"id": "m"}, "instructions": "Text.", "skills": skills, "labels": {"tier": tier}});
        if let Some(d) = d {
            v["description"] = json!(d);
        }
        if let Some(t) = team {
            v["labels"]["team"] = json!(t);
        }
        v
    };
    let skill = |name: &str| json!([{"skill": {"id": name}, "follow": "latest"}]);
    let applied = spec(Some("was"), Some("was"), "one", &skill("a"));
    let mine = spec(Some("ours"), Some("ours"), "one", &skill("b"));
    let rows = [
        (spec(Some("theirs"), Some("theirs"), "two", &skill("c")), vec!["description", "labels.team", "skills"]),
        (spec(None, None, "two", &json!([])), vec!["description", "labels.team", "skills"]),
        // The same on both sides, or live as it was applied, is no conflict.
        (spec(Some("ours"), Some("ours"), "two", &skill("b")), vec![]),
    ];
    for (live, kept) in rows {
        let all = moves(&applied, &live).into_iter().map(|m| {
            let at = |v: &Value| match m.field.split_once('.') {
                Some((map, key)) => v.get(map)?.get(key).cloned(),
                None => v.get(&m.field).cloned(),
            };
            Move { file: at(&mine), ..m.clone() }
        });
        let mut texts = Texts::from([(file.to_owned(), text.to_owned())]);
        let agent = wanted(&Address::new(Kind::Agent, "a"), &mine, file);
        let told = bring(&agent, &live, &all.collect::<Vec<_>>(), &mut texts).unwrap();
        assert_eq!((told.kept, told.merged), (kept.into_iter().map(str::to_owned).collect(), false));
        assert_eq!(texts[file], text.replace("tier: one", "tier: two"));
    }
}
