//! Hand-made plans and receipts for the tests of the views.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::config::Policy;
use crate::model::kinds::Ids;
use crate::model::op::{ReceiptLine, Source};
use crate::model::{Address, Digest, Owner};
use crate::plan::{
    About, Action, Cause, Effect, FieldChange, FileChange, FileVerb, Finding, FollowerOf, Held, KeptMemory, Notes,
    Origin, Plan, Precondition, Reversible, Step, Verb,
};
use crate::receipt::{Outcome, Receipt};

/// An address.
pub fn address(text: &str) -> Address {
    text.parse().unwrap()
}

/// A plan without anything in it.
pub fn empty() -> Plan {
    let owner: Owner = "acme/support".parse().unwrap();
    Plan {
        format: crate::plan::FORMAT.to_owned(),
        tool_version: "0.1.0".to_owned(),
        origin: Origin {
            target: "local".to_owned(),
            kind: "embedded".to_owned(),
            at: ".checkfu/workspace.db".to_owned(),
            workspace: Some("ws_1".to_owned()),
            epoch: Some("epoch_1".to_owned()),
        },
        owner,
        source: Source::default(),
        desired: Digest::of(b"desired"),
        policy: Policy::default(),
        allowances: Vec::new(),
        scope: Vec::new(),
        ids: Ids(BTreeMap::new()),
        actions: Vec::new(),
        held: Vec::new(),
        findings: Vec::new(),
        notes: Notes { unchanged: 12, ..Notes::default() },
        applyable: true,
        complete: true,
        seal: None,
        digest: Digest::of(b"plan"),
    }
}

/// An action with a step that fits its verb.
pub fn action(verb: Verb, at: &str, about: About) -> Action {
    let spec = json!({"model": {"id": "claude-sonnet-5"}, "instructions": "a\nb\nc", "skills": []});
    let id = "live_1".to_owned();
    let step = match verb {
        Verb::Create => {
            Step::Create { spec: spec.into(), unowned: vec![], protected: false, content: None, replaces: None }
        }
        Verb::Replace => {
            Step::Create { spec: spec.into(), unowned: vec![], protected: false, content: None, replaces: Some(id) }
        }
        Verb::Retire => Step::Retire { id },
        Verb::Adopt => Step::Claim { id, spec: spec.into(), unowned: vec![], protected: false },
        Verb::Rename | Verb::TakeOver => Step::Transfer { id, from: "acme/b".parse().unwrap() },
        Verb::Release => Step::Release { id },
        Verb::HandOver => Step::HandOver { id, to: "acme/c".parse().unwrap() },
        Verb::Record => Step::Record { id, spec: spec.into(), unowned: vec![] },
        _ => Step::Update { id, spec: spec.into(), unowned: vec![], fields: vec!["instructions".to_owned()] },
    };
    Action {
        id: format!("{at}#{}", verb.as_str()),
        address: Some(address(at)),
        verb,
        operation: "agents.update".to_owned(),
        step,
        precondition: Precondition::Version { version: 3 },
        depends_on: Vec::new(),
        digest: Digest::of(at.as_bytes()),
        about,
    }
}

/// What is told of an action that a line of a file causes.
pub fn about(at: &str) -> About {
    About { at: Some(at.to_owned()), reason: "the file changed".to_owned(), ..About::default() }
}

/// A field that the file changed.
pub fn change(path: &str, before: Value, after: Value) -> FieldChange {
    FieldChange { path: path.to_owned(), before: Some(before), after: Some(after), at: None, cause: Cause::File }
}

fn file(path: &str, verb: FileVerb, size: u64) -> FileChange {
    let path = path.to_owned();
    FileChange { path, change: verb, from: None, size: Some(size), before: None, after: None, writer: None }
}

/// Forty lines.
pub fn prompt() -> String {
    (1..=40).map(|i| format!("Rule {i}: be kind and answer in short sentences.\n")).collect::<Vec<_>>().concat()
}

