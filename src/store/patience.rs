//! Waiting for another process that holds the workspace: for a bounded time, and not in silence.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::store::error::{StoreError, Trouble};

/// How long SQLite itself waits before anybody is told.
const MOMENT: Duration = Duration::from_secs(1);
/// Between two attempts: SQLite does not wait for every kind of lock.
const PAUSE: Duration = Duration::from_millis(20);

/// How long another process is waited for, and who is told that this one waits.
#[derive(Clone)]
pub(crate) struct Patience {
    /// The longest wait.
    pub(crate) most: Duration,
    /// Called once a wait, as soon as it is more than a moment.
    pub(crate) told: Arc<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("most", &self.most).finish_non_exhaustive()
    }
}

impl Patience {
    /// What SQLite is told to wait at each attempt.
    pub(crate) fn moment(&self) -> Duration {
        self.most.min(MOMENT)
    }

    /// Tries until it is not locked or the time is over. The attempt must change nothing when it meets a lock.
    pub(crate) fn wait<T>(&self, mut attempt: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let began = Instant::now();
        let mut told = false;
        loop {
            match attempt() {
                Err(mut e) if e.trouble == Trouble::Locked => {
                    if !told {
                        (self.told)();
                        told = true;
                    }
                    if began.elapsed() >= self.most {
                        e.what = format!("{}, and did not let go of it within {:?}", e.what, self.most);
                        return Err(e);
                    }
                    thread::sleep(PAUSE);
                }
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn patience(most: Duration) -> (Patience, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&count);
        let told = Arc::new(move || {
            own.fetch_add(1, Ordering::Relaxed);
        });
        (Patience { most, told }, count)
    }

    fn locked() -> StoreError {
        StoreError::new(Trouble::Locked, "held")
    }

    #[test]
    fn a_wait_is_told_once_and_ends() {
        let (patience, told) = patience(Duration::from_hours(1));
        let mut left = 3;
        let mut attempt = || {
            left -= 1;
            if left > 0 { Err(locked()) } else { Ok(left) }
        };
        assert_eq!(patience.wait(&mut attempt).unwrap(), 0);
        assert_eq!(told.load(Ordering::Relaxed), 1);
        assert!(patience.wait(|| Ok(())).is_ok());
        let other = patience.wait(|| Err::<(), _>(StoreError::new(Trouble::Damaged, "broken")));
        assert_eq!(other.unwrap_err().trouble, Trouble::Damaged);
        assert_eq!(told.load(Ordering::Relaxed), 1, "nothing was waited for");
    }

    #[test]
    fn the_end_of_patience_says_how_long_it_was() {
        let (patience, told) = patience(Duration::ZERO);
        let error = patience.wait(|| Err::<(), _>(locked())).unwrap_err();
        assert_eq!(
            (error.trouble, error.what.as_str()),
            (Trouble::Locked, "held, and did not let go of it within 0ns")
        );
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }
}
