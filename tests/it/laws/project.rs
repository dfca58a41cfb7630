//! Small random projects, and what each wants of a workspace.

use std::collections::{BTreeMap, BTreeSet};

use checkfu::control::{BlobError, Blobs};
use checkfu::desired::{Desired, Wanted, WantedFile};
use checkfu::diag::Location;
use checkfu::model::config::{Policy, Removed};
use checkfu::model::kinds;
use checkfu::model::op::Source;
use checkfu::model::tree::{Entry, FileSet};
use checkfu::model::{Address, Digest, Kind, Owner};
use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;
use serde_json::{Value, json};

/// How an agent uses a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Pinned,
    Latest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    pub(super) prompt: u8,
    pub(super) description: Option<u8>,
    pub(super) team: Option<u8>,
    pub(super) skills: BTreeMap<u8, Use>,
    /// Store → are there instructions for it?
    pub(super) stores: BTreeMap<u8, bool>,
    pub(super) trees: BTreeSet<u8>,
    /// Which of its fields is not the file's, and is it set at create?
    pub(super) mode: Option<(&'static str, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Store {
    pub(super) description: Option<u8>,
    pub(super) enforce: bool,
    /// Memory → text.
    pub(super) files: BTreeMap<u8, u8>,
    /// As that of an agent.
    pub(super) mode: Option<(&'static str, bool)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Environment {
    pub(super) hosts: u8,
    /// Another type than `cloud`: a change of it makes a new environment.
    pub(super) self_hosted: bool,
    pub(super) description: Option<u8>,
    /// As that of an agent.
    pub(super) mode: Option<(&'static str, bool)>,
}

impl Environment {
    pub(super) fn spec(&self) -> Value {
        let networking = json!({"type": "limited", "allowed_hosts": [format!("h{}.example.com", self.hosts)]});
        let cloud = json!({"type": "cloud", "networking": networking});
        let mut spec = json!({"config": if self.self_hosted { json!({"type": "self_hosted"}) } else { cloud }});
        if let Some(d) = self.description {
            spec["description"] = json!(format!("environment {d}"));
        }
        spec
    }
}

/// A project: numbers stand for names and texts. References to what is not in it are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) agents: BTreeMap<u8, Agent>,
    /// Skill → (display name, files).
    pub(super) skills: BTreeMap<u8, (Option<u8>, BTreeMap<u8, u8>)>,
    pub(super) trees: BTreeMap<u8, BTreeMap<u8, u8>>,
    pub(super) stores: BTreeMap<u8, Store>,
    pub(super) environments: BTreeMap<u8, Environment>,
    pub(super) protect: bool,
}

fn agent() -> impl Strategy<Value = Agent> {
    let uses = btree_map(0..3u8, prop_oneof![Just(Use::Pinned), Just(Use::Latest)], 0..3);
    let parts = (
        0..3u8,
        proptest::option::of(0..2u8),
        proptest::option::of(0..2u8),
        uses,
        btree_map(0..2u8, any::<bool>(), 0..3),
        btree_set(0..2u8, 0..2),
        mode(&["description", "labels.team", "labels", "instructions"]),
    );
    parts.prop_map(|(prompt, description, team, skills, stores, trees, mode)| Agent {
        prompt,
        description,
        team,
        skills,
        stores,
        trees,
        mode,
    })
}

/// Mostly none.
fn mode(fields: &'static [&'static str]) -> impl Strategy<Value = Option<(&'static str, bool)>> {
    proptest::option::weighted(0.3, (prop::sample::select(fields), any::<bool>()))
}

fn store() -> impl Strategy<Value = Store> {
    let files = btree_map(0..3u8, 0..3u8, 0..4);
    let parts = (proptest::option::of(0..2u8), any::<bool>(), files, mode(&["description", "contents"]));
    parts.prop_map(|(description, enforce, files, mode)| Store { description, enforce, files, mode })
}

/// One that is not protected: it may be replaced, also where something of it is not the file's.
fn environment() -> impl Strategy<Value = Environment> {
    let parts = (0..2u8, any::<bool>(), proptest::option::of(0..2u8), mode(&["description"]));
    parts.prop_map(|(hosts, self_hosted, description, mode)| Environment { hosts, self_hosted, description, mode })
}

