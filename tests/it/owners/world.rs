//! What really is in the workspace, read by wire requests alone.

use std::collections::BTreeMap;

use checkfu::model::op::{
    BlobPut, ContentOf, Context, Create, Expect, IdList, ListOf, ListView, Page, Publish, Request, Response, RetireOf,
    Summaries, Summary, Update,
};
use checkfu::model::tree::{Entry, FileSet};
use checkfu::model::{Digest, Kind, Owner};
use serde_json::{Map, Value, json};

use super::files::{self, Fields, fields_of};
use crate::laws::world::World;

/// A resource as its fields stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    pub(super) fields: Fields,
    pub(super) gone: bool,
}

/// Kinds that the machine makes.
pub(super) const KINDS: [Kind; 3] = [Kind::Agent, Kind::Skill, Kind::Environment];

/// Everything, archived resources too.
pub(super) async fn everything(world: &World, skills: &BTreeMap<Digest, String>) -> BTreeMap<String, Seen> {
    let mut all = BTreeMap::new();
    for kind in KINDS {
        let mut page = None;
        loop {
            let of = ListOf {
                kind,
                owner: None,
                labels: BTreeMap::new(),
                include_archived: true,
                view: ListView::Full,
                created_from: None,
                created_to: None,
                source: None,
                page,
                limit: Some(100),
            };
            let Response::Bodies(Page { data, next_page }) = world.read(Request::List(of)).await else { panic!() };
            for body in data {
                let id = body["id"].as_str().unwrap().to_owned();
                let body = if kind == Kind::Skill { planned(world, &id).await } else { body };
                all.insert(id, seen(kind, &body, skills));
            }
            page = next_page;
            if page.is_none() {
                break;
            }
        }
    }
    all
}

/// The body as planning reads it: the wire's has no digest of a skill's files.
async fn planned(world: &World, id: &str) -> Value {
    let request = Request::Bodies(IdList { ids: vec![id.to_owned()], me: None });
    let Response::Loaded(mut loaded) = world.read(request).await else { panic!() };
    loaded.bodies.remove(0).body
}

fn seen(kind: Kind, body: &Value, skills: &BTreeMap<Digest, String>) -> Seen {
    let text = |v: &Value| v.as_str().filter(|t| !t.is_empty()).map(str::to_owned);
    let mut fields = Fields::new();
    for field in fields_of(kind) {
        let value = match *field {
            "instructions" => text(&body["system"]),
            "labels.team" => text(&body["metadata"]["team"]),
            "content" => Some(skills[&body["content"].as_str().unwrap().parse().unwrap()].clone()),
            other => text(&body[other]),
        };
        fields.extend(value.map(|v| (*field, v)));
    }
    Seen { kind, fields, gone: !body["archived_at"].is_null() }
}

/// Who owns what: by id.
pub(super) async fn owned(world: &World, owner: Option<&Owner>) -> BTreeMap<String, Summary> {
    let of = Summaries { owner: owner.cloned(), kind: None, names: vec![], page: None, limit: None };
    let Response::Summaries(page) = world.read(Request::Summaries(of)).await else { panic!() };
    assert_eq!(page.next_page, None);
    page.data.into_iter().map(|s| (s.id.clone(), s)).collect()
}

/// The files of a skill whose text this is.
pub(super) fn bundle(name: &str, text: &str) -> (FileSet, Vec<u8>) {
    let bytes = files::skill(name, text).into_bytes();
    let (sha256, size) = (Digest::of(&bytes), bytes.len() as u64);
    (FileSet::new(vec![Entry { path: "SKILL.md".into(), executable: false, symlink: false, size, sha256 }]), bytes)
}

/// Somebody with break-glass sets a field.
pub(super) async fn set(world: &World, kind: Kind, id: &str, name: &str, field: &str, value: &str) {
    let at = Expect { id: id.to_owned(), version: None };
    let body = match field {
        "content" => {
            let (set, bytes) = bundle(name, value);
            world.outside(Request::BlobPut(BlobPut { digest: Digest::of(&bytes), bytes })).await.unwrap();
            let content = ContentOf { entries: set.entries, digest: set.digest };
            world.outside(Request::Publish(Publish { kind, at, content, applied: None })).await.unwrap();
            return;
        }
        "instructions" => json!({"system": value}),
        "labels.team" => json!({"metadata": {"team": value}}),
        other => json!({other: value}),
    };
    let Value::Object(body) = body else { unreachable!() };
    world.outside(Request::Update(Update { kind, at, body, applied: None })).await.unwrap();
}

/// Somebody makes an agent or an environment that nobody owns.
pub(super) async fn make(world: &World, kind: Kind, shown: &str, fields: &Fields) -> String {
    let mut body = Map::new();
    body.insert("name".into(), shown.into());
    if kind == Kind::Agent {
        body.insert("model".into(), "claude-sonnet-5".into());
        body.insert("tools".into(), json!([{"type": "agent_toolset_20260401"}]));
    } else {
        body.insert("config".into(), json!({"type": "cloud"}));
    }
    for (field, value) in fields {
        match *field {
            "instructions" => body.insert("system".into(), value.as_str().into()),
            "labels.team" => body.insert("metadata".into(), json!({"team": value})),
            other => body.insert(other.into(), value.as_str().into()),
        };
    }
    let create = Create { kind, body, content: None, claim: None, absent_since: None, replaces: None };
    match world.outside(Request::Create(create)).await.unwrap() {
        Response::Written(written) => written.id,
        other => panic!("{other:?}"),
    }
}

/// Somebody with break-glass retires it.
pub(super) async fn retire(world: &World, kind: Kind, id: &str) -> bool {
    let at = RetireOf { kind, at: Expect { id: id.to_owned(), version: None }, memory_version: None };
    let request = if kind == Kind::Skill { Request::Delete(at) } else { Request::Archive(at) };
    world.outside(request).await.is_ok()
}

pub(super) fn context(owner: &Owner) -> Context {
    Context { actor: owner.to_string(), owner: Some(owner.clone()), ..Context::default() }
}
