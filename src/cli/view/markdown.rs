//! A plan as Markdown for a pull request, in at most 60,000 bytes. It is never cut: the head holds every number,
//! then come as many rows as fit, retirements first, and what is left out is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::cli::view::diff::{Line, Mark};
use crate::cli::view::findings::{self, Group, effect_word, groups};
use crate::cli::view::markup::{BUDGET, code, fence, indent, prose};
use crate::cli::view::text::{bytes, clip, count, line, visible};
use crate::cli::view::values::{self, Shown};
use crate::cli::view::{create, words};
use crate::plan::{Action, Effect, FieldChange, Held, Plan, Step, Verb};

/// Most bytes of one row's details; a longer one says how much is left out.
pub(super) const DETAIL: usize = 6_000;
/// Kept free for the closing tags and the line that counts what is left out.
const TAIL: usize = 600;

/// The whole plan, or all of its numbers and as many rows as fit.
pub fn plan(plan: &Plan) -> String {
    let mut out = String::new();
    head(plan, &mut out);
    let mut left = Left::default();
    findings(plan, &mut out, &mut left);
    let (retired, others): (Vec<&Action>, Vec<&Action>) = sorted(plan).into_iter().partition(|a| words::retires(a));
    let mut details = room_for_details(plan, out.len());
    rows("Retirements", &retired, &mut out, &mut left, &mut details);
    rows("Changes", &others, &mut out, &mut left, &mut details);
    held(plan, &mut out, &mut left);
    kept(plan, &mut out, &mut left);
    left.tell(&mut out);
    out
}

/// What did not fit.
#[derive(Default)]
struct Left {
    findings: usize,
    held: usize,
    kept: usize,
    details: usize,
    actions: BTreeMap<Verb, usize>,
}

impl Left {
    fn tell(&self, out: &mut String) {
        let mut parts: Vec<String> = self.actions.iter().map(|(verb, n)| format!("{n} {}", verb.as_str())).collect();
        if self.findings > 0 {
            parts.push(count(self.findings, "finding"));
        }
        if self.details > 0 {
            parts.push(format!("what changes in {}", count(self.details, "resource")));
        }
        if self.held > 0 {
            parts.push(format!("{} held", self.held));
        }
        if self.kept > 0 {
            parts.push(format!("{} kept", count(self.kept, "memory")));
        }
        if !parts.is_empty() {
            let _ = writeln!(out, "\n**Not shown here:** {}. The whole plan is in the plan file.", parts.join(", "));
        }
    }
}

fn sorted(plan: &Plan) -> Vec<&Action> {
    let mut actions: Vec<&Action> = plan.actions.iter().collect();
    // Those on one resource stay in the order in which they are done.
    actions.sort_by(|a, b| a.address.cmp(&b.address));
    actions
}

/// Titles, numbers, codes, digest: a few thousand bytes, whatever the plan.
fn head(plan: &Plan, out: &mut String) {
    let title = if plan.actions.is_empty() { "nothing to do".to_owned() } else { words::totals_line(plan) };
    let _ = writeln!(out, "### checkfu: {title}\n");
    let origin = &plan.origin;
    let target = format!("{} ({} {})", origin.target, origin.kind, origin.at);
    let _ = writeln!(out, "Owner {}, target {}.", code(plan.owner.as_str()), code(&clip(&target, 300)));
    if !plan.scope.is_empty() {
        let _ = writeln!(out, "Only a part: {}.", code(&clip(&plan.scope.join(", "), 300)));
    }
    if !plan.applyable {
        let _ = writeln!(out, "\n**This plan cannot be applied.**");
    }
    table(plan, out);
    let retired = plan.actions.iter().filter(|a| words::retires(a)).count();
    let forever = plan.actions.iter().filter(|a| words::irreversible(a)).count();
    let notes = &plan.notes;
    let _ = writeln!(
        out,
        "\n{}, **{forever} that cannot be undone**, {} held, {} blocked, {} unchanged.",
        count(retired, "retirement"),
        plan.held.len(),
        notes.blocked.len(),
        notes.unchanged,
    );
    let mut codes: BTreeMap<(Effect, &str), usize> = BTreeMap::new();
    for finding in &plan.findings {
        *codes.entry((finding.effect, &finding.code)).or_default() += 1;
    }
    if !codes.is_empty() {
        let codes: Vec<String> =
            codes.iter().map(|((e, c), n)| format!("{} ({}, {n})", code(&clip(c, 80)), effect_word(*e))).collect();
        let _ = writeln!(out, "\nFindings: {}.", codes.join(", "));
    }
    let whole = if words::is_diff(plan) {
        "`checkfu diff` shows all of it"
    } else {
        "the whole plan is in the plan file (`checkfu plan -o FILE`, `checkfu show FILE`)"
    };
    let _ = writeln!(out, "\nDigest {}; {whole}.", code(&plan.digest.to_string()));
}

