//! `ci`: validate, plan, apply and drift for a pull request, a branch or a schedule. The modes decide; what they say is
//! one [`Report`], which is written once, at the end, whatever happened.

pub mod apply;
pub mod comment;
pub mod drift;
pub mod guard;
pub mod host;
pub mod plan;
pub mod publish;
pub mod report;
pub mod surroundings;
pub mod validate;

pub use report::Report;
pub use surroundings::{Provider, Surroundings};

use crate::ci::{FailureReason, Inputs, Mode};
use crate::cli::args::Ci as Args;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};

/// What every mode is given.
pub struct Job<'a> {
    /// The command.
    pub run: &'a Run,
    /// What was asked for.
    pub inputs: &'a Inputs,
    /// Where it runs.
    pub around: &'a Surroundings,
}

/// Runs one mode and publishes what it says.
pub fn run(run: &Run, args: &Args) -> Ran {
    let around = Surroundings::read(run, args)?;
    let token = around.silence(&run.printer);
    let mut report = match Inputs::read(&around.inputs(args)?) {
        Ok(inputs) => {
            let report = within(run, &inputs, &around);
            publish::files(&around, &inputs, report)
        }
        Err(found) => Report::failed(Failure::many(found, std::collections::BTreeMap::new()), FailureReason::Usage),
    };
    let wrote = publish::outputs(&around, &mut report);
    publish::log(run, &around, &report);
    if let Some(closing) = report.closing.take() {
        closing.run();
    }
    publish::remarks(run, &around, &report, token.as_deref());
    wrote.map(|()| report.ends())
}

/// The mode itself, in its folder.
fn within(run: &Run, inputs: &Inputs, around: &Surroundings) -> Report {
    let there = around.top.join(&inputs.working_directory);
    let inside =
        there.canonicalize().ok().zip(around.top.canonicalize().ok()).is_some_and(|(f, top)| f.starts_with(top));
    if !inside {
        let failure = Failure::new(&crate::diag::codes::ci::INPUT, "working-directory is no folder of the repository")
            .fix("give the folder with checkfu.yaml, from the top of the repository");
        return Report::failed(failure, FailureReason::Usage);
    }
    let mut global = run.global.clone();
    global.target = inputs.target.clone().or(global.target);
    let inner = Run {
        printer: std::sync::Arc::clone(&run.printer),
        global,
        environment: run.environment.clone(),
        cwd: crate::cli::files::normalize(&there),
    };
    let job = Job { run: &inner, inputs, around };
    let report = match inputs.mode {
        Mode::Validate => validate::run(&job),
        Mode::Apply => apply::run(&job),
        Mode::Plan => plan::run(&job),
        Mode::Drift => drift::run(&job),
        Mode::Setup => Ok(Report::new(Exit::Ok)),
    };
    let mut report = report.unwrap_or_else(Report::of_failure);
    let folder = crate::cli::files::find_project(&job.run.cwd).unwrap_or_else(|_| job.run.cwd.clone());
    for remark in &mut report.annotations {
        remark.file = remark.file.take().and_then(|file| around.from_top(&folder, &file));
    }
    report
}
