//! Opens and makes the file. A kill at any point of making it leaves no database, or a good one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use crate::store::error::{StoreError, Trouble};
use crate::store::{leftover, migrate};

/// What a new workspace is born with.
pub(crate) struct New {
    /// Workspace id.
    pub(crate) id: String,
    /// Its epoch.
    pub(crate) epoch: String,
    /// When (RFC 3339, UTC).
    pub(crate) at: String,
}

/// Which workspace a file holds.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// Workspace id.
    pub(crate) id: String,
    /// Drawn anew by a restore.
    pub(crate) epoch: String,
}

/// A database file that was checked; hands out connections.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    path: PathBuf,
    busy: Duration,
}

impl Database {
    /// Opens an existing file; `None` if there is none.
    pub(crate) fn open(path: &Path, busy: Duration) -> Result<Option<(Self, Identity)>, StoreError> {
        let cannot = |e| StoreError::io(format!("{} cannot be opened", path.display()), e);
        match fs::metadata(path) {
            Ok(found) => check_kinds(&found, path).map_err(|e| e.at(path))?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(cannot(e)),
        }
        let file = File::open(path).map_err(cannot)?;
        check_header(file, path).map_err(|e| e.at(path))?;
        let database = Self { path: path.to_owned(), busy };
        // The file could be opened to read: it is what SQLite keeps beside it that cannot be made.
        let beside = |mut e: StoreError| {
            if e.trouble == Trouble::CannotOpen {
                e.trouble = Trouble::ReadOnly;
            }
            e.at(path)
        };
        let identity = database.prepare().map_err(beside)?;
        Ok(Some((database, identity)))
    }

    /// Opens a file, or makes it when there is none.
    pub(crate) fn open_or_create(path: &Path, busy: Duration, new: &New) -> Result<(Self, Identity), StoreError> {
        leftover::sweep(folder_of(path));
        if let Some(found) = Self::open(path, busy)? {
            return Ok(found);
        }
        create(path, new)?;
        Self::open(path, busy)?.ok_or_else(|| {
            StoreError::new(Trouble::CannotOpen, format!("{} went away while it was opened", path.display()))
        })
    }

    fn prepare(&self) -> Result<Identity, StoreError> {
        let mut conn = self.writer()?;
        migrate::migrate(&mut conn)?;
        let row = |r: &rusqlite::Row<'_>| Ok(Identity { id: r.get(0)?, epoch: r.get(1)? });
        Ok(conn.query_row("SELECT id, epoch FROM workspace", [], row)?)
    }

    /// The connection that writes.
    pub(crate) fn writer(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        self.configure(&conn)?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "cache_size", -32_768)?;
        // What is deleted for good (a redacted memory, a deleted file) is overwritten in the file.
        conn.pragma_update(None, "secure_delete", true)?;
        if conn.is_readonly("main")? {
            return Err(StoreError::new(Trouble::ReadOnly, "the workspace cannot be written"));
        }
        Ok(conn)
    }

    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        self.configure(&conn)?;
        conn.pragma_update(None, "query_only", true)?;
        Ok(conn)
    }

    fn configure(&self, conn: &Connection) -> Result<(), StoreError> {
        conn.busy_timeout(self.busy)?;
        conn.set_prepared_statement_cache_capacity(128);
        conn.pragma_update(None, "trusted_schema", false)?;
        Ok(())
    }
}

/// Refuses what would be waited on, or is no file at all: the workspace, and what SQLite keeps beside it.
fn check_kinds(found: &fs::Metadata, path: &Path) -> Result<(), StoreError> {
    if !found.is_file() {
        let what = if found.is_dir() { "this is a folder" } else { "this is no regular file" };
        return Err(StoreError::new(Trouble::NotADatabase, what));
    }
    for suffix in ["-wal", "-shm", "-journal"] {
        let side = beside(path, suffix);
        if fs::symlink_metadata(&side).is_ok_and(|m| !m.is_file()) {
            let what = format!("{} beside it is no regular file", side.display());
            return Err(StoreError::new(Trouble::CannotOpen, what));
        }
    }
    Ok(())
}

/// Refuses what is no whole workspace before SQLite touches it.
fn check_header(mut file: File, path: &Path) -> Result<(), StoreError> {
    let unreadable = |e| StoreError::io("it cannot be read", e);
    let length = file.metadata().map_err(unreadable)?.len();
    let mut header = Vec::with_capacity(100);
    (&mut file).take(100).read_to_end(&mut header).map_err(unreadable)?;
    if header.is_empty() {
        return Err(StoreError::new(Trouble::Damaged, "the file is empty; a workspace never is"));
    }
    let magic = b"SQLite format 3\0";
    if !header.starts_with(&magic[..magic.len().min(header.len())]) {
        return Err(StoreError::new(Trouble::NotADatabase, "this is not a workspace database"));
    }
    if header.len() < 100 {
        return Err(StoreError::new(Trouble::Damaged, "the file is truncated"));
    }
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if word(68) != migrate::APPLICATION_ID {
        return Err(StoreError::new(Trouble::NotADatabase, "this is a database of another program"));
    }
    if word(60) > migrate::newest() {
        let (have, newest) = (word(60), migrate::newest());
        let what = format!("the workspace has schema {have}, this checkfu knows up to {newest}");
        return Err(StoreError::new(Trouble::Newer, what));
    }
    // With a write-ahead log beside it, pages may rightly be missing from the file itself.
    let page = match u64::from(word(16) >> 16) {
        1 => 65_536,
        size => size,
    };
    let logged = fs::metadata(beside(path, "-wal")).is_ok_and(|m| m.len() > 0);
    if !logged && length < page * u64::from(word(28)) {
        return Err(StoreError::new(Trouble::Damaged, "the file is truncated"));
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the whole database under another name, then gives it its own: never a half one at `path`.
fn create(path: &Path, new: &New) -> Result<(), StoreError> {
    let folder = folder_of(path);
    let cannot = |e| StoreError::io(format!("{} cannot be made", path.display()), e);
    fs::create_dir_all(folder).map_err(cannot)?;
    // The temporary file is made with mode 0600, and keeps it.
    let temporary = leftover::make(folder).map_err(cannot)?;
    fill(temporary.path(), new).map_err(|e| e.at(path))?;
    temporary.as_file().sync_all().map_err(cannot)?;
    match temporary.persist_noclobber(path) {
        Ok(_) => {}
        // Another process made it first: theirs is the workspace.
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(e) => return Err(cannot(e.error)),
    }
    #[cfg(unix)]
    File::open(folder).and_then(|f| f.sync_all()).map_err(cannot)?;
    Ok(())
}

/// An empty workspace in memory: how one reads that is not made yet.
pub(crate) fn empty(new: &New) -> Result<(Connection, Identity), StoreError> {
    let mut conn = Connection::open_in_memory()?;
    be_born(&mut conn, new)?;
    Ok((conn, Identity { id: new.id.clone(), epoch: new.epoch.clone() }))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

fn fill(path: &Path, new: &New) -> Result<(), StoreError> {
    let mut conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // No journal beside a temporary name: it is thrown away when anything fails.
    conn.query_row("PRAGMA journal_mode = MEMORY", [], |_| Ok(()))?;
    be_born(&mut conn, new)?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.close().map_err(|(_, e)| e)?;
    Ok(())
}

fn be_born(conn: &mut Connection, new: &New) -> Result<(), StoreError> {
    migrate::migrate(conn)?;
    conn.execute(
        "INSERT INTO workspace (one, id, epoch, created_at) VALUES (1, ?1, ?2, ?3)",
        params![new.id, new.epoch, new.at],
    )?;
    Ok(())
}
