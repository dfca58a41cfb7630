//! Which call is which, who may make it, and what it does.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::world::Issue;
use super::{Actor, Answer, Asked, REPOSITORY, World};

/// Characters of a body.
const MOST: usize = 65_536;

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8().unwrap().into_owned()
}

/// A parameter of the query.
fn parameter(asked: &Asked, name: &str) -> Option<String> {
    let query = asked.path.split_once('?')?.1;
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name).map(|(_, v)| decoded(v))
}

fn denied() -> Answer {
    Answer::refuse(403, "Resource not accessible by integration")
}

fn not_found() -> Answer {
    Answer::refuse(404, "Not Found")
}

fn invalid(resource: &str, field: &str, code: &str, message: &str) -> Answer {
    let error = json!({ "resource": resource, "field": field, "code": code, "message": message });
    Answer::json(
        422,
        &json!({
            "message": "Validation Failed", "errors": [error], "documentation_url": "https://docs.github.com/rest",
        }),
    )
}

fn too_long(resource: &str, body: &Value) -> Option<Answer> {
    let long = body["body"].as_str().is_some_and(|text| text.chars().count() > MOST);
    long.then(|| invalid(resource, "body", "custom", "body is too long (maximum is 65536 characters)"))
}

impl World {
    pub(super) fn answer(&mut self, asked: &Asked) -> Answer {
        let header = |name: &str| asked.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
        if header("user-agent").is_empty() {
            return Answer::refuse(403, "Request forbidden by administrative rules.");
        }
        if !["", "2022-11-28"].contains(&header("x-github-api-version")) {
            return Answer::refuse(400, "The version of the API is not known");
        }
        let Some(token) = header("authorization").strip_prefix("Bearer ") else {
            return Answer::refuse(401, "Requires authentication");
        };
        let Some(actor) = self.tokens.get(token).cloned() else { return Answer::refuse(401, "Bad credentials") };
        let path = asked.path.split('?').next().unwrap_or_default();
        let parts: Vec<String> = path.trim_start_matches('/').split('/').map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match (asked.method.as_str(), parts.as_slice()) {
            ("POST", ["graphql"]) => self.graphql(&actor, &asked.body),
            ("GET", ["user"]) if actor.app => denied(),
            ("GET", ["user"]) => Answer::json(200, &self.whole_user(&actor.login)),
            (_, ["repos", owner, name, rest @ ..]) if format!("{owner}/{name}") == REPOSITORY => {
                self.repository(&actor, asked, rest)
            }
            _ => not_found(),
        }
    }

    fn repository(&mut self, actor: &Actor, asked: &Asked, rest: &[&str]) -> Answer {
        let method = asked.method.as_str();
        match (method, rest) {
            (_, ["issues", ..]) => self.issue_calls(actor, asked, rest),
            (_, ["labels", ..]) => self.label_calls(actor, asked, rest),
            (_, ["pulls", ..]) => self.pull_calls(actor, asked, rest),
            ("GET", ["commits", sha, "pulls"]) => self.pulls_of(asked, sha),
            ("GET", ["compare", range]) => self.compare(asked, range),
            (_, ["git", parts @ ..]) => {
                if method != "GET" && !actor.contents {
                    return denied();
                }
                self.git_data(method, parts, &asked.body)
            }
            _ => not_found(),
        }
    }

    /// A page of a list, with its links.
    fn page(&self, asked: &Asked, items: &[Value]) -> Answer {
        let (slice, headers) = self.slice(asked, items, 30);
        Answer { headers, ..Answer::json(200, &Value::Array(slice)) }
    }

    fn slice(&self, asked: &Asked, items: &[Value], default: usize) -> (Vec<Value>, Vec<(&'static str, String)>) {
        let number = |name: &str, default: usize| {
            parameter(asked, name).and_then(|v| v.parse().ok()).filter(|n: &usize| *n > 0).unwrap_or(default)
        };
        let size = number("per_page", default).min(100.max(default));
        let size = if parameter(asked, "per_page").is_some() { size.min(100) } else { size };
        let page = number("page", 1);
        let last = items.len().div_ceil(size).max(1);
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("page=")).collect();
        let link = |page: usize, rel: &str| {
            let query = [kept.as_slice(), &[&format!("page={page}")]].concat().join("&");
            format!("<{}{path}?{query}>; rel=\"{rel}\"", self.url)
        };
        let mut links = Vec::new();
        if page > 1 {
            links.extend([link(page - 1, "prev"), link(1, "first")]);
        }
        if page < last {
            links.extend([link(page + 1, "next"), link(last, "last")]);
        }
        let headers = if links.is_empty() { Vec::new() } else { vec![("link", links.join(", "))] };
        (items.iter().skip((page - 1) * size).take(size).cloned().collect(), headers)
    }

