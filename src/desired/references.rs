//! References between resources: dangling ones, and ids of own resources.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diag::codes::desired as code;
use crate::diag::{Diagnostic, Diagnostics, Location};
use crate::manifest::{ConfigDocument, Document, Unread, nearest};
use crate::model::kinds::{Ref, Target};
use crate::model::{Address, Owner};

/// From so many findings on no name is suggested.
const MAX_SUGGESTED: usize = 200;

/// What there is to refer to.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// What documents declare.
    pub(super) declared: &'a BTreeSet<Address>,
    /// What parts that could not be read may declare.
    pub(super) unread: &'a [Unread],
}

impl Known<'_> {
    /// Is it certain that nothing declares it?
    pub(super) fn lacks(self, address: &Address) -> bool {
        !self.declared.contains(address) && !self.unread.iter().any(|u| u.may_be(address))
    }
}

/// Checks the references of one resource.
pub(super) fn check(d: &Document, refs: &[Ref], known: Known<'_>, config: &ConfigDocument, found: &mut Diagnostics) {
    for r in refs {
        match &r.target {
            Target::Own(address) if known.lacks(address) => {
                // Held against every name there is, so only for as many as are read.
                let names = known.declared.iter().filter(|a| a.kind == address.kind).map(|a| a.name.as_str());
                let unread = known.unread.iter().filter(|u| u.kind == Some(address.kind));
                let names = names.chain(unread.filter_map(|u| u.name.as_deref()));
                let near = (found.0.len() < MAX_SUGGESTED).then(|| nearest(&address.name, names)).flatten();
                let message = format!("there is no {address} in this project");
                let mut out = Diagnostic::new(&code::DANGLING, message).at(place(d, r), "");
                out.fix = near.map(|n| format!("did you mean `{n}`?"));
                let hint = format!("another owner's is written `owner:{address}`");
                found.push(if out.fix.is_some() { out } else { out.hint(hint) });
            }
            Target::Id(_, id) => {
                let own = config.config.adopt.iter().find(|a| a.id == *id && known.declared.contains(&a.address));
                if let Some(own) = own {
                    let message = format!("`{id}` is {} of this project", own.address);
                    let out = Diagnostic::new(&code::OWN_ID, message).at(place(d, r), "");
                    found.push(out.fix(own.address.name.clone()));
                }
            }
            Target::Own(_) | Target::Foreign(..) => {}
        }
    }
}

/// Fields of authored forms that hold references.
const HOLDERS: [&str; 6] = ["agent", "file_tree", "memory_store", "multiagent", "owner", "skills"];

/// Own resources may be named the long way, `OWNER:KIND/NAME`; from here on they are named as the others are, so
/// that every rule, order and digest sees one and the same reference.
pub(super) fn own_names(d: &mut Document, me: &Owner) {
    let Value::Object(spec) = &mut d.spec else { return };
    let me = format!("{me}:");
    for (_, value) in spec.iter_mut().filter(|(field, _)| HOLDERS.contains(&field.as_str())) {
        shorten(value, &me);
    }
}

fn shorten(value: &mut Value, me: &str) {
    match value {
        Value::String(text) => {
            let own = text.strip_prefix(me).and_then(|rest| rest.parse::<Address>().ok());
            if let Some(address) = own {
                *text = address.name;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|v| shorten(v, me)),
        Value::Object(map) => map.values_mut().for_each(|v| shorten(v, me)),
        _ => {}
    }
}

/// Where a reference is written. Its pointer is into the canonical form, where lists may be in another order, so
/// the authored field is searched for it.
pub(super) fn place(d: &Document, r: &Ref) -> Location {
    let wanted = r.target.to_value();
    let root = format!("/{}", r.field);
    let found = d.spec.get(r.field).and_then(|v| search(v, &root, &wanted));
    d.locate(found.as_deref().unwrap_or(&root), false)
}

fn search(value: &Value, pointer: &str, wanted: &Value) -> Option<String> {
    if value == wanted {
        return Some(pointer.to_owned());
    }
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(i, v)| search(v, &format!("{pointer}/{i}"), wanted)),
        Value::Object(map) => map.iter().find_map(|(k, v)| search(v, &format!("{pointer}/{k}"), wanted)),
        _ => None,
    }
}
