//! Questions on a terminal, and the second Ctrl-C. Each step waits for what is shown, never for time.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::sandbox::{Sandbox, agent, config, team};

/// A command whose stdin and stderr are a terminal.
struct Asked {
    child: Child,
    terminal: File,
    shown: String,
}

impl Asked {
    fn start(s: &Sandbox, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let end = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut command = s.command(args);
        command.env("TERM", "xterm").stdout(Stdio::null());
        let child = command.stdin(end.try_clone().unwrap()).stderr(end).spawn().unwrap();
        Self { child, terminal: File::from(master), shown: String::new() }
    }

    /// Reads until this is shown.
    #[track_caller]
    fn until(&mut self, text: &str) {
        while !self.shown.contains(text) {
            assert!(self.more(), "{text:?} is never shown: {}", self.shown);
        }
    }

    /// Reads what comes; false at the end. Linux says EIO when the other side is closed.
    fn more(&mut self) -> bool {
        let mut some = [0; 4_096];
        let n = self.terminal.read(&mut some).unwrap_or(0);
        self.shown.push_str(&String::from_utf8_lossy(&some[..n]));
        n > 0
    }

    fn type_keys(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// The exit code, once all is read.
    fn end(mut self) -> (i32, String) {
        while self.more() {}
        (self.child.wait().unwrap().code().unwrap_or(-1), self.shown)
    }
}

fn live(s: &Sandbox) -> usize {
    let ran = s.run(&["get", "--json"]);
    if ran.code == 0 { ran.json()["resources"].as_array().unwrap().len() } else { 0 }
}

#[test]
fn an_apply_is_asked_for_and_no_is_the_default() {
    let s = team();
    for keys in ["n", "\r", "\u{1b}"] {
        let mut asked = Asked::start(&s, &["apply"]);
        asked.until("Apply this to local?");
        asked.type_keys(keys);
        let (code, shown) = asked.end();
        assert!(code == 1 && shown.contains("cli.declined"), "{keys:?}: {code} {shown}");
        assert!(!s.path(".checkfu/workspace.db").exists(), "nothing was made");
    }
    let mut asked = Asked::start(&s, &["apply"]);
    asked.until("Apply this to local?");
    asked.type_keys("y");
    let (code, shown) = asked.end();
    assert_eq!((code, live(&s)), (0, 4), "{shown}");
    let (code, shown) = Asked::start(&s, &["apply"]).end();
    assert!(code == 0 && !shown.contains("Apply this"), "nothing to do is not asked for: {shown}");
}

#[test]
fn a_destroy_wants_the_name_of_the_owner_typed() {
    let s = team();
    s.run(&["apply", "--yes"]).code(0);
    for answer in ["\r", "y\r", "acme/suppor\r"] {
        let mut asked = Asked::start(&s, &["destroy"]);
        asked.until("Type acme/support to retire all of it");
        asked.type_keys(answer);
        let (code, shown) = asked.end();
        assert!(code == 1 && shown.contains("cli.declined"), "{answer:?}: {code} {shown}");
        assert_eq!(live(&s), 4);
    }
    let mut asked = Asked::start(&s, &["destroy"]);
    asked.until("Type acme/support to retire all of it");
    asked.type_keys("acme/support\r");
    let (code, shown) = asked.end();
    assert_eq!((code, live(&s)), (0, 0), "{shown}");
}

#[test]
fn a_second_interrupt_stops_at_once_and_the_next_apply_does_the_rest() {
    let s = Sandbox::with(&[("checkfu.yaml", &config("acme/x")), ("agents/a.md", &agent("", "Hi.\n"))]);
    s.run(&["apply", "--yes"]).code(0);
    s.write("agents/b.md", &agent("", "You are new.\n"));
    // What is in flight cannot finish while another process holds the workspace.
    let other = rusqlite::Connection::open(s.path(".checkfu/workspace.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut child = s.command(&["apply", "--yes"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let interrupt = |child: &Child| {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    };
    assert!(lines.any(|l| l.contains("held by another process")));
    interrupt(&child);
    assert!(lines.any(|l| l.contains("Once more stops at once")));
    interrupt(&child);
    assert!(lines.any(|l| l.contains("Stopped. Run the same command again")));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(live(&s), 1);
    s.run(&["apply", "--yes"]).code(0);
    assert_eq!(live(&s), 2);
}
