//! What must not lie in a repository that is opened: a FIFO, a socket or a device in place of a file would be waited
//! for without end, as Git's library opens whatever has the name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bundle::open;

/// Folders that hold no file which is opened by its name: hooks, and what is of others.
const PASSED: [&str; 4] = ["hooks", "lfs", "modules", "worktrees"];
/// The longest `.git` file or `commondir`, in bytes.
const MAX_LINK: u64 = 8_192;

/// The first entry of the repository at `.git` of a folder that is neither file nor folder.
pub(crate) fn first(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    let is_file = fs::metadata(&git).ok()?.is_file();
    // A work tree or a submodule: the file says where the repository is.
    let folder = if is_file { led_to(&git, top, "gitdir:")? } else { git };
    let common = folder.join("commondir");
    below(&folder).or_else(|| led_to(&common, &folder, "").and_then(|shared| below(&shared)))
}

/// Where the one line of a file leads.
fn led_to(file: &Path, from: &Path, word: &str) -> Option<PathBuf> {
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let text = String::from_utf8(open::read(file, MAX_LINK).ok()??).ok()?;
    Some(from.join(text.trim().strip_prefix(word)?.trim_start()))
}

fn below(folder: &Path) -> Option<PathBuf> {
    // A folder in place of which something else lies has no entries; itself it is looked at by name.
    let kind = fs::metadata(folder).ok()?.file_type();
    if !kind.is_dir() {
        return (!kind.is_file()).then(|| folder.to_owned());
    }
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let passed = PASSED.iter().any(|name| entry.file_name() == *name);
        let kind = entry.file_type().ok();
        let found = match kind {
            Some(kind) if kind.is_dir() && !passed => below(&entry.path()),
            Some(kind) if kind.is_dir() || kind.is_file() => None,
            // A link that leads nowhere is none of ours: opening it fails at once.
            Some(kind) if kind.is_symlink() => {
                fs::metadata(entry.path()).is_ok_and(|m| !m.is_file() && !m.is_dir()).then(|| entry.path())
            }
            Some(_) => Some(entry.path()),
            None => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
