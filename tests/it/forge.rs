//! The client of GitHub against a GitHub on loopback: long lists, forged marks, every kind of failure, lost answers; and
//! that GitHub against the description that GitHub publishes, if there is a checker.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkfu::ci::inputs::Token;
use checkfu::ci::{Marker, State};
use checkfu::forge::{
    Entry, EntryMode, ForgeError, ForgeErrorKind, GitHub, IssueEdit, NewIssue, NewPull, Options, Patience, PullEdit,
};

use crate::github::{Actor, Fake, Fault, JOB, REPOSITORY};

fn options(fake: &Fake, token: &str) -> Options {
    let patience = Patience { first: Duration::ZERO, longest: Duration::ZERO, ..Patience::default() };
    Options { patience, ..Options::new(fake.url(), Token::new(token), REPOSITORY) }
}

fn job(fake: &Fake) -> GitHub {
    GitHub::new(options(fake, JOB)).unwrap()
}

fn mark(key: &str) -> String {
    let (what, key) = ("plan".to_owned(), key.to_owned());
    Marker {
        what,
        key,
        head: None,
        base: None,
        digest: None,
        actions: Vec::new(),
        names: Vec::new(),
        total: 0,
        state: State::Planned,
    }
    .write()
}

fn new_issue(body: &str) -> NewIssue {
    NewIssue { title: "t".into(), body: body.into(), labels: vec!["bug".into()], assignees: Vec::new() }
}

async fn fails(fake: &Fake, fault: Fault) -> ForgeError {
    fake.mend();
    fake.fail("GET /repos", 100, fault);
    job(fake).comments(1).await.unwrap_err()
}

#[tokio::test]
async fn ours_is_found_as_the_131st_of_150_and_forged_ones_are_not_ours() {
    let fake = Fake::start();
    let number = {
        let mut world = fake.world();
        let number = world.open_issue("ann", "t", "", &[]);
        for n in 1..=150 {
            let (who, text) = if n == 131 { ("github-actions[bot]", mark("prod")) } else { ("eve", mark("prod")) };
            world.comment(who, number, &if n % 50 == 0 || n == 131 { text } else { format!("comment {n}") });
        }
        number
    };
    let github = job(&fake);
    let me = github.me().await.unwrap();
    let all = github.comments(number).await.unwrap();
    assert_eq!((all.len(), me.as_str()), (150, "github-actions[bot]"));
    let ours = |c: &checkfu::forge::Comment| c.author == me && Marker::read(&c.body).is_some_and(|m| m.key == "prod");
    assert_eq!(all.iter().position(ours), Some(130));
    assert_eq!(all.iter().filter(|c| Marker::read(&c.body).is_some()).count(), 4, "three are forged");
    let asked: Vec<String> = fake.requests().iter().map(crate::github::Asked::line).collect();
    let path = format!("GET /repos/{REPOSITORY}/issues/{number}/comments?per_page=100");
    assert_eq!(asked, ["POST /graphql".to_owned(), path.clone(), format!("{path}&page=2")]);
}

#[tokio::test]
async fn headers_are_what_github_asks_for() {
    let fake = Fake::start();
    job(&fake).open_issues(None).await.unwrap();
    let headers = &fake.requests()[0].headers;
    for (name, value) in [
        ("authorization", format!("Bearer {JOB}").as_str()),
        ("accept", "application/vnd.github+json"),
        ("x-github-api-version", "2022-11-28"),
        ("user-agent", concat!("checkfu/", env!("CARGO_PKG_VERSION"))),
    ] {
        assert_eq!(headers[name], value);
    }
}

#[tokio::test]
async fn every_kind_of_token_tells_whose_it_is() {
    let fake = Fake::start();
    fake.world().tokens.insert("ghp_ann".into(), Actor::person("ann"));
    let me = async |token: &str| GitHub::new(options(&fake, token)).unwrap().me().await;
    assert_eq!(me(JOB).await.unwrap(), "github-actions[bot]");
    fake.fail("POST /graphql", 2, Fault::status(403, "no GraphQL"));
    assert_eq!(me("ghp_ann").await.unwrap(), "ann");
    assert_eq!(me(JOB).await.unwrap(), "github-actions[bot]", "a job's token is what may ask neither");
    assert_eq!(me("ghs_wrong").await.unwrap_err().kind, ForgeErrorKind::Unauthorized);
    fake.fail("POST /graphql", 100, Fault::status(502, ""));
    assert_eq!(me(JOB).await.unwrap_err().kind, ForgeErrorKind::Unavailable, "not known is not the job's");
}

