//! Symbolic links of an uploaded tree: one is kept when its target is written relative, exists, and stays
//! inside the set, read by its text as well as followed on disk.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use crate::bundle::walk::Candidate;

/// Why a link cannot be kept; `None` when it can. `base` is the set's folder in canonical form; `files` are
/// the set's paths as on disk.
pub(crate) fn refused(link: &Candidate, target: &Path, base: &Path, files: &BTreeSet<&str>) -> Option<&'static str> {
    let mut parts: Vec<&str> = link.path.split('/').collect();
    parts.pop();
    for part in target.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => return Some("an absolute target"),
            Component::CurDir => {}
            Component::ParentDir => {
                if parts.pop().is_none() {
                    return Some("a target outside the folder");
                }
            }
            Component::Normal(name) => match name.to_str() {
                Some(name) => parts.push(name),
                None => return Some("a target that is not UTF-8"),
            },
        }
    }
    match link.place.disk.canonicalize() {
        Ok(real) if !real.starts_with(base) => return Some("a target outside the folder"),
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Some("a target that does not exist"),
        Err(_) => return Some("a target that cannot be reached, as in a loop"),
    }
    let named = parts.join("/");
    let below = format!("{named}/");
    let held = named.is_empty()
        || files.contains(named.as_str())
        || files.range(below.as_str()..).next().is_some_and(|f| f.starts_with(&below));
    (!held).then_some("a target that is left out of the folder")
}
