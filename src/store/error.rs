//! The one place that reads SQLite's error codes.

use rusqlite::ErrorCode;

/// The class of a store error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Another process holds the lock for longer than the busy timeout.
    Locked,
    /// The schema is of a newer checkfu.
    Newer,
    /// Some other file, or a database of another program.
    NotADatabase,
    /// Truncated or overwritten.
    Damaged,
    /// The file or its folder cannot be written.
    ReadOnly,
    /// The disk, a quota or the file size limit is full.
    NoSpace,
    /// It cannot be opened: no such folder, no right.
    CannotOpen,
    /// A uniqueness rule of the schema spoke.
    Taken,
    /// Anything else.
    Io,
}

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    /// Class.
    pub trouble: Trouble,
    /// What could not be done.
    pub what: String,
    /// SQLite's or the system's word.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error without a cause.
    pub(crate) fn new(trouble: Trouble, what: impl Into<String>) -> Self {
        Self { trouble, what: what.into(), source: None }
    }

    /// An error of the file system.
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let trouble = match source.kind() {
            K::PermissionDenied | K::ReadOnlyFilesystem => Trouble::ReadOnly,
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => Trouble::NoSpace,
            K::NotFound | K::NotADirectory => Trouble::CannotOpen,
            _ => Trouble::Io,
        };
        Self { trouble, what: what.into(), source: Some(Box::new(source)) }
    }

    /// Puts the file's name in front.
    pub(crate) fn at(mut self, path: &std::path::Path) -> Self {
        self.what = format!("{}: {}", path.display(), self.what);
        self
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        let code = source.sqlite_error_code();
        let (trouble, what) = match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (Trouble::Locked, "another process holds the workspace locked")
            }
            Some(ErrorCode::NotADatabase) => (Trouble::NotADatabase, "this is not a workspace database"),
            Some(ErrorCode::DatabaseCorrupt) => (Trouble::Damaged, "the workspace database is damaged"),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                (Trouble::ReadOnly, "the workspace cannot be written")
            }
            Some(ErrorCode::DiskFull) => (Trouble::NoSpace, "there is no space left for the workspace"),
            Some(ErrorCode::TooBig) => (Trouble::NoSpace, "a value is too big for the workspace"),
            Some(ErrorCode::CannotOpen) => (Trouble::CannotOpen, "the workspace cannot be opened"),
            Some(ErrorCode::ConstraintViolation) => (Trouble::Taken, "it is taken"),
            Some(ErrorCode::SystemIoFailure) if is_write_failure(&source) => {
                (Trouble::NoSpace, "the workspace file cannot grow: the disk is full or a size limit is reached")
            }
            // Every statement was tested against the schema: when one does not fit, the file is what is wrong.
            Some(ErrorCode::Unknown) => (Trouble::Damaged, "the workspace database lacks a part of its schema"),
            None if is_wrong_content(&source) => (Trouble::Damaged, "the workspace holds what checkfu never writes"),
            _ => (Trouble::Io, "the workspace cannot be read or written"),
        };
        Self { trouble, what: what.to_owned(), source: Some(Box::new(source)) }
    }
}

/// A row that must be there is not, or a value is of another type than the schema says.
fn is_wrong_content(source: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        source,
        E::QueryReturnedNoRows
            | E::InvalidColumnType(..)
            | E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::Utf8Error(..)
    )
}

/// `SQLITE_IOERR_WRITE` and its like: what SQLite says when a write fails with EFBIG.
fn is_write_failure(source: &rusqlite::Error) -> bool {
    const WRITE: i32 = 0x30a;
    const TRUNCATE: i32 = 0x60a;
    const SHM_SIZE: i32 = 0x130a;
    source.sqlite_error().is_some_and(|e| matches!(e.extended_code, WRITE | TRUNCATE | SHM_SIZE))
}
