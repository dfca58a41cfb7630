//! What files under review may not do. Where a token must not go, a server listens and writes down what comes.

use std::io::Read;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use checkfu::ci::{Marker, State};
use serde_json::json;

use super::events::{Run, payload};
use super::{a, body, project, two};
use crate::ci_apply::stage::Stage;
use crate::sandbox::config;

const SECRET: &str = "checkfu_secret_that_nobody_sees";

/// Accepts everything, answers nothing, and keeps it.
struct Ear {
    url: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Ear {
    fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&heard);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut bytes = vec![0; 4096];
                let read = stream.read(&mut bytes).unwrap_or(0);
                into.lock().unwrap().extend_from_slice(&bytes[..read]);
                into.lock().unwrap().push(b'\n');
            }
        });
        Self { url, heard }
    }

    #[track_caller]
    fn heard_nothing(&self) {
        let heard = self.heard.lock().unwrap();
        assert!(heard.is_empty(), "{}", String::from_utf8_lossy(&heard));
    }
}

fn served(url: &str, more: &str) -> String {
    let token = "token: {env: TEAM_TOKEN}";
    config("acme/support") + &format!("targets: {{team: {{kind: checkfu, url: \"{url}\", {token}{more}}}}}\n")
}

/// A repository whose `main` plans against `url`; nothing was applied.
fn stage(url: &str) -> Stage {
    let mut stage = Stage::new();
    stage.more.push(("TEAM_TOKEN".to_owned(), SECRET.to_owned()));
    stage.more.push(("OTHER_SECRET".to_owned(), SECRET.to_owned()));
    let main = stage.push("main", &[("checkfu.yaml", &served(url, "")), ("agents/a.md", &a("A")), ("ca.pem", "x")]);
    stage.check_out(&main);
    stage
}

#[test]
fn the_listener_hears_a_token_that_may_go_there() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let told = Run::pull(&stage, pull).go(&[]);
    assert_eq!(&told["failure-reason"], "unreachable", "{told:?}");
    assert!(String::from_utf8_lossy(&ear.heard.lock().unwrap()).contains(SECRET));
    let shown = body(&stage, pull);
    assert!(shown.contains("there is no plan") && !shown.contains(SECRET), "{shown}");
}

#[test]
fn a_pull_request_sends_no_token_elsewhere_and_acts_as_nobody_else() {
    let (own, eve) = (Ear::listen(), Ear::listen());
    let here = served(&own.url, "");
    let moved = [
        ("its url", here.replace(&own.url, &eve.url)),
        ("its url", here.replace(&own.url, &format!("{}/elsewhere", own.url))),
        ("the variable that its token is read from", here.replace("TEAM_TOKEN", "OTHER_SECRET")),
        ("without TLS", served(&own.url, ", insecure: true")),
        ("certificates", served(&own.url, ", ca: ca.pem")),
        ("authoring_owner is changed from acme/support to acme/other", here.replace("acme/support", "acme/other")),
        (
            "by the files under review",
            here.replace(
                "targets: {",
                &format!(
                    "default_target: eve\ntargets: {{eve: {{kind: checkfu, url: \"{}\", token: {{env: TEAM_TOKEN}}}}, ",
                    eve.url
                ),
            ),
        ),
    ];
    for (says, text) in moved {
        let stage = stage(&own.url);
        let pull = stage.propose("topic", &[("checkfu.yaml", &text)]);
        for mode in ["plan", "apply"] {
            let mut run = Run::pull(&stage, pull);
            run.mode = mode;
            let inputs: &[(&str, &str)] = if mode == "apply" { &[("approval", "none")] } else { &[] };
            let told = run.go(inputs).is(5, "not-allowed");
            assert!(told.summary.contains("ci.changed") && told.ran.out.contains(says), "{says}: {}", told.ran.out);
        }
        assert_eq!(Marker::read(&body(&stage, pull)).unwrap().state, State::Stale);
        own.heard_nothing();
        eve.heard_nothing();
        // Once it is merged it is the branch's, and the next pull request goes by it.
        if says == "its url" && text.contains("elsewhere") {
            stage.merge(pull);
            let pull = stage.propose("next", &[("agents/a.md", &a("A 2"))]);
            assert_eq!(&Run::pull(&stage, pull).go(&[])["failure-reason"], "unreachable");
            assert!(!own.heard.lock().unwrap().is_empty());
            own.heard.lock().unwrap().clear();
        }
    }
}

