//! An apply through a network that goes wrong at one request of four. What was asked for is there in the end, and
//! nothing is there twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkfu::control::remote::{Again, Remote, RemoteOptions, Retry};
use checkfu::control::{ControlError, ControlPlane};
use checkfu::model::op::{Context, Request, Response};
use checkfu::receipt::Outcome;

use super::proxy::Proxy;
use super::{World, agents, applied, client, facts, options, planned, project, served, write};
use crate::sandbox::{agent, skill};

/// Runs of each build.
const RUNS: u64 = 50;

/// Runs on demand.
const MANY: u64 = 500;

/// Sent again, at most: a machine with much to do takes longer than the 100 ms that this client waits.
const TIMES: usize = 40;

/// Counts calls.
struct Counted {
    remote: Remote,
    calls: AtomicUsize,
}

impl ControlPlane for Counted {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.remote.call(context, request).await
    }
}

/// What a run came to.
#[derive(Debug, Default)]
struct Figures {
    calls: usize,
    requests: usize,
    faults: usize,
}

/// 40 agents and 10 skills are made, then 10 agents changed.
async fn run(seed: u64, world: &World, dir: &std::path::Path) -> Figures {
    let (server, task) = served(&world.workspace);
    let proxy = Proxy::before(server, seed).await;
    let again = Arc::new(Mutex::new(0));
    let told = Arc::clone(&again);
    let retry = Retry {
        times: TIMES,
        unheard: TIMES,
        first: Duration::from_millis(1),
        ..client(proxy.at, &world.tester).retry
    };
    let remote = Remote::new(RemoteOptions {
        call_time: Duration::from_millis(100),
        connect_time: Duration::from_millis(100),
        retry,
        on_retry: Arc::new(move |_: &Again<'_>| *told.lock().unwrap() += 1),
        ..client(proxy.at, &world.tester)
    });
    let way = Counted { remote: remote.unwrap(), calls: AtomicUsize::new(0) };
    let mut files = agents("acme/a", 40);
    files.extend((0..10).map(|i| {
        let name = format!("s{i}");
        (format!("skills/{name}/SKILL.md"), skill(&name, "Ask what happened first."))
    }));
    write(dir, &files);
    for phase in ["one", "two"] {
        if phase == "two" {
            let changed = (0..10).map(|i| (format!("agents/a{i:03}.md"), agent("", "You are another.\n")));
            write(dir, &changed.collect::<Vec<_>>());
        }
        let loaded = project(dir);
        let plan = planned(&way, &loaded, &options()).await.unwrap();
        let receipt = applied(&way, &loaded, &options(), &plan, (10, phase)).await.unwrap();
        assert_eq!(receipt.outcome, Outcome::Done, "seed {seed}: {receipt:#?}");
        assert_eq!(receipt.not_settled, Vec::<String>::new(), "seed {seed}");
    }
    let plan = planned(&*world.workspace, &project(dir), &options()).await.unwrap();
    assert!(plan.actions.is_empty() && plan.held.is_empty(), "seed {seed}: {plan:#?}");
    let facts = facts(&world.workspace).await;
    let count = |operation: &str| facts.iter().filter(|f| f.operation == operation).count();
    let effects = ["agents.create", "agents.update", "skills.create", "skills.publish"].map(count);
    assert_eq!(effects, [40, 10, 10, 0], "seed {seed}: each effect is there once");
    assert_eq!(["applies.begin", "applies.end"].map(count), [2, 2], "seed {seed}");
    task.abort();
    let figures =
        Figures { calls: way.calls.load(Ordering::SeqCst), requests: proxy.requests(), faults: proxy.faults() };
    let again = *again.lock().unwrap();
    assert!(figures.requests <= figures.calls + again, "seed {seed}: {again} were sent again, {figures:?}");
    assert!(figures.requests <= figures.calls * (TIMES + 1), "seed {seed}: {figures:?}");
    figures
}

fn runs(seeds: std::ops::Range<u64>) {
    let mut all = Figures::default();
    for seed in seeds {
        let (base, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let world = World::open(base.path());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let Figures { calls, requests, faults } = runtime.block_on(run(seed, &world, dir.path()));
        runtime.shutdown_background();
        all = Figures { calls: all.calls + calls, requests: all.requests + requests, faults: all.faults + faults };
    }
    println!("{all:?}");
    assert!(all.faults * 6 > all.requests, "too few faults: {all:?}");
}

#[test]
fn an_apply_through_a_bad_network_does_everything_once() {
    runs(0..RUNS);
}

#[test]
#[ignore = "takes minutes"]
fn an_apply_through_a_bad_network_does_everything_once_many_times() {
    runs(1_000..1_000 + MANY);
}
