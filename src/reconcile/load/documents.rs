//! The files of a project → documents, and what is declared where nothing could be read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::{CONFIG_FILE, Sources, named_here};
use crate::bundle::{self, Found, What};
use crate::desired::{self, Profile, profile};
use crate::diag::codes::bundle as bundle_code;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Location, Severity};
use crate::manifest::{self, Document, Form, Parsed, Unread};

/// Everything that was read so far.
pub(super) struct Read {
    pub(super) documents: Vec<Document>,
    pub(super) unread: Vec<Unread>,
    pub(super) sources: Sources,
    pub(super) found: Diagnostics,
}

/// Reads and parses a file; its text is none if it could not be read. Findings about a skill are weighed by the
/// profile.
fn parse(project: &bundle::Project, file: &str, form: Form, profile: Profile) -> (Option<Arc<str>>, Parsed) {
    let text = match project.read_text(file) {
        Ok(text) => text,
        Err(d) => {
            let (unread, found) = (vec![Unread::file(form, file)], Diagnostics(vec![d]));
            return (None, Parsed { documents: Vec::new(), unread, found });
        }
    };
    let mut parsed = manifest::parse(form, &LineIndex::new(file, text.clone()));
    if form == Form::Skill {
        parsed.found = profile::weigh(parsed.found, profile);
    }
    (Some(text), parsed)
}

impl Read {
    /// Nothing yet, after discovery told what it told: what stands against reading a file may hide a resource.
    pub(super) fn after(discovered: Diagnostics, sources: Sources, mut found: Diagnostics) -> Self {
        let unread = discovered.0.iter().filter_map(hidden).collect();
        found.extend(discovered);
        Self { documents: Vec::new(), unread, sources, found }
    }

    fn keep(&mut self, file: String, text: Option<Arc<str>>, parsed: Parsed) {
        // The text of YAML that is somebody else's is of no more use.
        if let Some(text) = text.filter(|_| !parsed.documents.is_empty() || !parsed.found.0.is_empty()) {
            self.sources.insert(file, text);
        }
        self.documents.extend(parsed.documents);
        self.unread.extend(parsed.unread);
        self.found.extend(parsed.found);
    }

    /// Parses everything that was discovered, in the order of its paths.
    pub(super) fn discovered(&mut self, project: &bundle::Project, places: &[Found], profile: Profile) {
        let mut files = vec![(CONFIG_FILE.to_owned(), Form::Config)];
        files.extend(places.iter().map(|place| match place.what {
            What::Yaml => (place.path.clone(), Form::Yaml),
            What::Agent => (place.path.clone(), Form::AgentMarkdown),
            What::SkillDir => (skill_file(&place.path), Form::Skill),
        }));
        let parsed: Vec<_> = files
            .into_par_iter()
            .map(|(file, form)| {
                let (text, parsed) = parse(project, &file, form, profile);
                (file, text, parsed)
            })
            .collect();
        for (file, text, mut parsed) in parsed {
            if file == CONFIG_FILE {
                // Checks of the whole text were told when the configuration was read.
                parsed.found.0.retain(|d| !self.found.0.iter().any(|o| o.code == d.code && o.place() == d.place()));
            }
            self.keep(file, text, parsed);
        }
    }

    /// A Skill document may name a folder that discovery does not look at.
    pub(super) fn named_skills(&mut self, (dir, project): (&Path, &bundle::Project), root: &str, profile: Profile) {
        let known: BTreeSet<&str> = self.documents.iter().map(|d| &**d.file()).collect();
        let tried = |file: &String| known.contains(file.as_str()) || self.found.0.iter().any(|d| is_at(d, file));
        let missed = desired::skill_files(&self.documents, root).into_iter().filter(|(file, _)| !tried(file));
        let missed: Vec<(String, Location)> = missed.collect();
        for (file, at) in missed {
            let folder = dir.join(&file).parent().is_some_and(Path::is_dir);
            let (text, mut parsed) = parse(project, &file, Form::Skill, profile);
            if text.is_none() {
                // A folder that is not there is told when its files are read.
                let told = if folder { parsed.found.0 } else { Vec::new() };
                parsed.found = Diagnostics(told.into_iter().map(|d| named_here(d, Some(at.clone()))).collect());
            }
            self.keep(file, text, parsed);
        }
    }
}

/// A folder without SKILL.md is no skill; one in which SKILL.md is a folder is a broken one.
pub(super) fn folders_for_files(found: Diagnostics, dir: &Path, project: &bundle::Project) -> Diagnostics {
    let looked = |d: Diagnostic| {
        let file = match d.place() {
            Some(at) if d.code == &bundle_code::NOT_A_SKILL => skill_file(&at.file),
            _ => return d,
        };
        if dir.join(&file).is_dir() { project.read_text(&file).err().unwrap_or(d) } else { d }
    };
    Diagnostics(found.0.into_iter().map(looked).collect())
}

/// What a place that discovery could not look into may declare.
fn hidden(d: &Diagnostic) -> Option<Unread> {
    let path = &*d.place().filter(|_| d.severity == Severity::Error)?.file;
    let file = path.rsplit('/').next().unwrap_or_default();
    Some(match file {
        file if file.eq_ignore_ascii_case("SKILL.md") => Unread::file(Form::Skill, path),
        file if Path::new(file).extension().is_some_and(|e| e == "md") => Unread::file(Form::AgentMarkdown, path),
        _ => Unread::ANY,
    })
}

fn skill_file(folder: &str) -> String {
    if folder == "." || folder.is_empty() { "SKILL.md".to_owned() } else { format!("{folder}/SKILL.md") }
}

fn is_at(d: &Diagnostic, file: &str) -> bool {
    d.place().is_some_and(|at| &*at.file == file)
}
