//! Applying with the read-back, on an embedded workspace that may lie.

use std::sync::Mutex;

use crate::apply::fake::Files;
use crate::apply::{ApplyError, ApplyOptions};
use crate::control::embedded::{Embedded, EmbeddedOptions};
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::diag::codes;
use crate::model::kinds::Object;
use crate::model::op::{ActorKind, Expect, MemoryCreate, MemoryList, MemoryUpdate, Update, Written};
use crate::model::tree::{Entry, FileSet};
use crate::plan::{Options, Origin, Plan, Scope, SourceRelation, Verb};
use crate::receipt::{Outcome, Receipt};
use crate::reconcile::{self, ReconcileError};

use super::*;

/// What the workspace does wrong, or what somebody does at a bad time. Operations are by name.
enum Lie {
    Nothing,
    /// Says that it did this, and does not.
    Forgets(&'static str),
    /// Right after this, somebody else sends that.
    Then(&'static str, Box<Request>),
    /// After this, reads fail.
    Closes(&'static str),
    /// Answers this with nothing.
    Shrugs(&'static str),
}

struct Liar {
    inner: Embedded,
    lie: Mutex<Lie>,
    closed: Mutex<bool>,
    _dir: tempfile::TempDir,
}

impl Liar {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let inner = Embedded::open(&dir.path().join("w.db"), EmbeddedOptions::seeded(1)).unwrap();
        Self { inner, lie: Mutex::new(Lie::Nothing), closed: Mutex::new(false), _dir: dir }
    }

    fn lies(&self, lie: Lie) {
        *self.lie.lock().unwrap() = lie;
    }

    /// What writes other text to a memory that is there.
    async fn writes(&self, id: &str, path: &str, content: &str) -> Box<Request> {
        let list =
            MemoryList { id: id.into(), path_prefix: None, depth: None, view: None, page: None, limit: Some(100) };
        let all = self.inner.call(&Context::default(), Request::MemoryList(list)).await.unwrap();
        let Response::Bodies(page) = all else { panic!("{all:?}") };
        let found = page.data.iter().find(|m| m["path"] == path).unwrap();
        let (memory, content) = (found["id"].as_str().unwrap().to_owned(), Some(content.to_owned()));
        let update = MemoryUpdate { id: id.into(), memory, content, path: None, expect: None, view: None };
        Box::new(Request::MemoryUpdate(update))
    }
}

impl ControlPlane for Liar {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        let name = request.name();
        if *self.closed.lock().unwrap() && !request.operation().mutates {
            return Err(ControlError::new(ErrorKind::Unavailable, codes::control::CONTROL_STOPPED.code, "closed"));
        }
        let now = |of: &Lie| match of {
            Lie::Forgets(op) | Lie::Then(op, _) | Lie::Closes(op) | Lie::Shrugs(op) => *op == name,
            Lie::Nothing => false,
        };
        let lie = {
            let mut lie = self.lie.lock().unwrap();
            if now(&lie) { std::mem::replace(&mut *lie, Lie::Nothing) } else { Lie::Nothing }
        };
        if let (Lie::Forgets(_), Request::Update(r)) = (&lie, &request) {
            let version = r.at.version.unwrap() + 1;
            let (id, made) = (r.at.id.clone(), None);
            let written =
                Written { id, version, seq: 1, made, changed: true, replayed: false, moved: false, spec: None };
            return Ok(Response::Written(written));
        }
        if matches!(lie, Lie::Shrugs(_)) {
            return Ok(Response::Done);
        }
        let answer = self.inner.call(context, request).await;
        match lie {
            Lie::Then(_, request) => {
                let outsider = Context { admin: true, break_glass: Some("fire".into()), ..Context::default() };
                self.inner.call(&outsider, *request).await.unwrap();
            }
            Lie::Closes(_) => *self.closed.lock().unwrap() = true,
            _ => {}
        }
        answer
    }
}

fn options() -> Options {
    let (target, kind, at) = ("local".into(), "embedded".into(), "w.db".into());
    Options {
        allowances: vec!["retire".parse().unwrap(), "empty".parse().unwrap()],
        scope: Scope::default(),
        revert: crate::plan::Addresses::default(),
        revert_all: false,
        today: jiff::civil::date(2026, 11, 30),
        destroy: false,
        rollback: false,
        origin: Origin { target, kind, at, workspace: None, epoch: None },
        tool_version: "0".into(),
        source_relation: SourceRelation::Unknown,
        limits: None,
    }
}

async fn planned(liar: &Liar, d: &Desired) -> Plan {
    reconcile::plan(d, Some(liar), &Context::default(), &options(), None).await.unwrap()
}

async fn carried_out(liar: &Liar, plan: &Plan, d: &Desired) -> Result<Receipt, ReconcileError> {
    let how = ApplyOptions::new("tester");
    let files = Files::default().with("m/a.md", "A").with("tone/SKILL.md", TONE);
    reconcile::apply(plan, liar, &files, (d, &options()), &how, &|_| ()).await
}

const TONE: &str = "---\nname: tone\ndescription: d\n---\nBe kind.\n";

fn bot(instructions: &str) -> Wanted {
    wanted(Kind::Agent, "bot", json!({"name": "Bot", "model": "m", "instructions": instructions}))
}

fn store() -> Wanted {
    let digest = Digest::of(b"A");
    let modes = json!([{"at": "/x", "mode": "enforce"}]);
    let mut store =
        wanted(Kind::MemoryStore, "s", json!({"name": "s", "contents": {"/x/a.md": digest}, "modes": modes}));
    store.memories.insert("/x/a.md".into(), WantedFile { file: "m/a.md".into(), sha256: digest, size: 1 });
    store
}

/// A workspace with a bot and a store, as wanted.
async fn settled() -> Liar {
    let liar = Liar::new();
    let d = desired(vec![bot("one"), store()]);
    let plan = planned(&liar, &d).await;
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    liar
}

fn id_of(plan: &Plan) -> String {
    let mut ids = plan
        .actions
        .iter()
        .filter_map(|a| if let crate::plan::Step::Update { id, .. } = &a.step { Some(id) } else { None });
    ids.next().cloned().unwrap()
}

#[tokio::test]
async fn what_was_said_and_not_done_is_not_settled() {
    let liar = settled().await;
    let d = desired(vec![bot("two"), store()]);
    let plan = planned(&liar, &d).await;
    liar.lies(Lie::Forgets("agents.update"));
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!(receipt.outcome, Outcome::Done);
    assert_eq!(receipt.not_settled, ["Agent/bot: instructions"]);
    assert_eq!(codes::apply::NOT_SETTLED.code, "apply.not_settled");
}

#[tokio::test]
async fn what_is_kept_beside_does_not_hide_what_is_not_settled() {
    let liar = Liar::new();
    let notes = |description: &str, text: &str| {
        let digest = Digest::of(text.as_bytes());
        let modes = json!([{"at": "/x", "mode": "upkeep"}]);
        let spec = json!({"name": "s", "description": description, "contents": {"/x/a.md": digest}, "modes": modes});
        let mut notes = wanted(Kind::MemoryStore, "s", spec);
        notes.memories.insert("/x/a.md".into(), WantedFile { file: "m/a.md".into(), sha256: digest, size: 1 });
        desired(vec![notes])
    };
    let first = notes("one", "A");
    let receipt = carried_out(&liar, &planned(&liar, &first).await, &first).await.unwrap();
    let id = receipt.lines.iter().find_map(|l| l.id.clone().filter(|id| id.starts_with("memstore_"))).unwrap();
    let write = liar.writes(&id, "/x/a.md", "by kim").await;
    liar.lies(Lie::Then("authoring.owner", write));
    planned(&liar, &first).await;
    let d = notes("two", "B");
    let plan = planned(&liar, &d).await;
    assert_eq!(plan.notes.kept_memories.len(), 1);
    liar.lies(Lie::Forgets("memory_stores.update"));
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec!["MemoryStore/s: description".to_owned()]));
}

