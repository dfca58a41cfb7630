//! Tests of the rules, through the port, on a database in a folder of their own.

mod agents;
mod authoring;
mod bodies;
mod crash;
mod every_operation;
mod files;
mod idempotency;
mod lists;
mod memories;
mod memory_versions;
mod mounts;
mod offers;
mod one_memory;
mod represent;
mod skill_versions;
mod snapshot;
mod state;
mod store;
mod throughput;
mod uploads;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::control::embedded::{Embedded, EmbeddedOptions};
use crate::control::{ControlError, ControlPlane};
use crate::model::kinds::{Applied, Object, Refs, def};
use crate::model::op::*;
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest, Kind, Owner};

/// A workspace of a test.
pub(super) struct Ws {
    pub(super) folder: tempfile::TempDir,
    pub(super) embedded: Embedded,
    runtime: tokio::runtime::Runtime,
}

impl Ws {
    pub(super) fn new() -> Self {
        Self::seeded(1)
    }

    pub(super) fn seeded(seed: u64) -> Self {
        Self::with(EmbeddedOptions::seeded(seed))
    }

    pub(super) fn with(options: EmbeddedOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let embedded = Embedded::open(&folder.path().join("w.db"), options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { folder, embedded, runtime }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("w.db")
    }

    pub(super) fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        self.runtime.block_on(self.embedded.call(context, request))
    }

