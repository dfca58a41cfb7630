//! The mark in a comment or issue of ours: an HTML comment with one JSON object, by which a later run finds it and
//! knows what was shown. Anyone can write one: whoever reads it checks the author too.

use serde::{Deserialize, Serialize};

use crate::model::Digest;

/// What stands before the JSON; the number is the version of its form.
const OPEN: &str = "<!-- checkfu:1 ";
const CLOSE: &str = " -->";
/// Most actions that are named one by one; of more, the digest of the plan alone approves.
pub const MOST_ACTIONS: usize = 800;
/// Most bytes of the ids of actions in a marker.
pub const NAMES: usize = 5_000;

/// How far what a comment shows has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A plan, not applied.
    Planned,
    /// An apply of it runs.
    Applying,
    /// All of it is done.
    Applied,
    /// An apply of it did not do all.
    Failed,
    /// It is not what would be applied now.
    Stale,
}

/// What a comment or issue of ours says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// `plan`, `drift` or `drift-pull`.
    pub what: String,
    /// Which comment or issue of those that one repository has.
    pub key: String,
    /// Commit that was planned: of a pull request the head that was pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Commit of the base that it was planned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Digest of the plan, or of what drifted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Of a plan the digest of every action in short form ([`short`]), in the order of the plan; empty where there are
    /// more than [`MOST_ACTIONS`]. Of drift what drifted, as `ADDRESS FIELD=DIGEST`; of a pull request about drift the
    /// commits that its branch may be at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// Their ids, in the same order, so that a later comment can name what is gone; empty where they are longer than
    /// [`NAMES`] bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// How many actions there are, named or not.
    #[serde(default)]
    pub total: usize,
    /// How far it has come.
    pub state: State,
}

/// The digest of an action as a marker names it: its first 16 hexadecimal digits.
pub fn short(digest: &Digest) -> String {
    digest.to_string().trim_start_matches("sha256:").chars().take(16).collect()
}

impl Marker {
    /// As one line of Markdown that is not shown. Nothing in it can end the HTML comment.
    pub fn write(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        // `--` may not stand in an HTML comment, and `>` may not follow one; no JSON outside of its strings has either.
        let json = json.replace('-', "\\u002d").replace('<', "\\u003c").replace('>', "\\u003e");
        format!("{OPEN}{json}{CLOSE}")
    }

    /// The mark of a body, which has to begin with it.
    pub fn read(body: &str) -> Option<Self> {
        let rest = body.trim_start_matches('\u{feff}').strip_prefix(OPEN)?;
        serde_json::from_str(&rest[..rest.find(CLOSE)?]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(key: &str) -> Marker {
        Marker {
            what: "plan".to_owned(),
            key: key.to_owned(),
            head: Some("a".repeat(40)),
            base: None,
            digest: Some(Digest::of(b"x")),
            actions: vec![short(&Digest::of(b"a"))],
            names: vec!["Agent/a-b#update".to_owned()],
            total: 1,
            state: State::Planned,
        }
    }

    #[test]
    fn a_mark_is_read_back_and_cannot_be_broken_out_of() {
        for key in ["prod", "--> <b>", "--!>", "a\"b\\u002d", "-", "é\n"] {
            let text = marker(key).write();
            assert_eq!(text.matches("-->").count(), 1, "{text}");
            assert_eq!(text.matches("--").count(), 2, "{text}");
            assert_eq!(Marker::read(&format!("{text}\n# more {text}")), Some(marker(key)));
        }
        assert_eq!(short(&Digest::of(b"a")).len(), 16);
    }

    #[test]
    fn a_mark_inside_a_body_or_a_broken_one_is_none() {
        let text = marker("prod").write();
        assert_eq!(Marker::read(&format!("hello {text}")), None);
        assert_eq!(Marker::read(&text[..text.len() - 4]), None);
        assert_eq!(Marker::read("<!-- checkfu:1 {} -->"), None);
        assert_eq!(Marker::read("<!-- checkfu:2 {} -->"), None);
    }
}
