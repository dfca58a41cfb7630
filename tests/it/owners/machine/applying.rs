//! Applying, and what must hold before and after.

use super::*;

impl Machine {
    fn load(&self, o: usize) -> (Desired, Project) {
        let dir = self.dir.path().join(format!("p{o}"));
        self.files[o].write(&dir);
        let loaded = load(&dir, &LoadOptions { profile: None, today: jiff::civil::date(2026, 11, 30) }).unwrap();
        let desired = loaded.desired.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        (desired, loaded.project)
    }

    pub(super) async fn plan(&self, desired: &Desired, options: &Options) -> Plan {
        let context = world::context(&desired.owner);
        let plan = reconcile::plan(desired, Some(&self.world), &context, options, None).await.unwrap();
        assert_eq!(plan::check(&plan), Vec::<String>::new());
        plan
    }

    pub(super) async fn apply(&mut self, o: usize, reverts: Reverts, crash: bool) {
        let (desired, project) = self.load(o);
        let mut options = Options { revert_all: reverts == Reverts::All, ..options() };
        // That a resource is another one than the other owner's of the same address is said at times.
        let another = self.dice.roll(3) == 0;
        options.allowances.retain(|a| another || a.rule != AllowRule::SameName);
        let plan = self.plan(&desired, &options).await;
        self.note(if crash { "apply with a crash" } else { "apply" }, &format!("{o} {reverts:?}: {}", told(&plan)));
        self.drift_is_named(o, &desired, &plan);
        if !plan.applyable {
            *self.did.entry("refused").or_default() += 1;
            return;
        }
        let how = ApplyOptions { admin: true, ..ApplyOptions::new("machine") };
        let mut plans = vec![plan];
        if crash {
            let nth = 1 + self.dice.roll(4);
            let death = self.dice.pick([Death::BeforeSend, Death::BeforeAnswer]).unwrap();
            self.world.dies_at(nth, death);
            let ran = reconcile::apply(&plans[0], &self.world, &project, (&desired, &options), &how, &|_| ()).await;
            drop(ran);
            self.world.revives();
            plans.push(self.plan(&desired, &options).await);
        }
        let last = plans.last().unwrap();
        if !last.actions.is_empty() {
            let receipt =
                reconcile::apply(last, &self.world, &project, (&desired, &options), &how, &|_| ()).await.unwrap();
            let not_done: Vec<_> = receipt.lines.iter().filter(|l| l.outcome != "done").collect();
            assert!(not_done.is_empty(), "{not_done:#?}");
            assert_eq!(receipt.not_settled, Vec::<String>::new());
            self.past[o].extend(receipt.apply);
        }
        self.carried_out(o, &desired, &plans[0], reverts, another).await;
        self.as_known().await;
        let again = self.plan(&desired, &Options { revert_all: false, ..options }).await;
        // What would go, and another that it was given to uses, is refused until that one lets it go.
        let referred = !again.applyable && again.findings.iter().any(|f| f.code == "plan.referred");
        assert!(referred || again.actions.is_empty(), "after an apply there is nothing to do: {}", told(&again));
        self.drift_is_named(o, &desired, &again);
    }

