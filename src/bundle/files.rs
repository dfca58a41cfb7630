//! One folder (or file) becomes a set of files: walk, check names, hash in parallel, check limits.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::bundle::git::{Git, Tracked};
use crate::bundle::walk::{self, Candidate, Walked};
use crate::bundle::{BundleReport, BundleWant, Project, Purpose, limits, links, named, paths};
use crate::diag::codes::manifest::CONFLICT_MARKER;
use crate::diag::{Diagnostic, Diagnostics, Location, Severity, codes::bundle as codes};
use crate::model::Digest;
use crate::model::tree::{self, Entry, FileSet};

impl Project {
    /// The set of files under a path, with digests after line ends are normalized. No set when anything is an
    /// error; every error of the set is told at once.
    pub fn files(&self, want: &BundleWant) -> (Option<FileSet>, BundleReport, Diagnostics) {
        let mut want = want.clone();
        want.keep_symlinks &= want.purpose == Purpose::Tree;
        let mut report = BundleReport::default();
        let mut walked = match self.walk(&want) {
            Ok(walked) => walked,
            Err(d) => return (None, report, Diagnostics(vec![*d])),
        };
        let mut out = std::mem::take(&mut walked.diagnostics);
        let mut candidates = std::mem::take(&mut walked.candidates);
        candidates.sort_by(|a, b| a.path.cmp(&b.path));
        report.left_out = walked.left_out;
        report.left_out.sort();
        report.untracked = self.untracked(&candidates);
        say_empty(&want, &candidates, &report, &mut out);
        say_untracked(&want, &report, &mut out);
        self.check_names(&want, &candidates, &mut out);
        let entries = self.hash(&want, &candidates, &mut out);
        out.extend(self.bad_rules());
        out.sort();
        let set = if out.has_errors() { None } else { Some(FileSet::new(entries)) };
        (set, report, out)
    }

    fn walk(&self, want: &BundleWant) -> Result<Walked, Box<Diagnostic>> {
        let start = self.place(&want.path, true).map_err(|e| Box::new(self.no_place(&want.path, e)))?;
        let metadata = start.disk.symlink_metadata().map_err(|e| Box::new(self.unreadable(&start.top, &e)))?;
        let kind = metadata.file_type();
        let at = Location::file(self.shown(&start.top));
        if !kind.is_dir() && !kind.is_file() {
            let special = Diagnostic::new(&codes::SPECIAL, format!("`{}` is no folder", want.path));
            return Err(Box::new(special.at(at, "")));
        }
        if kind.is_file() && want.purpose != Purpose::Tree {
            let message = format!("`{}` is a file, a folder is due", want.path);
            return Err(Box::new(Diagnostic::new(&codes::NOT_A_FOLDER, message).at(at, "")));
        }
        Ok(walk::walk(self, want, start))
    }

    fn at(&self, candidate: &Candidate) -> (String, Location) {
        let shown = paths::nfc(&self.shown(&candidate.place.top));
        (shown.clone(), Location::file(shown))
    }

    fn untracked(&self, candidates: &[Candidate]) -> Vec<String> {
        if self.git.as_ref().is_none_or(|g| Git::problem(g).is_some()) {
            return Vec::new();
        }
        let mut untracked: Vec<String> =
            candidates.iter().filter(|c| self.tracked(&c.place.top).is_none()).map(|c| self.at(c).0).collect();
        untracked.sort();
        untracked
    }

    fn check_names(&self, want: &BundleWant, candidates: &[Candidate], out: &mut Diagnostics) {
        let allowed = named::meant(&want.allow_secret_names);
        for candidate in candidates {
            let (shown, at) = self.at(candidate);
            let mut say = |code, severity: Option<Severity>, message: String| {
                let d = Diagnostic::new(code, message).at(at.clone(), "");
                out.push(if let Some(s) = severity { d.severity(s) } else { d });
            };
            let path = paths::nfc(&candidate.path);
            if path.len() > paths::MAX_PATH {
                let message = format!("the path `{shown}` has {} bytes, at most 1,024 are kept", path.len());
                say(&codes::BAD_PATH, None, message);
            }
            if let Some(what) = paths::windows_refuses(&path) {
                let tracked = self.tracked(&candidate.place.top).map(|_| Severity::Warning);
                say(&codes::WINDOWS_NAME, tracked, format!("`{shown}` has {what}, which Windows cannot hold"));
            }
            let name = path.rsplit('/').next().unwrap_or_default();
            if paths::looks_secret(name) && !allowed.contains(&shown) {
                say(&codes::SECRET_NAME, None, format!("`{shown}` has a name that looks like a secret"));
            }
            if want.purpose == Purpose::Skill && name == "SKILL.md" && path != name {
                say(&codes::NESTED_SKILL, None, format!("`{shown}` is a second SKILL.md inside the skill"));
            }
        }
        if want.purpose == Purpose::Skill {
            self.check_skill_file(candidates, out);
        }
        self.check_twins(candidates, out);
    }

