//! Bodies of requests: read within limits of size, time, depth and memory; large ones through a file.

use std::io::{Read, Seek, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use futures_util::StreamExt;
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use sha2::{Digest as _, Sha256};
use tempfile::SpooledTempFile;
use tokio::sync::OwnedSemaphorePermit;

use crate::control::{ControlError, ErrorKind, http};
use crate::diag::codes::server as codes;
use crate::diag::codes::{control, http as http_codes};
use crate::model::Digest;
use crate::server::App;

/// Memory for bodies is counted in these bytes.
pub(super) const UNIT: usize = 64 << 10;

/// Bytes of an upload that stay in memory; what is larger goes through a file.
const IN_MEMORY: usize = 1 << 20;

/// Bytes of a refused body that are read all the same.
const DRAINED: usize = 64 << 20;
/// And for how long.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Waits until so many bytes may be held.
pub(super) async fn reserve(app: &App, bytes: usize) -> Result<OwnedSemaphorePermit, ControlError> {
    let most = app.limits.memory / UNIT;
    let units = u32::try_from(bytes.div_ceil(UNIT).clamp(1, most.max(1))).unwrap_or(u32::MAX);
    let free = Arc::clone(&app.memory).acquire_many_owned(units);
    match tokio::time::timeout(app.limits.call_time, free).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(busy()),
    }
}

/// `http.overloaded`.
pub(super) fn busy() -> ControlError {
    let message = "the server has as much to do as it takes at once";
    ControlError::new(ErrorKind::Unavailable, http_codes::OVERLOADED.code, message)
}

/// `request.body`.
pub(super) fn unreadable(message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Invalid, codes::BODY.code, message)
}

/// `request.too_large`.
pub(super) fn too_large(what: &str, most: usize) -> ControlError {
    let message = format!("{what} has more than {most} bytes");
    ControlError::new(ErrorKind::TooLarge, codes::TOO_LARGE.code, message).details(serde_json::json!({"limit": most}))
}

/// `request.media_type`.
pub(super) fn media_type(message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Invalid, codes::MEDIA_TYPE.code, message)
}

