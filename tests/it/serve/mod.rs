//! The workspace over HTTP, by a client that is not ours: tokens, limits, uploads, errors, shutdown.

mod access;
mod limits;
mod methods;
mod observe;
mod stop;
mod tls;
mod uploads;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Once};

use checkfu::control::ControlPlane;
use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::model::op::{ActorKind, Context, NewToken, Request, Response, Scope, TokenCreate};
use checkfu::server::{Limits, ServeError, ServeOptions, Tls, serve};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server of a test, with a workspace of its own.
struct Server {
    workspace: Arc<Embedded>,
    at: SocketAddr,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Result<(), ServeError>>,
    _folder: tempfile::TempDir,
}

/// An answer, read to its end.
struct Answer {
    status: u16,
    headers: reqwest::header::HeaderMap,
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|v| v.to_str().unwrap())
    }

    /// `error_code` of an error of the form that every error has.
    fn code(&self) -> String {
        let body = self.json();
        assert_eq!(body["type"], "error", "{body}");
        assert!(body["error"]["type"].is_string() && body["error"]["message"].is_string(), "{body}");
        assert_eq!(body["request_id"].as_str(), self.header("request-id"), "{body}");
        body["error"]["details"]["error_code"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }

    /// Status and code of an error.
    fn refused(&self) -> (u16, String) {
        (self.status, self.code())
    }
}

impl Server {
    fn start() -> Self {
        Self::with(Limits::default(), None)
    }

    fn with(limits: Limits, tls: Option<Tls>) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let folder = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Embedded::open(&folder.path().join("w.db"), EmbeddedOptions::default()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let options = ServeOptions { listener, tls, limits };
        let ended = tokio::spawn(serve(Arc::clone(&workspace), options, async move { drop(stopped.await) }));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { workspace, at, client, stop: Some(stop), ended, _folder: folder }
    }

    /// A token made in process, as `checkfu token create` does.
    async fn token(&self, name: &str, scope: Scope, owners: &[&str]) -> NewToken {
        let create = TokenCreate {
            name: name.to_owned(),
            scope,
            owners: owners.iter().map(|o| (*o).to_owned()).collect(),
            actor_kind: ActorKind::Api,
            expires_at: None,
        };
        self.new_token(create).await
    }

    async fn new_token(&self, create: TokenCreate) -> NewToken {
        let context = Context { actor: "local".to_owned(), admin: true, ..Context::default() };
        match self.workspace.call(&context, Request::TokenCreate(create)).await.unwrap() {
            Response::Token(token) => token,
            other => panic!("{other:?}"),
        }
    }

    async fn admin(&self) -> String {
        self.token("admin", Scope::Admin, &["*"]).await.secret
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("http://{}{path}", self.at))
    }

    fn by(&self, secret: &str, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.request(method, path).bearer_auth(secret)
    }

    /// Stops the server and says how it ended.
    async fn stop(mut self) -> Result<(), ServeError> {
        self.stop.take().unwrap().send(()).unwrap();
        self.ended.await.unwrap()
    }
}

/// Sends a request and reads the answer to its end.
async fn send(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
}

/// The path of a row with something in each place.
fn filled(path: &str) -> String {
    path.replace("{digest}", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        .replace("{owner}", "acme%2Fa")
        .replace("{version}", "1")
        .replace("{id}", "none")
        .replace("{memory}", "none")
}

fn word(verb: checkfu::model::op::Verb) -> &'static str {
    use checkfu::model::op::Verb;
    match verb {
        Verb::Get => "GET",
        Verb::Post => "POST",
        Verb::Delete => "DELETE",
    }
}
