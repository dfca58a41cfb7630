//! Names for what has none: a resource that nobody owns gets an address made of the name that people see.

use std::collections::{BTreeMap, BTreeSet};

use crate::manifest::slug;
use crate::model::address::is_name;
use crate::model::{Address, Kind};

/// Bytes of a name.
const MAX: usize = 64;

/// A live resource without an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unnamed {
    /// Its live id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// The name that people see; of a skill, the one that it is.
    pub name: String,
    /// Of a mount, the ids of the agent and of what is mounted.
    pub mounts: Option<(String, String)>,
    /// May a mount be written in its agent? Not one with labels, which have no place there.
    pub inline: bool,
}

/// Addresses for all, unique beside those that are `taken`. Those that are `known` by id keep what they have. A mount
/// is inline where it may be and its agent gets a name here, `AGENT.STORE`; else its name is made of both. Those of
/// which no name can be made come back: skills are called what they are.
///
/// The same resources get the same names, whatever else is there.
pub fn names<'a>(
    unnamed: &'a [Unnamed],
    taken: &BTreeSet<Address>,
    known: &BTreeMap<String, Address>,
) -> (BTreeMap<String, Address>, Vec<&'a Unnamed>) {
    let mut used = taken.clone();
    used.extend(known.values().cloned());
    let mut out: BTreeMap<String, Address> = BTreeMap::new();
    let mut without = Vec::new();
    let mut sorted: Vec<&Unnamed> = unnamed.iter().collect();
    sorted.sort_by_key(|u| (u.mounts.is_some(), u.kind, &u.id));
    let fresh: BTreeSet<&str> = sorted.iter().filter(|u| u.kind == Kind::Agent).map(|u| u.id.as_str()).collect();
    for one in sorted {
        if let Some(address) = known.get(&one.id) {
            out.insert(one.id.clone(), address.clone());
            continue;
        }
        let address = match (&one.mounts, one.kind) {
            (Some((agent, target)), kind) => {
                let name = |id: &String| out.get(id).or_else(|| known.get(id)).map(|a| a.name.clone());
                let both = name(agent).zip(name(target));
                let inline = both.as_ref().filter(|_| one.inline && fresh.contains(agent.as_str()));
                let inline = inline.map(|(a, t)| Address::new(kind, format!("{a}.{t}"))).filter(|a| !used.contains(a));
                inline.or_else(|| {
                    let text = both.map_or_else(|| one.name.clone(), |(a, t)| format!("{a} {t}"));
                    Some(free(kind, &text, &used))
                })
            }
            (None, Kind::Skill) => {
                let address = Address::new(Kind::Skill, one.name.clone());
                (is_name(&one.name) && !used.contains(&address)).then_some(address)
            }
            (None, kind) => Some(free(kind, &one.name, &used)),
        };
        match address {
            Some(address) => {
                used.insert(address.clone());
                out.insert(one.id.clone(), address);
            }
            None => without.push(one),
        }
    }
    (out, without)
}

/// The first of `name`, `name-2`, `name-3`, … that is free.
fn free(kind: Kind, text: &str, used: &BTreeSet<Address>) -> Address {
    let base = slug(text).unwrap_or_else(|| kind.as_str().to_lowercase());
    let numbered = (2_u64..).map(|n| {
        let tail = format!("-{n}");
        let head = &base[..base.len().min(MAX - tail.len())];
        format!("{}{tail}", head.trim_end_matches('-'))
    });
    let mut names = std::iter::once(base.clone()).chain(numbered).map(|name| Address::new(kind, name));
    // There are more numbers than names in use.
    names.find(|a| !used.contains(a)).unwrap_or_else(|| Address::new(kind, base.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(kind: Kind, id: &str, name: &str) -> Unnamed {
        Unnamed { id: id.to_owned(), kind, name: name.to_owned(), mounts: None, inline: false }
    }

    #[test]
    fn names_are_made_of_what_people_see_and_unique() {
        let long = "x".repeat(80);
        let list = [
            one(Kind::Agent, "agent_1", "Support Bot (EU)"),
            one(Kind::Agent, "agent_2", "support bot: EU!"),
            one(Kind::Agent, "agent_3", "客服"),
            one(Kind::Agent, "agent_4", "../../etc/passwd"),
            one(Kind::Agent, "agent_5", &long),
            one(Kind::Agent, "agent_6", &long),
            one(Kind::Environment, "env_1", "support-bot-eu"),
            one(Kind::Skill, "skill_1", "triage"),
            one(Kind::Skill, "skill_2", "triage"),
            one(Kind::Skill, "skill_3", "Bad Name"),
            one(Kind::MemoryStore, "memstore_1", "answers"),
        ];
        let taken = BTreeSet::from(["Agent/agent".parse().unwrap()]);
        let known = BTreeMap::from([("memstore_1".to_owned(), "MemoryStore/known".parse().unwrap())]);
        let (named, without) = names(&list, &taken, &known);
        let text = |id: &str| named[id].to_string();
        assert_eq!(text("agent_1"), "Agent/support-bot-eu");
        assert_eq!(text("agent_2"), "Agent/support-bot-eu-2");
        assert_eq!(text("agent_3"), "Agent/agent-2");
        assert_eq!(text("agent_4"), "Agent/etc-passwd");
        assert_eq!(named["agent_5"].name.len(), 64);
        assert!(named["agent_6"].name.ends_with("x-2") && named["agent_6"].name.len() == 64);
        assert_eq!(text("env_1"), "Environment/support-bot-eu");
        assert_eq!(text("memstore_1"), "MemoryStore/known");
        assert_eq!(without.iter().map(|u| u.id.as_str()).collect::<Vec<_>>(), ["skill_2", "skill_3"]);
    }

    #[test]
    fn a_mount_is_inline_where_its_agent_is_written_too() {
        let mount = |id: &str, agent: &str, inline| Unnamed {
            mounts: Some((agent.to_owned(), "memstore_1".to_owned())),
            inline,
            ..one(Kind::MemoryMount, id, "")
        };
        let list = [
            one(Kind::Agent, "agent_1", "a"),
            one(Kind::MemoryStore, "memstore_1", "s"),
            mount("mmnt_1", "agent_1", true),
            mount("mmnt_2", "agent_1", true),
            mount("mmnt_3", "agent_1", false),
            mount("mmnt_4", "agent_old", true),
            mount("mmnt_5", "agent_none", true),
        ];
        let known = BTreeMap::from([("agent_old".to_owned(), "Agent/old".parse().unwrap())]);
        let (named, _) = names(&list, &BTreeSet::new(), &known);
        let text = |id: &str| named[id].name.clone();
        assert_eq!(text("mmnt_1"), "a.s");
        assert_eq!(text("mmnt_2"), "a-s");
        assert_eq!(text("mmnt_3"), "a-s-2");
        assert_eq!(text("mmnt_4"), "old-s");
        assert_eq!(text("mmnt_5"), "memorymount");
    }
}
