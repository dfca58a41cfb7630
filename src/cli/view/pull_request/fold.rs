//! What changes in each resource, folded, within the room that is left: less and less of each is shown until all fit.

use rayon::prelude::*;

use crate::cli::view::fenced::{Extent, block, lines};
use crate::cli::view::markup::code;
use crate::cli::view::pull_request::View;
use crate::cli::view::pull_request::link::place;
use crate::cli::view::pull_request::resource::{Details, Resource};
use crate::cli::view::text::clip;

/// Fewer lines of diff in all, and every fold is open.
const FEW: usize = 40;
/// Most places of fields that are linked.
const PLACES: usize = 5;

/// How much of each resource is shown.
#[derive(Debug, Clone, Copy)]
struct Level {
    context: bool,
    creates: bool,
    lines: usize,
}

/// From all to little. Unchanged sentences go first, then new resources, whose text the pull request shows anyway, then
/// the middle of long diffs.
const LADDER: [Level; 6] = [
    Level { context: true, creates: true, lines: usize::MAX },
    Level { context: false, creates: true, lines: usize::MAX },
    Level { context: false, creates: false, lines: usize::MAX },
    Level { context: false, creates: false, lines: 200 },
    Level { context: false, creates: false, lines: 80 },
    Level { context: false, creates: false, lines: 24 },
];

/// What is left out of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Nothing, or sentences around a change.
    Nothing,
    /// Lines, from the middle.
    Shortened,
    /// All of it.
    Dropped,
    /// The fields of one that is new.
    New,
}

/// What changes in a resource, as it is shown.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) text: String,
    pub(super) cut: Cut,
}

/// Lays out what changes in every resource.
pub(super) fn details(resources: &[Resource<'_>]) -> Vec<Details> {
    resources.par_iter().map(Resource::details).collect()
}

/// The folds, no longer than `most` bytes together; each that is dropped costs `dropped` bytes in its row.
pub(super) fn folds(
    view: &View<'_>,
    resources: &[Resource<'_>],
    details: &[Details],
    most: usize,
    dropped: usize,
) -> Vec<Fold> {
    let some = details.iter().filter(|d| !d.hunks.is_empty()).count();
    let open = some == 1 || details.iter().map(|d| lines(&d.hunks)).sum::<usize>() < FEW;
    let length = |folds: &[Fold]| folds.iter().map(|f| f.text.len()).sum::<usize>();
    let at = |level: Level| -> Vec<Fold> {
        resources.par_iter().zip(details).map(|(r, d)| fold(view, r, d, level, open)).collect()
    };
    let mut folds = Vec::new();
    for level in LADDER {
        folds = at(level);
        if length(&folds) <= most {
            return folds;
        }
    }
    let mut largest: Vec<usize> = (0..folds.len()).filter(|i| !folds[*i].text.is_empty()).collect();
    largest.sort_by_key(|i| std::cmp::Reverse(folds[*i].text.len()));
    let mut length = length(&folds);
    for i in largest {
        if length <= most {
            break;
        }
        length = length - folds[i].text.len() + dropped;
        folds[i] = Fold { text: String::new(), cut: Cut::Dropped };
    }
    // What is said of those that were dropped may be longer than the room.
    folds
}

fn fold(view: &View<'_>, resource: &Resource<'_>, details: &Details, level: Level, open: bool) -> Fold {
    if details.hunks.is_empty() {
        return Fold { text: String::new(), cut: Cut::Nothing };
    }
    if resource.creates() && !level.creates {
        return Fold { text: String::new(), cut: Cut::New };
    }
    let extent = Extent { context: level.context, most: level.lines, elsewhere: &view.elsewhere };
    let block = block(&details.hunks, extent);
    let open = if open { " open" } else { "" };
    let short = if block.cut { " ⚠️ shortened" } else { "" };
    let summary = resource.summary(details);
    let places = places(view, resource);
    let text = format!("\n<details{open}><summary>{summary}{short}</summary>\n\n{places}{}\n</details>\n", block.text);
    Fold { text, cut: if block.cut { Cut::Shortened } else { Cut::Nothing } }
}

/// Where the fields are written, where that is not where the resource is.
fn places(view: &View<'_>, resource: &Resource<'_>) -> String {
    let places = resource.places();
    if places.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> = places
        .iter()
        .take(PLACES)
        .map(|(path, at)| format!("{} in {}", code(&clip(path, 100)), place(view.comment, at)))
        .collect();
    if places.len() > PLACES {
        shown.push(format!("{} more", places.len() - PLACES));
    }
    format!("{}\n\n", shown.join(", "))
}
