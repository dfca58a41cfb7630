//! A request as it came in over the wire.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::control::fields;
use crate::control::http::body::{
    ArchiveBody, AuthoringOf, ContentsBody, EndBody, Hex, MemoryCreateBody, MemoryUpdateBody, NoBody, PolicyBody,
    PublishBody,
};
use crate::control::http::input::Input;
use crate::control::http::query::kind_of;
use crate::control::http::{Body, DecodeError, Incoming};
use crate::model::Kind;
use crate::model::kinds::Object;
use crate::model::op::{
    ApplyEnd, ApplyList, AuditList, BlobGet, BlobPut, ClaimOf, Create, Expect, FileList, GetId, GetOf, IdList, ListOf,
    MemoryCreate, MemoryDelete, MemoryList, MemoryOf, MemoryUpdate, MemoryVersionOf, MemoryVersions, OwnerOf, Publish,
    Request, RetireOf, SetPolicy, StateAt, Summaries, TreeFile, Update, VersionOf, VersionsOf, WriteContents,
};

/// Reads a request.
///
/// # Errors
/// `validation.invalid`, 400, with each field and parameter that is wrong.
pub fn decode(incoming: &Incoming) -> Result<Request, DecodeError> {
    let mut input = Input::new(incoming);
    let request = match kind_of(incoming.operation) {
        Some((def, verb)) => of_kind(&mut input, def.kind, verb),
        None => match incoming.operation.name.split_once('.') {
            Some(("memories" | "memory_versions", verb)) => of_memory(&mut input, incoming.operation.name, verb),
            Some(("authoring", verb)) => of_authoring(&mut input, verb),
            _ => other(&mut input, incoming.operation.name),
        },
    };
    input.finish(request)
}

fn of_kind(input: &mut Input<'_>, kind: Kind, verb: &str) -> Option<Request> {
    let id = input.path("id");
    let version = |input: &mut Input<'_>| VersionOf { kind, id: input.path("id"), version: input.path("version") };
    Some(match verb {
        "create" => Request::Create(create(input, kind)?),
        "list" => Request::List(list(input, kind)),
        "get" => Request::Get(GetOf { kind, id, version: input.parsed("version") }),
        "update" => Request::Update(update(input, kind)?),
        "archive" => {
            let ArchiveBody { expected_version, memory_version } = input.json_or_default()?;
            Request::Archive(RetireOf { kind, at: Expect { id, version: expected_version }, memory_version })
        }
        "delete" => Request::Delete(RetireOf {
            kind,
            at: Expect { id, version: input.parsed("expected_version") },
            memory_version: input.parsed("memory_version"),
        }),
        "publish" => {
            let PublishBody { expected_version, content, applied } = input.json()?;
            Request::Publish(Publish { kind, at: Expect { id, version: expected_version }, content, applied })
        }
        "versions" => {
            Request::Versions(VersionsOf { kind, id, page: input.text("page"), limit: input.parsed("limit") })
        }
        "version" => Request::Version(version(input)),
        "delete_version" => Request::VersionDelete(version(input)),
        "content" => Request::Content(version(input)),
        "tree" => Request::Tree(version(input)),
        "file" => {
            let path = input.text("path").unwrap_or_default();
            Request::TreeFile(TreeFile { id, version: input.path("version"), path })
        }
        "write_contents" => {
            let ContentsBody { expect, puts, deletes, applied } = input.json()?;
            Request::WriteContents(WriteContents { id, expect, puts, deletes, applied })
        }
        _ => return no_row(input),
    })
}

/// A row that nothing here reads: the walk over the table fails on it first.
fn no_row(input: &mut Input<'_>) -> Option<Request> {
    input.wrong("path", "no request is read from it");
    None
}

