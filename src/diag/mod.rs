//! Diagnostics: what is wrong, where, and what to do about it. Values only; `cli` shows them.

pub mod bound;
pub mod chain;
pub mod codes;
mod location;

pub use bound::bounded;
pub use codes::Code;
pub use location::{LineIndex, Location};

use serde::Serialize;

/// How much a diagnostic weighs. `Error` blocks plan and apply of the whole project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Blocks.
    Error,
    /// Shown, does not block.
    Warning,
    /// For information.
    Note,
}

/// A place in a file with a short text about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub at: Location,
    /// What is to be seen there; may be empty.
    pub text: String,
}

/// One finding about the user's input.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The row of the code table.
    pub code: &'static Code,
    /// Usually the code's own severity; a profile may raise or lower it.
    pub severity: Severity,
    /// One sentence, no full stop.
    pub message: String,
    /// The first label is the place; the others help.
    pub labels: Vec<Label>,
    /// What to write instead, ready to paste where possible.
    pub fix: Option<String>,
    /// Further help, a line each.
    pub hints: Vec<String>,
    /// The id of the cross-resource rule that spoke, if one did.
    pub rule: Option<&'static str>,
}

impl Diagnostic {
    /// A diagnostic with the code's own severity and no place yet.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            message: message.into(),
            labels: Vec::new(),
            fix: None,
            hints: Vec::new(),
            rule: None,
        }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(mut self, at: Location, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Sets the fix.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Names the rule that spoke.
    #[must_use]
    pub fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Overrides the severity (profiles do).
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The primary place, if there is one.
    pub fn place(&self) -> Option<&Location> {
        self.labels.first().map(|l| &l.at)
    }
}

/// Most bytes of a fix: the longest that is right to paste is a whole description.
const MOST_FIX: usize = 5_000;

impl Diagnostic {
    /// As it is shown, in every form: what it echoes is bounded. A fix is meant to be pasted, so one that is too
    /// long is not cut but left out, and what its code says in general stands for it.
    #[must_use]
    pub fn shown(&self) -> Self {
        let label = |l: &Label| Label { at: l.at.clone(), text: bounded(&l.text).into_owned() };
        Self {
            code: self.code,
            severity: self.severity,
            message: bounded(&self.message).into_owned(),
            labels: self.labels.iter().map(label).collect(),
            fix: self.fix.as_ref().filter(|fix| fix.len() <= MOST_FIX).cloned(),
            hints: self.hints.iter().map(|h| bounded(h).into_owned()).collect(),
            rule: self.rule,
        }
    }
}

/// All diagnostics of one stage, in file order once [`Diagnostics::sort`] ran.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, d: Diagnostic) {
        self.0.push(d);
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }

    /// Is there anything that blocks?
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// By file, line, column, code: the order in which they are shown.
    pub fn sort(&mut self) {
        let key = |d: &Diagnostic| {
            let at = d.place();
            (
                at.map(|a| a.file.to_string()).unwrap_or_default(),
                at.map_or(0, |a| a.start),
                d.code.code,
                d.message.clone(),
            )
        };
        self.0.sort_by_cached_key(key);
    }

    /// In the order in which they are shown, each bounded: what every view begins with.
    #[must_use]
    pub fn shown(&self) -> Self {
        let mut shown = Self(self.0.iter().map(Diagnostic::shown).collect());
        shown.sort();
        shown
    }

    /// How many of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|d| d.severity == severity).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_grows_with_what_is_echoed() {
        let long = "é".repeat(5_000_000);
        let at = Location::file("a.yaml");
        let d = Diagnostic::new(&codes::cli::READ, &long).at(at, &long).fix(&long).hint(&long);
        let shown = Diagnostics(vec![d]).shown().0.remove(0);
        assert!([&shown.message, &shown.labels[0].text, &shown.hints[0]].iter().all(|t| t.len() <= bound::MOST));
        assert_eq!(shown.fix, None, "half a fix is no fix");
        let kept = Diagnostic::new(&codes::cli::READ, "m").fix("y".repeat(MOST_FIX));
        assert_eq!(kept.shown().fix, kept.fix);
    }
}
