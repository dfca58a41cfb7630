//! A workspace behind a server, by our own client: the same as one in process, whatever the network does.

mod command;
mod faults;
mod killed;
mod parity;
mod proxy;
mod scenarios;
mod tls;
mod two;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use checkfu::apply::ApplyOptions;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::control::remote::{Remote, RemoteOptions, Retry, Secret};
use checkfu::control::{ControlError, ControlPlane};
use checkfu::model::op::{ActorKind, Context, Request, Response, Scope as TokenScope, TokenCreate};
use checkfu::plan::{self, Options, Origin, Plan, Scope, SourceRelation};
use checkfu::receipt::Receipt;
use checkfu::reconcile::load::{LoadOptions, Loaded, load};
use checkfu::reconcile::{self, ReconcileError};
use checkfu::server::{Limits, ServeOptions, serve};
use tokio::task::JoinHandle;

/// Who applies.
const TESTER: &str = "tester";

/// Who writes beside that.
const OUTSIDER: &str = "outsider";

/// A workspace with a clock and ids that count, and a token of each of the two.
pub(super) struct World {
    workspace: Arc<Embedded>,
    tester: Secret,
    outsider: Secret,
}

impl World {
    fn open(dir: &Path) -> Self {
        Self::with(dir, EmbeddedOptions::seeded(7))
    }

    fn with(dir: &Path, options: EmbeddedOptions) -> Self {
        let workspace = Arc::new(Embedded::open(&dir.join("w.db"), options).unwrap());
        let tester = token(&workspace, TESTER, TokenScope::Apply, &["*"]);
        let outsider = token(&workspace, OUTSIDER, TokenScope::Admin, &["*"]);
        Self { workspace, tester, outsider }
    }
}

/// Makes a token, outside of any runtime.
fn token(workspace: &Embedded, name: &str, scope: TokenScope, owners: &[&str]) -> Secret {
    let create = TokenCreate {
        name: name.to_owned(),
        scope,
        owners: owners.iter().map(|o| (*o).to_owned()).collect(),
        actor_kind: ActorKind::Api,
        expires_at: None,
    };
    let context = Context { actor: "local".to_owned(), admin: true, ..Context::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    match runtime.block_on(workspace.call(&context, Request::TokenCreate(create))).unwrap() {
        Response::Token(token) => Secret::new(token.secret),
        other => panic!("{other:?}"),
    }
}

/// Serves a workspace until the task is aborted.
fn served(workspace: &Arc<Embedded>) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let options = ServeOptions { listener, tls: None, limits: Limits::default() };
    let workspace = Arc::clone(workspace);
    let task = tokio::spawn(async move { serve(workspace, options, std::future::pending()).await.unwrap() });
    (at, task)
}

/// A client that waits for nobody long.
fn client(at: SocketAddr, token: &Secret) -> RemoteOptions {
    let retry = Retry { first: Duration::from_millis(1), longest: Duration::from_millis(8), ..Retry::default() };
    RemoteOptions { retry, ..RemoteOptions::new(format!("http://{at}"), token.clone()) }
}

fn remote(at: SocketAddr, token: &Secret) -> Remote {
    Remote::new(client(at, token)).unwrap()
}

/// Either way to a workspace.
enum Way {
    Embedded(Arc<Embedded>),
    Remote(Box<Remote>),
}

impl ControlPlane for Way {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        match self {
            Self::Embedded(embedded) => embedded.call(context, request).await,
            Self::Remote(remote) => remote.call(context, request).await,
        }
    }
}

/// The project in a folder.
fn project(dir: &Path) -> Loaded {
    let options = LoadOptions { profile: None, today: jiff::civil::date(2026, 11, 30) };
    let loaded = load(dir, &options).unwrap();
    assert!(loaded.desired.is_some(), "{:#?}", loaded.diagnostics);
    loaded
}

/// What a test plans with: an origin that does not tell which way it was.
fn options() -> Options {
    Options {
        allowances: Vec::new(),
        scope: Scope::default(),
        revert: checkfu::plan::Addresses::default(),
        revert_all: false,
        today: jiff::civil::date(2026, 11, 30),
        destroy: false,
        rollback: false,
        origin: Origin {
            target: "there".into(),
            kind: "checkfu".into(),
            at: "https://x.example".into(),
            workspace: None,
            epoch: None,
        },
        tool_version: "0".into(),
        source_relation: SourceRelation::Unknown,
        limits: None,
    }
}

async fn planned<C: ControlPlane>(way: &C, loaded: &Loaded, options: &Options) -> Result<Plan, ControlError> {
    let desired = loaded.desired.as_ref().unwrap();
    let context =
        Context { actor: TESTER.into(), owner: Some(loaded.config.authoring_owner.clone()), ..Context::default() };
    let plan = reconcile::plan(desired, Some(way), &context, options, Some(&loaded.project)).await?;
    assert_eq!(plan::check(&plan), Vec::<String>::new());
    Ok(plan)
}

async fn applied<C: ControlPlane>(
    way: &C,
    loaded: &Loaded,
    options: &Options,
    plan: &Plan,
    (parallelism, run): (usize, &str),
) -> Result<Receipt, ReconcileError> {
    let how = ApplyOptions { parallelism, run: Some(run.to_owned()), ..ApplyOptions::new(TESTER) };
    let desired = loaded.desired.as_ref().unwrap();
    reconcile::apply(plan, way, &loaded.project, (desired, options), &how, &|_| ()).await
}

/// Writes files into a folder.
fn write(dir: &Path, files: &[(String, String)]) {
    for (path, text) in files {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// A project of so many agents.
fn agents(owner: &str, count: usize) -> Vec<(String, String)> {
    let agent = |i| (format!("agents/a{i:03}.md"), crate::sandbox::agent("", &format!("You are number {i}.\n")));
    std::iter::once(("checkfu.yaml".to_owned(), crate::sandbox::config(owner))).chain((0..count).map(agent)).collect()
}

/// All audit facts, oldest first.
async fn facts(workspace: &Embedded) -> Vec<checkfu::model::op::Fact> {
    use checkfu::model::op::AuditList;
    let mut all = Vec::new();
    loop {
        let list = AuditList { after: all.last().map(|f: &checkfu::model::op::Fact| f.seq), ..AuditList::default() };
        let Response::Audit(more) = workspace.call(&Context::default(), Request::AuditList(list)).await.unwrap() else {
            panic!()
        };
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}
