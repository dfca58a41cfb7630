//! How far an apply is: a bar on a terminal (n of m, in flight, waiting, rate); elsewhere a large apply says now and
//! then how far it is. What became of each action the receipt alone says, once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::cli::view::Printer;
use crate::cli::view::text::{clip, line};

/// Plain lines of an apply that has more actions than this; a smaller one has none.
const PLAIN_STEPS: usize = 20;

/// The progress of one apply.
pub struct Progress<'a> {
    printer: &'a Printer,
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    total: usize,
    ended: usize,
    in_flight: BTreeSet<String>,
}

impl<'a> Progress<'a> {
    /// For a number of actions.
    pub fn new(printer: &'a Printer, total: usize) -> Self {
        let bar = printer.can_draw().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos} of {len}  {rate}  {wide_msg}") {
                let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    // A terminal that cannot be written is noticed elsewhere.
                    let _ = write!(out, "{:.0}/s", state.per_sec());
                };
                bar.set_style(style.with_key("rate", rate).progress_chars("━╸ "));
            }
            bar
        });
        let state = State { total, ..State::default() };
        Self { printer, bar, state: Mutex::new(state) }
    }

    /// An action was sent.
    pub fn began(&self, action: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_flight.insert(action.to_owned());
        self.draw(&state);
    }

    /// An action ended, or will not be sent.
    pub fn ended(&self, action: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_flight.remove(action);
        state.ended += 1;
        if self.bar.is_none() && plain_step(state.ended, state.total) {
            self.printer.talk(&format!("{} of {} actions", state.ended, state.total));
        }
        self.draw(&state);
    }

    /// Nothing more starts before one of these ends. Only the bar shows it; plain lines would be too many.
    pub fn waiting(&self, on: &[String], left: usize) {
        if let Some(bar) = &self.bar {
            let names: Vec<String> = on.iter().take(3).map(|a| line(a)).collect();
            bar.set_message(format!("{left} waiting on {}", clip(&names.join(", "), 60)));
        }
    }

    /// A line beside the bar.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.printer.talk(text)),
            None => self.printer.talk(text),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn draw(&self, state: &State) {
        if let Some(bar) = &self.bar {
            bar.set_position(state.ended as u64);
            bar.set_message(message(state));
        }
    }
}

/// `3 in flight, 12 waiting: Agent/a#update, …`
fn message(state: &State) -> String {
    let waiting = state.total.saturating_sub(state.ended + state.in_flight.len());
    let names: Vec<String> = state.in_flight.iter().take(3).map(|a| line(a)).collect();
    let names = if names.is_empty() { String::new() } else { format!(": {}", clip(&names.join(", "), 60)) };
    format!("{} in flight, {waiting} waiting{names}", state.in_flight.len())
}

/// Is a plain line due?
fn plain_step(ended: usize, total: usize) -> bool {
    total > PLAIN_STEPS && (ended.is_multiple_of(total.div_ceil(PLAIN_STEPS)) || ended == total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_stay_few_and_a_small_apply_has_none() {
        let lines = |total: usize| (1..=total).filter(|n| plain_step(*n, total)).count();
        assert_eq!((lines(10_000), lines(7), lines(PLAIN_STEPS)), (PLAIN_STEPS, 0, 0));
        let state = State { total: 9, ended: 2, in_flight: ["Agent/a#update".to_owned()].into() };
        assert_eq!(message(&state), "1 in flight, 6 waiting: Agent/a#update");
    }
}
