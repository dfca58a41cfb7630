//! Carries out a plan: walks its graph with bounded concurrency, sends every action as the compare-and-swap
//! that it is, and says what became of each.
//!
//! It gets the plan, a control plane and file bodies, and nothing else, so it has nothing to decide. What moved
//! since the plan was made ends that action as `stale`; it, its dependents and every retirement still to come
//! write nothing, the rest is done.

use tokio::sync::watch;

use crate::control::{Blobs, ControlError, ControlPlane};
use crate::diag::{Code, codes};
use crate::model::op::{Context, OwnerOf, Request, Response};
use crate::plan::Plan;
use crate::receipt::Receipt;

mod content;
mod event;
mod ids;
mod line;
mod run;
mod schedule;
mod send;
mod step;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use run::Walked;
pub use schedule::ScheduleError;
pub(crate) use send::unexpected;

/// How to apply.
#[derive(Debug, Clone)]
pub struct ApplyOptions {
    /// Most actions in flight. Default 10, at least 1.
    pub parallelism: usize,
    /// Who acts, for the audit.
    pub actor: String,
    /// May it take from another owner what that one did not offer? Default no. Over HTTP the token's scope says it
    /// instead; who has the file of an embedded workspace may.
    pub admin: bool,
    /// Names this run, in the idempotency key of beginning its Apply, so that a lost answer begins no second
    /// one; drawn anew for every run. `None`: then that one request is not sent again.
    pub run: Option<String>,
    /// Becomes true when a person asks to stop: what is in flight finishes, nothing else starts.
    pub stop: watch::Receiver<bool>,
}

impl ApplyOptions {
    /// The defaults, with a stop signal that never comes.
    pub fn new(actor: impl Into<String>) -> Self {
        let (_, stop) = watch::channel(false);
        Self { parallelism: 10, actor: actor.into(), admin: false, run: None, stop }
    }
}

/// Why nothing was applied; or, for [`ApplyError::NotEnded`], why the Apply is still open.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A finding refuses the plan.
    #[error("the plan may not be applied: {}", .codes.join(", "))]
    Refused {
        /// Codes of the findings that refuse it.
        codes: Vec<String>,
        /// Is one of them an error of the input?
        input: bool,
    },
    /// The plan breaks rules of the checker.
    #[error("the plan is not sound: {}", .problems.join("; "))]
    Unsound {
        /// The rules that it breaks.
        problems: Vec<String>,
    },
    /// The plan was made for another workspace or epoch.
    #[error("the plan was made for {planned}, this is {found}")]
    OtherWorkspace {
        /// In the plan, in words.
        planned: String,
        /// The one that was asked, in words.
        found: String,
    },
    /// What the plan refers to is something else by now.
    #[error("what the plan refers to is not what it says: {}", .problems.join("; "))]
    OtherIds {
        /// One sentence a reference.
        problems: Vec<String>,
    },
    /// Bodies are gone or changed.
    #[error("{} of the files that the plan needs cannot be had as planned", .problems.len())]
    ContentMissing {
        /// One sentence a file.
        problems: Vec<String>,
    },
    /// The workspace did not answer before anything was written.
    #[error("cannot {doing}")]
    Control {
        /// What was being done.
        doing: &'static str,
        /// Why not.
        #[source]
        source: ControlError,
    },
    /// Everything ran, but the Apply could not be ended.
    #[error("the Apply could not be ended in the workspace")]
    NotEnded {
        /// What happened; complete.
        receipt: Box<Receipt>,
        /// Why not.
        #[source]
        source: ControlError,
    },
}

impl ApplyError {
    /// The row of the code table; for [`ApplyError::Control`] the cause has its own code.
    pub fn code(&self) -> Option<&'static Code> {
        Some(match self {
            Self::Refused { .. } => &codes::apply::REFUSED,
            Self::Unsound { .. } => &codes::apply::UNSOUND,
            Self::OtherWorkspace { .. } => &codes::apply::OTHER_WORKSPACE,
            Self::OtherIds { .. } => &codes::apply::OTHER_IDS,
            Self::ContentMissing { .. } => &codes::apply::CONTENT_MISSING,
            Self::NotEnded { .. } => &codes::apply::NOT_ENDED,
            Self::Control { .. } => return None,
        })
    }
}

