//! Who may write what: zero or one authoring owner a resource.

use crate::control::embedded::error::{
    Result, archived, no_resource, not_found, offered, owned_elsewhere, owner_required, stale,
};
use crate::control::embedded::write::Tx;
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::config::OutsideWrites;
use crate::model::op::Expect;
use crate::model::{Kind, Owner};
use crate::store::resource::{Resource, State};
use crate::store::{owner, resource};

/// As what a write acts on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    /// As its authoring owner.
    Owner,
    /// On an unowned resource.
    Unowned,
    /// By no owner, tracked; or by break-glass. It is drift.
    Outside,
}

/// The right to change the desired configuration of a resource.
pub(super) fn right(tx: &Tx<'_>, r: &Resource) -> Result<Right> {
    let Some(owner) = &r.owner else { return Ok(Right::Unowned) };
    let acts = tx.context.owner.as_ref() == Some(owner);
    if acts && r.offered.is_none() {
        return Ok(Right::Owner);
    }
    if tx.context.break_glass.is_some() {
        return if tx.context.admin { Ok(Right::Outside) } else { Err(not_admin("break-glass needs the admin scope")) };
    }
    let tracked = || -> Result<bool> {
        let record = owner::get(tx.conn, owner)?;
        let policy = record.and_then(|r| r.policy);
        Ok(policy.is_some_and(|p| p.outside_writes == OutsideWrites::Track))
    };
    if acts {
        return Err(offered(r));
    }
    if tx.context.owner.is_none() && tracked()? { Ok(Right::Outside) } else { Err(owned_elsewhere(r)) }
}

/// `authoring.not_admin`.
pub(super) fn not_admin(message: &str) -> ControlError {
    ControlError::new(ErrorKind::Permission, codes::NOT_ADMIN.code, message)
}

/// The acting owner, where an operation needs one.
pub(super) fn acting<'a>(tx: &Tx<'a>) -> Result<&'a Owner> {
    tx.context.owner.as_ref().ok_or_else(|| owner_required("this needs an acting owner"))
}

/// A resource of a kind that is not deleted.
pub(super) fn find(tx: &Tx<'_>, kind: Option<Kind>, id: &str) -> Result<Resource> {
    match resource::get(tx.conn, id)? {
        Some(r) if r.state != State::Deleted && kind.is_none_or(|k| k == r.kind) => Ok(r),
        _ => Err(kind.map_or_else(|| not_found(id), |kind| no_resource(kind, id))),
    }
}

/// A live resource at its expected version, that the caller may change.
pub(super) fn for_change(tx: &Tx<'_>, kind: Option<Kind>, at: &Expect) -> Result<(Resource, Right)> {
    let r = find(tx, kind, &at.id)?;
    let right = right(tx, &r)?;
    expect_version(&r, at)?;
    if r.state != State::Live {
        return Err(archived(&r));
    }
    Ok((r, right))
}

/// Compares the version.
pub(super) fn expect_version(r: &Resource, at: &Expect) -> Result<()> {
    match at.version {
        Some(v) if v != r.version => Err(stale(format!("{} is at version {}, not {v}", r.id, r.version), r.version)),
        _ => Ok(()),
    }
}
