//! File bodies: which ones the workspace lacks, whether the working tree still has them, and sending each
//! once, just before the first action that needs it.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::{OnceCell, Semaphore, watch};

use crate::apply::Event;
use crate::apply::send::{Sender, unexpected};
use crate::control::{BlobError, Blobs, ControlError, ControlPlane};
use crate::model::Digest;
use crate::model::op::{BlobPut, Context, Digests, Request, Response};
use crate::plan::{Action, Content, Plan, Step};

/// Most digests in one question.
const BATCH: usize = 1_000;
/// Questions, and bodies of one action that are read and sent, at the same time.
const AT_ONCE: usize = 4;
/// Bytes that all uploads of an apply may hold in memory together, in MiB. One body is at most 25 MB.
const ROOM_MIB: u32 = 64;

/// Why a body did not get into the workspace.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// It changed after it was checked.
    #[error("a file changed while the plan was being applied")]
    Body(#[source] BlobError),
    /// It was not taken.
    #[error("{path} was not taken by the workspace")]
    Sent {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: ControlError,
    },
}

/// A body that the workspace lacks.
#[derive(Debug)]
struct Body {
    path: String,
    size: u64,
    sent: OnceCell<()>,
}

/// All bodies of a plan that the workspace lacks, by digest.
#[derive(Debug)]
pub(crate) struct Uploads {
    bodies: BTreeMap<Digest, Body>,
    room: Semaphore,
}

/// Every file that a plan names: digest → size and the paths that are said to have it, first named first.
type Wanted = BTreeMap<Digest, (u64, Vec<String>)>;

/// Asks which bodies the workspace lacks.
pub(crate) async fn missing<C: ControlPlane>(
    sender: &Sender<'_, C>,
    context: &Context,
    plan: &Plan,
) -> Result<Wanted, ControlError> {
    let mut wanted = Wanted::new();
    for action in &plan.actions {
        for (digest, size, path) in files(action) {
            let (_, paths) = wanted.entry(digest).or_insert_with(|| (size, Vec::new()));
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let digests: Vec<Digest> = wanted.keys().copied().collect();
    let mut lacks = Wanted::new();
    let ask = |batch: &[Digest]| {
        let request = Request::BlobsMissing(Digests { digests: batch.to_vec() });
        async move {
            match sender.send(context, request).await? {
                Response::Missing(missing) => Ok(missing),
                _ => Err(unexpected("blobs.missing")),
            }
        }
    };
    let questions: Vec<_> = digests.chunks(BATCH).map(ask).collect();
    let mut answers = stream::iter(questions).buffer_unordered(AT_ONCE);
    while let Some(missing) = answers.try_next().await? {
        lacks.extend(missing.into_iter().filter_map(|d| wanted.remove(&d).map(|w| (d, w))));
    }
    Ok(lacks)
}

/// Opens every body once, one at a time, so that nothing is sent of a plan whose files are gone. A digest may
/// have several paths; one that still has it will do. `None`: a person asked to stop.
pub(crate) fn verify<B: Blobs>(
    lacks: Wanted,
    blobs: &B,
    stop: &watch::Receiver<bool>,
) -> Option<Result<Uploads, Vec<BlobError>>> {
    let mut bodies = BTreeMap::new();
    let mut problems = Vec::new();
    for (digest, (size, paths)) in lacks {
        if *stop.borrow() {
            return None;
        }
        let mut wrong = Vec::new();
        let found = paths.into_iter().find(|path| match blobs.open(path, &digest) {
            Ok(_) => true,
            Err(error) => {
                wrong.push(error);
                false
            }
        });
        match found {
            Some(path) => {
                bodies.insert(digest, Body { path, size, sent: OnceCell::new() });
            }
            None => problems.extend(wrong),
        }
    }
    let room = Semaphore::new(ROOM_MIB as usize);
    Some(if problems.is_empty() { Ok(Uploads { bodies, room }) } else { Err(problems) })
}

impl Uploads {
    /// How many bodies will be sent, and their bytes.
    pub(crate) fn totals(&self) -> (usize, u64) {
        (self.bodies.len(), self.bodies.values().map(|b| b.size).sum())
    }

    /// Sends what an action needs and nobody sent yet. Waits for what another action is sending.
    pub(crate) async fn send_for<C: ControlPlane, B: Blobs>(
        &self,
        action: &Action,
        sender: &Sender<'_, C>,
        blobs: &B,
        context: &Context,
    ) -> Result<(), UploadError> {
        let mut sends = Vec::new();
        for (digest, ..) in files(action) {
            if let Some(body) = self.bodies.get(&digest) {
                let send = move || self.send(digest, body, sender, blobs, context);
                sends.push(async move { body.sent.get_or_try_init(send).await.copied() });
            }
        }
        stream::iter(sends).buffer_unordered(AT_ONCE).try_for_each(|()| std::future::ready(Ok(()))).await
    }

    async fn send<C: ControlPlane, B: Blobs>(
        &self,
        digest: Digest,
        body: &Body,
        sender: &Sender<'_, C>,
        blobs: &B,
        context: &Context,
    ) -> Result<(), UploadError> {
        let mib = u32::try_from(body.size >> 20).unwrap_or(ROOM_MIB).saturating_add(1).min(ROOM_MIB);
        // The semaphore is never closed; without a permit the upload would only be less frugal.
        let _room = self.room.acquire_many(mib).await.ok();
        let bytes = blobs.open(&body.path, &digest).map_err(UploadError::Body)?;
        let sent = bytes.len() as u64;
        // The receipt line belongs to the action; a body is content under its digest and has none.
        let apply = context.apply.as_deref().unwrap_or_default();
        let context = Context { key: Some(format!("{apply}:{digest}")), action: None, ..context.clone() };
        let answer = sender.send(&context, Request::BlobPut(BlobPut { digest, bytes })).await;
        answer.map_err(|source| UploadError::Sent { path: body.path.clone(), source })?;
        (sender.events)(Event::Uploaded { path: body.path.clone(), bytes: sent });
        Ok(())
    }
}

/// The files that an action needs: digest, bytes, path relative to the project folder.
fn files(action: &Action) -> impl Iterator<Item = (Digest, u64, String)> + '_ {
    let (content, puts) = match &action.step {
        Step::Create { content, .. } => (content.as_ref(), None),
        Step::Publish { content, .. } => (Some(content), None),
        Step::WriteContents { puts, .. } => (None, Some(puts)),
        _ => (None, None),
    };
    let of_content = content.into_iter().flat_map(|c| c.entries.iter().map(|e| (e.sha256, e.size, within(c, &e.path))));
    let of_puts = puts.into_iter().flat_map(|p| p.values().map(|b| (b.sha256, b.size, b.file.clone())));
    of_content.chain(of_puts)
}

fn within(content: &Content, path: &str) -> String {
    match content.root.trim_end_matches('/') {
        "" | "." => path.to_owned(),
        root => format!("{root}/{path}"),
    }
}

/// [`BlobError`]s as sentences.
pub(crate) fn sentences(problems: Vec<BlobError>) -> Vec<String> {
    problems.into_iter().map(|p| crate::diag::chain::Chain(&p).to_string()).collect()
}
