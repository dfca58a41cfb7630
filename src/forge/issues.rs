//! Issues and their labels.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::forge::comments::{User, author, same};
use crate::forge::exchange::{Call, part};
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};

/// An issue that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Who opened it, as a login.
    pub author: String,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Its page.
    pub url: String,
}

/// An issue to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    /// Its title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Names of labels, which are there.
    pub labels: Vec<String>,
    /// Logins.
    pub assignees: Vec<String>,
}

/// What changes about an issue; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueEdit {
    /// Its title.
    pub title: Option<String>,
    /// Markdown.
    pub body: Option<String>,
    /// `Some(reason)` closes it: `completed`, `not_planned` or `duplicate`.
    pub close: Option<&'static str>,
}

#[derive(Deserialize)]
struct IssuePayload {
    number: u64,
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    labels: Vec<LabelPayload>,
    html_url: String,
    #[serde(default)]
    pull_request: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LabelPayload {
    Name(String),
    Label {
        #[serde(default)]
        name: Option<String>,
    },
}

impl From<IssuePayload> for Issue {
    fn from(p: IssuePayload) -> Self {
        let name = |label: LabelPayload| match label {
            LabelPayload::Name(name) => Some(name),
            LabelPayload::Label { name } => name,
        };
        Self {
            number: p.number,
            title: p.title,
            body: p.body.unwrap_or_default(),
            author: author(p.user),
            labels: p.labels.into_iter().filter_map(name).collect(),
            url: p.html_url,
        }
    }
}

impl GitHub {
    /// The issues that are open, with a label or all of them; no pull requests.
    ///
    /// # Errors
    /// As of every call; [`ForgeErrorKind::Gone`]: the repository has no issues.
    pub async fn open_issues(&self, label: Option<&str>) -> Result<Vec<Issue>, ForgeError> {
        let mut call = Call::get("read the open issues", self.path("/issues")).query("state", "open");
        if let Some(label) = label {
            call = call.query("labels", label);
        }
        let issues = |page: Vec<IssuePayload>| {
            page.into_iter().filter(|issue| issue.pull_request.is_none()).map(Issue::from).collect()
        };
        self.pages(call, issues).await
    }

    /// Opens an issue. Where the connection ends before the answer, it is looked for (the same text or the same mark, of
    /// this token), and opened again only if it is not there.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_issue(&self, new: &NewIssue) -> Result<Issue, ForgeError> {
        let body = json!({
            "title": new.title, "body": new.body, "labels": new.labels, "assignees": new.assignees,
        });
        let call = Call::post("open an issue", self.path("/issues"), &body);
        match self.json::<IssuePayload>(&call).await {
            Ok(issue) => Ok(issue.into()),
            Err(error) if error.uncertain => {
                let me = self.me().await?;
                let mine = |issue: &Issue| issue.author == me && same(&new.body, &issue.body);
                match self.open_issues(None).await?.into_iter().find(mine) {
                    Some(issue) => Ok(issue),
                    None => self.json::<IssuePayload>(&call).await.map(Issue::from),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Changes an issue.
    ///
    /// # Errors
    /// As of every call.
    pub async fn update_issue(&self, number: u64, edit: &IssueEdit) -> Result<Issue, ForgeError> {
        let mut body = serde_json::Map::new();
        for (key, text) in [("title", &edit.title), ("body", &edit.body)] {
            if let Some(text) = text {
                body.insert(key.to_owned(), json!(text));
            }
        }
        if let Some(reason) = edit.close {
            body.insert("state".to_owned(), json!("closed"));
            body.insert("state_reason".to_owned(), json!(reason));
        }
        let call = Call::patch(format!("edit issue #{number}"), self.path(&format!("/issues/{number}")), &body.into());
        self.json::<IssuePayload>(&call).await.map(Issue::from)
    }

    /// Is there such a label?
    ///
    /// # Errors
    /// As of every call.
    pub async fn has_label(&self, name: &str) -> Result<bool, ForgeError> {
        let there = Call::get("read a label", self.path(&format!("/labels/{}", part(name))));
        match self.done(&there).await {
            Err(error) if error.kind == ForgeErrorKind::NotFound => Ok(false),
            told => told.map(|()| true),
        }
    }

    /// Makes a label unless it is there.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_label(&self, name: &str, color: &str, description: &str) -> Result<(), ForgeError> {
        if self.has_label(name).await? {
            return Ok(());
        }
        let body = json!({ "name": name, "color": color, "description": description });
        // Twice is no harm: the second time it is refused, because it is there.
        let call = Call::post("make a label", self.path("/labels"), &body).safe();
        match self.done(&call).await {
            Err(error) if error.said.contains("already_exists") => Ok(()),
            told => told,
        }
    }
}
