//! A request as it goes over the wire.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::control::http::body::{
    ArchiveBody, AuthoringOf, ContentsBody, EndBody, Hex, MemoryCreateBody, MemoryUpdateBody, PolicyBody, Precondition,
    PreconditionType, PublishBody,
};
use crate::control::http::route::path_of;
use crate::control::http::{Body, Outgoing};
use crate::model::kinds::Object;
use crate::model::op::{
    Create, FileList, ListOf, ListView, MemoryCreate, MemoryList, MemoryUpdate, MemoryVersions, Request, SkillSource,
    Summaries, Update, View, WriteContents,
};

/// In a label's key, what would end it or be taken for an escape.
const LABEL_KEY: &AsciiSet = &CONTROLS.add(b'%').add(b'=');

/// How a request goes over the wire.
pub fn encode(request: &Request) -> Outgoing {
    let operation = request.operation();
    let params = path_of_request(request);
    let params: Vec<(&str, &str)> = params.iter().map(|(n, v)| (*n, v.as_str())).collect();
    Outgoing {
        method: operation.method,
        path: path_of(operation, &params),
        query: query_of(request),
        body: body_of(request),
    }
}

/// What the path carries.
fn path_of_request(request: &Request) -> Vec<(&'static str, String)> {
    let id = |id: &String| vec![("id", id.clone())];
    let version = |of: &String, version: &String| vec![("id", of.clone()), ("version", version.clone())];
    let memory = |of: &String, memory: &String| vec![("id", of.clone()), ("memory", memory.clone())];
    match request {
        Request::Get(r) => id(&r.id),
        Request::Update(r) => id(&r.at.id),
        Request::Archive(r) | Request::Delete(r) => id(&r.at.id),
        Request::Publish(r) => id(&r.at.id),
        Request::Versions(r) => id(&r.id),
        Request::Version(r) | Request::VersionDelete(r) | Request::Content(r) | Request::Tree(r) => {
            version(&r.id, &r.version)
        }
        Request::TreeFile(r) => version(&r.id, &r.version),
        Request::WriteContents(r) => id(&r.id),
        Request::MemoryList(r) => id(&r.id),
        Request::MemoryCreate(r) => id(&r.id),
        Request::MemoryGet(r) => memory(&r.id, &r.memory),
        Request::MemoryUpdate(r) => memory(&r.id, &r.memory),
        Request::MemoryDelete(r) => memory(&r.id, &r.memory),
        Request::MemoryVersions(r) => id(&r.id),
        Request::MemoryVersionGet(r) | Request::MemoryVersionRedact(r) => version(&r.id, &r.version),
        Request::FileGet(r) | Request::FileContent(r) | Request::FileDelete(r) => id(&r.id),
        Request::ApplyGet(r) | Request::TokenRevoke(r) => id(&r.id),
        Request::ApplyEnd(r) => id(&r.id),
        Request::ApplyState(r) => id(&r.apply),
        Request::Owner(r) => vec![("owner", r.owner.to_string())],
        Request::SetPolicy(r) => vec![("owner", r.owner.to_string())],
        Request::BlobGet(r) => vec![("digest", r.digest.to_string())],
        Request::Create(_)
        | Request::List(_)
        | Request::FileCreate(_)
        | Request::FileList(_)
        | Request::Summaries(_)
        | Request::Find(_)
        | Request::Bodies(_)
        | Request::Resolve(_)
        | Request::Referrers(_)
        | Request::Claim(_)
        | Request::Release(_)
        | Request::HandOver(_)
        | Request::Transfer(_)
        | Request::Protect(_)
        | Request::Record(_)
        | Request::ApplyBegin(_)
        | Request::ApplyList(_)
        | Request::BlobsMissing(_)
        | Request::BlobPut(_)
        | Request::AuditList(_)
        | Request::Workspace
        | Request::TokenCreate(_)
        | Request::TokenList => Vec::new(),
    }
}

/// Pairs of a query, without those that have no value.
#[derive(Default)]
struct Pairs(Vec<(String, String)>);

