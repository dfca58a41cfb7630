//! The project that is pulled into: the one that is there, or a new one.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::args::Pull;
use crate::cli::commands::Run;
use crate::cli::commands::init::ignore_file;
use crate::cli::failure::Failure;
use crate::cli::files::{CONFIG, find_project};
use crate::cli::session::{load_project, target};
use crate::cli::target::{Place, choose};
use crate::cli::writer::{Over, Planned};
use crate::diag::{Diagnostics, LineIndex, codes};
use crate::manifest::{self, emit_in_order};
use crate::model::config::{Config, Policy};
use crate::model::{Address, Owner};
use crate::reconcile::Desired;
use crate::reconcile::load::Loaded;

/// The variable that holds the token of a server, unless `checkfu.yaml` says otherwise.
const TOKEN: &str = "CHECKFU_API_KEY";
/// The keys of a configuration in the order of its reference.
const KEYS: [&str; 8] = ["apiVersion", "kind", "authoring_owner", "targets", "policy", "address", "target", "id"];

/// A project, maybe one that is about to be.
pub(in crate::cli::commands) struct Here {
    /// Its folder.
    pub(in crate::cli::commands) dir: PathBuf,
    /// The text of its `checkfu.yaml`.
    pub(in crate::cli::commands) text: String,
    /// What that says.
    pub(in crate::cli::commands) config: Config,
    /// What was loaded; `None` for a new one.
    pub(in crate::cli::commands) loaded: Option<Loaded>,
}

impl Here {
    /// The project above the current directory, or with `--owner` a new one in it. A project with errors is left
    /// alone: what it declares is not known.
    pub(in crate::cli::commands) fn open(run: &Run, args: &Pull) -> Result<Self, Failure> {
        if let Some(owner) = &args.owner {
            return Self::new(run, owner, args.workspace.as_deref());
        }
        let dir = find_project(&run.cwd).map_err(|f| f.hint("or make one here: `checkfu pull --owner OWNER`"))?;
        let (_, loaded) = load_project(run, None)?;
        if loaded.desired.is_none() {
            return Err(Failure::many(loaded.diagnostics, loaded.sources));
        }
        let text = std::fs::read_to_string(dir.join(CONFIG))
            .map_err(|e| Failure::new(&codes::cli::READ, format!("{CONFIG} cannot be read: {e}")))?;
        Ok(Self { dir, text, config: loaded.config.clone(), loaded: Some(loaded) })
    }

    fn new(run: &Run, owner: &str, workspace: Option<&str>) -> Result<Self, Failure> {
        let dir = run.cwd.clone();
        if dir.join(CONFIG).symlink_metadata().is_ok() {
            let message = format!("{CONFIG} is there already, so no new project is made");
            return Err(Failure::new(&codes::cli::EXISTS, message).fix("leave --owner out"));
        }
        let owner: Owner = owner
            .parse()
            .map_err(|e: crate::model::address::AddressError| Failure::new(&codes::cli::NAME, e.to_string()))?;
        let text = configuration(&owner, workspace, None);
        let (config, found) = manifest::config(&LineIndex::new(CONFIG, text.as_str()));
        let config = config.ok_or_else(|| Failure::many(found, std::collections::BTreeMap::new()))?.config;
        Ok(Self { dir, text, config, loaded: None })
    }

    /// Is the project still to be made?
    pub(in crate::cli::commands) fn is_new(&self) -> bool {
        self.loaded.is_none()
    }

    /// What the project wants.
    pub(in crate::cli::commands) fn desired(&self) -> Option<&Desired> {
        self.loaded.as_ref()?.desired.as_ref()
    }

    /// Is this declared?
    pub(in crate::cli::commands) fn declares(&self, address: &Address) -> bool {
        self.desired().is_some_and(|d| d.resources.contains_key(address))
    }

    /// Its workspace.
    pub(in crate::cli::commands) fn place(&self, run: &Run) -> Result<Place, Failure> {
        choose(&self.config, target(run), &self.dir)
    }

    /// Of a new project: the policy that its owner applied is part of what is pulled.
    pub(in crate::cli::commands) fn take_policy(&mut self, workspace: Option<&str>, policy: Option<Policy>) {
        if self.is_new() {
            self.text =
                configuration(&self.config.authoring_owner, workspace, policy.filter(|p| *p != Policy::default()));
        }
    }

    /// `checkfu.yaml` and, of a new project, what Git is not to see.
    pub(in crate::cli::commands) fn own_files(&self, text: String) -> Result<Vec<Planned>, Failure> {
        let file = |path: &str, text: String, over| Planned {
            path: path.to_owned(),
            bytes: text.into_bytes(),
            executable: false,
            link: false,
            over,
        };
        let mut out = Vec::new();
        if self.is_new() {
            out.extend(ignore_file(&self.dir)?.map(|f| file(&f.path, f.text, Over::Always)));
        }
        if self.is_new() || text != self.text {
            // Made of the text that was read; one that changed since is not overwritten.
            let over = Over::If(crate::model::Digest::of(self.text.as_bytes()));
            out.push(file(CONFIG, text, over));
        }
        Ok(out)
    }
}

fn configuration(owner: &Owner, workspace: Option<&str>, policy: Option<Policy>) -> String {
    let remote = |w: &&str| w.starts_with("http://") || w.starts_with("https://");
    let targets = match workspace {
        Some(url) if remote(&url) => json!({ "server": { "kind": "checkfu", "url": url, "token": { "env": TOKEN } } }),
        path => json!({ "local": { "kind": "embedded", "path": path.unwrap_or(".checkfu/workspace.db") } }),
    };
    let mut value = json!({
        "apiVersion": "checkfu.com/v1", "kind": "Config", "authoring_owner": owner, "targets": targets,
    });
    if let Some(policy) = policy {
        value["policy"] = json!(policy);
    }
    emit_in_order(&value, &KEYS)
}

/// Ends a command with these, if one is an error.
pub(in crate::cli::commands) fn or_fail(found: Diagnostics) -> Result<Diagnostics, Failure> {
    if found.has_errors() { Err(Failure::many(found, std::collections::BTreeMap::new())) } else { Ok(found) }
}
