//! `diff`: what the files change against an earlier commit. Asks no workspace and needs no credential.

use crate::cli::args::{Diff as Args, What};
use crate::cli::base;
use crate::cli::commands::Run;
use crate::cli::commands::plan::show;
use crate::cli::exit::Exit;
use crate::cli::failure::Ran;
use crate::cli::session::{self, Wish};
use crate::reconcile::BaseOf;

/// Compares and shows.
pub fn run(run: &Run, args: Args) -> Ran {
    let (dir, loaded) = session::load_sound(run)?;
    let head = session::desired(&loaded)?;
    let found = base::find(&dir, BaseOf::Ref(&args.base))?;
    let before = base::desired(&found, head)?;
    if before.owner != head.owner {
        run.printer.talk(&format!("authoring_owner changes from {} to {}", before.owner, head.owner));
    }
    let what =
        What { only: args.only, exclude: args.exclude, labels: args.labels, allow: args.allow, ..What::default() };
    let wish = Wish { what, destroy: false };
    let options = session::options(run, &wish, &dir, base::origin(&found, &args.base));
    let plan = base::plan(&found, &before, head, &options);
    show(run, &plan, Some(head));
    Ok(Exit::of_plan(&plan, args.detailed_exitcode))
}
