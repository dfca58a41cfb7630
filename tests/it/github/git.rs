//! The repository, and the calls of the Git Data API.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use git2::{ObjectType, Oid, Repository, Signature, Sort};
use serde_json::{Value, json};

use super::{Answer, World};

fn signature() -> Signature<'static> {
    Signature::new("fake", "fake@example.com", &git2::Time::new(1_795_000_000, 0)).unwrap()
}

impl World {
    /// Commits to a branch, which is made of nothing if it is not there; `None` removes the file.
    pub(crate) fn commit(&mut self, branch: &str, files: &[(&str, Option<&str>)]) -> String {
        let sha = self.committed(branch, files);
        self.follow();
        sha
    }

    fn committed(&self, branch: &str, files: &[(&str, Option<&str>)]) -> String {
        let git = &self.git;
        let reference = format!("refs/heads/{branch}");
        let parent = git.find_reference(&reference).ok().map(|r| r.peel_to_commit().unwrap());
        let base = parent.as_ref().map_or_else(
            || git.find_tree(git.treebuilder(None).unwrap().write().unwrap()).unwrap(),
            |p| p.tree().unwrap(),
        );
        let mut update = git2::build::TreeUpdateBuilder::new();
        for (path, text) in files {
            match text {
                Some(text) => {
                    update.upsert(*path, git.blob(text.as_bytes()).unwrap(), git2::FileMode::Blob);
                }
                None => {
                    update.remove(*path);
                }
            }
        }
        let tree = git.find_tree(update.create_updated(git, &base).unwrap()).unwrap();
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        let by = signature();
        git.commit(Some(&reference), &by, &by, "a commit", &tree, &parents).unwrap().to_string()
    }

    /// The commit of a branch.
    pub(crate) fn tip(&self, branch: &str) -> Option<String> {
        Some(self.git.find_reference(&format!("refs/heads/{branch}")).ok()?.target()?.to_string())
    }

