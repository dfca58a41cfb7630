//! A project as a commit of its repository has it: what files under review are held against. It is written to a
//! temporary folder and loaded as any project; nothing of what is checked out takes part.

use std::path::Path;

use crate::bundle::{BaseOf, Commit, CommitError};
use crate::diag::LineIndex;
use crate::manifest;
use crate::model::config::Config;
use crate::model::op::Source;
use crate::reconcile::load::{CONFIG_FILE, LoadError, LoadOptions, Loaded, load};

/// A commit, with the project that it holds.
#[derive(Debug)]
pub struct Base {
    /// The commit, in full.
    pub commit: String,
    /// What is at the place of the project.
    pub project: Earlier,
    files: Commit,
    // Dropped after the project, which writes its cache into it.
    _there: Option<tempfile::TempDir>,
}

/// A project as it was.
#[derive(Debug)]
pub enum Earlier {
    /// There was none.
    Absent,
    /// Its configuration cannot be read.
    Broken(LoadError),
    /// It was read; it may have errors.
    Loaded(Box<Loaded>),
}

/// Why there is none to compare with.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// The commit is not here, or cannot be read.
    #[error(transparent)]
    Commit(CommitError),
    /// There is no room for its files.
    #[error("no temporary folder can be made")]
    Folder(#[source] std::io::Error),
}

impl Base {
    /// The configuration, where there was one that can be read.
    pub fn config(&self) -> Option<&Config> {
        match &self.project {
            Earlier::Loaded(loaded) => Some(&loaded.config),
            Earlier::Absent | Earlier::Broken(_) => None,
        }
    }

    /// The bytes of a file of the project, as it was; `None`: there was none, or it was a link.
    ///
    /// # Errors
    /// The object cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, CommitError> {
        self.files.file(path)
    }
}

/// Loads the project in `dir` as it is in another commit.
///
/// # Errors
/// [`BaseError`]. What is wrong with the project itself is in [`Earlier`].
pub fn base(dir: &Path, of: BaseOf<'_>, options: &LoadOptions) -> Result<Base, BaseError> {
    let files = Commit::find(dir, of).map_err(BaseError::Commit)?;
    let commit = files.id();
    let Some(config) = files.file(CONFIG_FILE).map_err(BaseError::Commit)? else {
        return Ok(Base { commit, project: Earlier::Absent, files, _there: None });
    };
    let there = tempfile::Builder::new().prefix("checkfu-base-").tempdir().map_err(BaseError::Folder)?;
    let project = files.write(there.path(), folders_up(config)).map_err(BaseError::Commit)?;
    let project = match load(&project, options) {
        Ok(mut loaded) => {
            if let Some(desired) = &mut loaded.desired {
                desired.source =
                    Source { commit: Some(commit.clone()), path: Some(files.prefix().to_owned()), ..Source::default() };
            }
            Earlier::Loaded(Box::new(loaded))
        }
        Err(error) => Earlier::Broken(error),
    };
    Ok(Base { commit, project, files, _there: Some(there) })
}

/// How many folders above the project its `root` is.
fn folders_up(config: Vec<u8>) -> usize {
    let Ok(text) = String::from_utf8(config) else { return 0 };
    let (config, _) = manifest::config(&LineIndex::new(CONFIG_FILE, text));
    config.map_or(0, |c| c.config.root.split('/').filter(|p| *p == "..").count())
}
