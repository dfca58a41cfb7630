//! Going back to what an earlier apply left, and bringing into the files what moved live.

use checkfu::model::op::{ApplyInfo, GetId, IdList, Request, Response};
use serde_json::Value;

use super::*;

impl Machine {
    /// A person writes into the files what moved live and is no conflict.
    pub(super) fn pull(&mut self, o: usize) {
        let mut brought = 0;
        for known in self.known.values().filter(|k| k.owner == Some(o) && k.offered.is_none() && !k.gone) {
            let Some(address) = &known.address else { continue };
            let Some(declared) = self.files[o].resources.get_mut(address) else { continue };
            for field in fields_of(known.kind) {
                let (applied, live) = (known.applied.get(field), known.live.get(field));
                if applied == live || declared.fields.get(field) != applied {
                    continue;
                }
                brought += 1;
                match live {
                    Some(live) => drop(declared.fields.insert(field, live.clone())),
                    None => drop(declared.fields.remove(field)),
                }
            }
        }
        if brought > 0 {
            self.note("pull", &format!("{o} {brought} fields"));
        }
    }

    /// Back to an earlier apply, with whatever that makes anew, renames or retires.
    pub(super) async fn roll_back(&mut self, o: usize) {
        let Some(id) = self.dice.pick(self.past[o].clone()) else { return };
        let Response::Apply(info) = self.world.read(Request::ApplyGet(GetId { id: id.clone() })).await else {
            panic!()
        };
        let (desired, project, options) = self.recorded(o, &info).await;
        let plan = self.plan(&desired, &options).await;
        self.note("rollback", &format!("{o} {id}: {}", applying::told(&plan)));
        if !plan.applyable || plan.actions.is_empty() {
            return;
        }
        let how = ApplyOptions { admin: true, ..ApplyOptions::new("machine") };
        let receipt =
            reconcile::apply(&plan, &self.world, &project, (&desired, &options), &how, &|_| ()).await.unwrap();
        let not_done: Vec<_> = receipt.lines.iter().filter(|l| l.outcome != "done").collect();
        assert!(not_done.is_empty(), "{not_done:#?}");
        self.went_back(o).await;
        self.as_known().await;
        let again = self.plan(&desired, &options).await;
        assert!(again.actions.is_empty(), "back is back: {}", applying::told(&again));
    }

    async fn recorded(&self, o: usize, info: &ApplyInfo) -> (Desired, Project, Options) {
        let dir = self.dir.path().join(format!("p{o}"));
        self.files[o].write(&dir);
        let loaded = load(&dir, &LoadOptions { profile: None, today: jiff::civil::date(2026, 11, 30) }).unwrap();
        let context = world::context(&owner(o));
        let desired = reconcile::recorded(&self.world, &context, &loaded.config, info).await.unwrap();
        let mut options = Options { rollback: true, ..options() };
        options.allowances.retain(|a| a.rule != AllowRule::SameName);
        (desired, loaded.project, options)
    }

    /// Takes over what the workspace says of this owner's resources; what moved live before did not move again, and
    /// what is not this owner's is as it was, which [`Machine::as_known`] looks at.
    async fn went_back(&mut self, o: usize) {
        let seen = world::everything(&self.world, &self.skills).await;
        let now = world::owned(&self.world, Some(&owner(o))).await;
        for (id, known) in self.known.iter_mut().filter(|(_, k)| k.owner == Some(o)) {
            let Some(summary) = now.get(id) else {
                if known.offered.is_some() {
                    continue;
                }
                assert!(seen.get(id).is_none_or(|s| s.gone), "{id} is live, and its owner has it no more");
                (known.gone, known.owner, known.address) = (true, None, None);
                continue;
            };
            if known.gone {
                continue;
            }
            let fields = &seen[id].fields;
            for field in fields_of(known.kind).iter().filter(|f| known.applied.get(*f) != known.live.get(*f)) {
                assert_eq!(fields.get(field), known.live.get(field), "{id}: what moved live was overwritten: {field}");
            }
            // What was handed over, and nobody took, comes back.
            known.offered = None;
            known.live.clone_from(fields);
            known.address.clone_from(&summary.address);
        }
        for (id, summary) in now.iter().filter(|(_, s)| s.gone.is_none() && s.live_digest.is_some()) {
            let address = summary.address.clone().unwrap();
            let applied = self.applied(id, summary.kind).await;
            match self.known.get_mut(id) {
                Some(known) => {
                    // What is handed over to it is taken without a flag, by a rollback too.
                    let offered = known.offered == Some(o);
                    assert!(known.owner == Some(o) || offered, "{id} was not this owner's");
                    if offered {
                        (known.owner, known.offered) = (Some(o), None);
                        known.live.clone_from(&seen[id].fields);
                        known.address = Some(address);
                    }
                    known.applied = applied;
                }
                None => {
                    let name =
                        if summary.kind == Kind::Environment { summary.name.clone() } else { address.name.clone() };
                    let known = Known {
                        kind: summary.kind,
                        name,
                        owner: Some(o),
                        address: Some(address),
                        offered: None,
                        live: seen[id].fields.clone(),
                        applied,
                        gone: false,
                    };
                    self.known.insert(id.clone(), known);
                }
            }
        }
    }

    /// What the workspace has recorded as applied.
    async fn applied(&self, id: &str, kind: Kind) -> Fields {
        let request = Request::Bodies(IdList { ids: vec![id.to_owned()], me: None });
        let Response::Loaded(loaded) = self.world.read(request).await else { panic!() };
        let spec = &loaded.bodies[0].applied.as_ref().unwrap().spec;
        let text = |field: &str| match field.split_once('.') {
            Some((map, key)) => spec.get(map)?.get(key)?.as_str(),
            None => spec.get(field).and_then(Value::as_str),
        };
        let value = |field: &str, text: &str| match field {
            "content" => self.skills[&text.parse().unwrap()].clone(),
            _ => text.to_owned(),
        };
        fields_of(kind).iter().filter_map(|f| Some((*f, value(f, text(f)?)))).collect()
    }
}
