//! Every request and every answer, made of given texts and numbers.

use std::collections::BTreeMap;

use serde_json::json;

use crate::model::config::{OutsideWrites, Policy};
use crate::model::kinds::{Applied, KINDS, Object, Refs};
use crate::model::op::*;
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest, Kind, Owner};

/// What samples are made of.
#[derive(Debug, Clone)]
pub(super) struct Made {
    /// An id: not empty, `.` or `..`.
    pub(super) id: String,
    /// Any text that is not empty.
    pub(super) text: String,
    /// An owner.
    pub(super) owner: Owner,
    /// A number from 1 to 100.
    pub(super) number: u32,
    /// Are optional fields there?
    pub(super) all: bool,
}

impl Made {
    pub(super) fn plain() -> Self {
        let owner = "acme/support".parse().unwrap();
        Self { id: "agent_1".to_owned(), text: "x".to_owned(), owner, number: 7, all: true }
    }

    fn opt<T>(&self, value: T) -> Option<T> {
        self.all.then_some(value)
    }

    fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    fn address() -> Address {
        Address::new(Kind::Agent, "support")
    }

    fn expect(&self) -> Expect {
        Expect { id: self.id.clone(), version: self.opt(u64::from(self.number)) }
    }

    fn authoring(&self) -> Authoring {
        Authoring { at: self.expect(), seq: u64::from(self.number) }
    }

    fn applied(&self) -> Applied {
        let unowned = self.opt(vec![self.text.clone()]).unwrap_or_default();
        Applied { spec: json!({"name": self.text, "labels": {self.text.as_str(): null}}).into(), unowned }
    }

    fn claim(&self) -> ClaimOf {
        ClaimOf { address: Self::address(), applied: self.applied(), protected: self.all }
    }

    fn entries(&self) -> Vec<Entry> {
        let (path, size, sha256) = (self.text.clone(), u64::from(self.number), self.digest());
        vec![Entry { path, executable: self.all, symlink: false, size, sha256 }]
    }

    fn content(&self) -> ContentOf {
        let FileSet { entries, digest } = FileSet::new(self.entries());
        ContentOf { entries, digest }
    }

    /// Wire fields of a kind. An update clears what it can.
    fn body(&self, kind: Kind, update: bool) -> Object {
        let metadata = json!({self.text.as_str(): if update { None } else { Some("") }});
        let text = || self.opt(self.text.clone());
        let body = match kind {
            Kind::Agent => json!({"name": self.text, "model": "m", "description": null, "tools": [],
                "system": text(), "metadata": metadata}),
            Kind::Environment => json!({"name": self.text, "description": text(), "metadata": metadata}),
            Kind::FileTree => json!({"name": self.text, "source": {"kind": "upload"}, "metadata": metadata}),
            Kind::FileTreeMount => json!({"agent_id": self.text, "file_tree_id": self.text, "metadata": metadata}),
            Kind::MemoryMount => json!({"agent_id": self.text, "memory_store_id": self.text, "instructions": text()}),
            Kind::MemoryStore => json!({"name": self.text, "description": text(), "metadata": metadata}),
            Kind::Skill => json!({"name": "faq", "display_name": self.text}),
        };
        body.as_object().cloned().unwrap()
    }

    fn time(&self) -> String {
        format!("2026-11-30T12:00:{:02}Z", self.number % 60)
    }

    fn view(&self) -> Option<View> {
        self.opt(if self.number.is_multiple_of(2) { View::Basic } else { View::Full })
    }

    fn page(&self) -> (Option<String>, Option<u32>) {
        (self.opt(self.text.clone()), self.opt(self.number))
    }

    fn source(&self) -> Source {
        let text = || self.opt(self.text.clone());
        Source {
            repository: text(),
            path: text(),
            commit: text(),
            dirty: self.opt(true),
            folder: self.opt(Digest::of(b"folder")),
            apply: text(),
        }
    }

    fn line(&self) -> ReceiptLine {
        let text = || self.opt(self.text.clone());
        ReceiptLine {
            action: self.text.clone(),
            outcome: "stale".to_owned(),
            operation: "agents.update".to_owned(),
            id: text(),
            version: self.opt(3),
            made: text(),
            spec: self.opt(self.digest()),
            error: text(),
        }
    }

