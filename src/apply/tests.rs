//! Every rule of apply, against a scripted workspace.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::json;
use tokio::sync::watch;

use crate::apply::fake::{Fake, Files, Say, invalid, owned_by, stale, unavailable};
use crate::apply::{ApplyError, ApplyOptions, Event, walk};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes;
use crate::model::config::Policy;
use crate::model::kinds::Ids;
use crate::model::op::{ApplyInfo, Request, Response, Source, Written};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan::{
    About, Action, Body, Content, Effect, FORMAT, Finding, Notes, Origin, Plan, Precondition, Step, Verb,
};
use crate::receipt::{Outcome, Receipt};

mod content;
mod trouble;

fn owner() -> Owner {
    "acme/support".parse().unwrap()
}

pub(crate) fn plan(actions: Vec<Action>) -> Plan {
    Plan {
        format: FORMAT.into(),
        tool_version: "0".into(),
        origin: Origin {
            target: "local".into(),
            kind: "embedded".into(),
            at: "w.db".into(),
            workspace: Some("ws_1".into()),
            epoch: Some("e1".into()),
        },
        owner: owner(),
        source: Source::default(),
        desired: Digest::of(b"d"),
        policy: Policy::default(),
        allowances: Vec::new(),
        scope: Vec::new(),
        ids: Ids::default(),
        digest: Digest::of_json(&actions.len()),
        actions,
        held: Vec::new(),
        findings: Vec::new(),
        notes: Notes::default(),
        applyable: true,
        complete: true,
        seal: None,
    }
}

fn action(text: &str, verb: Verb, operation: &str, step: Step, precondition: Precondition, on: &[&str]) -> Action {
    Action {
        id: format!("{text}#{}", verb.as_str()),
        address: Some(text.parse().unwrap()),
        verb,
        operation: operation.into(),
        step,
        precondition,
        depends_on: on.iter().map(|s| (*s).to_owned()).collect(),
        digest: Digest::of(text.as_bytes()),
        about: About::default(),
    }
}

fn update(name: &str, on: &[&str]) -> Action {
    let spec = json!({"name": name, "model": "m"});
    let step =
        Step::Update { id: format!("agent_{name}"), spec: spec.into(), unowned: vec![], fields: vec!["name".into()] };
    action(&format!("Agent/{name}"), Verb::Update, "agents.update", step, Precondition::Version { version: 3 }, on)
}

fn retire(name: &str, on: &[&str]) -> Action {
    let step = Step::Retire { id: format!("skill_{name}") };
    action(&format!("Skill/{name}"), Verb::Retire, "skills.delete", step, Precondition::Version { version: 1 }, on)
}

fn content(root: &str, files: &[(&str, &str)]) -> Content {
    let entries = files
        .iter()
        .map(|(path, text)| Entry {
            path: (*path).into(),
            executable: false,
            symlink: false,
            size: text.len() as u64,
            sha256: Digest::of(text.as_bytes()),
        })
        .collect();
    let set = FileSet::new(entries);
    Content { digest: set.digest, root: root.into(), entries: set.entries }
}

fn create_skill(name: &str, files: &[(&str, &str)]) -> Action {
    let content = content(&format!("skills/{name}"), files);
    let spec = json!({"name": name, "content": content.digest});
    let step =
        Step::Create { spec: spec.into(), unowned: vec![], protected: false, content: Some(content), replaces: None };
    action(&format!("Skill/{name}"), Verb::Create, "skills.create", step, Precondition::Absent { since: None }, &[])
}

fn create_store(name: &str) -> Action {
    let spec = json!({"name": name});
    let step = Step::Create { spec: spec.into(), unowned: vec![], protected: false, content: None, replaces: None };
    let absent = Precondition::Absent { since: Some("memstore_old".into()) };
    action(&format!("MemoryStore/{name}"), Verb::Create, "memory_stores.create", step, absent, &[])
}

fn write_store(name: &str, puts: &[(&str, &str, &str)], precondition: Precondition, on: &[&str]) -> Action {
    let body = |file: &str, text: &str| Body {
        file: file.into(),
        sha256: Digest::of(text.as_bytes()),
        size: text.len() as u64,
    };
    let step = Step::WriteContents {
        id: None,
        spec: json!({"name": name}).into(),
        unowned: vec![],
        puts: puts.iter().map(|(path, file, text)| ((*path).to_owned(), body(file, text))).collect(),
        deletes: vec![],
    };
    action(&format!("MemoryStore/{name}"), Verb::Publish, "memory_stores.write_contents", step, precondition, on)
}

