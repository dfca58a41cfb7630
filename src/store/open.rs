//! Opens and makes the file. A kill at any point of making it leaves no database, or a good one. One that cannot be
//! written is opened to be read, and stays as it is to the last byte.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};

use crate::store::error::{StoreError, Trouble};
use crate::store::patience::Patience;
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
    /// When it was made (RFC 3339, UTC).
    pub(crate) created_at: String,
}

/// A database file that was checked; hands out connections.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    path: PathBuf,
    patience: Patience,
    access: Access,
}

/// What SQLite keeps beside a database, by the ends of the names.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How the file may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Access {
    /// Read and written.
    Write,
    /// Read, and left as it is though it could be written: also a log that a killed process left stays one.
    Look {
        /// Is there a log with something in it?
        logged: bool,
    },
    /// Read beside a process that writes: its log and its index of that are there.
    Read,
    /// Read where SQLite can keep nothing beside the file. Nobody has it open, or it would not look like this.
    Alone(Looks),
}

/// What tells that a file was written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Looks {
    length: u64,
    written: Option<SystemTime>,
    logged: bool,
}

impl Database {
    /// Opens an existing file; `None` if there is none. One that may not be written can be read;
    /// [`Database::is_read_only`] says so.
    pub(crate) fn open(path: &Path, patience: Patience) -> Result<Option<(Self, Identity)>, StoreError> {
        let Some(mut database) = Self::found(path, patience)? else { return Ok(None) };
        // A file that may not be written is not tried: SQLite would leave files beside it.
        let written = match fs::OpenOptions::new().write(true).open(path) {
            Ok(_) => database.prepare(),
            Err(e) => Err(StoreError::io("the workspace cannot be written", e)),
        };
        let identity = match written {
            // The file could be opened to read: it is what SQLite keeps beside it that cannot be made.
            Err(e) if matches!(e.trouble, Trouble::ReadOnly | Trouble::CannotOpen) => {
                database.access = Access::to_read(path).map_err(|e| e.at(path))?;
                database.identity()
            }
            prepared => prepared,
        };
        Ok(Some((database, identity.map_err(|e| e.at(path))?)))
    }

    /// A file that looks like a workspace; `None` if there is none.
    fn found(path: &Path, patience: Patience) -> Result<Option<Self>, StoreError> {
        let cannot = |e| StoreError::io(format!("{} cannot be opened", path.display()), e);
        match fs::metadata(path) {
            Ok(found) => check_kinds(&found, path).map_err(|e| e.at(path))?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(cannot(e)),
        }
        let file = File::open(path).map_err(cannot)?;
        check_header(file, path).map_err(|e| e.at(path))?;
        Ok(Some(Self { path: path.to_owned(), patience, access: Access::Write }))
    }

    /// Opens an existing file to read or copy it, whatever its schema; `None` if there is none. It stays as it is to
    /// the last byte; [`Database::is_older`] says whether it has to be copied to be read.
    pub(crate) fn open_as_it_is(path: &Path, patience: Patience) -> Result<Option<Self>, StoreError> {
        let Some(mut database) = Self::found(path, patience)? else { return Ok(None) };
        database.access = Access::Look { logged: Looks::of(path).map_err(|e| e.at(path))?.logged };
        // With a log beside it SQLite has to be able to write, or somebody who can has it open.
        if fs::OpenOptions::new().write(true).open(path).is_err() || database.looks_at().is_err() {
            database.access = Access::to_read(path).map_err(|e| e.at(path))?;
        }
        Ok(Some(database))
    }

    /// Has it an older schema than this program reads?
    pub(crate) fn is_older(&self) -> Result<bool, StoreError> {
        self.patience.wait(|| migrate::is_older(&self.reader()?)).map_err(|e| e.at(&self.path))
    }

