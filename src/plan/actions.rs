//! Differences → actions, each with what it sends and under which condition. Edges come later.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::desired::Desired;
use crate::live::Live;
use crate::model::kinds::{Change, Retire, Selector, Target};
use crate::model::op::Summary;
use crate::model::{Address, Digest, Kind};
use crate::plan::compare::{Delta, FieldDelta, State};
use crate::plan::item::{Item, Users};
use crate::plan::memory::{self, Memories};
use crate::plan::ownership;
use crate::plan::readdress::Comes;
use crate::plan::record::{before_publish, recorded, settles, unowned, with_contents};
use crate::plan::retire::Retired;
use crate::plan::{
    About, Action, Body, Cause, Content, FieldChange, FollowerOf, Precondition, Reversible, Step, Verb, changes,
};

/// An action before its edges are known.
pub(super) struct Draft {
    /// Boxed: sorting moves the drafts, and a large plan is not to be held twice meanwhile.
    pub(super) action: Box<Action>,
    /// Among ready actions, lower goes first.
    pub(super) rank: Rank,
    /// Ids of actions that must be done before.
    pub(super) needs: BTreeSet<String>,
}

/// The order among ready actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Policy,
    /// Who owns what, and where: nothing live changes.
    Ownership,
    /// Versions that nobody follows as latest, and what holds no reference.
    Unfollowed,
    /// Agents and mounts.
    Pointer,
    /// Versions that are live at once for someone.
    Followed,
    /// By layer: what refers goes before what it refers to.
    Retirement(u8),
}

/// What building needs to know.
pub(super) struct Building<'a> {
    pub(super) desired: &'a Desired,
    pub(super) live: &'a Live,
    pub(super) users: &'a Users<'a>,
}

/// A chain of actions on one resource.
pub(super) struct Chain<'d> {
    pub(super) delta: &'d Delta<'d>,
    last: Option<String>,
    drafts: Vec<Draft>,
}

impl Chain<'_> {
    pub(super) fn push(
        &mut self,
        verb: Verb,
        operation: String,
        step: Step,
        first: Precondition,
        rank: Rank,
        about: About,
    ) {
        let address = self.delta.address();
        let id = format!("{address}#{}", verb.as_str());
        let mut needs = BTreeSet::new();
        let memories = matches!(first, Precondition::Memories { .. });
        let precondition = match &self.last {
            Some(last) if !memories => Precondition::After { action: last.clone() },
            _ => first,
        };
        needs.extend(self.last.take());
        self.last = Some(id.clone());
        let action = Action {
            id,
            address: Some(address.clone()),
            verb,
            operation,
            step,
            precondition,
            depends_on: Vec::new(),
            digest: Digest::from_bytes([0; 32]),
            about,
        };
        self.drafts.push(Draft { action: Box::new(action), rank, needs });
    }
}

