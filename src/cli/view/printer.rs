//! The two streams, and how they are written.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use crate::cli::args::{Color, Global};
use crate::cli::view::{style, workflow};

/// How data is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Human,
    /// One JSON document.
    Json,
    /// Markdown for a pull request.
    Markdown,
}

/// Writes to stdout and stderr. A closed stdout ends the output, not the program; any other failure is kept
/// until [`Printer::failed`] asks.
#[derive(Debug)]
pub struct Printer {
    /// How data is shown.
    pub format: Format,
    /// Say more.
    pub verbose: bool,
    /// Columns that stdout fits into; `None` if it is no terminal.
    pub out_width: Option<usize>,
    /// The same of stderr.
    pub err_width: Option<usize>,
    quiet: bool,
    color: Color,
    failed: AtomicBool,
    closed: AtomicBool,
    wrote: AtomicBool,
    one: AtomicBool,
}

/// Columns of a terminal, as many as are good to read.
fn columns(terminal: &console::Term) -> Option<usize> {
    let (_, columns) = terminal.size_checked().filter(|_| terminal.is_term())?;
    Some(usize::from(columns).clamp(40, 160))
}

impl Printer {
    /// From the options. `no_color` is what the environment says.
    pub fn new(global: &Global, no_color: bool) -> Self {
        let format = match (global.json, global.markdown) {
            (true, _) => Format::Json,
            (_, true) => Format::Markdown,
            _ => Format::Human,
        };
        let color = if no_color && global.color == Color::Auto { Color::Never } else { global.color };
        Self {
            format,
            verbose: global.verbose,
            out_width: columns(&console::Term::stdout()),
            err_width: columns(&console::Term::stderr()),
            quiet: global.quiet,
            color,
            failed: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            wrote: AtomicBool::new(false),
            one: AtomicBool::new(false),
        }
    }

    /// Writes data to stdout.
    pub fn data(&self, text: &str) {
        match self.choice(std::io::stdout().is_terminal()) {
            // One write, however many styles there are to take off.
            ColorChoice::Never => self.raw(&style::plain(text)),
            choice => self.write(&mut AutoStream::new(std::io::stdout().lock(), choice), text),
        }
    }

    /// Writes data that has no styles to stdout.
    pub fn raw(&self, text: &str) {
        self.write(&mut std::io::stdout().lock(), text);
    }

    fn write(&self, out: &mut dyn Write, text: &str) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.closed.store(true, Ordering::Relaxed);
            if error.kind() != std::io::ErrorKind::BrokenPipe {
                self.failed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Writes one JSON document to stdout.
    pub fn json<T: Serialize + ?Sized>(&self, document: &T) {
        let text = serde_json::to_string_pretty(document).unwrap_or_default();
        self.raw(&(text + "\n"));
    }

    /// Writes a line of talk to stderr, unless quiet.
    pub fn talk(&self, line: &str) {
        if !self.quiet {
            self.err(line);
        }
    }

    /// Writes a line to stderr, quiet or not.
    pub fn err(&self, line: &str) {
        if self.one.load(Ordering::Relaxed) {
            return self.raw(&workflow::log(&format!("{}\n", line.trim_end_matches('\n'))));
        }
        let mut err = AutoStream::new(std::io::stderr().lock(), self.choice(std::io::stderr().is_terminal()));
        // Nobody is left to be told when stderr is gone.
        let _ = writeln!(err, "{}", line.trim_end_matches('\n'));
    }

    /// From here on talk goes to stdout too: of two streams a runner does not keep the order.
    pub fn one_stream(&self) {
        self.one.store(true, Ordering::Relaxed);
    }

    /// Could stdout not be written, for another reason than that its reader is gone?
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Notes that the command wrote to the workspace, which its exit code must not deny.
    pub fn note_written(&self) {
        self.wrote.store(true, Ordering::Relaxed);
    }

    /// Did the command write to the workspace?
    pub fn wrote(&self) -> bool {
        self.wrote.load(Ordering::Relaxed)
    }

    /// May a question be asked?
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && self.format == Format::Human
    }

    /// May a progress bar be drawn?
    pub fn can_draw(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }

    fn choice(&self, terminal: bool) -> ColorChoice {
        match self.color {
            Color::Always => ColorChoice::AlwaysAnsi,
            Color::Never => ColorChoice::Never,
            Color::Auto if terminal => ColorChoice::Auto,
            Color::Auto => ColorChoice::Never,
        }
    }
}
