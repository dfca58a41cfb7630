//! What GitHub writes, with every field that its published description asks for.

use git2::Oid;
use serde_json::{Map, Value, json};

use super::{Comment, Issue, REPOSITORY, World};

/// Nothing here depends on time.
const AT: &str = "2026-11-30T12:00:00Z";

fn html(rest: &str) -> String {
    format!("https://github.com/{REPOSITORY}{rest}")
}

/// A number that stays the same for a text.
fn id(text: &str) -> u64 {
    1 + text.bytes().fold(7, |sum: u64, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)) % 1_000_000)
}

impl World {
    fn at(&self, rest: &str) -> String {
        format!("{}/repos/{REPOSITORY}{rest}", self.url)
    }

    fn user(&self, login: &str) -> Value {
        let base = format!("{}/users/{}", self.url, login.replace(['[', ']'], ""));
        let mut user = json!({
            "login": login, "id": id(login), "node_id": format!("U_{login}"), "gravatar_id": "", "site_admin": false,
            "avatar_url": "https://avatars.example/u", "html_url": "https://github.com/u", "url": base,
            "type": if login.ends_with("[bot]") { "Bot" } else { "User" },
        });
        let urls = [
            "followers",
            "following",
            "gists",
            "starred",
            "subscriptions",
            "organizations",
            "repos",
            "events",
            "received_events",
        ];
        for name in urls {
            user[format!("{name}_url")] = json!(format!("{base}/{name}"));
        }
        user
    }

    /// As `GET /user` shows it.
    pub(super) fn whole_user(&self, login: &str) -> Value {
        let mut user = self.user(login);
        let more = json!({
            "name": null, "company": null, "blog": "", "location": null, "email": null, "hireable": null, "bio": null,
            "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0, "created_at": AT, "updated_at": AT,
        });
        user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        user
    }

    fn repo(&self, full_name: &str) -> Value {
        let (owner, name) = full_name.split_once('/').unwrap();
        let url = format!("{}/repos/{full_name}", self.url);
        let mut repo = json!({
            "id": id(full_name), "node_id": "R_1", "name": name, "full_name": full_name, "owner": self.user(owner),
            "private": false, "fork": full_name != REPOSITORY, "description": null, "url": url,
            "html_url": html(""), "homepage": null, "language": null, "archived": false, "disabled": false,
            "mirror_url": null, "license": null, "default_branch": "main", "size": 1, "visibility": "public",
            "has_downloads": true, "has_issues": self.has_issues, "has_projects": false, "has_wiki": false,
            "has_pages": false, "forks": 0, "forks_count": 0, "open_issues": 0, "open_issues_count": 0,
            "stargazers_count": 0, "watchers": 0, "watchers_count": 0, "pushed_at": AT, "created_at": AT,
            "updated_at": AT, "git_url": "git://github.com/x.git", "ssh_url": "git@github.com:x.git",
            "clone_url": html(".git"), "svn_url": html(""),
        });
        let urls = [
            "archive",
            "assignees",
            "blobs",
            "branches",
            "collaborators",
            "comments",
            "commits",
            "compare",
            "contents",
            "contributors",
            "deployments",
            "downloads",
            "events",
            "forks",
            "git_commits",
            "git_refs",
            "git_tags",
            "hooks",
            "issue_comment",
            "issue_events",
            "issues",
            "keys",
            "labels",
            "languages",
            "merges",
            "milestones",
            "notifications",
            "pulls",
            "releases",
            "stargazers",
            "statuses",
            "subscribers",
            "subscription",
            "tags",
            "teams",
            "trees",
        ];
        for name in urls {
            repo[format!("{name}_url")] = json!(format!("{url}/{name}"));
        }
        repo
    }

    pub(super) fn label_json(&self, name: &str, color: &str) -> Value {
        json!({
            "id": id(name), "node_id": format!("LA_{}", id(name)), "name": name, "color": color, "default": false,
            "description": null, "url": self.at("/labels/x"),
        })
    }

    fn labels_json(&self, issue: &Issue) -> Vec<Value> {
        let color = |name: &String| self.labels.get(name).map_or("ededed", String::as_str);
        issue.labels.iter().map(|name| self.label_json(name, color(name))).collect()
    }

    pub(super) fn comment_json(&self, comment: &Comment) -> Value {
        json!({
            "id": comment.id, "node_id": format!("IC_{}", comment.id), "body": comment.body,
            "user": self.user(&comment.author), "created_at": AT, "updated_at": AT, "author_association": "NONE",
            "url": self.at(&format!("/issues/comments/{}", comment.id)),
            "issue_url": self.at(&format!("/issues/{}", comment.on)),
            "html_url": html(&format!("/issues/{}#issuecomment-{}", comment.on, comment.id)),
        })
    }

    pub(super) fn issue_json(&self, issue: &Issue) -> Value {
        let url = self.at(&format!("/issues/{}", issue.number));
        let page = html(&format!("/issues/{}", issue.number));
        let mut out = json!({
            "id": 10_000 + issue.number, "node_id": format!("I_{}", issue.number), "number": issue.number, "url": url,
            "repository_url": self.at(""), "html_url": page, "title": issue.title, "body": issue.body,
            "user": self.user(&issue.author), "labels": self.labels_json(issue), "locked": false,
            "state": if issue.open { "open" } else { "closed" }, "state_reason": issue.reason,
            "assignees": issue.assignees.iter().map(|login| self.user(login)).collect::<Vec<_>>(),
            "assignee": issue.assignees.first().map(|login| self.user(login)), "milestone": null,
            "comments": self.comments_of(issue.number).len(), "created_at": AT, "updated_at": AT,
            "closed_at": if issue.open { Value::Null } else { json!(AT) }, "author_association": "NONE",
        });
        for name in ["labels", "comments", "events"] {
            out[format!("{name}_url")] = json!(format!("{url}/{name}"));
        }
        if issue.pull.is_some() {
            let at = self.at(&format!("/pulls/{}", issue.number));
            out["pull_request"] = json!({ "url": at, "html_url": page, "diff_url": page, "patch_url": page });
        }
        out
    }

