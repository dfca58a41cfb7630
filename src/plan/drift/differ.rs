//! One resource: which of its fields and memories are not three times the same, and why.

use serde_json::{Value, json};

use crate::desired::Desired;
use crate::diag::codes::plan as codes;
use crate::live::LiveBody;
use crate::model::Digest;
use crate::model::op::{Moved, Summary};
use crate::plan::compare::{self, FieldDelta, Outcome, Rule};
use crate::plan::drift::{Difference, DriftCause, Drifted, Move};
use crate::plan::item::Item;
use crate::plan::memory::{self, Mode};
use crate::plan::standing::SourceRelation;
use crate::plan::{Effect, Gathered, changes, deep, hold, places};

/// Why the files say something else than what was applied.
fn pending(relation: SourceRelation) -> DriftCause {
    match relation {
        SourceRelation::Older => DriftCause::OlderCheckout,
        SourceRelation::OtherRepository => DriftCause::OtherRepository,
        SourceRelation::Same | SourceRelation::Newer | SourceRelation::Stranger | SourceRelation::Unknown => {
            DriftCause::NotApplied
        }
    }
}

fn difference(cause: DriftCause) -> Difference {
    Difference {
        field: None,
        cause,
        conflict: false,
        in_files: false,
        wanted: None,
        applied: None,
        live: None,
        changes: Vec::new(),
        files: Vec::new(),
        actor: None,
        when: None,
        break_glass: None,
        at: None,
    }
}

impl Difference {
    /// Who moved it, and whether that was break-glass.
    fn by(&mut self, moved: &Moved) {
        self.actor = Some(moved.actor.clone());
        self.when = Some(moved.at.clone());
        self.break_glass.clone_from(&moved.break_glass);
        if moved.break_glass.is_some() && self.cause == DriftCause::ChangedOutside {
            self.cause = DriftCause::BreakGlass;
        }
    }
}

/// A resource that the files declare; `None`: it is as applied and as wanted.
pub(super) fn item(
    item: &Item<'_>,
    relation: SourceRelation,
    desired: &Desired,
    out: &mut Gathered,
) -> Option<Drifted> {
    let case = Case { item, pending: pending(relation), declared: true };
    let differences = case.differences(desired, out);
    (!differences.is_empty()).then(|| case.drifted(differences))
}

/// A live resource that the files declare no more, held against what was applied.
pub(super) fn undeclared(item: &Item<'_>, relation: SourceRelation, desired: &Desired, out: &mut Gathered) -> Drifted {
    let case = Case { item, pending: pending(relation), declared: false };
    let mut differences = case.differences(desired, out);
    if !item.is_gone() {
        differences.insert(0, difference(case.pending));
    }
    case.drifted(differences)
}

/// Do the digests tell that it is three times the same?
pub(super) fn is_equal(item: &Item<'_>) -> bool {
    let digest = Some(item.digest);
    let equal = |s: &Summary| s.live_digest == digest && s.applied_digest == digest;
    item.comes.is_none() && item.live.is_some_and(|l| equal(&l.summary)) && !item.wanted.has_seeds()
}

struct Case<'a> {
    item: &'a Item<'a>,
    pending: DriftCause,
    declared: bool,
}