    fn policy(&self) -> Policy {
        Policy { outside_writes: OutsideWrites::Track, protect: vec![self.text.clone()], ..Policy::default() }
    }

    /// The requests that are about a kind, for those kinds that have a row for them.
    fn of_kind(&self, kind: Kind) -> Vec<Request> {
        let id = || self.id.clone();
        let at = || self.expect();
        let (page, limit) = self.page();
        let version = || VersionOf { kind, id: id(), version: self.text.clone() };
        let memories = if kind == Kind::MemoryStore { self.opt(7) } else { None };
        let retire = || RetireOf { kind, at: at(), memory_version: memories };
        let replaces = self.opt(at());
        let absent_since = self.opt(self.text.clone());
        let claim = self.opt(self.claim());
        let (body, content) = (self.body(kind, false), self.opt(self.content()));
        let list = ListOf {
            kind,
            owner: self.opt(self.owner.clone()),
            labels: BTreeMap::from([(self.text.clone(), self.text.clone()), ("a=b%3D".to_owned(), String::new())]),
            include_archived: self.all,
            view: if self.all { ListView::Summary } else { ListView::Full },
            source: if kind == Kind::Skill { self.opt(SkillSource::Anthropic) } else { None },
            created_from: self.opt(self.time()),
            created_to: self.opt(self.time()),
            page: page.clone(),
            limit,
        };
        let number = if kind == Kind::Agent { self.opt(u64::from(self.number)) } else { None };
        let all = vec![
            Request::Create(Create { kind, body, content, claim, absent_since, replaces }),
            Request::List(list),
            Request::Get(GetOf { kind, id: id(), version: number }),
            Request::Update(Update { kind, at: at(), body: self.body(kind, true), applied: self.opt(self.applied()) }),
            Request::Archive(retire()),
            Request::Delete(retire()),
            Request::Publish(Publish { kind, at: at(), content: self.content(), applied: self.opt(self.applied()) }),
            Request::Versions(VersionsOf { kind, id: id(), page, limit }),
            Request::Version(version()),
            Request::VersionDelete(version()),
            Request::Content(version()),
            Request::Tree(version()),
        ];
        all.into_iter().filter(|r| r.operation().name == r.name()).collect()
    }

    fn memories(&self) -> Vec<Request> {
        let id = || self.id.clone();
        let text = || self.text.clone();
        let (page, limit) = self.page();
        let (view, expect) = (self.view(), self.opt(self.digest()));
        let version = || MemoryVersionOf { id: id(), version: text() };
        let memory = text();
        vec![
            Request::WriteContents(WriteContents {
                id: id(),
                expect: BTreeMap::from([(text(), None), ("/b".to_owned(), expect)]),
                puts: BTreeMap::from([(text(), self.digest())]),
                deletes: vec![text()],
                applied: self.opt(self.applied()),
            }),
            Request::MemoryList(MemoryList {
                id: id(),
                path_prefix: self.opt(text()),
                depth: self.opt(1),
                view,
                page: page.clone(),
                limit,
            }),
            Request::MemoryCreate(MemoryCreate { id: id(), path: text(), content: text(), view }),
            Request::MemoryGet(MemoryOf { id: id(), memory: memory.clone(), view }),
            Request::MemoryUpdate(MemoryUpdate {
                id: id(),
                memory: memory.clone(),
                content: self.opt(String::new()),
                path: self.opt(text()),
                expect,
                view,
            }),
            Request::MemoryDelete(MemoryDelete { id: id(), memory, expect }),
            Request::MemoryVersions(MemoryVersions {
                id: id(),
                memory: self.opt(text()),
                operation: self.opt("modified".to_owned()),
                session: self.opt(text()),
                api_key: self.opt(text()),
                service_account: self.opt(text()),
                created_from: self.opt(self.time()),
                created_to: self.opt(self.time()),
                view,
                page,
                limit,
            }),
            Request::MemoryVersionGet(version()),
            Request::MemoryVersionRedact(version()),
        ]
    }

