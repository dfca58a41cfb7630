//! What cannot be done now, and all that depends on it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::diag::codes::plan as codes;
use crate::live::Live;
use crate::model::kinds::{self, Ref, Selector, Target};
use crate::model::op::Resolved;
use crate::model::{Address, Digest};
use crate::plan::compare::{Delta, State};
use crate::plan::item::{Item, Users};
use crate::plan::retire::Retired;
use crate::plan::undone::{self, Undone};
use crate::plan::{Effect, Gathered, pins, room, taken};

/// What blocking is decided over.
pub(super) struct Field<'a> {
    pub(super) deltas: &'a [Delta<'a>],
    pub(super) items: &'a [Item<'a>],
    pub(super) users: &'a Users<'a>,
    pub(super) live: &'a Live,
    pub(super) retired: &'a [Retired<'a>],
    /// What a rollback undid and does not come back by itself.
    pub(super) undone: Option<&'a Undone>,
    /// Of that what the files want, see [`pins::keep`].
    pub(super) refused: &'a BTreeSet<Address>,
}

/// The addresses that get no action: in conflict, gone, in error, or a dependent of such a one.
pub(super) fn blocked(over: &Field<'_>, out: &mut Gathered) -> BTreeSet<Address> {
    let Field { deltas, users, .. } = over;
    let mut roots: Vec<&Address> = Vec::new();
    // Nobody waits for these: what others need of them was looked at.
    let mut alone: Vec<&Address> = Vec::new();
    for delta in *deltas {
        let stands_still = matches!(delta.state, State::Gone | State::Unread | State::Broken);
        let comes_back = |out: &mut Gathered| over.undone.is_some_and(|undone| undone::refuses(undone, delta, out));
        if delta.conflicts() || stands_still || pins::refuses(delta, out) || is_impossible(delta, out) {
            roots.push(delta.address());
        } else if comes_back(out) {
            let list = if over.refused.contains(delta.address()) { &mut alone } else { &mut roots };
            list.push(delta.address());
        }
    }
    let mut blocked = spread(&roots, users);
    blocked.extend(alone.iter().map(|a| (*a).clone()));
    let world = World {
        refused: over.refused,
        deltas: deltas.iter().map(|d| (d.address(), d)).collect(),
        items: over.items.iter().map(|i| (i.address(), i)).collect(),
        live: over.live,
    };
    let mut dangling = Vec::new();
    for delta in deltas.iter().filter(|d| !blocked.contains(d.address()) && d.acts()) {
        let sent = delta.item.refs.iter().filter(|r| delta.carries(r));
        // Every reference is judged, so that all errors are told at once.
        if sent.filter(|r| !world.reaches(delta, r, out)).count() > 0 || world.writes_shared(delta, out) {
            dangling.push(delta.address());
        }
    }
    for delta in deltas.iter().filter(|d| !blocked.contains(d.address())) {
        for r in delta.item.refs.iter().filter(|r| !delta.acts() || !delta.carries(r)) {
            world.stands(delta, r, out);
        }
    }
    blocked.extend(spread(&dangling, users));
    let going = over.retired.iter().filter(|r| !r.superseded).map(|r| r.address).collect();
    let mut waits: BTreeMap<&Address, &Address> = BTreeMap::new();
    let mut stuck = Vec::new();
    let mut waiting = taken::Waits::of(deltas, over.items, over.live, &going);
    let mut newly = blocked.clone();
    loop {
        let more = waiting.after(&newly, &blocked);
        if !more.is_empty() {
            newly = spread(&more.iter().map(|(who, _)| *who).collect::<Vec<_>>(), users);
            blocked.extend(newly.iter().cloned());
            waits.extend(more);
            continue;
        }
        let more = room::play(over, &blocked).tell(out);
        if more.is_empty() {
            break;
        }
        newly = spread(&more, users);
        blocked.extend(newly.iter().cloned());
        stuck.extend(more);
    }
    let is_root: BTreeSet<&Address> = roots.iter().chain(&alone).chain(&dangling).chain(&stuck).copied().collect();
    for delta in deltas.iter().filter(|d| blocked.contains(d.address()) && !d.is_same()) {
        out.notes.blocked.push(delta.address().clone());
        if !is_root.contains(delta.address()) {
            told(delta, &waits, &blocked, out);
        }
    }
    blocked
}

/// Tells what a resource waits for.
fn told(delta: &Delta<'_>, waits: &BTreeMap<&Address, &Address>, blocked: &BTreeSet<Address>, out: &mut Gathered) {
    let address = delta.address();
    let on = delta.item.refs.iter().filter_map(|r| match &r.target {
        Target::Own(a) if blocked.contains(a) => Some(a),
        _ => None,
    });
    // The first by address, whatever the order of references.
    let on = on.min();
    let by = waits.get(address);
    let message = match (on, by) {
        (Some(on), _) => format!("{address} waits for {on}"),
        (None, Some(by)) => format!("{address} waits for {by}, which has its name or its place"),
        (None, None) => format!("{address} waits"),
    };
    // Who waits for what is blocked has its cause told there. Where another keeps what it has, this is the cause.
    let is_cause = on.is_none() && by.is_some_and(|by| !blocked.contains(*by));
    let effect = if is_cause { Effect::Blocks } else { Effect::Note };
    let finding = out.find(&codes::BLOCKED, effect, Some(address), message);
    if is_cause {
        finding.fix("give it another name or place, or let the other one go first");
    }
    finding.at(delta.item.wanted);
}

