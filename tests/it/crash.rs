//! Kills the binary at every kill point of an apply, then applies again: the same end state, no resource and no
//! version twice, every action in exactly one receipt.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{Context, MemoryList, Request, Response, Summaries, VersionsOf};
use checkfu::model::{Digest, Kind};

const POINTS: [&str; 3] = ["before-send", "after-commit", "before-answer"];
const OWNER: &str = "example/support-team";

/// What a run did: exit code (-1: killed), stdout and stderr.
#[derive(Debug)]
struct Ran {
    code: i32,
    text: String,
}

impl Ran {
    #[track_caller]
    fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.text);
        self
    }
}

/// A copy of a project folder, in memory where the system has such a place.
struct Copy(tempfile::TempDir);

impl Copy {
    fn of(from: &Path) -> Self {
        let memory = PathBuf::from("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        copy(from, dir.path());
        Self(dir)
    }

    fn run(&self, args: &[&str], failpoint: Option<(&str, u64)>) -> Ran {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_checkfu"));
        command.env_clear().env("HOME", self.0.path()).current_dir(self.0.path()).args(args);
        if let Some((point, nth)) = failpoint {
            command.env("CHECKFU_FAILPOINT", format!("{point}:{nth}"));
        }
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap()).join("");
        Ran { code: output.status.code().unwrap_or(-1), text }
    }

    fn edit(&self, path: &str, change: impl Fn(&str) -> String) {
        let path = self.0.path().join(path);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, change(&text)).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A live resource, without ids: version, digest, immutable versions with their contents, memories.
type Row = (u64, Option<Digest>, Vec<String>, Vec<(String, String)>);

/// All that the owner has, and all done lines of all Applies.
fn state(project: &Copy) -> (BTreeMap<String, Row>, Vec<String>) {
    let path = project.0.path().join(".checkfu/workspace.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = Embedded::open_existing(&path, EmbeddedOptions::default()).unwrap().unwrap();
        let ask = |request| world.call(&CONTEXT, request);
        let owner = Some(OWNER.parse().unwrap());
        let all = Summaries { owner: owner.clone(), kind: None, names: vec![], page: None, limit: None };
        let Response::Summaries(page) = ask(Request::Summaries(all)).await.unwrap() else { panic!() };
        let mut rows = BTreeMap::new();
        for s in page.data {
            assert_eq!(s.live_digest, s.applied_digest, "{:?}", s.address);
            let mut versions = Vec::new();
            if matches!(s.kind, Kind::Agent | Kind::Skill | Kind::FileTree | Kind::MemoryStore) {
                let of = VersionsOf { kind: s.kind, id: s.id.clone(), page: None, limit: Some(100) };
                let Response::Bodies(v) = ask(Request::Versions(of)).await.unwrap() else { panic!() };
                // An agent's version holds live ids, so only their number can be compared.
                versions = v.data.iter().map(|v| v["digest"].as_str().unwrap_or_default().to_owned()).collect();
            }
            let mut memories = Vec::new();
            if s.kind == Kind::MemoryStore {
                let id = s.id.clone();
                let list = MemoryList { id, path_prefix: None, depth: None, view: None, page: None, limit: Some(100) };
                let Response::Bodies(m) = ask(Request::MemoryList(list)).await.unwrap() else { panic!() };
                memories = m.data.iter().map(|m| (m["path"].to_string(), m["content_sha256"].to_string())).collect();
            }
            let address = s.address.unwrap().to_string();
            let twice = rows.insert(address.clone(), (s.version, s.live_digest, versions, memories));
            assert!(twice.is_none(), "{address} is there twice");
        }
        let applies = checkfu::reconcile::read::history(&world, &CONTEXT, owner.as_ref(), 100).await.unwrap();
        let mut done = Vec::new();
        for apply in applies {
            let apply = checkfu::reconcile::read::show(&world, &CONTEXT, &apply.id).await.unwrap();
            done.extend(apply.lines.into_iter().filter(|l| l.outcome == "done").map(|l| l.action));
        }
        done.sort();
        (rows, done)
    })
}

static CONTEXT: Context = Context {
    actor: String::new(),
    actor_kind: checkfu::model::op::ActorKind::Api,
    owner: None,
    apply: None,
    action: None,
    key: None,
    break_glass: None,
    admin: false,
    epoch: None,
    represent: false,
};

/// Applies `base` in all ways of dying, and holds each against one that lives. Returns how many died.
fn kill_everywhere(base: &Copy, args: &[&str], does: &[&str]) -> u64 {
    let whole = Copy::of(base.0.path());
    whole.run(args, None).code(0);
    let expected = state(&whole);
    for action in does {
        assert!(expected.1.iter().any(|a| a == action), "{action} is not among {:#?}", expected.1);
    }
    let killed = AtomicU64::new(0);
    // One thread a point: each counts up until the apply lives.
    std::thread::scope(|threads| {
        for point in POINTS {
            let (killed, expected) = (&killed, &expected);
            threads.spawn(move || {
                for nth in 1.. {
                    let project = Copy::of(base.0.path());
                    let first = project.run(args, Some((point, nth)));
                    if first.code == 0 {
                        assert!(nth > 5, "{point} is hit only {nth} times");
                        break;
                    }
                    assert_eq!(first.code, -1, "it was killed, no less: {first:?}");
                    killed.fetch_add(1, Ordering::Relaxed);
                    let again = project.run(args, None).code(0);
                    let (rows, done) = state(&project);
                    let other: Vec<_> = rows.iter().filter(|(k, row)| expected.0.get(*k) != Some(*row)).collect();
                    assert!(other.is_empty() && rows.len() == expected.0.len(), "{point}:{nth}: {other:#?}\n{again:?}");
                    assert_eq!(done, expected.1, "{point}:{nth}");
                    let plan = project.run(&["plan", "--detailed-exitcode"], None);
                    assert_eq!(plan.code, 0, "{point}:{nth}\n{plan:?}");
                }
            });
        }
    });
    killed.into_inner()
}

#[test]
fn an_apply_that_was_killed_anywhere_is_finished_by_the_next_one() {
    let base = Copy::of(&crate::repo::root().join("examples/support-team"));
    let made = kill_everywhere(&base, &["apply", "--yes"], &["MemoryStore/approved-answers#publish"]);

    base.run(&["apply", "--yes"], None).code(0);
    base.edit("agents/support.md", |t| format!("{t}\nBe brief.\n"));
    base.edit("skills/upgrade-triage/references/renamed.md", |t| format!("{t}\nOne more.\n"));
    base.edit("memory/answers/downtime.md", |t| format!("{t}\nTwo hours at most.\n"));
    std::fs::remove_file(base.0.path().join("memory/policy/privacy.md")).unwrap();
    base.edit("docs/install.md", |t| format!("{t}\nThen start it.\n"));
    base.edit("agents/escalation.md", |t| {
        t.replace("memory:\n  - {store: approved-answers, at: /mnt/memory/answers}\n", "")
    });
    let does = [
        "Agent/support#update",
        "Agent/escalation#repoint",
        "FileTree/product-docs#publish",
        "MemoryMount/escalation.approved-answers#retire",
        "MemoryStore/approved-answers#publish",
        "Skill/upgrade-triage#publish",
    ];
    let changed = kill_everywhere(&base, &["apply", "--yes", "--allow", "retire", "--allow", "source"], &does);
    println!("killed at {made} points of an apply that makes everything, at {changed} of one that changes");
}
