//! `checkfu backup` and `checkfu restore`.

use std::sync::atomic::{AtomicBool, Ordering};

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions, backup};
use checkfu::model::op::{ApplyBegin, AuditList, Context, Request, Response, Source};

use crate::sandbox::{Sandbox, agent, config};

/// A project whose workspace is `w.db`, applied.
fn applied() -> Sandbox {
    let target = "targets: {local: {kind: embedded, path: w.db}}\n";
    let s = Sandbox::with(&[("checkfu.yaml", &(config("acme/a") + target)), ("agents/a.md", &agent("", "One.\n"))]);
    s.run(&["apply", "--yes"]).code(0);
    s
}

fn backed_up(s: &Sandbox) -> Vec<u8> {
    s.run(&["backup", "--db", "w.db", "b.db"]).code(0);
    std::fs::read(s.path("b.db")).unwrap()
}

fn embedded(s: &Sandbox) -> Embedded {
    Embedded::open(&s.path("w.db"), EmbeddedOptions::default()).unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn what_was_backed_up_comes_back_in_another_epoch() {
    let s = applied();
    s.edit("agents/a.md", "One.", "Two.");
    s.run(&["plan", "-o", "plan.json"]).code(0);
    // A run that never ended, and a key that was used.
    {
        let w = embedded(&s);
        let owner: checkfu::model::Owner = "acme/a".parse().unwrap();
        let context = Context { owner: Some(owner.clone()), key: Some("k".to_owned()), ..Context::default() };
        let plan_digest = checkfu::model::Digest::of(b"p");
        let begin = ApplyBegin { owner, plan_digest, source: Source::default(), addresses: Vec::new() };
        runtime().block_on(w.call(&context, Request::ApplyBegin(begin))).unwrap();
    }
    let json = s.run(&["backup", "--db", "w.db", "b.db", "--json"]).code(0).json();
    assert_eq!(json["bytes"].as_u64().unwrap(), std::fs::metadata(s.path("b.db")).unwrap().len());
    assert!(s.files().iter().all(|(name, _)| !name.starts_with(".workspace-") && !name.starts_with("b.db-")));
    s.run(&["apply", "--yes"]).code(0);
    // Nothing is overwritten by accident.
    assert!(s.run(&["backup", "--db", "w.db", "b.db"]).code(1).err.contains("cli.exists"));
    assert!(s.run(&["restore", "--db", "w.db", "b.db"]).code(1).err.contains("cli.exists"));
    let done = s.run(&["restore", "--db", "w.db", "b.db", "--force", "--json"]).code(0).json();
    assert_eq!((&done["workspace"], &done["old_epoch"]), (&json["workspace"], &json["epoch"]));
    assert_ne!(done["epoch"], json["epoch"]);
    assert_eq!(done["applies"], 1, "{done}");
    assert!(done["keys"].as_u64().unwrap() > 0, "{done}");
    // A plan from before is refused, a new one is not: what came after the backup is to be done again.
    assert!(s.run(&["apply", "--plan", "plan.json"]).code(4).err.contains("apply.other_workspace"));
    let history = s.run(&["history", "--json"]).code(0).json();
    assert_eq!(history["applies"][0]["outcome"], "interrupted", "{history}");
    assert!(s.run(&["apply", "--yes"]).code(0).out.contains("1 done"));
    let facts = runtime().block_on(async {
        let request = Request::AuditList(AuditList::default());
        embedded(&s).call(&Context::default(), request).await.unwrap()
    });
    let Response::Audit(facts) = facts else { panic!("{facts:?}") };
    assert!(facts.iter().any(|f| f.operation == "workspace.restore" && f.actor == "local"), "{facts:?}");
    // To a new place it needs no force, and says what it did.
    let told = s.run(&["restore", "--db", "n.db", "b.db"]).code(0).out;
    assert!(told.contains("plan again") && told.contains("1 apply in work"), "{told}");
    assert!(s.run(&["doctor"]).code(0).out.contains("workspace"));
}

#[test]
fn what_is_no_backup_is_refused_and_nothing_is_touched() {
    let s = applied();
    let whole = backed_up(&s);
    let before = std::fs::read(s.path("w.db")).unwrap();
    let refused = |bytes: &[u8], code: &str| {
        std::fs::write(s.path("bad.db"), bytes).unwrap();
        for (args, db) in [(&["--force"][..], "w.db"), (&[], "n.db")] {
            let ran = s.run(&[&["restore", "--db", db, "bad.db"], args].concat()).code(1);
            assert!(ran.err.contains(code), "{code}: {ran:?}");
        }
        assert_eq!(std::fs::read(s.path("w.db")).unwrap(), before);
        let names: Vec<String> = s.files().into_iter().map(|(name, _)| name).collect();
        assert!(names.iter().all(|n| n != "n.db" && !n.starts_with(".workspace-")), "{names:?}");
    };
    refused(b"no database at all", "store.not_a_database");
    refused(b"", "store.damaged");
    refused(&whole[..whole.len() / 2], "store.damaged");
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    refused(&newer, "store.newer");
    let mut foreign = whole.clone();
    foreign[68..72].fill(0);
    refused(&foreign, "store.not_a_database");
    let mut torn = whole.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 4_096].fill(0xa5);
    refused(&torn, "store.damaged");
    assert!(s.run(&["restore", "--db", "n.db", "none.db"]).code(1).err.contains("cli.read"));
    assert!(s.run(&["restore", "--db", "w.db", "w.db", "--force"]).code(1).err.contains("same file"));
    // Nor is a file replaced that is no workspace; a workspace that is damaged is.
    s.write("notes.txt", "dear diary");
    // What is to be done is told of the option or argument that names the file.
    for (args, named_by) in [
        (["restore", "--db", "notes.txt", "b.db", "--force"], "`--db`"),
        (["restore", "--db", "w.db", "notes.txt", "--force"], "`FROM`"),
        (["backup", "--db", "w.db", "notes.txt", "--force"], "`OUT`"),
        (["backup", "--db", "notes.txt", "c.db", "--force"], "`--db`"),
    ] {
        let told = s.run(&args).code(1).err;
        assert!(told.contains("store.not_a_database") && told.contains(named_by), "{args:?}: {told}");
        assert!(!told.contains("targets.NAME"), "{told}");
    }
    assert_eq!(s.read("notes.txt"), "dear diary");
    std::fs::write(s.path("w.db"), &torn).unwrap();
    s.run(&["restore", "--db", "w.db", "b.db", "--force"]).code(0);
    assert!(s.run(&["get"]).code(0).out.contains("Agent/a"));
    // A log that is left of a database that is gone would be played into the new one.
    s.write("n.db-wal", "log");
    assert!(s.run(&["restore", "--db", "n.db", "b.db"]).code(1).err.contains("n.db-wal"));
}

