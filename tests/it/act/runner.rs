//! A runner: `act` on this machine, without a network, with the action as it is installed from a release on loopback, a
//! GitHub on loopback and a workspace that a server on loopback holds.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Once};

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{ActorKind, Context, Request, Response, Scope, TokenCreate};
use checkfu::server::{Limits, ServeOptions, serve};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::action::install::Mirror;
use crate::ci_apply::stage::Stage;
use crate::github::{JOB, REPOSITORY};
use crate::repo;

/// The variable with the path of `act`.
const ACT: &str = "CHECKFU_TEST_ACT";
/// The action, as the workflows of the documentation name it.
const ACTION: &str = "OWNER/checkfu@0000000000000000000000000000000000000000";

/// A server that holds a workspace, until it is dropped.
pub(super) struct Team {
    pub(super) workspace: Arc<Embedded>,
    pub(super) url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Team {
    fn start(folder: &Path) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let workspace = Arc::new(Embedded::open(&folder.join("team.db"), EmbeddedOptions::default()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let served = Arc::clone(&workspace);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            let options = ServeOptions { listener, tls: None, limits: Limits::default() };
            runtime.block_on(serve(served, options, async move { drop(stopped.await) })).unwrap();
        });
        Self { workspace, url, stop: Some(stop), thread: Some(thread) }
    }

    pub(super) fn call(&self, context: &Context, request: Request) -> Response {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.workspace.call(context, request)).unwrap()
    }

    fn token(&self, name: &str, scope: Scope) -> String {
        let create = TokenCreate {
            name: name.to_owned(),
            scope,
            owners: vec!["*".to_owned()],
            actor_kind: ActorKind::Api,
            expires_at: None,
        };
        let context = Context { actor: "local".to_owned(), admin: true, ..Context::default() };
        match self.call(&context, Request::TokenCreate(create)) {
            Response::Token(token) => token.secret,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// All of it.
pub(super) struct Runner {
    act: PathBuf,
    pub(super) stage: Stage,
    pub(super) team: Team,
    /// Secrets of the repository, by name.
    secrets: BTreeMap<&'static str, String>,
    folder: tempfile::TempDir,
    mirror: Mirror,
}

/// A run of a workflow.
pub(super) struct Job<'a> {
    runner: &'a Runner,
    workflow: &'static str,
    event: &'static str,
    payload: Value,
    actor: &'static str,
    secrets: BTreeMap<&'static str, String>,
}

impl Job<'_> {
    pub(super) fn by(self, actor: &'static str) -> Self {
        Self { actor, ..self }
    }

    /// As GitHub runs what a fork or Dependabot sent: none of the repository's secrets.
    pub(super) fn without_secrets(mut self) -> Self {
        self.secrets.retain(|name, _| *name == "GITHUB_TOKEN");
        self
    }

    pub(super) fn secret(mut self, name: &'static str, value: &str) -> Self {
        self.secrets.insert(name, value.to_owned());
        self
    }

    pub(super) fn go(self) -> Done {
        let output = self.runner.command(&self).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        read(&text, output.status.success())
    }
}

/// What a run of a workflow left behind.
#[derive(Debug)]
pub(super) struct Done {
    /// Did every job succeed?
    pub(super) ok: bool,
    /// By job and step: the outputs of the action, as a later step sees them.
    outputs: BTreeMap<(String, String), BTreeMap<String, String>>,
    /// All job summaries, one after the other.
    pub(super) summary: String,
    /// Remarks that the runner would show: `error agents/a.md:3 message`.
    pub(super) remarks: Vec<String>,
    /// Jobs that ran.
    pub(super) jobs: Vec<String>,
    /// All that was written.
    pub(super) log: String,
}

impl Done {
    /// An output of the step `STEP` of a job; empty where there is none.
    pub(super) fn output(&self, job: &str, step: &str, name: &str) -> &str {
        let of = self.outputs.get(&(job.to_owned(), step.to_owned()));
        of.and_then(|o| o.get(name)).map_or("", String::as_str)
    }
}

impl Runner {
    /// With the files of a project on `main`; `{url}` in them is the address of the team's server.
    pub(super) fn start(files: &[(String, String)]) -> Self {
        let act = std::env::var_os(ACT).map(PathBuf::from).unwrap_or_else(|| panic!("{ACT} is not set"));
        let folder = tempfile::tempdir().unwrap();
        let team = Team::start(folder.path());
        let mut stage = Stage::new();
        let files: Vec<(&str, String)> =
            files.iter().map(|(p, t)| (p.as_str(), t.replace("{url}", &team.url))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
        let main = stage.push("main", &files);
        stage.check_out(&main);
        let secrets = BTreeMap::from([
            ("GITHUB_TOKEN", JOB.to_owned()),
            ("TEAM_PLAN_TOKEN", team.token("plans", Scope::Plan)),
            ("TEAM_APPLY_TOKEN", team.token("applies", Scope::Apply)),
        ]);
        stage.more.push(("TEAM_TOKEN".to_owned(), secrets["TEAM_APPLY_TOKEN"].clone()));
        let mirror = released(folder.path());
        Self { act, stage, team, secrets, folder, mirror }
    }

    /// One of the workflows of the documentation, as it is, for an event.
    pub(super) fn job(&self, workflow: &'static str, event: &'static str, payload: Value) -> Job<'_> {
        Job { runner: self, workflow, event, payload, actor: "ann", secrets: self.secrets.clone() }
    }

