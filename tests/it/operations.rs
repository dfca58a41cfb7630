//! The OPERATIONS table, walked both ways: every row is the row of a request, every request has a row, and
//! what a row says (method, path, scope, whether it writes) holds together.

use std::collections::{BTreeMap, BTreeSet};

use checkfu::control::embedded::{Embedded, EmbeddedOptions};
use checkfu::control::{ControlPlane as _, ErrorKind};
use checkfu::model::config::Policy;
use checkfu::model::kinds::{Applied, KINDS, Object};
use checkfu::model::op::{self, OPERATIONS, Request, Scope, Verb};
use checkfu::model::tree::FileSet;
use checkfu::model::{Address, Digest, Kind, Owner};

fn owner() -> Owner {
    "acme/support".parse().unwrap()
}

fn at() -> op::Expect {
    op::Expect { id: "none".to_owned(), version: Some(1) }
}

fn authoring() -> op::Authoring {
    op::Authoring { at: at(), seq: 1 }
}

fn content() -> op::ContentOf {
    let empty = FileSet::new(Vec::new());
    op::ContentOf { digest: empty.digest, entries: empty.entries }
}

/// One request of each variant that is about a kind.
fn of_kind(kind: Kind) -> Vec<Request> {
    let get = || op::GetOf { kind, id: "none".to_owned(), version: None };
    let retire = || op::RetireOf { kind, at: at(), memory_version: None };
    let version = || op::VersionOf { kind, id: "none".to_owned(), version: "1".to_owned() };
    vec![
        Request::Create(op::Create {
            kind,
            body: Object::new(),
            content: None,
            claim: None,
            absent_since: None,
            replaces: None,
        }),
        Request::List(op::ListOf {
            kind,
            owner: None,
            labels: BTreeMap::new(),
            include_archived: false,
            view: op::ListView::Full,
            source: None,
            created_from: None,
            created_to: None,
            page: None,
            limit: None,
        }),
        Request::Get(get()),
        Request::Update(op::Update { kind, at: at(), body: Object::new(), applied: None }),
        Request::Archive(retire()),
        Request::Delete(retire()),
        Request::Publish(op::Publish { kind, at: at(), content: content(), applied: None }),
        Request::Versions(op::VersionsOf { kind, id: "none".to_owned(), page: None, limit: None }),
        Request::Version(version()),
        Request::VersionDelete(version()),
        Request::Content(version()),
        Request::Tree(version()),
    ]
}

/// One request of each other variant.
fn others() -> Vec<Request> {
    let digest = Digest::of(b"x");
    let address = Address::new(Kind::Agent, "support");
    let claim = op::ClaimOf { address: address.clone(), applied: Applied::default(), protected: false };
    let ids = || op::IdList { ids: Vec::new(), me: Some(owner()) };
    let store = || "none".to_owned();
    let mut all = beside();
    all.extend([
        Request::WriteContents(op::WriteContents {
            id: store(),
            expect: BTreeMap::new(),
            puts: BTreeMap::new(),
            deletes: Vec::new(),
            applied: None,
        }),
        Request::Owner(op::OwnerOf { owner: owner() }),
        Request::Summaries(op::Summaries {
            owner: Some(owner()),
            kind: None,
            names: Vec::new(),
            page: None,
            limit: None,
        }),
        Request::Find(op::Find { me: owner(), addresses: Vec::new(), ids: Vec::new() }),
        Request::Bodies(ids()),
        Request::Resolve(op::Resolve { me: owner(), wants: Vec::new() }),
        Request::Referrers(ids()),
        Request::Claim(op::Claim { at: authoring(), claim }),
        Request::Release(authoring()),
        Request::Transfer(op::Transfer { at: authoring(), from: owner(), to: owner(), address }),
        Request::Protect(op::Protect { at: authoring(), protected: true }),
        Request::Record(op::Record { at: authoring(), applied: Applied::default() }),
        Request::SetPolicy(op::SetPolicy { owner: owner(), seq: 0, policy: Policy::default(), undone: None }),
        Request::ApplyBegin(op::ApplyBegin {
            plan_digest: digest,
            owner: owner(),
            source: op::Source::default(),
            addresses: Vec::new(),
        }),
        Request::ApplyEnd(op::ApplyEnd { id: store(), outcome: "done".to_owned(), lines: Vec::new() }),
        Request::ApplyList(op::ApplyList { owner: None, page: None, limit: None }),
        Request::ApplyGet(op::GetId { id: store() }),
        Request::ApplyState(op::StateAt { apply: store(), page: None, limit: None }),
        Request::BlobsMissing(op::Digests { digests: vec![digest] }),
        Request::BlobPut(op::BlobPut { digest, bytes: b"x".to_vec() }),
        Request::BlobGet(op::BlobGet { digest }),
        Request::AuditList(op::AuditList::default()),
    ]);
    all
}

