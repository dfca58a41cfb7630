//! A set of files as a value: paths, modes, sizes and digests, never bytes.

use serde::{Deserialize, Serialize};

use crate::model::Digest;

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
