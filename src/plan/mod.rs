//! Desired and live → a plan: every operation that apply will make, in order, and under which preconditions.
//! A synchronous function of values.

pub mod types;

pub use types::*;
