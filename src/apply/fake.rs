//! A workspace for tests that does what a script says: no rules of its own beyond ids, versions and the
//! idempotency record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;

use serde_json::json;

use crate::control::{BlobError, Blobs, ControlError, ControlPlane, ErrorKind};
use crate::model::op::{Began, Context, OwnerState, Page, Request, Resolved, Response, Want, Written};
use crate::model::{Digest, kinds};

/// What the fake does instead of what was asked. Scripts go by action id, or by operation where a request
/// belongs to no action.
pub(crate) enum Say {
    /// Refuses.
    Err(ControlError),
    /// Does it, then asks the apply to stop.
    Stop(tokio::sync::watch::Sender<bool>),
    /// Answers this.
    Answer(Response),
}

/// See the module.
#[derive(Default)]
pub(crate) struct Fake {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    script: BTreeMap<String, VecDeque<Say>>,
    log: Vec<(Context, Request)>,
    replies: BTreeMap<String, Written>,
    versions: BTreeMap<String, u64>,
    blobs: BTreeSet<Digest>,
    made: u64,
    in_flight: usize,
    most: usize,
    owner: Option<OwnerState>,
    applies: Vec<crate::model::op::ApplyInfo>,
    ids: BTreeMap<String, String>,
}

impl Fake {
    /// A workspace `ws_1`, epoch `e1`, where the owner has nothing.
    pub(crate) fn new() -> Self {
        let fake = Self::default();
        fake.lock().owner = Some(OwnerState {
            workspace_id: "ws_1".into(),
            epoch: "e1".into(),
            digest: crate::live::owner_digest([]),
            count: 0,
            policy: None,
            source: None,
            undone: BTreeMap::new(),
            seq: 0,
            open_apply: None,
            beside: BTreeMap::new(),
        });
        fake
    }

    pub(crate) fn say(self, at: &str, say: Say) -> Self {
        self.lock().script.entry(at.to_owned()).or_default().push_back(say);
        self
    }

    pub(crate) fn owner(self, change: impl FnOnce(&mut OwnerState)) -> Self {
        change(self.lock().owner.as_mut().unwrap());
        self
    }

    pub(crate) fn applied_before(self, info: crate::model::op::ApplyInfo) -> Self {
        self.lock().applies.push(info);
        self
    }

    /// What is at an address.
    pub(crate) fn has(self, key: &str, id: &str) -> Self {
        self.lock().ids.insert(key.to_owned(), id.to_owned());
        self
    }

    pub(crate) fn holds(self, digest: Digest) -> Self {
        self.lock().blobs.insert(digest);
        self
    }

    /// Everything that was asked.
    pub(crate) fn log(&self) -> Vec<(Context, Request)> {
        self.lock().log.clone()
    }

    /// Names of the operations that were asked, without reads.
    pub(crate) fn writes(&self) -> Vec<String> {
        let log = self.log();
        log.iter().filter(|(_, r)| r.operation().mutates).map(|(c, r)| c.action.clone().unwrap_or(r.name())).collect()
    }

    /// The request of an action, the last time that it was sent.
    pub(crate) fn sent(&self, action: &str) -> (Context, Request) {
        let log = self.log();
        log.into_iter().rev().find(|(c, _)| c.action.as_deref() == Some(action)).unwrap()
    }

    /// The most requests that were in flight at once.
    pub(crate) fn most(&self) -> usize {
        self.lock().most
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }
}

