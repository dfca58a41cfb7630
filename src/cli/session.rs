//! What plan, apply and destroy share: load the project, choose the target, plan.

use crate::cli::args::What;
use crate::cli::commands::Run;
use crate::cli::failure::Failure;
use crate::cli::files::{find_project, scope_argument};
use crate::cli::target::{Place, Workspace, choose};
use crate::cli::view::diagnostics::{self, Options as Shown};
use crate::diag::{Diagnostic, Severity, codes};
use crate::model::config::{Allowance, Config, Policy};
use crate::model::op::Context;
use crate::plan::{self, Plan, Scope};
use crate::reconcile::Desired;
use crate::reconcile::load::{CONFIG_FILE, LoadOptions, Loaded, Profile, load};

/// A project that loaded without an error, and the workspace it is about.
pub struct Session {
    /// The folder with `checkfu.yaml`.
    pub dir: std::path::PathBuf,
    /// What was loaded.
    pub loaded: Loaded,
    /// The target.
    pub place: Place,
    /// What is desired is what an earlier apply left, not what was loaded.
    pub rollback: bool,
    /// See [`plan::Options::limits`].
    pub limits: Option<Policy>,
}

/// What is planned beside the files.
pub struct Wish {
    /// Scope, reverts, allowances.
    pub what: What,
    /// Retire everything.
    pub destroy: bool,
}

/// Loads the project; all errors at once.
pub fn load_project(run: &Run, profile: Option<Profile>) -> Result<(std::path::PathBuf, Loaded), Failure> {
    let dir = find_project(&run.cwd)?;
    let options = LoadOptions { profile, today: today() };
    let loaded = load(&dir, &options).map_err(|e| Failure::many(e.diagnostics, e.sources))?;
    // Nothing is done, nor read, by a configuration that may mean something else.
    let of_config = |d: &Diagnostic| d.labels.first().is_some_and(|l| *l.at.file == *CONFIG_FILE);
    let misspelt = |d: &Diagnostic| d.code.code == codes::manifest::UNKNOWN_KEY.code && of_config(d);
    if loaded.diagnostics.0.iter().any(misspelt) {
        return Err(Failure::many(loaded.diagnostics, loaded.sources));
    }
    Ok((dir, loaded))
}

/// Loads a project without errors. Warnings are told on stderr, errors end it.
pub fn load_sound(run: &Run) -> Result<(std::path::PathBuf, Loaded), Failure> {
    let (dir, loaded) = load_project(run, None)?;
    if loaded.desired.is_none() || loaded.diagnostics.has_errors() {
        return Err(Failure::many(loaded.diagnostics, loaded.sources));
    }
    if loaded.diagnostics.count(Severity::Warning) > 0 {
        let shown = Shown { width: run.printer.err_width };
        run.printer.talk(&diagnostics::report(&loaded.diagnostics, &loaded.sources, shown));
    }
    Ok((dir, loaded))
}

/// Loads the project and chooses the target. Warnings are told on stderr, errors end it.
pub fn open(run: &Run) -> Result<Session, Failure> {
    let (dir, loaded) = load_sound(run)?;
    let place = choose(&loaded.config, target(run), &dir)?;
    Ok(Session { dir, loaded, place, rollback: false, limits: None })
}

/// The target that is asked for: the option, else the environment.
pub fn target(run: &Run) -> Option<&str> {
    run.global.target.as_deref().or(run.environment.target.as_deref())
}

/// Who acts, as whom. Who has the file of an embedded workspace is its admin; a server goes by the token instead.
pub fn context(run: &Run, config: &Config) -> Context {
    Context { actor: actor(run), owner: Some(config.authoring_owner.clone()), admin: true, ..Context::default() }
}

/// Who acts.
pub fn actor(run: &Run) -> String {
    run.environment.actor.clone().unwrap_or_else(|| "local".to_owned())
}

/// Today, in UTC, so that two machines agree.
pub fn today() -> jiff::civil::Date {
    jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date()
}

impl Session {
    /// What planning is told.
    pub fn options(&self, run: &Run, wish: &Wish) -> plan::Options {
        let options = options(run, wish, &self.dir, self.place.origin());
        plan::Options { rollback: self.rollback, limits: self.limits.clone(), ..options }
    }

    /// Reads the workspace and plans.
    pub async fn plan(&self, run: &Run, wish: &Wish, control: Option<&Workspace>) -> Result<Plan, Failure> {
        let desired = self.desired()?;
        let options = self.options(run, wish);
        crate::reconcile::plan(
            desired,
            control,
            &context(run, &self.loaded.config),
            &options,
            Some(&self.loaded.project).filter(|_| !self.rollback),
        )
        .await
        .map_err(|e| Failure::control("read the workspace", &e))
    }

    /// The desired state; [`open`] saw that it is there.
    pub fn desired(&self) -> Result<&Desired, Failure> {
        desired(&self.loaded)
    }
}

/// The desired state; [`load_sound`] saw that it is there.
pub fn desired(loaded: &Loaded) -> Result<&Desired, Failure> {
    let none = || Failure::new(&codes::cli::INTERNAL, "a project without errors has no desired state");
    loaded.desired.as_ref().ok_or_else(none)
}

/// What planning is told of the command line, for the project in `dir`.
pub fn options(run: &Run, wish: &Wish, dir: &std::path::Path, origin: plan::Origin) -> plan::Options {
    let argument = |text: &String| scope_argument(text, &run.cwd, dir);
    plan::Options {
        allowances: sorted(wish.what.allow.clone()),
        scope: Scope {
            only: wish.what.only.iter().map(argument).collect(),
            exclude: wish.what.exclude.iter().map(argument).collect(),
            labels: wish.what.labels.clone(),
        },
        revert: wish.what.revert.iter().collect(),
        revert_all: wish.what.revert_all,
        today: today(),
        destroy: wish.destroy,
        rollback: false,
        origin,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        source_relation: plan::SourceRelation::default(),
        limits: None,
    }
}

fn sorted(mut allowances: Vec<Allowance>) -> Vec<Allowance> {
    allowances.sort();
    allowances.dedup();
    allowances
}

/// The runtime that control planes need.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|e| no_threads(&e))
}

/// The system gives no more threads.
pub fn no_threads(why: &dyn std::fmt::Display) -> Failure {
    Failure::new(&codes::cli::INTERNAL, format!("no threads can be started: {why}"))
        .fix("raise the limits of processes and of open files (`ulimit -u`, `ulimit -n`), or end other processes")
}