/// One request of each variant about memories, files, tokens and the workspace.
fn beside() -> Vec<Request> {
    let id = || "none".to_owned();
    let memory = || op::MemoryOf { id: id(), memory: id(), view: None };
    let version = || op::MemoryVersionOf { id: id(), version: id() };
    let named = || op::GetId { id: id() };
    vec![
        Request::TreeFile(op::TreeFile { id: id(), version: "1".to_owned(), path: "a".to_owned() }),
        Request::MemoryList(op::MemoryList {
            id: id(),
            path_prefix: None,
            depth: None,
            view: None,
            page: None,
            limit: None,
        }),
        Request::MemoryCreate(op::MemoryCreate { id: id(), path: "/a".to_owned(), content: String::new(), view: None }),
        Request::MemoryGet(memory()),
        Request::MemoryUpdate(op::MemoryUpdate {
            id: id(),
            memory: id(),
            content: None,
            path: None,
            expect: None,
            view: None,
        }),
        Request::MemoryDelete(op::MemoryDelete { id: id(), memory: id(), expect: None }),
        Request::MemoryVersions(op::MemoryVersions { id: id(), ..op::MemoryVersions::default() }),
        Request::MemoryVersionGet(version()),
        Request::MemoryVersionRedact(version()),
        Request::FileCreate(op::FileCreate {
            filename: "a.txt".to_owned(),
            mime_type: "text/plain".to_owned(),
            digest: Digest::of(b"x"),
            size: 1,
            expires_in_seconds: None,
        }),
        Request::FileList(op::FileList::default()),
        Request::FileGet(named()),
        Request::FileContent(named()),
        Request::FileDelete(named()),
        Request::HandOver(op::HandOver { at: authoring(), to: owner(), address: Address::new(Kind::Agent, "support") }),
        Request::Workspace,
        Request::TokenCreate(op::TokenCreate {
            name: "ci".to_owned(),
            scope: Scope::Apply,
            owners: Vec::new(),
            actor_kind: op::ActorKind::Api,
            expires_at: None,
        }),
        Request::TokenList,
        Request::TokenRevoke(named()),
    ]
}

/// A number for each variant, without a wildcard: a new variant does not compile until it is here, and
/// `every_variant_has_a_sample` fails until it is above.
fn variant(request: &Request) -> usize {
    match request {
        Request::Create(_) => 0,
        Request::List(_) => 1,
        Request::Get(_) => 2,
        Request::Update(_) => 3,
        Request::Archive(_) => 4,
        Request::Delete(_) => 5,
        Request::Publish(_) => 6,
        Request::Versions(_) => 7,
        Request::WriteContents(_) => 8,
        Request::MemoryList(_) => 9,
        Request::MemoryCreate(_) => 10,
        Request::MemoryDelete(_) => 11,
        Request::Owner(_) => 12,
        Request::Summaries(_) => 13,
        Request::Bodies(_) => 14,
        Request::Resolve(_) => 15,
        Request::Referrers(_) => 16,
        Request::Claim(_) => 17,
        Request::Release(_) => 18,
        Request::Transfer(_) => 19,
        Request::Protect(_) => 20,
        Request::Record(_) => 21,
        Request::SetPolicy(_) => 22,
        Request::ApplyBegin(_) => 23,
        Request::ApplyEnd(_) => 24,
        Request::ApplyList(_) => 25,
        Request::ApplyGet(_) => 26,
        Request::BlobsMissing(_) => 27,
        Request::BlobPut(_) => 28,
        Request::BlobGet(_) => 29,
        Request::AuditList(_) => 30,
        Request::Version(_) => 31,
        Request::VersionDelete(_) => 32,
        Request::Content(_) => 33,
        Request::Tree(_) => 34,
        Request::TreeFile(_) => 35,
        Request::MemoryGet(_) => 36,
        Request::MemoryUpdate(_) => 37,
        Request::MemoryVersions(_) => 38,
        Request::MemoryVersionGet(_) => 39,
        Request::MemoryVersionRedact(_) => 40,
        Request::FileCreate(_) => 41,
        Request::FileList(_) => 42,
        Request::FileGet(_) => 43,
        Request::FileContent(_) => 44,
        Request::FileDelete(_) => 45,
        Request::HandOver(_) => 46,
        Request::Workspace => 47,
        Request::TokenCreate(_) => 48,
        Request::TokenList => 49,
        Request::TokenRevoke(_) => 50,
        Request::Find(_) => 51,
        Request::ApplyState(_) => 52,
    }
}
const VARIANTS: usize = 53;

