//! The event that started a run on GitHub, as far as a run needs it: read from the event's file and the variables of
//! the runner, with nothing believed that was not read.

use serde::Deserialize;

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// The commit that was pushed.
    pub head_sha: String,
    /// Its branch.
    pub head_ref: String,
    /// The repository that it comes from, as `owner/name`; absent: it was deleted.
    pub head_repo: Option<String>,
    /// The tip of the base branch as of the event.
    pub base_sha: String,
    /// The branch that it wants to get into.
    pub base_ref: String,
    /// Who opened it.
    pub author: String,
    /// Was it merged?
    pub merged: bool,
    /// The commit that merged it; of one that is open the commit that GitHub tries the merge with, if it said so.
    pub merge_commit: Option<String>,
}

/// What started the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// `pull_request`, `push`, `schedule`, …
    pub name: String,
    /// The repository, as `owner/name`.
    pub repository: String,
    /// The commit of the run: of `pull_request` a merge commit of GitHub's.
    pub sha: String,
    /// As `refs/heads/main`.
    pub reference: String,
    /// The pull request that it is about, if the event has one.
    pub pull: Option<Pull>,
    /// Of `workflow_run`: what the run was of that this one follows.
    pub followed: Option<Followed>,
    /// Who caused it, as a login.
    pub actor: String,
    /// The repository's default branch, if the event tells.
    pub default_branch: Option<String>,
}

/// The run that a `workflow_run` follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Its commit.
    pub head_sha: String,
    /// The repository that it comes from, as `owner/name`; absent: it was deleted.
    pub head_repo: Option<String>,
}

