//! A project and a workspace as values: what the tests plan from, and a workspace that carries plans out by
//! the rules of the control plane, as far as canonical forms show them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::town::Town;
use crate::desired::{Desired, Wanted, WantedFile};
use crate::diag::Location;
use crate::live::{Live, LiveBody, LiveResource, OwnerRecord, Workspace};
use crate::model::config::Policy;
use crate::model::kinds::{self, Applied, Selector, Target};
use crate::model::op::{ActorKind, Beside, MemoryInfo, Moved, Source, Summary};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest, Owner};
use crate::plan::{self, Action, Options, Origin, Plan, Precondition, Scope, SourceRelation, Step, check};

pub(super) fn address(text: &str) -> Address {
    text.parse().unwrap()
}

pub(super) fn sha(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub(super) fn files(files: &[(&str, &str)]) -> FileSet {
    let entry = |(path, text): &(&str, &str)| Entry {
        path: (*path).to_owned(),
        executable: false,
        symlink: false,
        size: text.len() as u64,
        sha256: sha(text),
    };
    FileSet::new(files.iter().map(entry).collect())
}

pub(super) fn owner() -> Owner {
    "acme/support".parse().unwrap()
}

/// A project without resources.
pub(super) fn project() -> Desired {
    Desired {
        owner: owner(),
        resources: BTreeMap::new(),
        policy: Policy::default(),
        moved: Vec::new(),
        removed: Vec::new(),
        adopt: Vec::new(),
        accept: Vec::new(),
        lines: BTreeMap::new(),
        source: Source::default(),
    }
}

pub(super) fn options() -> Options {
    Options {
        allowances: Vec::new(),
        scope: Scope::default(),
        revert: crate::plan::Addresses::default(),
        revert_all: false,
        today: jiff::civil::date(2026, 11, 30),
        destroy: false,
        rollback: false,
        origin: Origin {
            target: "local".into(),
            kind: "embedded".into(),
            at: ".checkfu/workspace.db".into(),
            workspace: None,
            epoch: None,
        },
        tool_version: "0.1.0".into(),
        source_relation: SourceRelation::Same,
        limits: None,
    }
}

impl Desired {
    /// Declares a resource; `spec` is authored and resolved.
    pub(super) fn put(&mut self, name: &str, spec: &Value) -> &mut Wanted {
        let address = address(name);
        let def = kinds::def(address.kind);
        let spec = (def.canonical)(&address.name, spec.clone(), &BTreeMap::new());
        let wanted = Wanted {
            refs: (def.refs)(&spec),
            spec: spec.into(),
            unowned: Vec::new(),
            seeded: Vec::new(),
            protected: false,
            at: Location::file(format!("{name}.yaml")),
            places: crate::desired::Places::default(),
            instructions: Vec::new(),
            content: None,
            memories: BTreeMap::new(),
            digested: crate::desired::Digested::default(),
            address: address.clone(),
        };
        self.resources.insert(address.clone(), wanted);
        self.resources.get_mut(&address).unwrap()
    }

    /// Declares a skill or an uploaded tree.
    pub(super) fn put_files(&mut self, name: &str, set: FileSet) -> Digest {
        let digest = set.digest;
        let spec = if name.starts_with("Skill") {
            json!({ "content": digest })
        } else {
            json!({ "source": { "kind": "upload" }, "content": digest })
        };
        self.put(name, &spec).content = Some((set, format!("files/{name}")));
        digest
    }

    /// Declares a store; `modes` as `(prefix, mode)`.
    pub(super) fn put_store(&mut self, name: &str, modes: &[(&str, &str)], memories: &[(&str, &str)]) -> &mut Wanted {
        let modes: Vec<Value> = modes.iter().map(|(at, mode)| json!({ "at": at, "mode": mode })).collect();
        let contents: BTreeMap<_, _> = memories.iter().map(|(path, text)| (*path, sha(text))).collect();
        let wanted = self.put(&format!("MemoryStore/{name}"), &json!({ "contents": contents, "modes": modes }));
        let file = |(path, text): &(&str, &str)| {
            let file = WantedFile { file: format!("memory{path}"), sha256: sha(text), size: text.len() as u64 };
            ((*path).to_owned(), file)
        };
        wanted.memories = memories.iter().map(file).collect();
        wanted
    }

    /// Declares an agent with skills: `(name, content)`, or follow `latest` where there is none.
    pub(super) fn put_agent(
        &mut self,
        name: &str,
        instructions: &str,
        skills: &[(&str, Option<Digest>)],
    ) -> &mut Wanted {
        let skill = |(skill, content): &(&str, Option<Digest>)| match content {
            Some(content) => json!({ "skill": skill, "content": content }),
            None => json!({ "skill": skill, "follow": "latest" }),
        };
        let skills: Vec<Value> = skills.iter().map(skill).collect();
        let spec = json!({ "model": "claude-sonnet-5", "instructions": instructions, "skills": skills });
        self.put(&format!("Agent/{name}"), &spec)
    }

    pub(super) fn drop_(&mut self, name: &str) {
        self.resources.remove(&address(name)).unwrap();
    }
}

/// A workspace.
#[derive(Clone)]
pub(super) struct World {
    pub(super) live: Live,
    pub(super) town: Town,
    next: u32,
    versions: BTreeMap<String, BTreeMap<Digest, String>>,
}

impl World {
    pub(super) fn new() -> Self {
        let workspace = Workspace { id: "ws_1".into(), epoch: "e1".into() };
        let live = Live { workspace: Some(workspace), ..Live::default() };
        Self { live, town: Town::default(), next: 0, versions: BTreeMap::new() }
    }

    /// The workspace after a first, full apply.
    pub(super) fn of(desired: &Desired) -> Self {
        let mut world = Self::new();
        let plan = world.plan(desired);
        assert!(plan.applyable, "{:?}", plan.findings);
        world.apply(&plan);
        world
    }

    /// Plans, and lets the checker look at it.
    pub(super) fn plan_with(&self, desired: &Desired, options: &Options) -> Plan {
        let plan = plan::plan(desired, &self.live, options);
        assert_eq!(check(&plan), Vec::<String>::new(), "{}", plan::write(&plan));
        plan
    }

    pub(super) fn plan(&self, desired: &Desired) -> Plan {
        self.plan_with(desired, &options())
    }

    pub(super) fn get(&mut self, name: &str) -> &mut LiveResource {
        self.live.resources.get_mut(&address(name)).unwrap()
    }

    pub(super) fn body(&mut self, name: &str) -> &mut LiveBody {
        self.get(name).body.as_mut().unwrap()
    }

    /// What an `accept:` line about the resource as it is now names.
    pub(super) fn moved_live(&mut self, name: &str) -> Digest {
        let body = self.body(name);
        plan::moved_live(address(name).kind, body, &body.applied.unowned.clone())
    }

    /// Someone writes a canonical field; `Null` clears it.
    pub(super) fn outside(&mut self, name: &str, path: &str, value: Value) {
        let resource = self.get(name);
        let body = resource.body.as_mut().unwrap();
        let spec = Arc::make_mut(&mut body.live).as_object_mut().unwrap();
        let (map, key) = match path.split_once('.') {
            Some((top, key)) => (spec.entry(top).or_insert_with(|| json!({})).as_object_mut().unwrap(), key),
            None => (spec, path),
        };
        if value.is_null() {
            map.remove(key)
        } else {
            map.insert(key.to_owned(), value)
        };
        body.moved.push(moved(path));
        resource.summary.version += 1;
        refresh(resource);
    }

    /// Someone writes a memory; `None` deletes it.
    pub(super) fn remember(&mut self, store: &str, path: &str, text: Option<&str>, by: ActorKind) {
        let resource = self.get(store);
        write_memory(resource.body.as_mut().unwrap(), path, text.map(sha), by, None);
        refresh(resource);
    }

    /// What the workspace says of a store's memories that are not of what was applied, nor named as not owned.
    pub(super) fn note_beside(&mut self, store: &str) {
        let body = self.body(store);
        let applied = &body.applied;
        let is_beside = |m: &&MemoryInfo| {
            let known = applied.spec.get("contents").is_some_and(|c| c.get(&m.path).is_some());
            !known && !kinds::is_unowned(&applied.unowned, &format!("contents.{}", m.path))
        };
        let others: Vec<MemoryInfo> = body.memories.iter().filter(is_beside).cloned().collect();
        self.live.beside = Beside::of(others).into_iter().map(|b| (address(store), b)).collect();
    }

    /// Another archives it.
    pub(super) fn archive(&mut self, name: &str) {
        let summary = &mut self.get(name).summary;
        summary.live_digest = None;
        summary.gone = Some(moved(""));
    }

    /// Leaves out the bodies where digests say that nothing differs, as a snapshot does.
    pub(super) fn snapshot(&self, desired: &Desired) -> Live {
        let mut live = self.live.clone();
        let equal = |address: &Address| {
            let Some(wanted) = desired.resources.get(address).map(Wanted::digest) else { return false };
            let summary = self.live.resources.get(address).map(|r| &r.summary);
            summary.is_some_and(|s| s.live_digest == Some(wanted) && s.applied_digest == Some(wanted))
        };
        for (address, resource) in &mut live.resources {
            let along = || plan::may_be_replaced_along(&desired.resources[address], |to| !equal(to));
            if equal(address) && !along() {
                resource.body = None;
            }
        }
        live
    }

    /// Carries a plan out. Every rule that it breaks is a panic.
    pub(super) fn apply(&mut self, plan: &Plan) {
        assert!(plan.applyable, "{:?}", plan.findings);
        for action in &plan.actions {
            self.check_condition(action);
            self.step(action, plan);
            self.check_references(action);
        }
    }

    fn check_condition(&mut self, action: &Action) {
        let Some(address) = &action.address else { return };
        let id = match &action.step {
            Step::Retire { id }
            | Step::Claim { id, .. }
            | Step::Transfer { id, .. }
            | Step::Release { id }
            | Step::HandOver { id, .. } => Some(id.clone()),
            _ => self.live.resources.get(address).map(|r| r.summary.id.clone()),
        };
        let all = self.live.resources.values().chain(&self.live.superseded).chain(self.live.elsewhere.values());
        let found = id.and_then(|id| all.into_iter().find(|r| r.summary.id == id)).map(|r| r.summary.clone());
        match (&action.precondition, found) {
            (Precondition::Absent { since }, found) => {
                assert!(found.is_none_or(|s| s.gone.is_some()), "{}: is there", action.id);
                let last = self.live.retired.get(address);
                let gone = self.live.resources.get(address).map(|r| &r.summary.id);
                assert_eq!(last.or(gone), since.as_ref(), "{}", action.id);
            }
            (Precondition::Store { version, memories }, Some(s)) => {
                assert_eq!((s.version, *memories), (*version, 0), "{}", action.id);
            }
            (Precondition::Version { version }, Some(s)) => assert_eq!(s.version, *version, "{}", action.id),
            (Precondition::Authoring { version, seq }, Some(s)) => {
                assert_eq!((s.version, s.seq), (*version, *seq), "{}", action.id);
            }
            (Precondition::After { .. } | Precondition::OwnerSeq { .. }, _) => {}
            (Precondition::Memories { expect }, Some(_)) => {
                let body = self.live.resources[address].body.as_ref().unwrap();
                for (path, want) in expect {
                    let found = body.memories.iter().find(|m| m.path == *path).map(|m| m.content_sha256);
                    assert_eq!(found, *want, "{}: {path}", action.id);
                }
            }
            (_, None) => panic!("{}: nothing is live", action.id),
        }
    }

    fn step(&mut self, action: &Action, plan: &Plan) {
        let address = action.address.clone();
        match &action.step {
            Step::Create { spec, unowned, protected, content, replaces } => {
                let address = address.unwrap();
                self.next += 1;
                let id = format!("{}{}", kinds::def(address.kind).id_prefix, self.next);
                let old = self.live.resources.remove(&address);
                assert_eq!(old.as_ref().filter(|o| o.summary.gone.is_none()).map(|o| &o.summary.id), replaces.as_ref());
                if let Some(old) = &old {
                    self.read_as_id(&address, &old.summary.id);
                }
                if let Some(mut old) = old.filter(|o| o.summary.gone.is_none()) {
                    old.summary.superseded = true;
                    self.live.superseded.push(old);
                }
                self.check_names(&address, spec);
                let mut resource = new_resource(&address, &id, spec, unowned, *protected);
                if let Some(content) = content {
                    self.publish(&mut resource, content.digest, &content.entries);
                }
                refresh(&mut resource);
                self.live.resources.insert(address, resource);
            }
            Step::Update { spec, unowned, fields, .. } => {
                let resource = self.live.resources.get_mut(address.as_ref().unwrap()).unwrap();
                for field in fields {
                    copy_field(Arc::make_mut(&mut resource.body.as_mut().unwrap().live), spec, field);
                }
                resource.summary.version += 1;
                // What is applied of the memories is not an update's to say.
                let mut spec = spec.clone();
                copy_field(Arc::make_mut(&mut spec), &resource.body.as_ref().unwrap().applied.spec, "contents");
                applied(resource, &spec, unowned);
                let live = resource.body.as_ref().unwrap().live.clone();
                if fields.iter().any(|f| f == "name") {
                    self.check_names(action.address.as_ref().unwrap(), &live);
                }
            }
            Step::Publish { spec, unowned, content, .. } => {
                let mut resource = self.live.resources.remove(address.as_ref().unwrap()).unwrap();
                self.publish(&mut resource, content.digest, &content.entries);
                resource.summary.version += 1;
                applied(&mut resource, spec, unowned);
                self.live.resources.insert(address.unwrap(), resource);
            }
            Step::WriteContents { spec, puts, deletes, .. } => {
                self.live.held_blobs.extend(puts.values().map(|file| file.sha256));
                let resource = self.live.resources.get_mut(address.as_ref().unwrap()).unwrap();
                let body = resource.body.as_mut().unwrap();
                for (path, file) in puts {
                    write_memory(body, path, Some(file.sha256), ActorKind::Api, Some(plan.owner.clone()));
                }
                for path in deletes {
                    write_memory(body, path, None, ActorKind::Api, None);
                }
                // The paths that it writes are recorded, and nothing else.
                let Applied { spec: mut then, unowned } = body.applied.clone();
                for path in puts.keys().chain(deletes) {
                    copy_field(Arc::make_mut(&mut then), spec, &format!("contents.{path}"));
                }
                resource.summary.seq += 1;
                applied(resource, &then, &unowned);
            }
            Step::Protect { on, .. } => {
                let summary = &mut self.live.resources.get_mut(address.as_ref().unwrap()).unwrap().summary;
                summary.protected = *on;
                summary.seq += 1;
            }
            Step::Retire { id } => self.retire(&address.unwrap(), id),
            Step::Record { spec, unowned, .. } => {
                let resource = self.live.resources.get_mut(address.as_ref().unwrap()).unwrap();
                resource.summary.seq += 1;
                applied(resource, spec, unowned);
            }
            Step::Claim { .. } | Step::Transfer { .. } | Step::Release { .. } | Step::HandOver { .. } => {
                self.owns(action, plan);
            }
            Step::Policy { policy, undone } => {
                let seq = self.live.record.as_ref().map_or(0, |r| r.seq);
                assert_eq!(action.precondition, Precondition::OwnerSeq { seq });
                let before = self.live.record.take();
                let undone = undone.clone().or(before.map(|r| r.undone)).unwrap_or_default();
                self.live.record =
                    Some(OwnerRecord { policy: Some(policy.clone()), source: None, undone, seq: seq + 1 });
            }
        }
    }

    pub(super) fn publish(&mut self, resource: &mut LiveResource, digest: Digest, entries: &[Entry]) {
        let id = resource.summary.id.clone();
        let versions = self.versions.entry(id.clone()).or_default();
        let version = format!("{id}.v{}", versions.len() + 1);
        versions.insert(digest, version.clone());
        resource.summary.content = Some(digest);
        resource.summary.content_version = Some(version);
        let body = resource.body.as_mut().unwrap();
        Arc::make_mut(&mut body.live)["content"] = json!(digest);
        body.entries = entries.to_vec();
    }

    /// References to a resource that lost its address read as its id.
    fn read_as_id(&mut self, address: &Address, id: &str) {
        for resource in self.live.resources.values_mut() {
            let body = resource.body.as_mut().unwrap();
            let skills =
                Arc::make_mut(&mut body.live).get_mut("skills").and_then(Value::as_array_mut).into_iter().flatten();
            for entry in skills.filter(|e| e["skill"] == json!(address.name)) {
                entry["skill"] = json!({ "id": id });
            }
            if resource.summary.gone.is_none() {
                refresh(resource);
            }
        }
    }

    fn retire(&mut self, address: &Address, id: &str) {
        let here = self.live.resources.get(address).is_some_and(|r| r.summary.id == id);
        if here {
            let users: Vec<_> = self.users_of(address);
            assert!(users.is_empty(), "{address} goes and is used by {users:?}");
            let summary = &self.live.resources[address].summary;
            assert!(!summary.protected || summary.gone.is_some());
            self.live.resources.remove(address);
            self.live.retired.insert(address.clone(), id.to_owned());
        } else {
            let text = json!({ "id": id }).to_string();
            let used = self.live.resources.values().any(|r| r.body.as_ref().unwrap().live.to_string().contains(&text));
            assert!(!used, "{id} goes and is used");
            let before = self.live.superseded.len();
            self.live.superseded.retain(|r| r.summary.id != id);
            assert_eq!(self.live.superseded.len() + 1, before, "{id} is not live");
        }
    }

    fn users_of(&self, to: &Address) -> Vec<String> {
        let uses = |r: &&LiveResource| {
            let body = r.body.as_ref().unwrap();
            let refs = (kinds::def(r.summary.kind).refs)(&body.live);
            refs.iter().any(|r| r.target == Target::Own(to.clone()))
        };
        self.live.resources.values().filter(uses).map(|r| r.summary.id.clone()).collect()
    }

    fn check_names(&self, address: &Address, spec: &Value) {
        let def = kinds::def(address.kind);
        let mut stores = 0;
        for (other, resource) in self.live.resources.iter().filter(|(other, _)| *other != address) {
            let body = resource.body.as_ref().unwrap();
            if def.unique_name && other.kind == address.kind {
                assert_ne!(body.live.get("name"), spec.get("name"), "two {} of one name", address.kind);
            }
            let same = |f: &str| body.live.get(f) == spec.get(f);
            stores += usize::from(other.kind == address.kind && def.field("memory_store").is_some() && same("agent"));
            if def.field("mount_path").is_some() && same("agent") {
                assert!(!same("mount_path"), "{address} and {other} have one place");
            }
        }
        assert!(stores < 8, "{address} finds no room");
    }

    /// What an action wrote refers to what is live, and to versions that are there.
    fn check_references(&self, action: &Action) {
        let (Some(address), Step::Create { .. } | Step::Update { .. }) = (&action.address, &action.step) else {
            return;
        };
        let body = self.live.resources[address].body.as_ref().unwrap();
        for r in (kinds::def(address.kind).refs)(&body.live) {
            let Target::Own(to) = &r.target else { continue };
            let target = self.live.resources.get(to).unwrap_or_else(|| panic!("{}: no {to}", action.id));
            assert!(target.summary.gone.is_none());
            if let Selector::Content(content) = &r.selector {
                let versions = self.versions.get(&target.summary.id);
                assert!(versions.is_some_and(|v| v.contains_key(content)), "{}: no {to}@{content}", action.id);
            }
        }
    }
}

pub(super) fn moved(path: &str) -> Moved {
    Moved {
        fields: if path.is_empty() { Vec::new() } else { vec![path.to_owned()] },
        actor: "kim".into(),
        at: "2026-11-29T10:00:00Z".into(),
        operation: "agents.update".into(),
        break_glass: None,
    }
}

pub(super) fn new_resource(
    address: &Address,
    id: &str,
    spec: &Value,
    unowned: &[String],
    protected: bool,
) -> LiveResource {
    let name = ["display_name", "name"].iter().find_map(|f| spec.get(*f)?.as_str()).unwrap_or(&address.name);
    let summary = Summary {
        id: id.to_owned(),
        kind: address.kind,
        owner: None,
        address: Some(address.clone()),
        name: name.to_owned(),
        version: 1,
        seq: 1,
        protected,
        live_digest: None,
        applied_digest: None,
        superseded: false,
        offered: None,
        offered_at: None,
        since: None,
        gone: None,
        content: None,
        content_version: None,
    };
    let body = LiveBody {
        live: spec.clone().into(),
        applied: Applied { spec: spec.clone().into(), unowned: unowned.to_vec() },
        moved: Vec::new(),
        entries: Vec::new(),
        memories: Vec::new(),
    };
    LiveResource { summary, body: Some(body) }
}

/// As the workspace computes them.
pub(super) fn refresh(resource: &mut LiveResource) {
    let body = resource.body.as_ref().unwrap();
    let kind = resource.summary.kind;
    resource.summary.live_digest = Some(kinds::owned_digest(kind, &body.live, &body.applied));
    resource.summary.applied_digest = Some(body.applied.digest(kind));
}

pub(super) fn applied(resource: &mut LiveResource, spec: &Value, unowned: &[String]) {
    let body = resource.body.as_mut().unwrap();
    body.applied = Applied { spec: spec.clone().into(), unowned: unowned.to_vec() };
    body.moved.clear();
    // What lives in the authoring record alone is as it was recorded.
    for field in kinds::def(resource.summary.kind).fields.iter().filter(|f| f.change == kinds::Change::Record) {
        copy_field(Arc::make_mut(&mut body.live), spec, field.name);
    }
    refresh(resource);
}

fn copy_field(to: &mut Value, from: &Value, field: &str) {
    let (top, key) = field.split_once('.').map_or((field, None), |(top, key)| (top, Some(key)));
    let to = to.as_object_mut().unwrap();
    match (key, from.get(top)) {
        (None, Some(value)) => drop(to.insert(top.to_owned(), value.clone())),
        (None, None) => drop(to.remove(top)),
        (Some(key), value) => {
            let map = to.entry(top).or_insert_with(|| json!({})).as_object_mut().unwrap();
            match value.and_then(|v| v.get(key)) {
                Some(value) => drop(map.insert(key.to_owned(), value.clone())),
                None => drop(map.remove(key)),
            }
            if map.is_empty() {
                to.remove(top);
            }
        }
    }
}

fn write_memory(body: &mut LiveBody, path: &str, digest: Option<Digest>, by: ActorKind, owner: Option<Owner>) {
    body.memories.retain(|m| m.path != path);
    let spec = Arc::make_mut(&mut body.live).as_object_mut().unwrap();
    let contents = spec.entry("contents").or_insert_with(|| json!({})).as_object_mut().unwrap();
    contents.remove(path);
    if let Some(digest) = digest {
        contents.insert(path.to_owned(), json!(digest));
        body.memories.push(MemoryInfo {
            id: format!("mem_{path}"),
            path: path.to_owned(),
            content_sha256: digest,
            content_size_bytes: 1,
            updated_by: if by == ActorKind::Session { "session_1".into() } else { "kim".into() },
            updated_by_kind: by,
            updated_by_owner: owner,
            updated_at: "2026-11-29T10:00:00Z".into(),
        });
    }
    if contents.is_empty() {
        spec.remove("contents");
    }
}

/// Ids of actions, in order.
pub(super) fn ids(plan: &Plan) -> Vec<&str> {
    plan.actions.iter().map(|a| a.id.as_str()).collect()
}

/// Codes of findings.
pub(super) fn codes(plan: &Plan) -> Vec<&str> {
    plan.findings.iter().map(|f| f.code.as_str()).collect()
}
