//! Which part of the desired state is asked for: addresses, manifest paths, labels, and what these need.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet};

use crate::desired::Wanted;
use crate::live::{Live, LiveResource};
use crate::model::kinds::Target;
use crate::model::{Address, Kind};
use crate::plan::selectors::{self, live_label};
use crate::plan::{Gathered, Options};

/// Which part. Empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Addresses, or paths of files that declare a resource or are content of it, both with globs; a folder stands for
    /// all below it. An agent takes the mounts along that are written in it.
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
    /// All there is.
    pub(super) fn all() -> Self {
        Self { wanted: None, retirable: None }
    }

    /// Is a wanted resource in it?
    pub(super) fn holds(&self, address: &Address) -> bool {
        self.wanted.as_ref().is_none_or(|s| s.contains(address))
    }

    /// May a live resource that is not wanted be retired?
    pub(super) fn may_retire(&self, address: &Address) -> bool {
        self.retirable.as_ref().is_none_or(|s| s.contains(address))
    }
}

/// Addresses, with globs.
#[derive(Debug, Clone, Default)]
pub struct Addresses(Vec<(String, Pattern)>);

impl Addresses {
    /// Adds one; a glob that cannot be read matches itself alone.
    pub fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.0.push((text.clone(), Pattern::new(&text)));
    }

    /// Is an address among them?
    pub fn name(&self, address: &Address) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let text = address.to_string();
        self.0.iter().any(|(_, pattern)| pattern.matches(&text))
    }

    /// Those that name none of these, as they are written.
    pub(super) fn without<'a>(&'a self, known: &'a BTreeSet<&Address>) -> impl Iterator<Item = &'a str> {
        let names = |p: &Pattern| known.iter().any(|a| p.matches(&a.to_string()));
        self.0.iter().filter(move |(_, p)| !names(p)).map(|(text, _)| text.as_str())
    }
}

impl<T: Into<String>> FromIterator<T> for Addresses {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.add(text));
        all
    }
}

/// A pattern, ready to match. `*` stays within a part; a glob that cannot be read matches itself alone.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Text(String),
    Glob(Box<GlobSet>),
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let glob = || GlobBuilder::new(text).literal_separator(true).build().and_then(|g| GlobSet::new([g])).ok();
        match text.contains(['*', '?', '[', '{']).then(glob).flatten() {
            Some(glob) => Pattern::Glob(Box::new(glob)),
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
pub(super) struct Named<'a> {
    pub(super) text: &'a str,
    pattern: Pattern,
}

impl<'a> Named<'a> {
    pub(super) fn all(texts: &'a [String]) -> Vec<Self> {
        let plain = texts.iter().map(|t| match t.strip_prefix("./") {
            Some("") => ".",
            Some(rest) => rest,
            None => t,
        });
        plain.map(|text| Self { text, pattern: Pattern::new(text) }).collect()
    }

    /// Is a resource named: by its address, or by a file that declares it or is content of it?
    pub(super) fn wanted(&self, wanted: &Wanted) -> bool {
        self.address(&wanted.address) || self.file(&wanted.at.file) || self.content(wanted)
    }

    /// The folder of the project itself, `.`: all there is.
    fn is_all(&self) -> bool {
        self.text == "."
    }

    /// An inline mount lives in its agent and goes where that goes.
    pub(super) fn address(&self, address: &Address) -> bool {
        self.is_all()
            || self.pattern.matches(&address.to_string())
            || host(address).is_some_and(|agent| self.pattern.matches(&agent.to_string()))
    }

    fn file(&self, file: &str) -> bool {
        self.pattern.matches(file) || under(file, self.text)
    }

    fn content(&self, wanted: &Wanted) -> bool {
        let files = wanted.content.as_ref().is_some_and(|(files, root)| {
            let path = |path: &str| if root == "." { path.to_owned() } else { format!("{root}/{path}") };
            under(root, self.text) || files.entries.iter().any(|e| self.file(&path(&e.path)))
        });
        files
            || wanted.memories.values().any(|memory| self.file(&memory.file))
            || wanted.places.values().any(|place| self.file(&place.file))
    }
}

/// The agent that an inline mount is written in: mounts of their own have no dot in their names.
pub(super) fn host(address: &Address) -> Option<Address> {
    let mount = matches!(address.kind, Kind::MemoryMount | Kind::FileTreeMount);
    let (agent, _) = address.name.split_once('.').filter(|_| mount)?;
    Some(Address::new(Kind::Agent, agent))
}

pub(super) fn label<'v>(spec: &'v serde_json::Value, key: &str) -> Option<&'v str> {
    spec.get("labels")?.get(key)?.as_str()
}

/// Works the scope out, with the closure of what it depends on.
pub(super) fn select(all: &BTreeMap<Address, Wanted>, live: &Live, options: &Options, out: &mut Gathered) -> Selected {
    let mut selected = named(all, live, options, out);
    let Some(named) = selected.wanted.take() else { return selected };
    let exclude = Named::all(&options.scope.exclude);
    let mut open: Vec<&Wanted> = named.iter().filter_map(|a| all.get(a)).collect();
    let mut wanted = BTreeSet::new();
    while let Some(next) = open.pop() {
        if !wanted.insert(next.address.clone()) {
            continue;
        }
        for r in &next.refs {
            if let Target::Own(address) = &r.target {
                open.extend(all.get(address).filter(|w| !exclude.iter().any(|n| n.wanted(w))));
            }
        }
    }
    Selected { wanted: Some(wanted), ..selected }
}

/// Works the scope out: what it names, and nothing that that needs.
pub(super) fn named(all: &BTreeMap<Address, Wanted>, live: &Live, options: &Options, out: &mut Gathered) -> Selected {
    let scope = &options.scope;
    if scope.is_all() {
        return Selected::all();
    }
    let gone: Vec<(&Address, &LiveResource)> = live.resources.iter().filter(|(a, _)| !all.contains_key(*a)).collect();
    let (only, exclude) = (Named::all(&scope.only), Named::all(&scope.exclude));
    let labelled = |spec: &serde_json::Value| scope.labels.iter().all(|(k, v)| label(spec, k) == Some(v));
    // An inline mount has no labels; those of its agent count.
    let by_label = |w: &Wanted| {
        labelled(&w.spec) || host(&w.address).and_then(|agent| all.get(&agent)).is_some_and(|a| labelled(&a.spec))
    };
    let wanted: BTreeSet<Address> = all
        .values()
        .filter(|w| only.is_empty() || only.iter().any(|n| n.wanted(w)))
        .filter(|w| by_label(w) && !exclude.iter().any(|n| n.wanted(w)))
        .map(|w| w.address.clone())
        .collect();
    let retirable: BTreeSet<Address> = gone
        .into_iter()
        .filter(|(a, r)| {
            (only.is_empty() || only.iter().any(|n| n.address(a)))
                && !exclude.iter().any(|n| n.address(a))
                // Labels that were not read may be others: then it is outside.
                && scope.labels.iter().all(|(k, v)| live_label(r, k) == Some(v))
        })
        .map(|(a, _)| a.clone())
        .collect();
    if wanted.is_empty() && retirable.is_empty() && !options.destroy {
        selectors::nothing_together(options, out);
    }
    Selected { wanted: Some(wanted), retirable: Some(retirable) }
}
