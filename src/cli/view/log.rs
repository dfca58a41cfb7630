//! The log of the server: one JSON object a line on stderr.

use tracing::level_filters::LevelFilter;

use crate::cli::args::Global;

/// Sends what the program logs to stderr; with `--quiet` only errors.
pub fn start(global: &Global) {
    let level = if global.quiet { LevelFilter::ERROR } else { LevelFilter::INFO };
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .finish();
    // Only a second one in the same process could be refused, and the first one then goes on.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