    fn check_skill_file(&self, candidates: &[Candidate], out: &mut Diagnostics) {
        if candidates.iter().any(|c| c.path == "SKILL.md") {
            return;
        }
        if let Some(other) = candidates.iter().find(|c| c.path.eq_ignore_ascii_case("SKILL.md")) {
            let (shown, at) = self.at(other);
            let message = format!("`{shown}` must be called exactly SKILL.md");
            out.push(Diagnostic::new(&codes::SKILL_FILE_NAME, message).at(at, ""));
        }
    }

    /// Paths, and folders above them, that another system takes for one.
    fn check_twins(&self, candidates: &[Candidate], out: &mut Diagnostics) {
        for twins in tree::twins(candidates.iter().map(|c| c.path.as_str())) {
            let at = self.at(&candidates[twins.number]).1;
            out.push(Diagnostic::new(&codes::CASE_TWIN, twins.to_string()).at(at, ""));
        }
    }

    fn hash(&self, want: &BundleWant, candidates: &[Candidate], out: &mut Diagnostics) -> Vec<Entry> {
        let on_disk: Vec<(String, u64)> = candidates.iter().map(|c| (self.at(c).0, c.metadata.len())).collect();
        // a CRLF check-out is larger than what counts, but never more than twice as large
        let read_limit = 2 * limits::file_limit(want.purpose);
        let mut early = Diagnostics::default();
        limits::check(want.purpose, &want.path, &on_disk, &mut early);
        let total: u64 = on_disk.iter().map(|f| f.1).sum();
        if early.has_errors() && (limits::hopeless(want.purpose, candidates.len(), total)) {
            out.extend(early);
            return Vec::new();
        }
        let base = self.place(&want.path, true).map(|p| p.disk).unwrap_or_default();
        let names: BTreeSet<&str> = candidates.iter().map(|c| c.path.as_str()).collect();
        let found: Vec<Result<(Entry, Option<Diagnostic>), Failed>> = candidates
            .par_iter()
            .map(|c| match &c.link {
                Some(target) => self.link_entry(c, target, &base, &names).map_err(Failed::Said),
                None if c.metadata.len() > read_limit => Err(Failed::Large),
                None => self.file_entry(want, c, read_limit).map_err(Failed::Said),
            })
            .collect();
        let mut entries = Vec::new();
        let mut sizes = Vec::new();
        for ((shown, size), found) in on_disk.into_iter().zip(found) {
            match found {
                Ok((entry, warning)) => {
                    sizes.push((shown, entry.size));
                    entries.push(entry);
                    out.0.extend(warning);
                }
                Err(Failed::Large) => sizes.push((shown, size)),
                Err(Failed::Said(d)) => out.push(*d),
            }
        }
        limits::check(want.purpose, &want.path, &sizes, out);
        entries
    }

    fn link_entry(
        &self,
        candidate: &Candidate,
        target: &std::path::Path,
        base: &std::path::Path,
        names: &BTreeSet<&str>,
    ) -> Result<(Entry, Option<Diagnostic>), Box<Diagnostic>> {
        if let Some(why) = links::refused(candidate, target, base, names) {
            let refused = walk::link_refused(self, &candidate.place, target);
            let (_, at) = self.at(candidate);
            return Err(Box::new(refused.at(at, "").hint(format!("it cannot be kept: it has {why}"))));
        }
        let text = target.to_string_lossy();
        let entry = Entry {
            path: paths::nfc(&candidate.path),
            executable: false,
            symlink: true,
            size: text.len() as u64,
            sha256: Digest::of(text.as_bytes()),
        };
        Ok((entry, None))
    }

