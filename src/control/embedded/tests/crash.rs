//! Killed at any point: what was answered is there, what was not is there whole or not at all.

use std::process::Command;

use super::*;

const FOLDER: &str = "CHECKFU_TEST_CRASH_FOLDER";

/// Runs in a process of its own, which the kill point ends.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let path = std::path::Path::new(&folder).join("w.db");
    let embedded = Embedded::open(&path, EmbeddedOptions::seeded(1)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    #[cfg(feature = "failpoints")]
    crate::control::failpoint::arm("after-commit", 3);
    for n in 0..5 {
        let name = format!("a{n}");
        let request = create(Kind::Agent, agent_body(&name), Some(&name));
        runtime.block_on(embedded.call(&keyed("acme/a", &name), request)).unwrap();
    }
}

#[test]
#[cfg(feature = "failpoints")]
fn killed_after_a_commit_a_retry_makes_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "control::embedded::tests::crash::child", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success(), "it was killed");
    let embedded = Embedded::open(&folder.path().join("w.db"), EmbeddedOptions::seeded(2)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut replayed = Vec::new();
    for n in 0..5 {
        let name = format!("a{n}");
        let request = create(Kind::Agent, agent_body(&name), Some(&name));
        match runtime.block_on(embedded.call(&keyed("acme/a", &name), request)).unwrap() {
            Response::Written(w) => replayed.push(w.replayed),
            other => panic!("{other:?}"),
        }
    }
    // The third was committed and never answered.
    assert_eq!(replayed, [true, true, true, false, false]);
    let request = Request::Owner(OwnerOf { owner: owner("acme/a") });
    let Response::Owner(state) = runtime.block_on(embedded.call(&anyone(), request)).unwrap() else { panic!() };
    assert_eq!(state.count, 5);
}

#[test]
fn a_caller_that_goes_away_leaves_a_whole_write() {
    let ws = Ws::new();
    {
        let context = anyone();
        let mut call = Box::pin(ws.embedded.call(&context, create(Kind::Agent, agent_body("a"), None)));
        let waker = std::task::Waker::noop();
        // Queued, then dropped before the answer.
        let _ = call.as_mut().poll(&mut std::task::Context::from_waker(waker));
    }
    ws.agent(None, "b");
    let list = ListOf {
        kind: Kind::Agent,
        owner: None,
        labels: std::collections::BTreeMap::new(),
        include_archived: false,
        view: ListView::Full,
        source: None,
        created_from: None,
        created_to: None,
        page: None,
        limit: None,
    };
    let Response::Bodies(page) = ws.call(&anyone(), Request::List(list)).unwrap() else { panic!() };
    assert_eq!(page.data.len(), 2);
}

#[test]
fn a_half_written_log_is_left_out() {
    let ws = Ws::new();
    ws.agent(Some("acme/a"), "one");
    let log = ws.folder.path().join("w.db-wal");
    let copy = tempfile::tempdir().unwrap();
    // As a kill leaves it: the file, and a log whose last frames were cut.
    let before = std::fs::metadata(&log).unwrap().len();
    ws.agent(Some("acme/a"), "two");
    std::fs::copy(ws.path(), copy.path().join("w.db")).unwrap();
    let bytes = std::fs::read(&log).unwrap();
    let cut = usize::try_from(before).unwrap() + (bytes.len() - usize::try_from(before).unwrap()) / 2;
    std::fs::write(copy.path().join("w.db-wal"), &bytes[..cut]).unwrap();
    let embedded = Embedded::open(&copy.path().join("w.db"), EmbeddedOptions::seeded(2)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let request = Request::Owner(OwnerOf { owner: owner("acme/a") });
    let Response::Owner(state) = runtime.block_on(embedded.call(&anyone(), request)).unwrap() else { panic!() };
    assert_eq!(state.count, 1);
}
