//! Events as GitHub writes them, for the pull requests of a stage.

use serde_json::{Value, json};

use crate::ci_apply::stage::{Stage, Told};
use crate::github::REPOSITORY;
use crate::sandbox::ran;

/// A run of `mode: plan`.
pub(super) struct Run<'a> {
    pub(super) stage: &'a Stage,
    pub(super) name: &'a str,
    pub(super) payload: Value,
    pub(super) actor: &'a str,
    /// As the runner says; empty: what is checked out.
    pub(super) sha: String,
    pub(super) mode: &'a str,
}

impl<'a> Run<'a> {
    /// Of an event without a pull request.
    pub(super) fn of(stage: &'a Stage, name: &'a str) -> Self {
        let payload = json!({ "repository": { "default_branch": "main" } });
        Self { stage, name, payload, actor: "ann", sha: String::new(), mode: "plan" }
    }

    /// Of a pull request, with its merge checked out as GitHub makes it.
    pub(super) fn pull(stage: &'a Stage, number: u64) -> Self {
        let merge = try_merge(stage, number);
        stage.check_out(&merge);
        Self { payload: payload(stage, number), ..Self::of(stage, "pull_request") }
    }

    pub(super) fn go(&self, inputs: &[(&str, &str)]) -> Told {
        let event = self.stage.temp("event-plan.json");
        std::fs::write(&event, self.payload.to_string()).unwrap();
        let mut command = self.stage.job_of(self.mode, inputs);
        command.env("GITHUB_EVENT_NAME", self.name).env("GITHUB_EVENT_PATH", event).env("GITHUB_ACTOR", self.actor);
        if !self.sha.is_empty() {
            command.env("GITHUB_SHA", &self.sha);
        }
        self.stage.told(ran(&command.output().unwrap()))
    }
}

/// The event of a pull request.
pub(crate) fn payload(stage: &Stage, number: u64) -> Value {
    let world = stage.fake.world();
    let pull = world.issues[&number].pull.as_ref().unwrap();
    let repository = |name: &Option<String>| name.as_ref().map(|name| json!({ "full_name": name }));
    json!({
        "action": "synchronize", "number": number,
        "pull_request": {
            "number": number, "merged": false, "user": { "login": "ann" },
            "head": { "sha": pull.head_sha, "ref": pull.head_ref, "repo": repository(&pull.head_repo) },
            "base": { "sha": pull.base_sha, "ref": pull.base_ref, "repo": { "full_name": REPOSITORY } },
        },
        "repository": { "default_branch": "main", "full_name": REPOSITORY },
    })
}

/// The merge that GitHub tries of an open pull request, on a branch of the fake so that it can be checked out.
pub(crate) fn try_merge(stage: &Stage, number: u64) -> String {
    let world = stage.fake.world();
    let pull = world.issues[&number].pull.clone().unwrap();
    let git = &world.git;
    let find = |sha: &str| git.find_commit(git2::Oid::from_str(sha).unwrap()).unwrap();
    let (base, head) = (find(&world.tip(&pull.base_ref).unwrap()), find(&pull.head_sha));
    let mut index = git.merge_commits(&base, &head, None).unwrap();
    let tree = git.find_tree(index.write_tree_to(git).unwrap()).unwrap();
    let by = git2::Signature::new("GitHub", "noreply@github.example", &git2::Time::new(1_795_000_000, 0)).unwrap();
    let sha = git.commit(None, &by, &by, "try", &tree, &[&base, &head]).unwrap();
    git.reference(&format!("refs/heads/try-{number}"), sha, true, "tried").unwrap();
    sha.to_string()
}
