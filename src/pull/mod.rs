//! Live resources → the files of a project that declare them: the way back of `manifest` and `desired`. Pure.
//!
//! ```text
//! ids ─▶ names (addresses for what nobody owns)
//! canonical live forms ─▶ document (clean manifest texts) ─▶ files (units with their folders, every path checked)
//!                      ─▶ lines (`adopt:` of checkfu.yaml)
//! a project of another tool ─▶ ant ─▶ wire bodies, and then the same way
//! ```

mod ant;
mod document;
mod files;
mod learned;
mod lines;
mod names;
mod paths;
mod standing;

#[cfg(test)]
mod tests;

pub use ant::{AntProject, LockEntry, ant, lock};
pub use document::{Form, Text, document};
pub use files::{Body, File, Resource, Unit, contents, needed, units};
pub use learned::{Learned, Prefix, folder as learned_folder, learned};
pub use lines::append;
pub use names::{Unnamed, names};
pub use paths::bad_link;
pub use standing::{Standing, differing, published, says, standing};
