//! Uploads: a skill as files or as one zip, a file. Their bytes become blobs, then the operation names them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use futures_util::StreamExt;
use http_body_util::Limited;
use unicode_normalization::UnicodeNormalization;

use crate::control::http::Incoming;
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::server as codes;
use crate::manifest::skill_name;
use crate::model::address::is_name;
use crate::model::kinds::Object;
use crate::model::op::{
    BlobPut, ContentOf, Context, Create, Digests, Expect, FileCreate, Publish, Request as Op, Response,
};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Digest, Kind};
use crate::server::body::{Spool, in_time, too_large, unreadable};
use crate::server::{App, archive, body, operation};

/// Most bytes of a part that is a text.
const TEXT: usize = 4_096;

/// Most bytes of a form that are held without anything of it being understood. What its reader takes at once, where
/// a network is fast, is less.
const UNREAD: usize = 16 << 20;

/// One file of an upload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// As it was sent.
    pub(super) path: String,
    /// May it be executed?
    pub(super) executable: bool,
    /// The bytes.
    pub(super) bytes: Vec<u8>,
}

/// `upload.invalid`.
pub(super) fn refused(message: impl Into<String>) -> ControlError {
    ControlError::new(ErrorKind::Invalid, codes::UPLOAD.code, message)
}

/// `skills.create` or `skills.publish` from parts.
pub(super) async fn skill(
    app: &App,
    context: &Context,
    incoming: Incoming,
    request: Request,
) -> Result<Op, ControlError> {
    // The parts, and what a zip among them unpacks to.
    let _memory = body::reserve(app, 2 * app.limits.skill_bytes).await?;
    let (parts, display_name) = in_time(app.limits.upload_time, skill_parts(app, request)).await?;
    let files = rooted(parts)?;
    let text = files.get("SKILL.md").map(|part| String::from_utf8_lossy(&part.bytes).into_owned());
    let Some(name) = text.as_deref().and_then(skill_name).filter(|name| is_name(name)) else {
        return Err(refused("a skill has a SKILL.md at its top, whose front matter has a valid `name`"));
    };
    let content = stored(app, context, files).await?;
    if incoming.operation.name == "skills.publish" {
        let id = incoming.params.get("id").cloned().unwrap_or_default();
        let version = incoming.query.iter().find(|(name, _)| name == "expected_version").map(|(_, v)| v.parse());
        let Ok(version) = version.transpose() else { return Err(refused("`expected_version` is a number")) };
        return Ok(Op::Publish(Publish { kind: Kind::Skill, at: Expect { id, version }, content, applied: None }));
    }
    let mut body = Object::new();
    body.insert("name".to_owned(), name.into());
    if let Some(shown) = display_name {
        body.insert("display_name".to_owned(), shown.into());
    }
    Ok(Op::Create(Create {
        kind: Kind::Skill,
        body,
        content: Some(content),
        claim: None,
        absent_since: None,
        replaces: None,
    }))
}

/// A form as it arrives. Its reader keeps what it has not understood yet, without a bound of its own.
struct Form {
    parts: Multipart,
    unread: Unread,
}

/// Bytes since a form last gave something.
#[derive(Clone, Default)]
struct Unread(Arc<AtomicUsize>);

impl Unread {
    fn came(&self, bytes: usize) -> std::io::Result<()> {
        let unread = self.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if unread > UNREAD { Err(std::io::Error::other("a part has no end")) } else { Ok(()) }
    }

