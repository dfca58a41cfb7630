//! What must be done before what, and which live ids the actions need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::live::Live;
use crate::model::kinds::{self, Ref, Selector, Target};
use crate::model::{Address, Kind};
use crate::plan::actions::Draft;
use crate::plan::block::resolved;
use crate::plan::item::{Item, carries};
use crate::plan::retire::Retired;
use crate::plan::room::STORES_OF_AN_AGENT;
use crate::plan::taken::{Place, mount};
use crate::plan::{Gathered, Step, Verb};

/// What drafts are held against.
pub(super) struct Around<'a> {
    pub(super) items: &'a [Item<'a>],
    pub(super) retired: &'a [Retired<'a>],
    pub(super) live: &'a Live,
    /// See [`crate::plan::room::Played::handovers`].
    pub(super) handovers: Vec<(&'a Address, &'a Address)>,
}

/// Fills in `needs` of all drafts, and the ids.
pub(super) fn connect(drafts: &mut [Draft], around: &Around<'_>, out: &mut Gathered) {
    let Around { items, retired, live, handovers } = around;
    let graph = Graph {
        items: items.iter().map(|i| (i.address(), i)).collect(),
        chains: chains(drafts),
        going: going(retired),
    };
    let mut edges: Vec<(String, String)> = Vec::new();
    let owned = owned(drafts);
    for draft in drafts.iter() {
        let Some(item) = draft.action.address.as_ref().and_then(|a| graph.items.get(a)) else { continue };
        for r in item.refs.iter().filter(|r| carries(item.def, r, |f| sends(&draft.action.step, f))) {
            graph.reference(draft, r, live, &mut edges, out);
        }
        graph.leaves(draft, item, &mut edges);
        // What refers to it may be recorded, but only once it is where it is written to be.
        for r in item.refs.iter().filter(|_| !owned.is_empty() && !owns(&draft.action.step)) {
            edges.extend(owned.get(&r.target.key()).map(|by| (draft.action.id.clone(), by.clone())));
        }
    }
    between_retirements(retired, &graph.going, &mut edges);
    edges.extend(handovers.iter().map(|(who, by)| (moves(drafts, who), moves(drafts, by))));
    let index: BTreeMap<String, usize> = drafts.iter().enumerate().map(|(i, d)| (d.action.id.clone(), i)).collect();
    for (of, needs) in edges {
        if let Some(i) = index.get(&of).filter(|_| of != needs && index.contains_key(&needs)) {
            drafts[*i].needs.insert(needs);
        }
    }
    for (of, needs) in frees(drafts, &graph.items, retired) {
        let (Some(i), Some(_)) = (index.get(&of), index.get(&needs)) else { continue };
        // Never at the price of a circle: then the workspace says what stands in the way.
        if !reaches(drafts, &index, &needs, &of) {
            drafts[*i].needs.insert(needs);
        }
    }
}

fn owns(step: &Step) -> bool {
    matches!(step, Step::Claim { .. } | Step::Transfer { .. } | Step::Release { .. } | Step::HandOver { .. })
}

/// Actions that change owner or address, by the key of the reference that means the resource once they are done.
fn owned(drafts: &[Draft]) -> BTreeMap<String, String> {
    let row = |draft: &Draft| {
        let address = draft.action.address.as_ref()?;
        let key = match &draft.action.step {
            Step::Claim { .. } | Step::Transfer { .. } => address.to_string(),
            Step::HandOver { to, .. } => format!("{to}:{address}"),
            Step::Release { id } => id.clone(),
            _ => return None,
        };
        Some((key, draft.action.id.clone()))
    };
    drafts.iter().filter_map(row).collect()
}

/// The action that takes a mount to another agent, or makes it.
fn moves(drafts: &[Draft], address: &Address) -> String {
    let is = |d: &&Draft| d.action.address.as_ref() == Some(address) && matches!(d.action.step, Step::Create { .. });
    drafts.iter().find(is).map(|d| d.action.id.clone()).unwrap_or_default()
}

