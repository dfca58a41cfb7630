//! Versions that are not made, since a rollback undid them or `accept:` took what is live, where others need them: a pin stays as it was applied, and the rest of the resource
//! that has it goes on. What cannot be made without it waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::desired::Desired;
use crate::diag::codes::plan as codes;
use crate::model::Address;
use crate::model::config::Take;
use crate::model::kinds::{self, Ref, Selector, Target};
use crate::plan::compare::{self, Delta, FieldDelta, Outcome};
use crate::plan::item::{self, Item, SELECTION};
use crate::plan::undone::{self, Undone};
use crate::plan::{Effect, Gathered, Held, Options, places};

/// What of a resource stays as it was applied, since the files want what a rollback undid.
#[derive(Debug)]
pub(super) struct Kept {
    /// The form as the files declare it.
    pub(super) declared: Arc<Value>,
    /// The canonical fields that stay, whole or in part.
    fields: Vec<&'static str>,
    /// What is not made.
    of: BTreeSet<Lacking>,
}

/// What is not made as the files want it, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lacking {
    address: Address,
    /// `accept:` took what is live; else a rollback undid it.
    taken: bool,
}

impl Lacking {
    fn way_out(&self) -> String {
        if self.taken {
            format!(
                "bring what is live into the files: `checkfu pull --drift {}`; or decide for the file",
                self.address
            )
        } else {
            undone::way_out(&self.address)
        }
    }
}

/// A resource that does not come back as the files want it.
struct Refused {
    /// The content that was undone, if it has one.
    content: Option<String>,
    /// Nothing is live at its address.
    absent: bool,
    /// See [`Lacking`].
    taken: bool,
}

