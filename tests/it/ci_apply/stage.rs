//! A repository on a GitHub of the tests' own, a check-out of it, and runs of `checkfu ci` there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use checkfu::ci::approval::names;
use checkfu::ci::{Marker, State};
use checkfu::plan;
use serde_json::json;

use crate::github::{Fake, JOB, REPOSITORY};
use crate::sandbox::{Ran, Sandbox, ran};

/// Who writes our comments.
pub(crate) const BOT: &str = "github-actions[bot]";

/// A GitHub and a check-out.
pub(crate) struct Stage {
    pub(crate) fake: Fake,
    pub(crate) s: Sandbox,
    /// What every run is told beside its inputs.
    pub(crate) more: Vec<(String, String)>,
}

/// What a run told.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) ran: Ran,
    pub(crate) outputs: BTreeMap<String, String>,
    pub(crate) summary: String,
}

impl Told {
    /// Asserts how the command ended, and why: without a reason the process is a success.
    #[track_caller]
    pub(crate) fn is(self, exit: i32, reason: &str) -> Self {
        let told = (self["exit-code"].to_owned(), self["failure-reason"].to_owned());
        assert_eq!(told, (exit.to_string(), reason.to_owned()), "{}\n{}", self.ran.out, self.ran.err);
        assert_eq!(self.ran.code, if reason.is_empty() { 0 } else { exit }, "{self:?}");
        self
    }
}

impl std::ops::Index<&str> for Told {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.outputs.get(name).map_or("", String::as_str)
    }
}

impl Stage {
    /// Nothing is checked out yet.
    pub(crate) fn new() -> Self {
        let stage = Self { fake: Fake::start(), s: Sandbox::empty(), more: Vec::new() };
        std::fs::create_dir_all(stage.temp("")).unwrap();
        stage
    }

    /// A repository whose `main` has these files, applied.
    pub(crate) fn applied(files: &[(&str, &str)]) -> Self {
        let stage = Self::new();
        let sha = stage.push("main", files);
        stage.check_out(&sha);
        stage.s.run(&["apply", "--yes"]).code(0);
        stage
    }

    /// A file of the folder that a job's steps share.
    pub(crate) fn temp(&self, name: &str) -> PathBuf {
        self.s.dir().parent().unwrap().join("temp").join(name)
    }

