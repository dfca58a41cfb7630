//! Memory stores: what agents learned comes to the folders that the store's manifest has, and a version as it was.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cli::args::Pull;
use crate::cli::commands::pull::choose::{Chosen, View, failed};
use crate::cli::commands::pull::here::or_fail;
use crate::cli::failure::Failure;
use crate::cli::view::text::count;
use crate::diag::codes::bundle::SECRET_NAME;
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::model::kinds;
use crate::model::names::looks_secret;
use crate::model::{Address, Digest, Kind};
use crate::pull::{File, Prefix, Resource, contents, learned, learned_folder};
use crate::reconcile::load::store_prefixes;
use crate::reconcile::read;

/// A store that the project declares.
pub(super) struct Store {
    address: Address,
    /// Files, each with the digest of the bytes that may be replaced.
    pub(super) files: Vec<(File, Option<Digest>)>,
    /// Files in the folders of the manifest that are not live.
    pub(super) extra: Vec<String>,
    /// How many memories no folder of the manifest holds.
    beside: usize,
    /// Does more than memories differ?
    differs: bool,
}

impl Store {
    /// What is told of it.
    pub(super) fn notes(&self, force: bool) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        if let Some(first) = self.extra.first().filter(|_| !force) {
            let more = if self.extra.len() > 1 { format!(" and {} more", self.extra.len() - 1) } else { String::new() };
            let message = format!("{first}{more} of {} is not live, and stays", self.address);
            let fix = format!("checkfu pull {} --force removes what is not live", self.address);
            out.push(Diagnostic::new(&code::LEFT, message).fix(fix));
        }
        if self.beside > 0 {
            let folder = learned_folder(&self.address);
            let (what, are) = (count(self.beside, "memory"), if self.beside == 1 { "is" } else { "are" });
            let message = format!("{what} of {} {are} in {folder}, which nothing declares", self.address);
            let fix =
                format!("move what is approved, or add {{path: {folder}, at: /…, mode: upkeep}} to its `contents`");
            out.push(Diagnostic::new(&code::LEFT, message).fix(fix));
        }
        if self.differs {
            let message = format!("{} differs in more than its memories", self.address);
            out.push(Diagnostic::new(&code::LEFT, message).fix(format!("checkfu pull --drift {}", self.address)));
        }
        out
    }
}

/// With `--version`, the memories are those of that version.
pub(super) async fn at_version(view: &View<'_>, args: &Pull, chosen: &mut Chosen) -> Result<(), Failure> {
    let Some(version) = args.version else { return Ok(()) };
    let named: Vec<&Address> = chosen.named.iter().collect();
    let [store] = named[..] else { return Err(usage()) };
    if store.kind != Kind::MemoryStore || args.what.len() != 1 {
        return Err(usage());
    }
    let Some(id) = chosen.ids.get(store) else { return Err(usage()) };
    let memories = read::memories_at(view.control, view.context, id, version).await.map_err(|e| failed(&e))?;
    if let Some(resource) = chosen.resources.get_mut(store) {
        let mut spec = (*resource.spec).clone();
        spec["contents"] = memories.into_iter().map(|(path, d)| (path, Value::String(d.to_string()))).collect();
        resource.spec = spec.into();
    }
    Ok(())
}

fn usage() -> Failure {
    Failure::new(&codes::cli::USAGE, "--version is about one memory store")
        .fix("checkfu pull MemoryStore/NAME --version N")
}

/// Takes the stores out that the project declares: their manifests stay, and only memories are brought. All that it
/// has for a store that is named; else, where something differs, those of its folders.
pub(super) fn declared(
    view: &View<'_>,
    resources: &mut BTreeMap<Address, Resource>,
    named: &BTreeSet<Address>,
) -> Result<Vec<Store>, Failure> {
    let here = view.here;
    let (Some(desired), Some(loaded)) = (here.desired(), &here.loaded) else { return Ok(Vec::new()) };
    let (mut out, mut found) = (Vec::new(), Diagnostics::default());
    let stores: Vec<Address> = resources.keys().filter(|a| a.kind == Kind::MemoryStore).cloned().collect();
    for address in stores {
        let Some(wanted) = desired.resources.get(&address) else { continue };
        let Some(live) = resources.get(&address) else { continue };
        let applied = wanted.applied();
        let owned = kinds::owned_part(Kind::MemoryStore, &live.spec, &applied);
        let all = named.contains(&address);
        if !all && wanted.digest() == kinds::owned_digest(Kind::MemoryStore, &live.spec, &applied) {
            continue;
        }
        let memories = contents(if all { &live.spec } else { &owned });
        let prefixes: Vec<Prefix> = store_prefixes(loaded, &address, &wanted.at.file);
        let not_live = wanted.memories.iter().filter(|(path, _)| !memories.contains_key(*path));
        let extra = not_live.map(|(_, file)| file.file.clone()).collect();
        let (memories, wrong) = learned(&address, &memories, &prefixes);
        found.extend(wrong);
        let last = live.applied.as_deref().map(contents).unwrap_or_default();
        let beside = if all { memories.beside } else { Vec::new() };
        let fields = |v: &Value| {
            let mut v = v.clone();
            v.as_object_mut().map(|o| o.remove("contents"));
            v
        };
        out.push(Store {
            differs: fields(&owned) != fields(&wanted.spec),
            beside: beside.len(),
            extra,
            files: memories
                .declared
                .into_iter()
                .chain(beside)
                .map(|(path, file)| (file, last.get(&path).copied()))
                .collect(),
            address: address.clone(),
        });
        resources.remove(&address);
    }
    or_fail(found)?;
    Ok(out)
}

/// Names of memories that look like those of secrets.
pub(super) fn secrets(stores: &[Store], allowed: &BTreeSet<String>) -> Diagnostics {
    let files = stores.iter().flat_map(|s| s.files.iter().map(|(f, _)| (&s.address, f)));
    let bad = files
        .filter(|(_, f)| looks_secret(f.path.rsplit('/').next().unwrap_or_default()) && !allowed.contains(&f.path));
    let told = |(a, f): (&Address, &File)| {
        Diagnostic::new(&SECRET_NAME, format!("`{}` of {a} has a name that looks like a secret", f.path))
    };
    Diagnostics(bad.map(told).collect())
}