impl Building<'_> {
    /// Actions for one wanted resource.
    pub(super) fn drafts(&self, delta: &Delta<'_>, out: &mut Vec<Draft>) {
        if !delta.acts() {
            return;
        }
        let mut chain = Chain { delta, last: None, drafts: Vec::new() };
        if let Some(comes) = delta.item.comes {
            ownership::comes(&mut chain, comes, &self.desired.owner);
        }
        match &delta.state {
            State::New { since, revived } => self.create(&mut chain, since.clone(), *revived),
            _ if delta.anew => self.anew(&mut chain),
            _ if delta.replace => self.replace(&mut chain),
            _ => self.change(&mut chain),
        }
        out.append(&mut chain.drafts);
    }

    fn create(&self, chain: &mut Chain<'_>, since: Option<String>, revived: bool) {
        let item = chain.delta.item;
        let reason = match (revived, item.live.and_then(|l| l.summary.gone.as_ref())) {
            (true, Some(by)) => format!("made anew: {} retired it at {}", by.actor, by.at),
            (true, None) => "made anew: another retired it".to_owned(),
            (false, _) if since.is_some() => "declared; what was here before was retired".to_owned(),
            (false, _) => "declared, and not live".to_owned(),
        };
        self.whole(chain, Verb::Create, reason, Precondition::Absent { since }, None);
        let memories = memory::initial(item, &self.desired.owner);
        if memories.writes() {
            let spec = with_contents(Arc::clone(&item.spec), memories.recorded.clone());
            self.write_contents(chain, &memories, None, spec);
        }
    }

    fn replace(&self, chain: &mut Chain<'_>) {
        let Some(live) = chain.delta.item.live else { return };
        let sent: Vec<_> = chain.delta.fields.iter().filter(|f| f.sent().is_some()).collect();
        let fixed = sent.iter().find(|f| f.field.change == Change::Replace).or(sent.first());
        let reason = match fixed {
            Some(f) => format!("`{}` cannot change in place", f.path),
            None => "what it refers to gets a new id, and the reference cannot change in place".to_owned(),
        };
        let moved = matches!(chain.delta.item.comes, Some(Comes::Renamed(_)));
        let reason = if moved { format!("{reason}: what was moved is replaced by a new resource") } else { reason };
        let version = live.summary.version;
        self.whole(chain, Verb::Replace, reason, Precondition::Version { version }, Some(live.summary.id.clone()));
    }

    /// The old one goes, and with it its place; the new one comes when its own place is free.
    fn anew(&self, chain: &mut Chain<'_>) {
        let address = chain.delta.address();
        let Some(live) = chain.delta.item.live else { return };
        let id = live.summary.id.clone();
        let retired = Retired::new(address, live, false, None);
        let reason = "it and another take each other's place: it goes first, and is made anew";
        let mut retirement = retirement(&retired, reason);
        retirement.needs.extend(chain.last.take());
        chain.drafts.push(retirement);
        let reason = "made anew at the place that another had".to_owned();
        self.whole(chain, Verb::Create, reason, Precondition::Absent { since: Some(id) }, None);
        if let Some(create) = chain.drafts.last_mut() {
            create.needs.insert(retired.action());
        }
    }

    /// A create with everything.
    fn whole(&self, chain: &mut Chain<'_>, verb: Verb, reason: String, first: Precondition, replaces: Option<String>) {
        let item = chain.delta.item;
        let mut spec = Arc::clone(&item.spec);
        // Memories are written by an operation of their own.
        if spec.get("contents").is_some()
            && let Value::Object(o) = Arc::make_mut(&mut spec)
        {
            o.remove("contents");
        }
        let content = content_of(item);
        let entries = item.body().filter(|_| replaces.is_some()).map_or(&[][..], |b| &b.entries);
        let about = About {
            name: shown_name(item),
            at: Some(item.wanted.at.to_string()),
            reason,
            changes: changes::fields(chain.delta, |f| f.sent().is_some() && chain.delta.state == State::Compared),
            files: content.as_ref().map(|c| changes::trees(entries, &c.entries)).unwrap_or_default(),
            upload_bytes: content.as_ref().map(|c| self.upload(c.entries.iter().map(|e| (e.sha256, e.size)))),
            ..About::default()
        };
        let step = Step::Create {
            spec,
            unowned: item.wanted.unowned.clone(),
            protected: item.wanted.protected,
            content,
            replaces,
        };
        let rank = if super::is_pointer(item.address().kind) { Rank::Pointer } else { Rank::Unfollowed };
        chain.push(verb, format!("{}.create", item.def.plural), step, first, rank, about);
    }

    fn change(&self, chain: &mut Chain<'_>) {
        let delta = chain.delta;
        let Some(live) = delta.item.live else { return };
        let summary = &live.summary;
        let done = recorded(delta);
        let fields = updated_fields(delta);
        let publish = delta.fields.iter().any(|f| f.sent().is_some() && f.field.change == Change::Publish);
        let writes = delta.memories.as_ref().filter(|m| m.writes());
        if !fields.is_empty() {
            let later = publish || delta.memories.is_some();
            let spec = if later { before_publish(delta, &done) } else { done.clone() };
            update(chain, &summary.id, summary.version, spec, fields);
        }
        if publish {
            self.publish(chain, &summary.id, summary.version, done.clone());
        }
        let before = usize::from(delta.item.comes.is_some());
        let claimed = delta.item.comes == Some(&Comes::Adopted);
        let authoring = || Precondition::Authoring { version: summary.version, seq: summary.seq };
        // What only the record knows, such as the mode of a memory, is sent with the rest and has no action of its own.
        if let Some(first) = chain.drafts.first_mut() {
            let known = |f: &FieldDelta<'_>| f.field.change == Change::Record && f.sent().is_some();
            first.action.about.changes.extend(changes::fields(delta, known));
        }
        // A write of memories records the paths that it writes and nothing else, so the rest is recorded before it.
        // A claim records all of it itself.
        let alone = chain.drafts.len() == before && settles(delta);
        if !claimed && (alone || delta.memories.as_ref().is_some_and(|m| m.settle)) {
            let spec = match &delta.memories {
                Some(memories) => with_contents(done.clone(), memories.settled.clone()),
                None => done.clone(),
            };
            let unowned = unowned(delta);
            let step = Step::Record { id: summary.id.clone(), spec, unowned };
            let moved = delta.fields.iter().any(|f| f.field.change == Change::Record && f.sent().is_some());
            let reason = if moved { "known to the authoring record alone" } else { "file and live agree already" };
            let changes = changes::fields(delta, |f| alone && !f.outcome.stays());
            let about = About { changes, ..about(delta, reason) };
            chain.push(Verb::Record, "authoring.record".to_owned(), step, authoring(), Rank::Pointer, about);
        }
        if let Some(memories) = writes {
            self.write_contents(chain, memories, Some(summary.id.clone()), done);
        }
        if let Some(on) = delta.protect {
            let verb = if on { Verb::Protect } else { Verb::Unprotect };
            let reason = if on { "`policy.protect` names it" } else { "`policy.protect` names it no more" };
            let step = Step::Protect { id: summary.id.clone(), on };
            let about = about(delta, reason);
            chain.push(verb, "authoring.protect".to_owned(), step, authoring(), Rank::Pointer, about);
        }
    }

    fn publish(&self, chain: &mut Chain<'_>, id: &str, version: u64, spec: Arc<Value>) {
        let delta = chain.delta;
        let Some(content) = content_of(delta.item) else { return };
        let entries = delta.item.body().map_or(&[][..], |b| &b.entries);
        let mut about = about(delta, "its files changed");
        if delta.fields.iter().any(|f| f.field.change == Change::Publish && f.sent() == Some(Cause::Live)) {
            "another version was published live, this one is put back".clone_into(&mut about.reason);
        }
        about.files = changes::trees(entries, &content.entries);
        about.upload_bytes = Some(self.upload(content.entries.iter().map(|e| (e.sha256, e.size))));
        let rank = self.followers(delta.address(), id, &mut about);
        let unowned = unowned(delta);
        let step = Step::Publish { id: Some(id.to_owned()), spec, unowned, content };
        let operation = format!("{}.publish", delta.item.def.plural);
        chain.push(Verb::Publish, operation, step, Precondition::Version { version }, rank, about);
    }

    fn write_contents(&self, chain: &mut Chain<'_>, memories: &Memories, id: Option<String>, spec: Arc<Value>) {
        let delta = chain.delta;
        let puts = memories.puts.iter().filter_map(|path| {
            let file = delta.item.wanted.memories.get(path)?;
            Some((path.clone(), Body { file: file.file.clone(), sha256: file.sha256, size: file.size }))
        });
        let puts: std::collections::BTreeMap<String, Body> = puts.collect();
        let mut about = about(delta, "memories are not as the files say");
        about.at = memories.puts.first().map(|p| delta.item.place(&format!("contents.{p}"))).or(about.at);
        about.files.clone_from(&memories.files);
        about.upload_bytes = Some(self.upload(puts.values().map(|b| (b.sha256, b.size))));
        let rank = match &id {
            Some(id) => self.followers(delta.address(), id, &mut about),
            None => Rank::Unfollowed,
        };
        let unowned = unowned(delta);
        let step = Step::WriteContents { id, spec, unowned, puts, deletes: memories.deletes.clone() };
        let operation = format!("{}.write_contents", delta.item.def.plural);
        let expect = Precondition::Memories { expect: memories.expect.clone() };
        chain.push(Verb::Publish, operation, step, expect, rank, about);
    }

    /// Who uses what is published, and the rank that follows from it.
    fn followers(&self, address: &Address, id: &str, about: &mut About) -> Rank {
        let users = self.users.get(address).into_iter().flatten();
        let own = users.map(|(user, r)| FollowerOf {
            address: self.agent_of(user).clone(),
            owner: None,
            unowned: false,
            latest: r.selector == Selector::Latest,
        });
        let me = &self.desired.owner;
        let others = self.live.referrers.get(id).into_iter().flatten().filter(|r| r.owner.as_ref() != Some(me));
        let others = others.map(|r| FollowerOf {
            address: r.address.clone().unwrap_or_else(|| Address::new(r.kind, r.id.clone())),
            owner: r.owner.clone(),
            unowned: r.owner.is_none(),
            latest: r.follows,
        });
        let mut seen: Vec<FollowerOf> = own.chain(others).collect();
        let who = |f: &FollowerOf| (f.unowned, f.owner.clone(), f.address.clone());
        seen.sort_by_cached_key(|f| (who(f), !f.latest));
        seen.dedup_by(|a, b| who(a) == who(b));
        about.live_at_once = super::count(seen.iter().filter(|f| f.latest).count());
        about.followers = seen;
        if about.live_at_once > 0 { Rank::Followed } else { Rank::Unfollowed }
    }

    /// The agent behind a mount; any other user is itself.
    fn agent_of<'u>(&'u self, user: &'u Address) -> &'u Address {
        let mount =
            self.desired.resources.get(user).filter(|_| matches!(user.kind, Kind::MemoryMount | Kind::FileTreeMount));
        let mut agents = mount.into_iter().flat_map(|m| &m.refs).filter_map(|r| match &r.target {
            Target::Own(address) if address.kind == Kind::Agent => Some(address),
            _ => None,
        });
        agents.next().unwrap_or(user)
    }

    /// Bytes of distinct contents that the workspace does not hold.
    fn upload(&self, files: impl Iterator<Item = (Digest, u64)>) -> u64 {
        let distinct: BTreeSet<(Digest, u64)> = files.filter(|(d, _)| !self.live.held_blobs.contains(d)).collect();
        distinct.iter().map(|(_, size)| size).sum()
    }
}

