//! The three questions of GraphQL that are asked here.

use serde_json::{Value, json};

use super::{Actor, Answer, World};

impl World {
    pub(super) fn graphql(&mut self, actor: &Actor, body: &Value) -> Answer {
        let query = body["query"].as_str().unwrap_or_default();
        let id = body["variables"]["id"].as_str().unwrap_or_default();
        let comment = id.strip_prefix("IC_").and_then(|n| n.parse().ok()).and_then(|n: u64| self.comments.get_mut(&n));
        let refuse = |kind: &str, message: &str, data: Value| {
            Answer::json(200, &json!({ "data": data, "errors": [{ "type": kind, "message": message }] }))
        };
        if query.contains("viewer { login }") {
            return Answer::json(200, &json!({ "data": { "viewer": { "login": actor.login } } }));
        }
        let Some(comment) = comment else {
            return refuse(
                "NOT_FOUND",
                &format!("Could not resolve to a node with the global id of '{id}'"),
                Value::Null,
            );
        };
        if query.contains("minimizeComment(input: {subjectId: $id, classifier: OUTDATED})") {
            if !(actor.issues || actor.pulls) {
                let message = "Resource not accessible by integration";
                return refuse("FORBIDDEN", message, json!({ "minimizeComment": null }));
            }
            comment.minimized = true;
            return Answer::json(
                200,
                &json!({ "data": { "minimizeComment": { "minimizedComment": { "isMinimized": true } } } }),
            );
        }
        if query.contains("lastEditedAt editor { __typename login }") {
            // GraphQL writes the login of an app without the `[bot]` of REST.
            let editor = comment.editor.as_ref().map(|login| match login.strip_suffix("[bot]") {
                Some(app) => json!({ "__typename": "Bot", "login": app }),
                None => json!({ "__typename": "User", "login": login }),
            });
            let at = comment.editor.as_ref().map(|_| "2026-11-30T12:00:00Z");
            return Answer::json(200, &json!({ "data": { "node": { "lastEditedAt": at, "editor": editor } } }));
        }
        refuse("INVALID", "this is not known here", Value::Null)
    }
}
