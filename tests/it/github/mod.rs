//! A GitHub on loopback with a state of its own: issues, comments, labels, pull requests, and a real Git repository
//! behind the Git Data API. It keeps GitHub's limits, refuses as GitHub refuses, fails as a script says, and keeps every
//! request that it was sent.

mod git;
mod graphql;
mod routes;
mod shapes;
mod world;

use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use serde_json::Value;
use tokio::sync::oneshot;

pub(crate) use world::{Actor, Comment, Issue, World};

/// The token that a job has, of `github-actions[bot]`.
pub(crate) const JOB: &str = "ghs_job";
/// The repository.
pub(crate) const REPOSITORY: &str = "acme/agents";

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Asked {
    /// `METHOD /path`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Does it change something?
    pub(crate) fn writes(&self) -> bool {
        let query = self.body["query"].as_str().is_some_and(|q| q.starts_with("query"));
        self.method != "GET" && !query
    }
}

/// What happens to a request instead of what should.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// This answer, with these headers.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// The connection ends; nothing was done.
    Cut,
    /// What was asked is done, and the connection ends before the answer.
    CutAfter,
    /// Nothing, for ever.
    Silence,
}

impl Fault {
    /// A refusal in GitHub's form.
    pub(crate) fn status(status: u16, message: &str) -> Self {
        Self::Answer(status, Vec::new(), serde_json::json!({ "message": message }).to_string())
    }

    /// A limit that ends in `seconds`.
    pub(crate) fn limit(status: u16, seconds: u64) -> Self {
        let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
        let body = serde_json::json!({ "message": message }).to_string();
        Self::Answer(status, vec![("retry-after", seconds.to_string())], body)
    }
}

struct Script {
    /// Beginning of `METHOD /path`; a `*` at its front: anywhere in it.
    of: String,
    times: usize,
    fault: Fault,
}

/// What a test does while a request is on its way.
type Meanwhile = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Book {
    asked: Vec<Asked>,
    scripts: Vec<Script>,
    meanwhile: Vec<(String, Meanwhile)>,
}

impl Book {
    /// Keeps a request, and says what goes wrong with it.
    fn note(&mut self, asked: Asked) -> Option<Fault> {
        let line = asked.line();
        self.asked.push(asked);
        let fits = |of: &str| of.strip_prefix('*').map_or(line.starts_with(of), |part| line.contains(part));
        if let Some(at) = self.meanwhile.iter().position(|(of, _)| fits(of)) {
            self.meanwhile.remove(at).1();
        }
        let script = self.scripts.iter_mut().find(|s| s.times > 0 && fits(&s.of))?;
        script.times -= 1;
        Some(script.fault.clone())
    }
}

struct Shared {
    world: Mutex<World>,
    book: Mutex<Book>,
}

/// A GitHub that runs until it is dropped.
pub(crate) struct Fake {
    url: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Fake {
    /// Listens on a port that the kernel chose. The repository has one commit on `main`.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { world: Mutex::new(World::new(&url)), book: Mutex::default() });
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let router = Router::new().fallback(answer).with_state(state);
                let server = axum::serve(listener, router);
                tokio::select! {
                    end = async { server.await } => end.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Self { url, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The base URL of its REST API; GraphQL is below `/graphql`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its state.
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world.lock().unwrap()
    }

    /// The next `times` requests whose `METHOD /path` begins with `of` (`*text`: holds it) fail so.
    pub(crate) fn fail(&self, of: &str, times: usize, fault: Fault) {
        self.shared.book.lock().unwrap().scripts.push(Script { of: of.to_owned(), times, fault });
    }

    /// Does something when the next such request comes, before it is answered.
    pub(crate) fn meanwhile(&self, of: &str, then: impl FnOnce() + Send + 'static) {
        self.shared.book.lock().unwrap().meanwhile.push((of.to_owned(), Box::new(then)));
    }

    /// Nothing fails any more.
    pub(crate) fn mend(&self) {
        self.shared.book.lock().unwrap().scripts.clear();
    }

    /// What was asked since it was last read.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        std::mem::take(&mut self.shared.book.lock().unwrap().asked)
    }

    /// `METHOD /path` of what was asked and changes something, since it was last read.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.requests().iter().filter(|asked| asked.writes()).map(Asked::line).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is answered.
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Answer {
    fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: Vec::new(), body: if status == 204 { String::new() } else { body.to_string() } }
    }

    fn refuse(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &serde_json::json!({
                "message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string(),
            }),
        )
    }

    fn response(self) -> Response<Body> {
        let mut response =
            Response::builder().status(self.status).header("content-type", "application/json; charset=utf-8");
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(Body::from(self.body)).unwrap()
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let path = uri.path_and_query().unwrap().as_str().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let asked = Asked { method: method.to_string(), path, headers, body };
    let fault = shared.book.lock().unwrap().note(asked.clone());
    match fault {
        None => shared.world.lock().unwrap().answer(&asked).response(),
        Some(Fault::Answer(status, headers, body)) => Answer { status, headers, body }.response(),
        Some(Fault::Cut) => cut(),
        Some(Fault::CutAfter) => {
            drop(shared.world.lock().unwrap().answer(&asked));
            cut()
        }
        Some(Fault::Silence) => std::future::pending().await,
    }
}

/// An answer that promises more than comes.
fn cut() -> Response<Body> {
    let broken = futures_util::stream::once(async { Err::<Bytes, _>(std::io::Error::other("cut")) });
    Response::builder().status(200).header("content-length", "100").body(Body::from_stream(broken)).unwrap()
}

/// For scripts outside of the tests: prints the address of the REST API and serves until its input ends.
#[test]
#[ignore = "serves until its input ends"]
fn serve() {
    let fake = Fake::start();
    println!("listening on {}", fake.url());
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}
