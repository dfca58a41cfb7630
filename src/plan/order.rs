//! The order in which actions start when nothing is parallel: dependencies first, then rank, then address.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::plan::Action;
use crate::plan::actions::{Draft, Rank};

/// Orders the drafts and writes their `depends_on`.
pub(super) fn order(drafts: Vec<Draft>) -> Vec<Action> {
    let index: BTreeMap<String, usize> = drafts.iter().enumerate().map(|(i, d)| (d.action.id.clone(), i)).collect();
    let mut waits: Vec<usize> = drafts.iter().map(|d| d.needs.len()).collect();
    let mut waiters: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    for (i, draft) in drafts.iter().enumerate() {
        for need in &draft.needs {
            match index.get(need) {
                Some(n) => waiters[*n].push(i),
                None => waits[i] -= 1,
            }
        }
    }
    let key = |i: usize| -> (Rank, &str) { (drafts[i].rank, drafts[i].action.id.as_str()) };
    let mut ready: BinaryHeap<Reverse<((Rank, &str), usize)>> =
        (0..drafts.len()).filter(|i| waits[*i] == 0).map(|i| Reverse((key(i), i))).collect();
    let mut open: BTreeSet<((Rank, &str), usize)> = (0..drafts.len()).map(|i| (key(i), i)).collect();
    let mut sorted = Vec::with_capacity(drafts.len());
    while !open.is_empty() {
        let next = match ready.pop() {
            Some(Reverse(next)) => next,
            // A circle, which a closed desired state does not have: the first in rank breaks it.
            None => match open.first() {
                Some(first) => *first,
                None => break,
            },
        };
        if !open.remove(&next) {
            continue;
        }
        sorted.push(next.1);
        for waiter in &waiters[next.1] {
            waits[*waiter] = waits[*waiter].saturating_sub(1);
            if waits[*waiter] == 0 {
                ready.push(Reverse((key(*waiter), *waiter)));
            }
        }
    }
    let mut drafts: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
    let mut done = BTreeSet::new();
    let mut out = Vec::with_capacity(sorted.len());
    for i in sorted {
        let Some(draft) = drafts[i].take() else { continue };
        let mut action = draft.action;
        action.depends_on = draft.needs.into_iter().filter(|n| done.contains(n)).collect();
        done.insert(action.id.clone());
        out.push(*action);
    }
    out
}
