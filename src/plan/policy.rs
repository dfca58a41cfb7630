//! Safety, decided in the plan: what refuses it until a person answers.

use std::collections::{BTreeMap, BTreeSet};

use crate::desired::{Desired, Wanted};
use crate::diag::codes::plan as codes;
use crate::live::{Live, LiveResource};
use crate::model::config::{AllowRule, Moved, Policy};
use crate::model::op::{ActorKind, Referrer, Summary};
use crate::model::{Address, Digest, Kind, kinds};
use crate::plan::actions::shown_name;
use crate::plan::compare::{Delta, State};
use crate::plan::readdress;
use crate::plan::retire::Retired;
use crate::plan::scope::{Pattern, host};
use crate::plan::{Action, Allowed, Effect, FileVerb, Gathered, Options, Step};

/// From this size on the share of what is retired is limited.
const SHARE_FROM: usize = 10;

/// All that is judged.
pub(super) struct Case<'a> {
    pub(super) desired: &'a Desired,
    pub(super) live: &'a Live,
    pub(super) options: &'a Options,
    pub(super) allowed: Allowed,
    pub(super) all: &'a BTreeMap<Address, Wanted>,
    pub(super) deltas: &'a [Delta<'a>],
    pub(super) retired: &'a [Retired<'a>],
}

impl Case<'_> {
    /// `destroy`, answered with the owner's name.
    fn destroys(&self) -> bool {
        let owner = self.desired.owner.as_str();
        let named =
            |a: &crate::model::config::Allowance| a.rule == AllowRule::Destroy && a.subject.as_deref() == Some(owner);
        self.options.destroy && self.options.allowances.iter().any(named)
    }

    /// Refuses, or only tells where a person allowed it.
    fn effect(&self, rule: AllowRule, address: Option<&Address>) -> Effect {
        let by_destroy = matches!(rule, AllowRule::Retire | AllowRule::Empty) && self.destroys();
        if by_destroy || self.allowed.answers(rule, address) { Effect::Note } else { Effect::Refuses }
    }

    fn allow_fix(&self, rule: &str, address: Option<&Address>) -> String {
        if self.options.destroy && matches!(rule, "retire" | "empty") {
            return format!("if this is meant: --allow destroy={}", self.desired.owner);
        }
        match address {
            Some(address) => format!("if this is meant: --allow {rule}={address}"),
            None => format!("if this is meant: --allow {rule}"),
        }
    }
}

/// Adds every finding that the rules give.
pub(super) fn judge(case: &Case<'_>, actions: &[Action], out: &mut Gathered) {
    empty(case, out);
    irreplaceable(case, out);
    same_names(case, out);
    taken_names(case, out);
    sessions(case, actions, out);
    limits(case, actions, out);
    if !case.options.rollback {
        moved_offers(case, out);
    }
}

fn empty(case: &Case<'_>, out: &mut Gathered) {
    let going = case.retired.iter().filter(|r| !r.gone).count();
    if case.all.is_empty() && going > 0 {
        let effect = case.effect(AllowRule::Empty, None);
        let owner = &case.desired.owner;
        let message = match going {
            1 => format!("nothing is declared: the one resource of {owner} would go"),
            _ => format!("nothing is declared: all {going} resources of {owner} would go"),
        };
        out.find(&codes::EMPTY, effect, None, message).fix(case.allow_fix("empty", None));
    }
}