    fn issue_calls(&mut self, actor: &Actor, asked: &Asked, rest: &[&str]) -> Answer {
        let body = &asked.body;
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        match (asked.method.as_str(), rest) {
            ("GET", ["issues"]) => self.list_issues(asked),
            ("POST", ["issues"]) => self.post_issue(actor, body),
            ("PATCH", ["issues", "comments", id]) => {
                let id = number(id);
                let Some(comment) = self.comments.get(&id) else { return not_found() };
                let on_pull = self.issues[&comment.on].pull.is_some();
                if !(actor.issues || (actor.pulls && on_pull)) {
                    return denied();
                }
                if let Some(refusal) = too_long("IssueComment", body) {
                    return refusal;
                }
                let Some(text) = body["body"].as_str() else { return invalid("IssueComment", "body", "missing", "") };
                self.edit(&actor.login.clone(), id, text);
                Answer::json(200, &self.comment_json(&self.comments[&id]))
            }
            ("GET", ["issues", n, "comments"]) if self.issues.contains_key(&number(n)) => {
                let all: Vec<Value> = self.comments_of(number(n)).into_iter().map(|c| self.comment_json(c)).collect();
                self.page(asked, &all)
            }
            ("POST", ["issues", n, "comments"]) => self.post_comment(actor, number(n), body),
            ("PATCH", ["issues", n]) => self.patch_issue(actor, number(n), body),
            _ => not_found(),
        }
    }

    fn list_issues(&self, asked: &Asked) -> Answer {
        if !self.has_issues {
            return Answer::refuse(410, "Issues are disabled for this repo");
        }
        let state = parameter(asked, "state").unwrap_or_else(|| "open".to_owned());
        let labels = parameter(asked, "labels").unwrap_or_default();
        let wanted = |issue: &&Issue| {
            (state == "all" || issue.open == (state == "open"))
                && labels.split(',').filter(|l| !l.is_empty()).all(|l| issue.labels.iter().any(|have| have == l))
        };
        // The newest first, as GitHub lists them.
        let all: Vec<Value> = self.issues.values().rev().filter(wanted).map(|i| self.issue_json(i)).collect();
        self.page(asked, &all)
    }

    fn post_issue(&mut self, actor: &Actor, body: &Value) -> Answer {
        if !self.has_issues {
            return Answer::refuse(410, "Issues are disabled for this repo");
        }
        if !actor.issues {
            return denied();
        }
        if let Some(refusal) = too_long("Issue", body) {
            return refusal;
        }
        let Some(title) = body["title"].as_str().filter(|t| !t.is_empty()) else {
            return invalid("Issue", "title", "missing_field", "title is missing");
        };
        let texts = |key: &str| -> Vec<String> {
            body[key].as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
        };
        let assignees = texts("assignees");
        if let Some(stranger) = assignees.iter().find(|a| !self.users.contains(a)) {
            return invalid("Issue", "assignees", "invalid", &format!("{stranger} cannot be assigned"));
        }
        let labels = texts("labels");
        for label in &labels {
            self.labels.entry(label.clone()).or_insert_with(|| "ededed".to_owned());
        }
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let text = body["body"].as_str().unwrap_or_default();
        let number = self.open_issue(&actor.login, title, text, &labels);
        self.issues.get_mut(&number).unwrap().assignees = assignees;
        Answer::json(201, &self.issue_json(&self.issues[&number]))
    }

    fn post_comment(&mut self, actor: &Actor, number: u64, body: &Value) -> Answer {
        let Some(issue) = self.issues.get(&number) else { return not_found() };
        if !(actor.issues || (actor.pulls && issue.pull.is_some())) {
            return denied();
        }
        if let Some(refusal) = too_long("IssueComment", body) {
            return refusal;
        }
        let Some(text) = body["body"].as_str().filter(|t| !t.trim().is_empty()) else {
            return invalid("IssueComment", "body", "missing_field", "body cannot be blank");
        };
        let id = self.comment(&actor.login, number, text);
        Answer::json(201, &self.comment_json(&self.comments[&id]))
    }

    fn patch_issue(&mut self, actor: &Actor, number: u64, body: &Value) -> Answer {
        if !self.has_issues {
            return Answer::refuse(410, "Issues are disabled for this repo");
        }
        if !self.issues.contains_key(&number) {
            return not_found();
        }
        if !actor.issues {
            return denied();
        }
        if let Some(refusal) = too_long("Issue", body) {
            return refusal;
        }
        self.change(number, body);
        Answer::json(200, &self.issue_json(&self.issues[&number]))
    }

    /// Title, body and state, of issues and pull requests.
    fn change(&mut self, number: u64, body: &Value) {
        let issue = self.issues.get_mut(&number).unwrap();
        for (key, field) in [("title", &mut issue.title), ("body", &mut issue.body)] {
            if let Some(text) = body[key].as_str() {
                text.clone_into(field);
            }
        }
        if let Some(state) = body["state"].as_str() {
            issue.open = state == "open";
            issue.reason = body["state_reason"].as_str().map(str::to_owned);
        }
    }

