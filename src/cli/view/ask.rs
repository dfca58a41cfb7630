//! Questions, asked on stderr of a terminal.

use dialoguer::{Confirm, Input};

/// Yes or no; no is the default, and what a closed terminal says.
pub fn yes(question: &str) -> bool {
    Confirm::new().with_prompt(question).default(false).interact_opt().ok().flatten().unwrap_or(false)
}

/// Is this very text typed?
pub fn typed(question: &str, wanted: &str) -> bool {
    let answer: Result<String, _> = Input::new().with_prompt(question).allow_empty(true).interact_text();
    answer.is_ok_and(|a| a.trim() == wanted)
}
