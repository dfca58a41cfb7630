//! Lists beside the actions: what moved live and stays, memories that stay, findings with their fix, what is only
//! recorded. Each has its share of the room; what does not fit is counted.

use std::collections::BTreeSet;

use crate::cli::view::fenced::{self, Extent, Hunk, block, of_shown, rows};
use crate::cli::view::findings::{self, Group, groups};
use crate::cli::view::markup::{code, indent, prose};
use crate::cli::view::pull_request::View;
use crate::cli::view::section::Section;
use crate::cli::view::text::{clip, count};
use crate::cli::view::{values, words};
use crate::plan::{Effect, Held, Plan};

/// Most lines of the diff of something held.
const LINES: usize = 24;

/// What moved live and stays. Returns how many are left out.
pub(super) fn held(view: &View<'_>, most: usize, out: &mut String) -> usize {
    let plan = view.comment.plan;
    let mut held: Vec<&Held> = plan.held.iter().collect();
    held.sort_by(|a, b| (!a.conflict, &a.address, &a.field).cmp(&(!b.conflict, &b.address, &b.field)));
    let mut section = Section::folded(out, "Live is not as the files say, and stays so", most);
    let left = held.iter().filter(|item| !section.push(&held_one(item, view))).count();
    section.close();
    left
}

fn held_one(item: &Held, view: &View<'_>) -> String {
    let word = if item.conflict { "**conflict**" } else { "held" };
    let what = item.field.as_deref().map_or(" is gone".to_owned(), |f| format!(" {}", code(&clip(f, 200))));
    let who = item.actor.as_deref().map_or("an unknown actor".to_owned(), |a| code(&clip(a, 200)));
    let when = item.when.as_deref().map(|w| format!(" at {}", code(w))).unwrap_or_default();
    let reason = |r: &str| prose(&clip(r, 300));
    let glass = item.break_glass.as_deref().map(|r| format!(", break-glass: {}", reason(r))).unwrap_or_default();
    let accepted = item.accepted.as_deref().map(|r| format!("; `accept:` took it: {}", reason(r))).unwrap_or_default();
    let (why, before) = if item.owned_again || item.rolled_back {
        (format!(": {}", words::why_not_moved(item)), &item.wanted)
    } else {
        (format!(" by {who}{when}{glass}{accepted}"), &item.applied)
    };
    let mut row = format!("- {word} {}{what}{why}\n", code(&item.address.to_string()));
    if item.field.is_some() {
        let mut hunks = Vec::new();
        if item.files.is_empty() {
            hunks.extend(of_shown("", &values::two(before.as_ref(), item.live.as_ref())));
        }
        hunks.extend(item.files.iter().map(|f| Hunk::bare(rows(fenced::of_file(f.change), &values::file(f)))));
        let most = if view.is_whole() { usize::MAX } else { LINES };
        row.push_str(&indent(&block(&hunks, Extent { context: true, most, elsewhere: &view.elsewhere }).text));
    }
    row
}

/// Memories that are not of the files, and stay. Returns how many are left out.
pub(super) fn kept(plan: &Plan, most: usize, out: &mut String) -> usize {
    let mut section = Section::folded(out, "Memories that stay, not as the files say", most);
    let mut left = 0;
    for (address, memories) in &plan.notes.kept {
        let all = plan.notes.kept_memories.get(address).copied().unwrap_or_default() as usize;
        let store = code(&address.to_string());
        for memory in memories {
            let when = memory.when.as_deref().map(|w| format!(" at {}", code(w))).unwrap_or_default();
            let who =
                memory.writer.as_deref().map_or("deleted by another".to_owned(), |w| format!("by {}{when}", code(w)));
            left += usize::from(!section.push(&format!("- {store} {} {who}\n", code(&memory.path))));
        }
        // The plan names no more of them.
        if all > memories.len() {
            section.push(&format!("- {store} and {} more\n", all - memories.len()));
        }
    }
    section.close();
    left
}

/// What refuses or leaves out, with its fix: the first of each code, then the others. Returns how many are left out.
pub(super) fn errors(view: &View<'_>, most: usize, out: &mut String) -> usize {
    let plan = view.comment.plan;
    let mut codes = BTreeSet::new();
    let grave = groups(&plan.findings).into_iter().filter(|g| g.first().effect != Effect::Note);
    let (first, others): (Vec<Group<'_>>, Vec<Group<'_>>) = grave.partition(|g| codes.insert(g.first().code.clone()));
    list(Section::headed(out, "Findings", most), first.into_iter().chain(others), view)
}

/// What is only told. Returns how many are left out.
pub(super) fn notes(view: &View<'_>, most: usize, out: &mut String) -> usize {
    let notes = groups(&view.comment.plan.findings).into_iter().filter(|g| g.first().effect == Effect::Note);
    list(Section::folded(out, "Notes", most), notes, view)
}

fn list<'a>(mut section: Section<'_>, groups: impl Iterator<Item = Group<'a>>, view: &View<'_>) -> usize {
    let block = if view.is_whole() { usize::MAX } else { findings::BLOCK };
    let left = groups.map(|g| if section.push(&findings::row(&g, block)) { 0 } else { g.findings.len() }).sum();
    section.close();
    left
}

/// Where file and live agree, and how many of everything else there are, in a line.
pub(super) fn counts(plan: &Plan) -> String {
    let notes = &plan.notes;
    let mut parts = vec![format!("{} unchanged", notes.unchanged)];
    let kept: u32 = notes.kept_memories.values().sum();
    let of = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}"));
    parts.extend(of(plan.held.len(), "held"));
    parts.extend(of(notes.blocked.len(), "blocked"));
    parts.extend((notes.ignored > 0).then(|| format!("{} not owned", count(notes.ignored as usize, "field"))));
    parts.extend((kept > 0).then(|| format!("{} kept", count(kept as usize, "memory"))));
    let mut names: Vec<String> = plan.actions.iter().filter(|a| words::settles(a)).map(words::subject).collect();
    names.sort();
    let settled = (!names.is_empty())
        .then(|| format!(" To settle, where file and live agree: {}.", code(&clip(&words::some_of(&names), 600))));
    format!("\n{}.{}\n", parts.join(", "), settled.unwrap_or_default())
}