    fn looks_at(&self) -> Result<(), StoreError> {
        self.patience.wait(|| Ok(self.reader()?.query_row("PRAGMA schema_version", [], |_| Ok(()))?))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file, or makes it when there is none.
    pub(crate) fn open_or_create(path: &Path, patience: &Patience, new: &New) -> Result<(Self, Identity), StoreError> {
        leftover::sweep(folder_of(path));
        if let Some(found) = Self::open(path, patience.clone())? {
            return Ok(found);
        }
        create(path, new)?;
        Self::open(path, patience.clone())?.ok_or_else(|| {
            StoreError::new(Trouble::CannotOpen, format!("{} went away while it was opened", path.display()))
        })
    }

    /// May it be read alone?
    pub(crate) fn is_read_only(&self) -> bool {
        self.access != Access::Write
    }

    /// The error of a write to a workspace that may be read alone.
    pub(crate) fn read_only(&self) -> StoreError {
        StoreError::new(Trouble::ReadOnly, "the file or its folder is read-only for this user").at(&self.path)
    }

    /// How long to wait for others.
    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    fn prepare(&self) -> Result<Identity, StoreError> {
        self.patience.wait(|| {
            let mut conn = self.writer()?;
            migrate::migrate(&mut conn)?;
            // A backup that is opened in its place, and what a killed restore left, have no log yet.
            conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            identity(&conn)
        })
    }

    /// Which workspace a file holds that is not to be brought to the newest schema.
    pub(crate) fn identity(&self) -> Result<Identity, StoreError> {
        self.patience.wait(|| {
            let conn = self.reader()?;
            migrate::is_newest(&conn)?;
            identity(&conn)
        })
    }

    /// The connection that writes.
    pub(crate) fn writer(&self) -> Result<Connection, StoreError> {
        if self.is_read_only() {
            return Err(self.read_only());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        self.configure(&conn)?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "cache_size", -32_768)?;
        // What a savepoint would restore stays in memory: else each commit makes a file for it.
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        // Pages of the log before it is folded into the file, 16 MB: what many writes touch is then written there once.
        conn.pragma_update(None, "wal_autocheckpoint", 4_096)?;
        // What is deleted for good (a redacted memory, a deleted file) is overwritten in the file.
        conn.pragma_update(None, "secure_delete", true)?;
        if conn.is_readonly("main")? {
            return Err(StoreError::new(Trouble::ReadOnly, "the workspace cannot be written"));
        }
        Ok(conn)
    }

    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection, StoreError> {
        let (path, access) = match self.access {
            Access::Write | Access::Look { .. } => (self.path.clone(), OpenFlags::SQLITE_OPEN_READ_WRITE),
            Access::Read => (self.path.clone(), OpenFlags::SQLITE_OPEN_READ_ONLY),
            Access::Alone(_) => (immutable(&self.path), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI),
        };
        let conn = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        self.configure(&conn)?;
        conn.pragma_update(None, "query_only", true)?;
        if self.access == (Access::Look { logged: true }) {
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        Ok(conn)
    }

    /// Is what was read still so? A file that is read alone has no locks that would keep a writer off.
    pub(crate) fn unchanged(&self) -> Result<(), StoreError> {
        match &self.access {
            Access::Alone(looks) if Looks::of(&self.path)? != *looks => {
                Err(StoreError::new(Trouble::Locked, "another process wrote the workspace while it was read")
                    .at(&self.path))
            }
            _ => Ok(()),
        }
    }

    /// Bytes of the file and of the log beside it.
    pub(crate) fn bytes(&self) -> u64 {
        let of = |path: &Path| fs::metadata(path).map_or(0, |m| m.len());
        of(&self.path) + of(&beside(&self.path, "-wal"))
    }

    fn configure(&self, conn: &Connection) -> Result<(), StoreError> {
        conn.busy_timeout(self.patience.moment())?;
        conn.set_prepared_statement_cache_capacity(128);
        conn.pragma_update(None, "trusted_schema", false)?;
        Ok(())
    }
}

/// Which workspace this is, as the database says now.
pub(crate) fn identity(conn: &Connection) -> Result<Identity, StoreError> {
    let row = |r: &rusqlite::Row<'_>| Ok(Identity { id: r.get(0)?, epoch: r.get(1)?, created_at: r.get(2)? });
    Ok(conn.query_row("SELECT id, epoch, created_at FROM workspace", [], row)?)
}

/// Makes it another epoch of the workspace.
pub(crate) fn set_epoch(conn: &Connection, epoch: &str) -> Result<(), StoreError> {
    conn.execute("UPDATE workspace SET epoch = ?1", [epoch])?;
    Ok(())
}

impl Access {
    /// Of a file that may not be written. SQLite reads a write-ahead log where the index of it is there too; without
    /// either nobody has the file open, and all there is is in it.
    fn to_read(path: &Path) -> Result<Self, StoreError> {
        let looks = Looks::of(path)?;
        match (looks.logged, beside(path, "-wal").exists() && beside(path, "-shm").exists()) {
            (_, true) => Ok(Access::Read),
            (false, false) => Ok(Access::Alone(looks)),
            (true, false) => {
                let what = "the log beside it holds changes and cannot be read where nothing can be written";
                Err(StoreError::new(Trouble::ReadOnly, what))
            }
        }
    }
}

impl Looks {
    fn of(path: &Path) -> Result<Self, StoreError> {
        let found = fs::metadata(path).map_err(|e| StoreError::io("it cannot be looked at", e))?;
        let logged = fs::metadata(beside(path, "-wal")).is_ok_and(|m| m.len() > 0);
        Ok(Self { length: found.len(), written: found.modified().ok(), logged })
    }
}

/// The file as a URI that tells SQLite to make nothing beside it.
fn immutable(path: &Path) -> PathBuf {
    let text = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let bytes = text.as_os_str().as_encoded_bytes();
    let mut uri = if bytes.starts_with(b"/") { "file://".to_owned() } else { "file:///".to_owned() };
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            other => drop(write!(uri, "%{other:02x}")),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

/// Refuses what would be waited on, or is no file at all: the workspace, and what SQLite keeps beside it.
pub(super) fn check_kinds(found: &fs::Metadata, path: &Path) -> Result<(), StoreError> {
    if !found.is_file() {
        let what = if found.is_dir() { "this is a folder" } else { "this is no regular file" };
        return Err(StoreError::new(Trouble::NotADatabase, what));
    }
    for suffix in BESIDE {
        let side = beside(path, suffix);
        if fs::symlink_metadata(&side).is_ok_and(|m| !m.is_file()) {
            let what = format!("{} beside it is no regular file", side.display());
            return Err(StoreError::new(Trouble::CannotOpen, what));
        }
    }
    Ok(())
}

/// Refuses what is no whole workspace before SQLite touches it.
pub(super) fn check_header(mut file: File, path: &Path) -> Result<(), StoreError> {
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

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
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
    Ok((conn, Identity { id: new.id.clone(), epoch: new.epoch.clone(), created_at: new.at.clone() }))
}

pub(super) fn folder_of(path: &Path) -> &Path {
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
    name(conn, new)
}

fn name(conn: &Connection, new: &New) -> Result<(), StoreError> {
    conn.execute(
        "INSERT INTO workspace (one, id, epoch, created_at) VALUES (1, ?1, ?2, ?3)",
        params![new.id, new.epoch, new.at],
    )?;
    Ok(())
}

/// For tests: a file as a program wrote it that did not know the newest migration.
#[cfg(test)]
pub(crate) fn create_older(path: &Path, new: &New) {
    let mut conn = Connection::open(path).unwrap();
    migrate::migrate_to(&mut conn, migrate::newest() - 1).unwrap();
    name(&conn, new).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_a_read_only_file_says_how_it_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b%?#.db");
        let put = |suffix: &str, text: &str| fs::write(beside(&path, suffix), text).unwrap();
        put("", "all");
        let Access::Alone(looks) = Access::to_read(&path).unwrap() else { panic!("nobody has it open") };
        put("-wal", "");
        assert!(matches!(Access::to_read(&path), Ok(Access::Alone(_))), "an empty log holds nothing");
        put("-wal", "changes");
        assert_eq!(Access::to_read(&path).unwrap_err().trouble, Trouble::ReadOnly);
        assert_ne!(Looks::of(&path).unwrap(), looks, "a writer came");
        put("-shm", "index");
        assert_eq!(Access::to_read(&path).unwrap(), Access::Read);
    }

    #[test]
    fn any_path_is_a_uri() {
        let path = Path::new(if cfg!(windows) { r"C:\d\a b%?#.db" } else { "/d/a b%?#é.db" });
        let uri = if cfg!(windows) { "file:///C:/d/a%20b%25%3f%23.db" } else { "file:///d/a%20b%25%3f%23%c3%a9.db" };
        assert_eq!(immutable(path), PathBuf::from(format!("{uri}?immutable=1")));
    }

    #[test]
    fn what_is_read_alone_and_then_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.db");
        fs::write(&path, "one").unwrap();
        let patience = Patience { most: std::time::Duration::ZERO, told: std::sync::Arc::new(|| ()) };
        let access = Access::to_read(&path).unwrap();
        let database = Database { path: path.clone(), patience, access };
        assert!(database.unchanged().is_ok() && database.is_read_only());
        fs::write(&path, "longer").unwrap();
        assert_eq!(database.unchanged().unwrap_err().trouble, Trouble::Locked);
    }
}
