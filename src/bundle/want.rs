//! What is asked of the walker, and what it says beside the files.

use std::collections::BTreeMap;

use crate::diag::Location;

/// What a set of files is for; limits and rules follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A skill: at most 30 MB in all; over 200 files are a warning.
    Skill,
    /// An uploaded tree: at most 1,024 files, 25 MB each, 250 MB in all. May be a single file.
    Tree,
    /// A folder of memories: UTF-8 text, at most 102,400 bytes each, at most 10,000.
    Memory,
}

/// A set of files that somebody wants.
#[derive(Debug, Clone)]
pub struct BundleWant {
    /// The folder (or, for a tree, a single file), relative to the project folder; may begin with `..` as
    /// far as `root` reaches.
    pub path: String,
    /// Globs relative to `path`; a file is in when it, or a folder above it, matches one. Empty = everything.
    pub include: Vec<String>,
    /// Globs relative to `path`; a file is out when it, or a folder above it, matches one.
    pub exclude: Vec<String>,
    /// Keep symbolic links whose targets stay inside `path`. Meant for uploaded trees; else they are errors.
    pub keep_symlinks: bool,
    /// What it is for.
    pub purpose: Purpose,
    /// Files whose names look like secrets and are meant: paths relative to the project folder, as the
    /// configuration lists them.
    pub allow_secret_names: Vec<String>,
    /// Where globs are written, by option (`include`, `exclude`) and number, as far as that is known.
    pub places: BTreeMap<(&'static str, usize), Location>,
}

impl BundleWant {
    /// Everything under a path, for a purpose.
    pub fn new(path: impl Into<String>, purpose: Purpose) -> Self {
        Self {
            path: path.into(),
            include: Vec::new(),
            exclude: Vec::new(),
            keep_symlinks: false,
            purpose,
            allow_secret_names: Vec::new(),
            places: BTreeMap::new(),
        }
    }
}

/// What the walk saw beside the files of the set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleReport {
    /// What was left out, sorted: path relative to the project folder (a folder ends with `/`), and why.
    pub left_out: Vec<(String, String)>,
    /// Files of the set that Git does not track, relative to the project folder, sorted; empty without Git.
    pub untracked: Vec<String>,
}

/// Something that discovery found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Relative to the project folder, `/`-separated.
    pub path: String,
    /// What it is.
    pub what: What,
}

/// What discovery takes a path for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A YAML file that may hold manifests.
    Yaml,
    /// An agent in Markdown.
    Agent,
    /// A folder with `SKILL.md`.
    SkillDir,
}
