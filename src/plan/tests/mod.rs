//! Tests of planning as a whole, over a workspace that is a value.

mod checker;
mod drift;
mod files;
mod findings;
mod laws;
mod matrix;
mod memory;
mod order;
mod owners;
mod scopes;
mod town;
mod world;
