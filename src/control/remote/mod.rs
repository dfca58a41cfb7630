//! A workspace that a server holds: the client of `checkfu serve`.
//!
//! ```text
//! request ─▶ encode ─▶ [ slot ─▶ send ─▶ read within bounds ─▶ decode ] ─▶ answer
//!                          ▲                                │
//!                          └── pause, if it may be repeated ┘
//! ```
//!
//! Repeating is here and nowhere above: a read, and a write under an idempotency key, is sent again while the
//! server does not answer or says that it cannot now. So one call makes at most [`Retry::times`] + 1 requests, and
//! a write without a key makes one.

mod exchange;
mod trouble;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::HeaderValue;
use reqwest::{Certificate, Client};
use tokio::sync::{Semaphore, watch};

use crate::control::remote::exchange::Message;
use crate::control::remote::trouble::{Failed, address, tls};
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::diag::codes::http as codes;
use crate::model::op::{Context, Request, Response};
use crate::net::{self, Base};

/// A text that is never shown: not by `Debug`, not in an error, not in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// When a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Times, after the first. Default 10: with the pauses below a server may be away for half a minute.
    pub times: usize,
    /// The same for as long as this server has answered nothing at all: then it is more likely not there than
    /// away. Default 2.
    pub unheard: usize,
    /// The first pause; each next one is twice as long, and up to twice that by chance, so that many clients do
    /// not come back at once. Default 100 ms.
    pub first: Duration,
    /// The longest pause, before chance. Default 5 s.
    pub longest: Duration,
    /// The longest pause that a server may ask for (`retry-after`); one that asks for more is not asked again.
    /// Default 60 s.
    pub patience: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            times: 10,
            unheard: 2,
            first: Duration::from_millis(100),
            longest: Duration::from_secs(5),
            patience: Duration::from_mins(1),
        }
    }
}

/// A request that is about to be sent again.
#[derive(Debug)]
pub struct Again<'a> {
    /// Its operation.
    pub operation: &'a str,
    /// What went wrong.
    pub error: &'a ControlError,
    /// When.
    pub after: Duration,
}

/// Told of each request that is sent again.
pub type OnRetry = Arc<dyn Fn(&Again<'_>) + Send + Sync>;

/// Where the server is, and how it is asked.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Base URL; may have a path, has neither user, query nor fragment. `http` only to this machine, see
    /// [`RemoteOptions::insecure`].
    pub url: String,
    /// The token.
    pub token: Secret,
    /// PEM: certificates that are trusted beside those of the system. Default none.
    pub ca: Option<Vec<u8>>,
    /// May the token go over plain HTTP to another machine? Default no.
    pub insecure: bool,
    /// Time to connect. Default 10 s.
    pub connect_time: Duration,
    /// Time from the first byte of a request to the last one of its answer, and a second more for each 64 KiB of
    /// its body. Default 75 s: the server itself gives up after 60.
    pub call_time: Duration,
    /// Requests at once; more wait. Default 10, at least 1.
    pub parallelism: usize,
    /// When a request is sent again.
    pub retry: Retry,
    /// Most bytes of an answer. Default 512 MiB.
    pub answer_bytes: usize,
    /// `user-agent`. Default `checkfu/VERSION`.
    pub user_agent: String,
    /// Becomes true when a person asks to stop: then nothing is sent again. Default: never.
    pub stop: Option<watch::Receiver<bool>>,
    /// Told of each request that is sent again. Default: nobody is.
    pub on_retry: OnRetry,
}

impl RemoteOptions {
    /// The defaults for a server.
    pub fn new(url: impl Into<String>, token: Secret) -> Self {
        Self {
            url: url.into(),
            token,
            ca: None,
            insecure: false,
            connect_time: Duration::from_secs(10),
            call_time: Duration::from_secs(75),
            parallelism: 10,
            retry: Retry::default(),
            answer_bytes: 512 << 20,
            user_agent: concat!("checkfu/", env!("CARGO_PKG_VERSION")).to_owned(),
            stop: None,
            on_retry: Arc::new(|_| ()),
        }
    }
}

