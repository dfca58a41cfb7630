//! A project folder → the desired set: discover, read, parse, resolve. Everything that is wrong is told at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use crate::bundle::{self, BundleError, BundleWant};
use crate::desired::{self, Bundle, Desired, Inputs, Needs, Purpose, Use, profile};
use crate::diag::codes::bundle as bundle_code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Location};
use crate::manifest::{self, ConfigDocument, Document};
use crate::model::Kind;
use crate::model::config::Config;
use crate::model::tree::FileSet;

pub use crate::desired::Profile;

/// The file that makes a folder a project.
pub const CONFIG_FILE: &str = "checkfu.yaml";
/// Where the stat cache is, in the project folder. It is made only where `.checkfu` is there or ignored.
const CACHE: &str = ".checkfu/cache";

/// How to load.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Whose rules count; `None` = those of the default target.
    pub profile: Option<Profile>,
    /// Today, for field modes that end.
    pub today: Date,
}

/// A project that was read.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// What it wants; `None` if there are errors.
    pub desired: Option<Desired>,
    /// Everything found, sorted.
    pub diagnostics: Diagnostics,
    /// The texts of the files that diagnostics point into, by project path.
    pub sources: BTreeMap<String, Arc<str>>,
    /// How many resources are declared, by kind.
    pub counts: BTreeMap<Kind, usize>,
    /// The folder, to open file bodies from.
    pub project: bundle::Project,
}

/// The project cannot be read at all: no folder, no configuration that could be gone on with.
#[derive(Debug, thiserror::Error)]
#[error("the project cannot be loaded")]
pub struct LoadError {
    /// Why, sorted.
    pub diagnostics: Diagnostics,
    /// Texts to quote.
    pub sources: BTreeMap<String, Arc<str>>,
}

/// The texts of files by project path.
type Sources = BTreeMap<String, Arc<str>>;

/// Reads a project.
pub fn load(dir: &Path, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let mut sources = Sources::new();
    let (config, project, mut found) = open(dir, &mut sources)?;
    found.extend(desired::check_config(&config, env!("CARGO_PKG_VERSION")));
    let profile = options.profile.unwrap_or_default();
    let root = config.config.root.clone();

    let written = |option: &'static str, i: usize| config.written(&format!("/{}/{i}", option.replace('.', "/")));
    let (places, discovered) = project.discover(&config.config.discover, &written);
    let discovered = documents::folders_for_files(discovered, dir, &project);
    let mut read = documents::Read::after(discovered, sources, found);
    read.discovered(&project, &places, profile);
    read.named_skills((dir, &project), &root, profile);
    let documents::Read { documents, unread, mut sources, mut found } = read;
    let (documents, declared) = desired::declare(documents, &root);
    found.extend(declared);
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for d in &documents {
        *counts.entry(d.address.kind).or_default() += 1;
    }

    let (needs, named) = desired::needs(&documents, &root);
    found.extend(named);
    let reading = Reading { dir, project: &project, config: &config.config, profile };
    let texts = reading.texts(&needs, &documents, &mut sources, &mut found);
    let bundles = reading.bundles(&needs, &documents, &mut found);
    project.save_cache();
    let failed = found.has_errors();
    let (source, today) = (project.source(), options.today);
    let inputs = Inputs { config: &config, documents, unread: &unread, texts, bundles, source, today };
    let (desired, resolved) = desired::resolve(inputs);
    found.extend(resolved);
    found.sort();
    let desired = desired.filter(|_| !failed);
    if let Some(desired) = &desired {
        // Everything after this compares digests; here they are taken on all cores.
        desired.resources.par_iter().for_each(|(_, wanted)| {
            wanted.digest();
        });
    }
    let quoted: BTreeSet<Arc<str>> = found.0.iter().flat_map(|d| &d.labels).map(|l| l.at.file.clone()).collect();
    sources.retain(|file, _| quoted.contains(file.as_str()));
    Ok(Loaded { config: config.config, desired, diagnostics: found, sources, counts, project })
}

/// Opens the folder and reads its configuration.
fn open(dir: &Path, sources: &mut Sources) -> Result<(ConfigDocument, bundle::Project, Diagnostics), LoadError> {
    let cache = || Some(dir.join(CACHE));
    let failed =
        |d: Diagnostic, sources: &Sources| LoadError { diagnostics: Diagnostics(vec![d]), sources: sources.clone() };
    let first = bundle::Project::open(dir, ".", cache()).map_err(|e| failed(cannot_open(&e, None), sources))?;
    let text = first.read_text(CONFIG_FILE).map_err(|d| failed(d, sources))?;
    sources.insert(CONFIG_FILE.to_owned(), text.clone());
    let (config, mut found) = manifest::config(&LineIndex::new(CONFIG_FILE, text));
    let Some(config) = config else {
        found.sort();
        return Err(LoadError { diagnostics: found, sources: sources.clone() });
    };
    if config.config.root == "." {
        return Ok((config, first, found));
    }
    let at = config.locate("/root");
    let project = bundle::Project::open(dir, &config.config.root, cache()).map_err(|e| {
        found.push(cannot_open(&e, Some(at)));
        found.sort();
        LoadError { diagnostics: found.clone(), sources: sources.clone() }
    })?;
    Ok((config, project, found))
}

