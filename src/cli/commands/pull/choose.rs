//! Which live resources are pulled: those that the arguments name, and what these need.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;
use serde_json::Value;

use crate::cli::args::Pull;
use crate::cli::commands::pull::here::{Here, or_fail};
use crate::cli::failure::Failure;
use crate::cli::target::Workspace;
use crate::control::ControlError;
use crate::diag::codes::pull as code;
use crate::diag::{Diagnostic, Diagnostics, Severity, codes};
use crate::model::config::Adopt;
use crate::model::kinds::{self, Refs};
use crate::model::op::{Context, LoadedBody, Summary};
use crate::model::{Address, Kind, Owner};
use crate::pull::{Resource, Unnamed, names, needed};
use crate::reconcile::read::{self, Found};

/// What an argument asks for.
enum Asked {
    /// All of a kind.
    Kind(Kind),
    /// Addresses that match.
    Glob(globset::GlobMatcher, String),
    /// A live id.
    Id(String),
}

/// What is pulled.
pub(super) struct Chosen {
    /// By address.
    pub(super) resources: BTreeMap<Address, Resource>,
    /// The live ids.
    pub(super) ids: BTreeMap<Address, String>,
    /// `adopt:` lines for what nobody owns.
    pub(super) adopt: Vec<Adopt>,
    /// Addresses that an argument names one by one.
    pub(super) named: BTreeSet<Address>,
    /// What else this owner has, which is not pulled.
    pub(super) left: Vec<Address>,
    /// What is told beside.
    pub(super) notes: Diagnostics,
}

/// Addresses by live id, the `adopt:` lines that are missing for them, and what is told.
type Named = (BTreeMap<String, Address>, Vec<Adopt>, Diagnostics);

/// A workspace as somebody sees it.
pub(super) struct View<'a> {
    pub(super) control: &'a Workspace,
    pub(super) context: &'a Context,
    pub(super) here: &'a Here,
    pub(super) target: &'a str,
}

