//! The stat cache: a file whose size, times and inode are as they were is not read again. An entry is taken
//! only when the file had come to rest before it was read, so that an edit in the same tick of the clock is
//! never missed.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::bundle::open;
use crate::model::Digest;

const FORMAT: &str = "checkfu.stat-cache/v3";
const FILE: &str = "stat.json";
const MAX_BYTES: u64 = 256 << 20;
/// Above this, entries that a run did not use are dropped.
const MAX_ENTRIES: usize = 100_000;

/// What `stat` says of a file's content. Times are nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stat {
    size: u64,
    modified: i64,
    changed: i64,
    inode: u64,
}

impl Stat {
    /// From the system's answer.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let nanos = |s: i64, n: i64| s.saturating_mul(1_000_000_000).saturating_add(n);
            Self {
                size: metadata.len(),
                modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
                changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
                inode: metadata.ino(),
            }
        }
        #[cfg(not(unix))]
        {
            let modified = metadata.modified().map_or(i64::MAX, nanos);
            Self { size: metadata.len(), modified, changed: modified, inode: 0 }
        }
    }

    /// Had the file come to rest before `started`? File systems tick: most in milliseconds, some (whose times
    /// have no fraction) in seconds. A change in the tick of the last one leaves the times as they are.
    pub(crate) fn rested(&self, started: SystemTime) -> bool {
        let last = self.modified.max(self.changed);
        let coarse = self.modified % 1_000_000_000 == 0 && self.changed % 1_000_000_000 == 0;
        let tick = if coarse { Duration::from_secs(2) } else { Duration::from_millis(100) };
        last.saturating_add(i64::try_from(tick.as_nanos()).unwrap_or(i64::MAX)) < nanos(started)
    }
}

fn nanos(time: SystemTime) -> i64 {
    let after = |d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|e| -after(e.duration()), after)
}

/// What is known of a file's content, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// The file at that time.
    pub(crate) stat: Stat,
    /// The line-end rule in its written form; it counts only when the file holds a CR.
    pub(crate) rule: String,
    /// Does it hold a CR?
    pub(crate) has_cr: bool,
    /// Is it a pointer of Git LFS?
    pub(crate) lfs: bool,
    /// Is it UTF-8? `None` when nobody asked.
    pub(crate) utf8: Option<bool>,
    /// The line, from 1, of the first mark of a conflict; `None` if there is none, or when nobody asked whether it is
    /// UTF-8.
    pub(crate) conflict: Option<u32>,
    /// The line, from 1, of the first conflict that `pull` wrote; `None` if there is none.
    pub(crate) pulled: Option<u32>,
    /// Bytes after normalization.
    pub(crate) size: u64,
    /// Of the bytes after normalization.
    pub(crate) sha256: Digest,
}

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    /// A copied folder has other inodes and times, and must not be believed by chance.
    top: PathBuf,
    files: BTreeMap<String, Known>,
}

/// The cache of one check-out. Reading is lazy; nothing is written before [`Cache::save`].
#[derive(Debug)]
pub(crate) struct Cache {
    folder: Option<PathBuf>,
    top: PathBuf,
    old: OnceLock<BTreeMap<String, Known>>,
    new: Mutex<New>,
}

#[derive(Debug, Default)]
struct New {
    used: BTreeMap<String, Known>,
    changed: bool,
}

impl Cache {
    /// In a folder, or none.
    pub(crate) fn new(folder: Option<PathBuf>, top: &Path) -> Self {
        Self { folder, top: top.to_owned(), old: OnceLock::new(), new: Mutex::default() }
    }

    /// The folder it is in.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// What is known of a file, if it is as it was and the same rule holds.
    pub(crate) fn find(&self, path: &str, stat: &Stat, rule: &str, utf8: bool) -> Option<Known> {
        let fits = |k: &&Known| k.stat == *stat && (!k.has_cr || k.rule == rule) && (!utf8 || k.utf8.is_some());
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = new.used.get(path).filter(fits) {
            return Some(known.clone());
        }
        let known = self.old().get(path).filter(fits)?.clone();
        new.used.insert(path.to_owned(), known.clone());
        Some(known)
    }

    /// Remembers a file that had come to rest.
    pub(crate) fn put(&self, path: String, known: Known) {
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        new.used.insert(path, known);
        new.changed = true;
    }

