//! Pieces of the three forms that kinds share: building canonical objects, wire bodies, and reading them back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::kinds::{Ids, MissingId, Object, Ref, Refs, Selector, Target, WireRef};
use crate::model::{Digest, Kind};

/// Text as it is compared: byte order marks at the front dropped (all, so that doing it twice changes nothing),
/// CRLF and CR become LF. Nothing else.
pub(super) fn text(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// Keeps a text, normalized; the empty one means absent.
pub(super) fn put_text(out: &mut Object, from: &Value, key: &str) {
    keep_text(out, key, from.get(key).and_then(Value::as_str).map(text));
}

/// As [`put_text`]; a text that is normal already, as nearly all are, is moved and not copied.
pub(super) fn take_text(out: &mut Object, from: &mut Value, key: &str) {
    let Some(Value::String(taken)) = from.get_mut(key).map(Value::take) else { return };
    let is_normal = !taken.starts_with('\u{feff}') && !taken.contains('\r');
    keep_text(out, key, Some(if is_normal { taken } else { text(&taken) }));
}

fn keep_text(out: &mut Object, key: &str, text: Option<String>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.insert(key.to_owned(), Value::String(text));
    }
}

/// Keeps a value as it is; `null` means absent.
pub(super) fn put_whole(out: &mut Object, from: &Value, key: &str) {
    if let Some(v) = from.get(key).filter(|v| !v.is_null()) {
        out.insert(key.to_owned(), v.clone());
    }
}

/// Says what an absent or null key means.
pub(super) fn fill(body: &mut Object, key: &str, meaning: Value) {
    let value = body.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = meaning;
    }
}

/// Keeps a value unless it is the default.
pub(super) fn put_unless(out: &mut Object, key: &str, value: Value, default: &Value) {
    if value != *default && !value.is_null() {
        out.insert(key.to_owned(), value);
    }
}

/// Keeps a scalar unless it is the default.
pub(super) fn put_scalar(out: &mut Object, from: &Value, key: &str, default: impl Into<Value>) {
    if let Some(v) = from.get(key) {
        put_unless(out, key, v.clone(), &default.into());
    }
}

/// Keeps a list of texts as a sorted set; the empty one means absent.
pub(super) fn put_set(out: &mut Object, from: &Value, key: &str) {
    let Some(list) = from.get(key).and_then(Value::as_array) else { return };
    let set: BTreeSet<&str> = list.iter().filter_map(Value::as_str).collect();
    if !set.is_empty() {
        out.insert(key.to_owned(), set.into_iter().collect());
    }
}

/// Keeps a list unless it is empty.
pub(super) fn put_list(out: &mut Object, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        out.insert(key.to_owned(), Value::Array(list));
    }
}

/// The shown name: `spec.name`, else the name of the address.
pub(super) fn put_name(out: &mut Object, from: &mut Value, name: &str) {
    take_text(out, from, "name");
    out.entry("name").or_insert_with(|| Value::String(name.to_owned()));
}

/// Labels: those given, over those that a canonical form already has.
pub(super) fn put_labels(out: &mut Object, from: &Value, labels: &BTreeMap<String, String>) {
    let held = from.get("labels").and_then(Value::as_object);
    let mut all: BTreeMap<String, String> =
        held.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), text(v.as_str()?)))).collect();
    all.extend(labels.iter().map(|(k, v)| (k.clone(), text(v))));
    if !all.is_empty() {
        out.insert("labels".to_owned(), all.into_iter().map(|(k, v)| (k, Value::String(v))).collect());
    }
}

/// A reference, as the canonical form has it; what is none is kept as it is.
pub(super) fn reference(kind: Kind, value: &Value) -> Value {
    Target::of(kind, value).map_or_else(|| value.clone(), |t| t.to_value())
}

/// Keeps a reference.
pub(super) fn put_reference(out: &mut Object, from: &Value, key: &str, kind: Kind) {
    if let Some(v) = from.get(key).filter(|v| !v.is_null()) {
        out.insert(key.to_owned(), reference(kind, v));
    }
}

/// The live id of a canonical reference.
pub(super) fn id_of(kind: Kind, value: &Value, ids: &Ids) -> Result<String, MissingId> {
    let target = Target::of(kind, value).ok_or_else(|| MissingId(value.to_string()))?;
    ids.resource(&target)
}