#[test]
fn the_certificates_that_are_trusted_are_the_branchs() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    stage.push("main", &[("checkfu.yaml", &served(&ear.url, ", ca: ca.pem"))]);
    let pull = stage.propose("topic", &[("ca.pem", "eve's")]);
    let told = Run::pull(&stage, pull).go(&[]).is(5, "not-allowed");
    assert!(told.summary.contains("certificates that target"), "{}", told.summary);
    ear.heard_nothing();
}

#[test]
fn other_targets_may_change_and_the_workflow_may_say_where_a_token_goes() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    let more = served(&ear.url, "").replace("targets: {", "targets: {spare: {kind: embedded, path: ../spare.db}, ");
    let pull = stage.propose("topic", &[("checkfu.yaml", &(more + "default_target: team\n"))]);
    assert_eq!(&Run::pull(&stage, pull).go(&[("target", "team")])["failure-reason"], "unreachable");
    ear.heard.lock().unwrap().clear();
    for (name, pull) in [("pull_request", Some(pull)), ("push", None)] {
        let run = pull.map_or_else(|| Run::of(&stage, name), |pull| Run::pull(&stage, pull));
        let elsewhere = "https://checkfu.acme.example\nhttps://other.example:8443";
        let told = run.go(&[("target", "team"), ("allowed-origins", elsewhere)]).is(5, "not-allowed");
        assert!(told.summary.contains("ci.origin"), "{}", told.summary);
        ear.heard_nothing();
        let told = run.go(&[("target", "team"), ("allowed-origins", &ear.url)]);
        assert_eq!(&told["failure-reason"], "unreachable");
        ear.heard.lock().unwrap().clear();
    }
}

#[test]
fn the_first_configuration_names_no_server_by_itself() {
    let ear = Ear::listen();
    let mut stage = Stage::new();
    stage.more.push(("TEAM_TOKEN".to_owned(), SECRET.to_owned()));
    let pull = stage.propose("topic", &[("checkfu.yaml", &served(&ear.url, "")), ("agents/a.md", &a("A"))]);
    let told = Run::pull(&stage, pull).go(&[]).is(2, "");
    assert_eq!((&told["creates"], &told["plan-file"], &told["degraded"]), ("1", "", ""));
    assert!(told.ran.out.contains("allowed-origins"), "{}", told.ran.out);
    ear.heard_nothing();
    assert!(stage.fake.world().comments_of(pull).is_empty());
    assert_eq!(&Run::pull(&stage, pull).go(&[("allowed-origins", &ear.url)])["failure-reason"], "unreachable");
    assert!(!ear.heard.lock().unwrap().is_empty());
    // A workspace on this machine takes no token.
    let local = stage.propose("local", &[("checkfu.yaml", &project("acme/x")), ("agents/a.md", &a("A"))]);
    let told = Run::pull(&stage, local).go(&[]).is(2, "");
    assert!(!told["plan-file"].is_empty());
}

#[test]
fn a_branch_whose_configuration_cannot_be_read_allows_nothing() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    stage.push("main", &[("checkfu.yaml", "targets: [\n")]);
    let pull = stage.propose("topic", &[("checkfu.yaml", &served(&ear.url, ""))]);
    let told = Run::pull(&stage, pull).go(&[]).is(5, "not-allowed");
    assert!(told.summary.contains("cannot be read"), "{}", told.summary);
    ear.heard_nothing();
}

#[test]
fn without_the_base_in_the_check_out_no_token_is_used() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    let main = stage.fake.world().tip("main").unwrap();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    let run = Run::pull(&stage, pull);
    // As a check-out of depth 1 is: the parents are named, and not here.
    let head = git2::Repository::open(stage.s.dir()).unwrap().head().unwrap().target().unwrap();
    std::fs::write(stage.s.path(".git/shallow"), format!("{head}\n")).unwrap();
    remove_object(&stage, &main);
    let told = run.go(&[]).is(1, "no-base");
    assert!(told.ran.out.contains("fetch-depth: 2"), "{}", told.ran.out);
    ear.heard_nothing();
    // A fork's is checked all the same.
    stage.fake.world().issues.get_mut(&pull).unwrap().pull.as_mut().unwrap().head_repo = Some("eve/agents".into());
    let mut fork = Run::of(&stage, "pull_request");
    fork.payload = payload(&stage, pull);
    let told = fork.go(&[]).is(0, "");
    assert_eq!(&told["degraded"], "fork");
    assert!(told.ran.out.contains("fetch-depth: 2"), "{}", told.ran.out);
    ear.heard_nothing();
}

