//! What can be said of files under review without a token: they are checked, and compared with their branch.

use std::collections::BTreeMap;

use crate::ci::trust::Review;
use crate::ci::{Annotation, Degraded, Level};
use crate::cli::base;
use crate::cli::commands::ci::comment::notice;
use crate::cli::commands::ci::plan::{told, wish};
use crate::cli::commands::ci::report::annotation;
use crate::cli::commands::ci::{Job, Report, guard, host};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session;
use crate::cli::view::pull_request::{Comment, Links};
use crate::cli::view::{comment, tables};

/// Checks the files and compares them with their branch; no token is used, and nothing is written but the summary.
pub(super) fn report(job: &Job<'_>, review: &Review, why: Option<Degraded>) -> Result<Report, Failure> {
    let (dir, loaded) = session::load_sound(job.run)?;
    let wanted = session::desired(&loaded)?;
    let found = guard::find_base(&dir, review).and_then(|base| {
        let before = base::desired(&base, wanted)?;
        let options = session::options(job.run, &wish(job), &dir, base::origin(&base, "the branch"));
        Ok((base::plan(&base, &before, wanted, &options), base.commit.clone()))
    });
    let mut report = match found {
        Ok((plan, commit)) => {
            let (repository, run) = (host::repository_url(job.around), host::run_url(job.around));
            let folder = job.around.from_top(&dir, "").unwrap_or_default();
            let shown = Comment {
                plan: &plan,
                key: None,
                causes: &BTreeMap::new(),
                links: Links { repository: repository.as_deref(), run: run.as_deref(), folder: &folder },
                head: Some(&review.head),
                base: Some(&commit),
                previous: None,
                notes: &["Compared with the branch; no workspace was asked.".to_owned()],
            };
            let mut report = told::of_plan(job, &plan, &shown);
            told::on_request(job, &plan, &loaded.diagnostics, &mut report);
            report
        }
        // The files themselves are sound, and that is what can be said of them.
        Err(failure) => {
            let mut report = Report::new(Exit::Ok);
            let why = failure.diagnostics.0.first().map(annotation);
            report.annotations.extend(why.map(|a| Annotation { level: Level::Notice, ..a }));
            report.log = tables::valid(&loaded.counts);
            report.markdown = comment::diagnostics(&loaded.diagnostics);
            report
        }
    };
    report.annotations.splice(0..0, loaded.diagnostics.shown().0.iter().map(annotation));
    report.degraded = why;
    if let Some(why) = why {
        let whose = if why == Degraded::Fork { "a fork" } else { "Dependabot" };
        let message = format!(
            "what {whose} proposes gets no token: the files are checked and compared with the branch, and no workspace was asked"
        );
        report.annotations.push(notice("plan", "without a workspace", message));
    }
    Ok(report)
}
