//! The commands: each takes its arguments, calls the library, gives values to a view and says how it ended.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::args::{Command, Global};
use crate::cli::env::Environment;
use crate::cli::failure::Ran;
use crate::cli::view::Printer;

pub mod adopt;
pub mod apply;
pub mod backup;
pub mod ci;
pub mod completions;
pub mod destroy;
pub mod diff;
pub mod doctor;
pub mod drift;
pub mod edit;
pub mod explain;
pub mod get;
pub mod history;
pub mod init;
pub mod new;
pub mod next;
pub mod plan;
pub mod pull;
pub mod restore;
pub mod revert;
pub mod rollback;
pub mod schema;
pub mod serve;
pub mod show;
pub mod token;
pub mod validate;

/// What every command is given.
pub struct Run {
    /// Writes.
    pub printer: Arc<Printer>,
    /// Options of every command.
    pub global: Global,
    /// What the environment says.
    pub environment: Environment,
    /// Where the command runs: the current directory, or `-C`.
    pub cwd: PathBuf,
}

/// Runs a command.
pub fn run(run: &Run, command: Command) -> Ran {
    match command {
        Command::Init(args) => init::run(run, &args),
        Command::New(args) => new::run(run, &args),
        Command::Schema(args) => schema::run(run, &args),
        Command::Explain(args) => explain::run(run, &args),
        Command::Completions(args) => completions::run(run, &args),
        Command::Validate(args) => validate::run(run, &args),
        Command::Plan(args) => plan::run(run, args),
        Command::Diff(args) => diff::run(run, args),
        Command::Apply(args) => apply::run(run, args),
        Command::Destroy(args) => destroy::run(run, args),
        Command::Drift(args) => drift::run(run, args),
        Command::Edit(args) => edit::run(run, &args),
        Command::Revert(args) => revert::run(run, args),
        Command::Get(args) => get::run(run, &args),
        Command::Pull(args) => pull::run(run, &args),
        Command::Adopt(args) => adopt::run(run, &args),
        Command::History(args) => history::run(run, &args),
        Command::Show(args) => show::run(run, &args),
        Command::Rollback(args) => rollback::run(run, args),
        Command::Ci(args) => ci::run(run, &args),
        Command::Serve(args) => serve::run(run, &args),
        Command::Token(args) => token::run(run, args),
        Command::Backup(args) => backup::run(run, &args),
        Command::Restore(args) => restore::run(run, &args),
        Command::Doctor => doctor::run(run),
    }
}
