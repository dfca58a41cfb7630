//! Documents, texts and file sets → [`Desired`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::Date;
use serde_json::Value;

use crate::desired::declare::unique;
use crate::desired::needs::Bundle;
use crate::desired::references::Known;
use crate::desired::rules::{Row, Rows};
use crate::desired::set::{Desired, Digested, Wanted};
use crate::desired::spec::{Built, Read, own_content};
use crate::desired::{cycles, lines, modes, references, rules};
use crate::diag::{Diagnostics, Location};
use crate::manifest::{ConfigDocument, Document, Unread};
use crate::model::kinds::{self, Ref};
use crate::model::op::Source;
use crate::model::tree::FileSet;
use crate::model::{Address, Digest};

/// Everything that was read.
pub struct Inputs<'a> {
    /// The configuration.
    pub config: &'a ConfigDocument,
    /// Documents, as [`crate::desired::declare`] made them.
    pub documents: Vec<Document>,
    /// What may be declared besides, where nothing could be read.
    pub unread: &'a [Unread],
    /// Texts by project path.
    pub texts: BTreeMap<String, Arc<str>>,
    /// Sets of files, each with the project folder that its paths are in.
    pub bundles: BTreeMap<Bundle, (FileSet, String)>,
    /// Where the project comes from.
    pub source: Source,
    /// Today, for modes that end.
    pub today: Date,
}

/// A document, half way.
struct Half {
    document: Document,
    built: Built,
    unowned: modes::Unowned,
    refs: Vec<Ref>,
}

/// Makes the desired set and tells everything that stands against it. There is a set only without errors.
/// Documents with errors of their own take part as far as they are well-formed; what comes of them is for nobody
/// but these checks, so a caller drops the set if reading the documents gave errors.
pub fn resolve(inputs: Inputs<'_>) -> (Option<Desired>, Diagnostics) {
    let Inputs { config, documents, unread, texts, bundles, source, today } = inputs;
    let mut found = Diagnostics::default();
    let first = unique(&documents, &mut found);
    let declared: BTreeSet<Address> = first.keys().cloned().collect();
    let known = Known { declared: &declared, unread };
    let places: BTreeMap<Address, Location> =
        first.iter().map(|(a, i)| (a.clone(), documents[*i].at.clone())).collect();
    let none: BTreeMap<String, Digest> = BTreeMap::new();
    let read = Read { root: &config.config.root, texts: &texts, bundles: &bundles, skills: &none };
    let skills = own_content(&read, &documents);
    let read = Read { skills: &skills, ..read };

    let mut halves: Vec<Half> = Vec::with_capacity(documents.len());
    for (i, mut document) in documents.into_iter().enumerate() {
        references::own_names(&mut document, &config.config.authoring_owner);
        let built = read.build(&mut document, &mut found);
        let unowned = modes::unowned(&document, today, &mut found);
        let refs = (kinds::def(document.address.kind).refs)(&built.spec);
        references::check(&document, &refs, known, config, &mut found);
        if first.get(&document.address) != Some(&i) {
            continue;
        }
        halves.push(Half { document: pruned(document, &refs), built, unowned, refs });
    }

    let edges: cycles::Edges<'_> =
        halves.iter().map(|h| (&h.document.address, (&h.document, h.refs.as_slice()))).collect();
    cycles::check(&edges, &mut found);
    let rows: Rows<'_> =
        halves.iter().map(|h| (&h.document.address, Row { document: &h.document, spec: &h.built.spec })).collect();
    rules::check(&rows, &mut found);
    lines::removed(config, &places, &mut found);
    lines::moved(config, &places, known, &mut found);
    let protected = lines::protected(config, known, &mut found);
    if found.has_errors() {
        return (None, found);
    }
    let resources = halves.into_iter().map(|h| wanted(h, &protected)).collect();
    let c = &config.config;
    let removed = c.removed.iter().enumerate();
    let desired = Desired {
        owner: c.authoring_owner.clone(),
        resources,
        policy: c.policy.clone(),
        moved: c.moved.clone(),
        removed: removed.map(|(i, r)| (r.clone(), config.written(&format!("/removed/{i}/address")))).collect(),
        adopt: c.adopt.clone(),
        accept: c.accept.clone(),
        lines: places_of_lines(config),
        source,
    };
    (Some(desired), found)
}

/// Where the lines begin that decide about live resources; those under `removed:` have their places with them.
fn places_of_lines(config: &ConfigDocument) -> BTreeMap<String, Location> {
    let c = &config.config;
    let lists =
        [("moved", "from", c.moved.len()), ("adopt", "address", c.adopt.len()), ("accept", "address", c.accept.len())];
    let all = lists.into_iter().flat_map(|(key, first, n)| (0..n).map(move |i| (format!("/{key}/{i}"), first)));
    all.filter_map(|(line, first)| Some((line.clone(), config.written(&format!("{line}/{first}"))?))).collect()
}

/// From here on the canonical form counts; of the authored one, only the fields with references are looked at
/// again, to find where they are written. Thousands of prompts are not kept twice.
fn pruned(mut document: Document, refs: &[Ref]) -> Document {
    match &mut document.spec {
        Value::Object(spec) if !refs.is_empty() => spec.retain(|field, _| refs.iter().any(|r| r.field == field)),
        spec => *spec = Value::Null,
    }
    document
}

fn wanted(half: Half, protected: &BTreeSet<Address>) -> (Address, Wanted) {
    let Half { document, mut built, unowned, refs } = half;
    let address = document.address.clone();
    let def = kinds::def(address.kind);
    let known = |field: &str| def.field(field.split('.').next().unwrap_or_default()).is_some();
    let mut places: Vec<(Box<str>, Location)> = Vec::new();
    for field in document.places.keys().filter(|f| known(f)) {
        places.extend(document.place(field).map(|at| (field.as_str().into(), at)));
    }
    if document.places.is_empty()
        && let Some(spec) = built.spec.as_object()
    {
        places.extend(spec.keys().map(|field| (field.as_str().into(), document.at.clone())));
    }
    places.extend(built.places.into_iter().map(|(field, at)| (field.into(), at)));
    let mut all = unowned.fields;
    let mut seeded = unowned.seeded;
    all.extend(built.seeds.iter().cloned());
    seeded.append(&mut built.seeds);
    all.sort();
    all.dedup();
    seeded.sort();
    seeded.dedup();
    let wanted = Wanted {
        protected: protected.contains(&address),
        spec: Arc::new(built.spec),
        unowned: all,
        seeded,
        refs,
        at: document.at,
        places: places.into_iter().collect(),
        instructions: built.instructions,
        content: built.content,
        memories: built.memories,
        digested: Digested::default(),
        address: address.clone(),
    };
    (address, wanted)
}
