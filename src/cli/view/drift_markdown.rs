//! Drift as Markdown for an issue or a comment, in at most 60,000 bytes: every number first, then as many rows as fit.

use std::fmt::Write;

use crate::cli::view::drift::{by, changes, source, title, totals, waiting};
use crate::cli::view::fenced::{self, Extent, Hunk, block, of_shown, rows};
use crate::cli::view::findings::{self, groups};
use crate::cli::view::human::file_lines;
use crate::cli::view::markup::{BUDGET, code, indent, prose};
use crate::cli::view::section::{Section, TAIL};
use crate::cli::view::text::{clip, count, line};
use crate::cli::view::values::{self, Shown};
use crate::diag::bounded;
use crate::plan::{Difference, Drift, Drifted};

/// Longest text of one item of a list.
const ITEM: usize = 300;
/// Most lines of one diff.
const LINES: usize = 60;

/// All of its numbers, and as many rows as fit.
pub fn drift(drift: &Drift) -> String {
    drift_after(String::new(), drift)
}

/// The same behind a few lines that are always shown; all of it together is within the bound.
pub fn drift_after(first: String, drift: &Drift) -> String {
    let mut out = first;
    head(drift, &mut out);
    let mut left: Vec<String> = Vec::new();
    section(
        "Findings",
        groups(&drift.findings).iter().map(|g| findings::row(g, findings::BLOCK)),
        "finding",
        &mut out,
        &mut left,
    );
    moved(drift, &mut out, &mut left);
    let waiting = waiting(drift);
    let rows = waiting.iter().map(|(cause, _, address, about)| {
        let about = if about.is_empty() { String::new() } else { format!(": {}", code(&clip(about, ITEM))) };
        format!("- {} {}{about}\n", cause.as_str(), code(address))
    });
    section("Not as applied in the files", rows, "pending resource", &mut out, &mut left);
    kept(drift, &mut out, &mut left);
    if let Some(nobodys) = &drift.unmanaged {
        let name = |text: &str| code(&clip(&bounded(text), ITEM));
        let rows = nobodys.resources.iter().map(|r| format!("- {} {} {}\n", r.kind, name(&r.name), code(&r.id)));
        section("Nobody owns", rows, "unmanaged resource", &mut out, &mut left);
    }
    if !left.is_empty() {
        let _ = writeln!(out, "\n**Not shown here:** {}. `checkfu drift` shows all.", left.join(", "));
    }
    out
}

fn head(drift: &Drift, out: &mut String) {
    let _ = writeln!(out, "### checkfu: {}\n", title(drift));
    let origin = &drift.origin;
    let target = format!("{} ({} {})", origin.target, origin.kind, origin.at);
    let _ = writeln!(out, "Owner {}, target {}.", code(drift.owner.as_str()), code(&clip(&target, ITEM)));
    if !drift.scope.is_empty() {
        let _ = writeln!(out, "Only a part: {}.", code(&clip(&drift.scope.join(", "), ITEM)));
    }
    if let Some(source) = source(drift) {
        let _ = writeln!(out, "\n{}.", prose(&clip(&source, 2 * ITEM)));
    }
    let _ = writeln!(out, "\n{}.", prose(&totals(drift)));
}

/// A folded list, as far as it fits.
fn section(title: &str, rows: impl Iterator<Item = String>, noun: &str, out: &mut String, left: &mut Vec<String>) {
    let mut section = Section::folded(out, title, BUDGET - TAIL);
    let lost = rows.filter(|row| !section.push(row)).count();
    section.close();
    left.extend((lost > 0).then(|| count(lost, noun)));
}