/// Sends fields.
fn update(chain: &mut Chain<'_>, id: &str, version: u64, spec: Arc<Value>, fields: Vec<String>) {
    let delta = chain.delta;
    let sent = |f: &FieldDelta<'_>| f.sent().is_some() && f.field.change == Change::Update;
    let mut changes: Vec<FieldChange> = changes::fields(delta, sent);
    let named: BTreeSet<&str> = delta.fields.iter().filter(|f| sent(f)).map(|f| f.field.name).collect();
    for field in delta.follow.iter().filter(|f| !named.contains(*f)) {
        let value = delta.item.spec.get(*field).cloned();
        let at = Some(delta.item.place(field));
        let (before, after) = (value.clone(), value);
        changes.push(FieldChange { path: (*field).to_owned(), before, after, at, cause: Cause::Reference });
    }
    let causes: BTreeSet<&str> = changes
        .iter()
        .map(|c| match c.cause {
            Cause::File => "the file changed",
            Cause::Live => "live moved, it is put back",
            Cause::Both => "file and live changed, and an `accept:` line took the file",
            Cause::Reference => "what it refers to moved",
        })
        .collect();
    let repoint = !changes.is_empty() && changes.iter().all(|c| c.cause == Cause::Reference);
    let verb = if repoint { Verb::Repoint } else { Verb::Update };
    let mut about = about(delta, &causes.into_iter().collect::<Vec<_>>().join("; "));
    about.at = changes.iter().find_map(|c| c.at.clone()).or(about.at);
    about.changes = changes;
    let unowned = unowned(delta);
    let step = Step::Update { id: id.to_owned(), spec, unowned, fields };
    let rank = if super::is_pointer(delta.address().kind) { Rank::Pointer } else { Rank::Unfollowed };
    let operation = format!("{}.update", delta.item.def.plural);
    chain.push(verb, operation, step, Precondition::Version { version }, rank, about);
}