struct Graph<'a> {
    items: BTreeMap<&'a Address, &'a Item<'a>>,
    /// Ids and steps of an address's actions, in order.
    chains: BTreeMap<Address, Vec<Link>>,
    /// Retirements by address.
    going: BTreeMap<&'a Address, Vec<String>>,
}

/// What others need to know of an action.
struct Link {
    id: String,
    creates: bool,
    content: Option<String>,
    publishes: bool,
}

fn chains(drafts: &[Draft]) -> BTreeMap<Address, Vec<Link>> {
    let mut chains: BTreeMap<Address, Vec<Link>> = BTreeMap::new();
    for draft in drafts {
        let action = &draft.action;
        let Some(address) = &action.address else { continue };
        let content = match &action.step {
            Step::Create { content: Some(c), .. } | Step::Publish { content: c, .. } => Some(c.digest.to_string()),
            _ => None,
        };
        let creates = matches!(action.step, Step::Create { .. });
        let publishes = matches!(action.step, Step::Publish { .. } | Step::WriteContents { .. });
        let link = Link { id: action.id.clone(), creates, content, publishes };
        if creates || publishes {
            chains.entry(address.clone()).or_default().push(link);
        }
    }
    chains
}

fn going<'a>(retired: &'a [Retired<'_>]) -> BTreeMap<&'a Address, Vec<String>> {
    let mut going: BTreeMap<&Address, Vec<String>> = BTreeMap::new();
    for r in retired {
        going.entry(r.address).or_default().push(r.action());
    }
    going
}

/// Does a step send a canonical field?
fn sends(step: &Step, field: &str) -> bool {
    match step {
        Step::Create { .. } => true,
        Step::Update { fields, .. } => {
            fields.iter().any(|f| f == field || f.strip_prefix(field).is_some_and(|rest| rest.starts_with('.')))
        }
        _ => false,
    }
}

impl Graph<'_> {
    /// A reference that a draft sends: what makes its target must be done, or its id is known.
    fn reference(&self, draft: &Draft, r: &Ref, live: &Live, edges: &mut Vec<(String, String)>, out: &mut Gathered) {
        let key = r.target.key();
        let content = match &r.selector {
            Selector::Content(content) => Some(*content),
            _ => None,
        };
        let mut created = false;
        if let Target::Own(address) = &r.target {
            let text = content.map(|c| c.to_string());
            for link in self.chains.get(address).into_iter().flatten() {
                created |= link.creates;
                let publishes_it = link.content.is_some() && link.content == text;
                if link.creates || publishes_it || (created && link.publishes) {
                    edges.push((draft.action.id.clone(), link.id.clone()));
                }
            }
            let item = self.items.get(address);
            if let Some(summary) = item.and_then(|i| i.live).map(|l| &l.summary).filter(|_| !created) {
                out.ids.insert(key.clone(), summary.id.clone());
                if let (Some(content), Some(version)) = (content, &summary.content_version)
                    && summary.content == Some(content)
                {
                    out.ids.insert(format!("{key}@{content}"), version.clone());
                }
            }
        } else if let Some(id) = resource_id(live, &key) {
            out.ids.insert(key.clone(), id);
        }
        if let Some(content) = content.filter(|_| !created) {
            let id = format!("{key}@{content}");
            let version = resolved(live, &r.target, &content).and_then(|f| f.version.clone());
            if let Some(version) = version.filter(|_| !out.ids.contains_key(&id)) {
                out.ids.insert(id, version);
            }
        }
    }

    /// What a draft no longer refers to may go only after it.
    fn leaves(&self, draft: &Draft, item: &Item<'_>, edges: &mut Vec<(String, String)>) {
        if self.going.is_empty() || item.live.is_none() {
            return;
        }
        for r in item.live_refs().iter().filter(|r| carries(item.def, r, |f| sends(&draft.action.step, f))) {
            let Target::Own(address) = &r.target else { continue };
            for retirement in self.going.get(address).into_iter().flatten() {
                edges.push((retirement.clone(), draft.action.id.clone()));
            }
        }
    }
}