/// `irreversible`, `protected`, `referred`: no `--allow` answers them.
fn irreplaceable(case: &Case<'_>, out: &mut Gathered) {
    let removed: Vec<Pattern> = case.desired.removed.iter().map(|(r, _)| Pattern::new(&r.address)).collect();
    let named = |address: &Address| {
        let text = address.to_string();
        removed.iter().any(|r| r.matches(&text))
    };
    let protect: Vec<Pattern> =
        case.options.limits.iter().flat_map(|p| &p.protect).map(|text| Pattern::new(text)).collect();
    for r in case.retired.iter().filter(|r| !r.gone) {
        let (address, summary) = (r.address, &r.live.summary);
        let text = address.to_string();
        let protected = summary.protected || protect.iter().any(|p| p.matches(&text));
        if !kinds::def(summary.kind).comes_back && !named(address) && !case.destroys() {
            let with = match memories_of(r) {
                0 => String::new(),
                1 => ", with its 1 memory".to_owned(),
                n => format!(", with its {n} memories"),
            };
            let message =
                format!("{address} would be gone for good{with}: a retired {} does not come back", summary.kind);
            let finding = out.find(&codes::IRREVERSIBLE, Effect::Refuses, Some(address), message);
            if case.options.destroy {
                finding.fix(format!("if this is meant: --allow destroy={}", case.desired.owner));
            } else {
                finding.fix(format!("add to checkfu.yaml:\nremoved:\n  - {{address: {address}}}"));
            }
        }
        // One that was superseded before has no address by which it could be unprotected.
        if protected && (!r.superseded || r.after.is_some()) {
            let (message, fix) = match &r.after {
                Some(_) => (
                    format!("{address} is protected, and a new resource would take its place"),
                    "take it out of `policy.protect` and apply that first, with nothing else changed",
                ),
                None => (
                    format!("{address} is protected"),
                    "declare it, take it out of `policy.protect`, and apply that first",
                ),
            };
            out.find(&codes::PROTECTED, Effect::Refuses, Some(address), message).fix(fix);
        }
        let others = case.live.referrers.get(&summary.id).into_iter().flatten();
        let mut others: Vec<String> =
            others.filter(|o| o.owner.as_ref() != Some(&case.desired.owner)).map(Referrer::shown).collect();
        others.sort();
        others.dedup();
        if !others.is_empty() {
            let message = format!("{address} is used by {}", others.join(", "));
            out.find(&codes::REFERRED, Effect::Refuses, Some(address), message).fix("its users let it go first");
        }
    }
}

/// How many memories go with what is retired.
fn memories_of(r: &Retired<'_>) -> usize {
    r.live.body.as_ref().map_or(0, |b| b.memories.len())
}

fn same_names(case: &Case<'_>, out: &mut Gathered) {
    if case.live.same_name.is_empty() {
        return;
    }
    let by_name: BTreeMap<(Kind, &str), &str> =
        case.live.same_name.iter().map(|s| ((s.kind, s.name.as_str()), s.id.as_str())).collect();
    for delta in case.deltas.iter().filter(|d| matches!(d.state, State::New { .. })) {
        let address = delta.address();
        let name = shown_name(delta.item);
        let Some(id) = by_name.get(&(address.kind, name.as_str())) else { continue };
        let effect = case.effect(AllowRule::SameName, Some(address));
        let message = format!(
            "{address} would be a second {} with the name `{name}`: {id} has it and nobody owns it",
            address.kind
        );
        out.find(&codes::SAME_NAME, effect, Some(address), message)
            .fix(format!(
                "if it is the same one:\nadopt:\n  - {{address: {address}, id: {id}}}\nif it is another one: --allow same-name={address}"
            ))
            .at(delta.item.wanted);
    }
}

/// Unique names that another owner, or nobody, has.
fn taken_names(case: &Case<'_>, out: &mut Gathered) {
    let by_name: BTreeMap<(Kind, &str), &Summary> =
        case.live.taken_names.iter().map(|s| ((s.kind, s.name.as_str()), s)).collect();
    let taking = case.deltas.iter().filter(|d| d.acts() && d.item.def.unique_name && d.sends("name"));
    for delta in taking.filter(|_| !by_name.is_empty()) {
        let address = delta.address();
        let name = shown_name(delta.item);
        let Some(by) = by_name.get(&(address.kind, name.as_str())) else { continue };
        let (who, fix) = match (&by.owner, &by.address) {
            (Some(owner), Some(has)) => {
                (format!("{owner}:{has}"), "give it another name, or let its owner let it go first")
            }
            _ => (
                format!("{}, which nobody owns,", by.id),
                "give it another name, or adopt that one with an `adopt:` line",
            ),
        };
        let message = format!("{address} would have the name `{name}`, and {who} has it: it is unique in a workspace");
        out.find(&codes::NAME_TAKEN, Effect::Error, Some(address), message).fix(fix).at =
            Some(delta.item.place("name"));
    }
}

