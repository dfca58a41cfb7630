//! The command line: arguments, commands, views. The only printer and the only reader of the environment.

pub mod args;
pub mod exit;
pub mod view;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs a command line.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let _ = args;
    ExitCode::SUCCESS
}
