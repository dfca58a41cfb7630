//! Selectors that name nothing: a typo in a scope, a label, `--revert` or `--allow` would plan nothing and look as if
//! all were well.

use std::collections::{BTreeMap, BTreeSet};

use crate::desired::Wanted;
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveResource};
use crate::model::config::AllowRule;
use crate::model::{Address, Kind};
use crate::plan::scope::{Named, Pattern, label};
use crate::plan::{Effect, Gathered, Options};

/// Most of what is listed in a fix.
const LISTED: usize = 5;

/// Tells every selector that names neither something declared nor something live.
pub(super) fn check(all: &BTreeMap<Address, Wanted>, live: &Live, options: &Options, out: &mut Gathered) {
    if options.destroy {
        return;
    }
    let known: BTreeSet<&Address> = all.keys().chain(live.resources.keys()).collect();
    let gone = || live.resources.iter().filter(|(a, _)| !all.contains_key(*a));
    let scope = &options.scope;
    let named = Named::all(&scope.only).into_iter().map(|n| (n, ""));
    for (n, flag) in named.chain(Named::all(&scope.exclude).into_iter().map(|n| (n, "--exclude "))) {
        if !all.values().any(|w| n.wanted(w)) && !gone().any(|(a, _)| n.address(a)) {
            tell(&format!("{flag}{}", n.text), near(n.text, &known), out);
        }
    }
    for (key, value) in &scope.labels {
        let has = |v: Option<&str>| v == Some(value.as_str());
        let wanted = all.values().any(|w| has(label(&w.spec, key)));
        if !wanted && !gone().any(|(_, r)| has(live_label(r, key))) {
            tell(&format!("-l {key}={value}"), labels(all, key), out);
        }
    }
    for text in options.revert.without(&known) {
        tell(&format!("--revert {text}"), near(text, &known), out);
    }
    for allowance in options.allowances.iter().filter(|a| a.rule != AllowRule::Destroy) {
        let Some(subject) = &allowance.subject else { continue };
        let pattern = Pattern::new(subject);
        if !known.iter().any(|a| pattern.matches(&a.to_string())) {
            tell(&format!("--allow {allowance}"), near(subject, &known), out);
        }
    }
}

/// Tells a scope whose parts each name something, and nothing together.
pub(super) fn nothing_together(options: &Options, out: &mut Gathered) {
    if !out.findings.iter().any(|f| f.code == codes::SCOPE_EMPTY.code) {
        let message = format!("`{}` together name no resource", options.scope.as_written().join(" "));
        out.find(&codes::SCOPE_EMPTY, Effect::Error, None, message).fix("leave one of them out");
    }
}

fn tell(what: &str, fix: String, out: &mut Gathered) {
    out.find(&codes::SCOPE_EMPTY, Effect::Error, None, format!("`{what}` names no resource")).fix(fix);
}

pub(super) fn live_label<'a>(resource: &'a LiveResource, key: &str) -> Option<&'a str> {
    label(&resource.body.as_ref()?.live, key)
}

/// What was meant, most likely: a near address, all of a kind, the others of the kind.
fn near(text: &str, known: &BTreeSet<&Address>) -> String {
    if text.parse::<Kind>().is_ok() {
        return format!("all of a kind: {text}/*");
    }
    let distance = |a: &&&Address| strsim::osa_distance(&a.to_string().to_lowercase(), &text.to_lowercase());
    let allowed = (text.chars().count() / 4).clamp(1, 4);
    if let Some(best) = known.iter().min_by_key(distance).filter(|a| distance(a) <= allowed) {
        return format!("did you mean `{best}`?");
    }
    let kind = text.split_once('/').and_then(|(kind, _)| kind.parse::<Kind>().ok());
    let same: Vec<String> =
        known.iter().filter(|a| Some(a.kind) == kind).map(|a| format!("`{a}`")).take(LISTED).collect();
    if same.is_empty() {
        return "write an address as in Agent/support, or the path of a file of a resource; globs are allowed"
            .to_owned();
    }
    format!("one of {}", same.join(", "))
}

/// The values that a label has, or the labels that there are.
fn labels(all: &BTreeMap<Address, Wanted>, key: &str) -> String {
    let maps = || all.values().filter_map(|w| w.spec.get("labels")?.as_object()).flatten();
    let values: BTreeSet<String> =
        maps().filter(|(k, _)| *k == key).filter_map(|(k, v)| Some(format!("`{k}={}`", v.as_str()?))).collect();
    let shown = if values.is_empty() { maps().map(|(k, _)| format!("`{k}`")).collect() } else { values };
    let shown: Vec<String> = shown.into_iter().take(LISTED).collect();
    match shown.as_slice() {
        [] => "no resource has labels".to_owned(),
        shown => format!("labels that there are: {}", shown.join(", ")),
    }
}