/// Retirements.
pub(super) fn retirements(retired: &[Retired<'_>], out: &mut Vec<Draft>) {
    out.extend(retired.iter().map(|r| {
        let reason = match (r.gone, r.superseded) {
            (true, _) => "another retired it already; what was applied is cleared",
            (false, true) => "another resource took its place",
            (false, false) if moved(r) => "declared no more; live moved since it was applied, and goes too",
            (false, false) => "declared no more",
        };
        retirement(r, reason)
    }));
}

/// Is live something else than what was applied?
fn moved(r: &Retired<'_>) -> bool {
    r.live.summary.live_digest != r.live.summary.applied_digest
}

fn retirement(r: &Retired<'_>, reason: &str) -> Draft {
    let def = crate::model::kinds::def(r.live.summary.kind);
    let verb = match def.retire {
        Retire::Archive => "archive",
        Retire::Delete => "delete",
    };
    let about = About {
        name: r.live.summary.name.clone(),
        reason: reason.to_owned(),
        reversible: if def.comes_back { Reversible::Yes } else { Reversible::No },
        ..About::default()
    };
    let action = Action {
        id: r.action(),
        address: Some(r.address.clone()),
        verb: Verb::Retire,
        operation: format!("{}.{verb}", def.plural),
        step: Step::Retire { id: r.live.summary.id.clone() },
        precondition: all_of(&r.live.summary),
        depends_on: Vec::new(),
        digest: Digest::from_bytes([0; 32]),
        about,
    };
    Draft { action: Box::new(action), rank: Rank::Retirement(r.layer()), needs: r.after.iter().cloned().collect() }
}

/// What a retirement takes away is what was planned: of a store its memories too.
fn all_of(summary: &Summary) -> Precondition {
    let version = summary.version;
    if summary.kind != Kind::MemoryStore {
        return Precondition::Version { version };
    }
    let memories = summary.content_version.as_ref().and_then(|n| n.parse().ok()).unwrap_or(0);
    Precondition::Store { version, memories }
}

pub(super) fn about(delta: &Delta<'_>, reason: &str) -> About {
    About {
        name: shown_name(delta.item),
        at: Some(delta.item.wanted.at.to_string()),
        reason: reason.to_owned(),
        ..About::default()
    }
}

/// The name shown to people.
pub(super) fn shown_name(item: &Item<'_>) -> String {
    let named = ["display_name", "name"].iter().find_map(|f| item.spec.get(*f)?.as_str());
    named.unwrap_or(&item.address().name).to_owned()
}

fn content_of(item: &Item<'_>) -> Option<Content> {
    let (files, root) = item.wanted.content.as_ref()?;
    let sent = item.spec.get("content").and_then(Value::as_str);
    if let Some(digest) = sent.and_then(|c| c.parse().ok()).filter(|d| *d != files.digest) {
        // Not owned, so it stays as it is live. The workspace holds these files.
        return Some(Content { digest, root: root.clone(), entries: item.body()?.entries.clone() });
    }
    Some(Content { digest: files.digest, root: root.clone(), entries: files.entries.clone() })
}

/// Names of what an update sends: canonical fields, or single keys of a map.
fn updated_fields(delta: &Delta<'_>) -> Vec<String> {
    let sent = delta.fields.iter().filter(|f| f.sent().is_some() && f.field.change == Change::Update);
    let names: BTreeSet<String> =
        sent.map(|f| f.path.clone()).chain(delta.follow.iter().map(|f| (*f).to_owned())).collect();
    names.into_iter().collect()
}