/// A plan with one of most things.
pub fn plan() -> Plan {
    let mut plan = empty();
    let after = prompt().replace("Rule 20: be kind", "Rule 20: be friendly");
    let mut prompt_change = change("instructions", json!(prompt()), json!(after));
    prompt_change.at = Some("agents/support.md:26:1".to_owned());
    let update = About {
        changes: vec![prompt_change, change("model.id", json!("claude-haiku-5"), json!("claude-sonnet-5"))],
        capabilities: vec!["may now use the tool bash".to_owned()],
        ..about("agents/support.md:1:1")
    };
    let publish = About {
        files: vec![file("SKILL.md", FileVerb::Modify, 1_240), file("notes.md", FileVerb::Add, 300)],
        upload_bytes: Some(1_540),
        followers: vec![
            FollowerOf { address: address("Agent/faq"), owner: None, unowned: false, latest: true },
            FollowerOf { address: address("Agent/support"), owner: None, unowned: false, latest: false },
        ],
        live_at_once: 1,
        ..about("skills/triage/SKILL.md:1:1")
    };
    let retire = About {
        reason: "removed: in checkfu.yaml names it".to_owned(),
        reversible: Reversible::No,
        ..about("checkfu.yaml:9:12")
    };
    plan.actions = vec![
        action(Verb::Create, "Agent/billing", about("agents/billing.md:1:1")),
        action(Verb::Update, "Agent/support", update),
        action(Verb::Publish, "Skill/triage", publish),
        action(Verb::Record, "Environment/default", about("env.yaml:1:1")),
        action(Verb::Retire, "Agent/old", retire),
    ];
    plan.held = vec![Held {
        address: address("Agent/faq"),
        field: Some("description".to_owned()),
        applied: Some(json!("Answers")),
        live: Some(json!("Answers questions")),
        wanted: None,
        files: Vec::new(),
        conflict: false,
        owned_again: false,
        rolled_back: false,
        accepted: None,
        actor: Some("jane".to_owned()),
        when: Some("2026-11-30T09:00:00Z".to_owned()),
        break_glass: None,
        at: Some("agents/faq.md:3:1".to_owned()),
    }];
    plan
}

/// A plan in which resources change owner and address.
pub fn owners() -> Plan {
    let mut plan = empty();
    let because = |reason: &str, from: Option<&str>| About {
        reason: reason.to_owned(),
        from: from.map(str::to_owned),
        ..about("checkfu.yaml:9:3")
    };
    let update =
        About { changes: vec![change("description", json!("theirs"), json!("ours"))], ..about("agents/made.md:2:1") };
    let theirs = |name: &str, owner: Option<&str>, latest: bool| FollowerOf {
        address: address(name),
        owner: owner.map(|o| o.parse().unwrap()),
        unowned: owner.is_none(),
        latest,
    };
    let publish = About {
        followers: vec![theirs("Agent/desk", Some("acme/b"), true), theirs("Agent/agent-9", None, false)],
        live_at_once: 1,
        ..about("skills/tone/SKILL.md:1:1")
    };
    plan.actions = vec![
        action(Verb::Adopt, "Agent/made", because("nobody owns agent_7; this project does from now on", None)),
        action(Verb::Update, "Agent/made", update),
        action(Verb::Rename, "Agent/new", because("`moved:`; agent_1 and its versions stay", Some("Agent/old"))),
        action(Verb::TakeOver, "Skill/tone", because("acme/b loses skill_1", Some("acme/b:Skill/tone"))),
        action(Verb::Publish, "Skill/tone", publish),
        action(Verb::Release, "Skill/kept", because("`removed:` with `keep`; skill_2 stays, and nobody owns it", None)),
        action(Verb::HandOver, "Skill/away", because("left for acme/c, which takes skill_3 with its next apply", None)),
    ];
    plan
}

