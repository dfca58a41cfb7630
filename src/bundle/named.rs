//! A text that a manifest names by its path: what would keep a file of a folder out is told of it too.

use std::collections::BTreeSet;

use crate::bundle::git::Git;
use crate::bundle::project::Fate;
use crate::bundle::{Project, paths, walk};
use crate::diag::{Diagnostic, Diagnostics, Location, codes::bundle as codes};

/// Files that are meant though their names look like secrets, in the form in which they are compared.
pub(crate) fn meant(allow_secret_names: &[String]) -> BTreeSet<String> {
    allow_secret_names.iter().filter_map(|p| paths::normalize(p)).map(|p| paths::nfc(&p)).collect()
}

impl Project {
    /// What speaks against a text that goes to agents, read by [`Project::read_text`]: a name that looks like a
    /// secret (its own, or that of what a link leads to) is an error, unless `allow_secret_names` lists it; one that
    /// another check-out does not have is a warning. Nothing is said of what is not there.
    pub fn check_text(&self, path: &str, allow_secret_names: &[String]) -> Diagnostics {
        let mut out = Diagnostics::default();
        let Ok(place) = self.place(path, true) else { return out };
        let shown = paths::nfc(&self.shown(&place.top));
        let at = || Location::file(shown.as_str());
        let meant = meant(allow_secret_names);
        let written = paths::normalize(path).map(|p| paths::nfc(&p)).unwrap_or_default();
        let is_secret = |path: &str| paths::looks_secret(path.rsplit('/').next().unwrap_or_default());
        if let Some(secret) = [&written, &shown].into_iter().find(|p| is_secret(p))
            && !meant.contains(&shown)
            && !meant.contains(&written)
        {
            let message = format!("`{secret}` has a name that looks like a secret");
            out.push(Diagnostic::new(&codes::SECRET_NAME, message).at(at(), ""));
            return out;
        }
        let untracked = |message: String| Diagnostic::new(&codes::UNTRACKED, message).at(at(), "");
        if let Fate::Out(why) = walk::inherited(self, &place) {
            out.push(untracked(format!("`{shown}` is read though it is left out: {why}")));
        } else if self.git.as_ref().is_some_and(|g| Git::problem(g).is_none()) && self.tracked(&place.top).is_none() {
            out.push(untracked(format!("`{shown}` is not tracked by Git")));
        }
        out
    }
}