/// Takes a commit out of the repository of a check-out, packed or not.
fn remove_object(stage: &Stage, sha: &str) {
    let repository = git2::Repository::open(stage.s.dir()).unwrap();
    let objects = stage.s.path(".git/objects");
    let loose = objects.join(&sha[..2]).join(&sha[2..]);
    if !loose.exists() {
        // Everything but this commit is written anew as loose objects.
        let odb = repository.odb().unwrap();
        let mut all = Vec::new();
        odb.foreach(|id| {
            all.push(*id);
            true
        })
        .unwrap();
        let read = |id: &git2::Oid| (odb.read(*id).unwrap().kind(), odb.read(*id).unwrap().data().to_vec());
        let kept: Vec<_> = all.iter().filter(|id| id.to_string() != sha).map(read).collect();
        drop(odb);
        drop(repository);
        std::fs::remove_dir_all(objects.join("pack")).unwrap();
        let repository = git2::Repository::open(stage.s.dir()).unwrap();
        let odb = repository.odb().unwrap();
        for (kind, data) in kept {
            odb.write(kind, &data).unwrap();
        }
        return;
    }
    std::fs::remove_file(loose).unwrap();
}

#[test]
fn a_fork_and_dependabot_get_no_token_and_no_comment() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2")), ("agents/b.md", &a("B"))]);
    for (repository, actor, why) in [("eve/agents", "eve", "fork"), ("acme/agents", "dependabot[bot]", "dependabot")] {
        stage.fake.world().issues.get_mut(&pull).unwrap().pull.as_mut().unwrap().head_repo = Some(repository.into());
        let mut run = Run::pull(&stage, pull);
        run.actor = actor;
        stage.fake.requests();
        let told = run.go(&[]).is(2, "");
        assert_eq!((&told["degraded"], &told["creates"], &told["updates"]), (why, "1", "1"));
        assert!(told["plan-file"].is_empty() && told["comment-id"].is_empty());
        assert!(told.summary.contains("Agent/b"), "{}", told.summary);
        assert!(stage.fake.requests().is_empty(), "{why}");
        assert_eq!(told.ran.out.lines().filter(|l| l.contains("without a workspace::")).count(), 1);
        run.mode = "apply";
        let told = run.go(&[("approval", "none")]).is(5, "not-allowed");
        assert!(told.summary.contains("ci.fork"), "{}", told.summary);
        ear.heard_nothing();
    }
    // Errors in what they propose fail.
    stage.push("topic", &[("agents/a.md", "---\nmodle: x\n---\n")]);
    let mut run = Run::pull(&stage, pull);
    run.actor = "dependabot[bot]";
    run.go(&[]).is(1, "invalid");
    ear.heard_nothing();
}

#[test]
fn events_that_anybody_starts_take_nothing_but_what_was_merged() {
    let ear = Ear::listen();
    let stage = stage(&ear.url);
    let main = stage.fake.world().tip("main").unwrap();
    let pull = stage.propose("topic", &[("agents/a.md", &a("A 2"))]);
    stage.fake.world().issues.get_mut(&pull).unwrap().pull.as_mut().unwrap().head_repo = Some("eve/agents".into());
    let forks = payload(&stage, pull);
    let head = stage.fake.world().issues[&pull].pull.clone().unwrap().head_sha;
    let followed = json!({ "workflow_run": { "head_sha": head, "head_repository": { "full_name": "eve/agents" } } });
    let talk = json!({ "issue": { "number": pull, "pull_request": {} }, "comment": { "body": "/plan" } });
    let run = |name, payload: &serde_json::Value| Run {
        payload: payload.clone(),
        sha: main.clone(),
        ..Run::of(&stage, name)
    };
    let all = [run("pull_request_target", &forks), run("workflow_run", &followed), run("issue_comment", &talk)];
    for run in &all {
        stage.check_out(&head);
        stage.fake.requests();
        let told = run.go(&[]).is(5, "not-allowed");
        assert!(told.summary.contains("ci.foreign"), "{}", told.summary);
        assert!(stage.fake.requests().is_empty(), "{}", run.name);
        ear.heard_nothing();
        stage.check_out(&main);
        stage.s.write("agents/evil.md", &a("from an artifact"));
        run.go(&[]).is(5, "not-allowed");
        stage.s.remove("agents/evil.md");
        ear.heard_nothing();
        // What was merged may be planned, and nothing is said on the fork's pull request.
        assert_eq!(&run.go(&[])["failure-reason"], "unreachable", "{}", run.name);
        assert!(stage.fake.writes().is_empty());
        ear.heard.lock().unwrap().clear();
    }
    // A branch of this repository is held against its base.
    stage.fake.world().issues.get_mut(&pull).unwrap().pull.as_mut().unwrap().head_repo = Some("acme/agents".into());
    stage.push("topic", &[("checkfu.yaml", &served("http://127.0.0.1:1", ""))]);
    let head = stage.fake.world().tip("topic").unwrap();
    stage.check_out(&head);
    run("pull_request_target", &payload(&stage, pull)).go(&[]).is(5, "not-allowed");
    ear.heard_nothing();
}

