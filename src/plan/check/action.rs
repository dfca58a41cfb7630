//! What holds of one action: its words, its operation, its condition and its payload agree.

use std::collections::BTreeSet;

use crate::model::Kind;
use crate::model::kinds::{self, Change, KindDef, List, Retire};
use crate::model::op::OPERATIONS;
use crate::model::tree::FileSet;
use crate::plan::check::Index;
use crate::plan::{Action, Content, Precondition, Reversible, Step, Verb};

/// The live id that an action names.
pub(super) fn live_id(action: &Action) -> Option<&str> {
    match &action.step {
        Step::Create { replaces, .. } => replaces.as_deref(),
        Step::Publish { id, .. } | Step::WriteContents { id, .. } => id.as_deref(),
        Step::Update { id, .. } | Step::Protect { id, .. } | Step::Retire { id } | Step::Record { id, .. } => Some(id),
        Step::Claim { id, .. } | Step::Transfer { id, .. } | Step::Release { id } | Step::HandOver { id, .. } => {
            Some(id)
        }
        Step::Policy { .. } => None,
    }
}

pub(super) fn check(action: &Action, index: &Index<'_>, problems: &mut Vec<String>) {
    let mut rule = |holds: bool, text: &str| {
        if !holds {
            problems.push(format!("{}: {text}", action.id));
        }
    };
    let known = OPERATIONS.iter().any(|o| o.name == action.operation && o.mutates);
    rule(known, "the operation is not one that writes");
    rule(verb_fits(action), "verb and step do not agree");
    rule(condition_fits(action), "the precondition does not fit the step");
    if let Precondition::After { action: last } = &action.precondition {
        rule(action.depends_on.contains(last), "follows an action on which it does not depend");
        let of = last.rsplit_once('#').map(|(address, _)| address.to_owned());
        rule(of == action.address.as_ref().map(ToString::to_string), "follows an action on another resource");
    }
    let Some(address) = &action.address else {
        rule(action.id == "owner#policy" && action.operation == "authoring.policy", "only the policy has no address");
        return;
    };
    let def = kinds::def(address.kind);
    let id = format!("{address}#{}", action.verb.as_str());
    let superseded = action.verb == Verb::Retire && action.id.strip_prefix(&id).is_some_and(|r| r.starts_with('-'));
    rule(action.id == id || superseded, "the id does not say address and verb");
    rule(action.operation == operation(action, def), "operation and step do not agree");
    rule(live_id(action).is_none_or(|id| id.starts_with(def.id_prefix)), "the live id is of another kind");
    rule(payload_fits(action, def), "the payload is not sound");
    let made_here = index.creates.get(address).filter(|c| c.id != action.id);
    if live_id(action).is_none() && !matches!(action.step, Step::Create { .. }) {
        let after = made_here.is_some_and(|c| action.depends_on.contains(&c.id));
        rule(after, "names no live resource and does not depend on its creation");
    } else if !matches!(action.step, Step::Retire { .. } | Step::Claim { .. } | Step::Transfer { .. }) {
        rule(made_here.is_none(), "names a live resource where the plan makes another");
    }
    if action.verb == Verb::Retire {
        let lasting = action.about.reversible == Reversible::No;
        rule(lasting != def.comes_back, "says wrongly whether it can be taken back");
    }
}

fn verb_fits(action: &Action) -> bool {
    matches!(
        (&action.step, action.verb),
        (Step::Create { replaces: None, .. }, Verb::Create)
            | (Step::Create { replaces: Some(_), .. }, Verb::Replace)
            | (Step::Update { .. }, Verb::Update | Verb::Repoint)
            | (Step::Publish { .. } | Step::WriteContents { .. }, Verb::Publish)
            | (Step::Protect { on: true, .. }, Verb::Protect)
            | (Step::Protect { on: false, .. }, Verb::Unprotect)
            | (Step::Retire { .. }, Verb::Retire)
            | (Step::Record { .. }, Verb::Record)
            | (Step::Claim { .. }, Verb::Adopt)
            | (Step::Transfer { .. }, Verb::TakeOver | Verb::Rename)
            | (Step::Release { .. }, Verb::Release)
            | (Step::HandOver { .. }, Verb::HandOver)
            | (Step::Policy { .. }, Verb::Policy)
    )
}

