//! The lines of `checkfu.yaml` against what is declared: protected, removed, moved, targets, versions.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet};

use crate::desired::references::Known;
use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics};
use crate::manifest::{ConfigDocument, nearest};
use crate::model::config::Moved;
use crate::model::{Address, Kind};

/// What can be said of the configuration alone. `version` is that of this program.
pub fn check_config(c: &ConfigDocument, version: &str) -> Diagnostics {
    let mut found = Diagnostics::default();
    if let Some(requires) = &c.config.requires {
        let at = || c.locate("/requires");
        match (semver::VersionReq::parse(requires), semver::Version::parse(version)) {
            (Err(e), _) => {
                let message = format!("`{requires}` is no range of versions: {e}");
                found.push(Diagnostic::new(&code::REQUIRES_FORM, message).at(at(), "").fix("requires: \">=0.1\""));
            }
            (Ok(range), Ok(version)) if !range.matches(&version) => {
                let message = format!("this project requires checkfu {range}, this is {version}");
                found.push(Diagnostic::new(&code::REQUIRES, message).at(at(), ""));
            }
            _ => {}
        }
    }
    if c.config.targets.is_empty() {
        let d = Diagnostic::new(&code::DEFAULT_TARGET, "`targets` is empty, so there is no workspace to plan against");
        found.push(d.at(c.locate("/targets"), "").fix("targets: {local: {kind: embedded}}"));
    }
    let adopted = c.config.adopt.iter().enumerate();
    let adopted = adopted.filter_map(|(i, a)| Some((format!("/adopt/{i}/target"), a.target.as_ref()?)));
    let named = c.config.default_target.iter().map(|t| ("/default_target".to_owned(), t));
    for (pointer, target) in named.chain(adopted) {
        if !c.config.targets.contains_key(target) {
            let known: Vec<&str> = c.config.targets.keys().map(String::as_str).collect();
            let near = nearest(target, known.iter().copied());
            let fix = near.map_or_else(|| format!("one of {}", known.join(", ")), |n| format!("did you mean `{n}`?"));
            let message = format!("`{target}` is none of the targets");
            found.push(Diagnostic::new(&code::DEFAULT_TARGET, message).at(c.locate(&pointer), "").fix(fix));
        }
    }
    found
}

/// A glob of addresses. A pattern that is too large to match with is none.
fn matcher(pattern: &str) -> Option<GlobSet> {
    let (kind, _) = pattern.split_once('/')?;
    let known = kind.contains(['*', '?', '[', '{']) || kind.parse::<Kind>().is_ok();
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
    GlobSet::new([glob]).ok().filter(|_| known)
}

/// Which declared addresses `policy.protect` names.
pub(super) fn protected(c: &ConfigDocument, known: Known<'_>, found: &mut Diagnostics) -> BTreeSet<Address> {
    let mut out = BTreeSet::new();
    for (i, pattern) in c.config.policy.protect.iter().enumerate() {
        let at = || c.locate(&format!("/policy/protect/{i}"));
        let Some(glob) = matcher(pattern) else {
            let message = format!("`{pattern}` is no glob of addresses");
            found.push(Diagnostic::new(&code::PROTECT, message).at(at(), "").fix("Kind/name, as in MemoryStore/*"));
            continue;
        };
        let before = out.len();
        let matching: Vec<&Address> = known.declared.iter().filter(|a| glob.is_match(a.to_string())).collect();
        let none = matching.is_empty() && known.unread.is_empty();
        out.extend(matching.into_iter().cloned());
        if none && out.len() == before {
            let message = format!("`{pattern}` matches nothing that is declared");
            found.push(Diagnostic::new(&code::PROTECTS_NOTHING, message).at(at(), ""));
        }
    }
    out
}

