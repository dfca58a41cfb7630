//! The walk over one folder: every entry is looked at without following it, sorted into files, kept links,
//! what is left out and why, and what is refused.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::bundle::project::{Fate, Place};
use crate::bundle::rules::Scope;
use crate::bundle::{BundleWant, Project, paths};
use crate::diag::{Diagnostic, Diagnostics, Location, codes::bundle as codes};

/// Where a walk gives up: far above every limit, and small enough to be held in memory.
const MAX_ENTRIES: usize = 100_000;

/// Why a rule file of ours is left out. A folder with nothing else is as empty as it looks.
pub(crate) const OWN_RULES: &str = "rules for checkfu, no content";

/// A file or link that belongs to the set.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// Relative to the set's folder, as on disk.
    pub(crate) path: String,
    /// Where it is.
    pub(crate) place: Place,
    /// As `lstat` gave it.
    pub(crate) metadata: Metadata,
    /// The target of a link that may be kept.
    pub(crate) link: Option<PathBuf>,
    /// The rules of its folder.
    pub(crate) scope: Arc<Scope>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) candidates: Vec<Candidate>,
    /// Path relative to the project folder, reason.
    pub(crate) left_out: Vec<(String, String)>,
    pub(crate) diagnostics: Diagnostics,
}

/// Globs as users expect them: `*` stays inside a folder, and a folder that matches stands for all below it.
#[derive(Debug)]
pub(crate) struct Globs {
    set: GlobSet,
    written: Vec<String>,
}

impl Globs {
    /// Compiles; what is no glob is given back as a diagnostic that names `option`, and its place where `at` knows
    /// that of a number in the list.
    pub(crate) fn new(
        written: &[String],
        option: &'static str,
        at: &dyn Fn(&'static str, usize) -> Option<Location>,
        out: &mut Diagnostics,
    ) -> Self {
        let mut set = GlobSetBuilder::new();
        let mut kept = Vec::new();
        for (number, text) in written.iter().enumerate() {
            let built = GlobBuilder::new(plain(text)).literal_separator(true).backslash_escape(true).build();
            // One that is too large to match with must not take the others with it.
            match built.and_then(|glob| GlobSet::new([glob.clone()]).map(|_| glob)) {
                Ok(glob) => {
                    set.add(glob);
                    kept.push(text.clone());
                }
                Err(e) => {
                    let message = format!("`{text}` in `{option}` is not a glob: {}", e.kind());
                    let d = Diagnostic::new(&codes::BAD_GLOB, message);
                    out.push(if let Some(at) = at(option, number) { d.at(at, "") } else { d });
                }
            }
        }
        Self { set: set.build().unwrap_or_default(), written: kept }
    }

    /// The glob, as written, that matches the path itself.
    pub(crate) fn matches(&self, path: &str) -> Option<&str> {
        self.set.matches(path).first().and_then(|i| self.written.get(*i)).map(String::as_str)
    }

    /// The globs that could match something below a folder. One that cannot be told apart by its parts (a brace
    /// may hold a slash) could.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = &str> {
        self.written.iter().map(|text| plain(text)).filter(move |glob| could_match_below(glob, folder))
    }

    /// Does one match the path or a folder above it?
    pub(crate) fn covers(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter().any(|end| self.matches(&path[..end]).is_some())
    }
}

fn plain(glob: &str) -> &str {
    glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/')
}

fn could_match_below(glob: &str, folder: &str) -> bool {
    let mut parts = glob.split('/');
    for name in folder.split('/') {
        let Some(part) = parts.next() else { return false };
        if part.contains("**") || part.contains(['{', '}', '\\']) {
            return true;
        }
        let matcher = GlobBuilder::new(part).literal_separator(true).build().map(|g| g.compile_matcher());
        if matcher.is_ok_and(|m| !m.is_match(name)) {
            return false;
        }
    }
    parts.next().is_some()
}

/// A walk that goes on.
struct Walk<'a> {
    project: &'a Project,
    want: &'a BundleWant,
    include: Globs,
    exclude: Globs,
    pending: Vec<Folder>,
    out: Walked,
}

struct Folder {
    /// Relative to the set's folder, `` = itself.
    path: String,
    place: Place,
    /// Why only what Git tracks is in.
    inherited: Option<String>,
}

/// Walks the folder `start`, or takes the one file that it is.
pub(crate) fn walk(project: &Project, want: &BundleWant, start: Place) -> Walked {
    let mut out = Walked::default();
    let at = |option, number| want.places.get(&(option, number)).cloned();
    let include = Globs::new(&want.include, "include", &at, &mut out.diagnostics);
    let exclude = Globs::new(&want.exclude, "exclude", &at, &mut out.diagnostics);
    let mut walk = Walk { project, want, include, exclude, pending: Vec::new(), out };
    let inherited = match inherited(project, &start) {
        Fate::In => None,
        Fate::TrackedOnly(why) => Some(why),
        Fate::Out(why) => {
            let slash = if start.disk.is_dir() { "/" } else { "" };
            walk.out.left_out.push((project.shown(&start.top) + slash, why));
            return walk.out;
        }
    };
    match start.disk.symlink_metadata() {
        Ok(m) if m.is_dir() => walk.pending.push(Folder { path: String::new(), place: start, inherited }),
        Ok(metadata) => {
            let (parent, name) = start.top.rsplit_once('/').unwrap_or(("", &start.top));
            let (path, scope) = (name.to_owned(), Arc::new(project.rules.scope(parent)));
            walk.out.candidates.push(Candidate { path, place: start, metadata, link: None, scope });
        }
        Err(e) => walk.out.diagnostics.push(project.unreadable(&start.top, &e)),
    }
    while let Some(folder) = walk.pending.pop() {
        walk.folder(&folder);
        if walk.out.candidates.len() > MAX_ENTRIES {
            let path = project.shown(&folder.place.top);
            let message = format!("more than {MAX_ENTRIES} files in `{}`, the walk stopped", want.path);
            walk.out.diagnostics.push(Diagnostic::new(&codes::LIMIT, message).at(Location::file(path), ""));
            break;
        }
    }
    walk.out
}

