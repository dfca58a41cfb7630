//! What others do to a workspace between a plan and its apply.

use std::collections::{BTreeMap, BTreeSet};

use checkfu::model::op::{
    BlobPut, ContentOf, Expect, GetOf, MemoryCreate, MemoryList, MemoryUpdate, Publish, Request, Response, Update,
    VersionsOf,
};
use checkfu::model::tree::{Entry, FileSet};
use checkfu::model::{Digest, Kind};
use checkfu::plan::{Action, Plan, Precondition, Step};
use serde_json::{Value, json};

use super::world::World;

/// The actions of a plan whose preconditions were moved, by id, each with the live id that was written.
pub(super) type Moved = BTreeMap<String, String>;

/// Moves what some actions of a plan were planned against; `which` says of every nth action whether.
pub(super) async fn disturb(world: &World, plan: &Plan, which: &[bool]) -> Moved {
    let mut versions = BTreeSet::new();
    let mut moved = Moved::new();
    for (action, _) in plan.actions.iter().zip(which.iter().cycle()).filter(|(_, hit)| **hit) {
        let (Some(id), Some(address)) = (live_id(action), &action.address) else { continue };
        if let Precondition::Memories { expect } = &action.precondition {
            let Some(path) = expect.keys().next() else { continue };
            let content = "written by somebody else\n".to_owned();
            let write = memory_write(world, &id, path, content).await;
            world.outside(write).await.unwrap();
            moved.insert(action.id.clone(), id);
        } else if versions.insert(id.clone()) {
            raise(world, address.kind, &id).await;
        }
    }
    // Whatever names a version of a resource that was raised is stale, whichever action was meant.
    for action in &plan.actions {
        use Precondition as P;
        let by_version = matches!(action.precondition, P::Version { .. } | P::Store { .. } | P::Authoring { .. });
        if let Some(id) = live_id(action).filter(|id| by_version && versions.contains(id)) {
            moved.insert(action.id.clone(), id);
        }
    }
    moved
}

/// Changes some of these resources.
pub(super) async fn raise_some(world: &World, ids: &[(Kind, String)], which: &[bool]) {
    for ((kind, id), _) in ids.iter().zip(which.iter().cycle()).filter(|(_, hit)| **hit) {
        raise(world, *kind, id).await;
    }
}

fn live_id(action: &Action) -> Option<String> {
    match &action.step {
        Step::Create { replaces, .. } => replaces.clone(),
        Step::Publish { id, .. } | Step::WriteContents { id, .. } => id.clone(),
        Step::Update { id, .. } | Step::Protect { id, .. } | Step::Retire { id } | Step::Record { id, .. } => {
            Some(id.clone())
        }
        Step::Claim { id, .. } | Step::Transfer { id, .. } | Step::Release { id } | Step::HandOver { id, .. } => {
            Some(id.clone())
        }
        Step::Policy { .. } => None,
    }
}

/// Any change that raises the version.
async fn raise(world: &World, kind: Kind, id: &str) {
    let at = Expect { id: id.to_owned(), version: None };
    if kind == Kind::Skill {
        // A skill has nothing that could be updated, so somebody publishes.
        let (body, _, _) = seen(world, kind, id).await;
        let name = body["name"].as_str().unwrap();
        let bytes = format!("---\nname: {name}\ndescription: by somebody else\n---\n").into_bytes();
        let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
        world.outside(Request::BlobPut(BlobPut { digest, bytes })).await.unwrap();
        let entry = Entry { path: "SKILL.md".into(), executable: false, symlink: false, size, sha256: digest };
        let set = FileSet::new(vec![entry]);
        let content = ContentOf { entries: set.entries, digest: set.digest };
        world.outside(Request::Publish(Publish { kind, at, content, applied: None })).await.unwrap();
        return;
    }
    let Value::Object(body) = json!({"metadata": {"outsider": "was here"}}) else { panic!() };
    world.outside(Request::Update(Update { kind, at, body, applied: None })).await.unwrap();
}

/// Text to a path, whether a memory is there or not.
async fn memory_write(world: &World, store: &str, path: &str, content: String) -> Request {
    let id = store.to_owned();
    match memories(world, store).await.iter().find(|m| m["path"] == path) {
        Some(m) => {
            let (memory, content) = (m["id"].as_str().unwrap().to_owned(), Some(content));
            Request::MemoryUpdate(MemoryUpdate { id, memory, content, path: None, expect: None, view: None })
        }
        None => Request::MemoryCreate(MemoryCreate { id, path: path.to_owned(), content, view: None }),
    }
}

async fn memories(world: &World, store: &str) -> Vec<Value> {
    let (mut all, mut page) = (Vec::new(), None);
    loop {
        let id = store.to_owned();
        let list = MemoryList { id, path_prefix: None, depth: None, view: None, page, limit: Some(100) };
        let Response::Bodies(found) = world.read(Request::MemoryList(list)).await else { panic!() };
        all.extend(found.data);
        page = found.next_page;
        if page.is_none() {
            return all;
        }
    }
}

/// All that can be seen of a resource.
pub(super) async fn seen(world: &World, kind: Kind, id: &str) -> (Value, Vec<(Value, Value)>, usize) {
    let of = GetOf { kind, id: id.to_owned(), version: None };
    let Response::Body(body) = world.read(Request::Get(of)).await else { panic!() };
    let mut memories = Vec::new();
    let mut versions = 0;
    if kind == Kind::MemoryStore {
        let all = self::memories(world, id).await;
        memories = all.iter().map(|m| (m["path"].clone(), m["content_sha256"].clone())).collect();
    } else if matches!(kind, Kind::Agent | Kind::Skill | Kind::FileTree) {
        let of = VersionsOf { kind, id: id.to_owned(), page: None, limit: Some(100) };
        let Response::Bodies(all) = world.read(Request::Versions(of)).await else { panic!() };
        versions = all.data.len();
    }
    (body, memories, versions)
}
