//! The file: made whole or not at all, refused when it is not a good workspace, and what a full one does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::control::embedded::OnFirstWrite;
use crate::store::New;

fn opened(path: &Path) -> Result<Embedded, ControlError> {
    let options = EmbeddedOptions { busy_timeout: Duration::from_millis(20), ..EmbeddedOptions::seeded(9) };
    Embedded::open(path, options)
}

fn code(path: &Path) -> &'static str {
    let error = opened(path).err().expect("it is refused");
    assert!(error.message.contains(path.to_str().unwrap()), "{}", error.message);
    error.code
}

#[test]
fn a_new_workspace_is_one_private_file_and_stays_the_same_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/w.db");
    assert!(Embedded::open_existing(&path, EmbeddedOptions::seeded(1)).unwrap().is_none());
    assert!(!path.exists() && !folder.path().join("deep").exists(), "a plan makes nothing");
    drop(opened(&path).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["w.db"], "nothing is left beside it");
    let id = |e: &Embedded| e.inner.identity.id.clone();
    let first = opened(&path).unwrap();
    assert_eq!(id(&first), id(&opened(&path).unwrap()));
}

#[test]
fn a_workspace_is_made_by_the_first_write_and_reads_as_empty_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/w.db");
    let fresh = OnFirstWrite::open(&path, EmbeddedOptions::seeded(1)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let owner = || match runtime.block_on(fresh.call(&anyone(), Request::Owner(OwnerOf { owner: owner("a") }))) {
        Ok(Response::Owner(state)) => state.count,
        other => panic!("{other:?}"),
    };
    assert_eq!(owner(), 0);
    assert!(!path.parent().unwrap().exists());
    let made = create(Kind::Agent, agent_body("support"), Some("support"));
    runtime.block_on(fresh.call(&by("a"), made.clone())).unwrap();
    assert_eq!(owner(), 1);
    // One that is there is opened at once, with whatever speaks against it.
    let second = OnFirstWrite::open(&path, EmbeddedOptions::seeded(1)).unwrap();
    assert!(runtime.block_on(second.call(&by("a"), made)).is_err());
    fs::write(folder.path().join("bad.db"), "x").unwrap();
    assert!(OnFirstWrite::open(&folder.path().join("bad.db"), EmbeddedOptions::seeded(1)).is_err());
}

/// What lies in a folder: names and bytes, but for the index of a log, which is made anew by whoever looks.
fn folder(path: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(path).unwrap().map(|e| e.unwrap().path());
    let named = files.map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&p).unwrap()));
    let mut all: Vec<_> = named.filter(|(name, _)| !name.ends_with("-shm")).collect();
    all.sort();
    all
}

#[test]
fn a_look_leaves_every_byte_as_it_is() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let looked = |path: &Path| {
        let looks = Embedded::open_to_look(path, EmbeddedOptions::seeded(2)).unwrap().unwrap();
        let ask = Request::Owner(OwnerOf { owner: owner("acme/a") });
        let Response::Owner(state) = runtime.block_on(looks.call(&by("acme/a"), ask)).unwrap() else { panic!() };
        let write = create(Kind::Agent, agent_body("new"), Some("new"));
        let refused = runtime.block_on(looks.call(&by("acme/a"), write)).unwrap_err();
        assert_eq!(refused.code, "store.read_only");
        state.count
    };
    assert!(Embedded::open_to_look(Path::new("/none.db"), EmbeddedOptions::seeded(2)).unwrap().is_none());
    let ws = Ws::new();
    ws.agent(Some("acme/a"), "support");
    // What a killed process leaves: changes that are in the log alone. Beside one that has it open nothing is different.
    let killed = tempfile::tempdir().unwrap();
    for name in ["w.db", "w.db-wal"] {
        fs::copy(ws.path().with_file_name(name), killed.path().join(name)).unwrap();
    }
    assert_eq!(looked(&ws.path()), 1);
    let good = ws.path();
    drop(ws.embedded);
    let older = tempfile::tempdir().unwrap();
    let made = New { id: "ws_old".into(), epoch: "e".into(), at: "2026-11-30T00:00:00Z".into() };
    crate::store::create_older(&older.path().join("w.db"), &made);
    for (path, count) in [(good, 1), (killed.path().join("w.db"), 1), (older.path().join("w.db"), 0)] {
        let before = folder(path.parent().unwrap());
        assert_eq!(looked(&path), count, "{}", path.display());
        assert!(folder(path.parent().unwrap()) == before, "{}", path.display());
    }
}

