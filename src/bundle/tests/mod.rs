//! Scenarios on real folders and repositories, all in temporary folders.

mod cache;
mod commit;
mod discover;
mod git;
mod lines;
mod links;
mod open;
mod sets;

use std::fs;
use std::path::{Path, PathBuf};

use git2::{IndexAddOption, Repository, Signature, Time};

use crate::bundle::{BundleReport, BundleWant, Project, Purpose};
use crate::diag::Diagnostics;
use crate::model::tree::FileSet;

/// A temporary folder with what tests do to it.
struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with a repository.
    fn repository() -> Self {
        let dir = Self::new();
        Repository::init(dir.path()).unwrap();
        dir
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
        self
    }

    #[cfg(unix)]
    fn link(&self, target: &str, path: &str) -> &Self {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, file).unwrap();
        self
    }

    #[cfg(unix)]
    fn mode(&self, path: &str, mode: u32) -> &Self {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// Stages everything that is not ignored, and commits.
    fn commit(&self) -> String {
        let repository = Repository::open(self.path()).unwrap();
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::new("t", "t@example.com", &Time::new(0, 0)).unwrap();
        let parent = repository.head().ok().and_then(|h| h.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        repository.commit(Some("HEAD"), &who, &who, "x", &tree, &parents).unwrap().to_string()
    }

    fn open(&self) -> Project {
        Project::open(self.path(), ".", None).unwrap()
    }
}

fn tree(path: &str) -> BundleWant {
    BundleWant::new(path, Purpose::Tree)
}

fn codes(diagnostics: &Diagnostics) -> Vec<&'static str> {
    diagnostics.0.iter().map(|d| d.code.code).collect()
}

fn messages(diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.0.iter().map(|d| format!("{}: {} {:?}", d.code.code, d.message, d.hints));
    lines.collect::<Vec<_>>().join("\n")
}

/// The set, and nothing to say.
fn set(project: &Project, want: &BundleWant) -> FileSet {
    let (set, _, diagnostics) = project.files(want);
    assert!(diagnostics.0.is_empty(), "{}", messages(&diagnostics));
    set.unwrap()
}

/// No set, and these codes.
fn refused(project: &Project, want: &BundleWant, wanted: &[&str]) -> (BundleReport, Diagnostics) {
    let (set, report, diagnostics) = project.files(want);
    assert_eq!(codes(&diagnostics), wanted, "{}", messages(&diagnostics));
    assert!(set.is_none());
    (report, diagnostics)
}

fn names(set: &FileSet) -> Vec<&str> {
    set.entries.iter().map(|e| e.path.as_str()).collect()
}
