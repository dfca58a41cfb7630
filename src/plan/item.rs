//! A wanted resource beside its live one: workspace numbers turned into content, digests taken once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveBody, LiveResource};
use crate::model::kinds::{self, Applied, Change, KindDef, Ref, Selector, Target};
use crate::model::{Address, Digest};
use crate::plan::scope::Selected;
use crate::plan::{Effect, Gathered};

/// A wanted resource and what is live at its address.
pub(super) struct Item<'a> {
    pub(super) wanted: &'a Wanted,
    pub(super) def: &'static KindDef,
    /// Canonical, with no workspace number left in it. What is not owned of it is as it is live, where that was read.
    pub(super) spec: Cow<'a, Value>,
    pub(super) refs: Cow<'a, [Ref]>,
    /// Of what is owned of `spec`.
    pub(super) digest: Digest,
    pub(super) live: Option<&'a LiveResource>,
    /// The live form, in which ids of superseded resources read as the address that took their place.
    pub(super) live_spec: Option<Cow<'a, Value>>,
    /// Fields that point at a superseded resource, and its id.
    pub(super) stale: Vec<(&'static str, String)>,
    /// The last retired id at the address.
    pub(super) since: Option<&'a String>,
    /// A finding says why nothing can be done about it.
    pub(super) broken: bool,
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

    /// `file:line:column` of a canonical path: its own place, else that of a parent, else of the document.
    pub(super) fn place(&self, path: &str) -> String {
        place(self.wanted, path)
    }
}

/// See [`Item::place`].
pub(super) fn place(wanted: &Wanted, path: &str) -> String {
    let mut at = path;
    loop {
        if let Some(found) = wanted.places.get(at) {
            return found.to_string();
        }
        match at.rfind(['.', '[']) {
            Some(cut) => at = &at[..cut],
            None => return wanted.at.to_string(),
        }
    }
}

/// The digest of what is owned of a wanted resource, as [`Wanted::digest`]; clones nothing where all is owned.
pub fn wanted_digest(wanted: &Wanted) -> Digest {
    owned_digest(wanted, &wanted.spec)
}

fn owned_digest(wanted: &Wanted, spec: &Value) -> Digest {
    // All of a form is owned by itself, save what is named as not owned and an empty map of memories.
    let no_memory = spec.get("contents").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
    if wanted.unowned.is_empty() && !no_memory {
        return Digest::of_json(spec);
    }
    let applied = Applied { spec: spec.clone(), unowned: wanted.unowned.clone() };
    kinds::owned_digest(wanted.address.kind, spec, &applied)
}

/// All wanted resources, with their live ones.
pub(super) fn items<'a>(
    all: &'a BTreeMap<Address, Wanted>,
    live: &'a Live,
    scope: &Selected,
    out: &mut Gathered,
) -> Vec<Item<'a>> {
    let old = Old::new(live);
    all.values()
        .map(|wanted| {
            let def = kinds::def(wanted.address.kind);
            let mut item = Item {
                wanted,
                def,
                spec: Cow::Borrowed(&wanted.spec),
                refs: Cow::Borrowed(&wanted.refs),
                digest: Digest::from_bytes([0; 32]),
                live: live.resources.get(&wanted.address),
                live_spec: None,
                stale: Vec::new(),
                since: live.retired.get(&wanted.address),
                broken: false,
            };
            if scope.holds(&wanted.address) {
                out.notes.ignored += super::count(wanted.unowned.len());
                numbers(&mut item, live, out);
            }
            item.digest = owned_digest(wanted, &item.spec);
            item.live_spec = item.body().map(|b| Cow::Borrowed(&b.live));
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
            set(item.spec.to_mut(), field, key, now);
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
                pin(item.spec.to_mut(), r, number, &content);
            }
            None => {
                item.broken = true;
                let message = format!("{} has no version {number} in this workspace", r.target.key());
                out.find(&codes::VERSION_MISSING, Effect::Error, Some(&item.wanted.address), message)
                    .fix("name a version that is there, or pin by content, which is equal on every workspace")
                    .at = Some(place(item.wanted, r.field));
            }
        }
    }
    if !numbered.is_empty() && !item.broken {
        // Lists that are sets may sort otherwise now.
        let whole = (item.def.canonical)(&item.wanted.address.name, &item.spec, &BTreeMap::new());
        item.spec = Cow::Owned(whole);
        item.refs = Cow::Owned((item.def.refs)(&item.spec));
    }
}

/// Writes the content in place of the number. The number stands beside the reference (skills) or in the
/// resource's selection (mounts).
fn pin(spec: &mut Value, r: &Ref, number: u64, content: &Digest) {
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

/// Ids that an address had before: of superseded resources, and of those that another retired.
struct Old<'a> {
    addresses: BTreeMap<&'a str, (&'a Address, bool)>,
}

impl<'a> Old<'a> {
    fn new(live: &'a Live) -> Self {
        let superseded = live.superseded.iter().filter_map(|r| Some((&r.summary, r.summary.address.as_ref()?, true)));
        let gone = live.resources.iter().filter(|(_, r)| is_gone(r)).map(|(a, r)| (&r.summary, a, false));
        let ids = superseded.chain(gone).map(|(summary, address, stale)| (summary.id.as_str(), (address, stale)));
        Self { addresses: ids.collect() }
    }

    /// Reads such ids as the address, so that what refers to them does not look as if someone had moved it.
    fn rename(&self, item: &mut Item<'_>) {
        let Some(live_spec) = item.live_spec.as_mut().filter(|_| !self.addresses.is_empty()) else { return };
        for r in (item.def.refs)(live_spec) {
            let Target::Id(_, id) = &r.target else { continue };
            let Some((address, stale)) = self.addresses.get(id.as_str()) else { continue };
            rename(live_spec.to_mut(), id, &Target::Own((*address).clone()).to_value());
            if *stale {
                item.stale.push((r.field, id.clone()));
            }
        }
    }
}

/// Was it archived or deleted by another?
pub(super) fn is_gone(live: &LiveResource) -> bool {
    live.summary.gone.is_some() || live.summary.live_digest.is_none()
}

fn rename(value: &mut Value, id: &str, to: &Value) {
    match value {
        Value::Object(o) if o.len() == 1 && o.get("id").and_then(Value::as_str) == Some(id) => *value = to.clone(),
        Value::Object(o) => o.values_mut().for_each(|v| rename(v, id, to)),
        Value::Array(a) => a.iter_mut().for_each(|v| rename(v, id, to)),
        _ => {}
    }
}

/// Does what is sent carry a reference: the field that holds it, or the one that selects its version?
pub(super) fn carries(def: &KindDef, r: &Ref, sends: impl Fn(&str) -> bool) -> bool {
    sends(r.field) || (r.selector != Selector::None && def.field(SELECTION).is_some() && sends(SELECTION))
}

/// The field of a mount that chooses the version of what `memory_store` or `file_tree` names.
const SELECTION: &str = "selection";

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
