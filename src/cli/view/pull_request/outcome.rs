//! What became of a plan, as heading, status and last line of its comment.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::view::markup::{cell, code, head, html_code, prose};
use crate::cli::view::pull_request::link::{commit, run};
use crate::cli::view::text::{clip, count};
use crate::diag::bounded;
use crate::model::op::ReceiptLine;
use crate::receipt::{Outcome as Ended, Receipt};

/// Most rows of what was not done.
const ROWS: usize = 20;
/// Longest reason in a row.
const WHY: usize = 300;

/// What is told anew of a plan that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// One line that begins with `###`.
    pub heading: String,
    /// Below the heading, Markdown; may be empty.
    pub status: String,
    /// The last line, HTML; may be empty.
    pub foot: String,
}

/// Where and from what an apply runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run<'a> {
    /// Which comment of those that a repository has.
    pub key: &'a str,
    /// The commit that is applied.
    pub head: Option<&'a str>,
    /// Of the repository, as `https://github.com/acme/agents`.
    pub repository: Option<&'a str>,
    /// Of the run.
    pub run: Option<&'a str>,
}

impl Run<'_> {
    fn outcome(&self, title: &str, status: String, word: &str) -> Outcome {
        self.outcome_of("apply", title, status, word)
    }

    fn outcome_of(&self, command: &str, title: &str, status: String, word: &str) -> Outcome {
        let at = self.head.map(|head| format!(" at {}", commit(self.repository, head))).unwrap_or_default();
        let by = self.run.map(|_| format!(" in {}", run(self.run, "this run"))).unwrap_or_default();
        Outcome {
            heading: format!("### checkfu {command}: {} — {title}", code(&clip(self.key, 64))),
            status,
            foot: format!("{word}{at}{by}."),
        }
    }
}

/// An apply runs.
pub fn applying(run: &Run<'_>) -> Outcome {
    run.outcome("⏳ applying", String::new(), "Being applied")
}

/// An apply ended: what was done by verb, and a row for each action that was not.
pub fn applied(run: &Run<'_>, receipt: &Receipt) -> Outcome {
    let done: Vec<&ReceiptLine> = receipt.lines.iter().filter(|l| l.outcome == "done").collect();
    let mut verbs: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &done {
        *verbs.entry(line.action.rsplit_once('#').map_or("other", |(_, verb)| verb)).or_default() += 1;
    }
    let did: Vec<String> = verbs.iter().map(|(verb, n)| format!("{n} {}", prose(verb))).collect();
    let (did, of) = (did.join(", "), receipt.lines.len());
    let (title, word) = match receipt.outcome {
        Ended::Nothing => ("✅ nothing was left to do".to_owned(), "Nothing was left to do"),
        Ended::Done if receipt.not_settled.is_empty() => (format!("✅ applied: {did}"), "Applied"),
        Ended::Done => (format!("⚠️ applied, and not all is as wanted: {did}"), "Applied"),
        Ended::Partial => (format!("⚠️ applied in part: {} of {}", done.len(), count(of, "action")), "Applied in part"),
        Ended::Failed => (format!("❌ nothing was applied of {}", count(of, "action")), "Nothing was applied"),
        Ended::Interrupted => {
            (format!("⏹️ interrupted after {} of {}", done.len(), count(of, "action")), "Interrupted")
        }
    };
    let open = receipt.lines.iter().filter(|l| l.outcome != "done").map(|l| {
        let why = l.error.as_deref().map(|e| format!(": {}", bounded(e))).unwrap_or_default();
        (l.action.clone(), format!("{}{why}", l.outcome.replace('_', " ")))
    });
    let unsettled = receipt.not_settled.iter().map(|place| (place.clone(), "not as wanted after the apply".to_owned()));
    let rows: Vec<(String, String)> = open.chain(unsettled).collect();
    let mut status = table(&rows);
    if matches!(receipt.outcome, Ended::Partial | Ended::Failed | Ended::Interrupted) {
        status.push_str("\nWhat is done stays done; the next run goes on from there.\n");
    }
    let mut outcome = run.outcome(&title, status, word);
    if let Some(apply) = &receipt.apply {
        let _ = write!(outcome.foot, " Apply {}.", html_code(&clip(apply, 100)));
    }
    outcome
}

