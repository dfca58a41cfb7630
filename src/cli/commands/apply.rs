//! `apply`: plan, show, ask, do. Or do a saved plan. [`carry_out`] alone says nothing of what was done: it gives it back.

use std::io::Read;
use std::sync::Arc;

use tokio::sync::watch;

use crate::cli::args::Apply as Args;
use crate::cli::commands::Run;
use crate::cli::commands::plan::{save, show};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{self, Session, Wish, runtime};
use crate::cli::signals::{Second, stop_on_interrupt};
use crate::cli::target::Workspace;
use crate::cli::view::progress::Progress;
use crate::cli::view::words::some_of;
use crate::cli::view::{Format, ask, diagnostics, receipt as view};
use crate::control::remote::Remote;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::plan::{self, Plan};
use crate::receipt::{Outcome, Receipt};
use crate::reconcile::{self, ApplyOptions, Event, ReconcileError};

/// Applies.
pub fn run(run: &Run, args: Args) -> Ran {
    let saved = args.plan.as_deref().map(|path| read(run, path)).transpose()?;
    let session = session::open(run)?;
    let wish = Wish { what: args.what, destroy: false };
    let runtime = runtime()?;
    let reviewed = saved.is_some() || args.plan_digest.is_some();
    let (plan, planned) = match saved {
        Some(plan) => (of_this_project(plan, &session)?, None),
        None => {
            let control = session.place.open_existing(&run.printer)?;
            (runtime.block_on(session.plan(run, &wish, control.as_ref()))?, control.and_then(Workspace::connections))
        }
    };
    if let Some(digest) = &args.plan_digest {
        reconcile::is_reviewed(&plan, digest).map_err(|e| Failure::reconcile(&e))?;
    }
    if let Some(path) = &wish.what.out {
        save(run, &plan, path)?;
    }
    let consent = if reviewed || args.yes { Consent::Given } else { Consent::Ask };
    runtime.block_on(finish(run, &session, &wish, (&plan, planned), consent))
}

/// Has somebody said yes?
pub enum Consent {
    /// By `--yes`, or by naming a reviewed plan.
    Given,
    /// Not yet: ask yes or no.
    Ask,
    /// Not yet: ask for this text.
    Type(String),
}

/// Shows the plan, asks if need be, applies, tells what was done. With the plan come the connections to the server that
/// it was made over, where it was made now.
pub async fn finish(
    run: &Run,
    session: &Session,
    wish: &Wish,
    (plan, planned): (&Plan, Option<Remote>),
    consent: Consent,
) -> Ran {
    if run.printer.format == Format::Human {
        show(run, plan, session.loaded.desired.as_ref());
    }
    if !plan.applyable {
        return not_applyable(run, plan);
    }
    if !plan.actions.is_empty() {
        session.place.may_write(&run.printer)?;
        agree(run, plan, consent)?;
    }
    let stop = stop_on_interrupt(Arc::clone(&run.printer), Second::Leaves);
    let carried = carry_out(run, session, wish, (plan, planned), stop).await?;
    Ok(tell(run, &carried).and(Exit::of_findings(plan)))
}

fn not_applyable(run: &Run, plan: &Plan) -> Ran {
    let exit = Exit::of_findings(plan);
    match run.printer.format {
        Format::Human => run.printer.err("Nothing was applied."),
        Format::Markdown => show(run, plan, None),
        Format::Json => return Err(Failure::of_findings(plan).exit(exit)),
    }
    Ok(exit)
}

fn agree(run: &Run, plan: &Plan, consent: Consent) -> Result<(), Failure> {
    let yes = match consent {
        Consent::Given => return Ok(()),
        Consent::Ask if run.printer.can_ask() => ask::yes(&format!("Apply this to {}?", plan.origin.target)),
        Consent::Type(text) if run.printer.can_ask() => ask::typed(&format!("Type {text} to retire all of it"), &text),
        Consent::Ask | Consent::Type(_) => {
            return Err(Failure::new(&codes::cli::CONFIRM, "nobody can be asked: there is no terminal")
                .fix("pass --yes, or name the reviewed plan with --plan FILE or --plan-digest DIGEST"));
        }
    };
    answer(yes)
}

