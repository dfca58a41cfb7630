//! Thin readers: what is live, what was applied. One question each, paged where the answer may be long.

use serde_json::Value;

use crate::apply::unexpected;
use crate::control::{ControlError, ControlPlane};
use crate::model::op::{
    ApplyInfo, ApplyList, Context, GetId, GetOf, ListOf, ListView, Page, Request, Resolve, Response, Want,
};
use crate::model::{Address, Kind, Owner};

/// Wire bodies of a kind; `owner` narrows to one owner's.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn list<C: ControlPlane>(
    control: &C,
    context: &Context,
    kind: Kind,
    owner: Option<&Owner>,
) -> Result<Vec<Value>, ControlError> {
    let mut question = ListOf {
        kind,
        owner: owner.cloned(),
        labels: std::collections::BTreeMap::new(),
        include_archived: false,
        view: ListView::Full,
        created_from: None,
        created_to: None,
        page: None,
        limit: Some(100),
    };
    let mut all = Vec::new();
    loop {
        let request = Request::List(question.clone());
        let name = request.name();
        let Response::Bodies(Page { data, next_page }) = control.call(context, request).await? else {
            return Err(unexpected(&name));
        };
        all.extend(data);
        if next_page.is_none() || next_page == question.page {
            return Ok(all);
        }
        question.page = next_page;
    }
}

/// The wire body of what an owner has at an address, if there is one.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn get<C: ControlPlane>(
    control: &C,
    context: &Context,
    owner: &Owner,
    address: &Address,
) -> Result<Option<Value>, ControlError> {
    let want = Want { key: address.to_string(), content: None, number: None };
    let request = Request::Resolve(Resolve { me: owner.clone(), wants: vec![want] });
    let Response::Resolved(found) = control.call(context, request).await? else {
        return Err(unexpected("authoring.resolve"));
    };
    let Some(id) = found.into_iter().next().and_then(|r| r.id) else { return Ok(None) };
    let request = Request::Get(GetOf { kind: address.kind, id, version: None });
    let name = request.name();
    match control.call(context, request).await? {
        Response::Body(body) => Ok(Some(body)),
        _ => Err(unexpected(&name)),
    }
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
