//! A plan as text for people: what changes, sorted by address; what is held; findings; totals last.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;

use crate::cli::view::diff::{self, Line, Mark, Part};
use crate::cli::view::text::{clip, count, line, pad, visible};
use crate::cli::view::values::{self, Shown};
use crate::cli::view::{create, findings, style, words};
use crate::diag::bounded;
use crate::model::{Address, Digest};
use crate::plan::{Action, Cause, FileChange, FileVerb, Held, KeptMemory, Plan, Step, Verb};

/// What the view needs to know beside the plan.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Everything in full.
    pub verbose: bool,
    /// What stands before the findings; empty, or whole lines.
    pub unchanged: &'a str,
    /// Texts of files that are held, by digest, as far as they are at hand.
    pub texts: Option<&'a Texts>,
}

/// Texts by digest.
pub type Texts = BTreeMap<Digest, String>;

/// Lines of one field that are shown before the rest is only counted.
const FIELD_LINES: usize = 120;
/// Characters of one piece of a line that are shown before the rest is left out.
const PART_CHARS: usize = 2_000;
/// Files of one resource that are listed before the rest is only counted.
const FILES: usize = 40;

/// Actions whose text is held at once: enough for all cores, little beside the plan itself.
const AT_ONCE: usize = 256;

/// The whole plan. Ends with a line feed.
#[cfg(test)]
pub fn plan(plan: &Plan, options: Options<'_>) -> String {
    let mut out = String::new();
    write(plan, options, &mut |text| out.push_str(text));
    out
}

/// The whole plan, piece by piece, each of whole lines: the text of a large plan is longer than the plan.
pub fn write(plan: &Plan, options: Options<'_>, sink: &mut dyn FnMut(&str)) {
    let mut out = String::new();
    header(plan, &mut out);
    let mut actions: Vec<&Action> = plan.actions.iter().filter(|a| !words::settles(a)).collect();
    // Those on one resource stay in the order in which they are done.
    actions.sort_by(|a, b| a.address.cmp(&b.address));
    let verb_width = actions.iter().map(|a| a.verb.as_str().len()).max().unwrap_or(0);
    let name_width = actions.iter().map(|a| words::subject(a).len()).max().unwrap_or(0).min(44);
    let shown = |action: &&Action| {
        let mut out = String::new();
        self::action(action, verb_width, name_width, options, &mut out);
        out
    };
    for some in actions.chunks(AT_ONCE) {
        out.extend(some.par_iter().map(shown).collect::<Vec<String>>());
        sink(&out);
        out.clear();
    }
    if !actions.is_empty() {
        out.push('\n');
    }
    held(plan, options, &mut out);
    kept(plan, &mut out);
    settle(plan, options, &mut out);
    out.push_str(options.unchanged);
    findings::human(&plan.findings, options.verbose, &mut out);
    totals(plan, &mut out);
    sink(&out);
}

fn header(plan: &Plan, out: &mut String) {
    let origin = &plan.origin;
    let _ = writeln!(
        out,
        "{} {} {} {}",
        style::strong(&plan.owner),
        style::faint("→"),
        style::strong(line(&origin.target)),
        style::faint(format!("({} {})", origin.kind, line(&origin.at)))
    );
    if !plan.scope.is_empty() {
        let _ = writeln!(out, "{}", style::changed(format!("only a part: {}", line(&bounded(&plan.scope.join(", "))))));
    }
    if origin.workspace.is_none() {
        let _ = writeln!(out, "{}", style::faint("a new workspace: the first apply makes it"));
    }
    out.push('\n');
}

fn paint(verb: Verb, text: &str) -> String {
    match verb {
        Verb::Create | Verb::Adopt => style::added(text),
        Verb::Retire | Verb::Release | Verb::HandOver | Verb::Unprotect => style::removed(text),
        _ => style::changed(text),
    }
}

