//! A wanted resource beside its live one: workspace numbers turned into content, digests taken once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveBody, LiveResource};
use crate::model::kinds::{self, Change, KindDef, Ref, Selector, Target};
use crate::model::{Address, Digest, Owner};
use crate::plan::pins::{Kept, Lacking};
use crate::plan::readdress::{Comes, Placed};
use crate::plan::scope::Selected;
use crate::plan::{Effect, Gathered, places};

/// A wanted resource and what is live at its address.
pub(super) struct Item<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) def: &'static KindDef,
    /// Canonical, with no workspace number left in it. What is not owned of it is as it is live, where that was read.
    pub(super) spec: Arc<Value>,
    pub(super) refs: Cow<'a, [Ref]>,
    /// Of what is owned of `spec`.
    pub(super) digest: Digest,
    pub(super) live: Option<&'a LiveResource>,
    /// How it comes to its address, where it is not there yet.
    pub(super) comes: Option<&'a Comes>,
    /// The live form, in which ids of superseded resources read as the address that took their place, and whatever
    /// changes its address or owner as it will.
    pub(super) live_spec: Option<Cow<'a, Value>>,
    /// What was last applied, with references as in `live_spec`.
    pub(super) applied: Option<Cow<'a, Value>>,
    /// Fields that point at a superseded resource, and its id.
    pub(super) stale: Vec<(&'static str, String)>,
    /// The last retired id at the address.
    pub(super) since: Option<&'a String>,
    /// A finding says why nothing can be done about it.
    pub(super) broken: bool,
    /// What stays as it was applied, since a rollback undid what the files want; `spec` says so.
    pub(super) kept: Option<Box<Kept>>,
    /// What it cannot be made without, and is not made.
    pub(super) needs: Option<Lacking>,
    /// Memory paths whose recorded contents the workspace does not hold any more; what is live there stays.
    pub(super) lost: BTreeSet<String>,
}

impl<'a> Item<'a> {
    pub(super) fn address(&self) -> &'a Address {
        &self.wanted.address
    }

    pub(super) fn body(&self) -> Option<&'a LiveBody> {
        self.live.and_then(|l| l.body.as_ref())
    }

    /// Was it archived or deleted by another?
    pub(super) fn is_gone(&self) -> bool {
        self.live.is_some_and(is_gone)
    }

    /// What it refers to live. What was not read is as wanted.
    pub(super) fn live_refs(&self) -> Cow<'_, [Ref]> {
        match self.live_spec.as_deref() {
            Some(live_spec) => Cow::Owned((self.def.refs)(live_spec)),
            None => Cow::Borrowed(&*self.refs),
        }
    }

    /// As the files declare it, also where a part of it stays as it was applied.
    pub(super) fn declared(&self) -> &Arc<Value> {
        self.kept.as_ref().map_or(&self.spec, |kept| &kept.declared)
    }

    /// Gives it another form.
    pub(super) fn respecify(&mut self, spec: Arc<Value>) {
        self.refs = Cow::Owned((self.def.refs)(&spec));
        self.digest = owned_digest(self.wanted, &spec);
        self.spec = spec;
    }

    /// See [`places::of`].
    pub(super) fn place(&self, path: &str) -> String {
        places::of(self.wanted, path)
    }
}

/// The digest of what is owned of an item's form.
fn owned_digest(wanted: &Wanted, spec: &Arc<Value>) -> Digest {
    if Arc::ptr_eq(spec, &wanted.spec) { wanted.digest() } else { wanted.digest_of(spec) }
}

/// All wanted resources, with their live ones.
pub(super) fn items<'a>(
    (all, me): (&'a BTreeMap<Address, Wanted>, &Owner),
    placed: &'a Placed<'a>,
    scope: &Selected,
    out: &mut Gathered,
) -> Vec<Item<'a>> {
    let live: &Live = &placed.live;
    let old = Old::new(placed, me);
    all.values()
        .map(|wanted| {
            let def = kinds::def(wanted.address.kind);
            let mut item = Item {
                wanted,
                def,
                spec: Arc::clone(&wanted.spec),
                refs: Cow::Borrowed(&wanted.refs),
                digest: Digest::from_bytes([0; 32]),
                live: live.resources.get(&wanted.address),
                comes: placed.comes.get(&wanted.address),
                live_spec: None,
                applied: None,
                stale: Vec::new(),
                since: live.retired.get(&wanted.address),
                broken: placed.barred.contains(&wanted.address),
                kept: None,
                needs: None,
                lost: BTreeSet::new(),
            };
            if scope.holds(&wanted.address) {
                out.notes.ignored += super::count(wanted.unowned.len());
                numbers(&mut item, live, out);
            }
            item.digest = owned_digest(wanted, &item.spec);
            item.live_spec = item.body().map(|b| Cow::Borrowed(&*b.live));
            item.applied = item.body().map(|b| Cow::Borrowed(&*b.applied.spec));
            old.rename(&mut item);
            leave_unowned(&mut item);
            item
        })
        .collect()
}

