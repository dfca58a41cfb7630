//! Which workspace: the target that was asked for, and its control plane.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::failure::Failure;
use crate::cli::files::normalize;
use crate::cli::view::Printer;
use crate::control::embedded::{Embedded, EmbeddedOptions, OnFirstWrite};
use crate::diag::codes;
use crate::model::config::{Config, Target};
use crate::plan::Origin;

/// An embedded workspace, chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the target.
    pub name: String,
    /// As `checkfu.yaml` writes it.
    pub written: String,
    /// The database.
    pub path: PathBuf,
}

impl Place {
    /// As a plan names it; workspace and epoch come from the workspace itself.
    pub fn origin(&self) -> Origin {
        Origin {
            target: self.name.clone(),
            kind: "embedded".to_owned(),
            at: self.written.clone(),
            workspace: None,
            epoch: None,
        }
    }

    /// Opens the workspace; none is made. One that is read-only can be read.
    pub fn open_existing(&self, printer: &Arc<Printer>) -> Result<Option<Embedded>, Failure> {
        Embedded::open_existing(&self.path, options(printer)).map_err(|e| Failure::control("open the workspace", &e))
    }

    /// Opens the workspace; where there is none, the first write makes one.
    pub fn open(&self, printer: &Arc<Printer>) -> Result<OnFirstWrite, Failure> {
        OnFirstWrite::open(&self.path, options(printer)).map_err(|e| Failure::control("open the workspace", &e))
    }

    /// Can the workspace be written, where there is one?
    pub fn may_write(&self, printer: &Arc<Printer>) -> Result<(), Failure> {
        let found = self.open_existing(printer)?;
        found.map_or(Ok(()), |w| w.may_write()).map_err(|e| Failure::control("write the workspace", &e))
    }

    /// Opens the workspace for a command that only reads.
    pub fn open_to_read(&self, printer: &Arc<Printer>) -> Result<Embedded, Failure> {
        self.open_existing(printer)?.ok_or_else(|| {
            let message = format!("target {} has no workspace yet: {} does not exist", self.name, self.path.display());
            Failure::new(&codes::cli::NO_WORKSPACE, message).fix("checkfu apply")
        })
    }
}

/// A wait is told: nothing else shows that the command has not stopped.
fn options(printer: &Arc<Printer>) -> EmbeddedOptions {
    let printer = Arc::clone(printer);
    let options = EmbeddedOptions::default();
    let seconds = options.busy_timeout.as_secs();
    let told = format!("The workspace is held by another process; waiting for it, at most {seconds} s.");
    EmbeddedOptions { on_wait: Arc::new(move || printer.talk(&told)), ..options }
}

/// Chooses the target: the one asked for, else `default_target`, else `local`, else the only one.
pub fn choose(config: &Config, asked: Option<&str>, project: &Path) -> Result<Place, Failure> {
    let names: Vec<&str> = config.targets.keys().map(String::as_str).collect();
    let list = if names.is_empty() { "none is there".to_owned() } else { format!("there are {}", names.join(", ")) };
    let unknown = |message: String| Failure::new(&codes::cli::TARGET_UNKNOWN, message).fix(list.clone());
    let only = || if let [one] = names[..] { Some(one) } else { None };
    let name = asked
        .or(config.default_target.as_deref())
        .or_else(|| config.targets.contains_key("local").then_some("local"))
        .or_else(only)
        .ok_or_else(|| unknown("no target is named, and none is the default".to_owned()))?;
    match config.targets.get(name) {
        None => Err(unknown(format!("checkfu.yaml has no target `{name}`"))),
        Some(Target::Embedded { path }) => {
            Ok(Place { name: name.to_owned(), written: path.clone(), path: normalize(&project.join(path)) })
        }
        Some(Target::Checkfu { .. }) => Err(Failure::new(
            &codes::cli::TARGET_UNSUPPORTED,
            format!("target `{name}` is a server (kind checkfu), which this version cannot reach"),
        )
        .fix("name a target of kind embedded with --target")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(targets: &serde_json::Value, default: Option<&str>) -> Config {
        serde_json::from_value(json!({
            "apiVersion": "checkfu.com/v1", "kind": "Config", "authoring_owner": "acme/x",
            "targets": targets, "default_target": default,
        }))
        .unwrap()
    }

    #[test]
    fn the_target_is_asked_for_default_local_or_the_only_one() {
        let two = json!({"a": {"kind": "embedded", "path": "a.db"}, "b": {"kind": "embedded", "path": "../b.db"}});
        let of = |config: &Config, asked| choose(config, asked, Path::new("/p/q")).map(|p| p.path);
        let code = |r: Result<PathBuf, Failure>| r.unwrap_err().diagnostics.0[0].code.code;
        assert_eq!(of(&config(&two, Some("a")), Some("b")).unwrap(), Path::new("/p/b.db"));
        assert_eq!(of(&config(&two, Some("a")), None).unwrap(), Path::new("/p/q/a.db"));
        assert_eq!(code(of(&config(&two, None), None)), "cli.target_unknown");
        assert_eq!(code(of(&config(&two, None), Some("c"))), "cli.target_unknown");
        assert_eq!(
            of(&config(&json!({"x": {"kind": "embedded"}}), None), None).unwrap(),
            Path::new("/p/q/.checkfu/workspace.db")
        );
        let server = json!({"s": {"kind": "checkfu", "url": "https://x", "token": {"env": "T"}}});
        assert_eq!(code(of(&config(&server, None), None)), "cli.target_unsupported");
    }
}