impl View<'_> {
    /// Reads and chooses.
    pub(super) async fn choose(&self, args: &Pull) -> Result<Chosen, Failure> {
        let asked: Vec<Asked> = args.what.iter().map(|text| asked(text)).collect::<Result<_, _>>()?;
        let me = &self.here.config.authoring_owner;
        let all = read::summaries(self.control, self.context, me, None).await.map_err(|e| failed(&e))?;
        let owned: BTreeMap<Address, Summary> = all
            .into_iter()
            .filter(|s| !s.superseded && s.live_digest.is_some())
            .filter_map(|s| Some((s.address.clone()?, s)))
            .collect();
        let (wanted, named) = wanted(&asked, &owned, me.as_str())?;
        let strangers = self.strangers(args, &asked).await?;
        let mut ids: BTreeMap<Address, String> = wanted.iter().map(|a| (a.clone(), owned[a].id.clone())).collect();
        let own: BTreeMap<String, Address> = owned.iter().map(|(a, s)| (s.id.clone(), a.clone())).collect();
        for found in strangers.iter().filter(|f| own.contains_key(&f.id)) {
            ids.insert(own[&found.id].clone(), found.id.clone());
        }
        let strangers: Vec<&Found> = strangers.iter().filter(|f| !own.contains_key(&f.id)).collect();
        let lists: Vec<String> = strangers.iter().map(|f| f.id.clone()).collect();
        let (mut bodies, mut refs) = self.bodies(&lists).await?;
        let (names, adopt, notes) = self.names(&asked, &strangers, &bodies, &owned)?;
        refs.resources.extend(names.iter().map(|(id, a)| (id.clone(), (me.clone(), a.clone()))));
        let mut resources = BTreeMap::new();
        loop {
            let read: BTreeSet<&String> = bodies.iter().map(|b| &b.id).collect();
            let missing: Vec<String> = ids.values().filter(|id| !read.contains(id)).cloned().collect();
            let (more, means) = self.bodies(&missing).await?;
            if more.len() < missing.len() {
                let there: BTreeSet<&String> = more.iter().map(|b| &b.id).collect();
                ids.retain(|_, id| !missing.contains(id) || there.contains(id));
            }
            bodies.extend(more);
            let named = std::mem::take(&mut refs.resources);
            refs.resources.extend(means.resources);
            refs.resources.extend(named);
            refs.superseded.extend(means.superseded);
            refs.contents.extend(means.contents);
            let of = |id: &String| own.get(id).or_else(|| names.get(id)).cloned();
            resources.extend(bodies.iter().filter_map(|b| {
                let address = of(&b.id)?;
                Some((address.clone(), Resource::of(address.kind, b, &refs)))
            }));
            let more = needed(&resources, &|a| self.here.declares(a));
            let more: Vec<(Address, String)> =
                more.into_iter().filter_map(|a| Some((a.clone(), owned.get(&a)?.id.clone()))).collect();
            let more: Vec<_> = more.into_iter().filter(|(a, _)| !ids.contains_key(a)).collect();
            if more.is_empty() {
                break;
            }
            let along = |a: &Address| owned.keys().filter(|o| is_inline_of(o, a)).cloned().collect::<Vec<_>>();
            let mounts: Vec<Address> = more.iter().flat_map(|(a, _)| along(a)).collect();
            ids.extend(mounts.into_iter().map(|a| (a.clone(), owned[&a].id.clone())));
            ids.extend(more);
        }
        ids.extend(names.into_iter().map(|(id, a)| (a, id)));
        let left = owned.into_keys().filter(|a| !ids.contains_key(a)).collect();
        Ok(Chosen { resources, ids, adopt, named, left, notes })
    }

    async fn bodies(&self, ids: &[String]) -> Result<(Vec<LoadedBody>, Refs), Failure> {
        if ids.is_empty() {
            return Ok((Vec::new(), Refs { me: Some(self.here.config.authoring_owner.clone()), ..Refs::default() }));
        }
        let me = &self.here.config.authoring_owner;
        read::bodies(self.control, self.context, me, ids).await.map_err(|e| failed(&e))
    }

    /// What nobody owns, and what is named by its id.
    async fn strangers(&self, args: &Pull, asked: &[Asked]) -> Result<Vec<Found>, Failure> {
        let mut out = Vec::new();
        if args.unowned {
            let kinds: Vec<Kind> =
                asked.iter().filter_map(|a| if let Asked::Kind(k) = a { Some(*k) } else { None }).collect();
            let kinds = if asked.is_empty() { Kind::ALL.to_vec() } else { kinds };
            out = read::unowned(self.control, self.context, &kinds, &args.labels).await.map_err(|e| failed(&e))?;
        }
        let mut found = Diagnostics::default();
        for id in asked.iter().filter_map(|a| if let Asked::Id(id) = a { Some(id) } else { None }) {
            let one = read::one(self.control, self.context, id).await.map_err(|e| failed(&e))?;
            let Some(one) = one.filter(|one| !one.archived) else {
                let message = format!("{id} is archived, or there is no resource of this id");
                found.push(Diagnostic::new(&codes::cli::NOT_FOUND, message));
                continue;
            };
            // What a line takes over is declared here before it is.
            let taken =
                |owner: &Owner| self.here.config.adopt.iter().any(|a| a.id == *id && a.from.as_ref() == Some(owner));
            match &one.owner {
                Some((owner, address)) if *owner != self.here.config.authoring_owner && !taken(owner) => {
                    let message = format!("{id} is {address} of {owner}");
                    let fix = format!("checkfu adopt {address}={id} --take-over {owner}");
                    found.push(Diagnostic::new(&code::OWNED_ELSEWHERE, message).fix(fix));
                }
                _ if out.iter().any(|f: &Found| f.id == one.id) => {}
                _ => out.push(one),
            }
        }
        or_fail(found)?;
        Ok(out)
    }

    /// Addresses for what nobody owns: those of `adopt:` lines, else new ones.
    fn names(
        &self,
        asked: &[Asked],
        strangers: &[&Found],
        bodies: &[LoadedBody],
        owned: &BTreeMap<Address, Summary>,
    ) -> Result<Named, Failure> {
        let config = &self.here.config;
        let here = |a: &&Adopt| a.target.as_ref().is_none_or(|t| t == self.target);
        let lines: BTreeMap<String, Address> =
            config.adopt.iter().filter(here).map(|a| (a.id.clone(), a.address.clone())).collect();
        let mut known = lines.clone();
        known.extend(owned.iter().map(|(a, s)| (s.id.clone(), a.clone())));
        let mut taken: BTreeSet<Address> = config.adopt.iter().map(|a| a.address.clone()).collect();
        taken.extend(self.here.desired().into_iter().flat_map(|d| d.resources.keys().cloned()));
        let kinds: BTreeMap<&str, Kind> = strangers.iter().map(|f| (f.id.as_str(), f.kind)).collect();
        let unnamed: Vec<Unnamed> =
            bodies.iter().filter_map(|b| Some(unnamed(b, *kinds.get(b.id.as_str())?))).collect();
        let (names, without) = names(&unnamed, &taken, &known);
        let mut notes = Diagnostics::default();
        for one in without {
            let message = format!("{} is a skill called `{}`, which cannot be its address here", one.id, one.name);
            let named = asked.iter().any(|a| matches!(a, Asked::Id(id) if *id == one.id));
            let severity = if named { Severity::Error } else { Severity::Warning };
            notes.push(Diagnostic::new(&code::NO_NAME, message).severity(severity));
        }
        let notes = or_fail(notes)?;
        let target = (config.targets.len() > 1).then(|| self.target.to_owned());
        let adopt = names
            .iter()
            .filter(|(id, _)| !lines.contains_key(*id))
            .map(|(id, address)| Adopt { address: address.clone(), target: target.clone(), id: id.clone(), from: None })
            .collect();
        Ok((names, adopt, notes))
    }
}