fn answer(yes: bool) -> Result<(), Failure> {
    if yes { Ok(()) } else { Err(Failure::new(&codes::cli::DECLINED, "not confirmed; nothing was written")) }
}

/// What became of a plan that was carried out.
#[derive(Debug)]
pub struct Carried {
    /// What was done, action by action.
    pub receipt: Receipt,
    /// Why its end is not known: the Apply could not be ended, or the workspace not be read back.
    pub lost: Option<Failure>,
}

impl Carried {
    /// What is not as it should be, beside what the receipt's lines say.
    pub fn diagnostics(&self) -> Diagnostics {
        let lost = self.lost.iter().flat_map(|f| f.diagnostics.0.iter().cloned());
        Diagnostics(lost.chain(unsettled(&self.receipt)).collect())
    }

    /// How the command ends by it.
    pub fn exit(&self) -> Exit {
        self.lost.as_ref().map_or_else(|| Exit::of_receipt(&self.receipt), |f| f.exit)
    }
}

/// Carries a plan out, until it is done or `stop` is true and what is in flight has ended. With the plan come the
/// connections that it was made over. Only how far it is, is told.
///
/// # Errors
/// Nothing was written.
pub async fn carry_out(
    run: &Run,
    session: &Session,
    wish: &Wish,
    (plan, planned): (&Plan, Option<Remote>),
    stop: watch::Receiver<bool>,
) -> Result<Carried, Failure> {
    let control = session.place.open(planned, &run.printer, stop.clone())?;
    let progress = Progress::new(&run.printer, plan.actions.len());
    let mut how = ApplyOptions { admin: true, ..ApplyOptions::new(session::actor(run)) };
    how.parallelism = session.place.in_flight();
    how.run = Some(uuid::Uuid::now_v7().to_string());
    how.stop = stop;
    let events = |event: Event| on_event(&progress, event);
    let options = session.options(run, wish);
    let ran =
        reconcile::apply(plan, &control, &session.loaded.project, (session.desired()?, &options), &how, &events).await;
    progress.finish();
    let carried = carried(ran)?;
    if carried.receipt.count("done") > 0 {
        run.printer.note_written();
    }
    Ok(carried)
}

/// What was done is kept even where the end went wrong.
fn carried(ran: Result<Receipt, ReconcileError>) -> Result<Carried, Failure> {
    match ran {
        Ok(receipt) => Ok(Carried { receipt, lost: None }),
        Err(error) => {
            let failure = Failure::reconcile(&error);
            let receipt = error.receipt().cloned();
            receipt.map(|receipt| Carried { receipt, lost: Some(failure.clone()) }).ok_or(failure)
        }
    }
}

fn say(run: &Run, diagnostics: &Diagnostics) {
    let shown = diagnostics::Options { width: run.printer.err_width };
    run.printer.err(&diagnostics::report(diagnostics, &diagnostics::Sources::new(), shown));
}

fn on_event(progress: &Progress<'_>, event: Event) {
    match event {
        Event::Started { id } => progress.began(&id),
        Event::Ended { id, .. } => progress.ended(&id),
        Event::Began { apply, other, .. } => {
            if let Some(other) = other {
                progress.say(&format!("Another apply of this owner has not ended: {other}. Both are safe."));
            }
            progress.say(&format!("Apply {apply}"));
        }
        Event::Waiting { on, left } => progress.waiting(&on, left),
        Event::Stopping { in_flight } => progress.say(&format!("{in_flight} in flight")),
        Event::Checked { .. } | Event::Uploaded { .. } => {}
    }
}

/// Tells what was done: the receipt is the one document on stdout, and what is not as it should be is said beside it.
fn tell(run: &Run, carried: &Carried) -> Exit {
    let (printer, receipt) = (&run.printer, &carried.receipt);
    match printer.format {
        // The plan has just said that there is nothing to do.
        Format::Human if receipt.outcome == Outcome::Nothing => {}
        Format::Human => printer.data(&view::human(receipt, printer.verbose)),
        Format::Json => printer.json(receipt),
        Format::Markdown => printer.data(&view::markdown(receipt)),
    }
    let diagnostics = carried.diagnostics();
    if !diagnostics.0.is_empty() {
        say(run, &diagnostics);
    }
    if let Some(next) = view::next(receipt) {
        printer.talk(&next);
    }
    carried.exit()
}

