//! The workspace over HTTP: one handler for every row of the OPERATIONS table.
//!
//! ```text
//! request ─▶ route ─▶ authenticate ─▶ authorize ─▶ body (within limits) ─▶ decode ─▶ call ─▶ encode ─▶ answer
//! ```
//!
//! No operation has code of its own here but those whose bodies are no JSON: uploads and the archive of a skill.

mod answer;
mod archive;
mod auth;
mod body;
mod guard;
mod line;
mod metrics;
pub mod openapi;
mod operation;
mod upload;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::Response;
use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use tokio::sync::Semaphore;

use crate::control::embedded::Embedded;
use crate::server::guard::Guard;
use crate::server::metrics::Metrics;

/// What the server takes at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; one more is closed. Default 1,024.
    pub connections: usize,
    /// Requests in work at once; one more is answered 529. Default 256.
    pub requests: usize,
    /// Bytes of all bodies that are held in memory at once. Default 1 GiB.
    pub memory: usize,
    /// Bytes of request line and headers together. Default 64 KiB.
    pub head_bytes: usize,
    /// Bytes of path and query. Default 32 KiB.
    pub path_bytes: usize,
    /// Bytes of a JSON body. Default 32,000,000.
    pub json_bytes: usize,
    /// Levels of a JSON body. Default 100.
    pub json_depth: usize,
    /// Values in a JSON body. Default 1,000,000.
    pub json_values: usize,
    /// Bytes of a file or blob. Default 500,000,000.
    pub blob_bytes: usize,
    /// Bytes of all files of a skill, and of the zip that they come in. Default 30,000,000.
    pub skill_bytes: usize,
    /// Files of a skill. Default 2,000.
    pub skill_files: usize,
    /// Time for a connection to say what it speaks, and for the head of a request. Default 15 s.
    pub head_time: Duration,
    /// Time for a JSON body to arrive. Default 30 s.
    pub json_time: Duration,
    /// Time for an upload to arrive. Default 15 min.
    pub upload_time: Duration,
    /// Time for an operation. Default 60 s.
    pub call_time: Duration,
    /// Time in which a client must take some bytes of an answer. Default 60 s.
    pub stall_time: Duration,
    /// Time for requests in work to end when the server stops. Default 20 s.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            requests: 256,
            memory: 1 << 30,
            head_bytes: 64 << 10,
            path_bytes: 32 << 10,
            json_bytes: 32_000_000,
            json_depth: 100,
            json_values: 1_000_000,
            blob_bytes: 500_000_000,
            skill_bytes: 30_000_000,
            skill_files: 2_000,
            head_time: Duration::from_secs(15),
            json_time: Duration::from_secs(30),
            upload_time: Duration::from_mins(15),
            call_time: Duration::from_mins(1),
            stall_time: Duration::from_mins(1),
            grace: Duration::from_secs(20),
        }
    }
}

/// A certificate chain and its key.
#[derive(Clone)]
pub struct Tls {
    /// PEM: the server's certificate first.
    pub certificate: Vec<u8>,
    /// PEM.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

/// Where and how to serve.
#[derive(Debug)]
pub struct ServeOptions {
    /// Bound already, so that whoever asked for port 0 knows the port.
    pub listener: std::net::TcpListener,
    /// `None`: plain HTTP.
    pub tls: Option<Tls>,
    /// What is taken at most.
    pub limits: Limits,
}

/// The server did not start, or ended otherwise than by being stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Certificate or key.
    #[error("certificate or key cannot be used")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The listener.
    #[error("the server cannot listen")]
    Listen(#[source] std::io::Error),
}

/// What every request works with.
struct App {
    embedded: Arc<Embedded>,
    limits: Limits,
    metrics: Metrics,
    /// Requests in work.
    slots: Arc<Semaphore>,
    /// Memory for bodies, in units of [`body::UNIT`].
    memory: Arc<Semaphore>,
}

/// The API as a service, without a listener: for tests in process.
pub fn router(embedded: Arc<Embedded>, limits: Limits) -> Router {
    let app = App {
        metrics: Metrics::new(),
        slots: Arc::new(Semaphore::new(limits.requests)),
        memory: Arc::new(Semaphore::new(limits.memory / body::UNIT)),
        embedded,
        limits,
    };
    // Every body is read within a limit of its own.
    Router::new().fallback(handle).layer(DefaultBodyLimit::disable()).with_state(Arc::new(app))
}

async fn handle(State(app): State<Arc<App>>, request: Request) -> Response {
    answer::answer(app, request).await
}

/// Serves until `stop` is ready; then takes nothing new, lets what is in work end within [`Limits::grace`], and
/// returns.
///
/// # Errors
/// [`ServeError`]: certificate or key, or the listener.
pub async fn serve(
    embedded: Arc<Embedded>,
    options: ServeOptions,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let ServeOptions { listener, tls, limits } = options;
    let config = tls.as_ref().map(tls_config).transpose()?;
    listener.set_nonblocking(true).map_err(ServeError::Listen)?;
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(listener).map_err(ServeError::Listen)?.handle(handle.clone());
    let builder = server.http_builder();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes.max(8 << 10));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(128)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20));
    let grace = limits.grace;
    let stopper = tokio::spawn(async move {
        stop.await;
        handle.graceful_shutdown(Some(grace));
    });
    let guard = Guard::new(&limits);
    let service = router(embedded, limits).into_make_service();
    let ended = match config {
        None => server.acceptor(guard.around(NoDelayAcceptor::new())).serve(service).await,
        Some(config) => {
            let tls = RustlsAcceptor::new(config).acceptor(NoDelayAcceptor::new());
            server.acceptor(guard.around(tls)).serve(service).await
        }
    };
    stopper.abort();
    ended.map_err(ServeError::Listen)
}

fn tls_config(tls: &Tls) -> Result<RustlsConfig, ServeError> {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let wrong = |e: rustls::pki_types::pem::Error| ServeError::Tls(Box::new(e));
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&tls.certificate).collect::<Result<_, _>>().map_err(wrong)?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(wrong)?;
    let refused = |e: rustls::Error| ServeError::Tls(Box::new(e));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|b| b.with_no_client_auth().with_single_cert(chain, key))
        .map_err(refused)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(Arc::new(config)))
}
