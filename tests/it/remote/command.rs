//! The commands on a target of kind checkfu.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use checkfu::control::ControlPlane;
use checkfu::control::remote::Secret;
use checkfu::model::op::{ActorKind, Context, Request, Response, Scope, TokenCreate};

use super::{World, facts, served};
use crate::sandbox::{Ran, Sandbox, agent, config, ran};

/// A server that goes with this, and a token as text.
struct Server {
    world: World,
    at: SocketAddr,
    runtime: tokio::runtime::Runtime,
    tokens: std::cell::Cell<u32>,
    _dir: tempfile::TempDir,
}

impl Server {
    fn start(seed: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = World::with(dir.path(), checkfu::control::embedded::EmbeddedOptions::seeded(seed));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (at, _task) = runtime.block_on(async { served(&world.workspace) });
        Self { world, at, runtime, tokens: std::cell::Cell::new(0), _dir: dir }
    }

    fn token(&self, scope: Scope, owners: &[&str]) -> String {
        self.tokens.set(self.tokens.get() + 1);
        let create = TokenCreate {
            name: format!("ci {}", self.tokens.get()),
            scope,
            owners: owners.iter().map(|o| (*o).to_owned()).collect(),
            actor_kind: ActorKind::Api,
            expires_at: None,
        };
        let context = Context { admin: true, ..Context::default() };
        match self.runtime.block_on(self.world.workspace.call(&context, Request::TokenCreate(create))).unwrap() {
            Response::Token(token) => token.secret,
            other => panic!("{other:?}"),
        }
    }

    fn facts(&self) -> Vec<String> {
        let all = self.runtime.block_on(facts(&self.world.workspace));
        all.into_iter().map(|f| f.operation).filter(|o| o != "tokens.create").collect()
    }
}

/// A project of two agents whose target is at a URL.
fn sandbox(url: &str) -> Sandbox {
    let sandbox = Sandbox::with(&[("agents/a.md", &agent("", "Answer.\n")), ("agents/b.md", &agent("", "Ask.\n"))]);
    target(&sandbox, url, "");
    sandbox
}

fn target(sandbox: &Sandbox, url: &str, more: &str) {
    let target = format!("targets: {{team: {{kind: checkfu, url: \"{url}\", token: {{env: TEAM_TOKEN}}{more}}}}}\n");
    sandbox.write("checkfu.yaml", &(config("acme/a") + &target));
}

fn run(sandbox: &Sandbox, token: &str, args: &[&str]) -> Ran {
    let ran = ran(&sandbox.command(args).env("TEAM_TOKEN", token).output().unwrap());
    assert!(!ran.out.contains(token) && !ran.err.contains(token), "{ran:?}");
    ran
}

#[test]
fn every_command_works_on_a_server() {
    let server = Server::start(1);
    let token = server.token(Scope::Apply, &["acme/*"]);
    let s = sandbox(&format!("http://{}", server.at));
    let plan = run(&s, &token, &["plan", "--json"]).code(0).json();
    assert_eq!(plan["origin"]["kind"], "checkfu");
    assert_eq!(plan["origin"]["at"], format!("http://{}", server.at));
    assert!(run(&s, &token, &["apply", "--yes"]).code(0).out.contains("2 done"));
    assert_eq!(
        run(&s, &token, &["plan", "--json", "--detailed-exitcode"]).code(0).json()["actions"],
        serde_json::json!([])
    );
    assert_eq!(run(&s, &token, &["get", "--json"]).code(0).json()["resources"].as_array().unwrap().len(), 2);
    assert!(run(&s, &token, &["get", "Agent/a"]).code(0).out.contains("Answer."));
    let history = run(&s, &token, &["history", "--json"]).code(0).json();
    assert_eq!(history["applies"][0]["actor"], "ci 1");
    let apply = history["applies"][0]["id"].as_str().unwrap();
    assert!(run(&s, &token, &["show", apply]).code(0).out.contains("Agent/a"));
    let doctor = run(&s, &token, &["doctor"]).code(0).out;
    assert!(doctor.contains("workspace ws_"), "{doctor}");
    s.edit("agents/a.md", "Answer.", "Answer twice.");
    run(&s, &token, &["apply", "--yes"]).code(0);
    run(&s, &token, &["destroy", "--allow", "destroy=acme/a", "--yes"]).code(0);
    let all = server.facts();
    let count = |operation: &str| all.iter().filter(|o| *o == operation).count();
    assert_eq!(["agents.create", "agents.update", "agents.archive"].map(count), [2, 1, 2], "{all:?}");
}

