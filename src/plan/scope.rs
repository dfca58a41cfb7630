//! Which part of the desired state is asked for: addresses, manifest paths, labels, and what these need.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobMatcher};

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

/// A pattern, ready to match. `*` stays within a part; a glob that cannot be read matches itself alone.
pub(super) enum Pattern {
    Text(String),
    Glob(Box<GlobMatcher>),
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let glob = || GlobBuilder::new(text).literal_separator(true).build().ok();
        match text.contains(['*', '?', '[', '{']).then(glob).flatten() {
            Some(glob) => Pattern::Glob(Box::new(glob.compile_matcher())),
            None => Pattern::Text(text.to_owned()),
        }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Text(own) => own == text,
            Pattern::Glob(glob) => glob.is_match(text),
        }
    }
}

fn under(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A pattern of a scope, as written and ready to match.
struct Named<'a> {
    text: &'a str,
    pattern: Pattern,
}

impl<'a> Named<'a> {
    fn all(texts: &'a [String]) -> Vec<Self> {
        let plain = texts.iter().map(|t| t.strip_prefix("./").unwrap_or(t));
        plain.map(|text| Self { text, pattern: Pattern::new(text) }).collect()
    }

    fn wanted(&self, wanted: &Wanted) -> bool {
        self.address(&wanted.address)
            || self.pattern.matches(&wanted.at.file)
            || under(&wanted.at.file, self.text)
            || wanted.content.as_ref().is_some_and(|(_, root)| under(root, self.text))
    }

    fn address(&self, address: &Address) -> bool {
        self.pattern.matches(&address.to_string())
    }
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
    let (only, exclude) = (Named::all(&scope.only), Named::all(&scope.exclude));
    for named in &only {
        if !all.values().any(|w| named.wanted(w)) && !gone.iter().any(|(a, _)| named.address(a)) {
            out.find(&codes::SCOPE_EMPTY, Effect::Error, None, format!("`{}` names no resource", named.text))
                .fix("write an address as in Agent/support, or the path of a manifest");
        }
    }
    let excluded = |w: &Wanted| exclude.iter().any(|n| n.wanted(w));
    let mut open: Vec<&Wanted> = all
        .values()
        .filter(|w| only.is_empty() || only.iter().any(|n| n.wanted(w)))
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
            let labels = r.body.as_ref().map(|b| &b.live);
            (only.is_empty() || only.iter().any(|n| n.address(a)))
                && !exclude.iter().any(|n| n.address(a))
                // Labels that were not read may be others: then it is outside.
                && scope.labels.iter().all(|(k, v)| labels.and_then(|l| label(l, k)) == Some(v))
        })
        .map(|(a, _)| a.clone())
        .collect();
    Selected { wanted: Some(wanted), retirable: Some(retirable) }
}
