//! What became of a plan, as heading, status and last line of its comment.

use crate::cli::view::markup::code;
use crate::receipt::Receipt;

/// What is told anew of a plan that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// One line that begins with `###`.
    pub heading: String,
    /// Below the heading, Markdown; may be empty.
    pub status: String,
    /// The last line, Markdown; may be empty.
    pub foot: String,
}

/// Where and from what an apply runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run<'a> {
    /// Of those comments that a repository has.
    pub key: &'a str,
    /// The commit that is applied.
    pub head: Option<&'a str>,
    /// Of the repository, as `https://github.com/acme/agents`.
    pub repository: Option<&'a str>,
    /// Of the run.
    pub run: Option<&'a str>,
}

/// An apply runs.
pub fn applying(run: &Run<'_>) -> Outcome {
    heading(run, "applying")
}

/// An apply ended.
pub fn applied(run: &Run<'_>, receipt: &Receipt) -> Outcome {
    heading(run, &format!("{:?}", receipt.outcome))
}

/// An apply left or refused some actions: what is acted on and why not, of so many in all.
pub fn refused(run: &Run<'_>, rows: &[(String, String)], of: usize) -> Outcome {
    heading(run, &format!("not applied: {} of {of} actions", rows.len()))
}

/// It is not what would be applied now.
pub fn stale(run: &Run<'_>, why: &str) -> Outcome {
    heading(run, why)
}

fn heading(run: &Run<'_>, text: &str) -> Outcome {
    Outcome {
        heading: format!("### checkfu apply: {}: {text}", code(run.key)),
        status: String::new(),
        foot: String::new(),
    }
}
