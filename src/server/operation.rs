//! From a request to the answer of its operation.

use axum::body::Body;
use axum::extract::{Query, Request};
use axum::http::header::{ALLOW, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response as Answer;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use crate::control::http::{self, Incoming};
use crate::control::{ControlError, ControlPlane, ErrorKind};
use crate::diag::codes::http as http_codes;
use crate::model::op::{Context, Request as Op, Response, Scope, Verb};
use crate::server::line::Line;
use crate::server::{App, answer, archive, auth, body, metrics, openapi, upload};

/// Answers a request, or says why not.
pub(super) async fn respond(app: &App, request: Request, line: &mut Line) -> Result<Answer, ControlError> {
    let asked = request.uri().path_and_query().map_or(0, |p| p.as_str().len());
    if asked > app.limits.path_bytes {
        return Err(body::too_large("path and query", app.limits.path_bytes));
    }
    match request.uri().path() {
        "/healthz" => {
            line.of_route("/healthz");
            return read_only(request.method(), || answer::json(StatusCode::OK, &json!({"status": "ok"})));
        }
        "/readyz" => {
            line.of_route("/readyz");
            ready(app).await?;
            return read_only(request.method(), || answer::json(StatusCode::OK, &json!({"status": "ready"})));
        }
        _ => {}
    }
    let _slot = app.slots.try_acquire().map_err(|_| body::busy())?;
    let token = auth::authenticate(&app.embedded, request.headers()).await?;
    line.by(&token.name);
    match request.uri().path() {
        "/metrics" => {
            line.of_route("/metrics");
            auth::scope(&token, Scope::Read)?;
            let text = || answer::bytes_of(metrics::MEDIA, Body::from(app.metrics.text(&app.embedded)));
            return read_only(request.method(), text);
        }
        "/openapi.json" => {
            line.of_route("/openapi.json");
            auth::scope(&token, Scope::Read)?;
            let text = || answer::bytes_of("application/json", Body::from(openapi::text()));
            return read_only(request.method(), text);
        }
        _ => {}
    }
    let allowed = http::allowed(request.uri().path());
    if request.method() == Method::OPTIONS && !allowed.is_empty() {
        return Ok(options(&allowed));
    }
    let verb = verb(request.method()).filter(|v| allowed.contains(v));
    let Some((operation, params)) = verb.and_then(|verb| http::route(verb, request.uri().path())) else {
        return Err(no_route(&allowed));
    };
    line.of_operation(operation);
    auth::scope(&token, operation.scope)?;
    let context = auth::context(&token, request.headers())?;
    line.within(&context);
    let Ok(Query(query)) = Query::<Vec<(String, String)>>::try_from_uri(request.uri()) else {
        return Err(body::unreadable("the query cannot be read"));
    };
    let incoming = Incoming { operation, params, query, body: http::Body::Empty };
    let (op, _memory) = read(app, &context, incoming, request).await?;
    let response = call(app, &context, op).await?;
    match (operation.name, response) {
        ("skills.content", Response::Entries(entries)) => archive::of_skill(app, &context, entries).await,
        (_, response) => Ok(answer::of(http::encode_response(operation, response))),
    }
}

/// Carries out an operation, in time.
pub(super) async fn call(app: &App, context: &Context, op: Op) -> Result<Response, ControlError> {
    let done = tokio::time::timeout(app.limits.call_time, app.embedded.call(context, op)).await;
    done.unwrap_or_else(|_| {
        let message = "the operation took too long; a write may or may not be done, but never half";
        Err(ControlError::new(ErrorKind::Unavailable, http_codes::TIMEOUT.code, message))
    })
}

/// Reads the body as its operation takes it.
async fn read(
    app: &App,
    context: &Context,
    mut incoming: Incoming,
    request: Request,
) -> Result<(Op, Option<OwnedSemaphorePermit>), ControlError> {
    let multipart = body::media(request.headers()).is_some_and(|m| m == "multipart/form-data");
    match incoming.operation.name {
        "skills.create" | "skills.publish" if multipart => {
            upload::skill(app, context, incoming, request).await.map(|op| (op, None))
        }
        "files.create" if multipart => upload::file(app, context, request).await.map(|op| (op, None)),
        "blobs.put" => {
            let (parts, body) = request.into_parts();
            let (raw, memory) = body::raw(app, &parts.headers, body).await?;
            incoming.body = raw;
            Ok((http::decode(&incoming)?, Some(memory)))
        }
        _ => {
            let (parts, body) = request.into_parts();
            let (json, memory) = body::json(app, &parts.headers, body).await?;
            incoming.body = json;
            Ok((http::decode(&incoming)?, Some(memory)))
        }
    }
}

/// Can the workspace be read?
async fn ready(app: &App) -> Result<(), ControlError> {
    call(app, &Context::default(), Op::Workspace).await.map(drop)
}

/// An answer to what can only be read.
fn read_only(method: &Method, answer: impl FnOnce() -> Answer) -> Result<Answer, ControlError> {
    match *method {
        Method::GET | Method::HEAD => Ok(answer()),
        Method::OPTIONS => Ok(options(&[Verb::Get])),
        _ => Err(no_route(&[Verb::Get])),
    }
}

fn verb(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Post),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

/// The header `allow` of a path.
fn allow(verbs: &[Verb]) -> String {
    let word = |verb: &Verb| match verb {
        Verb::Get => "GET, HEAD",
        Verb::Post => "POST",
        Verb::Delete => "DELETE",
    };
    let words: Vec<&str> = verbs.iter().map(word).chain(["OPTIONS"]).collect();
    words.join(", ")
}

fn options(verbs: &[Verb]) -> Answer {
    let mut answer = Answer::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    if let Ok(value) = HeaderValue::from_str(&allow(verbs)) {
        answer.headers_mut().insert(ALLOW, value);
    }
    answer
}

/// 404, or 405 where the path takes other methods.
fn no_route(verbs: &[Verb]) -> ControlError {
    if verbs.is_empty() {
        return ControlError::new(ErrorKind::NotFound, http_codes::NO_ROUTE.code, "there is no such path");
    }
    let allow = allow(verbs);
    let message = format!("this path takes {allow}");
    ControlError::new(ErrorKind::Invalid, http_codes::METHOD.code, message).details(json!({"allow": allow}))
}