fn condition_fits(action: &Action) -> bool {
    use Precondition as P;
    let is_store = action.address.as_ref().is_some_and(|a| a.kind == Kind::MemoryStore);
    match (&action.step, &action.precondition) {
        (Step::Create { replaces: None, .. }, P::Absent { .. }) => true,
        (Step::Create { replaces: Some(_), .. }, P::Version { .. } | P::After { .. }) => true,
        (Step::Update { .. }, P::Version { .. } | P::After { .. }) => true,
        (
            Step::Claim { .. } | Step::Transfer { .. } | Step::Release { .. } | Step::HandOver { .. },
            P::Authoring { .. },
        ) => true,
        (Step::Publish { .. }, P::Version { .. } | P::After { .. }) => true,
        (Step::WriteContents { puts, deletes, .. }, P::Memories { expect }) => {
            let named: BTreeSet<&String> = puts.keys().chain(deletes).collect();
            named.len() == puts.len() + deletes.len() && named == expect.keys().collect()
        }
        (Step::Protect { .. } | Step::Record { .. }, P::Authoring { .. } | P::After { .. }) => true,
        (Step::Retire { .. }, P::Version { .. }) => !is_store,
        (Step::Retire { .. }, P::Store { .. }) => is_store,
        (Step::Policy { .. }, P::OwnerSeq { .. }) => true,
        _ => false,
    }
}

fn operation(action: &Action, def: &KindDef) -> String {
    let of = |verb: &str| format!("{}.{verb}", def.plural);
    match &action.step {
        Step::Create { .. } => of("create"),
        Step::Update { .. } => of("update"),
        Step::Publish { .. } => of("publish"),
        Step::WriteContents { .. } => of("write_contents"),
        Step::Retire { .. } => of(match def.retire {
            Retire::Archive => "archive",
            Retire::Delete => "delete",
        }),
        Step::Protect { .. } => "authoring.protect".to_owned(),
        Step::Record { .. } => "authoring.record".to_owned(),
        Step::Claim { .. } => "authoring.claim".to_owned(),
        Step::Transfer { .. } => "authoring.transfer".to_owned(),
        Step::Release { .. } => "authoring.release".to_owned(),
        Step::HandOver { .. } => "authoring.hand_over".to_owned(),
        Step::Policy { .. } => "authoring.policy".to_owned(),
    }
}

fn payload_fits(action: &Action, def: &KindDef) -> bool {
    match &action.step {
        Step::Create { spec, content, .. } => {
            spec.is_object() && spec.get("contents").is_none() && content.as_ref().is_none_or(|c| content_fits(c, spec))
        }
        Step::Update { spec, fields, unowned, .. } => {
            spec.is_object() && !fields.is_empty() && fields.iter().all(|f| field_fits(def, f, unowned))
        }
        Step::Publish { spec, content, .. } => spec.is_object() && content_fits(content, spec),
        Step::WriteContents { spec, puts, deletes, .. } => {
            let recorded = |path: &String| spec.get("contents").and_then(|c| c.get(path)).and_then(|d| d.as_str());
            spec.is_object()
                && !(puts.is_empty() && deletes.is_empty())
                && puts.iter().all(|(path, body)| recorded(path) == Some(body.sha256.to_string().as_str()))
                && deletes.iter().all(|path| recorded(path).is_none())
        }
        Step::Record { spec, .. } | Step::Claim { spec, .. } => spec.is_object(),
        Step::Protect { .. }
        | Step::Retire { .. }
        | Step::Transfer { .. }
        | Step::Release { .. }
        | Step::HandOver { .. }
        | Step::Policy { .. } => true,
    }
}

fn content_fits(content: &Content, spec: &serde_json::Value) -> bool {
    let sorted = content.entries.windows(2).all(|w| w[0].path < w[1].path);
    let said = spec.get("content").and_then(|c| c.as_str()) == Some(content.digest.to_string().as_str());
    sorted && said && FileSet::digest_of(&content.entries) == content.digest
}

/// Is it a field that an update may send, and that the owner owns?
fn field_fits(def: &KindDef, name: &str, unowned: &[String]) -> bool {
    let (top, key) = match name.split_once('.') {
        Some((top, key)) => (top, Some(key)),
        None => (name, None),
    };
    let Some(field) = def.field(top) else { return false };
    let single = (field.list == List::PerKey) == key.is_some();
    single && field.change == Change::Update && !kinds::is_unowned(unowned, name)
}
