//! What planning has to know of resources that are not its owner's: named by `adopt:`, handed over, at a wanted address
//! under another owner, or once here and live on elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::control::{ControlError, ControlPlane};
use crate::desired::Desired;
use crate::live::{Live, LiveBody, LiveResource};
use crate::model::kinds::{self, Applied, Refs};
use crate::model::op::{LoadedBody, Referrer, Summary};
use crate::model::{Address, Kind, Owner};
use crate::reconcile::ask::Ask;

/// What was found.
#[derive(Default)]
pub(super) struct Elsewhere {
    resources: BTreeMap<String, LiveResource>,
    successors: BTreeMap<String, (Owner, Address)>,
    referrers: Vec<Referrer>,
}

impl Elsewhere {
    pub(super) fn put_into(self, live: &mut Live) {
        live.elsewhere.extend(self.resources);
        live.successors.extend(self.successors);
        for referrer in self.referrers {
            live.referrers.entry(referrer.to.clone()).or_default().push(referrer);
        }
    }
}

/// Asks about addresses and ids; of what may come to this owner its body and who refers to it too, and of what another
/// has where something is wanted the body, which tells whether it is the same. Nothing is asked where there is nothing
/// to ask about.
pub(super) async fn elsewhere<C: ControlPlane>(
    ask: &Ask<'_, C>,
    desired: &Desired,
    addresses: &[Address],
    ids: &[String],
) -> Result<Elsewhere, ControlError> {
    if addresses.is_empty() && ids.is_empty() {
        return Ok(Elsewhere::default());
    }
    let found = ask.find(addresses, ids).await?;
    let named: BTreeSet<&String> = ids.iter().collect();
    let comes = |s: &&Summary| {
        let mine = s.owner.as_ref() == Some(ask.me);
        s.offered.as_ref() == Some(ask.me) || (mine && s.offered.is_some()) || (!mine && named.contains(&s.id))
    };
    let alike = |s: &&Summary| {
        let others = s.offered.is_none() && s.owner.as_ref().is_some_and(|o| o != ask.me);
        others && s.address.as_ref().is_some_and(|address| desired.resources.contains_key(address))
    };
    let coming: Vec<String> = found.iter().filter(comes).map(|s| s.id.clone()).collect();
    let to_read: Vec<String> = found.iter().filter(|s| comes(s) || alike(s)).map(|s| s.id.clone()).collect();
    let resources = found.into_iter().map(|s| (s.id.clone(), LiveResource { summary: s, body: None })).collect();
    let mut out = Elsewhere { resources, ..Elsewhere::default() };
    if to_read.is_empty() {
        return Ok(out);
    }
    let Elsewhere { resources, successors, referrers } = &mut out;
    let bodies = ask.bodies(&to_read, |loaded| {
        successors.extend(loaded.refs.superseded.clone());
        for body in loaded.bodies {
            if let Some(resource) = resources.get_mut(&body.id) {
                resource.body = Some(as_mine(&resource.summary, body, &loaded.refs));
            }
        }
    });
    let ((), who) = tokio::try_join!(bodies, ask.referrers(&coming))?;
    *referrers = who;
    Ok(out)
}

/// A body with what will count as applied once it is this owner's.
fn as_mine(summary: &Summary, body: LoadedBody, refs: &Refs) -> LiveBody {
    let kind = summary.kind;
    let (wire, before) = (body.body.clone(), body.applied.clone().unwrap_or_default());
    let mut out = live_body(kind, body, refs);
    match &summary.owner {
        Some(owner) if Some(owner) != refs.me.as_ref() => {
            let view = Refs { me: Some(owner.clone()), ..refs.clone() };
            let theirs = (kinds::def(kind).from_wire)(&wire, &view, Some(&before.spec));
            out.applied = kinds::carried(kind, &before, &theirs, &out.live);
        }
        Some(_) => {}
        None => out.applied = Applied::default(),
    }
    out
}

/// A loaded body as canonical forms. Nearly always the two are one: then they are kept once.
pub(super) fn live_body(kind: Kind, body: LoadedBody, refs: &Refs) -> LiveBody {
    // Where nothing was applied, nothing tells what the server chose: all that is there counts.
    let live = (kinds::def(kind).from_wire)(&body.body, refs, body.applied.as_ref().map(|a| &*a.spec));
    let applied = body.applied.unwrap_or_default();
    let live = if live == *applied.spec { Arc::clone(&applied.spec) } else { Arc::new(live) };
    LiveBody { live, applied, moved: body.moved, entries: body.entries, memories: body.memories }
}
