//! A job that is cancelled: what is in flight finishes, the receipt is told first and the comment then, and the next
//! run does the rest. A gate before the workspace's server holds what is in flight, so nothing depends on time.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};

use checkfu::ci::State;

use super::stage::{BOT, Stage};
use super::{MERGED, a};
use crate::cli_serve;
use crate::sandbox::{Ran, config};

const AGENTS: usize = 40;

/// A server that goes with this, however the test ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Stands before a server and holds every request that makes an agent until it is opened.
struct Gate {
    url: String,
    held: Receiver<()>,
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, held) = channel();
        let open = Arc::new((Mutex::new(false), Condvar::new()));
        let (server, shared) = (server.trim_start_matches("http://").to_owned(), Arc::clone(&open));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, open, tell) = (server.clone(), Arc::clone(&shared), tell.clone());
                std::thread::spawn(move || pass(client, &server, &open, &|| tell.send(()).unwrap_or_default()));
            }
        });
        Self { url, held, open }
    }

    fn set(&self, open: bool) {
        *self.open.0.lock().unwrap() = open;
        self.open.1.notify_all();
    }
}

/// Passes one connection on, request by request.
fn pass(mut client: TcpStream, server: &str, open: &(Mutex<bool>, Condvar), held: &dyn Fn()) {
    let Ok(mut server) = TcpStream::connect(server) else { return };
    while let Some(request) = message(&mut client) {
        if request.starts_with(b"POST /v1/agents") {
            held();
            drop(open.1.wait_while(open.0.lock().unwrap(), |open| !*open).unwrap());
        }
        if server.write_all(&request).is_err() {
            return;
        }
        let Some(answer) = message(&mut server) else { return };
        if client.write_all(&answer).is_err() {
            return;
        }
    }
}

/// One message with its body, by its `content-length`; `None` at the end. Nobody sends two at once.
fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut all, mut some) = (Vec::new(), [0; 16 << 10]);
    loop {
        if let Some(head) = all.windows(4).position(|w| w == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&all[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            if all.len() >= head + 4 + length.unwrap_or(0) {
                return Some(all);
            }
        }
        match stream.read(&mut some) {
            Ok(n) if n > 0 => all.extend_from_slice(&some[..n]),
            _ => return None,
        }
    }
}

fn kill(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_cancelled_apply_finishes_what_is_in_flight_tells_it_and_the_next_run_does_the_rest() {
    let mut stage = Stage::new();
    let made = ["token", "create", "ci", "--db", "w.db", "--scope", "apply", "--owner", "acme/*"];
    let token = stage.s.run(&made).code(0).out.trim_end().to_owned();
    let (server, url) = cli_serve::serving(&stage.s);
    let _server = Server(server);
    let gate = Gate::before(&url);
    stage.more = vec![("T".to_owned(), token)];
    let target = format!("targets: {{there: {{kind: checkfu, url: \"{}\", token: {{env: T}}}}}}\n", gate.url);
    stage.check_out(
        &stage.push("main", &[("checkfu.yaml", &(config("acme/many") + &target)), (".gitignore", "w.db*\n")]),
    );

    let files: Vec<(String, String)> = (0..AGENTS).map(|i| (format!("agents/m{i}.md"), a("You answer."))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let pull = stage.propose("many", &files);
    let comment = stage.show(pull, BOT);
    stage.merge(pull);

    let mut child = stage.job(MERGED).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    gate.held.recv().unwrap();
    assert_eq!(stage.state(comment), State::Applying);
    assert!(stage.fake.world().comments[&comment].body.contains("runs/12"));
    kill(&child, "-INT");
    let mut out: Vec<String> = Vec::new();
    for line in lines.by_ref() {
        out.push(line);
        if out.last().unwrap().contains("what is in flight finishes") {
            break;
        }
    }
    // The second signal comes while what is in flight is still held, and ends nothing.
    kill(&child, "-TERM");
    gate.set(true);
    out.extend(lines);
    let code = child.wait().unwrap().code().unwrap();
    let told = stage.told(Ran { code, out: out.join("\n"), err: String::new() }).is(130, "interrupted");
    assert_eq!((&told["applied"], told["apply-id"].is_empty()), ("false", false));
    assert!(told.summary.contains("### checkfu: interrupted"), "{}", told.summary);
    assert_eq!(stage.state(comment), State::Failed);
    let body = stage.fake.world().comments[&comment].body.to_lowercase();
    assert!(body.contains("interrupted"), "{body}");
    let live = |stage: &Stage| stage.run(&["get", "--json"]).code(0).json()["resources"].as_array().unwrap().len();
    let done = live(&stage);
    assert!((1..=10).contains(&done), "{done} are done, and ten at most were in flight");

    let told = stage.ci(MERGED).is(0, "");
    assert_eq!(told["creates"].parse::<usize>().unwrap(), AGENTS - done, "the rest, and nothing twice");
    assert_eq!((live(&stage), stage.state(comment)), (AGENTS, State::Applied));
}

#[test]
fn a_job_that_is_cancelled_while_it_plans_has_done_nothing_and_says_so() {
    let mut stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let target = format!("targets: {{there: {{kind: checkfu, url: \"{url}\", token: {{env: T}}}}}}\n");
    stage.more = vec![("T".to_owned(), "cfu_x".to_owned())];
    let files = [("checkfu.yaml", config("acme/many") + &target), ("agents/a.md", a("You are A."))];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    stage.check_out(&stage.push("main", &files));
    let mut child = stage.job(&[("approval", "none")]).stdout(Stdio::piped()).spawn().unwrap();
    // A server that never answers.
    let (_held, _) = listener.accept().unwrap();
    kill(&child, "-INT");
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let code = child.wait().unwrap().code().unwrap();
    let told = stage.told(Ran { code, out, err: String::new() }).is(130, "interrupted");
    assert!(told.summary.contains("ci.interrupted") && stage.fake.writes().is_empty(), "{}", told.summary);
}
