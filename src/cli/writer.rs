//! Many files at once: looked at before anything is written, each written whole, none through a link.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::view::text::bytes;
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::model::Digest;

/// When a file that is there and differs is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Never.
    Never,
    /// If this is the digest of its bytes.
    If(Digest),
    /// Always.
    Always,
}

/// A file as it is to be.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Relative to the folder, `/`-separated, without `.` and `..`.
    pub path: String,
    /// Its bytes; of a link, its target.
    pub bytes: Vec<u8>,
    /// May it be executed?
    pub executable: bool,
    /// Is it a symbolic link?
    pub link: bool,
    /// What if it is there?
    pub over: Over,
}

/// What has to be done.
#[derive(Debug, Default)]
pub struct Work {
    files: Vec<Planned>,
    removed: Vec<String>,
}

impl Work {
    /// Looks at the disk: what is as it should be is left out. Everything that is in the way is told at once.
    pub fn look(dir: &Path, planned: Vec<Planned>) -> (Self, Diagnostics) {
        let (mut work, mut found) = (Self::default(), Diagnostics::default());
        for file in planned {
            match state(dir, &file) {
                State::Same => {}
                State::Write => work.files.push(file),
                State::Wrong(d) => found.push(*d),
            }
        }
        (work, found)
    }

    /// Takes files away too. Only what is a plain file or a link when it is done.
    pub fn remove(&mut self, paths: Vec<String>) {
        self.removed = paths;
    }

    /// Is there nothing to do?
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.removed.is_empty()
    }

    /// The paths that are written, sorted.
    pub fn written(&self) -> Vec<String> {
        let sorted: BTreeSet<&String> = self.files.iter().map(|f| &f.path).collect();
        sorted.into_iter().cloned().collect()
    }

    /// The files that would be written.
    pub fn into_files(self) -> Vec<Planned> {
        self.files
    }

    /// The paths that are taken away.
    pub fn removed(&self) -> &[String] {
        &self.removed
    }

    /// Writes all files beside their places first, then moves them there. What fails before that leaves everything as
    /// it was.
    pub fn run(self, dir: &Path) -> Result<(), Failure> {
        let mut made = Vec::new();
        let beside: Result<Vec<Beside>, Failure> =
            self.files.iter().map(|file| beside(dir, file, &mut made).map_err(|e| cannot(file, &e))).collect();
        let beside = match beside {
            Ok(beside) => beside,
            Err(failure) => {
                for folder in made.iter().rev() {
                    // One that is not empty was made by somebody else meanwhile.
                    let _ = std::fs::remove_dir(folder);
                }
                return Err(failure);
            }
        };
        for (file, beside) in self.files.iter().zip(beside) {
            beside.keep(&dir.join(&file.path)).map_err(|e| cannot(file, &e))?;
        }
        for path in &self.removed {
            std::fs::remove_file(dir.join(path))
                .map_err(|e| Failure::new(&codes::cli::WRITE, format!("{path} cannot be removed: {e}")))?;
        }
        Ok(())
    }
}

enum State {
    Same,
    Write,
    Wrong(Box<Diagnostic>),
}

fn state(dir: &Path, file: &Planned) -> State {
    let wrong = |code, message: String| State::Wrong(Box::new(Diagnostic::new(code, message)));
    let mut at = dir.to_path_buf();
    let parts: Vec<&str> = file.path.split('/').collect();
    for part in &parts[..parts.len() - 1] {
        at.push(part);
        match at.symlink_metadata() {
            Ok(m) if m.is_dir() => {}
            Ok(_) => {
                return wrong(
                    &code::IN_THE_WAY,
                    format!("{} is no folder, and {} belongs there", shown(dir, &at), file.path),
                );
            }
            Err(_) => return State::Write,
        }
    }
    let path = dir.join(&file.path);
    let Ok(there) = path.symlink_metadata() else { return State::Write };
    if there.is_symlink() && file.link {
        let target = std::fs::read_link(&path).map(|t| t.to_string_lossy().into_owned().into_bytes());
        return match (target, file.over) {
            (Ok(target), _) if target == file.bytes => State::Same,
            (_, Over::Always) => State::Write,
            _ => wrong(&code::DIFFERS, format!("{} is there and links elsewhere", file.path)),
        };
    }
    if !there.is_file() || file.link {
        return wrong(&code::IN_THE_WAY, format!("{} is there and is something else", file.path));
    }
    match std::fs::read(&path) {
        Ok(old) if old == file.bytes && has_mode(&there, file.executable) => State::Same,
        Ok(old) => match file.over {
            Over::Always => State::Write,
            _ if old == file.bytes => State::Write,
            Over::If(digest) if digest == Digest::of(&old) => State::Write,
            _ => wrong(&code::DIFFERS, format!("{} is there and differs", file.path)),
        },
        Err(e) => wrong(&codes::cli::READ, format!("{} cannot be read: {e}", file.path)),
    }
}

fn shown(dir: &Path, path: &Path) -> String {
    path.strip_prefix(dir).unwrap_or(path).display().to_string()
}

/// Has it the mode? Where there are none, every file has.
#[cfg(unix)]
fn has_mode(metadata: &std::fs::Metadata, executable: bool) -> bool {
    use std::os::unix::fs::PermissionsExt;
    (metadata.permissions().mode() & 0o100 != 0) == executable
}

