//! What is recorded as applied once an action is done.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::kinds::Change;
use crate::plan::compare::{Delta, Outcome};
use crate::plan::item;

/// Is there something to record, though nothing is sent?
pub(super) fn settles(delta: &Delta<'_>) -> bool {
    let field = |o: Outcome| matches!(o, Outcome::Settle | Outcome::Send(_));
    delta.unowned_moved
        || delta.fields.iter().any(|f| field(f.outcome))
        || delta.memories.as_ref().is_some_and(|m| m.settle)
}

/// What is recorded as applied: what is wanted; a held field keeps its old applied value.
pub(super) fn recorded(delta: &Delta<'_>) -> Arc<Value> {
    let mut spec = Arc::clone(&delta.item.spec);
    for f in delta.fields.iter().filter(|f| f.outcome.stays()) {
        // Of what is owned again nothing was applied: until the two agree it is recorded as what is not owned is.
        let value = if f.again { f.live } else { f.applied };
        set(Arc::make_mut(&mut spec), &f.path, f.field.name, value.cloned());
    }
    match &delta.memories {
        Some(memories) => with_contents(spec, memories.recorded.clone()),
        None => spec,
    }
}

/// What is recorded as not owned: what the file says, and what is owned again and still held.
pub(super) fn unowned(delta: &Delta<'_>) -> Vec<String> {
    let held = delta.fields.iter().filter(|f| f.again && f.outcome == Outcome::Held).map(|f| f.path.clone());
    delta.item.wanted.unowned.iter().cloned().chain(held).collect()
}

/// As `done`, with what is published later as it was applied before.
pub(super) fn before_publish(delta: &Delta<'_>, done: &Value) -> Arc<Value> {
    let mut spec = done.clone();
    let applied = delta.item.body().map(|b| &b.applied.spec);
    for field in delta.item.def.fields.iter().filter(|f| f.change == Change::Publish) {
        set(&mut spec, field.name, field.name, applied.and_then(|a| a.get(field.name)).cloned());
    }
    Arc::new(spec)
}

fn set(spec: &mut Value, path: &str, field: &str, value: Option<Value>) {
    let key = path.strip_prefix(field).and_then(|rest| rest.strip_prefix('.'));
    item::set(spec, field, key, value);
}

pub(super) fn with_contents(mut spec: Arc<Value>, contents: Map<String, Value>) -> Arc<Value> {
    let contents = (!contents.is_empty()).then_some(Value::Object(contents));
    set(Arc::make_mut(&mut spec), "contents", "contents", contents);
    spec
}
