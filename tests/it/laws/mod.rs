//! The laws of ARCHITECTURE.md as properties of random projects, through the library, on embedded workspaces.
//! Clock and ids are seeded. `PROPTEST_CASES` changes how many cases each law gets.

mod files;
mod outside;
mod parts;
mod project;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use checkfu::model::Kind;
use checkfu::plan::{Action, Options, Plan, Verb};
use checkfu::receipt::{Outcome, Receipt};
use checkfu::reconcile::load::{LoadOptions, load};
use checkfu::reconcile::{Depth, snapshot};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestRng, TestRunner};

use outside::{Moved, disturb, seen};
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
pub(crate) fn temporary() -> tempfile::TempDir {
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
            // What is the file's again, and not as the file says, would be held: here it is put back.
            let back = Options { revert_all: gives_back(&projects), ..options() };
            for project in &projects {
                let desired = project.desired(&owner());
                settled(&world, &desired, &back).await;
                let again = nothing_to_do(&world, project, &back).await;
                assert!(again.held.is_empty() && again.complete, "{:#?}", again.findings);
                let context = world::context(&owner());
                let live = snapshot(Some(&world), &desired, &context, Depth::Resources).await.unwrap().live;
                let is = live.resources.keys().collect::<Vec<_>>();
                assert_eq!(is, desired.resources.keys().collect::<Vec<_>>());
                for (address, wanted) in &desired.resources {
                    // Memories that are the file's again stay as others left them, and are told.
                    if again.notes.kept_memories.contains_key(address) {
                        continue;
                    }
                    let summary = &live.resources[address].summary;
                    assert_eq!(summary.live_digest, Some(wanted.digest()), "{address}");
                    assert_eq!(summary.protected, wanted.protected, "{address}");
                }
            }
            assert_eq!(bodies(&world, Some(&stranger)).await, foreign);
        });
    });
}

/// Is a field that was not the file's the file's again later?
fn gives_back(projects: &[Project]) -> bool {
    let mut given_up = std::collections::BTreeSet::new();
    let mut back = false;
    for project in projects {
        for (address, wanted) in project.desired(&owner()).resources {
            back |= given_up.iter().any(|(a, f)| *a == address && !wanted.unowned.contains(f));
            given_up.extend(wanted.unowned.into_iter().map(|field| (address.clone(), field)));
        }
    }
    back
}

/// The way into a plan: a first project, applied, and the next one.
fn two() -> impl Strategy<Value = (Project, Project)> {
    (project(), project())
}

/// Law 5, the part that a process need not die for (`crash.rs` kills one): an apply that breaks off at any
/// write, sent or answered, and then plan and apply again, end where an apply ends that never broke off, with
/// no resource and no version more; and apply, destroy, apply makes everything anew.
#[test]
fn an_apply_that_broke_off_is_finished_by_the_next_one() {
    let strategy = (two(), 1..12usize, prop_oneof![Just(Death::BeforeSend), Just(Death::BeforeAnswer)], 1..11usize);
    law("breaks", strategy, |((first, second), nth, death, parallelism)| {
        let (dir, twin_dir) = (temporary(), temporary());
        block_on(async {
            let twin = World::open(twin_dir.path(), 2);
            settled(&twin, &first.desired(&owner()), &options()).await;
            settled(&twin, &second.desired(&owner()), &options()).await;

            let world = World::open(dir.path(), 3);
            settled(&world, &first.desired(&owner()), &options()).await;
            let desired = second.desired(&owner());
            let plan = planned(&world, &desired, &options()).await;
            world.dies_at(nth, death);
            let ended = applied(&world, &desired, &options(), &plan, parallelism).await;
            assert_eq!(world.is_dead(), ended.is_err() || !is_done(ended.as_ref().ok()), "{ended:#?}");
            drop(world);

            let world = World::open(dir.path(), 4);
            let rest = planned(&world, &desired, &options()).await;
            parts::approves(&world, &plan, &rest).await;
            settled(&world, &desired, &options()).await;
            nothing_to_do(&world, &second, &options()).await;
            assert_eq!(rows(&world, &owner()).await, rows(&twin, &owner()).await);

            let destroy = Options { destroy: true, ..options() };
            let unprotected = Project { protect: false, ..second.clone() };
            settled(&world, &unprotected.desired(&owner()), &options()).await;
            settled(&world, &desired, &destroy).await;
            assert!(rows(&world, &owner()).await.is_empty());
            settled(&world, &desired, &options()).await;
            nothing_to_do(&world, &second, &options()).await;
        });
    });
}

