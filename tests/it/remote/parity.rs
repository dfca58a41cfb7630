//! Every scenario, once on a workspace in process and once through a server: what is planned, what the receipts
//! say and what the audit has must be the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkfu::control::ControlPlane;
use checkfu::model::op::{Context, Create, Expect, MemoryCreate, Request, Response, RetireOf, Update};
use checkfu::model::{Address, Kind};
use checkfu::plan::{Options, Scope};
use checkfu::reconcile::{ReconcileError, read};
use serde_json::{Value, json};

use super::scenarios::{self, Ask, Step};
use super::{OUTSIDER, TESTER, Way, World, applied, facts, options, planned, project, remote, served, write};

/// A workspace, both people's way to it, and the projects beside it.
struct Stage {
    dir: tempfile::TempDir,
    project: PathBuf,
    tester: Way,
    outsider: Way,
    seen: Vec<Value>,
    applies: usize,
}

impl Stage {
    async fn play(&mut self, step: &Step) {
        match step {
            Step::In(folder) => self.project = self.dir.path().join(folder),
            Step::Example(name) => write(&self.project, &scenarios::example(name)),
            Step::Write(path, text) => write(&self.project, &[((*path).to_owned(), text.clone())]),
            Step::Edit(path, from, to) => {
                let path = self.project.join(path);
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(text.contains(from), "{from:?} in {}", path.display());
                std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            }
            Step::Remove(path) => std::fs::remove_file(self.project.join(path)).unwrap(),
            Step::Plan(ask) => {
                let plan = planned(&self.tester, &project(&self.project), &asked(ask)).await.unwrap();
                self.seen.push(json!(plan));
            }
            Step::Apply(ask) => self.apply(&asked(ask)).await,
            Step::Outside(address, fields) => {
                let (kind, id) = self.live(address).await;
                let Value::Object(body) = fields.clone() else { panic!("{fields}") };
                let at = Expect { id, version: None };
                self.outside(Request::Update(Update { kind, at, body: body.into_iter().collect(), applied: None }))
                    .await;
            }
            Step::Retired(address) => {
                let (kind, id) = self.live(address).await;
                let at = Expect { id, version: None };
                self.outside(Request::Archive(RetireOf { kind, at, memory_version: None })).await;
            }
            Step::Memory(store, path, text) => {
                let (_, id) = self.live(store).await;
                let (path, content) = ((*path).to_owned(), (*text).to_owned());
                self.outside(Request::MemoryCreate(MemoryCreate { id, path, content, view: None })).await;
            }
            Step::Made(plural, fields) => {
                let kind = Kind::ALL.into_iter().find(|k| checkfu::model::kinds::def(*k).plural == *plural).unwrap();
                let Value::Object(body) = fields.clone() else { panic!("{fields}") };
                self.outside(Request::Create(Create {
                    kind,
                    body: body.into_iter().collect(),
                    content: None,
                    claim: None,
                    absent_since: None,
                    replaces: None,
                }))
                .await;
            }
        }
    }

    async fn apply(&mut self, options: &Options) {
        let loaded = project(&self.project);
        let plan = planned(&self.tester, &loaded, options).await.unwrap();
        self.seen.push(json!(plan));
        self.applies += 1;
        let run = format!("run-{}", self.applies);
        self.seen.push(match applied(&self.tester, &loaded, options, &plan, (1, &run)).await {
            Ok(receipt) => json!(receipt),
            Err(error @ ReconcileError::Apply(_)) => json!(error.to_string()),
            Err(error) => panic!("{error:?}"),
        });
    }

    /// The id of what the project has at an address.
    async fn live(&self, address: &str) -> (Kind, String) {
        let address: Address = address.parse().unwrap();
        let owner = project(&self.project).config.authoring_owner;
        let context = Context { owner: Some(owner.clone()), ..Context::default() };
        let all = read::summaries(&self.tester, &context, &owner, Some(address.kind)).await.unwrap();
        let found = all.into_iter().find(|s| s.address.as_ref() == Some(&address) && !s.superseded).unwrap();
        (address.kind, found.id)
    }

    async fn outside(&mut self, request: Request) {
        let context =
            Context { actor: OUTSIDER.into(), admin: true, break_glass: Some("a fire".into()), ..Context::default() };
        match self.outsider.call(&context, request).await.unwrap() {
            Response::Written(written) => self.seen.push(json!(written)),
            other => panic!("{other:?}"),
        }
    }
}

fn asked(ask: &Ask) -> Options {
    Options {
        allowances: scenarios::allowances(ask),
        revert_all: ask.revert,
        scope: Scope { only: ask.only.iter().map(|o| (*o).to_owned()).collect(), ..Scope::default() },
        destroy: ask.destroy,
        ..options()
    }
}

/// Plays a scenario; says what was seen.
fn play(steps: &[Step], over_http: bool) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    let World { workspace, tester, outsider } = World::open(dir.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let (ways, server) = if over_http {
            let (at, server) = served(&workspace);
            let way = |token| Way::Remote(Box::new(remote(at, token)));
            ([way(&tester), way(&outsider)], Some(server))
        } else {
            ([(); 2].map(|()| Way::Embedded(Arc::clone(&workspace))), None)
        };
        let [tester, outsider] = ways;
        let project = folder(dir.path());
        let mut stage = Stage { dir, project, tester, outsider, seen: Vec::new(), applies: 0 };
        for step in steps {
            stage.play(step).await;
        }
        // Bodies are sent side by side, in no order of their own.
        let facts = facts(&workspace).await.into_iter().filter(|f| f.operation != "blobs.put");
        stage.seen.extend(facts.map(|f| json!(f)));
        if let Some(server) = server {
            server.abort();
        }
        // Each plays in a folder of its own.
        for source in stage.seen.iter_mut().filter_map(|seen| seen.get_mut("source")?.as_object_mut()) {
            source.remove("folder");
        }
        stage.seen
    })
}

fn folder(dir: &Path) -> PathBuf {
    let project = dir.join("project");
    std::fs::create_dir_all(&project).unwrap();
    project
}

#[test]
fn a_server_changes_nothing() {
    let all = scenarios::all();
    assert!(all.len() >= 12, "{}", all.len());
    for (name, steps) in all {
        let (here, there) = (play(&steps, false), play(&steps, true));
        for (n, (here, there)) in here.iter().zip(&there).enumerate() {
            assert_eq!(here, there, "{name}: what was seen as number {n}");
        }
        assert_eq!(here.len(), there.len(), "{name}");
        assert!(here.iter().any(|seen| seen["outcome"] == "done"), "{name}: nothing was applied");
        assert!(here.iter().any(|seen| seen["actor"] == TESTER), "{name}: the audit has nothing");
    }
}