/// Memories last written by a session, outside `enforce`.
fn sessions(case: &Case<'_>, actions: &[Action], out: &mut Gathered) {
    let planned: BTreeSet<&Address> = actions.iter().filter_map(|a| a.address.as_ref()).collect();
    for delta in case.deltas.iter().filter(|d| planned.contains(d.address())) {
        let Some(memories) = &delta.memories else { continue };
        session_finding(case, delta.address(), &memories.by_session, out);
    }
    for r in case.retired.iter().filter(|r| !r.gone) {
        let Some(body) = &r.live.body else { continue };
        let enforced = kinds::enforce_prefixes(&body.applied.spec);
        let written: Vec<String> = body
            .memories
            .iter()
            .filter(|m| m.updated_by_kind == ActorKind::Session)
            .filter(|m| !enforced.iter().any(|p| kinds::is_under(&m.path, p)))
            .map(|m| m.path.clone())
            .collect();
        session_finding(case, r.address, &written, out);
    }
}

fn session_finding(case: &Case<'_>, address: &Address, paths: &[String], out: &mut Gathered) {
    let Some(first) = paths.first() else { return };
    let more = if paths.len() > 1 { format!(" and {} more", paths.len() - 1) } else { String::new() };
    let effect = case.effect(AllowRule::SessionMemory, Some(address));
    let message = format!("{address}: what a session wrote would go: {first}{more}");
    out.find(&codes::SESSION_MEMORY, effect, Some(address), message)
        .fix(case.allow_fix("session-memory", Some(address)));
}

/// A group of which a share is retired.
struct Share {
    what: String,
    address: Option<Address>,
    before: usize,
    gone: usize,
}

/// What is retired and not allowed by name.
fn shares(case: &Case<'_>, actions: &[Action]) -> (Vec<Share>, usize) {
    let allowed = |address: &Address| case.allowed.names(AllowRule::Retire, address);
    let mut live: BTreeMap<Kind, usize> = BTreeMap::new();
    let is_live = |r: &&LiveResource| r.summary.live_digest.is_some() && r.summary.gone.is_none();
    for r in case.live.resources.values().filter(is_live) {
        *live.entry(r.summary.kind).or_default() += 1;
    }
    // What is replaced goes too: it counts in all, not for the share of its kind, of which there are as many after.
    let counted = || case.retired.iter().filter(|r| !r.gone && !allowed(r.address));
    let mut out = Vec::new();
    for (kind, before) in live {
        let gone = counted().filter(|r| !r.superseded && r.live.summary.kind == kind).count();
        out.push(Share { what: format!("resources of kind {kind}"), address: None, before, gone });
    }
    let mut memories = 0;
    let deltas: BTreeMap<&Address, &Delta<'_>> = case.deltas.iter().map(|d| (d.address(), d)).collect();
    for action in actions {
        let Some(delta) = action.address.as_ref().and_then(|a| deltas.get(a)) else { continue };
        let address = delta.address();
        if allowed(address) {
            continue;
        }
        let removed = || action.about.files.iter().filter(|f| f.change == FileVerb::Remove).count();
        let (what, before, gone) = match &action.step {
            Step::WriteContents { .. } => {
                let store = delta.memories.as_ref();
                let gone = store.map_or(0, |m| m.lost());
                memories += gone;
                ("memories", store.map_or(0, |m| m.live), gone)
            }
            Step::Publish { .. } | Step::Create { replaces: Some(_), .. } => {
                ("files", delta.item.body().map_or(0, |b| b.entries.len()), removed())
            }
            _ => continue,
        };
        out.push(Share { what: format!("{what} of {address}"), address: Some(address.clone()), before, gone });
    }
    let with_stores: usize = counted().map(memories_of).sum();
    (out, counted().count() + with_stores + memories)
}