/// A project of at most a dozen resources.
pub(super) fn project() -> impl Strategy<Value = Project> {
    let files = || btree_map(0..3u8, 0..3u8, 1..3);
    let parts = (
        btree_map(0..3u8, agent(), 0..3),
        btree_map(0..3u8, (proptest::option::weighted(0.2, 0..2u8), files()), 0..3),
        btree_map(0..2u8, files(), 0..3),
        btree_map(0..2u8, store(), 0..3),
        // `e0` is in every project, since it is sometimes protected.
        (0..2u8, btree_map(1..3u8, environment(), 0..2)).prop_map(|(hosts, rest)| {
            let first = Environment { hosts, ..Environment::default() };
            std::iter::once((0, first)).chain(rest).collect::<BTreeMap<_, _>>()
        }),
        proptest::bool::weighted(0.1),
    );
    parts.prop_map(|(agents, skills, trees, stores, environments, protect)| Project {
        agents,
        skills,
        trees,
        stores,
        environments,
        protect,
    })
}

/// Every name that a project may use, by kind.
const NAMES: u8 = 3;

impl Project {
    /// What it wants of a workspace, as `owner`.
    pub(super) fn desired(&self, owner: &Owner) -> Desired {
        let mut all = BTreeMap::new();
        let mut add = |mut wanted: Wanted| {
            wanted.protected = self.protect && wanted.address == Address::new(Kind::Environment, "e0");
            all.insert(wanted.address.clone(), wanted);
        };
        for (i, (shown, files)) in &self.skills {
            let mut spec = json!({});
            if let Some(shown) = shown {
                spec["display_name"] = json!(format!("Skill {shown}"));
            }
            add(versioned(Kind::Skill, &format!("s{i}"), spec, &skill_files(*i, files)));
        }
        for (i, files) in &self.trees {
            let files = files.iter().map(|(k, v)| (format!("d/f{k}.md"), text(*v))).collect();
            add(versioned(Kind::FileTree, &format!("t{i}"), json!({"source": {"kind": "upload"}}), &files));
        }
        for (i, store) in &self.stores {
            add(store.wanted(*i));
        }
        for (i, environment) in &self.environments {
            let wanted = wanted(Kind::Environment, &format!("e{i}"), &environment.spec(), &BTreeMap::new());
            add(with_mode(wanted, environment.mode));
        }
        for (i, agent) in &self.agents {
            self.agent(*i, agent, &mut add);
        }
        let removed = |kind: Kind, letter: char| (0..NAMES).map(move |i| Address::new(kind, format!("{letter}{i}")));
        let removed = removed(Kind::Agent, 'a')
            .chain(removed(Kind::MemoryStore, 'm'))
            .filter(|a| !all.contains_key(a))
            .map(|a| (Removed { address: a.to_string(), to: None, keep: false }, None))
            .collect();
        Desired {
            owner: owner.clone(),
            resources: all,
            policy: Policy::default(),
            moved: vec![],
            removed,
            adopt: vec![],
            accept: vec![],
            lines: BTreeMap::new(),
            source: Source::default(),
        }
    }

    fn agent(&self, i: u8, agent: &Agent, add: &mut impl FnMut(Wanted)) {
        let name = format!("a{i}");
        let skills: Vec<Value> = agent
            .skills
            .iter()
            .filter_map(|(s, how)| {
                let (_, files) = self.skills.get(s)?;
                Some(match how {
                    Use::Pinned => json!({"skill": format!("s{s}"), "content": set(&skill_files(*s, files)).digest}),
                    Use::Latest => json!({"skill": format!("s{s}"), "follow": "latest"}),
                })
            })
            .collect();
        let mut spec = json!({"model": "m", "instructions": text(agent.prompt), "skills": skills});
        if let Some(d) = agent.description {
            spec["description"] = json!(format!("description {d}"));
        }
        let labels = agent.team.iter().map(|t| ("team".to_owned(), t.to_string())).collect();
        add(with_mode(wanted(Kind::Agent, &name, &spec, &labels), agent.mode));
        for (m, told) in agent.stores.iter().filter(|(m, _)| self.stores.contains_key(m)) {
            let path = format!("/mnt/memory/{m}");
            let mut spec = json!({"agent": name, "memory_store": format!("m{m}"), "mount_path": path});
            if *told {
                spec["instructions"] = json!("Look here first.");
            }
            add(wanted(Kind::MemoryMount, &format!("{name}.m{m}"), &spec, &BTreeMap::new()));
        }
        for t in agent.trees.iter().filter(|t| self.trees.contains_key(t)) {
            let spec = json!({"agent": name, "file_tree": format!("t{t}"), "mount_path": format!("/workspace/{t}")});
            add(wanted(Kind::FileTreeMount, &format!("{name}.t{t}"), &spec, &BTreeMap::new()));
        }
    }
}