#[cfg(not(unix))]
fn has_mode(_: &std::fs::Metadata, _: bool) -> bool {
    true
}

/// A file under a name of its own, in the folder in which it is to be.
enum Beside {
    File(tempfile::NamedTempFile),
    Link(tempfile::TempDir, PathBuf),
}

impl Beside {
    fn keep(self, path: &Path) -> Result<(), std::io::Error> {
        match self {
            Self::File(file) => file.persist(path).map(drop).map_err(|e| e.error),
            Self::Link(_folder, link) => std::fs::rename(link, path),
        }
    }
}

fn beside(dir: &Path, file: &Planned, made: &mut Vec<PathBuf>) -> Result<Beside, std::io::Error> {
    let path = dir.join(&file.path);
    let parent = path.parent().unwrap_or(dir);
    let missing: Vec<&Path> = parent.ancestors().take_while(|a| a.symlink_metadata().is_err()).collect();
    for folder in missing.into_iter().rev() {
        std::fs::create_dir(folder)?;
        made.push(folder.to_path_buf());
    }
    if file.link {
        return link(parent, file);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".checkfu-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the umask takes its part.
        builder.permissions(std::fs::Permissions::from_mode(if file.executable { 0o777 } else { 0o666 }));
    }
    let mut new = builder.tempfile_in(parent)?;
    new.write_all(&file.bytes)?;
    new.as_file().sync_all()?;
    Ok(Beside::File(new))
}

#[cfg(unix)]
fn link(parent: &Path, file: &Planned) -> Result<Beside, std::io::Error> {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::Builder::new().prefix(".checkfu-").tempdir_in(parent)?;
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(&file.bytes), &link)?;
    Ok(Beside::Link(folder, link))
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Planned) -> Result<Beside, std::io::Error> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "symbolic links are not made on this system"))
}

fn cannot(file: &Planned, why: &std::io::Error) -> Failure {
    let size = bytes(file.bytes.len() as u64);
    Failure::new(&codes::cli::WRITE, format!("{} ({size}) cannot be written: {why}", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(path: &str, text: &str, over: Over) -> Planned {
        Planned { path: path.to_owned(), bytes: text.as_bytes().to_vec(), executable: false, link: false, over }
    }

    fn told(dir: &Path, files: Vec<Planned>) -> Vec<&'static str> {
        Work::look(dir, files).1.0.iter().map(|d| d.code.code).collect()
    }

    #[test]
    fn what_is_there_is_kept_unless_it_may_go() {
        let dir = tempfile::tempdir().unwrap();
        let files = || vec![planned("a/b.md", "one", Over::Never), planned("c", "two", Over::Never)];
        let (work, found) = Work::look(dir.path(), files());
        assert!(found.0.is_empty());
        assert_eq!(work.written(), ["a/b.md", "c"]);
        work.run(dir.path()).unwrap();
        assert!(Work::look(dir.path(), files()).0.is_empty());
        let other = |over| vec![planned("a/b.md", "three", over)];
        assert_eq!(told(dir.path(), other(Over::Never)), ["pull.differs"]);
        assert_eq!(told(dir.path(), other(Over::If(Digest::of(b"two")))), ["pull.differs"]);
        assert!(told(dir.path(), other(Over::If(Digest::of(b"one")))).is_empty());
        let (mut work, _) = Work::look(dir.path(), other(Over::Always));
        work.remove(vec!["c".to_owned()]);
        work.run(dir.path()).unwrap();
        assert_eq!(std::fs::read(dir.path().join("a/b.md")).unwrap(), b"three");
        assert!(!dir.path().join("c").exists());
        assert_eq!(std::fs::read_dir(dir.path().join("a")).unwrap().count(), 1, "no temporary file stays");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link_or_over_a_folder() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), dir.path().join("agents")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("x"), dir.path().join("x.md")).unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("f"), "").unwrap();
        let files = ["agents/a.md", "x.md", "d", "f/x"].map(|p| planned(p, "x", Over::Always)).into();
        assert_eq!(told(dir.path(), files), ["pull.in_the_way"; 4]);
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let files = || {
            let tool = Planned { executable: true, ..planned("t/tool", "x", Over::Never) };
            vec![tool, Planned { link: true, ..planned("t/link", "tool", Over::Never) }]
        };
        Work::look(dir.path(), files()).0.run(dir.path()).unwrap();
        assert_eq!(std::fs::read_link(dir.path().join("t/link")).unwrap(), Path::new("tool"));
        assert!(has_mode(&dir.path().join("t/tool").metadata().unwrap(), true));
        assert!(Work::look(dir.path(), files()).0.is_empty());
        let elsewhere = Planned { link: true, ..planned("t/link", "other", Over::Never) };
        assert_eq!(told(dir.path(), vec![elsewhere]), ["pull.differs"]);
    }

    #[test]
    fn a_failure_leaves_everything_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "old").unwrap();
        // The second becomes impossible after the look.
        let files = vec![
            planned("a", "new", Over::Always),
            planned("n/e/w", "x", Over::Never),
            planned("q/x", "x", Over::Never),
        ];
        let (work, _) = Work::look(dir.path(), files);
        std::fs::write(dir.path().join("q"), "").unwrap();
        assert_eq!(work.run(dir.path()).unwrap_err().diagnostics.0[0].code.code, "cli.write");
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"old");
        assert!(!dir.path().join("n").exists());
    }
}
