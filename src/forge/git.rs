//! Commits made without a clone: blobs, trees, commits, and the branches that point at them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::forge::exchange::{Call, part};
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};

/// How a file stands in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryMode {
    /// A file.
    File,
    /// A file that can be run.
    Executable,
    /// A symbolic link; its blob is its target.
    Link,
}

/// What changes about one path of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// From the top of the repository, with `/`.
    pub path: String,
    /// How it stands there.
    pub mode: EntryMode,
    /// Its blob; `None`: the path goes.
    pub blob: Option<String>,
}

#[derive(Deserialize)]
struct Object {
    sha: String,
}

#[derive(Deserialize)]
struct Reference {
    object: Object,
}

#[derive(Deserialize)]
struct Commit {
    tree: Object,
}

/// A branch as the last part of a path.
fn of_branch(branch: &str) -> String {
    part(&format!("heads/{branch}"))
}

impl GitHub {
    /// The commit of a branch; `None`: there is no such branch.
    ///
    /// # Errors
    /// As of every call.
    pub async fn branch(&self, branch: &str) -> Result<Option<String>, ForgeError> {
        let path = self.path(&format!("/git/ref/{}", of_branch(branch)));
        match self.json::<Reference>(&Call::get("read a branch", path)).await {
            Ok(reference) => Ok(Some(reference.object.sha)),
            Err(error) if error.kind == ForgeErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Points a branch at a commit, whatever it pointed at; makes the branch if it is not there.
    ///
    /// # Errors
    /// As of every call.
    pub async fn set_branch(&self, branch: &str, commit: &str) -> Result<(), ForgeError> {
        if self.branch(branch).await?.is_none() {
            let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": commit });
            // Twice is no harm: the second time it is refused, because it is there.
            let call = Call::post("make a branch", self.path("/git/refs"), &body).safe();
            match self.done(&call).await {
                Err(error) if error.said.contains("already exists") => {}
                told => return told,
            }
        }
        let path = self.path(&format!("/git/refs/{}", of_branch(branch)));
        self.done(&Call::patch("move a branch", path, &json!({ "sha": commit, "force": true }))).await
    }

    /// Removes a branch; one that is not there is as it should be.
    ///
    /// # Errors
    /// As of every call.
    pub async fn delete_branch(&self, branch: &str) -> Result<(), ForgeError> {
        let path = self.path(&format!("/git/refs/{}", of_branch(branch)));
        match self.done(&Call::delete("remove a branch", path)).await {
            Err(error) if error.kind == ForgeErrorKind::NotFound => Ok(()),
            Err(error) if error.said.contains("does not exist") => Ok(()),
            told => told,
        }
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// As of every call.
    pub async fn tree_of(&self, commit: &str) -> Result<String, ForgeError> {
        let path = self.path(&format!("/git/commits/{}", part(commit)));
        self.json::<Commit>(&Call::get("read a commit", path)).await.map(|commit| commit.tree.sha)
    }

    /// Stores a file; gives its blob.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_blob(&self, bytes: &[u8]) -> Result<String, ForgeError> {
        let body = match std::str::from_utf8(bytes) {
            Ok(text) => json!({ "content": text, "encoding": "utf-8" }),
            Err(_) => json!({ "content": STANDARD.encode(bytes), "encoding": "base64" }),
        };
        self.object("store a file", "/git/blobs", &body).await
    }

    /// Makes a tree of another one and what changes about it.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_tree(&self, of: &str, changes: &[Entry]) -> Result<String, ForgeError> {
        let entry = |entry: &Entry| {
            let mode = match entry.mode {
                EntryMode::File => "100644",
                EntryMode::Executable => "100755",
                EntryMode::Link => "120000",
            };
            json!({ "path": entry.path, "mode": mode, "type": "blob", "sha": entry.blob })
        };
        let entries: Vec<Value> = changes.iter().map(entry).collect();
        self.object("make a tree", "/git/trees", &json!({ "base_tree": of, "tree": entries })).await
    }

    /// Makes a commit, of whoever the token is.
    ///
    /// # Errors
    /// As of every call.
    pub async fn create_commit(&self, message: &str, tree: &str, parent: &str) -> Result<String, ForgeError> {
        let body = json!({ "message": message, "tree": tree, "parents": [parent] });
        self.object("make a commit", "/git/commits", &body).await
    }

    /// Objects of Git are named by what they hold, and nothing points at one that is made twice.
    async fn object(&self, did: &str, path: &str, body: &Value) -> Result<String, ForgeError> {
        self.json::<Object>(&Call::post(did, self.path(path), body).safe()).await.map(|object| object.sha)
    }
}
