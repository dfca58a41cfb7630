//! Drift as text for people: what moved live and who moved it, what is not applied yet, what nobody owns.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::view::human::{self, Options, Texts};
use crate::cli::view::text::{count, line};
use crate::cli::view::values::{self, Shown};
use crate::cli::view::{findings, style, words};
use crate::diag::bounded;
use crate::model::op::Source;
use crate::plan::{
    Cause, Difference, Drift, DriftCause, Drifted, FieldChange, Move, SourceRelation, Verdict, place_of,
};

/// The whole report. Ends with a line feed.
pub fn human(drift: &Drift, options: Options<'_>) -> String {
    let options = Options { texts: Some(&drift.texts), ..options };
    let mut out = String::new();
    let origin = &drift.origin;
    let place = style::faint(format!("({} {})", origin.kind, line(&origin.at)));
    let (owner, target) = (style::strong(&drift.owner), style::strong(line(&origin.target)));
    let _ = writeln!(out, "{owner} {} {target} {place}", style::faint("→"));
    if !drift.scope.is_empty() {
        let part = line(&bounded(&drift.scope.join(", ")));
        let _ = writeln!(out, "{}", style::changed(format!("only a part: {part}")));
    }
    if origin.workspace.is_none() {
        let _ = writeln!(out, "{}", style::faint("there is no workspace yet: the first apply makes it"));
    }
    if let Some(source) = source(drift) {
        let _ = writeln!(out, "{}", style::changed(source));
    }
    out.push('\n');
    moved(drift, options, &mut out);
    pending(drift, options, &mut out);
    kept(drift, &mut out);
    unmanaged(drift, &mut out);
    findings::human(&drift.findings, options.verbose, &mut out);
    let _ = writeln!(out, "{} {}", style::strong("Drift:"), totals(drift));
    out
}

/// What to do about it, if anything moved.
pub fn next(drift: &Drift) -> Option<String> {
    let moved = |r: &&Drifted| r.declared && r.differences.iter().any(|d| d.cause.is_move() && !d.in_files);
    let all: Vec<String> = drift.resources.iter().filter(moved).map(|r| r.address.to_string()).collect();
    if all.is_empty() {
        return None;
    }
    let names = if all.len() > 3 { "ADDRESS".to_owned() } else { all.join(" ") };
    Some(format!(
        "Next: checkfu pull --drift {names} (write it into the files) or checkfu revert {names} (put it back)"
    ))
}

/// Where the files stand, where that is the reason for something.
pub(super) fn source(drift: &Drift) -> Option<String> {
    let last = drift.last_source.as_ref()?;
    let text = |s: Option<&String>| s.map_or_else(|| "?".to_owned(), |s| line(s));
    match drift.relation {
        SourceRelation::Older => {
            let (now, last) = (text(drift.source.commit.as_ref()), text(last.commit.as_ref()));
            Some(format!("commit {now} is older than {last}, which was applied last"))
        }
        SourceRelation::OtherRepository => {
            let place = |s: &Source| line(&place_of(s));
            Some(format!("{} was last applied from {}, and this is {}", drift.owner, place(last), place(&drift.source)))
        }
        SourceRelation::Same | SourceRelation::Newer | SourceRelation::Stranger | SourceRelation::Unknown => None,
    }
}

/// `2 moved live (1 conflict), 3 not applied, 40 as applied`.
pub(super) fn totals(drift: &Drift) -> String {
    let all = || drift.resources.iter().flat_map(|r| &r.differences);
    let of = |causes: fn(DriftCause) -> bool| all().filter(|d| causes(d.cause)).count();
    let conflicts = all().filter(|d| d.conflict).count();
    let moved = of(DriftCause::is_move);
    let mut parts = vec![match moved {
        0 => "nothing moved live".to_owned(),
        n if conflicts > 0 => format!("{n} moved live ({})", count(conflicts, "conflict")),
        n => format!("{n} moved live"),
    }];
    let mut some = |n: usize, text: String| parts.extend((n > 0).then_some(text));
    for cause in [DriftCause::NotApplied, DriftCause::OlderCheckout, DriftCause::OtherRepository] {
        let n = all().filter(|d| d.cause == cause).count();
        let word =
            if cause == DriftCause::NotApplied { "not applied".to_owned() } else { format!("of {}", article(cause)) };
        some(n, format!("{n} {word}"));
    }
    some(1, format!("{} as applied", drift.unchanged));
    let ignored = drift.ignored as usize;
    some(ignored, format!("{} not owned", count(ignored, "field")));
    let kept = drift.kept.iter().map(|k| k.count as usize).sum();
    some(kept, format!("{} kept", count(kept, "memory")));
    let nobodys = drift.unmanaged.as_ref().map_or(0, |u| u.count as usize);
    some(nobodys, format!("{nobodys} that nobody owns"));
    parts.join(", ")
}

