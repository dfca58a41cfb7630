//! A set of files as a value: paths, modes, sizes and digests, never bytes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::model::Digest;

/// The form in which two paths that macOS or Windows cannot tell apart are equal.
pub fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let decomposed: String = path.nfd().collect();
    caseless::default_case_fold_str(&decomposed).nfc().collect()
}

/// Two paths that another system takes for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twins<'a> {
    /// Number, in what was given, of the path in which the second was seen.
    pub number: usize,
    /// A path, or a folder above one.
    pub first: &'a str,
    /// The other spelling of it.
    pub second: &'a str,
}

impl std::fmt::Display for Twins<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.first.nfc().eq(self.second.nfc()) { "Unicode form" } else { "case" };
        write!(f, "`{}` and `{}` differ only in {how}", self.first, self.second)
    }
}

/// Of sorted paths, those, and the folders above them, that another system takes for one; each spelling that
/// collides is told once, and nothing of what is below it.
pub fn twins<'a>(sorted: impl IntoIterator<Item = &'a str>) -> Vec<Twins<'a>> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut told = BTreeSet::new();
    let (mut before, mut out) = ("", Vec::new());
    // How long the part of the path before is that collided: what is below it says nothing new.
    let mut collided = usize::MAX;
    for (number, new) in sorted.into_iter().enumerate() {
        // sorted: what the path shares with the one before was looked at
        let shared = new.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
        before = new;
        if shared > collided {
            continue;
        }
        collided = usize::MAX;
        let ends = new.match_indices('/').map(|(at, _)| at).chain([new.len()]);
        for second in ends.filter(|end| *end >= shared).map(|end| &new[..end]) {
            let folded = folded(second);
            let first = *seen.entry(folded.clone()).or_insert(second);
            if first != second {
                if told.insert(folded) {
                    out.push(Twins { number, first, second });
                }
                collided = second.len();
                break;
            }
        }
    }
    out
}

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entry {
    /// `/`-separated, NFC, relative to the set's root.
    pub path: String,
    /// May it be executed? The one mode bit that is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// The target of a symbolic link that stays inside the set; such an entry's bytes are the target's text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub symlink: bool,
    /// Bytes, after line ends are normalized.
    pub size: u64,
    /// SHA-256 of the bytes, after line ends are normalized.
    pub sha256: Digest,
}

/// Files sorted by path, and the digest over them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileSet {
    /// Sorted by path, no path twice.
    pub entries: Vec<Entry>,
    /// [`FileSet::digest_of`] the entries.
    pub digest: Digest,
}

impl FileSet {
    /// Sorts the entries and takes the digest.
    pub fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort();
        let digest = Self::digest_of(&entries);
        Self { entries, digest }
    }

    /// SHA-256 of the canonical JSON of the sorted (path, mode, size, SHA-256): independent of walk order,
    /// time, machine and user. A mode is `100644`, `100755` or `120000`.
    pub fn digest_of(sorted: &[Entry]) -> Digest {
        let rows: Vec<_> = sorted
            .iter()
            .map(|e| {
                let mode = match (e.symlink, e.executable) {
                    (true, _) => "120000",
                    (_, true) => "100755",
                    _ => "100644",
                };
                (&e.path, mode, e.size, e.sha256)
            })
            .collect();
        Digest::of_json(&rows)
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|e| e.size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_finds_twins() {
        assert_eq!(folded("README.md"), folded("readme.MD"));
        assert_eq!(folded("e\u{301}x"), folded("ÉX"));
        assert_eq!(folded("straße"), folded("STRASSE"));
        assert_ne!(folded("a"), folded("b"));
        let of = |paths: &[&str]| twins(paths.iter().copied()).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of(&["/K/a", "/k/b", "/l"]), ["`/K` and `/k` differ only in case"]);
        assert_eq!(of(&["e\u{301}", "é"]), ["`e\u{301}` and `é` differ only in Unicode form"]);
        assert!(of(&["a/x", "a/y", "b/x"]).is_empty());
        assert_eq!(of(&["K/a", "K/b", "k/a", "k/b", "l/A", "l/a"]).len(), 2, "a folder tells for all in it");
    }
}
