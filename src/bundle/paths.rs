//! Paths and names as values: what may be kept, what collides.

use unicode_normalization::{UnicodeNormalization, is_nfc};

pub(crate) use crate::model::names::{looks_secret, windows_refuses};

/// The longest path that is kept, in bytes.
pub(crate) const MAX_PATH: usize = 1024;

/// A path in composed form.
pub(crate) fn nfc(path: &str) -> String {
    if path.is_ascii() || is_nfc(path) { path.to_owned() } else { path.nfc().collect() }
}

/// A written path, its `.` and `x/..` resolved; `..` may be left in front. `.` is the folder itself.
/// `None` for what is no relative path: empty, absolute, with a NUL, a backslash or a drive.
pub(crate) fn normalize(written: &str) -> Option<String> {
    let drive = written.as_bytes().get(1) == Some(&b':');
    if written.is_empty() || written.starts_with('/') || drive || written.contains(['\0', '\\']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// Joins two `/`-separated paths, either of which may be empty or `.`.
pub(crate) fn join(base: &str, rest: &str) -> String {
    match (base, rest) {
        ("" | ".", rest) => rest.to_owned(),
        (base, "" | ".") => base.to_owned(),
        (base, rest) => format!("{base}/{rest}"),
    }
}

/// A pattern of Git for a matcher that knows `{a,b}`, which Git does not.
pub(crate) fn literal_braces(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut escaped = false;
    for c in pattern.chars() {
        if !escaped && matches!(c, '{' | '}') {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_paths_are_normalized_or_refused() {
        let some = |p: &str| normalize(p).unwrap();
        assert_eq!(some("./a//b/../c/"), "a/c");
        assert_eq!(some("../../x/./y"), "../../x/y");
        assert_eq!(some("a/.."), ".");
        assert_eq!(some("../a/../../b"), "../../b");
        for bad in ["", "/etc/passwd", "C:/x", "c:x", "a\0b", "a\\b"] {
            assert_eq!(normalize(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn braces_are_escaped_once() {
        assert_eq!(literal_braces(r"a{b}\{\\{"), r"a\{b\}\{\\\{");
    }
}