/// What is not owned is wanted as it is live: whatever sends or records the whole form leaves it so. Memories have
/// modes of their own.
fn leave_unowned(item: &mut Item<'_>) {
    let fields = item.wanted.unowned.iter().filter(|path| !path.starts_with("contents"));
    let Some(live) = item.live_spec.as_deref().filter(|_| !item.live.is_some_and(is_gone)) else { return };
    let mut moved = false;
    for path in fields {
        let (field, key) = path.split_once('.').map_or((path.as_str(), None), |(field, key)| (field, Some(key)));
        let value = |spec: &Value| match key {
            None => spec.get(field).cloned(),
            Some(key) => spec.get(field)?.get(key).cloned(),
        };
        let now = value(live);
        if now != value(&item.spec) {
            set(Arc::make_mut(&mut item.spec), field, key, now);
            moved = true;
        }
    }
    if moved {
        item.refs = Cow::Owned((item.def.refs)(&item.spec));
    }
}

/// Sets a canonical field, or one key of a map; `None` clears it.
pub(super) fn set(spec: &mut Value, field: &str, key: Option<&str>, value: Option<Value>) {
    let Value::Object(top) = spec else { return };
    match (key, value) {
        (None, Some(value)) => {
            top.insert(field.to_owned(), value);
        }
        (None, None) => {
            top.remove(field);
        }
        (Some(key), Some(value)) => {
            let map = top.entry(field.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(map) = map {
                map.insert(key.to_owned(), value);
            }
        }
        (Some(key), None) => {
            if let Some(Value::Object(map)) = top.get_mut(field) {
                map.remove(key);
                if map.is_empty() {
                    top.remove(field);
                }
            }
        }
    }
}

/// May a resource that is as wanted be replaced along with one that it refers to and that differs? Then what is not
/// owned of it must be read, so that it stays.
pub fn may_be_replaced_along(wanted: &Wanted, differs: impl Fn(&Address) -> bool) -> bool {
    let def = kinds::def(wanted.address.kind);
    !wanted.unowned.is_empty()
        && wanted.refs.iter().any(|r| {
            let fixed = def.field(r.field).is_some_and(|f| f.change == Change::Replace);
            fixed && matches!(&r.target, Target::Own(address) if differs(address))
        })
}

/// Turns `version: N` and `revision: N` into the content that the workspace says they have.
fn numbers(item: &mut Item<'_>, live: &Live, out: &mut Gathered) {
    let numbered: Vec<Ref> = item.refs.iter().filter(|r| matches!(r.selector, Selector::Number(_))).cloned().collect();
    for r in &numbered {
        let Selector::Number(number) = r.selector else { continue };
        let key = format!("{}#{number}", r.target.key());
        let content = live.resolved.get(&key).and_then(|found| found.content);
        match content {
            Some(content) => {
                pin(Arc::make_mut(&mut item.spec), r, number, &content);
            }
            None => {
                item.broken = true;
                let message = format!("{} has no version {number} in this workspace", r.target.key());
                out.find(&codes::VERSION_MISSING, Effect::Error, Some(&item.wanted.address), message)
                    .fix("name a version that is there, or pin by content, which is equal on every workspace")
                    .at = Some(item.place(r.field));
            }
        }
    }
    if !numbered.is_empty() && !item.broken {
        // Lists that are sets may sort otherwise now.
        let whole = (item.def.canonical)(&item.wanted.address.name, (*item.spec).clone(), &BTreeMap::new());
        item.spec = Arc::new(whole);
        item.refs = Cow::Owned((item.def.refs)(&item.spec));
    }
}

/// Writes the content in place of the number. The number stands beside the reference (skills) or in the
/// resource's selection (mounts).
pub fn pin(spec: &mut Value, r: &Ref, number: u64, content: &Digest) {
    let parent = r.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    for pointer in [r.pointer.as_str(), parent, "/selection"] {
        let Some(Value::Object(holder)) = spec.pointer_mut(pointer) else { continue };
        for name in ["version", "revision"] {
            if holder.get(name).and_then(Value::as_u64) == Some(number) {
                holder.remove(name);
                holder.insert("content".to_owned(), Value::String(content.to_string()));
                return;
            }
        }
    }
}

/// Ids that an address had before: of superseded resources, another owner's too, and of those that another retired;
/// and what changes its address or owner in this plan.
struct Old<'a> {
    targets: BTreeMap<&'a str, (Target, bool)>,
    placed: &'a Placed<'a>,
}

