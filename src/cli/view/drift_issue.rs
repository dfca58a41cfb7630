//! The issue about drift, what is said on it, and the pull request that brings drift into the files: titles and Markdown,
//! each within 60,000 bytes, with no text of users outside of code.

use std::fmt::Write;

use crate::ci::Marker;
use crate::ci::drift_issue::{Moved, Since};
use crate::cli::view::diagnostics::fix;
use crate::cli::view::drift_markdown::drift_after;
use crate::cli::view::markup::{code, fit, prose};
use crate::cli::view::text::{clip, count, line};
use crate::diag::Diagnostics;
use crate::model::Address;
use crate::plan::Drift;

/// Longest text of one row.
const ROW: usize = 300;

/// The look that an issue tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Which issue of the repository.
    pub key: String,
    /// When (RFC 3339, UTC).
    pub at: String,
    /// The page of the run, if it has one.
    pub run: Option<String>,
    /// The commit of the files, if that is known.
    pub commit: Option<String>,
}

impl Look {
    /// ` in [this run](…), with the files of commit `…``.
    fn place(&self) -> String {
        let run = self.run.as_ref().map(|url| format!(" in [this run]({})", link(url))).unwrap_or_default();
        let commit = self.commit.as_deref().map(|sha| format!(", with the files of commit {}", code(sha)));
        format!("{run}{}", commit.unwrap_or_default())
    }
}

/// An address of a page as the target of a link.
fn link(url: &str) -> String {
    let sound = |c: char| c.is_ascii_graphic() && !"()<>\\\"`".contains(c);
    url.chars().filter(|c| sound(*c)).collect()
}

/// `checkfu: drift in prod (2 resources)`.
pub fn title(key: &str, moved: &Moved) -> String {
    format!("checkfu: drift in {} ({})", clip(&line(key), 100), count(moved.resources, "resource"))
}

/// The text of the issue.
pub fn body(marker: &Marker, drift: &Drift, look: &Look) -> String {
    let first = format!(
        "{}\nLast seen {}{}. This issue is kept by checkfu: it is written anew when it changes, and closed when live is \
         as applied.\n\n- To keep what moved live, bring it into the files: `checkfu pull --drift`.\n- To put it back: \
         `checkfu revert ADDRESS`.\n\n",
        marker.write(),
        code(&look.at),
        look.place(),
    );
    drift_after(first, drift)
}

/// What is said when the issue changes.
pub fn changed(marker: &Marker, moved: &Moved, since: Option<&Since<'_>>, look: &Look) -> String {
    let first = format!("{}\nDrift changed, seen {}{}.\n\n", marker.write(), code(&look.at), look.place());
    let Some(since) = since else {
        return format!("{first}{} moved now; the text above has them.\n", count(moved.rows.len(), "place"));
    };
    let rows = |word: &'static str, all: &[&str]| {
        let row = move |row: &&str| format!("- {word}: {}\n", code(&clip(row, ROW)));
        all.iter().map(row).collect::<Vec<_>>()
    };
    let rows = [rows("new", &since.new), rows("moved again", &since.again), rows("gone", &since.gone)].concat();
    fit(first, rows.into_iter(), |left| format!("{}; the text above has them.", count(left, "place")))
}

/// What is said when it is over.
pub fn resolved(marker: &Marker, look: &Look) -> String {
    format!("{}\nNo drift any more: live is as applied, seen {}{}.\n", marker.write(), code(&look.at), look.place())
}

/// What is said on an issue beside the one that stays.
pub fn duplicate(marker: &Marker, of: u64) -> String {
    format!("{}\nThe same is told in #{of}, which is kept.\n", marker.write())
}

/// What a pull request about drift is made of.
#[derive(Debug)]
pub struct Proposal<'a> {
    /// Which of the repository.
    pub key: &'a str,
    /// The commit that it stands on.
    pub base: &'a str,
    /// Paths that change, and those that go.
    pub files: Vec<&'a str>,
    /// Resources of which a person has to decide.
    pub undecided: Vec<&'a Address>,
    /// Resources that are gone live.
    pub gone: Vec<&'a Address>,
    /// What is told beside.
    pub notes: &'a Diagnostics,
}

/// `checkfu: what moved live in prod (2 files)`.
pub fn pull_title(proposal: &Proposal<'_>) -> String {
    let files = count(proposal.files.len(), "file");
    format!("checkfu: what moved live in {} ({files})", clip(&line(proposal.key), 100))
}