#[test]
fn limits_are_those_of_the_branch_until_they_are_merged() {
    let stage = two();
    let many: Vec<(String, String)> = (0..12).map(|i| (format!("agents/m{i}.md"), a("M"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let strict = project("acme/support") + "policy: {max_retire: 5}\n";
    stage.check_out(&stage.push("main", &many));
    stage.run(&["apply", "--yes"]).code(0);
    // Merged, and not applied yet.
    stage.check_out(&stage.push("main", &[("checkfu.yaml", &strict)]));
    let loose = strict.replace("max_retire: 5", "max_retire: 50, max_retire_percent: 100")
        + "removed: [{address: 'Agent/m?'}]\n";
    let pull = stage.propose("topic", &[("checkfu.yaml", &loose)]);
    let gone: Vec<(&str, Option<&str>)> = many.iter().take(10).map(|(path, _)| (*path, None)).collect();
    stage.fake.world().commit("topic", &gone);
    let told = Run::pull(&stage, pull).go(&[]).is(5, "refused");
    assert!(told.ran.out.contains("plan.loosened"), "{}", told.ran.out);
    assert!(body(&stage, pull).contains("plan.loosened"));
    let told = Run::pull(&stage, pull).go(&[("allow", "loosened")]).is(2, "");
    assert_eq!(&told["retirements"], "10");
}

#[test]
fn no_file_under_review_reads_a_variable_or_leaves_the_root() {
    let stage = two();
    let table = [
        ("agents/a.md", "---\nmodel: {env: HOME}\n---\nx\n"),
        ("agents/a.md", "---\nmodel: claude-sonnet-5\ndescription: {env: TEAM_TOKEN}\n---\nx\n"),
        (
            "agents/x.yaml",
            "apiVersion: checkfu.com/v1\nkind: Agent\nmetadata: {name: x}\nspec: {model: claude-sonnet-5, instructions: {file: ../../etc/passwd}}\n",
        ),
    ];
    for (i, (path, text)) in table.iter().enumerate() {
        let pull = stage.propose(&format!("t{i}"), &[(path, text)]);
        let told = Run::pull(&stage, pull).go(&[]);
        assert_eq!(&told["failure-reason"], "invalid", "{path}: {}", told.ran.out);
    }
}

/// On GitLab a merge request is held to the same.
#[test]
fn a_merge_request_of_gitlab_sends_no_token_elsewhere() {
    let (own, eve) = (Ear::listen(), Ear::listen());
    let stage = stage(&own.url);
    let main = stage.fake.world().tip("main").unwrap();
    let pull = stage.propose("topic", &[("checkfu.yaml", &served(&eve.url, "")), ("agents/b.md", &a("B"))]);
    let head = stage.fake.world().issues[&pull].pull.clone().unwrap().head_sha;
    stage.check_out(&head);
    let run = |source: &str| {
        let mut command = stage.s.command(&["ci", "plan", "--provider", "gitlab", "-i", "report-file=report.md"]);
        for (name, value) in [
            ("CI_PROJECT_DIR", stage.s.dir().to_str().unwrap()),
            ("CI_PIPELINE_SOURCE", "merge_request_event"),
            ("CI_COMMIT_SHA", &head),
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_PROJECT_PATH", "acme/agents"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", source),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &main),
            ("TEAM_TOKEN", SECRET),
        ] {
            command.env(name, value);
        }
        crate::sandbox::ran(&command.output().unwrap())
    };
    let told = run("acme/agents").code(5);
    assert!(told.out.contains("its url"), "{told:?}");
    run("eve/agents").code(0);
    assert!(stage.s.read("report.md").contains("Agent/b"));
    own.heard_nothing();
    eve.heard_nothing();
}
