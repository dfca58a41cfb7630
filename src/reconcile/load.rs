//! A project folder → the desired set: discover, read, parse, resolve. Everything that is wrong is told at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use crate::bundle::{self, BundleError, BundleWant, Found, What};
use crate::desired::{self, Bundle, Desired, Inputs, Needs, Purpose, profile};
use crate::diag::codes::bundle as bundle_code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Location};
use crate::manifest::{self, ConfigDocument, Document, Form};
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

    let (places, discovered) = project.discover(&config.config.discover);
    found.extend(Diagnostics(discovered.0.into_iter().map(|d| folder_for_a_file(d, dir, &project)).collect()));
    let mut documents = read_all(&project, &places, profile, &mut sources, &mut found);
    read_named_skills((dir, &project), &mut documents, &root, profile, &mut sources, &mut found);
    let (documents, declared) = desired::declare(documents, &root);
    found.extend(declared);
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for d in &documents {
        *counts.entry(d.address.kind).or_default() += 1;
    }

    let (needs, named) = desired::needs(&documents, &root);
    found.extend(named);
    let texts = read_texts(&project, &needs, &documents, &mut sources, &mut found);
    let reading = Reading { dir, project: &project, config: &config.config, profile };
    let bundles = reading.bundles(&needs, &documents, &mut found);
    project.save_cache();
    let failed = found.has_errors();
    let inputs = Inputs { config: &config, documents, texts, bundles, source: project.source(), today: options.today };
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

/// What one file gave.
struct Parsed {
    file: String,
    text: Option<Arc<str>>,
    documents: Vec<Document>,
    found: Diagnostics,
}

/// Reads and parses a file. Findings about a skill are weighed by the profile.
fn parse(project: &bundle::Project, file: String, form: Form, profile: Profile) -> Parsed {
    let text = match project.read_text(&file) {
        Ok(text) => text,
        Err(d) => return Parsed { file, text: None, documents: Vec::new(), found: Diagnostics(vec![d]) },
    };
    let (documents, mut found) = manifest::parse(form, &LineIndex::new(file.as_str(), text.clone()));
    if form == Form::Skill {
        found = profile::weigh(found, profile);
    }
    Parsed { file, text: Some(text), documents, found }
}

impl Parsed {
    fn keep(self, documents: &mut Vec<Document>, sources: &mut Sources, found: &mut Diagnostics) {
        // The text of YAML that is somebody else's is of no more use.
        if let Some(text) = self.text.filter(|_| !self.documents.is_empty() || !self.found.0.is_empty()) {
            sources.insert(self.file, text);
        }
        documents.extend(self.documents);
        found.extend(self.found);
    }
}

/// Parses everything that was discovered, in the order of its paths.
fn read_all(
    project: &bundle::Project,
    places: &[Found],
    profile: Profile,
    sources: &mut Sources,
    found: &mut Diagnostics,
) -> Vec<Document> {
    let mut files = vec![(CONFIG_FILE.to_owned(), Form::Config)];
    files.extend(places.iter().map(|place| match place.what {
        What::Yaml => (place.path.clone(), Form::Yaml),
        What::Agent => (place.path.clone(), Form::AgentMarkdown),
        What::SkillDir => (skill_file(&place.path), Form::Skill),
    }));
    let parsed: Vec<Parsed> = files.into_par_iter().map(|(file, form)| parse(project, file, form, profile)).collect();
    let mut documents = Vec::new();
    for mut p in parsed {
        if p.file == CONFIG_FILE {
            // Checks of the whole text were told when the configuration was read.
            p.found.0.retain(|d| !found.0.iter().any(|o| o.code == d.code && o.place() == d.place()));
        }
        p.keep(&mut documents, sources, found);
    }
    documents
}

/// A folder without SKILL.md is no skill; one in which SKILL.md is a folder is a broken one.
fn folder_for_a_file(d: Diagnostic, dir: &Path, project: &bundle::Project) -> Diagnostic {
    let file = match d.place() {
        Some(at) if d.code == &bundle_code::NOT_A_SKILL => skill_file(&at.file),
        _ => return d,
    };
    if dir.join(&file).is_dir() { project.read_text(&file).err().unwrap_or(d) } else { d }
}

fn skill_file(folder: &str) -> String {
    if folder == "." || folder.is_empty() { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") }
}

/// A Skill document may name a folder that discovery does not look at.
fn read_named_skills(
    (dir, project): (&Path, &bundle::Project),
    documents: &mut Vec<Document>,
    root: &str,
    profile: Profile,
    sources: &mut Sources,
    found: &mut Diagnostics,
) {
    let known: BTreeSet<&str> = documents.iter().map(|d| &**d.file()).collect();
    let tried = |file: &String| known.contains(file.as_str()) || found.0.iter().any(|d| is_at(d, file));
    let missed = desired::skill_files(documents, root).into_iter().filter(|(file, _)| !tried(file));
    let missed: Vec<(String, Location)> = missed.collect();
    for (file, at) in missed {
        let folder = dir.join(&file).parent().is_some_and(Path::is_dir);
        let mut parsed = parse(project, file, Form::Skill, profile);
        if parsed.text.is_none() {
            // A folder that is not there is told when its files are read.
            let told = if folder { parsed.found.0 } else { Vec::new() };
            parsed.found = Diagnostics(told.into_iter().map(|d| named_here(d, Some(at.clone()))).collect());
        }
        parsed.keep(documents, sources, found);
    }
}

fn is_at(d: &Diagnostic, file: &str) -> bool {
    d.place().is_some_and(|at| &*at.file == file)
}

/// Reads the texts that documents name.
fn read_texts(
    project: &bundle::Project,
    needs: &Needs,
    documents: &[Document],
    sources: &mut Sources,
    found: &mut Diagnostics,
) -> BTreeMap<String, Arc<str>> {
    let read: Vec<_> = needs.texts.par_iter().map(|(path, by)| (path, by, project.read_text(path))).collect();
    let mut out = BTreeMap::new();
    for (path, by, text) in read {
        match text {
            Ok(text) => {
                sources.insert(path.clone(), text.clone());
                out.insert(path.clone(), text);
            }
            Err(d) => found.push(named_here(d, by.locate(documents))),
        }
    }
    out
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

/// What reading sets of files needs to know.
struct Reading<'a> {
    dir: &'a Path,
    project: &'a bundle::Project,
    config: &'a Config,
    profile: Profile,
}

impl Reading<'_> {
    /// Reads the sets of files that documents name.
    fn bundles(
        &self,
        needs: &Needs,
        documents: &[Document],
        found: &mut Diagnostics,
    ) -> BTreeMap<Bundle, (FileSet, String)> {
        let mut out = BTreeMap::new();
        for (bundle, by) in &needs.bundles {
            let (set, _, said) = self.project.files(&self.want(bundle));
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

    fn want(&self, bundle: &Bundle) -> BundleWant {
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

#[cfg(test)]
mod tests;

#[cfg(test)]
mod cases;

#[cfg(test)]
mod mistakes;
