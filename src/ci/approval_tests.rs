//! What approves an action, and what does not.

use serde_json::json;

use super::*;
use crate::ci::State;
use crate::model::config::Policy;
use crate::model::kinds::Ids;
use crate::plan::{About, FORMAT, Notes, Origin, Verb};

fn update(address: &str, precondition: Precondition, text: &str) -> Action {
    let step = Step::Update {
        id: "agent_1".into(),
        spec: json!({ "instructions": text }).into(),
        unowned: Vec::new(),
        fields: vec!["instructions".into()],
    };
    action(address, Verb::Update, step, precondition)
}

fn action(address: &str, verb: Verb, step: Step, precondition: Precondition) -> Action {
    Action {
        id: format!("{address}#{}", verb.as_str()),
        address: Some(address.parse().unwrap()),
        verb,
        operation: format!("agents.{}", verb.as_str()),
        step,
        precondition,
        depends_on: Vec::new(),
        digest: Digest::of(b""),
        about: About::default(),
    }
}

fn version(version: u64) -> Precondition {
    Precondition::Version { version }
}

fn plan(actions: Vec<Action>) -> Plan {
    let mut plan = Plan {
        format: FORMAT.into(),
        tool_version: "0".into(),
        origin: Origin { target: "t".into(), kind: "embedded".into(), at: "w".into(), workspace: None, epoch: None },
        owner: "a/b".parse().unwrap(),
        source: crate::model::op::Source::default(),
        desired: Digest::of(b""),
        policy: Policy::default(),
        allowances: Vec::new(),
        scope: Vec::new(),
        ids: Ids::default(),
        actions,
        held: Vec::new(),
        findings: Vec::new(),
        notes: Notes::default(),
        applyable: true,
        complete: true,
        digest: Digest::of(b""),
        seal: None,
    };
    plan.digest = crate::plan::digest(&plan);
    plan
}

fn marker(plan: &Plan) -> Marker {
    Marker {
        what: "plan".into(),
        key: "k".into(),
        head: Some("h".repeat(40)),
        base: None,
        digest: Some(plan.digest),
        actions: names(plan),
        names: Vec::new(),
        total: plan.actions.len(),
        state: State::Planned,
    }
}

/// The ids that are approved, where `shown` was shown and `now` is planned.
fn approved(shown: &Plan, now: &Plan, done: &[Done]) -> Vec<String> {
    let mut approvals = Approvals::new(now, done);
    approvals.count(7, &marker(shown));
    assert!(approvals.by().values().all(|by| *by == 7));
    assert_eq!(approvals.is_whole(), approvals.by().len() == now.actions.len());
    approvals.by().into_keys().map(str::to_owned).collect()
}

#[test]
fn an_action_is_approved_by_what_it_does_and_from_where() {
    let shown = plan(vec![update("Agent/a", version(3), "x"), update("Agent/b", version(1), "y")]);
    let again = |action: Action| approved(&shown, &plan(vec![action]), &[]);
    assert_eq!(again(update("Agent/a", version(3), "x")), ["Agent/a#update"]);
    for other in [
        update("Agent/a", version(4), "x"),
        update("Agent/a", version(3), "z"),
        update("Agent/c", version(3), "x"),
        update("Agent/b", version(3), "x"),
    ] {
        assert!(again(other.clone()).is_empty(), "{other:?}");
    }
    // What it waits for, and the words about it, are not what was approved.
    let mut waits = update("Agent/a", version(3), "x");
    waits.depends_on = vec!["Skill/s#publish".into()];
    waits.about.reason = "another".into();
    assert_eq!(again(waits), ["Agent/a#update"]);
    let mut theirs = plan(vec![update("Agent/a", version(3), "x")]);
    theirs.owner = "a/c".parse().unwrap();
    theirs.digest = crate::plan::digest(&theirs);
    assert!(approved(&shown, &theirs, &[]).is_empty(), "another owner's");
}