fn action(action: &Action, verb_width: usize, name_width: usize, options: Options<'_>, out: &mut String) {
    let about = &action.about;
    let sign = paint(action.verb, words::symbol(action.verb));
    let verb = paint(action.verb, &format!("{:verb_width$}", action.verb.as_str()));
    let subject = style::strong(words::subject(action));
    let subject = match about.at.as_deref() {
        Some(at) => format!("{}  {}", pad(&subject, name_width), style::faint(line(at))),
        None => subject,
    };
    let _ = writeln!(out, "  {sign} {verb}  {subject}");
    let why = matches!(action.verb, Verb::Retire | Verb::Replace) || words::moves(action);
    if !about.reason.is_empty() && (options.verbose || why) {
        let reason = line(&about.reason);
        let reason = if action.verb == Verb::TakeOver { style::alarm(reason) } else { style::faint(reason) };
        let _ = writeln!(out, "      {reason}");
    }
    if let Step::Create { spec, .. } = &action.step
        && about.changes.is_empty()
        && let Some(summary) = create::summary(spec)
    {
        let _ = writeln!(out, "      {}", style::faint(summary));
    }
    for change in &about.changes {
        let cause = match change.cause {
            Cause::Live => "  (moved live, is put back)",
            Cause::Both => "  (file and live moved)",
            Cause::File | Cause::Reference => "",
        };
        let at = change.at.as_deref().filter(|at| Some(*at) != about.at.as_deref()).map(|at| format!("  {}", line(at)));
        let tail = style::faint(format!("{cause}{}", at.unwrap_or_default()));
        field(values::path(change), values::change(change), &tail, options, out);
    }
    files(action, options, out);
    for remark in words::remarks(action) {
        let loud = words::irreversible(action) && remark == "cannot be undone";
        let _ = writeln!(out, "      {}", if loud { style::alarm(&remark) } else { style::changed(&remark) });
    }
}

/// A field with its change: on one line, or line by line.
pub(super) fn field(path: &str, shown: Shown, tail: &str, options: Options<'_>, out: &mut String) {
    let path = line(path);
    match shown {
        Shown::Short { before, after } => {
            let change = format!("{} {} {}", style::removed(before), style::faint("→"), style::added(after));
            let _ = writeln!(out, "      {path}  {change}{tail}");
        }
        Shown::Long(lines) => {
            let _ = writeln!(out, "      {path}{tail}");
            diff_lines(&lines, options, out);
        }
    }
}

/// A changed text, line by line.
pub(super) fn diff_lines(lines: &[Line], options: Options<'_>, out: &mut String) {
    let most = if options.verbose { usize::MAX } else { FIELD_LINES };
    let digits = lines.iter().map(|l| l.number).max().unwrap_or(0).to_string().len();
    for shown in lines.iter().take(most) {
        let number = if shown.mark == Mark::Gap { " ".repeat(digits) } else { format!("{:>digits$}", shown.number) };
        let clipped = if options.verbose { usize::MAX } else { PART_CHARS };
        let _ = writeln!(out, "        {}", diff_line(shown, &number, clipped).trim_end());
    }
    if lines.len() > most {
        let rest = format!("… {} more; -v shows them", count(lines.len() - most, "line"));
        let _ = writeln!(out, "        {}", style::faint(rest));
    }
}

/// One line of a diff with its sign and number. Marks are written out, so they are seen without colour too.
fn diff_line(shown: &Line, number: &str, most: usize) -> String {
    let text = |p: &Part| clip(&visible(&p.text, false), most);
    let all: String = shown.parts.iter().map(text).collect();
    match shown.mark {
        Mark::Gap => style::faint("⋯"),
        Mark::Same => style::faint(format!("  {number}  {all}")),
        Mark::Removed => style::removed(format!("- {number}  {all}")),
        Mark::Added => style::added(format!("+ {number}  {all}")),
        Mark::Changed => {
            let parts: String = shown.parts.iter().map(|p| marked(p.mark, &text(p))).collect();
            format!("{} {}  {parts}", style::changed("~"), style::faint(number))
        }
    }
}

fn marked(mark: Mark, text: &str) -> String {
    match mark {
        Mark::Removed => style::removed(format!("[-{text}-]")),
        Mark::Added => style::added(format!("{{+{text}+}}")),
        _ => text.to_owned(),
    }
}

