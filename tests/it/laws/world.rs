//! A workspace in a temporary folder, and what the laws look at.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use checkfu::apply::ApplyOptions;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::control::{ControlError, ControlPlane, ErrorKind};
use checkfu::desired::Desired;
use checkfu::model::config::{AllowRule, Allowance};
use checkfu::model::op::{Context, ListOf, ListView, Page, Request, Response, VersionsOf};
use checkfu::model::{Address, Kind, Owner};
use checkfu::plan::{self, Options, Origin, Plan, Scope, SourceRelation};
use checkfu::receipt::Receipt;
use checkfu::reconcile::{self, ReconcileError};
use serde_json::Value;

use super::project::Bodies;

/// How a [`World`] stops answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// The request is not sent.
    BeforeSend,
    /// It is carried out, and the answer is lost.
    BeforeAnswer,
}

/// An embedded workspace that counts writes and may die at one of them.
pub(crate) struct World {
    inner: Embedded,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writes: usize,
    dies: Option<(usize, Death)>,
    dead: bool,
}

impl World {
    pub(crate) fn open(dir: &Path, seed: u64) -> Self {
        let inner = Embedded::open(&dir.join("w.db"), EmbeddedOptions::seeded(seed)).unwrap();
        Self { inner, state: Mutex::default() }
    }

    /// Stops answering at the nth write from now, from 1.
    pub(crate) fn dies_at(&self, nth: usize, how: Death) {
        let mut state = self.state.lock().unwrap();
        state.dies = Some((state.writes + nth, how));
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.state.lock().unwrap().dead
    }

    /// Answers again, as after a start.
    pub(crate) fn revives(&self) {
        let mut state = self.state.lock().unwrap();
        (state.dead, state.dies) = (false, None);
    }

    /// Writes that were sent since the last time this was asked.
    pub(crate) fn writes(&self) -> usize {
        std::mem::take(&mut self.state.lock().unwrap().writes)
    }

    /// A write by somebody who is no owner and may break the glass.
    pub(crate) async fn outside(&self, request: Request) -> Result<Response, ControlError> {
        let context = Context {
            actor: "outsider".into(),
            break_glass: Some("an emergency".into()),
            admin: true,
            ..Context::default()
        };
        self.inner.call(&context, request).await
    }

    pub(crate) async fn read(&self, request: Request) -> Response {
        self.inner.call(&Context::default(), request).await.unwrap()
    }
}

impl ControlPlane for World {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        let dead = || ControlError::new(ErrorKind::Unavailable, "control.stopped", "the workspace is gone");
        let how = {
            let mut state = self.state.lock().unwrap();
            if state.dead {
                return Err(dead());
            }
            if request.operation().mutates {
                state.writes += 1;
                let now = state.dies.filter(|(at, _)| *at == state.writes).map(|(_, how)| how);
                state.dead = now.is_some();
                now
            } else {
                None
            }
        };
        match how {
            None => self.inner.call(context, request).await,
            Some(Death::BeforeSend) => Err(dead()),
            Some(Death::BeforeAnswer) => {
                self.inner.call(context, request).await.ok();
                Err(dead())
            }
        }
    }
}

pub(crate) fn owner() -> Owner {
    "acme/laws".parse().unwrap()
}

pub(crate) fn context(owner: &Owner) -> Context {
    Context { actor: "laws".into(), owner: Some(owner.clone()), ..Context::default() }
}

/// Everything is allowed that may be.
pub(crate) fn options() -> Options {
    let allow = |rule, subject: Option<&str>| Allowance { rule, subject: subject.map(str::to_owned) };
    Options {
        allowances: vec![
            allow(AllowRule::Retire, None),
            allow(AllowRule::Empty, None),
            allow(AllowRule::SessionMemory, None),
            allow(AllowRule::SameName, None),
            allow(AllowRule::Destroy, Some("acme/laws")),
        ],
        scope: Scope::default(),
        revert: checkfu::plan::Addresses::default(),
        revert_all: false,
        today: jiff::civil::date(2026, 11, 30),
        destroy: false,
        rollback: false,
        origin: Origin {
            target: "local".into(),
            kind: "embedded".into(),
            at: "w.db".into(),
            workspace: None,
            epoch: None,
        },
        tool_version: "0".into(),
        source_relation: SourceRelation::Unknown,
        limits: None,
    }
}