fn spread(roots: &[&Address], users: &Users<'_>) -> BTreeSet<Address> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Address> = roots.to_vec();
    while let Some(next) = open.pop() {
        if seen.insert(next.clone()) {
            open.extend(users.get(next).into_iter().flatten().map(|(user, _)| *user));
        }
    }
    seen
}

/// Changes that cannot be made at all; each is told.
fn is_impossible(delta: &Delta<'_>, out: &mut Gathered) -> bool {
    let address = delta.address();
    if !delta.acts() {
        return false;
    }
    if delta.item.spec.pointer("/source/kind").and_then(Value::as_str) == Some("git") {
        let message = format!("{address} takes its files from Git: this target cannot apply it yet");
        out.find(&codes::UNSUPPORTED, Effect::Error, Some(address), message)
            .fix("upload the tree: `source: {kind: upload, path: …}`, or leave it out with --exclude")
            .at(delta.item.wanted);
        return true;
    }
    if let Some(other) = delta.stuck {
        let field = if delta.item.def.unique_name { "name" } else { "mount_path" };
        let message = format!("{address} and {other} take what the other has: `{field}` is unique at every moment");
        out.find(&codes::EXCHANGE, Effect::Error, Some(address), message)
            .fix(format!("in two steps: give {address} another `{field}` and apply; then the one that it is to have"))
            .at = Some(delta.item.place(field));
        return true;
    }
    if !delta.replace {
        return false;
    }
    let field = delta.fields.iter().find(|f| f.sent().is_some()).map_or("", |f| f.path.as_str());
    if !delta.item.def.comes_back {
        let message = format!(
            "{address}: `{field}` cannot change in place, and what takes its place would lose the old one for good"
        );
        out.find(&codes::REPLACE_REFUSED, Effect::Error, Some(address), message)
            .fix(format!("in two steps: 1. declare it under a new name; 2. let the old one go with `removed: [{{address: {address}}}]`"))
            .at = Some(delta.item.place(field));
        return true;
    }
    if delta.item.body().is_none() && !delta.item.wanted.unowned.is_empty() {
        let message =
            format!("{address}: a new resource would take its place, and what is not owned of it was not read");
        out.find(&codes::NOT_READ, Effect::Error, Some(address), message).at(delta.item.wanted);
        return true;
    }
    if delta.holds() {
        let message = format!("{address}: a new resource would take its place, and what moved live would be lost");
        out.find(&codes::REPLACE_HELD, Effect::Blocks, Some(address), message)
            .fix(format!("write the live values into the file, or plan with --revert {address}"))
            .at(delta.item.wanted);
        return true;
    }
    false
}

/// What references can be held against.
struct World<'a> {
    /// What a rollback undid, and makes nothing.
    refused: &'a BTreeSet<Address>,
    deltas: BTreeMap<&'a Address, &'a Delta<'a>>,
    items: BTreeMap<&'a Address, &'a Item<'a>>,
    live: &'a Live,
}