#[tokio::test]
async fn what_others_wrote_beside_is_told_though_nothing_is_to_do() {
    let liar = Liar::new();
    let digest = Digest::of(b"A");
    let modes = json!([{"at": "/x", "mode": "upkeep"}]);
    let mut notes =
        wanted(Kind::MemoryStore, "s", json!({"name": "s", "contents": {"/x/a.md": digest}, "modes": modes}));
    notes.memories.insert("/x/a.md".into(), WantedFile { file: "m/a.md".into(), sha256: digest, size: 1 });
    let d = desired(vec![notes]);
    let receipt = carried_out(&liar, &planned(&liar, &d).await, &d).await.unwrap();
    let id = receipt.lines.iter().find_map(|l| l.id.clone().filter(|id| id.starts_with("memstore_"))).unwrap();
    assert!(planned(&liar, &d).await.notes.kept.is_empty());
    for n in 0..12 {
        let path = format!("/x/n{n:02}.md");
        let write = MemoryCreate { id: id.clone(), path, content: "by kim".into(), view: None };
        let kim = Context { actor: "kim".into(), actor_kind: ActorKind::Session, ..Context::default() };
        liar.call(&kim, Request::MemoryCreate(write)).await.unwrap();
    }
    let address: Address = "MemoryStore/s".parse().unwrap();
    let context = Context::default();
    let seen = snapshot(Some(&liar), &d, &context, Depth::UntilEqual).await.unwrap();
    assert!(seen.same, "one request tells it");
    for depth in [Depth::UntilEqual, Depth::Resources] {
        let seen = snapshot(Some(&liar), &d, &context, depth).await.unwrap();
        let of = if seen.same { plan::nothing } else { plan::plan };
        let plan = of(&d, &seen.live, &options());
        assert_eq!((plan.actions.len(), plan.notes.kept_memories[&address]), (0, 12));
        let told = &plan.notes.kept[&address];
        assert_eq!((told.len(), told[0].writer.as_deref()), (10, Some("kim")));
        assert!(told.iter().all(|k| k.path.starts_with("/x/n") && k.when.is_some()), "{told:?}");
    }
}