fn samples() -> Vec<Request> {
    KINDS.iter().flat_map(|k| of_kind(k.kind)).chain(others()).collect()
}

fn row(name: &str) -> Option<&'static op::Operation> {
    OPERATIONS.iter().find(|o| o.name == name)
}

#[test]
fn every_variant_has_a_sample() {
    let seen: BTreeSet<usize> = samples().iter().map(variant).collect();
    assert_eq!(seen, (0..VARIANTS).collect());
}

#[test]
fn every_row_is_the_row_of_one_request() {
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for request in samples() {
        *by_name.entry(request.name()).or_default() += 1;
        if let Some(row) = row(&request.name()) {
            assert_eq!(request.operation(), row);
        }
    }
    for operation in OPERATIONS {
        assert_eq!(by_name.get(operation.name), Some(&1), "{}: requests of this name", operation.name);
    }
}

#[test]
fn every_request_that_a_kind_can_take_has_a_row() {
    for request in others() {
        assert!(row(&request.name()).is_some(), "{} has no row", request.name());
    }
    for def in KINDS {
        for verb in ["create", "list", "get"] {
            let name = format!("{}.{verb}", def.plural);
            assert!(row(&name).is_some(), "{name} has no row");
        }
        let retire = match def.retire {
            checkfu::model::kinds::Retire::Archive => "archive",
            checkfu::model::kinds::Retire::Delete => "delete",
        };
        assert!(row(&format!("{}.{retire}", def.plural)).is_some(), "{} cannot be retired", def.kind);
    }
}

#[test]
fn a_row_holds_together() {
    let mut names = BTreeSet::new();
    let mut routes = BTreeSet::new();
    for o in OPERATIONS {
        assert!(names.insert(o.name), "{} is there twice", o.name);
        assert!(routes.insert((format!("{:?}", o.method), o.path)), "{}: {:?} {} is taken", o.name, o.method, o.path);
        assert!(o.path.starts_with("/v1/"), "{}: {}", o.name, o.path);
        let more = o.scope >= Scope::Apply;
        let of_admin = o.scope == Scope::Admin;
        assert!(
            if o.mutates { more } else { !more || of_admin },
            "{}: who only reads needs no more than `plan` or is an admin, who writes needs more",
            o.name
        );
        if o.mutates {
            assert_ne!(o.method, Verb::Get, "{}: GET does not write", o.name);
        }
    }
}

#[tokio::test]
async fn the_embedded_workspace_answers_every_operation() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Embedded::open(&dir.path().join("workspace.db"), EmbeddedOptions::default()).unwrap();
    let (reads, writes): (Vec<Request>, Vec<Request>) =
        samples().into_iter().partition(|r| row(&r.name()).is_some_and(|row| !row.mutates));
    for (i, request) in reads.into_iter().chain(writes).enumerate() {
        let (name, has_row) = (request.name(), row(&request.name()).is_some());
        let context = op::Context {
            actor: "local".to_owned(),
            owner: Some(owner()),
            key: Some(format!("key-{i}")),
            ..op::Context::default()
        };
        let answer = workspace.call(&context, request).await;
        let code = answer.as_ref().err().map(|e| e.code);
        assert_eq!(code == Some("operation.unknown"), !has_row, "{name}: {answer:?}");
        assert!(answer.as_ref().err().is_none_or(|e| e.kind != ErrorKind::Internal), "{name}: {answer:?}");
        if row(&name).is_some_and(|row| !row.mutates) {
            let facts = workspace.call(&context, Request::AuditList(op::AuditList::default())).await.unwrap();
            assert_eq!(facts, op::Response::Audit(Vec::new()), "{name} only reads");
        }
    }
}
