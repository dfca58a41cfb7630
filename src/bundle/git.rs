//! The view of Git: which files are tracked, with which mode, whether their blobs hold CR, and where the
//! project comes from. Objects and index only; no configuration of the user decides anything about bytes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use git2::{ConfigLevel, ErrorCode, Oid, Repository, StatusOptions};

use crate::bundle::{remote, special};
use crate::model::op::Source;

/// `git add --intent-to-add`: a name without content.
const INTENT_TO_ADD: u16 = 1 << 13;

/// A check-out of Git. When its repository cannot be read, everything is as untracked.
pub(crate) struct Git {
    top: PathBuf,
    repository: Result<Mutex<Repository>, String>,
    index: OnceLock<Result<Index, String>>,
    with_cr: Mutex<BTreeMap<Oid, bool>>,
}

/// What the index says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracked {
    /// A blob of this repository.
    Blob {
        /// Its id.
        id: Oid,
        /// `0o100644`, `0o100755` or `0o120000`.
        mode: u32,
    },
    /// In a submodule.
    Submodule,
}

#[derive(Debug, Default)]
struct Index {
    blobs: BTreeMap<String, (Oid, u32)>,
    submodules: BTreeSet<String>,
}

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("top", &self.top).finish_non_exhaustive()
    }
}