#[tokio::test]
async fn a_unique_name_of_another_owner_is_told_when_planning() {
    let liar = Liar::new();
    let named = |address: &str, name: &str| desired(vec![wanted(Kind::Environment, address, json!({"name": name}))]);
    let spec = json!({"name": "prod", "description": "theirs"});
    let theirs = desired(vec![wanted(Kind::Environment, "prod", spec)]);
    let theirs = Desired { owner: "acme/other".parse().unwrap(), ..theirs };
    let receipt = carried_out(&liar, &planned(&liar, &theirs).await, &theirs).await.unwrap();
    assert_eq!(receipt.outcome, Outcome::Done, "{:?}", receipt.lines);
    let codes = |plan: &Plan| plan.findings.iter().map(|f| f.code.clone()).collect::<Vec<_>>();
    // At the same address it may be the same one; allowed to be another, it still needs another name.
    let plan = planned(&liar, &desired(vec![wanted(Kind::Environment, "prod", json!({"name": "prod"}))])).await;
    assert_eq!((codes(&plan), plan.applyable, plan.actions.len()), (vec!["plan.same_address".to_owned()], true, 0));
    assert!(plan.findings[0].fix.as_ref().unwrap().contains("give it another name"), "{:?}", plan.findings);
    let plan = planned(&liar, &named("live", "prod")).await;
    assert_eq!((codes(&plan), plan.applyable), (vec!["plan.name_taken".to_owned()], false));
    assert!(plan.findings[0].message.contains("acme/other:Environment/prod"), "{}", plan.findings[0].message);
    let mine = named("live", "mine");
    carried_out(&liar, &planned(&liar, &mine).await, &mine).await.unwrap();
    assert_eq!(codes(&planned(&liar, &named("live", "prod")).await), ["plan.name_taken"], "by a rename too");
}

#[tokio::test]
async fn a_scope_that_names_nothing_is_told_where_nothing_is_to_do() {
    let liar = settled().await;
    let d = desired(vec![bot("one"), store()]);
    let scope = Scope { only: vec!["Agent/nobody".into()], ..Scope::default() };
    let scoped = Options { scope, ..options() };
    let plan = reconcile::plan(&d, Some(&liar), &Context::default(), &scoped, None).await.unwrap();
    assert_eq!(plan.findings[0].code, codes::plan::SCOPE_EMPTY.code);
}