fn create(input: &mut Input<'_>, kind: Kind) -> Option<Create> {
    let mut body = input.object()?;
    let content = input.take(&mut body, "content");
    let authoring: AuthoringOf = input.take(&mut body, "authoring").unwrap_or_default();
    let AuthoringOf { address, applied, protected, absent_since, replaces } = authoring;
    let claim = match (address, applied) {
        (Some(address), Some(applied)) => Some(ClaimOf { address, applied, protected }),
        (None, None) if !protected => None,
        (None, _) => {
            input.wrong("authoring.address", "a claim needs it");
            None
        }
        (Some(_), None) => {
            input.wrong("authoring.applied", "a claim needs it");
            None
        }
    };
    let body = checked(input, kind, false, body);
    Some(Create { kind, body, content, claim, absent_since, replaces })
}

fn update(input: &mut Input<'_>, kind: Kind) -> Option<Update> {
    let mut body = input.object()?;
    let mut version: Option<u64> = input.take(&mut body, "expected_version");
    let applied = input.take(&mut body, "applied");
    if kind == Kind::Agent
        && let Some(wire) = input.take::<u64>(&mut body, "version")
    {
        if version.is_some_and(|v| v != wire) {
            input.wrong("version", "it is another than `expected_version`");
        }
        version = Some(wire);
    }
    let body = checked(input, kind, true, body);
    Some(Update { kind, at: Expect { id: input.path("id"), version }, body, applied })
}

/// Notes every field of a body that is wrong. Gives the body back.
fn checked(input: &mut Input<'_>, kind: Kind, update: bool, body: Object) -> Object {
    let value = Value::Object(body);
    for (field, problem) in fields::of_sent(kind, update, &value) {
        input.wrong(field, problem);
    }
    match value {
        Value::Object(body) => body,
        _ => Object::new(),
    }
}

fn list(input: &mut Input<'_>, kind: Kind) -> ListOf {
    let mut labels = BTreeMap::new();
    for label in input.texts("label") {
        match label.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
                labels.insert(key, value.to_owned());
            }
            _ => input.wrong("label", "it is not `key=value`"),
        }
    }
    ListOf {
        kind,
        owner: input.parsed("owner"),
        labels,
        include_archived: input.parsed("include_archived").unwrap_or_default(),
        view: input.word("view").unwrap_or_default(),
        source: input.word("source"),
        created_from: input.text("created_at[gte]"),
        created_to: input.text("created_at[lte]"),
        page: input.text("page"),
        limit: input.parsed("limit"),
    }
}

fn of_memory(input: &mut Input<'_>, name: &str, verb: &str) -> Option<Request> {
    let id = input.path("id");
    let memory = input.path("memory");
    let view = input.word("view");
    let (page, limit) = (input.text("page"), input.parsed("limit"));
    let version = |input: &mut Input<'_>| MemoryVersionOf { id: input.path("id"), version: input.path("version") };
    Some(match (name, verb) {
        ("memories.list", _) => {
            let (path_prefix, depth) = (input.text("path_prefix"), input.parsed("depth"));
            Request::MemoryList(MemoryList { id, path_prefix, depth, view, page, limit })
        }
        ("memories.create", _) => {
            let MemoryCreateBody { path, content } = input.json()?;
            Request::MemoryCreate(MemoryCreate { id, path, content, view })
        }
        ("memories.get", _) => Request::MemoryGet(MemoryOf { id, memory, view }),
        ("memories.update", _) => {
            let MemoryUpdateBody { content, path, precondition } = input.json()?;
            let expect = precondition.map(|p| p.content_sha256.0);
            Request::MemoryUpdate(MemoryUpdate { id, memory, content, path, expect, view })
        }
        ("memories.delete", _) => {
            let expect = input.parsed("expected_content_sha256").map(|Hex(digest)| digest);
            Request::MemoryDelete(MemoryDelete { id, memory, expect })
        }
        (_, "list") => Request::MemoryVersions(MemoryVersions {
            id,
            memory: input.text("memory_id"),
            operation: input.text("operation"),
            session: input.text("session_id"),
            api_key: input.text("api_key_id"),
            service_account: input.text("service_account_id"),
            created_from: input.text("created_at[gte]"),
            created_to: input.text("created_at[lte]"),
            view,
            page,
            limit,
        }),
        (_, "get") => Request::MemoryVersionGet(version(input)),
        (_, "redact") => {
            let NoBody {} = input.json_or_default()?;
            Request::MemoryVersionRedact(version(input))
        }
        _ => return no_row(input),
    })
}

