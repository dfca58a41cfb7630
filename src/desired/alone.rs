//! One document by itself, as what is live and not as a part of a project: nothing that it names is looked for, and
//! nothing of it is in other files.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::desired::needs::{bundles, file_of, parts};
use crate::desired::references;
use crate::desired::spec::Read;
use crate::diag::codes::edit as codes;
use crate::diag::{Diagnostic, Diagnostics, Location};
use crate::manifest::Document;
use crate::model::kinds::{self, Change, Ref};
use crate::model::{Digest, Kind, Owner};

/// What a document says by itself.
#[derive(Debug)]
pub struct Alone {
    /// Its canonical form, without what is published (files, memories) and what only the authoring record knows.
    pub spec: Value,
    /// What that refers to, and where it is written.
    pub refs: Vec<(Ref, Location)>,
    /// The document, to find places in.
    pub document: Document,
}

/// The canonical form of a document. `skills` has the content that the name of a skill alone stands for.
pub fn alone(mut document: Document, me: &Owner, skills: &BTreeMap<String, Digest>) -> (Alone, Diagnostics) {
    let mut found = elsewhere(&document);
    references::own_names(&mut document, me);
    let read = Read { root: ".", texts: &BTreeMap::new(), bundles: &BTreeMap::new(), skills };
    let authored = document.clone();
    let mut spec = read.build(&mut document, &mut found).spec;
    let def = kinds::def(authored.address.kind);
    if let Value::Object(map) = &mut spec {
        let apart = |name: &str| def.field(name).is_some_and(|f| matches!(f.change, Change::Publish | Change::Record));
        map.retain(|name, _| !apart(name));
    }
    let refs = (def.refs)(&spec).into_iter().map(|r| (r.clone(), references::place(&authored, &r))).collect();
    (Alone { spec, refs, document: authored }, found)
}

/// What the document leaves to other files or resources.
fn elsewhere(d: &Document) -> Diagnostics {
    let mut found = Diagnostics::default();
    let mut tell = |pointer: &str, what: &str| {
        let message = format!("{what} cannot be changed by an edit");
        found.push(Diagnostic::new(&codes::NOT_HERE, message).at(d.locate(pointer, true), ""));
    };
    for (pointer, part) in parts(d) {
        if file_of(&pointer, part).is_some() {
            tell(&pointer, "a text in another file");
        }
    }
    if d.address.kind == Kind::MemoryStore {
        for (pointer, ..) in bundles(d) {
            tell(&pointer, "what a store holds");
        }
    }
    for short in ["memory", "files"] {
        if d.address.kind == Kind::Agent && d.spec.get(short).is_some() {
            tell(&format!("/{short}"), "a mount, which is a resource of its own,");
        }
    }
    found
}
