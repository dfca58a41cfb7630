//! What stands between files that nobody merged and a token: first the event, then the configuration, both before
//! anything is sent.

use std::path::Path;

use crate::ci::trust::{self, CheckedOut, Denied, Review};
use crate::ci::{Event, Standing};
use crate::cli::base;
use crate::cli::commands::ci::Job;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::{Session, target};
use crate::cli::target::{At, Place, choose};
use crate::diag::codes::{bundle, ci as codes};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::config::{Config, Target};
use crate::reconcile::load::CONFIG_FILE;
use crate::reconcile::{Base, BaseOf, Earlier, head, is_dirty};

/// May a token be used for the target?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// It goes where the branch, or the workflow, says.
    Open,
    /// The branch says nothing of a server yet, and neither does the workflow.
    NoToken,
}

/// What the run may do, by its event and by what is checked out.
///
/// # Errors
/// It may not be at all.
pub fn standing(job: &Job<'_>, event: Option<&Event>) -> Result<Standing, Failure> {
    let Some(event) = event else { return Ok(Standing::Branch) };
    let there = head(&job.run.cwd).ok();
    let dirty = trust::looks_at_files(event) && is_dirty(&job.run.cwd);
    let seen = there.as_ref().map(|head| CheckedOut { commit: &head.commit, parents: &head.parents, dirty });
    trust::standing(event, job.inputs.mode, seen).map_err(|why| {
        let code = match why {
            Denied::Proposed { .. } => &codes::FORK,
            Denied::Foreign { .. } => &codes::FOREIGN,
        };
        Failure::new(code, why.to_string()).exit(Exit::Refused)
    })
}

/// Loads what files under review are held against.
///
/// # Errors
/// The commit is not in the check-out.
pub fn find_base(dir: &Path, review: &Review) -> Result<Base, Failure> {
    base::find(dir, BaseOf::Pull { head: &review.head, base: &review.base })
}

/// Holds the configuration of files under review, or of a branch, against what decides where a token may go. Sends
/// nothing.
///
/// # Errors
/// They would send it elsewhere, or act as somebody else.
pub fn passage(job: &Job<'_>, session: &Session, base: Option<&Base>) -> Result<Passage, Failure> {
    let place = &session.place;
    origin(place, &job.inputs.allowed_origins)?;
    let Some(base) = base else { return Ok(Passage::Open) };
    let config = match &base.project {
        Earlier::Loaded(loaded) => &loaded.config,
        Earlier::Broken(error) => {
            let first = error.diagnostics.0.first().map(|d| d.message.clone()).unwrap_or_default();
            let message = format!("checkfu.yaml of the branch cannot be read, so it allows nothing: {first}");
            return Err(refused(vec![message]));
        }
        Earlier::Absent => return Ok(without_base(job, place)),
    };
    compare(job, session, config)?;
    same_certificates(session, base)?;
    Ok(Passage::Open)
}

/// The branch has no project yet: the workflow says where the token may go, or it goes nowhere.
fn without_base(job: &Job<'_>, place: &Place) -> Passage {
    match place.at {
        At::Server(_) if job.inputs.allowed_origins.is_empty() => Passage::NoToken,
        _ => Passage::Open,
    }
}

fn compare(job: &Job<'_>, session: &Session, base: &Config) -> Result<(), Failure> {
    let head = &session.loaded.config;
    let before = choose(base, target(job.run), &session.dir);
    let from = before.map_or_else(|_| "none".to_owned(), |place| place.name);
    trust::compare(base, head, &from, &session.place.name)
        .map_err(|changed| refused(changed.iter().map(ToString::to_string).collect()))
}

/// Whoever can name the certificates that are trusted can be the server.
fn same_certificates(session: &Session, base: &Base) -> Result<(), Failure> {
    let target = session.loaded.config.targets.get(&session.place.name);
    let Some(Target::Checkfu { ca: Some(written), .. }) = target else { return Ok(()) };
    // What lies outside of the repository no pull request changes.
    if Path::new(written).is_absolute() {
        return Ok(());
    }
    let before = base.file(written).map_err(|e| Failure::caused(&bundle::NO_BASE, &e))?;
    if before.is_some() && before == std::fs::read(session.dir.join(written)).ok() {
        return Ok(());
    }
    let message = format!("the certificates that target `{}` trusts are not those of the branch", session.place.name);
    Err(refused(vec![message]))
}

fn refused(messages: Vec<String>) -> Failure {
    let found = messages
        .into_iter()
        .map(|m| Diagnostic::new(&codes::CHANGED, m).at(crate::diag::Location::file(CONFIG_FILE), ""));
    Failure::many(Diagnostics(found.collect()), std::collections::BTreeMap::new()).exit(Exit::Refused)
}

/// Is the target one of the servers that the token may go to? Without a list it is the one that was merged.
///
/// # Errors
/// It is none of them.
pub fn origin(place: &Place, allowed: &[String]) -> Result<(), Failure> {
    let At::Server(_) = &place.at else { return Ok(()) };
    let origin = |text: &str| reqwest::Url::parse(text).ok().map(|url| url.origin());
    let here = origin(&place.written);
    if allowed.is_empty() || (here.is_some() && allowed.iter().any(|a| origin(a) == here)) {
        return Ok(());
    }
    let message = format!("target {} is none of the servers of allowed-origins", place.name);
    Err(Failure::new(&codes::ORIGIN, message).exit(Exit::Refused))
}

/// All of it at once, for a mode that knows no half.
///
/// # Errors
/// See [`passage`].
pub fn pass(job: &Job<'_>, standing: &Standing, session: &mut Session) -> Result<(), Failure> {
    let base = standing.review().map(|review| find_base(&session.dir, review)).transpose()?;
    if passage(job, session, base.as_ref())? == Passage::NoToken {
        let message = "the branch has no checkfu.yaml yet, so no server is known that a token may go to";
        return Err(Failure::new(&codes::ORIGIN, message).exit(Exit::Refused));
    }
    session.limits = base.as_ref().and_then(Base::config).map(|c| c.policy.clone());
    Ok(())
}
