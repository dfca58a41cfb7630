//! The command line: arguments, commands, views. The only printer and the only reader of the environment.

pub mod args;
pub mod base;
pub mod commands;
pub mod configuration;
pub mod env;
pub mod exit;
pub mod failure;
pub mod files;
pub mod schemas;
pub mod session;
pub mod signals;
pub mod target;
pub mod view;
pub mod writer;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::args::{Cli, Color, Global};
use crate::cli::commands::Run;
use crate::cli::env::Environment;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::view::{Format, Printer, comment, diagnostics, json};
use crate::diag::{bound, bounded, codes};

/// Runs the command line of this process and says how it ended.
pub fn run() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    signals::writes_over_the_limit_are_errors();
    let environment = Environment::read();
    #[cfg(feature = "failpoints")]
    if let Some((point, nth)) = &environment.failpoint {
        crate::control::failpoint::arm(point, *nth);
    }
    let (printer, ran) = match Cli::try_parse_from(&args) {
        Ok(cli) => {
            let printer = Arc::new(Printer::new(&cli.global, environment.no_color));
            let ran = start(Arc::clone(&printer), environment, cli);
            (printer, ran)
        }
        Err(error) => {
            let printer = Arc::new(Printer::new(&before_parsing(&args), environment.no_color));
            let ran = usage(&printer, &error);
            (printer, ran)
        }
    };
    let exit = ran.unwrap_or_else(|failure| {
        tell(&printer, &failure);
        failure.exit
    });
    if printer.failed() {
        printer.err(&format!("error[{}]: standard output cannot be written", codes::cli::OUTPUT.code));
        // 1 would say that nothing was done.
        return exit.and(if printer.wrote() { Exit::Partial } else { Exit::Error }).into();
    }
    exit.into()
}

fn start(printer: Arc<Printer>, environment: Environment, cli: Cli) -> Result<Exit, Failure> {
    let unreadable =
        |e: std::io::Error| Failure::new(&codes::cli::READ, format!("the current directory cannot be read: {e}"));
    let here = std::env::current_dir().map_err(unreadable)?;
    let cwd = cli.global.directory.as_ref().map_or_else(|| here.clone(), |dir| files::normalize(&here.join(dir)));
    // `init` makes its folder; every other command runs in one that is there.
    if !cwd.is_dir() && !matches!(cli.command, args::Command::Init(_)) {
        return Err(Failure::new(&codes::cli::READ, format!("{} is no folder", cwd.display())));
    }
    threads()?;
    commands::run(&Run { printer, global: cli.global, environment, cwd }, cli.command)
}

/// The threads that read and hash files: one a processor, whatever the environment asks for. Left to itself the
/// pool would panic where the system gives no threads. This thread is one of them: what it frees of the files is
/// then of use to the plan. Another one is there in any case, for work that other threads hand to the pool while
/// this one waits.
fn threads() -> Result<(), Failure> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(processors.max(2)).use_current_thread();
    pool.build_global().map_err(|e| session::no_threads(&e))
}

/// The options that decide how an error of the command line itself is shown.
fn before_parsing(args: &[OsString]) -> Global {
    let options = || args.iter().skip(1).take_while(|a| *a != "--");
    Global {
        directory: None,
        target: None,
        json: options().any(|a| a == "--json"),
        markdown: false,
        color: Color::Auto,
        quiet: false,
        verbose: false,
    }
}

/// Help and version are data; a wrong command line is an error with exit 1.
fn usage(printer: &Printer, error: &clap::Error) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printer.data(&error.render().ansi().to_string());
            Ok(Exit::Ok)
        }
        _ if printer.format == Format::Json => {
            let text = error.render().to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Err(Failure::new(&codes::cli::USAGE, message).fix("checkfu --help"))
        }
        _ => {
            // An argument is echoed as it was given; styles could be cut in two.
            let plain = error.render().to_string();
            let long = plain.len() > bound::MOST;
            printer.err(&if long { bounded(&plain).into_owned() } else { error.render().ansi().to_string() });
            Ok(Exit::Error)
        }
    }
}

/// Shows why a command failed: as the JSON document, or on stderr.
fn tell(printer: &Printer, failure: &Failure) {
    match printer.format {
        Format::Json => printer.json(&json::diagnostics(&failure.diagnostics, std::collections::BTreeMap::new())),
        format => {
            if format == Format::Markdown {
                printer.raw(&comment::diagnostics(&failure.diagnostics));
            }
            let options = diagnostics::Options { width: printer.err_width };
            printer.err(&diagnostics::report(&failure.diagnostics, &failure.sources, options));
        }
    }
}
