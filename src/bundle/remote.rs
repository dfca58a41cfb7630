//! A remote's address reduced to host and path: no scheme, user, password, port or query.

/// `github.com/acme/support` from any form of address; `None` for local paths and for what is not understood,
/// since that might hold a secret.
pub(crate) fn host_and_path(url: &str) -> Option<String> {
    let url = url.trim();
    if url.contains("::") && !url.contains('[') {
        return None;
    }
    let (authority, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        None => scp(url)?,
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let ok = !host.is_empty() && !path.is_empty() && !path.contains('@');
    ok.then(|| format!("{}/{path}", host.to_lowercase()))
}

/// `user@host:path`. A colon after a slash, or a drive letter before it, makes it a local path.
fn scp(url: &str) -> Option<(&str, &str)> {
    let start = if url.contains('[') { url.find(']')? } else { 0 };
    let colon = start + url[start..].find(':')?;
    let (authority, path) = (&url[..colon], &url[colon + 1..]);
    let local = authority.contains(['/', '\\']) || (authority.len() == 1 && authority.is_ascii());
    (!local).then_some((authority, path))
}

#[cfg(test)]
mod tests {
    use super::host_and_path;

    #[test]
    fn only_host_and_path_are_left() {
        for url in [
            "https://github.com/acme/support.git",
            "https://user:p%40ss@GitHub.com/acme/support/",
            "https://x-access-token:s3cret@github.com:443/acme/support.git?token=s3cret#x",
            "ssh://git@github.com:22/acme/support",
            "git@github.com:acme/support.git",
            "github.com:/acme/support",
            "git://github.com/acme/support.git",
        ] {
            assert_eq!(host_and_path(url).as_deref(), Some("github.com/acme/support"), "{url}");
        }
        assert_eq!(host_and_path("ssh://git@[::1]:2222/a/b.git").as_deref(), Some("::1/a/b"));
        assert_eq!(host_and_path("[::1]:a/b.git").as_deref(), Some("::1/a/b"));
    }

    #[test]
    fn local_and_unknown_forms_say_nothing() {
        for url in [
            "/srv/git/a.git",
            "../a",
            "./a:b",
            "file:///srv/a.git",
            "C:\\repo",
            "C:/repo",
            "a",
            "",
            "codecommit::eu-west-1://user@repo",
            "https://github.com",
            "https:///a/b",
            "ssh://h/a@b",
        ] {
            assert_eq!(host_and_path(url), None, "{url}");
        }
    }
}