fn resource_id(live: &Live, key: &str) -> Option<String> {
    let numbered = format!("{key}#");
    let pinned = format!("{key}@");
    let direct = live.resolved.get(key);
    let more = [numbered, pinned].into_iter().find_map(|p| {
        live.resolved.range(p.clone()..).take_while(|(k, _)| k.starts_with(&p)).find(|(_, v)| v.id.is_some())
    });
    direct.or(more.map(|(_, v)| v)).and_then(|r| r.id.clone())
}

/// Who refers goes before what it refers to.
fn between_retirements(
    retired: &[Retired<'_>],
    going: &BTreeMap<&Address, Vec<String>>,
    edges: &mut Vec<(String, String)>,
) {
    let by_id: BTreeMap<&str, String> = retired.iter().map(|r| (r.live.summary.id.as_str(), r.action())).collect();
    let mut unread: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    let mut layers: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for r in retired {
        layers.entry(r.layer()).or_default().push(r.action());
        let Some(refs) = &r.refs else {
            unread.entry(r.layer()).or_default().push(r.action());
            continue;
        };
        for reference in refs {
            let uses: &[String] = match &reference.target {
                Target::Own(address) => going.get(address).map(Vec::as_slice).unwrap_or_default(),
                // What was superseded is used by its id; the address is another's now.
                Target::Id(_, id) => by_id.get(id.as_str()).map(std::slice::from_ref).unwrap_or_default(),
                Target::Foreign(..) => &[],
            };
            edges.extend(uses.iter().map(|retirement| (retirement.clone(), r.action())));
        }
    }
    // References that were not read may point at any later layer. One action of a layer waits for all of them,
    // the others wait for that one; if it fails, no retirement goes on anyway.
    for (layer, actions) in layers {
        let before: Vec<&String> = unread.range(..layer).flat_map(|(_, a)| a).collect();
        let Some((first, rest)) = actions.split_first().filter(|_| !before.is_empty()) else { continue };
        edges.extend(before.into_iter().map(|b| (first.clone(), b.clone())));
        edges.extend(rest.iter().map(|r| (r.clone(), first.clone())));
    }
}

/// Retirements and moves that make room: a mount's destination, a unique name, a count.
fn frees(drafts: &[Draft], items: &BTreeMap<&Address, &Item<'_>>, retired: &[Retired<'_>]) -> Vec<(String, String)> {
    let freed = Freed::new(drafts, items, retired);
    let mut edges = Vec::new();
    if freed.names.is_empty() && freed.places.is_empty() {
        return edges;
    }
    for draft in drafts {
        let (Some(address), Step::Create { spec, .. } | Step::Update { spec, .. }) =
            (&draft.action.address, &draft.action.step)
        else {
            continue;
        };
        let name = spec.get("name").and_then(Value::as_str).unwrap_or(&address.name);
        for by in freed.names.get(&(address.kind, name)).into_iter().flatten() {
            edges.push((draft.action.id.clone(), by.clone()));
        }
        if let Some(place) = mount(address.kind, spec) {
            let live = items.get(address).filter(|_| draft.action.verb == Verb::Replace);
            let was = live.and_then(|i| i.live_spec.as_deref()).map(|l| l.get("agent") == Some(place.agent));
            let comes = matches!(draft.action.step, Step::Create { .. }) && was != Some(true);
            freed.room(&place, draft, comes, &mut edges);
        }
    }
    edges
}

/// What is free once an action is done.
struct Freed<'a> {
    names: BTreeMap<(Kind, &'a str), Vec<String>>,
    /// By agent; the empty text: not known.
    places: BTreeMap<String, Vec<Old<'a>>>,
    /// How many mounts of a kind an agent is to have.
    wanted: BTreeMap<(Kind, String), usize>,
}

/// A mount that goes, or goes elsewhere.
struct Old<'a> {
    /// `None`: it was not read.
    place: Option<Place<'a>>,
    retires: bool,
    /// Does its agent have one fewer then?
    leaves: bool,
    by: String,
}

