//! `checkfu serve`: says where it listens, answers, logs, and ends on a signal.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::sandbox::Sandbox;

/// Starts a server and reads what it says until it listens.
fn start(s: &Sandbox, args: &[&str]) -> (Child, Lines<BufReader<ChildStderr>>, Vec<String>, String) {
    let all = [&["serve", "--db", "w.db"], args].concat();
    let mut child = s.command(&all).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    for line in lines.by_ref().map(Result::unwrap) {
        if let Some(url) = line.strip_prefix("Listening on ") {
            let url = url.to_owned();
            return (child, lines, said, url);
        }
        said.push(line);
    }
    let ended = child.wait().unwrap();
    panic!("{ended}: {said:?}");
}

/// A server that listens on a port of the kernel's choice, and its URL. What it logs is read and let go of.
pub(crate) fn serving(s: &Sandbox) -> (Child, String) {
    let (child, lines, _, url) = start(s, &["--listen", "127.0.0.1:0"]);
    std::thread::spawn(move || lines.for_each(drop));
    (child, url)
}

pub(crate) fn end(mut child: Child, signal: &str) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
}

#[test]
fn it_serves_until_it_is_told_to_stop() {
    for signal in ["-INT", "-TERM"] {
        let s = Sandbox::empty();
        let (child, lines, said, url) = start(&s, &["--listen", "127.0.0.1:0"]);
        assert!(said.iter().any(|l| l.contains("no token")), "{said:?}");
        let at = url.strip_prefix("http://").unwrap();
        assert!(at.starts_with("127.0.0.1:") && !at.ends_with(":0"), "{url}");
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        end(child, signal);
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        let log = rest.iter().find_map(|l| serde_json::from_str::<serde_json::Value>(l).ok()).unwrap();
        assert_eq!((&log["route"], &log["status"]), (&"/healthz".into(), &200.into()), "{rest:?}");
        assert!(s.path("w.db").is_file());
    }
}

#[test]
fn a_wider_address_without_tls_is_warned_of() {
    let s = Sandbox::empty();
    let (child, _lines, said, _) = start(&s, &["--listen", "0.0.0.0:0"]);
    end(child, "-TERM");
    assert!(said.iter().any(|l| l.starts_with("warning: ") && l.contains("--tls-cert")), "{said:?}");
}

#[test]
fn what_cannot_be_served_is_told() {
    let s = Sandbox::empty();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = |args: &[&str]| s.run(&[&["serve", "--db", "w.db"], args].concat()).code(1).err;
    assert!(serve(&["--listen", &address]).contains("server.listen"));
    s.write("x.pem", "no certificate");
    let tls = |cert: &str| serve(&["--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", "x.pem"]);
    assert!(tls("x.pem").contains("server.tls"));
    assert!(tls("none.pem").contains("server.tls"));
    assert!(serve(&["--tls-cert", "x.pem"]).contains("--tls-key"));
    s.write("w.db", "no database");
    assert!(serve(&["--listen", "127.0.0.1:0"]).contains("store.not_a_database"));
}
