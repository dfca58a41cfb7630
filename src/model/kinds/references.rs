//! References between resources: symbolic in canonical forms, live ids on the wire, and the maps between them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Address, Digest, Kind, Owner};

/// What a reference points at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A resource of the same owner.
    Own(Address),
    /// A resource of another owner.
    Foreign(Owner, Address),
    /// A live id.
    Id(Kind, String),
}

impl Target {
    /// An address of an owner, as `me` names it.
    pub fn at(owner: &Owner, address: &Address, me: Option<&Owner>) -> Self {
        if me == Some(owner) { Target::Own(address.clone()) } else { Target::Foreign(owner.clone(), address.clone()) }
    }

    /// Reads the text of a reference in a field that takes `kind`: a name, `owner:Kind/name`.
    pub fn parse(kind: Kind, text: &str) -> Option<Self> {
        match text.rsplit_once(':') {
            Some((owner, address)) => {
                let address: Address = address.parse().ok()?;
                (address.kind == kind).then_some(())?;
                Some(Target::Foreign(owner.parse().ok()?, address))
            }
            None => {
                let address: Address = format!("{kind}/{text}").parse().ok()?;
                Some(Target::Own(address))
            }
        }
    }

    /// Reads a canonical reference value: a text as above, or `{"id": …}`.
    pub fn of(kind: Kind, value: &Value) -> Option<Self> {
        match value {
            Value::String(s) => Self::parse(kind, s),
            Value::Object(o) => Some(Target::Id(kind, o.get("id")?.as_str()?.to_owned())),
            _ => None,
        }
    }

    /// The canonical reference value.
    pub fn to_value(&self) -> Value {
        match self {
            Target::Own(a) => Value::String(a.name.clone()),
            Target::Foreign(o, a) => Value::String(format!("{o}:{a}")),
            Target::Id(_, id) => serde_json::json!({ "id": id }),
        }
    }

    /// The key in [`Ids`]: `Agent/support`, `acme/legal:Skill/legal-tone`, or the id itself.
    pub fn key(&self) -> String {
        match self {
            Target::Own(a) => a.to_string(),
            Target::Foreign(o, a) => format!("{o}:{a}"),
            Target::Id(_, id) => id.clone(),
        }
    }

    /// The kind it points at.
    pub fn kind(&self) -> Kind {
        match self {
            Target::Own(a) | Target::Foreign(_, a) => a.kind,
            Target::Id(k, _) => *k,
        }
    }
}

/// How a reference chooses among versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// The target has no versions, or none is chosen.
    None,
    /// Moves by itself.
    Latest,
    /// By content: the newest version with that content.
    Content(Digest),
    /// A number of one workspace; plan turns it into content.
    Number(u64),
    /// A named ref.
    Named(String),
}

/// A reference of a canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ref {
    /// Canonical top-level field that holds it.
    pub field: &'static str,
    /// JSON pointer to the reference, into the canonical form.
    pub pointer: String,
    /// What it points at.
    pub target: Target,
    /// Which version.
    pub selector: Selector,
}

/// Live ids by key: `Agent/support` or `acme/legal:Skill/tone` → id; `KEY@sha256:…` → the version (a
/// `skver_…` id for skills, the decimal number for trees and stores).
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Ids(pub BTreeMap<String, String>);

/// A key that is not in [`Ids`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no live id is known for {0}")]
pub struct MissingId(pub String);

impl Ids {
    /// The live id of a target; an id stands for itself.
    pub fn resource(&self, target: &Target) -> Result<String, MissingId> {
        if let Target::Id(_, id) = target {
            return Ok(id.clone());
        }
        let key = target.key();
        self.0.get(&key).cloned().ok_or(MissingId(key))
    }

    /// The version with a content.
    pub fn version(&self, target: &Target, content: &Digest) -> Result<String, MissingId> {
        let key = format!("{}@{content}", target.key());
        self.0.get(&key).cloned().ok_or(MissingId(key))
    }
}

/// The other way: what live ids mean. Comes with bodies.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Refs {
    /// Owner and address of live ids that have one; an id that is absent stays an id.
    pub resources: BTreeMap<String, (Owner, Address)>,
    /// Owner and address of superseded ids: what is at that address now took their place. In a canonical form such
    /// an id stays one, so that its digest tells that the reference still has to move.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub superseded: BTreeMap<String, (Owner, Address)>,
    /// Content of versions: `skver_…` → digest; `ID#NUMBER` → digest for trees and stores.
    pub contents: BTreeMap<String, Digest>,
    /// Whose view: references to this owner's resources become plain names.
    pub me: Option<Owner>,
}

impl Refs {
    /// The canonical target of a live id.
    pub fn target(&self, kind: Kind, id: &str) -> Target {
        match self.resources.get(id) {
            Some((owner, address)) => Target::at(owner, address, self.me.as_ref()),
            None => Target::Id(kind, id.to_owned()),
        }
    }
}

/// A reference of a wire body.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WireRef {
    /// The kind that the field takes.
    pub kind: Kind,
    /// Live id.
    pub id: String,
    /// The version: `skver_…` for skills, the decimal number for trees and stores; `None` = none or `latest`.
    pub version: Option<String>,
    /// Does it follow `latest`?
    pub follows: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_read_and_write() {
        for (text, key) in [("faq", "Skill/faq"), ("acme/legal:Skill/tone", "acme/legal:Skill/tone")] {
            let t = Target::parse(Kind::Skill, text).unwrap();
            assert_eq!((t.key().as_str(), t.to_value()), (key, Value::String(text.into())));
        }
        assert!(Target::parse(Kind::Skill, "acme:Agent/x").is_none());
    }
}