fn table(plan: &Plan, out: &mut String) {
    if plan.actions.is_empty() {
        return;
    }
    let verbs: Vec<Verb> = words::totals(plan).into_iter().map(|(v, _)| v).collect();
    let cells: Vec<&str> = verbs.iter().map(|v| v.as_str()).collect();
    let _ = writeln!(out, "\n| kind | {} |\n|---|{}", cells.join(" | "), "---:|".repeat(verbs.len()));
    for (kind, counts) in words::totals_by_kind(plan) {
        let cells: Vec<String> =
            verbs.iter().map(|v| counts.get(v).map(usize::to_string).unwrap_or_default()).collect();
        let _ = writeln!(out, "| {} | {} |", kind.map_or("owner", crate::model::Kind::as_str), cells.join(" | "));
    }
}

/// A folded section that grows row by row. `false`: the row did not fit.
pub(super) struct Section<'a> {
    pub(super) out: &'a mut String,
    pub(super) title: &'a str,
    pub(super) open: bool,
}

impl Section<'_> {
    fn opening(&self) -> String {
        if self.open { String::new() } else { format!("\n<details><summary>{}</summary>\n\n", self.title) }
    }

    fn fits(&self, row: &str) -> bool {
        self.out.len() + self.opening().len() + row.len() + TAIL <= BUDGET
    }

    pub(super) fn push(&mut self, row: &str) -> bool {
        if !self.fits(row) {
            return false;
        }
        if !self.open {
            self.out.push_str(&self.opening());
            self.open = true;
        }
        self.out.push_str(row);
        true
    }

    pub(super) fn close(self) {
        if self.open {
            self.out.push_str("\n</details>\n");
        }
    }
}

/// What refuses is always told with its fix, the first of each code; the others have a third of the room, so that
/// rows of what retires have theirs.
fn findings(plan: &Plan, out: &mut String, left: &mut Left) {
    let most = out.len() + BUDGET / 3;
    let mut codes = BTreeSet::new();
    let (first, others): (Vec<Group<'_>>, Vec<Group<'_>>) = groups(&plan.findings)
        .into_iter()
        .partition(|g| g.first().effect != Effect::Note && codes.insert(g.first().code.clone()));
    let mut section = Section { out, title: "Findings", open: false };
    for group in first {
        left.findings += if section.push(&findings::row(&group)) { 0 } else { group.findings.len() };
    }
    for group in others {
        let row = findings::row(&group);
        let shown = section.out.len() + row.len() <= most && section.push(&row);
        left.findings += if shown { 0 } else { group.findings.len() };
    }
    section.close();
}

fn held(plan: &Plan, out: &mut String, left: &mut Left) {
    let mut held: Vec<&Held> = plan.held.iter().collect();
    held.sort_by(|a, b| (&a.address, &a.field).cmp(&(&b.address, &b.field)));
    let mut section = Section { out, title: "Live is not as the files say, and stays so", open: false };
    for item in held {
        let word = if item.conflict { "**conflict**" } else { "held" };
        let what = item.field.as_deref().map_or(" is gone".to_owned(), |f| format!(" {}", code(f)));
        let who = item.actor.as_deref().map_or("an unknown actor".to_owned(), code);
        let when = item.when.as_deref().map(|w| format!(" at {}", code(w))).unwrap_or_default();
        let glass = item.break_glass.as_deref().map(|r| format!(", break-glass: {}", prose(r))).unwrap_or_default();
        let accepted =
            item.accepted.as_deref().map(|r| format!("; `accept:` took it: {}", prose(r))).unwrap_or_default();
        let (why, before) = if item.owned_again || item.rolled_back {
            (format!(": {}", words::why_not_moved(item)), &item.wanted)
        } else {
            (format!(" by {who}{when}{glass}{accepted}"), &item.applied)
        };
        let mut row = format!("- {word} {}{what}{why}\n", code(&item.address.to_string()));
        if item.field.is_some() {
            let mut diff = String::new();
            if item.files.is_empty() {
                shown(&mut diff, values::two(before.as_ref(), item.live.as_ref()));
            }
            for file in &item.files {
                let sign = values::file_sign(file.change).replace(['~', '»'], "!");
                let _ = writeln!(diff, "{sign} {}", values::file(file));
            }
            row.push_str(&indent(&fence("diff", &clip(&diff, DETAIL))));
        }
        left.held += usize::from(!section.push(&row));
    }
    section.close();
}

