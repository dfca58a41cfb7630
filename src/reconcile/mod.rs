//! The stages joined, as functions that every surface calls: load → snapshot → plan → apply → read back.

mod ask;
mod base;
pub mod edit;
mod elsewhere;
pub mod load;
pub mod read;
mod recorded;
mod settle;
mod snapshot;
mod source;
mod undone;

#[cfg(test)]
mod tests;

pub use crate::apply::{ApplyError, ApplyOptions, Event};
pub use crate::bundle::{BaseOf, CommitError, Head, head, is_dirty};
pub use crate::desired::{Desired, Wanted};
pub use base::{Base, BaseError, Earlier, base};
pub use recorded::recorded;
pub use snapshot::{Depth, Snapshot, snapshot};
pub use source::source_relation;

use std::collections::{BTreeMap, BTreeSet};

use crate::apply;
use crate::bundle::Project;
use crate::control::{Blobs, ControlError, ControlPlane};
use crate::diag::{Code, codes};
use crate::model::Digest;
use crate::model::op::Context;
use crate::plan::{self, Drift, Options, Plan, Unmanaged};
use crate::receipt::{Outcome, Receipt};

/// Why a plan was not applied, or not read back.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// See [`ApplyError`].
    #[error(transparent)]
    Apply(ApplyError),
    /// `--plan-digest` names another plan. Nothing was sent.
    #[error("the plan has the digest {found}, not {wanted}")]
    OtherPlan {
        /// The reviewed one.
        wanted: Digest,
        /// The one made now.
        found: Digest,
    },
    /// Everything ran, but the workspace could not be read afterwards.
    #[error("the workspace could not be read back after the apply")]
    ReadBack {
        /// What happened; complete.
        receipt: Box<Receipt>,
        /// Why not.
        #[source]
        source: ControlError,
    },
}

impl ReconcileError {
    /// The row of the code table; a cause from the workspace has its own code.
    pub fn code(&self) -> Option<&'static Code> {
        match self {
            Self::Apply(error) => error.code(),
            Self::OtherPlan { .. } => Some(&codes::apply::OTHER_PLAN),
            Self::ReadBack { .. } => Some(&codes::apply::NOT_READ_BACK),
        }
    }

    /// What happened, if the apply ran.
    pub fn receipt(&self) -> Option<&Receipt> {
        match self {
            Self::Apply(ApplyError::NotEnded { receipt, .. }) | Self::ReadBack { receipt, .. } => Some(receipt),
            _ => None,
        }
    }
}

/// Reads the workspace and plans. `None` for the control plane: there is no workspace yet, and none is made;
/// the plan creates everything. Workspace and epoch of the plan's origin are those that were read, and with a
/// `project` its history says how the source stands to the one that was last applied.
///
/// # Errors
/// Whatever the workspace answers. What is wrong with the wish itself is a finding of the plan.
pub async fn plan<C: ControlPlane>(
    desired: &Desired,
    control: Option<&C>,
    context: &Context,
    options: &Options,
    project: Option<&Project>,
) -> Result<Plan, ControlError> {
    Ok(read_and_plan(desired, control, context, options, project).await?.0)
}

async fn read_and_plan<C: ControlPlane>(
    desired: &Desired,
    control: Option<&C>,
    context: &Context,
    options: &Options,
    project: Option<&Project>,
) -> Result<(Plan, Snapshot), ControlError> {
    let nothing;
    let wanted = if options.destroy {
        nothing = Desired { resources: BTreeMap::new(), ..desired.clone() };
        &nothing
    } else {
        desired
    };
    // A scope names resources, which only a full look can find or miss.
    let depth = if options.scope.is_all() { Depth::UntilEqual } else { Depth::Resources };
    let snapshot = snapshot(control, wanted, context, depth).await?;
    let options = about(&snapshot, options, project);
    let plan = if snapshot.same {
        plan::nothing(wanted, &snapshot.live, &options)
    } else {
        plan::plan(wanted, &snapshot.live, &options)
    };
    Ok((plan, snapshot))
}

/// Most files and memories whose texts are shown.
const MOST_TEXTS: usize = 100;
/// Longest such text, in bytes.
const LONGEST_TEXT: usize = 64 << 10;

