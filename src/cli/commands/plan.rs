//! `plan`: what apply would do. Reads only.

use crate::cli::args::Plan as Args;
use crate::cli::commands::{Run, next};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::write_plan;
use crate::cli::session::{self, Wish, runtime};
use crate::cli::view::{Format, human, markdown, unchanged};
use crate::plan::{self, Plan};
use crate::reconcile::Desired;

/// Plans, shows, and writes the plan file if one is asked for.
pub fn run(run: &Run, args: Args) -> Ran {
    let session = session::open(run)?;
    let control = session.place.open_existing(&run.printer)?;
    let out = args.what.out.clone();
    let wish = Wish { what: args.what, destroy: false };
    let plan = runtime()?.block_on(session.plan(run, &wish, control.as_ref()))?;
    if let Some(path) = &out {
        save(run, &plan, path)?;
    }
    show(run, &plan, session.loaded.desired.as_ref());
    if plan.applyable && !plan.actions.is_empty() {
        run.printer.talk(&format!("Next: {}", next::apply(&run.global, &wish.what, &plan.digest)));
    }
    let exit = Exit::of_plan(&plan, args.detailed_exitcode);
    // The process ends here, and with it all of its memory: no need to free thousands of resources one by one.
    std::mem::forget((plan, session.loaded.desired));
    Ok(exit)
}

/// Writes a plan file, whole or not at all.
pub fn save(run: &Run, plan: &Plan, path: &std::path::Path) -> Result<(), Failure> {
    write_plan(&run.cwd.join(path), &plan::write(plan))
}

/// Shows a plan on stdout; where the desired state is at hand, `--verbose` lists what stays as it is.
pub fn show(run: &Run, plan: &Plan, desired: Option<&Desired>) {
    let printer = &run.printer;
    let unchanged = desired.filter(|_| printer.verbose).map(|d| unchanged::human(plan, d)).unwrap_or_default();
    match printer.format {
        Format::Human => {
            let options = human::Options { verbose: printer.verbose, unchanged: &unchanged };
            human::write(plan, options, &mut |text| printer.data(text));
        }
        Format::Json => printer.raw(&plan::write(plan)),
        Format::Markdown => printer.data(&markdown::plan(plan)),
    }
}
