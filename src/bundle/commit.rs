//! The files of a commit, written to a folder: objects alone, with no filter, no hook and nothing followed. The folder
//! is a check-out of its own that borrows the objects, so that what Git tracks, modes and line ends are as in the
//! commit.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::Not;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, ObjectType, Oid, Repository, RepositoryInitOptions, Tree};

use crate::bundle::{git, paths, project::relative, special};

/// Most files that are written.
const MOST_FILES: usize = 200_000;
/// Most bytes that are written.
const MOST_BYTES: u64 = 2 << 30;
/// Deepest folder below the top level.
const DEEPEST: usize = 100;
/// The files of folders above that say something of the bytes and names below.
const RULES: [&str; 3] = [".gitignore", ".gitattributes", ".checkfuignore"];

/// Which commit is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseOf<'a> {
    /// The last commit that what is checked out shares with this branch, tag or commit.
    Ref(&'a str),
    /// What a pull request is to change: of the merge commit that a code host makes of `head` its first parent, of
    /// any other commit the last one that it shares with `base`.
    Pull {
        /// The commit that was pushed, in full.
        head: &'a str,
        /// The tip of the branch that it wants to get into, in full.
        base: &'a str,
    },
}

/// Why a commit cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The folder is in no check-out of Git, or its repository cannot be read.
    #[error("the Git repository cannot be read: {why}")]
    Repository {
        /// Why.
        why: String,
    },
    /// There is no such commit here.
    #[error("{name} is not in this check-out")]
    Unknown {
        /// As it was asked for.
        name: String,
    },
    /// No common commit is here.
    #[error("what is checked out and {name} have no commit in common here")]
    Apart {
        /// As it was asked for.
        name: String,
    },
    /// An object is missing or broken.
    #[error("`{path}` of commit {commit} cannot be read")]
    Object {
        /// The commit, short.
        commit: String,
        /// Path from the top level.
        path: String,
        /// Why.
        #[source]
        source: git2::Error,
    },
    /// More than 200,000 files, 2 GiB, or 100 folders in one another.
    #[error("commit {commit} holds too much to compare with")]
    TooLarge {
        /// The commit, short.
        commit: String,
    },
    /// The folder cannot be written.
    #[error("`{path}` of commit {commit} cannot be written to a temporary folder")]
    Write {
        /// The commit, short.
        commit: String,
        /// Path from the top level.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// What is checked out at a folder, as far as a run has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The commit, in full.
    pub commit: String,
    /// Its parents that the history here knows of.
    pub parents: Vec<String>,
}

/// A commit of the repository that a project folder lies in.
pub struct Commit {
    repository: Repository,
    id: Oid,
    prefix: String,
}

impl std::fmt::Debug for Commit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commit").field("id", &self.id).field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// What is checked out at a folder.
///
/// # Errors
/// No repository, or one without a commit.
pub fn head(folder: &Path) -> Result<Head, CommitError> {
    let (repository, _) = open(folder)?;
    let commit = repository.head().and_then(|h| h.peel_to_commit()).map_err(|e| unread(&e))?;
    Ok(Head { commit: commit.id().to_string(), parents: commit.parent_ids().map(|p| p.to_string()).collect() })
}

/// Are there files in the check-out, anywhere, that are not of its commit? What cannot be told is.
pub fn is_dirty(folder: &Path) -> bool {
    open(folder).is_ok_and(|(repository, _)| git::dirty(&repository, "") == Some(false)).not()
}

impl Commit {
    /// Finds a commit.
    ///
    /// # Errors
    /// It is not here, or the history here does not reach it.
    pub fn find(folder: &Path, of: BaseOf<'_>) -> Result<Self, CommitError> {
        let (repository, prefix) = open(folder)?;
        let id = base(&repository, of)?;
        Ok(Self { repository, id, prefix })
    }

