//! Documents and file sets → a closed, ordered, digested set of wanted resources. Pure.

mod set;

pub use set::{Desired, Follower, Wanted, WantedFile};