/// What moved, first without what changed where that does not fit.
fn moved(drift: &Drift, out: &mut String, left: &mut Vec<String>) {
    let mut section = Section::folded(out, "Moved live", BUDGET - TAIL);
    let (mut lost, mut bare) = (0, 0);
    for resource in &drift.resources {
        for d in resource.differences.iter().filter(|d| d.cause.is_move()) {
            let (row, details) = (row(resource, d), details(drift, d));
            if section.push(&format!("{row}{details}")) {
                continue;
            }
            let short = section.push(&row);
            bare += usize::from(short && !details.is_empty());
            lost += usize::from(!short);
        }
    }
    section.close();
    left.extend((bare > 0).then(|| format!("what changed in {}", count(bare, "field"))));
    left.extend((lost > 0).then(|| format!("{lost} moved")));
}

fn row(resource: &Drifted, d: &Difference) -> String {
    let word = if d.conflict { format!("**conflict**, {}", d.cause.as_str()) } else { d.cause.as_str().to_owned() };
    let field = d.field.as_deref().map(|f| format!(" {}", code(&clip(f, ITEM)))).unwrap_or_default();
    let settled = if d.in_files { "; the files say so too" } else { "" };
    let who = by(d, |text| code(&clip(text, ITEM)));
    let at = d.at.as_deref().map(|at| format!("; in {}", code(&clip(at, ITEM)))).unwrap_or_default();
    format!("- {} {word}{field}{who}{settled}{at}\n", code(&resource.address.to_string()))
}

/// What changed, as one fenced diff.
fn details(drift: &Drift, d: &Difference) -> String {
    let mut hunks: Vec<Hunk> = Vec::new();
    for (label, (path, change)) in changes(d, Some(&drift.texts)) {
        hunks.extend(of_shown(&format!("{} {}", line(&path), label.trim()), &change));
    }
    for file in &d.files {
        hunks.push(Hunk::bare(rows(fenced::of_file(file.change), &values::file(file))));
        if let Some(lines) = file_lines(file, &drift.texts) {
            hunks.extend(of_shown("", &Shown::Long(lines)));
        }
    }
    let extent = Extent { context: true, most: LINES, elsewhere: "`checkfu drift`" };
    indent(&block(&hunks, extent).text)
}

