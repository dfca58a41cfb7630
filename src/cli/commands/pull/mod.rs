//! `pull`: what is live as manifests and folders.

mod ant;
mod choose;
pub(super) mod drift;
pub(super) mod here;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::cli::args::Pull;
use crate::cli::commands::Run;
use crate::cli::commands::pull::choose::{Chosen, View, failed};
use crate::cli::commands::pull::here::{Here, or_fail};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{context, runtime, today};
use crate::cli::view::diagnostics::{self, Options as Shown};
use crate::cli::view::json::PulledDoc;
use crate::cli::view::{Format, lists, tables};
use crate::cli::writer::{Over, Planned, Work};
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, Severity, codes};
use crate::model::config::Adopt;
use crate::model::{Address, Digest, Owner};
use crate::pull::patch::{self, PatchError};
use crate::pull::{Body, File, Resource, Standing, Unit, bad_link, differing, published, standing, units};
use crate::reconcile::load::{LoadOptions, load};
use crate::reconcile::{self, read};

/// Addresses that are named one by one.
const SHOWN: usize = 5;
/// Files that are asked for at once.
const AT_ONCE: usize = 10;

/// Writes what is live. Everything is looked at before the first file is written.
pub fn run(run: &Run, args: &Pull) -> Ran {
    if args.drift {
        return drift::run(run, args);
    }
    if let Some(lock) = &args.from {
        return ant::run(run, args, lock);
    }
    let mut here = Here::open(run, args)?;
    let place = here.place(run)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &here.config);
    let runtime = runtime()?;
    let pulled = runtime.block_on(async {
        let record = read::owner(&control, &context, &here.config.authoring_owner).await.map_err(|e| failed(&e))?;
        here.take_policy(args.workspace.as_deref(), record.policy);
        let view = View { control: &control, context: &context, here: &here, target: &place.name };
        let mut chosen = view.choose(args).await?;
        store::at_version(&view, args, &mut chosen).await?;
        plan(&view, args, chosen).await
    })?;
    write(run, &here, pulled)
}

/// What is to be written.
pub(super) struct Pulled {
    work: Work,
    adopt: Vec<Adopt>,
    unchanged: usize,
    /// What was written, as it is live.
    resources: BTreeMap<Address, Resource>,
    notes: Diagnostics,
}

impl Pulled {
    /// Files that come from no workspace.
    pub(super) fn new(
        work: Work,
        adopt: Vec<Adopt>,
        resources: BTreeMap<Address, Resource>,
        notes: Diagnostics,
    ) -> Self {
        Self { work, adopt, unchanged: 0, resources, notes }
    }
}

/// From resources to files whose bytes are here.
async fn plan(view: &View<'_>, args: &Pull, chosen: Chosen) -> Result<Pulled, Failure> {
    let here = view.here;
    let Chosen { mut resources, adopt, named, left, mut notes, .. } = chosen;
    if here.is_new() {
        notes.extend(Diagnostics(partial(&here.config.authoring_owner, &left, &resources).into_iter().collect()));
    }
    let stores = store::declared(view, &mut resources, &named)?;
    let skills = published(here.desired(), &resources);
    let allowed: BTreeSet<String> = here.config.allow_secret_names.iter().cloned().collect();
    let (units, mut found) = units(&resources, &skills, &allowed);
    found.extend(store::secrets(&stores, &allowed));
    let mut wanted = Vec::new();
    let mut unchanged = 0;
    for unit in units {
        match standing(here.desired(), &resources, &unit) {
            Standing::Said => {
                unchanged += unit.of.len();
                unit.of.iter().for_each(|a| drop(resources.remove(a)));
            }
            Standing::Elsewhere(address, file) => {
                let d = Diagnostic::new(&code::ELSEWHERE, format!("{address} differs from what {file} declares"));
                found.push(d.fix(format!("checkfu pull --drift {address}")));
            }
            Standing::Ours => wanted.push(unit),
        }
    }
    or_fail(found)?;
    notes.extend(Diagnostics(stores.iter().flat_map(|s| s.notes(args.force)).collect()));
    let of_stores = stores.iter().flat_map(|s| &s.files).map(|(file, _)| file);
    let bytes = Bytes::read(view, wanted.iter().flat_map(|unit| &unit.files).chain(of_stores)).await?;
    let mut planned = here.own_files(append_lines(here, &adopt)?)?;
    let over = if args.force { Over::Always } else { Over::Never };
    for file in wanted.iter().flat_map(|unit| &unit.files) {
        planned.push(bytes.planned(file, over)?);
    }
    for (file, applied) in stores.iter().flat_map(|s| &s.files) {
        let over = applied.filter(|_| !args.force).map_or(over, Over::If);
        planned.push(bytes.planned(file, over)?);
    }
    let (mut work, mut found) = Work::look(&here.dir, planned);
    let extra = extra(here, &wanted);
    if args.force {
        work.remove(extra.into_iter().chain(stores.into_iter().flat_map(|s| s.extra)).collect());
    } else {
        found.extend(Diagnostics(
            extra.iter().map(|p| Diagnostic::new(&code::DIFFERS, format!("{p} is there and not live"))).collect(),
        ));
    }
    or_fail(found)?;
    Ok(Pulled { work, adopt, unchanged, resources, notes })
}