impl<'a> Old<'a> {
    fn new(placed: &'a Placed<'a>, me: &Owner) -> Self {
        let live: &Live = &placed.live;
        let successors = live.successors.iter();
        let mut targets: BTreeMap<&'a str, (Target, bool)> = successors
            .map(|(id, (owner, address))| (id.as_str(), (Target::at(owner, address, Some(me)), true)))
            .collect();
        let superseded = live.superseded.iter().filter_map(|r| Some((&r.summary, r.summary.address.as_ref()?, true)));
        let gone = live.resources.iter().filter(|(_, r)| is_gone(r)).map(|(a, r)| (&r.summary, a, false));
        for (summary, address, stale) in superseded.chain(gone) {
            targets.insert(summary.id.as_str(), (Target::Own(address.clone()), stale));
        }
        targets.extend(placed.reads.iter().map(|(key, target)| (key.as_str(), (target.clone(), false))));
        Self { targets, placed }
    }

    /// Reads such ids as the address, so that what refers to them does not look as if someone had moved it. What
    /// changes its address or owner in this plan reads so in what was applied too.
    fn rename(&self, item: &mut Item<'_>) {
        let (def, name) = (item.def, &item.wanted.address.name);
        if let Some(live_spec) = item.live_spec.as_mut().filter(|_| !self.targets.is_empty()) {
            for (field, key) in renamed(def, name, live_spec, |key| self.targets.get(key).map(|(to, _)| to)) {
                if self.targets.get(key.as_str()).is_some_and(|(_, stale)| *stale) {
                    item.stale.push((field, key));
                }
            }
        }
        let Placed { reads, went, .. } = self.placed;
        if let Some(applied) = item.applied.as_mut().filter(|_| !reads.is_empty() || !went.is_empty()) {
            renamed(def, name, applied, |key| reads.get(key).or_else(|| went.get(key)));
        }
    }
}

/// Writes references of a form otherwise; says which.
pub(super) fn renamed<'t>(
    def: &KindDef,
    name: &str,
    form: &mut Cow<'_, Value>,
    to: impl Fn(&str) -> Option<&'t Target>,
) -> Vec<(&'static str, String)> {
    let mut done = Vec::new();
    for r in (def.refs)(form) {
        let key = r.target.key();
        if let Some(target) = to(&key)
            && let Some(value) = form.to_mut().pointer_mut(&r.pointer)
        {
            *value = target.to_value();
            done.push((r.field, key));
        }
    }
    if !done.is_empty() {
        // Lists that are sets may sort otherwise now.
        *form = Cow::Owned((def.canonical)(name, form.clone().into_owned(), &BTreeMap::new()));
    }
    done
}

/// Was it archived or deleted by another?
pub(super) fn is_gone(live: &LiveResource) -> bool {
    live.summary.gone.is_some() || live.summary.live_digest.is_none()
}

/// Does what is sent carry a reference: the field that holds it, or the one that selects its version?
pub fn carries(def: &KindDef, r: &Ref, sends: impl Fn(&str) -> bool) -> bool {
    sends(r.field) || (r.selector != Selector::None && def.field(SELECTION).is_some() && sends(SELECTION))
}

/// The field of a mount that chooses the version of what `memory_store` or `file_tree` names.
pub(super) const SELECTION: &str = "selection";

/// Who of the wanted resources refers to an address, and how.
pub(super) type Users<'a> = BTreeMap<&'a Address, Vec<(&'a Address, &'a Ref)>>;

/// Turns references around.
pub(super) fn users<'a>(items: &'a [Item<'_>]) -> Users<'a> {
    let mut users = Users::new();
    for item in items {
        for r in item.refs.iter() {
            if let Target::Own(address) = &r.target {
                users.entry(address).or_default().push((&item.wanted.address, r));
            }
        }
    }
    users
}