    fn label_calls(&mut self, actor: &Actor, asked: &Asked, rest: &[&str]) -> Answer {
        match (asked.method.as_str(), rest) {
            ("GET", ["labels", name]) => match self.labels.get(*name) {
                Some(color) => Answer::json(200, &self.label_json(name, color)),
                None => not_found(),
            },
            ("POST", ["labels"]) if !(actor.issues || actor.pulls) => denied(),
            ("POST", ["labels"]) => {
                let text = |key: &str| asked.body[key].as_str().unwrap_or_default().to_owned();
                if self.labels.contains_key(&text("name")) {
                    return invalid("Label", "name", "already_exists", "");
                }
                if text("description").chars().count() > 100 {
                    return invalid(
                        "Label",
                        "description",
                        "custom",
                        "description is too long (maximum is 100 characters)",
                    );
                }
                self.labels.insert(text("name"), text("color"));
                Answer::json(201, &self.label_json(&text("name"), &text("color")))
            }
            _ => not_found(),
        }
    }

    fn pull_calls(&mut self, actor: &Actor, asked: &Asked, rest: &[&str]) -> Answer {
        let pull = |n: &str| n.parse::<u64>().ok().and_then(|n| self.issues.get(&n)).filter(|i| i.pull.is_some());
        match (asked.method.as_str(), rest) {
            ("GET", ["pulls"]) => {
                let (head, base) = (parameter(asked, "head"), parameter(asked, "base"));
                let state = parameter(asked, "state").unwrap_or_else(|| "open".to_owned());
                let wanted = |issue: &&Issue| {
                    issue.pull.as_ref().is_some_and(|pull| {
                        let owner = pull.head_repo.as_ref().and_then(|r| r.split('/').next()).unwrap_or_default();
                        (state == "all" || issue.open == (state == "open"))
                            && head.as_ref().is_none_or(|h| *h == format!("{owner}:{}", pull.head_ref))
                            && base.as_ref().is_none_or(|b| *b == pull.base_ref)
                    })
                };
                let all: Vec<Value> =
                    self.issues.values().rev().filter(wanted).map(|i| self.pull_json(i, false)).collect();
                self.page(asked, &all)
            }
            ("GET", ["pulls", n]) => match pull(n) {
                Some(issue) => Answer::json(200, &self.pull_json(issue, true)),
                None => not_found(),
            },
            (_, _) if !actor.pulls => denied(),
            ("POST", ["pulls"]) => self.post_pull(actor, &asked.body),
            ("PATCH", ["pulls", n]) => {
                let Some(number) = pull(n).map(|issue| issue.number) else { return not_found() };
                if let Some(refusal) = too_long("PullRequest", &asked.body) {
                    return refusal;
                }
                self.change(number, &asked.body);
                Answer::json(200, &self.pull_json(&self.issues[&number], true))
            }
            _ => not_found(),
        }
    }

    fn post_pull(&mut self, actor: &Actor, body: &Value) -> Answer {
        if let Some(refusal) = too_long("PullRequest", body) {
            return refusal;
        }
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let (head, base) = (text("head"), text("base"));
        for (field, branch) in [("head", &head), ("base", &base)] {
            if self.tip(branch).is_none() {
                return invalid("PullRequest", field, "invalid", "");
            }
        }
        if self.between(&base, &head).unwrap().is_empty() {
            return invalid("PullRequest", "head", "custom", &format!("No commits between {base} and {head}"));
        }
        let taken = |i: &&Issue| i.pull.as_ref().is_some_and(|p| p.head_ref == head && p.base_ref == base);
        if self.open_pulls().into_iter().any(|i| taken(&i)) {
            return invalid(
                "PullRequest",
                "head",
                "custom",
                &format!("A pull request already exists for acme:{head}."),
            );
        }
        let number = self.open_pull(&actor.login, &head, &base, Some(REPOSITORY));
        self.change(number, &json!({ "title": body["title"], "body": body["body"] }));
        Answer::json(201, &self.pull_json(&self.issues[&number], true))
    }

    fn pulls_of(&self, asked: &Asked, sha: &str) -> Answer {
        if self.resolve(sha).is_none() {
            return Answer::refuse(422, &format!("No commit found for SHA: {sha}"));
        }
        let belongs = |issue: &&Issue| {
            issue.pull.as_ref().is_some_and(|pull| {
                pull.merge_commit.as_deref() == Some(sha)
                    || self.between(&pull.base_sha, &pull.head_sha).is_some_and(|all| all.iter().any(|c| c == sha))
            })
        };
        let all: Vec<Value> = self.issues.values().filter(belongs).map(|i| self.pull_json(i, false)).collect();
        self.page(asked, &all)
    }

    fn compare(&self, asked: &Asked, range: &str) -> Answer {
        let ends = range.split_once("...");
        let Some((base, head)) = ends.and_then(|(b, h)| Some((self.resolve(b)?, self.resolve(h)?))) else {
            return not_found();
        };
        let (base, head) = (base.to_string(), head.to_string());
        let all = self.between(&base, &head).unwrap();
        let behind = self.between(&head, &base).unwrap().len();
        let commits: Vec<Value> = all.iter().map(|sha| self.commit_json(sha)).collect();
        let (slice, headers) = self.slice(asked, &commits, 250);
        let body = self.compare_json(&base, &head, (all.len(), behind), &slice);
        Answer { headers, ..Answer::json(200, &body) }
    }
}