    pub(super) fn written(&self, context: &Context, request: Request) -> Written {
        match self.call(context, request).unwrap() {
            Response::Written(w) => w,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn body(&self, request: Request) -> Value {
        match self.call(&anyone(), request).unwrap() {
            Response::Body(body) => body,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn page(&self, request: Request) -> Page<Value> {
        match self.call(&anyone(), request).unwrap() {
            Response::Bodies(page) => page,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn refused(&self, context: &Context, request: Request) -> ControlError {
        self.call(context, request).unwrap_err()
    }

    pub(super) fn blob(&self, text: &str) -> Digest {
        let bytes = text.as_bytes().to_vec();
        let digest = Digest::of(&bytes);
        self.call(&anyone(), Request::BlobPut(BlobPut { digest, bytes })).unwrap();
        digest
    }

    pub(super) fn content(&self, files: &[(&str, &str)]) -> ContentOf {
        let entry = |(path, text): &(&str, &str)| Entry {
            path: (*path).to_owned(),
            executable: false,
            symlink: false,
            size: text.len() as u64,
            sha256: self.blob(text),
        };
        let set = FileSet::new(files.iter().map(entry).collect());
        ContentOf { entries: set.entries, digest: set.digest }
    }

    /// The files of a skill with this text.
    pub(super) fn skill_files(&self, name: &str, text: &str) -> ContentOf {
        self.content(&[("SKILL.md", &format!("---\nname: {name}\ndescription: d\n---\n{text}\n"))])
    }

    /// An agent of an owner, or of nobody.
    pub(super) fn agent(&self, owner: Option<&str>, name: &str) -> Written {
        self.written(&acting(owner), create(Kind::Agent, agent_body(name), owner.map(|_| name)))
    }

    pub(super) fn skill(&self, owner: Option<&str>, name: &str, text: &str) -> Written {
        let content = self.skill_files(name, text);
        let body = object(json!({"name": name, "display_name": name}));
        let Request::Create(mut request) = create(Kind::Skill, body, owner.map(|_| name)) else { unreachable!() };
        if let Some(claim) = &mut request.claim {
            std::sync::Arc::make_mut(&mut claim.applied.spec)["content"] = json!(content.digest);
        }
        request.content = Some(content);
        self.written(&acting(owner), Request::Create(request))
    }

    pub(super) fn store(&self, owner: Option<&str>, name: &str) -> Written {
        self.written(&acting(owner), create(Kind::MemoryStore, object(json!({"name": name})), owner.map(|_| name)))
    }

    pub(super) fn get(&self, kind: Kind, id: &str) -> Value {
        let request = Request::Get(GetOf { kind, id: id.to_owned(), version: None });
        match self.call(&anyone(), request).unwrap() {
            Response::Body(body) => body,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn summary(&self, owner: &str, id: &str) -> Summary {
        let request =
            Summaries { owner: Some(owner.parse().unwrap()), kind: None, names: vec![], page: None, limit: None };
        match self.call(&anyone(), Request::Summaries(request)).unwrap() {
            Response::Summaries(page) => page.data.into_iter().find(|s| s.id == id).expect("it is listed"),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn loaded(&self, owner: &str, ids: &[&str]) -> Loaded {
        let ids = ids.iter().map(|i| (*i).to_owned()).collect();
        match self.call(&anyone(), Request::Bodies(IdList { ids, me: Some(owner.parse().unwrap()) })).unwrap() {
            Response::Loaded(loaded) => loaded,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn owner(&self, owner: &str) -> OwnerState {
        match self.call(&anyone(), Request::Owner(OwnerOf { owner: owner.parse().unwrap() })).unwrap() {
            Response::Owner(state) => *state,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn facts(&self, resource: &str) -> Vec<Fact> {
        let request = AuditList { resource: Some(resource.to_owned()), ..AuditList::default() };
        match self.call(&anyone(), Request::AuditList(request)).unwrap() {
            Response::Audit(facts) => facts,
            other => panic!("{other:?}"),
        }
    }

    /// Versions, newest first.
    pub(super) fn versions(&self, kind: Kind, id: &str) -> Result<Vec<Value>, ControlError> {
        let request = VersionsOf { kind, id: id.to_owned(), page: None, limit: None };
        match self.call(&anyone(), Request::Versions(request))? {
            Response::Bodies(page) => Ok(page.data),
            other => panic!("{other:?}"),
        }
    }

    /// One version, with its files.
    pub(super) fn version(&self, kind: Kind, id: &str, version: &str) -> Value {
        let request = VersionOf { kind, id: id.to_owned(), version: version.to_owned() };
        match self.call(&anyone(), Request::Version(request)).unwrap() {
            Response::Body(body) => body,
            other => panic!("{other:?}"),
        }
    }

    /// The first page of memories.
    pub(super) fn memories(&self, request: MemoryList) -> Page<Value> {
        self.page(Request::MemoryList(request))
    }

    /// Writes text to a path, whether a memory is there or not.
    pub(super) fn write(&self, context: &Context, store: &str, path: &str, text: &str) -> Written {
        let all = self.memories(memory_list(store)).data;
        let request = match all.iter().find(|m| m["path"] == path) {
            Some(m) => Request::MemoryUpdate(MemoryUpdate {
                content: Some(text.to_owned()),
                ..memory_update(store, m["id"].as_str().unwrap())
            }),
            None => memory_create(store, path, text),
        };
        self.written(context, request)
    }

    /// Sets `outside_writes: track` for an owner.
    pub(super) fn track(&self, owner: &str) {
        use crate::model::config::{OutsideWrites, Policy};
        let policy = Policy { outside_writes: OutsideWrites::Track, ..Policy::default() };
        let seq = self.owner(owner).seq;
        self.written(
            &by(owner),
            Request::SetPolicy(SetPolicy { owner: owner.parse().unwrap(), seq, policy, undone: None }),
        );
    }
}

/// An agent's session.
pub(super) fn session() -> Context {
    Context { actor: "sesn_1".to_owned(), actor_kind: ActorKind::Session, ..Context::default() }
}

/// Nobody's owner, a person.
pub(super) fn anyone() -> Context {
    Context { actor: "ann".to_owned(), ..Context::default() }
}

/// As an owner.
pub(super) fn by(owner: &str) -> Context {
    Context { actor: "ci".to_owned(), owner: Some(owner.parse().unwrap()), ..Context::default() }
}

pub(super) fn acting(owner: Option<&str>) -> Context {
    owner.map_or_else(anyone, by)
}

pub(super) fn keyed(owner: &str, key: &str) -> Context {
    Context { key: Some(key.to_owned()), ..by(owner) }
}

pub(super) fn object(value: Value) -> Object {
    let Value::Object(map) = value else { panic!("{value} is no object") };
    map
}

pub(super) fn agent_body(name: &str) -> Object {
    object(json!({"name": name, "model": "claude-sonnet-5", "system": "Be kind."}))
}

/// What is applied with a wire body that refers to nothing.
pub(super) fn applied(kind: Kind, body: &Object) -> Applied {
    let spec = (def(kind).from_wire)(&Value::Object(body.clone()), &Refs::default(), None);
    Applied { spec: spec.into(), unowned: Vec::new() }
}

pub(super) fn address(kind: Kind, name: &str) -> Address {
    Address::new(kind, name)
}

pub(super) fn owner(text: &str) -> Owner {
    text.parse().unwrap()
}

pub(super) fn create(kind: Kind, body: Object, name: Option<&str>) -> Request {
    let claim =
        name.map(|name| ClaimOf { address: address(kind, name), applied: applied(kind, &body), protected: false });
    Request::Create(Create { kind, body, content: None, claim, absent_since: None, replaces: None })
}

pub(super) fn at(id: &str, version: u64) -> Expect {
    Expect { id: id.to_owned(), version: Some(version) }
}

pub(super) fn update(kind: Kind, at: Expect, body: Value) -> Request {
    Request::Update(Update { kind, at, body: object(body), applied: None })
}

/// The most that one page of memories holds.
pub(super) fn memory_list(store: &str) -> MemoryList {
    MemoryList { id: store.to_owned(), path_prefix: None, depth: None, view: None, page: None, limit: Some(100) }
}

pub(super) fn memory_create(store: &str, path: &str, text: &str) -> Request {
    let (id, path, content) = (store.to_owned(), path.to_owned(), text.to_owned());
    Request::MemoryCreate(MemoryCreate { id, path, content, view: None })
}

/// Changes nothing.
pub(super) fn memory_update(store: &str, memory: &str) -> MemoryUpdate {
    let (id, memory) = (store.to_owned(), memory.to_owned());
    MemoryUpdate { id, memory, content: None, path: None, expect: None, view: None }
}

/// Ids of wire bodies.
pub(super) fn ids(bodies: &[Value]) -> Vec<&str> {
    bodies.iter().map(|b| b["id"].as_str().unwrap()).collect()
}

pub(super) fn retire(kind: Kind, at: Expect) -> Request {
    match def(kind).retire {
        crate::model::kinds::Retire::Archive => Request::Archive(RetireOf { kind, at, memory_version: None }),
        crate::model::kinds::Retire::Delete => Request::Delete(RetireOf { kind, at, memory_version: None }),
    }
}
