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
    match Marker::read(sent) {
        Some(mark) => Marker::read(found).is_some_and(|found| found == mark),
        None => sent.lines().map(str::trim_end).eq(found.trim().lines().map(str::trim_end)),
    }
}

/// The one of these comments of one author that was written by a request whose answer was lost. Without a mark it can
/// only be the last one: the same words may have been said before.
fn lost(sent: &str, mut of_author: Vec<Comment>) -> Option<Comment> {
    let oldest = if Marker::read(sent).is_some() { 0 } else { of_author.len().saturating_sub(1) };
    let at = (oldest..of_author.len()).rev().find(|at| same(sent, &of_author[*at].body))?;
    Some(of_author.swap_remove(at))
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

    /// Writes a comment. Where the connection ends before the answer, the comment is looked for (of this token, with
    /// the same mark; without one the last one, with the same text), and written again only if it is not there.
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
                let mine = self.comments(number).await?.into_iter().filter(|c| c.author == me).collect();
                match lost(body, mine) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::State;

    fn comment(body: &str) -> Comment {
        let body = body.to_owned();
        Comment { id: 1, node_id: String::new(), author: "me".to_owned(), body, url: String::new() }
    }

    #[test]
    fn a_lost_comment_is_known_by_its_mark_or_by_being_the_last() {
        let (what, key) = ("plan".to_owned(), "prod".to_owned());
        let mark = Marker {
            what,
            key,
            head: None,
            base: None,
            digest: None,
            actions: Vec::new(),
            names: Vec::new(),
            total: 0,
            state: State::Planned,
        };
        let sent = format!("{}\nnew", mark.write());
        let other = Marker { state: State::Applied, ..mark.clone() };
        let of = |bodies: &[&str], sent: &str| {
            lost(sent, bodies.iter().map(|b| comment(b)).collect()).map(|comment| comment.body)
        };
        assert_eq!(of(&[&mark.write(), "other"], &sent), Some(mark.write()));
        assert_eq!(of(&[&other.write()], &sent), None);
        assert_eq!(of(&["gone", "back"], "gone"), None);
        assert_eq!(of(&["back", "gone \r\n"], "gone"), Some("gone \r\n".to_owned()));
        assert_eq!(of(&[], "gone"), None);
    }
}
