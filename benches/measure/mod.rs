//! Runs a command as a process of its own under GNU `time`, and says what it took.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const TIME: &str = "/usr/bin/time";

/// What one run took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Exit code.
    pub(crate) code: i32,
    /// Seconds.
    pub(crate) wall: f64,
    /// Seconds, over all threads.
    pub(crate) user: f64,
    /// Largest resident set, kilobytes.
    pub(crate) rss: u64,
    /// Bytes on stdout.
    pub(crate) out: u64,
}

/// The binary: `CHECKFU_BIN`, or the one that Cargo built beside the benchmark.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("CHECKFU_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_checkfu")), PathBuf::from)
}

/// The numbers among the arguments; `default` if there is none.
pub(crate) fn numbers(default: &[u64]) -> Vec<u64> {
    let given: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    if given.is_empty() { default.to_vec() } else { given }
}

/// Runs it, with stdout and stderr in files below `scratch`.
pub(crate) fn run(scratch: &Path, program: &Path, args: &[&str]) -> io::Result<Run> {
    let (out, err, times) = (scratch.join("stdout"), scratch.join("stderr"), scratch.join("time"));
    let status = Command::new(TIME)
        .args(["-q", "-f", "%e %U %M", "-o"])
        .arg(&times)
        .arg(program)
        .args(args)
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .status()
        .map_err(|e| {
            io::Error::new(e.kind(), format!("{TIME} cannot be run ({e}); it is GNU time, Debian package `time`"))
        })?;
    let text = fs::read_to_string(&times)?;
    let mut numbers = text.split_whitespace().map(|n| n.parse::<f64>().unwrap_or(f64::NAN));
    let mut next = || numbers.next().unwrap_or(f64::NAN);
    let (wall, user, rss) = (next(), next(), next());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kilobytes, from a whole number")]
    Ok(Run { code: status.code().unwrap_or(-1), wall, user, rss: rss as u64, out: fs::metadata(&out)?.len() })
}

/// The run with the median wall time.
pub(crate) fn median(mut runs: Vec<Run>) -> Run {
    runs.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    runs[runs.len() / 2]
}
