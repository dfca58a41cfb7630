//! Who a resource is: kind, address, owner.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Digest;

/// The kinds of resources, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Kind {
    /// A model with instructions, tools and references.
    Agent,
    /// Reusable execution authority.
    Environment,
    /// A tree an agent works in.
    FileTree,
    /// Which tree an agent may attach, and how.
    FileTreeMount,
    /// Which store an agent may attach, and how.
    MemoryMount,
    /// Durable knowledge.
    MemoryStore,
    /// A folder with `SKILL.md`.
    Skill,
}

impl Kind {
    /// Every kind, sorted by name.
    pub const ALL: [Kind; 7] = [
        Kind::Agent,
        Kind::Environment,
        Kind::FileTree,
        Kind::FileTreeMount,
        Kind::MemoryMount,
        Kind::MemoryStore,
        Kind::Skill,
    ];

    /// The name written in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Agent => "Agent",
            Kind::Environment => "Environment",
            Kind::FileTree => "FileTree",
            Kind::FileTreeMount => "FileTreeMount",
            Kind::MemoryMount => "MemoryMount",
            Kind::MemoryStore => "MemoryStore",
            Kind::Skill => "Skill",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = AddressError;

    fn from_str(s: &str) -> Result<Self, AddressError> {
        Kind::ALL.into_iter().find(|k| k.as_str() == s).ok_or_else(|| AddressError::Kind(s.to_owned()))
    }
}

/// Kind and name: stable, ours, written `Agent/support`. An inline mount is `MemoryMount/AGENT.STORE`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The kind.
    pub kind: Kind,
    /// `metadata.name`, or `AGENT.STORE` for an inline mount.
    pub name: String,
}

impl Address {
    /// An address from parts that are known to be well formed.
    pub fn new(kind: Kind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(s: &str) -> Result<Self, AddressError> {
        let (kind, name) = s.split_once('/').ok_or_else(|| AddressError::Form(s.to_owned()))?;
        let kind: Kind = kind.parse()?;
        let inline = matches!(kind, Kind::MemoryMount | Kind::FileTreeMount);
        let ok = is_name(name) || (inline && name.split_once('.').is_some_and(|(a, b)| is_name(a) && is_name(b)));
        if ok { Ok(Self::new(kind, name)) } else { Err(AddressError::Name(name.to_owned())) }
    }
}

/// Is this a valid `metadata.name`: `[a-z0-9]+(-[a-z0-9]+)*`, at most 64 bytes?
pub fn is_name(s: &str) -> bool {
    !s.is_empty()
        && s.len() <= 64
        && s.split('-').all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// The authoring owner: the source form that owns a resource's desired configuration, as `acme/support`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(String);

impl Owner {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Owner {
    type Err = AddressError;

    /// One to four parts of `[A-Za-z0-9._-]` joined by `/`, at most 200 bytes.
    fn from_str(s: &str) -> Result<Self, AddressError> {
        let part = |p: &str| {
            !p.is_empty()
                && !matches!(p, "." | "..")
                && p.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        };
        let ok = s.len() <= 200 && s.split('/').count() <= 4 && s.split('/').all(part);
        if ok { Ok(Self(s.to_owned())) } else { Err(AddressError::Owner(s.to_owned())) }
    }
}

/// Why a text is no kind, address or owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not `Kind/name`.
    #[error("`{0}` is not an address: write Kind/name, as in Agent/support")]
    Form(String),
    /// Not a kind.
    #[error("`{0}` is not a kind")]
    Kind(String),
    /// Not a name.
    #[error("`{0}` is not a name: lower-case letters, digits and single hyphens, at most 64")]
    Name(String),
    /// Not an owner.
    #[error("`{0}` is not an owner: letters, digits, `.`, `_`, `-` in up to four parts joined by `/`")]
    Owner(String),
}

macro_rules! serde_as_text {
    ($t:ty) => {
        impl Serialize for $t {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let s = std::borrow::Cow::<'de, str>::deserialize(d)?;
                s.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $t {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($t).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string"})
            }
        }
    };
}
serde_as_text!(Address);
serde_as_text!(Owner);
serde_as_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_owners() {
        for good in ["Agent/support", "MemoryMount/support.answers", "Skill/a-1"] {
            assert_eq!(good.parse::<Address>().unwrap().to_string(), good);
        }
        for bad in ["Agent", "agent/x", "Agent/X", "Agent/a.b", "Agent/a--b", "Agent/-a", "Agent/"] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        assert!("acme/support".parse::<Owner>().is_ok());
        for bad in ["", "a//b", "../x", "a b", "a:b"] {
            assert!(bad.parse::<Owner>().is_err(), "{bad}");
        }
    }
}