    fn file_entry(
        &self,
        want: &BundleWant,
        candidate: &Candidate,
        limit: u64,
    ) -> Result<(Entry, Option<Diagnostic>), Box<Diagnostic>> {
        let (shown, at) = self.at(candidate);
        let fail = |code, message: String| Box::new(Diagnostic::new(code, message).at(at.clone(), ""));
        let place = &candidate.place;
        let tracked = self.tracked(&place.top);
        if matches!(tracked, Some(Tracked::Blob { mode: 0o120_000, .. })) {
            return Err(fail(&codes::SYMLINK, format!("`{shown}` is a symbolic link in Git, checked out as a file")));
        }
        if let Some(attribute) = candidate.scope.attributes(&place.top).rewritten_by() {
            return Err(fail(&codes::ATTRIBUTE, format!("`{shown}` has the Git attribute `{attribute}`")));
        }
        let utf8 = want.purpose == Purpose::Memory;
        let content = self
            .content(place, &candidate.scope, &candidate.metadata, limit, utf8)
            .map_err(|e| Box::new(self.unreadable(&place.top, &e)))?;
        if content.known.lfs {
            return Err(fail(&codes::LFS_POINTER, format!("`{shown}` is a pointer of Git LFS, not the file")));
        }
        if utf8 && content.known.utf8 == Some(false) {
            return Err(fail(&codes::NOT_UTF8, format!("`{shown}` is not UTF-8 text")));
        }
        // A memory is read by an agent, marks and all. Another file may be about conflicts: there only one that `pull`
        // wrote is refused.
        if let Some(line) = content.known.conflict.filter(|_| utf8).or(content.known.pulled) {
            let message = format!("`{shown}` holds the mark of a conflict in line {line}");
            return Err(Box::new(Diagnostic::new(&CONFLICT_MARKER, message).at(Location { line, ..at.clone() }, "")));
        }
        let warning = content.blob_problem.map(|why| {
            let message =
                format!("the blob of `{shown}` cannot be read, so its line ends are taken as they are: {why}");
            *fail(&codes::GIT_UNREADABLE, message)
        });
        let entry = Entry {
            path: paths::nfc(&candidate.path),
            executable: executable(tracked, &candidate.metadata),
            symlink: false,
            size: content.known.size,
            sha256: content.known.sha256,
        };
        Ok((entry, warning))
    }
}

/// A set without files: an error when something was left out, since that is hardly ever meant.
fn say_empty(want: &BundleWant, candidates: &[Candidate], report: &BundleReport, out: &mut Diagnostics) {
    if !candidates.is_empty() || out.has_errors() {
        return;
    }
    let at = Location::file(paths::normalize(&want.path).unwrap_or_default());
    let meant = report.left_out.iter().find(|(_, why)| why != walk::OWN_RULES);
    let empty = match meant {
        None => Diagnostic::new(&codes::EMPTY, format!("`{}` holds no file", want.path)),
        Some((first, why)) => {
            let message = format!("everything in `{}` is left out", want.path);
            let reason = format!("`{first}`: {why}");
            Diagnostic::new(&codes::EMPTY, message).severity(Severity::Error).hint(reason)
        }
    };
    out.push(empty.at(at, ""));
}

/// One warning, however many files.
fn say_untracked(want: &BundleWant, report: &BundleReport, out: &mut Diagnostics) {
    let Some(first) = report.untracked.first() else { return };
    let names: Vec<String> = report.untracked.iter().take(3).map(|u| format!("`{u}`")).collect();
    let more = match report.untracked.len() {
        0..=3 => String::new(),
        n => format!(" and {} more", n - 3),
    };
    let n = report.untracked.len();
    let files = if n == 1 { "a file" } else { &format!("{n} files") };
    let message = format!("`{}` holds {files} that Git does not track: {}{more}", want.path, names.join(", "));
    out.push(Diagnostic::new(&codes::UNTRACKED, message).at(Location::file(first.as_str()), ""));
}

/// Why a candidate has no entry.
enum Failed {
    /// Too large to be read; the limits will say so.
    Large,
    /// This.
    Said(Box<Diagnostic>),
}

/// The one mode bit: from Git where it knows the file, so that file systems without modes agree.
fn executable(tracked: Option<Tracked>, metadata: &std::fs::Metadata) -> bool {
    match tracked {
        Some(Tracked::Blob { mode, .. }) => mode == 0o100_755,
        Some(Tracked::Submodule) | None => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                metadata.permissions().mode() & 0o100 != 0
            }
            #[cfg(not(unix))]
            {
                let _ = metadata;
                false
            }
        }
    }
}
