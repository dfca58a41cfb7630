//! `drift`: what moved live, by whom, and what the files say that is not applied. Writes nothing, ever.

use crate::cli::args::{Drift as Args, What};
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{self, Wish, context, runtime};
use crate::cli::view::{Format, drift, drift_markdown, human};
use crate::plan::Unmanaged;
use crate::reconcile;

/// Looks and tells.
pub fn run(run: &Run, args: Args) -> Ran {
    let session = session::open(run)?;
    let control = session.place.open_to_look(&run.printer)?;
    let what = What { only: args.only, exclude: args.exclude, labels: args.labels, ..What::default() };
    let options = session.options(run, &Wish { what, destroy: false });
    let most = if args.all { usize::MAX } else { Unmanaged::SHOWN };
    let context = context(run, &session.loaded.config);
    let project = Some(&session.loaded.project);
    let found = runtime()?
        .block_on(reconcile::drift(session.desired()?, control.as_ref(), &context, &options, project, most))
        .map_err(|e| Failure::control("read the workspace", &e))?;
    let printer = &run.printer;
    match printer.format {
        Format::Human => {
            printer
                .data(&drift::human(&found, human::Options { verbose: printer.verbose, unchanged: "", texts: None }));
        }
        Format::Json => printer.json(&found),
        Format::Markdown => printer.raw(&drift_markdown::drift(&found)),
    }
    if let Some(next) = drift::next(&found) {
        printer.talk(&next);
    }
    Ok(Exit::of_drift(&found))
}