fn kept(drift: &Drift, out: &mut String, left: &mut Vec<String>) {
    let rows = drift.kept.iter().flat_map(|store| {
        let address = code(&store.address.to_string());
        let rest = (store.count as usize).saturating_sub(store.newest.len());
        let more = (rest > 0).then(|| format!("- {address} and {rest} more\n"));
        let rows = store.newest.iter().map(move |memory| {
            let when = memory.when.as_deref().map(|w| format!(" at {}", code(w))).unwrap_or_default();
            let by = |w: &str| format!("by {}{when}", code(&clip(w, ITEM)));
            let who = memory.writer.as_deref().map_or_else(|| "deleted by another".to_owned(), by);
            format!("- {address} {} {who}\n", code(&clip(&memory.path, ITEM)))
        });
        rows.chain(more).collect::<Vec<_>>()
    });
    section("Memories that stay, not as the files say (no drift)", rows, "memory", out, left);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::view::markup::BUDGET;
    use crate::cli::view::{human, sample};
    use crate::plan::{DRIFT_FORMAT, DriftCause, Move, SourceRelation, Unmanaged, UnmanagedResource, Verdict};

    const EVIL: &str = "a|b <img> [x](http://y) @team ``` `z` \u{202e}\n# c";

    fn moved(live: &str) -> Difference {
        let applied = "You answer questions.";
        Difference {
            field: Some("instructions".to_owned()),
            cause: DriftCause::BreakGlass,
            conflict: false,
            in_files: false,
            wanted: Some(json!(applied)),
            applied: Some(json!(applied)),
            live: Some(json!(live)),
            changes: vec![Move {
                path: "instructions".to_owned(),
                before: Some(json!(applied)),
                after: Some(json!(live)),
            }],
            files: Vec::new(),
            actor: Some("jane".to_owned()),
            when: Some("2026-11-30T09:00:00Z".to_owned()),
            break_glass: Some("incident 12".to_owned()),
            at: Some("agents/a.md:4:1".to_owned()),
        }
    }

    fn report(resources: Vec<Drifted>) -> Drift {
        let plan = sample::plan();
        Drift {
            format: DRIFT_FORMAT.to_owned(),
            tool_version: "0.1.0".to_owned(),
            origin: plan.origin,
            owner: plan.owner,
            source: plan.source,
            last_source: None,
            relation: SourceRelation::Same,
            scope: Vec::new(),
            verdict: Verdict::Moved,
            resources,
            texts: std::collections::BTreeMap::new(),
            kept: Vec::new(),
            unmanaged: None,
            unchanged: 3,
            ignored: 1,
            findings: Vec::new(),
        }
    }

    fn resource(name: &str, differences: Vec<Difference>) -> Drifted {
        let address = format!("Agent/{name}").parse().unwrap();
        Drifted { address, id: Some("agent_1".to_owned()), declared: true, live: true, differences }
    }

    #[test]
    fn one_field_that_moved() {
        let text = drift(&report(vec![resource("a", vec![moved("You answer questions quickly.")])]));
        insta::assert_snapshot!(text, @r#"
        ### checkfu: live moved

        Owner `acme/support`, target `local (embedded .checkfu/workspace.db)`.

        1 moved live, 3 as applied, 1 field not owned.

        <details><summary>Moved live</summary>

        - `Agent/a` break-glass `instructions` by `jane` at `2026-11-30T09:00:00Z`, reason: `incident 12`; in `agents/a.md:4:1`
          ```diff
          @@ instructions (last applied → live) @@
          - "You answer questions."
          + "You answer questions quickly."
          ```

        </details>
        "#);
    }

    #[test]
    fn a_large_one_is_bounded_and_counts_what_it_leaves_out() {
        let many = |n: usize, live: &str| (0..n).map(|i| resource(&format!("a{i}"), vec![moved(live)])).collect();
        let text = drift(&report(many(40, &"One more line.\n".repeat(500))));
        assert!(text.len() <= BUDGET && text.contains("−0), see `checkfu drift` …"), "{}", text.len());
        let mut all = report(many(3_000, "x"));
        let nobodys =
            UnmanagedResource { kind: crate::model::Kind::Agent, name: EVIL.to_owned(), id: "agent_2".into() };
        all.unmanaged = Some(Unmanaged { count: 900, resources: vec![nobodys; 900] });
        let text = drift(&all);
        assert!(text.len() <= BUDGET, "{}", text.len());
        assert!(text.contains("**Not shown here:**") && text.contains("900 unmanaged resources"), "{text}");
        assert!(text.contains("3000 moved live, 3 as applied, 1 field not owned, 900 that nobody owns"));
    }

    #[test]
    fn no_text_of_a_user_is_markup_nor_moves_a_terminal() {
        let evil = Difference {
            actor: Some(EVIL.to_owned()),
            break_glass: Some(EVIL.to_owned()),
            field: Some(EVIL.to_owned()),
            at: Some(EVIL.to_owned()),
            ..moved(EVIL)
        };
        let mut report = report(vec![resource("a", vec![evil])]);
        report.origin.target = EVIL.to_owned();
        report.scope = vec![EVIL.to_owned()];
        let text = drift(&report);
        assert!(!text.contains('\u{202e}'), "{text}");
        // Outside of code there is none of it.
        let bare: String = text.split('`').step_by(2).collect();
        assert!(!bare.contains("<img") || text.contains("````"), "{text}");
        let shown =
            crate::cli::view::drift::human(&report, human::Options { verbose: true, unchanged: "", texts: None });
        assert!(!shown.contains('\u{202e}') && !shown.contains("\n# c"), "{shown}");
    }

    #[test]
    fn what_the_source_says_comes_first() {
        let mut older = report(Vec::new());
        older.relation = SourceRelation::Older;
        older.last_source = Some(crate::model::op::Source { commit: Some("b".repeat(40)), ..older.source.clone() });
        assert!(drift(&older).contains("is older than"), "{}", drift(&older));
        older.relation = SourceRelation::OtherRepository;
        assert!(drift(&older).contains("was last applied from"));
    }
}
