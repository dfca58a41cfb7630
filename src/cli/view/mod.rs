//! What people and machines see. The only module that writes to the terminal: stdout is data, stderr is talk.

pub mod ask;
pub mod catalog;
pub mod comment;
pub mod create;
pub mod diagnostics;
pub mod diff;
pub mod drift;
pub mod drift_issue;
pub mod drift_markdown;
pub mod excerpt;
pub mod fenced;
pub mod findings;
pub mod human;
pub mod json;
pub mod lists;
pub mod log;
pub mod markup;
pub mod patch;
pub mod printer;
pub mod progress;
pub mod pull_request;
pub mod receipt;
#[cfg(test)]
pub mod sample;
pub mod section;
pub mod style;
pub mod tables;
pub mod text;
pub mod unchanged;
pub mod values;
pub mod words;
pub mod workflow;

pub use printer::{Format, Printer};
