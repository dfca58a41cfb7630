//! What a snapshot asks, and how much of it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::control::{ControlError, ControlPlane};
use crate::desired::{Desired, Wanted, WantedFile};
use crate::diag::Location;
use crate::model::config::Policy;
use crate::model::kinds::{self, Applied, Refs};
use crate::model::op::{
    Context, Loaded, LoadedBody, OwnerState, Page, Referrer, Request, Resolved, Response, Source, Summary,
};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan;
use crate::reconcile::{Depth, snapshot};

mod apply;

fn me() -> Owner {
    "acme/support".parse().unwrap()
}

fn wanted(kind: Kind, name: &str, spec: Value) -> Wanted {
    let address = Address::new(kind, name);
    let refs = (kinds::def(kind).refs)(&spec);
    Wanted {
        address,
        spec: spec.into(),
        unowned: vec![],
        seeded: vec![],
        protected: false,
        refs,
        at: Location::file("a.yaml"),
        places: crate::desired::Places::default(),
        instructions: Vec::new(),
        content: None,
        memories: BTreeMap::new(),
        digested: crate::desired::Digested::default(),
    }
}

fn agent(name: &str) -> Wanted {
    wanted(Kind::Agent, name, json!({"name": format!("Bot {name}"), "model": "m"}))
}

fn desired(resources: Vec<Wanted>) -> Desired {
    Desired {
        owner: me(),
        resources: resources.into_iter().map(|w| (w.address.clone(), w)).collect(),
        policy: Policy::default(),
        moved: vec![],
        removed: vec![],
        adopt: vec![],
        accept: vec![],
        lines: BTreeMap::new(),
        source: Source::default(),
    }
}

/// A workspace that answers reads from lists, pages of at most 1,000.
struct World {
    digest: Digest,
    summaries: Vec<Summary>,
    unowned: Vec<Summary>,
    elsewhere: Vec<Summary>,
    referrers: Vec<Referrer>,
    held: Vec<Digest>,
    log: Mutex<Vec<Request>>,
}

impl World {
    fn new(digest: Digest, summaries: Vec<Summary>) -> Self {
        Self {
            digest,
            summaries,
            unowned: vec![],
            elsewhere: vec![],
            referrers: vec![],
            held: vec![],
            log: Mutex::default(),
        }
    }

    fn asked(&self, name: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|r| r.name() == name).count()
    }

    fn total(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    fn bodies(&self) -> Vec<Vec<String>> {
        let log = self.log.lock().unwrap();
        log.iter().filter_map(|r| if let Request::Bodies(l) = r { Some(l.ids.clone()) } else { None }).collect()
    }
}

impl ControlPlane for World {
    async fn call(&self, _: &Context, request: Request) -> Result<Response, ControlError> {
        self.log.lock().unwrap().push(request.clone());
        Ok(match request {
            Request::Owner(_) => Response::Owner(Box::new(OwnerState {
                workspace_id: "ws_1".into(),
                epoch: "e1".into(),
                digest: self.digest,
                count: self.summaries.len() as u64,
                policy: None,
                source: None,
                undone: BTreeMap::new(),
                seq: 0,
                open_apply: None,
                beside: BTreeMap::new(),
            })),
            Request::Summaries(q) => {
                let all: Vec<Summary> = if q.owner.is_some() {
                    self.summaries.iter().filter(|s| Some(s.kind) == q.kind).cloned().collect()
                } else {
                    self.unowned.iter().filter(|s| q.names.contains(&s.name)).cloned().collect()
                };
                let from: usize = q.page.map_or(0, |p| p.parse().unwrap());
                let to = (from + 1_000).min(all.len());
                let next_page = (to < all.len()).then(|| to.to_string());
                Response::Summaries(Page { data: all[from..to].to_vec(), next_page })
            }
            Request::Bodies(q) => {
                let body = |id: &String| LoadedBody {
                    id: id.clone(),
                    body: json!({"name": "Old", "model": {"id": "m"}}),
                    applied: Some(Applied { spec: json!({"name": "Older", "model": "m"}).into(), unowned: vec![] }),
                    moved: vec![],
                    entries: vec![],
                    memories: vec![],
                };
                let retired = BTreeMap::from([("Agent/gone".parse().unwrap(), "agent_old".to_owned())]);
                Response::Loaded(Loaded { bodies: q.ids.iter().map(body).collect(), refs: Refs::default(), retired })
            }
            Request::Resolve(q) => Response::Resolved(
                q.wants
                    .iter()
                    .map(|w| Resolved {
                        key: w.key.clone(),
                        id: (!w.key.contains("nobody")).then(|| format!("id:{}", w.key)),
                        version: w.content.map(|c| c.short()),
                        content: w.content,
                        ..Resolved::default()
                    })
                    .collect(),
            ),
            Request::Referrers(q) => {
                Response::Referrers(self.referrers.iter().filter(|r| q.ids.contains(&r.to)).cloned().collect())
            }
            Request::Find(q) => {
                assert!(q.addresses.len() + q.ids.len() <= 1_000);
                let named =
                    |s: &&Summary| q.ids.contains(&s.id) || s.address.as_ref().is_some_and(|a| q.addresses.contains(a));
                let data = self.elsewhere.iter().filter(named).cloned().collect();
                Response::Summaries(Page { data, next_page: None })
            }
            Request::BlobsMissing(q) => {
                Response::Missing(q.digests.into_iter().filter(|d| !self.held.contains(d)).collect())
            }
            other => panic!("{} is no read that a snapshot makes", other.name()),
        })
    }
}

