//! Live resources → the files of a project that declare them: the way back of `manifest` and `desired`. Pure.
//!
//! ```text
//! canonical live forms ─▶ document (clean manifest texts)
//! ```

mod document;

#[cfg(test)]
mod tests;

pub use document::{Form, Text, document};
