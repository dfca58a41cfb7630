//! `show APPLY|PLANFILE`.

use crate::cli::args::Show;
use crate::cli::commands::Run;
use crate::cli::commands::apply::read as read_plan;
use crate::cli::commands::plan::show;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{context, load_project, runtime, target};
use crate::cli::target::choose;
use crate::cli::view::json::ApplyDoc;
use crate::cli::view::{Format, receipt};
use crate::control::ErrorKind;
use crate::diag::codes;
use crate::reconcile::read;

/// Shows a plan file in any view, or an apply with its receipt.
pub fn run(run: &Run, args: &Show) -> Ran {
    let path = std::path::Path::new(&args.what);
    if run.cwd.join(path).is_file() {
        let plan = read_plan(run, path)?;
        show(run, &plan, None);
        return Ok(Exit::Ok);
    }
    if !args.what.starts_with("apply_") {
        let message = format!("{} is neither a file nor the id of an apply", args.what);
        return Err(Failure::new(&codes::cli::NOT_FOUND, message).fix("checkfu history"));
    }
    let (dir, loaded) = load_project(run, None)?;
    let place = choose(&loaded.config, target(run), &dir)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &loaded.config);
    let apply = runtime()?.block_on(read::show(&control, &context, &args.what)).map_err(|e| match e.kind {
        ErrorKind::NotFound => {
            Failure::new(&codes::cli::NOT_FOUND, format!("there is no apply {}", args.what)).fix("checkfu history")
        }
        _ => Failure::control("read the workspace", &e),
    })?;
    match run.printer.format {
        Format::Json => run.printer.json(&ApplyDoc { format: "checkfu.apply/v1", apply }),
        Format::Human => run.printer.data(&receipt::apply(&apply)),
        Format::Markdown => run.printer.raw(&receipt::apply_markdown(&apply)),
    }
    Ok(Exit::Ok)
}
