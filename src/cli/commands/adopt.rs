//! `adopt`: `adopt:` lines of `checkfu.yaml`. Nothing live changes before they are planned and applied.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::args::{Adopt as Args, Pull};
use crate::cli::commands::Run;
use crate::cli::commands::pull::here::{Here, or_fail};
use crate::cli::commands::pull::{Pulled, append_lines, write};
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{context, runtime};
use crate::cli::target::Workspace;
use crate::cli::writer::Work;
use crate::control::ControlError;
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::model::config::Adopt;
use crate::model::op::{Context, LoadedBody};
use crate::model::{Address, Kind, Owner};
use crate::pull::{Unnamed, names};
use crate::reconcile::read::{self, Found};

/// Looks at each resource, and writes the lines.
pub fn run(run: &Run, args: &Args) -> Ran {
    let here = Here::open(run, &Pull::default())?;
    let place = here.place(run)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &here.config);
    let asking = Asking { control: &control, context: &context, here: &here };
    let runtime = runtime()?;
    let found = if args.all {
        runtime.block_on(asking.all(&args.labels))?
    } else {
        runtime.block_on(asking.each(&args.which, args.take_over.as_ref()))?
    };
    let target = (here.config.targets.len() > 1).then(|| place.name.clone());
    let lines: Vec<Adopt> = found
        .into_iter()
        .map(|(address, id, from)| Adopt { address, target: target.clone(), id, from })
        .filter(|line| !here.config.adopt.contains(line))
        .collect();
    or_fail(against(&here, &lines))?;
    let (work, wrong) = Work::look(&here.dir, here.own_files(append_lines(&here, &lines)?)?);
    or_fail(wrong)?;
    let undeclared: Vec<&Adopt> = lines.iter().filter(|l| !here.declares(&l.address)).collect();
    if !undeclared.is_empty() {
        let addresses: Vec<String> = undeclared.iter().map(|l| l.address.to_string()).collect();
        let ids: Vec<&str> = undeclared.iter().map(|l| l.id.as_str()).collect();
        let (addresses, ids) = (addresses.join(", "), ids.join(" "));
        run.printer.talk(&format!("No file declares {addresses} yet: write one, or `checkfu pull {ids}`"));
    }
    write(run, &here, Pulled::new(work, lines, BTreeMap::new(), Diagnostics::default()))
}

/// An address, its live id, and who loses it.
type Line = (Address, String, Option<Owner>);

struct Asking<'a> {
    control: &'a Workspace,
    context: &'a Context,
    here: &'a Here,
}

