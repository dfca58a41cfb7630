//! Paths that come from a workspace, where anybody may have written them: which may be files here.

use std::collections::BTreeSet;

use crate::model::names::windows_refuses;
use crate::model::tree::{self, folded};

/// Bytes of a path.
const MAX: usize = 1024;

/// Why a path can be no file below a folder; `None` if it can.
pub fn refused(path: &str) -> Option<String> {
    let parts = || path.split('/');
    if path.len() > MAX {
        return Some("has more than 1,024 bytes".to_owned());
    }
    if parts().any(|p| matches!(p, "" | "." | "..")) {
        return Some("has an empty part, `.` or `..`".to_owned());
    }
    if let Some(c) = path.chars().find(|c| c.is_control()) {
        return Some(format!("has the character {c:?}"));
    }
    if let Some(what) = windows_refuses(path) {
        return Some(format!("has {what}, which not every system can hold"));
    }
    if parts().any(is_git) {
        return Some("would be a part of Git's own folder".to_owned());
    }
    let ours = |p: &str| matches!(folded(p).as_str(), ".checkfu" | ".checkfuignore");
    parts().any(ours).then(|| "has a name that is checkfu's own".to_owned())
}

/// Git's folder, as file systems may read the name: in any case, with characters that some of them ignore, or by the
/// short name that Windows gives it.
fn is_git(part: &str) -> bool {
    let ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = part.chars().filter(|c| !ignored(c)).collect();
    matches!(folded(&plain).as_str(), ".git" | "git~1")
}

/// What keeps a set of paths from lying in one folder, sorted: bad ones, two that some systems take for one, and a
/// file where another path needs a folder.
pub(super) fn problems<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let sorted: BTreeSet<&str> = paths.into_iter().collect();
    let bad = sorted.iter().filter_map(|p| refused(p).map(|why| format!("`{p}` {why}")));
    let twins = tree::twins(sorted.iter().copied()).into_iter().map(|t| t.to_string());
    let above = sorted.iter().filter_map(|p| {
        let mut folders = p.match_indices('/').map(|(at, _)| &p[..at]);
        folders.find(|f| sorted.contains(f)).map(|f| format!("`{f}` would be a file and the folder of `{p}`"))
    });
    bad.chain(twins).chain(above).collect()
}

/// Why a symbolic link of a tree is not made: its target, read from its text, has to stay in the tree. `path` is that
/// of the link.
pub fn bad_link(path: &str, target: &str) -> Option<&'static str> {
    if target.is_empty() || target.starts_with('/') || target.contains(['\\', '\0', ':']) {
        return Some("its target is not relative");
    }
    let mut depth = path.matches('/').count();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return Some("its target is outside of the tree"),
            ".." => depth -= 1,
            part if is_git(part) => return Some("its target is a part of Git's own folder"),
            _ => depth += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_leave_its_folder_or_harm_is_refused() {
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "./a",
            "C:/x",
            "a\\..\\b",
            "con",
            "a/NUL.txt",
            "a\0",
            "a\n",
            "a\u{7f}",
            ".git/config",
            "a/.GIT/hooks/x",
            ".g\u{200c}it/x",
            "GIT~1/x",
            ".checkfu/x",
            ".checkfuignore",
            "a ",
            "a.",
        ] {
            assert!(refused(bad).is_some(), "{bad:?}");
        }
        assert!(refused(&"a/".repeat(600)).is_some());
        for good in ["a", "a/b.md", ".github/workflows/x.yml", ".gitignore", "é/ü", "a b", "git", "..a"] {
            assert_eq!(refused(good), None, "{good:?}");
        }
    }

    #[test]
    fn sets_that_collide_are_refused() {
        assert_eq!(problems(["a", "b/c"]), Vec::<String>::new());
        assert_eq!(problems(["A", "a"]), ["`A` and `a` differ only in case"]);
        assert_eq!(problems(["a", "a-b", "a/b"]), ["`a` would be a file and the folder of `a/b`"]);
        assert_eq!(problems(["x/..", "y"]).len(), 1);
    }

    #[test]
    fn links_stay_inside() {
        for bad in ["", "/etc", "../../x", "../a/../../x", "C:x", "..\\x", "../.git/config"] {
            assert!(bad_link("d/link", bad).is_some(), "{bad:?}");
        }
        for good in ["x", "../x", "./x/../y", "../d/x"] {
            assert_eq!(bad_link("d/link", good), None, "{good:?}");
        }
    }
}
