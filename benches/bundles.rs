//! Reading and hashing trees, whole process, beside `openssl dgst -sha256` in two processes; docs/benchmarks.md
//! says how. `cargo bench --bench bundles [-- MEGABYTES]`.

#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, clippy::exit)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod generate;
mod measure;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use measure::{Run, median, run};

const TREES: usize = 10;
const FILES: usize = 1_000;

fn row(step: &str, megabytes: u64, r: &Run, note: &str) {
    println!(
        "| {step} | {:.2} | {:.2} | {:.1} | {:.0} | {note} |",
        r.wall,
        r.user,
        r.rss as f64 / 1024.0,
        megabytes as f64 / r.wall.max(0.01)
    );
}

/// The same files, hashed by two processes of openssl side by side, five trees each.
fn openssl(scratch: &Path, project: &Path) -> io::Result<Run> {
    let script = "cd \"$1\"; for half in 0-4 5-9; do \
                  find tree-[$half] -type f -print0 | xargs -0 openssl dgst -sha256 >/dev/null & done; wait";
    let project = project.to_str().unwrap_or_default();
    run(scratch, Path::new("/bin/sh"), &["-c", script, "sh", project])
}

/// How many files of the trees a run opens, by `strace`.
fn opened(scratch: &Path, args: &[&str]) -> io::Result<Option<usize>> {
    let log = scratch.join("strace");
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=open,openat,openat2", "-o"])
        .arg(&log)
        .arg(measure::binary())
        .args(args)
        .output();
    if traced.is_err() {
        return Ok(None);
    }
    Ok(Some(fs::read_to_string(log)?.lines().filter(|l| l.contains(".bin\"")).count()))
}

/// Drops what an earlier run kept. The folder stays, as after an apply: without it nothing is kept.
fn forget(project: &Path) -> io::Result<()> {
    let folder = project.join(".checkfu");
    match fs::remove_dir_all(&folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => fs::create_dir(folder),
    }
}

fn bench(megabytes: u64) -> io::Result<()> {
    let scratch = tempfile::tempdir()?;
    let project: PathBuf = scratch.path().join("project");
    generate::trees(&project, TREES, FILES, megabytes << 20)?;
    let args = ["plan", "-C", project.to_str().unwrap_or_default()];
    let checkfu = || {
        let r = run(scratch.path(), &measure::binary(), &args)?;
        if r.code == 0 {
            return Ok(r);
        }
        let stderr = fs::read_to_string(scratch.path().join("stderr"))?;
        Err(io::Error::other(format!("exit {}\n{stderr}", r.code)))
    };
    openssl(scratch.path(), &project)?;
    let (mut theirs, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        theirs.push(openssl(scratch.path(), &project)?);
        forget(&project)?;
        first.push(checkfu()?);
        second.push(checkfu()?);
    }
    println!("| step | wall s | user s | max RSS MB | MB/s | |\n|---|---|---|---|---|---|");
    let (theirs, first) = (median(theirs), median(first));
    row("openssl, two processes", megabytes, &theirs, "");
    row("plan, nothing known", megabytes, &first, &format!("{:.0} % of openssl", 100.0 * theirs.wall / first.wall));
    let opens =
        opened(scratch.path(), &args)?.map_or_else(|| "strace is not here".to_owned(), |n| format!("{n} files opened"));
    row("plan, again", megabytes, &median(second), &opens);
    Ok(())
}

fn main() {
    let megabytes = measure::numbers(&[1_024])[0];
    if let Err(e) = bench(megabytes) {
        eprintln!("bundles: {e}");
        std::process::exit(1);
    }
}
