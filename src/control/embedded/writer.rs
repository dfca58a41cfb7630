//! The one writer: a thread that owns the connection, and commits what is queued together.
//!
//! Each request runs in its own savepoint, so it is all or nothing; the batch is durable before anyone is
//! answered. When the commit fails nobody's write is done, and everyone is told why.

use tokio::sync::{mpsc, oneshot};

use crate::control::ControlError;
use crate::control::embedded::EmbeddedOptions;
use crate::control::embedded::error::Result;
use crate::control::embedded::write::{self, Tx};
use crate::model::op::{Context, Request, Response};
use crate::model::{Digest, Kind};
use crate::store::{self, Batch, Conn, Patience, StoreError};

/// Most requests of one commit.
const BATCH: usize = 64;

/// A queued write.
pub(super) struct Job {
    pub(super) context: Context,
    pub(super) request: Request,
    /// Of the request, where it comes with a key.
    pub(super) digest: Option<Digest>,
    pub(super) reply: oneshot::Sender<Result<Response>>,
}

type Answered = (oneshot::Sender<Result<Response>>, Result<Response>);

/// Works until every sender is gone.
pub(super) fn run(mut conn: Conn, mut jobs: mpsc::Receiver<Job>, options: &EmbeddedOptions, patience: &Patience) {
    while let Some(first) = jobs.blocking_recv() {
        let mut batch = Vec::with_capacity(BATCH);
        batch.push(first);
        while batch.len() < BATCH {
            match jobs.try_recv() {
                Ok(job) => batch.push(job),
                Err(_) => break,
            }
        }
        for (reply, answer) in commit(&mut conn, batch, options, patience) {
            // A caller that went away needs no answer.
            drop(reply.send(answer));
        }
    }
}

fn commit(conn: &mut Conn, batch: Vec<Job>, options: &EmbeddedOptions, patience: &Patience) -> Vec<Answered> {
    let mut tx = match store::begin(conn, patience) {
        Ok(tx) => tx,
        Err(e) => return fail(batch.into_iter().map(|job| (job.reply, Ok(Response::Done))).collect(), e),
    };
    let scrubs = batch.iter().any(|job| deletes_bytes(&job.request));
    let mut answers: Vec<Answered> = Vec::with_capacity(batch.len());
    for job in batch {
        if tx.is_autocommit() {
            // A full disk has undone the whole transaction.
            answers.push((job.reply, Ok(Response::Done)));
            continue;
        }
        let answer = one(&mut tx, &job, options);
        answers.push((job.reply, answer));
    }
    if tx.is_autocommit() {
        return undone(answers);
    }
    match tx.commit() {
        Ok(()) => {
            #[cfg(feature = "failpoints")]
            crate::control::failpoint::hit("after-commit");
            if scrubs {
                // It is committed, whatever becomes of the log: a later checkpoint does what this one cannot.
                drop(store::scrub(conn, patience));
            }
            answers
        }
        Err(e) => fail(answers, e.into()),
    }
}

/// Does this take bytes out of the workspace that nobody must read there any more?
fn deletes_bytes(request: &Request) -> bool {
    match request {
        Request::MemoryVersionRedact(_) | Request::FileDelete(_) => true,
        Request::Delete(r) => r.kind == Kind::MemoryStore,
        _ => false,
    }
}

fn one(tx: &mut Batch<'_>, job: &Job, options: &EmbeddedOptions) -> Result<Response> {
    let savepoint = tx.savepoint().map_err(StoreError::from)?;
    let frame = Tx::new(&savepoint, &job.context, job.request.name(), options)?;
    let response = write::perform(&frame, &job.request, job.digest)?;
    // A rule that refused has returned above; dropping the savepoint undid what it wrote.
    savepoint.commit().map_err(StoreError::from)?;
    Ok(response)
}

/// Nothing was committed: every success becomes this error.
fn fail(answers: Vec<Answered>, first: StoreError) -> Vec<Answered> {
    let (trouble, what) = (first.trouble, first.what.clone());
    let mut first = Some(first);
    let mut error = || first.take().unwrap_or_else(|| StoreError::new(trouble, what.clone()));
    answers.into_iter().map(|(reply, a)| (reply, a.and_then(|_| Err(error().into())))).collect()
}

/// SQLite rolled the transaction back in the middle: the successes share the fate of the one that failed.
fn undone(answers: Vec<Answered>) -> Vec<Answered> {
    let of = |e: &ControlError| (e.kind, e.code, e.message.clone());
    let cause =
        answers.iter().rev().find_map(|(_, a)| a.as_ref().err().filter(|e| e.code.starts_with("store.")).map(of));
    let error = || match &cause {
        Some((kind, code, message)) => ControlError::new(*kind, code, message.clone()),
        None => crate::control::embedded::stopped(),
    };
    answers.into_iter().map(|(reply, a)| (reply, a.and_then(|_| Err(error())))).collect()
}