/// What the rules make of a place as seen from the top level: a folder above it may be ignored.
pub(crate) fn inherited(project: &Project, place: &Place) -> Fate {
    let mut fate = Fate::In;
    let ends = place.top.match_indices('/').map(|(at, _)| at).chain([place.top.len()]);
    for end in ends.filter(|end| *end > 0) {
        let top = place.top[..end].to_owned();
        let scope = project.rules.scope(top.rsplit_once('/').map_or("", |p| p.0));
        let disk = project.top.join(&top);
        let is_dir = end < place.top.len() || disk.is_dir();
        let why = if let Fate::TrackedOnly(why) = &fate { Some(why.clone()) } else { None };
        fate = project.fate(&scope, &Place { disk, top }, is_dir, why.as_deref());
        if let Fate::Out(_) = fate {
            return fate;
        }
    }
    fate
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder) {
        let entries = match std::fs::read_dir(&folder.place.disk) {
            Ok(entries) => entries,
            Err(e) => return self.out.diagnostics.push(self.project.unreadable(&folder.place.top, &e)),
        };
        let scope = Arc::new(self.project.rules.scope(&folder.place.top));
        for entry in entries {
            match entry.and_then(|e| Ok((e.file_type()?, e))) {
                Ok((kind, entry)) => self.entry(folder, &scope, kind, &entry),
                Err(e) => self.out.diagnostics.push(self.project.unreadable(&folder.place.top, &e)),
            }
        }
    }

    fn entry(&mut self, folder: &Folder, scope: &Arc<Scope>, kind: std::fs::FileType, entry: &std::fs::DirEntry) {
        let raw = entry.file_name();
        let name = raw.to_string_lossy();
        let path = paths::join(&folder.path, &name);
        let place = Place { disk: entry.path(), top: paths::join(&folder.place.top, &name) };
        if let Some(why) = self.own_file(&name, kind.is_dir(), &place.disk) {
            return self.leave_out(&place, kind.is_dir(), why.to_owned());
        }
        if let Some(glob) = self.exclude.matches(&path) {
            let why = format!("`exclude` has `{glob}`");
            return self.leave_out(&place, kind.is_dir(), why);
        }
        let inherited = match self.project.fate(scope, &place, kind.is_dir(), folder.inherited.as_deref()) {
            Fate::In => None,
            Fate::TrackedOnly(why) => Some(why),
            Fate::Out(why) => return self.leave_out(&place, kind.is_dir(), why),
        };
        if raw.to_str().is_none() {
            let shown = self.project.shown(&place.top);
            let message = format!("the name of `{shown}` is not UTF-8");
            return self.refuse(Diagnostic::new(&codes::BAD_PATH, message), &place);
        }
        if kind.is_dir() {
            if path.len() >= paths::MAX_PATH {
                let message =
                    format!("the folders of `{}` are too deep: no path below 1,024 bytes is left", self.want.path);
                return self.refuse(Diagnostic::new(&codes::BAD_PATH, message), &place);
            }
            return self.pending.push(Folder { path, place, inherited });
        }
        if !self.want.include.is_empty() && !self.include.covers(&path) {
            return self.leave_out(&place, false, "matches no glob of `include`".to_owned());
        }
        if !kind.is_file() && !kind.is_symlink() {
            let message = format!("`{}` is a device, socket or FIFO", self.project.shown(&place.top));
            return self.refuse(Diagnostic::new(&codes::SPECIAL, message), &place);
        }
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            Err(e) => return self.out.diagnostics.push(self.project.unreadable(&place.top, &e)),
        };
        let link = if kind.is_symlink() {
            match std::fs::read_link(&place.disk) {
                Ok(target) if self.want.keep_symlinks => Some(target),
                Ok(target) => return self.refuse(link_refused(self.project, &place, &target), &place),
                Err(e) => return self.out.diagnostics.push(self.project.unreadable(&place.top, &e)),
            }
        } else {
            None
        };
        self.out.candidates.push(Candidate { path, place, metadata, link, scope: scope.clone() });
    }

    /// What never is content: Git's own folder, and ours.
    fn own_file(&self, name: &str, is_dir: bool, disk: &Path) -> Option<&'static str> {
        match name {
            ".git" => Some("belongs to Git"),
            ".checkfu" if is_dir => Some("belongs to checkfu"),
            ".checkfuignore" => Some(OWN_RULES),
            _ if self.project.cache.folder() == Some(disk) => Some("belongs to checkfu"),
            _ => None,
        }
    }

    fn leave_out(&mut self, place: &Place, is_dir: bool, why: String) {
        let slash = if is_dir { "/" } else { "" };
        self.out.left_out.push((self.project.shown(&place.top) + slash, why));
    }

    fn refuse(&mut self, d: Diagnostic, place: &Place) {
        self.out.diagnostics.push(d.at(Location::file(self.project.shown(&place.top)), ""));
    }
}

/// A link that is not kept, with the name of its target.
pub(crate) fn link_refused(project: &Project, place: &Place, target: &Path) -> Diagnostic {
    let shown = project.shown(&place.top);
    Diagnostic::new(&codes::SYMLINK, format!("`{shown}` is a symbolic link to `{}`", target.display()))
}
