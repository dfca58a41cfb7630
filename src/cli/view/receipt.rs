//! What an apply did, for people and for a pull request.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::view::findings::effect_word;
use crate::cli::view::markup::{BUDGET, cell, code, fit, head, indent, prose};
use crate::cli::view::text::{count, line, pad};
use crate::cli::view::{fenced, human, style, values, words};
use crate::diag::bounded;
use crate::model::op::{ApplyInfo, ReceiptLine};
use crate::plan::{Effect, FieldChange};
use crate::receipt::{Outcome, Receipt};

/// Lines of done actions that are listed before the rest is only counted (unless `verbose`).
const DONE_LINES: usize = 50;

/// Most lines of one diff.
const LINES: usize = 60;

/// The outcomes in the order in which they are told: what needs somebody last, where it is seen.
const OUTCOMES: [&str; 5] = ["done", "not_started", "blocked", "stale", "failed"];

/// A receipt as text.
pub fn human(receipt: &Receipt, verbose: bool) -> String {
    let mut out = String::new();
    lines(&receipt.lines, verbose, &mut out);
    for place in &receipt.not_settled {
        let _ = writeln!(out, "  {} {}", style::alarm("not settled"), line(place));
    }
    if let Some(other) = &receipt.other_apply {
        let text = format!("another apply of this owner had not ended when this one began: {}", line(other));
        let _ = writeln!(out, "  {}", style::changed(text));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let word = match receipt.outcome {
        Outcome::Nothing => style::added("Nothing to do"),
        Outcome::Done => style::added("Applied"),
        Outcome::Partial => style::changed("Applied in part"),
        Outcome::Failed => style::alarm("Nothing was applied"),
        Outcome::Interrupted => style::changed("Interrupted"),
    };
    let _ = writeln!(out, "{}{}", style::strong(word), tail(receipt.apply.as_deref(), &receipt.lines));
    out
}

/// An Apply of the workspace as text, with what its actions changed.
pub fn apply(info: &ApplyInfo, changes: &BTreeMap<String, Vec<FieldChange>>, verbose: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", style::strong(line(&info.id)), line(info.outcome.as_deref().unwrap_or("not ended")));
    for (name, value) in facts(info) {
        let _ = writeln!(out, "  {} {}", style::faint(format!("{name:<6}")), line(&value));
    }
    out.push('\n');
    lines(&info.lines, true, &mut out);
    let options = human::Options { verbose, unchanged: "", texts: None };
    // In the order in which they were done.
    for (action, changes) in info.lines.iter().filter_map(|l| changes.get_key_value(&l.action)) {
        let _ = writeln!(out, "\n  {}", style::strong(line(action)));
        for change in changes {
            human::field(values::path(change), values::change(change), "", options, &mut out);
        }
    }
    out
}

/// What is known of an Apply beside its lines; nothing that is empty.
fn facts(info: &ApplyInfo) -> Vec<(&'static str, String)> {
    let source = [&info.source.repository, &info.source.path, &info.source.commit];
    let source: Vec<&str> = source.into_iter().flatten().map(String::as_str).filter(|s| !s.is_empty()).collect();
    let dirty = if info.source.dirty == Some(true) { " with uncommitted changes" } else { "" };
    let mut facts = vec![
        ("owner", info.owner.to_string()),
        ("actor", bounded(&info.actor).into_owned()),
        ("began", info.began_at.clone()),
        ("ended", info.ended_at.clone().unwrap_or_else(|| "–".to_owned())),
        ("plan", info.plan_digest.to_string()),
        ("source", format!("{}{dirty}", bounded(&source.join(" ")))),
        ("state", info.source.apply.as_ref().map(|to| format!("that of {to}: a rollback")).unwrap_or_default()),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// An Apply of the workspace as Markdown: what needs somebody comes first, as many lines as fit; then what was changed.
pub fn apply_markdown(info: &ApplyInfo, changes: &BTreeMap<String, Vec<FieldChange>>) -> String {
    let outcome = info.outcome.as_deref().unwrap_or("not ended");
    let mut out = format!("### checkfu: apply {}: {}\n\n", code(&info.id), prose(&bounded(outcome)));
    for (name, value) in facts(info) {
        let _ = writeln!(out, "- {name}: {}", code(&value));
    }
    if info.lines.is_empty() {
        return out;
    }
    out = format!("{out}\n{}", head(&["outcome", "action", "id", "error"]));
    let place = |l: &&ReceiptLine| OUTCOMES.iter().rev().position(|o| *o == l.outcome);
    let mut lines: Vec<&ReceiptLine> = info.lines.iter().collect();
    lines.sort_by_key(place);
    let row = |l: &ReceiptLine| {
        let made = l.made.as_deref().map(|m| format!(" → {}", cell(m))).unwrap_or_default();
        let id = l.id.as_deref().map(cell).unwrap_or_default();
        let error = l.error.as_deref().map(|e| prose(&bounded(e))).unwrap_or_default();
        let outcome = prose(&l.outcome.replace('_', " "));
        format!("| {outcome} | {} | {id}{made} | {error} |\n", cell(&l.action))
    };
    let rest = |left| format!("{}. `checkfu show {}` shows all.", count(left, "line"), info.id);
    let out = fit(out, lines.into_iter().map(row), rest);
    let all = info.lines.iter().filter_map(|l| changes.get_key_value(&l.action));
    let all: Vec<String> = all.flat_map(|(action, changes)| changes.iter().map(move |c| change(action, c))).collect();
    // What needs somebody is worth more room than what was done.
    if all.is_empty() || out.len() > BUDGET / 2 {
        return out;
    }
    let rest = |left| format!("{}. `checkfu show {}` shows all.", count(left, "change"), info.id);
    fit(format!("{out}\n"), all.into_iter(), rest)
}

/// A field that an action changed.
fn change(action: &str, change: &FieldChange) -> String {
    let extent = fenced::Extent { context: true, most: LINES, elsewhere: "`checkfu show`" };
    let (hunks, _) = fenced::change(change);
    format!("- {}\n{}", code(action), indent(&fenced::block(&hunks, extent).text))
}

fn lines(all: &[ReceiptLine], verbose: bool, out: &mut String) {
    let wide = all.iter().map(|l| l.action.len()).max().unwrap_or(0).min(56);
    for outcome in OUTCOMES {
        let some: Vec<&ReceiptLine> = all.iter().filter(|l| l.outcome == outcome).collect();
        let most = if verbose || outcome != "done" { usize::MAX } else { DONE_LINES };
        for one in some.iter().take(most) {
            let _ = writeln!(out, "  {}", receipt_line(one, wide).trim_end());
        }
        if some.len() > most {
            let _ = writeln!(out, "  {}", style::faint(format!("… {} more done; -v lists them", some.len() - most)));
        }
    }
    let known = |l: &&ReceiptLine| !OUTCOMES.contains(&l.outcome.as_str());
    for one in all.iter().filter(known) {
        let _ = writeln!(out, "  {}", receipt_line(one, wide).trim_end());
    }
}

fn receipt_line(one: &ReceiptLine, wide: usize) -> String {
    let word = format!("{:<11}", line(&one.outcome).replace('_', " "));
    let word = match one.outcome.as_str() {
        "done" => style::added(word),
        "failed" | "stale" => style::alarm(word),
        _ => style::changed(word),
    };
    let made = one.made.as_deref().map(|m| format!(" → {}", line(m))).unwrap_or_default();
    let id = one.id.as_deref().map(line).unwrap_or_default();
    let error = one.error.as_deref().map(|e| line(&bounded(e))).unwrap_or_default();
    let tail = if error.is_empty() { style::faint(format!("{id}{made}")) } else { error };
    format!("{word} {}  {tail}", pad(&line(&one.action), wide))
}

fn tail(apply: Option<&str>, lines: &[ReceiptLine]) -> String {
    let counts: Vec<String> = OUTCOMES
        .iter()
        .map(|o| (o, lines.iter().filter(|l| l.outcome == **o).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(o, n)| format!("{n} {}", o.replace('_', " ")))
        .collect();
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    let apply = apply.map(|a| format!(" ({})", line(a))).unwrap_or_default();
    format!("{counts}{apply}")
}

/// A receipt as Markdown: counts, and a row for each action that was not done, as many as fit.
pub fn markdown(receipt: &Receipt) -> String {
    let word = match receipt.outcome {
        Outcome::Nothing => "nothing to do",
        Outcome::Done => "applied",
        Outcome::Partial => "applied in part",
        Outcome::Failed => "nothing was applied",
        Outcome::Interrupted => "interrupted",
    };
    let kept = if receipt.held.is_empty() { String::new() } else { format!(", {} held", receipt.held.len()) };
    let title = format!("### checkfu: {word}{kept}{}\n\n", tail(receipt.apply.as_deref(), &receipt.lines));
    let open = receipt.lines.iter().filter(|l| l.outcome != "done").map(|one| {
        let error = one.error.as_deref().map(|e| format!(": {}", bounded(e)));
        format!("{} {}{}", one.outcome.replace('_', " "), one.action, error.unwrap_or_default())
    });
    let unsettled = receipt.not_settled.iter().map(|place| format!("not settled {}", bounded(place)));
    let rows = unsettled.chain(left_out(receipt)).chain(open).map(|row| format!("- {}\n", code(&row)));
    let rest = |left| format!("{}. They are in the workspace's record of this apply.", count(left, "row"));
    format!("{}\nPlan digest {}.\n", fit(title, rows, rest), code(&receipt.plan_digest.to_string()))
}

/// What the plan left as it is, and why: conflicts and what is held, and findings that are more than a note.
fn left_out(receipt: &Receipt) -> impl Iterator<Item = String> {
    let held = receipt.held.iter().map(|item| {
        let word = if item.conflict { "conflict" } else { "held" };
        let field = item.field.as_deref().map(|field| format!(" {field}")).unwrap_or_default();
        format!("{word} {}{}", item.address, bounded(&field))
    });
    let findings = receipt.findings.iter().filter(|f| f.effect != Effect::Note).map(|finding| {
        let address = finding.address.as_ref().map(|a| format!(" {a}")).unwrap_or_default();
        format!("{}{address}: {} ({})", effect_word(finding.effect), bounded(&finding.message), finding.code)
    });
    held.chain(findings)
}

/// What to do after an apply that is not whole; nothing when all is done.
pub fn next(receipt: &Receipt) -> Option<String> {
    let has = |outcome: &str| receipt.lines.iter().any(|l| l.outcome == outcome);
    if has("stale") {
        // It was changed since, live or in the files: a new plan may want to undo that, which is to be seen before it is done.
        let what = "What is stale was changed since the plan was made.";
        return Some(format!("{what} Run `checkfu plan` to see what would be done to that now."));
    }
    let open = receipt.lines.iter().any(|l| l.outcome != "done");
    (open || receipt.outcome == Outcome::Interrupted)
        .then(|| format!("What is done stays done. Run {} for the rest.", words::APPLY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;

    #[test]
    fn a_receipt_names_what_was_not_done_last() {
        let mut receipt = sample::receipt();
        receipt.outcome = Outcome::Partial;
        receipt.lines[1].outcome = "stale".to_owned();
        receipt.lines[1].error = Some("version is 5, planned against 4".to_owned());
        receipt.lines[4].outcome = "blocked".to_owned();
        receipt.lines[4].error = Some("Agent/support#update is stale".to_owned());
        insta::assert_snapshot!(style::plain(&human(&receipt, false)), @r"
      done        Agent/billing#create        agent_0
      done        Skill/triage#publish        agent_2 → skver_7
      done        Environment/default#record  agent_3
      blocked     Agent/old#retire            Agent/support#update is stale
      stale       Agent/support#update        version is 5, planned against 4

    Applied in part: 3 done, 1 blocked, 1 stale (apply_1)
    ");
        assert!(next(&receipt).unwrap().contains("`checkfu plan`"), "a stale plan is looked at before it is applied");
        receipt.lines[1].outcome = "failed".to_owned();
        assert!(next(&receipt).unwrap().contains("`checkfu apply`"));
        receipt.lines[1].outcome = "stale".to_owned();
        insta::assert_snapshot!(super::markdown(&receipt), @r"
    ### checkfu: applied in part: 3 done, 1 blocked, 1 stale (apply_1)

    - `stale Agent/support#update: version is 5, planned against 4`
    - `blocked Agent/old#retire: Agent/support#update is stale`

    Plan digest `sha256:64879f7d6b960a01909762d911a32d4582c20010c5641ee90278b644a9e3b525`.
    ");
    }

    #[test]
    fn a_long_receipt_counts_what_is_done() {
        let mut receipt = sample::receipt();
        receipt.lines = vec![receipt.lines[0].clone(); 500];
        let text = style::plain(&human(&receipt, false));
        assert!(text.contains("450 more done") && text.contains("Applied: 500 done (apply_1)"), "{text}");
        assert_eq!(next(&receipt), None);
        receipt.lines =
            vec![
                ReceiptLine { outcome: "failed".into(), error: Some("é".repeat(5_000)), ..receipt.lines[0].clone() };
                5_000
            ];
        let text = super::markdown(&receipt);
        assert!(text.len() <= BUDGET && text.contains(" rows. They are in the workspace"), "{}", text.len());
    }

    #[test]
    fn an_apply_of_the_record_is_markdown_with_the_failed_first() {
        let mut info = sample::apply();
        info.lines = sample::receipt().lines;
        info.lines[1].outcome = "failed".to_owned();
        info.lines[1].error = Some("<b> | @team".to_owned());
        insta::assert_snapshot!(apply_markdown(&info, &BTreeMap::new()), @r"
        ### checkfu: apply `apply_1`: partial

        - owner: `a/b`
        - actor: `jane`
        - began: `2026-11-30T09:00:01.123456789Z`
        - ended: `–`
        - plan: `sha256:148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940`
        - source: `0123456789abcdef with uncommitted changes`

        | outcome | action | id | error |
        |---|---|---|---|
        | failed | `Agent/support#update` | `agent_1` | &lt;b&gt; \| @<!-- -->team |
        | done | `Agent/billing#create` | `agent_0` |  |
        | done | `Skill/triage#publish` | `agent_2` → `skver_7` |  |
        | done | `Environment/default#record` | `agent_3` |  |
        | done | `Agent/old#retire` | `agent_4` |  |
        ");
        info.lines = vec![info.lines[1].clone(); 5_000];
        let text = apply_markdown(&info, &BTreeMap::new());
        assert!(text.len() <= BUDGET && text.contains("`checkfu show apply_1` shows all"), "{}", text.len());
    }
}
