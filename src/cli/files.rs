//! Files that commands write, and where the project is.

use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use crate::cli::failure::Failure;
use crate::diag::codes;

/// The file that makes a folder a project.
pub const CONFIG: &str = "checkfu.yaml";

/// The folder with `checkfu.yaml`: this one, or the nearest one above it. Something of that name that is no file
/// ends the search: going past it would act on another project.
pub fn find_project(from: &Path) -> Result<PathBuf, Failure> {
    for dir in from.ancestors() {
        let config = dir.join(CONFIG);
        match config.metadata() {
            Ok(found) if found.is_file() => return Ok(dir.to_path_buf()),
            Ok(_) => return Err(unusable(&config, "it is no regular file")),
            Err(_) if config.symlink_metadata().is_ok() => {
                return Err(unusable(&config, "it is a link that leads to no file"));
            }
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(unusable(&config, &e.to_string()));
            }
            Err(_) => {}
        }
    }
    Err(Failure::new(&codes::cli::NO_PROJECT, format!("no {CONFIG} in {} or above it", from.display()))
        .fix("checkfu init")
        .hint("-C DIR names another folder"))
}

fn unusable(config: &Path, why: &str) -> Failure {
    Failure::new(&codes::cli::READ, format!("{} cannot be read: {why}", config.display()))
}

/// Writes a plan file. A file that is there is replaced only when it is a plan: a slip of the keyboard must not
/// cost a manifest or a workspace.
pub fn write_plan(path: &Path, text: &str) -> Result<(), Failure> {
    let mut head = Vec::new();
    // What is no plain file, or cannot be read, is told by the writing.
    let there = path.symlink_metadata().is_ok_and(|m| m.is_file())
        && std::fs::File::open(path).and_then(|f| f.take(200).read_to_end(&mut head)).is_ok();
    let is_plan = String::from_utf8_lossy(&head).contains("\"checkfu.plan/");
    if there && !head.is_empty() && !is_plan {
        let message = format!("{} is there and is no plan, so it is not replaced", path.display());
        return Err(Failure::new(&codes::cli::WRITE, message).fix("name another file, or remove this one"));
    }
    write_whole(path, text.as_bytes())
}

/// Writes a whole file or none, readable by its owner alone: a plan holds prompts.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |why: String| Failure::new(&codes::cli::WRITE, format!("{} cannot be written: {why}", path.display()));
    if path.symlink_metadata().is_ok_and(|m| !m.is_file()) {
        return Err(fail("something that is no plain file is there".to_owned()));
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> Result<(), std::io::Error> {
        let mut file = tempfile::Builder::new().prefix(".checkfu-").tempfile_in(parent)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().map_err(|e| fail(e.to_string()))
}

/// Takes `.` and `..` out without asking the disk.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// A scope argument as planning wants it: an address or glob stays, a path that is there becomes relative to
/// the project.
pub fn scope_argument(text: &str, cwd: &Path, project: &Path) -> String {
    let path = normalize(&cwd.join(text));
    match path.strip_prefix(project) {
        Ok(inside) if inside.as_os_str().is_empty() && !text.is_empty() => ".".to_owned(),
        Ok(inside) if path.exists() && !inside.as_os_str().is_empty() => {
            let parts: Vec<_> = inside.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
            parts.join("/")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_project_above_is_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        assert_eq!(find_project(&dir.path().join("a/b")).unwrap_err().diagnostics.0[0].code.code, "cli.no_project");
        std::fs::write(dir.path().join(CONFIG), "").unwrap();
        assert_eq!(find_project(&dir.path().join("a/b")).unwrap(), dir.path());
        // What is there and cannot be read is not passed by.
        std::fs::create_dir(dir.path().join("a").join(CONFIG)).unwrap();
        assert_eq!(find_project(&dir.path().join("a/b")).unwrap_err().diagnostics.0[0].code.code, "cli.read");
        std::fs::remove_dir(dir.path().join("a").join(CONFIG)).unwrap();
        std::fs::write(dir.path().join("a").join(CONFIG), "").unwrap();
        assert_eq!(find_project(&dir.path().join("a/b")).unwrap(), dir.path().join("a"));
    }

    #[test]
    fn a_file_is_whole_or_not_there_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.json");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        for bad in [dir.path().to_path_buf(), dir.path().join("no/p.json"), PathBuf::from("/dev/null")] {
            assert_eq!(write_whole(&bad, b"x").unwrap_err().diagnostics.0[0].code.code, "cli.write");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn a_plan_replaces_a_plan_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.json");
        write_plan(&path, "{\n  \"format\": \"checkfu.plan/v1\"\n}").unwrap();
        write_plan(&path, "{\n  \"format\": \"checkfu.plan/v2\"\n}").unwrap();
        std::fs::write(&path, "apiVersion: checkfu.com/v1").unwrap();
        assert_eq!(write_plan(&path, "x").unwrap_err().diagnostics.0[0].code.code, "cli.write");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "apiVersion: checkfu.com/v1");
        std::fs::write(&path, "").unwrap();
        write_plan(&path, "x").unwrap();
    }

    #[test]
    fn scope_arguments_are_addresses_or_paths_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("agents")).unwrap();
        std::fs::write(dir.path().join("agents/a.md"), "").unwrap();
        let of = |text: &str, below: &str| scope_argument(text, &dir.path().join(below), dir.path());
        assert_eq!(of("a.md", "agents"), "agents/a.md");
        assert_eq!(of("./agents/../agents/a.md", ""), "agents/a.md");
        assert_eq!(of("../agents", "agents"), "agents");
        assert_eq!(of("Agent/a", ""), "Agent/a");
        assert_eq!(of("agents/none.md", ""), "agents/none.md");
    }
}