    /// In full.
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    /// The project folder from the top level, `` where it is that.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    fn short(&self) -> String {
        self.id.to_string().chars().take(12).collect()
    }

    /// The bytes of a file of the project folder; `None`: the commit has no such file. A link is none.
    ///
    /// # Errors
    /// The object cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, CommitError> {
        let path = paths::join(if self.prefix.is_empty() { "." } else { &self.prefix }, path);
        let Some(path) = paths::normalize(&path).filter(|p| !p.starts_with("..")) else { return Ok(None) };
        let entry = match self.tree()?.get_path(Path::new(&path)) {
            Ok(entry) => entry,
            Err(e) if e.code() == ErrorCode::NotFound => return Ok(None),
            Err(e) => return Err(self.broken(&path, e)),
        };
        if entry.kind() != Some(ObjectType::Blob) || entry.filemode() == 0o120_000 {
            return Ok(None);
        }
        let blob = self.repository.find_blob(entry.id()).map_err(|e| self.broken(&path, e))?;
        Ok(Some(blob.content().to_vec()))
    }

    fn tree(&self) -> Result<Tree<'_>, CommitError> {
        let tree = self.repository.find_commit(self.id).and_then(|c| c.tree());
        tree.map_err(|e| self.broken(".", e))
    }

    fn broken(&self, path: &str, source: git2::Error) -> CommitError {
        CommitError::Object { commit: self.short(), path: path.to_owned(), source }
    }

    /// Writes what a project reads to an empty folder: all that lies below the folder `up` levels above the project,
    /// and the rules of the folders above that. Gives back the project folder in it.
    ///
    /// # Errors
    /// See [`CommitError`].
    pub fn write(&self, into: &Path, up: usize) -> Result<PathBuf, CommitError> {
        let parts: Vec<&str> = self.prefix.split('/').filter(|p| !p.is_empty()).collect();
        let root = parts[..parts.len().saturating_sub(up)].join("/");
        self.borrow(into)?;
        let mut writing = Writing { of: self, into, root, files: 0, bytes: 0, links: Vec::new() };
        writing.folder(&self.tree()?, "", 0)?;
        writing.links()?;
        let project = into.join(&self.prefix);
        fs::create_dir_all(&project).map_err(|source| self.unwritten(&self.prefix, source))?;
        Ok(project)
    }

    fn unwritten(&self, path: &str, source: io::Error) -> CommitError {
        CommitError::Write { commit: self.short(), path: path.to_owned(), source }
    }

    /// Makes the folder a check-out of the commit, whose objects stay where they are.
    fn borrow(&self, into: &Path) -> Result<(), CommitError> {
        let options = &mut RepositoryInitOptions::new();
        let options = options.external_template(false).initial_head("base");
        let broken = |e| self.broken(".", e);
        drop(Repository::init_opts(into, options).map_err(broken)?);
        let objects = self.repository.commondir().join("objects");
        let info = into.join(".git/objects/info");
        let mut line = objects.into_os_string().into_encoded_bytes();
        line.push(b'\n');
        fs::create_dir_all(&info)
            .and_then(|()| fs::write(info.join("alternates"), line))
            .map_err(|e| self.unwritten(".git", e))?;
        let borrowed = Repository::open(into).map_err(broken)?;
        borrowed.set_head_detached(self.id).map_err(broken)?;
        let tree = borrowed.find_commit(self.id).and_then(|c| c.tree()).map_err(broken)?;
        let mut index = borrowed.index().map_err(broken)?;
        index.read_tree(&tree).and_then(|()| index.write()).map_err(broken)
    }
}

/// A tree on its way to a folder.
struct Writing<'a> {
    of: &'a Commit,
    into: &'a Path,
    /// The folder of which all is written.
    root: String,
    files: usize,
    bytes: u64,
    /// Path and target of links. They are made last: nothing is written through one.
    links: Vec<(String, Vec<u8>)>,
}