pub(crate) fn how(parallelism: usize) -> ApplyOptions {
    ApplyOptions { parallelism, ..ApplyOptions::new("laws") }
}

/// Plans, and holds the plan against the checker (law 6).
pub(crate) async fn planned(world: &World, desired: &Desired, options: &Options) -> Plan {
    let plan = reconcile::plan(desired, Some(world), &context(&desired.owner), options, None).await.unwrap();
    assert_eq!(plan::check(&plan), Vec::<String>::new());
    assert_eq!(plan::read(plan::write(&plan).as_bytes()).unwrap(), plan, "a plan survives its file");
    plan
}

pub(crate) async fn applied(
    world: &World,
    desired: &Desired,
    options: &Options,
    plan: &Plan,
    parallelism: usize,
) -> Result<Receipt, ReconcileError> {
    reconcile::apply(plan, world, &Bodies, (desired, options), &how(parallelism), &|_| ()).await
}

/// Plans and applies; all must be done and settled.
pub(crate) async fn settled(world: &World, desired: &Desired, options: &Options) -> Plan {
    let plan = planned(world, desired, options).await;
    assert!(plan.applyable, "{:#?}", plan.findings);
    let receipt = applied(world, desired, options, &plan, 10).await.unwrap();
    let not_done: Vec<_> = receipt.lines.iter().filter(|l| l.outcome != "done").collect();
    assert!(not_done.is_empty(), "{not_done:#?}");
    assert_eq!(receipt.not_settled, Vec::<String>::new(), "{:#?}", plan.actions);
    plan
}

/// Wire bodies of everything, archived ones too, by id; `owner` narrows.
pub(crate) async fn bodies(world: &World, owner: Option<&Owner>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for kind in Kind::ALL {
        let mut page = None;
        loop {
            let of = ListOf {
                kind,
                owner: owner.cloned(),
                labels: BTreeMap::new(),
                include_archived: true,
                view: ListView::Full,
                source: None,
                created_from: None,
                created_to: None,
                page,
                limit: Some(100),
            };
            let Response::Bodies(Page { data, next_page }) = world.read(Request::List(of)).await else { panic!() };
            all.extend(data.into_iter().map(|b| (b["id"].as_str().unwrap().to_owned(), b)));
            page = next_page;
            if page.is_none() {
                break;
            }
        }
    }
    all
}

/// One row a resource that an owner has live: address, version, immutable versions. Says nothing of ids.
pub(crate) async fn rows(world: &World, owner: &Owner) -> BTreeMap<Address, (u64, usize)> {
    use checkfu::model::op::Summaries;
    let mut rows = BTreeMap::new();
    let all = Summaries { owner: Some(owner.clone()), kind: None, names: vec![], page: None, limit: None };
    let Response::Summaries(page) = world.read(Request::Summaries(all)).await else { panic!() };
    for s in page.data {
        let versions = match s.kind {
            Kind::Agent | Kind::Skill | Kind::FileTree | Kind::MemoryStore => {
                let of = VersionsOf { kind: s.kind, id: s.id.clone(), page: None, limit: Some(100) };
                let Response::Bodies(v) = world.read(Request::Versions(of)).await else { panic!() };
                v.data.len()
            }
            _ => 0,
        };
        let again = rows.insert(s.address.clone().unwrap(), (s.version, versions));
        assert!(again.is_none(), "{:?} is there twice", s.address);
    }
    rows
}
