//! Ignore rules and attributes by folder: `.gitignore`, `.checkfuignore` and `.gitattributes` of the
//! repository, from its top level down. Nothing global: neither `core.excludesFile` nor `.git/info`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use crate::bundle::attributes::{Attributes, Of};
use crate::bundle::{open, paths};

/// Larger rule files are not read; nobody writes such by hand.
const MAX_RULES: u64 = 4 << 20;

/// The rule files of a repository, each read once.
#[derive(Debug)]
pub(crate) struct Rules {
    top: PathBuf,
    scopes: Mutex<BTreeMap<String, Scope>>,
    bad: Mutex<Vec<BadLine>>,
}

/// A line of a rule file, or a whole one, that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BadLine {
    /// The file, relative to the top level.
    pub(crate) file: String,
    /// What is wrong.
    pub(crate) why: String,
}

#[derive(Debug)]
struct Level {
    folder: String,
    own: Gitignore,
    git: Gitignore,
    attributes: Option<Attributes>,
}

/// All rules that speak about the entries of one folder, the top level's first. Folders without rule files
/// add nothing, so that depth costs nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope(Arc<[Arc<Level>]>);

/// What the rules say of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Silent,
    /// A `!` line takes it back in.
    Kept,
    /// `.gitignore` leaves it out, unless Git tracks it. Holds the reason.
    GitIgnored(String),
    /// `.checkfuignore` leaves it out. Holds the reason.
    OwnIgnored(String),
}

impl Rules {
    /// Of the check-out whose top level (in canonical form) this is.
    pub(crate) fn new(top: &Path) -> Self {
        Self { top: top.to_owned(), scopes: Mutex::default(), bad: Mutex::default() }
    }

    /// The rules for the entries of a folder, which is relative to the top level (`` = the top).
    pub(crate) fn scope(&self, folder: &str) -> Scope {
        let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing = Vec::new();
        let mut at = folder;
        let mut scope = loop {
            if let Some(known) = scopes.get(at) {
                break known.clone();
            }
            missing.push(at);
            match at.rsplit_once('/') {
                Some((above, _)) => at = above,
                None if at.is_empty() => break Scope::default(),
                None => at = "",
            }
        };
        for folder in missing.into_iter().rev() {
            if let Some(level) = self.level(folder) {
                scope = Scope(scope.0.iter().cloned().chain([Arc::new(level)]).collect());
            }
            scopes.insert(folder.to_owned(), scope.clone());
        }
        scope
    }

    /// Lines that could not be read and were not taken before, sorted.
    pub(crate) fn take_bad_lines(&self) -> Vec<BadLine> {
        let mut bad = std::mem::take(&mut *self.bad.lock().unwrap_or_else(PoisonError::into_inner));
        bad.sort();
        bad
    }

    /// The rule files of one folder, if there are any.
    fn level(&self, folder: &str) -> Option<Level> {
        let attributes = self.text(folder, ".gitattributes").map(|text| {
            let (attributes, bad) = Attributes::parse(&text, folder.is_empty());
            for (line, text) in bad {
                self.bad(folder, ".gitattributes", format!("line {line}: `{text}` is not a valid line"));
            }
            attributes
        });
        let own = self.ignore_file(folder, ".checkfuignore");
        let git = self.ignore_file(folder, ".gitignore");
        let some = attributes.is_some() || !own.is_empty() || !git.is_empty();
        some.then(|| Level { folder: folder.to_owned(), own, git, attributes })
    }

    fn ignore_file(&self, folder: &str, name: &str) -> Gitignore {
        let Some(text) = self.text(folder, name) else { return Gitignore::empty() };
        let dir = self.top.join(folder);
        let file = dir.join(name);
        let mut builder = GitignoreBuilder::new(&dir);
        for line in text.trim_start_matches('\u{feff}').lines() {
            if let Err(e) = builder.add_line(Some(file.clone()), &paths::literal_braces(line)) {
                self.bad(folder, name, e.to_string());
            }
        }
        builder.build().unwrap_or_else(|e| {
            self.bad(folder, name, e.to_string());
            Gitignore::empty()
        })
    }