impl Writing<'_> {
    fn folder(&mut self, tree: &Tree<'_>, at: &str, depth: usize) -> Result<(), CommitError> {
        if depth > DEEPEST {
            return Err(self.too_large());
        }
        let inside = self.root.is_empty() || at == self.root || at.starts_with(&format!("{}/", self.root));
        for entry in tree {
            // What no project can name is left out, as by discovery.
            let Some(name) = entry.name().ok().filter(|n| is_plain(n)) else { continue };
            let path = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
            match (entry.kind(), entry.filemode()) {
                (Some(ObjectType::Tree), _) => {
                    let leads = inside || path == self.root || self.root.starts_with(&format!("{path}/"));
                    if leads {
                        fs::create_dir(self.into.join(&path)).map_err(|e| self.of.unwritten(&path, e))?;
                        let below = self.of.repository.find_tree(entry.id()).map_err(|e| self.of.broken(&path, e))?;
                        self.folder(&below, &path, depth + 1)?;
                    }
                }
                (Some(ObjectType::Blob), mode) if inside || RULES.contains(&name) => {
                    self.file(&path, entry.id(), mode)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str, id: Oid, mode: i32) -> Result<(), CommitError> {
        let of = self.of;
        let (size, _) = of.repository.odb().and_then(|o| o.read_header(id)).map_err(|e| of.broken(path, e))?;
        (self.files, self.bytes) = (self.files + 1, self.bytes.saturating_add(size as u64));
        if self.files > MOST_FILES || self.bytes > MOST_BYTES {
            return Err(self.too_large());
        }
        let blob = of.repository.find_blob(id).map_err(|e| of.broken(path, e))?;
        if mode == 0o120_000 {
            self.links.push((path.to_owned(), blob.content().to_vec()));
            return Ok(());
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(if mode == 0o100_755 { 0o700 } else { 0o600 });
        }
        options
            .open(self.into.join(path))
            .and_then(|mut f| f.write_all(blob.content()))
            .map_err(|e| of.unwritten(path, e))
    }

    fn links(&self) -> Result<(), CommitError> {
        for (path, to) in &self.links {
            link(to, &self.into.join(path)).map_err(|e| self.of.unwritten(path, e))?;
        }
        Ok(())
    }

    fn too_large(&self) -> CommitError {
        CommitError::TooLarge { commit: self.of.short() }
    }
}

#[cfg(unix)]
fn link(to: &[u8], at: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(to), at)
}

/// Where links need a right of their own, one is a file with its target, as Git writes it there.
#[cfg(not(unix))]
fn link(to: &[u8], at: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(at)?.write_all(to)
}

/// A name that stays in its folder, and is none of Git's own.
fn is_plain(name: &str) -> bool {
    let git = name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1");
    let apart = if cfg!(windows) { &['/', '\\', '\0', ':'][..] } else { &['/', '\0'][..] };
    !git && !matches!(name, "" | "." | "..") && !name.contains(apart)
}

fn unread(e: &git2::Error) -> CommitError {
    CommitError::Repository { why: e.message().to_owned() }
}

fn open(folder: &Path) -> Result<(Repository, String), CommitError> {
    let none = |why: &str| CommitError::Repository { why: why.to_owned() };
    let folder = folder.canonicalize().map_err(|e| none(&e.to_string()))?;
    let is_top = |a: &&Path| a.join(".git").symlink_metadata().is_ok();
    for top in folder.ancestors().filter(is_top) {
        if special::first(top).is_some() {
            return Err(none("a file in it is no regular file"));
        }
        match Repository::open(top) {
            Ok(repository) => {
                let prefix = relative(&folder, top).ok_or_else(|| none("the path of the project is not UTF-8"))?;
                return Ok((repository, prefix));
            }
            Err(e) if e.code() == ErrorCode::NotFound => {}
            Err(e) => return Err(unread(&e)),
        }
    }
    Err(none("there is none"))
}

fn base(repository: &Repository, of: BaseOf<'_>) -> Result<Oid, CommitError> {
    let here = repository.head().and_then(|h| h.peel_to_commit()).map_err(|e| unread(&e))?;
    let name = match of {
        BaseOf::Ref(name) => name,
        BaseOf::Pull { head, base } => {
            let parents: Vec<Oid> = here.parent_ids().collect();
            if let [first, second] = parents[..]
                && second.to_string().eq_ignore_ascii_case(head)
            {
                let unknown = |_| CommitError::Unknown { name: first.to_string() };
                return repository.find_commit(first).map(|c| c.id()).map_err(unknown);
            }
            base
        }
    };
    let found = repository.revparse_single(name).and_then(|o| o.peel_to_commit());
    let found = found.map_err(|_| CommitError::Unknown { name: name.to_owned() })?;
    // At the edge of a shallow clone the history may go on out of sight.
    repository.merge_base(here.id(), found.id()).map_err(|_| CommitError::Apart { name: name.to_owned() })
}