/// What breaks the limits of a policy, one sentence each.
fn broken(policy: &Policy, shares: &[Share], total: usize) -> Vec<(Option<Address>, String)> {
    let mut out = Vec::new();
    for s in shares.iter().filter(|s| s.before >= SHARE_FROM) {
        if s.gone * 100 > s.before * policy.max_retire_percent as usize {
            let percent = s.gone * 100 / s.before;
            let limit = policy.max_retire_percent;
            let message =
                format!("{} of {} {} would go: {percent} %, and the limit is {limit} %", s.gone, s.before, s.what);
            out.push((s.address.clone(), message));
        }
    }
    if total > policy.max_retire as usize {
        let what = if total == 1 { "resource or memory" } else { "resources and memories" };
        let message = format!("{total} {what} would go, and the limit is {}", policy.max_retire);
        out.push((None, message));
    }
    out
}

/// `retire`, and `loosened`: the limits of before would have refused it.
fn limits(case: &Case<'_>, actions: &[Action], out: &mut Gathered) {
    let (shares, total) = shares(case, actions);
    let now = broken(&case.desired.policy, &shares, total);
    for (address, message) in &now {
        let effect = case.effect(AllowRule::Retire, address.as_ref());
        let fix = case.allow_fix("retire", address.as_ref());
        out.find(&codes::RETIRE, effect, address.as_ref(), message.clone()).fix(fix);
    }
    if case.destroys() {
        return;
    }
    let before = case.live.record.as_ref().and_then(|r| r.policy.clone()).unwrap_or_default();
    let mut told: Vec<(Option<Address>, String)> = now;
    for policy in case.options.limits.iter().chain([&before]) {
        for (address, message) in broken(policy, &shares, total) {
            if told.iter().any(|(a, _)| *a == address) {
                continue;
            }
            let effect = case.effect(AllowRule::Loosened, address.as_ref());
            let loosened = format!("the limits are loosened by the change that needs them: {message}");
            out.find(&codes::LOOSENED, effect, address.as_ref(), loosened)
                .fix("apply the policy first, or, if this is meant: --allow loosened");
            told.push((address, message));
        }
    }
}

