//! Discovery: which files of a project declare something. Folders whose name begins with a dot, nested
//! projects and what the ignore rules leave out are passed over; nothing is followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;

use crate::bundle::project::{Fate, Place, relative};
use crate::bundle::rules::Scope;
use crate::bundle::walk::{Globs, link_refused};
use crate::bundle::{Found, Project, What, paths};
use crate::diag::{Diagnostic, Diagnostics, Location, Severity, codes::bundle as codes};
use crate::model::config::Discover;

/// The file that makes a folder a project.
const CONFIG: &str = "checkfu.yaml";

struct Wanted {
    manifests: Globs,
    agents: Globs,
    skills: Globs,
    exclude: Globs,
}

/// A link that was not followed.
struct Link {
    path: String,
    place: Place,
    /// To a folder, or to nothing that is there.
    folder: bool,
}

struct Search<'a> {
    project: &'a Project,
    wanted: Wanted,
    pending: Vec<(String, Place, Option<String>)>,
    found: Vec<Found>,
    /// Folders that `discover.skills` matches, and the files there whose name is SKILL.md in any case.
    skill_dirs: BTreeMap<String, Vec<String>>,
    /// Folders with SKILL.md.
    with_skill: Vec<String>,
    /// Folders that were looked into.
    folders: BTreeSet<String>,
    /// Links past which declarations may lie: whether one is an error shows once all is found.
    links: Vec<Link>,
    out: Diagnostics,
}

