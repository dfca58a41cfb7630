//! What holds of any plan, whoever made it. Knows nothing of how plans are made.

mod action;

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::codes::plan as codes;
use crate::model::Address;
use crate::model::kinds::{self, Ref, Selector, Target};
use crate::plan::item::carries;
use crate::plan::{Action, Effect, FORMAT, Plan, Step, Verb, digest};

/// What every part of the check looks things up in.
struct Index<'a> {
    plan: &'a Plan,
    /// Id → place in the order.
    place: BTreeMap<&'a str, usize>,
    /// Address → its creating action.
    creates: BTreeMap<&'a Address, &'a Action>,
}

/// Checks a plan. Empty: it is sound. Each problem is one sentence.
pub fn check(plan: &Plan) -> Vec<String> {
    let mut place = BTreeMap::new();
    let mut problems = Vec::new();
    for (i, action) in plan.actions.iter().enumerate() {
        if place.insert(action.id.as_str(), i).is_some() {
            problems.push(format!("{}: the id is not unique", action.id));
        }
    }
    let is_create = |a: &&Action| matches!(a.step, Step::Create { .. });
    let creates = plan.actions.iter().filter(is_create).filter_map(|a| Some((a.address.as_ref()?, a))).collect();
    let index = Index { plan, place, creates };
    whole(plan, &mut problems);
    held(plan, &mut problems);
    for action in &plan.actions {
        action::check(action, &index, &mut problems);
        edges(action, &index, &mut problems);
        references(action, &index, &mut problems);
    }
    retirements(&index, &mut problems);
    problems
}

fn whole(plan: &Plan, problems: &mut Vec<String>) {
    let mut rule = |holds: bool, text: &str| {
        if !holds {
            problems.push(text.to_owned());
        }
    };
    rule(plan.format == FORMAT, "the format is another");
    let refused = plan.findings.iter().any(|f| matches!(f.effect, Effect::Refuses | Effect::Error));
    rule(plan.applyable != refused, "`applyable` does not agree with the findings");
    let blocks = plan.findings.iter().any(|f| f.effect == Effect::Blocks);
    let parts = !plan.scope.is_empty() || refused || blocks || !plan.notes.blocked.is_empty();
    rule(!(plan.complete && parts), "`complete`, though a part is left out");
    let never = [codes::IRREVERSIBLE.code, codes::PROTECTED.code, codes::REFERRED.code];
    let softened = plan.findings.iter().any(|f| never.contains(&f.code.as_str()) && f.effect != Effect::Refuses);
    rule(!softened, "a finding that nothing answers does not refuse the plan");
    let policies = plan.actions.iter().filter(|a| a.verb == Verb::Policy).count();
    rule(policies <= 1, "more than one policy action");
    if let Some(what) = digest::mismatch(plan) {
        problems.push(format!("the digest of {what} does not fit"));
    }
}

/// What is held is not written.
fn held(plan: &Plan, problems: &mut Vec<String>) {
    let mut fields: BTreeMap<&Address, Vec<Option<&str>>> = BTreeMap::new();
    let mut conflicts = BTreeSet::new();
    // Of what was rolled back a part of a field stays; the rest of it may be written.
    for held in plan.held.iter().filter(|h| !h.rolled_back) {
        fields.entry(&held.address).or_default().push(held.field.as_deref());
        if held.conflict {
            conflicts.insert(&held.address);
        }
    }
    for action in &plan.actions {
        let Some(address) = &action.address else { continue };
        let Some(held) = fields.get(address) else { continue };
        let overwrites = match &action.step {
            Step::Create { .. } => true,
            Step::Update { fields, .. } => held.iter().flatten().any(|h| fields.iter().any(|f| touches(f, h))),
            Step::Publish { .. } => held.contains(&Some("content")),
            Step::WriteContents { .. }
            | Step::Protect { .. }
            | Step::Record { .. }
            | Step::Claim { .. }
            | Step::Transfer { .. }
            | Step::Release { .. }
            | Step::HandOver { .. }
            | Step::Policy { .. } => false,
            Step::Retire { .. } => true,
        };
        if overwrites || held.contains(&None) || conflicts.contains(address) {
            problems.push(format!("{}: writes what is held", action.id));
        }
    }
}

fn touches(sent: &str, held: &str) -> bool {
    let below = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    below(sent, held) || below(held, sent)
}

fn edges(action: &Action, index: &Index<'_>, problems: &mut Vec<String>) {
    let here = index.place.get(action.id.as_str()).copied().unwrap_or_default();
    for need in &action.depends_on {
        match index.place.get(need.as_str()) {
            None => problems.push(format!("{}: depends on `{need}`, which is not in the plan", action.id)),
            Some(at) if *at >= here => {
                problems.push(format!("{}: comes before `{need}`, on which it depends", action.id));
            }
            Some(_) => {}
        }
    }
}

