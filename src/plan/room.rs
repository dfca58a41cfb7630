//! Room: an agent has but a few memory stores mounted. Every mount that comes or changes agents is played through once:
//! what comes first where, and what never finds room since it waits in a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::diag::codes::plan as codes;
use crate::model::kinds::{self, Target};
use crate::model::{Address, Kind};
use crate::plan::block::Field;
use crate::plan::compare::Delta;
use crate::plan::item::Item;
use crate::plan::{Effect, Gathered};

/// Most memory stores that one agent may have mounted.
pub(super) const STORES_OF_AN_AGENT: usize = 8;

/// The memory mounts of an agent, by its canonical reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Slot(String);

impl Slot {
    fn of(kind: Kind, spec: &Value) -> Option<Self> {
        kinds::def(kind).field("memory_store")?;
        Some(Slot(spec.get("agent")?.to_string()))
    }

    fn agent(&self) -> String {
        let value: Option<Value> = serde_json::from_str(&self.0).ok();
        value.and_then(|v| Target::of(Kind::Agent, &v)).map_or_else(|| self.0.clone(), |t| t.key())
    }
}

/// A mount that comes to an agent; one that is not new leaves another.
struct Move<'a> {
    who: &'a Delta<'a>,
    from: Option<Slot>,
    to: Slot,
}

/// All moves, played through: retirements first, then whatever finds room.
pub(super) struct Played<'a> {
    free: BTreeMap<Slot, usize>,
    done: Vec<Move<'a>>,
    stuck: Vec<Move<'a>>,
}

/// Plays what is not blocked.
pub(super) fn play<'a>(over: &Field<'a>, blocked: &BTreeSet<Address>) -> Played<'a> {
    let moves: Vec<Move<'a>> =
        over.deltas.iter().filter(|d| d.acts() && !blocked.contains(d.address())).filter_map(moved).collect();
    let free = free(over, &moves);
    let round = in_the_round(&moves);
    // What moves in a circle comes first, since it gives back what it takes; what is new comes last.
    let mut queues: BTreeMap<Slot, [VecDeque<Move<'a>>; 3]> = BTreeMap::new();
    for (m, round) in moves.into_iter().zip(round) {
        let class = if round { 0 } else { 1 + usize::from(m.from.is_none()) };
        queues.entry(m.to.clone()).or_default()[class].push_back(m);
    }
    let mut left = free.clone();
    let mut open: BTreeSet<Slot> = queues.keys().cloned().collect();
    let mut done = Vec::new();
    while let Some(slot) = open.pop_first() {
        let Some(queue) = queues.get_mut(&slot) else { continue };
        while left.get(&slot).is_none_or(|n| *n > 0) {
            let Some(next) = queue.iter_mut().find_map(VecDeque::pop_front) else { break };
            *left.entry(slot.clone()).or_insert(STORES_OF_AN_AGENT) -= 1;
            if let Some(from) = &next.from {
                *left.entry(from.clone()).or_insert(STORES_OF_AN_AGENT) += 1;
                open.insert(from.clone());
            }
            done.push(next);
        }
    }
    Played { free, done, stuck: queues.into_values().flatten().flatten().collect() }
}

fn live_slot(item: &Item<'_>) -> Option<Slot> {
    item.live.filter(|_| !item.is_gone())?;
    Slot::of(item.address().kind, item.live_spec.as_deref().unwrap_or(&item.spec))
}

fn moved<'a>(delta: &'a Delta<'a>) -> Option<Move<'a>> {
    let to = Slot::of(delta.address().kind, &delta.item.spec).filter(|_| delta.is_create())?;
    let from = live_slot(delta.item);
    (from.as_ref() != Some(&to)).then_some(Move { who: delta, from, to })
}

/// How much is free of every slot once what goes is gone and before anything moves.
fn free<'a>(over: &Field<'a>, moves: &[Move<'a>]) -> BTreeMap<Slot, usize> {
    let mut free: BTreeMap<Slot, usize> = BTreeMap::new();
    if moves.is_empty() {
        return free;
    }
    let going: BTreeSet<&Address> = over.retired.iter().filter(|r| !r.superseded).map(|r| r.address).collect();
    let declared: BTreeSet<&Address> = over.items.iter().map(Item::address).collect();
    let kept = over.live.resources.iter().filter(|(address, r)| {
        !declared.contains(*address) && !going.contains(*address) && r.summary.live_digest.is_some()
    });
    let kept = kept.filter_map(|(address, r)| Slot::of(address.kind, &r.body.as_ref()?.live));
    for slot in over.items.iter().filter_map(live_slot).chain(kept) {
        let n = free.entry(slot).or_insert(STORES_OF_AN_AGENT);
        *n = n.saturating_sub(1);
    }
    free
}

/// Which moves may be part of a circle: those that are left when what leads nowhere or comes from nowhere is taken
/// away, again and again.
fn in_the_round(moves: &[Move<'_>]) -> Vec<bool> {
    let mut round: Vec<bool> = moves.iter().map(|m| m.from.is_some()).collect();
    let mut enters: BTreeMap<&Slot, Vec<usize>> = BTreeMap::new();
    let mut leaves: BTreeMap<&Slot, Vec<usize>> = BTreeMap::new();
    for (i, m) in moves.iter().enumerate() {
        if let Some(from) = &m.from {
            enters.entry(&m.to).or_default().push(i);
            leaves.entry(from).or_default().push(i);
        }
    }
    let live = |at: Option<&Vec<usize>>, round: &[bool]| at.into_iter().flatten().any(|i| round[*i]);
    let mut open: Vec<usize> = (0..moves.len()).collect();
    while let Some(i) = open.pop() {
        let Some(from) = moves[i].from.as_ref().filter(|_| round[i]) else { continue };
        if live(enters.get(from), &round) && live(leaves.get(&moves[i].to), &round) {
            continue;
        }
        round[i] = false;
        open.extend(enters.get(from).into_iter().flatten().chain(leaves.get(&moves[i].to).into_iter().flatten()));
    }
    round
}

impl<'a> Played<'a> {
    /// Tells what never finds room, and who that is.
    pub(super) fn tell(&self, out: &mut Gathered) -> Vec<&'a Address> {
        for m in &self.stuck {
            let address = m.who.address();
            let message = format!(
                "{address} finds no room: {} has {STORES_OF_AN_AGENT} memory stores, and none goes before it",
                m.to.agent()
            );
            out.find(&codes::BLOCKED, Effect::Blocks, Some(address), message)
                .fix("in two steps: take one of the mounts of that agent out, and apply that first")
                .at(m.who.item.wanted);
        }
        self.stuck.iter().map(|m| m.who.address()).collect()
    }

    /// Who comes to a full agent, and whose move elsewhere makes room for it. Retirements are not in it.
    pub(super) fn handovers(&self) -> Vec<(&'a Address, &'a Address)> {
        let mut out = Vec::new();
        let mut came: BTreeMap<&Slot, usize> = BTreeMap::new();
        let mut left: BTreeMap<&Slot, Vec<&'a Address>> = BTreeMap::new();
        for m in &self.done {
            let nth = came.entry(&m.to).or_default();
            let free = self.free.get(&m.to).copied().unwrap_or(STORES_OF_AN_AGENT);
            if let Some(by) = nth.checked_sub(free).and_then(|n| left.get(&m.to)?.get(n)) {
                out.push((m.who.address(), *by));
            }
            *nth += 1;
            if let Some(from) = &m.from {
                left.entry(from).or_default().push(m.who.address());
            }
        }
        out
    }
}