    /// The text of a rule file; bytes that are no UTF-8 are replaced, as they cannot match anything here.
    fn text(&self, folder: &str, name: &str) -> Option<String> {
        match open::read(&self.top.join(folder).join(name), MAX_RULES) {
            Ok(Some(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(None) => {
                self.bad(folder, name, "is larger than 4 MB".to_owned());
                None
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => {
                self.bad(folder, name, e.to_string());
                None
            }
        }
    }

    fn bad(&self, folder: &str, name: &str, why: String) {
        let file = paths::join(folder, name);
        self.bad.lock().unwrap_or_else(PoisonError::into_inner).push(BadLine { file, why });
    }
}

impl Scope {
    /// What the rules say of an entry of the folder: `.checkfuignore` before `.gitignore`, deeper files
    /// before higher ones, later lines before earlier ones.
    pub(crate) fn verdict(&self, path: &Path, is_dir: bool) -> Verdict {
        for level in self.0.iter().rev() {
            match level.own.matched(path, is_dir) {
                Match::Ignore(glob) => return Verdict::OwnIgnored(level.reason(glob, ".checkfuignore")),
                Match::Whitelist(_) => return Verdict::Kept,
                Match::None => {}
            }
        }
        for level in self.0.iter().rev() {
            match level.git.matched(path, is_dir) {
                Match::Ignore(glob) => return Verdict::GitIgnored(level.reason(glob, ".gitignore")),
                Match::Whitelist(_) => return Verdict::Kept,
                Match::None => {}
            }
        }
        Verdict::Silent
    }

    /// The attributes of a file, by its path relative to the top level.
    pub(crate) fn attributes(&self, path: &str) -> Of {
        let mut of = Of::default();
        let macros =
            self.0.first().filter(|l| l.folder.is_empty()).and_then(|l| l.attributes.as_ref()).map(Attributes::macros);
        for level in self.0.iter() {
            let Some(attributes) = &level.attributes else { continue };
            let inner = match level.folder.as_str() {
                "" => path,
                folder => path.strip_prefix(folder).and_then(|p| p.strip_prefix('/')).unwrap_or(path),
            };
            attributes.apply(inner, macros, &mut of);
        }
        of
    }
}

impl Level {
    fn reason(&self, glob: &Glob, name: &str) -> String {
        format!("`{}` in {}", glob.original(), paths::join(&self.folder, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn deeper_and_own_rules_win_and_say_who_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join(".gitignore"), "*.log\nbuild/\n").unwrap();
        fs::write(top.join("a/.gitignore"), "!keep.log\n/x\n").unwrap();
        fs::write(top.join(".checkfuignore"), "!drafts\ny.log\n").unwrap();
        fs::write(top.join("a/.checkfuignore"), "drafts\n!b/y.log\n").unwrap();
        let rules = Rules::new(top);
        let say = |path: &str, is_dir| {
            let folder = path.rsplit_once('/').map_or("", |p| p.0);
            rules.scope(folder).verdict(&top.join(path), is_dir)
        };
        assert_eq!(say("z.log", false), Verdict::GitIgnored("`*.log` in .gitignore".into()));
        assert_eq!(say("a/b/keep.log", false), Verdict::Kept);
        assert_eq!(say("a/x", false), Verdict::GitIgnored("`/x` in a/.gitignore".into()));
        assert_eq!(say("a/b/x", false), Verdict::Silent);
        assert_eq!(say("a/b/y.log", false), Verdict::Kept);
        assert_eq!(say("a/b/drafts", true), Verdict::OwnIgnored("`drafts` in a/.checkfuignore".into()));
        assert_eq!(
            (say("build", true), say("build", false)),
            (Verdict::GitIgnored("`build/` in .gitignore".into()), Verdict::Silent)
        );
    }

    #[test]
    fn bad_lines_and_odd_files_are_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".gitignore"), "[z-a]\nok\n{x,y}\n").unwrap();
        fs::write(dir.path().join(".gitattributes"), "\"x text\n").unwrap();
        fs::create_dir(dir.path().join(".checkfuignore")).unwrap();
        let rules = Rules::new(dir.path());
        assert_eq!(
            rules.scope("").verdict(&dir.path().join("ok"), false),
            Verdict::GitIgnored("`ok` in .gitignore".into())
        );
        assert_eq!(rules.scope("").verdict(&dir.path().join("x"), false), Verdict::Silent, "Git has no alternatives");
        let files: Vec<_> = rules.take_bad_lines().into_iter().map(|b| b.file).collect();
        assert_eq!(files, [".checkfuignore", ".gitattributes", ".gitignore"]);
    }
}
