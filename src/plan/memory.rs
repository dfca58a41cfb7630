//! Memory contents: three values per path, and the mode of the prefix that decides.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::live::LiveBody;
use crate::model::config::Take;
use crate::model::kinds::{is_under, is_unowned};
use crate::model::op::{ActorKind, Beside, MemoryInfo};
use crate::model::{Digest, Owner};
use crate::plan::item::Item;
use crate::plan::{FileChange, FileVerb, KeptMemory, Notes};

/// What happens to the memories of one store.
#[derive(Debug, Default)]
pub(super) struct Memories {
    /// Paths to write, each with a wanted file.
    pub(super) puts: Vec<String>,
    /// Paths to delete.
    pub(super) deletes: Vec<String>,
    /// Path → what is live now, for each path of `puts` and `deletes`.
    pub(super) expect: BTreeMap<String, Option<Digest>>,
    /// `contents` to be recorded as applied: a kept file keeps its old entry.
    pub(super) recorded: Map<String, Value>,
    /// `contents` to be recorded before anything is written: as `recorded`, and the paths that are written as
    /// they were applied before. The workspace records those itself, path by path.
    pub(super) settled: Map<String, Value>,
    /// Does `settled` differ from what is recorded now?
    pub(super) settle: bool,
    /// Memories that are not as the files say, and stay: others wrote or deleted them, or the files name them no more.
    pub(super) kept: Vec<String>,
    /// Deletes, outside `enforce`, of what a session wrote last.
    pub(super) by_session: Vec<String>,
    /// Did an `accept:` line decide about one of them?
    pub(super) decided: bool,
    /// In `upkeep`: paths that the files and somebody else changed, to different contents. What is live stays.
    pub(super) both: Vec<String>,
    /// For people.
    pub(super) files: Vec<FileChange>,
    /// How many memories are live.
    pub(super) live: usize,
}

impl Memories {
    pub(super) fn writes(&self) -> bool {
        !self.puts.is_empty() || !self.deletes.is_empty()
    }

    fn keep(&mut self, p: &Path<'_>, stays: bool) {
        self.kept.extend(stays.then(|| p.at.to_owned()));
    }

    /// Notes what is kept of a store, and names what was written last.
    pub(super) fn tell(&self, item: &Item<'_>, notes: &mut Notes) {
        if self.kept.is_empty() {
            return;
        }
        let kept: BTreeSet<&str> = self.kept.iter().map(String::as_str).collect();
        let all = item.body().map_or(&[][..], |b| &b.memories);
        let live: Vec<MemoryInfo> = all.iter().filter(|m| kept.contains(m.path.as_str())).cloned().collect();
        let there: BTreeSet<String> = live.iter().map(|m| m.path.clone()).collect();
        let newest = Beside::of(live).map_or(Vec::new(), |b| b.newest);
        let gone = self.kept.iter().filter(|path| !there.contains(*path));
        let gone = gone.map(|path| KeptMemory { path: path.clone(), writer: None, when: None });
        let told = newest.iter().map(KeptMemory::from).chain(gone).take(Beside::SHOWN).collect();
        notes.kept_memories.insert(item.address().clone(), super::count(self.kept.len()));
        notes.kept.insert(item.address().clone(), told);
    }

    /// Deletes whose content is not written at another path.
    pub(super) fn lost(&self) -> usize {
        self.files.iter().filter(|f| f.change == FileVerb::Remove).count()
    }
}

/// Who decides what is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Enforce,
    Upkeep,
    Seed,
    Observe,
    /// Field mode `ignore` on the path.
    Ignore,
}

/// The mode of a prefix that holds the path. Prefixes do not overlap.
fn mode_at(spec: &Value, path: &str) -> Option<Mode> {
    let modes = spec.get("modes")?.as_array()?;
    let row = modes.iter().find(|m| m.get("at").and_then(Value::as_str).is_some_and(|at| is_under(path, at)))?;
    Some(match row.get("mode").and_then(Value::as_str) {
        Some("enforce") => Mode::Enforce,
        Some("seed") => Mode::Seed,
        Some("observe") => Mode::Observe,
        _ => Mode::Upkeep,
    })
}

/// The mode of a path: that of its field, or else of its prefix.
pub(super) fn mode_of(item: &Item<'_>, path: &str) -> Option<Mode> {
    let named = format!("contents.{path}");
    if is_unowned(&item.wanted.seeded, &named) {
        Some(Mode::Seed)
    } else if is_unowned(&item.wanted.unowned, &named) {
        Some(Mode::Ignore)
    } else {
        mode_at(&item.spec, path)
    }
}

