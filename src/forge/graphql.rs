//! What only GraphQL knows: whose token it is, who edited a comment last, and folding one.

use serde_json::{Value, json};

use crate::forge::exchange::Call;
use crate::forge::{ForgeError, ForgeErrorKind, GitHub};

/// The login of the token that GitHub gives a job, whatever the repository.
const ACTIONS: &str = "github-actions[bot]";
/// The login that GitHub shows where an account was deleted.
pub(super) const GHOST: &str = "ghost";

impl GitHub {
    /// Whose token it is, as the login that stands at what it writes. Asked once.
    ///
    /// # Errors
    /// The token is not taken at all, or GitHub does not answer: then it is not known.
    pub async fn me(&self) -> Result<String, ForgeError> {
        self.me.get_or_try_init(|| self.ask_me()).await.cloned()
    }

    async fn ask_me(&self) -> Result<String, ForgeError> {
        let did = "read whose token this is";
        // The token of a job may not ask REST, and one for a few repositories may not ask GraphQL.
        let viewer = self.graphql(did, "query { viewer { login } }", &json!({})).await;
        if let Some(login) = otherwise(viewer)?.as_ref().and_then(|data| data.pointer("/viewer/login")?.as_str()) {
            return Ok(login.to_owned());
        }
        let user = self.json::<Value>(&Call::get(did, "/user".to_owned())).await;
        let user = otherwise(user)?;
        let login = user.as_ref().and_then(|user| user.get("login")?.as_str());
        Ok(login.unwrap_or(ACTIONS).to_owned())
    }

    /// Folds a comment as outdated.
    ///
    /// # Errors
    /// As of every call.
    pub async fn minimize(&self, node_id: &str) -> Result<(), ForgeError> {
        let query = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) \
                     { minimizedComment { isMinimized } } }";
        self.graphql("fold a comment", query, &json!({ "id": node_id })).await.map(|_| ())
    }

    /// Who edited a comment last; `None`: it stands as it was written. A bot's login ends with `[bot]`, as REST writes it.
    ///
    /// # Errors
    /// As of every call.
    pub async fn last_editor(&self, node_id: &str) -> Result<Option<String>, ForgeError> {
        let did = "read who edited a comment";
        let query = "query($id: ID!) { node(id: $id) { ... on Comment { lastEditedAt editor { __typename login } } } }";
        let data = self.graphql(did, query, &json!({ "id": node_id })).await?;
        let Some(node) = data.get("node").filter(|node| node.get("lastEditedAt").is_some()) else {
            return Err(ForgeError::new(ForgeErrorKind::NotFound, did, "there is no such comment"));
        };
        if node.get("lastEditedAt").is_none_or(Value::is_null) {
            return Ok(None);
        }
        let of = |key: &str| node.pointer(&format!("/editor/{key}")).and_then(Value::as_str);
        let login = of("login").unwrap_or(GHOST);
        let bot = of("__typename") == Some("Bot") && !login.ends_with("[bot]");
        Ok(Some(if bot { format!("{login}[bot]") } else { login.to_owned() }))
    }

    /// Asks GraphQL; every question here may be asked twice.
    async fn graphql(&self, did: &str, query: &str, variables: &Value) -> Result<Value, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        let mut answer = self.query(&Call::post(did, String::new(), &body).safe()).await?;
        let errors = answer.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if let Some(first) = errors.first() {
            let kind = match first.get("type").and_then(Value::as_str).unwrap_or_default() {
                "FORBIDDEN" | "INSUFFICIENT_SCOPES" => ForgeErrorKind::Forbidden,
                "NOT_FOUND" => ForgeErrorKind::NotFound,
                "RATE_LIMITED" => ForgeErrorKind::Limited,
                _ => ForgeErrorKind::Invalid,
            };
            let said = first.get("message").and_then(Value::as_str).unwrap_or("GraphQL refuses");
            let said = crate::diag::bounded(said).replace(self.options.token.reveal(), "…");
            return Err(ForgeError::new(kind, did, said));
        }
        Ok(answer.get_mut("data").map(Value::take).unwrap_or_default())
    }
}

/// An answer; `None` where this way of asking is closed to the token and another one may be open.
fn otherwise(answer: Result<Value, ForgeError>) -> Result<Option<Value>, ForgeError> {
    use ForgeErrorKind::{Forbidden, Gone, Invalid, NotFound};
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind, Forbidden | NotFound | Gone | Invalid) => Ok(None),
        Err(error) => Err(error),
    }
}
