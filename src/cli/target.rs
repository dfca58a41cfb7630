//! Which workspace: the target that was asked for, and its control plane.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use crate::cli::env::Environment;
use crate::cli::failure::Failure;
use crate::cli::files::normalize;
use crate::cli::view::Printer;
use crate::cli::view::text::line;
use crate::control::embedded::{Embedded, EmbeddedOptions, OnFirstWrite};
use crate::control::remote::{Again, Remote, RemoteOptions, Secret};
use crate::control::{ControlError, ControlPlane};
use crate::diag::{bounded, codes};
use crate::model::config::{Config, Target};
use crate::model::op::{Context, Request, Response};
use crate::plan::Origin;

/// A workspace, chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the target.
    pub name: String,
    /// Path or URL, as `checkfu.yaml` writes it.
    pub written: String,
    /// Where it is.
    pub at: At,
}

/// Where a workspace is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A database.
    File(PathBuf),
    /// A server.
    Server(Server),
}

/// How a server is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The variable that holds the token.
    pub token: String,
    /// Certificates, PEM.
    pub ca: Option<PathBuf>,
    /// May the token go over plain HTTP to another machine?
    pub insecure: bool,
}

/// The control plane of a target.
pub enum Workspace {
    /// A database that is there.
    Embedded(Embedded),
    /// A database that the first write makes.
    New(OnFirstWrite),
    /// A server.
    Remote(Remote),
}

impl Workspace {
    /// What is kept between planning and applying: the connections to a server. A database is let go of, so that
    /// nobody waits for a person who is asked.
    pub fn connections(self) -> Option<Remote> {
        match self {
            Self::Remote(remote) => Some(remote),
            Self::Embedded(_) | Self::New(_) => None,
        }
    }
}

impl ControlPlane for Workspace {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        match self {
            Self::Embedded(embedded) => embedded.call(context, request).await,
            Self::New(new) => new.call(context, request).await,
            Self::Remote(remote) => remote.call(context, request).await,
        }
    }
}

impl Place {
    /// As a plan names it; workspace and epoch come from the workspace itself.
    pub fn origin(&self) -> Origin {
        let (kind, at) = match &self.at {
            At::File(_) => ("embedded", self.written.clone()),
            At::Server(_) => ("checkfu", without_secrets(&self.written)),
        };
        Origin { target: self.name.clone(), kind: kind.to_owned(), at, workspace: None, epoch: None }
    }

    /// Actions of an apply in flight. An embedded workspace has one writer that commits what waits together: more
    /// of them are fewer waits for the disk, not more load. A server is shared.
    pub fn in_flight(&self) -> usize {
        match &self.at {
            At::File(_) => 64,
            At::Server(_) => 10,
        }
    }

    /// Opens the workspace; none is made. One that is read-only can be read.
    pub fn open_existing(&self, printer: &Arc<Printer>) -> Result<Option<Workspace>, Failure> {
        match &self.at {
            At::File(path) => Ok(existing(path, printer)?.map(Workspace::Embedded)),
            At::Server(server) => self.remote(server, printer).map(Workspace::Remote).map(Some),
        }
    }

    /// Opens the workspace to write; where there is no database, the first write makes one. A server is asked over
    /// the connections that planning had; once `stop` is true, nothing is sent to it again.
    pub fn open(
        &self,
        planned: Option<Remote>,
        printer: &Arc<Printer>,
        stop: watch::Receiver<bool>,
    ) -> Result<Workspace, Failure> {
        match &self.at {
            At::File(path) => OnFirstWrite::open(path, options(printer)).map(Workspace::New).map_err(|e| opening(&e)),
            At::Server(server) => {
                let remote = planned.map_or_else(|| self.remote(server, printer), Ok)?;
                Ok(Workspace::Remote(remote.until(stop)))
            }
        }
    }

    /// Can the workspace be written, where there is one? A server says so itself, of each write.
    pub fn may_write(&self, printer: &Arc<Printer>) -> Result<(), Failure> {
        let At::File(path) = &self.at else { return Ok(()) };
        let found = existing(path, printer)?;
        found.map_or(Ok(()), |w| w.may_write()).map_err(|e| Failure::control("write the workspace", &e))
    }

    /// Opens the workspace for a command that never writes, where there is one: a file stays as it is to the last byte.
    pub fn open_to_look(&self, printer: &Arc<Printer>) -> Result<Option<Workspace>, Failure> {
        match &self.at {
            At::File(path) => {
                let found = Embedded::open_to_look(path, options(printer)).map_err(|e| opening(&e))?;
                Ok(found.map(Workspace::Embedded))
            }
            At::Server(server) => self.remote(server, printer).map(Workspace::Remote).map(Some),
        }
    }

