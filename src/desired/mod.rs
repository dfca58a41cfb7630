//! Documents and file sets → a closed, ordered, digested set of wanted resources. Pure.
//!
//! ```text
//! documents ─▶ declare (skills joined, content set aside, short mounts written out)
//!           ─▶ needs   (which texts and folders they name; the caller reads them)
//!           ─▶ resolve (canonical forms, references, rules) ─▶ Desired
//! ```

mod alone;
mod cycles;
mod declare;
mod lines;
mod modes;
mod needs;
pub mod paths;
mod places;
pub mod profile;
mod references;
mod resolve;
pub mod rules;
mod set;
mod spec;

pub use alone::{Alone, alone};
pub use declare::{declare, skill_files};
pub use lines::check_config;
pub use needs::{Bundle, Needs, Purpose, Use, needs};
pub use places::Places;
pub use profile::Profile;
pub use resolve::{Inputs, resolve};
pub use set::{Desired, Digested, TextPart, Wanted, WantedFile};

#[cfg(test)]
mod tests;