/// The digests of the memories of a form, by path.
pub(super) fn digests(spec: &Value) -> BTreeMap<&str, Digest> {
    let contents = spec.get("contents").and_then(Value::as_object);
    contents
        .into_iter()
        .flatten()
        .filter_map(|(path, digest)| Some((path.as_str(), digest.as_str()?.parse().ok()?)))
        .collect()
}

/// The digests of the memories that are live, by path.
pub(super) fn live(body: &LiveBody) -> BTreeMap<&str, Digest> {
    let mut live = digests(&body.live);
    live.extend(body.memories.iter().map(|m| (m.path.as_str(), m.content_sha256)));
    live
}

/// One path and its three values.
pub(super) struct Path<'a> {
    pub(super) at: &'a str,
    pub(super) wanted: Option<Digest>,
    pub(super) applied: Option<Digest>,
    pub(super) live: Option<Digest>,
    pub(super) info: Option<&'a MemoryInfo>,
}

/// Every path of a store, with its three values.
pub(super) fn paths<'a>(item: &'a Item<'_>, body: &'a LiveBody) -> Vec<Path<'a>> {
    let infos: BTreeMap<&str, &MemoryInfo> = body.memories.iter().map(|m| (m.path.as_str(), m)).collect();
    let live = live(body);
    let applied = digests(&body.applied.spec);
    let wanted = &item.wanted.memories;
    let all: BTreeSet<&str> =
        wanted.keys().map(String::as_str).chain(applied.keys().copied()).chain(live.keys().copied()).collect();
    let path = |at: &'a str| Path {
        at,
        wanted: wanted.get(at).map(|w| w.sha256),
        applied: applied.get(at).copied(),
        live: live.get(at).copied(),
        info: infos.get(at).copied(),
    };
    all.into_iter().map(path).collect()
}

/// Compares. `None`: the kind has no memories.
/// `taken` is the side that an `accept:` line takes.
pub(super) fn compare(item: &Item<'_>, taken: Option<Take>, me: &Owner) -> Option<Memories> {
    item.def.field("contents")?;
    let body = item.body()?;
    let paths = paths(item, body);
    let infos: BTreeMap<&str, &MemoryInfo> = paths.iter().filter_map(|p| Some((p.at, p.info?))).collect();
    let live: BTreeMap<&str, Digest> = paths.iter().filter_map(|p| Some((p.at, p.live?))).collect();
    let mut out = Memories { live: live.len(), ..Memories::default() };
    for p in &paths {
        decide(item, &body.applied.spec, (p, taken), &mut out);
    }
    for path in out.puts.iter().chain(&out.deletes) {
        out.expect.insert(path.clone(), live.get(path.as_str()).copied());
    }
    let before = body.applied.spec.get("contents").and_then(Value::as_object).cloned().unwrap_or_default();
    out.settled.clone_from(&out.recorded);
    for path in out.expect.keys() {
        match before.get(path) {
            Some(had) => drop(out.settled.insert(path.clone(), had.clone())),
            None => drop(out.settled.remove(path)),
        }
    }
    out.settle = out.settled != before;
    out.files = file_changes(item, &out, &live, &infos, me);
    Some(out)
}

/// What is recorded and written where nothing is live yet: all that has a file and is neither observed nor ignored.
pub(super) fn initial(item: &Item<'_>, me: &Owner) -> Memories {
    let mut out = Memories::default();
    if item.def.field("contents").is_none() {
        return out;
    }
    for (path, file) in &item.wanted.memories {
        if item.lost.contains(path) || matches!(mode_of(item, path), Some(Mode::Observe | Mode::Ignore)) {
            continue;
        }
        out.puts.push(path.clone());
        out.expect.insert(path.clone(), None);
        out.recorded.insert(path.clone(), Value::String(file.sha256.to_string()));
    }
    out.files = file_changes(item, &out, &BTreeMap::new(), &BTreeMap::new(), me);
    out
}

fn decide(item: &Item<'_>, applied_spec: &Value, (p, taken): (&Path<'_>, Option<Take>), out: &mut Memories) {
    if item.lost.contains(p.at) {
        return record(p.at, p.applied, out);
    }
    match mode_of(item, p.at) {
        Some(Mode::Enforce) => enforce(p, out),
        Some(Mode::Upkeep) => upkeep(p, taken, out),
        Some(Mode::Seed) => seed(p, out),
        Some(Mode::Observe) => out.keep(p, p.live.is_some()),
        Some(Mode::Ignore) => record(p.at, p.applied, out),
        // No prefix holds it any more. What was only seeded or observed is left; the rest is as in upkeep.
        None => match mode_at(applied_spec, p.at) {
            Some(Mode::Seed | Mode::Observe) => out.keep(p, p.live.is_some()),
            _ => upkeep(p, taken, out),
        },
    }
}