#[tokio::test]
async fn every_failure_has_its_kind_and_none_shows_the_token() {
    let fake = Fake::start();
    let echo = format!("you said Bearer {JOB}");
    let rows = [
        (Fault::status(400, &echo), ForgeErrorKind::Invalid, 1),
        (Fault::status(401, "Bad credentials"), ForgeErrorKind::Unauthorized, 1),
        (Fault::status(403, "Resource not accessible by integration"), ForgeErrorKind::Forbidden, 1),
        (Fault::status(404, "Not Found"), ForgeErrorKind::NotFound, 1),
        (Fault::status(410, "Issues are disabled for this repo"), ForgeErrorKind::Gone, 1),
        (Fault::status(413, ""), ForgeErrorKind::TooLong, 1),
        (Fault::status(422, "Validation Failed"), ForgeErrorKind::Invalid, 1),
        (Fault::status(422, "body is too long (maximum is 65536 characters)"), ForgeErrorKind::TooLong, 1),
        (Fault::limit(429, 0), ForgeErrorKind::Limited, 6),
        (Fault::limit(403, 0), ForgeErrorKind::Limited, 6),
        (Fault::limit(429, 3600), ForgeErrorKind::Limited, 1),
        (Fault::status(500, &echo), ForgeErrorKind::Unavailable, 6),
        (Fault::status(501, ""), ForgeErrorKind::Unavailable, 1),
        (Fault::status(503, ""), ForgeErrorKind::Unavailable, 6),
        (Fault::Answer(200, Vec::new(), "<html>".into()), ForgeErrorKind::Unavailable, 1),
        (Fault::Cut, ForgeErrorKind::Unavailable, 6),
    ];
    for (fault, kind, times) in rows {
        let name = format!("{fault:?}");
        let error = fails(&fake, fault).await;
        assert_eq!((error.kind, fake.requests().len()), (kind, times), "{name}: {error:?}");
        assert_eq!(error.did, "read the comments of #1");
        assert!(!format!("{error:?} {error}").contains(JOB), "{error:?}");
        assert!(!error.uncertain, "a read changes nothing: {error:?}");
    }
}

#[tokio::test]
async fn a_limit_without_a_number_is_waited_for_a_minute_at_most_in_all() {
    let fake = Fake::start();
    let reset = jiff::Timestamp::now().as_second() + 61;
    for headers in
        [Vec::new(), vec![("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", (reset + 600).to_string())]]
    {
        let patience = Patience { total: Duration::from_secs(59), ..Patience::default() };
        let github = GitHub::new(Options { patience, ..options(&fake, JOB) }).unwrap();
        fake.mend();
        let body = r#"{"message":"You have exceeded a secondary rate limit"}"#.to_owned();
        fake.fail("POST", 9, Fault::Answer(403, headers, body));
        let error = github.create_comment(1, "x").await.unwrap_err();
        assert_eq!((error.kind, error.uncertain, fake.requests().len()), (ForgeErrorKind::Limited, false, 1));
    }
}

#[tokio::test]
async fn all_pauses_come_out_of_one_purse() {
    let fake = Fake::start();
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let patience = Patience {
        total: Duration::from_millis(5),
        first: Duration::from_millis(2),
        longest: Duration::from_millis(2),
        ..Patience::default()
    };
    let on_retry: checkfu::forge::OnRetry = Arc::new(move |again| kept.lock().unwrap().push(again.error.kind));
    let github = GitHub::new(Options { patience, on_retry, ..options(&fake, JOB) }).unwrap();
    fake.fail("GET", 100, Fault::status(503, ""));
    assert!(github.comments(1).await.is_err() && github.pull(1).await.is_err());
    assert_eq!(fake.requests().len(), 4, "two pauses of 2 ms are in 5 ms, whoever makes them");
    assert_eq!(*told.lock().unwrap(), [ForgeErrorKind::Unavailable; 2]);
}