fn unnamed(body: &LoadedBody, kind: Kind) -> Unnamed {
    let text = |key: &str| body.body.get(key).and_then(Value::as_str).map(str::to_owned);
    let target = text("memory_store_id").or_else(|| text("file_tree_id"));
    let labelled = body.body.get("metadata").and_then(Value::as_object).is_some_and(|m| !m.is_empty());
    Unnamed {
        id: body.id.clone(),
        kind,
        name: text("name").unwrap_or_default(),
        mounts: text("agent_id").zip(target).filter(|_| kinds::def(kind).field("mount_path").is_some()),
        inline: !labelled,
    }
}

/// The error of a question.
pub(super) fn failed(error: &ControlError) -> Failure {
    Failure::control("read the workspace", error)
}

/// Is it a mount that is written in the agent?
fn is_inline_of(mount: &Address, agent: &Address) -> bool {
    agent.kind == Kind::Agent && mount.name.split_once('.').is_some_and(|(name, _)| name == agent.name)
}

/// The owned resources that are asked for, agents with the mounts written in them, and those named one by one.
fn wanted(
    asked: &[Asked],
    owned: &BTreeMap<Address, Summary>,
    me: &str,
) -> Result<(BTreeSet<Address>, BTreeSet<Address>), Failure> {
    let (mut out, mut named, mut missing) = (BTreeSet::new(), BTreeSet::new(), Diagnostics::default());
    if asked.is_empty() {
        return Ok((owned.keys().cloned().collect(), named));
    }
    for one in asked {
        match one {
            Asked::Kind(kind) => out.extend(owned.keys().filter(|a| a.kind == *kind).cloned()),
            Asked::Glob(glob, text) => {
                let found: Vec<&Address> = owned.keys().filter(|a| glob.is_match(a.to_string())).collect();
                if found.is_empty() {
                    let message = format!("{me} has no live {text}");
                    missing.push(Diagnostic::new(&codes::cli::NOT_FOUND, message).fix("checkfu get"));
                }
                named.extend(found.iter().filter(|a| a.to_string() == *text).map(|a| (*a).clone()));
                out.extend(found.into_iter().cloned());
            }
            Asked::Id(_) => {}
        }
    }
    or_fail(missing)?;
    // A mount that is written in an agent is a part of it.
    let agents: Vec<Address> =
        out.iter().filter_map(|a| a.name.split_once('.')).map(|(agent, _)| Address::new(Kind::Agent, agent)).collect();
    out.extend(agents.into_iter().filter(|a| owned.contains_key(a)));
    let mounts: Vec<Address> = owned.keys().filter(|m| out.iter().any(|a| is_inline_of(m, a))).cloned().collect();
    out.extend(mounts);
    Ok((out, named))
}

fn asked(text: &str) -> Result<Asked, Failure> {
    let usage = |message: String| {
        let all: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
        Failure::new(&codes::cli::USAGE, message)
            .fix(format!("KIND, KIND/NAME or a live id; kinds are {}", all.join(", ")))
    };
    if let Some(kind) = Kind::ALL.into_iter().find(|k| k.as_str().eq_ignore_ascii_case(text)) {
        return Ok(Asked::Kind(kind));
    }
    if kinds::KINDS.iter().any(|def| text.starts_with(def.id_prefix)) {
        return Ok(Asked::Id(text.to_owned()));
    }
    let is_address = text.contains(['*', '?', '[', '{']) || text.parse::<Address>().is_ok();
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    match glob {
        Ok(glob) if is_address && text.contains('/') => Ok(Asked::Glob(glob.compile_matcher(), text.to_owned())),
        _ => Err(usage(format!("`{text}` is no kind, address or live id"))),
    }
}