    fn old(&self) -> &BTreeMap<String, Known> {
        self.old.get_or_init(|| {
            let read = || {
                let bytes = open::read(&self.folder.as_ref()?.join(FILE), MAX_BYTES).ok()??;
                let file: File = serde_json::from_slice(&bytes).ok()?;
                (file.format == FORMAT && file.top == self.top).then_some(file.files)
            };
            read().unwrap_or_default()
        })
    }

    /// Writes what is new, whole or not at all. A cache that cannot be written is no error: the next run
    /// reads the files again. `may_create` says whether a missing folder may be made.
    pub(crate) fn save(&self, may_create: impl FnOnce(&Path) -> bool) {
        let Some(folder) = &self.folder else { return };
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        if !new.changed {
            return;
        }
        new.changed = false;
        let mut files = new.used.clone();
        if files.len() < MAX_ENTRIES {
            for (path, known) in self.old() {
                files.entry(path.clone()).or_insert_with(|| known.clone());
            }
            if files.len() > MAX_ENTRIES {
                files.clone_from(&new.used);
            }
        }
        let there = folder.is_dir() || (may_create(folder) && std::fs::create_dir_all(folder).is_ok());
        if !there {
            return;
        }
        let file = File { format: FORMAT.to_owned(), top: self.top.clone(), files };
        let write = || -> std::io::Result<()> {
            let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
            {
                let mut out = std::io::BufWriter::new(temporary.as_file_mut());
                serde_json::to_writer(&mut out, &file)?;
                std::io::Write::flush(&mut out)?;
            }
            temporary.persist(folder.join(FILE)).map_err(|e| e.error)?;
            Ok(())
        };
        // see above: no error
        let _ = write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(modified: i64, changed: i64) -> Stat {
        Stat { size: 1, modified, changed, inode: 7 }
    }

    fn known(stat: Stat) -> Known {
        let sha256 = Digest::of(b"x");
        Known {
            stat,
            rule: "keep".into(),
            has_cr: true,
            lfs: false,
            utf8: None,
            conflict: None,
            pulled: None,
            size: 1,
            sha256,
        }
    }

    #[test]
    fn only_files_at_rest_are_trusted() {
        let s = 1_000_000_000;
        let at = |n: u64| UNIX_EPOCH + Duration::from_nanos(n);
        assert!(!stat(5 * s + 7, 5 * s + 7).rested(at(5_000_000_007)), "the same tick");
        assert!(!stat(5 * s + 7, 5 * s + 7).rested(at(5_050_000_000)), "within a tick");
        assert!(stat(5 * s + 7, 5 * s + 7).rested(at(5_200_000_000)));
        assert!(!stat(s + 7, 5 * s + 7).rested(at(5_000_000_008)), "the later of the two counts");
        assert!(!stat(5 * s, 5 * s).rested(at(6_900_000_000)), "whole seconds: a coarse clock");
        assert!(stat(5 * s, 5 * s).rested(at(7_100_000_000)));
        assert!(!stat(9 * s + 1, s + 1).rested(at(5_000_000_000)), "from the future");
    }

    #[test]
    fn conditions_must_hold() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cache");
        let cache = Cache::new(Some(folder.clone()), Path::new("/p"));
        cache.put("a".into(), known(stat(1, 2)));
        cache.save(|_| true);
        let again = Cache::new(Some(folder.clone()), Path::new("/p"));
        assert!(again.find("a", &stat(1, 2), "keep", false).is_some());
        assert!(again.find("a", &stat(1, 3), "keep", false).is_none());
        assert!(again.find("a", &stat(1, 2), "text", false).is_none());
        assert!(again.find("a", &stat(1, 2), "keep", true).is_none());
        assert!(again.find("b", &stat(1, 2), "keep", false).is_none());
        let elsewhere = Cache::new(Some(folder), Path::new("/q"));
        assert!(elsewhere.find("a", &stat(1, 2), "keep", false).is_none());
    }

    #[test]
    fn a_broken_cache_is_no_cache_and_no_folder_is_made_unasked() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "{", "{\"format\":\"checkfu.stat-cache/v0\",\"top\":\"/p\",\"files\":{}}", "\0\u{1}"] {
            std::fs::write(dir.path().join(FILE), text).unwrap();
            let cache = Cache::new(Some(dir.path().to_owned()), Path::new("/p"));
            assert!(cache.find("a", &stat(1, 2), "keep", false).is_none());
        }
        let missing = dir.path().join("x/cache");
        let cache = Cache::new(Some(missing.clone()), Path::new("/p"));
        cache.put("a".into(), known(stat(1, 2)));
        cache.save(|_| false);
        assert!(!missing.exists());
    }
}
