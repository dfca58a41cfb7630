//! Tests of resolving, without a disk: texts and sets of files are given.

use std::sync::Arc;

use jiff::civil::date;

use super::*;
use crate::diag::{Diagnostic, Diagnostics, LineIndex};
use crate::manifest::{self, Form};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest, Kind};

/// A project in memory.
struct Files {
    config: String,
    files: Vec<(&'static str, String)>,
}

fn files(files: &[(&'static str, &str)]) -> Files {
    let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    Files { config: String::new(), files }
}

/// A file of YAML documents.
fn yaml(documents: &[(&str, &str, &str)]) -> Files {
    files(&[("a.yaml", &documents.iter().map(|(kind, name, spec)| document(kind, name, spec)).collect::<String>())])
}

fn document(kind: &str, name: &str, spec: &str) -> String {
    let metadata = if name.starts_with('{') { name.to_owned() } else { format!("{{name: {name}}}") };
    format!("---\napiVersion: checkfu.com/v1\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n")
}

impl Files {
    fn config(mut self, text: &str) -> Self {
        self.config = text.to_owned();
        self
    }

    fn and(mut self, path: &'static str, text: &str) -> Self {
        self.files.push((path, text.to_owned()));
        self
    }

    fn resolve(&self) -> (Option<Desired>, Diagnostics) {
        let text = format!("apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: a\n{}", self.config);
        let (config, mut found) = manifest::config(&LineIndex::new("checkfu.yaml", text));
        let config = config.unwrap_or_else(|| panic!("{found:?}"));
        let (mut documents, mut unread) = (Vec::new(), Vec::new());
        for (path, text) in &self.files {
            let form = match path.rsplit('/').next().unwrap() {
                "SKILL.md" => Form::Skill,
                _ if path.starts_with("agents/") => Form::AgentMarkdown,
                _ => Form::Yaml,
            };
            let parsed = manifest::parse(form, &LineIndex::new(*path, text.as_str()));
            documents.extend(parsed.documents);
            unread.extend(parsed.unread);
            found.extend(parsed.found);
        }
        let root = config.config.root.clone();
        let (documents, said) = declare(documents, &root);
        found.extend(said);
        let (needs, said) = needs(&documents, &root);
        found.extend(said);
        let set = |path: &str| {
            let sha256 = Digest::of(path.as_bytes());
            FileSet::new(vec![Entry { path: "x.md".into(), executable: false, symlink: false, size: 1, sha256 }])
        };
        let bundles = needs.bundles.keys().map(|b| (b.clone(), (set(&b.path), b.path.clone()))).collect();
        let texts = needs.texts.keys().map(|p| (p.clone(), Arc::from(format!("text of {p}\n")))).collect();
        let failed = found.has_errors();
        let source = crate::model::op::Source::default();
        let today = date(2026, 11, 30);
        let (desired, said) =
            resolve(Inputs { config: &config, documents, unread: &unread, texts, bundles, source, today });
        found.extend(said);
        found.sort();
        (desired.filter(|_| !failed), found)
    }

    fn found(&self) -> Vec<Diagnostic> {
        self.resolve().1.0
    }

    /// `code file:line`
    fn codes(&self) -> Vec<String> {
        let at = |d: &Diagnostic| d.place().map(|p| format!("{}:{}", p.file, p.line)).unwrap_or_default();
        self.found().iter().map(|d| format!("{} {}", d.code.code, at(d))).collect()
    }

    fn wanted(&self, address: &str) -> Wanted {
        let (desired, found) = self.resolve();
        let desired = desired.unwrap_or_else(|| panic!("{found:?}"));
        desired.resources[&address.parse::<Address>().unwrap()].clone()
    }
}

const NONE: Vec<String> = Vec::new();
const TOOLS: &str = "tools: [{type: agent_toolset_20260401}]";

#[test]
fn one_address_is_declared_once() {
    let twice = yaml(&[
        ("MemoryStore", "a", "{}"),
        ("Environment", "a", "{config: {type: cloud}}"),
        ("MemoryStore", "a", "{}"),
    ]);
    let found = twice.found();
    assert_eq!(twice.codes(), ["desired.duplicate a.yaml:14"]);
    assert_eq!((found[0].rule, found[0].labels[1].at.line), (Some("unique-names"), 4));
    let both = yaml(&[("Agent", "a", "{model: m}")]).and("agents/a.md", "---\nmodel: m\n---\nx\n");
    assert_eq!(both.codes(), ["desired.duplicate agents/a.md:1"]);
}

#[test]
fn references_must_lead_somewhere() {
    let agent = |skills: &str| format!("{{model: m, {TOOLS}, skills: {skills}}}");
    let skill = "---\nname: faq\ndescription: d\n---\nx\n";
    let with = |skills: &str| yaml(&[("Agent", "a", &agent(skills))]).and("skills/faq/SKILL.md", skill);
    assert_eq!(with("[faq, {skill: \"acme/legal:Skill/tone\", follow: latest}, {anthropic: xlsx}]").codes(), NONE);
    let slip = with("[{anthropic: xlsx}, fqa]").found();
    assert_eq!((slip[0].code.code, slip[0].place().unwrap().column), ("desired.dangling", 87));
    assert_eq!(slip[0].fix.as_deref(), Some("did you mean `faq`?"));
    let far = with("[something-else]").found();
    assert!(far[0].hints[0].contains("owner:Skill/something-else"));
    let mount =
        yaml(&[("MemoryMount", "m", "{agent: none, memory_store: s, mount_path: /m}"), ("MemoryStore", "s", "{}")]);
    assert_eq!(mount.codes(), ["desired.dangling a.yaml:5"]);
}

#[test]
fn an_id_of_an_own_resource_is_refused() {
    let files = yaml(&[
        ("MemoryMount", "m", "{agent: {id: agent_1}, memory_store: {id: memstore_2}, mount_path: /m}"),
        ("Agent", "a", "{model: m}"),
    ]);
    assert_eq!(files.codes(), NONE);
    let files = files.config("adopt: [{address: Agent/a, id: agent_1}]\n");
    assert_eq!(files.codes(), ["desired.own_id a.yaml:5"]);
    assert_eq!(files.found()[0].fix.as_deref(), Some("a"));
}

#[test]
fn circles_are_told_once() {
    let team = |other: &str| format!("{{model: m, multiagent: {{type: coordinator, agents: [{other}]}}}}");
    let files = yaml(&[
        ("Agent", "a", &team("b")),
        ("Agent", "b", &team("c")),
        ("Agent", "c", &team("a")),
        ("Agent", "d", &team("a")),
    ]);
    let found = files.found();
    let circles: Vec<_> = found.iter().filter(|d| d.code.code == "desired.cycle").collect();
    assert_eq!(circles.len(), 1, "{found:?}");
    assert!(circles[0].message.ends_with("Agent/a → Agent/b → Agent/c → Agent/a"), "{}", circles[0].message);
}

#[test]
fn who_is_in_a_roster_has_none() {
    let team = |other: &str| format!("{{model: m, multiagent: {{type: coordinator, agents: [{other}]}}}}");
    let files = |b: &str| yaml(&[("Agent", "a", &team("b")), ("Agent", "b", b), ("Agent", "c", "{model: m}")]);
    assert_eq!(files("{model: m}").codes(), NONE);
    let nested = files(&team("c"));
    assert_eq!(nested.codes(), ["desired.roster a.yaml:5"]);
    assert_eq!(nested.found()[0].labels[1].text, "it is multiagent here");
    let merged =
        "{model: m, multiagent: {type: multiagent_20261001, subagents: {type: enabled, predefined_agents: [b]}}}";
    let files = yaml(&[("Agent", "a", merged), ("Agent", "b", &team("c")), ("Agent", "c", "{model: m}")]);
    assert_eq!(files.codes(), ["desired.roster a.yaml:5"]);
}

#[test]
fn short_mounts_become_documents() {
    let agent =
        "---\nmodel: m\nmemory:\n  - {store: s, at: /m/s, instructions: Look}\nfiles:\n  - {tree: t, at: /w}\n---\nx\n";
    let base = yaml(&[("MemoryStore", "s", "{}"), ("FileTree", "t", "{source: {kind: upload, path: docs}}")])
        .and("agents/a.md", agent);
    let mount = base.wanted("MemoryMount/a.s");
    assert_eq!(mount.spec["mount_path"], "/m/s");
    assert_eq!(
        (mount.spec["agent"].as_str(), mount.spec["memory_store"].as_str(), mount.at.line),
        (Some("a"), Some("s"), 4)
    );
    assert_eq!(base.wanted("FileTreeMount/a.t").at.line, 6);
    assert!(base.wanted("Agent/a").spec.get("memory").is_none());
    let bad = base.and("agents/b.md", "---\nmodel: m\nmemory:\n  - {store: none, at: /m}\n---\nx\n");
    assert_eq!(bad.codes(), ["desired.dangling agents/b.md:4"]);
    assert_eq!(bad.found()[0].place().unwrap().column, 13);
}

#[test]
fn a_store_twice_prints_the_long_form() {
    let agent =
        |memory: &str| yaml(&[("MemoryStore", "s", "{}"), ("Agent", "a", &format!("{{model: m, memory: {memory}}}"))]);
    let twice = agent("[{store: s, at: /a}, {store: s, at: /b, access: read_only}]");
    assert_eq!(twice.codes(), ["desired.mount_twice a.yaml:10"]);
    let fix = twice.found()[0].fix.clone().unwrap();
    let fixed = agent("[{store: s, at: /a}]").and("b.yaml", &fix);
    assert_eq!(fixed.codes(), NONE, "{fix}");
    assert_eq!(fixed.wanted("MemoryMount/a-s-2").spec["mount_path"], "/b");
    let id = agent("[{store: {id: memstore_1}, at: /a}]");
    assert_eq!(id.codes(), ["desired.mount_form a.yaml:10"]);
    assert!(id.found()[0].fix.as_ref().unwrap().contains("memory_store:"));
}

#[test]
fn skills_are_pinned_to_what_is_published() {
    let skill = "---\nname: faq\ndescription: d\n---\nx\n";
    let agent = format!("{{model: m, {TOOLS}, skills: [faq]}}");
    let one = yaml(&[("Agent", "a", &agent)]).and("skills/faq/SKILL.md", skill);
    let content = one.wanted("Skill/faq").content.unwrap().0.digest.to_string();
    assert_eq!(one.wanted("Agent/a").spec["skills"], serde_json::json!([{"skill": "faq", "content": content}]));
    let follow = format!("{{model: m, {TOOLS}, skills: [{{skill: faq, follow: latest}}]}}");
    let two = yaml(&[("Agent", "a", &follow)]).and("skills/faq/SKILL.md", skill);
    assert_eq!(two.wanted("Agent/a").spec["skills"], serde_json::json!([{"skill": "faq", "follow": "latest"}]));
}

#[test]
fn instructions_are_joined_by_a_blank_line() {
    let a =
        yaml(&[("Agent", "a", "{model: m, preamble: [p.md], instructions: [One, {file: x/y.md}]}")]).wanted("Agent/a");
    assert_eq!(a.spec["instructions"], "text of p.md\n\nOne\n\ntext of x/y.md");
    assert_eq!(
        (&*a.places.get("instructions").unwrap().file, a.places.get("instructions").unwrap().line),
        ("a.yaml", 5)
    );
}

#[test]
fn paths_stay_inside_the_root() {
    let with = |path: &str| yaml(&[("Agent", "a", &format!("{{model: m, instructions: {{file: {path}}}}}"))]);
    assert_eq!(with("../x.md").codes(), ["desired.path_outside a.yaml:5"]);
    assert_eq!(with("/x.md").codes(), ["desired.path_absolute a.yaml:5"]);
    assert_eq!(with("../x.md").config("root: ..\n").codes(), NONE);
}

#[test]
fn content_declares_nothing() {
    let tree = "{source: {kind: upload, path: docs}}";
    let files = yaml(&[("FileTree", "t", tree)]).and("docs/b.yaml", &document("MemoryStore", "s", "{}"));
    assert_eq!(files.codes(), ["desired.manifest_in_content docs/b.yaml:4"]);
    assert_eq!(files.resolve().0.unwrap().resources.len(), 1);
    let own = files_with("docs/t.yaml", &document("FileTree", "t", "{source: {kind: upload, path: .}}"));
    assert_eq!(own.codes(), ["desired.manifest_in_its_own docs/t.yaml:4"]);
    // A folder whose name only begins the same is another.
    let beside = yaml(&[("FileTree", "t", tree)]).and("docs2/b.yaml", &document("MemoryStore", "s", "{}"));
    assert_eq!(beside.codes(), NONE);
}

fn files_with(path: &'static str, text: &str) -> Files {
    files(&[(path, text)])
}

#[test]
fn modes_of_fields() {
    let store = |fields: &str| {
        yaml(&[("MemoryStore", &format!("{{name: s, labels: {{team: x}}, fields: {fields}}}"), "{description: d}")])
    };
    let w = store(
        "{spec.description: {mode: ignore, reason: r}, metadata.labels.team: {mode: seed}, spec.name: {mode: own}}",
    );
    let w = w.wanted("MemoryStore/s");
    assert_eq!(
        (w.unowned, w.seeded),
        (vec!["description".into(), "labels.team".into()], vec!["labels.team".to_owned()])
    );
    assert_eq!(store("{spec.descripton: {mode: seed}}").codes(), ["desired.field_unknown a.yaml:4"]);
    assert_eq!(
        store("{spec.descripton: {mode: seed}}").found()[0].fix.as_deref(),
        Some("did you mean `spec.description`?")
    );
    assert_eq!(store("{spec.owner.agent: {mode: seed}}").codes(), ["desired.field_unknown a.yaml:4"]);
    let part = store("{spec.owner.agent: {mode: seed}}").found()[0].fix.clone();
    assert_eq!(part.as_deref(), Some("a mode for all of it: spec.owner"), "the wire replaces all of it");
    // Of a map and one of its keys, the one that is meant could not be told.
    let both = |key: &str| format!("{{metadata.labels: {{mode: seed}}, metadata.labels.team: {{mode: {key}}}}}");
    assert_eq!(store(&both("own")).codes(), ["desired.field_overlap a.yaml:4"]);
    assert_eq!(store(&both("seed")).codes(), NONE);
    // Only what is authored, under the parent under which it is.
    for path in ["metadata.description", "spec.labels.team", "description", "labels", "spec.modes", "spec.contents."] {
        assert_eq!(store(&format!("{{{path}: {{mode: seed}}}}")).codes(), ["desired.field_unknown a.yaml:4"], "{path}");
    }
    assert_eq!(store("{spec.description: {mode: ignore}}").codes(), ["desired.field_reason a.yaml:4"]);
    let until = |day: &str| store(&format!("{{spec.description: {{mode: ignore, reason: r, until: {day}}}}}"));
    assert_eq!(until("2026-99-99").codes(), ["desired.field_date a.yaml:4"]);
    assert_eq!(until("2026-11-30").codes(), ["desired.field_expired a.yaml:4"]);
    assert!(until("2026-11-30").wanted("MemoryStore/s").unowned.is_empty());
    assert_eq!(until("2026-12-14").codes(), ["desired.field_expires a.yaml:4"]);
    assert_eq!(until("2026-12-14").wanted("MemoryStore/s").unowned, ["description"]);
    assert_eq!(until("2026-12-15").codes(), NONE);
}

#[test]
fn a_mode_of_a_memory_names_one_that_contents_holds() {
    let store = |path: &str| {
        let name = format!("{{name: s, fields: {{spec.contents.{path}: {{mode: seed}}}}}}");
        yaml(&[("MemoryStore", &name, "{contents: [{path: m, at: /k}, {at: /seen, mode: observe}]}")])
    };
    assert_eq!(store("/k/a.md").wanted("MemoryStore/s").unowned, ["contents./k/a.md"]);
    assert_eq!(store("/seen/a.md").codes(), NONE);
    let fix = |path: &str| {
        assert_eq!(store(path).codes(), ["desired.field_unknown a.yaml:4"], "{path}");
        store(path).found()[0].fix.clone().unwrap()
    };
    assert_eq!(fix("k/a.md"), "spec.contents./k/a.md");
    assert_eq!(fix("/k//a.md"), "spec.contents./k/a.md");
    assert_eq!(fix("/other/a.md"), "spec.contents./k/…");
}

#[test]
fn memories_of_two_entries_that_differ_in_case_alone() {
    let store = |one: &str, two: &str| {
        yaml(&[("MemoryStore", "s", &format!("{{contents: [{{path: m, at: {one}}}, {{path: m, at: {two}}}]}}"))])
            .codes()
    };
    assert_eq!(store("/k", "/l"), NONE);
    assert_eq!(store("/k", "/K"), ["bundle.case_twin a.yaml:5"]);
    assert_eq!(store("/x/é", "/x/É"), ["bundle.case_twin a.yaml:5"]);
}

#[test]
fn memories_by_path_and_mode() {
    let store = yaml(&[("MemoryStore", "s", "{contents: [{path: m, at: /, mode: enforce}]}")]).wanted("MemoryStore/s");
    assert_eq!(store.memories.keys().collect::<Vec<_>>(), ["/x.md"]);
    assert_eq!(store.spec["modes"], serde_json::json!([{"at": "/", "mode": "enforce"}]));
    let deep = format!("{{contents: [{{path: m, at: {}}}]}}", "/a".repeat(20));
    assert_eq!(yaml(&[("MemoryStore", "s", &deep)]).codes(), ["kind.limit a.yaml:5"]);
}

#[test]
fn a_git_tree_is_kept_as_it_is() {
    let git = "{source: {kind: git, repository: acme/site, ref: main, connection: {id: c}}, acted_as: p}";
    let tree = yaml(&[("FileTree", "t", git)]).wanted("FileTree/t");
    assert_eq!((tree.spec["source"]["kind"].as_str(), tree.content.is_none()), (Some("git"), true));
}

#[test]
fn lines_of_the_configuration() {
    let base = || yaml(&[("MemoryStore", "s", "{}"), ("Agent", "a", "{model: m}")]);
    let with = |config: &str| base().config(config).codes();
    let protect = base().config("policy: {protect: [\"MemoryStore/*\"]}\n");
    assert!(protect.wanted("MemoryStore/s").protected && !protect.wanted("Agent/a").protected);
    assert_eq!(with("policy: {protect: [store]}\n"), ["desired.protect checkfu.yaml:4"]);
    assert_eq!(with("policy: {protect: [Skill/x]}\n"), ["desired.protects_nothing checkfu.yaml:4"]);
    assert_eq!(with("removed: [{address: Agent/old}]\n"), NONE);
    assert_eq!(with("removed: [{address: \"Agent/*\"}]\n"), ["desired.removed_declared checkfu.yaml:4"]);
    for bad in ["Agents/x", "x", "Agent/Old", "Agent/"] {
        assert_eq!(with(&format!("removed: [{{address: {bad}}}]\n")), ["desired.removed_form checkfu.yaml:4"], "{bad}");
    }
    let moved = |from: &str, to: &str| with(&format!("moved: [{{from: {from}, to: {to}}}]\n"));
    assert_eq!(moved("Agent/old", "Agent/a"), NONE);
    for (from, to) in [("Agent/old", "Agent/b"), ("Agent/a", "Agent/b"), ("Agent/old", "MemoryStore/s")] {
        assert!(moved(from, to).iter().all(|l| l == "desired.moved checkfu.yaml:4") && !moved(from, to).is_empty());
    }
    assert_eq!(with("moved: [{from: Agent/x, to: Agent/y}, {from: Agent/y, to: Agent/a}]\n"), NONE);
    assert_eq!(with("moved: [{from: Agent/x, to: Agent/y}, {from: Agent/y, to: Agent/x}]\n").len(), 2);
}

#[test]
fn rules_over_resources() {
    let rule = |files: Files| {
        let found = files.found();
        found.iter().map(|d| format!("{} {}", d.code.code, d.rule.unwrap_or("-"))).collect::<Vec<_>>()
    };
    let mount =
        |name: &str, rest: &str| document("MemoryMount", name, &format!("{{agent: a, memory_store: s, {rest}}}"));
    let with = |store: &str, mounts: &str| {
        yaml(&[("Agent", "a", "{model: m}"), ("MemoryStore", "s", store)]).and("m.yaml", mounts)
    };
    let two = format!("{}{}", mount("x", "mount_path: /m"), mount("y", "mount_path: /m/n"));
    assert_eq!(rule(with("{}", &two)), ["desired.mount_overlap mount-overlap"]);
    let named =
        yaml(&[("Environment", "e", "{name: Y}"), ("Environment", "f", "{name: Y}"), ("Environment", "g", "{}")]);
    assert_eq!(rule(named), ["desired.name_twice unique-shown-names"]);
    let beside = format!("{}{}", mount("x", "mount_path: /m"), mount("y", "mount_path: /mn"));
    assert_eq!(rule(with("{}", &beside)), NONE);
    let nine: String = (0..9).map(|i| mount(&format!("m{i}"), &format!("mount_path: /m{i}"))).collect();
    assert_eq!(rule(with("{}", &nine)), ["desired.too_many_stores memory-stores"]);
    let write = mount("x", "mount_path: /m, access: read_write");
    for owner in ["{}", "{owner: {agent: a}}", "{owner: {collaboration_space: c}}"] {
        assert_eq!(rule(with(owner, &write)), ["desired.shared_write shared-read-only"]);
    }
    assert_eq!(rule(with("{owner: {principal: p}}", &write)), NONE);
    let writeback = |source: &str| {
        let mount = "{agent: a, file_tree: t, mount_path: /w, access: read_write, writeback: {kind: pull_request, pull_request_title: T}}";
        rule(yaml(&[("Agent", "a", "{model: m}"), ("FileTree", "t", source), ("FileTreeMount", "x", mount)]))
    };
    assert_eq!(writeback("{source: {kind: upload, path: docs}}"), ["desired.writeback writeback-git"]);
    assert_eq!(writeback("{source: {kind: git, repository: a/b, ref: main, connection: {id: c}}, acted_as: p}"), NONE);
    let read = |tools: &str| {
        let skill = "---\nname: faq\ndescription: d\n---\nx\n";
        rule(
            yaml(&[("Agent", "a", &format!("{{model: m, tools: {tools}, skills: [faq]}}"))])
                .and("skills/faq/SKILL.md", skill),
        )
    };
    assert_eq!(read("[]"), ["desired.read_tool skills-need-read"]);
    assert_eq!(
        read("[{type: agent_toolset_20260401, default_config: {enabled: false}}]"),
        ["desired.read_tool skills-need-read"]
    );
    assert_eq!(
        read("[{type: agent_toolset_20260401, configs: [{name: read, enabled: false}]}]"),
        ["desired.read_tool skills-need-read"]
    );
    assert_eq!(
        read(
            "[{type: agent_toolset_20260401, default_config: {enabled: false}, configs: [{name: read, enabled: true}]}]"
        ),
        NONE
    );
    let ids: std::collections::BTreeSet<&str> = rules::RULES.iter().map(|r| r.id).collect();
    assert_eq!(ids.len(), rules::RULES.len());
}

#[test]
fn order_changes_no_digest() {
    let a = document("MemoryStore", "s", "{description: d, owner: workspace}");
    let b = document("Agent", "a", "{model: m, name: A}");
    let c = document("Agent", "a", "{name: A, model: m}");
    let digest = |text: &str| files(&[("a.yaml", text)]).resolve().0.unwrap().digest();
    assert_eq!(digest(&format!("{a}{b}")), digest(&format!("{c}# x\n{a}")));
}

#[test]
fn the_parts_of_instructions_know_their_lines() {
    let tools = "tools: [{type: agent_toolset_20260401}]";
    let front = format!("---\nmodel: m\n{tools}\npreamble: [../p.md]\n---\n\nLine one\nLine two\n");
    let yaml_ = "{model: m, instructions: ['quoted', {file: shared/q.md}]}";
    let alone = "{model: m, instructions: alone}";
    let files = yaml(&[("Agent", "b", yaml_), ("Agent", "c", alone)]).and("agents/a.md", &front);
    let parts = |address: &str| {
        let wanted = files.wanted(address);
        let part = |p: &crate::desired::TextPart| (p.line, p.lines, p.at.to_string(), p.verbatim);
        wanted.instructions.iter().map(part).collect::<Vec<_>>()
    };
    assert_eq!(parts("Agent/a"), [(0, 1, "p.md:1:1".into(), true), (2, 2, "agents/a.md:7:1".into(), true)]);
    let quoted = parts("Agent/b");
    assert_eq!((quoted[0].0, quoted[0].1, quoted[0].3), (0, 1, false));
    assert_eq!(quoted[1], (2, 1, "shared/q.md:1:1".into(), true));
    let alone = parts("Agent/c");
    assert_eq!(alone.iter().map(|p| (p.0, p.1, p.3)).collect::<Vec<_>>(), [(0, 1, true)]);
}

#[test]
fn an_own_resource_named_the_long_way_is_an_own_resource() {
    let of = |reference: &str| {
        yaml(&[
            ("Agent", "b", "{model: m}"),
            ("Agent", "x", &format!("{{model: m, multiagent: {{type: coordinator, agents: [{reference}]}}}}")),
        ])
        .resolve()
    };
    let (short, found) = of("b");
    assert!(found.0.is_empty(), "{found:?}");
    let (long, found) = of("'a:Agent/b'");
    assert!(found.0.is_empty(), "{found:?}");
    let spec = |d: &Option<Desired>| d.as_ref().unwrap().resources[&Address::new(Kind::Agent, "x")].spec.clone();
    assert_eq!(spec(&short), spec(&long));
    let (_, found) = of("'a:Agent/none'");
    assert_eq!(found.0.iter().map(|d| d.code.code).collect::<Vec<_>>(), ["desired.dangling"]);
}
