//! Opening files with care: a link is never followed, a FIFO or device never waited on.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading. The last part of the path is not followed when it is a link; what is
/// no regular file is an error, and is not opened.
pub(crate) fn regular(path: &Path) -> io::Result<(File, Metadata)> {
    if !path.symlink_metadata()?.is_file() {
        return Err(not_regular());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // between the look above and here the file may have been swapped for a link or a FIFO
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// The bytes of a regular file, or `None` when it has more than `limit`.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let (file, metadata) = regular(path)?;
    if metadata.len() > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_and_fifos_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "12345").unwrap();
        std::os::unix::fs::symlink(&file, dir.path().join("l")).unwrap();
        let fifo = dir.path().join("f");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert_eq!(read(&file, 5).unwrap().unwrap(), b"12345");
        assert_eq!(read(&file, 4).unwrap(), None);
        for bad in ["l", "f", "", "missing"] {
            assert!(read(&dir.path().join(bad), 5).is_err(), "{bad}");
        }
    }
}
