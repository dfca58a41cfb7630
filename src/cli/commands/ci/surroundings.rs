//! Where a run is: on GitHub, on GitLab, or anywhere else; its files, folders and addresses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::ci::Inputs;
use crate::ci::inputs::{INPUTS, PREFIX, Reader, TOKEN_VARIABLE};
use crate::cli::args::{Ci as Args, ProviderArg};
use crate::cli::commands::Run;
use crate::cli::failure::Failure;
use crate::cli::files::normalize;
use crate::cli::view::Printer;
use crate::diag::codes::ci as codes;

/// Who runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// GitHub Actions, or what runs its workflows.
    GitHub,
    /// GitLab CI.
    GitLab,
    /// Any other: report files alone.
    Plain,
}

/// Where a run is.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Who runs it.
    pub provider: Provider,
    /// Top of the check-out.
    pub top: PathBuf,
    /// Where files of this run may lie; its steps share it.
    pub temp: PathBuf,
    /// `GITHUB_…`, `RUNNER_…`, `CI_…`, `GITLAB_…` and the inputs, as they are set.
    variables: BTreeMap<String, String>,
}

impl Surroundings {
    /// Looks around.
    ///
    /// # Errors
    /// A provider that is asked for and is not there.
    pub fn read(run: &Run, args: &Args) -> Result<Self, Failure> {
        let variables = run.environment.ci.clone();
        let set = |name: &str| variables.get(name).is_some_and(|v| v == "true");
        let provider = match args.provider {
            Some(ProviderArg::Github) => Provider::GitHub,
            Some(ProviderArg::Gitlab) => Provider::GitLab,
            Some(ProviderArg::Plain) => Provider::Plain,
            None if set("GITHUB_ACTIONS") => Provider::GitHub,
            None if set("GITLAB_CI") => Provider::GitLab,
            None => Provider::Plain,
        };
        let folder = |name: &str| variables.get(name).map(PathBuf::from);
        let (top, temp) = match provider {
            Provider::GitHub => (folder("GITHUB_WORKSPACE"), folder("RUNNER_TEMP")),
            Provider::GitLab => (folder("CI_PROJECT_DIR"), folder("CI_PROJECT_DIR")),
            Provider::Plain => (None, None),
        };
        if provider == Provider::GitHub && (top.is_none() || temp.is_none()) {
            return Err(Failure::new(&codes::SURROUNDINGS, "GITHUB_WORKSPACE or RUNNER_TEMP is not set"));
        }
        let (top, temp) = (top.unwrap_or_else(|| run.cwd.clone()), temp.unwrap_or_else(|| run.cwd.clone()));
        Ok(Self { provider, top, temp, variables })
    }

    /// A variable of the runner; `None` where it is not set or empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// A path of the project as one from the top of the repository, with `/`; `None` outside of it.
    pub fn from_top(&self, project: &Path, file: &str) -> Option<String> {
        let (top, path) = (normalize(&self.top), normalize(&project.join(file)));
        let parts = path.strip_prefix(top).ok()?.components();
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        Some(parts.join("/"))
    }

    /// Where the plan is: as given, else below the folder that the steps of a job share, named by the key.
    pub fn plan_file(&self, inputs: &Inputs) -> PathBuf {
        match &inputs.plan_file {
            Some(path) => self.top.join(path),
            None => self.temp.join("checkfu").join(format!("{}.plan.json", inputs.key())),
        }
    }

    /// The inputs by name: from variables, and over them those of the command line.
    ///
    /// # Errors
    /// An argument that is not `NAME=VALUE`.
    pub fn inputs(&self, args: &Args) -> Result<BTreeMap<String, String>, Failure> {
        let mut texts = BTreeMap::new();
        for (name, value) in &self.variables {
            if let Some(rest) = name.strip_prefix(PREFIX) {
                texts.insert(rest.to_ascii_lowercase().replace('_', "-"), value.clone());
            }
        }
        if let Some(token) = self.variable(TOKEN_VARIABLE) {
            texts.insert("github-token".to_owned(), token.to_owned());
        }
        for text in &args.inputs {
            let (name, value) = text.split_once('=').ok_or_else(|| {
                Failure::new(&codes::INPUT, format!("`{}` is not NAME=VALUE", crate::diag::bounded(text)))
            })?;
            texts.insert(name.to_owned(), value.to_owned());
        }
        if let Some(mode) = &args.mode {
            texts.insert("mode".to_owned(), mode.clone());
        }
        // What the action's script reads may be set for it alone.
        texts.retain(|name, _| INPUTS.iter().all(|i| i.name != name || i.reader == Reader::Program));
        Ok(texts)
    }

    /// On GitHub a line of a log can be a command of the runner: from here on none is obeyed, until the text that is
    /// given back is printed.
    pub fn silence(&self, printer: &Printer) -> Option<String> {
        (self.provider == Provider::GitHub).then(|| {
            let token = format!("checkfu-{}", uuid::Uuid::now_v7().simple());
            printer.one_stream();
            printer.raw(&format!("::stop-commands::{token}\n"));
            token
        })
    }
}
