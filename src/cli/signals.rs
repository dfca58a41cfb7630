//! Signals: a full file size limit is an error of the write, not a kill; Ctrl-C, SIGTERM and SIGHUP let what is in
//! flight finish.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::watch;

use crate::cli::exit::Exit;
use crate::cli::view::Printer;

/// A write over the file size limit (`RLIMIT_FSIZE`) answers an error, as one on a full disk does.
pub fn writes_over_the_limit_are_errors() {
    #[cfg(unix)]
    {
        // A handler, whatever it does, keeps the default action away. If it cannot be set, that action stays.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// What a second signal does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Second {
    /// Ends the process at once: a person does not want to wait.
    Leaves,
    /// Nothing. Who cancels a job sends SIGINT, some seconds later SIGTERM, and some more later kills: that time is for
    /// what is in flight, and for saying what was done.
    Waits,
}

/// Waits for Ctrl-C, SIGTERM (a cancelled CI job) or SIGHUP in the background. The first turns the answer true. A second
/// one may end the process at once, which is safe: every effect is one transaction, and the next run goes on from what
/// is done.
pub fn stop_on_interrupt(printer: Arc<Printer>, second: Second) -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    // Heard from here on: one that comes between two waits is not lost.
    let heard = Interrupts::listen();
    tokio::spawn(async move {
        let Ok(mut heard) = heard else { return };
        if !heard.next().await {
            return;
        }
        let more = if second == Second::Leaves { " Once more stops at once." } else { "" };
        printer.err(&format!("Stopping: what is in flight finishes.{more}"));
        let _ = stop.send(true);
        if second == Second::Leaves && heard.next().await {
            printer.err("Stopped. Run the same command again: it does only the rest.");
            leave(Exit::Interrupted);
        }
        // The handlers stay set, so that no further signal kills.
    });
    stopped
}

/// The signals that ask to stop.
#[cfg(unix)]
struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next; false where no more can come.
    async fn next(&mut self) -> bool {
        tokio::select! {
            heard = self.interrupt.recv() => heard.is_some(),
            heard = self.terminate.recv() => heard.is_some(),
            heard = self.hang_up.recv() => heard.is_some(),
        }
    }
}

/// Ctrl-C.
#[cfg(windows)]
struct Interrupts(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Interrupts {
    fn listen() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next; false where no more can come.
    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

#[expect(clippy::exit, reason = "a second Ctrl-C waits for nothing")]
fn leave(exit: Exit) -> ! {
    std::process::exit(i32::from(exit.code()))
}
