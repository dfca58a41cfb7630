//! A run in continuous integration as values: what it is told (inputs, the event), what it tells (outputs,
//! annotations, marks in comments), and what it may do. Pure; `cli/commands/ci` carries it out.

mod annotation;
pub mod approval;
mod cause;
pub mod drift_issue;
pub mod event;
pub mod inputs;
pub mod marker;
pub mod outputs;
pub mod report;
pub mod trust;

pub use annotation::{Annotation, Level};
pub use cause::{RowCause, causes};
pub use event::{Event, Pull};
pub use inputs::{Inputs, Mode};
pub use marker::{Marker, State};
pub use outputs::{Degraded, DriftStatus, FailureReason, Output};
pub use trust::Standing;
