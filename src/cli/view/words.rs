//! The words of a plan, the same in every view: symbols, totals, what is said about an action.

use std::collections::BTreeMap;

use crate::cli::view::text;
use crate::diag::Severity;
use crate::model::Kind;
use crate::plan::{Action, Cause, FieldChange, FollowerOf, Held, NOTE_OF_UNDONE, Plan, Reversible, Step, Verb};

/// The sign in front of an action.
pub fn symbol(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "+",
        Verb::Update => "~",
        Verb::Publish => "↑",
        Verb::Repoint => "→",
        Verb::Replace => "±",
        Verb::Rename => "»",
        Verb::Adopt => "◀",
        Verb::TakeOver => "◁",
        Verb::Release => "▷",
        Verb::HandOver => "▶",
        Verb::Protect => "◆",
        Verb::Unprotect => "◇",
        Verb::Retire => "-",
        Verb::Record => "=",
        Verb::Policy => "§",
    }
}

/// Every verb in the order in which totals name it.
const VERBS: [Verb; 15] = [
    Verb::Create,
    Verb::Update,
    Verb::Publish,
    Verb::Repoint,
    Verb::Replace,
    Verb::Rename,
    Verb::Adopt,
    Verb::TakeOver,
    Verb::Release,
    Verb::HandOver,
    Verb::Protect,
    Verb::Unprotect,
    Verb::Retire,
    Verb::Policy,
    Verb::Record,
];

/// How many actions of each verb, none left out that is not zero.
pub fn totals(plan: &Plan) -> Vec<(Verb, usize)> {
    let mut counts: BTreeMap<Verb, usize> = BTreeMap::new();
    for action in &plan.actions {
        *counts.entry(action.verb).or_default() += 1;
    }
    VERBS.into_iter().filter_map(|v| counts.get(&v).map(|n| (v, *n))).collect()
}

/// How many of each kind and verb.
pub fn totals_by_kind(plan: &Plan) -> BTreeMap<Option<Kind>, BTreeMap<Verb, usize>> {
    let mut counts: BTreeMap<Option<Kind>, BTreeMap<Verb, usize>> = BTreeMap::new();
    for action in &plan.actions {
        *counts.entry(action.address.as_ref().map(|a| a.kind)).or_default().entry(action.verb).or_default() += 1;
    }
    counts
}

/// Is it nothing but that file and live agree? A changed mode is recorded too, and is a change.
pub fn settles(action: &Action) -> bool {
    action.verb == Verb::Record && action.about.changes.iter().all(|c| c.cause == Cause::Both)
}

/// `1 to create, 2 to publish`.
pub fn totals_line(plan: &Plan) -> String {
    let settled = plan.actions.iter().filter(|a| settles(a)).count();
    let some = |n: usize, verb: &str| (n > 0).then(|| format!("{n} to {verb}"));
    let words: Vec<String> = totals(plan)
        .into_iter()
        .flat_map(|(verb, n)| match verb {
            Verb::Record => [some(n - settled, "record"), some(settled, "settle")],
            Verb::Policy if plan.actions.iter().any(notes_undone) => {
                [Some(format!("the {NOTE_OF_UNDONE} to set")), None]
            }
            Verb::Policy => [Some("the policy to set".to_owned()), None],
            verb => [some(n, verb.as_str()), None],
        })
        .flatten()
        .collect();
    if words.is_empty() { "nothing to do".to_owned() } else { words.join(", ") }
}

/// Does the action retire something?
pub fn retires(action: &Action) -> bool {
    action.verb == Verb::Retire
}

/// Can it not be taken back?
pub fn irreversible(action: &Action) -> bool {
    action.about.reversible == Reversible::No
}

/// Does it change who owns the resource, or where it is? Then why is said first.
pub fn moves(action: &Action) -> bool {
    matches!(action.verb, Verb::Rename | Verb::Adopt | Verb::TakeOver | Verb::Release | Verb::HandOver)
}

/// Is the policy left as it is, and what a rollback undid noted beside it?
fn notes_undone(action: &Action) -> bool {
    action.verb == Verb::Policy && action.about.name == NOTE_OF_UNDONE
}

/// What is acted on: an address, of a rename the old one too, or the owner for the policy.
pub fn subject(action: &Action) -> String {
    let Some(address) = &action.address else {
        return if notes_undone(action) { NOTE_OF_UNDONE.to_owned() } else { "owner policy".to_owned() };
    };
    match &action.about.from {
        Some(from) if action.verb == Verb::Rename => format!("{} → {address}", text::line(from)),
        _ => address.to_string(),
    }
}

/// Whom a follower belongs to, where that is not the plan's owner, and what it is.
fn follower(of: &FollowerOf) -> String {
    match (&of.owner, of.unowned) {
        (Some(owner), _) => format!("{owner}:{}", of.address),
        (None, true) => format!("{} {}, which nobody owns", of.address.kind, text::line(&of.address.name)),
        (None, false) => of.address.to_string(),
    }
}

/// What is to be said of an action beside its fields and files, a line each, plain text.
pub fn remarks(action: &Action) -> Vec<String> {
    let about = &action.about;
    let mut out = Vec::new();
    if irreversible(action) {
        out.push("cannot be undone".to_owned());
    }
    if let Step::Create { replaces: Some(id), .. } = &action.step {
        out.push(format!("takes the place of {id}, which is retired last"));
    }
    out.extend(replaced(action).map(|names| format!("refers to {names}, replaced by this plan")));
    out.extend(about.capabilities.iter().map(|c| text::line(c)));
    if let Some(bytes) = about.upload_bytes {
        out.push(format!("{} to upload", text::bytes(bytes)));
    }
    let names = |latest: bool| {
        let names: Vec<String> = about.followers.iter().filter(|f| f.latest == latest).map(follower).collect();
        (!names.is_empty()).then(|| some_of(&names))
    };
    if about.live_at_once > 0 {
        let whom = names(true).map(|n| format!(": {n}")).unwrap_or_default();
        out.push(format!("live at once for {}{whom}", text::count(about.live_at_once as usize, "agent")));
    }
    if let Some(names) = names(false) {
        out.push(format!("used by {names}"));
    }
    out
}

/// What a reference follows to its new resource: the replaces that must be done before.
fn replaced(action: &Action) -> Option<String> {
    let moved = |c: &FieldChange| c.cause == Cause::Reference && c.before == c.after;
    let suffix = format!("#{}", Verb::Replace.as_str());
    let names: Vec<String> =
        action.depends_on.iter().filter_map(|id| id.strip_suffix(&suffix)).map(str::to_owned).collect();
    (!names.is_empty() && action.about.changes.iter().any(moved)).then(|| some_of(&names))
}

/// At most eight names, and how many more.
pub fn some_of(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

/// The word for a severity.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The command that applies.
pub const APPLY: &str = "`checkfu apply`";

/// Was it made against an earlier commit, with no workspace?
pub fn is_diff(plan: &Plan) -> bool {
    plan.format == crate::plan::DIFF_FORMAT
}

/// Why something is held that nobody moved.
pub fn why_not_moved(item: &Held) -> &'static str {
    if item.rolled_back {
        "rolled-back; what the file says does not come back by itself"
    } else {
        "owned again; live differs from the file"
    }
}