#[tokio::test]
async fn what_is_replaced_stays_while_another_owner_uses_it() {
    let liar = Liar::new();
    let (size, sha256) = (TONE.len() as u64, Digest::of(TONE.as_bytes()));
    let entry = Entry { path: "SKILL.md".into(), executable: false, symlink: false, size, sha256 };
    let files = FileSet::new(vec![entry]);
    let content = files.digest;
    let tone = |name: &str| {
        let mut tone = wanted(Kind::Skill, "tone", json!({"name": "tone", "display_name": name, "content": content}));
        tone.content = Some((files.clone(), "tone".into()));
        tone
    };
    let d = desired(vec![tone("Tone")]);
    carried_out(&liar, &planned(&liar, &d).await, &d).await.unwrap();
    let skills = json!([{"skill": "acme/support:Skill/tone", "content": content}]);
    let user = wanted(Kind::Agent, "a", json!({"name": "a", "model": "m", "skills": skills}));
    let theirs = Desired { owner: "acme/legal".parse().unwrap(), ..desired(vec![user]) };
    let receipt = carried_out(&liar, &planned(&liar, &theirs).await, &theirs).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));

    let d = desired(vec![tone("Voice")]);
    let plan = planned(&liar, &d).await;
    assert_eq!(plan.actions.iter().map(|a| a.id.as_str()).collect::<Vec<_>>(), ["Skill/tone#replace"]);
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    let again = planned(&liar, &d).await;
    assert!(again.actions.is_empty() && again.applyable);
    assert_eq!(again.findings[0].message, "Skill/tone stays for now: acme/legal:Agent/a still uses it");

    // To who uses it, the new one is at the same address: the next plan points to it, and then the old one can go.
    let plan = planned(&liar, &theirs).await;
    assert_eq!(plan.actions.iter().map(|a| a.id.as_str()).collect::<Vec<_>>(), ["Agent/a#repoint"]);
    assert!(plan.findings.is_empty() && plan.held.is_empty(), "{plan:?}");
    let receipt = carried_out(&liar, &plan, &theirs).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    let plan = planned(&liar, &d).await;
    assert!(plan.actions.len() == 1 && plan.actions[0].id.starts_with("Skill/tone#retire-"), "{plan:?}");
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    assert!(planned(&liar, &theirs).await.actions.is_empty());
}

#[tokio::test]
async fn mounts_exchange_places_in_one_apply() {
    let liar = Liar::new();
    let with = |places: [&str; 2]| {
        let store = |name: &str| wanted(Kind::MemoryStore, name, json!({"name": name}));
        let mount = |name: &str, store: &str, path: &str| {
            wanted(Kind::MemoryMount, name, json!({"agent": "bot", "memory_store": store, "mount_path": path}))
        };
        let mounts = [mount("m", "s", places[0]), mount("n", "t", places[1])];
        desired([vec![bot("one"), store("s"), store("t")], mounts.to_vec()].concat())
    };
    let d = with(["/a", "/b"]);
    carried_out(&liar, &planned(&liar, &d).await, &d).await.unwrap();
    let d = with(["/b", "/a"]);
    let plan = planned(&liar, &d).await;
    let ids = plan.actions.iter().map(|a| a.id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids, ["MemoryMount/m#retire", "MemoryMount/n#update", "MemoryMount/m#create"]);
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    assert!(planned(&liar, &d).await.actions.is_empty());
}

#[tokio::test]
async fn what_another_moved_since_is_another_matter() {
    let liar = settled().await;
    let d = desired(vec![bot("two"), store()]);
    let plan = planned(&liar, &d).await;
    let body: Object = json!({"system": "three"}).as_object().cloned().unwrap();
    let at = Expect { id: id_of(&plan), version: None };
    let update = Update { kind: Kind::Agent, at, body, applied: None };
    liar.lies(Lie::Then("agents.update", Box::new(Request::Update(update))));
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
}