#[cfg(unix)]
#[test]
fn a_workspace_that_is_served_is_backed_up_and_not_replaced() {
    let s = applied();
    let (child, _) = crate::cli_serve::serving(&s);
    backed_up(&s);
    let refused = s.run(&["restore", "--db", "w.db", "b.db", "--force"]).code(1);
    assert!(refused.err.contains("store.locked"), "{refused:?}");
    // The server goes on, and writes.
    s.run(&["token", "create", "ci", "--db", "w.db", "--scope", "read"]).code(0);
    crate::cli_serve::end(child, "-TERM");
    s.run(&["restore", "--db", "w.db", "b.db", "--force"]).code(0);
    assert!(!s.run(&["token", "list", "--db", "w.db"]).code(0).out.contains("ci"));
    assert!(s.run(&["get"]).code(0).out.contains("Agent/a"));
}

#[test]
fn a_backup_under_writes_is_of_one_moment() {
    let s = Sandbox::empty();
    let w = embedded(&s);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = runtime();
            for n in 0.. {
                if stop.load(Ordering::Relaxed) && n > 40 {
                    return;
                }
                let create = checkfu::model::op::TokenCreate {
                    name: format!("t{n}"),
                    scope: checkfu::model::op::Scope::Read,
                    owners: Vec::new(),
                    actor_kind: checkfu::model::op::ActorKind::Api,
                    expires_at: None,
                };
                runtime.block_on(w.call(&Context::default(), Request::TokenCreate(create))).unwrap();
            }
        });
        for n in 0..8 {
            let out = s.path(&format!("b{n}.db"));
            backup(&s.path("w.db"), &out, false, &EmbeddedOptions::default()).unwrap();
            let copy = Embedded::open(&out, EmbeddedOptions::default()).unwrap();
            assert_eq!(copy.integrity().unwrap(), Vec::<String>::new());
            let of = |request| runtime().block_on(copy.call(&Context::default(), request)).unwrap();
            let Response::Tokens(tokens) = of(Request::TokenList) else { panic!() };
            let query = AuditList::default();
            let Response::Audit(facts) = of(Request::AuditList(query)) else { panic!() };
            // Each write is a token and its fact, both or neither.
            assert_eq!(facts.len(), tokens.len().min(1_000), "backup {n}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}