impl std::fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteOptions").field("url", &self.url).field("token", &self.token).finish_non_exhaustive()
    }
}

/// A workspace behind a server. Connections are kept and shared by all calls.
pub struct Remote {
    client: Client,
    base: Base,
    token: HeaderValue,
    options: RemoteOptions,
    slots: Semaphore,
    heard: AtomicBool,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("base", &self.base.text()).finish_non_exhaustive()
    }
}

impl Remote {
    /// Takes the options; nothing is sent yet.
    ///
    /// # Errors
    /// `remote.address`: the URL. `remote.token`: the token is no token. `remote.tls`: the certificates.
    pub fn new(options: RemoteOptions) -> Result<Self, ControlError> {
        let base = Base::parse(&options.url, options.insecure).map_err(|e| address(&e))?;
        let token = bearer(&options.token)?;
        let mut builder = net::client(&base, options.connect_time)
            .user_agent(&options.user_agent)
            .pool_max_idle_per_host(options.parallelism.max(1));
        if let Some(pem) = options.ca.as_ref().filter(|_| base.is_tls()) {
            let unusable = |e| tls("the certificates of `ca` cannot be read", e);
            let certificates = Certificate::from_pem_bundle(pem).map_err(unusable)?;
            if certificates.is_empty() {
                let message = "`ca` holds no certificate in PEM";
                return Err(ControlError::new(ErrorKind::Invalid, codes::REMOTE_TLS.code, message));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        let client = builder.build().map_err(|e| tls("TLS cannot be used", e))?;
        let slots = Semaphore::new(options.parallelism.max(1));
        Ok(Self { client, base, token, options, slots, heard: AtomicBool::new(false) })
    }

    /// The URL, as a plan may name it: it holds no secret.
    pub fn url(&self) -> &str {
        self.base.text()
    }

    /// The same, with its connections, where a person may ask to stop from now on: see [`RemoteOptions::stop`].
    #[must_use]
    pub fn until(mut self, stop: watch::Receiver<bool>) -> Self {
        self.options.stop = Some(stop);
        self
    }

    fn stopped(&self) -> bool {
        self.options.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }

    /// How often a request may be sent again now.
    fn times(&self) -> usize {
        let Retry { times, unheard, .. } = self.options.retry;
        if self.heard.load(Ordering::Relaxed) { times } else { times.min(unheard) }
    }
}

impl ControlPlane for Remote {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        let may_repeat = context.key.is_some() || !request.operation().mutates;
        let message = Message::new(&self.base, context, request)?;
        let Retry { times, first, longest, patience, .. } = self.options.retry;
        let pauses = ExponentialBuilder::new()
            .with_jitter()
            .with_factor(2.0)
            .with_min_delay(first)
            .with_max_delay(longest)
            .with_max_times(times);
        let tried = AtomicUsize::new(0);
        (|| self.attempt(&message))
            .retry(pauses)
            .when(|failed: &Failed| {
                let again = may_repeat && failed.again && !self.stopped();
                again && failed.after.is_none_or(|after| after <= patience) && {
                    tried.fetch_add(1, Ordering::Relaxed) < self.times()
                }
            })
            .adjust(|failed, pause| pause.map(|pause| pause.max(failed.after.unwrap_or_default())))
            .notify(|failed, after| {
                (self.options.on_retry)(&Again { operation: message.operation(), error: &failed.error, after });
            })
            .await
            .map_err(|failed| failed.error)
    }
}

/// The header that carries the token.
fn bearer(token: &Secret) -> Result<HeaderValue, ControlError> {
    let Secret(text) = token;
    net::bearer(text).ok_or_else(|| {
        let message = "the token is empty, or has characters that no token has";
        ControlError::new(ErrorKind::Permission, codes::REMOTE_TOKEN.code, message)
    })
}
