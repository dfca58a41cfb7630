//! `rollback APPLY`: the plan of what an earlier apply left, under the same checks, shown, asked and applied.

use crate::cli::args::Rollback as Args;
use crate::cli::commands::Run;
use crate::cli::commands::apply::{Consent, finish};
use crate::cli::commands::plan::save;
use crate::cli::commands::show::find;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{self, Session, Wish, context, runtime};
use crate::cli::target::choose;
use crate::diag::codes;
use crate::reconcile;

/// Goes back. The files of the project do not matter, and stay as they are.
pub fn run(run: &Run, args: Args) -> Ran {
    let (dir, mut loaded) = session::load_project(run, None)?;
    let place = choose(&loaded.config, session::target(run), &dir)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &loaded.config);
    let runtime = runtime()?;
    let apply = runtime.block_on(find(&control, &context, &args.apply))?;
    if apply.owner != loaded.config.authoring_owner {
        let message = format!(
            "{} is an apply of {}, and this project is {}'s",
            apply.id, apply.owner, loaded.config.authoring_owner
        );
        return Err(Failure::new(&codes::cli::NOT_FOUND, message).fix("checkfu history"));
    }
    let recorded = runtime.block_on(reconcile::recorded(&control, &context, &loaded.config, &apply));
    loaded.desired = Some(recorded.map_err(|e| Failure::control("read the workspace", &e))?);
    let session = Session { dir, loaded, place, rollback: true, limits: None };
    let wish = Wish { what: args.what, destroy: false };
    let plan = runtime.block_on(session.plan(run, &wish, Some(&control)))?;
    if let Some(path) = &wish.what.out {
        save(run, &plan, path)?;
    }
    let by = format!("{}, by {} at {}", apply.id, apply.actor, apply.began_at);
    run.printer.talk(&format!("Back to what {by} left; the files of this project stay as they are."));
    let consent = if args.yes { Consent::Given } else { Consent::Ask };
    runtime.block_on(finish(run, &session, &wish, (&plan, control.connections()), consent))
}