impl Git {
    /// The check-out that a folder (in canonical form) lies in.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        folder.ancestors().filter(|a| a.join(".git").symlink_metadata().is_ok()).find_map(|top| {
            if let Some(path) = special::first(top) {
                let path = path.strip_prefix(top).unwrap_or(&path).display();
                return Some(Self::unread(top, format!("`{path}` is no regular file")));
            }
            let repository = match Repository::open(top) {
                Ok(r) if r.workdir().and_then(|w| w.canonicalize().ok()).as_deref() != Some(top) => {
                    Err("its working tree is another folder".to_owned())
                }
                Ok(r) => Ok(Mutex::new(r)),
                // Git too passes over a `.git` that is no repository
                Err(e) if e.code() == ErrorCode::NotFound => return None,
                Err(e) => Err(e.message().to_owned()),
            };
            Some(Self { top: top.to_owned(), repository, index: OnceLock::new(), with_cr: Mutex::new(BTreeMap::new()) })
        })
    }

    fn unread(top: &Path, why: String) -> Self {
        let (index, with_cr) = (OnceLock::new(), Mutex::new(BTreeMap::new()));
        Self { top: top.to_owned(), repository: Err(why), index, with_cr }
    }

    /// Does it ignore a path? `None`: the path is not in it, or the repository cannot be read.
    pub(crate) fn ignores(&self, path: &Path) -> Option<bool> {
        let repository = self.repository.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        let real = path.parent().and_then(|p| p.canonicalize().ok()).unwrap_or_else(|| path.to_owned());
        let inside = real.starts_with(&self.top) || path.starts_with(&self.top);
        inside.then(|| repository.is_path_ignored(path).unwrap_or(false))
    }

    /// The top level, in canonical form.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Why the repository or its index cannot be read.
    pub(crate) fn problem(&self) -> Option<&str> {
        match &self.repository {
            Err(e) => Some(e),
            Ok(_) => self.index().err(),
        }
    }

    fn index(&self) -> Result<&Index, &str> {
        let read = || {
            let repository = self.repository.as_ref().map_err(Clone::clone)?;
            let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
            let index = repository.index().map_err(|e| e.message().to_owned())?;
            let mut found = Index::default();
            for entry in index.iter() {
                let Ok(path) = String::from_utf8(entry.path) else { continue };
                match entry.mode {
                    0o160_000 => {
                        found.submodules.insert(path);
                    }
                    _ if entry.flags_extended & INTENT_TO_ADD != 0 => {}
                    // stages of a conflict are tracked too; the first one stands for all
                    mode => {
                        found.blobs.entry(path).or_insert((entry.id, mode));
                    }
                }
            }
            Ok(found)
        };
        self.index.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// What is tracked at a path relative to the top level.
    pub(crate) fn tracked(&self, path: &str) -> Option<Tracked> {
        let index = self.index().ok()?;
        if let Some((id, mode)) = index.blobs.get(path) {
            return Some(Tracked::Blob { id: *id, mode: *mode });
        }
        let inside = |s: &String| path.strip_prefix(s.as_str()).is_some_and(|r| r.starts_with('/'));
        index.submodules.iter().any(inside).then_some(Tracked::Submodule)
    }

    /// Is anything tracked below a folder?
    pub(crate) fn tracked_below(&self, folder: &str) -> bool {
        let prefix = format!("{folder}/");
        self.index().is_ok_and(|index| {
            let first = index.blobs.range(prefix.clone()..).next().map(|(path, _)| path);
            let module = index.submodules.range(prefix.clone()..).next();
            first.into_iter().chain(module).any(|p| p.starts_with(&prefix)) || index.submodules.contains(folder)
        })
    }

    /// Does a blob hold a CR? An error when it cannot be read (a partial clone, say).
    pub(crate) fn blob_has_cr(&self, id: Oid) -> Result<bool, String> {
        let known = |s: &Self| s.with_cr.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        if let Some(known) = known(self) {
            return Ok(known);
        }
        let repository = self.repository.as_ref().map_err(Clone::clone)?;
        let has = {
            let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
            let blob = repository.find_blob(id).map_err(|e| e.message().to_owned())?;
            memchr::memchr(b'\r', blob.content()).is_some()
        };
        self.with_cr.lock().unwrap_or_else(PoisonError::into_inner).insert(id, has);
        Ok(has)
    }

    /// How the commit that is checked out stands to another one: equal, greater (it came after), less (the other
    /// came after it). `None`: it cannot be told, as neither came after the other, or as the history here does
    /// not reach that far (a shallow clone).
    pub(crate) fn stands_to(&self, commit: &str) -> Option<Ordering> {
        let repository = self.repository.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        let here = repository.head().ok()?.peel_to_commit().ok()?.id();
        let other = Oid::from_str(commit).ok()?;
        if here == other {
            return Some(Ordering::Equal);
        }
        repository.find_commit(other).ok()?;
        // At the edge of a shallow clone an ancestor may be out of sight; then both answers are no.
        match (repository.graph_descendant_of(here, other), repository.graph_descendant_of(other, here)) {
            (Ok(true), _) => Some(Ordering::Greater),
            (_, Ok(true)) => Some(Ordering::Less),
            _ => None,
        }
    }

    /// Is a commit in this repository? `None`: it cannot be told, as the history here is cut short.
    pub(crate) fn knows(&self, commit: &str) -> Option<bool> {
        let repository = self.repository.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        let here = Oid::from_str(commit).is_ok_and(|id| repository.find_commit(id).is_ok());
        (here || !repository.is_shallow()).then_some(here)
    }

    /// Where a folder (relative to the top level, `` = the top) comes from.
    pub(crate) fn source(&self, folder: &str) -> Source {
        let mut source = Source { path: Some(folder.to_owned()), ..Source::default() };
        let Ok(repository) = &self.repository else { return Source::default() };
        let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
        // the repository's own configuration alone: `insteadOf` of a user must not rename the source
        let url = repository
            .config()
            .and_then(|c| c.open_level(ConfigLevel::Local))
            .and_then(|c| c.get_string("remote.origin.url"));
        source.repository = url.ok().and_then(|u| remote::host_and_path(&u));
        source.commit = repository.head().ok().and_then(|h| h.target()).map(|id| id.to_string());
        source.dirty = dirty(&repository, folder);
        source
    }
}

/// Uncommitted changes below a folder: tracked files that differ, and untracked ones that are not ignored.
/// `.checkfu` is ours and never counts.
pub(crate) fn dirty(repository: &Repository, folder: &str) -> Option<bool> {
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false).exclude_submodules(true);
    if !folder.is_empty() {
        options.disable_pathspec_match(true).pathspec(folder);
    }
    let statuses = repository.statuses(Some(&mut options)).ok()?;
    let own = |path: &[u8]| path.split(|b| *b == b'/').any(|part| part == b".checkfu");
    Some(statuses.iter().any(|s| !own(s.path_bytes())))
}
