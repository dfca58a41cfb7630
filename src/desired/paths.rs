//! Paths in manifests: relative to the file that names them, inside of the root.

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathProblem {
    /// Begins with `/`, a drive letter or a backslash.
    Absolute,
    /// Leaves the root.
    Outside,
}

/// A path that a file names, relative to the project folder and without `.` and `..` (but in front, as far as the
/// root reaches). The folder of the project itself is `.`.
pub fn resolve(file: &str, path: &str, root: &str) -> Result<String, PathProblem> {
    let bytes = path.as_bytes();
    let drive = bytes.len() > 1 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic();
    if path.starts_with(['/', '\\']) || drive {
        return Err(PathProblem::Absolute);
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let up = parts.iter().take_while(|p| **p == "..").count();
    let reach = root.split('/').filter(|p| *p == "..").count();
    if up > reach {
        return Err(PathProblem::Outside);
    }
    Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_their_file() {
        let ok = |file: &str, path: &str, root: &str| resolve(file, path, root).unwrap();
        assert_eq!(ok("agents/a.md", "../shared/x.md", "."), "shared/x.md");
        assert_eq!(ok("a.yaml", "./docs//b/", "."), "docs/b");
        assert_eq!(ok("skills/a/SKILL.md", ".", "."), "skills/a");
        assert_eq!(ok("a.yaml", ".", "."), ".");
        assert_eq!(ok("a/b.yaml", "../../c", "../.."), "../c");
        assert_eq!(resolve("a.yaml", "../c", "."), Err(PathProblem::Outside));
        assert_eq!(resolve("a.yaml", "../../c", ".."), Err(PathProblem::Outside));
        for path in ["/etc/passwd", "C:/x", "\\x"] {
            assert_eq!(resolve("a.yaml", path, ".."), Err(PathProblem::Absolute));
        }
    }

    #[test]
    fn inside_is_by_whole_parts() {}
}
