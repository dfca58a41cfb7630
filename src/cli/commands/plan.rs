//! `plan`: what apply would do. Reads only.

use crate::cli::args::Plan as Args;
use crate::cli::commands::pull::config_not_patched;
use crate::cli::commands::pull::here::or_fail;
use crate::cli::commands::{Run, next};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::{CONFIG, write_plan};
use crate::cli::session::{self, Wish, runtime};
use crate::cli::view::patch::Changed;
use crate::cli::view::{Format, human, patch, pull_request, unchanged};
use crate::cli::writer::{Over, Planned, Work};
use crate::model::Digest;
use crate::plan::{self, Plan};
use crate::pull::patch::lists;
use crate::reconcile::{self, Desired};

/// Plans, shows, and writes the plan file if one is asked for.
pub fn run(run: &Run, args: Args) -> Ran {
    let mut session = session::open(run)?;
    let control = session.place.open_existing(&run.printer)?;
    let out = args.what.out.clone();
    let wish = Wish { what: args.what, destroy: false };
    let runtime = runtime()?;
    let mut plan = runtime.block_on(session.plan(run, &wish, control.as_ref()))?;
    if args.write_moved {
        if write_moved(run, &session, &plan)? {
            session = session::open(run)?;
            plan = runtime.block_on(session.plan(run, &wish, control.as_ref()))?;
        } else {
            run.printer.talk("No rename is offered: checkfu.yaml is as it was");
        }
    }
    if let Some(path) = &out {
        save(run, &plan, path)?;
    }
    let texts = match &control {
        Some(control) if run.printer.format == Format::Human => {
            let context = session::context(run, &session.loaded.config);
            let texts = runtime.block_on(reconcile::held_texts(&plan, control, &context));
            texts.map_err(|e| Failure::control("read the workspace", &e))?
        }
        _ => human::Texts::new(),
    };
    show_with(run, &plan, session.loaded.desired.as_ref(), &texts);
    if plan.applyable && !plan.actions.is_empty() {
        run.printer.talk(&format!("Next: {}", next::apply(&run.global, &wish.what, &plan.digest)));
    }
    let exit = Exit::of_plan(&plan, args.detailed_exitcode);
    // The process ends here, and with it all of its memory: no need to free thousands of resources one by one.
    std::mem::forget((plan, session.loaded.desired));
    Ok(exit)
}

/// Writes the `moved:` lines that a plan offers. Says whether there are any.
fn write_moved(run: &Run, session: &session::Session, plan: &Plan) -> Result<bool, Failure> {
    if plan.notes.moved.is_empty() {
        return Ok(false);
    }
    let before = session.loaded.project.read_text(CONFIG).map_err(Failure::from)?;
    let after = lists::add(&before, &plan.notes.moved).map_err(|e| config_not_patched(&e))?;
    let file = Planned {
        path: CONFIG.to_owned(),
        bytes: after.clone().into_bytes(),
        executable: false,
        link: false,
        over: Over::If(Digest::of(before.as_bytes())),
    };
    let (work, found) = Work::look(&session.dir, vec![file]);
    or_fail(found)?;
    work.run(&session.dir)?;
    let changed = Changed { path: CONFIG.to_owned(), before: Some(before.to_string()), after: Some(after) };
    run.printer.talk(&patch::files(&[changed]));
    Ok(true)
}

/// Writes a plan file, whole or not at all.
pub fn save(run: &Run, plan: &Plan, path: &std::path::Path) -> Result<(), Failure> {
    write_plan(&run.cwd.join(path), &plan::write(plan))
}

/// Shows a plan on stdout; where the desired state is at hand, `--verbose` lists what stays as it is.
pub fn show(run: &Run, plan: &Plan, desired: Option<&Desired>) {
    show_with(run, plan, desired, &human::Texts::new());
}

/// The same with the texts of files that are held.
fn show_with(run: &Run, plan: &Plan, desired: Option<&Desired>, texts: &human::Texts) {
    let printer = &run.printer;
    let unchanged = desired.filter(|_| printer.verbose).map(|d| unchanged::human(plan, d)).unwrap_or_default();
    match printer.format {
        Format::Human => {
            let options = human::Options { verbose: printer.verbose, unchanged: &unchanged, texts: Some(texts) };
            human::write(plan, options, &mut |text| printer.data(text));
        }
        Format::Json => printer.raw(&plan::write(plan)),
        Format::Markdown => printer.data(&pull_request::alone(plan, pull_request::COMMENT)),
    }
}