/// Carries out the actions of a plan. A plan without actions sends no write at all, but only the
/// workspace that it was made for says that there is nothing to do. Everything that can be known before the first
/// write is checked before it: that the plan may be applied and is sound, that this is the workspace that it
/// was made for, that what it refers to is what it says, that every file body is still there.
///
/// # Errors
/// [`ApplyError`], with nothing written. Once the Apply has begun, what goes wrong with an action is in its line of
/// the receipt.
pub async fn walk<'a, C: ControlPlane, B: Blobs>(
    plan: &'a Plan,
    control: &'a C,
    blobs: &'a B,
    options: &'a ApplyOptions,
    events: &'a (dyn Fn(Event) + Send + Sync),
) -> Result<Walked<'a, C>, ApplyError> {
    check(plan)?;
    let schedule =
        schedule::Schedule::new(&plan.actions).map_err(|e| ApplyError::Unsound { problems: vec![e.to_string()] })?;
    let sender = send::Sender { control, events };
    let mut context = Context {
        actor: options.actor.clone(),
        owner: Some(plan.owner.clone()),
        admin: options.admin,
        ..Context::default()
    };
    let epoch = guard(plan, &sender, &context).await?;
    if plan.actions.is_empty() {
        return Ok(Walked::nothing(line::nothing(plan)));
    }
    // One that is restored while this goes on is another one. Of a new workspace no plan knows the epoch.
    context.epoch.clone_from(&plan.origin.epoch);
    let lacks = async {
        content::missing(&sender, &context, plan)
            .await
            .map_err(|source| ApplyError::Control { doing: "ask which files the workspace holds", source })
    };
    let ((), lacks) = tokio::try_join!(ids::check(plan, &sender, &context), lacks)?;
    let uploads = match content::verify(lacks, blobs, &options.stop) {
        None => return Ok(Walked::nothing(line::interrupted_before(plan))),
        Some(Err(problems)) => return Err(ApplyError::ContentMissing { problems: content::sentences(problems) }),
        Some(Ok(uploads)) => uploads,
    };
    let (bodies, bytes) = uploads.totals();
    events(Event::Checked { bodies, bytes });
    if *options.stop.borrow() {
        return Ok(Walked::nothing(line::interrupted_before(plan)));
    }
    run::run(run::Job { plan, epoch, sender, blobs, uploads, context, options }, schedule).await
}

/// What the plan itself says about being applied.
fn check(plan: &Plan) -> Result<(), ApplyError> {
    use crate::plan::Effect;
    let refusing = |e: Effect| matches!(e, Effect::Refuses | Effect::Error);
    let codes: Vec<String> = plan.findings.iter().filter(|f| refusing(f.effect)).map(|f| f.code.clone()).collect();
    if !plan.applyable || !codes.is_empty() {
        let input = plan.findings.iter().any(|f| f.effect == Effect::Error);
        return Err(ApplyError::Refused { codes, input });
    }
    Ok(())
}

/// Is this the workspace that the plan was made for? A plan for a workspace that is new holds where this owner
/// has nothing yet: no record and no resource; or where all that the owner has comes from this very plan, begun
/// before and broken off. Answers its epoch.
async fn guard<C: ControlPlane>(
    plan: &Plan,
    sender: &send::Sender<'_, C>,
    context: &Context,
) -> Result<String, ApplyError> {
    let lost = |source| ApplyError::Control { doing: "read the owner's record", source };
    let request = Request::Owner(OwnerOf { owner: plan.owner.clone() });
    let Response::Owner(owner) = sender.send(context, request).await.map_err(lost)? else {
        return Err(lost(send::unexpected("authoring.owner")));
    };
    let other = |planned: String, found: String| Err(ApplyError::OtherWorkspace { planned, found });
    let found = format!("workspace {} (epoch {})", owner.workspace_id, owner.epoch);
    match (&plan.origin.workspace, &plan.origin.epoch) {
        (Some(id), epoch) => {
            if *id != owner.workspace_id || epoch.as_ref().is_some_and(|e| *e != owner.epoch) {
                let epoch = epoch.as_deref().unwrap_or("any");
                return other(format!("workspace {id} (epoch {epoch})"), found);
            }
        }
        (None, _) => {
            let empty = owner.count == 0 && owner.seq == 0 && owner.policy.is_none();
            if !empty && !run::only_of_this_plan(plan, sender, context).await.map_err(lost)? {
                return other(
                    "a workspace that is new".to_owned(),
                    format!("{found}, where {} has resources", plan.owner),
                );
            }
        }
    }
    Ok(owner.epoch)
}
