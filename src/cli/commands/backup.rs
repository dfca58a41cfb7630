//! `backup`: a workspace into one file.

use std::path::Path;

use crate::cli::args::Backup;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::normalize;
use crate::cli::target::options;
use crate::cli::view::Format;
use crate::cli::view::json::BackupDoc;
use crate::cli::view::markup::code;
use crate::cli::view::text::{bytes, line};
use crate::control::{ControlError, embedded};
use crate::diag::codes;

/// Copies the workspace.
pub fn run(run: &Run, args: &Backup) -> Ran {
    let (db, out) = (normalize(&run.cwd.join(&args.db)), normalize(&run.cwd.join(&args.out)));
    is_there(&db, &args.db)?;
    is_free(&out, &args.out, args.force)?;
    let made = embedded::backup(&db, &out, args.force, &options(&run.printer)).map_err(|e| {
        Failure::control("back the workspace up", &e).of_file(if is_about(&e, &db) { "--db" } else { "OUT" })
    })?;
    let file = args.out.display().to_string();
    let told = |file: &str| {
        format!("Workspace {} (epoch {}) is in {file}, {}.\n", made.workspace, made.epoch, bytes(made.bytes))
    };
    match run.printer.format {
        Format::Human => run.printer.data(&told(&line(&file))),
        Format::Markdown => run.printer.raw(&told(&code(&file))),
        Format::Json => run.printer.json(&BackupDoc { format: "checkfu.backup/v1", file, made }),
    }
    Ok(Exit::Ok)
}

/// Is the error about this file? Those of files begin with the path.
pub(super) fn is_about(error: &ControlError, path: &Path) -> bool {
    error.message.starts_with(&*path.to_string_lossy())
}

/// There is a file to read.
pub(super) fn is_there(path: &Path, written: &Path) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    Err(Failure::new(&codes::cli::READ, format!("{} does not exist", written.display())))
}

/// Nothing is overwritten without `--force`.
pub(super) fn is_free(path: &Path, written: &Path, force: bool) -> Result<(), Failure> {
    if force || path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(Failure::new(&codes::cli::EXISTS, format!("{} is there already", written.display()))
        .fix("name another file; --force replaces a workspace that nobody has open"))
}