    /// The same where there must be a workspace.
    pub fn open_to_read(&self, printer: &Arc<Printer>) -> Result<Workspace, Failure> {
        self.open_to_look(printer)?.ok_or_else(|| {
            let message = format!("target {} has no workspace yet: {} does not exist", self.name, self.written);
            Failure::new(&codes::cli::NO_WORKSPACE, message).fix("checkfu apply")
        })
    }

    fn remote(&self, server: &Server, printer: &Arc<Printer>) -> Result<Remote, Failure> {
        let token = Environment::secret(&server.token).ok_or_else(|| {
            let message = format!("target {} needs a token, and {} is not set", self.name, server.token);
            Failure::new(&codes::http::REMOTE_TOKEN, message)
                .fix(format!("set {} to a token of the server (`checkfu token create` makes one there)", server.token))
        })?;
        let ca = server.ca.as_deref().map(read).transpose()?;
        let printer = Arc::clone(printer);
        let told = move |again: &Again<'_>| {
            let error = line(&bounded(&again.error.message));
            printer.talk(&format!("{} is tried again in {} ms: {error}", again.operation, again.after.as_millis()));
        };
        let options = RemoteOptions::new(&self.written, Secret::new(token));
        Remote::new(RemoteOptions { ca, insecure: server.insecure, on_retry: Arc::new(told), ..options })
            .map_err(|e| Failure::control(&format!("use target {}", self.name), &e))
    }
}

fn existing(path: &Path, printer: &Arc<Printer>) -> Result<Option<Embedded>, Failure> {
    Embedded::open_existing(path, options(printer)).map_err(|e| opening(&e))
}

fn opening(error: &ControlError) -> Failure {
    Failure::control("open the workspace", error)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|e| Failure::new(&codes::http::REMOTE_TLS, format!("{} cannot be read: {e}", path.display())))
}

/// A URL without what may be a secret. One that has such parts is refused before anything is sent to it.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, String::new()), |(h, p)| (h, format!("/{p}")));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}").trim_end_matches('/').to_owned()
        }
        None => url.to_owned(),
    }
}

/// A wait is told: nothing else shows that the command has not stopped.
pub(super) fn options(printer: &Arc<Printer>) -> EmbeddedOptions {
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
    let target = config.targets.get(name).ok_or_else(|| unknown(format!("checkfu.yaml has no target `{name}`")))?;
    let (written, at) = match target {
        Target::Embedded { path } => (path.clone(), At::File(normalize(&project.join(path)))),
        Target::Checkfu { url, token, ca, insecure } => {
            let ca = ca.as_ref().map(|ca| normalize(&project.join(ca)));
            (url.clone(), At::Server(Server { token: token.env.clone(), ca, insecure: *insecure }))
        }
    };
    Ok(Place { name: name.to_owned(), written, at })
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
        let of = |config: &Config, asked| match choose(config, asked, Path::new("/p/q"))?.at {
            At::File(path) => Ok(path),
            At::Server(server) => panic!("{server:?}"),
        };
        let code = |r: Result<PathBuf, Failure>| r.unwrap_err().diagnostics.0[0].code.code;
        assert_eq!(of(&config(&two, Some("a")), Some("b")).unwrap(), Path::new("/p/b.db"));
        assert_eq!(of(&config(&two, Some("a")), None).unwrap(), Path::new("/p/q/a.db"));
        assert_eq!(code(of(&config(&two, None), None)), "cli.target_unknown");
        assert_eq!(code(of(&config(&two, None), Some("c"))), "cli.target_unknown");
        assert_eq!(
            of(&config(&json!({"x": {"kind": "embedded"}}), None), None).unwrap(),
            Path::new("/p/q/.checkfu/workspace.db")
        );
    }

    #[test]
    fn a_server_is_named_without_what_may_be_a_secret() {
        let url = "https://me:hunter2@x.example/base/?key=hunter2";
        let targets = json!({"s": {"kind": "checkfu", "url": url, "token": {"env": "T"}, "ca": "ca.pem"}});
        let place = choose(&config(&targets, None), None, Path::new("/p/q")).unwrap();
        let origin = place.origin();
        assert_eq!((origin.kind.as_str(), origin.at.as_str()), ("checkfu", "https://x.example/base"));
        let At::Server(server) = place.at else { panic!() };
        assert_eq!((server.token.as_str(), server.ca.as_deref()), ("T", Some(Path::new("/p/q/ca.pem"))));
    }
}
