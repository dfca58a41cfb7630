//! A project folder, opened: how far paths may reach, and the texts that are read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::bundle::cache::Cache;
use crate::bundle::git::{Git, Tracked};
use crate::bundle::rules::{Rules, Scope, Verdict};
use crate::bundle::{BundleError, open, paths};
use crate::diag::{Diagnostic, Diagnostics, Location, codes::bundle as codes};
use crate::model::Digest;
use crate::model::op::Source;

/// The largest manifest or text, in bytes.
const MAX_TEXT: u64 = 64 * 1024 * 1024;

/// A project folder, opened: the view of Git, the ignore rules, the stat cache. All paths that come in or go
/// out are relative to the project folder and `/`-separated; those above it begin with `..`.
#[derive(Debug)]
pub struct Project {
    /// Canonical.
    pub(crate) folder: PathBuf,
    /// Canonical; no path leaves it.
    pub(crate) root: PathBuf,
    /// Canonical: the Git top level, without Git the project folder.
    pub(crate) top: PathBuf,
    /// `folder` relative to `top`; `` when they are one.
    pub(crate) prefix: String,
    pub(crate) git: Option<Git>,
    pub(crate) rules: Rules,
    pub(crate) cache: Cache,
    pub(crate) reads: AtomicU64,
    pub(crate) clock: fn() -> SystemTime,
}

/// A path that exists and lies within the root.
#[derive(Debug)]
pub(crate) struct Place {
    /// In canonical form, save for its last part when that was not followed.
    pub(crate) disk: PathBuf,
    /// Relative to the top level.
    pub(crate) top: String,
}

/// What the ignore rules make of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is in.
    In,
    /// An ignored folder that holds tracked files: those are in, and the reason holds for the others.
    TrackedOnly(String),
    /// It is left out, for this reason.
    Out(String),
}

/// Why a path names no place.
#[derive(Debug)]
pub(crate) enum NoPlace {
    /// Not a relative path.
    Form,
    /// Outside the root.
    Outside,
    /// Not UTF-8 on disk.
    Name,
    /// The system says no.
    Io(io::Error),
}

impl Project {
    /// Opens a project folder.
    ///
    /// - `config_root` is `root` of `checkfu.yaml`: `.`, or folders above it (`..`), at most the Git top
    ///   level; without Git it must be the project folder.
    /// - `cache_dir` is where the stat cache is kept; `None` = no cache. A missing cache folder is made only
    ///   where its parent exists or an ignore rule covers it, and a cache that cannot be written is no error.
    ///
    /// A repository that cannot be read is no error: everything works as without Git, and
    /// [`Project::discover`] warns.
    pub fn open(dir: &Path, config_root: &str, cache_dir: Option<PathBuf>) -> Result<Self, BundleError> {
        Self::open_with_clock(dir, config_root, cache_dir, SystemTime::now)
    }

    pub(crate) fn open_with_clock(
        dir: &Path,
        config_root: &str,
        cache_dir: Option<PathBuf>,
        clock: fn() -> SystemTime,
    ) -> Result<Self, BundleError> {
        let failed = |source| BundleError::Folder { path: dir.to_owned(), source };
        let folder = dir.canonicalize().map_err(failed)?;
        std::fs::read_dir(&folder).map_err(failed)?;
        let git = Git::find(&folder);
        let top = git.as_ref().map_or_else(|| folder.clone(), |g| g.top().to_owned());
        let bad_root = || BundleError::Root { root: config_root.to_owned() };
        let up = paths::normalize(config_root).ok_or_else(bad_root)?;
        let mut root = folder.as_path();
        for part in up.split('/').filter(|p| *p != ".") {
            if part != ".." {
                return Err(bad_root());
            }
            let too_high = || BundleError::RootTooHigh { root: config_root.to_owned(), top: top.clone() };
            if root == top {
                return Err(too_high());
            }
            root = root.parent().ok_or_else(too_high)?;
        }
        let root = root.to_owned();
        let prefix = relative(&folder, &top).ok_or_else(|| {
            failed(io::Error::new(io::ErrorKind::InvalidInput, "its path below the Git top level is not UTF-8"))
        })?;
        // made absolute now: the working folder may change before the cache is written
        let cache_dir = cache_dir.map(|c| std::path::absolute(&c).unwrap_or(c));
        let cache = Cache::new(cache_dir, &top);
        let rules = Rules::new(&top);
        Ok(Self { folder, root, prefix, git, rules, cache, reads: AtomicU64::new(0), clock, top })
    }

