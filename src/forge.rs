//! The client of a code host.
