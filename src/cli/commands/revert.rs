//! `revert`: the plan of these addresses alone, in which what moved live is put back. Shown, asked and applied as any.

use crate::cli::args::{Revert as Args, What};
use crate::cli::commands::Run;
use crate::cli::commands::apply::{Consent, finish};
use crate::cli::failure::Ran;
use crate::cli::session::{self, Wish, runtime};
use crate::cli::target::Workspace;

/// Puts back.
pub fn run(run: &Run, args: Args) -> Ran {
    let session = session::open(run)?;
    let only = args.addresses.clone();
    let wish = Wish { what: What { only, revert: args.addresses, ..What::default() }, destroy: false };
    let runtime = runtime()?;
    let control = session.place.open_existing(&run.printer)?;
    let plan = runtime.block_on(session.plan(run, &wish, control.as_ref()))?;
    let consent = if args.yes { Consent::Given } else { Consent::Ask };
    runtime.block_on(finish(run, &session, &wish, (&plan, control.and_then(Workspace::connections)), consent))
}