    /// A manifest or a text: UTF-8, at most 64 MB, within the root, a link included. Line ends and a BOM are
    /// as on disk. Errors: `bundle.missing`, `bundle.outside`, `bundle.bad_path`, `bundle.not_a_folder`,
    /// `bundle.special`, `bundle.not_utf8`, `bundle.too_large`, `bundle.unreadable`.
    #[allow(clippy::result_large_err)] // once a file, and the caller collects them as they are
    pub fn read_text(&self, path: &str) -> Result<Arc<str>, Diagnostic> {
        let place = self.place(path, true).map_err(|e| self.no_place(path, e))?;
        let at = || Location::file(self.shown(&place.top));
        let kind = place.disk.symlink_metadata().map_err(|e| self.unreadable(&place.top, &e))?.file_type();
        if kind.is_dir() {
            return Err(
                Diagnostic::new(&codes::NOT_A_FOLDER, format!("`{path}` is a folder, a file is due")).at(at(), "")
            );
        }
        if !kind.is_file() {
            return Err(Diagnostic::new(&codes::SPECIAL, format!("`{path}` is no regular file")).at(at(), ""));
        }
        let bytes = open::read(&place.disk, MAX_TEXT).map_err(|e| self.unreadable(&place.top, &e))?;
        let Some(bytes) = bytes else {
            return Err(Diagnostic::new(&codes::TOO_LARGE, format!("`{path}` is larger than 64 MB")).at(at(), ""));
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(e) => {
                let valid = e.utf8_error().valid_up_to();
                let line = 1 + memchr::memchr_iter(b'\n', &e.as_bytes()[..valid]).count();
                let message = format!("`{path}` is not UTF-8 text: byte {valid}, in line {line}");
                let place = Location { line: u32::try_from(line).unwrap_or(u32::MAX), ..at() };
                Err(Diagnostic::new(&codes::NOT_UTF8, message).at(place, ""))
            }
        }
    }

    /// Does Git ignore a path, which may lie anywhere? `None`: it is in no check-out of this project that can be
    /// read.
    pub fn git_ignores(&self, path: &Path) -> Option<bool> {
        self.git.as_ref()?.ignores(path)
    }

    /// How the commit that is checked out stands to another one: equal, greater (it came after), less (the other
    /// came after it). `None`: it cannot be told (no Git, a shallow clone, branches apart).
    pub fn stands_to(&self, commit: &str) -> Option<std::cmp::Ordering> {
        self.git.as_ref()?.stands_to(commit)
    }

    /// Is a commit in the repository of this project? Without Git it is not. `None`: a shallow clone, which cannot tell.
    pub fn knows(&self, commit: &str) -> Option<bool> {
        self.git.as_ref().map_or(Some(false), |git| git.knows(commit))
    }

    /// Where the project comes from. Where Git tells neither a remote nor a commit, the folder itself counts.
    pub fn source(&self) -> Source {
        let mut source = self.git.as_ref().map(|g| g.source(&self.prefix)).unwrap_or_default();
        if source.repository.is_none() && source.commit.is_none() {
            source.folder = Some(self.identity());
        }
        source
    }

    /// Equal for the same folder, whatever links lead to it, and another for any other folder of this machine. A
    /// digest, so that it can stand in a public plan.
    pub fn identity(&self) -> Digest {
        let mut text = b"checkfu.folder/v1\0".to_vec();
        text.extend_from_slice(self.folder.as_os_str().as_encoded_bytes());
        Digest::of(&text)
    }

