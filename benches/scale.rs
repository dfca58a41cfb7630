//! Whole-process benchmark by number of agents; docs/benchmarks.md says what each step is.
//! `cargo bench --bench scale [-- N…]`; `CHECKFU_RIVAL=SCRIPT` runs the rival beside it.

#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, clippy::exit)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod generate;
mod measure;

use std::path::Path;
use std::process::Command;

use measure::{Run, median, run};

fn row(agents: u64, step: &str, r: &Run) {
    println!(
        "| {agents} | {step} | {:.2} | {:.2} | {:.1} | {} |",
        r.wall,
        r.user,
        r.rss as f64 / 1024.0,
        r.out.div_ceil(1024)
    );
}

/// Runs a step and insists on its exit code: a fast failure is no figure.
fn step(dir: &Path, agents: u64, name: &str, args: &[&str], code: i32, times: usize) -> std::io::Result<()> {
    let project = dir.join("project");
    let project = project.to_str().unwrap_or_default();
    let args: Vec<&str> = args.iter().copied().chain(["-C", project]).collect();
    let mut runs = Vec::new();
    for _ in 0..times {
        let r = run(dir, &measure::binary(), &args)?;
        if r.code != code {
            let stderr = std::fs::read_to_string(dir.join("stderr"))?;
            return Err(std::io::Error::other(format!("{name}: exit {} instead of {code}\n{stderr}", r.code)));
        }
        runs.push(r);
    }
    row(agents, name, &median(runs));
    Ok(())
}

fn measure_size(agents: u64) -> std::io::Result<()> {
    let scratch = tempfile::tempdir()?;
    let (dir, n) = (scratch.path(), usize::try_from(agents).unwrap_or(usize::MAX));
    let plan = ["plan", "--detailed-exitcode"];
    generate::agents(&dir.join("project"), n, "First edition")?;
    step(dir, agents, "plan, all create", &plan, 2, 3)?;
    step(dir, agents, "apply, all create", &["apply", "--yes"], 0, 1)?;
    step(dir, agents, "plan, no-op", &plan, 0, 3)?;
    step(dir, agents, "apply, no-op", &["apply", "--yes"], 0, 3)?;
    generate::agents(&dir.join("project"), n, "Second edition")?;
    step(dir, agents, "plan, all changed", &plan, 2, 3)?;
    step(dir, agents, "apply, all changed", &["apply", "--yes"], 0, 1)
}

fn rival(agents: u64) -> std::io::Result<()> {
    let Some(script) = std::env::var_os("CHECKFU_RIVAL") else { return Ok(()) };
    let out = Command::new(script).arg(agents.to_string()).output()?;
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        if let [name, wall, user, rss, ..] = cells[..] {
            let mb = rss.parse::<f64>().unwrap_or(f64::NAN) / 1024.0;
            println!("| {agents} | rival: {name} | {wall} | {user} | {mb:.1} | |");
        }
    }
    Ok(())
}

fn main() {
    println!("| agents | step | wall s | user s | max RSS MB | output KB |\n|---|---|---|---|---|---|");
    for agents in measure::numbers(&[1_000, 5_000, 10_000]) {
        if let Err(e) = measure_size(agents).and_then(|()| rival(agents)) {
            eprintln!("scale: {e}");
            std::process::exit(1);
        }
    }
}
