//! Rules over more than one resource: one row each, with an id that its message shows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use crate::desired::references::place;
use crate::desired::spec::is_given;
use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::manifest::{Document, nearest};
use crate::model::kinds::{self, Target, overlaps};
use crate::model::{Address, Kind};

/// A document with its canonical form.
pub(super) struct Row<'a> {
    pub(super) document: &'a Document,
    pub(super) spec: &'a Value,
}

/// Everything that is declared. Of what is broken, no rule looks at what may be wrong itself.
pub(super) type Rows<'a> = BTreeMap<&'a Address, Row<'a>>;

/// A rule.
pub struct Rule {
    /// Shown with its findings.
    pub id: &'static str,
    /// What must hold.
    pub doc: &'static str,
    check: fn(&Rows<'_>) -> Vec<Diagnostic>,
}

/// Every rule. `unique-names` speaks while addresses are collected, before there are rows.
pub static RULES: &[Rule] = &[
    Rule { id: "unique-names", doc: "An address is declared once.", check: |_| Vec::new() },
    Rule { id: "unique-shown-names", doc: "Environments have different names.", check: shown_names },
    Rule {
        id: "mount-overlap",
        doc: "Mount paths of one agent do not overlap, over both kinds of mounts.",
        check: mount_overlap,
    },
    Rule { id: "memory-stores", doc: "An agent mounts at most 8 memory stores.", check: memory_stores },
    Rule {
        id: "shared-read-only",
        doc: "A store of the workspace, an agent or a collaboration space mounts read_only.",
        check: shared_read_only,
    },
    Rule { id: "writeback-git", doc: "Writeback needs a tree with a Git source.", check: writeback_git },
    Rule {
        id: "flat-rosters",
        doc: "An agent in the roster of another is not multiagent itself.",
        check: flat_rosters,
    },
    Rule { id: "skills-need-read", doc: "An agent with skills has the read tool.", check: skills_need_read },
];

/// Holds everything against every rule.
pub(super) fn check(rows: &Rows<'_>, found: &mut Diagnostics) {
    for rule in RULES {
        for d in (rule.check)(rows) {
            found.push(d.rule(rule.id));
        }
    }
}

impl Row<'_> {
    /// May a field be other than it seems, since the document has errors and this key or one like it is in it?
    fn is_doubtful(&self, key: &str) -> bool {
        self.document.broken && nearest(key, self.document.places.keys().map(String::as_str)).is_some()
    }
}

const MAX_STORES: usize = 8;

fn is_mount(kind: Kind) -> bool {
    matches!(kind, Kind::MemoryMount | Kind::FileTreeMount)
}

fn text<'a>(spec: &'a Value, key: &str) -> Option<&'a str> {
    spec.get(key).and_then(Value::as_str)
}

/// Mounts by what they say is their agent.
fn by_agent<'a>(rows: &'a Rows<'a>, of: fn(Kind) -> bool) -> BTreeMap<String, Vec<&'a Row<'a>>> {
    let mut out: BTreeMap<String, Vec<&Row<'_>>> = BTreeMap::new();
    for (_, row) in rows.iter().filter(|(a, _)| of(a.kind)) {
        if let Some(agent) = row.spec.get("agent").and_then(|v| Target::of(Kind::Agent, v)) {
            out.entry(agent.key()).or_default().push(row);
        }
    }
    out
}

fn shown_names(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let mut first: BTreeMap<(Kind, &str), &Row<'_>> = BTreeMap::new();
    let mut out = Vec::new();
    for (address, row) in rows.iter().filter(|(a, row)| kinds::def(a.kind).unique_name && !row.is_doubtful("name")) {
        let Some(name) = text(row.spec, "name") else { continue };
        match first.entry((address.kind, name)) {
            Entry::Vacant(entry) => drop(entry.insert(row)),
            Entry::Occupied(entry) => {
                let before = entry.get();
                let message = format!("{address} and {} are both named `{name}`", before.document.address);
                let d = Diagnostic::new(&code::NAME_TWICE, message)
                    .at(row.document.locate("/name", false), "again here")
                    .at(before.document.locate("/name", false), "first here");
                out.push(d);
            }
        }
    }
    out
}

fn mount_overlap(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for mounts in by_agent(rows, is_mount).values() {
        let placed: Vec<_> = mounts.iter().filter_map(|m| Some((m, text(m.spec, "mount_path")?))).collect();
        let before = overlaps(placed.iter().map(|(_, path)| *path));
        for ((one, path), other) in placed.iter().zip(before) {
            if let Some((other, at)) = other.map(|j| placed[j]) {
                let message = format!("`{path}` overlaps `{at}`");
                let d = Diagnostic::new(&code::MOUNT_OVERLAP, message)
                    .at(one.document.locate("/mount_path", false), one.document.address.to_string())
                    .at(other.document.locate("/mount_path", false), other.document.address.to_string());
                out.push(d);
            }
        }
    }
    out
}

