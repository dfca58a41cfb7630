//! The table of codes. Every code a user can meet has one row, in the file of the module that raises it;
//! `docs/errors.md` and `checkfu explain CODE` are made from it.

use crate::diag::Severity;

/// A row of the table of codes.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Dotted name, as in `manifest.unknown_key`.
    pub code: &'static str,
    /// Default severity.
    pub severity: Severity,
    /// What it says, in a few words.
    pub title: &'static str,
    /// Why it is so.
    pub why: &'static str,
    /// What to do.
    pub fix: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $severity:ident, $title:literal, $why:literal, $fix:literal;)*) => {
        $(
            #[doc = $title]
            pub static $name: $crate::diag::Code = $crate::diag::Code {
                code: $code,
                severity: $crate::diag::Severity::$severity,
                title: $title,
                why: $why,
                fix: $fix,
            };
        )*
        /// The rows of this file.
        pub static ALL: &[&$crate::diag::Code] = &[$(&$name),*];
    };
}

pub mod apply;
pub mod bundle;
pub mod ci;
pub mod cli;
pub mod control;
pub mod desired;
pub mod edit;
pub mod http;
pub mod kind;
pub mod manifest;
pub mod plan;
pub mod pull;
pub mod server;
pub mod skill;

/// All rows, by code.
pub fn all() -> Vec<&'static Code> {
    let mut rows: Vec<&'static Code> = [
        apply::ALL,
        bundle::ALL,
        ci::ALL,
        cli::ALL,
        control::ALL,
        desired::ALL,
        edit::ALL,
        http::ALL,
        kind::ALL,
        manifest::ALL,
        plan::ALL,
        pull::ALL,
        server::ALL,
        skill::ALL,
    ]
    .concat();
    rows.sort_by_key(|c| c.code);
    rows
}

/// The row of a code.
pub fn find(code: &str) -> Option<&'static Code> {
    all().into_iter().find(|c| c.code == code)
}
