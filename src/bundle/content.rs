//! The content of one file: its line-end rule, the stat cache, the reading.

use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;

use git2::Oid;

use crate::bundle::cache::{Known, Stat};
use crate::bundle::git::Tracked;
use crate::bundle::hash::{self, Facts};
use crate::bundle::lines::Rule;
use crate::bundle::project::{NoPlace, Place};
use crate::bundle::rules::Scope;
use crate::bundle::{Project, open};
use crate::control::{BlobError, Blobs};
use crate::model::{Digest, marker};

/// No file of any bundle is larger on disk: the largest limit, doubled by line ends, and some air.
const MAX_BLOB: u64 = 64 * 1024 * 1024;

/// Which rule a file falls under, before its blob is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRule {
    /// Attributes alone decide.
    Fixed(Rule),
    /// `text=auto`, unless this blob holds a CR.
    Auto(Oid),
    /// No attribute: CRLF becomes LF unless this blob holds a CR.
    ByBlob(Oid),
}

impl LineRule {
    /// All that the decision depends on, as the stat cache keeps it.
    fn written(self) -> String {
        match self {
            Self::Fixed(Rule::Keep) => "keep".to_owned(),
            Self::Fixed(Rule::Convert) => "text".to_owned(),
            Self::Fixed(Rule::Auto) => "auto".to_owned(),
            Self::Auto(id) => format!("auto:{id}"),
            Self::ByBlob(id) => format!("blob:{id}"),
        }
    }
}

/// What a file's content came to.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) known: Known,
    /// Its blob was needed and could not be read; it was taken as it is on disk.
    pub(crate) blob_problem: Option<String>,
}

impl Project {
    fn line_rule(&self, scope: &Scope, top: &str) -> LineRule {
        let blob = match self.tracked(top) {
            Some(Tracked::Blob { id, .. }) => Some(id),
            Some(Tracked::Submodule) | None => None,
        };
        match (scope.attributes(top).rule(), blob) {
            (Some(Rule::Auto), Some(id)) => LineRule::Auto(id),
            (Some(rule), _) => LineRule::Fixed(rule),
            (None, Some(id)) => LineRule::ByBlob(id),
            (None, None) => LineRule::Fixed(Rule::Keep),
        }
    }

    /// The rule once the blob was looked at; a blob that cannot be read leaves the bytes as they are.
    fn decide(&self, rule: LineRule, problem: &mut Option<String>) -> Rule {
        let (id, converts) = match rule {
            LineRule::Fixed(rule) => return rule,
            LineRule::Auto(id) => (id, Rule::Auto),
            LineRule::ByBlob(id) => (id, Rule::Convert),
        };
        match self.git.as_ref().map(|g| g.blob_has_cr(id)) {
            Some(Ok(false)) => converts,
            Some(Ok(true)) | None => Rule::Keep,
            Some(Err(why)) => {
                *problem = Some(why);
                Rule::Keep
            }
        }
    }

    fn read(&self, place: &Place, rule: LineRule, limit: u64, keep: bool) -> io::Result<(Facts, Stat, Option<String>)> {
        let (mut file, metadata) = open::regular(&place.disk)?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        let mut problem = None;
        let facts = hash::file(&mut file, limit, keep, || Ok(self.decide(rule, &mut problem)))?;
        let (before, after) = (Stat::of(&metadata), Stat::of(&file.metadata()?));
        if before != after {
            return Err(io::Error::other("it changed while it was read"));
        }
        Ok((facts, after, problem))
    }

    /// Size and digest of a file of at most `limit` bytes on disk, from the stat cache where it may be
    /// believed, and whether a conflict in it waits for somebody to decide that `pull`
    /// wrote. With `utf8` it is also known whether it is text, and whether there is a conflict of any kind.
    pub(crate) fn content(
        &self,
        place: &Place,
        scope: &Scope,
        metadata: &Metadata,
        limit: u64,
        utf8: bool,
    ) -> io::Result<Content> {
        let rule = self.line_rule(scope, &place.top);
        let written = rule.written();
        if let Some(known) = self.cache.find(&place.top, &Stat::of(metadata), &written, utf8) {
            return Ok(Content { known, blob_problem: None });
        }
        let started = (self.clock)();
        let (mut facts, mut stat, mut blob_problem) = self.read(place, rule, limit, utf8)?;
        if facts.marked && !utf8 {
            // Hardly ever: then the lines count.
            (facts, stat, blob_problem) = self.read(place, rule, limit, true)?;
        }
        let text = facts.bytes.as_ref().map(|b| std::str::from_utf8(b).ok());
        let line = |mark: fn(&str) -> Option<Range<usize>>| text.flatten().and_then(|t| line_of(t, mark(t)?.start));
        let known = Known {
            stat,
            rule: written,
            has_cr: facts.has_cr,
            lfs: facts.lfs,
            utf8: text.map(|t| t.is_some()),
            conflict: line(marker::conflict),
            pulled: line(marker::pulled),
            size: facts.size,
            sha256: facts.sha256,
        };
        if blob_problem.is_none() && stat.rested(started) {
            self.cache.put(place.top.clone(), known.clone());
        }
        Ok(Content { known, blob_problem })
    }
}

/// The line, from 1, of a byte.
fn line_of(text: &str, at: usize) -> Option<u32> {
    u32::try_from(text[..at].bytes().filter(|b| *b == b'\n').count() + 1).ok()
}

impl Blobs for Project {
    fn open(&self, path: &str, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let failed = |source| BlobError::Io { path: path.to_owned(), source };
        let place = self.place(path, false).map_err(|e| {
            failed(match e {
                NoPlace::Io(e) => e,
                NoPlace::Outside => io::Error::new(io::ErrorKind::PermissionDenied, "it is outside the root"),
                NoPlace::Form | NoPlace::Name => io::ErrorKind::InvalidFilename.into(),
            })
        })?;
        let metadata = place.disk.symlink_metadata().map_err(failed)?;
        let (found, bytes) = if metadata.is_symlink() {
            // a kept link: its bytes are the text of its target
            let target = std::fs::read_link(&place.disk).map_err(failed)?;
            let bytes = target.to_string_lossy().into_owned().into_bytes();
            (Digest::of(&bytes), bytes)
        } else {
            let scope = self.rules.scope(place.top.rsplit_once('/').map_or("", |p| p.0));
            let rule = self.line_rule(&scope, &place.top);
            let (facts, _, _) = self.read(&place, rule, MAX_BLOB, true).map_err(failed)?;
            (facts.sha256, facts.bytes.unwrap_or_default())
        };
        if found == *digest {
            Ok(bytes)
        } else {
            Err(BlobError::Changed { path: path.to_owned(), wanted: *digest, found })
        }
    }
}
