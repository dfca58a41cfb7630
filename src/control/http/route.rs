//! Paths: the row and the parameters of one, and the path of a row with its parameters.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::model::op::{OPERATIONS, Operation, Verb};

/// What is encoded in a segment of a path: all but RFC 3986's unreserved characters, and `:` for digests.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// Longest path, in bytes, as it is written.
const LONGEST: usize = 8 * 1024;

/// The old name of a collection, and its name.
const OLD: (&str, &str) = ("projects", "file_trees");

/// The row of a method and path, and the path's parameters: `/v1/projects…` is the old name of `/v1/file_trees…`.
pub fn route(method: Verb, path: &str) -> Option<(&'static Operation, BTreeMap<String, String>)> {
    let segments = segments(path)?;
    let found = OPERATIONS.iter().filter(|o| o.method == method).filter_map(|o| Some((o, matched(o, &segments)?)));
    // A word of the path is more than a parameter that would take it.
    found.min_by_key(|(_, params)| params.len())
}

/// The methods that a path takes; empty: there is no such path.
pub fn allowed(path: &str) -> Vec<Verb> {
    [Verb::Get, Verb::Post, Verb::Delete].into_iter().filter(|verb| route(*verb, path).is_some()).collect()
}

/// The path of a row, with its parameters put in.
pub(super) fn path_of(operation: &Operation, params: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for part in operation.path.trim_start_matches('/').split('/') {
        out.push('/');
        match name_of(part) {
            Some(name) => {
                let value = params.iter().find(|(n, _)| *n == name).map_or("", |(_, v)| *v);
                out.extend(utf8_percent_encode(value, SEGMENT));
            }
            None => out.push_str(part),
        }
    }
    out
}

/// The name of a parameter of a path's template.
fn name_of(part: &str) -> Option<&str> {
    part.strip_prefix('{').and_then(|p| p.strip_suffix('}'))
}

/// The segments of a path, decoded; `None`: it is too long, or one of them is empty, `.`, `..` or not UTF-8.
fn segments(path: &str) -> Option<Vec<String>> {
    let path = path.strip_prefix('/').filter(|_| path.len() <= LONGEST)?;
    let mut out = Vec::new();
    for part in path.split('/') {
        let part = percent_decode_str(part).decode_utf8().ok()?;
        if matches!(part.as_ref(), "" | "." | "..") || part.contains('\0') {
            return None;
        }
        out.push(part.into_owned());
    }
    if let [first, second, ..] = out.as_mut_slice()
        && first == "v1"
        && second == OLD.0
    {
        OLD.1.clone_into(second);
    }
    Some(out)
}

fn matched(operation: &Operation, segments: &[String]) -> Option<BTreeMap<String, String>> {
    let parts = || operation.path.trim_start_matches('/').split('/');
    let fits = parts().count() == segments.len()
        && parts().zip(segments).all(|(part, segment)| name_of(part).is_some() || part == segment);
    let param = |(part, segment): (&str, &String)| Some((name_of(part)?.to_owned(), segment.clone()));
    fits.then(|| parts().zip(segments).filter_map(param).collect())
}