/// With a field that is owned again, and memories of a writer and of a path of that name.
pub fn with_kept(mut plan: Plan, of: &str) -> Plan {
    let store = address("MemoryStore/notes");
    let again =
        Held { owned_again: true, wanted: Some(json!("Helps")), applied: None, actor: None, ..plan.held[0].clone() };
    plan.held.push(Held { address: store.clone(), ..again });
    let written = KeptMemory {
        path: format!("/learned/{of}"),
        writer: Some(of.to_owned()),
        when: Some("2026-11-30T09:00:00Z".to_owned()),
    };
    let gone = KeptMemory { path: "/learned/old.md".to_owned(), writer: None, when: None };
    plan.notes.kept_memories.insert(store.clone(), 12);
    plan.notes.kept.insert(store, vec![written, gone]);
    plan
}

/// A plan that policy refuses.
pub fn refused() -> Plan {
    let mut plan = plan();
    plan.applyable = false;
    plan.findings = vec![
        Finding {
            code: "plan.irreversible".to_owned(),
            effect: Effect::Refuses,
            address: Some(address("Agent/old")),
            message: "Agent/old cannot be brought back once it is archived".to_owned(),
            fix: Some("removed:\n  - address: Agent/old\n".to_owned()),
            at: None,
        },
        Finding {
            code: "plan.source_unknown".to_owned(),
            effect: Effect::Note,
            address: None,
            message: "no Git: it is not known whether this is the newest source".to_owned(),
            fix: None,
            at: None,
        },
    ];
    plan
}

/// The receipt of [`plan`], all done.
pub fn receipt() -> Receipt {
    let plan = plan();
    let line = |(i, a): (usize, &Action)| ReceiptLine {
        action: a.id.clone(),
        outcome: "done".to_owned(),
        operation: a.operation.clone(),
        id: Some(format!("agent_{i}")),
        version: Some(4),
        made: (a.verb == Verb::Publish).then(|| "skver_7".to_owned()),
        spec: None,
        error: None,
    };
    Receipt {
        format: crate::receipt::FORMAT.to_owned(),
        apply: Some("apply_1".to_owned()),
        owner: plan.owner.clone(),
        plan_digest: plan.digest,
        outcome: Outcome::Done,
        lines: plan.actions.iter().enumerate().map(line).collect(),
        held: Vec::new(),
        findings: Vec::new(),
        not_settled: Vec::new(),
        other_apply: None,
    }
}

/// A token of a session.
pub fn token() -> crate::model::op::TokenInfo {
    crate::model::op::TokenInfo {
        id: "tok_1".to_owned(),
        name: "ci".to_owned(),
        scope: crate::model::op::Scope::Apply,
        owners: vec!["acme/*".to_owned(), "beta/x".to_owned()],
        actor_kind: crate::model::op::ActorKind::Session,
        created_at: "2026-11-29T09:00:01.5Z".to_owned(),
        expires_at: None,
        revoked_at: None,
    }
}

/// An apply that is not whole, from a commit with changes that were not committed.
pub fn apply() -> crate::model::op::ApplyInfo {
    let source = crate::model::op::Source {
        commit: Some("0123456789abcdef".to_owned()),
        dirty: Some(true),
        ..crate::model::op::Source::default()
    };
    crate::model::op::ApplyInfo {
        id: "apply_1".to_owned(),
        owner: "a/b".parse().unwrap(),
        actor: "jane".to_owned(),
        plan_digest: Digest::of(b"p"),
        source,
        began_at: "2026-11-30T09:00:01.123456789Z".to_owned(),
        ended_at: None,
        outcome: Some("partial".to_owned()),
        done: 0,
        did: [("publish", 1), ("update", 2)]
            .map(|(verb, count)| crate::model::op::Did { verb: verb.to_owned(), count })
            .to_vec(),
        addresses: ["Agent/a", "Agent/b", "Skill/s"].map(str::to_owned).to_vec(),
        lines: Vec::new(),
        specs: std::collections::BTreeMap::new(),
    }
}

/// A resource as lists show it.
pub(super) fn resource(at: &str, protected: bool) -> crate::cli::view::json::ResourceDoc {
    crate::cli::view::json::ResourceDoc {
        address: at.parse().unwrap(),
        kind: crate::model::Kind::Agent,
        id: "agent_1".to_owned(),
        name: "Support\nBot".to_owned(),
        version: 3,
        state: "applied",
        protected,
        content: None,
        content_version: None,
        spec: None,
    }
}
