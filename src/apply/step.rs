//! An action of a plan → the request that it sends: live ids filled in, preconditions made exact, and the
//! idempotency key over all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::model::kinds::{self, Applied, Ids, MissingId, Retire};
use crate::model::op::{
    Authoring, Claim, ClaimOf, ContentOf, Create, Expect, HandOver, Protect, Publish, Record, Request, RetireOf,
    SetPolicy, Transfer, Update, WriteContents, Written,
};
use crate::model::{Address, Digest, Kind, Owner};
use crate::plan::{Action, Content, Precondition, Step};

/// Why an action makes no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StepError {
    /// A reference has no live id.
    #[error(transparent)]
    Missing(MissingId),
    /// Step, precondition and address do not fit each other.
    #[error("its {0} does not fit its operation")]
    Unfit(&'static str),
}

/// What is known while an apply runs: the plan's ids, and what the actions that are done have left.
#[derive(Debug)]
pub(crate) struct Known {
    ids: Ids,
    left: BTreeMap<String, Left>,
}

/// What an action left.
#[derive(Debug, Clone, Copy)]
struct Left {
    version: u64,
    seq: u64,
}

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The request.
    pub(crate) request: Request,
    /// Its idempotency key.
    pub(crate) key: String,
}

/// Whose keys: a restore draws a new epoch, so it never meets the old ones.
#[derive(Debug)]
pub(crate) struct KeyScope<'a> {
    /// The workspace's.
    pub(crate) epoch: &'a str,
    /// Who acts.
    pub(crate) owner: &'a Owner,
}

impl KeyScope<'_> {
    /// The idempotency key of an operation: a digest of owner, address, operation, precondition and payload,
    /// both with live ids filled in (the same symbolic text may mean other resources later).
    fn key(&self, address: Option<&Address>, operation: &str, sent: &Value) -> String {
        Digest::of_json(&(self.epoch, self.owner, address, operation, sent)).to_string()
    }
}

impl Known {
    /// What a plan knows.
    pub(crate) fn new(ids: Ids) -> Self {
        Self { ids, left: BTreeMap::new() }
    }

    /// Notes what a done action left: its id, its version, the immutable version that it made.
    pub(crate) fn learn(&mut self, action: &Action, written: &Written) {
        let left = Left { version: written.version, seq: written.seq };
        self.left.insert(action.id.clone(), left);
        let Some(address) = &action.address else { return };
        let content = match &action.step {
            Step::Create { content, .. } => {
                self.ids.0.insert(address.to_string(), written.id.clone());
                content.as_ref()
            }
            Step::Publish { content, .. } => Some(content),
            _ => None,
        };
        if let (Some(content), Some(made)) = (content, &written.made) {
            self.ids.0.insert(format!("{address}@{}", content.digest), made.clone());
        }
    }

    fn after(&self, action: &str) -> Result<&Left, StepError> {
        self.left.get(action).ok_or(StepError::Unfit("precondition"))
    }

    /// The id that a step names, or that of the resource which this plan created at the address.
    fn id(&self, id: Option<&String>, address: &Address) -> Result<String, StepError> {
        match id {
            Some(id) => Ok(id.clone()),
            None => {
                let key = address.to_string();
                self.ids.0.get(&key).cloned().ok_or(StepError::Missing(MissingId(key)))
            }
        }
    }

    fn version(&self, precondition: &Precondition) -> Result<u64, StepError> {
        match precondition {
            Precondition::Version { version }
            | Precondition::Store { version, .. }
            | Precondition::Authoring { version, .. } => Ok(*version),
            Precondition::After { action } => Ok(self.after(action)?.version),
            _ => Err(StepError::Unfit("precondition")),
        }
    }

    fn authoring(&self, id: &str, precondition: &Precondition) -> Result<Authoring, StepError> {
        let (version, seq) = match precondition {
            Precondition::Authoring { version, seq } => (*version, *seq),
            Precondition::After { action } => {
                let left = self.after(action)?;
                (left.version, left.seq)
            }
            _ => return Err(StepError::Unfit("precondition")),
        };
        Ok(Authoring { at: Expect { id: id.to_owned(), version: Some(version) }, seq })
    }
}

/// Makes the request of an action.
pub(crate) fn prepare(action: &Action, known: &Known, scope: &KeyScope<'_>) -> Result<Prepared, StepError> {
    let (request, sent) = match (&action.step, &action.address) {
        (Step::Policy { policy, undone }, _) => {
            let Precondition::OwnerSeq { seq } = &action.precondition else {
                return Err(StepError::Unfit("precondition"));
            };
            let r = SetPolicy { owner: scope.owner.clone(), seq: *seq, policy: policy.clone(), undone: undone.clone() };
            let sent = value(&r);
            (Request::SetPolicy(r), sent)
        }
        (step, Some(address)) => on_resource(step, address, &action.precondition, (known, scope.owner))?,
        (_, None) => return Err(StepError::Unfit("address")),
    };
    let key = scope.key(action.address.as_ref(), &action.operation, &sent);
    Ok(Prepared { request, key })
}

type Parts = (Request, Value);

