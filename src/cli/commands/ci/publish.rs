//! Where a report goes: the log with its remarks, the job summary, the outputs, files.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::ci::Inputs;
use crate::cli::commands::Run;
use crate::cli::commands::ci::{Provider, Report, Surroundings};
use crate::cli::failure::Failure;
use crate::cli::view::workflow;
use crate::diag::codes::cli::WRITE;

/// Writes the report file and the summary. What cannot be written is told and fails nothing: the plan or the apply is
/// as it is.
pub fn files(around: &Surroundings, inputs: &Inputs, mut report: Report) -> Report {
    if !inputs.annotations {
        report.annotations.clear();
    }
    if let Some(path) = &inputs.report_file {
        let path = around.top.join(path);
        match std::fs::write(&path, &report.markdown) {
            Ok(()) => report.tell("report-file", path.display()),
            Err(why) => {
                let _ = writeln!(report.log, "report-file cannot be written: {why}");
            }
        }
    }
    if let Some(path) = around.variable("GITHUB_STEP_SUMMARY").filter(|_| inputs.summary) {
        let path = Path::new(path);
        let held = std::fs::metadata(path).map_or(0, |m| m.len());
        let text = workflow::summary(report.summary.as_deref().unwrap_or(&report.markdown), held);
        if let Err(why) = append(path, &text) {
            let _ = writeln!(report.log, "the job summary cannot be written: {why}");
        }
    }
    report
}

/// Prints the log.
pub fn log(run: &Run, around: &Surroundings, report: &Report) {
    match around.provider {
        Provider::GitHub => run.printer.raw(&workflow::log(&report.log)),
        Provider::GitLab | Provider::Plain => run.printer.data(&report.log),
    }
}

/// Lets the runner obey again, then gives it the remarks.
pub fn remarks(run: &Run, around: &Surroundings, report: &Report, token: Option<&str>) {
    if let Some(token) = token {
        run.printer.raw(&format!("::{token}::\n"));
    }
    if around.provider == Provider::GitHub {
        run.printer.raw(&workflow::annotations(&report.annotations));
    }
}

/// Writes the outputs.
///
/// # Errors
/// The runner's file cannot be written: a later step would go on with nothing.
pub fn outputs(around: &Surroundings, report: &mut Report) -> Result<(), Failure> {
    let Some(path) = around.variable("GITHUB_OUTPUT") else { return Ok(()) };
    report.tell("exit-code", report.exit.code());
    report.tell("failure-reason", report.reason.map_or("", |r| r.as_str()));
    report.tell("degraded", report.degraded.map_or("", |d| d.as_str()));
    report.tell("checkfu-version", env!("CARGO_PKG_VERSION"));
    append(Path::new(path), &workflow::outputs(&report.outputs))
        .map_err(|e| Failure::new(&WRITE, format!("GITHUB_OUTPUT cannot be written: {e}")))
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