    /// Commits to a branch, and checks nothing out.
    pub(crate) fn push(&self, branch: &str, files: &[(&str, &str)]) -> String {
        let files: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (*path, Some(*text))).collect();
        self.fake.world().commit(branch, &files)
    }

    /// Checks a commit out, as `actions/checkout` leaves it.
    pub(crate) fn check_out(&self, sha: &str) {
        let repository =
            git2::Repository::open(self.s.dir()).or_else(|_| git2::Repository::init(self.s.dir())).unwrap();
        let from = self.fake.world().git.path().to_owned();
        let mut remote = repository.remote_anonymous(from.to_str().unwrap()).unwrap();
        remote.fetch(&["+refs/heads/*:refs/remotes/origin/*"], None, None).unwrap();
        repository.set_head_detached(git2::Oid::from_str(sha).unwrap()).unwrap();
        repository.checkout_head(Some(git2::build::CheckoutBuilder::new().force())).unwrap();
    }

    /// A pull request of a new branch, from `main` as it is, with these files.
    pub(crate) fn propose(&self, branch: &str, files: &[(&str, &str)]) -> u64 {
        {
            let world = self.fake.world();
            let main = git2::Oid::from_str(&world.tip("main").unwrap()).unwrap();
            world.git.reference(&format!("refs/heads/{branch}"), main, false, "made").unwrap();
        }
        self.push(branch, files);
        self.fake.world().open_pull("ann", branch, "main", Some(REPOSITORY))
    }

    /// The comment that shows the plan of a pull request, by `author`.
    pub(crate) fn show(&self, pull: u64, author: &str) -> u64 {
        let head = self.fake.world().issues[&pull].pull.clone().unwrap().head_sha;
        self.check_out(&head);
        let plan = plan::read(self.run(&["plan", "--json"]).code(0).out.as_bytes()).unwrap();
        let marker = Marker {
            what: "plan".to_owned(),
            key: "default".to_owned(),
            head: Some(head),
            base: None,
            digest: Some(plan.digest),
            actions: names(&plan),
            names: Vec::new(),
            total: plan.actions.len(),
            state: State::Planned,
        };
        let (head, foot) = ("<!-- checkfu: plan -->", "<!-- checkfu: foot -->\n<sub>planned</sub>");
        let body = format!("{}\n### checkfu plan\n{head}\n\nwhat was planned\n\n{foot}\n", marker.write());
        self.fake.world().comment(author, pull, &body)
    }

    /// The run of `checkfu ci plan` on a pull request, of its head; gives the comment that it wrote.
    pub(crate) fn plan(&self, pull: u64) -> u64 {
        let of = self.fake.world().issues[&pull].pull.clone().unwrap();
        self.check_out(&of.head_sha);
        let side = |sha: &str, name: &str| json!({"sha": sha, "ref": name, "repo": {"full_name": REPOSITORY}});
        let (head, base) = (side(&of.head_sha, &of.head_ref), side(&of.base_sha, &of.base_ref));
        let event = json!({"pull_request": {"number": pull, "user": {"login": "ann"}, "head": head, "base": base}});
        let mut command = self.job_of("plan", &[]);
        std::fs::write(self.temp("pull.json"), event.to_string()).unwrap();
        command.env("GITHUB_EVENT_NAME", "pull_request").env("GITHUB_EVENT_PATH", self.temp("pull.json"));
        let told = self.told(ran(&command.output().unwrap())).is(2, "");
        told["comment-id"].parse().unwrap_or_else(|_| panic!("{told:?}"))
    }

    /// Merges a pull request and checks the merge out; gives its commit.
    pub(crate) fn merge(&self, pull: u64) -> String {
        let sha = self.fake.world().merge(pull);
        self.check_out(&sha);
        sha
    }

    /// How far a comment says that its plan has come.
    pub(crate) fn state(&self, comment: u64) -> State {
        Marker::read(&self.fake.world().comments[&comment].body).unwrap().state
    }

    /// A command of a person, in the check-out.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.s.command(args);
        ran(&command.envs(self.more.iter().cloned()).output().unwrap())
    }

    /// The run of a job on a push to `main`, of the commit that is checked out.
    pub(crate) fn job(&self, inputs: &[(&str, &str)]) -> Command {
        self.job_of("apply", inputs)
    }

    /// The same in any mode.
    pub(crate) fn job_of(&self, mode: &str, inputs: &[(&str, &str)]) -> Command {
        let event = self.temp("event.json");
        if !event.exists() {
            std::fs::write(&event, r#"{"ref":"refs/heads/main","repository":{"default_branch":"main"}}"#).unwrap();
        }
        for file in ["output", "summary"] {
            std::fs::write(self.temp(file), "").unwrap();
        }
        let repository = git2::Repository::open(self.s.dir()).unwrap();
        let head = repository.head().unwrap().target().unwrap().to_string();
        let mut command = self.s.command(&["ci", mode]);
        for (name, value) in [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_WORKSPACE", self.s.dir().to_str().unwrap()),
            ("RUNNER_TEMP", self.temp("").to_str().unwrap()),
            ("GITHUB_EVENT_NAME", "push"),
            ("GITHUB_EVENT_PATH", event.to_str().unwrap()),
            ("GITHUB_REPOSITORY", REPOSITORY),
            ("GITHUB_SHA", &head),
            ("GITHUB_REF", "refs/heads/main"),
            ("GITHUB_API_URL", self.fake.url()),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_RUN_ID", "12"),
            ("GITHUB_OUTPUT", self.temp("output").to_str().unwrap()),
            ("GITHUB_STEP_SUMMARY", self.temp("summary").to_str().unwrap()),
            ("CHECKFU_GITHUB_TOKEN", JOB),
        ] {
            command.env(name, value);
        }
        for (name, value) in inputs {
            command.env(format!("CHECKFU_CI_{}", name.to_uppercase().replace('-', "_")), value);
        }
        command.envs(self.more.iter().cloned());
        command
    }

    /// What a run left behind.
    pub(crate) fn told(&self, ran: Ran) -> Told {
        let text = |name: &str| std::fs::read_to_string(self.temp(name)).unwrap();
        let outputs = text("output");
        let outputs = outputs.lines().filter_map(|l| l.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned()));
        Told { ran, outputs: outputs.collect(), summary: text("summary") }
    }

    /// Runs a job to its end.
    pub(crate) fn ci(&self, inputs: &[(&str, &str)]) -> Told {
        let output = self.job(inputs).output().unwrap();
        self.told(ran(&output))
    }
}
