//! Events and configurations, each with what it may do.

use serde_json::json;

use super::*;
use crate::ci::event::{Followed, Pull};

const ALL: [Mode; 3] = [Mode::Plan, Mode::Apply, Mode::Drift];

fn event(name: &str, head_repo: Option<&str>) -> Event {
    let pull = Pull {
        number: 7,
        head_sha: "head".into(),
        head_ref: "topic".into(),
        head_repo: head_repo.map(str::to_owned),
        base_sha: "base".into(),
        base_ref: "main".into(),
        author: "ann".into(),
        merged: false,
        merge_commit: None,
    };
    Event {
        name: name.into(),
        repository: "acme/agents".into(),
        sha: "tip".into(),
        reference: String::new(),
        pull: name.starts_with("pull_request").then_some(pull),
        followed: None,
        actor: "ann".into(),
        default_branch: None,
    }
}

fn review() -> Review {
    Review { head: "head".into(), base: "base".into() }
}

fn at(commit: &str) -> CheckedOut<'_> {
    CheckedOut { commit, parents: &[], dirty: false }
}

#[test]
fn a_pull_request_is_reviewed_and_one_from_elsewhere_gets_no_token() {
    let own = event("pull_request", Some("Acme/Agents"));
    for mode in ALL {
        assert_eq!(standing(&own, mode, None), Ok(Standing::Review(review())));
    }
    for repository in [Some("eve/agents"), None] {
        let fork = event("pull_request", repository);
        assert_eq!(standing(&fork, Mode::Plan, None), Ok(Standing::Offline(review(), Degraded::Fork)));
        assert!(matches!(standing(&fork, Mode::Apply, None), Err(Denied::Proposed { whose: "a fork", .. })));
        assert!(matches!(standing(&fork, Mode::Drift, None), Err(Denied::Proposed { .. })));
        assert_eq!(standing(&fork, Mode::Validate, None), Ok(Standing::Branch));
    }
    let bot = Event { actor: "dependabot[bot]".into(), ..own };
    assert_eq!(standing(&bot, Mode::Plan, None), Ok(Standing::Offline(review(), Degraded::Dependabot)));
    assert!(matches!(standing(&bot, Mode::Apply, None), Err(Denied::Proposed { whose: "Dependabot", .. })));
}

#[test]
fn a_branch_is_as_it_was_pushed() {
    for name in ["push", "schedule", "workflow_dispatch", "merge_group"] {
        for mode in ALL {
            assert_eq!(standing(&event(name, None), mode, None), Ok(Standing::Branch), "{name}");
        }
    }
}

#[test]
fn who_starts_a_run_from_outside_gets_no_files_of_their_own_into_it() {
    for name in FROM_OUTSIDE {
        let event = event(name, Some("eve/agents"));
        for mode in ALL {
            assert_eq!(standing(&event, mode, Some(at("tip"))), Ok(Standing::Branch), "{name}");
            for here in [None, Some(at("head")), Some(at("other")), Some(CheckedOut { dirty: true, ..at("tip") })] {
                assert!(matches!(standing(&event, mode, here), Err(Denied::Foreign { .. })), "{name} {here:?}");
            }
        }
    }
    // The merge with a fork's head that GitHub makes.
    let parents = ["tip".to_owned(), "head".to_owned()];
    let merge = Some(CheckedOut { commit: "merge", parents: &parents, dirty: false });
    let fork = event("pull_request_target", Some("eve/agents"));
    assert!(matches!(standing(&fork, Mode::Plan, merge), Err(Denied::Foreign { .. })));
    let own = event("pull_request_target", Some("acme/agents"));
    assert_eq!(standing(&own, Mode::Plan, merge), Ok(Standing::Review(review())));
    assert_eq!(standing(&own, Mode::Plan, Some(at("head"))), Ok(Standing::Review(review())));
    assert!(standing(&own, Mode::Plan, Some(at("other"))).is_err() && standing(&own, Mode::Apply, merge).is_err());
    let mut run = event("workflow_run", None);
    run.followed = Some(Followed { head_sha: "head".into(), head_repo: Some("acme/agents".into()) });
    let reviewed = Review { head: "head".into(), base: "tip".into() };
    assert_eq!(standing(&run, Mode::Plan, Some(at("head"))), Ok(Standing::Review(reviewed)));
    run.followed = Some(Followed { head_sha: "head".into(), head_repo: Some("eve/agents".into()) });
    assert!(standing(&run, Mode::Plan, Some(at("head"))).is_err());
}

#[test]
fn what_decides_where_a_token_goes_is_the_branchs() {
    let config = |patch: serde_json::Value| -> Config {
        let mut config = json!({
            "apiVersion": "checkfu.com/v1", "kind": "Config", "authoring_owner": "acme/x", "default_target": "team",
            "targets": {
                "team": {"kind": "checkfu", "url": "https://a.example", "token": {"env": "T"}, "ca": "ca.pem"},
                "local": {"kind": "embedded"},
            },
        });
        json_patch(&mut config, &patch);
        serde_json::from_value(config).unwrap()
    };
    let base = config(json!({}));
    let told = |patch: serde_json::Value, to: &str| {
        let changed = compare(&base, &config(patch), "team", to).unwrap_err();
        changed.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(compare(&base, &base, "team", "team"), Ok(()));
    let other = config(
        json!({"targets": {"new": {"kind": "embedded"}, "local": {"path": "elsewhere.db"}}, "policy": {"max_retire": 9}}),
    );
    assert_eq!(compare(&base, &other, "team", "team"), Ok(()));
    let team = |patch: serde_json::Value| told(json!({"targets": {"team": patch}}), "team");
    assert_eq!(team(json!({"url": "https://eve.example"})), "target `team` is changed: its url");
    assert_eq!(team(json!({"url": "https://a.example/other"})), "target `team` is changed: its url");
    assert_eq!(
        team(json!({"token": {"env": "AWS_SECRET"}})),
        "target `team` is changed: the variable that its token is read from"
    );
    assert_eq!(team(json!({"ca": "eve.pem"})), "target `team` is changed: the certificates that it trusts");
    assert_eq!(team(json!({"insecure": true})), "target `team` is changed: whether it may be spoken to without TLS");
    assert_eq!(
        told(json!({"authoring_owner": "acme/y", "default_target": "local"}), "local"),
        "authoring_owner is changed from acme/x to acme/y; the target is `local` by the files under review, and `team` by the branch"
    );
}

fn json_patch(to: &mut serde_json::Value, patch: &serde_json::Value) {
    match (to, patch) {
        (serde_json::Value::Object(to), serde_json::Value::Object(patch)) => {
            for (key, value) in patch {
                json_patch(to.entry(key.clone()).or_insert(serde_json::Value::Null), value);
            }
        }
        (to, patch) => *to = patch.clone(),
    }
}
