//! Paths and names as values: what may be kept, what collides, what Windows refuses, what looks secret.

use unicode_normalization::{UnicodeNormalization, is_nfc};

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

/// What Windows cannot hold in a path, said for the first part that has it.
pub(crate) fn windows_refuses(path: &str) -> Option<String> {
    path.split('/').find_map(|part| {
        if let Some(c) =
            part.chars().find(|c| matches!(c, '<' | '>' | ':' | '"' | '\\' | '|' | '?' | '*' | '\0'..='\x1f'))
        {
            return Some(format!("the character {c:?}"));
        }
        if part.ends_with(['.', ' ']) {
            return Some("a dot or blank at its end".to_owned());
        }
        let stem = part.split('.').next().unwrap_or_default().trim_end().to_uppercase();
        let numbered = |name: &str| {
            stem.strip_prefix(name).is_some_and(|n| {
                let mut chars = n.chars();
                matches!((chars.next(), chars.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
            })
        };
        let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
            || numbered("COM")
            || numbered("LPT");
        device.then(|| format!("the device name {stem}"))
    })
}

/// Does a file name look like that of a secret? Public halves and examples do not.
pub(crate) fn looks_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let ends = |list: &[&str]| list.iter().any(|e| name.ends_with(e));
    if name == ".env" || name == ".envrc" {
        return true;
    }
    if name.starts_with(".env.") {
        return !ends(&[".example", ".sample", ".template", ".dist", ".schema"]);
    }
    ends(&[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".tfstate"])
        || ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"].contains(&name.as_str())
        || [".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".dockercfg"]
            .contains(&name.as_str())
        || matches!(name.as_str(), "credentials.json" | "client_secret.json" | "service-account.json" | "secrets.json")
        || matches!(name.as_str(), "secrets.yaml" | "secrets.yml" | "secrets.toml" | ".vault-token" | "kubeconfig")
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
    fn windows_names() {
        for bad in ["a/con", "AUX.md", "nul.tar.gz", "com1", "LPT9.txt", "com¹", "a:b", "x/y ", "x./y", "q?", "a\x01"]
        {
            assert!(windows_refuses(bad).is_some(), "{bad:?}");
        }
        for good in ["console", "com", "com10", "a b/c.d", ".hidden", "auxiliary.md", "übung.md", "\u{a0}"] {
            assert!(windows_refuses(good).is_none(), "{good:?}");
        }
    }

    #[test]
    fn braces_are_escaped_once() {
        assert_eq!(literal_braces(r"a{b}\{\\{"), r"a\{b\}\{\\\{");
    }

    #[test]
    fn secret_names() {
        for bad in [".env", ".env.production", "id_rsa", "server.PEM", "tls.key", ".netrc", "secrets.yaml"] {
            assert!(looks_secret(bad), "{bad}");
        }
        for good in [".env.example", "id_rsa.pub", "env.md", "keys.md", "secret-santa.md", "pem"] {
            assert!(!looks_secret(good), "{good}");
        }
    }
}
