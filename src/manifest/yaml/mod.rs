//! YAML with spans: every value and every key knows the bytes it was written in, so that each later finding
//! (schema, rules, references) can point into the user's file.

mod hint;
mod parse;
mod scalar;

pub use parse::{Doc, Documents, Style, documents, parse};
pub(crate) use parse::{too_large, too_many};
pub use scalar::quote;

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

/// Most bytes of one file.
pub const MAX_BYTES: usize = 64 << 20;
/// Most levels of nesting, aliases included.
pub const MAX_DEPTH: u32 = 128;
/// Most bytes that the aliases of one document may add; a node counts for its text and [`NODE_COST`].
pub const MAX_EXPANSION: u64 = 10 << 20;
/// What a node costs in the budget of alias expansion, besides its text.
pub const NODE_COST: u64 = 16;
/// Most values of one file, aliases not expanded.
pub const MAX_NODES: usize = 2_000_000;
/// Most findings that are told of one document, and, of all its documents together, ten times as many of one file.
/// Each costs memory and a look for its place, and nobody reads further.
pub const MAX_FINDINGS: usize = 1_000;

/// A value and where it is written.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value.
    pub kind: Kind,
    /// The bytes it was written in; of a block collection, from its first key or item to its last.
    pub span: Range<usize>,
    /// Where the alias is written that brought it here.
    pub via: Option<Range<usize>>,
}

/// A value.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits.
    Int(i64),
    /// A larger one.
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// A text.
    Str(String),
    /// A list.
    Seq(Vec<Node>),
    /// A map in the order of the file, no key twice.
    Map(Vec<(Key, Node)>),
    /// What an anchor names.
    Shared(Arc<Node>),
    /// Something that was refused and reported already.
    Refused,
}

/// A key of a map.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key as text; a number or boolean is its text as written.
    pub text: String,
    /// The bytes it was written in.
    pub span: Range<usize>,
    /// Not written in this map: the bytes of the `<<` entry that brought it.
    pub merged: Option<Range<usize>>,
}

/// Where a JSON pointer leads: the key, if the last step was into a map, and the value.
pub type Spot = (Option<Range<usize>>, Range<usize>);

impl Node {
    /// The value behind aliases.
    pub fn get(&self) -> &Kind {
        match &self.kind {
            Kind::Shared(inner) => inner.get(),
            kind => kind,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self.get() {
            Kind::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&[(Key, Node)]> {
        match self.get() {
            Kind::Map(m) => Some(m),
            _ => None,
        }
    }

    /// The entry of a map.
    pub fn entry(&self, key: &str) -> Option<(&Key, &Node)> {
        self.as_map()?.iter().find(|(k, _)| k.text == key).map(|(k, v)| (k, v))
    }

    /// The value of a key of a map.
    pub fn value(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, v)| v)
    }

    /// The map to change; an anchored one is copied first.
    pub fn as_map_mut(&mut self) -> Option<&mut Vec<(Key, Node)>> {
        match &mut self.kind {
            Kind::Map(m) => Some(m),
            Kind::Shared(inner) => Arc::make_mut(inner).as_map_mut(),
            _ => None,
        }
    }

    /// Where to point for this value: at the alias, if one brought it here.
    pub fn place(&self) -> Range<usize> {
        self.via.clone().unwrap_or_else(|| self.span.clone())
    }

    /// The node a JSON pointer leads to, and the key it is under.
    pub fn find(&self, pointer: &str) -> Option<(Option<&Key>, &Node)> {
        let (mut at, mut key) = (self, None);
        for step in pointer.split('/').skip(1) {
            let step = unescape(step);
            match at.get() {
                Kind::Map(_) => {
                    let (k, v) = at.entry(&step)?;
                    (at, key) = (v, Some(k));
                }
                Kind::Seq(items) => (at, key) = (items.get(step.parse::<usize>().ok()?)?, None),
                _ => return None,
            }
        }
        Some((key, at))
    }

    /// Where a JSON pointer leads.
    pub fn locate(&self, pointer: &str) -> Option<Spot> {
        let (key, node) = self.find(pointer)?;
        Some((key.map(|k| k.span.clone()), node.place()))
    }

    /// The value as JSON. Infinite numbers, which JSON cannot hold, become texts; what was refused, null.
    pub fn to_json(&self) -> Value {
        match self.get() {
            Kind::Null | Kind::Refused | Kind::Shared(_) => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Int(i) => (*i).into(),
            Kind::UInt(u) => (*u).into(),
            Kind::Float(f) => {
                serde_json::Number::from_f64(*f).map_or_else(|| Value::String(f.to_string()), Value::Number)
            }
            Kind::Str(s) => Value::String(s.clone()),
            Kind::Seq(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Map(map) => Value::Object(map.iter().map(|(k, v)| (k.text.clone(), v.to_json())).collect()),
        }
    }
}

/// A step of a JSON pointer as a key.
pub fn unescape(step: &str) -> String {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~") } else { step.to_owned() }
}

/// A key as a step of a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests;
