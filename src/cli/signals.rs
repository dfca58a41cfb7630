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

/// Waits for Ctrl-C, SIGTERM (a cancelled CI job) or SIGHUP in the background. The first turns the answer true; the second ends the process at once,
/// which is safe: every effect is one transaction, and the next run goes on from what is done.
pub fn stop_on_interrupt(printer: Arc<Printer>) -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        if !interrupted().await {
            return;
        }
        printer.err("Stopping: what is in flight finishes. Once more stops at once.");
        let _ = stop.send(true);
        if interrupted().await {
            printer.err("Stopped. Run the same command again: it does only the rest.");
            leave(Exit::Interrupted);
        }
    });
    stopped
}

/// Waits for the next signal that asks to stop; false where none can be heard.
#[cfg(unix)]
async fn interrupted() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut hang_up)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
        heard = terminate.recv() => heard.is_some(),
        heard = hang_up.recv() => heard.is_some(),
    }
}

/// Waits for the next Ctrl-C; false where none can be heard.
#[cfg(not(unix))]
async fn interrupted() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}

#[expect(clippy::exit, reason = "a second Ctrl-C waits for nothing")]
fn leave(exit: Exit) -> ! {
    std::process::exit(i32::from(exit.code()))
}