impl Pairs {
    fn add<T: ToString>(mut self, name: &str, value: Option<T>) -> Self {
        self.0.extend(value.map(|v| (name.to_owned(), v.to_string())));
        self
    }

    fn each<'v>(mut self, name: &str, values: impl IntoIterator<Item = &'v String>) -> Self {
        self.0.extend(values.into_iter().map(|v| (name.to_owned(), v.clone())));
        self
    }
}

fn query_of(request: &Request) -> Vec<(String, String)> {
    let none = Pairs::default();
    let pairs = match request {
        Request::List(r) => list(r),
        Request::Get(r) => none.add("version", r.version),
        Request::Delete(r) => none.add("expected_version", r.at.version).add("memory_version", r.memory_version),
        Request::Versions(r) => none.add("page", r.page.as_ref()).add("limit", r.limit),
        Request::TreeFile(r) => none.add("path", Some(&r.path)),
        Request::MemoryList(r) => memories(r),
        Request::MemoryCreate(r) => none.add("view", r.view.map(view)),
        Request::MemoryGet(r) => none.add("view", r.view.map(view)),
        Request::MemoryUpdate(r) => none.add("view", r.view.map(view)),
        Request::MemoryDelete(r) => none.add("expected_content_sha256", r.expect.map(|d| d.hex())),
        Request::MemoryVersions(r) => memory_versions(r),
        Request::FileList(FileList { ids, scope, page, limit }) => {
            none.each("ids[]", ids).add("scope_id", scope.as_ref()).add("page", page.as_ref()).add("limit", *limit)
        }
        Request::Summaries(Summaries { owner, kind, names, page, limit }) => none
            .add("owner", owner.as_ref())
            .add("kind", *kind)
            .each("name", names)
            .add("page", page.as_ref())
            .add("limit", *limit),
        Request::Referrers(r) => none.each("ids", &r.ids).add("me", r.me.as_ref()),
        Request::ApplyList(r) => none.add("owner", r.owner.as_ref()).add("page", r.page.as_ref()).add("limit", r.limit),
        Request::ApplyState(r) => none.add("page", r.page.as_ref()).add("limit", r.limit),
        Request::BlobPut(r) => none.add("digest", Some(r.digest)),
        Request::AuditList(r) => none
            .add("resource", r.resource.as_ref())
            .add("owner", r.owner.as_ref())
            .add("apply", r.apply.as_ref())
            .add("actor", r.actor.as_ref())
            .add("operation", r.operation.as_ref())
            .add("at[gte]", r.from.as_ref())
            .add("at[lte]", r.to.as_ref())
            .add("after", r.after)
            .add("limit", r.limit),
        _ => none,
    };
    pairs.0
}

fn list(r: &ListOf) -> Pairs {
    let label = |(key, value): (&String, &String)| format!("{}={value}", utf8_percent_encode(key, LABEL_KEY));
    let labels: Vec<String> = r.labels.iter().map(label).collect();
    Pairs::default()
        .add("owner", r.owner.as_ref())
        .each("label", &labels)
        .add("include_archived", r.include_archived.then_some(true))
        .add("view", (r.view == ListView::Summary).then_some("summary"))
        .add("source", r.source.map(source))
        .add("created_at[gte]", r.created_from.as_ref())
        .add("created_at[lte]", r.created_to.as_ref())
        .add("page", r.page.as_ref())
        .add("limit", r.limit)
}

fn memories(r: &MemoryList) -> Pairs {
    Pairs::default()
        .add("path_prefix", r.path_prefix.as_ref())
        .add("depth", r.depth)
        .add("view", r.view.map(view))
        .add("page", r.page.as_ref())
        .add("limit", r.limit)
}

fn memory_versions(r: &MemoryVersions) -> Pairs {
    Pairs::default()
        .add("memory_id", r.memory.as_ref())
        .add("operation", r.operation.as_ref())
        .add("session_id", r.session.as_ref())
        .add("api_key_id", r.api_key.as_ref())
        .add("service_account_id", r.service_account.as_ref())
        .add("created_at[gte]", r.created_from.as_ref())
        .add("created_at[lte]", r.created_to.as_ref())
        .add("view", r.view.map(view))
        .add("page", r.page.as_ref())
        .add("limit", r.limit)
}

