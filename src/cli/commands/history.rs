//! `history`: applies, newest first.

use crate::cli::args::History;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{context, load_project, runtime, target};
use crate::cli::target::choose;
use crate::cli::view::json::AppliesDoc;
use crate::cli::view::{Format, lists, tables};
use crate::reconcile::read;

/// Lists this owner's applies.
pub fn run(run: &Run, args: &History) -> Ran {
    let (dir, loaded) = load_project(run, None)?;
    let place = choose(&loaded.config, target(run), &dir)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &loaded.config);
    let owner = &loaded.config.authoring_owner;
    let applies = runtime()?
        .block_on(read::history(&control, &context, Some(owner), args.limit))
        .map_err(|e| Failure::control("read the workspace", &e))?;
    match run.printer.format {
        Format::Json => run.printer.json(&AppliesDoc { format: "checkfu.applies/v1", applies }),
        Format::Human => run.printer.data(&tables::applies(&applies)),
        Format::Markdown => run.printer.raw(&lists::applies(&applies)),
    }
    Ok(Exit::Ok)
}
