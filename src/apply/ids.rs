//! The ids that a plan has for what it refers to, held against the workspace before the first write. They are under
//! no digest that anyone approves, and what is at an address may be another resource by now.

use std::collections::BTreeSet;

use crate::apply::ApplyError;
use crate::apply::send::{Sender, unexpected};
use crate::control::{ControlError, ControlPlane};
use crate::model::Digest;
use crate::model::op::{Context, Request, Resolve, Resolved, Response, Want};
use crate::plan::{Plan, Step};

/// Most questions of one request.
const BATCH: usize = 1_000;

/// Checks every id of a plan whose resource the plan neither makes nor puts at its address or under its owner itself:
/// those actions name the id, and are held against it.
pub(super) async fn check<C: ControlPlane>(
    plan: &Plan,
    sender: &Sender<'_, C>,
    context: &Context,
) -> Result<(), ApplyError> {
    let asked = asked(plan);
    let mut problems = Vec::new();
    for some in asked.chunks(BATCH) {
        let wants: Vec<Want> = some.iter().map(|(want, _)| want.clone()).collect();
        let answers = resolve(plan, sender, context, wants)
            .await
            .map_err(|source| ApplyError::Control { doing: "ask what the plan refers to", source })?;
        problems.extend(some.iter().zip(&answers).filter_map(|((want, id), found)| problem(want, id, found)));
    }
    if problems.is_empty() { Ok(()) } else { Err(ApplyError::OtherIds { problems }) }
}

/// What to ask, and the id that the plan says.
fn asked(plan: &Plan) -> Vec<(Want, &str)> {
    let made = plan.actions.iter().filter_map(|a| match (&a.step, a.address.as_ref()?) {
        (Step::Create { .. } | Step::Claim { .. } | Step::Transfer { .. }, address) => Some(address.to_string()),
        (Step::HandOver { to, .. }, address) => Some(format!("{to}:{address}")),
        _ => None,
    });
    let made: BTreeSet<String> = made.collect();
    let ids = plan.ids.0.iter().map(|(key, id)| {
        let pinned = key.rsplit_once('@').and_then(|(key, content)| Some((key, content.parse::<Digest>().ok()?)));
        let (key, content) = pinned.map_or((key.as_str(), None), |(key, content)| (key, Some(content)));
        (Want { key: key.to_owned(), content, number: None }, id.as_str())
    });
    ids.filter(|(want, _)| !made.contains(&want.key)).collect()
}

async fn resolve<C: ControlPlane>(
    plan: &Plan,
    sender: &Sender<'_, C>,
    context: &Context,
    wants: Vec<Want>,
) -> Result<Vec<Resolved>, ControlError> {
    match sender.send(context, Request::Resolve(Resolve { me: plan.owner.clone(), wants })).await? {
        Response::Resolved(answers) => Ok(answers),
        _ => Err(unexpected("authoring.resolve")),
    }
}

fn problem(want: &Want, id: &str, found: &Resolved) -> Option<String> {
    let (what, now) = match want.content {
        Some(content) => (format!("{} with the content {}", want.key, content.short()), &found.version),
        None => (want.key.clone(), &found.id),
    };
    match now {
        Some(now) if now == id => None,
        Some(now) => Some(format!("{what} is {now}, and {id} in the plan")),
        None => Some(format!("{what} is not there; in the plan it is {id}")),
    }
}