    fn files(&self) -> Vec<Request> {
        let get = || GetId { id: self.id.clone() };
        let (page, limit) = self.page();
        let (id, version, path) = (self.id.clone(), self.text.clone(), self.text.clone());
        vec![
            Request::TreeFile(TreeFile { id, version, path }),
            Request::FileCreate(FileCreate {
                filename: self.text.clone(),
                mime_type: self.text.clone(),
                digest: self.digest(),
                size: u64::from(self.number),
                expires_in_seconds: self.opt(3_600),
            }),
            Request::FileList(FileList {
                ids: vec![self.text.clone(), "b".to_owned()],
                scope: self.opt(self.text.clone()),
                page,
                limit,
            }),
            Request::FileGet(get()),
            Request::FileContent(get()),
            Request::FileDelete(get()),
            Request::BlobsMissing(Digests { digests: vec![self.digest()] }),
            Request::BlobPut(BlobPut { digest: self.digest(), bytes: self.text.clone().into_bytes() }),
            Request::BlobGet(BlobGet { digest: self.digest() }),
        ]
    }

    fn owners(&self) -> Vec<Request> {
        let owner = || self.owner.clone();
        let at = || self.authoring();
        let (page, limit) = self.page();
        let ids = || IdList { ids: vec![self.text.clone(), self.id.clone()], me: self.opt(owner()) };
        let want = Want { key: self.text.clone(), content: self.opt(self.digest()), number: self.opt(2) };
        let (to, address) = (owner(), Self::address());
        vec![
            Request::Owner(OwnerOf { owner: owner() }),
            Request::Summaries(Summaries {
                owner: self.opt(owner()),
                kind: self.opt(Kind::MemoryStore),
                names: vec![self.text.clone()],
                page,
                limit,
            }),
            Request::Find(Find { me: owner(), addresses: vec![Self::address()], ids: vec![self.text.clone()] }),
            Request::Bodies(ids()),
            Request::Resolve(Resolve { me: owner(), wants: vec![want] }),
            Request::Referrers(ids()),
            Request::Claim(Claim { at: at(), claim: self.claim() }),
            Request::Release(at()),
            Request::HandOver(HandOver { at: at(), to: to.clone(), address: address.clone() }),
            Request::Transfer(Transfer { at: at(), from: owner(), to, address }),
            Request::Protect(Protect { at: at(), protected: self.all }),
            Request::Record(Record { at: at(), applied: self.applied() }),
            Request::SetPolicy(SetPolicy { owner: owner(), seq: 0, policy: self.policy(), undone: None }),
        ]
    }

    fn journal(&self) -> Vec<Request> {
        let (page, limit) = self.page();
        let get = || GetId { id: self.id.clone() };
        vec![
            Request::ApplyBegin(ApplyBegin {
                plan_digest: self.digest(),
                owner: self.owner.clone(),
                source: self.source(),
                addresses: vec![Self::address()],
            }),
            Request::ApplyEnd(ApplyEnd {
                id: self.id.clone(),
                outcome: "partial".to_owned(),
                lines: vec![self.line()],
            }),
            Request::ApplyList(ApplyList { owner: self.opt(self.owner.clone()), page: page.clone(), limit }),
            Request::ApplyGet(get()),
            Request::ApplyState(StateAt { apply: self.id.clone(), page, limit }),
            Request::AuditList(AuditList {
                resource: self.opt(self.text.clone()),
                owner: self.opt(self.owner.clone()),
                apply: self.opt(self.text.clone()),
                actor: self.opt(self.text.clone()),
                operation: self.opt(self.text.clone()),
                from: self.opt(self.time()),
                to: self.opt(self.time()),
                after: self.opt(9),
                limit,
            }),
            Request::Workspace,
            Request::TokenCreate(TokenCreate {
                name: self.text.clone(),
                scope: Scope::Apply,
                owners: vec![self.text.clone()],
                actor_kind: ActorKind::Session,
                expires_at: self.opt(self.time()),
            }),
            Request::TokenList,
            Request::TokenRevoke(get()),
        ]
    }

    /// One request for each row.
    pub(super) fn requests(&self) -> Vec<Request> {
        let kinds = KINDS.iter().flat_map(|def| self.of_kind(def.kind));
        let rest = [self.memories(), self.files(), self.owners(), self.journal()];
        kinds.chain(rest.into_iter().flatten()).collect()
    }