/// Ends with `request.timeout` what takes longer.
pub(super) async fn in_time<T>(
    time: Duration,
    what: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, ControlError> {
    tokio::time::timeout(time, what).await.unwrap_or_else(|_| {
        let message = format!("the body did not arrive in {} s", time.as_secs());
        Err(ControlError::new(ErrorKind::Unavailable, codes::SLOW.code, message))
    })
}

/// Bodies come as they are: what is decoded has no bound that is known before.
pub(super) fn check_encoding(headers: &HeaderMap) -> Result<(), ControlError> {
    match headers.get(CONTENT_ENCODING) {
        Some(value) if value != "identity" => Err(media_type("a body with `content-encoding` is not taken")),
        _ => Ok(()),
    }
}

/// The media type of a request, without parameters, in lower case.
pub(super) fn media(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// What a request still holds of its body, whoever reads the rest.
///
/// A connection that is closed while bytes are on their way to it is reset, and the answer may be lost with it: so the
/// rest of a refused body is read and thrown away, within bounds.
pub(super) struct Rest(Arc<Mutex<Body>>);

impl Rest {
    /// Takes hold of the body of a request.
    pub(super) fn of(request: Request) -> (Request, Self) {
        let (parts, body) = request.into_parts();
        let shared = Arc::new(Mutex::new(body));
        (Request::from_parts(parts, Body::new(Self(Arc::clone(&shared)))), Self(shared))
    }

    /// Reads it to its end, or as far as is worth it.
    pub(super) async fn drain(self) {
        let end = async {
            let mut left = DRAINED;
            let mut chunks = Body::new(self).into_data_stream();
            while let Some(Ok(chunk)) = chunks.next().await {
                match left.checked_sub(chunk.len()) {
                    Some(less) => left = less,
                    None => break,
                }
            }
        };
        // It ends or it does not: the answer is the same.
        let _ = tokio::time::timeout(DRAIN_TIME, end).await;
    }

    fn body(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for Rest {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.body()).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body().size_hint()
    }
}

/// A JSON body, or none.
pub(super) async fn json(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<(http::Body, OwnedSemaphorePermit), ControlError> {
    let most = app.limits.json_bytes;
    let said = usize::try_from(body.size_hint().upper().unwrap_or(most as u64)).unwrap_or(usize::MAX);
    if said > most {
        return Err(too_large("the body", most));
    }
    let permit = reserve(app, said).await?;
    let bytes = in_time(app.limits.json_time, async {
        match Limited::new(body, most).collect().await {
            Ok(collected) => Ok(collected.to_bytes()),
            Err(e) if e.is::<LengthLimitError>() => Err(too_large("the body", most)),
            Err(_) => Err(unreadable("the body is cut off")),
        }
    })
    .await?;
    if bytes.is_empty() {
        return Ok((http::Body::Empty, permit));
    }
    check_encoding(headers)?;
    match media(headers) {
        Some(media) if media != "application/json" && !media.ends_with("+json") => {
            return Err(media_type(format!("a body of type {media} is not taken here; send application/json")));
        }
        _ => {}
    }
    let (depth, values) = measure(&bytes);
    if depth > app.limits.json_depth {
        return Err(unreadable(format!("the body nests {depth} deep; {} is the most", app.limits.json_depth)));
    }
    if values > app.limits.json_values {
        return Err(unreadable(format!("the body holds more than {} values", app.limits.json_values)));
    }
    let value = serde_json::from_slice(&bytes).map_err(|e| {
        // Not the message of the parser alone: it may quote the body.
        unreadable(format!("the body is no JSON: line {}, column {}", e.line(), e.column()))
    })?;
    Ok((http::Body::Json(value), permit))
}

/// How deep JSON nests, and at least how many values it holds. Of what is no JSON any number: it is refused later.
fn measure(bytes: &[u8]) -> (usize, usize) {
    let (mut depth, mut deepest, mut values) = (0_usize, 0, 1);
    let (mut text, mut escaped) = (false, false);
    for byte in bytes {
        if text {
            text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => text = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                values += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
    }
    (deepest, values)
}

/// Bytes on their way through a file, with their digest.
pub(super) struct Spool {
    file: SpooledTempFile,
    hash: Sha256,
    size: usize,
    most: usize,
}

impl Spool {
    /// Takes at most so many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), hash: Sha256::new(), size: 0, most }
    }

    /// Adds bytes. They go to the system's cache: waiting for another thread would take longer.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ControlError> {
        self.size += bytes.len();
        if self.size > self.most {
            return Err(too_large("the file", self.most));
        }
        self.hash.update(bytes);
        self.file.write_all(bytes).map_err(not_kept)
    }

    /// How many bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The bytes, when there is memory for them, and their digest.
    pub(super) async fn take(mut self, app: &App) -> Result<(Vec<u8>, Digest, OwnedSemaphorePermit), ControlError> {
        let permit = reserve(app, self.size).await?;
        let mut bytes = Vec::with_capacity(self.size);
        self.file.rewind().map_err(not_kept)?;
        self.file.read_to_end(&mut bytes).map_err(not_kept)?;
        Ok((bytes, Digest::from_bytes(self.hash.finalize().into()), permit))
    }
}

fn not_kept(e: std::io::Error) -> ControlError {
    let mut error = ControlError::new(ErrorKind::Internal, control::STORE_IO.code, "an upload cannot be kept");
    error.source = Some(Box::new(e));
    error
}

/// A body of bytes, whatever its type.
pub(super) async fn raw(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<(http::Body, OwnedSemaphorePermit), ControlError> {
    check_encoding(headers)?;
    let most = app.limits.blob_bytes;
    if body.size_hint().lower() > most as u64 {
        return Err(too_large("the body", most));
    }
    let spool = in_time(app.limits.upload_time, async {
        let mut spool = Spool::new(most);
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            spool.push(&chunk.map_err(|_| unreadable("the body is cut off"))?)?;
        }
        Ok(spool)
    })
    .await?;
    let (bytes, _, permit) = spool.take(app).await?;
    Ok((http::Body::Bytes(bytes), permit))
}

/// A file as a body that is read as it is sent.
pub(super) fn of_file(file: SpooledTempFile) -> Body {
    let chunks = futures_util::stream::unfold(Some(file), |file| async {
        let mut file = file?;
        let mut chunk = vec![0; UNIT];
        match file.read(&mut chunk) {
            Ok(0) => None,
            Ok(n) => {
                chunk.truncate(n);
                Some((Ok(Bytes::from(chunk)), Some(file)))
            }
            Err(e) => Some((Err(e), None)),
        }
    });
    Body::from_stream(chunks)
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn brackets_in_texts_do_not_count() {
        assert_eq!(measure(b"1"), (0, 1));
        assert_eq!(measure(br#"{"a":[1,2],"b":"[[\"[{"}"#).0, 2);
        assert_eq!(measure(br#""\\""#).0, 0);
        assert_eq!(measure(br#"["\\",[["#).0, 3);
        assert!(measure(b"[1,2,3,4]").1 >= 4);
        assert_eq!(measure(&[b'['; 200]).0, 200);
    }
}
