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
use crate::control::{ControlPlane, ErrorKind};
use crate::diag::codes;
use crate::model::op::{ApplyInfo, Context};
use crate::reconcile::read;

/// Shows a plan file in any view, or an apply with its receipt.
pub fn run(run: &Run, args: &Show) -> Ran {
    let path = std::path::Path::new(&args.what);
    if run.cwd.join(path).is_file() {
        let plan = read_plan(run, path)?;
        show(run, &plan, None);
        return Ok(Exit::Ok);
    }
    if !args.what.starts_with(PREFIX) {
        let message = format!("{} is neither a file nor the id of an apply", args.what);
        return Err(Failure::new(&codes::cli::NOT_FOUND, message).fix("checkfu history"));
    }
    let (dir, loaded) = load_project(run, None)?;
    let place = choose(&loaded.config, target(run), &dir)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &loaded.config);
    let runtime = runtime()?;
    let apply = runtime.block_on(find(&control, &context, &args.what))?;
    let changes = runtime.block_on(read::changes(&control, &context, &apply));
    let changes = changes.map_err(|e| Failure::control("read the workspace", &e))?;
    match run.printer.format {
        Format::Json => run.printer.json(&ApplyDoc { format: "checkfu.apply/v1", apply, changes }),
        Format::Human => run.printer.data(&receipt::apply(&apply, &changes, run.printer.verbose)),
        Format::Markdown => run.printer.raw(&receipt::apply_markdown(&apply, &changes)),
    }
    Ok(Exit::Ok)
}

/// Ids of applies begin so.
const PREFIX: &str = "apply_";

/// An apply by its id.
pub async fn find<C: ControlPlane>(control: &C, context: &Context, id: &str) -> Result<ApplyInfo, Failure> {
    let none = || Failure::new(&codes::cli::NOT_FOUND, format!("there is no apply {id}")).fix("checkfu history");
    if !id.starts_with(PREFIX) {
        return Err(none());
    }
    read::show(control, context, id).await.map_err(|e| match e.kind {
        ErrorKind::NotFound => none(),
        _ => Failure::control("read the workspace", &e),
    })
}