#[tokio::test]
async fn silence_ends_in_time() {
    let fake = Fake::start();
    fake.fail("GET", 1, Fault::Silence);
    let patience = Patience { call: Duration::from_millis(40), times: 0, ..Patience::default() };
    let github = GitHub::new(Options { patience, ..options(&fake, JOB) }).unwrap();
    let error = github.comments(1).await.unwrap_err();
    assert_eq!(error.kind, ForgeErrorKind::Unavailable);
    assert!(error.said.ends_with("did not answer in 40 ms"), "{error}");
    assert_eq!(Patience::default().call, Duration::from_secs(30));
    let gone = Fake::start().url().to_owned();
    let github = GitHub::new(Options { api_url: gone, ..options(&fake, JOB) }).unwrap();
    assert!(github.comments(1).await.unwrap_err().said.ends_with("cannot be reached"));
}

#[tokio::test]
async fn what_was_made_and_not_told_is_found_and_not_made_twice() {
    let fake = Fake::start();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    fake.world().comment("eve", number, &format!("{}\nforged", mark("prod")));
    let github = job(&fake);
    let body = format!("{}\nhello", mark("prod"));
    for fault in [Fault::CutAfter, Fault::Cut, Fault::status(502, "")] {
        let name = format!("{fault:?}");
        fake.world().comments.retain(|_, c| c.author == "eve");
        fake.fail("POST /repos", 1, fault);
        let made = github.create_comment(number, &body).await.unwrap();
        let world = fake.world();
        let ours: Vec<u64> = world.comments_of(number).iter().filter(|c| c.author != "eve").map(|c| c.id).collect();
        assert_eq!(ours, [made.id], "{name}");
    }
    for fault in [Fault::CutAfter, Fault::Cut] {
        fake.world().issues.retain(|n, _| *n == number);
        fake.fail("POST /repos", 1, fault);
        let made = github.create_issue(&new_issue(&body)).await.unwrap();
        let open: Vec<u64> = fake.world().open_issues().iter().map(|i| i.number).collect();
        assert_eq!(open, [number, made.number]);
    }
    fake.world().comments.clear();
    fake.fail("POST /repos", 3, Fault::Cut);
    let error = github.create_comment(number, &body).await.unwrap_err();
    assert!(error.uncertain, "the second time it is told, not guessed: {error:?}");
}

#[tokio::test]
async fn a_limit_is_waited_for_even_where_something_is_made() {
    let fake = Fake::start();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    fake.fail("POST", 2, Fault::limit(403, 0));
    job(&fake).create_comment(number, "hello").await.unwrap();
    assert_eq!((fake.world().comments_of(number).len(), fake.writes().len()), (1, 3));
}

#[tokio::test]
async fn neither_a_link_nor_a_redirect_takes_the_token_elsewhere() {
    let (fake, other) = (Fake::start(), Fake::start());
    let to = |rest: &str| format!("{}{rest}", other.url());
    let link = vec![("link", format!("<{}>; rel=\"next\"", to("/repositories/1/issues?page=2")))];
    let error = fails(&fake, Fault::Answer(200, link, "[]".into())).await;
    assert_eq!(error.said, "the next page is on another server; no token goes there");
    for status in [301, 302, 307, 308] {
        let error = fails(&fake, Fault::Answer(status, vec![("location", to("/x"))], String::new())).await;
        assert_eq!(
            (error.kind, error.said.as_str()),
            (ForgeErrorKind::Invalid, "the server sends elsewhere; no token goes there")
        );
    }
    assert!(other.requests().is_empty());
    let turning =
        vec![("link", format!("<{}/repos/{REPOSITORY}/issues/1/comments?per_page=100>; rel=\"next\"", fake.url()))];
    assert_eq!(fails(&fake, Fault::Answer(200, turning, "[]".into())).await.said, "the list has no end");
    // On the same server it goes on; what makes something does so only where it stays what it is.
    fake.mend();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    let here = |status| {
        Fault::Answer(
            status,
            vec![("location", format!("/repos/{REPOSITORY}/issues/{number}/comments"))],
            String::new(),
        )
    };
    fake.fail("GET /repos", 1, here(301));
    assert_eq!(job(&fake).comments(77).await.unwrap(), []);
    fake.fail("POST /repos", 1, here(307));
    job(&fake).create_comment(77, "moved").await.unwrap();
    fake.fail("POST /repos", 1, here(302));
    assert_eq!(job(&fake).create_comment(77, "lost").await.unwrap_err().kind, ForgeErrorKind::Invalid);
    assert_eq!(fake.world().comments_of(number).len(), 1);
}