fn summary(address: &str, digest: Option<Digest>) -> Summary {
    let address: Address = address.parse().unwrap();
    Summary {
        id: format!("{}{}", kinds::def(address.kind).id_prefix, address.name),
        kind: address.kind,
        owner: None,
        name: address.name.clone(),
        address: Some(address),
        version: 1,
        seq: 1,
        protected: false,
        live_digest: digest,
        applied_digest: digest,
        superseded: false,
        offered: None,
        offered_at: None,
        since: None,
        gone: None,
        content: None,
        content_version: None,
    }
}

async fn look(world: &World, d: &Desired) -> crate::reconcile::Snapshot {
    snapshot(Some(world), d, &Context::default(), Depth::UntilEqual).await.unwrap()
}

#[tokio::test]
async fn without_a_workspace_nothing_is_live() {
    let s = snapshot(None::<&World>, &desired(vec![agent("a")]), &Context::default(), Depth::UntilEqual).await.unwrap();
    assert!(!s.same && s.live.workspace.is_none() && s.live.resources.is_empty());
}

#[tokio::test]
async fn one_request_tells_that_nothing_differs() {
    let d = desired((0..50).map(|i| agent(&format!("a{i}"))).collect());
    let world = World::new(plan::owner_digest(&d), vec![]);
    let s = look(&world, &d).await;
    assert_eq!((s.same, world.total()), (true, 1));
    assert_eq!(s.live.workspace.unwrap().epoch, "e1");
    let s = snapshot(Some(&world), &d, &Context::default(), Depth::Resources).await.unwrap();
    assert!(!s.same && world.total() > 2);
    // A reference to somebody else's resource costs one more, however many there are.
    let foreign = |i: u32| {
        let skills = json!([{"skill": "acme/legal:Skill/tone", "content": Digest::of(&i.to_le_bytes())}]);
        wanted(Kind::Agent, &format!("f{i}"), json!({"name": "f", "model": "m", "skills": skills}))
    };
    let d = desired((0..50).map(foreign).collect());
    let world = World::new(plan::owner_digest(&d), vec![]);
    assert_eq!((look(&world, &d).await.same, world.total()), (true, 2));
}

#[tokio::test]
async fn a_line_that_adopts_is_held_against_what_is_live() {
    let mut d = desired(vec![agent("a")]);
    let line = r#"{"address": "Agent/a", "id": "agent_a"}"#;
    d.adopt = vec![serde_json::from_str(line).unwrap()];
    let world = World::new(plan::owner_digest(&d), vec![summary("Agent/a", Some(agent("a").digest()))]);
    let s = look(&world, &d).await;
    assert!(!s.same && s.live.resources.len() == 1);
}

