//! `restore`: a backup in the place of a workspace.

use crate::cli::args::Restore;
use crate::cli::commands::Run;
use crate::cli::commands::backup::{is_about, is_free, is_there};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::normalize;
use crate::cli::session::actor;
use crate::cli::target::options;
use crate::cli::view::Format;
use crate::cli::view::json::RestoreDoc;
use crate::cli::view::markup::code;
use crate::cli::view::text::{count, line};
use crate::control::embedded::{self, Restored};

/// Restores the workspace.
pub fn run(run: &Run, args: &Restore) -> Ran {
    let (db, from) = (normalize(&run.cwd.join(&args.db)), normalize(&run.cwd.join(&args.from)));
    is_there(&from, &args.from)?;
    is_free(&db, &args.db, args.force)?;
    let done = embedded::restore(&db, &from, args.force, &actor(run), &options(&run.printer)).map_err(|e| {
        Failure::control("restore the workspace", &e).of_file(if is_about(&e, &from) { "FROM" } else { "--db" })
    })?;
    let file = args.db.display().to_string();
    match run.printer.format {
        Format::Human => run.printer.data(&told(&done, &line(&file))),
        Format::Markdown => run.printer.raw(&told(&done, &code(&file))),
        Format::Json => run.printer.json(&RestoreDoc { format: "checkfu.restore/v1", file, done }),
    }
    Ok(Exit::Ok)
}

/// What it does to whoever knew the workspace before.
fn told(done: &Restored, file: &str) -> String {
    let Restored { workspace, epoch, old_epoch, .. } = done;
    let open = match done.applies {
        0 => "No apply was open.".to_owned(),
        n => format!("{} in work when the backup was made: ended as interrupted.", count(n, "apply")),
    };
    let tokens = match done.tokens {
        0 => "No token is valid.".to_owned(),
        n => format!(
            "{} not revoked: as when the backup was made. Revoke again what was revoked since.",
            count(n, "token")
        ),
    };
    format!(
        "Workspace {workspace} is in {file}, in a new epoch, {epoch}.\n\
         - Plans made before (epoch {old_epoch}) are refused: plan again.\n\
         - {open}\n\
         - Idempotency keys from before are new keys: {} let go of.\n\
         - {tokens}\n",
        count(done.keys, "stored answer")
    )
}
