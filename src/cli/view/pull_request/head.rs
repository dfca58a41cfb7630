//! What stands first: totals, whose plan it is, what needs a decision, what agents may newly do.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::view::findings::effect_word;
use crate::cli::view::markup::{code, prose};
use crate::cli::view::pull_request::Comment;
use crate::cli::view::section::Section;
use crate::cli::view::text::{clip, count};
use crate::cli::view::words;
use crate::model::Kind;
use crate::plan::{Effect, Plan, Verb};

/// Names in an alert.
const NAMED: usize = 10;
/// Most bytes of what was told beside the plan.
const NOTES: usize = 6_000;

/// The heading, one line.
pub(super) fn heading(comment: &Comment<'_>) -> String {
    let plan = comment.plan;
    let word = if words::is_diff(plan) { "diff" } else { "plan" };
    let totals = match plan.actions.is_empty() {
        true if words::is_diff(plan) => "nothing changes".to_owned(),
        true => "nothing to do".to_owned(),
        false => words::totals_line(plan),
    };
    match comment.key {
        Some(key) => format!("### checkfu {word}: {} — {totals}\n", code(&clip(key, 64))),
        None => format!("### checkfu: {totals}\n"),
    }
}

/// Whose plan, of what, how many there are of everything.
pub(super) fn identity(comment: &Comment<'_>, out: &mut String) {
    let (plan, origin) = (comment.plan, &comment.plan.origin);
    let target = format!("{} ({} {})", origin.target, origin.kind, origin.at);
    let _ = writeln!(out, "\nOwner {}, target {}.", code(plan.owner.as_str()), code(&clip(&target, 300)));
    if !plan.scope.is_empty() {
        let _ = writeln!(out, "Only a part: {}.", code(&clip(&plan.scope.join(", "), 300)));
    }
    let mut left = NOTES;
    for note in comment.notes.iter().filter(|n| !n.is_empty()) {
        if note.len() <= left {
            left -= note.len();
            let _ = writeln!(out, "\n{note}");
        }
    }
}

/// What a reviewer must not overlook.
pub(super) fn alert(plan: &Plan, out: &mut String) {
    let mut lines: Vec<String> = Vec::new();
    let mut codes: BTreeMap<(Effect, &str), usize> = BTreeMap::new();
    for finding in plan.findings.iter().filter(|f| f.effect != Effect::Note) {
        *codes.entry((finding.effect, &finding.code)).or_default() += 1;
    }
    let all = codes.len();
    let mut codes: Vec<String> = codes
        .iter()
        .take(2 * NAMED)
        .map(|((effect, c), n)| format!("{} ({}, {n})", code(&clip(c, 80)), effect_word(*effect)))
        .collect();
    if all > codes.len() {
        codes.push(format!("and {} more", all - codes.len()));
    }
    let codes = codes.join(", ");
    if !plan.applyable {
        let what = if words::is_diff(plan) {
            "A plan with these changes could not be applied"
        } else {
            "This plan cannot be applied"
        };
        lines.push(format!("**{what}:** {codes}. The findings below say why, and what to do."));
    } else if !codes.is_empty() {
        lines.push(format!("**Something is left out:** {codes}. The findings below say why, and what to do."));
    }
    let retired: Vec<_> = plan.actions.iter().filter(|a| words::retires(a)).collect();
    let forever: Vec<_> = plan.actions.iter().filter(|a| words::irreversible(a)).collect();
    if !retired.is_empty() || !forever.is_empty() {
        let told = if forever.is_empty() { &retired } else { &forever };
        let names = some(told.iter().map(|a| code(&clip(&words::subject(a), 200))), told.len());
        let cannot = format!("**{} that cannot be undone**", forever.len());
        lines.push(format!("**{}**, {cannot}: {names}.", count(retired.len(), "retirement")));
    }
    let conflicts: Vec<_> = plan.held.iter().filter(|h| h.conflict).collect();
    if !conflicts.is_empty() {
        let names = conflicts.iter().map(|h| {
            let field = h.field.as_deref().map(|f| format!(" {}", code(&clip(f, 100)))).unwrap_or_default();
            format!("{}{field}", code(&h.address.to_string()))
        });
        lines.push(format!("**{}**: {}.", count(conflicts.len(), "conflict"), some(names, conflicts.len())));
    }
    if lines.is_empty() {
        return;
    }
    let grave = !plan.applyable || !forever.is_empty();
    let _ = writeln!(out, "\n> [!{}]", if grave { "CAUTION" } else { "WARNING" });
    let _ = writeln!(out, "> {}", lines.join("\n>\n> "));
}

fn some(names: impl Iterator<Item = String>, of: usize) -> String {
    let list = names.take(NAMED).collect::<Vec<_>>().join(", ");
    if of > NAMED { format!("{list} and {} more", of - NAMED) } else { list }
}

/// How far a line of what an agent may do is a gain: what writes, then what reaches out, then other gains, then losses.
fn rank(line: &str) -> u8 {
    let has = |words: &[&str]| words.iter().any(|w| line.contains(w));
    if has(&[
        "no longer has",
        "no longer reaches",
        "no longer use",
        "no longer acts",
        " loses ",
        "tightened",
        "→ read_only",
    ]) {
        return 3;
    }
    match line {
        _ if has(&["read_write"]) => 0,
        _ if has(&["network", "reaches", "acts as", "no longer asks"]) => 1,
        _ => 2,
    }
}

/// What agents may newly do, and what no more. Returns how many lines are left out.
pub(super) fn capabilities(comment: &Comment<'_>, most: usize, out: &mut String) -> usize {
    let lines =
        comment.plan.actions.iter().flat_map(|a| a.about.capabilities.iter().map(move |line| (rank(line), a, line)));
    let mut lines: Vec<_> = lines.collect();
    lines.sort_by_key(|(rank, a, _)| (*rank, &a.address));
    let mut left = 0;
    for (title, gain) in [("What agents may newly do", true), ("What agents may no more", false)] {
        let mut section = Section::headed(out, title, most);
        for (rank, action, line) in lines.iter().filter(|(rank, ..)| (*rank < 3) == gain) {
            let line = prose(&clip(line, 300));
            let line = if *rank == 0 { format!("**{line}**") } else { line };
            left += usize::from(!section.push(&format!("- {}: {line}\n", code(&words::subject(action)))));
        }
        section.close();
    }
    left
}

/// How many of each kind and verb, where not every resource has its row.
pub(super) fn kinds(plan: &Plan) -> String {
    let verbs: Vec<Verb> = words::totals(plan).into_iter().map(|(v, _)| v).collect();
    let cells: Vec<&str> = verbs.iter().map(|v| v.as_str()).collect();
    let mut out = format!("\n| kind | {} |\n|---|{}\n", cells.join(" | "), "---:|".repeat(verbs.len()));
    for (kind, counts) in words::totals_by_kind(plan) {
        let cells: Vec<String> =
            verbs.iter().map(|v| counts.get(v).map(usize::to_string).unwrap_or_default()).collect();
        let _ = writeln!(out, "| {} | {} |", kind.map_or("owner", Kind::as_str), cells.join(" | "));
    }
    out
}