impl Project {
    /// What may declare resources, sorted by path: YAML files, agents in Markdown (never `README.md`), folders
    /// with `SKILL.md`. The project's own `checkfu.yaml` is not among them. YAML inside a folder that is
    /// content (a skill, a tree) is: only manifests can tell. Also warns about a repository or rule file that
    /// cannot be read.
    ///
    /// A folder that `discover.skills` matches and that holds no SKILL.md is no skill: a note, or, when
    /// skills lie deeper in it, a warning that says how to reach them. SKILL.md in another spelling is an
    /// error. A link where a skill, an agent or YAML is due, or to a folder below which a glob could match, is an
    /// error: passed over, what it declares would look removed. It is a note where its target is found by itself.
    ///
    /// `at` says where a glob is written, by option (`discover.skills`) and number in the list, if it can be told.
    pub fn discover(
        &self,
        d: &Discover,
        at: &dyn Fn(&'static str, usize) -> Option<Location>,
    ) -> (Vec<Found>, Diagnostics) {
        let mut out = Diagnostics::default();
        let wanted = Wanted {
            manifests: Globs::new(&d.manifests, "discover.manifests", at, &mut out),
            agents: Globs::new(&d.agents, "discover.agents", at, &mut out),
            skills: Globs::new(&d.skills, "discover.skills", at, &mut out),
            exclude: Globs::new(&d.exclude, "discover.exclude", at, &mut out),
        };
        let mut search = Search {
            project: self,
            wanted,
            pending: Vec::new(),
            found: Vec::new(),
            skill_dirs: BTreeMap::new(),
            with_skill: Vec::new(),
            folders: BTreeSet::new(),
            links: Vec::new(),
            out,
        };
        let start = Place { disk: self.folder.clone(), top: self.prefix.clone() };
        search.pending.push((String::new(), start, None));
        while let Some((path, place, inherited)) = search.pending.pop() {
            search.folder(&path, &place, inherited.as_deref());
        }
        search.skills();
        search.found.sort();
        search.links();
        search.out.extend(self.surroundings());
        search.out.sort();
        (search.found, search.out)
    }
}

impl Search<'_> {
    fn folder(&mut self, path: &str, place: &Place, inherited: Option<&str>) {
        let entries = match std::fs::read_dir(&place.disk) {
            Ok(entries) => entries,
            Err(e) => return self.out.push(self.project.unreadable(&place.top, &e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            match entry.and_then(|e| Ok((e.file_type()?, e.file_name()))) {
                Ok((kind, name)) => match name.into_string() {
                    Ok(name) => names.push((name, kind)),
                    Err(name) => self.not_utf8(path, &name.to_string_lossy()),
                },
                Err(e) => self.out.push(self.project.unreadable(&place.top, &e)),
            }
        }
        if !path.is_empty() && names.iter().any(|(n, kind)| n == CONFIG && kind.is_file()) {
            return;
        }
        self.folders.insert(path.to_owned());
        let scope = self.project.rules.scope(&place.top);
        for (name, kind) in names {
            let inner = Place { disk: place.disk.join(&name), top: paths::join(&place.top, &name) };
            self.entry(paths::join(path, &name), &name, kind, inner, &scope, inherited);
        }
        if !path.is_empty() && self.wanted.skills.matches(path).is_some() {
            self.skill_dirs.entry(path.to_owned()).or_default();
        }
    }

    fn entry(
        &mut self,
        path: String,
        name: &str,
        kind: FileType,
        place: Place,
        scope: &Scope,
        inherited: Option<&str>,
    ) {
        if (kind.is_dir() && name.starts_with('.')) || self.wanted.exclude.matches(&path).is_some() {
            return;
        }
        let inherited = match self.project.fate(scope, &place, kind.is_dir(), inherited) {
            Fate::Out(_) => return,
            Fate::In => None,
            Fate::TrackedOnly(why) => Some(why),
        };
        if kind.is_dir() && path.len() >= paths::MAX_PATH {
            let message =
                format!("folders deeper than 1,024 bytes of path are not searched, as in `{}…`", shortened(&path));
            let d = Diagnostic::new(&codes::BAD_PATH, message).severity(Severity::Warning);
            return self.out.push(d.at(Location::file(path), ""));
        }
        if kind.is_dir() {
            return self.pending.push((path, place, inherited));
        }
        if kind.is_symlink() {
            return self.link(path, name, place);
        }
        if !kind.is_file() {
            return self.special(&path, name);
        }
        if name.eq_ignore_ascii_case("SKILL.md") {
            let folder = path.rsplit_once('/').map_or("", |p| p.0).to_owned();
            if name == "SKILL.md" {
                self.with_skill.push(folder.clone());
            }
            if self.wanted.skills.matches(&folder).is_some() {
                self.skill_dirs.entry(folder).or_default().push(name.to_owned());
            }
        }
        if let Some(what) = self.what(&path, name) {
            self.found.push(Found { path, what });
        }
    }

    /// A name that is not UTF-8 can be no path of a declaration: where one is due it is told, elsewhere passed
    /// over. (Where it is content, the bundle refuses it.)
    fn not_utf8(&mut self, folder: &str, name: &str) {
        let path = paths::join(folder, name);
        if self.wanted.exclude.matches(&path).is_some() {
            return;
        }
        let is_skill = self.wanted.skills.matches(&path).is_some();
        let severity = match self.what(&path, name) {
            Some(What::Yaml) => Severity::Warning,
            None if !is_skill => return,
            _ => Severity::Error,
        };
        let d = Diagnostic::new(&codes::BAD_PATH, format!("the name of `{path}` is not UTF-8")).severity(severity);
        self.out.push(d.at(Location::file(path), ""));
    }

    /// A device, socket or FIFO in place of a declaration: passing it over would look as if it were removed.
    fn special(&mut self, path: &str, name: &str) {
        let severity = match self.what(path, name) {
            Some(What::Yaml) => Severity::Warning,
            Some(_) => Severity::Error,
            None => return,
        };
        let message = format!("`{path}` is a device, socket or FIFO");
        let d = Diagnostic::new(&codes::SPECIAL, message).severity(severity);
        self.out.push(d.at(Location::file(path), ""));
    }

    fn what(&self, path: &str, name: &str) -> Option<What> {
        if name != "README.md" && self.wanted.agents.matches(path).is_some() {
            Some(What::Agent)
        } else if path != CONFIG && self.wanted.manifests.matches(path).is_some() {
            Some(What::Yaml)
        } else {
            None
        }
    }

    fn link(&mut self, path: String, name: &str, place: Place) {
        let skill_file = name == "SKILL.md"
            && path.rsplit_once('/').is_some_and(|(folder, _)| self.wanted.skills.matches(folder).is_some());
        let folder = std::fs::metadata(&place.disk).map_or(true, |m| m.is_dir());
        match self.what(&path, name) {
            // the folder is a skill: its bundle refuses the link in the same words
            _ if skill_file => self.linked_skill(&path),
            // One that leads nowhere is the file that its name says.
            Some(What::Yaml) => {
                let folder = std::fs::metadata(&place.disk).is_ok_and(|m| m.is_dir());
                self.links.push(Link { path, place, folder });
            }
            Some(_) => self.refuse(&path, &place, Severity::Error),
            None if folder && self.wanted.skills.matches(&path).is_some() => {
                self.refuse(&path, &place, Severity::Error);
            }
            None if folder && !name.starts_with('.') => self.links.push(Link { path, place, folder }),
            None => {}
        }
    }

    fn refuse(&mut self, path: &str, place: &Place, severity: Severity) {
        let target = std::fs::read_link(&place.disk).unwrap_or_default();
        let d = link_refused(self.project, place, &target).severity(severity);
        let d = if severity == Severity::Error {
            d.hint("what it declares would look removed; if it declares nothing, list it in `discover.exclude`")
        } else {
            d
        };
        self.out.push(d.at(Location::file(path), ""));
    }

    /// Links that hide declarations, and those whose target is found by itself.
    fn links(&mut self) {
        for link in std::mem::take(&mut self.links) {
            let target = std::fs::canonicalize(&link.place.disk).ok().and_then(|t| relative(&t, &self.project.folder));
            let yaml = |path: &String| Found { path: path.clone(), what: What::Yaml };
            let found = match &target {
                None => false,
                Some(target) if link.folder => self.folders.contains(target),
                Some(target) => self.found.binary_search(&yaml(target)).is_ok(),
            };
            let severity = if link.folder {
                match self.hides(&link.path, found) {
                    None => continue,
                    Some(true) => Severity::Error,
                    Some(false) => Severity::Note,
                }
            } else if found {
                Severity::Note
            } else {
                Severity::Error
            };
            self.refuse(&link.path, &link.place, severity);
        }
    }

    /// Does a link to a folder hide what a glob could match below it? `None`: no glob could. What is looked for
    /// everywhere is found at the target, if that was looked into; anything else only where its glob says.
    fn hides(&self, path: &str, looked_into: bool) -> Option<bool> {
        let wanted = [&self.wanted.manifests, &self.wanted.agents, &self.wanted.skills];
        let below: Vec<&str> = wanted.into_iter().flat_map(|globs| globs.below(path)).collect();
        (!below.is_empty()).then(|| !looked_into || !below.iter().all(|glob| glob.starts_with("**/")))
    }

    fn linked_skill(&mut self, path: &str) {
        let folder = path.rsplit_once('/').map_or("", |p| p.0).to_owned();
        self.skill_dirs.entry(folder).or_default().push("SKILL.md".to_owned());
    }

    /// Which of the matched folders are skills.
    fn skills(&mut self) {
        for (folder, files) in std::mem::take(&mut self.skill_dirs) {
            if files.iter().any(|f| f == "SKILL.md") {
                self.found.push(Found { path: folder, what: What::SkillDir });
            } else if let Some(file) = files.first() {
                let message = format!("`{folder}/{file}` must be called exactly SKILL.md");
                let at = Location::file(format!("{folder}/{file}"));
                self.out.push(Diagnostic::new(&codes::SKILL_FILE_NAME, message).at(at, ""));
            } else {
                let inner = format!("{folder}/");
                let deeper = self.with_skill.iter().filter(|s| s.starts_with(&inner)).min();
                // a folder on the way to deeper matches is no mistake
                let reached = |s: &&String| self.wanted.skills.matches(s).is_some();
                let message = format!("`{folder}` holds no SKILL.md, so it is no skill");
                let mut d = Diagnostic::new(&codes::NOT_A_SKILL, message).at(Location::file(folder.as_str()), "");
                match deeper {
                    Some(s) if reached(&s) => continue,
                    Some(s) => {
                        let glob = deeper_glob(s);
                        d = d
                            .severity(Severity::Warning)
                            .hint(format!("`{s}` does: add `{glob}` to `discover.skills`"));
                    }
                    None => {}
                }
                self.out.push(d);
            }
        }
    }
}

/// The glob that reaches a folder and its neighbours: its first part, then `*` for every other.
fn deeper_glob(folder: &str) -> String {
    let mut parts = folder.split('/');
    let first = parts.next().unwrap_or_default();
    std::iter::once(first).chain(parts.map(|_| "*")).collect::<Vec<_>>().join("/")
}

fn shortened(path: &str) -> String {
    path.chars().take(60).collect()
}
