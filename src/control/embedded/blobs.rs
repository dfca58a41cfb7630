//! `blobs.put`: bytes by digest, once.

use crate::control::embedded::error::{Result, refused};
use crate::control::embedded::write::{Effect, Tx};
use crate::diag::codes::control as codes;
use crate::model::Digest;
use crate::model::op::{BlobPut, Response};
use crate::store::document;

/// Compares the digest. Runs before the request is queued, so that hashing holds nobody up.
pub(super) fn check(put: &BlobPut) -> Result<()> {
    let found = Digest::of(&put.bytes);
    if found == put.digest {
        return Ok(());
    }
    Err(refused(&codes::CONTENT_MISMATCH, format!("the bytes have digest {found}, not {}", put.digest)))
}

/// Stores bytes whose digest was checked.
pub(super) fn put(tx: &Tx<'_>, request: &BlobPut) -> Result<Effect> {
    let new = document::put_blob(tx.conn, request.digest, &request.bytes)?;
    Ok(Effect::beside(Response::Done, request.digest.to_string(), new))
}
