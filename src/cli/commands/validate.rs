//! `validate`: every file, offline.

use crate::cli::args::{ProfileArg, Validate};
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::Ran;
use crate::cli::session::load_project;
use crate::cli::view::{Format, comment, diagnostics, json, tables};
use crate::reconcile::load::Profile;

/// Checks and says what was found. Nothing is written and nothing is called.
pub fn run(run: &Run, args: &Validate) -> Ran {
    let profile = args.profile.map(|p| match p {
        ProfileArg::Checkfu => Profile::Checkfu,
        ProfileArg::Agentskills => Profile::Agentskills,
        ProfileArg::Claude => Profile::Claude,
    });
    let (_, loaded) = load_project(run, profile)?;
    let exit = if loaded.diagnostics.has_errors() { Exit::Error } else { Exit::Ok };
    match run.printer.format {
        Format::Json => run.printer.json(&json::diagnostics(&loaded.diagnostics, loaded.counts)),
        Format::Markdown => run.printer.raw(&comment::diagnostics(&loaded.diagnostics)),
        Format::Human => {
            let shown = diagnostics::Options { width: run.printer.out_width };
            run.printer.data(&diagnostics::report(&loaded.diagnostics, &loaded.sources, shown));
            if exit == Exit::Ok {
                run.printer.data(&tables::valid(&loaded.counts));
            }
        }
    }
    Ok(exit)
}