/// Pairs of a create and a retirement with equal content are one resource under another name, most likely. Mounts that
/// come along with their agent need no line of their own.
fn moved_offers(case: &Case<'_>, out: &mut Gathered) {
    if case.retired.is_empty() {
        return;
    }
    let mut gone: BTreeMap<(Kind, Digest), Vec<&Address>> = BTreeMap::new();
    for r in case.retired.iter().rev().filter(|r| !r.superseded && !r.gone) {
        let summary = &r.live.summary;
        let keys: BTreeSet<Digest> = [summary.live_digest, summary.content].into_iter().flatten().collect();
        for key in keys.into_iter().chain(r.live.body.as_ref().map(|b| nameless(&b.live))) {
            gone.entry((summary.kind, key)).or_default().push(r.address);
        }
    }
    let mut pairs: BTreeMap<&Address, (&Address, &Delta<'_>)> = BTreeMap::new();
    let mut taken: BTreeSet<&Address> = BTreeSet::new();
    for delta in case.deltas.iter().filter(|d| matches!(d.state, State::New { revived: false, .. })) {
        let to = delta.address();
        let content = delta.item.wanted.content.as_ref().map(|(files, _)| files.digest);
        let keys = [Some(delta.item.digest), content, Some(nameless(&delta.item.spec))];
        let from = keys
            .into_iter()
            .flatten()
            .find_map(|key| gone.get(&(to.kind, key))?.iter().rev().find(|a| !taken.contains(**a)).copied());
        if let Some(from) = from {
            taken.insert(from);
            pairs.insert(to, (from, delta));
        }
    }
    for (to, (from, delta)) in &pairs {
        let with_agent = host(to)
            .zip(host(from))
            .is_some_and(|(to, from)| to != from && pairs.get(&to).is_some_and(|(was, _)| **was == from));
        if with_agent {
            continue;
        }
        let message = format!(
            "{to} looks like {from} renamed: it would be a new resource, with another id, and the old one would go"
        );
        let line = Moved { from: (*from).clone(), to: (*to).clone() };
        // A skill's name cannot change, so a line would not keep it.
        let fix = if to.kind == Kind::Skill {
            format!("to keep the skill with its id and versions, call the folder {} again", from.name)
        } else {
            let block = readdress::block(std::slice::from_ref(&line));
            out.notes.moved.push(line);
            format!("to keep the resource, add to checkfu.yaml:\n{block}")
        };
        out.find(&codes::MOVED_OFFER, Effect::Note, Some(to), message).fix(fix).at(delta.item.wanted);
    }
    let offered: BTreeSet<&Address> = pairs.keys().copied().collect();
    perhaps_moved(case, &offered, &taken, out);
}

/// How alike the forms are, from 0 to 1, of what may be one resource that was renamed and changed at once.
const ALIKE: f64 = 0.6;
/// Most pairs that are looked at: each costs as much as its forms are long.
const MOST_PAIRS: usize = 400;

/// What is alike and not equal may have been renamed too. That is said, and never written by itself. Kinds with files
/// are told by these, and a mount goes with what it joins.
fn perhaps_moved(case: &Case<'_>, offered: &BTreeSet<&Address>, taken: &BTreeSet<&Address>, out: &mut Gathered) {
    let told = |kind: Kind| {
        let def = kinds::def(kind);
        def.field("content").is_none() && def.field("mount_path").is_none()
    };
    let mut gone: Vec<_> = case
        .retired
        .iter()
        .filter(|r| !r.superseded && !r.gone && told(r.live.summary.kind) && !taken.contains(r.address))
        .filter_map(|r| Some((r.address, text_of(&r.live.body.as_ref()?.live))))
        .collect();
    let new = case.deltas.iter().filter(|d| matches!(d.state, State::New { revived: false, .. }));
    let new: Vec<_> = new.filter(|d| told(d.address().kind) && !offered.contains(d.address())).collect();
    if gone.len() * new.len() > MOST_PAIRS {
        return;
    }
    for delta in new {
        let (to, text) = (delta.address(), text_of(&delta.item.spec));
        let near = gone.iter().enumerate().filter(|(_, (from, _))| from.kind == to.kind);
        let near =
            near.map(|(i, (_, was))| (strsim::sorensen_dice(&text, was), i)).filter(|(score, _)| *score >= ALIKE);
        let Some((_, i)) = near.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else { continue };
        let (from, _) = gone.remove(i);
        let block = readdress::block(&[Moved { from: from.clone(), to: to.clone() }]);
        let message = format!("{to} may be {from}, renamed and changed: as it is, one is made and the other goes");
        let fix = format!("if it is the same one, add to checkfu.yaml:\n{block}");
        out.find(&codes::MOVED_OFFER, Effect::Note, Some(to), message).fix(fix).at(delta.item.wanted);
    }
}

/// A form without the name shown, as text.
fn text_of(spec: &serde_json::Value) -> String {
    let fields = spec.as_object().into_iter().flatten();
    let rest = fields.filter(|(k, _)| !matches!(k.as_str(), "name" | "display_name"));
    rest.flat_map(|(k, v)| [k.clone(), v.to_string()]).collect::<Vec<_>>().join("\n")
}

/// The digest of a form without the name shown, which mostly comes from the address.
fn nameless(spec: &serde_json::Value) -> Digest {
    let fields = spec.as_object().into_iter().flatten();
    let rest: BTreeMap<&String, &serde_json::Value> =
        fields.filter(|(k, _)| !matches!(k.as_str(), "name" | "display_name")).collect();
    Digest::of_json(&rest)
}
