//! What an apply did, for people and for a pull request.

use std::fmt::Write;

use crate::cli::view::text::{clip, count, line, pad};
use crate::cli::view::{markdown, style, words};
use crate::diag::bounded;
use crate::model::op::{ApplyInfo, ReceiptLine};
use crate::receipt::{Outcome, Receipt};

/// Lines of done actions that are listed before the rest is only counted (unless `verbose`).
const DONE_LINES: usize = 50;

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

/// An Apply of the workspace as text.
pub fn apply(info: &ApplyInfo) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", style::strong(line(&info.id)), line(info.outcome.as_deref().unwrap_or("not ended")));
    let ended = info.ended_at.as_deref().unwrap_or("–");
    let source = [&info.source.repository, &info.source.path, &info.source.commit];
    let source: Vec<String> = source.into_iter().flatten().filter(|s| !s.is_empty()).map(|s| line(s)).collect();
    let dirty = if info.source.dirty == Some(true) { " with uncommitted changes" } else { "" };
    for (name, value) in [
        ("owner", info.owner.to_string()),
        ("actor", line(&info.actor)),
        ("began", line(&info.began_at)),
        ("ended", line(ended)),
        ("plan", info.plan_digest.to_string()),
        ("source", format!("{}{dirty}", source.join(" "))),
    ] {
        if !value.is_empty() {
            let _ = writeln!(out, "  {} {value}", style::faint(format!("{name:<6}")));
        }
    }
    out.push('\n');
    lines(&info.lines, true, &mut out);
    out
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
    let mut out = format!("### checkfu: {word}{}\n\n", tail(receipt.apply.as_deref(), &receipt.lines));
    let open = receipt.lines.iter().filter(|l| l.outcome != "done").map(|one| {
        let error = one.error.as_deref().map(|e| format!(": {}", clip(e, 150)));
        format!("{} {}{}", one.outcome.replace('_', " "), one.action, error.unwrap_or_default())
    });
    let unsettled = receipt.not_settled.iter().map(|place| format!("not settled {}", clip(place, 150)));
    let mut left = 0;
    for row in unsettled.chain(open) {
        let row = format!("- {}\n", markdown::code(&row));
        if out.len() + row.len() + 300 > markdown::BUDGET {
            left += 1;
        } else {
            out.push_str(&row);
        }
    }
    if left > 0 {
        let _ = writeln!(out, "\n{} more, in the workspace's record of this apply.", count(left, "row"));
    }
    let _ = writeln!(out, "\nPlan digest {}.", markdown::code(&receipt.plan_digest.to_string()));
    out
}

/// What to do after an apply that is not whole; nothing when all is done.
pub fn next(receipt: &Receipt) -> Option<String> {
    let has = |outcome: &str| receipt.lines.iter().any(|l| l.outcome == outcome);
    if has("stale") {
        // Another changed it since: a new plan may want to undo that, which is to be seen before it is done.
        let what = "What is stale was changed by another since the plan was made.";
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
        assert!(text.len() <= markdown::BUDGET && text.contains(" more, in the workspace"), "{}", text.len());
    }
}