fn options() -> ApplyOptions {
    ApplyOptions { run: Some("run-1".into()), ..ApplyOptions::new("tester") }
}

async fn apply<B: crate::control::Blobs>(
    plan: &Plan,
    fake: &Fake,
    files: &B,
    options: &ApplyOptions,
    events: &(dyn Fn(Event) + Send + Sync),
) -> Result<Receipt, ApplyError> {
    walk(plan, fake, files, options, events).await?.end().await
}

async fn go(plan: &Plan, fake: &Fake, files: &Files) -> Result<Receipt, ApplyError> {
    apply(plan, fake, files, &options(), &|_| ()).await
}

fn outcomes(receipt: &Receipt) -> Vec<&str> {
    receipt.lines.iter().map(|l| l.outcome.as_str()).collect()
}

#[tokio::test]
async fn a_plan_without_actions_asks_only_whether_this_is_its_workspace() {
    let fake = Fake::new();
    let receipt = go(&plan(vec![]), &fake, &Files::default()).await.unwrap();
    assert_eq!((receipt.outcome, receipt.apply, fake.log().len()), (Outcome::Nothing, None, 1));
    let mut other = plan(vec![]);
    other.origin.workspace = Some("wksp_other".to_owned());
    let refused = go(&other, &fake, &Files::default()).await;
    assert!(matches!(refused, Err(ApplyError::OtherWorkspace { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_receipt_tells_what_the_plan_holds_and_finds() {
    let mut p = plan(vec![update("a", &[])]);
    let address = p.actions[0].address.clone().unwrap();
    let held = crate::plan::Held::of(&address, None);
    p.held = vec![crate::plan::Held { field: Some("system".to_owned()), conflict: true, ..held }];
    p.findings = vec![crate::plan::Finding {
        code: "plan.conflict".to_owned(),
        effect: crate::plan::Effect::Blocks,
        address: Some(address),
        message: "both moved".to_owned(),
        fix: None,
        at: None,
    }];
    let receipt = go(&p, &Fake::new(), &Files::default()).await.unwrap();
    assert_eq!((&receipt.held, &receipt.findings), (&p.held, &p.findings));
    p.actions.clear();
    let receipt = go(&p, &Fake::new(), &Files::default()).await.unwrap();
    assert_eq!((receipt.outcome, receipt.held.len(), receipt.findings.len()), (Outcome::Nothing, 1, 1));
}

#[tokio::test]
async fn all_is_done_in_plan_order_and_every_write_names_the_apply_and_a_key() {
    let fake = Fake::new();
    let p = plan(vec![update("a", &[]), update("b", &["Agent/a#update"]), retire("x", &[])]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["done"; 3]);
    assert_eq!((receipt.outcome, receipt.apply.as_deref()), (Outcome::Done, Some("apply_1")));
    let line = &receipt.lines[0];
    assert_eq!((line.id.as_deref(), line.version, line.error.as_ref()), (Some("agent_a"), Some(2), None));
    assert_eq!(fake.writes(), ["applies.begin", "Agent/a#update", "Agent/b#update", "Skill/x#retire", "applies.end"]);
    for (context, request) in fake.log().iter().filter(|(_, r)| r.operation().mutates) {
        assert!(context.key.is_some(), "{}", request.name());
        assert_eq!((&context.owner, context.actor.as_str()), (&Some(owner()), "tester"));
        let begins = matches!(request, Request::ApplyBegin(_));
        assert_eq!(context.apply.as_deref(), (!begins).then_some("apply_1"));
    }
}

#[tokio::test]
async fn stale_blocks_its_dependents_and_retirements_and_nothing_else() {
    let fake = Fake::new().say("Agent/a#update", stale());
    let p = plan(vec![
        update("a", &[]),
        update("b", &["Agent/a#update"]),
        update("c", &["Agent/b#update"]),
        update("d", &[]),
        retire("x", &[]),
    ]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["stale", "blocked", "blocked", "done", "blocked"]);
    assert_eq!(receipt.outcome, Outcome::Partial);
    let errors: Vec<_> = receipt.lines.iter().map(|l| l.error.clone().unwrap_or_default()).collect();
    assert_eq!(errors[0], "the resource has moved on; there is now: 7 (apply.stale)");
    assert_eq!(errors[2], "it waits for Agent/a#update, which is stale (apply.blocked)");
    assert_eq!(errors[4], "nothing is retired after Agent/a#update is stale (apply.blocked)");
    let Request::ApplyEnd(end) = fake.log().pop().unwrap().1 else { panic!("not ended") };
    assert_eq!((end.outcome.as_str(), end.lines.len()), ("partial", 4));
}

#[tokio::test]
async fn what_is_stale_altogether_wrote_nothing_and_is_recorded_so() {
    let fake = Fake::new().say("Agent/a#update", stale()).say("Agent/b#update", stale());
    let p = plan(vec![update("a", &[]), update("b", &[]), retire("x", &[])]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["stale", "stale", "blocked"]);
    assert_eq!(receipt.outcome, Outcome::Failed);
    let Request::ApplyEnd(end) = fake.log().pop().unwrap().1 else { panic!("not ended") };
    assert_eq!((end.outcome.as_str(), end.lines.len()), ("failed", 3));
}

#[tokio::test]
async fn a_failure_blocks_the_same_way_and_nothing_done_is_failed() {
    let fake = Fake::new().say("Agent/a#update", invalid());
    let p = plan(vec![update("a", &[]), retire("x", &[])]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["failed", "blocked"]);
    assert_eq!(receipt.outcome, Outcome::Failed);
    assert_eq!(receipt.lines[0].error.as_deref(), Some("too many of them (validation.limit)"));
}

#[tokio::test]
async fn an_owner_that_took_it_is_named() {
    let fake = Fake::new().say("Agent/a#update", owned_by("acme/billing"));
    let receipt = go(&plan(vec![update("a", &[]), update("b", &[])]), &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["stale", "done"]);
    let text = receipt.lines[0].error.as_deref().unwrap();
    assert_eq!(text, "another owner has it; it is owned by acme/billing (authoring.owned_elsewhere)");
}

#[tokio::test]
async fn a_retirement_waits_for_all_before_it_but_not_for_what_waits_for_it() {
    // `b` needs what `x` frees; `y` must still see whether `b` fails.
    let fake = Fake::new().say("Agent/b#update", invalid());
    let p = plan(vec![update("a", &[]), retire("x", &[]), update("b", &["Skill/x#retire"]), retire("y", &[])]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["done", "done", "failed", "blocked"]);
}

#[tokio::test]
async fn a_retirement_that_fails_blocks_the_create_that_it_frees() {
    let fake = Fake::new().say("Skill/x#retire", stale());
    let p = plan(vec![retire("x", &[]), update("b", &["Skill/x#retire"]), update("c", &[])]);
    let receipt = go(&p, &fake, &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["stale", "blocked", "done"]);
}

#[tokio::test]
async fn no_more_than_asked_are_in_flight() {
    let p = plan((0..40).map(|i| update(&format!("a{i}"), &[])).collect());
    for (parallelism, most) in [(1, 1), (4, 4), (0, 1)] {
        let fake = Fake::new();
        let o = ApplyOptions { parallelism, ..options() };
        let receipt = apply(&p, &fake, &Files::default(), &o, &|_| ()).await.unwrap();
        assert_eq!((receipt.outcome, fake.most()), (Outcome::Done, most));
    }
}

#[tokio::test]
async fn the_created_store_gets_its_contents_under_its_id() {
    let after = Precondition::After { action: "MemoryStore/s#create".into() };
    let p =
        plan(vec![create_store("s"), write_store("s", &[("/a.md", "m/a.md", "A")], after, &["MemoryStore/s#create"])]);
    let fake = Fake::new();
    let receipt = go(&p, &fake, &Files::default().with("m/a.md", "A")).await.unwrap();
    assert_eq!(outcomes(&receipt), ["done", "done"]);
    let Request::Create(create) = fake.sent("MemoryStore/s#create").1 else { panic!() };
    assert_eq!(create.absent_since.as_deref(), Some("memstore_old"));
    assert_eq!(create.claim.unwrap().address, "MemoryStore/s".parse::<Address>().unwrap());
    let Request::WriteContents(write) = fake.sent("MemoryStore/s#publish").1 else { panic!() };
    assert_eq!(write.id, "memstore_1");
    assert_eq!(write.expect, BTreeMap::from([("/a.md".to_owned(), None)]));
}

#[tokio::test]
async fn what_this_plan_makes_is_filled_in_from_the_answers() {
    let skill = create_skill("s", &[("SKILL.md", "s")]);
    let Step::Create { content: Some(content), .. } = &skill.step else { panic!() };
    let skills = json!([{"skill": "s", "content": content.digest}, {"skill": "old", "follow": "latest"}]);
    let spec = json!({"name": "a", "model": "m", "skills": skills});
    let step = Step::Create { spec: spec.into(), unowned: vec![], protected: true, content: None, replaces: None };
    let absent = Precondition::Absent { since: None };
    let agent = action("Agent/a", Verb::Create, "agents.create", step, absent, &["Skill/s#create"]);
    let mut p = plan(vec![skill, agent]);
    p.ids.0.insert("Skill/old".into(), "skill_7".into());
    let fake = Fake::new().has("Skill/old", "skill_7");
    let receipt = go(&p, &fake, &Files::default().with("skills/s/SKILL.md", "s")).await.unwrap();
    assert_eq!(outcomes(&receipt), ["done", "done"]);
    assert_eq!(receipt.lines[0].made.as_deref(), Some("made-1"));
    let Request::Create(create) = fake.sent("Agent/a#create").1 else { panic!() };
    assert!(create.claim.unwrap().protected);
    let sent = &create.body["skills"];
    assert_eq!((&sent[0]["skill_id"], &sent[0]["version"]), (&json!("skill_1"), &json!("made-1")));
    assert_eq!((&sent[1]["skill_id"], &sent[1]["version"]), (&json!("skill_7"), &json!("latest")));
}

#[tokio::test]
async fn later_steps_on_one_resource_expect_what_the_earlier_one_left() {
    let after = |on: &str| Precondition::After { action: on.into() };
    let content = content("skills/s", &[("SKILL.md", "s")]);
    let publish = Step::Publish {
        id: Some("skill_3".into()),
        spec: json!({"name": "s", "content": content.digest}).into(),
        unowned: vec![],
        content,
    };
    let version = Precondition::Version { version: 5 };
    let p = plan(vec![
        action("Skill/s", Verb::Publish, "skills.publish", publish, version, &[]),
        action(
            "Skill/s",
            Verb::Protect,
            "authoring.protect",
            Step::Protect { id: "skill_3".into(), on: true },
            after("Skill/s#publish"),
            &["Skill/s#publish"],
        ),
    ]);
    let fake = Fake::new().holds(Digest::of(b"s"));
    assert_eq!(outcomes(&go(&p, &fake, &Files::default()).await.unwrap()), ["done", "done"]);
    let Request::Publish(sent) = fake.sent("Skill/s#publish").1 else { panic!() };
    assert_eq!((sent.at.id.as_str(), sent.at.version), ("skill_3", Some(5)));
    let Request::Protect(sent) = fake.sent("Skill/s#protect").1 else { panic!() };
    // The scripted workspace answered version 2, sequence 2.
    assert_eq!((sent.at.at.version, sent.at.seq, sent.protected), (Some(2), 2, true));
}

#[tokio::test]
async fn a_step_without_an_id_or_with_another_precondition_fails_alone() {
    let absent = Precondition::Memories { expect: BTreeMap::new() };
    let mut odd = update("b", &[]);
    odd.precondition = Precondition::OwnerSeq { seq: 1 };
    let p = plan(vec![write_store("gone", &[], absent, &[]), odd, update("a", &[])]);
    let receipt = go(&p, &Fake::new(), &Files::default()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["failed", "failed", "done"]);
    let text = receipt.lines[0].error.as_deref().unwrap();
    assert_eq!(text, "no live id is known for MemoryStore/gone (apply.missing_id)");
    assert!(receipt.lines[1].error.as_deref().unwrap().ends_with("(apply.unsound)"));
}

#[tokio::test]
async fn retire_uses_the_verb_of_the_kind() {
    let step = Step::Retire { id: "agent_a".into() };
    let archive = action("Agent/a", Verb::Retire, "agents.archive", step, Precondition::Version { version: 2 }, &[]);
    let step = Step::Retire { id: "memstore_s".into() };
    let with_memories = Precondition::Store { version: 2, memories: 7 };
    let store = action("MemoryStore/s", Verb::Retire, "memory_stores.archive", step, with_memories, &[]);
    let fake = Fake::new();
    go(&plan(vec![archive, store, retire("x", &[])]), &fake, &Files::default()).await.unwrap();
    let Request::Archive(r) = fake.sent("Agent/a#retire").1 else { panic!() };
    assert_eq!((r.kind, r.at.version, r.memory_version), (Kind::Agent, Some(2), None));
    let Request::Archive(r) = fake.sent("MemoryStore/s#retire").1 else { panic!() };
    assert_eq!((r.kind, r.at.version, r.memory_version), (Kind::MemoryStore, Some(2), Some(7)));
    assert!(matches!(fake.sent("Skill/x#retire").1, Request::Delete(_)));
}

#[test]
fn the_future_can_be_spawned() {
    fn is_send<T: Send>(_: T) {}
    let (p, fake, files, o) = (plan(vec![]), Fake::new(), Files::default(), options());
    is_send(apply(&p, &fake, &files, &o, &|_| ()));
}
