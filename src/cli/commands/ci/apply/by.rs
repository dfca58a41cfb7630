//! What an apply goes by: a plan file, the digest of a plan, comments, or what is planned now.

use crate::ci::inputs::Approval;
use crate::cli::commands::apply::read as read_plan;
use crate::cli::commands::ci::Job;
use crate::cli::failure::Failure;
use crate::diag::codes::ci as codes;
use crate::model::Digest;
use crate::plan::Plan;
use crate::reconcile;

/// What an apply goes by.
pub(super) enum By {
    /// This plan and no other.
    File(Box<Plan>),
    /// The plan that is made now, if it has this digest.
    Digest(Digest),
    /// What our comments on merged pull requests showed.
    Comments,
    /// The plan that is made now.
    Now,
}

/// What the inputs say.
pub(super) fn read(job: &Job<'_>) -> Result<By, Failure> {
    let inputs = job.inputs;
    if inputs.approval != Approval::Plan {
        if inputs.plan_file.is_some() || inputs.plan_digest.is_some() {
            let message = "plan-file and plan-digest are looked at where approval is plan";
            return Err(Failure::new(&codes::INPUT, message).fix("leave them out, or set approval to plan"));
        }
        return Ok(if inputs.approval == Approval::None { By::Now } else { By::Comments });
    }
    let path = job.around.plan_file(inputs);
    // What an earlier step of this job planned is there; a file that is named has to be.
    if inputs.plan_file.is_none() && !path.is_file() {
        return inputs.plan_digest.map(By::Digest).ok_or_else(|| {
            Failure::new(&codes::INPUT, "approval is plan, and there is neither a plan file nor plan-digest")
                .fix("give plan-file (the artifact of the job that planned) or plan-digest; or set approval to pull-request or none")
        });
    }
    let plan = read_plan(job.run, &path)?;
    if let Some(digest) = &inputs.plan_digest {
        reconcile::is_reviewed(&plan, digest).map_err(|e| Failure::reconcile(&e))?;
    }
    Ok(By::File(Box::new(plan)))
}

/// Comments are GitHub's, and read with a token.
pub(super) fn no_comments() -> Failure {
    Failure::new(&codes::INPUT, "approval is pull-request, and there is no GitHub with a token to ask")
        .fix("run it on GitHub with github-token, or set approval to plan")
}
