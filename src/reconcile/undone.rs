//! What the rollbacks of an owner undid, read back from its history: so that a plan can name what comes back.

use std::collections::BTreeMap;

use crate::control::{ControlError, ControlPlane};
use crate::live::{Live, Undid};
use crate::model::op::ApplyInfo;
use crate::model::{Address, Digest};
use crate::plan;
use crate::reconcile::ask::Ask;

/// Most applies that are looked at. What was undone before them is not named.
const LOOKED_AT: u32 = 200;

/// Reads what stood at these addresses before it was undone, as far as it is undone still. The newest rollback that fits
/// is the one that is named.
///
/// # Errors
/// Whatever the workspace answers.
pub(crate) async fn undid<C: ControlPlane>(
    ask: &Ask<'_, C>,
    of: impl Iterator<Item = &Address>,
    live: &Live,
) -> Result<BTreeMap<Address, Undid>, ControlError> {
    let mut found = BTreeMap::new();
    let Some(record) = live.record.as_ref().filter(|r| !r.undone.is_empty()) else { return Ok(found) };
    let entry = |a: &Address| Some((a.clone(), (*record.undone.get(a)?)?));
    let mut open: BTreeMap<Address, Digest> = of.filter_map(entry).collect();
    if open.is_empty() {
        return Ok(found);
    }
    let applies = ask.applies(LOOKED_AT).await?;
    for pair in applies.windows(2) {
        let [rollback, before] = pair else { continue };
        if open.is_empty() {
            break;
        }
        if rollback.source.apply.is_none() {
            continue;
        }
        for row in ask.state(&before.id).await? {
            let fits = |digest: &Digest| plan::was_undone(&row.address, &row.applied, *digest);
            if open.get(&row.address).is_some_and(fits) {
                open.remove(&row.address);
                let undid = Undid { rollback: named(rollback), applied: row.applied, entries: row.entries };
                found.insert(row.address, undid);
            }
        }
    }
    Ok(found)
}

/// As people know it.
fn named(rollback: &ApplyInfo) -> String {
    let to = rollback.source.apply.as_deref().unwrap_or_default();
    format!("the rollback {} (to {to})", rollback.id)
}
