//! Copies of a workspace: taken while others write, put in place as a whole, never under a process that has the file
//! open.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;

use crate::store::error::{StoreError, Trouble};
use crate::store::open::{BESIDE, Database, Identity, beside, check_header, check_kinds, folder_of, identity};
use crate::store::{Batch, Result, leftover, migrate};

/// A whole workspace under a temporary name, in the folder where it is to be. Goes away when it is dropped.
pub(crate) struct Copied {
    file: NamedTempFile,
    to: PathBuf,
}

impl Copied {
    /// Copies what is committed now. Nobody who writes meanwhile waits, and what they write is not in it.
    pub(crate) fn of(database: &Database, to: &Path) -> Result<Self> {
        // What a link leads to is replaced, not the link.
        let to = fs::canonicalize(to).unwrap_or_else(|_| to.to_owned());
        if fs::canonicalize(database.path()).is_ok_and(|from| from == to) {
            return Err(StoreError::new(Trouble::CannotOpen, "it is the same file").at(&to));
        }
        leftover::sweep(folder_of(&to));
        let file = leftover::make(folder_of(&to))
            .map_err(|e| StoreError::io(format!("{} cannot be made", to.display()), e))?;
        let copied = Self { file, to };
        copied.fill(database).map_err(|e| e.at(&copied.to))?;
        copied.check().map_err(|e| e.at(database.path()))?;
        Ok(copied)
    }

    fn fill(&self, database: &Database) -> Result<()> {
        let from = database.reader()?;
        let mut to = Connection::open_with_flags(self.file.path(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // No journal beside a temporary name: it is thrown away when anything fails.
        set_journal(&to, "MEMORY")?;
        database.patience().wait(|| match Backup::new(&from, &mut to)?.step(-1)? {
            StepResult::Done => Ok(()),
            _ => Err(StoreError::new(Trouble::Locked, "another process holds the workspace locked")),
        })?;
        // One file is the whole of it, also where nothing can be written beside it.
        set_journal(&to, "DELETE")?;
        to.close().map_err(|(_, e)| e)?;
        Ok(())
    }

    /// Refuses a copy that is not whole: pages are copied as they are, damaged ones too.
    fn check(&self) -> Result<()> {
        let conn = self.open()?;
        let mut rows = conn.prepare("PRAGMA integrity_check(1)")?;
        let found: std::result::Result<Vec<String>, _> = rows.query_map([], |row| row.get(0))?.collect();
        match found?.first() {
            Some(first) if first != "ok" => {
                Err(StoreError::new(Trouble::Damaged, format!("the workspace is damaged: {first}")))
            }
            _ => Ok(()),
        }
    }

    fn open(&self) -> Result<Connection> {
        let conn = Connection::open_with_flags(self.file.path(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        Ok(conn)
    }

    /// Which workspace it is.
    pub(crate) fn identity(&self) -> Result<Identity> {
        identity(&self.open()?)
    }

    /// Brings the schema to the newest and changes the copy, in one transaction; then it is to be served.
    pub(crate) fn change<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&Batch<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut conn = self.open()?;
        set_journal(&conn, "MEMORY")?;
        migrate::migrate(&mut conn).map_err(|e| e.at(&self.to))?;
        let batch = Batch::new(&mut conn, rusqlite::TransactionBehavior::Immediate).map_err(StoreError::from)?;
        let changed = change(&batch)?;
        batch.commit().map_err(StoreError::from)?;
        set_journal(&conn, "WAL")?;
        conn.close().map_err(|(_, e)| StoreError::from(e))?;
        self.check()?;
        Ok(changed)
    }

    /// Gives it its name; answers its size in bytes. What is there is replaced only when `over`, when it is a
    /// workspace, and when nobody has it open.
    pub(crate) fn put(self, over: bool) -> Result<u64> {
        let Self { file, to } = self;
        let cannot = |e| StoreError::io(format!("{} cannot be written", to.display()), e);
        file.as_file().sync_all().map_err(cannot)?;
        let bytes = file.as_file().metadata().map_err(cannot)?.len();
        if over && to.symlink_metadata().is_ok() {
            let held = hold(&to).map_err(|e| e.at(&to))?;
            // Windows replaces no file that anybody has open.
            let held = held.filter(|_| !cfg!(windows));
            file.persist(&to).map_err(|e| cannot(e.error))?;
            drop(held);
        } else {
            // SQLite would play the log of a database that is gone into the one that takes its place.
            if let Some(side) = BESIDE.iter().map(|s| beside(&to, s)).find(|side| side.symlink_metadata().is_ok()) {
                let what = format!("{} is left of another database: move it away", side.display());
                return Err(StoreError::new(Trouble::CannotOpen, what).at(&to));
            }
            file.persist_noclobber(&to).map_err(|e| cannot(e.error))?;
        }
        #[cfg(unix)]
        File::open(folder_of(&to)).and_then(|f| f.sync_all()).map_err(cannot)?;
        Ok(bytes)
    }
}

/// Keeps everybody off a workspace that is to be replaced; refuses when somebody has it open. Its log is then in it,
/// so that it is whole until the moment when it is replaced. `None`: it is damaged, and there is nothing to keep.
fn hold(path: &Path) -> Result<Option<Connection>> {
    let unreadable = |e| StoreError::io("it cannot be read", e);
    check_kinds(&fs::metadata(path).map_err(unreadable)?, path)?;
    match check_header(File::open(path).map_err(unreadable)?, path) {
        Err(e) if !matches!(e.trouble, Trouble::Damaged | Trouble::Newer) => return Err(e),
        _ => {}
    }
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let held = match take(&conn) {
        Ok(()) => Some(conn),
        Err(e) if matches!(e.trouble, Trouble::Damaged | Trouble::NotADatabase) => None,
        Err(e) => return Err(e),
    };
    for side in BESIDE.iter().map(|suffix| beside(path, suffix)) {
        match fs::remove_file(&side) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io(format!("{} cannot be removed", side.display()), e));
            }
            _ => {}
        }
    }
    Ok(held)
}

/// Whoever has a workspace open holds a lock on it that stands against this one, also while it does nothing.
fn take(conn: &Connection) -> Result<()> {
    conn.busy_timeout(std::time::Duration::ZERO)?;
    conn.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
    set_journal(conn, "DELETE")?;
    Ok(conn.execute_batch("BEGIN EXCLUSIVE")?)
}

/// Sets the journal mode. SQLite answers with the one that is, which is another one where somebody is in the way.
fn set_journal(conn: &Connection, mode: &str) -> Result<()> {
    let now: String = conn.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0))?;
    if now.eq_ignore_ascii_case(mode) {
        return Ok(());
    }
    Err(StoreError::new(Trouble::Locked, "another process has the workspace open"))
}