#[tokio::test]
async fn an_answer_has_a_most() {
    let fake = Fake::start();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    fake.world().comment("ann", number, &"x".repeat(5_000));
    let github = GitHub::new(Options { answer_bytes: 4_000, ..options(&fake, JOB) }).unwrap();
    let error = github.comments(number).await.unwrap_err();
    assert_eq!((error.kind, error.said.as_str()), (ForgeErrorKind::Invalid, "the answer has more than 4000 bytes"));
}

#[tokio::test]
async fn comments_are_edited_folded_and_known_by_their_last_editor() {
    let fake = Fake::start();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    let github = job(&fake);
    let comment = github.create_comment(number, "one").await.unwrap();
    assert_eq!(github.last_editor(&comment.node_id).await.unwrap(), None);
    assert_eq!(github.update_comment(comment.id, "two").await.unwrap().body, "two");
    assert_eq!(github.last_editor(&comment.node_id).await.unwrap().as_deref(), Some("github-actions[bot]"));
    fake.world().edit("eve", comment.id, "three");
    assert_eq!(github.last_editor(&comment.node_id).await.unwrap().as_deref(), Some("eve"));
    github.minimize(&comment.node_id).await.unwrap();
    assert!(fake.world().comments[&comment.id].minimized);
    fake.world().comments.clear();
    assert_eq!(github.update_comment(comment.id, "four").await.unwrap_err().kind, ForgeErrorKind::NotFound);
    assert_eq!(github.minimize(&comment.node_id).await.unwrap_err().kind, ForgeErrorKind::NotFound);
    assert_eq!(github.last_editor(&comment.node_id).await.unwrap_err().kind, ForgeErrorKind::NotFound);
}

#[tokio::test]
async fn a_body_of_65536_characters_is_taken_and_one_more_is_too_long() {
    let fake = Fake::start();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    let github = job(&fake);
    let comment = github.create_comment(number, &"é".repeat(65_536)).await.unwrap();
    let long = "x".repeat(65_537);
    for error in [
        github.create_comment(number, &long).await.unwrap_err(),
        github.update_comment(comment.id, &long).await.unwrap_err(),
        github.create_issue(&new_issue(&long)).await.unwrap_err(),
    ] {
        assert_eq!(error.kind, ForgeErrorKind::TooLong, "{error:?}");
    }
}

#[tokio::test]
async fn a_token_that_only_reads_is_denied_and_told_so() {
    let fake = Fake::start();
    let number = fake.world().open_issue("ann", "t", "", &[]);
    fake.world().tokens.insert("ghs_reads".into(), Actor::job().reading());
    let github = GitHub::new(options(&fake, "ghs_reads")).unwrap();
    assert_eq!(github.comments(number).await.unwrap().len(), 0);
    let refused = [
        github.create_comment(number, "x").await.unwrap_err(),
        github.create_issue(&new_issue("x")).await.unwrap_err(),
        github.create_label("new", "ededed", "").await.unwrap_err(),
        github.create_blob(b"x").await.unwrap_err(),
    ];
    for error in refused {
        assert!(error.is_denied() && error.kind == ForgeErrorKind::Forbidden, "{error:?}");
    }
    fake.world().has_issues = false;
    assert!(job(&fake).open_issues(None).await.unwrap_err().is_denied());
}

