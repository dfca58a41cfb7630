//! Checkfu: GitOps for the agents a team runs.
//!
//! ```text
//! files ─▶ manifest ─▶ desired ─┐
//!                               ├─▶ plan ─▶ apply ─▶ receipt
//! workspace ─────────▶ live ────┘
//! ```
//!
//! The pure core (`diag`, `model`, `manifest`, `desired`, `live`, `plan`, `pull`, `receipt`, `ci`) takes values and
//! returns values. Effects sit behind [`control::ControlPlane`] and [`control::Blobs`]. `reconcile` joins
//! the stages; `cli` is the only printer. ARCHITECTURE.md holds the import table, `tests/it/layering.rs`
//! keeps it.

pub mod apply;
pub mod bundle;
pub mod ci;
pub mod cli;
pub mod control;
pub mod desired;
pub mod diag;
pub mod forge;
pub mod live;
pub mod manifest;
pub mod model;
pub mod net;
pub mod plan;
pub mod pull;
pub mod receipt;
pub mod reconcile;
pub mod server;
pub mod store;
