//! A workspace that its first write makes: what ends before it leaves no file behind.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::control::embedded::{Embedded, EmbeddedOptions, new, read};
use crate::control::{ControlError, ControlPlane};
use crate::model::op::{Context, Request, Response};
use crate::store::{self, Conn, Identity};

/// The workspace at a path. Where there is none, it reads as an empty one, and the first write makes the file.
pub struct OnFirstWrite {
    path: PathBuf,
    options: EmbeddedOptions,
    made: OnceLock<Embedded>,
    making: Mutex<()>,
    /// What is read before there is a file.
    empty: Option<(Mutex<Conn>, Identity)>,
}

impl OnFirstWrite {
    /// Opens the workspace at a path, if there is one. One that may not be written is opened to be read, and
    /// answers each write with `store.read_only`.
    ///
    /// # Errors
    /// As [`Embedded::open_existing`].
    pub fn open(path: &Path, options: EmbeddedOptions) -> Result<Self, ControlError> {
        let mut out =
            Self { path: path.to_owned(), options, made: OnceLock::new(), making: Mutex::new(()), empty: None };
        if let Some(found) = Embedded::open_existing(path, out.options.clone())? {
            out.made = OnceLock::from(found);
        } else {
            let (conn, identity) = store::empty(&new(&out.options))?;
            out.empty = Some((Mutex::new(conn), identity));
        }
        Ok(out)
    }

    /// The workspace, made now if there is none yet.
    fn made(&self) -> Result<&Embedded, ControlError> {
        let making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let made = Embedded::open(&self.path, self.options.clone())?;
        let made = self.made.get_or_init(|| made);
        drop(making);
        Ok(made)
    }
}

impl ControlPlane for OnFirstWrite {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        let made = self.made.get();
        match (made, &self.empty) {
            (Some(made), _) => made.call(context, request).await,
            // Another process may have made it meanwhile.
            (None, Some((empty, identity))) if !request.operation().mutates && !self.path.exists() => {
                let empty = empty.lock().unwrap_or_else(PoisonError::into_inner);
                read::answer(&empty, identity, &request)
            }
            (None, _) => self.made()?.call(context, request).await,
        }
    }
}