    fn written(&self) -> Written {
        Written {
            id: self.id.clone(),
            version: u64::from(self.number),
            seq: 1,
            made: self.opt(self.text.clone()),
            changed: self.all,
            replayed: false,
            moved: self.all,
            spec: self.opt(self.digest()),
        }
    }

    fn moved(&self) -> Moved {
        Moved {
            fields: vec![self.text.clone()],
            actor: self.text.clone(),
            at: self.time(),
            operation: "agents.update".to_owned(),
            break_glass: self.opt(self.text.clone()),
        }
    }

    fn summary(&self) -> Summary {
        Summary {
            id: self.id.clone(),
            kind: Kind::Skill,
            owner: self.opt(self.owner.clone()),
            address: self.opt(Self::address()),
            name: self.text.clone(),
            version: 3,
            seq: 1,
            protected: self.all,
            live_digest: self.opt(self.digest()),
            applied_digest: self.opt(self.digest()),
            superseded: self.all,
            offered: self.opt(self.owner.clone()),
            offered_at: self.opt(Self::address()),
            since: self.opt(self.moved()),
            gone: self.opt(self.moved()),
            content: self.opt(self.digest()),
            content_version: self.opt(self.text.clone()),
        }
    }

    fn memory(&self) -> MemoryInfo {
        MemoryInfo {
            id: self.id.clone(),
            path: self.text.clone(),
            content_sha256: self.digest(),
            content_size_bytes: 4,
            updated_by: self.text.clone(),
            updated_by_kind: ActorKind::Session,
            updated_by_owner: self.opt(self.owner.clone()),
            updated_at: self.time(),
        }
    }

    fn loaded(&self) -> Loaded {
        let memory = self.memory();
        let body = LoadedBody {
            id: self.id.clone(),
            body: json!({"kind": "Ship", "actor_kind": "robot", "name": self.text}),
            applied: self.opt(self.applied()),
            moved: vec![self.moved()],
            entries: self.entries(),
            memories: vec![memory],
        };
        Loaded {
            bodies: vec![body],
            refs: Refs {
                resources: BTreeMap::from([(self.id.clone(), (self.owner.clone(), Self::address()))]),
                contents: BTreeMap::from([(self.text.clone(), self.digest())]),
                me: self.opt(self.owner.clone()),
                superseded: BTreeMap::from([(self.text.clone(), (self.owner.clone(), Self::address()))]),
            },
            retired: BTreeMap::from([(Self::address(), self.id.clone())]),
        }
    }

    fn apply(&self) -> ApplyInfo {
        ApplyInfo {
            id: self.id.clone(),
            owner: self.owner.clone(),
            actor: self.text.clone(),
            plan_digest: self.digest(),
            source: self.source(),
            began_at: self.time(),
            ended_at: self.opt(self.time()),
            outcome: self.opt("done".to_owned()),
            done: 2,
            did: vec![Did { verb: "update".to_owned(), count: 2 }],
            addresses: vec![Self::address().to_string()],
            lines: vec![self.line()],
            specs: BTreeMap::from([(self.digest().to_string(), serde_json::json!({"name": self.text}))]),
        }
    }

    fn recorded(&self) -> Recorded {
        Recorded {
            address: Self::address(),
            id: self.id.clone(),
            applied: self.applied(),
            protected: self.all,
            entries: self.opt(self.entries()).unwrap_or_default(),
        }
    }

    fn owner_state(&self) -> OwnerState {
        OwnerState {
            workspace_id: self.id.clone(),
            epoch: self.text.clone(),
            digest: self.digest(),
            count: 2,
            policy: self.opt(self.policy()),
            source: self.opt(self.source()),
            undone: BTreeMap::from([(Self::address(), Some(self.digest()))]),
            seq: 4,
            open_apply: self.opt(self.text.clone()),
            beside: BTreeMap::from([(Self::address(), Beside { count: 3, newest: vec![self.memory()] })]),
        }
    }