/// An apply was refused, or left some actions: each with the reason, of so many in all.
pub fn refused(run: &Run<'_>, rows: &[(String, String)], of: usize) -> Outcome {
    let was = if rows.len() == 1 { "was" } else { "were" };
    let title = format!("❌ not applied: {} of {} {was} not approved", rows.len(), count(of, "action"));
    run.outcome(&title, table(rows), "Not applied")
}

/// An apply failed before anything was done.
pub fn failed(run: &Run<'_>, why: &str) -> Outcome {
    run.outcome("❌ not applied", format!("{}\n", prose(&bounded(why))), "Not applied")
}

/// No plan could be made of what was pushed: each error with its place, of so many in all.
pub fn unplanned(run: &Run<'_>, rows: &[(String, String)], of: usize) -> Outcome {
    let mut status = String::new();
    for (place, why) in rows.iter().take(ROWS) {
        let _ = writeln!(status, "- {}: {}", code(&clip(place, WHY)), prose(&clip(why, WHY)));
    }
    if of > rows.len().min(ROWS) {
        let _ = writeln!(status, "\n**And {} more**; the job summary has all.", of - rows.len().min(ROWS));
    }
    run.outcome_of("plan", "❌ there is no plan", status, "No plan could be made")
}

/// The plan is not what would be applied now.
pub fn stale(run: &Run<'_>, why: &str) -> Outcome {
    run.outcome("⚠️ out of date", format!("{}\n", prose(&bounded(why))), "Found out of date")
}

fn table(rows: &[(String, String)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = head(&["Action", "Why not"]);
    for (subject, why) in rows.iter().take(ROWS) {
        let _ = writeln!(out, "| {} | {} |", cell(&clip(subject, WHY)), prose(&clip(why, WHY)));
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "\n**And {} more**; the job summary names them.", rows.len() - ROWS);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;

    const RUN: Run<'_> = Run {
        key: "prod",
        head: Some("77e01ab277e01ab2"),
        repository: Some("https://github.com/acme/agents"),
        run: Some("https://github.com/acme/agents/actions/runs/12"),
    };

    #[test]
    fn what_was_done_is_counted_and_what_was_not_has_a_row() {
        let mut receipt = sample::receipt();
        let done = applied(&RUN, &receipt);
        assert_eq!(
            done.heading,
            "### checkfu apply: `prod` — ✅ applied: 1 create, 1 publish, 1 record, 1 retire, 1 update"
        );
        assert_eq!(done.status, "");
        assert!(
            done.foot.starts_with("Applied at <a href=\"https://github.com/acme/agents/commit/77e01ab2"),
            "{done:?}"
        );
        receipt.outcome = Ended::Partial;
        receipt.lines[1].outcome = "stale".to_owned();
        receipt.lines[1].error = Some("<b> @team | version is 5".to_owned());
        let part = applied(&RUN, &receipt);
        assert_eq!(part.heading, "### checkfu apply: `prod` — ⚠️ applied in part: 4 of 5 actions");
        insta::assert_snapshot!(part.status, @r"
        | Action | Why not |
        |---|---|
        | `Agent/support#update` | stale: &lt;b&gt; @<!-- -->team \| version is 5 |

        What is done stays done; the next run goes on from there.
        ");
    }

    #[test]
    fn a_refusal_names_what_nobody_approved_and_is_bounded() {
        let row = |i: usize| (format!("Agent/a{i}#update"), "`temperature` was 0.9 @all".to_owned());
        let one = refused(&RUN, &[row(1)], 4);
        assert_eq!(one.heading, "### checkfu apply: `prod` — ❌ not applied: 1 of 4 actions was not approved");
        assert!(
            one.status.contains("| `Agent/a1#update` | \\`temperature\\` was 0.9 @<!-- -->all |"),
            "{}",
            one.status
        );
        let many: Vec<_> = (0..10_000).map(row).collect();
        let many = refused(&RUN, &many, 10_000);
        assert!(many.status.contains("**And 9980 more**") && many.status.len() < 4_000, "{}", many.status.len());
        for told in [failed(&RUN, "<b>\n### x"), stale(&RUN, "<b>\n### x"), applying(&RUN)] {
            assert_eq!(told.heading.lines().count(), 1);
            assert!(!told.status.contains('<') || told.status.contains("<!-- -->"), "{told:?}");
        }
    }
}
