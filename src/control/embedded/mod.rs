//! The rules of a workspace, in process, over one SQLite file: one writer, readers beside it.
//!
//! One function an operation. A write comes through `write::perform`, which frames it with the right to act,
//! the idempotency record, the audit fact and the receipt line; the writer thread commits several at once.

mod applies;
mod authoring;
mod backup;
mod blobs;
mod contents;
mod create;
mod digests;
mod error;
mod files;
mod fresh;
mod integrity;
mod journal;
mod lists;
mod memories;
mod memory;
mod memory_versions;
mod mounts;
mod paging;
mod publish;
mod read;
mod references;
mod represent;
mod retire;
mod rights;
mod skills;
mod snapshot;
mod store_versions;
mod tokens;
mod update;
mod wire;
mod write;
mod writer;

#[cfg(test)]
mod tests;

pub use backup::{BackedUp, Restored, backup, restore};
pub use fresh::OnFirstWrite;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{Context, OPERATIONS, Request, Response, TokenInfo};
use crate::store::{self, Conn, Database, Identity, New, Patience, StoreError};

/// Where time comes from.
pub type Clock = Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;

/// Where ids come from: each call another number.
pub type IdSource = Arc<dyn Fn() -> u128 + Send + Sync>;

/// What an embedded workspace is given from outside.
#[derive(Clone)]
pub struct EmbeddedOptions {
    /// Default: the system's clock.
    pub clock: Clock,
    /// Default: UUID v7.
    pub ids: IdSource,
    /// How long to wait for another process that holds the file. Default 30 s.
    pub busy_timeout: Duration,
    /// Called once a wait, as soon as it is more than a moment. Default: nobody is told.
    pub on_wait: Arc<dyn Fn() + Send + Sync>,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            clock: Arc::new(jiff::Timestamp::now),
            ids: Arc::new(|| uuid::Uuid::now_v7().as_u128()),
            busy_timeout: Duration::from_secs(30),
            on_wait: Arc::new(|| ()),
        }
    }
}

impl EmbeddedOptions {
    fn patience(&self) -> Patience {
        Patience { most: self.busy_timeout, told: Arc::clone(&self.on_wait) }
    }

    /// For tests: a clock that goes one second a call from 2026-01-01, ids that count up from a seed.
    pub fn seeded(seed: u64) -> Self {
        use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
        let second = AtomicI64::new(1_767_225_600);
        let number = AtomicU64::new(0);
        Self {
            clock: Arc::new(move || {
                jiff::Timestamp::from_second(second.fetch_add(1, Ordering::Relaxed)).unwrap_or_default()
            }),
            ids: Arc::new(move || (u128::from(seed) << 64) | u128::from(number.fetch_add(1, Ordering::Relaxed))),
            ..Self::default()
        }
    }
}

/// A workspace in one SQLite file. Dropping it ends its writer, after what is queued is done.
pub struct Embedded {
    inner: Arc<Readers>,
    queue: Option<mpsc::Sender<writer::Job>>,
    thread: Option<JoinHandle<()>>,
}

struct Readers {
    database: Database,
    identity: Identity,
    clock: Clock,
    idle: Mutex<Vec<Conn>>,
    /// The folder of a copy that is read, which goes with it.
    _copy: Option<tempfile::TempDir>,
}

impl Embedded {
    /// Opens the workspace at a path; makes the file, and its folder, when there is none.
    ///
    /// # Errors
    /// `store.*`: locked, newer, not a database, damaged, read-only, no space, cannot be opened.
    pub fn open(path: &Path, options: EmbeddedOptions) -> Result<Self, ControlError> {
        let (database, identity) = Database::open_or_create(path, &options.patience(), &new(&options))?;
        let conn = database.writer()?;
        Self::with(database, identity, conn, options)
    }

    /// Opens the workspace at a path; `None` when there is none. Never makes one. One that may not be written is
    /// opened to be read, and answers each write with `store.read_only`.
    ///
    /// # Errors
    /// As [`Embedded::open`].
    pub fn open_existing(path: &Path, options: EmbeddedOptions) -> Result<Option<Self>, ControlError> {
        let Some((database, identity)) = Database::open(path, options.patience())? else { return Ok(None) };
        if database.is_read_only() {
            let inner = Arc::new(Readers {
                database,
                identity,
                clock: options.clock,
                idle: Mutex::new(Vec::new()),
                _copy: None,
            });
            return Ok(Some(Self { inner, queue: None, thread: None }));
        }
        let conn = database.writer()?;
        Self::with(database, identity, conn, options).map(Some)
    }

    /// Opens the workspace at a path to read it; `None` when there is none. The file stays as it is: each write is
    /// answered with `store.read_only`, and of one of an older version a copy is brought up to date and read.
    ///
    /// # Errors
    /// As [`Embedded::open`].
    pub fn open_to_look(path: &Path, options: EmbeddedOptions) -> Result<Option<Self>, ControlError> {
        let Some(mut database) = Database::open_as_it_is(path, options.patience())? else { return Ok(None) };
        let mut copy = None;
        if database.is_older()? {
            let cannot = "the workspace is of an older version, and a copy of it to be read cannot be made";
            let folder = tempfile::tempdir().map_err(|e| StoreError::io(cannot, e))?;
            database = backup::up_to_date(&database, &folder.path().join("workspace.db"), &options)?;
            copy = Some(folder);
        }
        let identity = database.identity()?;
        let inner = Readers { database, identity, clock: options.clock, idle: Mutex::new(Vec::new()), _copy: copy };
        Ok(Some(Self { inner: Arc::new(inner), queue: None, thread: None }))
    }