impl Inner {
    fn answer(&mut self, context: &Context, request: &Request) -> Response {
        if let Some(old) = context.key.as_ref().and_then(|key| self.replies.get(key)) {
            return Response::Written(Written { replayed: true, ..old.clone() });
        }
        let written = match request {
            Request::Owner(_) => return Response::Owner(Box::new(self.owner.clone().unwrap())),
            Request::ApplyList(r) => {
                // Newest first, as many as are asked for.
                let most = r.limit.unwrap_or(20) as usize;
                let data = self.applies.iter().rev().take(most).cloned().collect();
                return Response::Applies(Page { data, next_page: None });
            }
            Request::Resolve(r) => {
                let found = |w: &Want| {
                    let id = self.ids.get(&w.key).cloned();
                    Resolved { key: w.key.clone(), id, ..Resolved::default() }
                };
                return Response::Resolved(r.wants.iter().map(found).collect());
            }
            Request::ApplyBegin(_) => return Response::Began(Began { id: "apply_1".into(), other: None }),
            Request::BlobsMissing(d) => {
                return Response::Missing(d.digests.iter().filter(|d| !self.blobs.contains(d)).copied().collect());
            }
            Request::BlobPut(b) => {
                self.blobs.insert(b.digest);
                return Response::Done;
            }
            Request::Create(r) => {
                self.made += 1;
                let id = format!("{}{}", kinds::def(r.kind).id_prefix, self.made);
                self.versions.insert(id.clone(), 1);
                Written {
                    id,
                    version: 1,
                    seq: 1,
                    made: r.content.as_ref().map(|_| format!("made-{}", self.made)),
                    changed: true,
                    replayed: false,
                    moved: false,
                    spec: None,
                }
            }
            Request::Update(r) => self.bump(&r.at.id),
            Request::Publish(r) => self.bump(&r.at.id),
            Request::WriteContents(r) => self.bump(&r.id),
            Request::Archive(r) | Request::Delete(r) => self.bump(&r.at.id),
            Request::Protect(r) => self.bump(&r.at.at.id),
            Request::Record(r) => self.bump(&r.at.at.id),
            _ => return Response::Done,
        };
        if let Some(key) = &context.key {
            self.replies.insert(key.clone(), written.clone());
        }
        Response::Written(written)
    }

    fn bump(&mut self, id: &str) -> Written {
        self.made += 1;
        let version = self.versions.entry(id.to_owned()).or_insert(1);
        *version += 1;
        Written {
            id: id.to_owned(),
            version: *version,
            seq: *version,
            made: Some(format!("made-{}", self.made)),
            changed: true,
            replayed: false,
            moved: false,
            spec: None,
        }
    }
}

impl ControlPlane for Fake {
    async fn call(&self, context: &Context, request: Request) -> Result<Response, ControlError> {
        let say = {
            let mut inner = self.lock();
            inner.log.push((context.clone(), request.clone()));
            inner.in_flight += 1;
            inner.most = inner.most.max(inner.in_flight);
            let at = context.action.clone().unwrap_or_else(|| request.name());
            inner.script.get_mut(&at).and_then(VecDeque::pop_front)
        };
        tokio::task::yield_now().await;
        let mut inner = self.lock();
        inner.in_flight -= 1;
        match say {
            Some(Say::Err(error)) => Err(error),
            Some(Say::Answer(response)) => Ok(response),
            Some(Say::Stop(stop)) => {
                stop.send(true).unwrap();
                Ok(inner.answer(context, &request))
            }
            None => Ok(inner.answer(context, &request)),
        }
    }
}

/// "What you saw has moved on."
pub(crate) fn stale() -> Say {
    let error = ControlError::new(ErrorKind::Conflict, "validation.conflict", "the resource has moved on");
    Say::Err(error.details(json!({"reason": "stale", "current": 7})))
}

/// "It is owned by `owner`."
pub(crate) fn owned_by(owner: &str) -> Say {
    let error = ControlError::new(ErrorKind::Conflict, "authoring.owned_elsewhere", "another owner has it");
    Say::Err(error.details(json!({"owner": owner})))
}

/// An error that is not about what moved.
pub(crate) fn invalid() -> Say {
    Say::Err(ControlError::new(ErrorKind::Invalid, "validation.limit", "too many of them"))
}

/// "Not now."
pub(crate) fn unavailable() -> Say {
    Say::Err(ControlError::new(ErrorKind::Unavailable, "control.unreachable", "the workspace does not answer"))
}

/// File bodies by path.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) bodies: BTreeMap<String, Vec<u8>>,
    pub(crate) opened: Mutex<Vec<String>>,
}

impl Files {
    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.bodies.insert(path.to_owned(), text.as_bytes().to_vec());
        self
    }
}

impl Blobs for Files {
    fn open(&self, path: &str, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        self.opened.lock().unwrap().push(path.to_owned());
        let Some(bytes) = self.bodies.get(path) else {
            return Err(BlobError::Io { path: path.to_owned(), source: std::io::ErrorKind::NotFound.into() });
        };
        let found = Digest::of(bytes);
        if found != *digest {
            return Err(BlobError::Changed { path: path.to_owned(), wanted: *digest, found });
        }
        Ok(bytes.clone())
    }
}