fn on_resource(
    step: &Step,
    address: &Address,
    precondition: &Precondition,
    (known, me): (&Known, &Owner),
) -> Result<Parts, StepError> {
    let kind = address.kind;
    let at = |id: &str| -> Result<Expect, StepError> {
        Ok(Expect { id: id.to_owned(), version: Some(known.version(precondition)?) })
    };
    Ok(match step {
        Step::Create { .. } => create(step, address, precondition, known)?,
        Step::Update { id, spec, unowned, fields } => {
            let only: BTreeSet<String> = fields.iter().cloned().collect();
            let body = (kinds::def(kind).to_wire)(spec, &known.ids, Some(&only)).map_err(StepError::Missing)?;
            let applied = applied(spec, unowned);
            let r = Update { kind, at: at(id)?, body, applied: Some(applied) };
            let sent = value(&r);
            (Request::Update(r), sent)
        }
        Step::Publish { id, spec, unowned, content } => {
            let id = known.id(id.as_ref(), address)?;
            let applied = applied(spec, unowned);
            let r = Publish { kind, at: at(&id)?, content: content_of(content), applied: Some(applied) };
            let sent = value(&r);
            (Request::Publish(r), sent)
        }
        Step::WriteContents { id, spec, unowned, puts, deletes } => {
            let expect = match precondition {
                Precondition::Memories { expect } => expect.clone(),
                // The store is as the named action left it; one that it created is empty.
                Precondition::After { action } => {
                    known.after(action)?;
                    puts.keys().chain(deletes).map(|path| (path.clone(), None)).collect()
                }
                _ => return Err(StepError::Unfit("precondition")),
            };
            let applied = applied(spec, unowned);
            let r = WriteContents {
                id: known.id(id.as_ref(), address)?,
                expect,
                puts: puts.iter().map(|(path, body)| (path.clone(), body.sha256)).collect(),
                deletes: deletes.clone(),
                applied: Some(applied),
            };
            let sent = value(&r);
            (Request::WriteContents(r), sent)
        }
        Step::Protect { id, on } => {
            let r = Protect { at: known.authoring(id, precondition)?, protected: *on };
            let sent = value(&r);
            (Request::Protect(r), sent)
        }
        Step::Retire { id } => {
            let memory_version = match precondition {
                Precondition::Store { memories, .. } => Some(*memories),
                _ => None,
            };
            let r = RetireOf { kind, at: at(id)?, memory_version };
            let sent = value(&r);
            (retire(kind, r), sent)
        }
        Step::Record { id, spec, unowned } => {
            let applied = applied(spec, unowned);
            let r = Record { at: known.authoring(id, precondition)?, applied };
            let sent = value(&r);
            (Request::Record(r), sent)
        }
        Step::Claim { .. } | Step::Transfer { .. } | Step::Release { .. } | Step::HandOver { .. } => {
            ownership(step, address, precondition, (known, me))?
        }
        Step::Policy { .. } => return Err(StepError::Unfit("address")),
    })
}

/// What changes nothing but who owns a resource, and where.
fn ownership(
    step: &Step,
    address: &Address,
    precondition: &Precondition,
    (known, me): (&Known, &Owner),
) -> Result<Parts, StepError> {
    let address = address.clone();
    Ok(match step {
        Step::Claim { id, spec, unowned, protected } => {
            let claim = ClaimOf { address, applied: applied(spec, unowned), protected: *protected };
            let r = Claim { at: known.authoring(id, precondition)?, claim };
            let sent = value(&r);
            (Request::Claim(r), sent)
        }
        Step::Transfer { id, from } => {
            let r = Transfer { at: known.authoring(id, precondition)?, from: from.clone(), to: me.clone(), address };
            let sent = value(&r);
            (Request::Transfer(r), sent)
        }
        Step::Release { id } => {
            let r = known.authoring(id, precondition)?;
            let sent = value(&r);
            (Request::Release(r), sent)
        }
        Step::HandOver { id, to } => {
            let r = HandOver { at: known.authoring(id, precondition)?, to: to.clone(), address };
            let sent = value(&r);
            (Request::HandOver(r), sent)
        }
        _ => return Err(StepError::Unfit("payload")),
    })
}

fn create(step: &Step, address: &Address, precondition: &Precondition, known: &Known) -> Result<Parts, StepError> {
    let Step::Create { spec, unowned, protected, content, replaces } = step else {
        return Err(StepError::Unfit("payload"));
    };
    let (absent_since, replaces) = match (precondition, replaces) {
        (Precondition::Absent { since }, None) => (since.clone(), None),
        (_, Some(old)) => (None, Some(Expect { id: old.clone(), version: Some(known.version(precondition)?) })),
        _ => return Err(StepError::Unfit("precondition")),
    };
    let body = (kinds::def(address.kind).to_wire)(spec, &known.ids, None).map_err(StepError::Missing)?;
    let kind = address.kind;
    let applied = applied(spec, unowned);
    let r = Create {
        kind,
        body,
        content: content.as_ref().map(content_of),
        claim: Some(ClaimOf { address: address.clone(), applied, protected: *protected }),
        absent_since,
        replaces,
    };
    let sent = value(&r);
    Ok((Request::Create(r), sent))
}

fn retire(kind: Kind, at: RetireOf) -> Request {
    match kinds::def(kind).retire {
        Retire::Archive => Request::Archive(at),
        Retire::Delete => Request::Delete(at),
    }
}

fn applied(spec: &Arc<Value>, unowned: &[String]) -> Applied {
    Applied { spec: Arc::clone(spec), unowned: unowned.to_vec() }
}

fn content_of(content: &Content) -> ContentOf {
    ContentOf { entries: content.entries.clone(), digest: content.digest }
}

fn value<T: serde::Serialize>(request: &T) -> Value {
    serde_json::to_value(request).unwrap_or_default()
}
