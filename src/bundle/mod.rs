//! Folders become sets of files with digests: discovery, the walk, the view of Git, line ends, limits,
//! the stat cache. Nothing is followed out of a folder and no configuration of the user is read, so a
//! laptop and CI see the same bytes.
//!
//! ```text
//! Project::discover ─▶ which files declare something
//! Project::files    ─▶ walk ─▶ ignore rules ─▶ paths ─▶ hash (line ends, stat cache) ─▶ FileSet
//! Blobs::open       ─▶ the same bytes again, proved by their digest
//! ```

mod attributes;
mod cache;
mod commit;
mod content;
mod discover;
mod error;
mod files;
mod git;
mod hash;
mod limits;
mod lines;
mod links;
mod named;
mod open;
mod paths;
mod project;
mod remote;
mod rules;
mod special;
#[cfg(test)]
mod tests;
mod walk;
mod want;

pub use commit::{BaseOf, Commit, CommitError, Head, head, is_dirty};
pub use error::BundleError;
pub use project::Project;
pub use want::{BundleReport, BundleWant, Found, Purpose, What};