    fn gave(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Form {
    /// Of a request with at most so many bytes in its parts.
    async fn of(request: Request, most: usize) -> Result<Self, ControlError> {
        body::check_encoding(request.headers())?;
        let unread = Unread::default();
        let meter = unread.clone();
        let (head, body) = request.into_parts();
        let chunks = Body::new(Limited::new(body, most + UNREAD)).into_data_stream().map(move |chunk| {
            let chunk = chunk?;
            meter.came(chunk.len()).map_err(axum::Error::new)?;
            Ok::<_, axum::Error>(chunk)
        });
        let request = Request::from_parts(head, Body::from_stream(chunks));
        let parts = Multipart::from_request(request, &()).await;
        let parts = parts.map_err(|_| unreadable("`multipart/form-data` needs a boundary"))?;
        Ok(Self { parts, unread })
    }

    async fn next(&mut self) -> Result<Option<Field<'_>>, ControlError> {
        let next = self.parts.next_field().await.map_err(|e| broken(&e))?;
        self.unread.gave();
        Ok(next)
    }
}

fn broken(e: &MultipartError) -> ControlError {
    unreadable(format!("the body is no `multipart/form-data`: {}", e.body_text()))
}

async fn chunk(field: &mut Field<'_>, unread: &Unread) -> Result<Option<Bytes>, ControlError> {
    let chunk = field.chunk().await.map_err(|e| broken(&e))?;
    unread.gave();
    Ok(chunk)
}

async fn text(field: Field<'_>, unread: &Unread) -> Result<String, ControlError> {
    let name = field.name().unwrap_or_default().to_owned();
    String::from_utf8(bytes(field, unread, TEXT).await?).map_err(|_| refused(format!("`{name}` is no UTF-8")))
}

async fn bytes(mut field: Field<'_>, unread: &Unread, most: usize) -> Result<Vec<u8>, ControlError> {
    let mut out = Vec::new();
    while let Some(chunk) = chunk(&mut field, unread).await? {
        if out.len() + chunk.len() > most {
            return Err(too_large("a part", most));
        }
        out.extend_from_slice(&chunk);
    }
    Ok(out)
}

/// The files of a skill, and the name shown to people, if one is sent.
async fn skill_parts(app: &App, request: Request) -> Result<(Vec<Part>, Option<String>), ControlError> {
    let mut form = Form::of(request, app.limits.skill_bytes).await?;
    let unread = form.unread.clone();
    let (mut parts, mut display_name) = (Vec::new(), None);
    let mut left = app.limits.skill_bytes;
    while let Some(field) = form.next().await? {
        match field.name() {
            Some("display_name") => display_name = Some(text(field, &unread).await?),
            Some("files[]" | "files") => {
                let Some(path) = field.file_name().map(str::to_owned) else {
                    return Err(refused("each part `files[]` has a file name: its path"));
                };
                if parts.len() == app.limits.skill_files {
                    return Err(refused(format!("a skill has at most {} files", app.limits.skill_files)));
                }
                let bytes = bytes(field, &unread, left).await?;
                left -= bytes.len();
                parts.push(Part { path, executable: false, bytes });
            }
            Some(name) => return Err(refused(format!("there is no part `{}` here", name.escape_debug()))),
            None => return Err(refused("a part has no name")),
        }
    }
    let is_zip = |part: &Part| part.path.to_ascii_lowercase().ends_with(".zip") && part.bytes.starts_with(b"PK");
    if let [only] = &parts[..]
        && is_zip(only)
    {
        parts = archive::files(&only.bytes, &app.limits)?;
    }
    Ok((parts, display_name))
}

/// Files by their path below the folder that all share. A `SKILL.md` at the very top is a skill without a folder.
fn rooted(parts: Vec<Part>) -> Result<BTreeMap<String, Part>, ControlError> {
    let mut files = BTreeMap::new();
    for mut part in parts {
        let path: String = part.path.strip_prefix("./").unwrap_or(&part.path).nfc().collect();
        let bad = |p: &str| p.is_empty() || p == "." || p == ".." || p.chars().any(|c| c.is_control() || c == '\\');
        if path.len() > 1_024 || path.split('/').any(bad) {
            return Err(refused(format!("`{}` is no relative path", part.path.escape_debug())));
        }
        part.path = String::new();
        if files.insert(path.clone(), part).is_some() {
            return Err(refused(format!("`{path}` is there twice")));
        }
    }
    if files.contains_key("SKILL.md") {
        return no_file_is_a_folder(files);
    }
    let top = files.keys().next().and_then(|path| path.split_once('/')).map(|(top, _)| format!("{top}/"));
    let Some(top) = top else { return Err(refused("there are no files in a folder")) };
    let mut below = BTreeMap::new();
    for (path, part) in files {
        let Some(rest) = path.strip_prefix(&top) else {
            return Err(refused(format!("all files share one folder; `{path}` is not below `{top}`")));
        };
        below.insert(rest.to_owned(), part);
    }
    no_file_is_a_folder(below)
}

fn no_file_is_a_folder(files: BTreeMap<String, Part>) -> Result<BTreeMap<String, Part>, ControlError> {
    for path in files.keys() {
        let mut above = path.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            if files.contains_key(folder) {
                return Err(refused(format!("`{folder}` is a file and a folder")));
            }
            above = folder;
        }
    }
    Ok(files)
}