fn article(cause: DriftCause) -> String {
    if cause == DriftCause::OlderCheckout { format!("an {}", cause.as_str()) } else { cause.as_str().to_owned() }
}

/// The verdict as a title.
pub(super) fn title(drift: &Drift) -> &'static str {
    match drift.verdict {
        Verdict::AsApplied => "live is as applied",
        Verdict::Moved => "live moved",
        Verdict::MovedAndChanged => "live moved, and the files changed",
        Verdict::Conflict => "live and the files moved apart",
    }
}

fn moved(drift: &Drift, options: Options<'_>, out: &mut String) {
    let of = |r: &Drifted| r.differences.iter().filter(|d| d.cause.is_move()).count();
    if drift.resources.iter().all(|r| of(r) == 0) {
        return;
    }
    let _ = writeln!(out, "{}", style::strong("Moved live:"));
    for resource in drift.resources.iter().filter(|r| of(r) > 0) {
        let id = resource.id.as_deref().map(|id| style::faint(format!("  {}", line(id)))).unwrap_or_default();
        let _ = writeln!(out, "  {}{id}", style::strong(&resource.address));
        for d in resource.differences.iter().filter(|d| d.cause.is_move()) {
            difference(d, options, out);
        }
    }
    out.push('\n');
}

fn difference(d: &Difference, options: Options<'_>, out: &mut String) {
    let word = if d.conflict { format!("conflict, {}", d.cause.as_str()) } else { d.cause.as_str().to_owned() };
    let (sign, word) = if d.conflict {
        (style::alarm("!"), style::alarm(word))
    } else {
        (style::changed("≠"), style::changed(word))
    };
    let at = d.at.as_deref().map(|at| format!("  {}", line(at))).unwrap_or_default();
    let settled = if d.in_files { "; the files say so too" } else { "" };
    let tail = style::faint(format!("{}{settled}{at}", by(d, line)));
    let field = d.field.as_deref().map(|f| format!("  {}", style::strong(line(f)))).unwrap_or_default();
    let _ = writeln!(out, "    {sign} {word}{field}{tail}");
    for (label, change) in changes(d, options.texts) {
        human::field(&change.0, change.1, &style::faint(label), options, out);
    }
    human::moved_files(&d.files, options, out);
}

/// ` by jane at 2026-…: incident 12`, as far as it is known. `shown` makes user text harmless.
pub(super) fn by(d: &Difference, shown: impl Fn(&str) -> String) -> String {
    if d.cause == DriftCause::OwnedAgain {
        return "; live differs from the files".to_owned();
    }
    let who = d.actor.as_deref().map_or_else(|| "an unknown actor".to_owned(), |a| shown(&bounded(a)));
    let when = d.when.as_deref().map(|w| format!(" at {}", shown(w))).unwrap_or_default();
    let glass = d.break_glass.as_deref().map(|r| format!(", reason: {}", shown(&bounded(r)))).unwrap_or_default();
    format!(" by {who}{when}{glass}")
}