    fn command(&self, job: &Job<'_>) -> Command {
        let at = |name: &str| self.folder.path().join(name);
        fs::write(at("event.json"), job.payload.to_string()).unwrap();
        let mut command = Command::new(&self.act);
        command.arg(job.event).arg("--json").current_dir(self.stage.s.dir()).stdin(Stdio::null());
        command.arg("-W").arg(repo::root().join("docs/workflows").join(job.workflow));
        command.args(["-P", "ubuntu-24.04=-self-hosted", "--no-cache-server", "--pull=false", "--action-offline-mode"]);
        command.arg("--action-cache-path").arg(at("act")).arg("-e").arg(at("event.json")).args(["--actor", job.actor]);
        let api = self.stage.fake.url();
        for (name, value) in [
            ("GITHUB_API_URL", api.to_owned()),
            ("GITHUB_GRAPHQL_URL", format!("{api}/graphql")),
            ("GITHUB_REPOSITORY", REPOSITORY.to_owned()),
            ("CHECKFU_RELEASES", self.mirror.url.clone()),
            ("ARTIFACTS", at("artifacts").to_str().unwrap().to_owned()),
        ] {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        for (name, value) in &job.secrets {
            command.arg("-s").arg(format!("{name}={value}"));
        }
        let stubs = repo::root().join("tests/it/act/stubs");
        let mut local = vec![format!("{ACTION}={}", at("action").display())];
        for (name, commit) in pinned() {
            local.push(format!("{name}@{commit}={}", stubs.join(name.trim_start_matches("actions/")).display()));
        }
        for local in local {
            command.arg("--local-repository").arg(local);
        }
        command.env("HOME", self.folder.path()).env("XDG_CACHE_HOME", at("cache")).env_remove("GITHUB_TOKEN");
        command
    }
}

/// Every action that the workflows and the action use, with its commit. The check-out is done by act itself.
fn pinned() -> Vec<(String, String)> {
    let mut found = std::collections::BTreeSet::new();
    for path in crate::action::workflows().into_iter().chain(["action.yml".to_owned()]) {
        for line in repo::text(&path).lines().filter_map(|l| l.trim().trim_start_matches("- ").strip_prefix("uses: ")) {
            let Some((name, commit)) = line.split(' ').next().unwrap().split_once('@') else { continue };
            let name: Vec<&str> = name.split('/').take(2).collect();
            if name[0] == "actions" && ["cache", "upload-artifact", "download-artifact"].contains(&name[1]) {
                found.insert((name.join("/"), commit.to_owned()));
            }
        }
    }
    found.into_iter().collect()
}

/// The action of this check-out, as of a commit that was released: its archive is the program under test.
fn released(folder: &Path) -> Mirror {
    let (action, pack) = (folder.join("action"), folder.join("pack"));
    fs::create_dir_all(action.join("action")).unwrap();
    fs::create_dir_all(&pack).unwrap();
    for file in ["action.yml", "action/install.sh"] {
        fs::copy(repo::root().join(file), action.join(file)).unwrap();
    }
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("checkfu-{version}-x86_64-unknown-linux-musl.tar.gz");
    let done = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    done(Command::new("strip").arg("-o").arg(pack.join("checkfu")).arg(env!("CARGO_BIN_EXE_checkfu")));
    done(Command::new("tar").arg("-czf").arg(pack.join(&name)).arg("-C").arg(&pack).arg("checkfu"));
    let mut command = Command::new(action.join("action/install.sh"));
    command.args(["manifest", version, "https://github.com/OWNER/checkfu"]).arg(&pack);
    fs::write(action.join("action/release.json"), command.output().unwrap().stdout).unwrap();
    Mirror::start(&format!("/v{version}/{name}"), fs::read(pack.join(&name)).unwrap(), usize::MAX)
}

/// Reads the lines that act writes, each a JSON object.
fn read(text: &str, ok: bool) -> Done {
    let mut done = Done {
        ok,
        outputs: BTreeMap::new(),
        summary: String::new(),
        remarks: vec![],
        jobs: vec![],
        log: text.to_owned(),
    };
    for line in text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok()) {
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let (job, step) = (word("jobID"), &line["stepID"]);
        if !job.is_empty() && !done.jobs.contains(&job) {
            done.jobs.push(job.clone());
        }
        match word("command").as_str() {
            "set-output" if step.as_array().is_some_and(|s| s.len() == 1) => {
                let of = done.outputs.entry((job, step[0].as_str().unwrap().to_owned())).or_default();
                of.insert(word("name"), word("arg"));
            }
            // Of the inner step; that of the whole action holds it once more.
            "summary" if step.as_array().is_some_and(|s| s.len() == 2) => done.summary += &word("content"),
            level @ ("error" | "warning" | "notice") => {
                let at = &line["kvPairs"];
                let (file, n) = (at["file"].as_str().unwrap_or("-"), at["line"].as_str().unwrap_or("-"));
                done.remarks.push(format!("{level} {file}:{n} {}", word("arg")));
            }
            _ => {}
        }
    }
    done
}

/// The event of a push to `main`.
pub(super) fn push(sha: &str) -> Value {
    json!({ "ref": "refs/heads/main", "after": sha, "repository": { "default_branch": "main", "full_name": REPOSITORY } })
}