impl Case<'_> {
    fn drifted(&self, differences: Vec<Difference>) -> Drifted {
        Drifted {
            address: self.item.address().clone(),
            id: self.item.live.map(|l| l.summary.id.clone()),
            declared: self.declared,
            live: self.item.live.is_some() && !self.item.is_gone(),
            differences,
        }
    }

    fn differences(&self, desired: &Desired, out: &mut Gathered) -> Vec<Difference> {
        let item = self.item;
        let Some(live) = item.live else {
            // What is barred was told.
            return if item.broken {
                Vec::new()
            } else {
                vec![Difference { at: self.at(""), ..difference(self.pending) }]
            };
        };
        if item.is_gone() {
            let mut gone = Difference { at: self.at(""), ..difference(DriftCause::DeletedOutside) };
            if let Some(by) = &live.summary.gone {
                gone.by(by);
            }
            // The files changed too: whether it is to be made anew has to be decided.
            let changed = live.summary.applied_digest.is_some_and(|applied| applied != item.digest);
            gone.conflict = self.declared && changed && self.pending == DriftCause::NotApplied;
            return vec![gone];
        }
        let mut found = Vec::new();
        let equal = is_equal(item);
        match &live.body {
            // What cannot be read of it was told.
            _ if item.broken => {}
            Some(body) if !equal => self.compared(body, desired, &mut found, out),
            None if !equal => {
                let address = item.address();
                let message = format!("{address} differs from its live resource, which was not read");
                out.find(&codes::NOT_READ, Effect::Error, Some(address), message).at(item.wanted);
            }
            _ => {}
        }
        if item.wanted.protected != live.summary.protected {
            found.push(Difference {
                field: Some("protected".to_owned()),
                wanted: Some(json!(item.wanted.protected)),
                applied: Some(json!(live.summary.protected)),
                live: Some(json!(live.summary.protected)),
                at: self.at(""),
                ..difference(self.pending)
            });
        }
        found
    }

    fn at(&self, path: &str) -> Option<String> {
        self.declared.then(|| places::of(self.item.wanted, path))
    }

    fn compared(&self, body: &LiveBody, desired: &Desired, found: &mut Vec<Difference>, out: &mut Gathered) {
        let taken = compare::decision(self.item, &desired.accept).map(|line| line.take);
        let rule = Rule { reverts: false, asked: false, taken };
        let delta = compare::compared(self.item, body, &rule, &desired.owner);
        found.extend(delta.fields.iter().map(|f| self.field(f, body)));
        if let Some(memories) = &delta.memories {
            memories.tell(self.item, &mut out.notes);
            found.extend(memory::paths(self.item, body).iter().filter_map(|p| self.memory(p, body)));
        }
        if found.is_empty() && (delta.unowned_moved || self.item.comes.is_some()) {
            // Only its address, its owner, or how fields are owned is another.
            found.push(Difference { at: self.at(""), ..difference(self.pending) });
        }
    }

    fn field(&self, f: &FieldDelta<'_>, body: &LiveBody) -> Difference {
        let mut out = Difference {
            field: Some(f.path.clone()),
            wanted: f.wanted.cloned(),
            applied: f.applied.filter(|_| !f.again).cloned(),
            live: f.live.cloned(),
            at: self.at(&f.path),
            ..difference(self.pending)
        };
        if f.again {
            out.cause = DriftCause::OwnedAgain;
            return out;
        }
        // The files say no more of a field that the server chooses: what is live there is nobody's.
        let let_go = f.outcome == Outcome::Settle && f.wanted != f.live;
        if f.applied == f.live || let_go {
            return out;
        }
        out.cause = DriftCause::ChangedOutside;
        out.in_files = f.wanted == f.live;
        out.conflict = f.outcome == Outcome::Conflict && self.pending == DriftCause::NotApplied;
        if let Some(by) = hold::blame(&body.moved, &f.path) {
            out.by(by);
        }
        let mut moved = Vec::new();
        deep::differences(&f.path, f.applied, f.live, &mut moved);
        let one =
            |(path, before, after): deep::Difference<'_>| Move { path, before: before.cloned(), after: after.cloned() };
        out.changes = moved.into_iter().map(one).collect();
        out.files = changes::moved(self.item, f, body);
        if self.declared {
            out.at = Some(places::of_change(self.item.wanted, &f.path, f.live, f.wanted));
        }
        out
    }

    /// A memory; `None`: it is as it should be, or what others write there is no drift.
    fn memory(&self, p: &memory::Path<'_>, body: &LiveBody) -> Option<Difference> {
        let value = |digest: Option<Digest>| digest.map(|d| Value::String(d.to_string()));
        let path = format!("contents.{}", p.at);
        let mut out = Difference {
            field: Some(path.clone()),
            wanted: value(p.wanted),
            applied: value(p.applied),
            live: value(p.live),
            at: self.declared.then(|| self.item.wanted.memories.get(p.at).map(|m| m.file.clone())).flatten(),
            ..difference(self.pending)
        };
        let mode = memory::mode_of(self.item, p.at);
        let moved = p.live != p.applied;
        if mode == Some(Mode::Enforce) && moved {
            out.cause = if p.live.is_none() { DriftCause::DeletedOutside } else { DriftCause::ChangedOutside };
            out.in_files = p.wanted == p.live;
            let by = body.moved.iter().rev().find(|m| m.fields.contains(&path));
            if let Some(by) = by {
                out.by(by);
            }
            if let Some(info) = p.info {
                out.actor = Some(info.updated_by.clone());
                out.when = Some(info.updated_at.clone());
            }
            return Some(out);
        }
        let first = p.applied.is_none() && p.live.is_none() && p.wanted.is_some();
        let changed = match mode {
            Some(Mode::Enforce) => p.wanted != p.applied,
            Some(Mode::Upkeep) | None => !moved && p.wanted != p.applied,
            Some(Mode::Seed) => first,
            Some(Mode::Observe | Mode::Ignore) => false,
        };
        changed.then_some(out)
    }
}