#[test]
fn what_follows_an_action_that_is_done_is_still_approved() {
    let after = Precondition::After { action: "Agent/a#update".into() };
    let protect =
        |p: Precondition| action("Agent/a", Verb::Protect, Step::Protect { id: "agent_1".into(), on: true }, p);
    let shown = plan(vec![update("Agent/a", version(3), "x"), protect(after)]);
    let now = plan(vec![protect(Precondition::Authoring { version: 4, seq: 2 })]);
    let done = |action: &str, version| [Done { action: action.into(), version }];
    assert_eq!(approved(&shown, &now, &done("Agent/a#update", 4)), ["Agent/a#protect"]);
    // It moved on since, was done at another resource, or was not done.
    assert!(approved(&shown, &now, &done("Agent/a#update", 3)).is_empty());
    assert!(approved(&shown, &now, &done("Agent/b#update", 4)).is_empty());
    assert!(approved(&shown, &now, &[]).is_empty());

    let contents = |id: Option<&str>| {
        let step = Step::WriteContents {
            id: id.map(str::to_owned),
            spec: json!({}).into(),
            unowned: Vec::new(),
            puts: BTreeMap::new(),
            deletes: vec!["/a".into()],
        };
        let expect = Precondition::Memories { expect: BTreeMap::from([("/a".to_owned(), None)]) };
        action("MemoryStore/m", Verb::Publish, step, expect)
    };
    let (shown, now) = (plan(vec![contents(None)]), plan(vec![contents(Some("memstore_1"))]));
    assert_eq!(approved(&shown, &now, &[]), ["MemoryStore/m#publish"], "what was to be made is made");
}

#[test]
fn of_many_actions_the_plan_alone_is_approved() {
    let many = |n: usize| plan((0..n).map(|i| update(&format!("Agent/a{i}"), version(1), "x")).collect());
    assert_eq!(names(&many(MOST_ACTIONS)).len(), MOST_ACTIONS);
    let most = many(MOST_ACTIONS + 1);
    assert!(names(&most).is_empty());
    assert_eq!(approved(&most, &most, &[]).len(), MOST_ACTIONS + 1);
    assert!(approved(&most, &many(MOST_ACTIONS), &[]).is_empty());
    let mut named = marker(&most);
    named.digest = None;
    named.actions = vec![name(&most.owner, &most.actions[0], &version(1))];
    let mut approvals = Approvals::new(&most, &[]);
    approvals.count(1, &named);
    assert!(approvals.by().is_empty(), "names are not taken for a plan that has too many");
}

#[test]
fn the_union_of_comments_counts_and_the_first_is_named() {
    let (a, b) = (update("Agent/a", version(3), "x"), update("Agent/b", version(1), "y"));
    let now = plan(vec![a.clone(), b.clone()]);
    let mut approvals = Approvals::new(&now, &[]);
    approvals.count(8, &marker(&plan(vec![b.clone()])));
    assert!(!approvals.is_whole());
    approvals.count(7, &marker(&now));
    assert!(approvals.is_whole());
    assert_eq!(approvals.by(), BTreeMap::from([("Agent/a#update", 7), ("Agent/b#update", 8)]));
}

#[test]
fn a_comment_counts_where_it_is_ours_untouched_and_of_what_was_merged() {
    let marker = marker(&plan(Vec::new()));
    let merged = "h".repeat(40);
    let ours = Shown { marker: &marker, author: "github-actions[bot]", editor: None, merged: &merged };
    let me = "github-actions[bot]";
    assert_eq!(counts(&ours, me), Ok(()));
    assert_eq!(counts(&Shown { editor: Some("GitHub-Actions[bot]"), ..ours.clone() }, me), Ok(()));
    let void = |shown: Shown<'_>| counts(&shown, me).unwrap_err().to_string();
    assert!(void(Shown { author: "eve", ..ours.clone() }).contains("written by eve"));
    assert!(void(Shown { author: "github-actions", ..ours.clone() }).contains("written by github-actions,"));
    assert!(void(Shown { editor: Some("eve"), ..ours.clone() }).contains("edited by eve"));
    assert!(void(Shown { merged: "0123456789abcdef", ..ours.clone() }).contains("and 0123456789ab was merged"));
    let without = Marker { head: None, ..marker.clone() };
    assert!(void(Shown { marker: &without, ..ours }).contains("no commit"));
}