fn files(action: &Action, options: Options<'_>, out: &mut String) {
    let files = &action.about.files;
    let most = if options.verbose { usize::MAX } else { FILES };
    for file in files.iter().take(most) {
        let text = format!("{} {}", values::file_sign(file.change), values::file(file));
        let text = match file.change {
            FileVerb::Add => style::added(text),
            FileVerb::Remove => style::removed(text),
            FileVerb::Modify | FileVerb::Rename | FileVerb::Mode => style::changed(text),
        };
        let _ = writeln!(out, "      {text}");
    }
    if files.len() > most {
        let rest = format!("… {} more; -v shows them", count(files.len() - most, "file"));
        let _ = writeln!(out, "      {}", style::faint(rest));
    }
}

/// Files that moved live, each with what changed in it, where that is a text that is at hand.
pub(super) fn moved_files(files: &[FileChange], options: Options<'_>, out: &mut String) {
    let most = if options.verbose { usize::MAX } else { FILES };
    for file in files.iter().take(most) {
        let _ = writeln!(out, "      {} {}", values::file_sign(file.change), values::file(file));
        if let Some(lines) = options.texts.and_then(|texts| file_lines(file, texts)) {
            diff_lines(&lines, options, out);
        }
    }
    if files.len() > most {
        let rest = format!("… {} more; -v shows them", count(files.len() - most, "file"));
        let _ = writeln!(out, "      {}", style::faint(rest));
    }
}

/// What changed in a file, where both texts are at hand.
pub(super) fn file_lines(file: &FileChange, texts: &Texts) -> Option<Vec<Line>> {
    if file.before == file.after { None } else { text_lines(file.before, file.after, texts) }
}

/// Two texts as their difference, where both are at hand. What is not there is empty.
pub(super) fn text_lines(before: Option<Digest>, after: Option<Digest>, texts: &Texts) -> Option<Vec<Line>> {
    let of = |digest: Option<Digest>| digest.map_or(Some(""), |d| texts.get(&d).map(String::as_str));
    let (before, after) = (of(before)?, of(after)?);
    Some(diff::lines(before, after)).filter(|lines| !lines.is_empty())
}

fn held(plan: &Plan, options: Options<'_>, out: &mut String) {
    if plan.held.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style::strong("Live is not as the files say, and stays so:"));
    let mut held: Vec<&Held> = plan.held.iter().collect();
    held.sort_by(|a, b| (&a.address, &a.field).cmp(&(&b.address, &b.field)));
    for item in held {
        held_one(item, options, out);
    }
    // A conflict is decided in the files: --revert does not.
    if plan.held.iter().any(|item| !item.conflict && !item.rolled_back) {
        let fix = "put back with --revert ADDRESS or --revert-all, or write it into the files to keep it";
        let _ = writeln!(out, "  {}", style::faint(fix));
    }
    out.push('\n');
}

fn held_one(item: &Held, options: Options<'_>, out: &mut String) {
    if item.owned_again || item.rolled_back {
        return not_moved(item, options, out);
    }
    let who = item.actor.as_deref().map_or("an unknown actor".to_owned(), line);
    let when = item.when.as_deref().map(|w| format!(" at {}", line(w))).unwrap_or_default();
    let glass = item.break_glass.as_deref().map(|r| format!(", break-glass: {}", line(r))).unwrap_or_default();
    let sign = if item.conflict { style::alarm("!") } else { style::changed("≠") };
    let word = if item.conflict { style::alarm("conflict") } else { style::changed("held") };
    let accepted = item.accepted.as_deref().map(|r| format!("; `accept:` took it: {}", line(r))).unwrap_or_default();
    let by = style::faint(format!("by {who}{when}{glass}{accepted}"));
    let _ = writeln!(out, "  {sign} {word}  {}  {by}", style::strong(&item.address));
    match &item.field {
        None => {
            let _ = writeln!(out, "      it is gone; --revert {} makes it anew", item.address);
        }
        Some(path) => {
            let at = item.at.as_deref().map(|at| format!("  {}", line(at))).unwrap_or_default();
            let tail = style::faint(format!("  (last applied → live){at}"));
            if item.files.is_empty() {
                field(path, values::two(item.applied.as_ref(), item.live.as_ref()), &tail, options, out);
            } else {
                let _ = writeln!(out, "      {}{tail}", line(path));
                moved_files(&item.files, options, out);
            }
            if item.conflict || item.accepted.is_some() {
                let tail = style::faint("  (last applied → wanted)");
                field(path, values::two(item.applied.as_ref(), item.wanted.as_ref()), &tail, options, out);
            }
        }
    }
}

