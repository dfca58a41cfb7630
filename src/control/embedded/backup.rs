//! Backup and restore of a workspace file. A restored workspace goes on in another epoch: what was seen of it later
//! than the backup is not so in it, and whoever comes with that is refused.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::control::ControlError;
use crate::control::embedded::error::not_found;
use crate::control::embedded::{EmbeddedOptions, wire};
use crate::model::op::{ActorKind, Fact};
use crate::store::{self, Batch, Copied, Database, StoreError, apply, fact, idempotency, token};

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackedUp {
    /// Id of the workspace.
    pub workspace: String,
    /// Its epoch.
    pub epoch: String,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// A restore that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Restored {
    /// Id of the workspace.
    pub workspace: String,
    /// Its new epoch.
    pub epoch: String,
    /// The epoch of the backup: plans that name it are refused from now on.
    pub old_epoch: String,
    /// Applies that were open in the backup, and are ended as `interrupted`.
    pub applies: usize,
    /// Stored answers to idempotency keys that were let go of.
    pub keys: usize,
    /// Tokens that are not revoked. What was revoked since the backup was made is among them.
    pub tokens: usize,
}

/// Copies the workspace at `db`, as it is at one moment, into the file `out`; it may be served meanwhile. `out` is
/// whole or not there. What is there is replaced only when `over`, when it is a workspace and nobody has it open.
///
/// # Errors
/// `store.*`, of either file; `resource.not_found`: there is no workspace.
pub fn backup(db: &Path, out: &Path, over: bool, options: &EmbeddedOptions) -> Result<BackedUp, ControlError> {
    let database = open(db, options)?;
    let copied = Copied::of(&database, out)?;
    let identity = copied.identity()?;
    Ok(BackedUp { workspace: identity.id, epoch: identity.epoch, bytes: copied.put(over)? })
}

/// Puts the backup `from` in the place of the workspace at `db`, under a new epoch: open Applies are ended as
/// interrupted, and no stored answer is left. A workspace that is there is replaced only when `over` and when nobody
/// has it open; it is whole until that moment.
///
/// # Errors
/// `store.*`, of either file; `resource.not_found`: there is no backup.
pub fn restore(
    db: &Path,
    from: &Path,
    over: bool,
    actor: &str,
    options: &EmbeddedOptions,
) -> Result<Restored, ControlError> {
    let copied = Copied::of(&open(from, options)?, db)?;
    let restored = copied.change(|batch| renew(batch, actor, options))?;
    copied.put(over)?;
    Ok(restored)
}

/// A copy of a workspace of an older version, at `to`, in the form that this version reads.
pub(super) fn up_to_date(database: &Database, to: &Path, options: &EmbeddedOptions) -> Result<Database, ControlError> {
    let copied = Copied::of(database, to)?;
    copied.change(|_| Ok::<(), StoreError>(()))?;
    copied.put(false)?;
    open(to, options)
}

fn open(path: &Path, options: &EmbeddedOptions) -> Result<Database, ControlError> {
    Database::open_as_it_is(path, options.patience())?.ok_or_else(|| not_found(format!("file {}", path.display())))
}

fn renew(batch: &Batch<'_>, actor: &str, options: &EmbeddedOptions) -> Result<Restored, ControlError> {
    let old = store::identity(batch)?;
    let now = (options.clock)().to_string();
    let epoch = wire::id_text("epoch_", (options.ids)());
    store::set_epoch(batch, &epoch)?;
    let applies = apply::end_all(batch, "interrupted", &now)?;
    let keys = idempotency::forget_all(batch)?;
    let tokens = token::all(batch)?.iter().filter(|t| t.revoked_at.is_none()).count();
    let fact = Fact {
        seq: fact::next(batch)?,
        at: now,
        operation: "workspace.restore".to_owned(),
        actor: actor.to_owned(),
        actor_kind: ActorKind::Api,
        owner: None,
        apply: None,
        resource: Some(old.id.clone()),
        break_glass: None,
        fields: Vec::new(),
        version: None,
        from_version: None,
        address: None,
        made: None,
        before: None,
        after: None,
        from_owner: None,
        to_owner: None,
        to_address: None,
    };
    fact::add(batch, &fact)?;
    Ok(Restored { workspace: old.id, epoch, old_epoch: old.epoch, applies, keys, tokens })
}
