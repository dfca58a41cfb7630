//! `destroy`: the plan of the empty set.

use crate::cli::args::{Destroy as Args, What};
use crate::cli::commands::Run;
use crate::cli::commands::apply::{Consent, finish};
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{self, Wish, runtime};
use crate::cli::target::Workspace;
use crate::diag::codes;
use crate::model::config::{AllowRule, Allowance};

/// Retires everything that this project owns, once the owner's name is given.
pub fn run(run: &Run, args: Args) -> Ran {
    let session = session::open(run)?;
    let owner = session.loaded.config.authoring_owner.to_string();
    let named = args.allow.iter().any(|a| a.rule == AllowRule::Destroy);
    if let Some(other) =
        args.allow.iter().find(|a| a.rule != AllowRule::Destroy || a.subject.as_deref() != Some(&owner))
    {
        return Err(Failure::new(&codes::cli::USAGE, format!("--allow {other} does not answer a destroy of {owner}"))
            .fix(format!("--allow destroy={owner}")));
    }
    let mut allow = args.allow;
    let consent = match (named, args.yes) {
        (true, true) => Consent::Given,
        (true, false) => Consent::Ask,
        // The name that is typed is the allowance, so the plan that is shown is the one that is applied.
        (false, _) if run.printer.can_ask() => {
            allow.push(Allowance { rule: AllowRule::Destroy, subject: Some(owner.clone()) });
            Consent::Type(owner)
        }
        (false, true) => Consent::Given,
        (false, false) => Consent::Ask,
    };
    let wish = Wish { what: What { allow, ..What::default() }, destroy: true };
    let runtime = runtime()?;
    let control = session.place.open_existing(&run.printer)?;
    let plan = runtime.block_on(session.plan(run, &wish, control.as_ref()))?;
    runtime.block_on(finish(run, &session, &wish, (&plan, control.and_then(Workspace::connections)), consent))
}
