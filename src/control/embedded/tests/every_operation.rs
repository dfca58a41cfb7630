//! Every row of OPERATIONS has a request that reaches the workspace and answers.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

const A: &str = "acme/a";

/// Sends a request and notes its operation.
struct Walk {
    ws: Ws,
    seen: BTreeSet<String>,
}

impl Walk {
    fn send(&mut self, request: Request) -> Response {
        self.seen.insert(request.name());
        let name = request.name();
        self.ws.call(&by(A), request).unwrap_or_else(|e| panic!("{name}: {e} {}", e.details))
    }

    fn written(&mut self, request: Request) -> Written {
        match self.send(request) {
            Response::Written(w) => w,
            other => panic!("{other:?}"),
        }
    }

    fn reads(&mut self, kind: Kind, id: &str) {
        let get = GetOf { kind, id: id.to_owned(), version: None };
        self.send(Request::Get(get));
        let list = ListOf {
            kind,
            owner: None,
            labels: std::collections::BTreeMap::new(),
            include_archived: true,
            view: ListView::Full,
            source: None,
            created_from: None,
            created_to: None,
            page: None,
            limit: None,
        };
        self.send(Request::List(list));
    }

    fn versions(&mut self, kind: Kind, id: &str) {
        self.send(Request::Versions(VersionsOf { kind, id: id.to_owned(), page: None, limit: None }));
    }
}

#[test]
fn every_row_is_reached() {
    let mut walk = Walk { ws: Ws::new(), seen: BTreeSet::new() };
    resources(&mut walk);
    authoring(&mut walk);
    journal(&mut walk);
    let rows: BTreeSet<String> = OPERATIONS.iter().map(|o| o.name.to_owned()).collect();
    let left: Vec<&str> = rows.difference(&walk.seen).map(String::as_str).collect();
    assert_eq!(left, Vec::<&str>::new());
    assert_eq!(walk.seen.difference(&rows).collect::<Vec<_>>(), Vec::<&String>::new());
}

fn resources(w: &mut Walk) {
    let blob = BlobPut { digest: Digest::of(b"x"), bytes: b"x".to_vec() };
    w.send(Request::BlobPut(blob.clone()));
    w.send(Request::BlobGet(BlobGet { digest: blob.digest }));
    w.send(Request::BlobsMissing(Digests { digests: vec![blob.digest] }));
    let agent = w.written(create(Kind::Agent, agent_body("a"), Some("a"))).id;
    w.written(update(Kind::Agent, at(&agent, 1), json!({"description": "d"})));
    w.versions(Kind::Agent, &agent);
    let content = w.ws.skill_files("s", "s");
    let skill = Create {
        kind: Kind::Skill,
        body: object(json!({"name": "s"})),
        content: Some(content),
        claim: None,
        absent_since: None,
        replaces: None,
    };
    let skill = w.written(Request::Create(skill)).id;
    let tree = object(json!({"name": "t", "source": {"kind": "upload"}}));
    let tree = w.written(create(Kind::FileTree, tree, None)).id;
    w.written(update(Kind::FileTree, at(&tree, 1), json!({"name": "t2"})));
    for (kind, id, version) in [(Kind::Skill, &skill, 1), (Kind::FileTree, &tree, 2)] {
        let content = w.ws.skill_files("s", "new");
        let made = w.written(Request::Publish(Publish { kind, at: at(id, version), content, applied: None })).made;
        w.versions(kind, id);
        let of = |version: &str| VersionOf { kind, id: id.clone(), version: version.to_owned() };
        w.send(Request::Version(of("latest")));
        if kind == Kind::Skill {
            w.send(Request::Content(of("latest")));
            w.written(Request::VersionDelete(of(&made.unwrap())));
        } else {
            w.send(Request::Tree(of("latest")));
            let file = TreeFile { id: id.clone(), version: "1".to_owned(), path: "SKILL.md".to_owned() };
            w.send(Request::TreeFile(file));
        }
    }
    let env = w.written(create(Kind::Environment, object(json!({"name": "e", "config": {"type": "cloud"}})), None)).id;
    w.written(update(Kind::Environment, at(&env, 1), json!({"description": "d"})));
    let store = w.written(create(Kind::MemoryStore, object(json!({"name": "m"})), None)).id;
    w.written(update(Kind::MemoryStore, at(&store, 1), json!({"description": "d"})));
    memories(w, &store);
    let mount = json!({"agent_id": agent, "memory_store_id": store, "mount_path": "/m"});
    let mount = w.written(create(Kind::MemoryMount, object(mount), None)).id;
    let files = json!({"agent_id": agent, "file_tree_id": tree, "mount_path": "/f"});
    let files = w.written(create(Kind::FileTreeMount, object(files), None)).id;
    for (kind, id) in [(Kind::MemoryMount, &mount), (Kind::FileTreeMount, &files)] {
        w.written(update(kind, at(id, 1), json!({"metadata": {"a": "b"}})));
    }
    for (kind, id, version) in [
        (Kind::MemoryMount, &mount, 2),
        (Kind::FileTreeMount, &files, 2),
        (Kind::Agent, &agent, 2),
        (Kind::Skill, &skill, 3),
        (Kind::FileTree, &tree, 3),
        (Kind::MemoryStore, &store, 2),
        (Kind::Environment, &env, 2),
    ] {
        w.reads(kind, id);
        w.written(retire(kind, at(id, version)));
    }
    w.written(Request::Delete(RetireOf { kind: Kind::Environment, at: at(&env, 3), memory_version: None }));
    w.written(Request::Delete(RetireOf { kind: Kind::MemoryStore, at: at(&store, 3), memory_version: None }));
}

