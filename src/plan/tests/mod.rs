//! Tests of planning as a whole, over a workspace that is a value.

mod accept;
mod checker;
mod drift;
mod files;
mod findings;
mod laws;
mod matrix;
mod memory;
mod order;
mod owners;
mod rolled_back;
mod scopes;
mod since;
mod sources;
mod table;
mod table_wholes;
mod town;
mod world;