    /// How many files' contents were read for hashing, [`crate::control::Blobs::open`] included.
    pub fn content_reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Writes the stat cache now instead of when the project is dropped. Failing is silent.
    pub fn save_cache(&self) {
        self.cache.save(|folder| folder.parent().is_some_and(Path::is_dir) || self.ignored_folder(folder));
    }

    /// Do the ignore rules cover a folder that need not exist?
    fn ignored_folder(&self, folder: &Path) -> bool {
        let Some(path) = relative(folder, &self.top) else { return false };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter().any(|end| {
            let part = &path[..end];
            let scope = self.rules.scope(part.rsplit_once('/').map_or("", |p| p.0));
            matches!(scope.verdict(&self.top.join(part), true), Verdict::GitIgnored(_) | Verdict::OwnIgnored(_))
        })
    }

    /// Finds a project path on disk, whatever the Unicode form of its names there. With `follow` the last
    /// part may be a link within the root; without, it is taken as it is.
    pub(crate) fn place(&self, path: &str, follow: bool) -> Result<Place, NoPlace> {
        let path = paths::normalize(path).ok_or(NoPlace::Form)?;
        let up = path.split('/').take_while(|p| *p == "..").count();
        let mut at = self.folder.ancestors().nth(up).ok_or(NoPlace::Outside)?.to_owned();
        let down: Vec<&str> = path.split('/').skip(up).filter(|p| *p != ".").collect();
        // decided before anything is looked at: what is outside is not even told to exist
        if !at.join(down.join("/")).starts_with(&self.root) {
            return Err(NoPlace::Outside);
        }
        for part in down {
            let next = at.join(part);
            at = match next.symlink_metadata() {
                Err(e) if e.kind() == io::ErrorKind::NotFound => other_form(&at, part).ok_or(NoPlace::Io(e))?,
                Err(e) => return Err(NoPlace::Io(e)),
                Ok(_) => next,
            };
        }
        let disk = match (follow, at.parent(), at.file_name()) {
            (false, Some(parent), Some(name)) if at != self.root => parent.canonicalize().map(|p| p.join(name)),
            _ => at.canonicalize(),
        };
        let disk = disk.map_err(NoPlace::Io)?;
        if !disk.starts_with(&self.root) {
            return Err(NoPlace::Outside);
        }
        let top = relative(&disk, &self.top).ok_or(NoPlace::Name)?;
        Ok(Place { disk, top })
    }

    /// What to say of a path that names no place.
    pub(crate) fn no_place(&self, path: &str, why: NoPlace) -> Diagnostic {
        let at = Location::file(path);
        match why {
            NoPlace::Form => {
                Diagnostic::new(&codes::BAD_PATH, format!("`{path}` is not a relative, `/`-separated path")).at(at, "")
            }
            NoPlace::Name => {
                Diagnostic::new(&codes::BAD_PATH, format!("the real path of `{path}` is not UTF-8")).at(at, "")
            }
            NoPlace::Outside => {
                let root = self.shown(&relative(&self.root, &self.top).unwrap_or_default());
                Diagnostic::new(&codes::OUTSIDE, format!("`{path}` is outside the root `{root}`")).at(at, "")
            }
            NoPlace::Io(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let mut missing = Diagnostic::new(&codes::MISSING, format!("`{path}` does not exist")).at(at, "");
                if let Some(near) = self.nearest(path) {
                    missing = missing.fix(near.clone()).hint(format!("did you mean `{near}`?"));
                }
                missing
            }
            NoPlace::Io(e) => Diagnostic::new(&codes::UNREADABLE, format!("`{path}` cannot be read: {e}")).at(at, ""),
        }
    }

    /// The entry beside a missing file whose name is most alike.
    fn nearest(&self, path: &str) -> Option<String> {
        let path = paths::normalize(path)?;
        let (parent, name) = path.rsplit_once('/').unwrap_or((".", &path));
        let place = self.place(parent, true).ok()?;
        let names = std::fs::read_dir(place.disk).ok()?.filter_map(|e| e.ok()?.file_name().into_string().ok());
        let scored = names.map(|n| (strsim::jaro_winkler(&n.to_lowercase(), &name.to_lowercase()), n));
        let best = scored.filter(|(score, _)| *score > 0.88).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some(paths::join(parent, &best.1))
    }