fn memories(w: &mut Walk, store: &str) {
    let memory = w.written(memory_create(store, "/a", "x")).id;
    w.send(Request::MemoryList(MemoryList { path_prefix: Some("/".to_owned()), ..memory_list(store) }));
    let by_id = MemoryOf { id: store.to_owned(), memory: memory.clone(), view: None };
    let Response::Body(first) = w.send(Request::MemoryGet(by_id)) else { panic!() };
    w.written(Request::MemoryUpdate(MemoryUpdate { content: Some("y".to_owned()), ..memory_update(store, &memory) }));
    w.written(Request::MemoryDelete(MemoryDelete { id: store.to_owned(), memory, expect: None }));
    let puts = [("/b".to_owned(), Digest::of(b"x"))].into();
    let expect = [("/b".to_owned(), None)].into();
    let contents = WriteContents { id: store.to_owned(), expect, puts, deletes: vec![], applied: None };
    w.written(Request::WriteContents(contents));
    w.versions(Kind::MemoryStore, store);
    w.send(Request::Version(VersionOf { kind: Kind::MemoryStore, id: store.to_owned(), version: "1".to_owned() }));
    w.send(Request::MemoryVersions(MemoryVersions { id: store.to_owned(), ..MemoryVersions::default() }));
    let version = first["memory_version_id"].as_str().unwrap().to_owned();
    let version = MemoryVersionOf { id: store.to_owned(), version };
    w.send(Request::MemoryVersionGet(version.clone()));
    w.written(Request::MemoryVersionRedact(version));
    let (filename, mime_type, digest) = ("a".to_owned(), "text/plain".to_owned(), Digest::of(b"x"));
    let file = FileCreate { filename, mime_type, digest, size: 1, expires_in_seconds: None };
    let file = GetId { id: w.written(Request::FileCreate(file)).id };
    w.send(Request::FileList(FileList::default()));
    w.send(Request::FileGet(file.clone()));
    w.seen.insert("files.content".to_owned());
    assert_eq!(w.ws.refused(&by(A), Request::FileContent(file.clone())).code, "file.not_downloadable");
    w.written(Request::FileDelete(file));
}

fn authoring(w: &mut Walk) {
    let id = w.ws.agent(None, "free").id;
    let body = agent_body("free");
    let claim =
        ClaimOf { address: address(Kind::Agent, "free"), applied: applied(Kind::Agent, &body), protected: false };
    let on = |seq| Authoring { at: at(&id, 1), seq };
    w.written(Request::Claim(Claim { at: on(0), claim }));
    w.written(Request::Protect(Protect { at: on(1), protected: true }));
    w.written(Request::Record(Record { at: on(2), applied: applied(Kind::Agent, &agent_body("x")) }));
    let transfer = Transfer { at: on(3), from: owner(A), to: owner(A), address: address(Kind::Agent, "other") };
    w.written(Request::Transfer(transfer));
    w.written(Request::Release(on(4)));
    let given = w.ws.agent(Some(A), "given").id;
    let given = Authoring { at: at(&given, 1), seq: 1 };
    w.written(Request::HandOver(HandOver { at: given, to: owner("acme/b"), address: address(Kind::Agent, "given") }));
    w.written(Request::SetPolicy(SetPolicy {
        owner: owner(A),
        seq: 0,
        policy: crate::model::config::Policy::default(),
        undone: None,
    }));
    w.send(Request::Owner(OwnerOf { owner: owner(A) }));
    w.send(Request::Summaries(Summaries { owner: Some(owner(A)), kind: None, names: vec![], page: None, limit: None }));
    w.send(Request::Find(Find { me: owner(A), addresses: vec![], ids: vec![id.clone()] }));
    w.send(Request::Bodies(IdList { ids: vec![id.clone()], me: None }));
    w.send(Request::Resolve(Resolve { me: owner(A), wants: vec![] }));
    w.send(Request::Referrers(IdList { ids: vec![id], me: None }));
}

fn journal(w: &mut Walk) {
    let begin =
        ApplyBegin { plan_digest: Digest::of(b"p"), owner: owner(A), source: Source::default(), addresses: vec![] };
    let Response::Began(began) = w.send(Request::ApplyBegin(begin)) else { panic!() };
    w.send(Request::ApplyEnd(ApplyEnd { id: began.id.clone(), outcome: "done".to_owned(), lines: vec![] }));
    w.send(Request::ApplyList(ApplyList { owner: None, page: None, limit: None }));
    w.send(Request::ApplyGet(GetId { id: began.id.clone() }));
    w.send(Request::ApplyState(StateAt { apply: began.id, page: None, limit: None }));
    w.send(Request::AuditList(AuditList::default()));
    w.send(Request::Workspace);
    let token = TokenCreate {
        name: "t".to_owned(),
        scope: Scope::Read,
        owners: vec![],
        actor_kind: ActorKind::Api,
        expires_at: None,
    };
    let Response::Token(token) = w.send(Request::TokenCreate(token)) else { panic!() };
    w.send(Request::TokenList);
    w.send(Request::TokenRevoke(GetId { id: token.token.id }));
}

#[test]
fn what_no_row_has_is_refused() {
    let ws = Ws::new();
    let skill = ws.skill(None, "s", "1").id;
    let update = update(Kind::Skill, at(&skill, 1), json!({"display_name": "x"}));
    assert_eq!(ws.refused(&anyone(), update).code, "operation.unknown");
    let agent = ws.agent(None, "a").id;
    let delete = Request::Delete(RetireOf { kind: Kind::Agent, at: at(&agent, 1), memory_version: None });
    assert_eq!(ws.refused(&anyone(), delete).code, "operation.unknown");
}
