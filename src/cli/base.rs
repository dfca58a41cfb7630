//! What files change against an earlier commit: finds and loads it, and plans from it as from a workspace.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::failure::Failure;
use crate::cli::session::today;
use crate::diag::codes::bundle::NO_BASE;
use crate::model::config::Policy;
use crate::model::op::Source;
use crate::plan::{self, Origin, Plan};
use crate::reconcile::load::LoadOptions;
use crate::reconcile::{self, Base, BaseOf, Desired, Earlier};

/// Loads the project in `dir` as an earlier commit has it.
///
/// # Errors
/// The commit is not here, or cannot be read.
pub fn find(dir: &Path, of: BaseOf<'_>) -> Result<Base, Failure> {
    let options = LoadOptions { profile: None, today: today() };
    reconcile::base(dir, of, &options).map_err(|e| Failure::caused(&NO_BASE, &e))
}

/// What the earlier commit wanted; nothing, where it has no such project.
///
/// # Errors
/// The project had errors then.
pub fn desired<'b>(base: &'b Base, head: &Desired) -> Result<Cow<'b, Desired>, Failure> {
    let short: String = base.commit.chars().take(12).collect();
    let found = match &base.project {
        Earlier::Absent => {
            return Ok(Cow::Owned(Desired {
                owner: head.owner.clone(),
                resources: BTreeMap::new(),
                policy: Policy::default(),
                moved: Vec::new(),
                removed: Vec::new(),
                adopt: Vec::new(),
                accept: Vec::new(),
                lines: BTreeMap::new(),
                source: Source { commit: Some(base.commit.clone()), ..Source::default() },
            }));
        }
        Earlier::Loaded(loaded) => match &loaded.desired {
            Some(desired) => return Ok(Cow::Borrowed(desired)),
            None => &loaded.diagnostics,
        },
        Earlier::Broken(error) => &error.diagnostics,
    };
    let shown = found.shown();
    let first = shown.0.first().map(|d| match d.place() {
        Some(at) => format!(": {at}: {}", d.message),
        None => format!(": {}", d.message),
    });
    let message = format!("the project has errors in commit {short}{}", first.unwrap_or_default());
    Err(Failure::new(&NO_BASE, message).fix("compare with a commit that validates"))
}

/// What the files change against it. `name` is what a person called it.
pub fn plan(base: &Base, desired: &Desired, head: &Desired, options: &plan::Options) -> Plan {
    plan::since(desired, head, &plan::Options { origin: origin(base, &options.origin.target), ..options.clone() })
}

/// An earlier commit in the place of a workspace, under the name that a person gave it.
pub fn origin(base: &Base, name: &str) -> Origin {
    Origin {
        target: name.to_owned(),
        kind: "commit".to_owned(),
        at: base.commit.chars().take(12).collect(),
        workspace: Some(base.commit.clone()),
        epoch: Some(String::new()),
    }
}
