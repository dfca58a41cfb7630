//! A random machine over one workspace: two owners with files, and a person with break-glass. Beside it a small
//! model of what must be live, kept by rules that are written here anew.

mod applying;
mod back;

use std::collections::{BTreeMap, BTreeSet};

use checkfu::apply::ApplyOptions;
use checkfu::bundle::Project;
use checkfu::desired::Desired;
use checkfu::model::config::AllowRule;
use checkfu::model::{Address, Digest, Kind, Owner};
use checkfu::plan::{self, Action, Options, Plan, Step, Verb};
use checkfu::reconcile::load::{LoadOptions, load};
use checkfu::reconcile::{self};

use super::files::{Declared, Fields, Files, fields_of};
use super::world::{self, KINDS};
use crate::laws::world::{Death, World, options};

/// The owners.
pub(super) const OWNERS: [&str; 2] = ["acme/a", "acme/b"];

/// What the model knows of a resource.
#[derive(Debug, Clone)]
struct Known {
    kind: Kind,
    /// Name of the folder, for a skill.
    name: String,
    owner: Option<usize>,
    address: Option<Address>,
    offered: Option<usize>,
    live: Fields,
    applied: Fields,
    gone: bool,
}

/// A splitmix64: the same steps for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn pick<T: Clone>(&mut self, from: impl IntoIterator<Item = T>) -> Option<T> {
        let all: Vec<T> = from.into_iter().collect();
        (!all.is_empty()).then(|| all[self.roll(all.len())].clone())
    }
}

/// The machine.
pub(super) struct Machine {
    dir: tempfile::TempDir,
    world: World,
    dice: Dice,
    files: [Files; 2],
    known: BTreeMap<String, Known>,
    /// Applies of each owner that ended well.
    past: [Vec<String>; 2],
    /// The text of each skill content that was ever made, by digest.
    skills: BTreeMap<Digest, String>,
    /// Numbers that make names and values unique.
    count: usize,
    /// What was done, for whoever reads a failure.
    pub(super) log: Vec<String>,
    /// How often each kind of step did something.
    pub(super) did: BTreeMap<&'static str, usize>,
}

impl Machine {
    pub(super) fn new(seed: u64) -> Self {
        let dir = crate::laws::temporary();
        let world = World::open(dir.path(), seed);
        for owner in 0..2 {
            std::fs::create_dir_all(dir.path().join(format!("p{owner}"))).unwrap();
        }
        let files = OWNERS.map(|owner| Files { owner, ..Files::default() });
        Self {
            dir,
            world,
            dice: Dice(seed.wrapping_mul(0x5851_f42d_4c95_7f2d)),
            files,
            known: BTreeMap::new(),
            past: [Vec::new(), Vec::new()],
            skills: BTreeMap::new(),
            count: 0,
            log: Vec::new(),
            did: BTreeMap::new(),
        }
    }

    /// One random step; afterwards everything holds.
    pub(super) async fn step(&mut self) {
        let o = self.dice.roll(2);
        match self.dice.roll(26) {
            0..=2 => self.create(o),
            3..=5 => self.edit(o),
            6 => self.delete(o),
            7 => self.rename(o),
            8 => self.hand_over(o),
            9 => self.release(o),
            10 => self.adopt(o),
            11 => self.take_over(o),
            12..=14 => self.outside_edit().await,
            15 => self.outside_retire().await,
            16 => self.outside_make().await,
            17 => self.tidy(o),
            24 => self.pull(o),
            25 => self.roll_back(o).await,
            18 => self.apply(o, Reverts::All, false).await,
            19 => self.apply(o, Reverts::None, true).await,
            _ => self.apply(o, Reverts::None, false).await,
        }
    }

    fn note(&mut self, what: &'static str, text: &str) {
        *self.did.entry(what).or_default() += 1;
        self.log.push(format!("{what} {text}"));
    }

    fn next(&mut self, of: &str) -> String {
        self.count += 1;
        format!("{of}{}", self.count)
    }

    /// A value of a field: from a small pool, so that two people may write the same.
    fn value(&mut self, field: &str) -> String {
        let n = self.dice.roll(3);
        let value = format!("{}-{n}", field.replace('.', "-"));
        if field == "content" {
            for address in Self::names(Kind::Skill) {
                let (set, _) = world::bundle(&address, &value);
                self.skills.insert(set.digest, value.clone());
            }
        }
        value
    }

    /// Names that resources may have.
    fn names(kind: Kind) -> [String; 4] {
        ["a", "b", "c", "d"].map(|n| format!("{}-{n}", kind.to_string().to_lowercase()))
    }

