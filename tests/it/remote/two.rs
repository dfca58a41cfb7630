//! Two at once on one server: the same project, one project in two states, two projects.

use checkfu::cli::exit::Exit;
use checkfu::receipt::Outcome;

use super::{World, agents, applied, facts, options, planned, project, remote, served, write};
use crate::sandbox::agent;

const COUNT: usize = 20;

/// Runs with a world and two project folders.
fn with<F: Future<Output = ()>>(test: impl FnOnce(World, [tempfile::TempDir; 2]) -> F) {
    let base = tempfile::tempdir().unwrap();
    let world = World::open(base.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test(world, [(); 2].map(|()| tempfile::tempdir().unwrap())));
    runtime.shutdown_background();
}

async fn count(world: &World, operation: &str) -> usize {
    facts(&world.workspace).await.iter().filter(|f| f.operation == operation).count()
}

#[test]
fn the_same_project_twice_is_done_once() {
    with(|world, [dir, _other]| async move {
        let (at, _server) = served(&world.workspace);
        write(dir.path(), &agents("acme/a", COUNT));
        let (loaded, options) = (project(dir.path()), options());
        let (one, two) = (remote(at, &world.tester), remote(at, &world.tester));
        let plan = planned(&one, &loaded, &options).await.unwrap();
        let (first, second) = tokio::join!(
            applied(&one, &loaded, &options, &plan, (10, "one")),
            applied(&two, &loaded, &options, &plan, (10, "two")),
        );
        for receipt in [first.unwrap(), second.unwrap()] {
            assert_eq!(receipt.outcome, Outcome::Done, "{receipt:#?}");
            assert_eq!(receipt.not_settled, Vec::<String>::new());
        }
        assert_eq!(count(&world, "agents.create").await, COUNT);
    });
}

#[test]
fn of_two_states_of_a_project_one_loses_and_says_why() {
    with(|world, [dir, other]| async move {
        let (at, _server) = served(&world.workspace);
        for dir in [&dir, &other] {
            write(dir.path(), &agents("acme/a", 1));
        }
        let (one, two) = (remote(at, &world.tester), remote(at, &world.tester));
        let plan = planned(&one, &project(dir.path()), &options()).await.unwrap();
        applied(&one, &project(dir.path()), &options(), &plan, (10, "zero")).await.unwrap();
        for (dir, text) in [(&dir, "You are here.\n"), (&other, "You are there.\n")] {
            write(dir.path(), &[("agents/a000.md".to_owned(), agent("", text))]);
        }
        let (here, there, options) = (project(dir.path()), project(other.path()), options());
        let first = planned(&one, &here, &options).await.unwrap();
        let second = planned(&two, &there, &options).await.unwrap();
        let (first, second) = tokio::join!(
            applied(&one, &here, &options, &first, (10, "one")),
            applied(&two, &there, &options, &second, (10, "two")),
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        let (winner, loser) = if first.count("done") == 1 { (first, second) } else { (second, first) };
        assert_eq!((winner.count("done"), loser.count("stale")), (1, 1), "{winner:#?}\n{loser:#?}");
        assert_eq!(Exit::of_receipt(&loser), Exit::Conflict);
        assert!(loser.lines[0].error.as_deref().unwrap().contains("version"), "{:?}", loser.lines[0].error);
        assert_eq!(count(&world, "agents.update").await, 1);
    });
}

#[test]
fn two_projects_do_not_disturb_each_other() {
    with(|world, [dir, other]| async move {
        let (at, _server) = served(&world.workspace);
        write(dir.path(), &agents("acme/a", COUNT));
        write(other.path(), &agents("acme/b", COUNT));
        let (here, there, options) = (project(dir.path()), project(other.path()), options());
        let (one, two) = (remote(at, &world.tester), remote(at, &world.tester));
        let first = planned(&one, &here, &options).await.unwrap();
        let second = planned(&two, &there, &options).await.unwrap();
        let (first, second) = tokio::join!(
            applied(&one, &here, &options, &first, (10, "one")),
            applied(&two, &there, &options, &second, (10, "two")),
        );
        for receipt in [first.unwrap(), second.unwrap()] {
            assert_eq!((receipt.outcome, receipt.count("done")), (Outcome::Done, COUNT), "{receipt:#?}");
        }
        assert_eq!(count(&world, "agents.create").await, 2 * COUNT);
        for (way, loaded) in [(&one, &here), (&two, &there)] {
            assert!(planned(way, loaded, &options).await.unwrap().actions.is_empty());
        }
    });
}
