//! Why a command did not do what it was asked: diagnostics and an exit code.

use std::error::Error;

use crate::cli::exit::Exit;
use crate::cli::view::diagnostics::Sources;
use crate::control::ControlError;
use crate::diag::chain::Chain;
use crate::diag::{Code, Diagnostic, Diagnostics, codes};

/// Ends a command.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What is said; sorted when shown.
    pub diagnostics: Diagnostics,
    /// Texts for excerpts.
    pub sources: Sources,
}

/// What a command gives back.
pub type Ran = Result<Exit, Failure>;

impl Failure {
    /// One diagnostic, exit 1.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Diagnostic::new(code, message).into()
    }

    /// Sets the fix of the last diagnostic.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.0.last_mut() {
            last.fix = Some(fix.into());
        }
        self
    }

    /// Adds a hint to the last diagnostic.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.0.last_mut() {
            last.hints.push(hint.into());
        }
        self
    }

    /// Sets the exit code.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Many diagnostics, exit 1.
    pub fn many(diagnostics: Diagnostics, sources: Sources) -> Self {
        Self { exit: Exit::Error, diagnostics, sources }
    }

    /// An error of the workspace, with its causes, under its own code where that has a row.
    pub fn control(doing: &str, error: &ControlError) -> Self {
        let code = codes::find(error.code).unwrap_or(&codes::cli::WORKSPACE);
        let failure = Self::new(code, format!("cannot {doing}: {}", Chain(error))).exit(Exit::of_control(error));
        // The rows say in general what to do; without one the code of the answer is all there is.
        if code.code == error.code {
            failure.fix(code.fix)
        } else {
            failure.hint(format!("the workspace said {}", error.code))
        }
    }

    /// Any other error with its causes, under a code of ours.
    pub fn caused(code: &'static Code, error: &(dyn Error + 'static)) -> Self {
        Self::new(code, Chain(error).to_string())
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Error, diagnostics: Diagnostics(vec![diagnostic]), sources: Sources::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ErrorKind;

    #[test]
    fn an_error_of_the_workspace_keeps_its_message_its_cause_and_its_class() {
        let mut error = ControlError::new(ErrorKind::Conflict, "nobody.knows", "owned by acme/billing");
        error.source = Some("the cause".into());
        let failure = Failure::control("read it", &error);
        assert_eq!(failure.exit, Exit::Conflict);
        let d = &failure.diagnostics.0[0];
        assert_eq!(d.message, "cannot read it: owned by acme/billing: the cause");
        assert_eq!((d.code.code, &d.hints[..]), ("cli.workspace", &["the workspace said nobody.knows".to_owned()][..]));
    }
}