    pub(super) fn pull_json(&self, issue: &Issue, whole: bool) -> Value {
        let pull = issue.pull.as_ref().unwrap();
        let side = |reference: &str, sha: &str, repo: Option<&String>| {
            let owner = repo.and_then(|r| r.split('/').next()).unwrap_or("ghost");
            json!({
                "label": format!("{owner}:{reference}"), "ref": reference, "sha": sha, "user": self.user(owner),
                "repo": repo.map(|r| self.repo(r)),
            })
        };
        let own = REPOSITORY.to_owned();
        let url = self.at(&format!("/pulls/{}", issue.number));
        let issue_json = self.issue_json(issue);
        let mut out = Map::new();
        let taken = [
            "id",
            "node_id",
            "number",
            "title",
            "body",
            "user",
            "labels",
            "locked",
            "state",
            "assignee",
            "assignees",
            "milestone",
            "created_at",
            "updated_at",
            "closed_at",
            "author_association",
            "comments_url",
        ];
        for key in taken {
            out.insert(key.to_owned(), issue_json[key].clone());
        }
        let page = html(&format!("/pull/{}", issue.number));
        let link = |rest: &str| json!({ "href": format!("{url}{rest}") });
        let more = json!({
            "url": url, "html_url": page, "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"),
            "issue_url": issue_json["url"], "commits_url": format!("{url}/commits"),
            "review_comments_url": format!("{url}/comments"), "review_comment_url": format!("{url}/comments/1"),
            "statuses_url": self.at(&format!("/statuses/{}", pull.head_sha)), "auto_merge": null, "draft": false,
            "head": side(&pull.head_ref, &pull.head_sha, pull.head_repo.as_ref()),
            "base": side(&pull.base_ref, &pull.base_sha, Some(&own)), "merge_commit_sha": pull.merge_commit,
            "merged_at": pull.merged.then_some(AT), "requested_reviewers": [], "requested_teams": [],
            "_links": {
                "self": link(""), "html": link(""), "issue": link(""), "comments": link(""), "commits": link(""),
                "statuses": link(""), "review_comments": link(""), "review_comment": link(""),
            },
        });
        out.extend(more.as_object().unwrap().clone());
        if whole {
            let counts = json!({
                "merged": pull.merged, "mergeable": true, "mergeable_state": "clean", "merged_by": null,
                "maintainer_can_modify": false, "additions": 1, "deletions": 0, "changed_files": 1,
                "comments": self.comments_of(issue.number).len(), "review_comments": 0, "commits": 1,
            });
            out.extend(counts.as_object().unwrap().clone());
        }
        Value::Object(out)
    }

    /// As the Git Data API shows it.
    pub(super) fn git_commit(&self, sha: &str) -> Value {
        let commit = self.git.find_commit(Oid::from_str(sha).unwrap()).unwrap();
        let by = json!({ "name": "fake", "email": "fake@example.com", "date": AT });
        let tree = commit.tree_id().to_string();
        let parent = |id: Oid| json!({ "sha": id.to_string(), "url": self.at(&format!("/git/commits/{id}")), "html_url": html("/commit/x") });
        json!({
            "sha": sha, "node_id": format!("C_{sha}"), "url": self.at(&format!("/git/commits/{sha}")),
            "html_url": html(&format!("/commit/{sha}")), "author": by, "committer": by,
            "message": commit.message().unwrap(),
            "tree": { "sha": tree, "url": self.at(&format!("/git/trees/{tree}")) },
            "parents": commit.parent_ids().map(parent).collect::<Vec<_>>(),
            "verification": {
                "verified": false, "reason": "unsigned", "signature": null, "payload": null, "verified_at": null,
            },
        })
    }

    /// As lists of commits show it.
    pub(super) fn commit_json(&self, sha: &str) -> Value {
        let git = self.git_commit(sha);
        json!({
            "sha": sha, "node_id": git["node_id"], "url": self.at(&format!("/commits/{sha}")),
            "html_url": git["html_url"], "comments_url": self.at(&format!("/commits/{sha}/comments")),
            "author": null, "committer": null, "parents": git["parents"],
            "commit": {
                "author": git["author"], "committer": git["committer"], "message": git["message"], "tree": git["tree"],
                "url": git["url"], "comment_count": 0, "verification": git["verification"],
            },
        })
    }

    pub(super) fn compare_json(&self, base: &str, head: &str, counts: (usize, usize), commits: &[Value]) -> Value {
        let oid = |sha: &str| Oid::from_str(sha).unwrap();
        let common = self.merge_base(oid(base), oid(head)).to_string();
        let url = self.at(&format!("/compare/{base}...{head}"));
        let status = match counts {
            (0, 0) => "identical",
            (_, 0) => "ahead",
            (0, _) => "behind",
            _ => "diverged",
        };
        json!({
            "url": url, "html_url": url, "permalink_url": url, "diff_url": url, "patch_url": url,
            "base_commit": self.commit_json(base), "merge_base_commit": self.commit_json(&common), "status": status,
            "ahead_by": counts.0, "behind_by": counts.1, "total_commits": counts.0, "commits": commits, "files": [],
        })
    }
}
