//! What a rollback undid and comes back since its resource changed: told by name, as nobody may have thought of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::diag::codes::plan as codes;
use crate::live::{Live, Undid};
use crate::model::kinds::Change;
use crate::model::{Address, Digest};
use crate::plan::compare::{Delta, FieldDelta};
use crate::plan::undone::Undone;
use crate::plan::{Effect, FileChange, Gathered, changes, deep, memory};

/// Most paths that are named.
const NAMED: usize = 20;

/// Tells of every change that brings back what was undone beside what is new.
pub(super) fn tell<'d>(undone: &Undone, live: &Live, acting: impl Iterator<Item = &'d Delta<'d>>, out: &mut Gathered) {
    for delta in acting.filter(|d| d.acts() && !d.is_create()) {
        let address: &Address = delta.address();
        let Some(undid) = live.undid.get(address).filter(|_| matches!(undone.get(address), Some(Some(_)))) else {
            continue;
        };
        let mut paths = fields(delta, undid);
        paths.extend(files(delta, undid));
        if paths.is_empty() {
            continue;
        }
        paths.sort();
        paths.dedup();
        let more = paths.len().saturating_sub(NAMED);
        let mut named: Vec<String> = paths.into_iter().take(NAMED).map(|p| format!("`{p}`")).collect();
        if more > 0 {
            named.push(format!("{more} more"));
        }
        let message =
            format!("{address} changed, and with it comes back what {} undid: {}", undid.rollback, named.join(", "));
        out.find(&codes::UNDONE_RETURNS, Effect::Note, Some(address), message)
            .fix("take out of the file what is to stay undone")
            .at(delta.item.wanted);
    }
}

/// Fields, as deep as they are shown, that are sent with the value that was undone.
fn fields(delta: &Delta<'_>, undid: &Undid) -> Vec<String> {
    let mut found = Vec::new();
    // Files are told one by one.
    let sent = |f: &&FieldDelta<'_>| f.sent().is_some() && f.field.change != Change::Publish;
    for f in delta.fields.iter().filter(sent) {
        let was = match f.path.split_once('.') {
            Some((map, key)) => undid.applied.spec.get(map).and_then(|m| m.get(key)),
            None => undid.applied.spec.get(&f.path),
        };
        let (mut now, mut then) = (Vec::new(), Vec::new());
        deep::differences(&f.path, f.live, f.wanted, &mut now);
        deep::differences(&f.path, f.live, was, &mut then);
        let then: BTreeMap<String, Option<&Value>> = then.into_iter().map(|(path, _, after)| (path, after)).collect();
        found.extend(now.into_iter().filter(|(path, _, after)| then.get(path) == Some(after)).map(|(path, ..)| path));
    }
    found
}

/// Files and memories that are written, or go, as they were before.
fn files(delta: &Delta<'_>, undid: &Undid) -> Vec<String> {
    let item = delta.item;
    let Some(body) = item.body() else { return Vec::new() };
    let back = |was: &BTreeMap<&str, Digest>, changes: &[FileChange]| -> Vec<String> {
        let is_back = |c: &&FileChange| was.get(c.path.as_str()).copied() == c.after;
        changes.iter().filter(is_back).map(|c| c.path.clone()).collect()
    };
    if let Some(memories) = &delta.memories {
        return back(&memory::digests(&undid.applied.spec), &memories.files);
    }
    let Some((set, _)) = item.wanted.content.as_ref().filter(|_| delta.sends("content")) else { return Vec::new() };
    let was = undid.entries.iter().map(|e| (e.path.as_str(), e.sha256)).collect();
    back(&was, &changes::trees(&body.entries, &set.entries))
}
