//! The temporary files under which workspaces are made, and those that a killed process left.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::store::open::BESIDE;

const PREFIX: &str = ".workspace-";
const SUFFIX: &str = ".tmp";
/// How often a name is tried anew after another process took the file away.
const TRIES: usize = 16;

/// Makes a temporary file. While its maker lives it is locked, so nobody takes it for a leftover.
pub(super) fn make(folder: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
        // Between the two, somebody may have held it for a leftover: then it is gone, or about to go.
        match file.as_file().try_lock() {
            Ok(()) if file.path().exists() => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // A file system without locks: nobody can lock it there, so nobody sweeps.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "temporary files go away as soon as they are made"))
}

/// Removes what killed processes left in a folder. What cannot be read, locked or removed stays.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX));
        if ours && entry.file_type().is_ok_and(|t| t.is_file()) {
            drop(remove(&entry.path()));
        }
    }
}

/// Removes a file that nobody holds, with what SQLite kept beside it. The lock is held until it is gone.
fn remove(path: &Path) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(path)?;
    if file.try_lock().is_err() {
        return Ok(());
    }
    for suffix in BESIDE {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        drop(fs::remove_file(PathBuf::from(beside)));
    }
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(folder.path().join(name), "x").unwrap();
        for name in [".workspace-dead01.tmp", ".workspace-dead01.tmp-wal", "workspace.db", ".workspace-a.txt", "a.tmp"]
        {
            put(name);
        }
        let live = make(folder.path()).unwrap();
        sweep(folder.path());
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let live_name = live.path().file_name().unwrap().to_str().unwrap();
        let mut want = [live_name, "workspace.db", ".workspace-a.txt", "a.tmp"];
        want.sort_unstable();
        assert_eq!(left, want);
        // Once its maker is gone, so is the lock.
        let (_, path) = live.keep().unwrap();
        sweep(folder.path());
        assert!(!path.exists());
    }
}