/// Leaves the pins on what does not come back as they were applied. Answers of whom that was done for all that refer
/// to it: these do not wait.
pub(super) fn keep(
    undone: Option<&Undone>,
    items: &mut [Item<'_>],
    desired: &Desired,
    options: &Options,
) -> BTreeSet<Address> {
    let refused: BTreeMap<Address, Refused> = items
        .iter()
        .filter(|i| i.comes.is_none())
        .filter_map(|i| {
            let undid = undone.is_some_and(|u| {
                u.contains_key(i.address()) && undone::returns(u, &compare::delta(i, desired, options))
            });
            let taken = !undid && is_taken(i, desired, options);
            let content = i.spec.get("content").and_then(Value::as_str).map(str::to_owned);
            let absent = i.live.is_none() || i.is_gone();
            (undid || taken).then(|| (i.address().clone(), Refused { content, absent, taken }))
        })
        .collect();
    if refused.is_empty() {
        return BTreeSet::new();
    }
    for item in items.iter_mut().filter(|i| !i.broken) {
        let needs: Vec<Ref> = item.refs.iter().filter(|r| needs(item, r, &refused)).cloned().collect();
        let Some(first) = needs.first() else { continue };
        item.needs = match &first.target {
            Target::Own(address) => {
                refused.get(address).map(|to| Lacking { address: address.clone(), taken: to.taken })
            }
            Target::Foreign(..) | Target::Id(..) => None,
        };
        if item.live.is_some() && !item.is_gone() {
            keep_of(item, &needs, &refused);
        }
    }
    refused.into_keys().collect()
}

/// Did both sides change the files of a resource, and an `accept:` line took those that are live?
fn is_taken(item: &Item<'_>, desired: &Desired, options: &Options) -> bool {
    let line = compare::decision(item, &desired.accept).filter(|line| line.take == Take::Live);
    let accepted = |f: &FieldDelta<'_>| f.path == "content" && f.outcome == Outcome::Accepted;
    line.is_some() && compare::delta(item, desired, options).fields.iter().any(accepted)
}

/// Does a reference need what does not come back?
fn needs(item: &Item<'_>, r: &Ref, refused: &BTreeMap<Address, Refused>) -> bool {
    let Target::Own(address) = &r.target else { return false };
    let Some(to) = refused.get(address).filter(|_| !kinds::is_unowned(&item.wanted.unowned, r.field)) else {
        return false;
    };
    let pinned = || match &r.selector {
        Selector::Content(content) => to.content.as_deref() == Some(content.to_string().as_str()),
        _ => false,
    };
    to.absent || pinned()
}

fn keep_of(item: &mut Item<'_>, needs: &[Ref], refused: &BTreeMap<Address, Refused>) {
    let Some(applied) = item.applied.as_deref() else { return };
    let before = (item.def.refs)(applied);
    let (declared, mut spec) = (Arc::clone(&item.spec), Value::clone(&item.spec));
    let mut whole: BTreeSet<&str> = BTreeSet::new();
    for r in needs {
        let Target::Own(address) = &r.target else { continue };
        let same = before.iter().filter(|b| b.field == r.field && b.target == r.target);
        let mut pins = same.filter_map(|b| match &b.selector {
            Selector::Content(content) => Some(content.to_string()),
            _ => None,
        });
        let pin = pins.next().filter(|_| !refused.get(address).is_some_and(|to| to.absent));
        match (pin, undone::holder(&mut spec, r)) {
            (Some(pin), Some(holder)) => drop(holder.insert("content".to_owned(), Value::String(pin))),
            // It had no such pin: the field that holds the reference stays.
            _ => whole.extend([r.field, SELECTION]),
        }
    }
    for field in whole.into_iter().filter(|f| item.def.field(f).is_some()) {
        item::set(&mut spec, field, None, applied.get(field).cloned());
    }
    // Lists that are sets may sort otherwise now.
    let spec = (item.def.canonical)(&item.address().name, spec, &BTreeMap::new());
    let fields: Vec<&'static str> =
        item.def.fields.iter().map(|f| f.name).filter(|f| spec.get(*f) != declared.get(*f)).collect();
    item.needs = None;
    if fields.is_empty() {
        return;
    }
    let of = needs.iter().filter_map(|r| match &r.target {
        Target::Own(address) => refused.get(address).map(|to| Lacking { address: address.clone(), taken: to.taken }),
        Target::Foreign(..) | Target::Id(..) => None,
    });
    let of = of.collect();
    item.respecify(Arc::new(spec));
    item.kept = Some(Box::new(Kept { declared, fields, of }));
}

/// Is it to be made, and needs what does not come back? Tells it, if so.
pub(super) fn refuses(delta: &Delta<'_>, out: &mut Gathered) -> bool {
    let Some(needs) = delta.item.needs.as_ref().filter(|_| delta.is_create()) else { return false };
    let address = delta.address();
    let of = &needs.address;
    let (code, message) = if needs.taken {
        (&codes::PIN_STAYS, format!("{address} needs {of} as the files say, and `accept:` took what is live of it"))
    } else {
        let why = "as it was before a rollback, and that does not come back by itself";
        (&codes::ROLLED_BACK, format!("{address} needs {of} {why}"))
    };
    out.find(code, Effect::Blocks, Some(address), message).fix(needs.way_out()).at(delta.item.wanted);
    true
}

/// Tells which fields stay as they were applied, and why.
pub(super) fn tell(delta: &Delta<'_>, out: &mut Gathered) {
    let item = delta.item;
    let Some(kept) = &item.kept else { return };
    let address = delta.address();
    for (taken, code, why) in [
        (false, &codes::ROLLED_BACK, "the version that it is to have was undone by a rollback"),
        (true, &codes::PIN_STAYS, "`accept:` took what is live there, so the version of the files is not made"),
    ] {
        let of: Vec<&Lacking> = kept.of.iter().filter(|l| l.taken == taken).collect();
        if of.is_empty() {
            continue;
        }
        let names: Vec<String> = of.iter().map(|l| l.address.to_string()).collect();
        let fixes: Vec<String> = of.iter().map(|l| l.way_out()).collect();
        let message = format!("{address} keeps what it has of {}: {why}", names.join(", "));
        out.find(code, Effect::Note, Some(address), message).fix(fixes.join("\n")).at(item.wanted);
    }
    if kept.of.iter().all(|l| l.taken) {
        // What moved live is told of the resource itself.
        return;
    }
    for field in &kept.fields {
        let of = |form: Option<&Value>| form.and_then(|f| f.get(*field)).cloned();
        let (applied, live) = (of(item.applied.as_deref()), of(item.live_spec.as_deref()));
        let wanted = of(Some(&kept.declared));
        out.held.push(Held {
            address: address.clone(),
            field: Some((*field).to_owned()),
            at: Some(places::of_change(item.wanted, field, applied.as_ref(), wanted.as_ref())),
            applied,
            live,
            wanted,
            files: Vec::new(),
            conflict: false,
            owned_again: false,
            rolled_back: true,
            accepted: None,
            actor: None,
            when: None,
            break_glass: None,
        });
    }
}
