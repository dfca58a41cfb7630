//! Names of files as values: what Windows refuses, what looks like a secret.

/// What Windows cannot hold in a path, said for the first part that has it.
pub fn windows_refuses(path: &str) -> Option<String> {
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
pub fn looks_secret(name: &str) -> bool {
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
    fn secret_names() {
        for bad in [".env", ".env.production", "id_rsa", "server.PEM", "tls.key", ".netrc", "secrets.yaml"] {
            assert!(looks_secret(bad), "{bad}");
        }
        for good in [".env.example", "id_rsa.pub", "env.md", "keys.md", "secret-santa.md", "pem"] {
            assert!(!looks_secret(good), "{good}");
        }
    }
}