fn memory_stores(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let mounts = by_agent(rows, |k| k == Kind::MemoryMount);
    let mut out = Vec::new();
    for (agent, mounts) in mounts {
        // More than 8 in one list was told by the kind itself.
        let short = mounts.iter().filter(|m| m.document.address.name.contains('.')).count();
        if mounts.len() > MAX_STORES && short <= MAX_STORES {
            let message = format!("{agent} mounts {} memory stores, more than {MAX_STORES}", mounts.len());
            let last = mounts.last().map(|m| m.document.at.clone());
            out.extend(last.map(|at| Diagnostic::new(&code::TOO_MANY_STORES, message).at(at, "")));
        }
    }
    out
}

fn flat_rosters(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let agents = rows.iter().filter(|(a, row)| a.kind == Kind::Agent && row.spec.get("multiagent").is_some());
    let mut out = Vec::new();
    for (_, row) in agents {
        for r in (kinds::def(Kind::Agent).refs)(row.spec).iter().filter(|r| r.field == "multiagent") {
            let Target::Own(member) = &r.target else { continue };
            let Some(team) = rows.get(member).filter(|m| !m.is_doubtful("multiagent")) else { continue };
            if team.spec.get("multiagent").is_some() {
                let message = format!("{member} is multiagent itself, so it can be in no roster");
                let d = Diagnostic::new(&code::ROSTER, message).at(place(row.document, r), "");
                out.push(d.at(team.document.locate("/multiagent", true), "it is multiagent here"));
            }
        }
    }
    out
}

fn shared_read_only(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let mounts = rows.iter().filter(|(a, _)| a.kind == Kind::MemoryMount);
    let writing = mounts.filter(|(_, m)| text(m.spec, "access") == Some("read_write"));
    let shared = |m: &Row<'_>| {
        let target = Target::of(Kind::MemoryStore, m.spec.get("memory_store")?)?;
        let Target::Own(store) = target else { return None };
        let row = rows.get(&store).filter(|row| !row.is_doubtful("owner"))?;
        let owner = row.spec.get("owner");
        let own = owner.is_some_and(|o| o.get("principal").is_some());
        (!own).then_some((store, whose(owner)))
    };
    writing
        .filter_map(|(_, m)| {
            let (store, whose) = shared(m)?;
            let message = format!("{store} belongs to {whose}, so it mounts read_only");
            let d = Diagnostic::new(&code::SHARED_WRITE, message).at(m.document.locate("/access", false), "");
            Some(d.fix("access: read_only"))
        })
        .collect()
}

fn whose(owner: Option<&Value>) -> &'static str {
    match owner {
        Some(o) if o.get("agent").is_some() => "an agent",
        Some(o) if o.get("collaboration_space").is_some() => "a collaboration space",
        _ => "the workspace",
    }
}

fn writeback_git(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let mounts = rows.iter().filter(|(a, m)| a.kind == Kind::FileTreeMount && m.spec.get("writeback").is_some());
    mounts
        .filter_map(|(_, m)| {
            let Target::Own(tree) = Target::of(Kind::FileTree, m.spec.get("file_tree")?)? else { return None };
            let row = rows.get(&tree).filter(|row| !row.is_doubtful("source"))?;
            let source = row.spec.get("source")?;
            let git = text(source, "kind") == Some("git");
            let message = format!("{tree} is uploaded, there is no repository to write back to");
            let at = || m.document.locate("/writeback", true);
            (!git).then(|| Diagnostic::new(&code::WRITEBACK, message).at(at(), ""))
        })
        .collect()
}

fn skills_need_read(rows: &Rows<'_>) -> Vec<Diagnostic> {
    let agents = rows.iter().filter(|(a, _)| a.kind == Kind::Agent);
    agents
        .filter(|(_, a)| is_given(a.spec.get("skills")) && !has_read(a.spec) && !a.is_doubtful("tools"))
        .map(|(address, a)| {
            let message = format!("{address} has skills and no `read` tool to read them with");
            let d = Diagnostic::new(&code::READ_TOOL, message).at(a.document.locate("/skills", true), "");
            d.fix("tools: [{type: agent_toolset_20260401}]")
        })
        .collect()
}

/// What is absent is enabled.
fn has_read(agent: &Value) -> bool {
    let tools = agent.get("tools").and_then(Value::as_array);
    tools.into_iter().flatten().filter(|t| text(t, "type") == Some("agent_toolset_20260401")).any(|t| {
        let enabled = |v: &Value| v.get("enabled").and_then(Value::as_bool);
        let default = t.get("default_config").and_then(enabled).unwrap_or(true);
        let configs = t.get("configs").and_then(Value::as_array);
        let read = configs.into_iter().flatten().find(|c| text(c, "name") == Some("read"));
        read.and_then(enabled).unwrap_or(default)
    })
}
