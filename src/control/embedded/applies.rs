//! `applies.*`: the journal of the workspace. Lines of done actions are written by their own operations.

use crate::control::embedded::error::{Result, invalid, owner_required};
use crate::control::embedded::snapshot;
use crate::control::embedded::write::{Effect, Tx};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{ApplyBegin, ApplyEnd, Began, ReceiptLine, Response};
use crate::store::{apply, owner};

/// Most lines with which an Apply ends.
const LINES: usize = 100_000;

/// Begins an Apply; tells of another one of this owner that is open.
pub(super) fn begin(tx: &Tx<'_>, request: &ApplyBegin) -> Result<Effect> {
    if tx.context.owner.as_ref() != Some(&request.owner) {
        return Err(owner_required(format!("an Apply of {0} is begun by {0}", request.owner)));
    }
    let other = apply::open_of(tx.conn, &request.owner)?;
    let id = tx.id("apply_");
    apply::begin(tx.conn, &id, &tx.context.actor, &tx.now, request)?;
    Ok(Effect::beside(Response::Began(Began { id: id.clone(), other }), id, true))
}

/// Ends an Apply with the lines of actions that wrote nothing.
pub(super) fn end(tx: &Tx<'_>, request: &ApplyEnd) -> Result<Effect> {
    if !matches!(request.outcome.as_str(), "done" | "partial" | "interrupted" | "failed") {
        return Err(invalid(format!("`{}` is no outcome of an Apply", request.outcome)));
    }
    let owner = match apply::state(tx.conn, &request.id)? {
        Some((owner, false)) if tx.context.owner.as_ref() == Some(&owner) => owner,
        _ => return Err(closed(&request.id)),
    };
    check_lines(&request.lines)?;
    for line in &request.lines {
        apply::add_line(tx.conn, &request.id, line)?;
    }
    apply::end(tx.conn, &request.id, &request.outcome, &tx.now)?;
    // From now on the next plan learns in one row that there is nothing to do.
    let mut record = owner::get(tx.conn, &owner)?.unwrap_or_default();
    record.digest = Some(snapshot::owner_digest(tx.conn, &owner)?);
    owner::put(tx.conn, &owner, &record)?;
    Ok(Effect::beside(Response::Done, request.id.clone(), true))
}

/// A line of what was done comes with the write that did it, in one transaction; nobody may say so afterwards.
fn check_lines(lines: &[ReceiptLine]) -> Result<()> {
    if lines.len() > LINES {
        return Err(invalid(format!("an Apply ends with at most {LINES} lines, not {}", lines.len())));
    }
    let unwritten = |l: &&ReceiptLine| !matches!(l.outcome.as_str(), "stale" | "blocked" | "failed" | "not_started");
    match lines.iter().find(unwritten) {
        Some(l) => Err(invalid(format!("`{}` is no outcome of an action that wrote nothing", l.outcome))),
        None => Ok(()),
    }
}

/// The first write of an Apply that changes something makes its source the one last applied: an Apply that
/// found nothing to change says nothing of the workspace, and one that was killed later has written. The
/// sequence of the owner's record stays, as it is the policy's precondition and this is no change of it.
pub(super) fn note_write(tx: &Tx<'_>) -> Result<()> {
    let Some(id) = &tx.context.apply else { return Ok(()) };
    if apply::note_write(tx.conn, id)? {
        owner::take_source(tx.conn, id)?;
    }
    Ok(())
}

/// A write that names an Apply names an open one of its owner.
pub(super) fn check_open(tx: &Tx<'_>) -> Result<()> {
    let Some(id) = &tx.context.apply else { return Ok(()) };
    match apply::state(tx.conn, id)? {
        Some((owner, false)) if tx.context.owner.as_ref() == Some(&owner) => Ok(()),
        _ => Err(closed(id)),
    }
}

fn closed(id: &str) -> ControlError {
    let message = format!("{id} is no open Apply of the acting owner");
    ControlError::new(ErrorKind::Conflict, codes::APPLY_CLOSED.code, message)
}