fn source(source: SkillSource) -> &'static str {
    match source {
        SkillSource::Custom => "custom",
        SkillSource::Anthropic => "anthropic",
    }
}

fn view(view: View) -> &'static str {
    match view {
        View::Basic => "basic",
        View::Full => "full",
    }
}

fn body_of(request: &Request) -> Body {
    match request {
        Request::Create(r) => create(r),
        Request::Update(r) => update(r),
        Request::Archive(r) => match r.at.version.or(r.memory_version) {
            Some(_) => json_of(&ArchiveBody { expected_version: r.at.version, memory_version: r.memory_version }),
            None => Body::Empty,
        },
        Request::Publish(r) => json_of(&PublishBody {
            expected_version: r.at.version,
            content: r.content.clone(),
            applied: r.applied.clone(),
        }),
        Request::WriteContents(r) => contents(r),
        Request::MemoryCreate(MemoryCreate { path, content, .. }) => {
            json_of(&MemoryCreateBody { path: path.clone(), content: content.clone() })
        }
        Request::MemoryUpdate(r) => memory_update(r),
        Request::FileCreate(r) => json_of(r),
        Request::Find(r) => json_of(r),
        Request::Bodies(r) => json_of(r),
        Request::Resolve(r) => json_of(r),
        Request::Claim(r) => json_of(r),
        Request::Release(r) => json_of(r),
        Request::HandOver(r) => json_of(r),
        Request::Transfer(r) => json_of(r),
        Request::Protect(r) => json_of(r),
        Request::Record(r) => json_of(r),
        Request::SetPolicy(r) => {
            json_of(&PolicyBody { seq: r.seq, policy: r.policy.clone(), undone: r.undone.clone() })
        }
        Request::ApplyBegin(r) => json_of(r),
        Request::ApplyEnd(r) => json_of(&EndBody { outcome: r.outcome.clone(), lines: r.lines.clone() }),
        Request::BlobsMissing(r) => json_of(r),
        Request::BlobPut(r) => Body::Bytes(r.bytes.clone()),
        Request::TokenCreate(r) => json_of(r),
        _ => Body::Empty,
    }
}

/// Values of these types always serialize: their maps have texts as keys.
fn json_of<T: Serialize>(value: &T) -> Body {
    Body::Json(serde_json::to_value(value).unwrap_or_default())
}

fn put<T: Serialize>(body: &mut Object, field: &str, value: Option<&T>) {
    if let Some(value) = value {
        body.insert(field.to_owned(), json!(value));
    }
}

fn create(r: &Create) -> Body {
    let mut body = r.body.clone();
    let authoring = AuthoringOf {
        address: r.claim.as_ref().map(|c| c.address.clone()),
        applied: r.claim.as_ref().map(|c| c.applied.clone()),
        protected: r.claim.as_ref().is_some_and(|c| c.protected),
        absent_since: r.absent_since.clone(),
        replaces: r.replaces.clone(),
    };
    put(&mut body, "authoring", Some(&authoring).filter(|a| **a != AuthoringOf::default()));
    put(&mut body, "content", r.content.as_ref());
    Body::Json(Value::Object(body))
}

fn update(r: &Update) -> Body {
    let mut body = r.body.clone();
    put(&mut body, "expected_version", r.at.version.as_ref());
    put(&mut body, "applied", r.applied.as_ref());
    Body::Json(Value::Object(body))
}

fn contents(r: &WriteContents) -> Body {
    json_of(&ContentsBody {
        expect: r.expect.clone(),
        puts: r.puts.clone(),
        deletes: r.deletes.clone(),
        applied: r.applied.clone(),
    })
}

fn memory_update(r: &MemoryUpdate) -> Body {
    json_of(&MemoryUpdateBody {
        content: r.content.clone(),
        path: r.path.clone(),
        precondition: r
            .expect
            .map(|digest| Precondition { ty: PreconditionType::ContentSha256, content_sha256: Hex(digest) }),
    })
}