#[tokio::test]
async fn issues_are_found_by_label_changed_and_closed() {
    let fake = Fake::start();
    {
        let mut world = fake.world();
        world.commit("topic", &[("a", Some("1"))]);
        world.open_pull("ann", "topic", "main", Some(REPOSITORY));
        for n in 0..120 {
            world.open_issue("ann", &format!("t{n}"), "", if n % 2 == 0 { &["drift & co"] } else { &[] });
        }
    }
    let github = job(&fake);
    assert_eq!(github.open_issues(Some("drift & co")).await.unwrap().len(), 60);
    assert_eq!(github.open_issues(None).await.unwrap().len(), 120, "a pull request is no issue here");
    github.create_label("drift & co", "ededed", "What moved").await.unwrap();
    github.create_label("drift & co", "ededed", "What moved").await.unwrap();
    let issue = github.create_issue(&new_issue("body")).await.unwrap();
    assert_eq!((issue.author.as_str(), issue.labels.as_slice()), ("github-actions[bot]", &["bug".to_owned()][..]));
    let edit = IssueEdit { title: Some("new".into()), ..IssueEdit::default() };
    let issue = github.update_issue(issue.number, &edit).await.unwrap();
    assert_eq!((issue.title.as_str(), issue.body.as_str()), ("new", "body"));
    github.update_issue(issue.number, &IssueEdit { close: Some("completed"), ..IssueEdit::default() }).await.unwrap();
    let world = fake.world();
    let found = &world.issues[&issue.number];
    assert_eq!((found.open, found.reason.as_deref()), (false, Some("completed")));
}

/// Everything that the client can ask, once.
async fn tour(fake: &Fake, github: &GitHub) {
    let main = fake.world().tip("main").unwrap();
    let tree = github.tree_of(&main).await.unwrap();
    let text = github.create_blob(b"text\n").await.unwrap();
    let bytes = github.create_blob(&[0, 159, 146, 150]).await.unwrap();
    let entry = |path: &str, mode, blob: Option<&String>| Entry { path: path.into(), mode, blob: blob.cloned() };
    let changes = [
        entry("agents/a.md", EntryMode::File, Some(&text)),
        entry("bin/x", EntryMode::Executable, Some(&bytes)),
        entry("README.md", EntryMode::File, None),
    ];
    let tree = github.create_tree(&tree, &changes).await.unwrap();
    let commit = github.create_commit("What moved live", &tree, &main).await.unwrap();
    assert_eq!(github.branch("checkfu/drift-prod").await.unwrap(), None);
    github.set_branch("checkfu/drift-prod", &main).await.unwrap();
    github.set_branch("checkfu/drift-prod", &commit).await.unwrap();
    assert_eq!(github.branch("checkfu/drift-prod").await.unwrap().as_deref(), Some(commit.as_str()));
    assert_eq!(fake.world().file("checkfu/drift-prod", "agents/a.md").as_deref(), Some("text\n"));
    assert_eq!(fake.world().file("checkfu/drift-prod", "README.md"), None);
    let new =
        NewPull { title: "Drift".into(), body: "b".into(), head: "checkfu/drift-prod".into(), base: "main".into() };
    assert_eq!(github.last_pull(&new.head, &new.base).await.unwrap(), None);
    let pull = github.create_pull(&new).await.unwrap();
    assert_eq!((pull.head_sha.as_str(), pull.author.as_str()), (commit.as_str(), "github-actions[bot]"));
    assert_eq!(github.last_pull(&new.head, &new.base).await.unwrap().unwrap().number, pull.number);
    let read = github.pull(pull.number).await.unwrap();
    assert_eq!((read.head_sha.as_str(), read.base_ref.as_str(), read.merged), (commit.as_str(), "main", false));
    assert_eq!(github.commits_between(&main, &commit).await.unwrap(), std::slice::from_ref(&commit));
    assert_eq!(github.pulls_of(&commit).await.unwrap().len(), 1);
    let merge = fake.world().merge(pull.number);
    let of = github.pulls_of(&merge).await.unwrap();
    assert_eq!((of[0].merged, of[0].merge_commit.as_deref()), (true, Some(merge.as_str())));
    let edit = PullEdit { title: Some("Drift!".into()), body: Some("c".into()), close: true };
    assert_eq!(github.update_pull(pull.number, &edit).await.unwrap().title, "Drift!");
    github.delete_branch("checkfu/drift-prod").await.unwrap();
    github.create_label("drift", "ededed", "What moved").await.unwrap();
    let issue = github.create_issue(&new_issue("body")).await.unwrap();
    let close = IssueEdit { title: Some("n".into()), body: Some("b".into()), close: Some("completed") };
    let comment = github.create_comment(issue.number, "hello").await.unwrap();
    github.update_comment(comment.id, "hello again").await.unwrap();
    assert_eq!(github.comments(issue.number).await.unwrap().len(), 1);
    assert!(!github.open_issues(Some("bug")).await.unwrap().is_empty());
    github.update_issue(issue.number, &close).await.unwrap();
}

