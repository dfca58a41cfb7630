//! Colours by meaning. Text is always styled; the printer takes the styles off where they are not wanted.

use std::fmt::Display;

use owo_colors::OwoColorize;

/// What is new.
pub fn added(text: impl Display) -> String {
    text.green().to_string()
}

/// What goes.
pub fn removed(text: impl Display) -> String {
    text.red().to_string()
}

/// What changes, and warnings.
pub fn changed(text: impl Display) -> String {
    text.yellow().to_string()
}

/// What errors and refusals say.
pub fn alarm(text: impl Display) -> String {
    text.red().bold().to_string()
}

/// Names and headings.
pub fn strong(text: impl Display) -> String {
    text.bold().to_string()
}

/// What is less important.
pub fn faint(text: impl Display) -> String {
    text.dimmed().to_string()
}

/// Without any style.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
