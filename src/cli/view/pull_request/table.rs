//! The table of all resources. Where not all rows fit, those that lose something come first, then a hundred others; the
//! rest is counted.

use std::fmt::Write;

use crate::cli::view::markup::{cell, head};
use crate::cli::view::pull_request::View;
use crate::cli::view::pull_request::head::kinds;
use crate::cli::view::pull_request::link::{place, shown};
use crate::cli::view::pull_request::resource::{Details, Resource};
use crate::cli::view::text::count;

/// Most rows of others where not all fit.
const OTHERS: usize = 100;
/// Kept free for what is said of the rows that are left out.
const REST: usize = 1_000;

/// The rows that fit.
pub(super) struct Table {
    pub(super) text: String,
    /// Resources without a row.
    pub(super) left: usize,
}

fn titles(view: &View<'_>) -> String {
    let all = ["", "Resource", "What changes", "Cause", "Where"];
    let known = |title: &&str| *title != "Cause" || !view.comment.causes.is_empty();
    format!("\n{}", head(&all.into_iter().filter(known).collect::<Vec<_>>()))
}

/// A row without links: the shortest.
pub(super) fn bare(view: &View<'_>, resource: &Resource<'_>) -> String {
    cells(view, resource, None, "", resource.at().map(shown).unwrap_or_default())
}

/// A row, with what is said of its diff.
pub(super) fn row(view: &View<'_>, resource: &Resource<'_>, details: &Details, tail: &str) -> String {
    let at = resource.at().map(|at| place(view.comment, at)).unwrap_or_default();
    cells(view, resource, Some(details), tail, at)
}

fn cells(view: &View<'_>, resource: &Resource<'_>, details: Option<&Details>, tail: &str, at: String) -> String {
    let what = resource.what(details);
    let what = if what.is_empty() || tail.is_empty() { what + tail } else { format!("{what}; {tail}") };
    let verbs = resource.verbs();
    let verbs = if resource.retires() { format!("**{verbs}**") } else { verbs };
    let mut cells = vec![verbs, cell(&resource.subject()), what];
    if !view.comment.causes.is_empty() {
        cells.push(resource.cause(view.comment.causes));
    }
    cells.push(at);
    format!("| {} |\n", cells.join(" | "))
}

/// All rows.
pub(super) fn whole(view: &View<'_>, rows: &[String]) -> Table {
    let text = if rows.is_empty() { String::new() } else { titles(view) + &rows.concat() };
    Table { text, left: 0 }
}

/// How long it is with all rows.
pub(super) fn length(view: &View<'_>, rows: &[String]) -> usize {
    titles(view).len() + rows.iter().map(String::len).sum::<usize>()
}

/// As many rows as fit, the numbers of all above them. `rows` are those of `resources`.
pub(super) fn limited(view: &View<'_>, resources: &[Resource<'_>], rows: &[String], most: usize) -> Table {
    let mut text = kinds(view.comment.plan);
    let titles = titles(view);
    let mut room = most.saturating_sub(text.len() + titles.len() + REST);
    let (mut some, mut left, mut others) = (String::new(), Vec::new(), 0);
    for (resource, row) in resources.iter().zip(rows) {
        let wanted = resource.retires() || others < OTHERS;
        if wanted && row.len() <= room {
            room -= row.len();
            some.push_str(row);
            others += usize::from(!resource.retires());
        } else {
            left.push(resource);
        }
    }
    if !some.is_empty() {
        text.push_str(&titles);
        text.push_str(&some);
    }
    let lost = left.iter().filter(|r| r.retires()).count();
    let lost = if lost > 0 { format!(", {} among them", count(lost, "retirement")) } else { String::new() };
    if !left.is_empty() {
        let rest = count(left.len(), "resource");
        let _ = writeln!(text, "\n**Not shown here:** {rest}{lost}; all are in {}.", view.elsewhere);
    }
    Table { text, left: left.len() }
}