/// Memories that are not of the files; a person decides whether they come to be.
fn kept(plan: &Plan, out: &mut String) {
    if plan.notes.kept.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style::strong("Memories that stay, not as the files say:"));
    for (address, memories) in &plan.notes.kept {
        let all = plan.notes.kept_memories.get(address).copied().unwrap_or_default() as usize;
        kept_store(address, all, memories, out);
    }
    out.push('\n');
}

/// What is kept of one store: how many memories, and those that are named.
pub(super) fn kept_store(address: &Address, all: usize, memories: &[KeptMemory], out: &mut String) {
    let _ = writeln!(out, "  {}  {}", style::strong(address), style::faint(count(all, "memory")));
    for memory in memories {
        let when = memory.when.as_deref().map(|w| format!(" at {}", line(w))).unwrap_or_default();
        let who = memory.writer.as_deref().map_or("deleted by another".to_owned(), |w| format!("by {}{when}", line(w)));
        let _ = writeln!(out, "      {}  {}", line(&memory.path), style::faint(who));
    }
    if all > memories.len() {
        let _ = writeln!(out, "      … {} more", all - memories.len());
    }
}

/// Nobody moved it: the file speaks of it again, and says something else; or what it says was rolled back.
fn not_moved(item: &Held, options: Options<'_>, out: &mut String) {
    let why = style::faint(words::why_not_moved(item));
    let _ =
        writeln!(out, "  {} {}  {}  {why}", style::changed("≠"), style::changed("held"), style::strong(&item.address));
    let at = item.at.as_deref().map(|at| format!("  {}", line(at))).unwrap_or_default();
    let tail = style::faint(format!("  (wanted → live){at}"));
    let path = item.field.as_deref().unwrap_or_default();
    field(path, values::two(item.wanted.as_ref(), item.live.as_ref()), &tail, options, out);
}

fn settle(plan: &Plan, options: Options<'_>, out: &mut String) {
    let mut names: Vec<String> = plan.actions.iter().filter(|a| words::settles(a)).map(words::subject).collect();
    if names.is_empty() {
        return;
    }
    names.sort();
    let list = if options.verbose { names.join(", ") } else { words::some_of(&names) };
    let _ = writeln!(out, "{} file and live agree, only the record differs", style::strong("To settle:"));
    let _ = writeln!(out, "  {} {list}\n", words::symbol(Verb::Record));
}

fn totals(plan: &Plan, out: &mut String) {
    let notes = &plan.notes;
    let mut tail = vec![format!("{} unchanged", notes.unchanged)];
    if !plan.held.is_empty() {
        tail.push(format!("{} held", plan.held.len()));
    }
    if !notes.blocked.is_empty() {
        tail.push(format!("{} blocked", notes.blocked.len()));
    }
    if notes.ignored > 0 {
        tail.push(format!("{} not owned", count(notes.ignored as usize, "field")));
    }
    let kept: u32 = notes.kept_memories.values().sum();
    if kept > 0 {
        tail.push(format!("{} kept", count(kept as usize, "memory")));
    }
    let retired = plan.actions.iter().filter(|a| words::retires(a)).count();
    let forever = plan.actions.iter().filter(|a| words::irreversible(a)).count();
    if retired > 0 && forever > 0 {
        tail.push(style::alarm(format!("{forever} cannot be undone")));
    }
    let (nothing, some, refused) = if words::is_diff(plan) {
        ("Nothing changes:", "Changes:", "A plan with these changes could not be applied; the findings say why.")
    } else {
        ("Nothing to do:", "Plan:", "This plan cannot be applied; the findings say why.")
    };
    if plan.actions.is_empty() {
        let _ = writeln!(out, "{} {}", style::strong(nothing), tail.join(", "));
    } else {
        let _ = writeln!(out, "{} {}; {}", style::strong(some), words::totals_line(plan), tail.join(", "));
    }
    if !plan.applyable {
        let _ = writeln!(out, "{}", style::alarm(refused));
    }
    let _ = writeln!(out, "{} {}", style::faint("digest"), plan.digest);
}

#[cfg(test)]
#[path = "human_tests.rs"]
mod tests;
