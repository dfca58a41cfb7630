//! Answers as they go over the wire, and back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::control::http::{Body, DecodeError};
use crate::control::{ControlError, ErrorKind};
use crate::diag::codes::http::REMOTE_ANSWER;
use crate::model::config::Policy;
use crate::model::op::{ActorKind, Digests, Operation, Page, Request, Response, Written};
use crate::model::{Address, Kind};

/// How an answer goes over the wire (always 200). The files of a version are JSON here; where an operation sends
/// them as an archive, the server makes it of them.
pub fn encode_response(_operation: &Operation, response: Response) -> Body {
    match response {
        Response::Written(written) => Body::Json(json!({"written": written})),
        Response::Represented(written, mut body) => {
            if let Value::Object(map) = &mut body {
                map.insert("written".to_owned(), json!(written));
                return Body::Json(body);
            }
            Body::Json(json!({"written": written}))
        }
        Response::Body(value) => Body::Json(value),
        Response::Bodies(page) => json_of(&page),
        Response::Entries(data) => whole(data),
        Response::Owner(owner) => json_of(&owner),
        Response::Summaries(page) => json_of(&page),
        Response::Loaded(loaded) => json_of(&loaded),
        Response::Resolved(data) => whole(data),
        Response::Referrers(data) => whole(data),
        Response::Began(began) => json_of(&began),
        Response::Applies(page) => json_of(&page),
        Response::Apply(apply) => json_of(&apply),
        Response::State(page) => json_of(&page),
        Response::Missing(digests) => json_of(&Digests { digests }),
        Response::Bytes(bytes) => Body::Bytes(bytes),
        // Its cursor is the number of the last fact, so it has no `next_page` that could say "no more".
        Response::Audit(facts) => Body::Json(json!({"data": facts})),
        Response::Workspace(workspace) => json_of(&workspace),
        Response::Token(token) => json_of(&token),
        Response::Tokens(tokens) => whole(tokens),
        Response::Done => Body::Json(json!({})),
    }
}

/// Values of these types always serialize: their maps have texts as keys.
fn json_of<T: Serialize>(value: &T) -> Body {
    Body::Json(serde_json::to_value(value).unwrap_or_default())
}

/// A list that is never paged, in the form of one that is.
fn whole<T: Serialize>(data: Vec<T>) -> Body {
    json_of(&Page { data, next_page: None })
}

/// Reads the answer (2xx) to a request. Unknown fields and enum values are tolerated.
///
/// # Errors
/// `remote.answer`: what it lacks.
pub fn decode_response(request: &Request, body: Body) -> Result<Response, DecodeError> {
    let value = match body {
        Body::Bytes(bytes) if gives_bytes(request) => return Ok(Response::Bytes(bytes)),
        Body::Bytes(_) => return Err(unreadable(request, "it is not JSON")),
        Body::Empty if gives_bytes(request) => return Ok(Response::Bytes(Vec::new())),
        Body::Empty => Value::Null,
        Body::Json(value) => tolerated(request, value),
    };
    let answer = match request {
        Request::List(_) | Request::Versions(_) | Request::MemoryList(_) | Request::MemoryVersions(_) => {
            read(value).map(Response::Bodies)
        }
        Request::FileList(_) => read(value).map(Response::Bodies),
        Request::Get(_) | Request::Version(_) | Request::MemoryGet(_) | Request::MemoryVersionGet(_) => {
            object(value).map(Response::Body)
        }
        Request::FileGet(_) => object(value).map(Response::Body),
        Request::Content(_) | Request::Tree(_) => items(value).map(Response::Entries),
        Request::TreeFile(_) | Request::FileContent(_) | Request::BlobGet(_) => Err("it is JSON".to_owned()),
        Request::Owner(_) => read(value).map(|owner| Response::Owner(Box::new(owner))),
        Request::Summaries(_) | Request::Find(_) => read(value).map(Response::Summaries),
        Request::Bodies(_) => read(value).map(Response::Loaded),
        Request::Resolve(_) => items(value).map(Response::Resolved),
        Request::Referrers(_) => items(value).map(Response::Referrers),
        Request::ApplyBegin(_) => read(value).map(Response::Began),
        Request::ApplyList(_) => read(value).map(Response::Applies),
        Request::ApplyGet(_) => read(value).map(|apply| Response::Apply(Box::new(apply))),
        Request::ApplyState(_) => read(value).map(Response::State),
        Request::BlobsMissing(_) => read(value).map(|Digests { digests }| Response::Missing(digests)),
        Request::AuditList(_) => items(value).map(Response::Audit),
        Request::Workspace => read(value).map(Response::Workspace),
        Request::TokenCreate(_) => read(value).map(Response::Token),
        Request::TokenList => items(value).map(Response::Tokens),
        Request::Create(_)
        | Request::Update(_)
        | Request::Archive(_)
        | Request::Delete(_)
        | Request::Publish(_)
        | Request::VersionDelete(_)
        | Request::WriteContents(_)
        | Request::MemoryCreate(_)
        | Request::MemoryUpdate(_)
        | Request::MemoryDelete(_)
        | Request::MemoryVersionRedact(_)
        | Request::FileCreate(_)
        | Request::FileDelete(_)
        | Request::Claim(_)
        | Request::Release(_)
        | Request::HandOver(_)
        | Request::Transfer(_)
        | Request::Protect(_)
        | Request::Record(_)
        | Request::SetPolicy(_)
        | Request::ApplyEnd(_)
        | Request::BlobPut(_)
        | Request::TokenRevoke(_) => write(value),
    };
    answer.map_err(|lacks| unreadable(request, &lacks))
}