fn of_authoring(input: &mut Input<'_>, verb: &str) -> Option<Request> {
    Some(match verb {
        "owner" => Request::Owner(OwnerOf { owner: input.path_as("owner")? }),
        "summaries" => Request::Summaries(Summaries {
            owner: input.parsed("owner"),
            kind: input.parsed("kind"),
            names: input.texts("name"),
            page: input.text("page"),
            limit: input.parsed("limit"),
        }),
        "find" => Request::Find(input.json()?),
        "bodies" => Request::Bodies(input.json()?),
        "resolve" => Request::Resolve(input.json()?),
        "referrers" => Request::Referrers(IdList { ids: input.texts("ids"), me: input.parsed("me") }),
        "claim" => Request::Claim(input.json()?),
        "release" => Request::Release(input.json()?),
        "hand_over" => Request::HandOver(input.json()?),
        "transfer" => Request::Transfer(input.json()?),
        "protect" => Request::Protect(input.json()?),
        "record" => Request::Record(input.json()?),
        "policy" => {
            let owner = input.path_as("owner");
            let PolicyBody { seq, policy, undone } = input.json()?;
            Request::SetPolicy(SetPolicy { owner: owner?, seq, policy, undone })
        }
        _ => return no_row(input),
    })
}

fn other(input: &mut Input<'_>, name: &str) -> Option<Request> {
    let id = input.path("id");
    Some(match name {
        "files.create" => Request::FileCreate(input.json()?),
        "files.list" => Request::FileList(FileList {
            ids: input.texts("ids[]"),
            scope: input.text("scope_id"),
            page: input.text("page"),
            limit: input.parsed("limit"),
        }),
        "files.get" => Request::FileGet(GetId { id }),
        "files.content" => Request::FileContent(GetId { id }),
        "files.delete" => Request::FileDelete(GetId { id }),
        "applies.begin" => Request::ApplyBegin(input.json()?),
        "applies.end" => {
            let EndBody { outcome, lines } = input.json()?;
            Request::ApplyEnd(ApplyEnd { id, outcome, lines })
        }
        "applies.list" => Request::ApplyList(ApplyList {
            owner: input.parsed("owner"),
            page: input.text("page"),
            limit: input.parsed("limit"),
        }),
        "applies.state" => {
            Request::ApplyState(StateAt { apply: id, page: input.text("page"), limit: input.parsed("limit") })
        }
        "applies.get" => Request::ApplyGet(GetId { id }),
        "blobs.missing" => Request::BlobsMissing(input.json()?),
        "blobs.put" => {
            let bytes = match input.body() {
                Body::Bytes(bytes) => bytes.clone(),
                Body::Empty => Vec::new(),
                Body::Json(_) => {
                    input.wrong("body", "it is not `application/octet-stream`");
                    return None;
                }
            };
            Request::BlobPut(BlobPut { digest: input.parsed("digest")?, bytes })
        }
        "blobs.get" => Request::BlobGet(BlobGet { digest: input.path_as("digest")? }),
        "audit.list" => Request::AuditList(AuditList {
            resource: input.text("resource"),
            owner: input.parsed("owner"),
            apply: input.text("apply"),
            actor: input.text("actor"),
            operation: input.text("operation"),
            from: input.text("at[gte]"),
            to: input.text("at[lte]"),
            after: input.parsed("after"),
            limit: input.parsed("limit"),
        }),
        "workspace.get" => Request::Workspace,
        "tokens.create" => Request::TokenCreate(input.json()?),
        "tokens.list" => Request::TokenList,
        "tokens.revoke" => {
            let NoBody {} = input.json_or_default()?;
            Request::TokenRevoke(GetId { id })
        }
        _ => return no_row(input),
    })
}
