//! Every canonical operation: its request, its response, and the OPERATIONS table that every surface walks.
//! These are the wire types.

mod request;
mod response;
mod table;

pub use request::*;
pub use response::*;
pub use table::{OPERATIONS, Operation, Scope, Verb};