/// A new project that declares a part of what its owner has would retire the rest.
fn partial(owner: &Owner, left: &[Address], pulled: &BTreeMap<Address, Resource>) -> Option<Diagnostic> {
    let some = |all: &mut dyn Iterator<Item = &Address>| all.take(SHOWN).map(ToString::to_string).collect::<Vec<_>>();
    let names = some(&mut left.iter()).join(", ");
    let more = if left.len() > SHOWN { ", …" } else { "" };
    let what = if left.len() == 1 { "resource" } else { "resources" };
    let message = format!(
        "{owner} has {} more {what} live ({names}{more}): a plan of all that is here would retire that",
        left.len()
    );
    let only = if pulled.len() > SHOWN { "ADDRESS".to_owned() } else { some(&mut pulled.keys()).join(" ") };
    let fix = format!("`checkfu pull` brings the rest too; `checkfu plan {only}` is about these alone");
    (!left.is_empty()).then(|| Diagnostic::new(&code::PARTIAL, message).fix(fix))
}

/// The text of `checkfu.yaml` with new lines.
pub(super) fn append_lines(here: &Here, adopt: &[Adopt]) -> Result<String, Failure> {
    if adopt.is_empty() {
        return Ok(here.text.clone());
    }
    patch::lists::add(&here.text, adopt).map_err(|e| config_not_patched(&e))
}

/// `checkfu.yaml` cannot be changed line by line.
pub(in crate::cli::commands) fn config_not_patched(why: &PatchError) -> Failure {
    Failure::new(&code::NOT_PATCHED, format!("checkfu.yaml is left as it is: {why}"))
}

/// Files that are in a folder and not live.
fn extra(here: &Here, units: &[Unit]) -> Vec<String> {
    let Some(loaded) = &here.loaded else { return Vec::new() };
    let mut out = Vec::new();
    for unit in units {
        let live: BTreeSet<&str> = unit.files.iter().map(|f| f.path.as_str()).collect();
        for folder in unit.folders.iter().filter(|f| here.dir.join(f).is_dir()) {
            let there = reconcile::load::content_of(loaded, folder);
            out.extend(there.into_iter().filter(|path| !live.contains(path.as_str())));
        }
    }
    out
}

/// Bytes of files, each asked for once. What is on disk already is not asked for.
struct Bytes(BTreeMap<Digest, Vec<u8>>);