    /// All branches.
    pub(super) fn tips(&self) -> BTreeMap<String, String> {
        let of = |r: git2::Reference<'_>| {
            Some((r.name().ok()?.strip_prefix("refs/heads/")?.to_owned(), r.target()?.to_string()))
        };
        self.git.references().unwrap().filter_map(|r| of(r.unwrap())).collect()
    }

    /// A file at a branch.
    pub(crate) fn file(&self, branch: &str, path: &str) -> Option<String> {
        let commit = self.git.find_reference(&format!("refs/heads/{branch}")).ok()?.peel_to_commit().unwrap();
        let entry = commit.tree().unwrap().get_path(std::path::Path::new(path)).ok()?;
        let blob = self.git.find_blob(entry.id()).unwrap();
        Some(String::from_utf8(blob.content().to_vec()).unwrap())
    }

    /// Merges an open pull request; gives the merge commit.
    pub(crate) fn merge(&mut self, number: u64) -> String {
        let pull = self.issues[&number].pull.clone().unwrap();
        let find = |sha: &str| self.git.find_commit(Oid::from_str(sha).unwrap()).unwrap();
        let (base, head) = (find(&self.tip(&pull.base_ref).unwrap()), find(&pull.head_sha));
        let mut index = self.git.merge_commits(&base, &head, None).unwrap();
        let tree = self.git.find_tree(index.write_tree_to(&self.git).unwrap()).unwrap();
        let by = signature();
        let reference = format!("refs/heads/{}", pull.base_ref);
        let sha = self.git.commit(Some(&reference), &by, &by, "merge", &tree, &[&base, &head]).unwrap().to_string();
        let issue = self.issues.get_mut(&number).unwrap();
        issue.open = false;
        let pull = issue.pull.as_mut().unwrap();
        pull.merged = true;
        pull.merge_commit = Some(sha.clone());
        sha
    }

    /// The commits that `head` has and `base` has not, oldest first; `None`: one of them is not there.
    pub(super) fn between(&self, base: &str, head: &str) -> Option<Vec<String>> {
        let (base, head) = (self.resolve(base)?, self.resolve(head)?);
        let mut walk = self.git.revwalk().unwrap();
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE).unwrap();
        walk.push(head).unwrap();
        walk.hide(base).unwrap();
        Some(walk.map(|id| id.unwrap().to_string()).collect())
    }

    /// A branch or a whole commit id.
    pub(super) fn resolve(&self, name: &str) -> Option<Oid> {
        let id = self.tip(name).unwrap_or_else(|| name.to_owned());
        let id = Oid::from_str(&id).ok().filter(|_| id.len() == 40)?;
        self.git.find_commit(id).ok().map(|c| c.id())
    }

    pub(super) fn merge_base(&self, base: Oid, head: Oid) -> Oid {
        self.git.merge_base(base, head).unwrap_or(base)
    }

    fn reference(&self, name: &str) -> Option<Value> {
        let target = self.git.find_reference(name).ok()?.target()?.to_string();
        let at = |rest: &str| format!("{}/repos/{}/git/{rest}", self.url, super::REPOSITORY);
        Some(json!({
            "ref": name, "node_id": format!("REF_{name}"), "url": at(name),
            "object": { "sha": target, "type": "commit", "url": at(&format!("commits/{target}")) },
        }))
    }

    /// `/git/…`.
    pub(super) fn git_data(&mut self, method: &str, parts: &[&str], body: &Value) -> Answer {
        let invalid = |message: &str| Answer::refuse(422, message);
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        match (method, parts) {
            ("GET", ["ref", name @ ..]) => match self.reference(&format!("refs/{}", name.join("/"))) {
                Some(found) => Answer::json(200, &found),
                None => Answer::refuse(404, "Not Found"),
            },
            ("POST", ["refs"]) => {
                let (name, sha) = (text("ref"), text("sha"));
                if !name.starts_with("refs/") || name.matches('/').count() < 2 {
                    return invalid("Reference name must start with 'refs' and have at least two slashes.");
                }
                let Some(target) = self.resolve(&sha) else { return invalid("Object does not exist") };
                if self.git.reference(&name, target, false, "made").is_err() {
                    return invalid("Reference already exists");
                }
                self.follow();
                Answer::json(201, &self.reference(&name).unwrap())
            }
            ("PATCH", ["refs", name @ ..]) => {
                let name = format!("refs/{}", name.join("/"));
                let Some(target) = self.resolve(&text("sha")) else { return invalid("Object does not exist") };
                let Some(old) = self.git.find_reference(&name).ok().and_then(|r| r.target()) else {
                    return invalid("Reference does not exist");
                };
                if body["force"] != true && self.git.graph_descendant_of(target, old) != Ok(true) && target != old {
                    return invalid("Update is not a fast forward");
                }
                self.git.reference(&name, target, true, "moved").unwrap();
                self.follow();
                Answer::json(200, &self.reference(&name).unwrap())
            }
            ("DELETE", ["refs", name @ ..]) => {
                let Ok(mut found) = self.git.find_reference(&format!("refs/{}", name.join("/"))) else {
                    return invalid("Reference does not exist");
                };
                found.delete().unwrap();
                drop(found);
                self.follow();
                Answer::json(204, &Value::Null)
            }
            ("GET", ["commits", sha]) => match self.resolve(sha) {
                Some(id) => Answer::json(200, &self.git_commit(&id.to_string())),
                None => Answer::refuse(404, "Not Found"),
            },
            ("POST", ["commits"]) => self.post_commit(body),
            ("POST", ["blobs"]) => {
                let content = text("content");
                let bytes = match text("encoding").as_str() {
                    "base64" => STANDARD.decode(content).ok(),
                    _ => Some(content.into_bytes()),
                };
                let Some(bytes) = bytes else { return invalid("content is not valid Base64") };
                let sha = self.git.blob(&bytes).unwrap().to_string();
                let url = format!("{}/repos/{}/git/blobs/{sha}", self.url, super::REPOSITORY);
                Answer::json(201, &json!({ "sha": sha, "url": url }))
            }
            ("POST", ["trees"]) => self.post_tree(body),
            _ => Answer::refuse(404, "Not Found"),
        }
    }

    fn post_commit(&mut self, body: &Value) -> Answer {
        let oid = |v: &Value| Oid::from_str(v.as_str().unwrap_or_default()).ok();
        let tree = oid(&body["tree"]).and_then(|id| self.git.find_tree(id).ok());
        let Some(tree) = tree else { return Answer::refuse(422, "Tree SHA does not exist") };
        let mut parents = Vec::new();
        for parent in body["parents"].as_array().into_iter().flatten() {
            let Some(commit) = oid(parent).and_then(|id| self.git.find_commit(id).ok()) else {
                return Answer::refuse(422, "Parent SHA does not exist or is not a commit object");
            };
            parents.push(commit);
        }
        let by = signature();
        let parents: Vec<&git2::Commit<'_>> = parents.iter().collect();
        let message = body["message"].as_str().unwrap();
        let sha = self.git.commit(None, &by, &by, message, &tree, &parents).unwrap();
        Answer::json(201, &self.git_commit(&sha.to_string()))
    }

    fn post_tree(&mut self, body: &Value) -> Answer {
        let git = &self.git;
        let base = match body["base_tree"].as_str() {
            None => git.find_tree(git.treebuilder(None).unwrap().write().unwrap()).unwrap(),
            Some(sha) => match Oid::from_str(sha).ok().and_then(|id| tree_of(git, id)) {
                Some(tree) => tree,
                None => return Answer::refuse(422, "base_tree is not a valid tree oid"),
            },
        };
        let mut update = git2::build::TreeUpdateBuilder::new();
        for entry in body["tree"].as_array().unwrap() {
            let path = entry["path"].as_str().unwrap();
            if path.starts_with('/') || path.split('/').any(|p| matches!(p, "" | "." | ".." | ".git")) {
                return Answer::refuse(422, "tree.path contains a malformed path component");
            }
            let Some(sha) = entry["sha"].as_str() else {
                if base.get_path(std::path::Path::new(path)).is_err() {
                    return Answer::refuse(422, "GitRPC::BadObjectState");
                }
                update.remove(path);
                continue;
            };
            let mode = match entry["mode"].as_str() {
                Some("100644") => git2::FileMode::Blob,
                Some("100755") => git2::FileMode::BlobExecutable,
                Some("120000") => git2::FileMode::Link,
                _ => return Answer::refuse(422, "Must supply a valid tree.mode"),
            };
            let Some(blob) = Oid::from_str(sha).ok().filter(|id| git.find_blob(*id).is_ok()) else {
                return Answer::refuse(422, "tree.sha does not exist");
            };
            update.upsert(path, blob, mode);
        }
        let tree = git.find_tree(update.create_updated(git, &base).unwrap()).unwrap();
        let entry = |e: git2::TreeEntry<'_>| {
            let (kind, mode) = if e.kind() == Some(ObjectType::Tree) { ("tree", "040000") } else { ("blob", "100644") };
            json!({ "path": e.name().unwrap(), "mode": mode, "type": kind, "sha": e.id().to_string() })
        };
        let entries: Vec<Value> = tree.iter().map(entry).collect();
        let sha = tree.id().to_string();
        let url = format!("{}/repos/{}/git/trees/{sha}", self.url, super::REPOSITORY);
        Answer::json(201, &json!({ "sha": sha, "url": url, "tree": entries, "truncated": false }))
    }
}

/// The tree of a tree or of a commit.
fn tree_of(git: &Repository, id: Oid) -> Option<git2::Tree<'_>> {
    git.find_tree(id).ok().or_else(|| git.find_commit(id).ok()?.tree().ok())
}