    fn fact(&self) -> Fact {
        Fact {
            seq: 1,
            at: self.time(),
            operation: "agents.create".to_owned(),
            actor: self.text.clone(),
            actor_kind: ActorKind::Session,
            owner: self.opt(self.owner.clone()),
            apply: self.opt(self.text.clone()),
            resource: self.opt(self.id.clone()),
            break_glass: self.opt(self.text.clone()),
            fields: vec![self.text.clone()],
            version: self.opt(2),
            from_version: self.opt(1),
            address: self.opt(Self::address()),
            made: self.opt(self.text.clone()),
            before: self.opt(self.digest()),
            after: self.opt(self.digest()),
            from_owner: self.opt(self.owner.clone()),
            to_owner: self.opt(self.owner.clone()),
            to_address: self.opt(Self::address()),
        }
    }

    fn token(&self) -> TokenInfo {
        TokenInfo {
            id: self.id.clone(),
            name: self.text.clone(),
            scope: Scope::Admin,
            owners: vec![self.text.clone()],
            actor_kind: ActorKind::Session,
            created_at: self.time(),
            expires_at: self.opt(self.time()),
            revoked_at: self.opt(self.time()),
        }
    }

    /// What a request may be answered with.
    pub(super) fn responses(&self, request: &Request) -> Vec<Response> {
        let body = || json!({"id": self.id, "kind": "Ship", "name": self.text, "policy": 1, "description": null});
        let next_page = self.opt(self.text.clone());
        let page = || Page { data: vec![body()], next_page: next_page.clone() };
        let kind = self.opt(Kind::FileTree);
        let resolved = Resolved { key: self.text.clone(), id: self.opt(self.id.clone()), kind, ..Resolved::default() };
        match request {
            Request::List(_)
            | Request::Versions(_)
            | Request::MemoryList(_)
            | Request::MemoryVersions(_)
            | Request::FileList(_) => vec![Response::Bodies(page())],
            Request::Get(_)
            | Request::Version(_)
            | Request::MemoryGet(_)
            | Request::MemoryVersionGet(_)
            | Request::FileGet(_) => vec![Response::Body(body())],
            Request::Content(_) => vec![Response::Entries(self.entries()), self.bytes()],
            Request::Tree(_) => vec![Response::Entries(self.entries())],
            Request::TreeFile(_) | Request::FileContent(_) | Request::BlobGet(_) => vec![self.bytes()],
            Request::Owner(_) => vec![Response::Owner(Box::new(self.owner_state()))],
            Request::Find(_) => vec![Response::Summaries(Page { data: vec![self.summary()], next_page: None })],
            Request::Summaries(_) => vec![Response::Summaries(Page { data: vec![self.summary()], next_page })],
            Request::Bodies(_) => vec![Response::Loaded(self.loaded())],
            Request::Resolve(_) => vec![Response::Resolved(vec![resolved])],
            Request::Referrers(_) => vec![Response::Referrers(vec![Referrer {
                to: self.id.clone(),
                id: self.text.clone(),
                kind: Kind::Agent,
                owner: self.opt(self.owner.clone()),
                address: self.opt(Self::address()),
                name: self.text.clone(),
                follows: self.all,
            }])],
            Request::ApplyBegin(_) => {
                vec![Response::Began(Began { id: self.id.clone(), other: self.opt(self.text.clone()) })]
            }
            Request::ApplyList(_) => vec![Response::Applies(Page { data: vec![self.apply()], next_page })],
            Request::ApplyGet(_) => vec![Response::Apply(Box::new(self.apply()))],
            Request::ApplyState(_) => vec![Response::State(Page { data: vec![self.recorded()], next_page })],
            Request::BlobsMissing(_) => vec![Response::Missing(vec![self.digest()])],
            Request::AuditList(_) => vec![Response::Audit(vec![self.fact()])],
            Request::Workspace => vec![Response::Workspace(WorkspaceInfo {
                id: self.id.clone(),
                epoch: self.text.clone(),
                created_at: self.time(),
            })],
            Request::TokenCreate(_) => {
                vec![Response::Token(NewToken { token: self.token(), secret: self.text.clone() })]
            }
            Request::TokenList => vec![Response::Tokens(vec![self.token()])],
            _ => vec![Response::Written(self.written()), Response::Represented(self.written(), body()), Response::Done],
        }
    }

    fn bytes(&self) -> Response {
        Response::Bytes(self.text.clone().into_bytes())
    }
}