/// `removed:` lines name addresses, none of them declared.
pub(super) fn removed(
    c: &ConfigDocument,
    declared: &BTreeMap<Address, crate::diag::Location>,
    found: &mut Diagnostics,
) {
    for (i, line) in c.config.removed.iter().enumerate() {
        let at = || c.locate(&format!("/removed/{i}/address"));
        let Some(glob) = matcher(&line.address).filter(|_| is_address(&line.address)) else {
            let message = format!("`{}` is no address", line.address);
            found.push(Diagnostic::new(&code::REMOVED_FORM, message).at(at(), "").fix("Kind/name, as in Agent/old"));
            continue;
        };
        if line.keep && line.to.is_some() {
            let message = format!("{} is to be kept and to be handed over", line.address);
            found.push(Diagnostic::new(&code::REMOVED_FORM, message).at(at(), "").fix("take `keep` or `to` out"));
        }
        if line.to.as_ref() == Some(&c.config.authoring_owner) {
            let message = format!("{} is to be handed over to this project itself", line.address);
            found.push(
                Diagnostic::new(&code::REMOVED_FORM, message)
                    .at(at(), "")
                    .fix("name another owner, or take the line out"),
            );
        }
        for (address, place) in declared.iter().filter(|(a, _)| glob.is_match(a.to_string())) {
            let d = Diagnostic::new(&code::REMOVED_DECLARED, format!("{address} is declared and to be removed"));
            found.push(d.at(at(), "to be removed").at(place.clone(), "declared"));
        }
    }
}

/// A kind that is known, and a name that may hold globs.
fn is_address(pattern: &str) -> bool {
    let Some((kind, name)) = pattern.split_once('/') else { return false };
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*?[]{},!".contains(c);
    kind.parse::<Kind>().is_ok() && !name.is_empty() && name.chars().all(allowed)
}

/// Where a chain of lines leads; what was followed once is known for all that is on the way.
fn end_of<'a>(
    start: &'a Address,
    declared: &BTreeMap<Address, crate::diag::Location>,
    next: &BTreeMap<&'a Address, &'a Address>,
    ends: &mut BTreeMap<&'a Address, &'a Address>,
) -> &'a Address {
    let (mut end, mut way) = (start, Vec::new());
    while let Some(to) = next.get(end).filter(|_| !declared.contains_key(end)) {
        if let Some(known) = ends.get(end) {
            end = known;
            break;
        }
        // A circle ends where it began.
        ends.insert(end, end);
        way.push(end);
        end = to;
    }
    for address in way {
        ends.insert(address, end);
    }
    end
}

/// Do the lines that follow this one lead to where it begins?
fn leads_back(line: &Moved, next: &BTreeMap<&Address, &Address>) -> bool {
    let steps = std::iter::successors(Some(&line.to), |at| next.get(at).copied());
    steps.take(next.len() + 1).any(|at| *at == line.from)
}

/// `moved:` lines lead, over one another if need be, to something declared.
pub(super) fn moved(
    c: &ConfigDocument,
    declared: &BTreeMap<Address, crate::diag::Location>,
    known: Known<'_>,
    found: &mut Diagnostics,
) {
    let lines = &c.config.moved;
    let mut next: BTreeMap<&Address, &Address> = BTreeMap::new();
    for line in lines {
        next.entry(&line.from).or_insert(&line.to);
    }
    let mut ends: BTreeMap<&Address, &Address> = BTreeMap::new();
    let mut from: BTreeSet<&Address> = BTreeSet::new();
    for (i, line) in lines.iter().enumerate() {
        let mut tell = |message: String, fix: Option<String>, key: &str| {
            let at = c.locate(&format!("/moved/{i}/{key}"));
            let d = Diagnostic::new(&code::MOVED, message).at(at, "");
            found.push(match fix {
                Some(fix) => d.fix(fix),
                None => d,
            });
        };
        if line.from.kind != line.to.kind {
            tell(format!("{} cannot become {}, which is another kind", line.from, line.to), None, "to");
            continue;
        }
        if !from.insert(&line.from) {
            tell(format!("{} is moved twice", line.from), None, "from");
        }
        if declared.contains_key(&line.from) && leads_back(line, &next) {
            let (from, to) = (&line.from, &line.to);
            let message = format!(
                "`moved:` gives {from} the address of {to}, and leads back to {from}: an address is one resource's at every moment"
            );
            let fix = format!(
                "in steps: give {from} a third name and apply; then move the others and apply; then that third name to {to}. Or take the lines out, if they are done"
            );
            tell(message, Some(fix), "from");
        } else if declared.contains_key(&line.from) {
            tell(format!("{} is still declared", line.from), None, "from");
        }
        let end = end_of(&line.to, declared, &next, &mut ends);
        if known.lacks(end) {
            let names = declared.keys().filter(|a| a.kind == end.kind).map(|a| a.name.as_str());
            let near = nearest(&end.name, names).map(|n| format!(", did you mean {}/{n}?", end.kind));
            tell(format!("{end} is not declared{}", near.unwrap_or_default()), None, "to");
        }
    }
}