/// Reads the workspace and tells how live stands to what was last applied and to the files. Nothing is written, and a
/// token that may plan is enough. `None` for the control plane: there is no workspace yet. Of what nobody owns at most
/// `unmanaged` resources are named.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn drift<C: ControlPlane>(
    desired: &Desired,
    control: Option<&C>,
    context: &Context,
    options: &Options,
    project: Option<&Project>,
    unmanaged: usize,
) -> Result<Drift, ControlError> {
    let all = options.scope.is_all();
    let depth = if all { Depth::UntilEqual } else { Depth::Resources };
    let snapshot = snapshot(control, desired, context, depth).await?;
    let nobodys = match control {
        Some(control) if all => Some(ask::Ask { control, context, me: &desired.owner }.nobodys().await?),
        _ => None,
    };
    let nobodys = nobodys.map(|found| Unmanaged::of(found, unmanaged));
    let options = about(&snapshot, options, project);
    let tell = if snapshot.same { plan::no_drift } else { plan::drift };
    let mut drift = tell(desired, &snapshot.live, nobodys, &options);
    if let Some(control) = control {
        drift.texts = texts(control, context, drift.wants()).await?;
    }
    Ok(drift)
}

/// The texts of what a plan holds in files, by digest, as far as they are short and the workspace has them.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn held_texts<C: ControlPlane>(
    plan: &Plan,
    control: &C,
    context: &Context,
) -> Result<BTreeMap<Digest, String>, ControlError> {
    let wants = plan.held.iter().flat_map(|h| h.wants(LONGEST_TEXT as u64)).collect();
    texts(control, context, wants).await
}

async fn texts<C: ControlPlane>(
    control: &C,
    context: &Context,
    wants: BTreeSet<Digest>,
) -> Result<BTreeMap<Digest, String>, ControlError> {
    let mut out = BTreeMap::new();
    for digest in wants.into_iter().take(MOST_TEXTS) {
        let text = read::text(control, context, digest, LONGEST_TEXT).await?;
        out.extend(text.map(|text| (digest, text)));
    }
    Ok(out)
}

/// The options, with the workspace that was read and how the source stands to what it had last.
fn about(snapshot: &Snapshot, options: &Options, project: Option<&Project>) -> Options {
    let mut options = options.clone();
    let workspace = snapshot.live.workspace.as_ref();
    options.origin.workspace = workspace.map(|w| w.id.clone());
    options.origin.epoch = workspace.map(|w| w.epoch.clone());
    if let Some(project) = project {
        let last = snapshot.live.record.as_ref().and_then(|r| r.source.as_ref());
        options.source_relation = source_relation(project, last);
    }
    options
}

/// Refuses a plan that is not the reviewed one (`--plan-digest`).
///
/// # Errors
/// [`ReconcileError::OtherPlan`]; nothing was sent.
pub fn is_reviewed(plan: &Plan, wanted: &Digest) -> Result<(), ReconcileError> {
    if plan.digest == *wanted {
        return Ok(());
    }
    Err(ReconcileError::OtherPlan { wanted: *wanted, found: plan.digest })
}

/// Applies a plan, reads the workspace back and plans again: what is left and nothing explains is in
/// [`Receipt::not_settled`]. `desired` and `options` are those of the files as they are now; for a saved plan
/// they may have moved on, and then only what is still the same is compared.
///
/// # Errors
/// [`ReconcileError`]; nothing was written unless it holds a receipt.
pub async fn apply<C: ControlPlane, B: Blobs>(
    plan: &Plan,
    control: &C,
    blobs: &B,
    (desired, options): (&Desired, &Options),
    how: &ApplyOptions,
    events: &(dyn Fn(Event) + Send + Sync),
) -> Result<Receipt, ReconcileError> {
    let problems = plan::check(plan);
    if !problems.is_empty() {
        return Err(ReconcileError::Apply(ApplyError::Unsound { problems }));
    }
    let walked = apply::walk(plan, control, blobs, how, events).await.map_err(ReconcileError::Apply)?;
    if matches!(walked.receipt().outcome, Outcome::Nothing | Outcome::Interrupted) {
        return walked.end().await.map_err(ReconcileError::Apply);
    }
    let context = Context { actor: how.actor.clone(), owner: Some(plan.owner.clone()), ..Context::default() };
    // The end of an Apply writes no resource: what is read beside it is what is read after it.
    let (ended, again) = tokio::join!(walked.end(), read_and_plan(desired, Some(control), &context, options, None));
    let mut receipt = ended.map_err(ReconcileError::Apply)?;
    match again {
        Ok((again, snapshot)) => {
            receipt.not_settled = settle::left(plan, &receipt, desired, &snapshot.live, &again);
            Ok(receipt)
        }
        Err(source) => Err(ReconcileError::ReadBack { receipt: Box::new(receipt), source }),
    }
}