/// Stores the bytes that the workspace does not hold.
async fn stored(app: &App, context: &Context, files: BTreeMap<String, Part>) -> Result<ContentOf, ControlError> {
    let mut bodies = BTreeMap::new();
    let mut entries = Vec::new();
    for (path, Part { executable, bytes, .. }) in files {
        let sha256 = Digest::of(&bytes);
        entries.push(Entry { path, executable, symlink: false, size: bytes.len() as u64, sha256 });
        bodies.insert(sha256, bytes);
    }
    let context = of_blobs(context);
    let asked = Op::BlobsMissing(Digests { digests: bodies.keys().copied().collect() });
    if let Response::Missing(missing) = operation::call(app, &context, asked).await? {
        for digest in missing {
            let bytes = bodies.remove(&digest).unwrap_or_default();
            operation::call(app, &context, Op::BlobPut(BlobPut { digest, bytes })).await?;
        }
    }
    let set = FileSet::new(entries);
    Ok(ContentOf { entries: set.entries, digest: set.digest })
}

/// Key, Apply and action are those of the operation that names the blobs, not of each blob.
fn of_blobs(context: &Context) -> Context {
    Context { actor: context.actor.clone(), actor_kind: context.actor_kind, ..Context::default() }
}

/// `files.create` from parts.
pub(super) async fn file(app: &App, context: &Context, request: Request) -> Result<Op, ControlError> {
    let (file, expires_in_seconds) = in_time(app.limits.upload_time, file_parts(app, request)).await?;
    let Some((filename, mime_type, spool)) = file else { return Err(refused("there is no part `file`")) };
    let size = spool.size() as u64;
    let (bytes, digest, _memory) = spool.take(app).await?;
    operation::call(app, &of_blobs(context), Op::BlobPut(BlobPut { digest, bytes })).await?;
    Ok(Op::FileCreate(FileCreate { filename, mime_type, digest, size, expires_in_seconds }))
}

type Uploaded = (String, String, Spool);

async fn file_parts(app: &App, request: Request) -> Result<(Option<Uploaded>, Option<u64>), ControlError> {
    let mut form = Form::of(request, app.limits.blob_bytes).await?;
    let unread = form.unread.clone();
    let (mut file, mut expires) = (None, None);
    while let Some(mut field) = form.next().await? {
        match field.name() {
            Some("file") if file.is_some() => return Err(refused("the part `file` is there twice")),
            Some("file") => {
                let Some(path) = field.file_name() else { return Err(refused("the part `file` has a file name")) };
                let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
                let guess = || mime_guess::from_path(&name).first_or_octet_stream().to_string();
                let media = field.content_type().map_or_else(guess, str::to_owned);
                let mut spool = Spool::new(app.limits.blob_bytes);
                while let Some(chunk) = chunk(&mut field, &unread).await? {
                    spool.push(&chunk)?;
                }
                file = Some((name, media, spool));
            }
            Some("expires_in_seconds") => {
                let text = text(field, &unread).await?;
                let Ok(seconds) = text.trim().parse() else {
                    return Err(refused("`expires_in_seconds` is a number"));
                };
                expires = Some(seconds);
            }
            // What an older client adds, as `purpose`, says nothing here.
            _ => drop(bytes(field, &unread, TEXT).await?),
        }
    }
    Ok((file, expires))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(path: &str) -> Part {
        Part { path: path.to_owned(), executable: false, bytes: Vec::new() }
    }

    fn paths(names: &[&str]) -> Result<Vec<String>, String> {
        let rooted = rooted(names.iter().map(|n| part(n)).collect());
        rooted.map(|files| files.into_keys().collect()).map_err(|e| e.message)
    }

    #[test]
    fn files_share_one_folder_or_have_none() {
        assert_eq!(paths(&["a/SKILL.md", "a/b/c.txt"]).unwrap(), ["SKILL.md", "b/c.txt"]);
        assert_eq!(paths(&["SKILL.md", "b/c.txt"]).unwrap(), ["SKILL.md", "b/c.txt"]);
        assert_eq!(paths(&["./a/SKILL.md"]).unwrap(), ["SKILL.md"]);
        assert!(paths(&["a/SKILL.md", "b/c.txt"]).is_err());
        assert!(paths(&["a/SKILL.md", "c.txt"]).is_err());
        assert!(paths(&[]).is_err());
    }

    #[test]
    fn a_path_that_leaves_is_twice_or_is_two_things_is_refused() {
        for bad in ["/etc/passwd", "a/../../x", "a/./x", "a//x", "..\\x", "a/x\\y", "a/\u{0}", "a/\n", "a/"] {
            assert!(paths(&["a/SKILL.md", bad]).is_err(), "{bad:?}");
        }
        assert!(paths(&["a/SKILL.md", "a/SKILL.md"]).is_err());
        assert!(paths(&["a/SKILL.md", "a/e\u{301}", "a/é"]).is_err());
        assert!(paths(&["a/SKILL.md", "a/x", "a/x/y"]).is_err());
        assert!(paths(&["a/SKILL.md", &format!("a/{}", "x".repeat(1_100))]).is_err());
    }
}
