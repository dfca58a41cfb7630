//! Every canonical operation: its request, its response, and the OPERATIONS table that every surface walks.
//! These are the wire types.

mod authoring;
mod memory;
mod request;
mod response;
mod table;
mod token;

pub use authoring::*;
pub use memory::*;
pub use request::*;
pub use response::*;
pub use table::{OPERATIONS, Operation, Scope, Verb};
pub use token::*;