/// Why the event cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The file is no JSON object of the expected shape.
    #[error("the event cannot be read")]
    Shape(#[source] serde_json::Error),
    /// `GITHUB_REPOSITORY`, `GITHUB_EVENT_NAME`, … is not set.
    #[error("{0} is not set")]
    Unset(&'static str),
}

#[derive(Deserialize, Default)]
struct Payload {
    pull_request: Option<PullPayload>,
    workflow_run: Option<RunPayload>,
    repository: Option<RepositoryPayload>,
}

#[derive(Deserialize)]
struct RunPayload {
    head_sha: String,
    #[serde(default)]
    head_repository: Option<Repo>,
}

#[derive(Deserialize)]
struct RepositoryPayload {
    default_branch: Option<String>,
}

/// A pull request as GitHub's API and events write it.
#[derive(Debug, Clone, Deserialize)]
pub struct PullPayload {
    number: u64,
    head: Side,
    base: Side,
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    merged: Option<bool>,
    #[serde(default)]
    merged_at: Option<String>,
    #[serde(default)]
    merge_commit_sha: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Side {
    sha: String,
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    repo: Option<Repo>,
}

#[derive(Debug, Clone, Deserialize)]
struct Repo {
    full_name: String,
}

#[derive(Debug, Clone, Deserialize)]
struct User {
    login: String,
}

impl From<PullPayload> for Pull {
    fn from(p: PullPayload) -> Self {
        Self {
            number: p.number,
            head_sha: p.head.sha,
            head_ref: p.head.reference,
            head_repo: p.head.repo.map(|r| r.full_name),
            base_sha: p.base.sha,
            base_ref: p.base.reference,
            author: p.user.map(|u| u.login).unwrap_or_default(),
            merged: p.merged.unwrap_or(p.merged_at.is_some()),
            merge_commit: p.merge_commit_sha,
        }
    }
}

impl Event {
    /// Reads what GitHub's runner says: `variable` looks up `GITHUB_…`, `payload` is the text of the event's file.
    ///
    /// # Errors
    /// [`EventError`]: a variable is missing, or the file is not what GitHub writes.
    pub fn read(variable: impl Fn(&str) -> Option<String>, payload: &str) -> Result<Self, EventError> {
        let need = |name: &'static str| variable(name).ok_or(EventError::Unset(name));
        let payload: Payload = match payload.trim() {
            "" => Payload::default(),
            text => serde_json::from_str(text).map_err(EventError::Shape)?,
        };
        Ok(Self {
            name: need("GITHUB_EVENT_NAME")?,
            repository: need("GITHUB_REPOSITORY")?,
            sha: need("GITHUB_SHA")?,
            reference: variable("GITHUB_REF").unwrap_or_default(),
            pull: payload.pull_request.map(Pull::from),
            followed: payload
                .workflow_run
                .map(|r| Followed { head_sha: r.head_sha, head_repo: r.head_repository.map(|r| r.full_name) }),
            actor: variable("GITHUB_ACTOR").unwrap_or_default(),
            default_branch: payload.repository.and_then(|r| r.default_branch),
        })
    }

    /// Reads what GitLab's runner says of the pipeline of a merge request; `None`: it is another pipeline.
    pub fn of_gitlab(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let request = |name: &str| variable(&format!("CI_MERGE_REQUEST_{name}"));
        let sha = variable("CI_COMMIT_SHA").unwrap_or_default();
        let pull = Pull {
            number: request("IID")?.parse().ok()?,
            // Set where the pipeline runs on a merge that GitLab tried.
            head_sha: request("SOURCE_BRANCH_SHA").unwrap_or_else(|| sha.clone()),
            head_ref: request("SOURCE_BRANCH_NAME").unwrap_or_default(),
            head_repo: request("SOURCE_PROJECT_PATH"),
            base_sha: request("DIFF_BASE_SHA").or_else(|| request("TARGET_BRANCH_SHA")).unwrap_or_default(),
            base_ref: request("TARGET_BRANCH_NAME").unwrap_or_default(),
            author: String::new(),
            merged: false,
            merge_commit: None,
        };
        Some(Self {
            name: variable("CI_PIPELINE_SOURCE").unwrap_or_default(),
            repository: request("PROJECT_PATH").or_else(|| variable("CI_PROJECT_PATH")).unwrap_or_default(),
            sha,
            reference: variable("CI_COMMIT_REF_NAME").map(|name| format!("refs/heads/{name}")).unwrap_or_default(),
            pull: Some(pull),
            followed: None,
            actor: variable("GITLAB_USER_LOGIN").unwrap_or_default(),
            default_branch: variable("CI_DEFAULT_BRANCH"),
        })
    }

    /// Does what is checked out come from elsewhere: a fork, or a head repository that is gone? Such code gets no
    /// token.
    pub fn from_fork(&self) -> bool {
        self.pull.as_ref().is_some_and(|p| !self.is_own(p.head_repo.as_deref()))
    }

    /// Is it this repository?
    pub fn is_own(&self, repository: Option<&str>) -> bool {
        repository.is_some_and(|r| r.eq_ignore_ascii_case(&self.repository))
    }

    /// Dependabot's runs have a token that only reads, and no secrets of the repository.
    pub fn by_dependabot(&self) -> bool {
        self.actor == "dependabot[bot]"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        let value = match name {
            "GITHUB_EVENT_NAME" => "pull_request",
            "GITHUB_REPOSITORY" => "acme/agents",
            "GITHUB_SHA" => "0123",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn payload(head: &str) -> String {
        format!(
            r#"{{"number":7,"pull_request":{{"number":7,"merged":false,"user":{{"login":"ann"}},
            "head":{{"sha":"h","ref":"topic","repo":{head}}},"base":{{"sha":"b","ref":"main","repo":{{"full_name":"acme/agents"}}}}}}}}"#
        )
    }

    #[test]
    fn a_pull_request_of_this_repository_and_of_a_fork() {
        let own = Event::read(variable, &payload(r#"{"full_name":"Acme/agents"}"#)).unwrap();
        assert!(!own.from_fork());
        let pull = own.pull.unwrap();
        assert_eq!((pull.number, pull.head_sha.as_str(), pull.base_ref.as_str()), (7, "h", "main"));
        assert!(Event::read(variable, &payload(r#"{"full_name":"eve/agents"}"#)).unwrap().from_fork());
        assert!(Event::read(variable, &payload("null")).unwrap().from_fork());
    }

    #[test]
    fn a_merge_request_of_gitlab_is_a_pull_request() {
        let all = [
            ("CI_PIPELINE_SOURCE", "merge_request_event"),
            ("CI_COMMIT_SHA", "c"),
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_PROJECT_PATH", "acme/agents"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "acme/agents"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "b"),
        ];
        let read = |more: &[(&str, &str)]| {
            let find = |name: &str| more.iter().chain(&all).find(|(k, _)| *k == name).map(|(_, v)| (*v).to_owned());
            Event::of_gitlab(find).unwrap()
        };
        let own = read(&[]);
        let pull = own.pull.clone().unwrap();
        assert_eq!((pull.number, pull.head_sha.as_str(), pull.base_sha.as_str()), (7, "c", "b"));
        assert!(!own.from_fork());
        let merged = read(&[("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "h")]);
        assert_eq!(merged.pull.unwrap().head_sha, "h");
        assert!(read(&[("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "eve/agents")]).from_fork());
        assert_eq!(Event::of_gitlab(|_| None), None);
    }

    #[test]
    fn an_event_without_a_pull_request_and_one_that_cannot_be_read() {
        let event = Event::read(variable, "").unwrap();
        assert!(event.pull.is_none() && !event.from_fork());
        assert!(matches!(Event::read(variable, "[]"), Err(EventError::Shape(_))));
        assert!(matches!(Event::read(|_| None, "{}"), Err(EventError::Unset("GITHUB_EVENT_NAME"))));
    }
}