fn gives_bytes(request: &Request) -> bool {
    matches!(request, Request::Content(_) | Request::TreeFile(_) | Request::FileContent(_) | Request::BlobGet(_))
}

/// What a write answers: what it did, with or without the body of it, or nothing to say.
fn write(value: Value) -> Result<Response, String> {
    let Value::Object(mut map) = value else {
        return if value.is_null() { Ok(Response::Done) } else { Err("it is not an object".to_owned()) };
    };
    match map.remove("written") {
        Some(written) => {
            let written: Written = read(written)?;
            Ok(if map.is_empty() {
                Response::Written(written)
            } else {
                Response::Represented(written, Value::Object(map))
            })
        }
        None if map.is_empty() => Ok(Response::Done),
        None => Ok(Response::Body(Value::Object(map))),
    }
}

fn object(value: Value) -> Result<Value, String> {
    if value.is_object() { Ok(value) } else { Err("it is not an object".to_owned()) }
}

fn items<T: DeserializeOwned>(mut value: Value) -> Result<Vec<T>, String> {
    read(value.get_mut("data").map(Value::take).ok_or("it has no `data`")?)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let path = e.path().to_string();
        let problem: String = e.into_inner().to_string().chars().take(200).collect();
        if path == "." { problem } else { format!("`{path}`: {problem}") }
    })
}

fn unreadable(request: &Request, lacks: &str) -> ControlError {
    let message = format!("the answer to {} cannot be read: {lacks}", request.name());
    ControlError::new(ErrorKind::Internal, REMOTE_ANSWER.code, message)
}

/// What a newer server may say that this program has no word for: items about kinds that it does not know are left
/// out (of resolved references, which are told apart by their place, the kind alone), actors of an unknown kind
/// are API actors, and a policy that it cannot read is none.
fn tolerated(request: &Request, mut value: Value) -> Value {
    match request {
        Request::Summaries(_) | Request::Find(_) | Request::Referrers(_) => {
            if let Some(Value::Array(items)) = value.get_mut("data") {
                items.retain(|item| !of_unknown_kind(item));
            }
        }
        Request::ApplyState(_) => {
            let known = |item: &Value| item.get("address").and_then(Value::as_str).is_none_or(is_address);
            if let Some(Value::Array(items)) = value.get_mut("data") {
                items.retain(known);
            }
        }
        Request::Resolve(_) => {
            for item in items_of(&mut value, "data") {
                if of_unknown_kind(item) {
                    item["kind"] = Value::Null;
                }
            }
        }
        Request::Bodies(_) => {
            for body in items_of(&mut value, "bodies") {
                for memory in items_of(body, "memories") {
                    known_actor(memory, "updated_by_kind");
                }
            }
            known_addresses(&mut value, "retired");
            for map in ["/refs/resources", "/refs/superseded"] {
                if let Some(Value::Object(resources)) = value.pointer_mut(map) {
                    resources.retain(|_, pair| pair.get(1).and_then(Value::as_str).is_some_and(is_address));
                }
            }
        }
        Request::Owner(_) => {
            known_addresses(&mut value, "undone");
            if let Some(policy) = value.get_mut("policy")
                && read::<Option<Policy>>(policy.clone()).is_err()
            {
                *policy = Value::Null;
            }
        }
        Request::AuditList(_) | Request::TokenList => {
            for item in items_of(&mut value, "data") {
                known_actor(item, "actor_kind");
            }
        }
        _ => {}
    }
    value
}

fn items_of<'v>(value: &'v mut Value, list: &str) -> &'v mut [Value] {
    value.get_mut(list).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

fn of_unknown_kind(item: &Value) -> bool {
    item.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.parse::<Kind>().is_err())
}

fn is_address(text: &str) -> bool {
    text.parse::<Address>().is_ok()
}

fn known_addresses(value: &mut Value, map: &str) {
    if let Some(Value::Object(map)) = value.get_mut(map) {
        map.retain(|address, _| is_address(address));
    }
}

fn known_actor(item: &mut Value, field: &str) {
    if let Some(kind) = item.get_mut(field)
        && kind.is_string()
        && read::<ActorKind>(kind.clone()).is_err()
    {
        *kind = json!(ActorKind::Api);
    }
}
