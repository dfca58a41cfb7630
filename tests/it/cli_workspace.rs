//! The workspace's file as others leave it: read-only, or held by another process.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::sandbox::{Ran, Sandbox, agent, ran, team};

const DATABASE: &str = ".checkfu/workspace.db";

/// An applied project with an agent that is not applied yet.
fn applied() -> Sandbox {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    s.write("agents/new.md", &agent("", "You are new.\n"));
    s
}

/// The codes that a failing command tells.
fn codes(ran: Ran) -> Vec<String> {
    let document = ran.code(1).json();
    document["diagnostics"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap().to_owned()).collect()
}

/// Runs the binary as nobody, who owns nothing here. `None`: this is not root, so rights cannot be dropped.
fn as_nobody(s: &Sandbox, before: &[&str], args: &[&str]) -> Option<Ran> {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout.trim_ascii() != b"0" {
        return None;
    }
    for dir in [s.dir().parent().unwrap().to_owned(), s.dir()] {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The binary may lie below a folder that nobody may enter: it is opened before the rights go.
    let binary = s.dir().parent().unwrap().join("checkfu");
    if !binary.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_checkfu"), &binary).unwrap();
    }
    let mut command = Command::new("env");
    command.current_dir(s.dir()).arg("-u").arg("HOME").args(before).arg(binary).args(args).uid(65_534).gid(65_534);
    Some(ran(&command.output().unwrap()))
}

#[test]
fn what_may_not_be_read_or_written_is_said_and_nothing_is_changed() {
    let s = applied();
    // Who may read nothing at all is told so; this one may.
    std::fs::set_permissions(s.path(DATABASE), std::fs::Permissions::from_mode(0o644)).unwrap();
    let before = std::fs::read(s.path(DATABASE)).unwrap();
    let Some(ran) = as_nobody(&s, &[], &["apply", "--yes", "--json"]) else {
        println!("skipped: not root, so no rights can be dropped");
        return;
    };
    assert_eq!(codes(ran), ["store.read_only"]);
    for args in [&["get", "--json"][..], &["history", "--json"], &["plan", "--json"], &["plan"], &["history"]] {
        let theirs = as_nobody(&s, &[], args).unwrap().code(0);
        assert_eq!(theirs.out, s.run(args).code(0).out, "{args:?}: what may be read is told as to the owner");
    }
    std::fs::set_permissions(s.path("agents/faq.md"), std::fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(codes(as_nobody(&s, &[], &["plan", "--json"]).unwrap()), ["bundle.unreadable"]);
    assert_eq!(codes(as_nobody(&s, &[], &["new", "agent", "x", "--json"]).unwrap()), ["cli.write"]);
    let told = as_nobody(&s, &["prlimit", "--nproc=1"], &["validate", "--json"]).unwrap();
    assert_eq!(codes(told), ["cli.internal"], "no threads, and no panic");
    assert!(std::fs::read(s.path(DATABASE)).unwrap() == before && !s.path("agents/x.md").exists());
}

#[test]
fn an_apply_says_that_it_waits_for_another_process_and_goes_on() {
    let s = applied();
    let other = rusqlite::Connection::open(s.path(DATABASE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut command = s.command(&["apply", "--yes", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|l| l.starts_with("The workspace is held by another process; waiting for it, at most")));
    other.execute_batch("ROLLBACK").unwrap();
    let rest: Vec<String> = lines.collect();
    let mut receipt = String::new();
    child.stdout.take().unwrap().read_to_string(&mut receipt).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}{receipt}");
    s.run(&["plan", "--detailed-exitcode"]).code(0);
}
