//! What the environment says. Read once, here alone.

use std::ffi::OsStr;

/// The variables that checkfu reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `NO_COLOR` is set and not empty: no colour, unless `--color` says otherwise.
    pub no_color: bool,
    /// `CHECKFU_TARGET`: as `--target`, which wins.
    pub target: Option<String>,
    /// `CHECKFU_ACTOR`: who acts, for the audit.
    pub actor: Option<String>,
    /// `VISUAL`, else `EDITOR`: the command that opens a file for a person.
    pub editor: Option<String>,
    /// What continuous integration says: `CHECKFU_CI_…`, `CHECKFU_GITHUB_TOKEN`, `GITHUB_…`, `RUNNER_…`, `CI_…`,
    /// `GITLAB_…`.
    pub ci: std::collections::BTreeMap<String, String>,
    /// `CHECKFU_FAILPOINT=POINT:N`: the process is to die at the nth hit of a kill point.
    #[cfg(feature = "failpoints")]
    pub failpoint: Option<(String, u64)>,
}

impl Environment {
    /// A variable that a project names as the place of a secret; `None` where it is not set or empty.
    pub fn secret(name: &str) -> Option<String> {
        let text = std::env::var_os(name)?.to_string_lossy().trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Reads them.
    pub fn read() -> Self {
        let ci = |name: &str| {
            ["CHECKFU_CI_", "CHECKFU_GITHUB_TOKEN", "GITHUB_", "RUNNER_", "CI_", "GITLAB_"]
                .iter()
                .any(|p| name.starts_with(p))
        };
        let all =
            std::env::vars_os().map(|(k, v)| (k.to_string_lossy().into_owned(), v.to_string_lossy().into_owned()));
        Self { ci: all.filter(|(k, _)| ci(k)).collect(), ..Self::from(|name| std::env::var_os(name)) }
    }

    fn from(get: impl Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        let text = |name: &str| {
            // Not UTF-8 is not the same as not set: as a target it is unknown, and none other is acted on.
            let text = get(name)?.to_string_lossy().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        Self {
            no_color: get("NO_COLOR").is_some_and(|v| v.as_os_str() != OsStr::new("")),
            target: text("CHECKFU_TARGET"),
            actor: text("CHECKFU_ACTOR"),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            ci: std::collections::BTreeMap::new(),
            #[cfg(feature = "failpoints")]
            failpoint: text("CHECKFU_FAILPOINT").and_then(|t| {
                let (point, nth) = t.split_once(':')?;
                Some((point.to_owned(), nth.parse().ok()?))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_is_not_set() {
        assert_eq!(Environment::from(|_| None), Environment::default());
        assert_eq!(Environment::from(|_| Some(" ".into())), Environment { no_color: true, ..Default::default() });
        assert_eq!(Environment::from(|_| Some("".into())), Environment::default());
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            let broken = Environment::from(|_| Some(std::ffi::OsString::from_vec(vec![0xff])));
            assert_eq!(broken.target.as_deref(), Some("\u{fffd}"));
        }
        let all = Environment::from(|name| Some(name.into()));
        assert_eq!(all.target.as_deref(), Some("CHECKFU_TARGET"));
        assert_eq!(all.actor.as_deref(), Some("CHECKFU_ACTOR"));
        assert_eq!(all.editor.as_deref(), Some("VISUAL"));
        let one = Environment::from(|name| (name == "EDITOR").then(|| "vi".into()));
        assert_eq!(one.editor.as_deref(), Some("vi"));
    }
}