impl Asking<'_> {
    async fn each(&self, which: &[(Address, String)], from: Option<&Owner>) -> Result<Vec<Line>, Failure> {
        let (mut out, mut found) = (Vec::new(), Diagnostics::default());
        for (address, id) in which {
            let one = match read::one(self.control, self.context, id).await {
                Err(e) if e.code == "resource.not_found" => None,
                other => other.map_err(|e| failed(&e))?,
            };
            match self.checked(address, id, one.filter(|one| !one.archived), from) {
                Ok(()) => out.push((address.clone(), id.clone(), from.cloned())),
                Err(d) => found.push(*d),
            }
        }
        or_fail(found)?;
        Ok(out)
    }

    fn checked(
        &self,
        address: &Address,
        id: &str,
        one: Option<Found>,
        from: Option<&Owner>,
    ) -> Result<(), Box<Diagnostic>> {
        let wrong = |code, message: String| Box::new(Diagnostic::new(code, message));
        let Some(one) = one else {
            return Err(wrong(&codes::cli::NOT_FOUND, format!("{id} is archived, or there is no resource of this id")));
        };
        if one.kind != address.kind {
            return Err(wrong(&code::ADOPTED, format!("{id} is of kind {}, not {}", one.kind, address.kind)));
        }
        match (&one.owner, from) {
            (None, None) => Ok(()),
            (Some((owner, _)), Some(from)) if owner == from => Ok(()),
            (Some((owner, at)), _) if *owner == self.here.config.authoring_owner => {
                Err(wrong(&code::ADOPTED, format!("{id} is {at} of this project already")))
            }
            (Some((owner, at)), _) => {
                let d = wrong(&code::OWNED_ELSEWHERE, format!("{id} is {at} of {owner}"));
                Err(Box::new(d.fix(format!("checkfu adopt {address}={id} --take-over {owner}"))))
            }
            (None, Some(from)) => Err(wrong(&code::ADOPTED, format!("nobody owns {id}, so {from} cannot lose it"))),
        }
    }

    /// Everything that nobody owns and that has the labels: under the declared name that people see, if one resource
    /// that is not live has it; else under a new one.
    async fn all(&self, labels: &[(String, String)]) -> Result<Vec<Line>, Failure> {
        let me = &self.here.config.authoring_owner;
        let ask = async {
            let found = read::unowned(self.control, self.context, &Kind::ALL, labels).await?;
            let ids: Vec<String> = found.iter().map(|f| f.id.clone()).collect();
            let (bodies, _) = read::bodies(self.control, self.context, me, &ids).await?;
            let own = read::summaries(self.control, self.context, me, None).await?;
            Ok::<_, ControlError>((found, bodies, own))
        };
        let (found, bodies, own) = ask.await.map_err(|e| failed(&e))?;
        let live: BTreeSet<Address> = own.into_iter().filter_map(|s| s.address).collect();
        let kinds: BTreeMap<&str, Kind> = found.iter().map(|f| (f.id.as_str(), f.kind)).collect();
        let unnamed: Vec<Unnamed> =
            bodies.iter().filter_map(|b| Some(unnamed(b, *kinds.get(b.id.as_str())?))).collect();
        let mut known: BTreeMap<String, Address> =
            self.here.config.adopt.iter().map(|a| (a.id.clone(), a.address.clone())).collect();
        let declared = self.declared(&live);
        for one in &unnamed {
            let same: Vec<&Address> =
                declared.iter().filter(|(a, name)| a.kind == one.kind && **name == one.name).map(|(a, _)| *a).collect();
            if let [address] = same[..]
                && !known.values().any(|a| a == address)
            {
                known.entry(one.id.clone()).or_insert_with(|| address.clone());
            }
        }
        let mut taken = live;
        taken.extend(declared.keys().map(|a| (*a).clone()));
        let (named, without) = names(&unnamed, &taken, &known);
        let told = |u: &&Unnamed| {
            let message = format!("{} is a skill called `{}`, which cannot be its address here", u.id, u.name);
            Diagnostic::new(&code::NO_NAME, message)
        };
        or_fail(Diagnostics(without.iter().map(told).collect()))?;
        Ok(named.into_iter().map(|(id, address)| (address, id, None)).collect())
    }

    /// What is declared and not live, with the names that people see.
    fn declared(&self, live: &BTreeSet<Address>) -> BTreeMap<&Address, String> {
        let desired = self.here.desired().into_iter().flat_map(|d| &d.resources);
        let name = |spec: &serde_json::Value| spec.get("name").and_then(|n| n.as_str()).unwrap_or_default().to_owned();
        desired.filter(|(a, _)| !live.contains(a)).map(|(a, w)| (a, name(&w.spec))).collect()
    }
}

fn unnamed(body: &LoadedBody, kind: Kind) -> Unnamed {
    let name = body.body.get("name").and_then(|n| n.as_str()).unwrap_or_default().to_owned();
    Unnamed { id: body.id.clone(), kind, name, mounts: None, inline: false }
}

/// Lines that contradict those that are there, or each other.
fn against(here: &Here, lines: &[Adopt]) -> Diagnostics {
    let mut out = Diagnostics::default();
    for (i, line) in lines.iter().enumerate() {
        let others = here.config.adopt.iter().chain(&lines[..i]);
        let same = |o: &&Adopt| o.target.is_none() || line.target.is_none() || o.target == line.target;
        let clash = others.filter(same).find(|o| (o.address == line.address) != (o.id == line.id));
        if let Some(o) = clash {
            let message = format!("{} is adopted as {} already", o.id, o.address);
            out.push(Diagnostic::new(&code::ADOPTED, message));
        }
    }
    out
}

fn failed(error: &ControlError) -> Failure {
    Failure::control("read the workspace", error)
}
