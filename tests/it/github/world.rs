//! What this GitHub knows: accounts, issues and pull requests with their comments, labels, and the repository.

use std::collections::BTreeMap;

use super::REPOSITORY;

/// Whose token it is, and what it may write.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub(crate) login: String,
    /// An app's token: `GET /user` is closed to it.
    pub(crate) app: bool,
    pub(crate) issues: bool,
    pub(crate) pulls: bool,
    pub(crate) contents: bool,
}

impl Actor {
    /// The token of a job that may write all of it.
    pub(crate) fn job() -> Self {
        Self { app: true, ..Self::person("github-actions[bot]") }
    }

    /// A person with all rights.
    pub(crate) fn person(login: &str) -> Self {
        Self { login: login.to_owned(), app: false, issues: true, pulls: true, contents: true }
    }

    /// The same, and may only read.
    pub(crate) fn reading(self) -> Self {
        Self { issues: false, pulls: false, contents: false, ..self }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    /// The issue or pull request.
    pub(crate) on: u64,
    pub(crate) author: String,
    pub(crate) body: String,
    pub(crate) minimized: bool,
    /// Who edited it last.
    pub(crate) editor: Option<String>,
}

/// A pull request is an issue with this.
#[derive(Debug, Clone)]
pub(crate) struct Branches {
    pub(crate) head_ref: String,
    pub(crate) head_sha: String,
    /// `None`: it was deleted.
    pub(crate) head_repo: Option<String>,
    pub(crate) base_ref: String,
    pub(crate) base_sha: String,
    pub(crate) merged: bool,
    pub(crate) merge_commit: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Issue {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: String,
    pub(crate) labels: Vec<String>,
    pub(crate) assignees: Vec<String>,
    pub(crate) open: bool,
    pub(crate) reason: Option<String>,
    pub(crate) pull: Option<Branches>,
}

/// All of it.
pub(crate) struct World {
    /// Its own address, as it stands in links.
    pub(crate) url: String,
    pub(crate) tokens: BTreeMap<String, Actor>,
    /// Logins that issues may be assigned to.
    pub(crate) users: Vec<String>,
    /// By number, pull requests among them.
    pub(crate) issues: BTreeMap<u64, Issue>,
    /// By id.
    pub(crate) comments: BTreeMap<u64, Comment>,
    /// Name → colour.
    pub(crate) labels: BTreeMap<String, String>,
    /// Does the repository have issues?
    pub(crate) has_issues: bool,
    pub(crate) git: git2::Repository,
    next: u64,
    _folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init_bare(folder.path()).unwrap();
        let mut world = Self {
            url: url.to_owned(),
            tokens: BTreeMap::from([(super::JOB.to_owned(), Actor::job())]),
            users: vec!["ann".to_owned()],
            issues: BTreeMap::new(),
            comments: BTreeMap::new(),
            labels: BTreeMap::from([("bug".to_owned(), "d73a4a".to_owned())]),
            has_issues: true,
            git,
            next: 1,
            _folder: folder,
        };
        world.commit("main", &[("README.md", Some("# Agents\n"))]);
        world
    }

    /// The next issue number, or id.
    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Somebody opens an issue.
    pub(crate) fn open_issue(&mut self, author: &str, title: &str, body: &str, labels: &[&str]) -> u64 {
        let number = self.number();
        let issue = Issue {
            number,
            title: title.to_owned(),
            body: body.to_owned(),
            author: author.to_owned(),
            labels: labels.iter().map(|l| (*l).to_owned()).collect(),
            assignees: Vec::new(),
            open: true,
            reason: None,
            pull: None,
        };
        self.issues.insert(number, issue);
        number
    }

    /// Somebody opens a pull request from a branch of `head_repo`.
    pub(crate) fn open_pull(&mut self, author: &str, head: &str, base: &str, head_repo: Option<&str>) -> u64 {
        let number = self.open_issue(author, head, "", &[]);
        let branches = Branches {
            head_ref: head.to_owned(),
            head_sha: self.tip(head).unwrap(),
            head_repo: head_repo.map(str::to_owned),
            base_ref: base.to_owned(),
            base_sha: self.tip(base).unwrap(),
            merged: false,
            merge_commit: None,
        };
        self.issues.get_mut(&number).unwrap().pull = Some(branches);
        number
    }

    /// Somebody writes a comment.
    pub(crate) fn comment(&mut self, author: &str, on: u64, body: &str) -> u64 {
        let id = 1_000 + self.number();
        let (author, body) = (author.to_owned(), body.to_owned());
        self.comments.insert(id, Comment { id, on, author, body, minimized: false, editor: None });
        id
    }

    /// Somebody edits a comment.
    pub(crate) fn edit(&mut self, editor: &str, id: u64, body: &str) {
        let comment = self.comments.get_mut(&id).unwrap();
        body.clone_into(&mut comment.body);
        comment.editor = Some(editor.to_owned());
    }

    /// The comments of an issue or a pull request, oldest first.
    pub(crate) fn comments_of(&self, number: u64) -> Vec<&Comment> {
        self.comments.values().filter(|c| c.on == number).collect()
    }

    /// The issues that are open, without pull requests.
    pub(crate) fn open_issues(&self) -> Vec<&Issue> {
        self.issues.values().filter(|i| i.open && i.pull.is_none()).collect()
    }

    /// The pull requests that are open.
    pub(crate) fn open_pulls(&self) -> Vec<&Issue> {
        self.issues.values().filter(|i| i.open && i.pull.is_some()).collect()
    }

    /// Branches moved: pull requests of this repository follow them, and close where theirs is gone.
    pub(super) fn follow(&mut self) {
        let tips = self.tips();
        for issue in self.issues.values_mut().filter(|i| i.open) {
            let Some(pull) = issue.pull.as_mut().filter(|p| p.head_repo.as_deref() == Some(REPOSITORY)) else {
                continue;
            };
            match tips.get(&pull.head_ref) {
                Some(tip) => tip.clone_into(&mut pull.head_sha),
                None => issue.open = false,
            }
        }
    }
}