impl Store {
    fn wanted(&self, i: u8) -> Wanted {
        let mode = if self.enforce { "enforce" } else { "upkeep" };
        let path = |k: &u8| format!("/x/{k}.md");
        let contents: BTreeMap<String, Digest> =
            self.files.iter().map(|(k, v)| (path(k), Digest::of(text(*v).as_bytes()))).collect();
        let mut spec = json!({"contents": contents, "modes": [{"at": "/x", "mode": mode}]});
        if let Some(d) = self.description {
            spec["description"] = json!(format!("store {d}"));
        }
        let mut wanted = wanted(Kind::MemoryStore, &format!("m{i}"), &spec, &BTreeMap::new());
        let file = |v: u8| WantedFile {
            file: format!("texts/{v}"),
            sha256: Digest::of(text(v).as_bytes()),
            size: text(v).len() as u64,
        };
        wanted.memories = self.files.iter().map(|(k, v)| (path(k), file(*v))).collect();
        with_mode(wanted, self.mode)
    }
}

fn with_mode(mut wanted: Wanted, mode: Option<(&'static str, bool)>) -> Wanted {
    if let Some((field, seed)) = mode {
        wanted.unowned.push(field.to_owned());
        wanted.seeded.extend(seed.then(|| field.to_owned()));
    }
    wanted
}

/// A text, by number.
pub(super) fn text(i: u8) -> String {
    format!("text {i}\n")
}

/// The files of a skill.
pub(super) fn skill_files(i: u8, files: &BTreeMap<u8, u8>) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = files.iter().map(|(k, v)| (format!("r/{k}.md"), text(*v))).collect();
    all.insert("SKILL.md".to_owned(), format!("---\nname: s{i}\ndescription: d\n---\n"));
    all
}

fn set(files: &BTreeMap<String, String>) -> FileSet {
    let entry = |(path, text): (&String, &String)| Entry {
        path: path.clone(),
        executable: path.contains("/1"),
        symlink: false,
        size: text.len() as u64,
        sha256: Digest::of(text.as_bytes()),
    };
    FileSet::new(files.iter().map(entry).collect())
}

fn wanted(kind: Kind, name: &str, authored: &Value, labels: &BTreeMap<String, String>) -> Wanted {
    let def = kinds::def(kind);
    let spec = (def.canonical)(name, authored.clone(), labels);
    Wanted {
        address: Address::new(kind, name),
        refs: (def.refs)(&spec),
        spec: spec.into(),
        unowned: vec![],
        seeded: vec![],
        protected: false,
        at: Location::file("project.yaml"),
        places: checkfu::desired::Places::default(),
        instructions: Vec::new(),
        content: None,
        memories: BTreeMap::new(),
        digested: checkfu::desired::Digested::default(),
    }
}

fn versioned(kind: Kind, name: &str, mut authored: Value, files: &BTreeMap<String, String>) -> Wanted {
    let set = set(files);
    authored["content"] = json!(set.digest);
    let mut wanted = wanted(kind, name, &authored, &BTreeMap::new());
    wanted.content = Some((set, name.to_owned()));
    wanted
}

/// All bodies that any project may name, by digest.
pub(super) struct Bodies;

impl Blobs for Bodies {
    fn open(&self, path: &str, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let texts = (0..3).map(text);
        let skills = (0..NAMES).map(|i| format!("---\nname: s{i}\ndescription: d\n---\n"));
        let body = texts.chain(skills).find(|t| Digest::of(t.as_bytes()) == *digest);
        body.map(String::into_bytes)
            .ok_or_else(|| BlobError::Io { path: path.to_owned(), source: std::io::ErrorKind::NotFound.into() })
    }
}