/// The canonical reference of a wire body's `key`, under its new name.
pub(super) fn put_from_id(out: &mut Object, body: &Value, wire: &str, key: &str, kind: Kind, refs: &Refs) {
    if let Some(id) = body.get(wire).and_then(Value::as_str) {
        out.insert(key.to_owned(), refs.target(kind, id).to_value());
    }
}

/// A reference without versions.
pub(super) fn plain_ref(field: &'static str, pointer: &str, kind: Kind, value: Option<&Value>) -> Option<Ref> {
    let target = Target::of(kind, value?)?;
    Some(Ref { field, pointer: pointer.to_owned(), target, selector: Selector::None })
}

/// A wire reference without versions.
pub(super) fn plain_wire_ref(body: &Object, key: &str, kind: Kind) -> Option<WireRef> {
    let id = body.get(key)?.as_str()?.to_owned();
    Some(WireRef { kind, id, version: None, follows: false })
}

/// Labels of a wire body.
pub(super) fn wire_labels(body: &Value) -> BTreeMap<String, String> {
    let metadata = body.get("metadata").and_then(Value::as_object);
    metadata.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

/// A wire body in the making. With `only`, it holds just the fields named, absent ones with an explicit clear.
pub(super) struct Body<'a> {
    spec: &'a Value,
    only: Option<&'a BTreeSet<String>>,
    out: Object,
}

impl<'a> Body<'a> {
    /// An empty body for a canonical form.
    pub(super) fn new(spec: &'a Value, only: Option<&'a BTreeSet<String>>) -> Self {
        Self { spec, only, out: Object::new() }
    }

    fn wants(&self, field: &str) -> bool {
        self.only.is_none_or(|only| only.contains(field))
    }

    /// Sends a field as `wire`. An absent one is left out of a create, and is `clear` in an update.
    pub(super) fn put(
        &mut self,
        field: &str,
        wire: &str,
        clear: Value,
        render: impl FnOnce(&Value) -> Result<Value, MissingId>,
    ) -> Result<(), MissingId> {
        if !self.wants(field) {
            return Ok(());
        }
        match self.spec.get(field) {
            Some(value) => {
                let rendered = render(value)?;
                self.out.insert(wire.to_owned(), rendered);
            }
            None if self.only.is_some() => {
                self.out.insert(wire.to_owned(), clear);
            }
            None => {}
        }
        Ok(())
    }

    /// Sends a field as it is.
    pub(super) fn same(&mut self, field: &str, wire: &str, clear: Value) -> Result<(), MissingId> {
        self.put(field, wire, clear, |v| Ok(v.clone()))
    }

    /// Sends a field that has a default in full, in a create too: nothing is left to the server.
    pub(super) fn total(
        &mut self,
        field: &str,
        wire: &str,
        render: impl FnOnce(Option<&Value>) -> Result<Value, MissingId>,
    ) -> Result<(), MissingId> {
        if self.wants(field) {
            let rendered = render(self.spec.get(field))?;
            self.out.insert(wire.to_owned(), rendered);
        }
        Ok(())
    }

    /// Sends labels as `metadata`: all in a create and for `labels`, single ones for `labels.KEY`, where an
    /// absent one is `null`, which deletes it. The wire merges key by key.
    pub(super) fn labels(&mut self) {
        let held = self.spec.get("labels").and_then(Value::as_object);
        let mut metadata = Object::new();
        let mut named = false;
        if self.wants("labels") {
            metadata.extend(held.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
            named = self.only.is_some();
        }
        for key in self.only.into_iter().flatten().filter_map(|f| f.strip_prefix("labels.")) {
            let value = held.and_then(|h| h.get(key)).cloned().unwrap_or(Value::Null);
            metadata.insert(key.to_owned(), value);
        }
        if named || !metadata.is_empty() {
            self.out.insert("metadata".to_owned(), Value::Object(metadata));
        }
    }

    /// The body.
    pub(super) fn finish(self) -> Object {
        self.out
    }
}

/// The digest in a canonical `content`.
pub(super) fn content_of(value: &Value) -> Option<Digest> {
    value.get("content")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_at_the_front_and_line_ends_are_normalized() {
        assert_eq!(text("\u{feff}\u{feff}a\r\nb\rc\r\r\n \u{feff}"), "a\nb\nc\n\n \u{feff}");
        assert_eq!(text(" e\u{301}\t\n\n"), " e\u{301}\t\n\n");
    }
}
