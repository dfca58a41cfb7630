//! What is otherwise than in the plan that the comment showed after the last push.

use std::collections::{BTreeMap, BTreeSet};

use crate::ci::marker::Marker;
use crate::cli::view::markup::code;
use crate::cli::view::pull_request::link::commit;
use crate::cli::view::pull_request::{Comment, marker};
use crate::cli::view::text::{clip, count};

/// Most actions that are named in one place.
const NAMED: usize = 8;

/// A paragraph, or nothing where the comment is the first one.
pub(super) fn since(comment: &Comment<'_>) -> String {
    let (Some(before), Some(now)) = (comment.previous, marker(comment)) else { return String::new() };
    let at = before.head.as_deref().map(|head| format!(" at {}", commit(comment.links.repository, head)));
    let plan = format!("the plan{}", at.unwrap_or_else(|| " before".to_owned()));
    if before.digest == now.digest {
        return if before.head == now.head { String::new() } else { format!("\nThe same as {plan}.\n") };
    }
    // An empty list names no action, or says that there were too many to be named.
    let unnamed = |m: &Marker| m.actions.is_empty() && m.total > 0;
    if unnamed(before) || unnamed(&now) {
        let numbers = format!("{} then, {} now", count(before.total, "action"), now.total);
        return format!("\nNot {plan}; there are too many to compare them one by one ({numbers}).\n");
    }
    let ids: Vec<&str> = comment.plan.actions.iter().map(|a| a.id.as_str()).collect();
    let known: BTreeSet<&str> = before.actions.iter().map(String::as_str).collect();
    let old: BTreeMap<&str, &str> =
        before.names.iter().map(String::as_str).zip(before.actions.iter().map(String::as_str)).collect();
    let (mut new, mut other, mut same) = (Vec::new(), Vec::new(), 0);
    for (id, digest) in ids.iter().zip(&now.actions) {
        match (known.contains(digest.as_str()), old.contains_key(id)) {
            (true, _) => same += 1,
            (false, true) => other.push(*id),
            (false, false) => new.push(*id),
        }
    }
    let planned: BTreeSet<&str> = ids.into_iter().collect();
    let kept: BTreeSet<&str> = now.actions.iter().map(String::as_str).collect();
    let gone: Vec<&str> = old.keys().filter(|id| !planned.contains(**id)).copied().collect();
    let lost = before.actions.iter().filter(|d| !kept.contains(d.as_str())).count();
    let mut parts = Vec::new();
    parts.extend(named("new", &new));
    parts.extend(named("changed", &other));
    parts.extend(named("no more", &gone));
    if before.names.is_empty() && lost > 0 {
        parts.push(format!("{} of before changed or gone", count(lost, "action")));
    }
    parts.push(format!("{same} as before"));
    format!("\nSince {plan}: {}.\n", parts.join("; "))
}

fn named(word: &str, ids: &[&str]) -> Option<String> {
    if ids.is_empty() {
        return None;
    }
    let list: Vec<String> = ids.iter().take(NAMED).map(|id| code(&clip(id, 200))).collect();
    let more = if ids.len() > NAMED { format!(" and {} more", ids.len() - NAMED) } else { String::new() };
    Some(format!("{word} {}{more}", list.join(", ")))
}