#[tokio::test]
async fn a_store_with_seeds_is_read_though_its_digests_are_equal() {
    let mut store = wanted(Kind::MemoryStore, "s", json!({"name": "s"}));
    store.seeded = vec!["contents./start.md".into()];
    store.unowned = store.seeded.clone();
    let live = summary("MemoryStore/s", Some(store.digest()));
    let d = desired(vec![store, agent("a")]);
    let world = World::new(plan::owner_digest(&d), vec![live, summary("Agent/a", Some(agent("a").digest()))]);
    let s = look(&world, &d).await;
    assert!(!s.same);
    assert_eq!(world.bodies(), [vec!["memstore_s".to_owned()]]);
}

#[tokio::test]
async fn a_reference_that_is_gone_is_no_reason_to_stop_early() {
    let skills = json!([{"skill": "acme/nobody:Skill/tone", "follow": "latest"}]);
    let d = desired(vec![wanted(Kind::Agent, "a", json!({"name": "a", "model": "m", "skills": skills}))]);
    let world = World::new(plan::owner_digest(&d), vec![]);
    let s = look(&world, &d).await;
    assert!(!s.same && s.live.resolved["acme/nobody:Skill/tone"].id.is_none());
}

#[tokio::test]
async fn summaries_are_paged_and_bodies_come_only_where_digests_differ() {
    let all: Vec<Wanted> = (0..2_500).map(|i| agent(&format!("a{i}"))).collect();
    let mut summaries: Vec<Summary> = all.iter().map(|w| summary(&w.address.to_string(), Some(w.digest()))).collect();
    for s in summaries.iter_mut().take(1_200) {
        s.applied_digest = Some(Digest::of(b"other"));
    }
    let world = World::new(Digest::of(b"no"), summaries);
    let s = look(&world, &desired(all)).await;
    assert_eq!(s.live.resources.len(), 2_500);
    assert_eq!(s.live.resources.values().filter(|r| r.body.is_some()).count(), 1_200);
    assert_eq!(world.bodies().iter().map(Vec::len).collect::<Vec<_>>(), [500, 500, 200]);
    assert_eq!(world.asked("authoring.summaries"), 3 + Kind::ALL.len() - 1);
    let body = s.live.resources.values().find_map(|r| r.body.as_ref()).unwrap();
    assert_eq!((&body.live["name"], &body.applied.spec["name"]), (&json!("Old"), &json!("Older")));
}

#[tokio::test]
async fn what_is_to_be_made_asks_for_names_and_what_was_retired() {
    let mut world = World::new(Digest::of(b"no"), vec![summary("Agent/gone", None)]);
    let mut same = summary("Agent/x", None);
    same.address = None;
    same.name = "Bot a".into();
    let mut other_kind = same.clone();
    other_kind.kind = Kind::Environment;
    world.unowned = vec![same, other_kind];
    let s = look(&world, &desired(vec![agent("a"), agent("gone")])).await;
    assert_eq!(s.live.same_name.len(), 1);
    assert_eq!(s.live.retired[&"Agent/gone".parse().unwrap()], "agent_old");
    assert_eq!(world.bodies(), [Vec::<String>::new()], "what another archived has no body to read");
}