    /// What a plan does, by the rules of the model.
    async fn carried_out(&mut self, o: usize, desired: &Desired, plan: &Plan, reverts: Reverts, another: bool) {
        let now = world::owned(&self.world, Some(&owner(o))).await;
        let blocked: BTreeSet<&Address> = plan.notes.blocked.iter().collect();
        for action in &plan.actions {
            let Some(address) = &action.address else { continue };
            match &action.step {
                Step::Claim { id, .. } => {
                    let known = self.known.get_mut(id).unwrap();
                    assert_eq!((known.owner, known.offered), (None, None), "only what nobody owns is adopted");
                    (known.owner, known.address) = (Some(o), Some(address.clone()));
                    known.applied = known.live.clone();
                }
                Step::Transfer { id, from } => {
                    let line = self.files[o].adopt.get(address).cloned();
                    let known = self.known.get_mut(id).unwrap();
                    let had = known.owner.unwrap();
                    assert_eq!(*from, owner(had));
                    if had == o && known.offered.is_some() {
                        assert_eq!(known.address.as_ref(), Some(address), "it is taken back");
                    } else if had == o {
                        assert_eq!(action.verb, Verb::Rename);
                        assert_eq!(self.files[o].moved.get(address), known.address.as_ref());
                    } else {
                        assert_eq!(action.verb, Verb::TakeOver);
                        let asked = line.is_some_and(|(of, from)| of == *id && !from.is_empty());
                        assert!(asked || known.offered == Some(o), "taken without being asked: {}", action.id);
                    }
                    (known.owner, known.address, known.offered) = (Some(o), Some(address.clone()), None);
                }
                Step::Release { id } => {
                    assert!(self.files[o].removed[address].contains("keep"));
                    let known = self.known.get_mut(id).unwrap();
                    assert_eq!(known.owner, Some(o));
                    (known.owner, known.address) = (None, None);
                    known.applied.clear();
                }
                Step::HandOver { id, .. } => {
                    assert!(self.files[o].removed[address].contains("to:"));
                    let known = self.known.get_mut(id).unwrap();
                    assert_eq!(known.owner, Some(o));
                    known.offered = Some(1 - o);
                }
                Step::Retire { id } => {
                    let known = self.known.get_mut(id).unwrap();
                    assert_eq!(known.owner, Some(o), "only what is owned is retired");
                    assert!(!desired.resources.contains_key(address) || action.id.contains("#retire-"));
                    (known.gone, known.owner, known.address) = (true, None, None);
                }
                Step::Create { .. } => {
                    let made = now.values().find(|s| s.address.as_ref() == Some(address) && !s.superseded);
                    let made = made.unwrap_or_else(|| panic!("{address} was not made"));
                    let second = self.is_second(o, address);
                    assert!(another || !second, "a second {address} was made without a word");
                    *self.did.entry("second").or_default() += usize::from(second);
                    // What another archived, and this made anew, is this owner's no more.
                    for old in self.known.values_mut() {
                        if old.owner == Some(o) && old.address.as_ref() == Some(address) && old.offered.is_none() {
                            assert!(old.gone, "a live resource has a second one beside it");
                            (old.owner, old.address) = (None, None);
                        }
                    }
                    let fields = self.files[o].resources[address].fields.clone();
                    let declared = &self.files[o].resources[address];
                    let name = match address.kind {
                        Kind::Environment => declared.shown.clone(),
                        _ => address.name.clone(),
                    };
                    let known = Known {
                        kind: address.kind,
                        name,
                        owner: Some(o),
                        address: Some(address.clone()),
                        offered: None,
                        live: fields.clone(),
                        applied: fields,
                        gone: false,
                    };
                    let twice = self.known.insert(made.id.clone(), known);
                    assert!(twice.is_none(), "an id is used twice");
                }
                _ => {}
            }
        }
        for known in self.known.values_mut() {
            let (Some(address), true, false) = (&known.address, known.owner == Some(o), known.gone) else {
                continue;
            };
            let Some(declared) = self.files[o].resources.get(address) else { continue };
            if known.offered.is_some() || blocked.contains(address) {
                continue;
            }
            for field in fields_of(known.kind) {
                three(known, field, declared.fields.get(field), reverts);
            }
        }
    }

    /// Does the other owner have a resource at this address, and this one had none there?
    fn is_second(&self, o: usize, address: &Address) -> bool {
        let at = |k: &Known, owner: usize| {
            k.owner == Some(owner) && k.offered.is_none() && k.address.as_ref() == Some(address)
        };
        // What a line takes to another address is said to be another one.
        let named = |id: &str| self.files[o].adopt.values().any(|(of, _)| of == id);
        let theirs = self.known.iter().any(|(id, k)| at(k, 1 - o) && !k.gone && !named(id));
        // What comes back is no second one.
        theirs && !self.known.values().any(|k| at(k, o))
    }