    fn random_fields(&mut self, kind: Kind) -> Fields {
        let mut fields = Fields::new();
        for field in fields_of(kind) {
            if matches!(*field, "name" | "content") || self.dice.roll(2) == 0 {
                let value = if *field == "name" { self.next("Agent ") } else { self.value(field) };
                fields.insert(field, value);
            }
        }
        fields
    }

    fn free_address(&mut self, o: usize, kind: Kind) -> Option<Address> {
        let free: Vec<Address> = Self::names(kind).iter().map(|n| address(kind, n)).collect();
        let taken = &self.files[o].resources;
        self.dice.pick(free.into_iter().filter(|a| !taken.contains_key(a)))
    }

    fn create(&mut self, o: usize) {
        let kind = self.dice.pick(KINDS).unwrap();
        let Some(address) = self.free_address(o, kind) else { return };
        let fields = self.random_fields(kind);
        let shown = if kind == Kind::Environment { self.next("env-") } else { String::new() };
        let uses = if kind == Kind::Agent { self.dice.pick(self.files[o].skills()) } else { None };
        self.note("create", &format!("{o} {address} {fields:?} uses {uses:?}"));
        self.files[o].declare(&address, Declared { fields, shown, uses });
    }

    fn edit(&mut self, o: usize) {
        let all: Vec<Address> = self.files[o].resources.keys().cloned().collect();
        let Some(address) = self.dice.pick(all) else { return };
        let field = self.dice.pick(fields_of(address.kind).iter().copied()).unwrap();
        let value = self.value(field);
        let clear = field != "content" && field != "name" && self.dice.roll(4) == 0;
        self.note("edit", &format!("{o} {address} {field} {value} clear {clear}"));
        let fields = &mut self.files[o].resources.get_mut(&address).unwrap().fields;
        if clear {
            fields.remove(field);
        } else {
            fields.insert(field, value);
        }
    }

    fn delete(&mut self, o: usize) {
        let Some(address) = self.dice.pick(self.files[o].resources.keys().cloned().collect::<Vec<_>>()) else { return };
        self.files[o].drop_(&address);
        if address.kind == Kind::Agent {
            self.files[o].removed.insert(address.clone(), String::new());
        }
        self.note("delete", &format!("{o} {address}"));
    }

    fn rename(&mut self, o: usize) {
        let movable = |a: &&Address| a.kind != Kind::Skill;
        let all: Vec<Address> = self.files[o].resources.keys().filter(movable).cloned().collect();
        let Some(from) = self.dice.pick(all) else { return };
        // A chain of moves is another thing: one at a time.
        let files = &self.files[o];
        if files.moved.contains_key(&from) || files.adopt.contains_key(&from) {
            return;
        }
        let Some(to) = self.free_address(o, from.kind) else { return };
        let free = |a: &Address| !self.known.values().any(|k| k.owner == Some(o) && k.address.as_ref() == Some(a));
        if !free(&to) || self.files[o].moved.values().any(|a| *a == to || *a == from) {
            return;
        }
        let declared = self.files[o].drop_(&from).unwrap();
        self.note("rename", &format!("{o} {from} {to}"));
        self.files[o].declare(&to, declared);
        self.files[o].moved.insert(to, from);
    }

    fn hand_over(&mut self, o: usize) {
        let Some(address) = self.dice.pick(self.files[o].resources.keys().cloned().collect::<Vec<_>>()) else { return };
        let other = 1 - o;
        if self.files[o].moved.contains_key(&address) || self.files[o].adopt.contains_key(&address) {
            return;
        }
        let mut declared = self.files[o].drop_(&address).unwrap();
        self.files[o].removed.insert(address.clone(), format!(", to: {}", OWNERS[other]));
        // The other project may have it at once, later, or never.
        let at_once = self.dice.roll(3) > 0
            && !self.files[other].resources.contains_key(&address)
            && !self.files[other].shows(&declared.shown);
        if at_once {
            declared.uses = None;
            self.files[other].declare(&address, declared);
        }
        self.note("hand over", &format!("{o} {address} at once {at_once}"));
    }

    fn release(&mut self, o: usize) {
        let Some(address) = self.dice.pick(self.files[o].resources.keys().cloned().collect::<Vec<_>>()) else { return };
        if self.files[o].moved.contains_key(&address) || self.files[o].adopt.contains_key(&address) {
            return;
        }
        self.files[o].drop_(&address);
        self.files[o].removed.insert(address.clone(), ", keep: true".to_owned());
        self.note("release", &format!("{o} {address}"));
    }