#[test]
fn a_plan_for_one_workspace_is_refused_by_another_before_any_write() {
    let (one, two) = (Server::start(1), Server::start(2));
    let s = sandbox(&format!("http://{}", one.at));
    run(&s, &one.token(Scope::Apply, &["*"]), &["plan", "--out", "plan.json"]).code(0);
    target(&s, &format!("http://{}", two.at), "");
    let token = two.token(Scope::Apply, &["*"]);
    let refused = run(&s, &token, &["apply", "--plan", "plan.json"]).code(4);
    assert!(refused.err.contains("apply.other_workspace"), "{refused:?}");
    assert_eq!(two.facts(), Vec::<String>::new());
    // A plan for a database that is not there yet is none for a server.
    s.write("checkfu.yaml", &(config("acme/a") + "targets: {team: {kind: embedded, path: w.db}}\n"));
    s.run(&["plan", "--out", "plan.json"]).code(0);
    target(&s, &format!("http://{}", two.at), "");
    assert!(run(&s, &token, &["apply", "--plan", "plan.json"]).code(4).err.contains("apply.other_workspace"));
    assert_eq!(two.facts(), Vec::<String>::new());
}

#[test]
fn who_may_not_is_told_why() {
    let server = Server::start(1);
    let s = sandbox(&format!("http://{}", server.at));
    let without = s.run(&["plan"]).code(1);
    assert!(without.err.contains("remote.token") && without.err.contains("TEAM_TOKEN"), "{without:?}");
    let unknown = run(&s, "cfu_hunter2", &["plan"]).code(1);
    assert!(unknown.err.contains("http.unauthenticated") && unknown.err.contains("does not know the token"));
    assert!(unknown.err.contains("targets.NAME.token") && !unknown.err.contains("hunter2"), "{unknown:?}");
    let other = server.token(Scope::Apply, &["other/*"]);
    let refused = run(&s, &other, &["plan"]).code(1);
    assert!(refused.err.contains("authoring.owner_not_allowed") && refused.err.contains("acme/a"), "{refused:?}");
    let reader = server.token(Scope::Plan, &["acme/*"]);
    run(&s, &reader, &["plan"]).code(0);
    assert!(run(&s, &reader, &["apply", "--yes"]).code(1).err.contains("auth.scope"));
    assert_eq!(server.facts(), Vec::<String>::new());
}

