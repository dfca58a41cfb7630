//! `tokens.*`, and who holds a secret. A secret has 256 random bits, so one round of SHA-256 keeps it.

use subtle::ConstantTimeEq;

use crate::control::embedded::error::{Result, conflict, invalid, not_found};
use crate::control::embedded::wire;
use crate::control::embedded::write::{Effect, Stand, Tx};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::control as codes;
use crate::model::op::{GetId, NewToken, Response, TokenCreate, TokenInfo};
use crate::model::{Digest, Owner};
use crate::store::{Conn, token};

/// What is kept of a secret.
pub(super) fn hash(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

/// The token of a hash, if it holds now.
pub(super) fn find(conn: &Conn, hash: Digest, now: jiff::Timestamp) -> Result<Option<TokenInfo>> {
    let Some((stored, token)) = token::by_hash(conn, hash)? else { return Ok(None) };
    let same: bool = stored.as_bytes().ct_eq(hash.as_bytes()).into();
    Ok((same && token.revoked_at.is_none() && !is_over(&token, now)).then_some(token))
}

/// Is its time over? One whose end cannot be read is.
fn is_over(token: &TokenInfo, now: jiff::Timestamp) -> bool {
    let end = token.expires_at.as_ref().map(|end| end.parse::<jiff::Timestamp>());
    end.is_some_and(|end| end.map_or(true, |end| end <= now))
}

/// Makes a token.
pub(super) fn create(tx: &Tx<'_>, request: &TokenCreate) -> Result<Effect> {
    let length = request.name.chars().count();
    if !(1..=64).contains(&length) || request.name.chars().any(char::is_control) {
        return Err(invalid("`name` has 1 to 64 characters, none of them control characters"));
    }
    if let Some(bad) = request.owners.iter().find(|pattern| !is_pattern(pattern)) {
        return Err(invalid(format!("`{bad}` is no pattern of owners: write `acme/support`, `acme/*` or `*`")));
    }
    let end = request.expires_at.as_deref().map(str::parse::<jiff::Timestamp>).transpose();
    let Ok(end) = end else { return Err(invalid("`expires_at` is a time as in RFC 3339")) };
    let tokens = token::all(tx.conn)?;
    if let Some(other) = tokens.iter().find(|t| t.revoked_at.is_none() && t.name == request.name) {
        return Err(conflict("name_taken", format!("{} is named {} already", other.id, other.name)));
    }
    let secret = secret()?;
    let token = TokenInfo {
        id: tx.id("tok_"),
        name: request.name.clone(),
        scope: request.scope,
        owners: request.owners.clone(),
        actor_kind: request.actor_kind,
        created_at: tx.now.clone(),
        expires_at: end.map(|e| e.to_string()),
        revoked_at: None,
    };
    token::add(tx.conn, hash(&secret), &token)?;
    Ok(Effect {
        resource: Some(token.id.clone()),
        response: Response::Token(NewToken { token, secret }),
        fields: Vec::new(),
        before: None,
        after: Stand::default(),
        changed: true,
    })
}

/// Ends a token; one that has ended stays so.
pub(super) fn revoke(tx: &Tx<'_>, request: &GetId) -> Result<Effect> {
    let Some(token) = token::get(tx.conn, &request.id)? else { return Err(not_found(&request.id)) };
    let changed = token.revoked_at.is_none();
    if changed {
        token::revoke(tx.conn, &request.id, &tx.now)?;
    }
    Ok(Effect {
        response: Response::Done,
        resource: Some(token.id),
        fields: Vec::new(),
        before: None,
        after: Stand::default(),
        changed,
    })
}

fn is_pattern(text: &str) -> bool {
    match text.strip_suffix("/*") {
        Some(folder) => format!("{folder}/a").parse::<Owner>().is_ok(),
        None => text == "*" || text.parse::<Owner>().is_ok(),
    }
}

fn secret() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| {
        let message = "the system gives no random numbers";
        let mut error = ControlError::new(ErrorKind::Internal, codes::STORE_IO.code, message);
        error.source = Some(Box::new(e));
        error
    })?;
    let (high, low) = bytes.split_at(16);
    let number = |half: &[u8]| half.iter().fold(0_u128, |n, b| (n << 8) | u128::from(*b));
    Ok(wire::id_text(&wire::id_text("cfu_", number(high)), number(low)))
}
