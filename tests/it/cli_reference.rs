//! `docs/cli.md` as text, from the command line's own definition.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// The reference of a command and all its subcommands.
pub(crate) fn reference(command: &Command) -> String {
    let mut command = command.clone();
    command.build();
    let mut out = "# Command line\n\nMade from the code; `checkfu COMMAND --help` says the same.\n".to_owned();
    for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
        section(&mut out, sub, "");
    }
    let _ = write!(out, "\n## Options of every command\n\n");
    options(&mut out, command.get_arguments().filter(|a| a.is_global_set()));
    if let Some(after) = command.get_after_help() {
        let _ = write!(out, "\n{after}\n");
    }
    out
}

fn section(out: &mut String, command: &Command, above: &str) {
    let title = format!("{above}{}", command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(out, "\n## {title}\n\n{about}.\n\n```\n{usage}\n```\n");
    let own: Vec<&Arg> = command.get_arguments().filter(|a| !a.is_global_set() && a.get_id() != "help").collect();
    if !own.is_empty() {
        out.push('\n');
        options(out, own.into_iter());
    }
    for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
        section(out, sub, &format!("{title} "));
    }
}

fn options<'a>(out: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let _ = writeln!(out, "| | |\n|---|---|");
    for arg in args.filter(|a| !a.is_hide_set()) {
        let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = arg
            .get_possible_values()
            .iter()
            .filter(|_| arg.get_action().takes_values())
            .map(|v| format!("`{}`", v.get_name()))
            .collect();
        if !values.is_empty() {
            let _ = write!(help, ": {}", values.join(", "));
        }
        let default: Vec<String> =
            arg.get_default_values().iter().map(|v| format!("`{}`", v.to_string_lossy())).collect();
        if !default.is_empty() && arg.get_action().takes_values() {
            let _ = write!(help, " (default {})", default.join(" "));
        }
        let _ = writeln!(out, "| `{}` | {} |", name(arg).replace('|', "\\|"), help.replace('|', "\\|"));
    }
}

fn name(arg: &Arg) -> String {
    let value = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let value = value.filter(|_| arg.get_action().takes_values()).unwrap_or_default();
    match (arg.get_short(), arg.get_long()) {
        (None, None) => value,
        (short, long) => {
            let names = [short.map(|s| format!("-{s}")), long.map(|l| format!("--{l}"))];
            let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
            format!("{names} {value}").trim_end().to_owned()
        }
    }
}

#[test]
fn the_reference_holds_commands_options_and_values() {
    let command = Command::new("x")
        .arg(Arg::new("json").long("json").global(true).action(clap::ArgAction::SetTrue).help("Print JSON"))
        .subcommand(
            Command::new("plan")
                .about("Show what apply would do")
                .arg(Arg::new("out").short('o').long("out").value_name("FILE").help("Where"))
                .arg(Arg::new("how").value_name("A|B").value_parser(["a", "b"]).default_value("a").help("How")),
        );
    let text = reference(&command);
    for part in [
        "## plan\n\nShow what apply would do.\n\n```\nx plan [OPTIONS] [A|B]\n```",
        "| `-o, --out FILE` | Where |",
        "| `A\\|B` | How: `a`, `b` (default `a`) |",
        "| `--json` | Print JSON |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