fn record(path: &str, digest: Option<Digest>, out: &mut Memories) {
    if let Some(digest) = digest {
        out.recorded.insert(path.to_owned(), Value::String(digest.to_string()));
    }
}

/// Exactly these files, whoever moved what.
fn enforce(p: &Path<'_>, out: &mut Memories) {
    record(p.at, p.wanted, out);
    match p.wanted {
        Some(_) if p.live != p.wanted => out.puts.push(p.at.to_owned()),
        None if p.live.is_some() => out.deletes.push(p.at.to_owned()),
        _ => {}
    }
}

/// Update what only we changed; keep and report what others changed, unless a line took the file where both did.
fn upkeep(p: &Path<'_>, taken: Option<Take>, out: &mut Memories) {
    if p.live == p.wanted {
        return record(p.at, p.wanted, out);
    }
    let ours = p.live == p.applied;
    // The digest that such a line names covers what was applied, and no other memory.
    let both = p.applied.is_some() && p.wanted != p.applied;
    let decided = both && taken == Some(Take::File);
    out.decided |= decided && !ours;
    if !ours && !decided {
        if p.wanted != p.applied {
            out.both.push(p.at.to_owned());
        }
        out.keep(p, true);
        return record(p.at, p.applied, out);
    }
    record(p.at, p.wanted, out);
    if p.wanted.is_some() {
        return out.puts.push(p.at.to_owned());
    }
    if p.info.is_some_and(|i| i.updated_by_kind == ActorKind::Session) {
        out.by_session.push(p.at.to_owned());
    }
    out.deletes.push(p.at.to_owned());
}

/// Each path once: when it is absent and was never applied.
fn seed(p: &Path<'_>, out: &mut Memories) {
    match (p.wanted, p.applied, p.live) {
        (Some(_), None, None) => {
            record(p.at, p.wanted, out);
            out.puts.push(p.at.to_owned());
        }
        (Some(wanted), None, Some(live)) if wanted == live => record(p.at, p.wanted, out),
        // The file names it no more: it is let go of, as where its prefix went.
        (None, ..) => out.keep(p, p.live.is_some()),
        _ => {
            out.keep(p, p.live.is_some() && p.live != p.applied);
            record(p.at, p.applied, out);
        }
    }
}

/// Adds, changes, removals, and moves of equal content.
fn file_changes(
    item: &Item<'_>,
    of: &Memories,
    live: &BTreeMap<&str, Digest>,
    infos: &BTreeMap<&str, &MemoryInfo>,
    me: &Owner,
) -> Vec<FileChange> {
    let writer = |path: &str| {
        let info = infos.get(path)?;
        (info.updated_by_owner.as_ref() != Some(me)).then(|| info.updated_by.clone())
    };
    let mut gone: BTreeMap<Digest, Vec<&String>> = BTreeMap::new();
    for path in of.deletes.iter().rev() {
        if let Some(digest) = live.get(path.as_str()) {
            gone.entry(*digest).or_default().push(path);
        }
    }
    let mut moved = BTreeSet::new();
    let mut out = Vec::new();
    for path in &of.puts {
        let Some(file) = item.wanted.memories.get(path) else { continue };
        let before = live.get(path.as_str()).copied();
        let from = if before.is_none() { gone.get_mut(&file.sha256).and_then(Vec::pop) } else { None };
        moved.extend(from);
        out.push(FileChange {
            path: path.clone(),
            change: match (before, from) {
                (Some(_), _) => FileVerb::Modify,
                (None, Some(_)) => FileVerb::Rename,
                (None, None) => FileVerb::Add,
            },
            from: from.cloned(),
            size: Some(file.size),
            before: before.or_else(|| from.map(|_| file.sha256)),
            after: Some(file.sha256),
            writer: writer(path),
        });
    }
    for path in of.deletes.iter().filter(|p| !moved.contains(p)) {
        out.push(FileChange {
            path: path.clone(),
            change: FileVerb::Remove,
            from: None,
            size: None,
            before: live.get(path.as_str()).copied(),
            after: None,
            writer: writer(path),
        });
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}
