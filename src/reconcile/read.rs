//! Thin readers: what is live, what was applied. One question each, paged where the answer may be long.

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane};
use crate::model::op::{ApplyInfo, ApplyList, Context, GetId, Request, Response, Summary};
use crate::model::{Kind, Owner};
use crate::reconcile::ask::Ask;

/// What an owner has, of one kind or of all.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn summaries<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: &Owner,
    kind: Option<Kind>,
) -> Result<Vec<Summary>, ControlError> {
    Ask { control, context, me: owner }.summaries(kind).await
}

/// Applies, newest first; `owner` narrows to one owner's.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn history<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: Option<&Owner>,
    limit: u32,
) -> Result<Vec<ApplyInfo>, ControlError> {
    let request = Request::ApplyList(ApplyList { owner: owner.cloned(), limit: Some(limit) });
    match control.call(context, request).await? {
        Response::Applies(applies) => Ok(applies),
        _ => Err(unexpected("applies.list")),
    }
}

/// One Apply with its lines.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn show<C: ControlPlane>(control: &C, context: &Context, id: &str) -> Result<ApplyInfo, ControlError> {
    match control.call(context, Request::ApplyGet(GetId { id: id.to_owned() })).await? {
        Response::Apply(apply) => Ok(*apply),
        _ => Err(unexpected("applies.get")),
    }
}