#[test]
fn what_is_no_workspace_is_refused_and_not_touched() {
    let ws = Ws::new();
    ws.agent(Some("acme/a"), "support");
    let good = ws.path();
    drop(ws.embedded);
    let whole = fs::read(&good).unwrap();
    let path = ws.folder.path().join("bad.db");
    let refuse = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let code = code(&path);
        assert_eq!(fs::read(&path).unwrap(), bytes, "it is as it was");
        code
    };
    assert_eq!(refuse(b""), "store.damaged");
    assert_eq!(refuse(b"SQLite"), "store.damaged");
    assert_eq!(refuse(b"apiVersion: checkfu.com/v1\n"), "store.not_a_database");
    assert_eq!(refuse(&whole[..whole.len() / 2]), "store.damaged");
    assert_eq!(refuse(&whole[..60]), "store.damaged");
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    assert_eq!(refuse(&newer), "store.newer");
    let mut other = whole.clone();
    other[68..72].copy_from_slice(&[0; 4]);
    assert_eq!(refuse(&other), "store.not_a_database");
    let mut scribbled = whole.clone();
    scribbled[4_096..8_192].fill(0xaa);
    fs::write(&path, &scribbled).unwrap();
    assert_eq!(opened(&path).err().map(|e| e.code), Some("store.damaged"));
    fs::write(&path, &whole).unwrap();
    assert!(opened(&path).is_ok());
    let folder = ws.folder.path().join("folder.db");
    fs::create_dir(&folder).unwrap();
    assert!(opened(&folder).is_err());
}

#[test]
fn migrations_other_than_ours_are_refused() {
    let ws = Ws::new();
    let path = ws.path();
    drop(ws.embedded);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute("UPDATE migration SET checksum = zeroblob(32)", []).unwrap();
    conn.close().unwrap();
    assert_eq!(code(&path), "store.damaged");
}

#[test]
fn a_lock_held_too_long_is_told_and_reading_goes_on() {
    let ws = Ws::new();
    let id = ws.agent(None, "support").id;
    let patient = opened(&ws.path()).unwrap();
    let other = rusqlite::Connection::open(ws.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let send = |request| runtime.block_on(patient.call(&anyone(), request));
    let error = send(create(Kind::Agent, agent_body("x"), None)).unwrap_err();
    assert_eq!((error.code, error.kind), ("store.locked", crate::control::ErrorKind::Unavailable));
    send(Request::Get(GetOf { kind: Kind::Agent, id, version: None })).unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    send(create(Kind::Agent, agent_body("x"), None)).unwrap();
}

#[test]
fn a_full_workspace_undoes_the_write_at_hand_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.db");
    drop(opened(&path).unwrap());
    let (database, identity) =
        crate::store::Database::open(&path, EmbeddedOptions::seeded(9).patience()).unwrap().unwrap();
    let pages: u32 = {
        let conn = database.reader().unwrap();
        conn.query_row("PRAGMA page_count", [], |r| r.get(0)).unwrap()
    };
    let limited = database.writer().unwrap();
    limited.query_row("PRAGMA max_page_count = ".to_owned().as_str(), [], |_| Ok(())).ok();
    limited.query_row(&format!("PRAGMA max_page_count = {}", pages + 60), [], |_| Ok(())).unwrap();
    let embedded = Embedded::with(database, identity, limited, EmbeddedOptions::seeded(9)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut done = 0;
    let error = loop {
        let mut body = agent_body(&format!("a{done}"));
        body.insert("system".to_owned(), format!("{done}").repeat(5_000).into());
        match runtime.block_on(embedded.call(&anyone(), create(Kind::Agent, body, None))) {
            Ok(_) => done += 1,
            Err(e) => break e,
        }
        assert!(done < 1_000);
    };
    assert_eq!((error.code, done > 0), ("store.no_space", true));
    let again = create(Kind::Agent, agent_body("small"), None);
    let small = runtime.block_on(embedded.call(&anyone(), again)).is_ok();
    drop(embedded);
    let embedded = opened(&path).unwrap();
    let Response::Bodies(page) = runtime.block_on(embedded.call(&anyone(), Request::List(all_agents()))).unwrap()
    else {
        panic!()
    };
    assert_eq!(page.data.len(), done + usize::from(small), "what was answered is there, and nothing else");
}

#[test]
fn two_makers_at_once_make_one_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.db");
    let open = |seed| {
        let path = path.clone();
        std::thread::spawn(move || {
            Embedded::open(&path, EmbeddedOptions::seeded(seed)).unwrap().inner.identity.id.clone()
        })
    };
    let ids: Vec<_> = (0..4).map(open).map(|t| t.join().unwrap()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
}

const READ_ONLY: &str = "CHECKFU_TEST_READ_ONLY";

/// Runs as somebody who may not write, in a process of its own.
#[test]
fn child() {
    let Some(path) = std::env::var_os(READ_ONLY) else { return };
    let path = Path::new(&path);
    assert_eq!(code(path), "store.read_only");
    let missing = path.with_file_name("new.db");
    assert!(Embedded::open_existing(&missing, EmbeddedOptions::seeded(9)).unwrap().is_none());
    let found = Embedded::open_existing(path, EmbeddedOptions::seeded(9)).unwrap().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let send = |request| runtime.block_on(found.call(&anyone(), request));
    let Response::Bodies(page) = send(Request::List(all_agents())).unwrap() else { panic!() };
    let names: Vec<_> = page.data.iter().filter_map(|b| b.get("name")?.as_str()).collect();
    println!("read {names:?}");
    assert_eq!(send(create(Kind::Agent, agent_body("x"), None)).unwrap_err().code, "store.read_only");
    assert_eq!(found.may_write().unwrap_err().code, "store.read_only");
    assert_eq!(found.integrity().unwrap(), Vec::<String>::new());
}

fn all_agents() -> ListOf {
    ListOf {
        kind: Kind::Agent,
        owner: None,
        labels: std::collections::BTreeMap::new(),
        include_archived: false,
        view: ListView::Full,
        source: None,
        created_from: None,
        created_to: None,
        page: None,
        limit: Some(100),
    }
}

/// What is in a folder, and what each file holds; what SQLite keeps of locks in the index is not counted.
fn everything(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name(), if e.file_name() == "w.db-shm" { Vec::new() } else { fs::read(e.path()).unwrap() }))
        .collect();
    all.sort();
    all
}