    /// Can the workspace be written?
    ///
    /// # Errors
    /// `store.read_only`.
    pub fn may_write(&self) -> Result<(), ControlError> {
        if self.inner.database.is_read_only() { Err(self.inner.database.read_only().into()) } else { Ok(()) }
    }

    fn with(
        database: Database,
        identity: Identity,
        conn: Conn,
        options: EmbeddedOptions,
    ) -> Result<Self, ControlError> {
        let (queue, jobs) = mpsc::channel(64);
        let clock = Arc::clone(&options.clock);
        let patience = database.patience().clone();
        let thread = std::thread::Builder::new()
            .name("checkfu-writer".to_owned())
            .spawn(move || writer::run(conn, jobs, &options, &patience))
            .map_err(|e| {
                let mut error = stopped();
                error.source = Some(Box::new(e));
                error
            })?;
        let inner = Arc::new(Readers { database, identity, clock, idle: Mutex::new(Vec::new()), _copy: None });
        Ok(Self { inner, queue: Some(queue), thread: Some(thread) })
    }

    /// How many writes wait for the writer.
    pub fn queued(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity())
    }

    /// Bytes of the database and the log beside it.
    pub fn bytes(&self) -> u64 {
        self.inner.database.bytes()
    }

    /// The token of a secret, if it is known, not revoked, and not over now.
    ///
    /// # Errors
    /// `store.*`: the workspace cannot be read.
    pub async fn authenticate(&self, secret: &str, now: jiff::Timestamp) -> Result<Option<TokenInfo>, ControlError> {
        let hash = tokens::hash(secret);
        self.reading(move |readers| readers.with(|conn| tokens::find(conn, hash, now))).await
    }

    async fn write(&self, context: Context, request: Request) -> Result<Response, ControlError> {
        if let Request::BlobPut(put) = &request {
            blobs::check(put)?;
        }
        self.may_write()?;
        let digest = context.key.as_ref().map(|_| journal::request_digest(&context, &request));
        let (reply, answer) = oneshot::channel();
        let job = writer::Job { context, request, digest, reply };
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Reads on the thread that asks, where that is allowed: what a large answer leaves free is then of use to
    /// whoever reads it, and no second thread keeps as much.
    ///
    /// `block_in_place` hands the other tasks of the asking thread to another one, which needs a runtime of several
    /// threads: on a runtime of one thread it panics, so there the read goes to a thread for blocking work, and the
    /// one thread stays free. It also panics inside of a `LocalSet`, which nothing here makes. Without a runtime
    /// nobody else is kept waiting.
    async fn read(&self, request: Request) -> Result<Response, ControlError> {
        self.reading(move |readers| {
            readers.with(|conn| read::answer(conn, &readers.identity, &readers.clock, &request))
        })
        .await
    }

    async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Readers) -> Result<T, ControlError> + Send + 'static,
    ) -> Result<T, ControlError> {
        use tokio::runtime::{Handle, RuntimeFlavor};
        match Handle::try_current().map(|h| h.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| read(&self.inner)),
            Ok(_) => {
                let readers = Arc::clone(&self.inner);
                tokio::task::spawn_blocking(move || read(&readers)).await.map_err(|_| stopped())?
            }
            Err(_) => read(&self.inner),
        }
    }
}

impl Readers {
    fn with<T>(&self, read: impl FnOnce(&Conn) -> Result<T, ControlError>) -> Result<T, ControlError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.database.reader()?,
        };
        // One snapshot for all that a request reads. Another process may hold the file when it begins.
        let answer = match store::snapshot(&conn, self.database.patience()) {
            Ok(snapshot) => read(&snapshot),
            Err(e) => Err(e.into()),
        };
        let answer = answer.and_then(|answer| self.database.unchanged().map(|()| answer).map_err(ControlError::from));
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < 8 {
            idle.push(conn);
        }
        answer
    }
}

impl ControlPlane for Embedded {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        let name = request.name();
        let Some(operation) = OPERATIONS.iter().find(|o| o.name == name) else {
            let message = format!("there is no operation {name}");
            return Err(error::refused(&codes::UNKNOWN_OPERATION, message));
        };
        if operation.mutates { self.write(context.clone(), request).await } else { self.read(request).await }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has answered its callers by closing their channels.
            drop(thread.join());
        }
    }
}

/// What a new workspace is born with.
fn new(options: &EmbeddedOptions) -> New {
    New {
        id: wire::id_text("ws_", (options.ids)()),
        epoch: wire::id_text("epoch_", (options.ids)()),
        at: (options.clock)().to_string(),
    }
}

fn stopped() -> ControlError {
    ControlError::new(ErrorKind::Unavailable, codes::CONTROL_STOPPED.code, "the workspace is closed")
}