fn cannot_open(error: &BundleError, at: Option<Location>) -> Diagnostic {
    let message = crate::diag::chain::Chain(error).to_string();
    let d = Diagnostic::new(error.code(), message);
    match at {
        Some(at) => d.at(at, ""),
        None => d,
    }
}

/// A finding about something that a manifest names: the name comes first where the thing itself is not there.
fn named_here(mut d: Diagnostic, by: Option<Location>) -> Diagnostic {
    let Some(by) = by else { return d };
    let label = crate::diag::Label { at: by, text: "named here".to_owned() };
    let absent = [&bundle_code::MISSING, &bundle_code::OUTSIDE, &bundle_code::NOT_A_FOLDER, &bundle_code::BAD_PATH];
    let place = if absent.contains(&d.code) { 0 } else { d.labels.len() };
    d.labels.insert(place, label);
    d
}

/// Where the globs of a set of files are written: beside the path that names it.
fn glob_places(bundle: &Bundle, by: &Use, documents: &[Document]) -> BTreeMap<(&'static str, usize), Location> {
    let Some(document) = documents.get(by.document) else { return BTreeMap::new() };
    let beside = by.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    let lists = [("include", &bundle.include), ("exclude", &bundle.exclude)];
    let numbers = lists.into_iter().flat_map(|(option, list)| (0..list.len()).map(move |i| (option, i)));
    numbers.map(|(option, i)| ((option, i), document.locate(&format!("{beside}/{option}/{i}"), false))).collect()
}

/// What reading sets of files needs to know.
struct Reading<'a> {
    dir: &'a Path,
    project: &'a bundle::Project,
    config: &'a Config,
    profile: Profile,
}

impl Reading<'_> {
    /// Reads the texts that documents name. One that may hold a secret is not read.
    fn texts(
        &self,
        needs: &Needs,
        documents: &[Document],
        sources: &mut Sources,
        found: &mut Diagnostics,
    ) -> BTreeMap<String, Arc<str>> {
        let read = |path: &str| {
            let told = self.project.check_text(path, &self.config.allow_secret_names);
            let text = if told.has_errors() { None } else { Some(self.project.read_text(path)) };
            (told, text)
        };
        let read: Vec<_> = needs.texts.par_iter().map(|(path, by)| (path, by, read(path))).collect();
        let mut out = BTreeMap::new();
        for (path, by, (told, text)) in read {
            for d in told.0 {
                found.push(named_here(d, by.locate(documents)));
            }
            match text {
                Some(Ok(text)) => {
                    found.extend(manifest::conflict_marks(&LineIndex::new(path.as_str(), text.clone())));
                    sources.insert(path.clone(), text.clone());
                    out.insert(path.clone(), text);
                }
                Some(Err(d)) => found.push(named_here(d, by.locate(documents))),
                None => {}
            }
        }
        out
    }

    /// Reads the sets of files that documents name.
    fn bundles(
        &self,
        needs: &Needs,
        documents: &[Document],
        found: &mut Diagnostics,
    ) -> BTreeMap<Bundle, (FileSet, String)> {
        let mut out = BTreeMap::new();
        for (bundle, by) in &needs.bundles {
            let (set, _, said) = self.project.files(&self.want(bundle, by, documents));
            let said = if bundle.purpose == Purpose::Skill { profile::weigh(said, self.profile) } else { said };
            for d in said.0 {
                found.push(named_here(d, by.locate(documents)));
            }
            if let Some(set) = set {
                out.insert(bundle.clone(), (set, self.folder(&bundle.path)));
            }
        }
        out
    }

    fn want(&self, bundle: &Bundle, by: &Use, documents: &[Document]) -> BundleWant {
        let purpose = match bundle.purpose {
            Purpose::Skill => bundle::Purpose::Skill,
            Purpose::Tree => bundle::Purpose::Tree,
            Purpose::Memory => bundle::Purpose::Memory,
        };
        BundleWant {
            include: bundle.include.clone(),
            exclude: bundle.exclude.clone(),
            keep_symlinks: bundle.keep_symlinks,
            allow_secret_names: self.config.allow_secret_names.clone(),
            places: glob_places(bundle, by, documents),
            ..BundleWant::new(bundle.path.clone(), purpose)
        }
    }

    /// The folder that the paths of a set are in: a tree may be a single file.
    fn folder(&self, path: &str) -> String {
        match path.rsplit_once('/') {
            _ if !self.dir.join(path).is_file() => path.to_owned(),
            Some((folder, _)) => folder.to_owned(),
            None => ".".to_owned(),
        }
    }
}

mod documents;
mod look;

pub use look::{content_of, folder_files, store_prefixes};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod cases;

#[cfg(test)]
mod mistakes;
