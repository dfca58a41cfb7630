//! The rows of a workspace in one SQLite file: opening it, its schema, and reading and writing each table.
//! No rule of the product is here; those are in `control::embedded`.

pub(crate) mod apply;
pub(crate) mod document;
pub(crate) mod epoch;
mod error;
pub(crate) mod fact;
pub(crate) mod file;
pub(crate) mod idempotency;
mod leftover;
pub(crate) mod memory;
pub(crate) mod memory_version;
mod migrate;
mod open;
pub(crate) mod owner;
pub(crate) mod reference;
pub(crate) mod resource;
mod sql;
pub(crate) mod version;

pub use error::{StoreError, Trouble};
pub(crate) use open::{Database, Identity, New, empty};

/// A connection. Rules pass it on and never write SQL.
pub(crate) type Conn = rusqlite::Connection;

/// A transaction that takes the write lock at once and holds a savepoint for each request.
pub(crate) type Batch<'a> = rusqlite::Transaction<'a>;

/// Begins a batch; waits for another process that writes, as long as the busy timeout says.
pub(crate) fn begin(conn: &mut Conn) -> Result<Batch<'_>> {
    Ok(conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?)
}

/// Takes what was deleted out of the log beside the database too. Where a reader holds the log, the next checkpoint
/// does it. `busy` is put back as the busy timeout.
pub(crate) fn scrub(conn: &Conn, busy: std::time::Duration) -> Result<()> {
    conn.busy_timeout(std::time::Duration::ZERO)?;
    let done = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    conn.busy_timeout(busy)?;
    Ok(done?)
}

/// What every row function answers.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;