#[tokio::test]
async fn a_pull_request_is_made_without_a_clone() {
    let fake = Fake::start();
    tour(&fake, &job(&fake)).await;
    let github = job(&fake);
    github.delete_branch("checkfu/drift-prod").await.unwrap();
    assert_eq!(github.commits_between("main", &"0".repeat(40)).await.unwrap_err().kind, ForgeErrorKind::NotFound);
    // Made, and not told: the same one is found.
    fake.world().commit("topic", &[("a", Some("1"))]);
    fake.fail(&format!("POST /repos/{REPOSITORY}/pulls"), 1, Fault::CutAfter);
    let new = NewPull { title: "T".into(), body: String::new(), head: "topic".into(), base: "main".into() };
    let pull = github.create_pull(&new).await.unwrap();
    assert_eq!(fake.world().open_pulls().iter().map(|i| i.number).collect::<Vec<_>>(), [pull.number]);
    let nothing = NewPull { head: "main".into(), ..new };
    assert_eq!(github.create_pull(&nothing).await.unwrap_err().kind, ForgeErrorKind::Invalid);
}

#[tokio::test]
async fn more_commits_than_a_page_are_all_found_oldest_first() {
    let fake = Fake::start();
    let main = fake.world().tip("main").unwrap();
    let made: Vec<String> = (0..130).map(|n| fake.world().commit("main", &[("n", Some(&n.to_string()))])).collect();
    assert_eq!(job(&fake).commits_between(&main, "main").await.unwrap(), made);
}

/// A checker stands between the client and this GitHub; it says 500 where either leaves GitHub's description.
#[tokio::test]
#[ignore = "needs prism and GitHub's description: tests/github/openapi.sh"]
async fn this_github_is_as_github_describes_itself() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let (prism, description) = (variable("CHECKFU_TEST_PRISM"), variable("CHECKFU_TEST_OPENAPI"));
    let fake = Fake::start();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    fake.world().url.clone_from(&url);
    let mut child = std::process::Command::new("node")
        .args([
            &prism,
            "proxy",
            "--errors",
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            &description,
            fake.url(),
        ])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let graphql_url = Some(format!("{}/graphql", fake.url()));
    let first = Duration::from_secs(1);
    let patience = Patience { times: 60, first, longest: first, ..Patience::default() };
    let ready = GitHub::new(Options {
        api_url: url.clone(),
        graphql_url: graphql_url.clone(),
        patience,
        ..options(&fake, JOB)
    });
    let ready = ready.unwrap().open_issues(None).await;
    let patience = Patience { times: 0, ..Patience::default() };
    let github = GitHub::new(Options { api_url: url.clone(), graphql_url, patience, ..options(&fake, JOB) }).unwrap();
    let checked = async {
        ready.unwrap();
        tour(&fake, &github).await;
        // The checker is one: it refuses what GitHub's description refuses.
        let wrong = format!("{url}/repos/{REPOSITORY}/issues?state=ajar");
        let wrong = reqwest::Client::new().get(wrong).bearer_auth(JOB).header("user-agent", "test").send();
        assert!(!wrong.await.unwrap().status().is_success());
    };
    let checked = std::panic::AssertUnwindSafe(checked);
    let result = futures_util::FutureExt::catch_unwind(checked).await;
    child.kill().unwrap();
    child.wait().unwrap();
    if let Err(why) = result {
        std::panic::resume_unwind(why);
    }
}
