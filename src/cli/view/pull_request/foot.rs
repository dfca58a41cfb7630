//! The last line: which commits, which run, which plan, and what is left out.

use std::fmt::Write;

use crate::cli::view::markup::{code, html_code};
use crate::cli::view::pull_request::link::{commit, run};
use crate::cli::view::pull_request::{Left, View, restate};
use crate::cli::view::text::count;
use crate::cli::view::words;

/// Most bytes of it.
pub(super) const MOST: usize = 2_500;

/// The line; of a document that is no comment a paragraph.
pub(super) fn foot(view: &View<'_>, left: &Left) -> String {
    let comment = view.comment;
    let digest = comment.plan.digest.to_string();
    let left = left_out(left);
    if comment.key.is_none() {
        let whole = if words::is_diff(comment.plan) {
            "`checkfu diff` shows all of it"
        } else {
            "the whole plan is in the plan file (`checkfu plan -o FILE`, `checkfu show FILE`)"
        };
        let left = if left.is_empty() { left } else { format!("\n**Not shown here:** {left}.\n") };
        return format!("{left}\nDigest {}; {whole}.\n", code(&digest));
    }
    let links = &comment.links;
    let mut parts = Vec::new();
    parts.extend(comment.head.map(|head| format!("planned at {}", commit(links.repository, head))));
    parts.extend(comment.base.map(|base| format!("on {}", commit(links.repository, base))));
    parts.extend(links.run.map(|_| format!("in {}", run(links.run, "this run"))));
    let mut text = parts.join(" ");
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
        text.push_str(". ");
    }
    let _ = write!(text, "Digest {}.", html_code(&digest));
    if !left.is_empty() {
        let place = run(links.run.filter(|_| view.elsewhere == "the job summary"), &view.elsewhere);
        let _ = write!(text, " ⚠️ To fit here, something is left out: {left}. All of it is in {place}.");
    }
    format!("\n{}<sub>{text}</sub>\n", restate::FOOT)
}

fn left_out(left: &Left) -> String {
    let mut parts = left.lists.clone();
    parts.extend((left.shortened > 0).then(|| format!("lines of {}", count(left.shortened, "diff"))));
    parts.extend((left.dropped > 0).then(|| count(left.dropped, "whole diff")));
    parts.extend((left.new > 0).then(|| format!("the fields of {}", count(left.new, "new resource"))));
    parts.join(", ")
}
