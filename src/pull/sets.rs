//! Files that moved live: of a skill, a tree, or a store's memories. Three values a path, as with fields.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Digest;
use crate::model::tree::Entry;

/// What is known of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Of its bytes; of a link, of its target.
    pub sha256: Digest,
    /// May it be executed?
    pub executable: bool,
    /// Is it a symbolic link?
    pub symlink: bool,
}

impl Item {
    /// A plain file.
    pub fn plain(sha256: Digest) -> Self {
        Self { sha256, executable: false, symlink: false }
    }
}

impl From<&Entry> for Item {
    fn from(e: &Entry) -> Self {
        Self { sha256: e.sha256, executable: e.executable, symlink: e.symlink }
    }
}

/// What a file becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMove {
    /// As it is live.
    Take(Item),
    /// Removed.
    Remove,
    /// The file and live both moved on from what was applied: their texts are joined.
    Join {
        /// What was last applied, if there was something.
        applied: Option<Item>,
        /// What the file is.
        file: Item,
        /// What is live.
        live: Item,
    },
    /// It is gone live, and the file was changed: it stays.
    Stays,
}

/// Which files moved live, by path.
pub fn moved_files(
    applied: &BTreeMap<&str, Item>,
    file: &BTreeMap<&str, Item>,
    live: &BTreeMap<&str, Item>,
) -> BTreeMap<String, FileMove> {
    let paths: BTreeSet<&str> = [applied, file, live].iter().flat_map(|m| m.keys().copied()).collect();
    let moved = |path: &str| {
        let get = |of: &BTreeMap<&str, Item>| of.get(path).copied();
        let (a, f, l) = (get(applied), get(file), get(live));
        if l == f || l == a {
            return None;
        }
        match (f, l) {
            (Some(file), Some(live)) if f != a => Some(FileMove::Join { applied: a, file, live }),
            (_, Some(live)) => Some(FileMove::Take(live)),
            (_, None) if f == a => Some(FileMove::Remove),
            (_, None) => Some(FileMove::Stays),
        }
    };
    paths.into_iter().filter_map(|path| Some((path.to_owned(), moved(path)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_three_values() {
        let [a, b, c] = [b"a", b"b", b"c"].map(|t| Item::plain(Digest::of(t)));
        let moved = |applied: Option<Item>, file: Option<Item>, live: Option<Item>| {
            let of = |i: Option<Item>| i.map(|i| ("p", i)).into_iter().collect();
            moved_files(&of(applied), &of(file), &of(live)).remove("p")
        };
        let join = |applied, file, live| Some(FileMove::Join { applied, file, live });
        // Nothing moved live.
        for file in [None, Some(a), Some(b)] {
            assert_eq!((moved(Some(a), file, Some(a)), moved(None, file, None)), (None, None));
        }
        // Both say the same.
        assert_eq!((moved(Some(a), Some(b), Some(b)), moved(None, Some(b), Some(b))), (None, None));
        assert_eq!(moved(Some(a), None, None), None);
        // Live alone moved.
        assert_eq!(moved(Some(a), Some(a), Some(b)), Some(FileMove::Take(b)));
        assert_eq!(moved(None, None, Some(b)), Some(FileMove::Take(b)));
        assert_eq!(moved(Some(a), Some(a), None), Some(FileMove::Remove));
        // Both moved.
        assert_eq!(moved(Some(a), Some(b), Some(c)), join(Some(a), b, c));
        assert_eq!(moved(None, Some(b), Some(c)), join(None, b, c));
        assert_eq!(moved(Some(a), None, Some(c)), Some(FileMove::Take(c)));
        assert_eq!(moved(Some(a), Some(b), None), Some(FileMove::Stays));
    }
}