impl Bytes {
    async fn read<'f>(view: &View<'_>, files: impl Iterator<Item = &'f File>) -> Result<Self, Failure> {
        let mut known = BTreeMap::new();
        let mut missing: BTreeMap<Digest, &str> = BTreeMap::new();
        for file in files {
            let Body::Held(digest) = file.body else { continue };
            let path = view.here.dir.join(&file.path);
            let there = path.symlink_metadata().is_ok_and(|m| m.is_file()).then(|| std::fs::read(&path).ok());
            match there.flatten().filter(|bytes| Digest::of(bytes) == digest) {
                Some(bytes) => drop(known.insert(digest, bytes)),
                None => drop(missing.insert(digest, &file.path)),
            }
        }
        missing.retain(|digest, _| !known.contains_key(digest));
        let ask = |(digest, path): (Digest, &'f str)| async move {
            let bytes = read::bytes(view.control, view.context, digest).await.map_err(|e| failed(&e))?;
            if Digest::of(&bytes) == digest {
                return Ok((digest, bytes));
            }
            let message = format!("the workspace gave other bytes for `{path}` than it says it holds");
            Err(Failure::new(&codes::cli::WORKSPACE, message))
        };
        let mut answers = stream::iter(missing.into_iter().map(ask)).buffered(AT_ONCE);
        while let Some((digest, bytes)) = answers.try_next().await? {
            known.insert(digest, bytes);
        }
        Ok(Self(known))
    }

    fn planned(&self, file: &File, over: Over) -> Result<Planned, Failure> {
        let path = file.path.clone();
        let bytes = match &file.body {
            Body::Text(text) => text.clone().into_bytes(),
            Body::Held(digest) => self.0.get(digest).cloned().unwrap_or_default(),
        };
        if let Some(inside) = &file.link {
            let target = String::from_utf8_lossy(&bytes);
            if let Some(why) = bad_link(inside, &target) {
                let message = format!("`{path}` would be a symbolic link to `{target}`: {why}");
                return Err(Failure::new(&code::PATH, message));
            }
        }
        Ok(Planned { path, bytes, executable: file.executable, link: file.link.is_some(), over })
    }
}

/// Writes, reads back and tells.
pub(super) fn write(run: &Run, here: &Here, pulled: Pulled) -> Ran {
    let Pulled { work, adopt, unchanged, resources, mut notes } = pulled;
    let (written, removed) = (work.written(), work.removed().to_vec());
    work.run(&here.dir)?;
    notes.extend(read_back(here, &resources));
    if !notes.0.is_empty() {
        notes.sort();
        let shown = Shown { width: run.printer.err_width };
        run.printer.talk(&diagnostics::report(&notes, &BTreeMap::new(), shown));
    }
    match run.printer.format {
        Format::Json => run.printer.json(&PulledDoc {
            format: "checkfu.pulled/v1",
            owner: here.config.authoring_owner.clone(),
            written: written.clone(),
            removed,
            unchanged,
            adopted: adopt.clone(),
        }),
        Format::Human => run.printer.data(&tables::pulled(&written, &removed)),
        Format::Markdown => run.printer.raw(&lists::files(&written)),
    }
    let said = match (written.is_empty(), unchanged) {
        (true, 0) => "Nothing to write; `--unowned` takes what nobody owns".to_owned(),
        (true, _) => "Nothing to write: the files say what is live".to_owned(),
        (false, _) if adopt.is_empty() => "Next: `checkfu plan`".to_owned(),
        (false, _) => {
            format!("Next: `checkfu plan` shows what is to be adopted ({}), `checkfu apply` adopts it", adopt.len())
        }
    };
    run.printer.talk(&said);
    Ok(Exit::Ok)
}

/// What the files say now, held against what is live.
fn read_back(here: &Here, resources: &BTreeMap<Address, Resource>) -> Diagnostics {
    let loaded = match load(&here.dir, &LoadOptions { profile: None, today: today() }) {
        Ok(loaded) => loaded,
        Err(e) => return e.diagnostics,
    };
    let Some(desired) = &loaded.desired else {
        let errors = loaded.diagnostics.0.into_iter().filter(|d| d.severity == Severity::Error);
        return Diagnostics(errors.collect());
    };
    let told = |(address, what)| Diagnostic::new(&code::NOT_AS_LIVE, format!("{address}: {what}"));
    Diagnostics(differing(desired, resources).into_iter().map(told).collect())
}
