//! References in a circle.

use std::collections::BTreeMap;

use crate::desired::references::place;
use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::manifest::Document;
use crate::model::Address;
use crate::model::kinds::{Ref, Target};

/// A resource in the graph.
pub(super) type Edges<'a> = BTreeMap<&'a Address, (&'a Document, &'a [Ref])>;

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Open,
    Done,
}

/// Tells every circle once, at the reference that closes it. Without recursion: a chain may be long.
pub(super) fn check(edges: &Edges<'_>, found: &mut Diagnostics) {
    let mut marks: BTreeMap<&Address, Mark> = BTreeMap::new();
    for start in edges.keys() {
        if marks.contains_key(*start) {
            continue;
        }
        let mut path: Vec<(&Address, usize)> = vec![(*start, 0)];
        marks.insert(*start, Mark::Open);
        while let Some((address, next)) = path.last_mut() {
            let address: &Address = address;
            let Some((document, refs)) = edges.get(address) else {
                path.pop();
                continue;
            };
            let Some(r) = refs.get(*next) else {
                marks.insert(address, Mark::Done);
                path.pop();
                continue;
            };
            *next += 1;
            let Target::Own(target) = &r.target else { continue };
            match (edges.get_key_value(target), marks.get(target)) {
                (Some(_), Some(Mark::Open)) => {
                    let from = path.iter().position(|(a, _)| *a == target).unwrap_or(0);
                    let mut names: Vec<String> = path[from..].iter().map(|(a, _)| a.to_string()).collect();
                    names.push(target.to_string());
                    let message = format!("references in a circle: {}", names.join(" → "));
                    found.push(Diagnostic::new(&code::CYCLE, message).at(place(document, r), "this closes it"));
                }
                (Some((key, _)), None) => {
                    marks.insert(key, Mark::Open);
                    path.push((key, 0));
                }
                _ => {}
            }
        }
    }
}
