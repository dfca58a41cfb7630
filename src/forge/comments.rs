//! Comments on issues and pull requests.

use serde::Deserialize;
use serde_json::json;

use crate::ci::Marker;
use crate::forge::exchange::Call;
use crate::forge::graphql::GHOST;
use crate::forge::{ForgeError, GitHub};

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// For REST.
    pub id: u64,
    /// For GraphQL.
    pub node_id: String,
    /// Who wrote it, as a login; `ghost` where the account is gone.
    pub author: String,
    /// Markdown.
    pub body: String,
    /// Its page.
    pub url: String,
}

#[derive(Deserialize)]
struct CommentPayload {
    id: u64,
    node_id: String,
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    body: Option<String>,
    html_url: String,
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) login: String,
}

/// The login at something that was written.
pub(super) fn author(user: Option<User>) -> String {
    user.map_or_else(|| GHOST.to_owned(), |user| user.login)
}

impl From<CommentPayload> for Comment {
    fn from(p: CommentPayload) -> Self {
        Self { id: p.id, node_id: p.node_id, author: author(p.user), body: p.body.unwrap_or_default(), url: p.html_url }
    }
}

/// Is this the text that was sent? A server may write line ends and blanks at the ends anew; a mark is as it was.
pub(super) fn same(sent: &str, found: &str) -> bool {
    let marks = (Marker::read(sent), Marker::read(found));
    sent.trim() == found.trim() || matches!(marks, (Some(sent), Some(found)) if sent == found)
}

impl GitHub {
    /// All comments of an issue or a pull request, oldest first.
    ///
    /// # Errors
    /// As of every call.
    pub async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let path = self.path(&format!("/issues/{number}/comments"));
        let call = Call::get(format!("read the comments of #{number}"), path);
        self.pages(call, |page: Vec<CommentPayload>| page.into_iter().map(Comment::from).collect()).await
    }

    /// Writes a comment. Where the connection ends before the answer, the comment is looked for (the same text or the
    /// same mark, of this token), and written again only if it is not there.
    ///
    /// # Errors
    /// As of every call; [`crate::forge::ForgeErrorKind::TooLong`] over 65,536 characters.
    pub async fn create_comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        let path = self.path(&format!("/issues/{number}/comments"));
        let call = Call::post(format!("comment on #{number}"), path, &json!({ "body": body }));
        match self.json::<CommentPayload>(&call).await {
            Ok(comment) => Ok(comment.into()),
            Err(error) if error.uncertain => {
                let me = self.me().await?;
                let mine = |c: &Comment| c.author == me && same(body, &c.body);
                match self.comments(number).await?.into_iter().rev().find(mine) {
                    Some(comment) => Ok(comment),
                    None => self.json::<CommentPayload>(&call).await.map(Comment::from),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the text of a comment anew.
    ///
    /// # Errors
    /// As of every call; [`crate::forge::ForgeErrorKind::NotFound`]: somebody deleted it.
    pub async fn update_comment(&self, id: u64, body: &str) -> Result<Comment, ForgeError> {
        let path = self.path(&format!("/issues/comments/{id}"));
        let call = Call::patch("edit a comment", path, &json!({ "body": body }));
        self.json::<CommentPayload>(&call).await.map(Comment::from)
    }
}
