//! The laws of ARCHITECTURE.md as properties of random projects, through the library, on embedded workspaces.
//! Clock and ids are seeded. `PROPTEST_CASES` changes how many cases each law gets.

mod project;
mod world;

use std::collections::BTreeMap;
use std::path::PathBuf;

use checkfu::plan::{Options, Plan};
use checkfu::reconcile::{Depth, snapshot};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestRng, TestRunner};

use project::{Project, project};
use world::{Death, World, applied, bodies, options, owner, planned, rows, settled};

/// Runs a law: 1,000 cases, always the same ones.
fn law<S: Strategy>(name: &str, strategy: S, test: impl Fn(S::Value))
where
    S::Value: Clone,
{
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let config = Config {
        cases,
        max_shrink_iters: 200,
        failure_persistence: None::<Box<FileFailurePersistence>>.map(|p| p as _),
        ..Config::default()
    };
    let seed = checkfu::model::Digest::of(name.as_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, seed.as_bytes());
    TestRunner::new_with_rng(config, rng)
        .run(&strategy, |value| {
            test(value);
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{name}: {e}"));
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// In memory where the system has such a place: the laws are about what is written, not about disks.
fn temporary() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

async fn nothing_to_do(world: &World, project: &Project, options: &Options) -> Plan {
    let desired = project.desired(&owner());
    let again = planned(world, &desired, options).await;
    assert!(again.actions.is_empty(), "{:#?}", again.actions);
    world.writes();
    let receipt = applied(world, &desired, options, &again, 10).await.unwrap();
    assert_eq!((world.writes(), receipt.apply), (0, None), "a plan without actions sends no write");
    again
}

/// Laws 1, 3 and 6: what an apply left is as wanted, needs nothing more, and nothing foreign changed.
#[test]
fn after_an_apply_live_is_as_wanted_and_nothing_is_left_to_do() {
    law("settles", prop::collection::vec(project(), 1..4), |projects| {
        let dir = temporary();
        block_on(async {
            let world = World::open(dir.path(), 1);
            let stranger = "acme/stranger".parse().unwrap();
            // Names of environments are unique in a workspace, so the stranger has none.
            let theirs = Project { environments: BTreeMap::new(), ..projects[0].clone() };
            settled(&world, &theirs.desired(&stranger), &options()).await;
            let foreign = bodies(&world, Some(&stranger)).await;
            for project in &projects {
                let desired = project.desired(&owner());
                settled(&world, &desired, &options()).await;
                let again = nothing_to_do(&world, project, &options()).await;
                assert!(again.held.is_empty() && again.complete, "{:#?}", again.findings);
                let context = world::context(&owner());
                let live = snapshot(Some(&world), &desired, &context, Depth::Resources).await.unwrap().live;
                let is = live.resources.keys().collect::<Vec<_>>();
                assert_eq!(is, desired.resources.keys().collect::<Vec<_>>());
                for (address, wanted) in &desired.resources {
                    let summary = &live.resources[address].summary;
                    assert_eq!(summary.live_digest, Some(wanted.digest()), "{address}");
                    assert_eq!(summary.protected, wanted.protected, "{address}");
                }
            }
            assert_eq!(bodies(&world, Some(&stranger)).await, foreign);
        });
    });
}
