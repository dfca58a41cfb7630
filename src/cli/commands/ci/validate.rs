//! `mode: validate`: every file, offline, with a remark on each line that is wrong.

use crate::ci::{FailureReason, inputs::FailOn};
use crate::cli::commands::ci::report::annotation;
use crate::cli::commands::ci::{Job, Report};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::load_project;
use crate::cli::view::{comment, diagnostics, tables};
use crate::diag::Severity;

/// Checks and says what was found.
pub fn run(job: &Job<'_>) -> Result<Report, Failure> {
    let (_, loaded) = load_project(job.run, None)?;
    let found = &loaded.diagnostics;
    let mut report = Report::new(if found.has_errors() { Exit::Error } else { Exit::Ok });
    report.markdown = comment::diagnostics(found);
    report.log = diagnostics::report(found, &loaded.sources, diagnostics::Options { width: None });
    report.annotations = found.shown().0.iter().map(annotation).collect();
    if found.has_errors() {
        report.reason = Some(FailureReason::Invalid);
    } else {
        report.log += &tables::valid(&loaded.counts);
        let warned = found.count(Severity::Warning) > 0;
        if warned && job.inputs.fail_on == FailOn::Warnings {
            report.exit = Exit::Error;
            report.reason = Some(FailureReason::OnRequest);
        }
    }
    Ok(report)
}