/// Two plans of one owner, made from one base and on disjoint fields and memories, may be applied in either
/// order: each does its own, and what is applied is what is live, of all that the owner has.
#[test]
fn two_plans_from_one_base_leave_applied_as_live_in_either_order() {
    let store = |description, texts: &[u8]| project::Store {
        description,
        enforce: false,
        files: (0..).zip(texts.iter().copied()).collect(),
        mode: None,
    };
    let texts = || prop::collection::vec(0..3u8, 3);
    let (descriptions, which) = (prop::collection::vec(prop::option::of(0..2u8), 2), 0..8usize);
    let strategy = (texts(), texts(), descriptions, which, any::<bool>(), any::<bool>());
    law("either", strategy, |(base, new, descriptions, which, told_by_first, swapped)| {
        let dir = temporary();
        block_on(async {
            let mut world = World::open(dir.path(), 7);
            let of = |store| Project {
                stores: [(0, store)].into(),
                environments: [(0, project::Environment::default())].into(),
                ..Project::default()
            };
            settled(&world, &of(store(descriptions[0], &base)).desired(&owner()), &options()).await;
            // The first plan takes the files of `which`, the second the others; one of them the description too.
            let side = |first: bool| {
                let mine = |k: usize| (which >> k & 1 == 1) == first;
                let texts: Vec<u8> = (0..3).map(|k| if mine(k) { new[k] } else { base[k] }).collect();
                of(store(descriptions[usize::from(told_by_first == first)], &texts)).desired(&owner())
            };
            let mut plans = Vec::new();
            for first in [true, false] {
                let desired = side(first);
                let plan = planned(&world, &desired, &options()).await;
                plans.push((desired, plan));
            }
            if swapped {
                plans.reverse();
            }
            for (desired, plan) in &plans {
                let receipt = applied(&world, desired, &options(), plan, 10).await.unwrap();
                assert!(receipt.lines.iter().all(|l| l.outcome == "done"), "{:#?}", receipt.lines);
            }
            let merged = of(store(descriptions[1], &new));
            let again = nothing_to_do(&world, &merged, &options()).await;
            assert!(again.notes.kept_memories.is_empty(), "{:#?}", again.notes);
            // The next change of every file gets there.
            world = World::open(dir.path(), 8);
            let next: Vec<u8> = new.iter().map(|t| (t + 1) % 3).collect();
            settled(&world, &of(store(None, &next[..2])).desired(&owner()), &options()).await;
            nothing_to_do(&world, &of(store(None, &next[..2])), &options()).await;
        });
    });
}

fn is_done(receipt: Option<&Receipt>) -> bool {
    receipt.is_some_and(|r| matches!(r.outcome, Outcome::Done | Outcome::Nothing))
}

/// Law 4: an action whose precondition moved writes nothing, nor do its dependents, nor any retirement still to
/// come; the rest is done. Then a plan that puts back what others did settles.
#[test]
fn what_moved_is_not_written_and_the_rest_is_done() {
    let which = prop::collection::vec(prop::bool::weighted(0.3), 7);
    law("moves", (two(), which, 1..11usize), |((first, second), which, parallelism)| {
        let dir = temporary();
        block_on(async {
            let world = World::open(dir.path(), 5);
            settled(&world, &first.desired(&owner()), &options()).await;
            let desired = second.desired(&owner());
            let plan = planned(&world, &desired, &options()).await;
            let moved = disturb(&world, &plan, &which).await;
            let kind =
                |action: &str| plan.actions.iter().find(|a| a.id == action).unwrap().address.clone().unwrap().kind;
            let mut before = BTreeMap::new();
            for (action, id) in &moved {
                before.insert(action, seen(&world, kind(action), id).await);
            }

            world.writes();
            assert!(checkfu::reconcile::is_reviewed(&plan, &checkfu::model::Digest::of(b"other")).is_err());
            assert_eq!(world.writes(), 0);
            let receipt = applied(&world, &desired, &options(), &plan, parallelism).await.unwrap();
            judge(&plan, &receipt, &moved);
            for (action, id) in &moved {
                let at_most_here = moved.values().filter(|other| *other == id).count();
                let all_here =
                    plan.actions.iter().filter(|a| a.id.starts_with(&format!("{}#", address(action)))).count();
                if at_most_here == all_here {
                    assert_eq!(before[action], seen(&world, kind(action), id).await, "{action} wrote");
                }
            }

            let put_back = Options { revert_all: true, ..options() };
            settled(&world, &desired, &put_back).await;
            nothing_to_do(&world, &second, &put_back).await;
        });
    });
}