impl World<'_> {
    /// Can the reference be sent? If not, a finding says why.
    fn reaches(&self, delta: &Delta<'_>, r: &Ref, out: &mut Gathered) -> bool {
        match &r.target {
            Target::Own(address) => self.own(delta, r, address, out),
            // It is live already, and stays.
            Target::Id(..) if kinds::is_unowned(&delta.item.wanted.unowned, r.field) => true,
            Target::Foreign(..) | Target::Id(..) => self.foreign(delta, r, out),
        }
    }

    fn own(&self, delta: &Delta<'_>, r: &Ref, address: &Address, out: &mut Gathered) -> bool {
        let to = self.deltas.get(address).filter(|_| !self.refused.contains(address));
        let made = to.is_some_and(|d| d.is_create());
        let item = self.items.get(address);
        let is_live = item.is_some_and(|i| i.live.is_some() && !i.is_gone());
        if !made && !is_live {
            let message = format!("{} needs {address}, which is not live and not in this plan", delta.address());
            out.find(&codes::EXCLUDED, Effect::Error, Some(delta.address()), message)
                .fix(format!("plan {address} too"))
                .at = Some(delta.item.place(r.field));
            return false;
        }
        let Selector::Content(content) = &r.selector else { return true };
        let wanted = item.and_then(|i| i.spec.get("content")).and_then(Value::as_str);
        let published = to.is_some_and(|d| d.sends("content")) && wanted == Some(content.to_string().as_str());
        let newest = item.and_then(|i| i.live).and_then(|l| l.summary.content) == Some(*content);
        if published || (!made && (newest || resolved(self.live, &r.target, content).is_some())) {
            return true;
        }
        let published_here = wanted == Some(content.to_string().as_str());
        if to.is_none() && published_here {
            let message = format!(
                "{} needs {address} with the content {}, which is not published and not in this plan",
                delta.address(),
                content.short()
            );
            out.find(&codes::EXCLUDED, Effect::Error, Some(delta.address()), message)
                .fix(format!("plan {address} too"))
                .at = Some(delta.item.place(r.field));
        } else if made && is_live {
            let message = format!(
                "{} pins {address} to the content {}, and a new resource that takes its place has no old version",
                delta.address(),
                content.short()
            );
            out.find(&codes::VERSION_MISSING, Effect::Error, Some(delta.address()), message)
                .fix(format!(
                    "in two steps: 1. take the pin out, so that it follows what this project publishes, and apply that; 2. change {address}"
                ))
                .at = Some(delta.item.place(r.field));
        } else {
            version_missing(delta, r, content, out);
        }
        false
    }

    /// The answer of the workspace about what is not ours.
    fn found(&self, r: &Ref, key: &str) -> Option<&Resolved> {
        let by_content = match &r.selector {
            Selector::Content(content) => self.live.resolved.get(&format!("{key}@{content}")),
            _ => None,
        };
        by_content.or_else(|| self.live.resolved.get(key)).or_else(|| {
            let numbered = self.live.resolved.range(format!("{key}#")..);
            numbered.take_while(|(k, _)| k.starts_with(&format!("{key}#"))).map(|(_, v)| v).next()
        })
    }

    /// Would a mount write to another's store that is shared? Own ones are told where they are declared.
    fn writes_shared(&self, delta: &Delta<'_>, out: &mut Gathered) -> bool {
        let writes = delta.item.spec.get("access").and_then(Value::as_str) == Some("read_write");
        if !writes || !(delta.sends("access") || delta.sends("memory_store")) {
            return false;
        }
        let stores = delta.item.refs.iter().filter(|r| r.field == "memory_store");
        let mut foreign = stores.filter(|r| !matches!(r.target, Target::Own(_)));
        let shared = foreign.find_map(|r| {
            let key = r.target.key();
            let owner = self.found(r, &key)?.store_owner.as_deref()?;
            (owner != "principal").then(|| (key, owner.replace('_', " ")))
        });
        let Some((key, owner)) = shared else { return false };
        let message = format!("{}: {key} is a store of the {owner} kind, so it mounts read_only", delta.address());
        out.find(&codes::SHARED_WRITE, Effect::Error, Some(delta.address()), message).fix("access: read_only").at =
            Some(delta.item.place("access"));
        true
    }

    /// Tells of a reference that is live and not sent again, and whose target went.
    fn stands(&self, delta: &Delta<'_>, r: &Ref, out: &mut Gathered) {
        let (address, key) = (delta.address(), r.target.key());
        let gone = self.found(r, &key).is_some_and(|f| f.archived);
        if gone && !matches!(r.target, Target::Own(_)) {
            let message = format!("{address} still refers to {key}, which was archived since");
            out.find(&codes::REFERENCE_ARCHIVED, Effect::Note, Some(address), message)
                .fix("refer to one that is in use")
                .at = Some(delta.item.place(r.field));
        }
    }

    fn foreign(&self, delta: &Delta<'_>, r: &Ref, out: &mut Gathered) -> bool {
        let key = r.target.key();
        let address = delta.address();
        let found = self.found(r, &key);
        let place = Some(delta.item.place(r.field));
        let there = found.filter(|f| f.id.is_some() && f.kind.is_none_or(|k| k == r.target.kind()));
        let Some(there) = there else {
            let message = format!("{address} refers to {key}, which is not in this workspace");
            out.find(&codes::REFERENCE_MISSING, Effect::Error, Some(address), message)
                .fix("check the name and its owner, or let the other owner apply first")
                .at = place;
            return false;
        };
        if there.archived {
            let message = format!("{address} refers to {key}, which is archived and takes no new reference");
            out.find(&codes::REFERENCE_ARCHIVED, Effect::Error, Some(address), message)
                .fix("refer to one that is in use")
                .at = place;
            return false;
        }
        if let Selector::Content(content) = &r.selector
            && resolved(self.live, &r.target, content).is_none()
        {
            version_missing(delta, r, content, out);
            return false;
        }
        true
    }
}

fn version_missing(delta: &Delta<'_>, r: &Ref, content: &Digest, out: &mut Gathered) {
    let message = format!("{} has no version with the content {}", r.target.key(), content.short());
    out.find(&codes::VERSION_MISSING, Effect::Error, Some(delta.address()), message)
        .fix("pin a content that was published")
        .at = Some(delta.item.place(r.field));
}

/// The answer of the workspace about a version by content.
pub(super) fn resolved<'l>(live: &'l Live, target: &Target, content: &Digest) -> Option<&'l Resolved> {
    let key = target.key();
    let answers = live.resolved.get(&format!("{key}@{content}")).into_iter().chain(live.resolved.get(&key));
    let numbered = live.resolved.range(format!("{key}#")..).take_while(|(k, _)| k.starts_with(&format!("{key}#")));
    answers.chain(numbered.map(|(_, v)| v)).find(|r| r.content == Some(*content) && r.version.is_some())
}
