//! Who asks, and may they? Tokens, scopes, owners, break-glass.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderName};

use crate::control::embedded::Embedded;
use crate::control::{ControlError, ErrorKind, http};
use crate::diag::codes::{control, http as http_codes, server as codes};
use crate::model::Owner;
use crate::model::op::{Context, Scope, TokenInfo};

/// The other header of a token, beside `authorization`.
pub(super) const API_KEY: &str = "x-api-key";

/// The token of a request.
pub(super) async fn authenticate(embedded: &Embedded, headers: &HeaderMap) -> Result<TokenInfo, ControlError> {
    let found = match secret(headers) {
        Some(secret) => embedded.authenticate(secret, jiff::Timestamp::now()).await?,
        None => None,
    };
    found.ok_or_else(|| {
        let message = "a valid token is needed, as `authorization: Bearer TOKEN` or `x-api-key: TOKEN`";
        ControlError::new(ErrorKind::Permission, http_codes::UNAUTHENTICATED.code, message)
    })
}

/// The one secret that the headers hold; two different ones are none.
fn secret(headers: &HeaderMap) -> Option<&str> {
    let mut secrets = Vec::new();
    for value in headers.get_all(AUTHORIZATION) {
        secrets.push(bearer(value.to_str().ok()?)?);
    }
    for value in headers.get_all(API_KEY) {
        secrets.push(value.to_str().ok()?.trim());
    }
    let first = *secrets.first()?;
    (!first.is_empty() && secrets.iter().all(|s| *s == first)).then_some(first)
}

fn bearer(text: &str) -> Option<&str> {
    let (scheme, secret) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Is the scope of the token enough?
pub(super) fn scope(token: &TokenInfo, needed: Scope) -> Result<(), ControlError> {
    if token.scope >= needed {
        return Ok(());
    }
    let message = format!("this needs the scope {}, the token has {}", word(needed), word(token.scope));
    Err(ControlError::new(ErrorKind::Permission, codes::SCOPE.code, message))
}

fn word(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Plan => "plan",
        Scope::Apply => "apply",
        Scope::Admin => "admin",
    }
}

/// The context of a request: what its headers say, as far as its token allows it.
pub(super) fn context(token: &TokenInfo, headers: &HeaderMap) -> Result<Context, ControlError> {
    let joined: BTreeMap<&str, String> = headers.keys().map(|name| (name.as_str(), values(headers, name))).collect();
    let mut context = http::decode_context(|name| joined.get(name).map(String::as_str))?;
    context.actor.clone_from(&token.name);
    context.actor_kind = token.actor_kind;
    context.admin = token.scope == Scope::Admin;
    if let Some(owner) = &context.owner
        && !token.owners.iter().any(|pattern| covers(pattern, owner))
    {
        let message = format!("the token {} may not act as {owner}", token.name);
        return Err(ControlError::new(ErrorKind::Permission, codes::OWNER_NOT_ALLOWED.code, message)
            .details(serde_json::json!({"owner": owner.to_string()})));
    }
    if context.break_glass.is_some() && !context.admin {
        let message = "break-glass needs the admin scope";
        return Err(ControlError::new(ErrorKind::Permission, control::NOT_ADMIN.code, message));
    }
    Ok(context)
}

/// All values of a header. What is no text keeps its place, so that it is refused and not taken for absent.
fn values(headers: &HeaderMap, name: &HeaderName) -> String {
    let texts: Vec<_> = headers.get_all(name).iter().map(|v| String::from_utf8_lossy(v.as_bytes())).collect();
    texts.join(",")
}

/// `*` is every owner, `acme/*` is every owner below `acme/`, anything else is one owner.
fn covers(pattern: &str, owner: &Owner) -> bool {
    let owner = owner.to_string();
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(folder) if folder.ends_with('/') => owner.starts_with(folder),
        _ => pattern == owner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn a_secret_comes_in_either_header() {
        let of = |pairs: &[(&'static str, &str)]| secret(&headers(pairs)).map(str::to_owned);
        assert_eq!(of(&[("authorization", "Bearer cfu_a")]).as_deref(), Some("cfu_a"));
        assert_eq!(of(&[("authorization", "bearer  cfu_a ")]).as_deref(), Some("cfu_a"));
        assert_eq!(of(&[("x-api-key", "cfu_a")]).as_deref(), Some("cfu_a"));
        assert_eq!(of(&[("x-api-key", "cfu_a"), ("authorization", "Bearer cfu_a")]).as_deref(), Some("cfu_a"));
        assert_eq!(of(&[("x-api-key", "cfu_b"), ("authorization", "Bearer cfu_a")]), None);
        assert_eq!(of(&[("authorization", "Basic cfu_a")]), None);
        assert_eq!(of(&[("authorization", "Bearer")]), None);
        assert_eq!(of(&[("authorization", "Bearer ")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_pattern_covers_a_whole_part() {
        let rows = [
            ("*", "acme/a", true),
            ("acme/*", "acme/a", true),
            ("acme/*", "acmes/a", false),
            ("acme*", "acme/a", false),
            ("acme/a", "acme/a", true),
            ("acme/a", "acme/ab", false),
            ("", "acme/a", false),
            ("/*", "acme/a", false),
        ];
        for (pattern, owner, covered) in rows {
            assert_eq!(covers(pattern, &owner.parse().unwrap()), covered, "{pattern} {owner}");
        }
    }
}
