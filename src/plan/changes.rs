//! What changed, for people: fields as deep as they are read, files by path with renames.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::live::LiveBody;
use crate::model::Digest;
use crate::model::kinds::{Change, Ref, Selector};
use crate::model::tree::Entry;
use crate::plan::compare::{Delta, FieldDelta, Outcome};
use crate::plan::item::Item;
use crate::plan::{Cause, FieldChange, FileChange, FileVerb, deep, places};

/// Changes of the fields for which `keep` says so.
pub(super) fn fields(delta: &Delta<'_>, keep: impl Fn(&FieldDelta<'_>) -> bool) -> Vec<FieldChange> {
    let mut out = Vec::new();
    for f in delta.fields.iter().filter(|f| keep(f)) {
        let (before, cause) = match f.outcome {
            Outcome::Send(Cause::File) if only_versions_moved(delta, f) => (f.live, Cause::Reference),
            Outcome::Send(cause) => (f.live, cause),
            _ => (f.applied, Cause::Both),
        };
        let mut found = Vec::new();
        deep::differences(&f.path, before, f.wanted, &mut found);
        out.extend(found.into_iter().map(|(path, before, after)| FieldChange {
            at: Some(places::of_change(delta.item.wanted, &path, before, after)),
            path,
            before: before.cloned(),
            after: after.cloned(),
            cause,
        }));
    }
    out.shrink_to_fit();
    out
}

/// What changed from one recorded form to another.
pub fn between(before: &Value, after: &Value) -> Vec<FieldChange> {
    let none = Map::new();
    let [old, new] = [before, after].map(|v| v.as_object().unwrap_or(&none));
    let fields: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for field in fields {
        deep::differences(field, old.get(field), new.get(field), &mut found);
    }
    let change = |(path, before, after): (String, Option<&Value>, Option<&Value>)| FieldChange {
        path,
        before: before.cloned(),
        after: after.cloned(),
        at: None,
        cause: Cause::File,
    };
    found.into_iter().map(change).collect()
}

/// Files of a content that moved live, where those that were applied are at hand: the files say them still.
pub(super) fn moved(item: &Item<'_>, f: &FieldDelta<'_>, body: &LiveBody) -> Vec<FileChange> {
    let content = item.wanted.content.as_ref().filter(|_| f.field.change == Change::Publish);
    let applied = content.filter(|(set, _)| f.applied == Some(&Value::String(set.digest.to_string())));
    applied.map(|(set, _)| trees(&set.entries, &body.entries)).unwrap_or_default()
}

/// Did nothing but the content of references change in this field?
pub(super) fn only_versions_moved(delta: &Delta<'_>, f: &FieldDelta<'_>) -> bool {
    let (Some(live), Some(wanted)) = (f.live, f.wanted) else { return false };
    let Some(live_spec) = delta.item.live_spec.as_deref() else { return false };
    let before = (delta.item.def.refs)(live_spec);
    let (old, new) = (contents(&before), contents(&delta.item.refs));
    !new.is_empty() && masked(live, &old) == masked(wanted, &new)
}

fn contents(refs: &[Ref]) -> BTreeSet<String> {
    refs.iter()
        .filter_map(|r| match &r.selector {
            Selector::Content(digest) => Some(digest.to_string()),
            _ => None,
        })
        .collect()
}

fn masked(value: &Value, contents: &BTreeSet<String>) -> Value {
    match value {
        Value::String(s) if contents.contains(s) => Value::Null,
        Value::Array(a) => a.iter().map(|v| masked(v, contents)).collect(),
        Value::Object(o) => o.iter().map(|(k, v)| (k.clone(), masked(v, contents))).collect(),
        other => other.clone(),
    }
}

/// Files of two trees, by path; a removed and an added file of equal content are a rename.
pub(super) fn trees(before: &[Entry], after: &[Entry]) -> Vec<FileChange> {
    let old: BTreeMap<&str, &Entry> = before.iter().map(|e| (e.path.as_str(), e)).collect();
    let new: BTreeSet<&str> = after.iter().map(|e| e.path.as_str()).collect();
    let mut gone: BTreeMap<(Digest, bool), Vec<&Entry>> = BTreeMap::new();
    for e in before.iter().rev().filter(|e| !new.contains(e.path.as_str())) {
        gone.entry((e.sha256, e.symlink)).or_default().push(e);
    }
    let mut out = Vec::new();
    for e in after {
        let was = old.get(e.path.as_str()).copied();
        let from = if was.is_none() { gone.get_mut(&(e.sha256, e.symlink)).and_then(Vec::pop) } else { None };
        let change = match (was, from) {
            (Some(w), _) if w == e => continue,
            (Some(w), _) if w.sha256 == e.sha256 && w.symlink == e.symlink => FileVerb::Mode,
            (Some(_), _) => FileVerb::Modify,
            (None, Some(_)) => FileVerb::Rename,
            (None, None) => FileVerb::Add,
        };
        out.push(FileChange {
            path: e.path.clone(),
            change,
            from: from.map(|f| f.path.clone()),
            size: Some(e.size),
            before: was.or(from).map(|w| w.sha256),
            after: Some(e.sha256),
            writer: None,
        });
    }
    out.extend(gone.into_values().flatten().map(|e| FileChange {
        path: e.path.clone(),
        change: FileVerb::Remove,
        from: None,
        size: None,
        before: Some(e.sha256),
        after: None,
        writer: None,
    }));
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, text: &str, executable: bool) -> Entry {
        let sha256 = Digest::of(text.as_bytes());
        Entry { path: path.into(), executable, symlink: false, size: text.len() as u64, sha256 }
    }

    #[test]
    fn renames_modes_adds_and_removals() {
        let before = [entry("a", "1", false), entry("b", "2", false), entry("c", "3", false), entry("m", "4", false)];
        let after = [entry("b", "two", false), entry("d", "1", false), entry("e", "5", false), entry("m", "4", true)];
        let seen: Vec<_> =
            trees(&before, &after).into_iter().map(|f| (f.path, f.change, f.from.unwrap_or_default())).collect();
        let want = [
            ("b", FileVerb::Modify, ""),
            ("c", FileVerb::Remove, ""),
            ("d", FileVerb::Rename, "a"),
            ("e", FileVerb::Add, ""),
            ("m", FileVerb::Mode, ""),
        ];
        assert_eq!(seen, want.map(|(p, v, f)| (p.to_owned(), v, f.to_owned())));
    }
}