fn kept(plan: &Plan, out: &mut String, left: &mut Left) {
    let mut section = Section { out, title: "Memories that stay, not as the files say", open: false };
    for (address, memories) in &plan.notes.kept {
        let all = plan.notes.kept_memories.get(address).copied().unwrap_or_default() as usize;
        let store = code(&address.to_string());
        for memory in memories {
            let when = memory.when.as_deref().map(|w| format!(" at {}", code(w))).unwrap_or_default();
            let who =
                memory.writer.as_deref().map_or("deleted by another".to_owned(), |w| format!("by {}{when}", code(w)));
            let row = format!("- {store} {} {who}\n", code(&memory.path));
            left.kept += usize::from(!section.push(&row));
        }
        // The plan names no more of them.
        if all > memories.len() {
            section.push(&format!("- {store} and {} more\n", all - memories.len()));
        }
    }
    section.close();
}

/// Bytes for what changes in a resource: what the rows of all resources leave, at least a third.
fn room_for_details(plan: &Plan, used: usize) -> usize {
    let space = BUDGET.saturating_sub(used + TAIL);
    let rows: usize = plan.actions.iter().map(|a| row(a).len()).sum();
    space.saturating_sub(rows).max(space / 3)
}

/// Rows with their details, without them where they do not fit, counted where even that does not fit.
fn rows(title: &str, actions: &[&Action], out: &mut String, left: &mut Left, room: &mut usize) {
    let mut section = Section { out, title, open: false };
    for action in actions {
        let row = row(action);
        if !section.fits(&row) {
            *left.actions.entry(action.verb).or_default() += 1;
            continue;
        }
        let details = details(action);
        if details.len() <= *room && section.push(&format!("{row}{details}")) {
            *room -= details.len();
        } else {
            // The first that does not fit ends the details: an order that can be followed.
            *room = 0;
            left.details += usize::from(!details.is_empty());
            section.push(&row);
        }
    }
    section.close();
}

fn row(action: &Action) -> String {
    let at = action.about.at.as_deref().map(|at| format!(" at {}", code(&clip(at, 300)))).unwrap_or_default();
    let forever = if words::irreversible(action) { ", **cannot be undone**" } else { "" };
    let why =
        if words::moves(action) { format!(": {}", prose(&clip(&action.about.reason, 300))) } else { String::new() };
    format!("- {} {}{at}{forever}{why}\n", action.verb.as_str(), code(&words::subject(action)))
}

/// The changes as one fenced diff.
fn details(action: &Action) -> String {
    let mut body = String::new();
    if let Step::Create { spec, replaces: None, .. } = &action.step {
        for field in create::fields(spec, &["name", "model", "description"]) {
            let _ = writeln!(body, "+ {field}");
        }
    }
    for change in &action.about.changes {
        let _ = writeln!(body, "@@ {} @@", line(values::path(change)));
        shown(&mut body, values::change(change));
    }
    for file in &action.about.files {
        let _ = writeln!(body, "{} {}", values::file_sign(file.change).replace(['~', '»'], "!"), values::file(file));
    }
    for remark in words::remarks(action).iter().filter(|r| *r != "cannot be undone") {
        let _ = writeln!(body, "# {remark}");
    }
    if body.is_empty() {
        return String::new();
    }
    cut(&mut body, "the plan file");
    indent(&fence("diff", &body))
}

/// Leaves out the lines that are too many, and says where they are.
pub(super) fn cut(body: &mut String, elsewhere: &str) {
    if body.len() > DETAIL {
        let keep = body[..floor(body, DETAIL)].rfind('\n').map_or(0, |i| i + 1);
        let rest = bytes((body.len() - keep) as u64);
        body.truncate(keep);
        let _ = writeln!(body, "# {rest} more of this change in {elsewhere}");
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A change as lines of a fenced diff.
pub(super) fn shown(body: &mut String, shown: Shown) {
    match shown {
        Shown::Short { before, after } => {
            let _ = writeln!(body, "- {before}\n+ {after}");
        }
        Shown::Long(lines) => {
            for line in &lines {
                let _ = writeln!(body, "{}", diff_line(line));
            }
        }
    }
}

/// A field that an action changed.
pub(super) fn change(action: &str, change: &FieldChange) -> String {
    let mut diff = String::new();
    shown(&mut diff, values::change(change));
    let row = format!("- {} {}\n", code(action), code(values::path(change)));
    row + &indent(&fence("diff", &clip(&diff, DETAIL)))
}

fn diff_line(shown: &Line) -> String {
    let parts: String = shown
        .parts
        .iter()
        .map(|p| {
            let text = visible(&p.text, false);
            match (shown.mark, p.mark) {
                (Mark::Changed, Mark::Removed) => format!("[-{text}-]"),
                (Mark::Changed, Mark::Added) => format!("{{+{text}+}}"),
                _ => text,
            }
        })
        .collect();
    match shown.mark {
        Mark::Gap => "  ⋯".to_owned(),
        Mark::Same => format!("  {parts}"),
        Mark::Removed => format!("- {parts}"),
        Mark::Added => format!("+ {parts}"),
        Mark::Changed => format!("! {parts}"),
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
