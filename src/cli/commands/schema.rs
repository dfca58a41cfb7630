//! `schema [NAME]`.

use crate::cli::args::Schema;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::schemas;
use crate::cli::view::Format;
use crate::diag::codes;

/// Prints one schema, or what there are.
pub fn run(run: &Run, args: &Schema) -> Ran {
    let Some(name) = &args.name else {
        let rows = schemas::all();
        if run.printer.format == Format::Json {
            let all: serde_json::Map<String, serde_json::Value> =
                rows.iter().map(|row| (row.name.clone(), row.json())).collect();
            run.printer.json(&all);
        } else {
            let lines: Vec<String> = rows.iter().map(|row| format!("{:<14} {}\n", row.name, row.about)).collect();
            run.printer.data(&lines.concat());
        }
        return Ok(Exit::Ok);
    };
    let Some(row) = schemas::find(name) else {
        let names: Vec<String> = schemas::all().into_iter().map(|row| row.name).collect();
        return Err(Failure::new(&codes::cli::TOPIC, format!("there is no schema `{name}`")).fix(names.join(", ")));
    };
    run.printer.json(&row.json());
    Ok(Exit::Ok)
}