#[tokio::test]
async fn memories_that_another_wrote_since_are_the_next_plans() {
    let liar = Liar::new();
    let d = desired(vec![store()]);
    let plan = planned(&liar, &d).await;
    // Ids are seeded: the store is the first resource after the workspace and its epoch.
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    let id = receipt.lines.iter().find_map(|l| l.id.clone().filter(|id| id.starts_with("memstore_"))).unwrap();
    let write = |content: &'static str| liar.writes(&id, "/x/a.md", content);
    liar.lies(Lie::Then("authoring.owner", write("by kim").await));
    planned(&liar, &d).await;
    let plan = planned(&liar, &d).await;
    assert_eq!(plan.actions.iter().map(|a| a.verb).collect::<Vec<_>>(), [Verb::Publish]);
    liar.lies(Lie::Then("memory_stores.write_contents", write("by kim again").await));
    let receipt = carried_out(&liar, &plan, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    // And once more, to what was there before: the same plan, and it is not mistaken for done.
    liar.lies(Lie::Then("authoring.owner", write("by kim").await));
    planned(&liar, &d).await;
    let again = planned(&liar, &d).await;
    assert_eq!(again.digest, plan.digest);
    let receipt = carried_out(&liar, &again, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    assert!(planned(&liar, &d).await.actions.is_empty());
}

#[tokio::test]
async fn a_saved_plan_is_not_held_against_files_that_moved_on() {
    let liar = settled().await;
    let plan = planned(&liar, &desired(vec![bot("two"), store()])).await;
    let receipt = carried_out(&liar, &plan, &desired(vec![bot("three")])).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
    let destroys = Options { destroy: true, allowances: vec!["destroy=acme/support".parse().unwrap()], ..options() };
    let d = desired(vec![bot("two"), store()]);
    let destroy = reconcile::plan(&d, Some(&liar), &Context::default(), &destroys, None).await.unwrap();
    let receipt = carried_out(&liar, &destroy, &d).await.unwrap();
    assert_eq!((receipt.outcome, receipt.not_settled), (Outcome::Done, vec![]));
}

#[tokio::test]
async fn a_workspace_that_closes_afterwards_still_gives_the_receipt() {
    let liar = settled().await;
    let d = desired(vec![bot("two"), store()]);
    let plan = planned(&liar, &d).await;
    liar.lies(Lie::Closes("agents.update"));
    let error = carried_out(&liar, &plan, &d).await.unwrap_err();
    assert_eq!(error.code().unwrap().code, codes::apply::NOT_READ_BACK.code);
    assert_eq!(error.receipt().unwrap().outcome, Outcome::Done);
}

#[tokio::test]
async fn an_answer_of_another_kind_is_told() {
    let liar = Liar::new();
    liar.lies(Lie::Shrugs("authoring.owner"));
    let d = desired(vec![bot("one")]);
    let error = reconcile::plan(&d, Some(&liar), &Context::default(), &options(), None).await.unwrap_err();
    assert_eq!(error.code, codes::apply::UNEXPECTED_ANSWER.code);
}

#[tokio::test]
async fn an_edited_plan_and_one_that_was_not_reviewed_send_nothing() {
    let liar = Liar::new();
    let d = desired(vec![bot("one")]);
    let mut plan = planned(&liar, &d).await;
    let other = Digest::of(b"other");
    let error = reconcile::is_reviewed(&plan, &other).unwrap_err();
    assert_eq!(error.code().unwrap().code, codes::apply::OTHER_PLAN.code);
    assert!(reconcile::is_reviewed(&plan, &plan.digest).is_ok());
    plan.actions[0].operation = "agents.update".into();
    let error = carried_out(&liar, &plan, &d).await.unwrap_err();
    assert_eq!(error.code().unwrap().code, codes::apply::UNSOUND.code);
    assert!(matches!(error, ReconcileError::Apply(ApplyError::Unsound { .. })) && error.receipt().is_none());
}

#[tokio::test]
async fn what_is_live_and_what_was_applied_can_be_read() {
    use crate::reconcile::read;
    let liar = settled().await;
    let c = Context::default();
    let bots = read::summaries(&liar, &c, &me(), Some(Kind::Agent)).await.unwrap();
    assert_eq!(bots.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["Bot"]);
    assert!(read::summaries(&liar, &c, &me(), None).await.unwrap().len() > 1);
    assert!(read::summaries(&liar, &c, &me(), Some(Kind::FileTree)).await.unwrap().is_empty());
    let applies = read::history(&liar, &c, Some(&me()), 10).await.unwrap();
    assert_eq!(applies.len(), 1);
    assert_eq!(read::show(&liar, &c, &applies[0].id).await.unwrap().lines.len(), 3);
}
