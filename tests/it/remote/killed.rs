//! A server that ends: by kill -9 under load, and in the middle of an apply that goes on with the next one.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkfu::apply::{ApplyOptions, Event};
use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::control::remote::{Remote, RemoteOptions, Retry, Secret};
use checkfu::model::Kind;
use checkfu::model::op::{Context, Create, GetOf, Request, Response, Scope};
use checkfu::receipt::Outcome;
use checkfu::reconcile;
use serde_json::json;
use tokio::sync::Notify;

use super::{TESTER, agents, client, facts, options, planned, project, token, write};

/// `checkfu serve`, as a process; it goes with this.
struct Served {
    child: Child,
    at: SocketAddr,
}

impl Served {
    /// Starts it and waits until it listens.
    fn start(db: &Path, listen: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_checkfu"))
            .args(["serve", "--listen", listen, "--db"])
            .arg(db)
            .env_clear()
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let at = lines.by_ref().find_map(|l| Some(l.strip_prefix("Listening on http://")?.parse().unwrap()));
        // Its log would fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, at: at.unwrap() }
    }

    /// SIGTERM, and its end.
    fn stop(&mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn workspace(db: &Path) -> Embedded {
    Embedded::open(db, EmbeddedOptions::default()).unwrap()
}

/// A token in a database that no server has open yet.
fn secret(db: &Path) -> Secret {
    token(&workspace(db), TESTER, Scope::Apply, &["*"])
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn nothing_that_was_acknowledged_is_lost_by_kill_9() {
    const ENOUGH: usize = 60;
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("w.db");
    let secret = secret(&db);
    let server = Mutex::new(Served::start(&db, "127.0.0.1:0"));
    let at = server.lock().unwrap().at;
    let known = Mutex::new(Vec::new());
    let runtime = runtime();
    runtime.block_on(async {
        let remote =
            Remote::new(RemoteOptions { retry: Retry { times: 0, ..Retry::default() }, ..client(at, &secret) })
                .unwrap();
        let writer = async |n: usize| {
            for i in 0.. {
                let fields = json!({"name": format!("{n}-{i}"), "model": "claude-sonnet-5"});
                let serde_json::Value::Object(body) = fields else { panic!() };
                let create =
                    Create { kind: Kind::Agent, body, content: None, claim: None, absent_since: None, replaces: None };
                let context = Context { key: Some(format!("{n}-{i}")), ..Context::default() };
                let Ok(Response::Written(written)) = remote.call(&context, Request::Create(create)).await else {
                    return;
                };
                let mut known = known.lock().unwrap();
                known.push(written.id);
                if known.len() == ENOUGH {
                    server.lock().unwrap().child.kill().unwrap();
                }
            }
        };
        tokio::join!(writer(0), writer(1), writer(2), writer(3), writer(4), writer(5));
    });
    server.lock().unwrap().child.wait().unwrap();
    let known = known.into_inner().unwrap();
    assert!(known.len() >= ENOUGH, "{}", known.len());
    let workspace = workspace(&db);
    assert_eq!(workspace.integrity().unwrap(), Vec::<String>::new());
    for id in known {
        let get = Request::Get(GetOf { kind: Kind::Agent, id, version: None });
        runtime.block_on(workspace.call(&Context::default(), get)).unwrap();
    }
}

#[test]
fn an_apply_goes_on_with_the_next_server() {
    const COUNT: usize = 200;
    let (base, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let db = base.path().join("w.db");
    let secret = secret(&db);
    write(dir.path(), &agents("acme/a", COUNT));
    let loaded = project(dir.path());
    let mut server = Served::start(&db, "127.0.0.1:0");
    let at = server.at;
    let receipt = runtime().block_on(async {
        // As patient as the defaults, in smaller steps.
        let retry = Retry {
            times: 200,
            first: Duration::from_millis(50),
            longest: Duration::from_millis(200),
            ..Retry::default()
        };
        let remote = Remote::new(RemoteOptions { retry, ..client(at, &secret) }).unwrap();
        let plan = planned(&remote, &loaded, &options()).await.unwrap();
        let (done, half) = (AtomicUsize::new(0), Arc::new(Notify::new()));
        let events = |event: Event| {
            if matches!(event, Event::Ended { .. }) && done.fetch_add(1, Ordering::SeqCst) == COUNT / 3 {
                half.notify_one();
            }
        };
        let restart = async {
            half.notified().await;
            tokio::task::spawn_blocking(move || {
                server.stop();
                Served::start(&db, &at.to_string())
            })
            .await
            .unwrap()
        };
        let how = ApplyOptions { run: Some("one".into()), ..ApplyOptions::new(TESTER) };
        let (options, desired) = (options(), loaded.desired.as_ref().unwrap());
        let (receipt, server) = tokio::join!(
            reconcile::apply(&plan, &remote, &loaded.project, (desired, &options), &how, &events),
            restart
        );
        assert!(planned(&remote, &loaded, &options).await.unwrap().actions.is_empty());
        drop(server);
        receipt.unwrap()
    });
    assert_eq!((receipt.outcome, receipt.count("done")), (Outcome::Done, COUNT), "{receipt:#?}");
    assert_eq!(receipt.not_settled, Vec::<String>::new());
    let facts = runtime().block_on(async { facts(&workspace(&base.path().join("w.db"))).await });
    let count = |operation: &str| facts.iter().filter(|f| f.operation == operation).count();
    assert_eq!(["agents.create", "applies.begin", "applies.end"].map(count), [COUNT, 1, 1]);
}
