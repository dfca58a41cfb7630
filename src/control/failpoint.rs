//! Kill points for the crash tests: the process aborts at the nth hit of an armed point. Compiled in only with
//! the feature `failpoints`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

struct Points {
    armed: Option<(String, u64)>,
    hits: BTreeMap<String, u64>,
}

static POINTS: Mutex<Points> = Mutex::new(Points { armed: None, hits: BTreeMap::new() });

/// Arms a point: its `nth` hit from now on (from 1) aborts the process. Sets all counters to 0.
pub fn arm(point: &str, nth: u64) {
    let mut points = POINTS.lock().unwrap_or_else(PoisonError::into_inner);
    points.hits.clear();
    points.armed = Some((point.to_owned(), nth));
}

/// How often a point was hit since it was armed (or since the start).
pub fn hits(point: &str) -> u64 {
    POINTS.lock().unwrap_or_else(PoisonError::into_inner).hits.get(point).copied().unwrap_or(0)
}

/// The program is at a point.
pub fn hit(point: &str) {
    let mut points = POINTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = points.hits.entry(point.to_owned()).or_default();
    *count += 1;
    let count = *count;
    if points.armed.as_ref().is_some_and(|(armed, nth)| armed == point && *nth == count) {
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn hits_are_counted() {
        super::hit("test-only");
        super::hit("test-only");
        assert_eq!((super::hits("test-only"), super::hits("never")), (2, 0));
    }
}