    /// The workspace is as the model says, resource by resource, whoever owns it.
    pub(super) async fn as_known(&self) {
        let seen = world::everything(&self.world, &self.skills).await;
        for (id, known) in &self.known {
            let Some(seen) = seen.get(id) else {
                assert!(known.gone, "{id} is lost");
                continue;
            };
            assert_eq!((seen.gone, seen.kind), (known.gone, known.kind), "{id}");
            assert!(known.gone || seen.fields == known.live, "{id}: {:?} is not {:?}", seen.fields, known.live);
        }
        assert!(seen.keys().all(|id| self.known.contains_key(id)), "something was made that nobody asked for");
        let mut owners = BTreeMap::new();
        for o in 0..2 {
            for (id, summary) in world::owned(&self.world, Some(&owner(o))).await {
                assert!(owners.insert(id, (o, summary.address)).is_none(), "two owners");
            }
        }
        let is = |k: &&Known| k.owner.is_some() && k.offered.is_none();
        let want: BTreeMap<_, _> = self
            .known
            .iter()
            .filter(|(_, k)| is(k))
            .map(|(id, k)| (id.clone(), (k.owner.unwrap(), k.address.clone())))
            .collect();
        assert_eq!(owners, want, "who owns what");
    }

    /// What moved live is told, field by field, and nothing else is.
    fn drift_is_named(&self, o: usize, desired: &Desired, plan: &Plan) {
        // What comes to its address with this plan is compared there, and looked at when it is.
        let comes = |a: &&Action| matches!(a.verb, Verb::Rename | Verb::Adopt | Verb::TakeOver);
        let mut coming: BTreeSet<_> = plan.actions.iter().filter(comes).filter_map(|a| a.address.clone()).collect();
        coming.extend(self.files[o].moved.keys().chain(self.files[o].adopt.keys()).cloned());
        coming.extend(self.known.values().filter(|k| k.offered.is_some()).filter_map(|k| k.address.clone()));
        let mut want = BTreeSet::new();
        for known in self.known.values().filter(|k| k.owner == Some(o) && k.offered.is_none()) {
            let Some(address) = &known.address else { continue };
            let Some(declared) = self.files[o].resources.get(address) else { continue };
            if known.gone {
                want.insert((address.clone(), None));
                continue;
            }
            for field in fields_of(known.kind) {
                let (w, a, l) = (declared.fields.get(field), known.applied.get(field), known.live.get(field));
                if a != l && w != l {
                    want.insert((address.clone(), Some((*field).to_owned())));
                }
            }
        }
        assert!(want.iter().all(|(a, _)| desired.resources.contains_key(a)));
        let put_back: BTreeSet<_> = plan.actions.iter().filter_map(|a| a.address.clone()).collect();
        // What a rollback undid nobody moved.
        let held = plan.held.iter().filter(|h| !h.rolled_back);
        let held: BTreeSet<_> = held.map(|h| (h.address.clone(), h.field.clone())).collect();
        // A field that is put back is no more held; a conflict always is.
        let told =
            |w: &&(Address, Option<String>)| held.contains(*w) || put_back.contains(&w.0) || coming.contains(&w.0);
        let missing: Vec<_> = want.iter().filter(|w| !told(w)).collect();
        let extra: Vec<_> = held.iter().filter(|h| !want.contains(h) && !coming.contains(&h.0)).collect();
        assert!(missing.is_empty() && extra.is_empty(), "drift: missing {missing:?}, extra {extra:?}");
    }
}

/// The three-way rule for one field of a resource that is not blocked.
fn three(known: &mut Known, field: &'static str, wanted: Option<&String>, reverts: Reverts) {
    let (applied, live) = (known.applied.get(field).cloned(), known.live.get(field).cloned());
    let wanted = wanted.cloned();
    let (applied, live) = if wanted == live {
        (wanted, live)
    } else if applied == live || (applied == wanted && reverts == Reverts::All) {
        (wanted.clone(), wanted)
    } else {
        assert_eq!(applied, wanted, "a conflict was not blocked: {field}");
        (applied, live)
    };
    let put = |map: &mut Fields, value: Option<String>| match value {
        Some(value) => drop(map.insert(field, value)),
        None => drop(map.remove(field)),
    };
    put(&mut known.applied, applied);
    put(&mut known.live, live);
}

pub(super) fn told(plan: &Plan) -> String {
    let actions: Vec<&str> = plan.actions.iter().map(|a| a.id.as_str()).collect();
    let findings: Vec<String> = plan.findings.iter().map(|f| format!("{} {}", f.code, f.message)).collect();
    format!("{actions:?} held {} {findings:?}", plan.held.len())
}
