//! Which action may start next. A state machine over the plan's graph; it sends nothing.
//!
//! Among ready actions the first in plan order goes. A retirement also waits until every other action before
//! it in plan order has ended, so that a failure still finds it unstarted. What does not end well blocks its
//! dependents and every retirement that has not started, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Action, Verb};

/// Why a plan has no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Two actions with one id.
    #[error("two actions are called {0}")]
    Twice(String),
    /// A dependency that is not in the plan, or does not come before.
    #[error("{action} depends on {on}, which does not come before it")]
    Dependency {
        /// The action.
        action: String,
        /// What it depends on.
        on: String,
    },
}

/// Where an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Ended,
}

/// An action that will never start, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// Index in the plan.
    pub(crate) index: usize,
    /// Index of the action that did not end well.
    pub(crate) cause: usize,
    /// Is it blocked only because it is a retirement?
    pub(crate) as_retirement: bool,
}

/// The schedule of one plan.
#[derive(Debug)]
pub(crate) struct Schedule {
    retirement: Vec<bool>,
    dependents: Vec<Vec<usize>>,
    unmet: Vec<usize>,
    state: Vec<State>,
    /// Ready actions that are no retirements.
    ready: BTreeSet<usize>,
    /// Retirements whose dependencies are done.
    ready_retirements: BTreeSet<usize>,
    /// Actions that are no retirements and have not ended.
    open: BTreeSet<usize>,
    /// How many have neither started nor ended.
    left: usize,
    /// Something did not end well, so every retirement that had not started is blocked.
    broken: bool,
}

impl Schedule {
    /// Reads the graph. Dependencies must come earlier in the plan, so there is no cycle.
    pub(crate) fn new(actions: &[Action]) -> Result<Self, ScheduleError> {
        let mut index = BTreeMap::new();
        let mut dependents = vec![Vec::new(); actions.len()];
        let mut unmet = vec![0; actions.len()];
        for (i, action) in actions.iter().enumerate() {
            let on: BTreeSet<&String> = action.depends_on.iter().collect();
            for on in on {
                let Some(&before) = index.get(on.as_str()) else {
                    return Err(ScheduleError::Dependency { action: action.id.clone(), on: on.clone() });
                };
                let list: &mut Vec<usize> = &mut dependents[before];
                list.push(i);
                unmet[i] += 1;
            }
            if index.insert(action.id.as_str(), i).is_some() {
                return Err(ScheduleError::Twice(action.id.clone()));
            }
        }
        let retirement: Vec<bool> = actions.iter().map(|a| a.verb == Verb::Retire).collect();
        let mut schedule = Self {
            open: (0..actions.len()).filter(|i| !retirement[*i]).collect(),
            state: vec![State::Waiting; actions.len()],
            left: actions.len(),
            broken: false,
            ready: BTreeSet::new(),
            ready_retirements: BTreeSet::new(),
            retirement,
            dependents,
            unmet,
        };
        for i in 0..actions.len() {
            schedule.offer(i);
        }
        Ok(schedule)
    }

    /// The next action to start; it is in flight from now on.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let retirement = self.ready_retirements.first().copied();
        let retirement = retirement.filter(|r| self.open.first().is_none_or(|open| open > r));
        let next = match (self.ready.first().copied(), retirement) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b)?,
        };
        self.ready.remove(&next);
        self.ready_retirements.remove(&next);
        self.state[next] = State::Running;
        self.left -= 1;
        Some(next)
    }

    /// An action in flight has ended. Returns what can never start because of it, in plan order.
    pub(crate) fn end(&mut self, index: usize, done: bool) -> Vec<Blocked> {
        self.close(index);
        let mut blocked = Vec::new();
        if done {
            for dependent in self.dependents[index].clone() {
                self.unmet[dependent] -= 1;
                self.offer(dependent);
            }
            return blocked;
        }
        self.block(self.dependents[index].clone(), index, false, &mut blocked);
        if !std::mem::replace(&mut self.broken, true) {
            let retirements = (0..self.retirement.len()).filter(|i| self.retirement[*i]).collect();
            self.block(retirements, index, true, &mut blocked);
        }
        blocked.sort_by_key(|b| b.index);
        blocked
    }

    /// How many actions have neither started nor ended.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    fn block(&mut self, roots: Vec<usize>, cause: usize, as_retirement: bool, blocked: &mut Vec<Blocked>) {
        let mut todo: Vec<(usize, bool)> = roots.into_iter().map(|i| (i, as_retirement)).collect();
        while let Some((index, as_retirement)) = todo.pop() {
            if self.state[index] != State::Waiting {
                continue;
            }
            self.close(index);
            blocked.push(Blocked { index, cause, as_retirement });
            // What waits for a blocked retirement is a dependent like any other.
            todo.extend(self.dependents[index].iter().map(|d| (*d, false)));
        }
    }

    fn offer(&mut self, index: usize) {
        if self.unmet[index] == 0 && self.state[index] == State::Waiting {
            let ready = if self.retirement[index] { &mut self.ready_retirements } else { &mut self.ready };
            ready.insert(index);
        }
    }

    fn close(&mut self, index: usize) {
        if self.state[index] == State::Waiting {
            self.left -= 1;
        }
        self.state[index] = State::Ended;
        self.open.remove(&index);
        self.ready.remove(&index);
        self.ready_retirements.remove(&index);
    }
}
