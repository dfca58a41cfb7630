//! Pull requests, and the commits that they brought.

use serde::Deserialize;
use serde_json::json;

use crate::ci::Pull;
use crate::ci::event::PullPayload;
use crate::forge::comments::{User, author};
use crate::forge::exchange::{Call, part};
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};

/// A pull request between two branches of the repository, as somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPull {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Who opened it, as a login.
    pub author: String,
    /// The tip of its branch.
    pub head_sha: String,
    /// The branch that it wants to get into.
    pub base_ref: String,
    /// Its page.
    pub url: String,
    /// Is it open?
    pub open: bool,
    /// Was it merged?
    pub merged: bool,
}

/// A pull request to open, between two branches of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    /// Its title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Its branch.
    pub head: String,
    /// The branch that it wants to get into.
    pub base: String,
}

/// What changes about a pull request; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullEdit {
    /// Its title.
    pub title: Option<String>,
    /// Markdown.
    pub body: Option<String>,
    /// Close it.
    pub close: bool,
}

#[derive(Deserialize)]
struct BranchPayload {
    number: u64,
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<User>,
    head: Side,
    base: Side,
    html_url: String,
    state: String,
    #[serde(default)]
    merged_at: Option<String>,
}

#[derive(Deserialize)]
struct Side {
    sha: String,
    #[serde(rename = "ref")]
    reference: String,
}

impl From<BranchPayload> for BranchPull {
    fn from(p: BranchPayload) -> Self {
        Self {
            number: p.number,
            title: p.title,
            body: p.body.unwrap_or_default(),
            author: author(p.user),
            head_sha: p.head.sha,
            base_ref: p.base.reference,
            url: p.html_url,
            open: p.state == "open",
            merged: p.merged_at.is_some(),
        }
    }
}

#[derive(Deserialize)]
struct ComparePayload {
    commits: Vec<CommitPayload>,
}

#[derive(Deserialize)]
struct CommitPayload {
    sha: String,
}

impl GitHub {
    /// A pull request.
    ///
    /// # Errors
    /// As of every call.
    pub async fn pull(&self, number: u64) -> Result<Pull, ForgeError> {
        let call = Call::get(format!("read pull request #{number}"), self.path(&format!("/pulls/{number}")));
        self.json::<PullPayload>(&call).await.map(Pull::from)
    }

    /// The pull requests that a commit belongs to, merged and open ones.
    ///
    /// # Errors
    /// As of every call.
    pub async fn pulls_of(&self, sha: &str) -> Result<Vec<Pull>, ForgeError> {
        let path = self.path(&format!("/commits/{}/pulls", part(sha)));
        let call = Call::get("read the pull requests of a commit", path);
        self.pages(call, |page: Vec<PullPayload>| page.into_iter().map(Pull::from).collect()).await
    }

    /// The commits that `head` has and `base` has not, oldest first.
    ///
    /// # Errors
    /// As of every call; [`ForgeErrorKind::NotFound`]: one of them is not in the repository.
    pub async fn commits_between(&self, base: &str, head: &str) -> Result<Vec<String>, ForgeError> {
        let path = self.path(&format!("/compare/{}...{}", part(base), part(head)));
        let call = Call::get("read the commits between two", path);
        self.pages(call, |page: ComparePayload| page.commits.into_iter().map(|commit| commit.sha).collect()).await
    }

    /// The pull request from a branch of this repository into another: the one that is open, else the newest one.
    ///
    /// # Errors
    /// As of every call.
    pub async fn last_pull(&self, head: &str, base: &str) -> Result<Option<BranchPull>, ForgeError> {
        let owner = self.repository().split('/').next().unwrap_or_default();
        let call = Call::get("read the pull requests of a branch", self.path("/pulls"))
            .query("state", "all")
            .query("head", format!("{owner}:{head}"))
            .query("base", base);
        let pulls = self.pages(call, |page: Vec<BranchPayload>| page.into_iter().map(BranchPull::from).collect());
        let pulls: Vec<BranchPull> = pulls.await?;
        let newest = pulls.iter().max_by_key(|pull| (pull.open, pull.number)).cloned();
        Ok(newest)
    }

    /// Opens a pull request. Where it is not known whether that was done, it is looked for: GitHub takes no second one
    /// between the same branches.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_pull(&self, new: &NewPull) -> Result<BranchPull, ForgeError> {
        let body = json!({ "title": new.title, "body": new.body, "head": new.head, "base": new.base });
        let call = Call::post("open a pull request", self.path("/pulls"), &body).safe();
        match self.json::<BranchPayload>(&call).await {
            Ok(pull) => Ok(pull.into()),
            Err(error) if error.kind == ForgeErrorKind::Invalid => {
                self.last_pull(&new.head, &new.base).await?.filter(|pull| pull.open).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Changes a pull request.
    ///
    /// # Errors
    /// As of every call.
    pub async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<BranchPull, ForgeError> {
        let mut body = serde_json::Map::new();
        for (key, text) in [("title", &edit.title), ("body", &edit.body)] {
            if let Some(text) = text {
                body.insert(key.to_owned(), json!(text));
            }
        }
        if edit.close {
            body.insert("state".to_owned(), json!("closed"));
        }
        let path = self.path(&format!("/pulls/{number}"));
        let call = Call::patch(format!("edit pull request #{number}"), path, &body.into());
        self.json::<BranchPayload>(&call).await.map(BranchPull::from)
    }
}
