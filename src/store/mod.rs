//! The rows of a workspace in one SQLite file: opening it, its schema, and reading and writing each table.
//! No rule of the product is here; those are in `control::embedded`.

pub(crate) mod apply;
mod backup;
pub(crate) mod document;
mod error;
pub(crate) mod fact;
pub(crate) mod file;
pub(crate) mod holding;
pub(crate) mod idempotency;
mod leftover;
pub(crate) mod memory;
pub(crate) mod memory_version;
mod migrate;
mod open;
pub(crate) mod owner;
mod patience;
pub(crate) mod reference;
pub(crate) mod resource;
mod sql;
pub(crate) mod token;
pub(crate) mod version;

pub(crate) use backup::Copied;
pub use error::{StoreError, Trouble};
#[cfg(test)]
pub(crate) use open::create_older;
pub(crate) use open::{Database, Identity, New, empty, identity, set_epoch};
pub(crate) use patience::Patience;

/// A connection. Rules pass it on and never write SQL.
pub(crate) type Conn = rusqlite::Connection;

/// A transaction that takes the write lock at once and holds a savepoint for each request.
pub(crate) type Batch<'a> = rusqlite::Transaction<'a>;

/// Begins a batch; waits for another process that writes.
pub(crate) fn begin<'a>(conn: &'a mut Conn, patience: &Patience) -> Result<Batch<'a>> {
    let conn: &'a Conn = conn;
    patience.wait(|| Ok(Batch::new_unchecked(conn, rusqlite::TransactionBehavior::Immediate)?))
}

/// Begins to read: all that is read in it is of one state. Waits for another process that lets nobody read.
pub(crate) fn snapshot<'a>(conn: &'a Conn, patience: &Patience) -> Result<Batch<'a>> {
    patience.wait(|| {
        let snapshot = conn.unchecked_transaction()?;
        // The first look at the file is what takes the lock.
        snapshot.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
        Ok(snapshot)
    })
}

/// Takes what was deleted out of the log beside the database too. Where a reader holds the log, the next checkpoint
/// does it.
pub(crate) fn scrub(conn: &Conn, patience: &Patience) -> Result<()> {
    conn.busy_timeout(std::time::Duration::ZERO)?;
    let done = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    conn.busy_timeout(patience.moment())?;
    Ok(done?)
}

/// What every row function answers.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;
