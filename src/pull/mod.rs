//! Live resources → the files of a project that declare them: the way back of `manifest` and `desired`. Pure.
//!
//! ```text
//! ids ─▶ names (addresses for what nobody owns)
//! canonical live forms ─▶ document (clean manifest texts) ─▶ files (units with their folders, every path checked)
//!                      ─▶ patch::lists (`adopt:` of checkfu.yaml)
//! files that are there ─▶ patch (one value or line changes, every other byte stays)
//! a project of another tool ─▶ ant ─▶ wire bodies, and then the same way
//! ```

mod ant;
mod bring;
mod document;
mod files;
mod learned;
mod names;
mod parts;
pub mod patch;
mod paths;
mod sets;
mod standing;

#[cfg(test)]
mod tests;

pub use ant::{AntProject, LockEntry, ant, lock};
pub use bring::{Brought, Move, Texts, bring};
pub use document::{Form, Text, document};
pub use files::{Body, File, Resource, Unit, contents, needed, units};
pub use learned::{Learned, Prefix, folder as learned_folder, learned};
pub use names::{Unnamed, names};
pub use paths::{bad_link, refused};
pub use sets::{FileMove, Item, moved_files};
pub use standing::{Standing, differing, published, says, standing};