impl<'a> Freed<'a> {
    fn new(drafts: &[Draft], items: &BTreeMap<&Address, &'a Item<'a>>, retired: &'a [Retired<'_>]) -> Self {
        let mut out = Self { names: BTreeMap::new(), places: BTreeMap::new(), wanted: BTreeMap::new() };
        for r in retired.iter().filter(|r| r.after.is_none()) {
            let summary = &r.live.summary;
            let live = r.live.body.as_ref().map(|b| &b.live);
            out.name(summary.kind, &summary.name, r.action());
            if kinds::def(summary.kind).field("mount_path").is_some() {
                let place = live.and_then(|l| mount(summary.kind, l));
                out.place(place, r.address, [true, true], r.action());
            }
        }
        for draft in drafts {
            let leaves = |field: &str| match &draft.action.step {
                Step::Create { replaces, .. } => replaces.is_some(),
                // Of what is made anew; what is replaced leaves with its replacement.
                Step::Retire { .. } => draft.action.id.ends_with("#retire"),
                step => sends(step, field),
            };
            let Some(item) = draft.action.address.as_ref().and_then(|a| items.get(a)) else { continue };
            let (Some(live), kind) = (item.live_spec.as_deref(), item.address().kind) else { continue };
            if let Some(name) = live.get("name").and_then(Value::as_str).filter(|_| leaves("name")) {
                out.name(kind, name, draft.action.id.clone());
            }
            if let Some(place) = mount(kind, live).filter(|_| leaves("mount_path")) {
                let retires = matches!(draft.action.step, Step::Retire { .. });
                let leaves = retires || item.spec.get("agent") != Some(place.agent);
                out.place(Some(place), item.address(), [retires, leaves], draft.action.id.clone());
            }
        }
        let mounts = items.values().filter_map(|i| mount(i.address().kind, &i.spec));
        for place in mounts.filter(|_| !out.places.is_empty()) {
            *out.wanted.entry((place.kind, place.agent.to_string())).or_default() += 1;
        }
        out
    }

    fn name(&mut self, kind: Kind, name: &'a str, by: String) {
        if kinds::def(kind).unique_name {
            self.names.entry((kind, name)).or_default().push(by);
        }
    }

    fn place(&mut self, place: Option<Place<'a>>, address: &Address, [retires, leaves]: [bool; 2], by: String) {
        let agent = match (&place, address.name.split_once('.')) {
            (Some(p), _) => p.agent.to_string(),
            (None, Some((agent, _))) => Value::String(agent.to_owned()).to_string(),
            (None, None) => String::new(),
        };
        self.places.entry(agent).or_default().push(Old { place, retires, leaves, by });
    }

    /// What must be done before a mount has its place.
    fn room(&self, place: &Place<'_>, draft: &Draft, comes: bool, edges: &mut Vec<(String, String)>) {
        let of_agent = self.places.get(&place.agent.to_string()).into_iter().flatten();
        let unknown = self.places.get("").into_iter().flatten();
        let full = comes && self.is_full(place);
        for old in of_agent.chain(unknown).filter(|o| o.by != draft.action.id) {
            let at = old.place.as_ref();
            let same_place = at.is_none_or(|o| o.overlaps(place));
            let same_kind = at.is_none_or(|o| o.kind == place.kind);
            if same_place || (full && old.retires && same_kind) {
                edges.push((draft.action.id.clone(), old.by.clone()));
            }
        }
    }

    /// Would the agent have too many stores until the old mounts are gone?
    fn is_full(&self, place: &Place<'_>) -> bool {
        if kinds::def(place.kind).field("memory_store").is_none() {
            return false;
        }
        let wanted = self.wanted.get(&(place.kind, place.agent.to_string())).copied().unwrap_or_default();
        let old = self.places.get(&place.agent.to_string()).into_iter().flatten().filter(|o| o.leaves);
        let going = old.filter(|o| o.place.as_ref().is_none_or(|p| p.kind == place.kind)).count();
        wanted + going > STORES_OF_AN_AGENT
    }
}

/// Is `to` among what `from` needs, directly or not?
fn reaches(drafts: &[Draft], index: &BTreeMap<String, usize>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next)
            && let Some(i) = index.get(next)
        {
            open.extend(drafts[*i].needs.iter().map(String::as_str));
        }
    }
    false
}
