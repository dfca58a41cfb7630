//! What apply tells while it runs, for a view that shows n of m, in flight, waiting on, rate.

/// One thing that happened. `id` is always an action's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// All bodies that the workspace does not hold were opened and are as planned.
    Checked {
        /// How many bodies will be sent.
        bodies: usize,
        /// Their bytes together.
        bytes: u64,
    },
    /// The Apply has begun.
    Began {
        /// Its id in the workspace.
        apply: String,
        /// How many actions the plan has.
        total: usize,
        /// Another Apply of this owner that has not ended.
        other: Option<String>,
    },
    /// An action is in flight.
    Started {
        /// Which.
        id: String,
    },
    /// A body was sent.
    Uploaded {
        /// The file, relative to the project folder.
        path: String,
        /// Its bytes.
        bytes: u64,
    },
    /// Nothing more can start before one of these ends.
    Waiting {
        /// In flight, in plan order.
        on: Vec<String>,
        /// How many actions have not started.
        left: usize,
    },
    /// An action ended, or will never start.
    Ended {
        /// Which.
        id: String,
        /// `done`, `stale`, `blocked`, `failed`, `not_started`.
        outcome: &'static str,
        /// Why not `done`.
        error: Option<String>,
    },
    /// A person asked to stop: what is in flight finishes, nothing else starts.
    Stopping {
        /// How many are in flight.
        in_flight: usize,
    },
}
