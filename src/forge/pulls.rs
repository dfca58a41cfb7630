//! Pull requests, and the commits that they brought.

use serde::Deserialize;
use serde_json::json;

use crate::ci::Pull;
use crate::ci::event::PullPayload;
use crate::forge::comments::{User, author};
use crate::forge::exchange::{Call, part};
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};

/// A pull request that is open, as somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPull {
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
struct OpenPayload {
    number: u64,
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<User>,
    head: Side,
    base: Side,
    html_url: String,
}

#[derive(Deserialize)]
struct Side {
    sha: String,
    #[serde(rename = "ref")]
    reference: String,
}

impl From<OpenPayload> for OpenPull {
    fn from(p: OpenPayload) -> Self {
        Self {
            number: p.number,
            title: p.title,
            body: p.body.unwrap_or_default(),
            author: author(p.user),
            head_sha: p.head.sha,
            base_ref: p.base.reference,
            url: p.html_url,
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

    /// The pull request that is open from a branch of this repository into another.
    ///
    /// # Errors
    /// As of every call.
    pub async fn open_pull(&self, head: &str, base: &str) -> Result<Option<OpenPull>, ForgeError> {
        let owner = self.repository().split('/').next().unwrap_or_default();
        let call = Call::get("read the open pull requests", self.path("/pulls"))
            .query("state", "open")
            .query("head", format!("{owner}:{head}"))
            .query("base", base);
        let pulls = self.pages(call, |page: Vec<OpenPayload>| page.into_iter().map(OpenPull::from).collect()).await?;
        Ok(pulls.into_iter().next())
    }

    /// Opens a pull request. Where it is not known whether that was done, it is looked for: GitHub takes no second one
    /// between the same branches.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_pull(&self, new: &NewPull) -> Result<OpenPull, ForgeError> {
        let body = json!({ "title": new.title, "body": new.body, "head": new.head, "base": new.base });
        let call = Call::post("open a pull request", self.path("/pulls"), &body).safe();
        match self.json::<OpenPayload>(&call).await {
            Ok(pull) => Ok(pull.into()),
            Err(error) if error.kind == ForgeErrorKind::Invalid => {
                self.open_pull(&new.head, &new.base).await?.ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Changes a pull request.
    ///
    /// # Errors
    /// As of every call.
    pub async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<OpenPull, ForgeError> {
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
        self.json::<OpenPayload>(&call).await.map(OpenPull::from)
    }
}
