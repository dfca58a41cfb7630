//! The client of a code host: GitHub, or a server that speaks like it.
//!
//! ```text
//! call ─▶ [ send ─▶ read within bounds ] ─▶ next page, if there is one ─▶ values
//!            ▲                │
//!            └── pause, if it may be repeated and there is time left
//! ```
//!
//! A read, and a change that may be made twice, is sent again while the server does not answer or asks for a pause. One
//! that makes something is sent again only when it surely was not carried out; where that is not known, what was to be
//! made is looked for, so that it is not made twice.

mod comments;
mod error;
mod exchange;
mod git;
mod graphql;
mod issues;
mod pulls;

pub use comments::Comment;
pub use error::{ForgeError, ForgeErrorKind};
pub use git::{Entry, EntryMode};
pub use issues::{Issue, IssueEdit, NewIssue};
pub use pulls::{BranchPull, NewPull, PullEdit};

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::HeaderValue;
use tokio::sync::OnceCell;

use crate::ci::inputs::Token;
use crate::net::{self, Base};

/// How long is waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection. Default 10 s.
    pub connect: Duration,
    /// From the first byte of a request to the last one of its answer. Default 30 s.
    pub call: Duration,
    /// The first pause before a request is sent again; each next one is twice as long. Default 1 s.
    pub first: Duration,
    /// The longest pause that is not asked for by the server. Default 10 s.
    pub longest: Duration,
    /// All pauses of all requests together; a server that asks for more is not asked again. Default 60 s.
    pub total: Duration,
    /// Times that one request is sent again. Default 5.
    pub times: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            call: Duration::from_secs(30),
            first: Duration::from_secs(1),
            longest: Duration::from_secs(10),
            total: Duration::from_mins(1),
            times: 5,
        }
    }
}

/// A request that is about to be sent again.
#[derive(Debug)]
pub struct Again<'a> {
    /// What went wrong, and what was being done.
    pub error: &'a ForgeError,
    /// When.
    pub after: Duration,
}

/// Told of each request that is sent again.
pub type OnRetry = Arc<dyn Fn(&Again<'_>) + Send + Sync>;

/// Where the code host is, and for which repository it is asked.
#[derive(Clone)]
pub struct Options {
    /// Base URL of the REST API; `http` only to this machine.
    pub api_url: String,
    /// URL of the GraphQL API; `None`: where it is beside the REST API.
    pub graphql_url: Option<String>,
    /// The token.
    pub token: Token,
    /// As `owner/name`.
    pub repository: String,
    /// How long is waited.
    pub patience: Patience,
    /// Most bytes of an answer. Default 32 MiB.
    pub answer_bytes: usize,
    /// Told of each request that is sent again. Default: nobody is.
    pub on_retry: OnRetry,
}

impl Options {
    /// The defaults for a repository.
    pub fn new(api_url: impl Into<String>, token: Token, repository: impl Into<String>) -> Self {
        Self {
            api_url: api_url.into(),
            graphql_url: None,
            token,
            repository: repository.into(),
            patience: Patience::default(),
            answer_bytes: 32 << 20,
            on_retry: Arc::new(|_| ()),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("api_url", &self.api_url)
            .field("repository", &self.repository)
            .finish_non_exhaustive()
    }
}

/// GitHub, as far as one repository goes.
pub struct GitHub {
    client: Client,
    rest: Base,
    graphql: Base,
    bearer: HeaderValue,
    options: Options,
    /// Milliseconds that were waited between requests.
    waited: AtomicU64,
    /// Whose token it is, once that is known.
    me: OnceCell<String>,
}

impl std::fmt::Debug for GitHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitHub").field("options", &self.options).finish_non_exhaustive()
    }
}

impl GitHub {
    /// Takes the options; nothing is sent yet.
    ///
    /// # Errors
    /// [`ForgeErrorKind::Invalid`]: a URL that no token goes to, a repository that is not `owner/name`.
    /// [`ForgeErrorKind::Unauthorized`]: the token is no token. [`ForgeErrorKind::Unavailable`]: TLS cannot be used.
    pub fn new(options: Options) -> Result<Self, ForgeError> {
        let setup = |kind, said: String| ForgeError::new(kind, "set up the client of GitHub", said);
        let base = |text: &str| Base::parse(text, false).map_err(|e| setup(ForgeErrorKind::Invalid, e.to_string()));
        let rest = base(&options.api_url)?;
        let graphql = base(&options.graphql_url.clone().unwrap_or_else(|| graphql_url(rest.text())))?;
        if !is_repository(&options.repository) {
            return Err(setup(ForgeErrorKind::Invalid, "the repository is not OWNER/NAME".to_owned()));
        }
        let Some(bearer) = net::bearer(options.token.reveal()) else {
            let said = "the token is empty, or has characters that no token has".to_owned();
            return Err(setup(ForgeErrorKind::Unauthorized, said));
        };
        let client = net::client(&rest, options.patience.connect)
            .user_agent(concat!("checkfu/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| setup(ForgeErrorKind::Unavailable, "TLS cannot be used".to_owned()).caused_by(e))?;
        Ok(Self { client, rest, graphql, bearer, options, waited: AtomicU64::new(0), me: OnceCell::new() })
    }

    /// The repository, as `owner/name`.
    pub fn repository(&self) -> &str {
        &self.options.repository
    }

    /// The path of something of the repository.
    fn path(&self, rest: &str) -> String {
        format!("/repos/{}{rest}", self.options.repository)
    }
}

/// Where GraphQL is beside the REST API: a server of one's own has that below `/api/v3`.
fn graphql_url(rest: &str) -> String {
    match rest.strip_suffix("/api/v3") {
        Some(host) => format!("{host}/api/graphql"),
        None => format!("{rest}/graphql"),
    }
}

fn is_repository(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.bytes().all(|b| b == b'.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    text.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(api: &str, token: &str, repository: &str) -> Result<GitHub, ForgeError> {
        GitHub::new(Options::new(api, Token::new(token), repository))
    }

    #[test]
    fn graphql_is_beside_rest_on_every_kind_of_server() {
        assert_eq!(graphql_url("https://api.github.com"), "https://api.github.com/graphql");
        assert_eq!(graphql_url("https://git.acme.example/api/v3"), "https://git.acme.example/api/graphql");
        assert_eq!(
            new("https://git.acme.example/api/v3/", "t", "a/b").unwrap().graphql.text(),
            "https://git.acme.example/api/graphql"
        );
    }

    #[test]
    fn nothing_is_made_that_could_send_the_token_astray() {
        let kind = |api: &str, token: &str, repository: &str| {
            let error = new(api, token, repository).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
            error.kind
        };
        assert_eq!(kind("http://api.github.com", "hunter2", "a/b"), ForgeErrorKind::Invalid);
        assert_eq!(kind("https://hunter2@api.github.com", "t", "a/b"), ForgeErrorKind::Invalid);
        for repository in ["a", "a/b/c", "a/..", "../b", "a/b?x", "/b", "a b/c", "a/b%2f"] {
            assert_eq!(kind("https://api.github.com", "hunter2", repository), ForgeErrorKind::Invalid, "{repository}");
        }
        assert_eq!(kind("https://api.github.com", "hunter2\n", "a/b"), ForgeErrorKind::Unauthorized);
        let github = new("http://127.0.0.1:1", "hunter2", "a/b").unwrap();
        assert!(!format!("{github:?}").contains("hunter2"));
    }
}
