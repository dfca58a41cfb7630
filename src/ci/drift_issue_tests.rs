//! Which issue and which pull request is ours, and what becomes of it.

use super::*;

fn moved(rows: &[(&str, &str)]) -> Moved {
    let rows: BTreeMap<String, String> = rows.iter().map(|(r, d)| ((*r).to_owned(), (*d).to_owned())).collect();
    Moved { resources: rows.len(), rows }
}

fn known(number: u64, moved: &Moved) -> Known {
    Known { number, marker: moved.marker("prod", None) }
}

#[test]
fn an_issue_lives_from_none_to_new_same_changed_and_resolved() {
    let (one, two) = (moved(&[("Agent/a x", "1")]), moved(&[("Agent/a x", "2")]));
    let rows = [
        (vec![], None, DriftStatus::None, vec![]),
        (vec![], Some(&one), DriftStatus::New, vec![Step::Open]),
        (vec![known(7, &one)], Some(&one), DriftStatus::Same, vec![Step::Seen(7)]),
        (vec![known(7, &one)], Some(&two), DriftStatus::Changed, vec![Step::Change(7)]),
        (vec![known(7, &two)], None, DriftStatus::Resolved, vec![Step::Close(7)]),
        (
            vec![known(7, &two), known(9, &one), known(12, &two)],
            Some(&two),
            DriftStatus::Same,
            vec![Step::Seen(7), Step::Duplicate { number: 9, of: 7 }, Step::Duplicate { number: 12, of: 7 }],
        ),
        (
            vec![known(7, &two), known(9, &one)],
            None,
            DriftStatus::Resolved,
            vec![Step::Close(7), Step::Duplicate { number: 9, of: 7 }],
        ),
    ];
    for (known, now, status, steps) in rows {
        assert_eq!(decide(&known, now), (status, steps), "{known:?} {now:?}");
    }
    assert!(Step::Open.tells_of_drift() && Step::Change(1).tells_of_drift());
    assert!(!Step::Seen(1).tells_of_drift() && !Step::Close(1).tells_of_drift());
}

#[test]
fn ours_is_what_we_wrote_for_this_key_and_the_lowest_number_is_first() {
    let one = moved(&[("Agent/a", "1")]);
    let body = |what: &str, key: &str| {
        let what = what.to_owned();
        format!("{}\ntext", Marker { what, ..one.marker(key, None) }.write())
    };
    let issues = [
        (12, "me[bot]", body(ISSUE, "prod")),
        (9, "Me[bot]", body(ISSUE, "prod")),
        (1, "eve", body(ISSUE, "prod")),
        (2, "me[bot]", body(ISSUE, "test")),
        (3, "me[bot]", body("plan", "prod")),
        (4, "me[bot]", format!("quoted: {}", body(ISSUE, "prod"))),
    ];
    let issues = issues.iter().map(|(n, author, body)| (*n, *author, body.as_str()));
    let found: Vec<u64> = ours(issues, "me[bot]", "prod").iter().map(|k| k.number).collect();
    assert_eq!(found, [9, 12]);
}

#[test]
fn a_change_is_told_as_what_is_new_what_moved_again_and_what_is_gone() {
    let before = moved(&[("Agent/a x", "1"), ("Agent/b y", "1"), ("Skill/c=d", "1")]);
    let now = moved(&[("Agent/a x", "2"), ("Agent/d", "1"), ("Skill/c=d", "1")]);
    let marker = before.marker("prod", None);
    let found = since(&marker, &now).unwrap();
    assert_eq!((found.new, found.again, found.gone), (vec!["Agent/d"], vec!["Agent/a x"], vec!["Agent/b y"]));
    let many: Vec<String> = (0..1_000).map(|i| format!("Agent/agent-{i:04} instructions")).collect();
    let many = moved(&many.iter().map(|row| (row.as_str(), "0123456789abcdef")).collect::<Vec<_>>());
    let marker = many.marker("prod", None);
    assert!(marker.write().len() < 1_000 && marker.digest == Some(many.digest()));
    assert_eq!(since(&marker, &now), None);
}

#[test]
fn a_pull_request_is_opened_kept_true_closed_and_left_to_whoever_took_it_over() {
    let tree = Digest::of(b"tree");
    let marker = |state, commits: &[&str], digest| Marker {
        what: PULL.to_owned(),
        key: "prod".to_owned(),
        head: commits.last().map(|c| (*c).to_owned()),
        base: Some("base".to_owned()),
        digest: Some(digest),
        actions: commits.iter().map(|c| (*c).to_owned()).collect(),
        names: Vec::new(),
        total: 0,
        state,
    };
    let step = |author: &str, body: &Marker, head: &str, (open, merged): (bool, bool), due: Option<(Digest, &str)>| {
        let body = body.write();
        decide_pull(Some(LastPull { author, body: &body, head, open, merged }), "me", "prod", due)
    };
    let ours = marker(State::Planned, &["old", "new"], tree);
    let due = Some((tree, "base"));
    assert_eq!(decide_pull(None, "me", "prod", due), PullStep::Open);
    assert_eq!(decide_pull(None, "me", "prod", None), PullStep::Nothing);
    let open = (true, false);
    assert_eq!(step("me", &ours, "new", open, due), PullStep::Text);
    assert_eq!(step("me", &ours, "old", open, due), PullStep::Update, "the branch was not moved the last time");
    assert_eq!(step("me", &ours, "new", open, Some((tree, "later"))), PullStep::Update);
    assert_eq!(step("me", &ours, "new", open, Some((Digest::of(b"x"), "base"))), PullStep::Update);
    assert_eq!(step("me", &ours, "new", open, None), PullStep::Close);
    assert_eq!(step("me", &ours, "theirs", open, due), PullStep::Theirs);
    assert_eq!(step("me", &ours, "theirs", open, None), PullStep::Theirs);
    assert_eq!(step("eve", &ours, "new", open, due), PullStep::Theirs);
    assert_eq!(step("eve", &ours, "new", open, None), PullStep::Nothing);
    let shut = (false, false);
    assert_eq!(step("me", &ours, "new", shut, due), PullStep::Refused);
    assert_eq!(step("me", &ours, "new", shut, Some((Digest::of(b"x"), "base"))), PullStep::Open);
    assert_eq!(step("me", &marker(State::Stale, &["new"], tree), "new", shut, due), PullStep::Open);
    assert_eq!(step("me", &ours, "new", (false, true), due), PullStep::Open);
    assert_eq!(step("me", &ours, "new", shut, None), PullStep::Nothing);
}
