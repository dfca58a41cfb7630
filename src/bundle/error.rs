//! Why a project cannot be opened at all.

use std::path::PathBuf;

use crate::diag::{Code, codes};

/// Why a project cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The project folder is no folder, or not to be read.
    #[error("{} cannot be opened as a project folder", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// `root` is not a folder above (or equal to) the project folder.
    #[error("root `{root}` is not the project folder or a folder above it: write `.`, `..` or `../..`")]
    Root {
        /// As written.
        root: String,
    },
    /// `root` reaches above the Git top level; without Git, above the project folder.
    #[error("root `{root}` reaches above {}", top.display())]
    RootTooHigh {
        /// As written.
        root: String,
        /// The highest folder it may name.
        top: PathBuf,
    },
}

impl BundleError {
    /// Its row in the table of codes.
    pub fn code(&self) -> &'static Code {
        match self {
            Self::Folder { .. } => &codes::bundle::FOLDER,
            Self::Root { .. } | Self::RootTooHigh { .. } => &codes::bundle::ROOT,
        }
    }
}