/// Reads as somebody who may not write; nothing in the folder changes.
#[track_caller]
fn read_by_another(path: &Path, expected: &str) {
    let before = everything(path.parent().unwrap());
    let exe = std::env::current_exe().unwrap();
    let root = fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let mut command = if root {
        // Root may write anywhere, so it is dropped.
        let mut dropped = std::process::Command::new("setpriv");
        dropped.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(exe);
        dropped
    } else {
        std::process::Command::new(exe)
    };
    let output = command
        .args(["--exact", "control::embedded::tests::store::child", "--nocapture"])
        .env(READ_ONLY, path)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("1 passed") && told.contains(expected), "{told}");
    assert!(everything(path.parent().unwrap()) == before, "nothing is changed, and nothing is left beside it");
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_or_folder_that_is_read_only_is_read_and_not_written() {
    let ws = Ws::new();
    ws.agent(None, "support");
    let path = ws.path();
    let folder = ws.folder.path().to_owned();
    drop(ws.embedded);
    set(&path, 0o444);
    for mode in [0o555, 0o755] {
        set(&folder, mode);
        read_by_another(&path, "read [\"support\"]");
    }
    set(&path, 0o666);
    set(&folder, 0o555);
    read_by_another(&path, "read [\"support\"]");
    set(&folder, 0o755);
}

#[test]
fn what_a_writer_has_in_its_log_is_read_too() {
    let ws = Ws::new();
    let path = ws.path();
    let folder = ws.folder.path().to_owned();
    // The writer stays: its log holds this, the file itself does not.
    ws.agent(None, "logged");
    for suffix in ["", "-wal", "-shm"] {
        set(&folder.join(format!("{}{suffix}", path.file_name().unwrap().to_str().unwrap())), 0o444);
    }
    set(&folder, 0o555);
    read_by_another(&path, "read [\"logged\"]");
    set(&folder, 0o755);
}

#[test]
fn a_wait_for_another_process_is_told_and_ends_when_that_lets_go() {
    let ws = Ws::new();
    let path = ws.path();
    let other = std::sync::Mutex::new(rusqlite::Connection::open(&path).unwrap());
    other.lock().unwrap().execute_batch("BEGIN IMMEDIATE").unwrap();
    // Whoever is told lets go: no clock decides.
    let on_wait = std::sync::Arc::new(move || other.lock().unwrap().execute_batch("ROLLBACK").unwrap());
    let options = EmbeddedOptions { on_wait, ..EmbeddedOptions::seeded(9) };
    let patient = Embedded::open(&path, options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(patient.call(&anyone(), create(Kind::Agent, agent_body("x"), None))).unwrap();
}

#[test]
fn one_that_lets_nobody_read_is_waited_for_too() {
    let ws = Ws::new();
    let path = ws.path();
    drop(ws.embedded);
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE workspace SET id = id; COMMIT")
        .unwrap();
    assert_eq!(code(&path), "store.locked");
    let other = std::sync::Mutex::new(Some(other));
    let on_wait = std::sync::Arc::new(move || drop(other.lock().unwrap().take()));
    assert!(Embedded::open(&path, EmbeddedOptions { on_wait, ..EmbeddedOptions::seeded(9) }).is_ok());
}

#[test]
fn a_read_is_answered_in_every_kind_of_runtime() {
    use std::sync::Arc;
    use tokio::runtime::Builder;
    let Ws { embedded, folder: _folder, .. } = Ws::new();
    let embedded = Arc::new(embedded);
    let read = || {
        let embedded = Arc::clone(&embedded);
        async move {
            let request = Request::Owner(OwnerOf { owner: "acme/a".parse().unwrap() });
            matches!(embedded.call(&Context::default(), request).await, Ok(Response::Owner(_)))
        }
    };
    let one = Builder::new_current_thread().build().unwrap();
    assert!(one.block_on(read()));
    assert!(one.block_on(async { tokio::spawn(read()).await.unwrap() }), "a task of its one thread");
    let several = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert!(several.block_on(read()));
    assert!(several.block_on(async { tokio::spawn(read()).await.unwrap() }), "a task of a worker");
    assert!(several.block_on(async { tokio::join!(read(), read()) == (true, true) }), "side by side in a task");
    // No runtime at all.
    let mut alone = Box::pin(read());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(alone.as_mut().poll(&mut context), std::task::Poll::Ready(true));
}