fn address(action: &str) -> &str {
    action.split('#').next().unwrap()
}

/// Is every outcome what the law says?
fn judge(plan: &Plan, receipt: &Receipt, moved: &Moved) {
    let outcome: BTreeMap<&str, &str> = receipt.lines.iter().map(|l| (l.action.as_str(), l.outcome.as_str())).collect();
    let retires = |a: &Action| a.verb == Verb::Retire;
    let mut broken = false;
    for action in &plan.actions {
        let now = outcome[action.id.as_str()];
        let waits = action.depends_on.iter().any(|on| outcome[on.as_str()] != "done");
        let here = format!("{} is {now}: {:#?}", action.id, receipt.lines);
        if moved.contains_key(&action.id) {
            assert!(now == "stale" || (now == "blocked" && (waits || retires(action))), "{here}");
        } else if waits {
            assert_eq!(now, "blocked", "{here}");
        } else if retires(action) {
            // Retirements run side by side, so which of them still was to come is not known.
            assert!(now == "done" || now == "blocked", "{here}");
            assert!(!broken || now == "blocked", "{here}");
        } else {
            assert_eq!(now, "done", "{here}");
        }
        broken |= !retires(action) && now != "done";
    }
}

/// Law 2: in which file, in which order, with which comments it is written changes no digest.
#[test]
fn order_and_comments_change_no_digest() {
    let seeds = (1..u64::MAX, 1..u64::MAX);
    law("shuffle", (project(), seeds), |(project, (one, other))| {
        let loaded = |seed: u64| {
            let dir = temporary();
            files::write(&project, dir.path(), &mut files::Dice(seed));
            let options = LoadOptions { profile: None, today: options().today };
            let loaded = load(dir.path(), &options).unwrap_or_else(|e| panic!("{:#?}", e.diagnostics));
            assert!(!loaded.diagnostics.has_errors(), "{:#?}", loaded.diagnostics);
            loaded.desired.unwrap()
        };
        let (one, other) = (loaded(one), loaded(other));
        assert_eq!(one.digest(), other.digest());
        let new = checkfu::live::Live::default();
        let plan = |desired| checkfu::plan::plan(desired, &new, &options());
        let (one, other) = (plan(&one), plan(&other));
        assert_eq!(one.digest, other.digest);
        let digests = |p: &Plan| p.actions.iter().map(|a| (a.id.clone(), a.digest)).collect::<Vec<_>>();
        assert_eq!(digests(&one), digests(&other));
        assert!(one.actions.len() > project.agents.len());
    });
}

/// Law 1 where others moved something before the plan was made: what is held or blocked is no action, before
/// and after; and law 3, that it stays as they left it.
#[test]
fn what_is_held_stays_and_is_no_action() {
    let which = prop::collection::vec(prop::bool::weighted(0.4), 5);
    let (applied_plans, with_held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    law("holds", (two(), which), |((first, second), which)| {
        let dir = temporary();
        block_on(async {
            let world = World::open(dir.path(), 6);
            settled(&world, &first.desired(&owner()), &options()).await;
            let desired = second.desired(&owner());
            outside::raise_some(&world, &planned_ids(&world, &first).await, &which).await;
            let plan = planned(&world, &desired, &options()).await;
            if !plan.applyable {
                return;
            }
            applied_plans.fetch_add(1, Ordering::Relaxed);
            with_held.fetch_add(usize::from(!plan.held.is_empty()), Ordering::Relaxed);
            let held = |p: &Plan| {
                p.held.iter().map(|h| (h.address.clone(), h.field.clone(), h.live.clone())).collect::<Vec<_>>()
            };
            let before = held(&plan);
            settled(&world, &desired, &options()).await;
            let after = nothing_to_do(&world, &second, &options()).await;
            assert_eq!(held(&after), before);
        });
    });
    let (applied_plans, with_held) = (applied_plans.into_inner(), with_held.into_inner());
    assert!(applied_plans > with_held && with_held > 10, "{applied_plans} applied, {with_held} with something held");
}

/// Live ids of all that a project has, by kind, in the order of their addresses.
async fn planned_ids(world: &World, project: &Project) -> Vec<(Kind, String)> {
    let context = world::context(&owner());
    let live = snapshot(Some(world), &project.desired(&owner()), &context, Depth::Resources).await.unwrap().live;
    live.resources.values().map(|r| (r.summary.kind, r.summary.id.clone())).collect()
}
