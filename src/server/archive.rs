//! The files of a skill as one zip, and back. What is written depends on the files alone: sorted, with fixed times,
//! not compressed, so that it is the same bytes wherever and whenever it is made.

use std::io::{Cursor, Read, Seek, Write};

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, HeaderValue};
use axum::response::Response as Answer;
use tempfile::SpooledTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipArchive, ZipWriter};

use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control;
use crate::manifest::skill_name;
use crate::model::address::is_name;
use crate::model::op::{BlobGet, Context, Request, Response};
use crate::model::tree::Entry;
use crate::server::upload::{Part, refused};
use crate::server::{App, Limits, answer, body, operation};

/// Bytes that stay in memory; a larger archive goes through a file.
const IN_MEMORY: usize = 1 << 20;

/// What a Mac puts beside the files.
const NO_FILES: &str = "__MACOSX/";

/// The answer to `skills.content`.
pub(super) async fn of_skill(app: &App, context: &Context, entries: Vec<Entry>) -> Result<Answer, ControlError> {
    let _memory = match entries.iter().map(|e| e.size).max() {
        Some(most) => Some(body::reserve(app, usize::try_from(most).unwrap_or(usize::MAX)).await?),
        None => None,
    };
    let mut name = "skill".to_owned();
    if let Some(head) = entries.iter().find(|e| e.path == "SKILL.md") {
        let bytes = bytes_of(app, context, head).await?;
        name = skill_name(&String::from_utf8_lossy(&bytes)).filter(|name| is_name(name)).unwrap_or(name);
    }
    let mut zip = ZipWriter::new(SpooledTempFile::new(IN_MEMORY));
    for entry in &entries {
        let bytes = bytes_of(app, context, entry).await?;
        add(&mut zip, &format!("{name}/{}", entry.path), entry, &bytes).map_err(|e| not_made(e.into()))?;
    }
    let mut file = zip.finish().map_err(|e| not_made(e.into()))?;
    let length = file.stream_position().and_then(|at| file.rewind().map(|()| at)).map_err(|e| not_made(e.into()))?;
    let mut answer = answer::bytes_of("application/zip", body::of_file(file));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.zip\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(answer)
}

async fn bytes_of(app: &App, context: &Context, entry: &Entry) -> Result<Vec<u8>, ControlError> {
    match operation::call(app, context, Request::BlobGet(BlobGet { digest: entry.sha256 })).await? {
        Response::Bytes(bytes) => Ok(bytes),
        _ => Err(not_made("bytes are not answered with bytes".into())),
    }
}

fn add<W: Write + Seek>(zip: &mut ZipWriter<W>, path: &str, entry: &Entry, bytes: &[u8]) -> zip::result::ZipResult<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .system(System::Unix);
    if entry.symlink {
        return zip.add_symlink(path, String::from_utf8_lossy(bytes), options.unix_permissions(0o777));
    }
    zip.start_file(path, options.unix_permissions(if entry.executable { 0o755 } else { 0o644 }))?;
    zip.write_all(bytes)?;
    Ok(())
}

fn not_made(source: Box<dyn std::error::Error + Send + Sync>) -> ControlError {
    let mut error = ControlError::new(ErrorKind::Internal, control::STORE_IO.code, "the archive cannot be made");
    error.source = Some(source);
    error
}

/// The files of an uploaded zip. Nothing is written to a disk; sizes that the zip only claims are not believed.
///
/// # Errors
/// `upload.invalid`, `request.too_large`.
pub(super) fn files(bytes: &[u8], limits: &Limits) -> Result<Vec<Part>, ControlError> {
    let broken = |e: &dyn std::fmt::Display| refused(format!("the zip cannot be read: {e}"));
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| broken(&e))?;
    if zip.has_duplicate_names() {
        return Err(refused("the zip holds a path twice"));
    }
    if zip.len() > limits.skill_files {
        return Err(body::too_large("the zip", limits.skill_bytes));
    }
    let mut parts = Vec::new();
    let mut left = limits.skill_bytes;
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).map_err(|e| broken(&e))?;
        let path = match file.name() {
            Ok(name) => name.into_owned(),
            Err(e) => return Err(broken(&e)),
        };
        if file.is_dir() || path.starts_with(NO_FILES) {
            continue;
        }
        // Of the kinds that Unix has, only a plain file, or nothing said, is one.
        let mode = file.unix_mode().unwrap_or_default();
        if !matches!(mode & 0o170_000, 0 | 0o100_000) {
            return Err(refused(format!("`{}` is no plain file", path.escape_debug())));
        }
        let mut content = Vec::new();
        (&mut file).take(left as u64 + 1).read_to_end(&mut content).map_err(|e| broken(&e))?;
        left =
            left.checked_sub(content.len()).ok_or_else(|| body::too_large("the zip, unpacked,", limits.skill_bytes))?;
        parts.push(Part { path, executable: mode & 0o111 != 0, bytes: content });
    }
    Ok(parts)
}
