//! `completions SHELL`.

use clap::CommandFactory;

use crate::cli::args::{Cli, Completions};
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::Ran;

/// Prints the script.
pub fn run(run: &Run, args: &Completions) -> Ran {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "checkfu", &mut script);
    run.printer.data(&String::from_utf8_lossy(&script));
    Ok(Exit::Ok)
}
