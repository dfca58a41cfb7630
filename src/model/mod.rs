//! The words of the product as types: addresses, digests, trees, configuration, kinds, operations. Pure.

pub mod address;
pub mod config;
pub mod digest;
pub mod kinds;
pub mod marker;
pub mod names;
pub mod op;
pub mod tree;

pub use address::{Address, Kind, Owner};
pub use digest::Digest;