/// What is shown of a value that moved: live against last applied, and in a conflict the files against that too.
pub(super) fn changes(d: &Difference, texts: Option<&Texts>) -> Vec<(&'static str, (String, Shown))> {
    let plain = |path: &str, before: Option<&serde_json::Value>, after: Option<&serde_json::Value>| {
        let change = FieldChange {
            path: path.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
            at: None,
            cause: Cause::Live,
        };
        (values::path(&change).to_owned(), values::change(&change))
    };
    let Some(field) = &d.field else { return Vec::new() };
    if let Some(lines) = d.memory().and_then(|[before, after]| human::text_lines(before, after, texts?)) {
        return vec![("  (last applied → live)", (field.clone(), Shown::Long(lines)))];
    }
    // Of files each is shown by itself.
    if !d.files.is_empty() {
        return Vec::new();
    }
    if d.cause == DriftCause::OwnedAgain {
        return vec![("  (wanted → live)", plain(field, d.wanted.as_ref(), d.live.as_ref()))];
    }
    let mut out: Vec<_> = if d.changes.is_empty() {
        vec![("  (last applied → live)", plain(field, d.applied.as_ref(), d.live.as_ref()))]
    } else {
        let one = |m: &Move| ("  (last applied → live)", plain(&m.path, m.before.as_ref(), m.after.as_ref()));
        d.changes.iter().map(one).collect()
    };
    if d.conflict {
        out.push(("  (last applied → wanted)", plain(field, d.applied.as_ref(), d.wanted.as_ref())));
    }
    out
}

/// What is pending of each resource, in one line: `plan` shows it whole.
pub(super) fn waiting(drift: &Drift) -> Vec<(DriftCause, &'static str, String, String)> {
    let one = |r: &Drifted| {
        let pending: Vec<&Difference> = r.differences.iter().filter(|d| !d.cause.is_move()).collect();
        let first = pending.first()?;
        let (sign, word) = match (r.declared, r.live) {
            (true, true) => ("~", ""),
            (true, false) => ("+", "not live"),
            (false, _) => ("-", "no file declares it any more"),
        };
        let fields: Vec<String> = pending.iter().filter_map(|d| d.field.as_deref()).map(line).collect();
        let about = if fields.is_empty() { word.to_owned() } else { words::some_of(&fields) };
        Some((first.cause, sign, r.address.to_string(), about))
    };
    drift.resources.iter().filter_map(one).collect()
}

fn pending(drift: &Drift, options: Options<'_>, out: &mut String) {
    let mut by_cause: BTreeMap<DriftCause, Vec<String>> = BTreeMap::new();
    for (cause, sign, address, about) in waiting(drift) {
        by_cause.entry(cause).or_default().push(format!(
            "  {sign} {}  {}",
            style::strong(address),
            style::faint(about)
        ));
    }
    for (cause, rows) in by_cause {
        let title = match cause {
            DriftCause::OlderCheckout => "Otherwise in this older checkout:",
            DriftCause::OtherRepository => "Otherwise in this other repository:",
            _ => "Not applied yet:",
        };
        let _ = writeln!(out, "{}", style::strong(title));
        let most = if options.verbose { usize::MAX } else { MOST };
        for row in rows.iter().take(most) {
            let _ = writeln!(out, "{}", row.trim_end());
        }
        if rows.len() > most {
            let rest = format!("  … {} more; -v shows them", count(rows.len() - most, "resource"));
            let _ = writeln!(out, "{}", style::faint(rest));
        }
        out.push('\n');
    }
}

/// Resources that are not applied yet and are listed before the rest is only counted.
const MOST: usize = 40;

fn kept(drift: &Drift, out: &mut String) {
    if drift.kept.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style::strong("Memories that stay, not as the files say (no drift):"));
    for store in &drift.kept {
        human::kept_store(&store.address, store.count as usize, &store.newest, out);
    }
    out.push('\n');
}

fn unmanaged(drift: &Drift, out: &mut String) {
    let Some(nobodys) = drift.unmanaged.as_ref().filter(|u| u.count > 0) else { return };
    let _ = writeln!(out, "{} {}", style::strong("Nobody owns:"), count(nobodys.count as usize, "resource"));
    for resource in &nobodys.resources {
        let name = line(&bounded(&resource.name));
        let _ = writeln!(out, "  {} {name}  {}", resource.kind, style::faint(line(&resource.id)));
    }
    let rest = nobodys.count as usize - nobodys.resources.len().min(nobodys.count as usize);
    if rest > 0 {
        let _ = writeln!(out, "{}", style::faint(format!("  … {} more; --all names them", count(rest, "resource"))));
    }
    let _ = writeln!(out, "{}\n", style::faint("  take one with checkfu adopt ADDRESS=ID"));
}
