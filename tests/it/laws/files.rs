//! A random project as files, in an order and with comments that a seed decides.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::project::{Project, Use, skill_files, text};

/// A small source of chances; the same seed gives the same ones.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n.max(1)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Writes the project into a folder. What it says does not depend on the dice.
pub(super) fn write(project: &Project, dir: &Path, dice: &mut Dice) {
    let mut config = Map::new();
    config.insert("apiVersion".into(), json!("checkfu.com/v1"));
    config.insert("kind".into(), json!("Config"));
    config.insert("authoring_owner".into(), json!("acme/laws"));
    put(dir, "checkfu.yaml", &document(&Value::Object(config), dice));
    for (i, (_, files)) in &project.skills {
        for (path, text) in skill_files(*i, files) {
            put(dir, &format!("skills/s{i}/{path}"), &text);
        }
    }
    for (i, files) in &project.trees {
        for (k, v) in files {
            put(dir, &format!("trees/t{i}/d/f{k}.md"), &text(*v));
        }
    }
    for (i, store) in &project.stores {
        for (k, v) in &store.files {
            put(dir, &format!("memory/m{i}/{k}.md"), &text(*v));
        }
    }
    let mut documents: Vec<String> = manifests(project).iter().map(|m| document(m, dice)).collect();
    dice.shuffle(&mut documents);
    let mut files = vec![String::new(); 1 + dice.below(3)];
    for document in documents {
        let file = dice.below(files.len());
        write!(files[file], "---\n{document}").unwrap();
    }
    for (i, text) in files.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        put(dir, &format!("p{i}.yaml"), text);
    }
}

fn put(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn manifests(project: &Project) -> Vec<Value> {
    let manifest = |kind: &str, name: String, spec: Value| json!({"apiVersion": "checkfu.com/v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    let mut all = Vec::new();
    for (i, (shown, _)) in &project.skills {
        if let Some(shown) = shown {
            let spec = json!({"source": {"path": format!("skills/s{i}")}, "display_name": format!("Skill {shown}")});
            all.push(manifest("Skill", format!("s{i}"), spec));
        }
    }
    for i in project.trees.keys() {
        let spec = json!({"source": {"kind": "upload", "path": format!("trees/t{i}")}});
        all.push(manifest("FileTree", format!("t{i}"), spec));
    }
    for (i, store) in &project.stores {
        let mode = if store.enforce { "enforce" } else { "upkeep" };
        let mut spec = json!({"owner": "workspace"});
        if !store.files.is_empty() {
            spec["contents"] = json!([{"path": format!("memory/m{i}"), "at": "/x", "mode": mode}]);
        }
        if let Some(d) = store.description {
            spec["description"] = json!(format!("store {d}"));
        }
        all.push(with_mode(manifest("MemoryStore", format!("m{i}"), spec), store.mode));
    }
    for (i, environment) in &project.environments {
        all.push(with_mode(manifest("Environment", format!("e{i}"), environment.spec()), environment.mode));
    }
    for (i, agent) in &project.agents {
        let skills: Vec<Value> = agent
            .skills
            .iter()
            .filter(|(s, _)| project.skills.contains_key(s))
            .map(|(s, how)| match how {
                Use::Pinned => json!(format!("s{s}")),
                Use::Latest => json!({"skill": format!("s{s}"), "follow": "latest"}),
            })
            .collect();
        let memory = agent.stores.keys().filter(|m| project.stores.contains_key(m));
        let memory: Vec<Value> =
            memory.map(|m| json!({"store": format!("m{m}"), "at": format!("/mnt/memory/{m}")})).collect();
        let trees = agent.trees.iter().filter(|t| project.trees.contains_key(t));
        let trees: Vec<Value> =
            trees.map(|t| json!({"tree": format!("t{t}"), "at": format!("/workspace/{t}")})).collect();
        let tools = json!([{"type": "agent_toolset_20260401"}]);
        let spec = json!({
            "model": "m", "instructions": text(agent.prompt), "tools": tools, "skills": skills, "memory": memory,
            "files": trees, "description": format!("d {:?}", agent.description),
        });
        let mut agent_manifest = manifest("Agent", format!("a{i}"), spec);
        if let Some(team) = agent.team {
            agent_manifest["metadata"]["labels"] = json!({"team": team.to_string(), "z": "1"});
        }
        all.push(with_mode(agent_manifest, agent.mode));
    }
    all
}

fn with_mode(mut manifest: Value, mode: Option<(&'static str, bool)>) -> Value {
    if let Some((field, seed)) = mode {
        let mode = if seed { json!({"mode": "seed"}) } else { json!({"mode": "ignore", "reason": "theirs"}) };
        let path = if field.starts_with("labels") { format!("metadata.{field}") } else { format!("spec.{field}") };
        manifest["metadata"]["fields"] = json!({ path: mode });
    }
    manifest
}

/// YAML text of a map: keys in any order, comments anywhere, maps in block or flow form.
fn document(value: &Value, dice: &mut Dice) -> String {
    let mut out = String::new();
    map(value.as_object().unwrap(), 0, dice, &mut out);
    out
}

fn map(object: &Map<String, Value>, depth: usize, dice: &mut Dice, out: &mut String) {
    let mut keys: Vec<&String> = object.keys().collect();
    dice.shuffle(&mut keys);
    let indent = "  ".repeat(depth);
    for key in keys {
        if dice.below(4) == 0 {
            writeln!(out, "{indent}# {}", ["a note", "kind: Agent", "---", "\u{e4}"][dice.below(4)]).unwrap();
        }
        match &object[key] {
            Value::Object(inner) if !inner.is_empty() && dice.below(3) > 0 => {
                writeln!(out, "{indent}{key}:").unwrap();
                map(inner, depth + 1, dice, out);
            }
            other => {
                let comment = if dice.below(5) == 0 { "  # why" } else { "" };
                writeln!(out, "{indent}{key}: {other}{comment}").unwrap();
            }
        }
    }
}