    /// A file or folder that the system does not let us read.
    pub(crate) fn unreadable(&self, top: &str, e: &io::Error) -> Diagnostic {
        let path = self.shown(top);
        Diagnostic::new(&codes::UNREADABLE, format!("`{path}` cannot be read: {e}")).at(Location::file(path), "")
    }

    /// A path relative to the top level, as one relative to the project folder.
    pub(crate) fn shown(&self, top: &str) -> String {
        let from: Vec<&str> = self.prefix.split('/').filter(|p| !p.is_empty()).collect();
        let to: Vec<&str> = top.split('/').filter(|p| !p.is_empty()).collect();
        let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let parts: Vec<&str> =
            std::iter::repeat_n("..", from.len() - common).chain(to[common..].iter().copied()).collect();
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }

    /// What Git tracks at a path relative to the top level, in whichever Unicode form it holds the name.
    pub(crate) fn tracked(&self, top: &str) -> Option<Tracked> {
        let git = self.git.as_ref()?;
        git.tracked(top).or_else(|| if top.is_ascii() { None } else { git.tracked(&paths::nfc(top)) })
    }

    /// What the ignore rules make of an entry of a folder. `inherited` is why the folder itself is ignored:
    /// then only what Git tracks stays in. What Git tracks is not ignored by `.gitignore`, as in Git.
    pub(crate) fn fate(&self, scope: &Scope, entry: &Place, is_dir: bool, inherited: Option<&str>) -> Fate {
        let why = match (scope.verdict(&entry.disk, is_dir), inherited) {
            (Verdict::OwnIgnored(why), _) => return Fate::Out(why),
            (Verdict::GitIgnored(why), None) => why,
            (_, Some(why)) => why.to_owned(),
            (Verdict::Kept | Verdict::Silent, None) => return Fate::In,
        };
        if is_dir && self.git.as_ref().is_some_and(|g| g.tracked_below(&entry.top)) {
            return Fate::TrackedOnly(why);
        }
        if self.tracked(&entry.top).is_some() { Fate::In } else { Fate::Out(why) }
    }

    /// Warnings about the repository, and about the rule files that were read so far.
    pub(crate) fn surroundings(&self) -> Diagnostics {
        let mut out = Diagnostics::default();
        if let Some(git) = &self.git
            && let Some(why) = git.problem()
        {
            let message = format!("the Git repository at `{}` cannot be read, going on without: {why}", self.shown(""));
            out.push(Diagnostic::new(&codes::GIT_UNREADABLE, message));
        }
        out.extend(self.bad_rules());
        out
    }

    /// Warnings about lines of rule files, each told once.
    pub(crate) fn bad_rules(&self) -> Diagnostics {
        let mut out = Diagnostics::default();
        for bad in self.rules.take_bad_lines() {
            let file = self.shown(&bad.file);
            let message = format!("`{file}`: {}", bad.why);
            out.push(Diagnostic::new(&codes::BAD_IGNORE, message).at(Location::file(file), ""));
        }
        out
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        self.save_cache();
    }
}

/// `path` below `base`, `/`-separated; `` when they are one, `None` when it is not below or not UTF-8.
pub(crate) fn relative(path: &Path, base: &Path) -> Option<String> {
    let mut out = String::new();
    for part in path.strip_prefix(base).ok()?.components() {
        if !out.is_empty() {
            out.push('/');
        }
        out.push_str(part.as_os_str().to_str()?);
    }
    Some(out)
}

/// The entry whose name equals `part` after both are composed.
fn other_form(folder: &Path, part: &str) -> Option<PathBuf> {
    if part.is_ascii() {
        return None;
    }
    let wanted = paths::nfc(part);
    let mut names = std::fs::read_dir(folder).ok()?.filter_map(|e| e.ok()?.file_name().into_string().ok());
    names.find(|n| paths::nfc(n) == wanted).map(|n| folder.join(n))
}