/// The references that an action sends.
pub(super) fn sent_refs(action: &Action) -> Vec<Ref> {
    let Some(address) = &action.address else { return Vec::new() };
    let def = kinds::def(address.kind);
    match &action.step {
        Step::Create { spec, .. } => (def.refs)(spec),
        Step::Update { spec, fields, .. } => {
            let sends = |name: &str| fields.iter().any(|f| touches(f, name));
            (def.refs)(spec).into_iter().filter(|r| carries(def, r, sends)).collect()
        }
        _ => Vec::new(),
    }
}

/// Each reference that is sent has an id now, or gets one from an action before.
fn references(action: &Action, index: &Index<'_>, problems: &mut Vec<String>) {
    for r in sent_refs(action) {
        let key = r.target.key();
        let depends = |id: &String| action.depends_on.contains(id);
        let made = match &r.target {
            Target::Own(address) => index.creates.get(address),
            _ => None,
        };
        let known = matches!(r.target, Target::Id(..)) || index.plan.ids.0.contains_key(&key);
        match made {
            Some(create) if !depends(&create.id) => {
                problems.push(format!("{}: refers to {key} and does not depend on `{}`", action.id, create.id));
            }
            None if !known => problems.push(format!("{}: no id is known for {key}", action.id)),
            _ => {}
        }
        let Selector::Content(content) = &r.selector else { continue };
        let has_id = index.plan.ids.0.contains_key(&format!("{key}@{content}"));
        let publishes = |id: &String| {
            let action = index.place.get(id.as_str()).and_then(|i| index.plan.actions.get(*i));
            action.is_some_and(|a| match &a.step {
                Step::Create { content: Some(c), .. } | Step::Publish { content: c, .. } => c.digest == *content,
                Step::WriteContents { .. } => true,
                _ => false,
            })
        };
        if !has_id && !action.depends_on.iter().any(publishes) {
            problems.push(format!("{}: no version of {key} with {} is known", action.id, content.short()));
        }
    }
}

/// Nothing goes that an action of the plan uses, protects or changes, and users go first.
fn retirements(index: &Index<'_>, problems: &mut Vec<String>) {
    let mut retired: BTreeMap<&Address, Vec<&Action>> = BTreeMap::new();
    for action in index.plan.actions.iter().filter(|a| matches!(a.step, Step::Retire { .. })) {
        if let Some(address) = &action.address {
            retired.entry(address).or_default().push(action);
        }
    }
    if retired.is_empty() {
        return;
    }
    let place = |a: &Action| index.place.get(a.id.as_str()).copied().unwrap_or_default();
    for action in &index.plan.actions {
        let Some(address) = &action.address else { continue };
        for gone in retired.get(address).into_iter().flatten().filter(|g| g.id != action.id) {
            let (Step::Retire { id }, Some(live)) = (&gone.step, action::live_id(action)) else { continue };
            let replaced = action.verb == Verb::Replace && place(gone) > place(action);
            // It comes to the address, and what is made anew there takes its place.
            let comes = matches!(action.step, Step::Claim { .. } | Step::Transfer { .. });
            let before = comes && index.creates.get(address).is_some_and(|c| place(c) > place(action));
            if id == live && !replaced && !before {
                problems.push(format!("{}: acts on what `{}` retires", action.id, gone.id));
            }
        }
        for r in sent_refs(action) {
            let Target::Own(to) = &r.target else { continue };
            for gone in retired.get(to).into_iter().flatten() {
                let stays = gone.id.contains("#retire-");
                if !stays {
                    problems.push(format!("{}: refers to what `{}` retires", action.id, gone.id));
                } else if place(gone) < place(action) {
                    problems.push(format!("{}: still uses what `{}` retires before", action.id, gone.id));
                }
            }
        }
        // An inline mount says in its name whom it belongs to.
        let (Step::Retire { .. }, Some((agent, target))) = (&action.step, address.name.split_once('.')) else {
            continue;
        };
        for (to, gone) in retired.iter().filter(|(to, _)| !to.name.contains('.')) {
            let is_agent = kinds::def(to.kind).field("skills").is_some() && to.name == agent;
            let is_target =
                kinds::def(to.kind).field("skills").is_none() && to.name == target && index.refers(action, to);
            if (is_agent || is_target) && gone.iter().any(|g| place(g) < place(action)) {
                problems.push(format!("{}: goes after {to}, which it uses", action.id));
            }
        }
    }
}

impl Index<'_> {
    /// Does an inline mount's kind take this kind as its target?
    fn refers(&self, mount: &Action, to: &Address) -> bool {
        let field = match mount.address.as_ref().map(|a| kinds::def(a.kind)) {
            Some(def) if def.field("memory_store").is_some() => "contents",
            Some(def) if def.field("file_tree").is_some() => "source",
            _ => return false,
        };
        !self.plan.actions.is_empty() && kinds::def(to.kind).field(field).is_some()
    }
}
