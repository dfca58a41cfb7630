//! Where a report goes: the log with its remarks, the job summary, the outputs, files.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::ci::Inputs;
use crate::ci::report::{codequality, sarif, terraform};
use crate::cli::commands::Run;
use crate::cli::commands::ci::{Provider, Report, Surroundings};
use crate::cli::failure::Failure;
use crate::cli::files::CONFIG;
use crate::cli::view::workflow;
use crate::diag::codes::cli::WRITE;

/// The report, where no input names it and there is no page of the host that shows it.
pub const REPORT: &str = "checkfu-plan.md";
/// What is found, for GitLab's `artifacts: reports: codequality`.
pub const CODEQUALITY: &str = "checkfu-codequality.json";
/// How many resources come, change and go, for GitLab's `artifacts: reports: terraform`.
pub const COUNTS: &str = "checkfu-plan.gitlab.json";

/// Writes the files of a report and the summary. What cannot be written is told and fails nothing: the plan or the
/// apply is as it is.
pub fn files(around: &Surroundings, inputs: &Inputs, mut report: Report) -> Report {
    let elsewhere = around.provider != Provider::GitHub;
    let named = inputs.report_file.as_deref().or(elsewhere.then_some(REPORT));
    if let Some(path) = named.filter(|_| !report.markdown.is_empty()) {
        let text = report.markdown.clone();
        file(around, path, Some("report-file"), &text, &mut report);
    }
    let config = format!("{}/{CONFIG}", inputs.working_directory.trim_matches(['/', '.']));
    let config = config.trim_start_matches('/');
    if let Some(path) = &inputs.sarif_file {
        let text = sarif(&report.annotations, config, env!("CARGO_PKG_VERSION"));
        file(around, path, Some("sarif-file"), &text, &mut report);
    }
    if around.provider == Provider::GitLab {
        let text = codequality(&report.annotations, config);
        file(around, CODEQUALITY, None, &text, &mut report);
        if let Some(text) = counts(&report) {
            file(around, COUNTS, None, &text, &mut report);
        }
    }
    if !inputs.annotations {
        report.annotations.clear();
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

/// Writes one file below the top of the repository, and tells where it is.
fn file(around: &Surroundings, path: &str, output: Option<&'static str>, text: &str, report: &mut Report) {
    let path = around.top.join(path);
    match (std::fs::write(&path, text), output) {
        (Ok(()), Some(output)) => report.tell(output, path.display()),
        (Ok(()), None) => {}
        (Err(why), _) => {
            let _ = writeln!(report.log, "{} cannot be written: {why}", path.display());
        }
    }
}

/// The numbers of a plan; `None` where nothing was planned.
fn counts(report: &Report) -> Option<String> {
    let number = |name: &str| report.outputs.get(name)?.parse().ok();
    Some(terraform(number("creates")?, number("updates")?, number("retirements")?))
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
