//! Which part of the desired state is asked for: addresses, manifest paths, labels, and what these need.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveResource};
use crate::model::Address;
use crate::model::kinds::Target;
use crate::plan::{Effect, Gathered, Options};

/// Which part. Empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Addresses or manifest paths, both with globs; a folder stands for all below it.
    pub only: Vec<String>,
    /// As `only`, left out.
    pub exclude: Vec<String>,
    /// Labels that a resource must have.
    pub labels: Vec<(String, String)>,
}

impl Scope {
    /// Is all asked for?
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.exclude.is_empty() && self.labels.is_empty()
    }

    /// As a person wrote it.
    pub fn as_written(&self) -> Vec<String> {
        let exclude = self.exclude.iter().map(|e| format!("--exclude {e}"));
        let labels = self.labels.iter().map(|(k, v)| format!("-l {k}={v}"));
        self.only.iter().cloned().chain(exclude).chain(labels).collect()
    }
}

/// The scope, worked out.
pub(super) struct Selected {
    wanted: Option<BTreeSet<Address>>,
    retirable: Option<BTreeSet<Address>>,
}

impl Selected {
    /// Is a wanted resource in it?
    pub(super) fn holds(&self, address: &Address) -> bool {
        self.wanted.as_ref().is_none_or(|s| s.contains(address))
    }

    /// May a live resource that is not wanted be retired?
    pub(super) fn may_retire(&self, address: &Address) -> bool {
        self.retirable.as_ref().is_none_or(|s| s.contains(address))
    }
}

/// Does a glob match? `*` stays within a part; a glob that cannot be read matches itself alone.
pub(super) fn glob_matches(glob: &str, text: &str) -> bool {
    if !glob.contains(['*', '?', '[', '{']) {
        return glob == text;
    }
    match GlobBuilder::new(glob).literal_separator(true).build() {
        Ok(glob) => glob.compile_matcher().is_match(text),
        Err(_) => glob == text,
    }
}

fn under(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn names_wanted(pattern: &str, wanted: &Wanted) -> bool {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    glob_matches(pattern, &wanted.address.to_string())
        || glob_matches(pattern, &wanted.at.file)
        || under(&wanted.at.file, pattern)
        || wanted.content.as_ref().is_some_and(|(_, root)| under(root, pattern))
}

fn label<'v>(spec: &'v serde_json::Value, key: &str) -> Option<&'v str> {
    spec.get("labels")?.get(key)?.as_str()
}

/// Works the scope out, with the closure of what it depends on.
pub(super) fn select(all: &BTreeMap<Address, Wanted>, live: &Live, options: &Options, out: &mut Gathered) -> Selected {
    let scope = &options.scope;
    if scope.is_all() {
        return Selected { wanted: None, retirable: None };
    }
    let gone: Vec<(&Address, &LiveResource)> = live.resources.iter().filter(|(a, _)| !all.contains_key(*a)).collect();
    for pattern in &scope.only {
        let hit = all.values().any(|w| names_wanted(pattern, w))
            || gone.iter().any(|(a, _)| glob_matches(pattern, &a.to_string()));
        if !hit {
            out.find(&codes::SCOPE_EMPTY, Effect::Error, None, format!("`{pattern}` names no resource"))
                .fix("write an address as in Agent/support, or the path of a manifest");
        }
    }
    let excluded = |w: &Wanted| scope.exclude.iter().any(|p| names_wanted(p, w));
    let mut open: Vec<&Wanted> = all
        .values()
        .filter(|w| scope.only.is_empty() || scope.only.iter().any(|p| names_wanted(p, w)))
        .filter(|w| scope.labels.iter().all(|(k, v)| label(&w.spec, k) == Some(v)))
        .filter(|w| !excluded(w))
        .collect();
    let mut wanted = BTreeSet::new();
    while let Some(next) = open.pop() {
        if !wanted.insert(next.address.clone()) {
            continue;
        }
        for r in &next.refs {
            if let Target::Own(address) = &r.target {
                open.extend(all.get(address).filter(|w| !excluded(w)));
            }
        }
    }
    let retirable = gone
        .into_iter()
        .filter(|(a, r)| {
            let name = a.to_string();
            let labels = r.body.as_ref().map(|b| &b.live);
            (scope.only.is_empty() || scope.only.iter().any(|p| glob_matches(p, &name)))
                && !scope.exclude.iter().any(|p| glob_matches(p, &name))
                // Labels that were not read may be others: then it is outside.
                && scope.labels.iter().all(|(k, v)| labels.and_then(|l| label(l, k)) == Some(v))
        })
        .map(|(a, _)| a.clone())
        .collect();
    Selected { wanted: Some(wanted), retirable: Some(retirable) }
}