/// What is not as wanted after the apply, though every action was done.
fn unsettled(receipt: &Receipt) -> Option<Diagnostic> {
    let places = &receipt.not_settled;
    let message = || format!("not as wanted after the apply: {}", some_of(places));
    (!places.is_empty()).then(|| Diagnostic::new(&codes::apply::NOT_SETTLED, message()))
}

/// Reads a saved plan.
pub fn read(run: &Run, path: &std::path::Path) -> Result<Plan, Failure> {
    let path = run.cwd.join(path);
    let mut text = Vec::new();
    // One byte more than is taken tells that there is more, and no endless file is read to its end.
    let most = plan::MOST_BYTES as u64 + 1;
    std::fs::File::open(&path)
        .and_then(|file| file.take(most).read_to_end(&mut text))
        .map_err(|e| Failure::new(&codes::cli::READ, format!("{} cannot be read: {e}", path.display())))?;
    plan::read(&text).map_err(|e| Failure::caused(e.code(), &e))
}

/// A saved plan acts as its own owner on its own target: both must be those of this project.
///
/// # Errors
/// It is for another owner, target or workspace.
pub fn of_this_project(plan: Plan, session: &Session) -> Result<Plan, Failure> {
    let owner = &session.loaded.config.authoring_owner;
    let other = |what: &str, planned: &str, here: &str| {
        let message = format!("the plan is for {what} {planned}, this is {here}");
        Failure::new(&codes::apply::OTHER_WORKSPACE, message).exit(Exit::Conflict)
    };
    if plan.owner != *owner {
        return Err(other("owner", plan.owner.as_str(), owner.as_str()));
    }
    if plan.origin.target != session.place.name {
        return Err(
            other("target", &plan.origin.target, &session.place.name).fix(format!("--target {}", plan.origin.target))
        );
    }
    // A plan for a workspace that is new names none: then kind and place say which one was meant.
    let (planned, here) = (&plan.origin, session.place.origin());
    if planned.kind != here.kind || (planned.workspace.is_none() && planned.at != here.at) {
        let of = |kind: &str, at: &str| format!("{kind} {at}");
        return Err(other("the workspace", &of(&planned.kind, &planned.at), &of(&here.kind, &here.at)));
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;

    #[test]
    fn no_is_no() {
        assert!(answer(true).is_ok());
        let failure = answer(false).unwrap_err();
        assert_eq!((failure.exit, failure.diagnostics.0[0].code.code), (Exit::Error, "cli.declined"));
    }

    #[test]
    fn what_was_carried_out_is_kept_where_its_end_is_lost() {
        let source =
            || crate::control::ControlError::new(crate::control::ErrorKind::Unavailable, "store.locked", "locked");
        let lost = ReconcileError::ReadBack { receipt: Box::new(sample::receipt()), source: source() };
        let kept = carried(Err(lost)).unwrap();
        assert_eq!((kept.exit(), kept.receipt.lines.len()), (Exit::Partial, sample::receipt().lines.len()));
        assert_eq!(kept.diagnostics().0[0].code.code, "apply.not_read_back");
        let before = ReconcileError::Apply(reconcile::ApplyError::Control { doing: "ask", source: source() });
        assert!(carried(Err(before)).is_err());
        let whole = carried(Ok(sample::receipt())).unwrap();
        assert!(whole.exit() == Exit::Ok && whole.diagnostics().0.is_empty());
    }

    #[test]
    fn what_has_not_settled_is_named() {
        let mut receipt = sample::receipt();
        assert!(unsettled(&receipt).is_none());
        receipt.not_settled = vec!["Agent/support instructions".to_owned()];
        let told = unsettled(&receipt).unwrap();
        assert_eq!(told.code.code, "apply.not_settled");
        assert!(told.message.contains("Agent/support instructions"));
        assert_eq!(Exit::of_receipt(&receipt), Exit::Partial);
    }
}