#[test]
fn a_take_over_needs_an_admin_and_what_is_handed_over_does_not() {
    let server = Server::start(1);
    let url = format!("http://{}", server.at);
    let (a, b) = (sandbox(&url), Sandbox::with(&[("agents/a.md", &agent("", "Answer.\n"))]));
    let of_a = server.token(Scope::Apply, &["acme/a"]);
    let of_b = server.token(Scope::Apply, &["acme/b"]);
    let boss = server.token(Scope::Admin, &["acme/b"]);
    run(&a, &of_a, &["apply", "--yes"]).code(0);
    let id = |s: &Sandbox, token: &str, address: &str| {
        let live = run(s, token, &["get", address, "--json"]).code(0).json();
        live["resources"][0]["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (id(&a, &of_a, "Agent/a"), id(&a, &of_a, "Agent/b"));
    let project = |owner: &str, more: &str| {
        format!(
            "{}targets: {{team: {{kind: checkfu, url: \"{url}\", token: {{env: TEAM_TOKEN}}}}}}\n{more}",
            config(owner)
        )
    };
    let adopt = format!("adopt: [{{address: Agent/a, id: {first}, from: acme/a}}]\n");
    b.write("checkfu.yaml", &project("acme/b", &adopt));
    assert!(run(&b, &of_b, &["plan"]).code(0).out.contains("acme/a"));
    let refused = run(&b, &of_b, &["apply", "--yes", "--json"]).code(4);
    assert!(refused.out.contains("acme/a") && refused.out.contains("admin"), "{refused:?}");
    assert_eq!(id(&a, &of_a, "Agent/a"), first);
    run(&b, &boss, &["apply", "--yes"]).code(0);
    assert_eq!(id(&b, &of_b, "Agent/a"), first);

    // What is handed over is taken by whoever may apply.
    a.write("checkfu.yaml", &project("acme/a", "removed: [{address: Agent/b, to: acme/b}]\n"));
    a.remove("agents/a.md");
    a.remove("agents/b.md");
    a.write("agents/c.md", &agent("", "Else.\n"));
    run(&a, &of_a, &["apply", "--yes"]).code(0);
    for (s, token) in [(&a, &of_a), (&b, &of_b)] {
        let none = run(s, token, &["get", "Agent/b"]).code(1);
        assert!(none.err.contains("handed over") && none.err.contains(&second), "{none:?}");
    }
    b.write("agents/b.md", &agent("", "Ask.\n"));
    run(&b, &of_b, &["apply", "--yes"]).code(0);
    assert_eq!(id(&b, &of_b, "Agent/b"), second);
    assert_eq!(run(&b, &of_b, &["plan", "--json"]).code(0).json()["actions"], serde_json::json!([]));
}

#[test]
fn whoever_may_plan_may_look_for_drift_and_nothing_comes_of_it() {
    let server = Server::start(1);
    let s = sandbox(&format!("http://{}", server.at));
    let writer = server.token(Scope::Apply, &["acme/*"]);
    run(&s, &writer, &["apply", "--yes"]).code(0);
    s.edit("agents/a.md", "Answer.", "Answer twice.");
    let before = server.facts();
    let planner = server.token(Scope::Plan, &["acme/a"]);
    let drift = run(&s, &planner, &["drift", "--json"]).code(0).json();
    assert_eq!((&drift["verdict"], drift["resources"].as_array().unwrap().len()), (&"as_applied".into(), 1));
    assert_eq!(drift["unmanaged"], serde_json::json!({"count": 0, "resources": []}));
    let reader = server.token(Scope::Read, &[]);
    assert!(run(&s, &reader, &["drift"]).code(1).err.contains("auth.scope"));
    assert!(run(&s, &planner, &["revert", "Agent/a", "--yes"]).code(1).err.contains("auth.scope"));
    assert_eq!(server.facts(), before);
}

#[cfg(unix)]
#[test]
fn an_edit_on_a_server_needs_an_admin_token() {
    let server = Server::start(1);
    let s = sandbox(&format!("http://{}", server.at));
    let writer = server.token(Scope::Apply, &["acme/*"]);
    run(&s, &writer, &["apply", "--yes"]).code(0);
    let edit = |token: &str| {
        let mut command = s.command(&["edit", "Agent/a", "--reason", "incident 12"]);
        ran(&command.env("TEAM_TOKEN", token).env("EDITOR", "sed -i s/Answer/Ask/").output().unwrap())
    };
    let refused = edit(&writer).code(1);
    assert!(refused.err.contains("what you wrote is in ") && !refused.err.contains("edit.moved"), "{refused:?}");
    let kept = refused.err.split("what you wrote is in ").nth(1).unwrap().split_whitespace().next().unwrap();
    std::fs::remove_file(kept).unwrap();
    edit(&server.token(Scope::Admin, &["acme/*"])).code(0);
    let drift = run(&s, &writer, &["drift", "--json"]).code(3).json();
    assert_eq!(drift["resources"][0]["differences"][0]["break_glass"], "incident 12");
}

#[test]
fn a_server_that_cannot_be_used_is_told_apart() {
    let server = Server::start(1);
    let token = server.token(Scope::Apply, &["acme/*"]);
    let s = sandbox("https://me:hunter2@checkfu.example.com");
    let refused = run(&s, &token, &["plan"]).code(1);
    assert!(refused.err.contains("remote.address") && !refused.err.contains("hunter2"), "{refused:?}");
    target(&s, "http://checkfu.example.com", "");
    assert!(run(&s, &token, &["plan"]).code(1).err.contains("insecure"));
    target(&s, &format!("https://{}", server.at), ", ca: none.pem");
    assert!(run(&s, &token, &["plan"]).code(1).err.contains("remote.tls"));
    // A server that speaks no TLS.
    target(&s, &format!("https://{}", server.at), "");
    assert!(run(&s, &token, &["plan"]).code(1).err.contains("remote.tls"));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    target(&s, &format!("http://{nobody}"), "");
    assert!(run(&s, &token, &["plan"]).code(1).err.contains("remote.unreachable"));
    let doctor = run(&s, &token, &["doctor"]).code(1).out;
    assert!(doctor.contains("remote.unreachable"), "{doctor}");
    target(&s, &format!("http://{}", hello()), "");
    assert!(run(&s, &token, &["plan"]).code(1).err.contains("remote.answer"));
}

/// A web server that has never heard of workspaces.
fn hello() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // What is asked does not matter, and who asked may be gone.
            drop(stream.read(&mut [0; 4_096]));
            let page = "<html>Hello</html>";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
            drop(write!(stream, "{head}content-length: {}\r\n\r\n{page}", page.len()));
        }
    });
    at
}

#[test]
fn a_secret_says_nothing_of_itself() {
    assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret");
}