    fn adopt(&mut self, o: usize) {
        let free = self.known.iter().filter(|(_, k)| k.owner.is_none() && !k.gone);
        let free: Vec<String> = free.map(|(id, _)| id.clone()).collect();
        let Some(id) = self.dice.pick(free) else { return };
        self.take(o, &id, String::new(), "adopt");
    }

    fn take_over(&mut self, o: usize) {
        let theirs = self.known.iter().filter(|(_, k)| k.owner == Some(1 - o) && !k.gone);
        let theirs: Vec<String> = theirs.map(|(id, _)| id.clone()).collect();
        let Some(id) = self.dice.pick(theirs) else { return };
        self.take(o, &id, format!(", from: {}", OWNERS[1 - o]), "take over");
    }

    /// Declares what is live elsewhere, as it is or otherwise.
    fn take(&mut self, o: usize, id: &str, more: String, what: &'static str) {
        let known = self.known[id].clone();
        let address = match known.kind {
            Kind::Skill => Some(address(Kind::Skill, &known.name)),
            kind => self.free_address(o, kind),
        };
        let Some(address) = address.filter(|a| !self.files[o].resources.contains_key(a)) else { return };
        let mine = |k: &Known| k.owner == Some(o) && k.address.as_ref() == Some(&address);
        if self.known.values().any(mine) || self.files[o].adopt.values().any(|(other, _)| other == id) {
            return;
        }
        let mut fields = known.live.clone();
        if self.dice.roll(2) == 0 {
            fields.extend(self.random_fields(known.kind));
        }
        let shown = if known.kind == Kind::Environment { known.name } else { String::new() };
        if self.files[o].shows(&shown) {
            return;
        }
        self.note(what, &format!("{o} {address} {id}"));
        self.files[o].declare(&address, Declared { fields, shown, uses: None });
        self.files[o].adopt.insert(address, (id.to_owned(), more));
    }

    async fn outside_edit(&mut self) {
        let live: Vec<String> = self.known.iter().filter(|(_, k)| !k.gone).map(|(id, _)| id.clone()).collect();
        let Some(id) = self.dice.pick(live) else { return };
        let (kind, name) = (self.known[&id].kind, self.known[&id].name.clone());
        let field = self.dice.pick(fields_of(kind).iter().copied()).unwrap();
        let value = self.value(field);
        self.note("outside edit", &format!("{id} {field} {value}"));
        world::set(&self.world, kind, &id, &name, field, &value).await;
        self.known.get_mut(&id).unwrap().live.insert(field, value);
    }

    async fn outside_retire(&mut self) {
        if self.dice.roll(3) > 0 {
            return;
        }
        let live: Vec<String> = self.known.iter().filter(|(_, k)| !k.gone).map(|(id, _)| id.clone()).collect();
        let Some(id) = self.dice.pick(live) else { return };
        let kind = self.known[&id].kind;
        // A skill in use cannot go.
        if world::retire(&self.world, kind, &id).await {
            self.note("outside retire", &id);
            self.known.get_mut(&id).unwrap().gone = true;
        }
    }

    async fn outside_make(&mut self) {
        let kind = self.dice.pick([Kind::Agent, Kind::Environment]).unwrap();
        let mut live = self.random_fields(kind);
        let shown = if kind == Kind::Agent { live["name"].clone() } else { self.next("env-") };
        live.remove("name");
        let id = world::make(&self.world, kind, &shown, &live).await;
        if kind == Kind::Agent {
            live.insert("name", shown.clone());
        }
        self.note("outside make", &format!("{id} {live:?}"));
        let known = Known {
            kind,
            name: shown,
            owner: None,
            address: None,
            offered: None,
            live,
            applied: Fields::new(),
            gone: false,
        };
        self.known.insert(id, known);
    }

    /// Lines that have done their work are taken out, as the notes of the plan say.
    fn tidy(&mut self, o: usize) {
        let files = &mut self.files[o];
        let known = &self.known;
        let mine = |a: &Address| {
            known.values().any(|k| k.owner == Some(o) && k.offered.is_none() && k.address.as_ref() == Some(a))
        };
        files.moved.retain(|_, from| mine(from));
        files.removed.retain(|a, _| mine(a));
        files.adopt.retain(|a, (id, _)| known[id].owner != Some(o) || known[id].address.as_ref() != Some(a));
    }
}

/// What is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reverts {
    None,
    All,
}

fn address(kind: Kind, name: &str) -> Address {
    format!("{kind}/{name}").parse().unwrap()
}

fn owner(o: usize) -> Owner {
    OWNERS[o].parse().unwrap()
}