#[tokio::test]
async fn what_others_have_is_asked_for_only_where_something_is_absent() {
    let all: Vec<Wanted> = (0..2_500).map(|i| agent(&format!("a{i}"))).collect();
    let world = World::new(Digest::of(b"no"), vec![]);
    look(&world, &desired(all.clone())).await;
    assert_eq!(world.asked("authoring.find"), 3);
    let summaries = all.iter().map(|w| summary(&w.address.to_string(), Some(Digest::of(b"other")))).collect();
    let world = World::new(Digest::of(b"no"), summaries);
    look(&world, &desired(all)).await;
    assert_eq!(world.asked("authoring.find"), 0);

    // What was handed over is read, and so is what a line names, and what another has at an address that is wanted.
    let owned = |name: &str, id: &str, offered: bool| {
        let mut s = summary(name, Some(Digest::of(b"x")));
        (s.id, s.owner) = (id.to_owned(), Some("acme/other".parse().unwrap()));
        s.offered = offered.then(me);
        s
    };
    let mut world = World::new(Digest::of(b"no"), vec![]);
    world.elsewhere =
        vec![owned("Agent/a", "agent_1", true), owned("Agent/b", "agent_2", false), owned("Agent/z", "agent_3", false)];
    world.elsewhere.push(owned("Agent/gone", "agent_old", false));
    let mut d = desired(vec![agent("a"), agent("b"), agent("c"), agent("gone")]);
    d.adopt = vec![serde_json::from_str(r#"{"address": "Agent/c", "id": "agent_3", "from": "acme/other"}"#).unwrap()];
    let s = look(&world, &d).await;
    let read = |id: &str| s.live.elsewhere[id].body.is_some();
    assert_eq!([read("agent_1"), read("agent_2"), read("agent_3")], [true, true, true]);
    // It moved under its owner, so it stays moved here.
    let body = s.live.elsewhere["agent_1"].body.as_ref().unwrap();
    assert_eq!((&body.live["name"], &body.applied.spec["name"]), (&json!("Old"), &json!("Older")));
    assert!(s.live.elsewhere.contains_key("agent_old"), "it was at an address that is wanted");
    assert_eq!(world.asked("authoring.find"), 2);
    assert_eq!(world.asked("authoring.referrers"), 1);
}

#[tokio::test]
async fn what_may_go_is_read_with_all_who_refer_to_it() {
    let mut old = summary("Agent/kept", Some(Digest::of(b"x")));
    old.id = "agent_old".into();
    old.superseded = true;
    let kept = agent("kept");
    let live = summary("Agent/kept", Some(kept.digest()));
    let mut world = World::new(Digest::of(b"no"), vec![summary("Agent/unwanted", Some(Digest::of(b"x"))), old, live]);
    let refers = |to: &str| Referrer {
        to: to.into(),
        id: "agent_z".into(),
        kind: Kind::Agent,
        owner: None,
        address: None,
        name: "z".into(),
        follows: false,
    };
    world.referrers = vec![refers("agent_old"), refers("agent_unwanted"), refers("agent_kept")];
    let s = look(&world, &desired(vec![kept])).await;
    assert_eq!(s.live.superseded.len(), 1);
    assert_eq!(world.bodies(), [vec!["agent_unwanted".to_owned()]]);
    assert_eq!(s.live.referrers.keys().collect::<Vec<_>>(), ["agent_old", "agent_unwanted"]);
}

#[tokio::test]
async fn contents_that_differ_are_looked_for_in_batches() {
    let mut store = wanted(Kind::MemoryStore, "s", json!({"name": "s"}));
    let file = |i: u32| WantedFile { file: format!("m/{i}"), sha256: Digest::of(&i.to_le_bytes()), size: 4 };
    store.memories = (0..1_500).map(|i| (format!("/{i}"), file(i))).collect();
    let mut world = World::new(Digest::of(b"no"), vec![]);
    world.held = vec![Digest::of(&7u32.to_le_bytes())];
    let s = look(&world, &desired(vec![store])).await;
    assert_eq!((world.asked("blobs.missing"), s.live.held_blobs.len()), (2, 1));
}

#[tokio::test]
async fn numbers_and_pins_are_resolved_by_number_and_by_content() {
    let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    let skills = json!([
        {"skill": "acme/legal:Skill/tone", "content": a},
        {"skill": "acme/legal:Skill/tone", "content": b},
        {"skill": "own", "version": 3},
        {"skill": "pinned", "content": a},
        {"skill": "newest", "content": b},
    ]);
    let d = desired(vec![wanted(Kind::Agent, "a", json!({"name": "a", "model": "m", "skills": skills}))]);
    let mut newest = summary("Skill/newest", Some(a));
    newest.content = Some(b);
    let world = World::new(Digest::of(b"no"), vec![newest, summary("Skill/pinned", Some(a))]);
    let s = look(&world, &d).await;
    let keys: Vec<&str> = s.live.resolved.keys().map(String::as_str).collect();
    let with = |key: &str, d: &Digest| format!("{key}@{d}");
    let tone = "acme/legal:Skill/tone";
    let mut expected = vec![
        "Skill/own#3".into(),
        "Skill/pinned".into(),
        with("Skill/pinned", &a),
        tone.into(),
        with(tone, &a),
        with(tone, &b),
    ];
    expected.sort();
    assert_eq!(keys, expected);
}
