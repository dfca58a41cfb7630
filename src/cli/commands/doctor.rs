//! `doctor`: looks at what apply needs, one check after another, and says what to do about what is wrong.

use std::path::Path;

use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::find_project;
use crate::cli::session::{context, load_project, runtime, target};
use crate::cli::target::{At, Place, Workspace, choose};
use crate::cli::view::json::{CheckDoc, ChecksDoc};
use crate::cli::view::text::count;
use crate::cli::view::{Format, diagnostics, lists, tables};
use crate::control::ControlPlane;
use crate::diag::Diagnostic;
use crate::model::op::{OwnerOf, Request, Response};
use crate::reconcile::load::Loaded;

/// Makes all checks that can be made.
pub fn run(run: &Run) -> Ran {
    let mut checks = vec![versions()];
    match project(run, &mut checks) {
        Ok(()) => {}
        Err(failure) => checks.push(of_failure("project", &failure)),
    }
    let ok = checks.iter().all(|c| c.result != "bad");
    match run.printer.format {
        Format::Json => run.printer.json(&ChecksDoc { format: "checkfu.checks/v1", ok, checks }),
        Format::Human => run.printer.data(&tables::checks(&checks)),
        Format::Markdown => run.printer.raw(&lists::checks(&checks)),
    }
    Ok(if ok { Exit::Ok } else { Exit::Error })
}

fn good(name: &'static str, found: impl Into<String>) -> CheckDoc {
    CheckDoc { name, result: "ok", found: found.into(), fix: None }
}

fn warn(name: &'static str, found: impl Into<String>, fix: &str) -> CheckDoc {
    CheckDoc { name, result: "warning", found: found.into(), fix: Some(fix.to_owned()) }
}

fn bad(name: &'static str, found: impl Into<String>, fix: Option<String>) -> CheckDoc {
    CheckDoc { name, result: "bad", found: found.into(), fix }
}

fn of_failure(name: &'static str, failure: &Failure) -> CheckDoc {
    let first = failure.diagnostics.0.first().map(Diagnostic::shown);
    let first = first.as_ref();
    let message = first.map_or_else(String::new, |d| format!("{}: {}", d.code.code, d.message));
    bad(name, message, first.and_then(|d| d.fix.clone()))
}

fn versions() -> CheckDoc {
    let (major, minor, patch) = git2::Version::get().libgit2_version();
    let version = env!("CARGO_PKG_VERSION");
    let plan = crate::plan::FORMAT;
    good(
        "version",
        format!("checkfu {version}, plans {plan}, SQLite {}, libgit2 {major}.{minor}.{patch}", rusqlite::version()),
    )
}

fn project(run: &Run, checks: &mut Vec<CheckDoc>) -> Result<(), Failure> {
    let dir = find_project(&run.cwd)?;
    checks.push(good("project", dir.display().to_string()));
    let (_, loaded) = load_project(run, None)?;
    checks.push(manifests(&loaded));
    checks.push(git(&loaded));
    let place = match choose(&loaded.config, target(run), &dir) {
        Ok(place) => place,
        Err(failure) => {
            checks.push(of_failure("target", &failure));
            return Ok(());
        }
    };
    if let At::File(path) = &place.at {
        checks.push(ignored(&loaded, path, &place.written));
        checks.push(folder(path));
    }
    match place.open_existing(&run.printer) {
        Err(failure) => checks.push(of_failure("target", &failure)),
        Ok(None) => checks.push(good("target", format!("{}: no workspace yet, the first apply makes it", place.name))),
        Ok(Some(control)) => workspace(run, &loaded, &place, &control, checks),
    }
    Ok(())
}

fn manifests(loaded: &Loaded) -> CheckDoc {
    let resources: usize = loaded.counts.values().sum();
    let found = format!("{}, owner {}", count(resources, "resource"), loaded.config.authoring_owner);
    let summary = diagnostics::summary(&loaded.diagnostics);
    match summary.trim_end() {
        "" => good("manifests", found),
        some if loaded.diagnostics.has_errors() => {
            bad("manifests", format!("{found}, {some}"), Some("checkfu validate".to_owned()))
        }
        some => warn("manifests", format!("{found}, {some}"), "checkfu validate"),
    }
}

fn git(loaded: &Loaded) -> CheckDoc {
    let source = loaded.project.source();
    match (&source.commit, &source.repository) {
        (None, _) => {
            warn("git", "no commit", "without Git an apply cannot say where it came from, nor see that it is old")
        }
        (Some(commit), repository) => {
            let place = repository.clone().unwrap_or_else(|| "no remote".to_owned());
            let dirty = if source.dirty == Some(true) { ", uncommitted changes" } else { "" };
            good("git", format!("{place} at {}{dirty}", commit.get(..12).unwrap_or(commit)))
        }
    }
}

/// A workspace inside the repository must not be committed.
fn ignored(loaded: &Loaded, path: &Path, written: &str) -> CheckDoc {
    let name = "ignored";
    match loaded.project.git_ignores(path) {
        Some(true) => good(name, format!("Git ignores {written}")),
        Some(false) => {
            bad(name, format!("Git does not ignore {written}"), Some("add .checkfu/ to .gitignore".to_owned()))
        }
        None => good(name, "the workspace is in no Git repository"),
    }
}

/// Can the folder of the workspace be written? Asked of the nearest folder that is there.
fn folder(path: &Path) -> CheckDoc {
    let name = "permissions";
    let there = path.ancestors().skip(1).find(|p| p.is_dir()).unwrap_or(Path::new("/"));
    match tempfile::Builder::new().prefix(".checkfu-").tempfile_in(there) {
        Ok(_) => good(name, format!("{} can be written", there.display())),
        Err(e) => bad(name, format!("{} cannot be written: {e}", there.display()), None),
    }
}

fn workspace(run: &Run, loaded: &Loaded, place: &Place, control: &Workspace, checks: &mut Vec<CheckDoc>) {
    // The file of a server is the server's to check.
    if let Workspace::Embedded(embedded) = control {
        match embedded.integrity() {
            Ok(found) if found.is_empty() => checks.push(good("integrity", "the database is whole")),
            Ok(found) => checks.push(bad("integrity", found.join("; "), Some("restore a copy".to_owned()))),
            Err(e) => checks.push(of_failure("integrity", &Failure::control("check the database", &e))),
        }
    }
    let owner = loaded.config.authoring_owner.clone();
    let asked = runtime().map(|runtime| {
        runtime.block_on(control.call(&context(run, &loaded.config), Request::Owner(OwnerOf { owner })))
    });
    match asked {
        Ok(Ok(Response::Owner(state))) => {
            let found = format!(
                "{}: workspace {}, {}",
                place.name,
                state.workspace_id,
                count(usize::try_from(state.count).unwrap_or(usize::MAX), "resource")
            );
            checks.push(good("target", found));
            if let Some(open) = &state.open_apply {
                checks.push(warn(
                    "applies",
                    format!("{open} began and has not ended"),
                    "if nothing runs, it was killed: run checkfu apply again, it does the rest",
                ));
            }
        }
        Ok(Ok(_)) => checks.push(bad("target", "an answer that is none", None)),
        Ok(Err(e)) => checks.push(of_failure("target", &Failure::control("read the workspace", &e))),
        Err(failure) => checks.push(of_failure("target", &failure)),
    }
}