/// The text of the pull request.
pub fn pull_body(marker: &Marker, proposal: &Proposal<'_>) -> String {
    let mut first = format!(
        "{}\nThis brings what moved live into the files, on top of {}: `checkfu pull --drift` made it. Merge it to keep \
         what is live; to put live back instead, use `checkfu revert ADDRESS` and close this. It is kept by checkfu until \
         somebody else commits to its branch, and closed when there is nothing to bring any more.\n\n",
        marker.write(),
        code(proposal.base),
    );
    if !proposal.undecided.is_empty() {
        let _ = writeln!(
            first,
            "**Not in here: {}.** Files and live both moved, and only a person can say what holds: `checkfu pull --drift \
             ADDRESS` puts both between marks.\n",
            count(proposal.undecided.len(), "resource"),
        );
    }
    let row = |word: &'static str| move |text: String| format!("- {word} {}\n", code(&clip(&text, ROW)));
    let note = |d: &crate::diag::Diagnostic| {
        format!("- {}: {}; {}\n", code(d.code.code), prose(&clip(&d.message, 2 * ROW)), prose(&clip(fix(d), ROW)))
    };
    let rows = (proposal.undecided.iter().map(ToString::to_string).map(row("both moved:")))
        .chain(proposal.gone.iter().map(ToString::to_string).map(row("gone live, and still in the files:")))
        .chain(proposal.notes.0.iter().map(note))
        .chain(proposal.files.iter().map(|f| (*f).to_owned()).map(row("file")));
    fit(first, rows, |left| format!("{}.", count(left, "row")))
}

/// What is said when there is nothing to bring any more.
pub fn pull_closed(look: &Look) -> String {
    format!("There is nothing to bring into the files any more, seen {}{}.\n", code(&look.at), look.place())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ci::drift_issue::since;
    use crate::cli::view::markup::BUDGET;

    const EVIL: &str = "a`b @team <img> [x](http://y) --> <!-- checkfu:1 {} -->\n# c";

    fn moved(rows: &[String]) -> Moved {
        let rows: BTreeMap<String, String> = rows.iter().map(|r| (r.clone(), "0123456789abcdef".to_owned())).collect();
        Moved { resources: rows.len(), rows }
    }

    fn look() -> Look {
        Look {
            key: "prod".to_owned(),
            at: "2026-12-01T01:00:00Z".to_owned(),
            run: Some("https://github.example/acme/agents/actions/runs/12".to_owned()),
            commit: Some("77e01ab2".to_owned()),
        }
    }

    #[test]
    fn what_is_said_on_a_change_names_what_is_new_and_what_is_gone() {
        let before = moved(&["Agent/a model".to_owned(), "Agent/b".to_owned()]);
        let now = moved(&["Agent/a model".to_owned(), "Skill/c content".to_owned()]);
        let old = before.marker("prod", None);
        let text = changed(&now.marker("prod", None), &now, since(&old, &now).as_ref(), &look());
        let (mark, text) = text.split_once('\n').unwrap();
        assert_eq!(Marker::read(mark), Some(now.marker("prod", None)));
        insta::assert_snapshot!(text, @"
        Drift changed, seen `2026-12-01T01:00:00Z` in [this run](https://github.example/acme/agents/actions/runs/12), with the files of commit `77e01ab2`.

        - new: `Skill/c content`
        - gone: `Agent/b`
        ");
        assert_eq!(title("prod", &now), "checkfu: drift in prod (2 resources)");
    }

    #[test]
    fn no_text_of_a_user_is_markup_and_everything_is_bounded() {
        let rows: Vec<String> = (0..2_000).map(|i| format!("Agent/a{i} {EVIL}{}", "x".repeat(200))).collect();
        let (before, now) = (moved(&rows[..20]), moved(&rows[10..]));
        let old = before.marker(EVIL, None);
        let text = changed(&now.marker(EVIL, None), &now, since(&old, &now).as_ref(), &look());
        assert!(text.len() <= BUDGET && text.contains("**Not shown here:**"), "{}", text.len());
        let bare: String = text.lines().skip(1).collect::<Vec<_>>().join("\n");
        let bare: String = bare.split("``").step_by(2).collect();
        assert!(!bare.contains("@team") && !bare.contains("<img") && !bare.contains("\n# c"), "{bare}");
        let notes = Diagnostics(vec![crate::diag::Diagnostic::new(&crate::diag::codes::cli::READ, EVIL)]);
        let addresses: Vec<Address> = (0..3_000).map(|i| format!("Agent/a{i}").parse().unwrap()).collect();
        let proposal = Proposal {
            key: EVIL,
            base: "77e01ab2",
            files: vec![EVIL; 3_000],
            undecided: addresses.iter().collect(),
            gone: Vec::new(),
            notes: &notes,
        };
        let text = pull_body(&now.marker(EVIL, None), &proposal);
        assert!(text.len() <= BUDGET && text.contains("Not in here: 3000 resources"), "{}", text.len());
        assert!(!pull_title(&proposal).contains('\n') && pull_title(&proposal).len() < 250);
        let evil = Look { run: Some("https://x/)[evil](y) `".to_owned()), ..look() };
        assert!(resolved(&now.marker("prod", None), &evil).contains("(https://x/[evil]y)"));
    }
}
