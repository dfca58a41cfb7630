//! Thin readers: what is live, what was applied. One question each, paged where the answer may be long.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane};
use crate::model::op::{ApplyInfo, ApplyList, Context, GetId, Request, Response, Summary};
use crate::model::{Address, Kind, Owner};
use crate::plan::{self, FieldChange};
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
    let request = Request::ApplyList(ApplyList { owner: owner.cloned(), page: None, limit: Some(limit) });
    match control.call(context, request).await? {
        Response::Applies(applies) => Ok(applies.data),
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

/// Field changes by action, as far as the journal has the form before and the one after: of what was applied at an
/// address before, and by earlier actions of the same Apply.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn changes<C: ControlPlane>(
    control: &C,
    context: &Context,
    apply: &ApplyInfo,
) -> Result<BTreeMap<String, Vec<FieldChange>>, ControlError> {
    let ask = Ask { control, context, me: &apply.owner };
    let mut forms: BTreeMap<Address, Arc<Value>> = BTreeMap::new();
    if let Some(before) = before(control, context, apply).await? {
        forms.extend(ask.state(&before).await?.into_iter().map(|r| (r.address, r.applied.spec)));
    }
    let mut out = BTreeMap::new();
    for line in apply.lines.iter().filter(|line| line.outcome == "done" && line.id.is_some()) {
        let Some((Ok(address), verb)) = line.action.split_once('#').map(|(at, verb)| (at.parse(), verb)) else {
            continue;
        };
        // Of what goes, the line names the form that went.
        if ["retire", "release", "hand-over"].iter().any(|gone| verb.starts_with(gone)) {
            continue;
        }
        let Some(after) = line.spec.as_ref().and_then(|digest| apply.specs.get(&digest.to_string())) else { continue };
        let changes = forms.get(&address).map(|before| plan::between(before, after)).unwrap_or_default();
        if !changes.is_empty() {
            out.insert(line.action.clone(), changes);
        }
        forms.insert(address, Arc::new(after.clone()));
    }
    Ok(out)
}

/// The Apply of the same owner that began before this one.
async fn before<C: ControlPlane>(
    control: &C,
    context: &Context,
    apply: &ApplyInfo,
) -> Result<Option<String>, ControlError> {
    let mut question = ApplyList { owner: Some(apply.owner.clone()), page: None, limit: Some(1_000) };
    let mut found = false;
    loop {
        let Response::Applies(page) = control.call(context, Request::ApplyList(question.clone())).await? else {
            return Err(unexpected("applies.list"));
        };
        for one in page.data {
            if found {
                return Ok(Some(one.id));
            }
            found = one.id == apply.id;
        }
        if page.next_page.is_none() || page.next_page == question.page {
            return Ok(None);
        }
        question.page = page.next_page;
    }
}
